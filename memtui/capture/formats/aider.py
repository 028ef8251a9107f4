"""Aider's chat history: one Markdown file a project, written on and on.

``.aider.chat.history.md`` lies in each project's own folder. A session begins with
``# aider chat started at 2024-08-05 19:33:02``; lines that begin with ``####`` were
typed by the person, those that begin with ``>`` are Aider's own words, and the rest is
the assistant's. Aider ends the lines of the first two kinds with two spaces, so that a
heading or a quotation of the assistant's is not taken for one where that can be seen.

The only times are those of the headers, in the local time of the machine that wrote
them; they are read as this machine's. The events of a session follow each other by a
millisecond, which keeps their order and says nothing else. A session is named by its
header's time and the name of the folder, so that a copy of the folder elsewhere names
it alike, and two projects' sessions differ.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import partial
from pathlib import Path, PurePath

from memtui.capture.formats import base, jsonl
from memtui.capture.formats.base import (
    TRANSCRIPT,
    Cursor,
    InvalidRecord,
    ParsedItem,
    Record,
    SkippedRecord,
    SourceFormat,
)
from memtui.capture.formats.jsonl import Form
from memtui.model import events
from memtui.model.events import EventRefused, EventRole, EventType
from memtui.model.sessions import SessionMetadata

BLANK = "<blank>"
"""What Aider writes for a prompt without words."""


_HEADER = re.compile(r"# aider chat started at (.+?)\s*")


_MARK = "  "
"""How Aider ends the lines that it, or the person, wrote."""


_FENCE = re.compile(r"\s*(?:```|~~~)")


_ASKS = frozenset(
    {"/ask", "/code", "/architect", "/context", "/copy-context", "/help", "/web"}
)
"""Commands that carry words for the assistant, where they carry any."""


_RUNS = ("/run", "/test", "/lint", "/git", "/commit", "/diff", "/undo", "/voice", "!")
"""Commands whose output is all that follows."""


_NOTICE = re.compile(
    r"$|\^C|KeyboardInterrupt|Tokens: |Cost: |Aider v\d|aider\b|/\S*/aider |Model: "
    r"|(?:Main|Weak|Editor) model: |Models?: |Git (?:repo|working dir): |Repo-map: "
    r"|Use /help|You can skip this check|Initial repo scan|Error checking pypi"
    r"|Warning: |https?://\S+$|Newer aider version|Restored previous conversation"
    r"|.* is already in the chat|.*\]: \w*$|Use a different|VSCode terminal|Update "
    r"|Detected dumb terminal|Cur working dir: |Multiline mode|Summariz"
)
"""Lines that only tell how Aider is, or ask."""


_ERROR = re.compile(
    r"The LLM did not conform|# ?\d+ SEARCH/REPLACE blocks? failed|litellm\.\w+"
    r"|(?:\w+\.)*\w*Error\b|Traceback |Unable to |.* file not found|Can't initialize"
)


_MODEL = re.compile(r"(?:Main model|Model): (\S+)")


class Kind(StrEnum):
    """Who wrote a block."""

    PERSON = "person"
    ASSISTANT = "assistant"
    AIDER = "aider"


@dataclass(frozen=True, slots=True)
class Block:
    """Lines of one writer, without what marks them as theirs."""

    kind: Kind
    line: int
    """The first line, from 1."""
    lines: Sequence[str]

    @property
    def text(self) -> str:
        """The lines as a text."""
        return "\n".join(self.lines).strip("\n")


def header(line: str) -> str | None:
    """The time in the header of a session; None if a line is none."""
    found = _HEADER.fullmatch(line)
    return found.group(1) if found else None


def local_time(said: str) -> datetime | None:
    """The time of a header, which is this machine's local one."""
    try:
        return datetime.fromisoformat(said).astimezone()
    except (ValueError, OverflowError, OSError):
        return None


def is_command(prompt: str) -> bool:
    """Whether a prompt speaks to Aider alone."""
    if prompt.startswith("!"):
        return True
    word, *rest = prompt.split(None, 1) or [""]
    is_one = re.fullmatch(r"/[a-z-]+", word) is not None
    return is_one and (word not in _ASKS or not rest)


def deeds(block: Block, command: str, *, is_first: bool) -> tuple[list[str], int]:
    """What Aider did, and how many lines merely note something.

    Args:
        block: Lines of Aider's own.
        command: What the person asked of it just before, if anything.
        is_first: Whether the session has only begun: it tells of itself then.
    """
    if command.startswith(_RUNS):
        return [line for line in block.lines if line.strip()], 0
    done = [] if is_first else [ln for ln in block.lines if not _NOTICE.match(ln)]
    noted = len([line for line in block.lines if line.strip()]) - len(done)
    return done, noted


def tells_error(done: Sequence[str]) -> bool:
    """Whether what was done went wrong."""
    return any(_ERROR.match(line) for line in done)


