"""The outbox: work that waits, written in the transaction that makes it necessary.

A row is deleted in the transaction that makes its effect durable, or its effect may be
repeated and it is deleted after (decisions §3).
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from peewee import Field, fn

from memtui.model.events import from_ms
from memtui.store.database import db, insert
from memtui.store.schema import OutboxRow

UPDATE_TOC = "update_toc"
"""An event was added: its session's segments must be cut again."""


INDEX_EVENT = "index_event"
"""Events were added, or moved to another session: the index of messages must follow.
One row stands for all that one statement added."""


INDEX_SESSION = "index_session"
"""A session is called otherwise, or summed up otherwise: the same index must follow."""


INDEX_NODE = "index_node"
"""A node has another version, or is no more: the teleport index must follow."""


@dataclass(frozen=True, slots=True)
class Touched:
    """A session with events whose segments are not cut yet."""

    number: int
    from_ms: int
    """The time of the earliest of them, in milliseconds."""
    upto: int
    """The latest outbox row it has; rows after it are news."""


def touched_sessions(limit: int) -> list[Touched]:
    """Sessions with new events, in the order the sessions were first met."""
    rows = (
        OutboxRow.select(
            OutboxRow.session, fn.MIN(OutboxRow.at_ms), fn.MAX(OutboxRow.id)
        )
        .where(OutboxRow.action == UPDATE_TOC)
        .group_by(OutboxRow.session)
        .order_by(OutboxRow.session)
        .limit(limit)
        .tuples()
    )
    return [Touched(*row) for row in rows]


def done_with(touched: Touched) -> None:
    """Delete the rows of a session up to where it was read."""
    OutboxRow.delete().where(
        OutboxRow.action == UPDATE_TOC,
        OutboxRow.session == touched.number,
        OutboxRow.id <= touched.upto,
    ).execute()


def touch(events: Iterable[tuple[str, int, int]]) -> None:
    """Say that the segments around these events must be cut again.

    Args:
        events: (event id, its time in milliseconds, its session's number).
    """
    insert(OutboxRow, [(None, UPDATE_TOC, *told) for told in events])


def say_added(first: int, last: int, at_ms: int) -> None:
    """Say that events were added.

    Args:
        first: The number of the first one's row; those up to the last came with it.
        last: The number of the last one's row.
        at_ms: The time of the earliest of them, in milliseconds.
    """
    insert(OutboxRow, [(None, INDEX_EVENT, f"{first}-{last}", at_ms, None)])


def added_lately(count: int) -> tuple[list["Run"], int]:
    """The latest events that are not indexed yet, and how many there are in all.

    Args:
        count: About how many; whole runs are given.
    """
    mine = "FROM outbox WHERE action = ?"
    rows = db.execute_sql(
        f"SELECT id, subject_id {mine} ORDER BY id DESC LIMIT ?", (INDEX_EVENT, count)
    )
    some: list[Run] = []
    told = 0
    for row, said in rows.fetchall():
        if told >= count:
            break
        some.append(Run(row, *map(int, said.split("-"))))
        told += some[-1].count
    dash = "instr(subject_id, '-')"
    total = db.execute_sql(
        f"SELECT sum(substr(subject_id, {dash} + 1) - substr(subject_id, 1, {dash} - 1)"
        f" + 1) {mine}",
        (INDEX_EVENT,),
    )
    return some[::-1], int(total.fetchone()[0] or 0)


@dataclass(frozen=True, slots=True)
class Run:
    """Events that one statement added, by the numbers of their rows."""

    row: int
    """The row of the outbox that says so."""
    first: int
    last: int

    @property
    def count(self) -> int:
        """How many they were."""
        return self.last - self.first + 1


def added(limit: int) -> list[Run]:
    """Events that were added and are not indexed yet, the ones added first first."""
    rows = _oldest(INDEX_EVENT, OutboxRow.subject_id, limit)
    return [Run(row, *map(int, said.split("-"))) for row, said in rows]


def say_renamed(sessions: Iterable[int]) -> None:
    """Say that sessions are called, or summed up, otherwise than they were."""
    db.execute_sql(
        "INSERT INTO outbox (action, subject_id, at_ms, session)"
        " SELECT ?, '', updated_ms, id FROM sessions"
        " WHERE id IN (SELECT value FROM json_each(?))",
        (INDEX_SESSION, json.dumps(sorted(sessions))),
    )


def renamed(limit: int) -> list[tuple[int, int]]:
    """Sessions to be indexed by their titles again, as (row, session)."""
    return list(_oldest(INDEX_SESSION, OutboxRow.session, limit))


def announce(node_ids: Iterable[str], at_ms: int) -> None:
    """Say that these nodes are to be indexed again."""
    insert(OutboxRow, [(None, INDEX_NODE, name, at_ms, None) for name in node_ids])


def to_index(limit: int) -> list[tuple[int, str]]:
    """Rows of nodes to index, oldest first, as (row, node id)."""
    return list(_oldest(INDEX_NODE, OutboxRow.subject_id, limit))


def _oldest(action: str, told: Field, limit: int) -> Iterator[tuple[int, Any]]:
    """The oldest rows of an action, each with what it says."""
    rows = OutboxRow.select(OutboxRow.id, told).where(OutboxRow.action == action)
    yield from rows.order_by(OutboxRow.id).limit(limit).tuples()


def delete(rows: Sequence[int]) -> None:
    """Delete rows whose effect is durable."""
    OutboxRow.delete().where(OutboxRow.id.in_(list(rows))).execute()


def clear(action: str) -> None:
    """Delete all rows of an action: what they ask for is announced anew."""
    OutboxRow.delete().where(OutboxRow.action == action).execute()


@dataclass(frozen=True, slots=True)
class Waiting:
    """Rows of one action that wait."""

    action: str
    count: int
    oldest_at: datetime
    """Of an event the time it happened, of a session that of its last one, of a node
    the time it was announced."""


def waiting() -> list[Waiting]:
    """What waits, by its action, each with the time of the row that waits longest."""
    rows = (
        OutboxRow.select(
            OutboxRow.action,
            fn.COUNT(OutboxRow.id),
            # SQLite answers with the row that has the least id.
            OutboxRow.at_ms,
            fn.MIN(OutboxRow.id),
        )
        .group_by(OutboxRow.action)
        .order_by(OutboxRow.action)
        .tuples()
    )
    return [Waiting(action, count, from_ms(at_ms)) for action, count, at_ms, _ in rows]


def length(action: str | None = None) -> int:
    """How many rows wait, of one action or of all."""
    rows = OutboxRow.select()
    return int((rows.where(OutboxRow.action == action) if action else rows).count())
