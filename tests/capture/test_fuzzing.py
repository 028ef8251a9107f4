"""With any content of a file, no reader fails and every record is counted."""

import json
import tempfile
from collections import Counter
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from memtui.capture import formats
from memtui.capture.formats import aider, gemini, hooks, jsonl
from memtui.capture.formats.base import (
    Cursor,
    FileReplaced,
    InvalidRecord,
    MessageTitle,
    ParsedItem,
    PendingRecord,
    Record,
    SkippedRecord,
    Source,
    SourceFormat,
)
from memtui.capture.formats.jsonl import JsonLinesFormat, RecordReader
from memtui.model.events import Event, Thought
from memtui.model.sessions import SessionMetadata, SubagentMetadata
from tests.capture import corpora
from tests.capture.conftest import READ_AT, reload_cursor, stored_items
from tests.capture.mutations import anything, damaged, odd, records, spoilt
from tests.conftest import often

pytestmark = pytest.mark.fuzz

SOON = corpora.AT + timedelta(seconds=12)
"""A time while the files are being written: unfinished messages are held back."""

ACCOUNTS = Event | Thought | InvalidRecord | SkippedRecord
"""The items that count a record, unless it is held back or a call."""

FORMATS = list(corpora.MADE)


def read(
    source: SourceFormat,
    file: Path,
    start: Cursor | None = None,
    now: datetime = READ_AT,
) -> list[ParsedItem]:
    return list(source.read(file, start, agent="own", now=now))


def is_in_future(item: ParsedItem) -> bool:
    return isinstance(item, InvalidRecord) and item.due_at is not None


def last_cursor(items: list[ParsedItem]) -> Cursor:
    assert isinstance(items[-1], Cursor)
    return reload_cursor(items[-1])


def bytes_of(name: str) -> st.SearchStrategy[bytes]:
    """Any bytes, any JSON, and damaged files of a format."""
    return (
        damaged(partial(corpora.stretches, name))
        | st.lists(
            anything.map(lambda item: json.dumps(item).encode()), max_size=6
        ).map(b"\n".join)
        | st.binary(max_size=300)
    )


def new_reader(source: SourceFormat, file: Path) -> RecordReader:
    opened = Source(file, source.name, SOON)
    if source is gemini.FORMAT:
        return gemini._SessionReader(opened, {})
    assert isinstance(source, JsonLinesFormat)
    return source.reader(opened, {})


@pytest.mark.parametrize("name", FORMATS)
@often(60)
@given(data=st.data())
def test_every_record_is_stored_or_counted_or_remembered(
    name: str, data: st.DataObject
) -> None:
    lines = data.draw(records(partial(corpora.stretches, name)))
    with tempfile.TemporaryDirectory() as folder:
        file = corpora.path(name, Path(folder))
        file.write_bytes(b"".join(line + b"\n" for line in lines))
        source = formats.FORMATS_BY_NAME[name]
        reader = new_reader(source, file)
        for number, line in enumerate(lines, 1):
            calls_before = reader.calls.count
            items = [
                item
                for record in jsonl.parse_line(line, number)
                for item in jsonl.read_one(reader, record)
            ]
            is_counted = any(isinstance(item, ACCOUNTS) for item in items)
            is_fact = b'"record"' in line and any(
                isinstance(item, SessionMetadata | SubagentMetadata) for item in items
            )
            has_call = reader.calls.count > calls_before
            assert is_counted or is_fact or has_call or reader.holds_text, line
        pending = [r for r in reader.finish() if isinstance(r, PendingRecord)]
        whole = read(source, file, now=SOON)
        assert [r for r in whole if isinstance(r, PendingRecord)] == pending
        early = getattr(reader, "_early", ())
        assert len(pending) == len(reader.calls) + len(early)


@pytest.mark.parametrize("depth", [970, 985, 990, 5000])
@pytest.mark.parametrize("name", FORMATS)
def test_records_after_a_deeply_nested_one_are_read(
    name: str, depth: int, tmp_path: Path
) -> None:
    source, made = formats.FORMATS_BY_NAME[name], [*corpora.MADE[name]()]
    file = corpora.path(name, tmp_path)
    deep = ("[" * depth + "]" * depth).encode()
    for number, fields in enumerate(made):
        lines = [json.dumps(item).encode() for item in made]
        behind = texts(read(source, write_lines(file, lines[number + 1 :])))
        for place in fields:
            spoilt = json.dumps(fields | {place: "@"}).encode()
            lines[number] = spoilt.replace(b'"@"', deep)
            items = read(source, write_lines(file, lines))
            assert last_cursor(items).offset == file.stat().st_size
            if name == "plain":
                # Its records are independent of each other.
                assert behind <= texts(items)


