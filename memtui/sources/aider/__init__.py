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

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path, PurePath

from memtui.memory import events
from memtui.memory.events import EventRefused, EventRole, EventType
from memtui.memory.sessions import SessionFacts
from memtui.sources import lines, tool_calls
from memtui.sources.aider import blocks as blocks
from memtui.sources.aider.blocks import Block, Kind, Lines
from memtui.sources.lines import Form
from memtui.sources.records import Cursor, Left, Reading, Record, Refused
from memtui.sources.source import TRANSCRIPT, Source

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
    return blocks.header(first) is not None


def read(
    path: Path, start: Cursor | None, *, agent: str, now: datetime
) -> Iterator[Reading]:
    """Read one history; see ``memtui.sources.source.Read``."""
    written_at = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    is_settled = abs(now - written_at) > PATIENCE
    form = Form(_lines, lambda raw: len(raw) if is_settled else 0)
    folder = path.resolve().parent
    return lines.read(path, start, partial(_History, folder, is_settled, now), form)


SOURCE = Source(AGENT, "Aider", TRANSCRIPT, _may_be, fits, read)


def _lines(raw: bytes, number: int) -> Iterator[Record | Refused]:
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

    def take(self, record: Record) -> Iterator[Reading]:
        """Read one line."""
        text = str(record.fields["text"])
        said = blocks.header(text)
        if said is None:
            if block := self._lines.add(text, record.line):
                yield from self._told(block)
            return
        yield from self._ended()
        yield from self._begun(said, record.line)

    def rest(self) -> Iterator[Reading]:
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

    def _begun(self, said: str, line: int) -> Iterator[Reading]:
        """Begin a session, unless it is the one that was begun in the same second."""
        at = blocks.local_time(said)
        if at and at == self._started:
            yield Left("header", line)
            return
        if self._started and self._number:
            yield self._facts(self._started)
        self._started, self._number, self._command, self._model = None, 0, "", ""
        self._is_introduced = False
        if at is None:
            self._refusal = "a bad timestamp"
        elif events.is_too_late(at, self._now):
            self._refusal = "a timestamp in the future"
        else:
            self._started = at
            yield Left("header", line)
            return
        yield Refused(self._refusal, line, at)

    def _ended(self) -> Iterator[Reading]:
        block = self._lines.close()
        if block:
            yield from self._told(block)

    def _told(self, block: Block) -> Iterator[Reading]:
        if self._started is None:
            yield Refused(self._refusal, block.line)
        elif block.kind is Kind.ASSISTANT:
            event_type, role = EventType.ASSISTANT_MESSAGE, EventRole.ASSISTANT
            yield from self._event(block, event_type, block.text, role, {})
        elif block.kind is Kind.PERSON:
            yield from self._person(block)
        else:
            yield from self._own(block)

    def _person(self, block: Block) -> Iterator[Reading]:
        """What was typed: words for the assistant, or a command for Aider alone."""
        self._command = block.text if blocks.is_command(block.text) else ""
        if not block.text.strip() or block.text == blocks.BLANK:
            yield Left("an empty prompt", block.line)
            return
        role = EventRole.SYSTEM if self._command else EventRole.USER
        about = {"kind": "command"} if self._command else {}
        yield from self._event(block, EventType.USER_MESSAGE, block.text, role, about)

    def _own(self, block: Block) -> Iterator[Reading]:
        """What Aider did, and what it merely noted."""
        done, noted = blocks.deeds(block, self._command, is_first=not self._number)
        self._model = blocks.model(block.lines) or self._model
        yield from [Left("notice", block.line)] * noted
        if not done:
            return
        given = {"command": self._command} if self._command else {}
        call = tool_calls.call("", AGENT, given)
        self._command = ""
        is_error = "true" if blocks.tells_error(done) else ""
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
    ) -> Iterator[Reading]:
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
                key=f"{self._number}\n{text}",
                role=role,
                metadata=metadata,
                ordinal=self._number,
            )
        except EventRefused as refusal:
            yield Refused(str(refusal), block.line)

    def _session_id(self, started: datetime) -> str:
        return f"{started:%Y-%m-%dT%H-%M-%S}-{self._folder.name}"

    def _facts(self, started: datetime) -> SessionFacts:
        return SessionFacts(
            agent=AGENT,
            session_id=self._session_id(started),
            cwd=str(self._folder),
            model=self._model,
            at=started,
        )
