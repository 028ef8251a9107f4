"""An event: one turn of a conversation, one tool call or one session boundary.

Events are facts about the past: made once, never changed. Their id is a ULID whose
time part is the source's own timestamp and whose random part is a hash of what the
event is, so that meeting the same event again gives the same id (decisions §1).
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class SourceCopy:
    """Another id that an event was told under."""

    event_id: str
    route: str
    """The way it came: ``hook``, ``transcript``, ``jsonl``."""
    session_id: str = ""
    """The session it was told in, if that is another one: a copy."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """How a memory keeps an event."""

    route: str
    """The way it came."""
    source_hash: bytes | None = None
    """The hash by which copies of it in other sessions are known."""
    copies: tuple[SourceCopy, ...] = ()
    """The other ids it was told under."""


CLOCK_SKEW = timedelta(minutes=5)
"""How far into the future a timestamp may lie before it is refused (decisions §1)."""

EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)
"""Nothing we keep is older; an earlier time is seconds taken for milliseconds."""


class EventType(StrEnum):
    """What happened (seed 1)."""

    SESSION_START = "session_start"
    USER_MESSAGE = "user_message"
    ASSISTANT_MESSAGE = "assistant_message"
    TOOL_RESULT = "tool_result"
    ASSISTANT_STOP = "assistant_stop"
    SUBAGENT_START = "subagent_start"
    SUBAGENT_STOP = "subagent_stop"
    SESSION_END = "session_end"


class EventRole(StrEnum):
    """Who wrote it (seed 1)."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    TOOL = "tool"


TYPICAL_ROLE = {
    EventType.SESSION_START: EventRole.SYSTEM,
    EventType.USER_MESSAGE: EventRole.USER,
    EventType.ASSISTANT_MESSAGE: EventRole.ASSISTANT,
    EventType.TOOL_RESULT: EventRole.TOOL,
    EventType.ASSISTANT_STOP: EventRole.ASSISTANT,
    EventType.SUBAGENT_START: EventRole.SYSTEM,
    EventType.SUBAGENT_STOP: EventRole.SYSTEM,
    EventType.SESSION_END: EventRole.SYSTEM,
}
"""The role an event of a type has when its source names none (seed 1)."""

TYPE_ORDER = {
    EventType.SESSION_START: 0,
    EventType.USER_MESSAGE: 1,
    EventType.SUBAGENT_START: 2,
    EventType.TOOL_RESULT: 3,
    EventType.SUBAGENT_STOP: 4,
    EventType.ASSISTANT_MESSAGE: 5,
    EventType.ASSISTANT_STOP: 6,
    EventType.SESSION_END: 7,
}
"""Which of two events of one millisecond comes first, where the source does not say:
it follows from what they are, never from the order in which they arrived."""

MESSAGES = frozenset({EventType.USER_MESSAGE, EventType.ASSISTANT_MESSAGE})
SPEAKERS = frozenset({EventRole.USER, EventRole.ASSISTANT})

BOUNDARIES = frozenset(EventType) - MESSAGES - {EventType.TOOL_RESULT}
"""The types whose text may be empty."""

EventPosition = tuple[int, int, str]
"""Where an event stands among those of its session: its time, ordinal and id."""


class EventRefused(ValueError):
    """An event breaks a rule every event must keep; the message says which."""


@dataclass(frozen=True, slots=True)
class Event:
    """One fact of a conversation.

    The fields of seed 1 come first. A message that arrived as the person's but was
    written by the agent's own machinery (a compaction summary, a command wrapper) has
    the type ``user_message`` and the role ``system``; ``metadata["kind"]`` says what
    it is.
    """

    event_id: str
    session_id: str
    timestamp: datetime
    event_type: EventType
    role: EventRole
    text: str
    metadata: Mapping[str, str] = field(default_factory=dict)
    agent: str = ""
    """The program the person worked with: ``claude-code``, ``codex``…"""
    subagent: str = ""
    """Which helper of the session this belongs to; empty for the main conversation."""
    ordinal: int = 0
    """The place in the source, which orders events of the same millisecond."""
    tokens: int = 0
    """The text's length as segments count it, fixed when the event is stored."""
    token_counter: str = ""
    """Which counter made that count."""
    source_id: str = ""
    """The source's own name of it, when no two sessions give one name to different
    things: copies of a conversation (forks, resumed sessions) are known by it."""
    provenance: Provenance | None = None
    """How another memory kept it, for one that was exported."""

    @property
    def timestamp_ms(self) -> int:
        """Milliseconds since 1970, UTC."""
        return to_ms(self.timestamp)

    @property
    def is_message(self) -> bool:
        """Whether a person or an assistant wrote it."""
        return self.event_type in MESSAGES and self.role in SPEAKERS

    @property
    def position(self) -> EventPosition:
        """Where it stands among the events of its session."""
        return self.timestamp_ms, self.ordinal, self.event_id


