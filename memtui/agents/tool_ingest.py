"""Keeping: what is said, left in the spool, by the door of everything that is captured.

Every answer says what was done and when it shows.
"""

import re
from datetime import datetime
from typing import Final

import ulid

from memtui.agents.formatting import named
from memtui.agents.replies import Reply
from memtui.agents.tool import BadArguments, Given, Memory
from memtui.capture import spool
from memtui.capture.formats.base import parse_time
from memtui.errors import MemtuiError
from memtui.model.events import EARLIEST, EventType, is_event_id, is_in_future
from memtui.search import resolve_filters
from memtui.text.fencing import line

AGENT: Final = "mcp"
"""Whose sessions are that name no agent."""


_PLAIN = re.compile(r"[A-Za-z0-9][\w.-]{0,99}")
"""What an agent or a session may be called that is made here."""


_MAY_BE: Final = (
    "a letter or digit, then letters, digits, '_', '.' and '-', 100 at most, behind its"
    " agent's and a colon if that is not mcp; see them: memtui sessions"
)
"""The same in words, and what helps."""


_SPEAKERS: Final = {
    "user": EventType.USER_MESSAGE,
    "assistant": EventType.ASSISTANT_MESSAGE,
}


def new_session(memory: Memory, given: Given) -> Reply:
    """Begin a session."""
    agent = given["agent"] or AGENT
    if not _PLAIN.fullmatch(agent):
        raise BadArguments("agent is a plain word")
    at = _time(memory, given)
    name = str(ulid.ULID.from_datetime(memory.now())).lower()
    said = {"cwd": given["cwd"], "source": "mcp"}
    spool.write_event(memory.spool, spool.SESSION_START, agent, name, at, said)
    if given["title"]:
        told = {"title": given["title"]}
        spool.write_event(memory.spool, spool.SESSION_INFO, agent, name, at, told)
    return _left(memory, agent, name, at, "Begun")


def append_message(memory: Memory, given: Given) -> Reply:
    """Add a message to a session."""
    said = {"text": given["text"], "source_key": given["message_id"]}
    return _add(memory, given, _SPEAKERS[given["role"]], said)


def ingest_event(memory: Memory, given: Given) -> Reply:
    """Add an event of any type to a session."""
    kind = EventType(given["event_type"])
    said = {
        "content": given["text"],
        "tool_name": given["tool_name"],
        "tool_use_id": given["tool_use_id"],
        "cwd": given["cwd"],
        "source_key": given["message_id"] or given["tool_use_id"],
    }
    return _add(memory, given, kind, said)


def set_title(memory: Memory, given: Given) -> Reply:
    """Say what a session is called."""
    return _inform(memory, given, {"title": given["title"]})


def set_summary(memory: Memory, given: Given) -> Reply:
    """Say what a session was about."""
    return _inform(memory, given, {"summary": given["summary"]})


def _inform(memory: Memory, given: Given, said: dict[str, object]) -> Reply:
    agent, name, is_kept = _named(given["session"])
    if not (is_kept or _is_given(name)):
        known = "those that are kept: list_sessions()"
        raise MemtuiError(f"there is no session {given['session']!r} yet; {known}")
    at = memory.now()
    spool.write_event(memory.spool, spool.SESSION_INFO, agent, name, at, said)
    return _left(memory, agent, name, at, "Noted; searches rank by it")


def _add(
    memory: Memory, given: Given, kind: EventType, said: dict[str, object]
) -> Reply:
    is_silent = not given["text"].strip()
    if is_silent and kind in (*_SPEAKERS.values(), EventType.TOOL_RESULT):
        raise BadArguments("text is empty")
    agent, name, is_kept = _named(given["session"])
    at = _time(memory, given)
    spool.write_event(memory.spool, kind.value, agent, name, at, said)
    is_meant = is_kept or _is_given(name)
    done = "Taken" if is_meant else "Taken; a session of that name begins with it"
    return _left(memory, agent, name, at, done)


def _named(asked: str) -> tuple[str, str, bool]:
    """A session, by its whole name: what is half a name may be meant of another.

    Returns:
        Its agent and name, and whether it is kept: it need not be yet.
    """
    try:
        agent, name = resolve_filters.find(asked)
    except resolve_filters.Unknown:
        agent, _, name = asked.rpartition(":")
        agent = agent or AGENT
        if not (_PLAIN.fullmatch(agent) and _PLAIN.fullmatch(name)):
            said = f"{line(asked)[:80]!r} names no session: a new one's name is"
            raise BadArguments(f"{said} {_MAY_BE}") from None
        return agent, name, False
    except resolve_filters.NotOne as error:
        raise BadArguments(f"{error}; say one of these whole") from None
    if asked not in (name, named(agent, name)):
        raise BadArguments(f"{asked!r} is half a name; say {named(agent, name)}")
    return agent, name, True


def _is_given(name: str) -> bool:
    """Whether ``new_session`` may have given a session this name."""
    return is_event_id(name.upper())


def _time(memory: Memory, given: Given) -> datetime:
    now = memory.now()
    if not given["timestamp"]:
        return now
    at = parse_time(given["timestamp"])
    if at is None:
        raise BadArguments("timestamp is none of ISO 8601, as 2025-03-14T10:05:00Z")
    if is_in_future(at, now):
        raise BadArguments("timestamp lies in the future")
    if at < EARLIEST:
        raise BadArguments(f"timestamp lies before {EARLIEST:%Y}")
    return at


def _left(memory: Memory, agent: str, name: str, at: datetime, done: str) -> Reply:
    works = "in a moment" if memory.is_worked() else "as soon as a memtui works"
    told = {"session": named(agent, name), "timestamp": at.isoformat()}
    lead = [f"{key}: {value}" for key, value in told.items()]
    notes = (f"{done}. It shows {works}.",)
    return Reply("done", (), str, told, lead, notes, is_quoted=False)
