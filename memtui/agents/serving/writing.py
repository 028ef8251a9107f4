"""The tools that change something, offered only where that was allowed.

What is said goes through the spool, by the door of everything that is captured; what
is chosen is noted in the store. Every answer says what was done and when it shows.
"""

import re
from datetime import datetime
from typing import Final

import ulid

from memtui.agents.serving.memory import Memory
from memtui.agents.serving.parameters import BadArguments, Given, Parameter
from memtui.agents.serving.tools import Tool
from memtui.curate import leaving, versions
from memtui.errors import MemtuiError
from memtui.memory.events import EARLIEST, EventType, is_event_id, is_too_late
from memtui.memory.replies import Reply
from memtui.memory.toc import TocEdition
from memtui.recall import sessions
from memtui.recall.itemising import named
from memtui.sources.records import time_of

AGENT: Final = "mcp"
"""Whose sessions are that name no agent."""

_PLAIN = re.compile(r"[A-Za-z0-9][\w.-]{0,99}")
"""What an agent or a session may be called that is made here."""

_ROLES: Final = {
    "user": EventType.USER_MESSAGE,
    "assistant": EventType.ASSISTANT_MESSAGE,
}
_TYPES: Final = tuple(
    one.value
    for one in EventType
    if one not in (EventType.SUBAGENT_START, EventType.SUBAGENT_STOP)
)

_SESSION = Parameter("session", says="agent:id", is_required=True)
_TEXT = Parameter("text", is_required=True)
_AT = Parameter("timestamp", says="ISO 8601; the same one makes a retry harmless")
_BEGAN = Parameter("timestamp", says="ISO 8601; when it began")
_ID = Parameter("message_id", says="your own name of it; makes a retry harmless")
_NODE = Parameter("node_id", is_required=True)

REMEMBERED: Final = 10_000
"""Of how many messages a client's own names are remembered."""


def new_session(memory: Memory, given: Given) -> Reply:
    """Begin a session."""
    agent = given["agent"] or AGENT
    if not _PLAIN.fullmatch(agent):
        raise BadArguments("agent is a plain word")
    at = _time(memory, given)
    name = str(ulid.ULID.from_datetime(memory.now())).lower()
    said = {"cwd": given["cwd"], "source": "mcp"}
    leaving.leave(memory.spool, leaving.SESSION_START, agent, name, at, said)
    if given["title"]:
        told = {"title": given["title"]}
        leaving.leave(memory.spool, leaving.SESSION_INFO, agent, name, at, told)
    return _left(memory, agent, name, at, "Begun")


def append_message(memory: Memory, given: Given) -> Reply:
    """Add a message to a session."""
    return _add(memory, given, _ROLES[given["role"]], {"text": given["text"]})


