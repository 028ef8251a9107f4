"""Line-based files: read them from a cursor on, and parse JSON that may be damaged.

Whatever is complete is read, the rest is reported. Of a last line without its newline
the complete objects are read; the remainder is pending. A file that grows is read on
from the last point where nothing was open (``_Reading``).
"""

import codecs
import errno
import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from io import BytesIO
from pathlib import Path, PurePath
from tempfile import TemporaryFile
from typing import Any, BinaryIO

from zstandard import ZstdDecompressor, ZstdError

from memtui.capture.formats.base import (
    HOLD_TIME,
    JSONL,
    TRANSCRIPT,
    CallBeforeStart,
    Cursor,
    EventBuilder,
    FileReplaced,
    InvalidRecord,
    ParsedItem,
    PendingCalls,
    PendingRecord,
    Position,
    RecentTexts,
    Record,
    SkippedRecord,
    Source,
    SourceFormat,
    State,
    ToolCall,
    as_text,
    count_words,
    parse_time,
)
from memtui.capture.formats.prompts import clean_title
from memtui.files import require_regular_file
from memtui.model.events import Event, EventRefused, Thought, clean
from memtui.model.sessions import SessionMetadata
from memtui.model.tool_calls import UNFINISHED

MAX_RECORD_BYTES = 64 * 1024 * 1024
"""Longer lines are not read: parsing one would take more than a gigabyte of memory."""

MAX_UNPACKED_BYTES = 4 * 1024**3

STATE_VERSION = 4
"""The version of the saved state. Files read by an older one are read again, which
stores nothing twice."""

MAX_OPEN_BYTES = 1024 * 1024
"""The most bytes after a call without a result that every reading reads again."""

COMPRESSED = ".zst"

RECORDS_PER_CURSOR = 500

FINGERPRINT_BYTES = 4096
"""The number of bytes compared at the file's start and before the cursor."""

MAX_JOINED_BYTES = 1024 * 1024
"""The most bytes of a record that is continued on the next lines."""

_MAX_JOININGS = 8
"""The number of times such a record is parsed before it is given up."""

_MAX_TEARS = 100
"""The most damaged parts of a line that records are looked for behind: each takes the
decoder time for what stands before it."""

TOO_DEEP = "nested too deeply"
_NOT_JSON = "not valid JSON"
_DECODER = json.JSONDecoder(strict=False)

_OBJECT_START = re.compile(r'\{\s*+"')

_STRING_OR_BRACKET = re.compile(r'"(?:[^"\\]++|\\.)*+"|["{}\[\]]', re.DOTALL)
"""A string, a bracket, or the quote of a string that does not end."""

_SEPARATORS = "\ufeff \t\r\n\0,"
"""Characters that may stand between the objects of a line, and around them."""


