"""Aider's chat history: one Markdown file a project, appended to by every session.

``.aider.chat.history.md`` is in each project's folder. A session begins with
``# aider chat started at 2024-08-05 19:33:02``; lines that begin with ``####`` were
typed by the user, those with ``>`` are Aider's own output, and the rest is the
assistant's. Aider ends lines of the first two kinds with two spaces, which tells them
from headings and quotations of the assistant.

The only times are those of the headers, in local time. The events of a session follow
each other by a millisecond, which keeps their order. A session's id is made of the
header's time and the folder's name, so that it is the same in a copy of the folder and
different in another project.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import partial
from pathlib import Path, PurePath

from memtui.capture.formats import jsonl
from memtui.capture.formats.base import (
    HOLD_TIME,
    IN_THE_FUTURE,
    Cursor,
    EventBuilder,
    InvalidRecord,
    ParsedItem,
    Position,
    Record,
    SkippedRecord,
    SourceFormat,
    ToolCall,
)
from memtui.model import events
from memtui.model.events import EventRole, EventType
from memtui.model.sessions import SessionMetadata

AGENT = "aider"
FILE_NAME = ".aider.chat.history.md"

_EMPTY_PROMPT = "<blank>"
"""Aider's mark for a prompt without text."""

_HEADER = re.compile(r"# aider chat started at (.+?)\s*")

_LINE_END = "  "
"""The end of lines by the user and by Aider."""

_FENCE = re.compile(r"\s*(?:```|~~~)")

_CHAT_COMMANDS = frozenset(
    {"/ask", "/code", "/architect", "/context", "/copy-context", "/help", "/web"}
)
"""Commands whose text, if there is any, goes to the assistant."""

_OUTPUT_COMMANDS = tuple(
    ["/run", "/test", "/lint", "/git", "/commit", "/diff", "/undo", "/voice", "!"]
)
"""Commands after which all of Aider's lines are their output."""

_NOTICE = re.compile(
    r"$|\^C|KeyboardInterrupt|Tokens: |Cost: |Aider v\d|aider\b|/\S*/aider |Model: "
    r"|(?:Main|Weak|Editor) model: |Models?: |Git (?:repo|working dir): |Repo-map: "
    r"|Use /help|You can skip this check|Initial repo scan|Error checking pypi"
    r"|Warning: |https?://\S+$|Newer aider version|Restored previous conversation"
    r"|.* is already in the chat|.*\]: \w*$|Use a different|VSCode terminal|Update "
    r"|Detected dumb terminal|Cur working dir: |Multiline mode|Summariz"
)
"""Lines about Aider's own state, and its questions."""

_ERROR = re.compile(
    r"The LLM did not conform|# ?\d+ SEARCH/REPLACE blocks? failed|litellm\.\w+"
    r"|(?:\w+\.)*\w*Error\b|Traceback |Unable to |.* file not found|Can't initialize"
)

_MODEL = re.compile(r"(?:Main model|Model): (\S+)")

_HEAD_BYTES = 4096
"""The part of a file that is read to recognize it."""

_MILLISECOND = timedelta(milliseconds=1)


class AiderFormat(SourceFormat):
    name, title = AGENT, "Aider"

    def matches_path(self, path: PurePath) -> bool:
        return path.name == FILE_NAME

    def matches_content(self, path: Path, head: Sequence[Record]) -> bool:
        with path.open("rb") as file:
            text = file.read(_HEAD_BYTES).decode("utf-8", "replace")
        first_line = text.lstrip("\ufeff\r\n ").partition("\n")[0]
        return _HEADER.fullmatch(first_line) is not None

    def read(
        self, path: Path, start: Cursor | None, *, agent: str, now: datetime
    ) -> Iterator[ParsedItem]:
        written_at = datetime.fromtimestamp(path.stat().st_mtime, UTC)
        is_settled = abs(now - written_at) > HOLD_TIME
        parser = jsonl.LineParser(
            _parse_line, lambda raw: len(raw) if is_settled else 0
        )
        folder = path.resolve().parent
        make_reader = partial(_HistoryReader, folder, is_settled, now)
        return jsonl.read_lines(path, start, make_reader, parser)


FORMAT = AiderFormat()


def _parse_line(raw: bytes, number: int) -> Iterator[Record | InvalidRecord]:
    text = raw.decode("utf-8", "replace").removesuffix("\n").removesuffix("\r")
    yield Record(number, {"text": text.removeprefix("\ufeff") if number == 1 else text})


class _Writer(StrEnum):
    USER = "user"
    ASSISTANT = "assistant"
    AIDER = "aider"


