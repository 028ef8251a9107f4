"""The interface of all formats, the items that readers yield, and making events."""

import hashlib
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePath
from typing import Any

from memtui import redaction
from memtui.capture.formats.prompts import parse_prompt
from memtui.model import events
from memtui.model.events import (
    EARLIEST,
    TYPICAL_ROLE,
    Event,
    EventRefused,
    EventRole,
    EventType,
    Provenance,
    Thought,
    clean,
    hash_source_id,
    to_ms,
)
from memtui.model.sessions import SessionMetadata, SubagentMetadata
from memtui.model.tool_calls import CallEnd, Ending
from memtui.model.usage import KINDS, Usage

TRANSCRIPT, JSONL, HOOK = "transcript", "jsonl", "hook"

UNNAMED_HOOK = "unnamed-hook"
"""The route of hooks that may be run by another agent than the one they are made for.

Its own hooks may report the same events. If the payload does not show the agent, it is
that of the session with this id, if there is one."""

STARTED = "started"
"""The last part of the key of a call that is stored before it ended."""

HISTORY = "history"
"""The route of prompts in an agent's history of what the user typed."""

HOLD_TIME = timedelta(seconds=20)
"""The time for which a reader holds back a message that may not be complete."""

MAX_EVENTS_PER_LINE = 100
"""The number of events of one line that get ordinals of their own."""

DUPLICATE_WITHIN_MS = 60_000
"""The most time between two records of the same text."""

REMEMBERED_TEXTS = 60

CALL_CHARS = 300

_SUMMARY_FIELDS = (
    *("command", "cmd", "CommandLine", "file_path", "filePath", "path"),
    *("notebook_path", "TargetFile", "AbsolutePath", "DirectoryPath"),
    *("pattern", "query", "url", "description", "subject", "skill", "prompt"),
)
"""The inputs that best describe a call, most informative first."""


@dataclass(frozen=True, slots=True)
class Record:
    """A JSON object and the number of its line, from 1."""

    line: int
    fields: dict[str, object]


@dataclass(frozen=True, slots=True)
class InvalidRecord:
    """A record that breaks the rules of its format, and why."""

    reason: str
    line: int = 0
    due_at: datetime | None = field(default=None, compare=False)
    """The time from which it is valid, if that is in the future."""

    @classmethod
    def refused(cls, error: EventRefused, line: int = 0) -> "InvalidRecord":
        return cls(str(error), line, error.due_at)


@dataclass(frozen=True, slots=True)
class SkippedRecord:
    """A record that is not stored, mostly because of its type."""

    reason: str
    line: int = 0
    words: int = field(default=0, compare=False)
    """The number of words in it that are stored nowhere."""
    is_stored_elsewhere: bool = field(default=False, compare=False)
    """True if its content is stored with another record or as a fact of the session."""


@dataclass(frozen=True, slots=True)
class PendingRecord:
    """Something unfinished: a cut-off last line, a tool call without its result.

    Yielded again by every reading, so it is counted only until the next one.
    """

    reason: str
    line: int = 0


@dataclass(frozen=True, slots=True)
class MessageTitle:
    """The title of the session that ends with a message.

    The session may be in another file.
    """

    agent: str
    source_id: str
    """The id of the message in its source."""
    title: str


@dataclass(frozen=True, slots=True)
class FileReplaced:
    """The file is not the one that was read before; it is read from its start."""

    reason: str


@dataclass(frozen=True, slots=True)
class Cursor:
    """A position in a file; everything before it has been yielded."""

    offset: int = 0
    """Bytes from the start of the file, at the end of a record."""
    line: int = 0
    fingerprint: str = ""
    """A hash that shows whether these bytes are still the same."""
    state: Mapping[str, Any] = field(default_factory=dict)
    """The data with which a reader continues, as JSON values: the place to read again
    from, and ids and facts; no text of the conversation."""
    needs_reread: bool = False
    """The reader holds back something it will yield soon even if the file stays."""