class RecordReader:
    """Reads the records of one file, in their order.

    A reader saves none of the texts that it has read. Reading goes on later with a new
    reader, from the last point where nothing was open: no call without its result, no
    message that may continue. What follows that point is read again.
    """

    def __init__(self, source: Source, context: State) -> None:
        self.path, self.now = source.path, source.now
        self.builder = EventBuilder(source.agent, source.now)
        self.calls = PendingCalls()
        self.yielded_at_end: set[str] = set()
        """The ids of the events that ``finish`` yielded in earlier readings, and the
        reasons of invalid ones."""

    @property
    def needs_reread(self) -> bool:
        """True if ``finish`` will yield something a little later."""
        return self.holds_text or any(map(self._may_end_soon, self.calls))

    @property
    def is_open(self) -> bool:
        """True if a new reader could not begin with the next record."""
        return bool(self.calls)

    @property
    def holds_text(self) -> bool:
        """True if a text was read that is not yielded yet."""
        return False

    def context(self) -> State:
        """Return the ids and facts that a new reader needs, as JSON values.

        They contain no text of the conversation, nor titles.
        """
        return {}

    def read_record(self, record: Record) -> Iterator[ParsedItem]:
        """Read one record; EventRefused says why it is invalid."""
        raise NotImplementedError

    def facts_so_far(self) -> Iterator[ParsedItem]:
        """Yield what is known of the sessions."""
        return iter(())

    def finish(self) -> Iterator[ParsedItem]:
        """Yield what is known when there is nothing more to read for now."""
        yield from self.calls_so_far()
        yield from self.facts_so_far()

    def calls_so_far(self) -> Iterator[ParsedItem]:
        """Yield the calls without a result as unfinished, unless they are new.

        They stay open: the result may follow, hours later.
        """
        old = []
        for call in self.calls:
            if self._may_end_soon(call):
                line = call.position.line if call.position else 0
                yield PendingRecord("tool call without a result yet", line)
            else:
                old.append(call)
        yield from self.unfinished_calls(old)

    def unfinished_calls(self, calls: Iterable[ToolCall]) -> Iterator[ParsedItem]:
        """Yield the events of calls without a result, at their own times.

        Those that an earlier reading yielded at its end are left out.
        """
        for number, call in enumerate(calls):
            item = self.unfinished_event(call, number) if call.position else None
            is_known = isinstance(item, Event) and item.event_id in self.yielded_at_end
            if item and not is_known:
                yield item

    def unfinished_event(self, call: ToolCall, number: int) -> ParsedItem:
        """Make the event of a call; the number orders those of one record."""
        assert call.position
        position = replace(call.position, events=number)
        call = replace(call, ending=UNFINISHED)
        return self.builder.tool_result(position, call, "")

    def _may_end_soon(self, call: ToolCall) -> bool:
        return call.position is None or self.now - call.position.at <= HOLD_TIME


IsRecord = Callable[[dict[str, object]], bool]

MakeReader = Callable[[State], RecordReader]
"""Makes a reader that continues with a context; it is empty at a file's start."""


@dataclass(frozen=True)
class JsonLinesFormat(SourceFormat):
    """A format with one JSON object a line."""

    name: str
    title: str
    matches_record: Callable[[dict[str, object]], bool]
    """Returns whether only a file of this format has this record."""
    reader: Callable[[Source, State], RecordReader]
    endings: tuple[str, ...] = (".jsonl",)
    route: str = TRANSCRIPT

    def matches_path(self, path: PurePath) -> bool:
        return path.name.endswith(self.endings)

    def matches_content(self, path: Path, head: Sequence[Record]) -> bool:
        return any(self.matches_record(record.fields) for record in head)

    def read(
        self, path: Path, start: Cursor | None, *, agent: str, now: datetime
    ) -> Iterator[ParsedItem]:
        # Only plain lines may be of another agent.
        source = Source(path, agent if self.route == JSONL else self.name, now)
        parser = JsonParser(self.matches_record)
        return read_lines(path, start, partial(self.reader, source), parser)


