"""The outbox, the roll-up queue and the rewrite queue: all pending work.

The outbox has pending work as rows, written in the transaction that makes it necessary.
A row is deleted in the transaction that makes its effect durable; or its effect may be
repeated, and the row is deleted afterwards.

The two queues are columns of the nodes. The roll-up queue, ``is_dirty``, ``attempts``
and ``retry_ms``, has the nodes to be rolled up, since something below them has changed.
The rewrite queue has those that need a version by a model, from their extractive
version until a model's version was made, shown or rejected. Requests by the user come
first there; nodes at which a model has failed come last, so that no other node waits
for them.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo

from memtui.model import calendar
from memtui.model.calendar import TocLevel
from memtui.model.events import from_ms, to_ms
from memtui.store.database import (
    IN_JSON,
    MIN_RETRY_MS,
    execute,
    existing_keys,
    fetch,
    fetch_column,
    fetch_value,
    insert,
    is_due,
    retry_later,
    valid_ms,
)

# The outbox

UPDATE_TOC = "update_toc"
"""An event was added: its session must be segmented again."""

INDEX_EVENT = "index_event"
"""Events were added, or moved to another session or project: update the message index.
One row stands for consecutive events."""

INDEX_SESSION = "index_session"
"""The title or summary of a session has changed: update the message index."""

INDEX_NODE = "index_node"
"""A node has another version, or was removed: update the node index."""


@dataclass(frozen=True, slots=True)
class ChangedSession:
    """A session with events that are not segmented yet."""

    number: int
    start_ms: int
    """The time of the earliest of them, in milliseconds."""
    last_row: int
    """Its latest outbox row; later rows are new work."""


@dataclass(frozen=True, slots=True)
class EventRange:
    """Consecutive events, by their rowids."""

    row: int
    first: int
    last: int

    @property
    def count(self) -> int:
        return self.last - self.first + 1


@dataclass(frozen=True, slots=True)
class OutboxCount:
    """The number of pending rows of one action."""

    action: str
    count: int
    oldest_at: datetime
    """The time of the event, of the session's last event, or of the announcement of the
    node, for the row that waits longest."""


def add_segment_updates(events: Iterable[tuple[str, int, int]]) -> None:
    """Have the sessions around events, (id, time, session), segmented again."""
    insert("outbox", [(None, UPDATE_TOC, *event) for event in events])


def add_events(first: int, last: int, at_ms: int) -> None:
    """Have added events indexed, by their first and last rowid."""
    insert("outbox", [(None, INDEX_EVENT, f"{first}-{last}", at_ms, None)])


def add_events_of(session: int) -> None:
    """Have all events of a session indexed again."""
    execute(
        "INSERT INTO outbox (action, subject_id, at_ms)"
        f" SELECT ?, min(id) || '-' || max(id), coalesce(min({valid_ms('at_ms')}), 0)"
        " FROM (SELECT rowid AS id,"
        " at_ms, rowid - row_number() OVER (ORDER BY rowid) AS run FROM events"
        " WHERE session_id = ?) GROUP BY run",
        INDEX_EVENT,
        session,
    )


def add_sessions(numbers: Iterable[int]) -> None:
    execute(
        "INSERT INTO outbox (action, subject_id, at_ms, session)"
        f" SELECT ?, '', updated_ms, id FROM sessions WHERE id {IN_JSON}",
        INDEX_SESSION,
        json.dumps(sorted(numbers)),
    )


def add_nodes(node_ids: Iterable[str], at_ms: int) -> None:
    insert("outbox", [(None, INDEX_NODE, name, at_ms, None) for name in node_ids])


def list_changed_sessions(limit: int) -> list[ChangedSession]:
    rows = fetch(
        "SELECT session, min(at_ms), max(id) FROM outbox WHERE action = ?"
        " GROUP BY session ORDER BY session LIMIT ?",
        UPDATE_TOC,
        limit,
    )
    return [ChangedSession(*row) for row in rows]


def delete_session(session: ChangedSession) -> None:
    sql = "DELETE FROM outbox WHERE action = ? AND session = ? AND id <= ?"
    execute(sql, UPDATE_TOC, session.number, session.last_row)


_OLDEST = "FROM outbox WHERE action = ? ORDER BY id LIMIT ?"


def list_unindexed_events(limit: int) -> list[EventRange]:
    """Return events to be indexed, oldest rows first."""
    rows = fetch(f"SELECT id, subject_id {_OLDEST}", INDEX_EVENT, limit)
    return [EventRange(row, *map(int, ids.split("-"))) for row, ids in rows]


def list_latest_unindexed_events(count: int) -> tuple[list[EventRange], int]:
    """Return the latest events that are not indexed yet, and the number of all these.

    Only whole rows are returned: about as many events as the count.
    """
    ranges: list[EventRange] = []
    count_found = 0
    sql = "SELECT id, subject_id FROM outbox WHERE action = ? ORDER BY id DESC LIMIT ?"
    for row, ids in fetch(sql, INDEX_EVENT, count):
        if count_found >= count:
            break
        ranges.append(EventRange(row, *map(int, ids.split("-"))))
        count_found += ranges[-1].count
    dash = "instr(subject_id, '-')"
    total = fetch_value(
        f"SELECT sum(substr(subject_id, {dash} + 1) - substr(subject_id, 1, {dash} - 1)"
        " + 1) FROM outbox WHERE action = ?",
        INDEX_EVENT,
    )
    return ranges[::-1], int(total or 0)


def list_unindexed_sessions(limit: int) -> list[tuple[int, int]]:
    """Return sessions whose title or summary is to be indexed, as (row, session)."""
    rows = fetch(f"SELECT id, session {_OLDEST}", INDEX_SESSION, limit)
    return [(row, session) for row, session in rows]


def list_unindexed_nodes(limit: int) -> list[tuple[int, str]]:
    """Return nodes to be indexed, as (row, node id), oldest rows first."""
    rows = fetch(f"SELECT id, subject_id {_OLDEST}", INDEX_NODE, limit)
    return [(row, node_id) for row, node_id in rows]


def delete_rows(rows: Sequence[int]) -> None:
    """Delete rows whose effect is durable."""
    execute(f"DELETE FROM outbox WHERE id {IN_JSON}", json.dumps(list(rows)))


def clear_rows(action: str) -> None:
    """Delete all rows of an action, since all of its work is added again."""
    execute("DELETE FROM outbox WHERE action = ?", action)


def count_rows(action: str | None = None) -> int:
    where = "WHERE action = ?" if action else ""
    values = (action,) if action else ()
    return int(fetch_value(f"SELECT count(*) FROM outbox {where}", *values))


def count_unindexed() -> int:
    """Count the nodes, sessions and events that are not indexed yet."""
    rows = count_rows(INDEX_NODE) + count_rows(INDEX_SESSION)
    return rows + list_latest_unindexed_events(0)[1]


def count_rows_by_action() -> list[OutboxCount]:
    """Count the pending rows of each action, with the time of the oldest one."""
    rows = fetch(
        # SQLite takes the time from the row with the minimum.
        "SELECT action, count(*), at_ms, min(id) FROM outbox"
        " GROUP BY action ORDER BY action"
    )
    return [
        OutboxCount(action, count, from_ms(at_ms)) for action, count, at_ms, _ in rows
    ]


# The roll-up queue


def add_rollups(node_ids: Iterable[str], zone: tzinfo) -> None:
    """Have nodes rolled up, and create those that are missing.

    With a day its week, month and year are created.
    """
    names = set(node_ids)
    days = [name for name in names if calendar.period(name).level is TocLevel.DAY]
    paths = names.union(*map(calendar.path, days))
    insert(
        "nodes",
        [
            {
                "node_id": name,
                "level": calendar.period(name).level.value,
                "parent_id": calendar.parent_id(name),
                "start_ms": to_ms(calendar.bounds(name, zone)[0]),
                "is_dirty": True,
            }
            for name in sorted(paths - existing_keys("nodes", paths, "node_id"))
        ],
    )
    execute(
        "UPDATE nodes SET is_dirty = 1, retry_ms = 0"
        f" WHERE NOT is_dirty AND node_id {IN_JSON}",
        json.dumps(list(names)),
    )


def add_all_rollups() -> None:
    """Have all nodes above the segments rolled up."""
    execute(
        "UPDATE nodes SET is_dirty = 1, attempts = 0, retry_ms = 0"
        " WHERE level <> 'segment'"
    )


def list_due_rollups(
    level: TocLevel, now_ms: int, limit: int, *, after_ms: int | None = None
) -> list[str]:
    """Return nodes of a level to roll up now, oldest first."""
    return fetch_column(
        "SELECT node_id FROM nodes WHERE is_dirty = 1 AND level = ? AND start_ms > ?"
        f" AND {is_due('retry_ms', now_ms)} ORDER BY start_ms LIMIT ?",
        level,
        -(2**62) if after_ms is None else after_ms,
        limit,
    )


def count_rollups() -> int:
    return int(fetch_value("SELECT count(*) FROM nodes WHERE is_dirty = 1"))


def count_failing_rollups(now_ms: int) -> int:
    is_later = "is_dirty = 1 AND attempts > 0 AND retry_ms > ?"
    return int(fetch_value(f"SELECT count(*) FROM nodes WHERE {is_later}", now_ms))


def set_rolled_up(node_id: str) -> None:
    done = "is_dirty = 0, attempts = 0, retry_ms = 0"
    execute(f"UPDATE nodes SET {done} WHERE node_id = ?", node_id)


def set_rollup_failed(node_id: str, now_ms: int) -> None:
    later = retry_later("attempts", "retry_ms", now_ms)
    execute(f"UPDATE nodes SET {later} WHERE node_id = ?", node_id)


# The rewrite queue

_WAITING = "FROM nodes n WHERE needs_model = 1 AND level = ?"
_LEAST_TRIED_FIRST = "ORDER BY model_attempts, start_ms DESC LIMIT ?"

_HAS_UNTRIED_CHILD = (
    "EXISTS (SELECT 1 FROM nodes child WHERE child.needs_model = 1"
    " AND child.model_attempts = 0 AND CASE n.level"
    # toc:day:2024-01-15 is one of the days of toc:month:2024-01.
    " WHEN 'month' THEN child.node_id BETWEEN replace(n.node_id, 'month', 'day')"
    " AND replace(n.node_id, 'month', 'day') || '-99'"
    " ELSE child.parent_id = n.node_id END)"
)
"""The condition that a node waits for a part of it not written yet."""


def list_requested_rewrites(now_ms: int, limit: int) -> list[str]:
    """Return requested nodes that can be written now, the first request first."""
    return fetch_column(
        "SELECT node_id FROM nodes WHERE requested_ms > 0"
        f" AND {is_due('model_retry_ms', now_ms)}"
        " ORDER BY model_attempts, requested_ms LIMIT ?",
        limit,
    )


def last_request_ms() -> int:
    sql = "SELECT max(requested_ms) FROM nodes WHERE requested_ms > 0"
    return int(fetch_value(sql) or 0)


def list_segment_rewrites(now_ms: int, limit: int) -> list[str]:
    """Return segments that can be written now, the newest first.

    Those of a session that goes on wait for its end: a model reads the whole session.
    """
    return fetch_column(
        f"SELECT node_id {_WAITING} AND {is_due('model_retry_ms', now_ms)}"
        " AND NOT EXISTS (SELECT 1 FROM segments own JOIN segments other"
        " ON other.session_id = own.session_id AND other.is_open"
        " WHERE own.id = n.node_id)"
        f" {_LEAST_TRIED_FIRST}",
        TocLevel.SEGMENT,
        limit,
    )


def list_parent_rewrites(
    level: TocLevel, now_ms: int, limit: int, *, before_ms: int
) -> list[str]:
    """Return nodes above segments with no pending work below them, the newest first."""
    return fetch_column(
        f"SELECT node_id {_WAITING} AND start_ms < ? AND NOT is_dirty AND NOT is_live"
        f" AND {is_due('model_retry_ms', now_ms)} AND NOT {_HAS_UNTRIED_CHILD}"
        f" {_LEAST_TRIED_FIRST}",
        level,
        before_ms,
        limit,
    )


def has_dirty(level: TocLevel, before_ms: int) -> bool:
    """Return whether nodes of a level must be rolled up before a model writes them.

    They may need a version by a model only after that.
    """
    condition = "is_dirty = 1 AND level = ? AND start_ms < ? AND attempts = 0"
    sql = f"SELECT 1 FROM nodes WHERE {condition} LIMIT 1"
    return bool(fetch(sql, level, before_ms))


def has_untried_rewrites(level: TocLevel) -> bool:
    """Return whether nodes of a level wait at which no model has failed yet."""
    return bool(fetch(f"SELECT 1 {_WAITING} AND model_attempts = 0 LIMIT 1", level))


def count_rewrites(level: TocLevel) -> int:
    return int(fetch_value(f"SELECT count(*) {_WAITING}", level))


def remove_rewrite(node_id: str) -> None:
    execute(
        "UPDATE nodes SET needs_model = 0, model_attempts = 0, model_retry_ms = 0,"
        " requested_ms = 0 WHERE node_id = ?",
        node_id,
    )


def set_rewrite_failed(node_id: str, now_ms: int) -> None:
    """Count a model's failure and have it tried again later, other nodes first."""
    later = retry_later("model_attempts", "model_retry_ms", now_ms, 2 * MIN_RETRY_MS)
    execute(f"UPDATE nodes SET {later} WHERE node_id = ?", node_id)


def add_outdated_rewrites(summarizer_prefix: str) -> int:
    """Add the nodes whose last version by a model was made by other prompts.

    The names of summarizers with the current prompts begin with the prefix. Returns the
    number of nodes added.
    """
    return execute(
        "UPDATE nodes SET needs_model = 1, model_attempts = 0, model_retry_ms = 0"
        " WHERE NOT needs_model AND node_id IN"
        " (SELECT node_id FROM (SELECT node_id, summarizer, max(version)"
        " FROM node_versions WHERE is_by_model GROUP BY node_id)"
        " WHERE substr(summarizer, 1, ?) <> ?)",
        len(summarizer_prefix),
        summarizer_prefix,
    )
