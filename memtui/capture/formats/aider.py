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
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path, PurePath

from memtui.capture.formats import jsonl
from memtui.capture.formats.base import (
    HOLD_TIME,
    Cursor,
    InvalidRecord,
    ParsedItem,
    Position,
    Record,
    SkippedRecord,
    Source,
    SourceFormat,
    State,
    ToolCall,
    count_words,
    parse_time,
)
from memtui.capture.formats.jsonl import RecordReader
from memtui.capture.formats.prompts import parse_prompt
from memtui.model import events
from memtui.model.events import EventRefused, EventRole, EventType
from memtui.model.sessions import SessionMetadata
from memtui.model.tool_calls import decide_ending

AGENT = "aider"
FILE_NAME = ".aider.chat.history.md"

_EMPTY_PROMPT = "<blank>"

_HEADER = re.compile(r"# aider chat started at (.+)")

_LINE_END = "  "

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
    r"|You can use /undo"
)
"""Lines about Aider's own state, and its questions."""

_ERROR = re.compile(
    r"The LLM did not conform|# ?\d+ SEARCH/REPLACE blocks? failed|litellm\.\w+"
    r"|(?:\w+\.)*\w*Error\b|Traceback |Unable to |.* file not found|Can't initialize"
)

_EDITED = re.compile(r"Applied edit to (.+)")

_MODEL = re.compile(r"(?:Main model|Model): (\S+)")

_HEAD_BYTES = 4096

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
        is_settled = _is_settled(path, now)
        make_reader = partial(_HistoryReader, Source(path, AGENT, now))
        return jsonl.read_lines(path, start, make_reader, _HistoryParser(is_settled))


FORMAT = AiderFormat()


def _is_settled(path: Path, now: datetime) -> bool:
    """Return whether the last block of a file is complete."""
    written_at = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    return abs(now - written_at) > HOLD_TIME


@dataclass(frozen=True, slots=True)
class _HistoryParser(jsonl.LineParser):
    """Parses the lines of a history; the last one is complete if it is settled."""

    is_settled: bool

    def records(self, raw: bytes, number: int) -> Iterator[Record | InvalidRecord]:
        text = raw.decode("utf-8", "replace").removesuffix("\n").removesuffix("\r")
        text = text.removeprefix("\ufeff") if number == 1 else text
        yield Record(number, {"text": text})

    def complete_bytes(self, raw: bytes) -> int:
        return len(raw) if self.is_settled else 0


USER, ASSISTANT, AIDER = "user", "assistant", "aider"


@dataclass(slots=True)
class _Block:
    """Consecutive lines of one writer, without their marks."""

    writer: str = ""
    line: int = 0
    lines: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n".join(self.lines).strip("\n")