class SessionReader(RecordReader):
    """The base of the readers of files with one session each."""

    def __init__(self, source: Source, context: State) -> None:
        super().__init__(source, context)
        self.recent = RecentTexts()
        self.session_id: str = context.get("session", "")
        self.facts: dict[str, str] = dict(context.get("facts", {}))
        self._is_introduced = False

    def context(self) -> State:
        left_out = ("title", "title_at", "is_title_given")
        facts = {name: self.facts[name] for name in self.facts if name not in left_out}
        return {"session": self.session_id, "facts": facts}

    def learn(self, name: str, value: object) -> None:
        """Remember the latest value of one of the session's facts, in one line."""
        text = as_text(value)
        text = clean_title(text) if name == "title" else " ".join(clean(text).split())
        if text:
            self.facts[name] = text

    def introduce(self) -> Iterator[ParsedItem]:
        """Yield the session's facts once, before its first event."""
        if not self._is_introduced:
            self._is_introduced = True
            yield from self.facts_so_far()

    def facts_so_far(self) -> Iterator[ParsedItem]:
        if self.facts.keys() - {"at"} and self.session_id:
            yield self.make_metadata(self.session_id, self.facts)

    def make_metadata(
        self, session_id: str, facts: Mapping[str, str]
    ) -> SessionMetadata:
        values: dict[str, Any] = dict(facts)
        for name in ("at", "title_at"):
            values[name] = parse_time(facts.get(name))
        values["is_title_given"] = "is_title_given" in facts
        return SessionMetadata(self.builder.agent, session_id, **values)

    def notice(
        self, position: Position, kind: str, *texts: object
    ) -> Iterator[ParsedItem]:
        """Make an event of text that the program wrote, if there is any."""
        if text := "\n".join(filter(str.strip, map(as_text, texts))):
            yield self.builder.system_message(position, text, kind)

    def break_off_calls(
        self, position: Position, *, with_subagents: bool = False
    ) -> Iterator[ParsedItem]:
        """Yield the open calls of a conversation, which will get no result."""
        conversation = position.session_id, position.subagent
        calls = self.calls.pop_conversation(
            *conversation, with_subagents=with_subagents
        )
        yield from self.unfinished_calls(calls)


class LineParser:
    """Turns the lines of a file into records; the base class of two kinds of files."""

    def records(self, raw: bytes, number: int) -> Iterator[Record | InvalidRecord]:
        """Parse one line, given its number."""
        raise NotImplementedError

    def complete_bytes(self, raw: bytes) -> int:
        """Return how much of a last line without a newline is complete."""
        raise NotImplementedError

    def is_cut_off(self, raw: bytes) -> bool:
        """Return whether lines end within a record, which the next may continue."""
        return False

    def begins_record(self, raw: bytes) -> bool:
        """Return whether a line begins with a complete record."""
        return True


def read_lines(
    path: Path, start: Cursor | None, make_reader: MakeReader, parser: LineParser
) -> Iterator[ParsedItem]:
    """Read a file from a cursor to its end.

    Yields:
        The items, and a cursor every few hundred records and at the end; first of all
        ``FileReplaced`` if the file no longer begins with what was read before.

    Raises:
        OSError: The file cannot be read.
    """
    with _open(path) as (file, damage):
        if damage:
            yield InvalidRecord(damage)
        cursor = start or Cursor()
        reason = _replacement(file, cursor) if cursor.offset else ""
        records = _read_array(file, path) if isinstance(parser, JsonParser) else None
        if records is not None:
            is_unchanged = cursor.offset == file.seek(0, os.SEEK_END)
            if cursor.offset and not reason:
                if is_unchanged and not cursor.needs_reread:
                    yield cursor
                    return
                reason = "an array is always read from its start"
        if reason:
            yield FileReplaced(reason)
            cursor = Cursor()
        if records is not None:
            yield from _read_whole(file, records, make_reader({}))
            return
        reading = _Reading(file, make_reader, parser)
        # Nothing will be added to a compressed file.
        is_whole = path.suffix == COMPRESSED
        try:
            yield from reading.read_on(cursor, is_whole=is_whole)
        except CallBeforeStart:
            yield FileReplaced("a call began before what was read again")
            yield from reading.read_on(Cursor(), is_whole=is_whole)


def _read_whole(
    file: BinaryIO, records: Iterable[Record | InvalidRecord], reader: RecordReader
) -> Iterator[ParsedItem]:
    for record in records:
        yield from read_one(reader, record)
    yield from _finish(reader)
    offset = file.seek(0, os.SEEK_END)
    yield Cursor(offset, 0, _fingerprint(file, offset), {}, reader.needs_reread)


