"""Scopes: the contents and the searches of one agent, project or keyword."""

from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import UTC
from pathlib import Path

import pytest

from memtui.model import calendar
from memtui.model.calendar import TocLevel
from memtui.model.filters import ALL, Filters, Scope
from memtui.model.nodes import Bullet, BulletKind, NodeCounts, TocEntry
from memtui.search.teleport import Teleport
from memtui.services import browse, sessions
from memtui.store import database, entries, nodes, segments, versions
from memtui.store.database import db
from memtui.tools import toc
from memtui.workspace import Workspace
from tests.message_factory import clock
from tests.tables import SegmentRow, SessionRow

SCOPES = [
    Scope("codex"),
    Scope("claude-code"),
    Scope("", "shop"),
    Scope("", "logsift"),
    Scope("codex", "logsift"),
    Scope("claude-code", "shop"),
    Scope("codex", "shop"),
    Scope(state="done"),
    Scope("claude-code", state="answered,done"),
    Scope(project="shop", state="merged"),
]


def list_all(scope: Scope, parent: str = "") -> Iterator[TocEntry]:
    for entry in browse.list_children(parent, scope=scope):
        yield entry
        yield from list_all(scope, entry.node_id)


def expected_ids(scope: Scope) -> set[str]:
    """Return the segments of a scope's sessions, and all nodes above them."""
    with database.connection():
        rows = SegmentRow.select(SegmentRow.id).join(SessionRow)
        if scope.agent:
            rows = rows.where(SessionRow.agent == scope.agent)
        if scope.project:
            rows = rows.where(SessionRow.project == scope.project)
        if scope.state:
            rows = rows.where(SessionRow.state.in_(scope.state.split(",")))
        segment_ids = [row.id for row in rows]
    return {
        node_id for segment_id in segment_ids for node_id in browse.get_path(segment_id)
    }


def keywords_of(node_id: str) -> Sequence[str]:
    node = browse.get_node(node_id)
    return node.keyword_texts if node else ()


@pytest.mark.parametrize("scope", SCOPES, ids=str)
def test_scope_lists_its_segments_and_the_nodes_above_them(
    full_workspace: Workspace, scope: Scope
) -> None:
    assert {entry.node_id for entry in list_all(scope)} == expected_ids(scope)


def test_keyword_scope_lists_segments_with_the_keyword(
    full_workspace: Workspace,
) -> None:
    ids_by_keyword: dict[str, set[str]] = {}
    for entry in list_all(ALL):
        is_segment = entry.level is TocLevel.SEGMENT
        for word in keywords_of(entry.node_id) if is_segment else ():
            ids = ids_by_keyword.setdefault(word.casefold(), set())
            ids.update(browse.get_path(entry.node_id))
    for word in [*ids_by_keyword][:12]:
        listed = {entry.node_id for entry in list_all(Scope(keyword=word))}
        assert listed == ids_by_keyword[word]
        of_codex = {entry.node_id for entry in list_all(Scope("codex", keyword=word))}
        assert of_codex <= listed & expected_ids(Scope("codex"))
        hits = full_workspace.teleport.find(
            "session", filters=Filters(scope=Scope(keyword=word))
        ).hits
        assert {hit.node_id for hit in hits} <= listed
    assert browse.list_children(scope=Scope(keyword="[")) == []


@pytest.mark.parametrize("scope", [*SCOPES, Scope(keyword="mutex")], ids=str)
def test_counts_and_grips_of_a_node_are_those_of_its_scope(
    full_workspace: Workspace, scope: Scope
) -> None:
    listed = [*list_all(scope)]
    segments = {
        entry.node_id: entry for entry in listed if entry.level is TocLevel.SEGMENT
    }
    counted = browse.add_activity(listed, scope)
    for entry, with_activity in zip(listed, counted, strict=True):
        below = [
            segment
            for segment_id, segment in segments.items()
            if entry.node_id in calendar.path(segment_id)
        ]
        assert entry.counts.segments == len(below)
        messages = sum(segment.counts.messages for segment in below)
        assert entry.counts.messages == messages
        node = browse.get_node(entry.node_id, scope)
        assert node is not None and node.counts == entry.counts
        if entry.level is TocLevel.SEGMENT:
            continue
        assert sum(with_activity.activity) == messages
        assert entry.headline == node.headline and node.bullets
        agents = {agent for segment in below for agent in segment.agents}
        assert {*node.agents} == {*entry.agents} == agents
        assert all(_cites(bullet, segments) for bullet in node.bullets)
        assert not {bullet.project for bullet in node.bullets} - {*node.projects}