def model(lines: Sequence[str]) -> str:
    """The model that Aider says it uses; "" if it does not say."""
    found = (_MODEL.match(line) for line in lines)
    return next((match.group(1) for match in found if match), "")


@dataclass(slots=True)
class _Open:
    kind: str = ""
    line: int = 0
    lines: list[str] = field(default_factory=list)
    is_fenced: bool = False
    """Whether a code block of the assistant's is not closed yet."""
    is_marked: bool = False
    """Whether lines of this session were seen to end as Aider ends them."""
    is_parted: bool = False
    """Whether a blank line came last."""


class Lines:
    """Joins lines to blocks."""

    def __init__(self, state: object = None) -> None:
        """Go on with the block an earlier reading left open."""
        self._open = _Open(**state) if isinstance(state, Mapping) else _Open()

    @property
    def is_open(self) -> bool:
        """Whether there is a block that may go on."""
        return bool(self._open.lines)

    def state(self) -> dict[str, object]:
        """What another reading must know of the open block."""
        now = self._open
        return {name: getattr(now, name) for name in _Open.__slots__} | {
            "lines": list(now.lines)
        }

    def add(self, line: str, number: int) -> Block | None:
        """Take a line; gives the block that it ends, if it ends one."""
        now = self._open
        kind, text = self._whose(line)
        if kind is None:
            now.is_parted = True
            if now.kind == Kind.ASSISTANT:
                now.lines.append("")
            return None
        is_next = kind is Kind.PERSON and now.is_parted
        ended = self.close() if kind != now.kind or is_next else None
        if not now.lines:
            now.kind, now.line = kind.value, number
        now.lines.append(text)
        now.is_parted = False
        if kind is Kind.ASSISTANT and _FENCE.match(text):
            now.is_fenced = not now.is_fenced
        elif kind is not Kind.ASSISTANT:
            now.is_fenced = False
        return ended

    def close(self) -> Block | None:
        """Give the open block, if there is one."""
        now = self._open
        block = Block(Kind(now.kind), now.line, now.lines) if now.lines else None
        now.kind, now.lines, now.is_parted = "", [], False
        return block if block and block.text.strip() else None

    def _whose(self, line: str) -> tuple[Kind | None, str]:
        """Who wrote a line, and what; nobody wrote a blank one."""
        for start, kind in (("####", Kind.PERSON), (">", Kind.AIDER)):
            if line != start and not line.startswith(f"{start} "):
                continue
            is_marked = line.endswith(_MARK)
            now = self._open
            now.is_marked = now.is_marked or is_marked
            if is_marked or not (now.is_marked or now.is_fenced):
                said = line[len(start) + 1 :]
                return kind, said.rstrip() if kind is Kind.AIDER else said.removesuffix(
                    _MARK
                )
        return (Kind.ASSISTANT, line) if line.strip() else (None, "")


AGENT = "aider"


FILE = ".aider.chat.history.md"
"""The name Aider gives its history."""


PATIENCE = timedelta(seconds=20)
"""How long after the file was written last its last block is waited for."""


_BEGINNING_BYTES = 4096
"""How much of a file is read to tell its format."""


_MILLISECOND = timedelta(milliseconds=1)


def _may_be(path: PurePath) -> bool:
    return path.name == FILE


def fits(path: Path, head: Sequence[Record]) -> bool:
    """Whether a file begins with the header of a session."""
    with path.open("rb") as file:
        beginning = file.read(_BEGINNING_BYTES).decode("utf-8", "replace")
    first = beginning.lstrip("\ufeff\r\n ").partition("\n")[0]
    return header(first) is not None


def read(
    path: Path, start: Cursor | None, *, agent: str, now: datetime
) -> Iterator[ParsedItem]:
    """Read one history; see ``memtui.sources.source.Read``."""
    written_at = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    is_settled = abs(now - written_at) > PATIENCE
    form = Form(_lines, lambda raw: len(raw) if is_settled else 0)
    folder = path.resolve().parent
    return jsonl.read(path, start, partial(_History, folder, is_settled, now), form)


SOURCE = SourceFormat(AGENT, "Aider", TRANSCRIPT, _may_be, fits, read)


def _lines(raw: bytes, number: int) -> Iterator[Record | InvalidRecord]:
    text = raw.decode("utf-8", "replace").removesuffix("\n").removesuffix("\r")
    yield Record(number, {"text": text.removeprefix("\ufeff") if number == 1 else text})


