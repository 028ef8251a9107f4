"""The protocol every format keeps: tell it, and read it from a cursor on."""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path, PurePath
from typing import Any, Protocol

from memtui.model import events
from memtui.model.events import (
    EARLIEST,
    TYPICAL_ROLE,
    Event,
    EventRefused,
    EventRole,
    EventType,
    Thought,
    from_ms,
    to_ms,
)
from memtui.model.sessions import SessionMetadata, SubagentMetadata
from memtui.text import tool_calls


@dataclass(frozen=True, slots=True)
class Record:
    """A JSON object and the line it stands on, from 1."""

    line: int
    fields: dict[str, object]


@dataclass(frozen=True, slots=True)
class InvalidRecord:
    """A record that could not be taken, and why."""

    reason: str
    line: int = 0
    until: datetime | None = field(default=None, compare=False)
    """Until when it cannot be taken, if it can be then: it comes from the future."""


@dataclass(frozen=True, slots=True)
class SkippedRecord:
    """A record of a kind that is known and not kept, or of a kind nobody knows."""

    reason: str
    line: int = 0


@dataclass(frozen=True, slots=True)
class PendingRecord:
    """What a file has begun and not ended yet: a torn last line, an unanswered call.

    Said anew whenever the file is read, so it is counted for now, not for ever.
    """

    reason: str
    line: int = 0


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far a file has been read; all that was read so far has been given before."""

    offset: int = 0
    """Bytes from the start of the file, at the end of a record."""
    line: int = 0
    """How many lines these are."""
    fingerprint: str = ""
    """What shows that these bytes are still the same."""
    state: Mapping[str, Any] = field(default_factory=dict)
    """What a reader must remember to go on from here, in JSON's own types."""
    needs_reread: bool = False
    """Whether something is held back that is to be given soon, though nothing more
    should be written."""


@dataclass(frozen=True, slots=True)
class FileReplaced:
    """The file is not the one that was read before; it is read from its start."""

    reason: str


ParsedItem = (
    Event
    | Thought
    | SessionMetadata
    | SubagentMetadata
    | InvalidRecord
    | SkippedRecord
    | PendingRecord
    | Cursor
    | FileReplaced
)
"""What a source gives: what was said, what it learnt of sessions, what it did not take,
and how far it has come."""


def ahead(at: datetime, line: int = 0) -> InvalidRecord:
    """Refuse a record of a time that is still to come, unless the clock is wrong."""
    return InvalidRecord("a timestamp in the future", line, at)


def parse_time(value: object) -> datetime | None:
    """An aware time from ISO 8601 text or from milliseconds since 1970; else None.

    Text without a zone is read as UTC.
    """
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
    """A value as text: itself if it is text, nothing if it is nothing, else JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


TRANSCRIPT, JSONL, HOOK = "transcript", "jsonl", "hook"
"""The routes by which an event can be told."""


class Read(Protocol):
    """Reads a file of one format."""

    def __call__(
        self, path: Path, start: Cursor | None, *, agent: str, now: datetime
    ) -> Iterator[ParsedItem]:
        """Read a file from a cursor to its end.

        Args:
            path: The file.
            start: Where an earlier reading ended; None to read from the start.
            agent: The agent of events that name none.
            now: The time, to refuse what claims to come from the future.

        Yields:
            The readings in their order; a ``Cursor`` wherever the reading could be
            taken up again, and at the end. Whatever was begun before a cursor and
            not given yet is in its state.

        Raises:
            OSError: The file cannot be read.
        """


State = Mapping[str, Any]
"""What a cursor remembers."""


def _nothing(_: Path) -> Iterable[Path]:
    return ()


def _never(_: State) -> State | None:
    return None


@dataclass(frozen=True, slots=True)
class SourceFormat:
    """One format."""

    name: str
    """``claude-code``: the agent's name, by which settings and reports call it."""
    title: str
    """``Claude Code``: the name people know it by."""
    route: str
    matches_path: Callable[[PurePath], bool]
    """Whether a file found in a folder could be one of its, by path alone."""
    matches_content: Callable[[Path, Sequence[Record]], bool]
    """Whether a file is one of its; given the JSON records it begins with, if any."""
    read: Read
    related_files: Callable[[Path], Iterable[Path]] = _nothing
    """Files that change when what the file holds has changed, the file itself apart."""
    state_without_text: Callable[[State], State | None] = _never
    """A cursor's state without any words, as good to go on from but for what sessions
    are called; None where something waits whose words are needed."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call whose answer has not been read yet."""

    key: str
    """What the agent calls it: its ``tool_use_id`` or ``call_id``."""
    tool_name: str = ""
    said: str = ""
    """The call in a line."""
    tool_input: str = ""
    """All it was given, as compact JSON."""
    session_id: str = ""
    subagent: str = ""
    uuid: str = ""
    line: int = 0
    at_ms: int = 0

    def text(self, answer: str) -> str:
        """What the event of this call says: the call in a line, then the answer."""
        return f"{self.said or 'tool'}\n{answer}".rstrip()

    def metadata(self, **more: str) -> dict[str, str]:
        """What the event of this call tells beside its text; nothing that is empty."""
        about = {
            "tool_name": self.tool_name,
            "tool_input": self.tool_input,
            "tool_use_id": self.key,
        }
        return {name: value for name, value in (about | more).items() if value}