def write_lines(file: Path, lines: list[bytes]) -> Path:
    file.write_bytes(b"".join(line + b"\n" for line in lines))
    return file


def texts(items: list[ParsedItem]) -> set[str]:
    return {reading.text for reading in items if isinstance(reading, Event)}


@pytest.mark.parametrize("name", FORMATS)
@often(80)
@given(data=st.data())
def test_reading_in_pieces_equals_reading_at_once(
    name: str, data: st.DataObject
) -> None:
    raw = data.draw(bytes_of(name))
    # A file that is one array is always read from its start.
    assume(not raw.lstrip(b"\xef\xbb\xbf \t\r\n\0,").startswith(b"["))
    cuts = data.draw(st.lists(st.integers(0, len(raw)), max_size=5).map(sorted))
    source, pieces, cursor = formats.FORMATS_BY_NAME[name], list[ParsedItem](), None
    with tempfile.TemporaryDirectory() as folder:
        file = corpora.path(name, Path(folder))
        for cut in cuts:
            file.write_bytes(raw[:cut])
            items = read(source, file, cursor, SOON)
            pieces, cursor = pieces + items, last_cursor(items)
        # A time in the future of the first reading is past in the last.
        assume(not any(is_in_future(item) for item in pieces))
        file.write_bytes(raw)
        last = read(source, file, cursor)
        whole = read(source, file)
        again = read(source, file, last_cursor(whole))
    assert comparable(pieces + last) == comparable(whole)
    assert last_cursor(last) == last_cursor(whole)
    assert not [
        r
        for r in again
        if isinstance(r, Event | Thought | InvalidRecord | SkippedRecord)
    ]
    assert pending_records(last) == pending_records(whole) == pending_records(again)


NAME = b'{"id":"s1","thread_name":"Old name","updated_at":"2026-03-14T10:00:00Z"}'
REPLY = (
    b'{"type":"assistant.message","data":{"messageId":"m1","model":"s4","content":"Hi",'
    b'"toolRequests":[{"toolCallId":"c1","name":"bash"}],"outputTokens":761},"id":"i1",'
    b'"timestamp":"2026-03-14T10:00:00Z"}'
)


@pytest.mark.parametrize(
    ("name", "first", "damaged"),
    [
        ("codex", NAME, b"null"),
        ("codex", NAME, b'{"thread_name":"Nobody\'s name"}'),
        ("copilot-cli", REPLY, b"null"),
    ],
)
def test_what_is_read_again_is_counted_once(
    name: str, first: bytes, damaged: bytes, tmp_path: Path
) -> None:
    source, file = formats.FORMATS_BY_NAME[name], corpora.path(name, tmp_path)
    file.write_bytes(first + b"\n" + damaged)
    before = read(source, file, None, SOON)
    file.write_bytes(first + b"\n" + damaged + b"\n")
    last, whole = read(source, file, last_cursor(before)), read(source, file)
    assert comparable(before + last) == comparable(whole)
    assert last_cursor(last) == last_cursor(whole)
    again = read(source, file, last_cursor(whole))
    assert not any(isinstance(item, InvalidRecord) for item in again)


def comparable(items: list[ParsedItem]) -> object:
    """Return what must be equal however a file was read."""
    facts: dict[tuple[str, str], dict[str, Any]] = {}
    for session in (r for r in items if isinstance(r, SessionMetadata)):
        values = facts.setdefault((session.agent, session.session_id), {})
        # The latest value counts, but of the folder the earliest.
        for name in ("branch", "model", "title", "forked_from"):
            values[name] = getattr(session, name) or values.get(name)
        if session.title_at:  # An empty title takes away the one before.
            values["title"] = session.title
        values["created_by"] = values.get("created_by") or session.created_by
        at = session.at or corpora.AT
        if (session.cwd or session.project) and at < values.get("at", READ_AT):
            values |= {"at": at, "cwd": session.cwd, "project": session.project}
    helpers = {
        (r.session_id, r.subagent): r for r in items if isinstance(r, SubagentMetadata)
    }
    # A title is stored by its message, whenever it is yielded.
    titles = {(r.agent, r.source_id): r for r in items if isinstance(r, MessageTitle)}
    stored = [r for r in stored_items(items) if not isinstance(r, MessageTitle)]
    return stored, facts, helpers, titles


def pending_records(items: list[ParsedItem]) -> list[ParsedItem]:
    return [r for r in items if isinstance(r, PendingRecord)]


