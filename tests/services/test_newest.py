"""Filters and dates alone list the newest results."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from memtui.model.calendar import TocLevel
from memtui.model.events import EventRole
from memtui.model.hit import Hits
from memtui.search.query import NEWEST_LISTED
from memtui.services import browse
from memtui.tools import search
from memtui.tui.screens.search import compose_notes
from memtui.tui.widgets.result_list import SearchView, hit_kind, jump_target
from memtui.workspace import Workspace

ALONE = [
    "agent:codex",
    "project:shop",
    "after:2024-01-20",
    "in January 2024",
    "in December 2023",
    "state:done",
]


def finders(workspace: Workspace) -> dict[SearchView, Callable[[str], Hits]]:
    return {
        SearchView.ALL: workspace.search.find,
        SearchView.SUMMARIES: workspace.teleport.find,
        SearchView.MESSAGES: workspace.message_search.find,
    }


@pytest.mark.parametrize("query", ALONE)
def test_filters_alone_list_the_newest_in_every_view(
    full_workspace: Workspace, query: str
) -> None:
    for view, find in finders(full_workspace).items():
        answer = find(query)
        if query.startswith("in ") and view is not SearchView.MESSAGES:
            page = f"toc:month:{'2024-01' if '2024' in query else '2023-12'}"
            assert getattr(answer.hits[0], "node_id", "") == page, view
        # The page of the month comes first.
        times = [hit.at for hit in answer.hits if hit_kind(hit) != "month"]
        assert times and times == sorted(times, reverse=True), view
        assert NEWEST_LISTED in answer.notes
        assert answer.is_recent
        if query.startswith(("agent", "project")):
            name = query.partition(":")[2]
            messages = full_workspace.message_search.find(query).hits
            for hit in messages:
                assert hit.session is not None
                assert name in (hit.session.agent, hit.session.project)
        if query == "in December 2023":
            assert {at.year for at in times} == {2023}
        if query == "after:2024-01-20":
            assert min(times) >= datetime(2024, 1, 20, tzinfo=UTC)


def test_listed_items_have_no_score(full_workspace: Workspace) -> None:
    query = "after:2024-01-01"
    for reply in (
        search.search_memory(full_workspace, query),
        search.teleport(full_workspace, query),
        search.search_sessions(full_workspace, query),
        search.retrieve_memory(full_workspace, query),
    ):
        assert {item["score"] for item in reply.items} == {None}
        assert {item.get("band") for item in reply.items} == {None}
        for item in reply.items:
            assert "1.00" not in reply.line(item)


def test_scores_of_messages_fall(
    full_workspace: Workspace,
) -> None:
    scores = [
        hit.score
        for hit in full_workspace.message_search.find("the token or a retry").hits
    ]
    assert len(scores) > 2 and scores == sorted(scores, reverse=True)
    assert 0 < scores[0] <= 1


def test_date_without_hits_says_so(
    full_workspace: Workspace,
) -> None:
    for view, find in finders(full_workspace).items():
        answer = find("in March 1999")
        notes = compose_notes(answer, "in March 1999", view, full_workspace.zone)
        assert not answer.hits and notes[0] == "There is nothing for “in March 1999”."
        assert NEWEST_LISTED not in find("agent:codex session").notes
        assert NEWEST_LISTED not in find("levle:codex").notes
    hits = full_workspace.message_search.find("role:user").hits
    assert {hit.event.role for hit in hits if hit.event} == {EventRole.USER}


@pytest.mark.parametrize("level", ["day", "week", "year"])
def test_level_alone_lists_nodes_newest_first(
    full_workspace: Workspace, level: str
) -> None:
    answer = full_workspace.search.find(f"level:{level}")
    hits = full_workspace.teleport.find(f"level:{level}", limit=20).hits
    assert answer.hits == hits
    assert all(jump_target(hit).node_id for hit in hits)
    assert {hit.level for hit in hits} == {TocLevel(level)}
    items = search.search_memory(full_workspace, f"level:{level}", limit=3).items
    assert items and all(item["id"].startswith(f"toc:{level}:") for item in items)
    assert not any("session" in item for item in items)


def test_note_says_how_many_messages_and_sessions_match(
    full_workspace: Workspace,
) -> None:
    answer = full_workspace.search.find("session")
    notes = compose_notes(answer, "session", SearchView.ALL, full_workspace.zone)
    assert answer.total > len(answer.hits) > 0
    total = f"{answer.total} hits"
    assert notes[-1] == f"The best hit of each session, of {total} (tab: all)."
    many = replace(answer, total=3_000, has_more=True)
    notes = compose_notes(many, "session", SearchView.ALL, full_workspace.zone)
    total = "more than 3,000 hits"
    assert notes[-1] == f"The best hit of each session, of {total} (tab: all)."
    assert full_workspace.message_search.find("session").total == 0


@pytest.mark.parametrize(
    ("query", "page"),
    [
        ("what was I doing on jan 15 2024", "toc:day:2024-01-15"),
        ("jan 15", "toc:day:2024-01-15"),
        ("january 2024", "toc:month:2024-01"),
        ("what happened in 2024-W03?", "toc:week:2024-W03"),
        ("what did I work on in January 2024", "toc:month:2024-01"),
    ],
)
def test_question_about_a_date_lists_its_page_first(
    full_workspace: Workspace, query: str, page: str
) -> None:
    full_workspace.search._clock = full_workspace.teleport._clock = lambda: datetime(
        2024, 2, 1, tzinfo=UTC
    )
    for find in (full_workspace.search.find, full_workspace.teleport.find):
        answer = find(query)
        assert answer.is_recent and answer.hits[0].node_id == page
        node = browse.get_node(page)
        assert node is not None
        assert answer.hits[0].snippet.text == node.bullets[0].text
    assert (
        full_workspace.search.find("token refresh in January 2024").is_recent is False
    )


@pytest.mark.parametrize(
    "query",
    [
        "what did codex do in January 2024",
        "January 2024 codex",
        "what did we do in logsift in January 2024",
    ],
)
def test_name_beside_a_date_is_a_scope(full_workspace: Workspace, query: str) -> None:
    for find in finders(full_workspace).values():
        answer = find(query)
        assert answer.is_recent and answer.hits
        sessions = [hit.session for hit in answer.hits if hit.session]
        assert {session.agent for session in sessions} <= {"codex"}
        assert any("only " in note for note in answer.notes)


def test_name_beside_a_topic_is_a_word(full_workspace: Workspace) -> None:
    answer = full_workspace.search.find("codex timeout in January 2024")
    assert not answer.is_recent
