"""Scopes in SQL: which nodes and sessions have an agent, project, keyword or state."""

import json
from dataclasses import replace

from memtui.model.filters import Filters, Scope
from memtui.store import json_columns
from memtui.store.database import (
    IN_JSON,
    fetch,
    fetch_column,
    keyword_prefix,
    prefix_range,
)

Condition = tuple[str, list[object]]

_NODES_ABOVE_SEGMENTS = """
    WITH in_scope(segment, day) AS (
        SELECT n.node_id, n.parent_id FROM nodes n
        JOIN node_versions v ON v.id = n.latest_id
        WHERE n.level = 'segment' AND {}
    )
    SELECT segment FROM in_scope
    UNION SELECT day FROM in_scope
    UNION SELECT parent_id FROM nodes WHERE node_id IN (SELECT day FROM in_scope)
    UNION SELECT 'toc:month:' || SUBSTR(day, 9, 7) FROM in_scope
    UNION SELECT 'toc:year:' || SUBSTR(day, 9, 4) FROM in_scope
"""
"""Some segments, their days, and the weeks, months and years of these."""


def segment_condition(scope: Scope) -> Condition:
    """Return the condition that a segment ``n`` with its version ``v`` is in a scope.

    A segment has one agent and one project, so that its lists are known exactly. The
    keyword is searched for as ``keyword_prefix`` in the stored list: ten times as fast
    as reading each list.
    """
    parts: list[str] = ["1"]
    values: list[object] = []
    for column, name in (("agents", scope.agent), ("projects", scope.project)):
        if name:
            parts.append(f"v.{column} = ?")
            values.append(json.dumps([name], ensure_ascii=False))
    if scope.keyword:
        parts.append("instr(lower(v.keywords), ?)")
        values.append(keyword_prefix(scope.keyword))
    if scope.state:
        parts.append(
            "n.node_id IN (SELECT own.id FROM segments own"
            f" JOIN sessions ON sessions.id = own.session_id WHERE state {IN_JSON})"
        )
        values.append(json.dumps(scope.state.split(",")))
    return " AND ".join(parts), values


def node_condition(scope: Scope) -> Condition:
    """Return the condition that a node ``n`` with its version ``v`` is in a scope.

    A node above the segments lists its agents and its projects, but not which of them
    belong together, and not all its keywords: the segments below it decide.
    """
    parts: list[str] = ["1"]
    values: list[object] = []
    for column, name in (("agents", scope.agent), ("projects", scope.project)):
        if name:
            listed = json_columns.valid(f"v.{column}")
            parts.append(f"? IN (SELECT value FROM json_each({listed}))")
            values.append(name)
    if scope.needs_segments:
        segments, own = segment_condition(scope)
        parts.append(f"n.node_id IN ({_NODES_ABOVE_SEGMENTS.format(segments)})")
        values += own
    return " AND ".join(parts), values


def session_condition(scope: Scope) -> Condition:
    """Return the condition that a row of ``sessions`` is in a scope."""
    parts: list[str] = ["1"]
    values: list[object] = []
    for column, name in (("agent", scope.agent), ("project", scope.project)):
        if name:
            parts.append(f"{column} = ?")
            values.append(name)
    if scope.state:
        parts.append(f"state {IN_JSON}")
        values.append(json.dumps(scope.state.split(",")))
    if scope.keyword:
        segments, own = segment_condition(Scope(keyword=scope.keyword))
        parts.append(
            "id IN (SELECT g.session_id FROM segments g"
            " JOIN nodes n ON n.node_id = g.id"
            f" JOIN node_versions v ON v.id = n.latest_id WHERE {segments})"
        )
        values += own
    return " AND ".join(parts), values


def filter_nodes(node_ids: list[str], scope: Scope) -> set[str]:
    condition, values = node_condition(scope)
    matching = fetch_column(
        "SELECT n.node_id FROM nodes n JOIN node_versions v ON v.id = n.latest_id"
        f" WHERE n.node_id {IN_JSON} AND {condition}",
        json.dumps(node_ids),
        *values,
    )
    return set(matching)


def list_session_segments(session_prefix: str, limit: int) -> list[str]:
    return fetch_column(
        "SELECT g.id FROM segments g JOIN sessions s ON s.id = g.session_id"
        " WHERE s.name >= ? AND s.name < ? ORDER BY g.start_ms DESC, g.id LIMIT ?",
        *prefix_range(session_prefix),
        limit,
    )


def get_sessions(filters: Filters) -> frozenset[int] | None:
    """Return the numbers of the sessions that match filters; None for all sessions."""
    if not (filters.scope.is_narrow or filters.session):
        return None
    condition, values = session_condition(filters.scope)
    if filters.session:
        condition += " AND name >= ? AND name < ?"
        values += prefix_range(filters.session)
    sql = f"SELECT id FROM sessions WHERE {condition}"
    return frozenset(fetch_column(sql, *values))


def resolve_names(scope: Scope) -> tuple[Scope, list[str]]:
    """Return a scope with names in their stored case; a message for unknown ones."""
    names, messages = {"agent": scope.agent, "project": scope.project}, []
    for kind, name in names.items():
        if not name:
            continue
        sql = f"SELECT DISTINCT {kind} FROM sessions WHERE lower({kind}) = ?"
        stored = fetch_column(sql, name.lower())
        if not stored:
            messages.append(f"Nothing is stored for the {kind} “{name}”.")
        elif name not in stored:
            names[kind] = stored[0]
    return replace(scope, **names), messages


def list_names(column: str) -> list[tuple[str, int]]:
    """Return each agent, project or state with its number of sessions, most first."""
    return fetch(
        f"SELECT {column}, count(*) FROM sessions"
        f" WHERE {column} <> '' AND typeof({column}) = 'text'"
        f" GROUP BY {column} ORDER BY 2 DESC, {column}"
    )


def list_keywords(limit: int) -> list[tuple[str, int]]:
    """Return keywords with the number of days that have them, most first.

    Segments have many more, and a day gets the best of them.
    """
    rows = fetch(
        "SELECT k.word, count(*) AS days FROM"
        " (SELECT json_extract(v.keywords, entry.fullkey || '[0]') AS word FROM nodes n"
        " JOIN node_versions v ON v.id = n.latest_id,"
        f" json_each({json_columns.valid('v.keywords')}) entry"
        " WHERE n.level = 'day' ORDER BY n.start_ms DESC) k"
        " GROUP BY lower(k.word) ORDER BY days DESC, lower(k.word) LIMIT ?",
        limit,
    )
    return [(str(word), int(days)) for word, days in rows]