def ingest_event(memory: Memory, given: Given) -> Reply:
    """Add an event of any type to a session."""
    kind = EventType(given["event_type"])
    said = {
        "content": given["text"],
        "tool_name": given["tool_name"],
        "tool_use_id": given["tool_use_id"],
        "cwd": given["cwd"],
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
        raise MemtuiError(f"there is no session {given['session']!r}")
    at = memory.now()
    leaving.leave(memory.spool, leaving.SESSION_INFO, agent, name, at, said)
    return _left(memory, agent, name, at, "Noted; searches rank by it")


def _add(
    memory: Memory, given: Given, kind: EventType, said: dict[str, object]
) -> Reply:
    is_silent = not given["text"].strip()
    if is_silent and kind in (*_ROLES.values(), EventType.TOOL_RESULT):
        raise BadArguments("text is empty")
    agent, name, is_kept = _named(given["session"])
    at = _first(memory, (agent, name, kind.value, given["message_id"]), given)
    leaving.leave(memory.spool, kind.value, agent, name, at, said)
    is_meant = is_kept or _is_given(name)
    done = "Taken" if is_meant else "Taken; a session of that name begins with it"
    return _left(memory, agent, name, at, done)


def _first(memory: Memory, names: tuple[str, ...], given: Given) -> datetime:
    """When a message was said: of one that is sent again, when it was first taken.

    The same words with the same time are kept once.
    """
    at = _time(memory, given)
    if not given["message_id"] or given["timestamp"]:
        return at
    if len(memory.taken) >= REMEMBERED and names not in memory.taken:
        memory.taken.pop(next(iter(memory.taken)), None)
    return memory.taken.setdefault(names, at)


def _named(asked: str) -> tuple[str, str, bool]:
    """A session, by its whole name: what is half a name may be meant of another.

    Returns:
        Its agent and name, and whether it is kept: it need not be yet.
    """
    try:
        agent, name = sessions.find(asked)
    except sessions.Unknown:
        agent, _, name = asked.rpartition(":")
        agent = agent or AGENT
        if not (_PLAIN.fullmatch(agent) and _PLAIN.fullmatch(name)):
            raise
        return agent, name, False
    if asked not in (name, named(agent, name)):
        raise MemtuiError(f"{asked!r} is half a name: say {named(agent, name)}")
    return agent, name, True


def _is_given(name: str) -> bool:
    """Whether ``new_session`` may have given a session this name."""
    return is_event_id(name.upper())


def _time(memory: Memory, given: Given) -> datetime:
    now = memory.now()
    if not given["timestamp"]:
        return now
    at = time_of(given["timestamp"])
    if at is None:
        raise BadArguments("timestamp is none of ISO 8601, as 2025-03-14T10:05:00Z")
    if is_too_late(at, now):
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


def summarise_again(memory: Memory, given: Given) -> Reply:
    """Ask a model for a new version of a node."""
    shown = versions.ask(given["node_id"], memory.now())
    return _chosen(shown, f"A new version is asked for. {memory.promise()}")


def accept(memory: Memory, given: Given) -> Reply:
    """Show a version, whatever comes after it."""
    shown = versions.pin(given["node_id"], given["version"], memory.zone, memory.now())
    return _chosen(shown, "It is shown from now on, whatever comes after it.")


def release(memory: Memory, given: Given) -> Reply:
    """Show the newest version again."""
    try:
        shown = versions.unpin(given["node_id"], memory.zone, memory.now())
    except versions.NotPinned as error:
        return _chosen(error.shown, "None was pinned: the newest is shown.")
    return _chosen(shown, "The newest is shown, and what comes after it.")


def _chosen(shown: TocEdition, done: str) -> Reply:
    told = {"version": shown.version, "is_pinned": shown.is_pinned}
    lead = (f"version {shown.version} shown",)
    return Reply("done", (), str, told, lead, (done,), is_quoted=False)


TOOLS = (
    Tool(
        "new_session",
        "Begin a conversation to be kept; gives its id.",
        new_session,
        (Parameter("title"), Parameter("agent"), Parameter("cwd"), _BEGAN),
        is_writing=True,
        is_repeatable=False,
    ),
    Tool(
        "append_message",
        "Keep a message in a conversation.",
        append_message,
        (
            _SESSION,
            Parameter("role", choices=tuple(_ROLES), is_required=True),
            _TEXT,
            _AT,
            _ID,
        ),
        is_writing=True,
        is_repeatable=False,
    ),
    Tool(
        "ingest_event",
        "Keep an event of any type: a tool's result, a start or an end.",
        ingest_event,
        (
            _SESSION,
            Parameter("event_type", choices=_TYPES, is_required=True),
            Parameter("text"),
            _AT,
            _ID,
            Parameter("tool_name"),
            Parameter("tool_use_id"),
            Parameter("cwd"),
        ),
        is_writing=True,
        is_repeatable=False,
    ),
    Tool(
        "set_session_title",
        "Say what a conversation is called.",
        set_title,
        (_SESSION, Parameter("title", is_required=True)),
        is_writing=True,
    ),
    Tool(
        "set_session_summary",
        "Say what a conversation was about; searches weigh it most.",
        set_summary,
        (_SESSION, Parameter("summary", is_required=True)),
        is_writing=True,
    ),
    Tool(
        "summarise_again",
        "Ask a model for a new summary of a node.",
        summarise_again,
        (_NODE,),
        is_writing=True,
    ),
    Tool(
        "accept_version",
        "Pin a version of a node's bullets: it is shown whatever comes after it.",
        accept,
        (_NODE, Parameter("version", "integer", "the one shown without it", least=1)),
        is_writing=True,
    ),
    Tool(
        "release_version",
        "Show the newest version of a node's bullets again.",
        release,
        (_NODE,),
        is_writing=True,
    ),
)
"""What changes something, beside the jobs."""