@contextmanager
def _open(path: Path) -> Iterator[tuple[BinaryIO, str]]:
    """Open a file for reading; a compressed one is unpacked into a temporary file.

    Of a damaged one, what comes before the damage is unpacked. The other value says
    what the damage is.
    """
    with require_regular_file(path).open("rb") as file:
        if path.suffix != COMPRESSED:
            yield file, ""
            return
        damage = ""
        with TemporaryFile() as unpacked:
            try:
                for chunk in ZstdDecompressor().read_to_iter(file):
                    if unpacked.tell() > MAX_UNPACKED_BYTES:
                        raise OSError(errno.EFBIG, "too large when unpacked", str(path))
                    unpacked.write(chunk)
            except ZstdError as error:
                damage = f"damaged: {error}"
                if not unpacked.tell():
                    raise OSError(errno.EIO, damage, str(path)) from error
            unpacked.seek(0)
            yield unpacked, damage


def _read_array(file: BinaryIO, path: Path) -> list[Record | InvalidRecord] | None:
    """Return the records of a file that is one JSON array of objects, else None.

    Other values among the objects are invalid records. What follows damage is not read.
    """
    file.seek(0)
    start = file.read(FINGERPRINT_BYTES).decode("utf-8", "replace")
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    if not start.lstrip(_SEPARATORS).startswith("[") or size > MAX_RECORD_BYTES:
        return None
    text = file.read().decode("utf-8", "replace")
    file.seek(0)
    records: list[Record | InvalidRecord] = []
    at, reason = text.index("[") + 1, ""
    while not reason and not text.startswith("]", at := _skip_separators(text, at)):
        try:
            value, at = _DECODER.raw_decode(text, at)
            records.append(as_record(value, len(records) + 1))
        except (ValueError, RecursionError):
            reason = "the array is cut off or damaged"
    if not any(isinstance(record, Record) for record in records):
        return None
    if not reason and text[at + 1 :].strip(_SEPARATORS):
        if path.suffix != ".json":
            return None
        reason = "text after the end of an array"
    line = text.count("\n", 0, at) + 1
    return [*records, InvalidRecord(reason, line)] if reason else records


def _finish(reader: RecordReader) -> Iterator[ParsedItem]:
    """Finish a reading; leave out what an earlier one yielded at its end."""
    for item in reader.finish():
        if isinstance(item, Event):
            name = item.event_id
        elif isinstance(item, InvalidRecord):
            name = f"{item.line}: {item.reason}"
        else:
            yield item
            continue
        if name not in reader.yielded_at_end:
            reader.yielded_at_end.add(name)
            yield item


@dataclass(frozen=True, slots=True)
class _Start:
    """A point at which a new reader can begin."""

    offset: int
    line: int
    context: State
    calls: frozenset[str]
    """The keys of the calls that are open here."""

    @classmethod
    def of(cls, cursor: Cursor) -> "_Start":
        state = cursor.state
        offset, line = state.get("start", (cursor.offset, cursor.line))
        calls = frozenset(state.get("earlier_calls", ()))
        return cls(offset, line, state.get("context", {}), calls)