class _HistoryReader(RecordReader):
    def __init__(self, source: Source, context: State) -> None:
        super().__init__(source, context)
        self._folder = source.path.resolve().parent
        self._is_settled = _is_settled(source.path, source.now)
        self._started = parse_time(context.get("started"))
        self._events: int = context.get("events", 0)
        self._error: str = context.get("error", "no session it belongs to")
        """The reason that blocks are invalid while no session is open."""
        self._model: str = context.get("model", "")
        self._has_line_ends: bool = context.get("has_line_ends", False)
        """Lines of this session were seen to end with two spaces."""
        self._after_blank: bool = context.get("after_blank", False)
        self._command = ""
        self._is_introduced = False
        self._block = _Block()
        """The block that the next line may continue."""
        self._is_fenced = False
        """A code block of the assistant is not closed yet."""

    @property
    def is_open(self) -> bool:
        return self.holds_text or bool(self._command)

    @property
    def holds_text(self) -> bool:
        return bool(self._block.lines)

    @property
    def needs_reread(self) -> bool:
        return self.holds_text or not self._is_settled

    def context(self) -> State:
        return {
            "started": self._started.isoformat() if self._started else None,
            "events": self._events,
            "error": self._error,
            "model": self._model,
            "has_line_ends": self._has_line_ends,
            "after_blank": self._after_blank,
        }

    def finish(self) -> Iterator[ParsedItem]:
        if self._is_settled:
            yield from self._close()
        yield from self.facts_so_far()

    def read_record(self, record: Record) -> Iterator[ParsedItem]:
        text = str(record.fields["text"])
        if match := _HEADER.fullmatch(text):
            yield from self._close()
            yield from self._header(match[1], record.line)
            return
        writer, text = self._parse_line(text)
        if writer == ASSISTANT and self._continues_command():
            writer = AIDER
        if not writer:
            if self._block.writer == USER:
                yield from self._close()
            elif self._block.writer == ASSISTANT:
                self._block.lines.append("")
            self._after_blank = True
            return
        if writer != self._block.writer:
            yield from self._close()
        if not self._block.lines:
            self._block = _Block(writer, record.line)
        self._block.lines.append(text)
        self._after_blank = False
        is_fence = _FENCE.match(text) is not None
        self._is_fenced = writer == ASSISTANT and self._is_fenced != is_fence

    def _continues_command(self) -> bool:
        """Return whether a line is part of the command that began the session."""
        is_start = not self._events and self._block.writer == AIDER
        return is_start and (
            not self._after_blank or "--message" in self._block.lines[0]
        )

    def _parse_line(self, line: str) -> tuple[str, str]:
        for mark, writer in (("####", USER), (">", AIDER)):
            if line != mark and not line.startswith(f"{mark} "):
                continue
            has_line_end = line.endswith(_LINE_END)
            self._has_line_ends = self._has_line_ends or has_line_end
            if has_line_end or not (self._has_line_ends or self._is_fenced):
                text = line[len(mark) + 1 :]
                is_user = writer == USER
                return writer, text.removesuffix(
                    _LINE_END
                ) if is_user else text.rstrip()
        return (ASSISTANT, line) if line.strip() else ("", "")

    def _header(self, time: str, line: int) -> Iterator[ParsedItem]:
        """Begin a session, unless it is the one begun in the same second."""
        at = _local_time(time)
        if at and at == self._started:
            yield SkippedRecord("header", line, is_stored_elsewhere=True)
            return
        yield from self.facts_so_far()
        self._started, self._events, self._command, self._model = None, 0, "", ""
        self._is_introduced = False
        try:
            if at is None:
                raise EventRefused("a bad timestamp")
            events.require_past(at, self.now)
        except EventRefused as error:
            self._error = str(error)
            yield InvalidRecord.refused(error, line)
        else:
            self._started = at
            yield SkippedRecord("header", line, is_stored_elsewhere=True)

    def _close(self) -> Iterator[ParsedItem]:
        block, self._block, self._after_blank = self._block, _Block(), False
        self._is_fenced = False
        if not block.text.strip():
            return
        if self._started is None:
            yield InvalidRecord(self._error, block.line)
        elif block.writer == ASSISTANT:
            self._command = ""
            yield from self._event(block, EventType.ASSISTANT_MESSAGE, block.text)
        elif block.writer == USER:
            yield from self._user(block)
        else:
            yield from self._aider(block)

    def _user(self, block: _Block) -> Iterator[ParsedItem]:
        self._command = block.text if _is_command(block.text) else ""
        if block.text == _EMPTY_PROMPT:
            yield SkippedRecord("an empty prompt", block.line)
            return
        kind = "command" if self._command else ""
        prompt = parse_prompt(block.text, kind)
        yield from self._event(
            block,
            EventType.USER_MESSAGE,
            prompt.text,
            role=prompt.role,
            metadata=prompt.metadata,
        )

    def _aider(self, block: _Block) -> Iterator[ParsedItem]:
        """Read what Aider did, and count its notices."""
        lines = [line for line in block.lines if line.strip()]
        models = (_MODEL.match(line) for line in lines)
        self._model = next((match[1] for match in models if match), self._model)
        notices: list[str] = []
        if not self._command.startswith(_OUTPUT_COMMANDS):
            # A session begins with notices.
            notices = [ln for ln in lines if not self._events or _NOTICE.match(ln)]
        output = [line for line in lines if line not in notices]
        for notice in notices:
            yield SkippedRecord("notice", block.line, count_words(notice))
        for line in output:
            if match := _EDITED.fullmatch(line):
                call = ToolCall.make("", "edit", {"file_path": match[1]})
                yield from self._call(block, call, [line])
        if other := [line for line in output if not _EDITED.fullmatch(line)]:
            tool_input = {"command": self._command} if self._command else {}
            yield from self._call(block, ToolCall.make("", AGENT, tool_input), other)
            self._command = ""

    def _call(
        self, block: _Block, call: ToolCall, lines: Sequence[str]
    ) -> Iterator[ParsedItem]:
        has_failed = any(map(_ERROR.match, lines)) or None
        call = replace(call, ending=decide_ending(has_failed=has_failed))
        metadata = call.metadata()
        text, kind = call.text("\n".join(lines)), EventType.TOOL_RESULT
        yield from self._event(block, kind, text, metadata=metadata)

    def _event(
        self,
        block: _Block,
        event_type: EventType,
        text: str,
        *,
        role: EventRole | None = None,
        metadata: Mapping[str, str] | None = None,
    ) -> Iterator[ParsedItem]:
        if self._started is None:
            return
        self._events += 1
        if not self._is_introduced:
            self._is_introduced = True
            yield from self.facts_so_far()
        at = self._started + self._events * _MILLISECOND
        yield self.builder.event(
            Position(block.line, at, self._session_id(self._started)),
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

    def facts_so_far(self) -> Iterator[ParsedItem]:
        if self._started and self._events:
            yield SessionMetadata(
                agent=AGENT,
                session_id=self._session_id(self._started),
                cwd=str(self._folder),
                model=self._model,
                at=self._started,
            )


def _local_time(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text.strip()).astimezone()
    except (ValueError, OverflowError, OSError):
        return None


def _is_command(prompt: str) -> bool:
    if prompt.startswith("!"):
        return True
    word, *arguments = prompt.split(None, 1) or [""]
    if re.fullmatch(r"/[a-z-]+", word) is None:
        return False
    return word not in _CHAT_COMMANDS or not arguments