def call(key: str, tool_name: str, given: object, **about: str | int) -> Call:
    """A call of a tool.

    Args:
        key: What the agent calls it.
        tool_name: Which tool.
        given: What it was given.
        about: The fields of ``Call`` that say where it stands.
    """
    said, compact = tool_calls.describe(tool_name, given), tool_calls.compact(given)
    return Call(key, tool_name, said, compact, **about)  # type: ignore[arg-type]


class Waiting:
    """The calls of one file that wait for their answers."""

    def __init__(self, state: object = ()) -> None:
        """Go on with the calls of an earlier reading's state."""
        kept = state if isinstance(state, list) else []
        known = [Call(**fields) for fields in kept if isinstance(fields, Mapping)]
        self._calls = {call.key: call for call in known}

    def add(self, call: Call) -> None:
        """A call was made."""
        self._calls[call.key] = call

    def replaced(self, call: Call) -> Call | None:
        """A call was made, or is told again.

        Returns:
            Another call that waited under the same name; it will have no answer.
        """
        before = self._calls.get(call.key)
        told = call.said, call.tool_input
        if before and call.key and (before.said, before.tool_input) == told:
            return None
        self._calls[call.key] = call
        return before

    def answered(self, key: str) -> Call:
        """The call that has this answer now; of one never met only its key is known."""
        return self._calls.pop(key, None) or Call(key)

    def broken_off(self, session_id: str, subagent: str) -> list[Call]:
        """The calls of a conversation that will have no answer: it was interrupted."""
        mine = [
            call
            for call in self._calls.values()
            if (call.session_id, call.subagent) == (session_id, subagent)
        ]
        for call in mine:
            del self._calls[call.key]
        return mine

    def has(self, key: str) -> bool:
        """Whether a call waits for its answer."""
        return key in self._calls

    def awaited(self) -> Iterator[PendingRecord]:
        """Say of each that its answer is awaited."""
        for call in self._calls.values():
            yield PendingRecord("tool call without an answer yet", call.line)

    def state(self) -> list[dict[str, object]]:
        """What another reading must know of them."""
        return [asdict(call) for call in self._calls.values()]


LINE_PLACES = 100
"""How many events of one line can be told apart by their ordinal."""


_UNIQUE = re.compile(r"(?=.*\d)[\w-]{20,}")


def unique(name: str) -> str:
    """A record's name if no other session can have it by chance; else nothing.

    Agents that talk to other models pass on call ids such as ``call_1``.
    """
    return name if _UNIQUE.fullmatch(name) else ""


@dataclass(slots=True)
class Place:
    """Where in a source something is said, and when."""

    line: int
    at: datetime
    session_id: str
    subagent: str = ""
    told: int = field(default=0, compare=False)
    """How many events of this place were told."""