ParsedItem = (
    Event
    | Thought
    | SessionMetadata
    | SubagentMetadata
    | Usage
    | MessageTitle
    | InvalidRecord
    | SkippedRecord
    | PendingRecord
    | Cursor
    | FileReplaced
)

Fields = Mapping[str, object]
State = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Source:
    """A file that is read, the agent that wrote it, and the time of the reading."""

    path: Path
    agent: str
    now: datetime


class SourceFormat(ABC):
    """One format of conversation files: how to recognize it and how to read it."""

    name: str
    """``claude-code``: the agent's name in settings and reports."""
    title: str
    route: str = TRANSCRIPT

    @abstractmethod
    def matches_path(self, path: PurePath) -> bool:
        """Return whether a file in a watched folder could have this format."""

    def has_session(self, path: PurePath) -> bool:
        """Return whether a file could have the events of a session."""
        return self.matches_path(path)

    def matches_names(self, names: frozenset[str]) -> bool:
        """Return whether a JSON file of any name could have this format.

        ``names`` are those of the fields at its beginning and its end.
        """
        return False

    @abstractmethod
    def matches_content(self, path: Path, head: Sequence[Record]) -> bool:
        """Return whether a file has this format; the head is its first JSON records."""

    @abstractmethod
    def read(
        self, path: Path, start: Cursor | None, *, agent: str, now: datetime
    ) -> Iterator[ParsedItem]:
        """Read a file from where an earlier reading ended, to its end.

        Yields:
            The items in file order, and a ``Cursor`` wherever reading could be
            resumed, and at the end.

        Raises:
            OSError: The file cannot be read.
        """

    def is_beside(self, path: PurePath) -> bool:
        """Return whether a file is read with another one, judged by its path."""
        return False

    def related_files(self, path: Path) -> Iterable[Path]:
        """Return further files whose change means that the content has changed."""
        return ()


def parse_time(value: object) -> datetime | None:
    """Return an aware time from ISO 8601 text (UTC by default) or Unix milliseconds."""
    if isinstance(value, str):
        try:
            at = datetime.fromisoformat(value)
        except ValueError:
            return None
        return at if at.tzinfo else at.replace(tzinfo=UTC)
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return datetime.fromtimestamp(value / 1000, UTC)
        except (ValueError, OverflowError, OSError):
            return None
    return None


def as_text(value: object) -> str:
    """Return text unchanged, "" for None, and JSON for anything else."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def parse_json(value: object) -> object:
    """Return the value of text that is a JSON object; anything else unchanged."""
    if not isinstance(value, str) or not value.lstrip().startswith("{"):
        return value
    try:
        return json.loads(value, strict=False)
    except (ValueError, RecursionError):
        return value


_TOKEN_FIELDS = {
    "input": "input_tokens inputTokens input tool",
    "output": "output_tokens outputTokens output thoughts reasoning",
    "cache_read": "cache_read_input_tokens read cached_input_tokens cacheReadTokens"
    " cached",
    "cache_write": "cache_creation_input_tokens write cache_write_input_tokens"
    " cacheWriteTokens",
}
"""Agents' names for the tokens of each of ``usage.KINDS``; several add up."""

_IN_INPUT = (
    *("cached_input_tokens", "cache_write_input_tokens", "cached"),
    *("cacheReadTokens", "cacheWriteTokens"),
)
"""Those that the number of the input includes."""

MAX_TOKENS = 10**12
"""A greater number of tokens of one reply is an error."""


def as_count(value: object) -> int | None:
    return value if type(value) is int and 0 <= value <= MAX_TOKENS else None