class _Reading:
    """Reads the lines of one file on from a cursor.

    For example, a file has a prompt, a call without a result, and another prompt::

        1  prompt: Fix the cart
        2  call: npm test
        3  prompt: And be quick

    Both prompts are yielded. The cursor's offset is the end of the file, and its start
    is line 2, because the call is open. When its result has been appended, line 2 and
    3 are read again to find the call, and the call with its result is yielded. Of the
    lines read again, only the facts of sessions are yielded once more.
    """

    def __init__(
        self, file: BinaryIO, make_reader: MakeReader, parser: LineParser
    ) -> None:
        self._file, self._make_reader, self._parser = file, make_reader, parser

    def read_on(self, cursor: Cursor, *, is_whole: bool) -> Iterator[ParsedItem]:
        file, self._start = self._file, _Start.of(cursor)
        self._later: _Start | None = None
        self._read_offset = cursor.offset
        reader = self._reader = self._make_reader(deepcopy(self._start.context))
        reader.calls.earlier = set(self._start.calls)
        reader.yielded_at_end.update(cursor.state.get("yielded_at_end", ()))
        yield from self._read_again(cursor.offset)
        offset, number = cursor.offset, cursor.line
        file.seek(max(0, offset - 1))
        # Only at a line's beginning do all readings, in pieces or not, begin alike.
        is_at_line = not offset or file.read(1) == b"\n"
        is_cut_off = False
        for count, raw in enumerate(_lines(file), 1):
            if is_at_line:
                self._note_start(offset, number)
            records: list[Record | InvalidRecord] | None = None
            lines = 1
            if raw is None:
                size = f"{MAX_RECORD_BYTES // 1024**2} MB"
                records = [InvalidRecord(f"a line longer than {size}", number + 1)]
            elif raw.endswith(b"\n"):
                records, lines = self._parse_lines(file, raw, number + 1)
                if records is None and is_whole:
                    records = self._parse(raw, number + 1)
            if raw and records is None:
                complete = self._parser.complete_bytes(raw)
                yield from self._read_records(self._parse(raw[:complete], number + 1))
                offset += complete
                is_at_line = is_at_line and not complete
                is_cut_off = bool(decode(raw[complete:]))
                break
            yield from self._read_records(records or ())
            offset = file.tell()
            number, is_at_line = number + lines, True
            if count % RECORDS_PER_CURSOR == 0:
                yield from reader.facts_so_far()
                self._note_start(offset, number)
                yield self._cursor(offset, number)
                file.seek(offset)
        yield from _finish(reader)
        if is_at_line:
            self._note_start(offset, number)
        if is_cut_off:
            kind = InvalidRecord if is_whole else PendingRecord
            yield kind("the last line is cut off", number + 1)
        yield replace(self._cursor(offset, number), needs_reread=reader.needs_reread)

    def _read_again(self, end: int) -> Iterator[SessionMetadata]:
        start, number = self._start.offset, self._start.line
        self._file.seek(start)
        file = BytesIO(self._file.read(end - start))
        offset = start
        for raw in _lines(file):
            self._note_start(offset, number)
            records, lines = self._parse_lines(file, raw or b"", number + 1)
            offset, number = start + file.tell(), number + lines
            for item in self._read_records(records or ()):
                if isinstance(item, SessionMetadata):
                    yield item

    def _read_records(
        self, records: Iterable[Record | InvalidRecord]
    ) -> Iterator[ParsedItem]:
        for record in records:
            yield from read_one(self._reader, record)

    def _parse(self, raw: bytes, number: int) -> list[Record | InvalidRecord]:
        return list(self._parser.records(raw, number)) if raw else []

    def _parse_lines(
        self, file: BinaryIO, raw: bytes, number: int
    ) -> tuple[list[Record | InvalidRecord] | None, int]:
        """Parse a line, joined with those after it that continue its last record.

        Returns the records and the number of lines; None for the records if the end of
        the file leaves open whether the last one is continued.
        """
        records = self._parse(raw, number)
        if not _ends_damaged(records) or not self._parser.is_cut_off(raw):
            return records, 1
        after, joined, attempts = file.tell(), bytearray(raw), 0
        for count, line in enumerate(_lines(file), 2):
            if line is None or len(joined) + len(line) > MAX_JOINED_BYTES:
                break
            if self._parser.begins_record(line):
                break
            if not line.endswith(b"\n"):
                return None, 1
            joined += line
            # The record cannot end in a line without a brace.
            if b"}" not in line:
                continue
            continued = self._parse(bytes(joined), number)
            if not _ends_damaged(continued):
                return continued, count
            attempts += 1
            is_open = self._parser.is_cut_off(bytes(joined))
            if attempts == _MAX_JOININGS or not is_open:
                break
        else:
            return None, 1
        file.seek(after)
        return records, 1

    def _note_start(self, offset: int, number: int) -> None:
        """Note that the next reading could begin here.

        A call that never ends must not keep its file from being read on. Once much
        follows it, the next reading starts in the middle of what is open. If the result
        comes after all, the file is read from its beginning once more.
        """
        reader, open_bytes = self._reader, offset - self._start.offset
        if not reader.is_open:
            self._start, self._later = self._make_start(offset, number), None
            if offset >= self._read_offset:
                reader.yielded_at_end.clear()
        elif self._later and open_bytes > MAX_OPEN_BYTES:
            self._start, self._later = self._later, None
        elif not (self._later or reader.holds_text) and (
            open_bytes > MAX_OPEN_BYTES // 2
        ):
            self._later = self._make_start(offset, number)

    def _make_start(self, offset: int, number: int) -> _Start:
        calls = self._reader.calls.awaited_keys()
        return _Start(offset, number, self._reader.context(), calls)

    def _cursor(self, offset: int, number: int) -> Cursor:
        start, fingerprint = self._start, _fingerprint(self._file, offset)
        state: State = {}
        if start.context or start.offset < offset:
            state = {
                "version": STATE_VERSION,
                "start": (start.offset, start.line),
                "context": deepcopy(start.context),
                "earlier_calls": sorted(
                    start.calls & self._reader.calls.awaited_keys()
                ),
                "yielded_at_end": sorted(self._reader.yielded_at_end),
            }
        return Cursor(offset, number, fingerprint, state)


