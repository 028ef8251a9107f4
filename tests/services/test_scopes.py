"""One agent or project alone, at every level and in every search."""

from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import UTC
from pathlib import Path

import pytest

from memtui.model import calendar
from memtui.model.calendar import TocLevel
from memtui.model.filters import ALL, Scope
from memtui.model.nodes import Bullet, BulletKind, TocEntry
from memtui.search.nodes import NodeSearch
from memtui.services import browse, sessions
from memtui.store import database, nodes, scoped_nodes, versions
from memtui.store.database import db
from memtui.store.schema import SegmentRow, SessionRow
from memtui.tools import toc
from memtui.workspace import Workspace
from tests.message_factory import clock

SCOPES = [
    Scope("codex", ""),
    Scope("claude-code", ""),
    Scope("", "shop"),
    Scope("", "logsift"),
    Scope("codex", "logsift"),
    Scope("claude-code", "shop"),
    Scope("codex", "shop"),
]


def down(of: Scope, parent: str = "") -> Iterator[TocEntry]:
    for line in browse.list_children(parent, scope=of):
        yield line
        yield from down(of, line.node_id)


def expected(of: Scope) -> set[str]:
    """The segments of a scope's sessions, and all that is above them."""
    with database.connection():
        rows = SegmentRow.select(SegmentRow.id).join(SessionRow)
        if of.agent:
            rows = rows.where(SessionRow.agent == of.agent)
        if of.project:
            rows = rows.where(SessionRow.project == of.project)
        segments = [row.id for row in rows]
    return {name for segment in segments for name in browse.get_path(segment)}


@pytest.mark.parametrize("of", SCOPES, ids=str)
def test_a_node_of_any_level_is_shown_where_its_scope_had_a_part_in_it(
    full_workspace: Workspace, of: Scope
) -> None:
    found = {line.node_id for line in down(of)}
    assert found == expected(of)


def test_a_node_is_of_a_keyword_if_it_or_a_segment_below_it_carries_it(
    full_workspace: Workspace,
) -> None:
    carried: dict[str, set[str]] = {}
    for line in down(Scope()):
        node = browse.get_node(line.node_id)
        assert node is not None
        for word in node.keyword_texts if line.level is TocLevel.SEGMENT else ():
            carried.setdefault(word.casefold(), set()).update(
                browse.get_path(line.node_id)
            )
    for word in [*carried][:12]:
        found = {line.node_id for line in down(Scope(keyword=word))}
        assert found == carried[word]
        codex = {line.node_id for line in down(Scope("codex", keyword=word))}
        assert codex <= found & expected(Scope("codex", ""))
        hits = full_workspace.teleport.find("session", scope=Scope(keyword=word)).hits
        assert {hit.node_id for hit in hits} <= found
    assert browse.list_children(scope=Scope(keyword="[")) == []


@pytest.mark.parametrize("of", [*SCOPES, Scope(keyword="mutex")], ids=str)
def test_counts_and_quotes_of_a_node_are_those_of_its_scope(
    full_workspace: Workspace, of: Scope
) -> None:
    lines = [*down(of)]
    leaves = {one.node_id: one for one in lines if one.level is TocLevel.SEGMENT}
    ways = {name: calendar.path(name) for name in leaves}
    said = {one.node_id: one.headline for one in down(ALL)}
    for line in lines:
        mine = [leaf for name, leaf in leaves.items() if line.node_id in ways[name]]
        assert line.counts.segments == len(mine)
        assert line.counts.messages == sum(leaf.counts.messages for leaf in mine)
        if line.level is not TocLevel.SEGMENT:
            assert sum(line.activity) == line.counts.messages
        found = browse.get_scoped_node(line.node_id, of)
        assert found is not None and found.node.counts == line.counts
        if found.is_all:
            assert line.headline == said[line.node_id]
            continue
        node = found.node
        assert line.headline == node.headline and node.bullets
        assert set(node.agents) == {one for leaf in mine for one in leaf.agents}
        assert all(_rests_on(bullet, leaves) for bullet in node.bullets)
        assert not {bullet.project for bullet in node.bullets} - {*node.projects}
        words = {word.casefold() for leaf in mine for word in keywords(leaf.node_id)}
        assert {word.casefold() for word in node.keyword_texts} <= words
    assert browse.add_activity(lines, of) == lines


def keywords(node_id: str) -> Sequence[str]:
    node = browse.get_node(node_id)
    return node.keyword_texts if node else ()


def _rests_on(bullet: Bullet, leaves: Collection[str]) -> bool:
    with database.connection():
        kept = versions.get_grips(bullet.grip_ids).values()
    return bool(kept) and all(grip.toc_node_id in leaves for grip in kept)


def test_a_filter_leaves_the_words_of_other_work_out(full_workspace: Workspace) -> None:
    whole = browse.get_node("toc:year:2024")
    part = browse.get_scoped_node("toc:year:2024", Scope(project="logsift"))
    assert whole is not None and part is not None
    assert {bullet.project for bullet in whole.bullets} == {"logsift", "shop"}
    texts = [part.node.headline, *(bullet.text for bullet in part.node.bullets)]
    assert not any("shop" in text for text in texts)
    assert part.node.counts != part.total == whole.counts


def test_a_filtered_period_lists_its_sessions(full_workspace: Workspace) -> None:
    scope = Scope(project="logsift")
    part = browse.get_scoped_node("toc:year:2024", scope)
    listing = sessions.list_sessions(project="logsift")
    assert part is not None
    by_session = {bullet.session_id: bullet for bullet in part.node.bullets}
    assert by_session.keys() == {one.session_id for one in listing.sessions}
    for session in listing.sessions:
        work, bullet = session.work, by_session[session.session_id]
        assert bullet.kind is BulletKind.WORK and bullet.grip_ids
        assert bullet.text.startswith(work.name) and work.name in part.node.headline
    (year,) = browse.list_children(scope=scope)
    assert year.headline == part.node.headline