def make(
    *,
    agent: str,
    session_id: str,
    timestamp: datetime,
    event_type: EventType,
    text: str,
    source_key: str,
    role: EventRole | None = None,
    metadata: Mapping[str, str] | None = None,
    subagent: str = "",
    ordinal: int | None = None,
    source_id: str = "",
) -> Event:
    """Make an event with the id that what it is gives it.

    Args:
        agent: The program the conversation was held with.
        session_id: The agent's own name of the session.
        timestamp: The source's time; must be aware.
        event_type: What happened.
        text: What was said; cleaned of what no terminal should be sent.
        source_key: What the source calls it (a record's uuid, a tool call's id); empty for
            a source that has no such names, where the text serves.
        role: Who wrote it; the type's typical role when None.
        metadata: Whatever else the source says.
        subagent: The helper it belongs to, if any.
        ordinal: Its place in the source; what it is decides when None.
        source_id: The source's own name of it, if no other session uses it.

    Raises:
        EventRefused: The session is not named, a message has no text, or the time is
            before the year 2000 or has no zone.
    """
    name, said = clean(session_id), clean(text)
    who = clean(agent)
    reason = find_name_error(name, who) or _broken_rule(timestamp, event_type, said)
    if reason:
        raise EventRefused(reason)
    at = timestamp.astimezone(UTC)
    return Event(
        event_id=event_id(who, name, event_type, source_key or said, at),
        session_id=name,
        timestamp=at.replace(microsecond=at.microsecond // 1000 * 1000),
        event_type=event_type,
        role=role or TYPICAL_ROLE[event_type],
        text=said,
        metadata={clean(k): clean(v) for k, v in (metadata or {}).items()},
        agent=who,
        subagent=clean(subagent),
        ordinal=TYPE_ORDER[event_type] if ordinal is None else ordinal,
        source_id=source_id,
    )


def _broken_rule(timestamp: datetime, event_type: EventType, text: str) -> str:
    """The rule an event would break (seed 1); "" if it keeps them all."""
    if timestamp.tzinfo is None:
        return "the timestamp has no time zone"
    if timestamp < EARLIEST:
        return f"the timestamp {timestamp:%Y-%m-%d} is before 2000"
    if not text.strip() and event_type not in BOUNDARIES:
        return f"a {event_type} without text"
    return ""


def find_name_error(session_id: str, agent: str = "") -> str:
    """Why nothing can be kept under these names; "" if it can.

    They stand in lists, one to a line.
    """
    if not session_id.strip():
        return "no session id"
    for what, name in (("session id", session_id), ("agent's name", agent)):
        if len(clean(name).splitlines()) > 1 or "\t" in name:
            return f"the {what} is more than a line"
    return ""


def event_id(
    agent: str, session_id: str, event_type: str, key: str, at: datetime
) -> str:
    """The ULID of an event: the time, then 80 bits of a hash (decisions §1)."""
    from ulid import ULID

    named = "\x1f".join((agent, session_id, event_type, key))
    digest = hashlib.blake2b(named.encode("utf-8", "replace"), digest_size=10).digest()
    return str(ULID(to_ms(at).to_bytes(6, "big") + digest))


_ULID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")


def is_event_id(text: str) -> bool:
    """Whether this is a strict ULID: 26 characters of Crockford's alphabet."""
    return _ULID.fullmatch(text) is not None


def timestamp_ms_of_id(event_id: str) -> int:
    """The time in an event's id, in milliseconds since 1970."""
    at_ms = 0
    for letter in event_id[:10]:
        at_ms = at_ms * 32 + _CROCKFORD.index(letter)
    return at_ms


def lowest_id(at_ms: int) -> str:
    """The least id that an event of this time could have."""
    digits = (max(at_ms, 0) >> shift & 31 for shift in range(45, -1, -5))
    return "".join(_CROCKFORD[digit] for digit in digits)


_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def is_in_future(timestamp: datetime, now: datetime) -> bool:
    """Whether a timestamp lies further in the future than clocks differ."""
    return timestamp - now > CLOCK_SKEW


def to_ms(at: datetime) -> int:
    """Milliseconds since 1970 of an aware time."""
    return int((at - _EPOCH) // _MILLISECOND)


def from_ms(at_ms: int) -> datetime:
    """The aware UTC time of milliseconds since 1970."""
    return _EPOCH + timedelta(milliseconds=at_ms)


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)

_ANSI = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?"
    r"|[PX^_][^\x1b]*\x1b\\|.)",
    re.DOTALL,
)

_UNSHOWABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]"
)

_SURROGATE = re.compile("[\ud800-\udfff]")


def clean(text: str) -> str:
    """Take out what would disturb a terminal or a database: never what was said.

    ANSI sequences, control characters other than newline and tab, and the characters
    that turn the direction of text go; a lone surrogate becomes U+FFFD.
    """
    if text.replace("\n", "").replace("\t", "").isprintable():
        return text
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    return _SURROGATE.sub("�", _UNSHOWABLE.sub("", text))


@dataclass(frozen=True, slots=True)
class Thought:
    """One stretch of a model's thinking."""

    thought_id: str
    agent: str
    session_id: str
    at: datetime
    text: str
    subagent: str = ""


def make_thought(
    *,
    agent: str,
    session_id: str,
    at: datetime,
    text: str,
    key: str,
    subagent: str = "",
) -> Thought:
    """Make a thought with the id that what it is gives it.

    Args:
        agent: The program the conversation was held with.
        session_id: The agent's own name of the session.
        at: The source's time; must be aware.
        text: What was thought.
        key: What the source calls it; the text serves where it is empty.
        subagent: The helper whose thought it is, if any.

    Raises:
        EventRefused: The session is not named, nothing was thought, or the time is
            before the year 2000.
    """
    name, said, who = clean(session_id), clean(text), clean(agent)
    if not name.strip():
        raise EventRefused("no session id")
    if not said.strip():
        raise EventRefused("a thought without text")
    if at < EARLIEST:
        raise EventRefused(f"the timestamp {at:%Y-%m-%d} is before 2000")
    at = at.astimezone(UTC)
    return Thought(
        thought_id=event_id(who, name, "thought", key or said, at),
        agent=who,
        session_id=name,
        at=at,
        text=said,
        subagent=clean(subagent),
    )