def read_one(
    reader: RecordReader, record: Record | InvalidRecord
) -> Iterator[ParsedItem]:
    """Read one record, or report that it is invalid.

    The words of records that are not stored are counted.
    """
    if isinstance(record, InvalidRecord):
        yield record
        return
    is_counted = False
    try:
        for item in reader.read_record(record):
            if isinstance(item, Event | Thought):
                is_counted = True
            elif isinstance(item, SkippedRecord):
                if not (is_counted or item.words or item.is_stored_elsewhere):
                    item = replace(item, words=count_words(record.fields))
                is_counted = True
            yield item
    except EventRefused as error:
        yield InvalidRecord.refused(error, record.line)
    except RecursionError:
        yield InvalidRecord(TOO_DEEP, record.line)


def _lines(file: BinaryIO) -> Iterator[bytes | None]:
    while raw := file.readline(MAX_RECORD_BYTES):
        if len(raw) == MAX_RECORD_BYTES and not raw.endswith(b"\n"):
            while (part := file.readline(MAX_RECORD_BYTES)) and part[-1:] != b"\n":
                pass
            yield None
        else:
            yield raw


def _replacement(file: BinaryIO, cursor: Cursor) -> str:
    """Return why a file is not the one that was read up to a cursor; "" if it is."""
    if os.fstat(file.fileno()).st_size < cursor.offset:
        return "the file is shorter than it was"
    if cursor.state and cursor.state.get("version") != STATE_VERSION:
        return "it was read by another version of memtui"
    if _fingerprint(file, cursor.offset) != cursor.fingerprint:
        return "the file was rewritten"
    return ""


def _fingerprint(file: BinaryIO, offset: int) -> str:
    """Hash a file's beginning and the bytes just before an offset.

    Rewriting the middle of a file nearly always moves what comes after it.
    """
    file.seek(0)
    digest = hashlib.blake2b(file.read(min(FINGERPRINT_BYTES, offset)), digest_size=16)
    file.seek(max(0, offset - FINGERPRINT_BYTES))
    digest.update(file.read(min(FINGERPRINT_BYTES, offset)))
    return digest.hexdigest()


def read_head(path: Path, limit: int) -> list[Record]:
    """Return the records among a file's first lines, to recognize its format."""
    with _open(path) as (file, _):
        values = _read_array(file, path)
        if values is not None:
            return [record for record in values if isinstance(record, Record)][:limit]
        records: list[Record] = []
        for number, raw in enumerate(_lines(file), 1):
            parsed = parse_line(raw or b"", number)
            records += [record for record in parsed if isinstance(record, Record)]
            if number >= limit:
                break
    return records


