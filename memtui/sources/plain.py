"""The plain event format: one JSON object a line, for what has no format of its own.

``session_id``, ``timestamp``, ``text`` and one of ``event_type`` and ``role`` are
needed; ``project``, ``agent``, ``cwd``, ``metadata``, ``subagent`` and ``key`` (the
event's own name, which makes importing it again harmless) may be given.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path, PurePath

from memtui.memory import events
from memtui.memory.events import Event, EventRefused, EventRole, EventType
from memtui.memory.sessions import SessionFacts
from memtui.sources import lines
from memtui.sources.records import Cursor, Reading, Record, Refused, text_of, time_of
from memtui.sources.source import JSONL, Source

_TYPE_OF_ROLE = {
    EventRole.USER: EventType.USER_MESSAGE,
    EventRole.ASSISTANT: EventType.ASSISTANT_MESSAGE,
    EventRole.TOOL: EventType.TOOL_RESULT,
}
"""What an event is when it says only who wrote it."""


def _may_be(path: PurePath) -> bool:
    return path.suffix == ".jsonl"


def fits(path: Path, head: Sequence[Record]) -> bool:
    """Whether a file begins like one of the plain format."""
    return any(
        "session_id" in record.fields
        and bool({"event_type", "role"} & record.fields.keys())
        for record in head
    )


def read(
    path: Path, start: Cursor | None, *, agent: str, now: datetime
) -> Iterator[Reading]:
    """Read a file of the plain format; see ``memtui.sources.source.Read``."""
    return lines.read(path, start, partial(_Reader, agent, now))


class _Reader:
    """Reads records, each of which is an event."""

    is_held = False

    def __init__(self, agent: str, now: datetime, state: Mapping[str, object]) -> None:
        self._agent, self._now = agent, now
        self._facts: dict[tuple[str, str], SessionFacts] = {}

    def take(self, record: Record) -> Iterator[Reading]:
        event = _event(record, self._agent, self._now)
        if isinstance(event, Event):
            key = event.agent, event.session_id
            is_new = key not in self._facts
            self._facts[key] = _facts(event, record.fields, self._facts.get(key))
            if is_new:
                # Its project must be known as soon as its first event is.
                yield self._facts[key]
        yield event

    def rest(self) -> Iterator[Reading]:
        yield from self._facts.values()

    def state(self) -> Mapping[str, object]:
        # Every record says all there is to know of its session.
        return {}


SOURCE = Source("plain", "plain JSONL", JSONL, _may_be, fits, read)


def _event(record: Record, agent: str, now: datetime) -> Event | Refused:
    fields = record.fields
    at = time_of(fields.get("timestamp"))
    if at is None:
        known = "timestamp" in fields
        return _refused(record, "a bad timestamp" if known else "no timestamp")
    if events.is_too_late(at, now):
        return _refused(record, "a timestamp in the future")
    try:
        role = EventRole(text_of(fields["role"])) if fields.get("role") else None
        kind = _type(fields, role)
    except ValueError as error:
        return _refused(record, str(error))
    metadata = fields.get("metadata")
    try:
        return events.make(
            agent=text_of(fields.get("agent")) or agent,
            session_id=text_of(fields.get("session_id")),
            timestamp=at,
            event_type=kind,
            text=text_of(fields.get("text")),
            key=text_of(fields.get("key")),
            role=role,
            metadata={k: text_of(v) for k, v in metadata.items()}
            if isinstance(metadata, dict)
            else {},
            subagent=text_of(fields.get("subagent")),
        )
    except EventRefused as refusal:
        return _refused(record, str(refusal))


def _type(fields: dict[str, object], role: EventRole | None) -> EventType:
    named = text_of(fields.get("event_type"))
    if named:
        return EventType(named)
    if role not in _TYPE_OF_ROLE:
        raise ValueError(f"an event of the role {role} must name its event_type")
    return _TYPE_OF_ROLE[role]


def _facts(
    event: Event, fields: dict[str, object], before: SessionFacts | None
) -> SessionFacts:
    cwd = text_of(fields.get("cwd"))
    project = text_of(fields.get("project"))
    title = text_of(fields.get("title")) or (before.title if before else "")
    at = event.timestamp
    told = project or cwd
    if (
        before
        and (before.project or before.cwd)
        and (not told or (before.at and before.at <= at))
    ):
        return replace(before, title=title)
    return SessionFacts(
        agent=event.agent,
        session_id=event.session_id,
        cwd=cwd,
        project=project,
        title=title,
        at=at,
    )


def _refused(record: Record, reason: str) -> Refused:
    return Refused(reason, record.line)