class _History:
    """Reads the lines of one history."""

    def __init__(
        self, folder: Path, is_settled: bool, now: datetime, state: Mapping[str, object]
    ) -> None:
        self._folder, self._is_settled, self._now = folder, is_settled, now
        self._lines = Lines(state.get("lines"))
        started, number = state.get("started"), state.get("number")
        self._started = (
            datetime.fromisoformat(started) if isinstance(started, str) else None
        )
        self._number = number if isinstance(number, int) else 0
        self._refusal = str(state.get("refusal") or "no session it belongs to")
        self._command = str(state.get("command") or "")
        self._model = str(state.get("model") or "")
        self._is_introduced = False

    @property
    def is_held(self) -> bool:
        """Whether the end of the file is to be given when it has rested a little."""
        return self._lines.is_open or not self._is_settled

    def take(self, record: Record) -> Iterator[ParsedItem]:
        """Read one line."""
        text = str(record.fields["text"])
        said = header(text)
        if said is None:
            if block := self._lines.add(text, record.line):
                yield from self._told(block)
            return
        yield from self._ended()
        yield from self._begun(said, record.line)

    def rest(self) -> Iterator[ParsedItem]:
        """Give the last block if the file rests, and say what is known."""
        if self._is_settled:
            yield from self._ended()
        if self._started and self._number:
            yield self._facts(self._started)

    def state(self) -> Mapping[str, object]:
        """What another reading must know to go on."""
        return {
            "started": self._started.isoformat() if self._started else None,
            "number": self._number,
            "refusal": self._refusal,
            "command": self._command,
            "model": self._model,
            "lines": self._lines.state(),
        }

    def _begun(self, said: str, line: int) -> Iterator[ParsedItem]:
        """Begin a session, unless it is the one that was begun in the same second."""
        at = local_time(said)
        if at and at == self._started:
            yield SkippedRecord("header", line)
            return
        if self._started and self._number:
            yield self._facts(self._started)
        self._started, self._number, self._command, self._model = None, 0, "", ""
        self._is_introduced = False
        if at is None:
            self._refusal = "a bad timestamp"
        elif events.is_in_future(at, self._now):
            self._refusal = "a timestamp in the future"
        else:
            self._started = at
            yield SkippedRecord("header", line)
            return
        yield InvalidRecord(self._refusal, line, at)

    def _ended(self) -> Iterator[ParsedItem]:
        block = self._lines.close()
        if block:
            yield from self._told(block)

    def _told(self, block: Block) -> Iterator[ParsedItem]:
        if self._started is None:
            yield InvalidRecord(self._refusal, block.line)
        elif block.kind is Kind.ASSISTANT:
            event_type, role = EventType.ASSISTANT_MESSAGE, EventRole.ASSISTANT
            yield from self._event(block, event_type, block.text, role, {})
        elif block.kind is Kind.PERSON:
            yield from self._person(block)
        else:
            yield from self._own(block)

    def _person(self, block: Block) -> Iterator[ParsedItem]:
        """What was typed: words for the assistant, or a command for Aider alone."""
        self._command = block.text if is_command(block.text) else ""
        if not block.text.strip() or block.text == BLANK:
            yield SkippedRecord("an empty prompt", block.line)
            return
        role = EventRole.SYSTEM if self._command else EventRole.USER
        about = {"kind": "command"} if self._command else {}
        yield from self._event(block, EventType.USER_MESSAGE, block.text, role, about)

    def _own(self, block: Block) -> Iterator[ParsedItem]:
        """What Aider did, and what it merely noted."""
        done, noted = deeds(block, self._command, is_first=not self._number)
        self._model = model(block.lines) or self._model
        yield from [SkippedRecord("notice", block.line)] * noted
        if not done:
            return
        given = {"command": self._command} if self._command else {}
        call = base.call("", AGENT, given)
        self._command = ""
        is_error = "true" if tells_error(done) else ""
        text, metadata = call.text("\n".join(done)), call.metadata(is_error=is_error)
        event_type, role = EventType.TOOL_RESULT, EventRole.TOOL
        yield from self._event(block, event_type, text, role, metadata)

    def _event(
        self,
        block: Block,
        event_type: EventType,
        text: str,
        role: EventRole,
        metadata: dict[str, str],
    ) -> Iterator[ParsedItem]:
        assert self._started is not None
        self._number += 1
        if not self._is_introduced:
            self._is_introduced = True
            yield self._facts(self._started)
        try:
            yield events.make(
                agent=AGENT,
                session_id=self._session_id(self._started),
                timestamp=self._started + self._number * _MILLISECOND,
                event_type=event_type,
                text=text,
                source_key=f"{self._number}\n{text}",
                role=role,
                metadata=metadata,
                ordinal=self._number,
            )
        except EventRefused as refusal:
            yield InvalidRecord(str(refusal), block.line)

    def _session_id(self, started: datetime) -> str:
        return f"{started:%Y-%m-%dT%H-%M-%S}-{self._folder.name}"

    def _facts(self, started: datetime) -> SessionMetadata:
        return SessionMetadata(
            agent=AGENT,
            session_id=self._session_id(started),
            cwd=str(self._folder),
            model=self._model,
            at=started,
        )
