"""What was said, as an index of words wants it: the words, and whose they are."""

import json
from collections.abc import Iterable
from dataclasses import dataclass

from memtui.memory.events import MESSAGES, EventRole, EventType
from memtui.store.database import db
from memtui.store.outbox import Run
from memtui.store.said import Kind

_COLUMNS = (
    "SELECT e.id, e.session_id, e.subagent, e.at_ms, e.ordinal, e.type, e.role, e.text,"
    " CASE e.type WHEN 'tool_result' THEN e.metadata ELSE '' END,"
    " (SELECT group_concat(told_id) FROM tellings t WHERE t.event_id = e.id)"
    " FROM events e"
)


@dataclass(frozen=True, slots=True)
class Spoken:
    """An event that may be indexed."""

    event_id: str
    session: int
    """Its session's number."""
    subagent: str
    at_ms: int
    ordinal: int
    type: EventType
    role: EventRole
    text: str
    tool: str
    """The tool it is the answer of, if it is one."""
    told_ids: tuple[str, ...]
    """Other ids by which it was told."""

    @property
    def kind(self) -> Kind | None:
        """What it is to an index of words; None for what is none of its matter."""
        if self.type is EventType.TOOL_RESULT:
            return Kind.TOOL if self.tool or self.text else None
        if self.type not in MESSAGES:
            return None
        if self.role is EventRole.USER:
            return Kind.USER
        return Kind.ASSISTANT if self.role is EventRole.ASSISTANT else Kind.SYSTEM


def of_runs(runs: Iterable[Run]) -> list[Spoken]:
    """The events of these runs that are still there, in the order of their ids."""
    asked = f"{_COLUMNS} WHERE e.rowid BETWEEN ? AND ?"
    rows = [
        row
        for run in runs
        for row in db.execute_sql(asked, (run.first, run.last)).fetchall()
    ]
    return [_spoken(*row) for row in sorted(rows)]


def before(event_id: str, limit: int) -> list[Spoken]:
    """The events before one, the newest first.

    Args:
        event_id: Which; "" for the newest of all.
        limit: The most that are given.
    """
    asked = f"{_COLUMNS} WHERE e.id < ? ORDER BY e.id DESC LIMIT ?"
    rows = db.execute_sql(asked, (event_id or "~", limit)).fetchall()
    return [_spoken(*row) for row in rows]


def count() -> int:
    """How many messages there are to be found, injected ones included."""
    asked = (
        "SELECT count(*) FROM events"
        " WHERE type IN ('user_message', 'assistant_message')"
    )
    return int(db.execute_sql(asked).fetchone()[0])


def sessions() -> list[int]:
    """The numbers of all sessions."""
    return [
        number for (number,) in db.execute_sql("SELECT id FROM sessions").fetchall()
    ]


def titles(numbers: Iterable[int]) -> list[tuple[int, str, str]]:
    """What sessions are called and what their segments are about: (number, …)."""
    rows = db.execute_sql(
        "SELECT s.id, coalesce(nullif(s.title, ''), s.prompt),"
        " s.summary || char(10) || coalesce((SELECT"
        " group_concat(v.headline, char(10)) FROM segments g"
        " JOIN toc_latest n ON n.node_id = g.id JOIN toc_versions v ON v.id ="
        " n.latest_id WHERE g.session_id = s.id), '') FROM sessions s"
        " WHERE s.id IN (SELECT value FROM json_each(?))",
        (json.dumps(sorted(numbers)),),
    )
    return [(number, title, summary) for number, title, summary in rows.fetchall()]


def newest(limit: int) -> list[Spoken]:
    """The newest messages, in the order of their ids."""
    asked = (
        f"{_COLUMNS} WHERE e.type IN ('user_message', 'assistant_message')"
        " ORDER BY e.id DESC LIMIT ?"
    )
    rows = db.execute_sql(asked, (limit,)).fetchall()
    return [_spoken(*row) for row in reversed(rows)]


def _spoken(
    event_id: str,
    session: int,
    subagent: str,
    at_ms: int,
    ordinal: int,
    kind: str,
    role: str,
    text: str,
    metadata: str,
    told: str | None,
) -> Spoken:
    tool = json.loads(metadata).get("tool_name", "") if metadata else ""
    return Spoken(
        event_id,
        session,
        subagent,
        at_ms,
        ordinal,
        EventType(kind),
        EventRole(role),
        text,
        tool,
        tuple(told.split(",")) if told else (),
    )


def to_bytes(event_id: str) -> bytes:
    """The 16 bytes of an event's id."""
    number = 0
    for letter in event_id:
        number = number << 5 | _VALUES[letter]
    return number.to_bytes(17, "big")[1:]


def to_id(raw: bytes) -> str:
    """The event's id of 16 bytes."""
    number = int.from_bytes(raw, "big")
    return "".join(_LETTERS[number >> shift & 31] for shift in range(125, -1, -5))


_LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_VALUES = {letter: value for value, letter in enumerate(_LETTERS)}