def test_a_part_of_the_memory_is_counted_without_reading_the_rest_of_it(
    full_workspace: Workspace,
) -> None:
    codex, year = Scope("codex"), calendar.day_range("toc:year:2024")
    plan = plan_of(lambda: scoped_nodes.shares_by_day(codex, year))
    assert "INDEX nodes_parent_id_start_ms" in plan
    assert "SCAN" not in plan and "B-TREE FOR GROUP BY" not in plan


@pytest.mark.parametrize("parent", ["toc:year:2024", "toc:month:2024-01"])
def test_the_children_of_a_node_are_found_without_reading_others(
    full_workspace: Workspace, parent: str
) -> None:
    plan = plan_of(lambda: nodes.list_children(parent, 0, 10))
    assert "INDEX" in plan and "SCAN" not in plan


def plan_of(read: Callable[[], Collection[object]]) -> str:
    """Return the query plan of the only statement of a function, which finds rows."""
    asked: list[str] = []
    with database.connection():
        db.connection().set_trace_callback(asked.append)
        assert read()
        db.connection().set_trace_callback(None)
        (statement,) = asked
        rows = db.execute_sql(f"EXPLAIN QUERY PLAN {statement}").fetchall()
    return " ".join(str(row[-1]) for row in rows)


def test_the_scopes_of_the_history_are_distinguished(full_workspace: Workspace) -> None:
    whole = {line.node_id for line in down(Scope())}
    assert {line.level for line in down(Scope("codex", ""))} == set(TocLevel)
    assert expected(Scope("codex", "")) < whole
    assert expected(Scope("codex", "shop")) < expected(Scope("codex", ""))


def test_answers_for_a_project_have_no_words_of_another(
    full_workspace: Workspace,
) -> None:
    (month,) = toc.browse_time(
        full_workspace, "2024-01", scope=Scope(project="logsift")
    ).items
    listed = toc.get_node(
        full_workspace, "toc:year:2024", scope=Scope(project="logsift")
    ).items
    assert month["node_id"] == "toc:month:2024-01"
    assert month["segments"] == 1 and "token" not in month["headline"].lower()
    assert month["headline"] in [one.get("headline") for one in listed]
    assert toc.search_children(full_workspace, "JWT", "toc:year:2024").items
    for parent in ("", "toc:year:2024", "toc:week:2024-W03", "toc:day:2024-01-18"):
        found = toc.search_children(
            full_workspace, "JWT", parent, scope=Scope(project="logsift")
        )
        assert not found.items
    profile = toc.search_children(
        full_workspace, "profile", scope=Scope(project="logsift")
    ).items
    assert [one["node_id"] for one in profile] == ["toc:year:2024"]


@pytest.mark.parametrize("name", ['", "', "co", "codex%", '"', "Codex"])
def test_a_name_is_used_verbatim(full_workspace: Workspace, name: str) -> None:
    assert browse.list_children(scope=Scope(name, "")) == []
    assert full_workspace.teleport.find("session", scope=Scope("", name)).hits == ()


@pytest.mark.parametrize("query", ["session", "test", "the fix", "token refresh"])
@pytest.mark.parametrize("of", SCOPES, ids=str)
def test_a_search_within_a_scope_finds_what_a_whole_search_finds_of_it(
    full_workspace: Workspace, of: Scope, query: str
) -> None:
    mine = expected(of)
    whole = full_workspace.teleport.find(query, limit=500).hits
    found = full_workspace.teleport.find(query, limit=500, scope=of).hits
    assert all(hit.node_id in mine for hit in found)
    wanted = {hit.target_id for hit in whole if hit.node_id in mine}
    assert wanted <= {hit.target_id for hit in found}
    with database.connection():
        quoted = versions.get_grips(hit.target_id for hit in found)
    assert all(grip.toc_node_id in mine for grip in quoted.values())


def test_a_page_is_full_where_most_hits_are_of_others(
    full_workspace: Workspace,
) -> None:
    of = Scope("codex", "logsift")
    whole = full_workspace.teleport.find("the", limit=500, scope=of).hits
    few = full_workspace.teleport.find("the", limit=3, scope=of).hits
    assert len(few) == min(3, len(whole))


@pytest.mark.full
@pytest.mark.parametrize("limit", [1, 3, 20])
@pytest.mark.parametrize("query", ["test", "fix", "the fix", "token refr", "session"])
@pytest.mark.parametrize("of", SCOPES, ids=str)
def test_the_best_few_of_a_scope_come_from_the_index(
    full_workspace: Workspace, of: Scope, query: str, limit: int
) -> None:
    few = full_workspace.teleport.find(query, limit=limit, scope=of)
    whole = full_workspace.teleport.find(query, limit=500, scope=of)
    assert (few.notes, whole.notes) == ((), ())
    best = [hit.score for hit in whole.hits[:limit]]
    assert [hit.score for hit in few.hits] == pytest.approx(best)


def test_a_scope_holds_without_an_index_too(
    full_workspace: Workspace, tmp_path: Path
) -> None:
    of = Scope("codex", "")
    answer = NodeSearch(tmp_path / "none", UTC, clock).find("session", scope=of)
    assert answer.notes
    assert all(hit.node_id in expected(of) for hit in answer.hits)
