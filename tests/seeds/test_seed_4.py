"""The rows of seed 4, the format of what is retrieved."""

import re

import pytest

from memtui.agents import memories
from memtui.workspace import Workspace


@pytest.mark.parametrize("query", ["how are you", "remind me what we discussed"])
def test_s4_13_and_15_a_query_without_a_topic_gives_the_latest_memories(
    full_house: Workspace, query: str
) -> None:
    memories_of = memories.retrieve_memory(full_house, query, detail_limit=0).items
    latest = full_house.search.find("after:2000", limit=5).hits
    assert len(memories_of) == 5
    assert not any(one.get("details") for one in memories_of)
    found = full_house.search.find(query, limit=5)
    assert found.is_recent
    assert [one.node_id for one in found.hits] == [one.node_id for one in latest]


def test_s4_04_a_summary_says_nothing_twice_and_ends_its_sentences(
    full_house: Workspace,
) -> None:
    for query in ("mutex tabs", "token refresh", "basket timeout", "memchr log"):
        for item in memories.retrieve_memory(full_house, query).items:
            assert "?." not in item["summary"] and ".." not in item["summary"]
            said = [
                part.strip(" “-✓~✗.!?")
                for part in re.split(r"(?<=[.!?]) ", item["summary"])
            ]
            assert len(said) == len(set(said)), item["summary"]
