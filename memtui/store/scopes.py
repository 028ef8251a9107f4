"""Scopes in SQL: which nodes and sessions belong to an agent, project or keyword."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from peewee import SQL, NodeList, fn

from memtui.model.filters import Filters, Scope
from memtui.store.database import fetch, keyword_prefix
from memtui.store.schema import NodeRow, SegmentRow, SessionRow, VersionRow

_WITH_ABOVE = """
    SELECT node_id FROM found
    UNION SELECT day FROM found
    UNION SELECT parent_id FROM nodes WHERE node_id IN (SELECT day FROM found)
    UNION SELECT 'toc:month:' || SUBSTR(day, 9, 7) FROM found
    UNION SELECT 'toc:year:' || SUBSTR(day, 9, 4) FROM found
"""
"""Segments, their days, and the weeks, months and years of these."""

_NODES_OF_AGENT_AND_PROJECT = f"""(
    WITH found(node_id, day) AS (
        SELECT n.node_id, n.parent_id FROM segments
        JOIN sessions ON sessions.id = segments.session_id
        JOIN nodes AS n ON n.node_id = segments.id
        WHERE sessions.agent = ? AND sessions.project = ?
    )
    {_WITH_ABOVE}
)"""
"""The segments of one agent's work on one project, and all nodes above them."""

_NODES_WITH_KEYWORD = f"""(
    WITH found(node_id, day) AS (
        SELECT n.node_id, n.parent_id FROM nodes AS n
        JOIN node_versions AS v ON v.id = n.latest_id
        WHERE n.level = 'segment' AND n.start_ms >= ? AND n.start_ms < ?
          AND INSTR(LOWER(v.keywords), ?)
          AND (? = '' OR ? IN (SELECT value FROM json_each(v.agents)))
          AND (? = '' OR ? IN (SELECT value FROM json_each(v.projects)))
    )
    {_WITH_ABOVE}
)"""
"""The segments of a time range with a keyword, and all nodes above them.

The keyword is searched for as ``keyword_prefix`` in the stored list: ten times as fast
as reading each list.
"""

SESSIONS_WITH_KEYWORD = """(
    SELECT segments.session_id FROM segments
    JOIN nodes ON nodes.node_id = segments.id
    JOIN node_versions ON node_versions.id = nodes.latest_id
    WHERE INSTR(LOWER(node_versions.keywords), ?)
)"""
"""The numbers of the sessions with a segment that has a ``keyword_prefix``."""

_ALL_TIMES = (-(1 << 62), 1 << 62)
"""The widest time range, in milliseconds."""


def conditions(scope: Scope, *, under: str | None = None) -> Iterator[Any]:
    """Yield the conditions that a node, joined with its latest version, is in a scope.

    A node above the segments lists its agents and its projects, but not which of them
    belong together, and not all its keywords: the segments below it decide.

    ``under`` is a node that contains all candidates, so that fewer segments are read.
    """
    yield SQL("1")
    if scope.agent:
        yield _contains(VersionRow.agents, scope.agent)
    if scope.project:
        yield _contains(VersionRow.projects, scope.project)
    if scope.keyword:
        times = (_ALL_TIMES if under is None else _read_times(under)) or _ALL_TIMES
        names = (scope.agent, scope.agent, scope.project, scope.project)
        values = (*times, keyword_prefix(scope.keyword), *names)
        yield NodeRow.node_id.in_(SQL(_NODES_WITH_KEYWORD, values))
    elif scope.agent and scope.project:
        pair = (scope.agent, scope.project)
        yield NodeRow.node_id.in_(SQL(_NODES_OF_AGENT_AND_PROJECT, pair))


def _contains(column: Any, name: str) -> Any:
    parts = (SQL("SELECT 1 FROM json_each("), column, SQL(") WHERE value = ?", [name]))
    return fn.EXISTS(NodeList(parts))


def _read_times(node_id: str) -> tuple[int, int] | None:
    rows = NodeRow.select(NodeRow.start_ms, VersionRow.end_ms).join(VersionRow)
    times: tuple[int, int] | None = (
        rows.where(NodeRow.node_id == node_id).tuples().first()
    )
    return times


def filter_nodes(node_ids: list[str], scope: Scope) -> set[str]:
    rows = NodeRow.select(NodeRow.node_id).join(VersionRow)
    found = rows.where(NodeRow.node_id.in_(node_ids), *conditions(scope))
    return {name for (name,) in found.tuples()}


def list_session_segments(session_prefix: str, limit: int) -> list[str]:
    rows = (
        SegmentRow.select(SegmentRow.id)
        .join(SessionRow)
        .where(*_has_prefix(session_prefix))
        .order_by(SegmentRow.start_ms.desc(), SegmentRow.id)
        .limit(limit)
    )
    return [segment for (segment,) in rows.tuples()]


def get_sessions(filters: Filters) -> frozenset[int] | None:
    scope = filters.scope
    where = []
    if scope.agent:
        where.append(SessionRow.agent == scope.agent)
    if scope.project:
        where.append(SessionRow.project == scope.project)
    if filters.session:
        where += _has_prefix(filters.session)
    if scope.keyword:
        values = (keyword_prefix(scope.keyword),)
        where.append(SessionRow.id.in_(SQL(SESSIONS_WITH_KEYWORD, values)))
    if not where:
        return None
    rows = SessionRow.select(SessionRow.id).where(*where)
    return frozenset(number for (number,) in rows.tuples())


def _has_prefix(prefix: str) -> list[Any]:
    name = SessionRow.name
    return [name >= prefix, fn.SUBSTR(name, 1, len(prefix)) == prefix]


def resolve_names(scope: Scope) -> tuple[Scope, list[str]]:
    """Return a scope with agent and project in the case in which they are stored.

    Returns:
        The scope; and a message for each name that does not exist.
    """
    names, messages = {"agent": scope.agent, "project": scope.project}, []
    for kind, name in names.items():
        if not name:
            continue
        column = getattr(SessionRow, kind)
        rows = SessionRow.select(column).where(fn.LOWER(column) == name.lower())
        found = [stored for (stored,) in rows.distinct().tuples()]
        if not found:
            messages.append(f"Nothing is stored for the {kind} “{name}”.")
        elif name not in found:
            names[kind] = found[0]
    return replace(scope, **names), messages


def list_names(column: str) -> list[tuple[str, int]]:
    field, count = getattr(SessionRow, column), fn.COUNT(SessionRow.id)
    rows = SessionRow.select(field, count).where(field != "").group_by(field)
    return [(name, n) for name, n in rows.order_by(count.desc(), field).tuples()]


def list_keywords(limit: int) -> list[tuple[str, int]]:
    """Return keywords with the number of days that have them, most first.

    Segments have many more, and a day gets the best of them.
    """
    rows = fetch(
        "SELECT k.word, count(*) AS days FROM"
        " (SELECT json_extract(entry.value, '$[0]') AS word FROM nodes n"
        " JOIN node_versions v ON v.id = n.latest_id, json_each(v.keywords) entry"
        " WHERE n.level = 'day' ORDER BY n.start_ms DESC) k"
        " GROUP BY lower(k.word) ORDER BY days DESC, lower(k.word) LIMIT ?",
        limit,
    )
    return [(str(word), int(days)) for word, days in rows]