def _is_any(fields: dict[str, object]) -> bool:
    return True


def parse_line(
    raw: bytes, number: int, is_record: IsRecord = _is_any
) -> Iterator[Record | InvalidRecord]:
    """Yield the records of a line, in which damage may stand before whole ones."""
    for part in split_line(decode(raw), is_record):
        yield part.record(number)


_DAMAGE = object()
"""The value of the part of a line that is not JSON."""


@dataclass(frozen=True, slots=True)
class LinePart:
    """A JSON value in a line, or damage between values."""

    value: object
    start: int
    end: int

    def record(self, number: int) -> Record | InvalidRecord:
        if self.value is _DAMAGE:
            return InvalidRecord(_NOT_JSON, number)
        return as_record(self.value, number)


def split_line(
    text: str, is_record: IsRecord, *, is_ended: bool = True
) -> Iterator[LinePart]:
    """Split a line into JSON values and damage.

    A program that is killed while it writes a record may write the next one after it::

        {"type": "user", "content": "Fix th{"type": "assistant", "content": "Done."}

    The torn one ends where JSON becomes invalid: at the next one's brace, or, within a
    string, after its first quote. If it is torn where a value may follow, the next one
    is read as this value. What else is found in damage must be a record, because it may
    be part of one. ``is_ended`` says that nothing will be added to the line.
    """
    at, tears, torn_at, is_next = _skip_separators(text, 0), 0, -1, False
    while at < len(text) and tears <= _MAX_TEARS:
        try:
            value, end = _DECODER.raw_decode(text, at)
        except json.JSONDecodeError as error:
            stop = len(text) if _is_at_end(error, text) else error.pos
            tears += 1
            torn_at = at if torn_at < 0 else torn_at
            is_between = error.msg.startswith("Expecting")  # not within a string
            last = _last_object(text, at, stop) if is_between else -1
            if last > at and (is_ended or stop < len(text)):
                value = _DECODER.raw_decode(text, last)[0]
                if is_record(value):
                    yield LinePart(_DAMAGE, torn_at, last)
                    yield LinePart(value, last, stop)
                    torn_at = -1
            at, is_next = _next_object(text, at, stop)
            continue
        except (ValueError, RecursionError):  # a number too long, nested too deeply
            torn_at = at if torn_at < 0 else torn_at
            break
        if torn_at >= 0:
            if not is_next and not (isinstance(value, dict) and is_record(value)):
                at, is_next = _next_object(text, end, end)
                continue
            yield LinePart(_DAMAGE, torn_at, at)
            torn_at = -1
        yield LinePart(value, at, end)
        at = _skip_separators(text, end)
    if torn_at >= 0 or at < len(text):
        yield LinePart(_DAMAGE, torn_at if torn_at >= 0 else at, len(text))


def _is_at_end(error: json.JSONDecodeError, text: str) -> bool:
    """Return whether a text is valid JSON up to its end, where something is missing."""
    return error.pos >= len(text) or error.msg.startswith("Unterminated string")


def _last_object(text: str, at: int, stop: int) -> int:
    """Return where the last object of an incomplete value begins, if it ends with it.

    -1 if it ends with something else.
    """
    last = -1
    if not text[at:stop].rstrip(_SEPARATORS).endswith("}"):
        return last
    opened: list[int] = []
    for match in _STRING_OR_BRACKET.finditer(text, at, stop):
        if match[0] in ("{", "["):
            opened.append(match.start())
        elif match[0] in ("}", "]"):
            last = opened.pop()
    return last


def _next_object(text: str, at: int, stop: int) -> tuple[int, bool]:
    """Return where the next object after a tear begins, and if it is exactly there."""
    brace = text.rfind("{", at + 1, stop)
    if brace >= 0 and text[brace + 1 : stop].strip() == '"':
        return brace, True
    match = _OBJECT_START.search(text, stop)
    return (match.start(), match.start() == stop) if match else (len(text), False)


