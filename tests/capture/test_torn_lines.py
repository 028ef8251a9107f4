"""A torn record does not hide the whole ones on its line."""

import json
import time
from collections.abc import Callable, Iterable
from datetime import timedelta
from pathlib import Path

import pytest

from memtui.capture import formats
from memtui.capture.formats import gemini, hooks
from memtui.capture.formats.base import (
    Cursor,
    InvalidRecord,
    MessageTitle,
    ParsedItem,
    PendingRecord,
    Record,
    SourceFormat,
)
from memtui.capture.formats.jsonl import JsonLinesFormat, JsonParser
from memtui.capture.spool import SpoolFile, extract_invalid
from memtui.model.events import Event
from tests.capture import corpora, endings
from tests.capture.conftest import READ_AT, reload_cursor, stored_items
from tests.capture.endings import Way
from tests.capture.mutations import tears

FORMATS = list(corpora.MADE)

AFTERWARDS = endings.LATER

SOON = corpora.AT + timedelta(seconds=12)
"""A time while the files are being written."""


def parser(name: str) -> JsonParser:
    source = formats.FORMATS_BY_NAME[name]
    if isinstance(source, JsonLinesFormat):
        return JsonParser(source.matches_record)
    return JsonParser(gemini._is_record)


def lines_of(name: str) -> list[bytes]:
    """Return records of a format, some with text that looks like JSON."""
    odd = 'a "quoted" {"type": "user"} \\ {} [{"timestamp": 1}] \u2028 Größe 😀 {'
    lines = [
        json.dumps(fields, ensure_ascii=False).replace("cart", json.dumps(odd)[1:-1])
        for fields in corpora.MADE[name]()
    ]
    return [line.encode() for line in lines]


def parse(name: str, raw: bytes) -> tuple[list[str], int]:
    """Return the records of a line as JSON, and how many damaged parts it has."""
    items = list(parser(name).records(raw, 1))
    records = [json.dumps(item.fields) for item in items if isinstance(item, Record)]
    return records, sum(isinstance(item, InvalidRecord) for item in items)


def without_parts(records: list[str], torn: bytes) -> list[str]:
    """Leave out the records that are parts of a torn one."""
    whole = json.dumps(json.loads(torn))
    return [record for record in records if record not in whole]


@pytest.mark.parametrize("name", FORMATS)
def test_whole_records_after_a_torn_one_are_read(name: str) -> None:
    lines = lines_of(name)
    for number, line in enumerate(lines):
        following = [lines[(number + n) % len(lines)] for n in (1, 2)]
        first, second = following
        whole = [json.dumps(json.loads(row)) for row in following]
        for torn in tears(line):
            for raw, count in (
                (torn + first + second, 1),
                (torn + b"\0\0" + first + second, 1),
                (torn + first + torn + second, 2),
                (first + torn + second, 1),
            ):
                records, damaged = parse(name, raw + b"\n")
                assert without_parts(records, line) == whole, raw
                assert damaged == count, raw


@pytest.mark.parametrize("name", FORMATS)
def test_torn_record_alone_is_one_damaged_part(name: str) -> None:
    for line in lines_of(name):
        for torn in tears(line):
            records, damaged = parse(name, torn + b"\n")
            assert (without_parts(records, line), damaged) == ([], 1), torn


@pytest.mark.parametrize("name", FORMATS)
def test_record_continued_on_the_next_lines_is_joined(
    name: str, tmp_path: Path
) -> None:
    source, file = formats.FORMATS_BY_NAME[name], corpora.path(name, tmp_path)
    text = "First words\nand more\n\n{ and a brace }\nlast"
    lines = [
        json.dumps(fields).replace("cart empty", json.dumps(text)[1:-1])
        for fields in corpora.MADE[name]()
    ]
    file.write_text("\n".join(lines) + "\n")
    expected = list(stored_items(read(source, file)))
    assert any(isinstance(item, Event) and text in item.text for item in expected)
    file.write_text("\n".join(lines).replace("\\n", "\n") + "\n")
    items = list(stored_items(read(source, file)))
    assert not [item for item in items if isinstance(item, InvalidRecord)]
    assert texts(items) == texts(expected)


@pytest.mark.parametrize("name", FORMATS)
def test_whole_record_before_one_that_may_go_on_in_the_next_line_is_read(
    name: str, tmp_path: Path
) -> None:
    source, file = formats.FORMATS_BY_NAME[name], corpora.path(name, tmp_path)
    first, second, *_ = lines_of(name)
    file.write_bytes(first + second[: second.rindex(b'"')] + b"\n")
    *items, cursor = source.read(file, None, agent="own", now=SOON)
    assert isinstance(items[-1], PendingRecord)
    assert isinstance(cursor, Cursor)
    assert cursor.offset == len(first)


