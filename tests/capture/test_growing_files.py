"""Files are read on from the last point where nothing was open."""

import json
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memtui.capture import formats
from memtui.capture.formats import claude_code, jsonl
from memtui.capture.formats.base import (
    Cursor,
    FileReplaced,
    MessageTitle,
    ParsedItem,
    PendingRecord,
)
from memtui.model.events import Event
from memtui.paths import in_home
from memtui.settings import Settings
from memtui.store import database, sources
from memtui.workspace import Workspace
from tests.capture import corpora
from tests.capture.conftest import READ_AT, reload_cursor
from tests.tables import EventRow

START = datetime(2025, 3, 14, 10, tzinfo=UTC)


def record(number: int, kind: str, content: object) -> bytes:
    fields = {
        "type": kind,
        "uuid": f"u{number}",
        "sessionId": "s1",
        "timestamp": (START + timedelta(seconds=number)).isoformat(),
        "cwd": "/home/ada/shop",
        "message": {"id": f"m{number}", "content": content, "stop_reason": "end_turn"},
    }
    return json.dumps(fields).encode() + b"\n"


def call(number: int, name: str) -> bytes:
    block = {"type": "tool_use", "id": name, "name": "Bash", "input": {"command": name}}
    return record(number, "assistant", [block])


def result(number: int, name: str) -> bytes:
    block = {"type": "tool_result", "tool_use_id": name, "content": f"{name} is done"}
    return record(number, "user", [block])


def prompt(number: int) -> bytes:
    return record(number, "user", f"Prompt {number}")


def read(file: Path, start: Cursor | None = None) -> tuple[list[ParsedItem], Cursor]:
    *items, cursor = claude_code.FORMAT.read(file, start, agent="", now=READ_AT)
    assert isinstance(cursor, Cursor)
    return items, reload_cursor(cursor)


def texts(items: Iterable[ParsedItem]) -> list[str]:
    return [item.text for item in items if isinstance(item, Event)]


def grow(file: Path, *lines: bytes) -> None:
    with file.open("ab") as opened:
        opened.write(b"".join(lines))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "s1.jsonl"


def start_of(cursor: Cursor) -> int:
    offset: int = cursor.state["start"][0]
    return offset


def test_events_after_an_open_call_are_yielded_at_once(file: Path) -> None:
    before = prompt(1)
    grow(file, before, call(2, "wait"), prompt(3))
    items, cursor = read(file)
    assert texts(items) == ["Prompt 1", "Prompt 3", "Bash: wait"]
    assert (cursor.offset, start_of(cursor)) == (file.stat().st_size, len(before))
    grow(file, prompt(4))
    items, cursor = read(file, cursor)
    assert texts(items) == ["Prompt 4"] and start_of(cursor) == len(before)
    grow(file, result(5, "wait"))
    items, cursor = read(file, cursor)
    assert texts(items) == ["Bash: wait\nwait is done"]
    assert start_of(cursor) == cursor.offset


def test_a_saved_state_contains_no_text_of_the_conversation(file: Path) -> None:
    for name, make in corpora.MADE.items():
        source = formats.FORMATS_BY_NAME[name]
        place = corpora.path(name, file.parent)
        lines = [json.dumps(fields).encode() + b"\n" for fields in make()]
        for end in range(1, len(lines) + 1):
            place.write_bytes(b"".join(lines[:end]))
            *items, cursor = source.read(place, None, agent="own", now=READ_AT)
            assert isinstance(cursor, Cursor)
            state = json.dumps(cursor.state, ensure_ascii=False)
            for text in texts(items):
                assert text.partition("\n")[0] not in state or len(text) < 4


def test_a_long_file_that_was_rewritten_before_the_cursor_is_read_again(
    file: Path,
) -> None:
    grow(file, *map(prompt, range(1, 60)))
    items, cursor = read(file)
    assert cursor.offset > 2 * jsonl.FINGERPRINT_BYTES
    told = file.read_bytes()
    file.write_bytes(told.replace(b"Prompt 50", b"Prompt 50, said anew"))
    (replaced, *anew), _ = read(file, cursor)
    assert isinstance(replaced, FileReplaced)
    assert len(texts(anew)) == len(texts(items))


