"""An event: a message, a tool call or a boundary of a session.

Events are facts about the past: made once, never changed. Their id is a ULID whose
time part is the source's own timestamp and whose random part is a hash of what the
event is, so that meeting the same event again gives the same id.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from memtui.model.tool_calls import CallEnd


@dataclass(frozen=True, slots=True)
class SourceCopy:
    """A further copy of an event in the sources."""

    event_id: str
    route: str
    """The way it came: ``hook``, ``transcript``, ``jsonl``."""
    session_id: str = ""
    """The session of the copy, if it is another one."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """The identity of an exported event in the store that it comes from."""

    route: str
    """The way it came."""
    source_hash: bytes | None = None
    """The hash by which copies in other sessions are recognized."""
    copies: tuple[SourceCopy, ...] = ()


CLOCK_SKEW = timedelta(minutes=5)
"""The maximum distance of a timestamp into the future."""

IN_THE_FUTURE = "a timestamp in the future"

EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)
"""An earlier timestamp is an error: seconds taken for milliseconds."""


class EventType(StrEnum):
    """The types of events."""

    SESSION_START = "session_start"
    USER_MESSAGE = "user_message"
    ASSISTANT_MESSAGE = "assistant_message"
    TOOL_RESULT = "tool_result"
    ASSISTANT_STOP = "assistant_stop"
    SUBAGENT_START = "subagent_start"
    SUBAGENT_STOP = "subagent_stop"
    SESSION_END = "session_end"


class EventRole(StrEnum):
    """The author of an event."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    TOOL = "tool"


TYPICAL_ROLE = dict.fromkeys(EventType, EventRole.SYSTEM) | {
    EventType.USER_MESSAGE: EventRole.USER,
    EventType.ASSISTANT_MESSAGE: EventRole.ASSISTANT,
    EventType.TOOL_RESULT: EventRole.TOOL,
    EventType.ASSISTANT_STOP: EventRole.ASSISTANT,
}
"""The role of events whose source names none."""

_IN_ORDER = (
    EventType.SESSION_START,
    EventType.USER_MESSAGE,
    EventType.SUBAGENT_START,
    EventType.TOOL_RESULT,
    EventType.SUBAGENT_STOP,
    EventType.ASSISTANT_MESSAGE,
    EventType.ASSISTANT_STOP,
    EventType.SESSION_END,
)

TYPE_ORDER = {event_type: order for order, event_type in enumerate(_IN_ORDER)}
"""The order of events of the same millisecond, where the source gives none: it depends
on their type, never on the order of arrival."""

MESSAGES = frozenset({EventType.USER_MESSAGE, EventType.ASSISTANT_MESSAGE})
SPEAKERS = frozenset({EventRole.USER, EventRole.ASSISTANT})

BOUNDARIES = frozenset(EventType) - MESSAGES - {EventType.TOOL_RESULT}
"""The types whose text may be empty."""

EventPosition = tuple[int, int, str]
"""The position of an event in its session: its time, ordinal and id."""


class EventRefused(ValueError):
    """An event is invalid; the message says why."""

    due_at: datetime | None = None
    """The time from which it is valid, if it is too far in the future now."""


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a conversation; never changed.

    A message that arrived as the person's but was
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
    """The program: ``claude-code``, ``codex``…"""
    subagent: str = ""
    """The subagent of the session; empty for the main conversation."""
    ordinal: int = 0
    """Orders events of the same millisecond."""
    tokens: int = 0
    """The length of the text that segments count, set when the event is stored."""
    token_counter: str = ""
    source_id: str = ""
    """Its id in the source, if unique across sessions: copies of a conversation (forks,
    resumed sessions) are recognized by it."""
    provenance: Provenance | None = None
    """Set for an event that was exported by another store."""

    @property
    def timestamp_ms(self) -> int:
        return to_ms(self.timestamp)

    @property
    def is_message(self) -> bool:
        """True if the user or the assistant wrote it."""
        return self.event_type in MESSAGES and self.role in SPEAKERS

    @property
    def is_tool_call(self) -> bool:
        """True if it is a tool call, which is stored with its result."""
        return self.event_type is EventType.TOOL_RESULT

    @property
    def call_end(self) -> CallEnd:
        """Return the end of a tool call."""
        try:
            return CallEnd(self.metadata.get("call_end", CallEnd.UNKNOWN))
        except ValueError:  # It was imported.
            return CallEnd.UNKNOWN

    @property
    def is_failed(self) -> bool:
        """True if it is a tool call that ended with an error."""
        return self.call_end is CallEnd.FAILED

    @property
    def is_unfinished(self) -> bool:
        """True if it is a tool call that was started and did not end."""
        return self.has_no_result or self.call_end is CallEnd.CANCELLED

    @property
    def has_no_result(self) -> bool:
        """True if it is a tool call of which only the start was recorded."""
        return self.call_end is CallEnd.UNFINISHED

    @property
    def ending(self) -> str:
        """Return the end of a tool call in words; "" for success or an unknown end."""
        if self.is_unfinished:
            return "not finished"
        if self.call_end is CallEnd.BACKGROUND:
            return "in the background"
        status = self.metadata.get("exit_status", "0")
        exited = f" with exit status {status}" if status != "0" else ""
        return f"failed{exited}" if self.is_failed else ""

    @property
    def position(self) -> EventPosition:
        return self.timestamp_ms, self.ordinal, self.event_id


