"""Scopes: which nodes of the table of contents an agent, a project or a word is in."""

import json
import string
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from peewee import SQL, NodeList, fn

from memtui.model.filters import Filters
from memtui.model.scope import Scope
from memtui.search.query import Query
from memtui.store.database import db
from memtui.store.schema import NodeRow, SegmentRow, SessionRow, VersionRow

_TOGETHER = """(
    WITH RECURSIVE made(node_id) AS (
        SELECT segments.id FROM segments
        JOIN sessions ON sessions.id = segments.session_id
        WHERE sessions.agent = ? AND sessions.project = ?
        UNION
        SELECT parent_id FROM nodes JOIN made USING (node_id)
        WHERE parent_id IS NOT NULL
    )
    SELECT node_id FROM made
)"""
"""The segments of one agent's work on one project, and all nodes above them."""

_CARRYING = """(
    WITH RECURSIVE made(node_id) AS (
        SELECT near.node_id FROM nodes AS near
        JOIN node_versions AS says ON says.id = near.latest_id
        WHERE near.level = 'segment' AND near.start_ms >= ? AND near.start_ms < ?
          AND INSTR(LOWER(says.keywords), ?)
          AND (? = '' OR ? IN (SELECT value FROM json_each(says.agents)))
          AND (? = '' OR ? IN (SELECT value FROM json_each(says.projects)))
        UNION
        SELECT parent_id FROM nodes JOIN made USING (node_id)
        WHERE parent_id IS NOT NULL
    )
    SELECT node_id FROM made
)"""
"""The segments of some time that carry a keyword, and all nodes above them.

What is looked for is how the keyword is written in the list of a version's: that is
ten times as fast as to read each list.
"""

SESSIONS_WITH_KEYWORD = """(
    SELECT segments.session_id FROM segments
    JOIN nodes ON nodes.node_id = segments.id
    JOIN node_versions ON node_versions.id = nodes.latest_id
    WHERE INSTR(LOWER(node_versions.keywords), ?)
)"""
"""The numbers of the sessions of which a segment carries a keyword, as ``listed``."""

_EVER = (-(1 << 62), 1 << 62)
"""From when until when, in milliseconds: all there is."""

_LOWERED = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
"""What ``LOWER`` does to a text."""


def conditions(scope: Scope, *, under: str | None = None) -> Iterator[Any]:
    """The conditions on nodes, joined with their latest versions, to be of a scope.

    A node above the segments knows its agents and its projects, but not which of them
    belong together, and not all its keywords: the segments under it tell.

    Args:
        scope: Which.
        under: The node under which they stand, so that no other segments are read.
    """
    yield SQL("1")
    if scope.agent:
        yield _names(VersionRow.agents, scope.agent)
    if scope.project:
        yield _names(VersionRow.projects, scope.project)
    if scope.keyword:
        times = (_EVER if under is None else _times(under)) or _EVER
        names = (scope.agent, scope.agent, scope.project, scope.project)
        values = (*times, keyword_prefix(scope.keyword), *names)
        yield NodeRow.node_id.in_(SQL(_CARRYING, values))
    elif scope.agent and scope.project:
        yield NodeRow.node_id.in_(SQL(_TOGETHER, (scope.agent, scope.project)))


def keyword_prefix(keyword: str) -> str:
    """How a keyword begins the list of what is known of it, in lower case."""
    said = json.dumps([keyword], ensure_ascii=False).removesuffix("]")
    return f"{said}, ".translate(_LOWERED)


def _times(node_id: str) -> tuple[int, int] | None:
    """When a node begins and ends; None if that is not known."""
    row = (
        NodeRow.select(NodeRow.start_ms, VersionRow.end_ms)
        .join(VersionRow)
        .where(NodeRow.node_id == node_id)
        .tuples()
        .first()
    )
    return (int(row[0]), int(row[1])) if row else None


def filter_nodes(node_ids: list[str], scope: Scope) -> set[str]:
    """Those of these nodes that are of a scope."""
    rows = NodeRow.select(NodeRow.node_id).join(VersionRow)
    mine = rows.where(NodeRow.node_id.in_(node_ids), *conditions(scope))
    return {name for (name,) in mine.tuples()}


def list_session_segments(start: str, limit: int) -> list[str]:
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
    scope = query.filters.scope
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
    of = replace(scope, **names)
    return replace(query, filters=replace(query.filters, scope=of)), unknown


def get_sessions(filters: Filters) -> frozenset[int] | None:
    """The numbers of the sessions that filters leave; None if that is all of them."""
    scope, name = filters.scope, SessionRow.name
    where = []
    if scope.agent:
        where.append(SessionRow.agent == scope.agent)
    if scope.project:
        where.append(SessionRow.project == scope.project)
    if start := filters.session:
        where += [name >= start, fn.SUBSTR(name, 1, len(start)) == start]
    if scope.keyword:
        where.append(
            SessionRow.id.in_(
                SQL(SESSIONS_WITH_KEYWORD, (keyword_prefix(scope.keyword),))
            )
        )
    if not where:
        return None
    rows = SessionRow.select(SessionRow.id).where(*where)
    return frozenset(number for (number,) in rows.tuples())


def _names(column: Any, name: str) -> Any:
    """Whether a column that holds a list of names holds this one."""
    listed = (SQL("SELECT 1 FROM json_each("), column, SQL(") WHERE value = ?", [name]))
    return fn.EXISTS(NodeList(listed))


_KEYWORDS = """
    SELECT said.word, COUNT(*) AS days FROM (
        SELECT json_extract(one.value, '$[0]') AS word
        FROM nodes AS node
        JOIN node_versions AS says ON says.id = node.latest_id,
        json_each(says.keywords) AS one
        WHERE node.level = 'day'
        ORDER BY node.start_ms DESC
    ) AS said
    GROUP BY LOWER(said.word)
    ORDER BY days DESC, LOWER(said.word)
    LIMIT ?
"""
"""The keywords of days: segments have many more, of which a day keeps the best."""


def list_agents() -> list[tuple[str, int]]:
    """The agents, each with how many sessions it has; the one with most first."""
    return _sessions_by(SessionRow.agent)


def list_projects() -> list[tuple[str, int]]:
    """The projects, each with how many sessions it has; the one with most first."""
    return _sessions_by(SessionRow.project)


def list_keywords(limit: int) -> list[tuple[str, int]]:
    """Keywords, each with how many days carry it; the one with most first."""
    rows = db.execute_sql(_KEYWORDS, (limit,)).fetchall()
    return [(str(word), int(days)) for word, days in rows]


def _sessions_by(column: Any) -> list[tuple[str, int]]:
    count = fn.COUNT(SessionRow.id)
    rows = SessionRow.select(column, count).where(column != "").group_by(column)
    return [(name, n) for name, n in rows.order_by(count.desc(), column).tuples()]