def _cites(bullet: Bullet, segment_ids: Collection[str]) -> bool:
    """Return whether all grips of a bullet were made for some segments."""
    with database.connection():
        grips = versions.get_grips(bullet.grip_ids).values()
    return bool(grips) and all(grip.toc_node_id in segment_ids for grip in grips)


def test_filtered_page_has_no_words_of_other_projects(
    full_workspace: Workspace,
) -> None:
    whole = browse.get_node("toc:year:2024")
    filtered = browse.get_node("toc:year:2024", Scope(project="logsift"))
    assert whole is not None and filtered is not None
    assert {bullet.project for bullet in whole.bullets} == {"logsift", "shop"}
    texts = [filtered.headline, *(bullet.text for bullet in filtered.bullets)]
    assert not any("shop" in text for text in texts)
    assert filtered.counts.segments < filtered.all_segments == whole.counts.segments
    assert not filtered.keywords and not whole.all_segments


def test_filtered_page_lists_its_sessions(full_workspace: Workspace) -> None:
    scope = Scope(project="logsift")
    node = browse.get_node("toc:year:2024", scope)
    listing = sessions.list_sessions(project="logsift")
    assert node is not None
    by_session = {bullet.session_id: bullet for bullet in node.bullets}
    assert by_session.keys() == {session.session_id for session in listing.sessions}
    for session in listing.sessions:
        work, bullet = session.work, by_session[session.session_id]
        assert bullet.kind is BulletKind.WORK and bullet.grip_ids
        assert bullet.text.startswith(work.name) and work.name in node.headline
    (year,) = browse.list_children(scope=scope)
    assert year.headline == node.headline


def test_a_page_lists_its_sessions_where_the_scope_has_all_of_it(
    full_workspace: Workspace,
) -> None:
    day, scope = "toc:day:2024-01-22", Scope("codex")
    node = browse.get_node(day, scope)
    assert node is not None and node.all_segments == node.counts.segments
    assert {bullet.kind for bullet in node.bullets} == {BulletKind.WORK}
    outside = browse.get_node(day, Scope("claude-code"))
    assert outside is not None and outside.counts == NodeCounts()
    assert not outside.bullets and not outside.headline


def test_days_of_a_scope_are_counted_through_an_index(
    full_workspace: Workspace,
) -> None:
    year = calendar.day_range("toc:year:2024")
    plan = plan_of(lambda: entries.count_messages(year, Scope("codex")))
    assert "INDEX nodes_parent_id_start_ms" in plan
    assert "SCAN" not in plan and "B-TREE FOR GROUP BY" not in plan


def test_sessions_of_a_keyword_are_counted_through_an_index(
    full_workspace: Workspace,
) -> None:
    year = (1_704_067_200_000, 1_735_689_600_000)
    plan = plan_of(lambda: segments.count_sessions([year], Scope(keyword="mutex")))
    assert "nodes_level_start_ms (level=? AND start_ms>? AND start_ms<?)" in plan


@pytest.mark.parametrize("scope", [ALL, Scope("codex")], ids=str)
def test_the_nearest_day_is_found_without_reading_all(
    full_workspace: Workspace, scope: Scope
) -> None:
    day = "toc:day:2030-01-01"
    plans = plans_of(lambda: entries.find_nearest_days(day, scope))
    assert len(plans) == 2
    for plan in plans:
        assert "SEARCH n" in plan and "SCAN" not in plan and "B-TREE" not in plan


@pytest.mark.parametrize("parent", ["toc:year:2024", "toc:month:2024-01"])
def test_children_are_read_through_an_index(
    full_workspace: Workspace, parent: str
) -> None:
    plan = plan_of(lambda: nodes.list_children(parent, 0, 10))
    assert "INDEX" in plan and "SCAN" not in plan


def plan_of(read: Callable[[], Collection[object]]) -> str:
    """Return the query plan of the only statement of a function, which finds rows."""
    (plan,) = plans_of(read)
    return plan


