"""Searching the calls and output of tools, which no index contains."""

from datetime import UTC

import pytest

from memtui.model.events import EventRole
from memtui.model.filters import EVERYTHING, Filters, Scope
from memtui.model.hit import MIN_GOOD, Hits
from memtui.services import tool_output
from memtui.tools import search
from memtui.workspace import Workspace
from tests.message_factory import (
    clock,
    index_messages,
    make_message,
    name_session,
    store_messages,
)

TOOL = EventRole.TOOL
OUTPUT = "Bash: npm start\nstarting\nError: EACCES: permission denied, mkdir '/srv/a'"


@pytest.fixture
def stored(workspace: Workspace) -> Workspace:
    store_messages(
        make_message("Please start the server.", 1),
        make_message(OUTPUT, 2, role=TOOL, tool="Bash"),
        make_message(f"{OUTPUT}\nagain", 3, role=TOOL, tool="Bash"),
        make_message("mkdir\npermission asked\nnothing denied", 4, role=TOOL),
        make_message(OUTPUT, 9, role=TOOL, session="s2", subagent="helper"),
        make_message("100% of it", 10, role=TOOL, session="s3"),
    )
    name_session("s1", title="Server", project="shop")
    index_messages(workspace)
    return workspace


def find(query: str, filters: Filters = EVERYTHING) -> Hits:
    return tool_output.find(query, clock(), UTC, filters=filters)


@pytest.mark.parametrize(
    "query",
    ["EACCES", "denied permission", '"permission denied, mkdir"', "eacc", "npm start"],
)
def test_all_words_are_found_in_any_order_and_case(
    stored: Workspace, query: str
) -> None:
    assert [hit.session_id for hit in find(query).hits] == ["s2", "s1"]


@pytest.mark.parametrize(
    "query",
    ["EACCES zeppelin", '"denied permission"', "EACCES -mkdir", "has:weak EACCES",
     "role:user EACCES", "100%x", "", "the"],
)  # fmt: skip
def test_nothing_else_is_found(stored: Workspace, query: str) -> None:
    assert find(query).hits == ()


def test_a_session_has_one_hit_and_counts_the_others(stored: Workspace) -> None:
    (hit,) = find("permission denied", Filters(scope=Scope(project="shop"))).hits
    assert hit.event is not None and hit.more == 2
    assert hit.snippet.text.startswith("Error: EACCES") and hit.score == MIN_GOOD
    marked = [hit.snippet.text[start:end] for start, end in hit.snippet.marks]
    assert marked == ["permission", "denied"]


def test_filters_and_dates_apply(stored: Workspace) -> None:
    assert find("EACCES after:2025-03-15").hits == ()
    assert len(find("EACCES 14 March 2025").hits) == 2
    assert len(find("EACCES", Filters(with_subagents=False)).hits) == 1
    assert [hit.session_id for hit in find("session:s2 EACCES").hits] == ["s2"]


def test_agents_get_tool_output_after_other_hits(stored: Workspace) -> None:
    for tool in (search.search_memory, search.search_sessions):
        reply = tool(stored, "EACCES permission")
        (first, second) = reply.lists["tool_output"]
        assert "EACCES" in first["snippet"] and second["id"].startswith("evt:")


def test_agents_get_no_tool_output_beside_a_good_hit(stored: Workspace) -> None:
    assert not search.search_memory(stored, "start server").lists["tool_output"]
    asked_for = search.search_memory(stored, "role:tool npm start")
    assert len(asked_for.lists["tool_output"]) == 2