@dataclass(frozen=True, slots=True)
class Teller:
    """Makes what one agent's files tell."""

    agent: str
    now: datetime

    def time(self, value: object, line: int) -> datetime | InvalidRecord:
        """A record's time, or why it cannot be taken."""
        at = parse_time(value)
        if at is None:
            return InvalidRecord("a bad timestamp" if value else "no timestamp", line)
        if events.is_in_future(at, self.now):
            return ahead(at, line)
        if at < EARLIEST:
            return InvalidRecord(f"the timestamp {at:%Y-%m-%d} is before 2000", line)
        return at

    def event(
        self,
        place: Place,
        event_type: EventType,
        text: str,
        *,
        role: EventRole | None = None,
        key: str = "",
        **metadata: str,
    ) -> Event | InvalidRecord:
        """An event, or why there is none.

        Args:
            place: Where it stands.
            event_type: What happened.
            text: What was said.
            role: Who wrote it; the type's typical role when None.
            key: What the source calls it.
            metadata: Whatever else is told; what is empty is left out.
        """
        place.told = min(place.told + 1, LINE_PLACES - 1)
        try:
            return events.make(
                agent=self.agent,
                session_id=place.session_id,
                timestamp=place.at,
                event_type=event_type,
                text=text,
                source_key=key,
                role=role or TYPICAL_ROLE[event_type],
                metadata={k: v for k, v in metadata.items() if v},
                subagent=place.subagent,
                ordinal=place.line * LINE_PLACES + place.told,
                source_id=unique(key),
            )
        except EventRefused as refusal:
            return InvalidRecord(str(refusal), place.line)

    def injected(
        self, place: Place, text: str, kind: str, *, key: str = ""
    ) -> Event | InvalidRecord:
        """A message that the program wrote, not the person."""
        kind_of, role = EventType.USER_MESSAGE, EventRole.SYSTEM
        return self.event(place, kind_of, text, role=role, key=key, kind=kind)

    def thought(
        self, place: Place, text: str, *, key: str = ""
    ) -> Thought | InvalidRecord:
        """A thought, or why there is none."""
        try:
            return events.make_thought(
                agent=self.agent,
                session_id=place.session_id,
                at=place.at,
                text=text,
                key=key,
                subagent=place.subagent,
            )
        except EventRefused as refusal:
            return InvalidRecord(str(refusal), place.line)

    def answer(
        self, place: Place, call: Call, answer: str, **more: str
    ) -> Event | InvalidRecord:
        """A call together with its answer, at the answer's time."""
        if call.subagent and call.subagent != place.subagent:
            place = replace(place, subagent=call.subagent)
        said, about = call.text(answer), call.metadata(**more)
        kind, role = EventType.TOOL_RESULT, EventRole.TOOL
        return self.event(place, kind, said, role=role, key=call.key, **about)

    def unanswered(self, call: Call) -> Event | InvalidRecord:
        """A call that will have no answer, at its own time."""
        at = from_ms(call.at_ms)
        place = Place(call.line, at, call.session_id, call.subagent)
        return self.answer(place, call, "", is_broken_off="true")

    def broken_off(
        self, waiting: Waiting, session_id: str, subagent: str
    ) -> Iterator[Event | InvalidRecord]:
        """The calls of a conversation that was interrupted."""
        for call in waiting.broken_off(session_id, subagent):
            yield self.unanswered(call)


TWINS_WITHIN_MS = 60_000
"""How far apart two records of one text may stand."""


REMEMBERED = 60
"""How many texts are remembered."""


class Twins:
    """The texts of one file that may be told again."""

    def __init__(self, state: object = ()) -> None:
        """Go on with what an earlier reading was told."""
        kept = state if isinstance(state, list) else []
        self._told: list[tuple[str, int, list[str]]] = [
            (name, at_ms, list(tellers)) for name, at_ms, tellers in kept
        ]

    def is_first(self, what: str, text: str, teller: str, at: datetime) -> bool:
        """Whether this text is told for the first time; remembers that it was told.

        Args:
            what: What it is: a prompt, a reply, a thought.
            text: What is said; only its letters and digits are compared.
            teller: The kind of record that tells it.
            at: When.
        """
        name, at_ms = _print(what, text), to_ms(at)
        for known, told_ms, tellers in self._told:
            is_near = abs(at_ms - told_ms) <= TWINS_WITHIN_MS
            if known == name and is_near and teller not in tellers:
                tellers.append(teller)
                return False
        self._told = [*self._told[1 - REMEMBERED :], (name, at_ms, [teller])]
        return True

    def state(self) -> list[list[object]]:
        """What another reading must know of them."""
        return [[name, at_ms, list(tellers)] for name, at_ms, tellers in self._told]


def _print(what: str, text: str) -> str:
    said = "".join(filter(str.isalnum, text)) or text.strip()
    raw = f"{what}\x1f{said}".encode("utf-8", "replace")
    return hashlib.blake2b(raw, digest_size=10).hexdigest()


def texts(content: object) -> Iterator[str]:
    """The readable parts of a message's content; a placeholder for each image.

    Blocks that are calls, results or thinking are left to those who know them.
    """
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for block in content:
            if isinstance(block, str):
                yield block
            elif isinstance(block, dict):
                yield from _readable(block)


def _readable(block: dict[str, object]) -> Iterator[str]:
    kind = block.get("type")
    if kind == "text":
        yield as_text(block.get("text"))
    elif kind in ("image", "document"):
        yield placeholder(block)


def placeholder(block: dict[str, object]) -> str:
    """What stands for an image or a document: its type and size, never its bytes."""
    source = block.get("source")
    if not isinstance(source, dict):
        return f"[{block.get('type')}]"
    kept = source.get("data")
    size = f", {len(kept) * 3 // 4 // 1024 or 1} kB" if isinstance(kept, str) else ""
    return f"[{block.get('type')}: {source.get('media_type', 'unknown type')}{size}]"


def result_text(content: object) -> str:
    """A tool's answer as text, whatever shape it has."""
    if isinstance(content, list):
        return "\n".join(filter(None, map(_result_block, content)))
    return as_text(content)


def _result_block(block: object) -> str:
    if not isinstance(block, dict):
        return as_text(block)
    kind = block.get("type")
    if kind == "text":
        return as_text(block.get("text"))
    return placeholder(block) if kind in ("image", "document") else as_text(block)