@pytest.mark.parametrize("name", FORMATS)
def test_torn_lines_in_a_growing_file(name: str, tmp_path: Path) -> None:
    source, file = formats.FORMATS_BY_NAME[name], corpora.path(name, tmp_path)
    lines = lines_of(name)
    for number, line in enumerate(lines):
        torn = line[: (number + 1) * len(line) // (len(lines) + 1)]
        broken = line.replace(b" ", b"\n", number % 3)
        rows = [*lines[:number], torn + broken, *lines[number + 1 :], torn, lines[0]]
        raw = b"\n".join(rows) + b"\n"
        cursor, pieces = None, list[ParsedItem]()
        for end in (*range(number, len(raw), 97), len(raw)):
            file.write_bytes(raw[:end])
            now = SOON if end < len(raw) else READ_AT
            items = list(source.read(file, cursor, agent="own", now=now))
            pieces += items
            assert isinstance(items[-1], Cursor)
            cursor = reload_cursor(items[-1])
        whole = read(source, file)
        assert stored(pieces) == stored(whole), rows
        assert pending(items) == pending(whole)


def test_whole_payload_after_a_torn_one_is_stored() -> None:
    prompt, stop = corpora.payloads()[1], corpora.payloads()[6]
    for torn in tears(prompt):
        raw = torn + stop + b"\n"
        items = list(hooks.read(raw, received_at=corpora.AT, now=READ_AT))
        assert texts(items)[0] == "Found it.", raw
        assert sum(isinstance(item, InvalidRecord) for item in items) == 1
        # Only the torn one is quarantined.
        part = extract_invalid(SpoolFile("a.json", raw, corpora.AT), READ_AT)
        assert part.raw.strip() == torn.strip() and not part.skipped, raw


def gemini_document() -> tuple[str, bytes]:
    header, *records = corpora.MADE["gemini-cli"]()
    # A document has only the last version of a message.
    messages = {fields["id"]: fields for fields in records if "type" in fields}
    document = {**header, "messages": list(messages.values())}
    raw = json.dumps(document, indent=2).encode()
    return "tmp/shop/chats/session-1.json", raw


def opencode_document() -> tuple[str, bytes]:
    document = next(iter(endings.opencode(Way.FAILED) or ()))
    return "opencode-session-1.json", json.dumps(document).encode()


@pytest.mark.parametrize("make", [gemini_document, opencode_document])
def test_messages_before_the_end_of_a_cut_off_document_are_read(
    make: Callable[[], tuple[str, bytes]], tmp_path: Path
) -> None:
    place, raw = make()
    raw = raw.replace(b"cart", "} ] Größe [ { cart".encode())
    file, later = tmp_path / place, AFTERWARDS
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(raw)
    source = formats.detect_format(file)
    assert source
    whole = texts(source.read(file, None, agent="own", now=later))
    counts = set()
    for end in range(1, len(raw) - 1):
        file.write_bytes(raw[:end])
        items = list(source.read(file, None, agent="own", now=later))
        counts.add(len(texts(items)))
        assert texts(items) == whole[: len(texts(items))]
        assert any(isinstance(i, PendingRecord | InvalidRecord) for i in items)
    assert counts >= {0, 1, len(whole)}


@pytest.mark.parametrize("make", [gemini_document, opencode_document])
def test_document_in_any_encoding_or_before_other_text_is_read(
    make: Callable[[], tuple[str, bytes]], tmp_path: Path
) -> None:
    place, raw = make()
    file = tmp_path / place
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"\xef\xbb\xbf" + raw)
    source = formats.detect_format(file)
    assert source
    whole = list(source.read(file, None, agent="own", now=AFTERWARDS))
    # As PowerShell writes it.
    file.write_bytes(raw.decode().encode("utf-16"))
    assert formats.detect_format(file) is source
    items = list(source.read(file, None, agent="own", now=AFTERWARDS))
    assert texts(items) == texts(whole) and not pending(items)
    for rest in (raw[-60:], raw):
        file.write_bytes(raw + rest)
        assert formats.detect_format(file) is source
        items = list(source.read(file, None, agent="own", now=AFTERWARDS))
        assert texts(items) == texts(whole) != []
        assert len(pending(items)) == 1 and not pending(whole)


@pytest.mark.parametrize("make", [gemini_document, opencode_document])
def test_rest_of_a_cut_off_document_is_read_when_it_is_whole(
    make: Callable[[], tuple[str, bytes]], tmp_path: Path
) -> None:
    place, raw = make()
    file = tmp_path / place
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(raw[: raw.index(b'"m2"')])
    source = formats.detect_format(file)
    assert source
    before = list(source.read(file, None, agent="own", now=AFTERWARDS))
    assert len(texts(before)) == len(pending(before)) == 1
    assert isinstance(before[-1], Cursor)
    file.write_bytes(raw)
    after = list(source.read(file, before[-1], agent="own", now=AFTERWARDS))
    whole = texts(source.read(file, None, agent="own", now=AFTERWARDS))
    assert {*texts(before), *texts(after)} == {*whole} and not pending(after)


@pytest.mark.parametrize(
    "part",
    [b'{"type":"', b'{"a":', b'{"a":"\n', b'{"a":{"b":1}', b'{"a":[{"type":"user"},'],
)
def test_damaged_lines_take_linear_time(part: bytes, tmp_path: Path) -> None:
    source, file = formats.FORMATS_BY_NAME["claude-code"], tmp_path / "s1.jsonl"
    seconds = []
    for count in (10_000, 40_000):
        file.write_bytes(part * count + b"\n")
        started = time.perf_counter()
        read(source, file)
        seconds.append(time.perf_counter() - started)
    assert seconds[1] < 10 * seconds[0] + 0.1, seconds


def read(source: SourceFormat, file: Path) -> list[ParsedItem]:
    return list(source.read(file, None, agent="own", now=READ_AT))


def stored(items: list[ParsedItem]) -> list[ParsedItem]:
    # The session of a title may be read after it.
    return [i for i in stored_items(items) if not isinstance(i, MessageTitle)]


def texts(items: Iterable[ParsedItem]) -> list[str]:
    return [item.text for item in items if isinstance(item, Event)]


def pending(items: Iterable[ParsedItem]) -> list[ParsedItem]:
    return [item for item in items if isinstance(item, PendingRecord)]
