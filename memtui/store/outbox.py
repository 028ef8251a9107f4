"""The outbox: pending work, written in the transaction that makes it necessary.

A row is deleted in the transaction that makes its effect durable; or its effect may be
repeated, and the row is deleted afterwards.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from memtui.model.events import from_ms
from memtui.store.database import IN_JSON, execute, fetch, fetch_value, insert
from memtui.store.schema import OutboxRow

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
    insert(OutboxRow, [(None, UPDATE_TOC, *event) for event in events])


def add_events(first: int, last: int, at_ms: int) -> None:
    """Have added events indexed, by their first and last rowid."""
    insert(OutboxRow, [(None, INDEX_EVENT, f"{first}-{last}", at_ms, None)])


def add_events_of(session: int) -> None:
    """Have all events of a session indexed anew."""
    execute(
        "INSERT INTO outbox (action, subject_id, at_ms)"
        " SELECT ?, min(id) || '-' || max(id), min(at_ms) FROM (SELECT rowid AS id,"
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
    insert(OutboxRow, [(None, INDEX_NODE, name, at_ms, None) for name in node_ids])


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


def list_events(limit: int) -> list[EventRange]:
    """Return events to be indexed, oldest rows first."""
    rows = fetch(f"SELECT id, subject_id {_OLDEST}", INDEX_EVENT, limit)
    return [EventRange(row, *map(int, ids.split("-"))) for row, ids in rows]


def list_latest_events(count: int) -> tuple[list[EventRange], int]:
    """Return the latest events that are not indexed yet, and the number of all these.

    Only whole rows are returned: about as many events as the count.
    """
    ranges: list[EventRange] = []
    found = 0
    sql = "SELECT id, subject_id FROM outbox WHERE action = ? ORDER BY id DESC LIMIT ?"
    for row, ids in fetch(sql, INDEX_EVENT, count):
        if found >= count:
            break
        ranges.append(EventRange(row, *map(int, ids.split("-"))))
        found += ranges[-1].count
    dash = "instr(subject_id, '-')"
    total = fetch_value(
        f"SELECT sum(substr(subject_id, {dash} + 1) - substr(subject_id, 1, {dash} - 1)"
        " + 1) FROM outbox WHERE action = ?",
        INDEX_EVENT,
    )
    return ranges[::-1], int(total or 0)


def list_sessions(limit: int) -> list[tuple[int, int]]:
    """Return sessions whose title or summary is to be indexed, as (row, session)."""
    rows = fetch(f"SELECT id, session {_OLDEST}", INDEX_SESSION, limit)
    return [(row, session) for row, session in rows]


def list_nodes(limit: int) -> list[tuple[int, str]]:
    """Return nodes to be indexed, as (row, node id), oldest rows first."""
    rows = fetch(f"SELECT id, subject_id {_OLDEST}", INDEX_NODE, limit)
    return [(row, node_id) for row, node_id in rows]


def delete(rows: Sequence[int]) -> None:
    """Delete rows whose effect is durable."""
    execute(f"DELETE FROM outbox WHERE id {IN_JSON}", json.dumps(list(rows)))


def clear(action: str) -> None:
    """Delete all rows of an action, since all of its work is added again."""
    execute("DELETE FROM outbox WHERE action = ?", action)


def count(action: str | None = None) -> int:
    where = "WHERE action = ?" if action else ""
    values = (action,) if action else ()
    return int(fetch_value(f"SELECT count(*) FROM outbox {where}", *values))


def count_by_action() -> list[OutboxCount]:
    """Count the pending rows of each action, with the time of the oldest one."""
    rows = fetch(
        # SQLite takes the time from the row with the minimum.
        "SELECT action, count(*), at_ms, min(id) FROM outbox"
        " GROUP BY action ORDER BY action"
    )
    return [
        OutboxCount(action, count, from_ms(at_ms)) for action, count, at_ms, _ in rows
    ]
