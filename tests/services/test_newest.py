"""Filters and dates alone list the newest results."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from memtui.model.calendar import TocLevel
from memtui.model.events import EventRole
from memtui.model.hits import Hits
from memtui.search.query import NEWEST_LISTED
from memtui.tools import search
from memtui.tui.screens.search import compose_notes
from memtui.tui.widgets import result_list
from memtui.tui.widgets.result_list import SearchView
from memtui.workspace import Workspace

ALONE = [
    "agent:codex",
    "project:shop",
    "after:2024-01-20",
    "in January 2024",
    "in December 2023",
]


def asks(
    workspace: Workspace,
) -> dict[SearchView, Callable[[str], Hits[Any]]]:
    return {
        SearchView.ALL: workspace.search.find,
        SearchView.SUMMARIES: workspace.teleport.find,
        SearchView.MESSAGES: workspace.message_search.find,
    }


@pytest.mark.parametrize("asked", ALONE)
def test_what_is_left_is_listed_newest_first_in_every_view(
    full_workspace: Workspace, asked: str
) -> None:
    for view, ask in asks(full_workspace).items():
        answer = ask(asked)
        sheet = result_list.to_results(answer)
        if asked.startswith("in ") and view is not SearchView.MESSAGES:
            page = f"toc:month:{'2024-01' if '2024' in asked else '2023-12'}"
            assert getattr(answer.hits[0], "node_id", "") == page, view
        # The page of the month comes first.
        times = [x.at for x in sheet.hits if x.level is not TocLevel.MONTH]
        assert times and times == sorted(times, reverse=True), view
        assert NEWEST_LISTED in sheet.notes and not {
            line.band for line in sheet.hits
        } - {""}
        if asked.startswith(("agent", "project")):
            name = asked.partition(":")[2]
            messages = full_workspace.message_search.find(asked).hits
            assert all(name in (h.session.agent, h.session.project) for h in messages)
        if asked == "in December 2023":
            assert {at.year for at in times} == {2023}
        if asked == "after:2024-01-20":
            assert min(times) >= datetime(2024, 1, 20, tzinfo=UTC)


def test_what_is_listed_has_no_score(full_workspace: Workspace) -> None:
    asked = "after:2024-01-01"
    for reply in (
        search.search_memory(full_workspace, asked),
        search.teleport(full_workspace, asked),
        search.search_sessions(full_workspace, asked),
        search.retrieve_memory(full_workspace, asked),
    ):
        assert reply.items and not {one["score"] for one in reply.items} - {None}
        assert not {one.get("band") for one in reply.items} - {None}
        for one in reply.items:
            assert "1.00" not in reply.line(one)


def test_what_is_found_has_a_score_that_falls_as_its_rank_does(
    full_workspace: Workspace,
) -> None:
    scores = [
        hit.score
        for hit in full_workspace.message_search.find("the token or a retry").hits
    ]
    assert len(scores) > 2 and scores == sorted(scores, reverse=True)
    assert 0 < scores[0] <= 1


def test_what_leaves_nothing_says_so_and_a_word_beside_it_is_looked_for(
    full_workspace: Workspace,
) -> None:
    for view, ask in asks(full_workspace).items():
        sheet = result_list.to_results(ask("in March 1999"))
        notes = compose_notes(sheet, "in March 1999", view, full_workspace.zone)
        assert not sheet.hits and notes[0] == "There is nothing for “in March 1999”."
        assert NEWEST_LISTED not in ask_notes(ask("agent:codex session"))
        assert NEWEST_LISTED not in ask_notes(ask("levle:codex"))
    roles = full_workspace.message_search.find("role:user").hits
    assert {hit.match.role for hit in roles if hit.match} == {EventRole.USER}


@pytest.mark.parametrize("level", ["day", "week", "year"])
def test_wide_nodes_alone_are_listed_newest_first_wherever_one_looks(
    full_workspace: Workspace, level: str
) -> None:
    found = full_workspace.search.find(f"level:{level}")
    hits = full_workspace.teleport.find(f"level:{level}").hits
    assert found.hits and [m.node_id for m in found.hits] == [h.node_id for h in hits]
    sheet = result_list.to_results(found)
    assert all(line.target.node_id for line in sheet.hits)
    assert {line.level for line in sheet.hits} == {TocLevel(level)}
    shown = search.search_memory(full_workspace, f"level:{level}", limit=3).items
    assert shown and all(one["id"].startswith(f"toc:{level}:") for one in shown)
    assert not any("session" in one for one in shown)


def ask_notes(
    found: Hits[Any],
) -> tuple[str, ...]:
    return result_list.to_results(found).notes


def test_where_one_moment_a_session_is_shown_it_is_said_of_how_many(
    full_workspace: Workspace,
) -> None:
    sheet = result_list.to_results(full_workspace.search.find("session"))
    shown = compose_notes(sheet, "session", SearchView.ALL, full_workspace.zone)
    assert sheet.total > len(sheet.hits) > 0
    assert shown[-1].startswith("Best hit per session of ")
    messages = result_list.to_results(full_workspace.message_search.find("session"))
    assert messages.total == 0


@pytest.mark.parametrize(
    ("asked", "page"),
    [
        ("what was I doing on jan 15 2024", "toc:day:2024-01-15"),
        ("jan 15", "toc:day:2024-01-15"),
        ("january 2024", "toc:month:2024-01"),
        ("what happened in 2024-W03?", "toc:week:2024-W03"),
        ("what did I work on in January 2024", "toc:month:2024-01"),
    ],
)
def test_a_question_about_a_date_alone_gives_its_page_first(
    full_workspace: Workspace, asked: str, page: str
) -> None:
    full_workspace.search._clock = full_workspace.teleport._clock = lambda: datetime(
        2024, 2, 1, tzinfo=UTC
    )
    for find in (full_workspace.search.find, full_workspace.teleport.find):
        found = find(asked)
        assert found.is_recent and found.hits[0].node_id == page
    assert (
        full_workspace.search.find("token refresh in January 2024").is_recent is False
    )