def as_object(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def as_objects(value: object) -> list[dict[str, object]]:
    items = value if isinstance(value, list) else []
    return [item for item in items if isinstance(item, dict)]


def first_text(fields: Mapping[str, object], *names: str) -> str:
    """Return the first of these fields that is not empty, as text."""
    return next(filter(None, (as_text(fields.get(name)) for name in names)), "")


def repository_name(address: object) -> str:
    """Return the name of a repository: an address, ``owner/name`` or a path."""
    path = as_text(address).strip().replace("\\", "/").rstrip("/")
    return re.split("[/:]", path.removesuffix(".git"))[-1]


def count_words(value: object) -> int:
    """Count the words in the texts of a value; ids, paths and times are none."""
    if isinstance(value, str):
        words = len(value.split())
        return words if words > 1 else 0
    if isinstance(value, dict):
        value = list(value.values())
    return sum(map(count_words, value)) if isinstance(value, list) else 0


_UNIQUE_ID = re.compile(r"(?=.*\d)[\w-]{20,}")


def unique_id(name: str) -> str:
    """Return an id if no other session can use it by chance, else "".

    Agents that talk to other models pass on call ids such as ``call_1``.
    """
    return name if _UNIQUE_ID.fullmatch(name) else ""


# Secrets are redacted before anything is shortened: half a secret is not recognized.


def describe_call(tool_name: str, tool_input: object) -> str:
    """Describe a call in one line: ``Bash: npm test``, ``Edit: src/auth/token.rs``."""
    subject = _in_a_line(_summarize_input(tool_input))
    line = f"{tool_name or 'tool'}: {subject}" if subject else tool_name or "tool"
    return line if len(line) <= CALL_CHARS else line[: CALL_CHARS - 1] + "…"


def describe_task(prompt: str) -> str:
    return _in_a_line(prompt)[:200]


def _in_a_line(text: str) -> str:
    return " ".join(redaction.redact(clean(text)).text.split())


def _summarize_input(tool_input: object) -> str:
    """Return the most informative value of a call's input, or all plain ones."""
    if isinstance(tool_input, str):
        return tool_input
    if not isinstance(tool_input, Mapping):
        return ""
    if "pattern" in tool_input and isinstance(tool_input.get("path"), str):
        return f"{tool_input['pattern']} in {tool_input['path']}"
    for name in _SUMMARY_FIELDS:
        value = tool_input.get(name)
        if isinstance(value, str) and value.strip():
            return value
        if isinstance(value, list) and value and all(isinstance(v, str) for v in value):
            return " ".join(value)
    plain = {k: v for k, v in tool_input.items() if isinstance(v, str | int | float)}
    redacted, _ = redaction.redact_json(plain)
    items = redacted.items() if isinstance(redacted, dict) else ()
    return " ".join(f"{name}={value}" for name, value in items)


# Changed lines, counted in the patches that agents record with their results.

MAX_PATCHED_FILES = 50


def count_lines(patch: Iterable[str]) -> str:
    """Return how many lines a patch adds and removes: "+12 -3"."""
    marks = [line[:1] for line in patch]
    return f"+{marks.count('+')} -{marks.count('-')}"


def count_diff_lines(diff: object) -> str:
    """Count the lines of a unified diff of one file; "" if it is none."""
    _, hunk, lines = f"\n{as_text(diff)}".partition("\n@@")
    return count_lines(lines.splitlines()[1:]) if hunk else ""


def count_edit_lines(result: object) -> str:
    """Count the changed lines in what Claude Code's editing tools return."""
    fields = as_object(result)
    if hunks := as_objects(fields.get("structuredPatch")):
        lists = (lines for h in hunks if isinstance(lines := h.get("lines"), list))
        return count_lines(as_text(line) for lines in lists for line in lines)
    if fields.get("type") == "create" and "structuredPatch" in fields:
        return f"+{len(as_text(fields.get('content')).splitlines())} -0"
    return ""


def compact_json(value: object) -> str:
    if value in (None, "", {}):
        return ""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


@dataclass(slots=True)
class Position:
    """The place of an event in its source, and its time."""

    line: int
    at: datetime
    session_id: str
    subagent: str = ""
    key: str = ""
    """The record's id: the key of events that have no other."""
    events: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call whose result has not been read yet."""

    key: str
    """The agent's id of the call: ``tool_use_id`` or ``call_id``."""
    tool_name: str = ""
    summary: str = ""
    tool_input: str = ""
    position: Position | None = None
    """The place where it began; None if that is not known."""
    lines: str = ""
    """The lines that it added to files and removed, as ``count_lines`` writes them."""
    ending: Ending = field(default_factory=Ending)

    @classmethod
    def make(
        cls,
        key: str,
        tool_name: str,
        tool_input: object,
        position: Position | None = None,
    ) -> "ToolCall":
        summary = describe_call(tool_name, tool_input)
        return cls(key, tool_name, summary, compact_json(tool_input), position)

    @property
    def event_key(self) -> str:
        """The key of the event; that of the start of a call is another one."""
        is_start = self.key and self.ending.end is CallEnd.UNFINISHED
        return f"{self.key}/{STARTED}" if is_start else self.key

    def text(self, result: str) -> str:
        """Return the text of the event: the call in a line, then the result."""
        return f"{self.summary or 'tool'}\n{result}".rstrip()

    def metadata(self) -> dict[str, str]:
        values = {
            "tool_name": self.tool_name,
            "tool_input": self.tool_input,
            "tool_use_id": self.key,
            "lines": self.lines,
            **self.ending.metadata(),
        }
        return {name: value for name, value in values.items() if value}


class CallBeforeStart(Exception):
    """The result of a call that began before what was read."""


class PendingCalls:
    """The tool calls of one file that have no result yet, by key."""

    def __init__(self) -> None:
        self._calls: dict[str, ToolCall] = {}
        self._broken_off: dict[str, ToolCall] = {}
        """Calls that are no longer open, but may still get a result."""
        self.earlier: set[str] = set()
        """The keys of open calls before the point from which the file was read."""
        self.count = 0

    def __len__(self) -> int:
        return len(self._calls)

    def __contains__(self, key: str) -> bool:
        return key in self._calls

    def keys(self) -> list[str]:
        return list(self._calls)

    def awaited_keys(self) -> frozenset[str]:
        """Return the keys of all calls that a result may follow."""
        return frozenset((*self._calls, *self._broken_off, *self.earlier))

    def get(self, key: str) -> ToolCall:
        """Return a call; one that only has its key if it is not known."""
        return self._calls.get(key) or ToolCall(key)

    def replace(self, call: ToolCall) -> ToolCall | None:
        """Remember a call; return a different one that had the same key."""
        self.count += 1
        self._broken_off.pop(call.key, None)
        before = self._calls.get(call.key)
        same = call.summary, call.tool_input
        if before and call.key and (before.summary, before.tool_input) == same:
            return None
        self._calls[call.key] = call
        return before

    def pop(self, key: str) -> ToolCall:
        """Return and forget a call; one that only has its key if it is not known."""
        call = self._calls.pop(key, None) or self._broken_off.pop(key, None)
        if call is None and key in self.earlier:
            raise CallBeforeStart
        self.earlier.discard(key)
        return call or ToolCall(key)

    def pop_conversation(
        self, session_id: str, subagent: str, *, with_subagents: bool = False
    ) -> list[ToolCall]:
        calls = [
            call
            for call in self._calls.values()
            if (place := call.position)
            and place.session_id == session_id
            and (place.subagent == subagent or (with_subagents and not subagent))
        ]
        for call in calls:
            self._broken_off[call.key] = self._calls.pop(call.key)
        return calls

    def __iter__(self) -> Iterator[ToolCall]:
        return iter(self._calls.values())


@dataclass(frozen=True, slots=True)
class EventBuilder:
    """Makes the events of one agent's files."""

    agent: str
    now: datetime
    has_unique_keys: bool = False
    """No two sessions of this agent use one key for different things."""

    def parse_time(self, value: object) -> datetime:
        """Return a record's time, or raise EventRefused."""
        at = parse_time(value)
        if at is None:
            raise EventRefused("a bad timestamp" if value else "no timestamp")
        events.require_past(at, self.now)
        if at < EARLIEST:
            raise EventRefused(f"the timestamp {at:%Y-%m-%d} is before 2000")
        return at

    def event(
        self,
        position: Position,
        event_type: EventType,
        text: str,
        *,
        role: EventRole | None = None,
        key: str | None = None,
        source_id: str | None = None,
        ordinal: int | None = None,
        **metadata: str,
    ) -> Event | InvalidRecord:
        """Make an event, or say why that is not possible.

        Args:
            position: Where it is.
            event_type: What happened.
            text: The text.
            role: By default the type's typical role.
            key: The source's id of the event; by default the position's key.
            source_id: The id that copies of it in other sessions share; by default the
                key, where it is unique.
            ordinal: Its order among events of one time; by default from the line.
            metadata: Further values; empty ones are left out.
        """
        key = position.key if key is None else key
        if source_id is None:
            source_id = key if self.has_unique_keys else unique_id(key)
        if ordinal is None:
            position.events = min(position.events + 1, MAX_EVENTS_PER_LINE - 1)
            ordinal = position.line * MAX_EVENTS_PER_LINE + position.events
        try:
            events.require_past(position.at, self.now)
            return events.make(
                agent=self.agent,
                session_id=position.session_id,
                timestamp=position.at,
                event_type=event_type,
                text=text,
                source_key=key,
                role=role or TYPICAL_ROLE[event_type],
                metadata={name: value for name, value in metadata.items() if value},
                subagent=position.subagent,
                ordinal=ordinal,
                source_id=source_id,
            )
        except EventRefused as error:
            return InvalidRecord.refused(error, position.line)

    def prompt(
        self, position: Position, text: str, kind: str | None = None
    ) -> Event | InvalidRecord:
        """Make an event of a message in the user's name; the text may show its kind."""
        prompt = parse_prompt(text, kind, self.agent)
        event_type, role = EventType.USER_MESSAGE, prompt.role
        return self.event(
            position,
            event_type,
            prompt.text,
            role=role,
            ordinal=None,
            **prompt.metadata,
        )

    def typed_prompt(self, position: Position, text: str) -> Event | InvalidRecord:
        """Make an event of a prompt in a history; transcripts have better copies."""
        event = self.prompt(position, text)
        if isinstance(event, Event):
            # Its id is never that of the message in the transcript.
            key = f"{HISTORY}\x1f{event.text}"
            about = event.agent, event.session_id, event.event_type
            name = events.event_id(*about, key, event.timestamp)
            provenance = Provenance(HISTORY)
            event = replace(event, event_id=name, provenance=provenance)
        return event

    def system_message(
        self, position: Position, text: str, kind: str, *, key: str | None = None
    ) -> Event | InvalidRecord:
        """Make an event of text that the program wrote in the user's name."""
        event_type, role = EventType.USER_MESSAGE, EventRole.SYSTEM
        return self.event(position, event_type, text, role=role, key=key, kind=kind)

    def thought(self, position: Position, text: str) -> Thought | InvalidRecord:
        try:
            events.require_past(position.at, self.now)
            return events.make_thought(
                agent=self.agent,
                session_id=position.session_id,
                at=position.at,
                text=text,
                subagent=position.subagent,
            )
        except EventRefused as error:
            return InvalidRecord.refused(error, position.line)

    def usage(
        self,
        position: Position,
        reply_id: str,
        model: object,
        stated: object,
        *,
        cost: object = None,
    ) -> Iterator[Usage]:
        """Yield what a reply took, unless nothing is stated or all of it is zero.

        ``reply_id`` is the source's id of it, which copies share; without one, its time
        is its id. ``stated`` is the object with the numbers of tokens.
        """
        fields = as_object(stated)
        fields = {**fields, **as_object(fields.get("cache"))}
        counts: dict[str, int] = {}
        for kind, names in _TOKEN_FIELDS.items():
            for name in names.split():
                if (count := as_count(fields.get(name))) is not None:
                    counts[kind] = counts.get(kind, 0) + count
                    if name in _IN_INPUT and "input" in counts:
                        counts["input"] = max(counts["input"] - count, 0)
        tokens = [counts.get(kind) for kind in KINDS]
        dollars = cost if isinstance(cost, float | int) and 0 < cost < MAX_TOKENS else 0
        if events.find_name_error(position.session_id) or not (any(tokens) or dollars):
            return
        place = position.session_id, position.subagent, position.at.isoformat()
        key = hash_source_id(self.agent, "usage", reply_id or "/".join(place)).hex()
        about = self.agent, position.session_id, position.at, key, as_text(model)
        yield Usage(*about, tokens, dollars or None)

    def tool_result(
        self, position: Position, call: ToolCall, result: str
    ) -> Event | InvalidRecord:
        caller = call.position.subagent if call.position else ""
        if caller and caller != position.subagent:
            position = replace(position, subagent=caller)
        own_key = position.key if self.has_unique_keys else ""
        source_id = call.key or own_key
        if not self.has_unique_keys:
            source_id = unique_id(source_id)
        return self.event(
            position,
            EventType.TOOL_RESULT,
            call.text(result),
            role=EventRole.TOOL,
            key=call.event_key or own_key,
            source_id=source_id,
            ordinal=None,
            **call.metadata(),
        )


class RecentTexts:
    """The latest texts of one file, to find those that are recorded twice."""

    def __init__(self) -> None:
        self._texts: list[tuple[str, int, set[str]]] = []

    def __len__(self) -> int:
        return len(self._texts)

    def clear(self) -> None:
        self._texts = []

    def is_new(self, kind: str, text: str, writer: str, at: datetime) -> bool:
        """Remember a text; return whether no other writer recorded it before.

        A writer is a kind of record. Only letters and digits are compared.
        """
        letters = "".join(filter(str.isalnum, text)) or text.strip()
        digest, at_ms = text_digest(kind, letters), to_ms(at)
        for earlier, earlier_ms, writers in self._texts:
            is_near = abs(at_ms - earlier_ms) <= DUPLICATE_WITHIN_MS
            if earlier == digest and is_near and writer not in writers:
                writers.add(writer)
                return False
        latest = self._texts[1 - REMEMBERED_TEXTS :]
        self._texts = [*latest, (digest, at_ms, {writer})]
        return True


def text_digest(*parts: str) -> str:
    raw = "\x1f".join(parts).encode("utf-8", "replace")
    return hashlib.blake2b(raw, digest_size=8).hexdigest()


def join_texts(texts: Iterable[str]) -> str:
    return "\n\n".join(text for text in texts if text.strip())


def message_texts(content: object) -> Iterator[str]:
    """Yield the texts of a message's content, with placeholders for images.

    Blocks of tool calls, results and thinking are left out.
    """
    for block in content if isinstance(content, list) else [content]:
        if (text := _block_text(block)) is not None:
            yield text


def result_text(content: object) -> str:
    """Return a tool's result as text, whatever shape it has."""
    if not isinstance(content, list):
        return as_text(content)
    texts = ((block, _block_text(block)) for block in content)
    lines = (as_text(block) if text is None else text for block, text in texts)
    return "\n".join(filter(None, lines))


def _block_text(block: object) -> str | None:
    """Return the text of a block or the placeholder of its image; else None."""
    if isinstance(block, str):
        return block
    fields = as_object(block)
    kind, source = as_text(fields.get("type")), fields.get("source")
    if kind == "text":
        return as_text(fields.get("text"))
    if kind not in ("image", "document"):
        return None
    if not isinstance(source, dict):
        return f"[{kind}]"
    return placeholder(kind, source.get("media_type"), source.get("data"))


def placeholder(kind: str, media_type: object = "", data: object = None) -> str:
    """Return what stands for an image or a document: type and size, not its bytes."""
    size = f", {len(data) * 3 // 4 // 1024 or 1} kB" if isinstance(data, str) else ""
    return f"[{kind}: {as_text(media_type) or 'unknown type'}{size}]"