def plans_of(read: Callable[[], Collection[object]]) -> list[str]:
    """Return the query plans of the statements of a function, which finds rows."""
    statements: list[str] = []
    with database.connection():
        db.connection().set_trace_callback(statements.append)
        assert read()
        db.connection().set_trace_callback(None)
        plans = [db.execute_sql(f"EXPLAIN QUERY PLAN {sql}") for sql in statements]
        return [" ".join(str(row[-1]) for row in plan) for plan in plans]


def test_test_data_has_distinct_scopes(full_workspace: Workspace) -> None:
    everything = {entry.node_id for entry in list_all(ALL)}
    assert {entry.level for entry in list_all(Scope("codex"))} == set(TocLevel)
    assert expected_ids(Scope("codex")) < everything
    assert expected_ids(Scope("codex", "shop")) < expected_ids(Scope("codex"))


def test_tools_answer_for_a_project_without_words_of_another(
    full_workspace: Workspace,
) -> None:
    scope = Scope(project="logsift")
    (month,) = toc.browse_toc(full_workspace, when="2024-01", scope=scope).items
    children = toc.get_node(full_workspace, "toc:year:2024", scope=scope).items
    assert month["node_id"] == "toc:month:2024-01"
    assert month["segments"] == 1 and "token" not in month["headline"].lower()
    assert month["headline"] in [child.get("headline") for child in children]
    assert toc.browse_toc(full_workspace, "toc:year:2024", keyword="JWT").items
    for parent in ("", "toc:year:2024", "toc:week:2024-W03", "toc:day:2024-01-18"):
        page = toc.browse_toc(full_workspace, parent, keyword="JWT", scope=scope)
        assert not page.items


@pytest.mark.parametrize("name", ['", "', "co", "codex%", '"', "Codex"])
def test_a_scope_matches_whole_names_only(full_workspace: Workspace, name: str) -> None:
    assert browse.list_children(scope=Scope(name, "")) == []
    assert (
        full_workspace.teleport.find(
            "session", filters=Filters(scope=Scope("", name))
        ).hits
        == ()
    )


@pytest.mark.parametrize("query", ["session", "test", "the fix", "token refresh"])
@pytest.mark.parametrize("scope", SCOPES, ids=str)
def test_search_in_a_scope_finds_all_hits_within_it(
    full_workspace: Workspace, scope: Scope, query: str
) -> None:
    within = expected_ids(scope)
    all_hits = full_workspace.teleport.find(query, limit=500).hits
    hits = full_workspace.teleport.find(
        query, limit=500, filters=Filters(scope=scope)
    ).hits
    assert all(hit.node_id in within for hit in hits)
    targets = {hit.target_id for hit in all_hits if hit.node_id in within}
    assert targets <= {hit.target_id for hit in hits}
    with database.connection():
        grips = versions.get_grips(hit.target_id for hit in hits)
    assert all(grip.toc_node_id in within for grip in grips.values())


def test_search_fills_its_page_where_most_hits_are_outside_the_scope(
    full_workspace: Workspace,
) -> None:
    scope = Scope("codex", "logsift")
    all_hits = full_workspace.teleport.find(
        "the", limit=500, filters=Filters(scope=scope)
    ).hits
    hits = full_workspace.teleport.find(
        "the", limit=3, filters=Filters(scope=scope)
    ).hits
    assert len(hits) == min(3, len(all_hits))


@pytest.mark.full
@pytest.mark.parametrize("limit", [1, 3, 20])
@pytest.mark.parametrize("query", ["test", "fix", "the fix", "token refr", "session"])
@pytest.mark.parametrize("scope", SCOPES, ids=str)
def test_a_small_limit_gives_the_best_hits_of_a_scope(
    full_workspace: Workspace, scope: Scope, query: str, limit: int
) -> None:
    result = full_workspace.teleport.find(
        query, limit=limit, filters=Filters(scope=scope)
    )
    all_results = full_workspace.teleport.find(
        query, limit=500, filters=Filters(scope=scope)
    )
    assert (result.notes, all_results.notes) == ((), ())
    best = [hit.score for hit in all_results.hits[:limit]]
    assert [hit.score for hit in result.hits] == pytest.approx(best)


def test_a_scope_holds_for_search_without_an_index(
    full_workspace: Workspace, tmp_path: Path
) -> None:
    scope = Scope("codex")
    teleport = Teleport(tmp_path / "none", UTC, clock)
    result = teleport.find("session", filters=Filters(scope=scope))
    assert result.notes
    assert all(hit.node_id in expected_ids(scope) for hit in result.hits)