TOOL_CHARS = 1000
"""Only this much of a tool's text is counted and summarized."""


def counted_text(event: Event) -> str:
    """Return the part of an event's text that is counted and summarized.

    Tool output is shortened; so is text that the agent itself inserted, such as a
    compaction summary.
    """
    if event.role in (EventRole.TOOL, EventRole.SYSTEM):
        return event.text[:TOOL_CHARS]
    return event.text


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
    """Make an event; equal input gives the same id.

    Args:
        source_key: Its id in the source (a record's uuid, a tool call's id); if empty,
            the text is used instead.
        role: The author; the type's typical role when None.
        ordinal: Its order in the source; by its type when None.
        source_id: Its id in the source, if unique across sessions.

    Raises:
        EventRefused: The session has no id, a message has no text, or the time is
            before 2000 or has no zone.
    """
    name, body, program = clean(session_id), clean(text), clean(agent)
    reason = find_name_error(name, program) or _find_error(timestamp, event_type, body)
    if reason:
        raise EventRefused(reason)
    at = timestamp.astimezone(UTC)
    return Event(
        event_id=event_id(program, name, event_type, source_key or body, at),
        session_id=name,
        timestamp=at.replace(microsecond=at.microsecond // 1000 * 1000),
        event_type=event_type,
        role=role or TYPICAL_ROLE[event_type],
        text=body,
        metadata={clean(k): clean(v) for k, v in (metadata or {}).items()},
        agent=program,
        subagent=clean(subagent),
        ordinal=TYPE_ORDER[event_type] if ordinal is None else ordinal,
        source_id=source_id,
    )


def _find_error(timestamp: datetime, event_type: str, text: str) -> str:
    """Return why an event is invalid; "" if it is valid."""
    if timestamp.tzinfo is None:
        return "the timestamp has no time zone"
    if timestamp < EARLIEST:
        return f"the timestamp {timestamp:%Y-%m-%d} is before 2000"
    if not text.strip() and event_type not in BOUNDARIES:
        return f"a {event_type} without text"
    return ""


def find_name_error(session_id: str, agent: str = "") -> str:
    """Return why these names are invalid; "" if they are valid.

    They must fit on one line of a list.
    """
    if not session_id.strip():
        return "no session id"
    for what, name in (("session id", session_id), ("agent's name", agent)):
        if clean(name) != clean_line(name) or "\t" in name:
            return f"the {what} is more than a line"
    return ""


def event_id(
    agent: str, session_id: str, event_type: str, key: str, at: datetime
) -> str:
    """Return the ULID of an event: the time and 80 bits of a hash."""
    from ulid import ULID

    named = "\x1f".join((agent, session_id, event_type, key))
    digest = hashlib.blake2b(named.encode("utf-8", "replace"), digest_size=10).digest()
    return str(ULID(to_ms(at).to_bytes(6, "big") + digest))


_ULID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")


def is_event_id(text: str) -> bool:
    """Return whether a text is a ULID: 26 characters of Crockford's alphabet."""
    return _ULID.fullmatch(text) is not None


def timestamp_ms_of_id(event_id: str) -> int:
    """Return the time in an event's id, in milliseconds since 1970."""
    at_ms = 0
    for letter in event_id[:10]:
        at_ms = at_ms * 32 + _CROCKFORD.index(letter)
    return at_ms


def lowest_id(at_ms: int) -> str:
    """Return the lowest id that an event of this time could have."""
    digits = (max(at_ms, 0) >> shift & 31 for shift in range(45, -1, -5))
    return "".join(_CROCKFORD[digit] for digit in digits)


_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def require_past(timestamp: datetime, now: datetime) -> None:
    """Raise EventRefused for a timestamp in the future."""
    if is_in_future(timestamp, now):
        error = EventRefused(IN_THE_FUTURE)
        error.due_at = timestamp - CLOCK_SKEW
        raise error


def is_in_future(timestamp: datetime, now: datetime) -> bool:
    """Return whether a timestamp is further in the future than clocks differ."""
    return timestamp - now > CLOCK_SKEW


def to_ms(at: datetime) -> int:
    return int((at - _EPOCH) // _MILLISECOND)


def from_ms(at_ms: int) -> datetime:
    return _EPOCH + timedelta(milliseconds=at_ms)


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)

MIN_MS, MAX_MS = (to_ms(at.replace(tzinfo=UTC)) for at in (datetime.min, datetime.max))
"""The first and the last time that ``from_ms`` can return."""

_ANSI = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?"
    r"|[PX^_][^\x1b]*\x1b\\|.)",
    re.DOTALL,
)

_UNSHOWABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]"
)

_SURROGATE = re.compile("[\ud800-\udfff]")

_TAG_CHARACTERS = dict.fromkeys(range(0xE0000, 0xE0080))


def remove_tag_characters(text: str) -> str:
    """Remove letters that no terminal shows, but that a model reads."""
    return text.translate(_TAG_CHARACTERS)


def clean(text: str) -> str:
    """Remove what would disturb a terminal or a database, but no text.

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


def plain_line(text: str) -> str:
    """Return a text in one line, with single spaces and without hidden characters."""
    return " ".join(remove_tag_characters(clean(text)).split())


def clean_line(text: str) -> str:
    """Clean a name, and put its lines on one."""
    return " ".join(filter(None, clean(text).splitlines()))


@dataclass(frozen=True, slots=True)
class Thought:
    """A block of a model's thinking."""

    agent: str
    session_id: str
    at: datetime
    text: str
    subagent: str = ""

    @property
    def thought_id(self) -> str:
        """An id made of all that it states, so that equal thoughts are stored once."""
        key = f"{self.subagent}\x1f{self.text}"
        return event_id(self.agent, self.session_id, "thought", key, self.at)


def make_thought(
    *,
    agent: str,
    session_id: str,
    at: datetime,
    text: str,
    subagent: str = "",
) -> Thought:
    """Make a thought.

    Raises:
        EventRefused: The session has no id, there is no text, or the time is before
            2000.
    """
    name, body, program = clean(session_id), clean(text), clean(agent)
    if reason := find_name_error(name, program) or _find_error(at, "thought", body):
        raise EventRefused(reason)
    at = at.astimezone(UTC)
    return Thought(
        agent=program,
        session_id=name,
        at=at,
        text=body,
        subagent=clean(subagent),
    )


# Hashes. Copies of an event that came by different routes have the same fingerprint,
# copies in other sessions the same source hash.

MAX_TIME_DIFFERENCE_MS = 600_000
"""The maximum difference between the times of two copies of an event, in
milliseconds."""

_PLACEHOLDER = re.compile(
    r"\[(?:image|document|file)(?:: (?:(?!\[(?:image|document|file): )[^\]\n])+)?\]"
    r"|\[Image #\d{1,4}\]"
)
"""The placeholder of transcript readers for a picture or file, which hooks leave out;
and what agents put in its place into a prompt. A name ends before the next
placeholder: many that do not end take linear time."""


def content_hash(*parts: str) -> str:
    """Return a short hash of several texts; the limits between them count."""
    digest = hashlib.blake2b(digest_size=12)
    for part in parts:
        raw = part.encode("utf-8", "replace")
        digest.update(len(raw).to_bytes(8, "big"))
        digest.update(raw)
    return digest.hexdigest()


def fingerprint(event: Event, session_id: str | None = None) -> bytes:
    """Return the fingerprint of an event, or the one it would have in a session."""
    name = event.session_id if session_id is None else session_id
    return content_fingerprint(name, event.event_type, event.text, event.metadata)


def content_fingerprint(
    session_id: str, event_type: str, text: str, metadata: Mapping[str, str]
) -> bytes:
    """Return a hash of an event's content, the same by whichever route it came.

    A tool call is identified by its name and input, since hooks and transcripts write
    its result differently; all other events by their text.
    """
    tool_input = metadata.get("tool_input", "")
    content = f"{metadata.get('tool_name', '')}{tool_input}" if tool_input else text
    plain = " ".join(content.split())
    if not tool_input and "[" in plain:
        plain = " ".join(_PLACEHOLDER.sub(" ", plain).split()) or plain
    key = "\x1f".join((session_id, event_type, plain))
    return hashlib.blake2b(key.strip().encode(), digest_size=8).digest()


def source_hash(event: Event) -> bytes | None:
    """Return a hash of the event's id in its source; None if it has none."""
    if event.source_id:
        return hash_source_id(event.agent, event.event_type, event.source_id)
    return event.provenance.source_hash if event.provenance else None


def hash_source_id(agent: str, event_type: str, source_id: str) -> bytes:
    key = "\x1f".join((agent, event_type, source_id))
    return hashlib.blake2b(key.encode("utf-8", "replace"), digest_size=8).digest()