def _ends_damaged(records: Sequence[Record | InvalidRecord]) -> bool:
    last = records[-1] if records else None
    return isinstance(last, InvalidRecord) and last.reason == _NOT_JSON


def parse_values(text: str) -> Iterator[tuple[object, int]]:
    """Yield the JSON values of a text, each with the position after it."""
    at = _skip_separators(text, 0)
    while at < len(text):
        value, end = _DECODER.raw_decode(text, at)
        at = _skip_separators(text, end)
        yield value, at


def as_record(value: object, number: int) -> Record | InvalidRecord:
    if isinstance(value, dict):
        return Record(number, value)
    return InvalidRecord("not a JSON object", number)


@dataclass(frozen=True, slots=True)
class JsonParser(LineParser):
    """Parses JSON lines of a format whose records a function recognizes."""

    is_record: IsRecord

    def records(self, raw: bytes, number: int) -> Iterator[Record | InvalidRecord]:
        return parse_line(raw, number, self.is_record)

    def complete_bytes(self, raw: bytes) -> int:
        # With surrogateescape, positions in the text can be turned back into bytes.
        text = raw.decode("utf-8", "surrogateescape")
        complete = _skip_separators(text, 0)
        for part in split_line(text, self.is_record, is_ended=False):
            if isinstance(part.value, dict):
                complete = _skip_separators(text, part.end)
            elif part.value is not _DAMAGE:
                break
        return len(text[:complete].encode("utf-8", "surrogateescape"))

    def is_cut_off(self, raw: bytes) -> bool:
        text = decode(raw)
        *_, last = split_line(text, self.is_record)
        try:
            _DECODER.raw_decode(text, last.start)
        except json.JSONDecodeError as error:
            return _is_at_end(error, text)
        except (ValueError, RecursionError):
            pass
        return False

    def begins_record(self, raw: bytes) -> bool:
        try:
            value, _ = next(parse_values(decode(raw)), (None, 0))
        except (ValueError, RecursionError):
            return False
        return isinstance(value, dict) and self.is_record(value)


def _skip_separators(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SEPARATORS:
        at += 1
    return at


def parse_object(raw: object) -> dict[str, object] | None:
    """Parse text that holds one JSON object; None if it does not."""
    try:
        value = json.loads(raw, strict=False) if isinstance(raw, str | bytes) else None
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


CUT_OFF = "the document is cut off"
_TEXT_AFTER = "text after the end of the document"


def parse_document(raw: bytes) -> tuple[dict[str, object] | None, str]:
    """Parse a document that holds one JSON object, and say what is wrong with it.

    Of a cut-off one, what comes before the last whole object in a list is returned.
    Here, this is the first message::

        {"sessionId": "s1", "messages": [{"id": "m1"}, {"id": "m
    """
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        # PowerShell writes what a program prints as UTF-16.
        raw = raw.decode("utf-16", "replace").encode("utf-8", "replace")
    text = decode(raw)
    try:
        value, end = _DECODER.raw_decode(text)
    except (ValueError, RecursionError):
        return _parse_beginning(text), CUT_OFF
    if not isinstance(value, dict):
        return None, ""
    return value, _TEXT_AFTER if end < len(text) else ""


def _parse_beginning(text: str) -> dict[str, object] | None:
    opened: list[str] = []
    end = 0
    for match in _STRING_OR_BRACKET.finditer(text):
        if match[0] in ("{", "["):
            opened.append(match[0])
        elif match[0] in ("}", "]") and opened:
            if opened.pop() == "{" and opened == ["{", "["]:
                end = match.end()
        elif len(match[0]) == 1:
            break
    return parse_object(f"{text[:end]}]}}") if end else None


def decode(raw: bytes) -> str:
    return raw.decode("utf-8", "replace").strip(_SEPARATORS)