@dataclass(frozen=True, slots=True)
class _Block:
    """Consecutive lines of one writer, without their marks."""

    writer: _Writer
    line: int
    """The number of the first line."""
    lines: Sequence[str]

    @property
    def text(self) -> str:
        return "\n".join(self.lines).strip("\n")


class _HistoryReader:
    def __init__(
        self, folder: Path, is_settled: bool, now: datetime, state: Mapping[str, object]
    ) -> None:
        self._folder, self._is_settled, self._now = folder, is_settled, now
        self._builder = EventBuilder(AGENT, now)
        self._blocks = _BlockBuilder(state.get("block"))
        started, events_made = state.get("started"), state.get("events")
        self._started = (
            datetime.fromisoformat(started) if isinstance(started, str) else None
        )
        self._events = events_made if isinstance(events_made, int) else 0
        """The number of events made of this session."""
        self._error = str(state.get("error") or "no session it belongs to")
        """The reason that blocks are invalid while no session is open."""
        self._command = str(state.get("command") or "")
        """The user's latest command to Aider itself."""
        self._model = str(state.get("model") or "")
        self._is_introduced = False

    @property
    def needs_reread(self) -> bool:
        return self._blocks.is_open or not self._is_settled

    def state(self) -> Mapping[str, object]:
        return {
            "started": self._started.isoformat() if self._started else None,
            "events": self._events,
            "error": self._error,
            "command": self._command,
            "model": self._model,
            "block": self._blocks.state(),
        }

    def finish(self) -> Iterator[ParsedItem]:
        if self._is_settled:
            yield from self._block(self._blocks.close())
        if self._started and self._events:
            yield self._session_facts(self._started)

    def read_record(self, record: Record) -> Iterator[ParsedItem]:
        text = str(record.fields["text"])
        if match := _HEADER.fullmatch(text):
            yield from self._block(self._blocks.close())
            yield from self._header(match[1], record.line)
        else:
            yield from self._block(self._blocks.add(text, record.line))

    def _header(self, time: str, line: int) -> Iterator[ParsedItem]:
        """Begin a session, unless it is the one begun in the same second."""
        at = _local_time(time)
        if at and at == self._started:
            yield SkippedRecord("header", line)
            return
        if self._started and self._events:
            yield self._session_facts(self._started)
        self._started, self._events, self._command, self._model = None, 0, "", ""
        self._is_introduced = False
        if at is None:
            self._error = "a bad timestamp"
        elif events.is_in_future(at, self._now):
            self._error = IN_THE_FUTURE
        else:
            self._started = at
            yield SkippedRecord("header", line)
            return
        yield InvalidRecord(self._error, line)

    def _block(self, block: _Block | None) -> Iterator[ParsedItem]:
        if block is None:
            return
        if self._started is None:
            yield InvalidRecord(self._error, block.line)
        elif block.writer is _Writer.ASSISTANT:
            kind = EventType.ASSISTANT_MESSAGE
            yield from self._event(self._started, block, kind, block.text)
        elif block.writer is _Writer.USER:
            yield from self._user(self._started, block)
        else:
            yield from self._aider(self._started, block)

    def _user(self, started: datetime, block: _Block) -> Iterator[ParsedItem]:
        """Read a prompt, or a command to Aider itself."""
        self._command = block.text if _is_command(block.text) else ""
        if not block.text.strip() or block.text == _EMPTY_PROMPT:
            yield SkippedRecord("an empty prompt", block.line)
            return
        yield from self._event(
            started,
            block,
            EventType.USER_MESSAGE,
            block.text,
            role=EventRole.SYSTEM if self._command else EventRole.USER,
            metadata={"kind": "command" if self._command else ""},
        )

    def _aider(self, started: datetime, block: _Block) -> Iterator[ParsedItem]:
        """Read what Aider did, and count its notices."""
        output, notices = _split_output(block, self._command, is_first=not self._events)
        models = (_MODEL.match(line) for line in block.lines)
        self._model = next((match[1] for match in models if match), self._model)
        yield from [SkippedRecord("notice", block.line)] * notices
        if not output:
            return
        tool_input = {"command": self._command} if self._command else {}
        call = ToolCall.make("", AGENT, tool_input)
        self._command = ""
        is_error = "true" if any(map(_ERROR.match, output)) else ""
        yield from self._event(
            started,
            block,
            EventType.TOOL_RESULT,
            call.text("\n".join(output)),
            metadata=call.metadata(is_error=is_error),
        )

    def _event(
        self,
        started: datetime,
        block: _Block,
        event_type: EventType,
        text: str,
        *,
        role: EventRole | None = None,
        metadata: Mapping[str, str] | None = None,
    ) -> Iterator[ParsedItem]:
        self._events += 1
        if not self._is_introduced:
            self._is_introduced = True
            yield self._session_facts(started)
        at = started + self._events * _MILLISECOND
        yield self._builder.event(
            Position(block.line, at, self._session_id(started)),
            event_type,
            text,
            role=role,
            key=f"{self._events}\n{text}",
            source_id="",
            ordinal=self._events,
            **(metadata or {}),
        )

    def _session_id(self, started: datetime) -> str:
        return f"{started:%Y-%m-%dT%H-%M-%S}-{self._folder.name}"

    def _session_facts(self, started: datetime) -> SessionMetadata:
        return SessionMetadata(
            agent=AGENT,
            session_id=self._session_id(started),
            cwd=str(self._folder),
            model=self._model,
            at=started,
        )


