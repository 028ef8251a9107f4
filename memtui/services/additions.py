"""Adds sessions and events that other programs send, through the spool.

``folder`` is that of the spool. Like the events of hooks they are redacted when the
spool is read, and what is excluded or forgotten is left out.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

import ulid

from memtui.capture import spool
from memtui.capture.formats import hooks
from memtui.capture.formats.base import parse_time
from memtui.capture.spool import Spool
from memtui.errors import MemtuiError, UsageError
from memtui.model.events import EARLIEST, Event, EventType, is_event_id, is_in_future
from memtui.search.query import SessionNameError, UnknownSessionError, find_session
from memtui.store import database, events

DEFAULT_AGENT: Final = "mcp"

MAX_WAITING: Final = 500
"""The number of newest files in the spool that are searched for an event."""

_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,99}")
"""The names that agents and sessions created here may have."""

_NAME_RULE: Final = (
    "has up to 100 letters, digits, '_', '.' and '-', begins with a letter or digit,"
    " and follows its agent's name and a colon unless that is mcp; see them: memtui"
    " sessions"
)

NEEDS_TEXT: Final = (
    EventType.USER_MESSAGE,
    EventType.ASSISTANT_MESSAGE,
    EventType.TOOL_RESULT,
)


@dataclass(frozen=True, slots=True)
class Addition:
    """The result of adding something to a session."""

    agent: str
    session_id: str
    at: datetime
    event_id: str = ""
    is_new: bool = True
    """False for an event that is stored, or waits in the spool."""
    is_new_session: bool = False
    """The event starts a session that nobody created before."""

    @property
    def session(self) -> str:
        return f"{self.agent}:{self.session_id}"


def create_session(
    folder: Path,
    now: datetime,
    *,
    title: str = "",
    agent: str = "",
    sender: str = "",
    cwd: str = "",
    timestamp: str = "",
) -> Addition:
    agent = agent or DEFAULT_AGENT
    if not _NAME.fullmatch(agent):
        raise UsageError("agent must be a plain word")
    at = _read_time(now, timestamp)
    name = str(ulid.ULID.from_datetime(now)).lower()
    start = {"cwd": cwd, "source": "mcp", "sender": sender}
    spool.write_event(folder, spool.SESSION_START, agent, name, at, start)
    if title:
        info = {"title": title}
        spool.write_event(folder, spool.SESSION_INFO, agent, name, at, info)
    return Addition(agent, name, at)


def describe_session(
    folder: Path, now: datetime, session: str, info: Mapping[str, object]
) -> Addition:
    """Set the title or the summary of a session."""
    agent, name, is_stored = _resolve(session)
    if not (is_stored or _may_be_created(name)):
        raise MemtuiError(
            f"there is no session {session!r} yet; see them: list_sessions()"
        )
    spool.write_event(folder, spool.SESSION_INFO, agent, name, now, info)
    return Addition(agent, name, now)


def add_event(
    folder: Path,
    now: datetime,
    session: str,
    event_type: EventType,
    text: str,
    timestamp: str,
    fields: Mapping[str, object],
) -> Addition:
    """Add an event unless it is stored or waits already."""
    if event_type in NEEDS_TEXT and not text.strip():
        raise UsageError("text is empty")
    agent, name, is_stored = _resolve(session)
    at = _read_time(now, timestamp)
    payload = spool.make_payload(event_type.value, agent, name, at, fields)
    items = hooks.read(payload, received_at=at, now=now)
    event = next((item for item in items if isinstance(item, Event)), None)
    if event is None:
        raise UsageError("the event cannot be stored")
    with database.connection():
        before = events.find_stored(event)
    waiting = [] if before else _list_waiting(folder, event, at)
    before = before or next((item for item in waiting if _is_same(event, item)), None)
    if before:
        return Addition(agent, name, before.timestamp, before.event_id, is_new=False)
    spool.write_event(folder, event_type.value, agent, name, at, fields)
    is_expected = is_stored or waiting or _may_be_created(name)
    return Addition(agent, name, at, event.event_id, is_new_session=not is_expected)


def _list_waiting(folder: Path, event: Event, now: datetime) -> list[Event]:
    """Return the events of an event's session that wait in the spool, newest first."""
    waiting, same_session = Spool(folder), list[Event]()
    for name in reversed(waiting.names()[-MAX_WAITING:]):
        file = waiting.read(name)
        if file is None or event.session_id.encode() not in file.raw:
            continue
        same_session += [
            item
            for item in hooks.read(file.raw, received_at=file.received_at, now=now)
            if isinstance(item, Event)
            and (item.agent, item.session_id) == (event.agent, event.session_id)
        ]
    return same_session


def _is_same(event: Event, waiting: Event) -> bool:
    """Return whether an event that waits is this one, sent before."""
    return waiting.event_id == event.event_id or (
        (event.source_id, event.text) == (waiting.source_id or " ", waiting.text)
    )


def _resolve(session: str) -> tuple[str, str, bool]:
    """Return the agent and name of a session by its whole id, and whether it is stored.

    The beginning of an id is refused: it could match a session by mistake.
    """
    try:
        agent, name = find_session(session)
    except UnknownSessionError:
        agent, _, name = session.rpartition(":")
        agent = agent or DEFAULT_AGENT
        if not (_NAME.fullmatch(agent) and _NAME.fullmatch(name)):
            what = f"{session[:80]!r} names no session: the name of a new one"
            raise UsageError(f"{what} {_NAME_RULE}") from None
        return agent, name, False
    except SessionNameError as error:
        raise UsageError(f"{error}; give one of these in full") from None
    whole = f"{agent}:{name}"
    if session not in (name, whole):
        raise UsageError(f"{session!r} is incomplete; give {whole}")
    return agent, name, True


def _may_be_created(name: str) -> bool:
    """Return whether a session may have been created here, and not stored yet."""
    return is_event_id(name.upper())


def _read_time(now: datetime, timestamp: str) -> datetime:
    if not timestamp:
        return now
    at = parse_time(timestamp)
    if at is None:
        raise UsageError("timestamp must be ISO 8601, such as 2025-03-14T10:05:00Z")
    if is_in_future(at, now):
        raise UsageError("timestamp is in the future")
    if at < EARLIEST:
        raise UsageError(f"timestamp is before {EARLIEST:%Y}")
    return at
