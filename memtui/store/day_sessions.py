"""The sessions of segments: the state of their work, and their number in a time."""

import json
from collections.abc import Sequence

from memtui.model.filters import ALL, Scope
from memtui.store import scopes
from memtui.store.database import IN_JSON, fetch

SegmentWork = tuple[str, str, str]
"""The agent and the id of a segment's session, and the state of its work or ""."""

TimeRange = tuple[int, int]
"""The first millisecond, and the first one after the range."""

ALL_TIMES: TimeRange = (-(1 << 62), 1 << 62)


def read_work(segment_ids: Sequence[str]) -> dict[str, SegmentWork]:
    """Return session and state of segments, by their ids; skip unknown ones."""
    rows = fetch(
        "SELECT n.node_id, s.agent, s.name, coalesce(b.text, '')"
        " FROM nodes n JOIN segments g ON g.id = n.node_id"
        " JOIN sessions s ON s.id = g.session_id"
        " LEFT JOIN bullets b ON b.version_id = n.latest_id AND b.kind = 'state'"
        f" WHERE n.node_id {IN_JSON}",
        json.dumps(list(segment_ids)),
    )
    return {name: (agent, session, state) for name, agent, session, state in rows}


def count(ranges: Sequence[TimeRange], scope: Scope = ALL) -> list[int]:
    """Count the sessions with segments of a scope that start in each time range."""
    joins, values = "", []
    if scope.agent or scope.project:
        joins += " JOIN sessions s ON s.id = g.session_id"
        for column, name in (("agent", scope.agent), ("project", scope.project)):
            if name:
                joins += f" AND s.{column} = ?"
                values.append(name)
    if scope.keyword:
        joins += (
            " JOIN nodes n ON n.node_id = g.id"
            " JOIN node_versions v ON v.id = n.latest_id"
            " AND instr(lower(v.keywords), ?)"
        )
        values.append(scopes.keyword_prefix(scope.keyword))
    rows = fetch(
        "WITH ranges(place, first, after) AS MATERIALIZED (SELECT key,"
        " json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each(?))"
        " SELECT r.place, COUNT(DISTINCT g.session_id) FROM ranges r JOIN segments g"
        f" ON g.start_ms >= r.first AND g.start_ms < r.after{joins} GROUP BY r.place",
        json.dumps(ranges),
        *values,
    )
    found = {place: number for place, number in rows}
    return [found.get(place, 0) for place in range(len(ranges))]