def _local_time(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text).astimezone()
    except (ValueError, OverflowError, OSError):
        return None


def _is_command(prompt: str) -> bool:
    """Return whether a prompt is for Aider itself, not for the assistant."""
    if prompt.startswith("!"):
        return True
    word, *rest = prompt.split(None, 1) or [""]
    if re.fullmatch(r"/[a-z-]+", word) is None:
        return False
    return word not in _CHAT_COMMANDS or not rest


def _split_output(
    block: _Block, command: str, *, is_first: bool
) -> tuple[list[str], int]:
    """Return what Aider did, and how many lines are notices.

    Args:
        block: Lines of Aider.
        command: The user's command just before, if there was one.
        is_first: Whether the session has just begun: then all lines are notices.
    """
    lines = [line for line in block.lines if line.strip()]
    if command.startswith(_OUTPUT_COMMANDS):
        return lines, 0
    output = [] if is_first else [ln for ln in block.lines if not _NOTICE.match(ln)]
    return output, len(lines) - len(output)


@dataclass(slots=True)
class _OpenBlock:
    writer: str = ""
    line: int = 0
    lines: list[str] = field(default_factory=list)
    is_fenced: bool = False
    """A code block of the assistant is not closed yet."""
    has_line_ends: bool = False
    """Lines of this session were seen to end with two spaces."""
    after_blank: bool = False


class _BlockBuilder:
    """Joins lines to blocks."""

    def __init__(self, state: object = None) -> None:
        self._open = _OpenBlock(**state) if isinstance(state, Mapping) else _OpenBlock()

    @property
    def is_open(self) -> bool:
        """There is a block that may go on."""
        return bool(self._open.lines)

    def state(self) -> dict[str, object]:
        return asdict(self._open)

    def add(self, line: str, number: int) -> _Block | None:
        """Add a line; return the block that it ends, if it ends one."""
        block = self._open
        writer, text = self._parse(line)
        if writer is None:
            block.after_blank = True
            if block.writer == _Writer.ASSISTANT:
                block.lines.append("")
            return None
        is_next_prompt = writer is _Writer.USER and block.after_blank
        ended = self.close() if writer != block.writer or is_next_prompt else None
        if not block.lines:
            block.writer, block.line = writer.value, number
        block.lines.append(text)
        block.after_blank = False
        if writer is not _Writer.ASSISTANT:
            block.is_fenced = False
        elif _FENCE.match(text):
            block.is_fenced = not block.is_fenced
        return ended

    def close(self) -> _Block | None:
        """Return the open block, if there is one."""
        block = self._open
        ended = None
        if block.lines:
            ended = _Block(_Writer(block.writer), block.line, block.lines)
        block.writer, block.lines, block.after_blank = "", [], False
        return ended if ended and ended.text.strip() else None

    def _parse(self, line: str) -> tuple[_Writer | None, str]:
        """Return a line's writer and text; a blank line has no writer."""
        block = self._open
        for mark, writer in (("####", _Writer.USER), (">", _Writer.AIDER)):
            if line != mark and not line.startswith(f"{mark} "):
                continue
            has_line_end = line.endswith(_LINE_END)
            block.has_line_ends = block.has_line_ends or has_line_end
            if has_line_end or not (block.has_line_ends or block.is_fenced):
                text = line[len(mark) + 1 :]
                is_aider = writer is _Writer.AIDER
                return writer, text.rstrip() if is_aider else text.removesuffix(
                    _LINE_END
                )
        return (_Writer.ASSISTANT, line) if line.strip() else (None, "")