@pytest.fixture
def few_open_bytes(monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(jsonl, "MAX_OPEN_BYTES", 2_000)
    return 2_000


def test_a_call_that_never_ends_does_not_make_reading_slower(
    file: Path, few_open_bytes: int
) -> None:
    grow(file, prompt(1), call(2, "forever"))
    items, cursor = read(file)
    yielded = texts(items)
    for number in range(3, 103):
        grow(file, prompt(number))
        assert cursor.offset - start_of(cursor) <= few_open_bytes
        items, cursor = read(file, cursor)
        yielded += texts(items)
    prompts = [f"Prompt {number}" for number in range(3, 103)]
    assert yielded == ["Prompt 1", "Bash: forever", *prompts]


def test_a_result_long_after_its_call_still_finds_it(
    file: Path, few_open_bytes: int
) -> None:
    grow(file, prompt(1), call(2, "slow"), *map(prompt, range(3, 30)))
    items, cursor = read(file)
    expected = texts(items)
    expected.remove("Bash: slow")
    grow(file, prompt(30), result(31, "slow"), prompt(32))
    items, cursor = read(file, cursor)
    assert any(isinstance(item, FileReplaced) for item in items)
    yielded = texts(items)
    assert yielded[-2:] == ["Bash: slow\nslow is done", "Prompt 32"]
    assert set(expected) < set(yielded)
    grow(file, prompt(33))
    items, cursor = read(file, cursor)
    assert texts(items) == ["Prompt 33"]
    assert not [item for item in items if isinstance(item, FileReplaced)]


def test_prompt_that_stays_in_the_queue_does_not_make_reading_slower(
    file: Path, few_open_bytes: int
) -> None:
    queued = {
        "type": "queue-operation",
        "operation": "enqueue",
        "content": "Later",
        "sessionId": "s1",
        "timestamp": START.isoformat(),
    }
    grow(file, json.dumps(queued).encode() + b"\n", *map(prompt, range(1, 40)))
    items, cursor = read(file)
    yielded = texts(items)
    for number in range(40, 80):
        grow(file, prompt(number))
        items, cursor = read(file, cursor)
        yielded += texts(items)
    assert cursor.offset - start_of(cursor) <= few_open_bytes
    assert Counter(yielded) == Counter(
        ["Later", *(f"Prompt {n}" for n in range(1, 80))]
    )


def test_problems_are_counted_once_although_records_are_read_again(
    workspace: Workspace, file: Path, few_open_bytes: int
) -> None:
    importer = workspace.pipeline.importer()
    grow(file, prompt(1), call(2, "slow"), b"{broken}\n")
    list(importer.run([file]))
    for number in range(4, 24):
        grow(file, prompt(number))
        list(importer.run([file]))
    with database.connection():
        assert [problem.count for problem in sources.list_damaged()] == [1]
    grow(file, result(24, "slow"))
    list(importer.run([file]))
    with database.connection():
        assert [problem.count for problem in sources.list_damaged()] == [1]
        assert EventRow.select().count() == 22
        reasons = {reason for reason, *_ in sources.count_problems_by_reason()}
    assert reasons == {"not valid JSON"}


@pytest.mark.parametrize("name", corpora.MADE)
def test_a_restart_at_any_byte_loses_nothing(name: str, tmp_path: Path) -> None:
    source, file = formats.FORMATS_BY_NAME[name], corpora.path(name, tmp_path)
    raw = b"".join(
        json.dumps(fields).encode() + b"\n" for fields in corpora.MADE[name]()
    )
    soon = corpora.AT + timedelta(seconds=12)

    def read_pieces(*ends: int) -> list[ParsedItem]:
        items: list[ParsedItem] = []
        cursor = None
        for end in ends:
            file.write_bytes(raw[:end])
            now = READ_AT if end == len(raw) else soon
            for item in source.read(file, cursor, agent="own", now=now):
                if isinstance(item, Cursor):
                    cursor = reload_cursor(item)
                elif not isinstance(item, PendingRecord):
                    items.append(item)
        return items

    whole = [item for item in read_pieces(len(raw)) if isinstance(item, Event)]
    for end in range(0, len(raw), 29):
        pieces = read_pieces(end, len(raw))
        assert [item for item in pieces if isinstance(item, Event)] == whole


@pytest.mark.parametrize("name", ["claude-code", "codex", "copilot-cli"])
def test_excluded_session_stays_excluded_when_its_file_grows(
    name: str, tmp_path: Path
) -> None:
    settings = Settings(capture_exclude=("shop",))
    workspace = Workspace(in_home(tmp_path / "home"), settings)
    place = corpora.path(name, tmp_path / "files")
    for fields in corpora.MADE[name]():
        grow(place, json.dumps(fields).encode() + b"\n")
        list(workspace.pipeline.importer().run([place]))
    with database.connection():
        assert EventRow.select().count() == 0
    workspace.stop()


@pytest.mark.parametrize("cut", [20, 60, 71, 75])
@pytest.mark.parametrize("name", ["claude-code", "codex", "gemini-cli", "plain"])
def test_line_that_is_read_in_two_parts(name: str, cut: int, tmp_path: Path) -> None:
    source, place = formats.FORMATS_BY_NAME[name], corpora.path(name, tmp_path)
    summary = {"type": "summary", "summary": "Carts and mills", "leafUuid": "u1"}
    raw = json.dumps(summary).encode() + b" \0null\n"
    place.write_bytes(raw)
    *whole, at_once = source.read(place, None, agent="own", now=READ_AT)
    place.write_bytes(raw[:cut])
    *first, cursor = source.read(place, None, agent="own", now=READ_AT)
    assert isinstance(cursor, Cursor)
    place.write_bytes(raw)
    *second, last = source.read(place, reload_cursor(cursor), agent="own", now=READ_AT)
    assert isinstance(last, Cursor) and isinstance(at_once, Cursor)
    assert reload_cursor(last) == reload_cursor(at_once)
    pieces = [item for item in first + second if not isinstance(item, PendingRecord)]
    # A title is stored by its message.
    titles = {str(item) for item in pieces if isinstance(item, MessageTitle)}
    others = [str(item) for item in pieces if not isinstance(item, MessageTitle)]
    assert Counter([*titles, *others]) == Counter(map(str, whole))
