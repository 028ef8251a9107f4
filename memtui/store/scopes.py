"""Scopes: which nodes of the table of contents an agent or a project has a part in."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from peewee import SQL, NodeList, fn

from memtui.memory.filters import Filters
from memtui.memory.queries import Query
from memtui.memory.scopes import Scope
from memtui.store.tables import NodeRow, SegmentRow, SessionRow, VersionRow

_TOGETHER = """(
    WITH RECURSIVE made(node_id) AS (
        SELECT segments.id FROM segments
        JOIN sessions ON sessions.id = segments.session_id
        WHERE sessions.agent = ? AND sessions.project = ?
        UNION
        SELECT parent_id FROM toc_latest JOIN made USING (node_id)
        WHERE parent_id IS NOT NULL
    )
    SELECT node_id FROM made
)"""
"""The segments of one agent's work on one project, and all nodes above them."""


def within(scope: Scope) -> Iterator[Any]:
    """The conditions on nodes, joined with their latest versions, to be of a scope.

    A node above the segments knows its agents and its projects, but not which of them
    belong together: where both are asked for, the segments under it tell.
    """
    yield SQL("1")
    if scope.agent:
        yield _names(VersionRow.agents, scope.agent)
    if scope.project:
        yield _names(VersionRow.projects, scope.project)
    if scope.agent and scope.project:
        yield NodeRow.node_id.in_(SQL(_TOGETHER, (scope.agent, scope.project)))


def among(node_ids: list[str], scope: Scope) -> set[str]:
    """Those of these nodes that are of a scope."""
    rows = NodeRow.select(NodeRow.node_id).join(VersionRow)
    mine = rows.where(NodeRow.node_id.in_(node_ids), *within(scope))
    return {name for (name,) in mine.tuples()}


def of_sessions(start: str, limit: int) -> list[str]:
    """The ids of the segments of the sessions whose id begins so, newest first."""
    name = SessionRow.name
    rows = (
        SegmentRow.select(SegmentRow.id)
        .join(SessionRow)
        .where(name >= start, fn.SUBSTR(name, 1, len(start)) == start)
        .order_by(SegmentRow.start_ms.desc(), SegmentRow.id)
        .limit(limit)
    )
    return [segment for (segment,) in rows.tuples()]


def meant(query: Query) -> tuple[Query, list[str]]:
    """A query with its agent and its project as they are kept, in whatever case typed.

    Returns:
        The query; and each name that nothing is kept of, in a sentence.
    """
    scope = query.filters.of
    names, unknown = {"agent": scope.agent, "project": scope.project}, []
    for kind, said in names.items():
        if not said:
            continue
        column = getattr(SessionRow, kind)
        rows = SessionRow.select(column).where(fn.LOWER(column) == said.lower())
        # The one in the very case that was typed, if there is one.
        found = [name for (name,) in rows.distinct().tuples()]
        if not found:
            unknown.append(f"Nothing is kept of the {kind} “{said}”.")
        elif said not in found:
            names[kind] = found[0]
    return replace(query, filters=replace(query.filters, of=Scope(**names))), unknown


def sessions_of(filters: Filters) -> frozenset[int] | None:
    """The numbers of the sessions that filters leave; None if that is all of them."""
    scope, name = filters.of, SessionRow.name
    where = []
    if scope.agent:
        where.append(SessionRow.agent == scope.agent)
    if scope.project:
        where.append(SessionRow.project == scope.project)
    if start := filters.session:
        where += [name >= start, fn.SUBSTR(name, 1, len(start)) == start]
    if not where:
        return None
    rows = SessionRow.select(SessionRow.id).where(*where)
    return frozenset(number for (number,) in rows.tuples())


def _names(column: Any, name: str) -> Any:
    """Whether a column that holds a list of names holds this one."""
    listed = (SQL("SELECT 1 FROM json_each("), column, SQL(") WHERE value = ?", [name]))
    return fn.EXISTS(NodeList(listed))