@often(150)
@given(data=st.data())
def test_reading_aider_in_pieces_equals_reading_at_once(
    data: st.DataObject,
) -> None:
    raw = data.draw(damaged(corpora.aider_histories) | st.binary(max_size=300))
    cuts = data.draw(st.lists(st.integers(0, len(raw)), max_size=5).map(sorted))
    pieces, cursor = list[ParsedItem](), None
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, aider.FILE_NAME)
        for cut in cuts:
            file.write_bytes(raw[:cut])
            matches = read(aider.FORMAT, file, cursor, datetime.now(UTC))
            pieces, cursor = pieces + matches, last_cursor(matches)
        file.write_bytes(raw)
        last, whole = read(aider.FORMAT, file, cursor), read(aider.FORMAT, file)
    assert comparable(pieces + last) == comparable(whole)
    reasons = {
        r.line: r.reason for r in whole if isinstance(r, InvalidRecord | SkippedRecord)
    }
    first = min(
        (line for line, why in reasons.items() if why != "header"), default=None
    )
    kept = "".join(r.text for r in whole if isinstance(r, Event))
    for number, line in enumerate(raw.decode("utf-8", "replace").split("\n"), 1):
        # A block that is not stored is counted at its first line.
        is_told = number in reasons or (first is not None and first <= number)
        assert is_told or letters(line) in letters(kept), line


def letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))


@often(150)
@given(
    held=st.lists(anything.filter(lambda item: isinstance(item, dict)), max_size=4),
    between=st.sampled_from((b"", b" ", b",", b"\0", b",\0 ", b"\xef\xbb\xbf")),
    tail=st.sampled_from((b"", b"}", b"nonsense", b'{"a": ', b"[1]", b'"x"', b"12")),
)
def test_all_records_of_a_line_are_parsed(
    held: list[dict[str, Any]], between: bytes, tail: bytes
) -> None:
    line = between.join(json.dumps(item).encode() for item in held) + tail
    items = list(jsonl.parse_line(line + b"\n", 7))
    records_of_line = [reading for reading in items if isinstance(reading, Record)]
    assert [json.dumps(r.fields) for r in records_of_line] == [
        json.dumps(item) for item in held
    ]
    assert len(items) - len(records_of_line) == bool(tail)


@often(400)
@given(data=st.data())
def test_every_hook_payload_is_stored_or_counted(data: st.DataObject) -> None:
    payloads = corpora.payloads()
    strategy = st.lists(
        st.sampled_from(payloads).flatmap(spoilt), min_size=1, max_size=4
    )
    lines = data.draw(strategy)
    between = data.draw(st.sampled_from((b"\n", b"\r\n", b"\n\n", b" ")))
    raw = between.join(lines)
    if data.draw(st.booleans()):
        raw = b"[" + b",".join(lines) + b"]"
    account = count_items(raw)
    assert account.total() >= len(lines)
    for line in lines:
        assert count_items(line).total() >= 1


@often(300)
@given(
    st.binary(max_size=300)
    | anything.map(lambda item: json.dumps(item).encode())
    | damaged(lambda: [corpora.payloads()])
)
def test_any_hook_input_is_stored_or_counted(raw: bytes) -> None:
    assert count_items(raw).total() >= 1


def count_items(raw: bytes) -> Counter[str]:
    """Count the items of one spool file by type."""
    items = hooks.read(raw, received_at=corpora.AT, now=READ_AT)
    return Counter(type(item).__name__ for item in items if isinstance(item, ACCOUNTS))


@often(150)
@given(data=st.data())
def test_every_message_of_a_document_is_stored_or_counted(
    data: st.DataObject,
) -> None:
    messages = [json.loads(line) for line in data.draw(records(gemini_messages))]
    header = {"sessionId": "s1", "projectHash": "p", "messages": messages}
    header |= data.draw(
        st.dictionaries(st.sampled_from(sorted(header)), odd, max_size=1)
    )
    raw = json.dumps(header).encode()
    cut = data.draw(st.integers(1, len(raw)))
    with tempfile.TemporaryDirectory() as folder:
        file = corpora.path("gemini-cli", Path(folder)).with_suffix(".json")
        file.write_bytes(raw[:cut])
        first = read(gemini.FORMAT, file)
        file.write_bytes(raw)
        items = read(gemini.FORMAT, file, last_cursor(first))
    accounts = Event, Thought, SkippedRecord, InvalidRecord, PendingRecord
    assert [r for r in first if isinstance(r, accounts)]
    if cut < len(raw):
        assert isinstance(items[0], FileReplaced)
        number = len(messages) if header["messages"] is messages else 0
        assert len([r for r in items if isinstance(r, accounts)]) >= number + 1


def gemini_messages() -> list[list[bytes]]:
    """Return the lines of sessions that are messages."""
    stretches = corpora.stretches("gemini-cli")
    kept = [[line for line in lines if b"sessionId" not in line] for lines in stretches]
    return [lines for lines in kept if lines]
