"""Searching the calls and output of tools, which no index contains."""

from collections.abc import Callable, Sequence
from datetime import UTC

import pytest

from memtui.model.events import EventRole
from memtui.model.filters import EVERYTHING, Filters, Scope
from memtui.model.hit import MIN_GOOD, Hits
from memtui.services import tool_output
from memtui.tools import replies, routing, search
from memtui.tools.replies import Reply
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


def find(
    query: str, filters: Filters = EVERYTHING, unknown: Sequence[str] = ()
) -> Hits:
    return tool_output.find(query, clock(), UTC, filters=filters, unknown=unknown)


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


QUESTIONS = ["Where did we see EACCES?", "What was the EACCES error of zeppelin?",
             "Why did the server not start: -EACCES"]  # fmt: skip


@pytest.mark.parametrize("question", QUESTIONS)
def test_question_finds_what_only_tool_output_has(
    stored: Workspace, question: str
) -> None:
    reply = routing.route(stored, question)
    first, second = reply.lists["tool_output"]
    assert "EACCES" in first["snippet"] and second["id"].startswith("evt:")
    assert reply.head["band"] in ("good", "partial")
    assert any("EACCES" in note for note in reply.notes)  # it is in no message
    small = replies.fit_text(reply, 150, stored.counter)
    assert "permission denied" in small.text


@pytest.mark.parametrize("tool", [search.retrieve_memory, search.teleport])
def test_memories_and_summaries_say_that_tool_output_has_it(
    stored: Workspace, tool: Callable[..., Reply]
) -> None:
    note = "The output of tools has it in 2 sessions: search_memory lists them."
    assert note in tool(stored, "EACCES mkdir").notes
    assert note not in tool(stored, "zeppelin").notes


def test_short_unknown_word_is_no_part_of_others_in_tool_output(
    stored: Workspace,
) -> None:
    assert not find("zeppelin ACC", unknown=("zeppelin", "ACC")).hits
    assert find("zeppelin EACC", unknown=("zeppelin", "EACC")).hits
