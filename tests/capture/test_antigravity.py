import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memtui.capture import formats
from memtui.capture.formats import antigravity
from memtui.capture.formats.base import (
    Cursor,
    InvalidRecord,
    ParsedItem,
    PendingRecord,
    SkippedRecord,
)
from memtui.model.events import Event, EventRole, EventType, Thought
from memtui.model.sessions import SessionMetadata

NOW = datetime(2027, 1, 1, tzinfo=UTC)
PLACE = "brain/c1/.system_generated/logs/transcript_full.jsonl"


def step(number: int, source: str, kind: str, **more: Any) -> dict[str, Any]:
    at = f"2026-08-21T11:23:{number:02}Z"
    about = {"step_index": number, "source": source, "type": kind, "created_at": at}
    return about | more


def call(name: str, **given: Any) -> dict[str, Any]:
    return {"name": name, "args": given}


def write_file(folder: Path, *steps: dict[str, Any], place: str = PLACE) -> Path:
    file = folder / place
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(item) + "\n" for item in steps))
    return file


def read(file: Path, now: datetime = NOW) -> list[ParsedItem]:
    return list(antigravity.FORMAT.read(file, None, agent="", now=now))


def read_events(folder: Path, *steps: dict[str, Any]) -> list[Event]:
    return [e for e in read(write_file(folder, *steps)) if isinstance(e, Event)]


ASKED = step(
    0,
    "USER_EXPLICIT",
    "USER_INPUT",
    content="<USER_REQUEST>\nFix the cart\n</USER_REQUEST>\n<USER_SETTINGS_CHANGE>\n"
    "The user changed setting `Model Selection` from None to Gemini 3.7 Flash (High)."
    " No need to comment.\n</USER_SETTINGS_CHANGE>",
)


def test_a_conversation_is_read(tmp_path: Path) -> None:
    run = call("run_command", CommandLine='"pytest -q"', Cwd='"/home/ada/shop"')
    view = call("view_file", path="cart.py")
    file = write_file(
        tmp_path,
        ASKED,
        step(1, "MODEL", "PLANNER_RESPONSE", thinking="Hm.", tool_calls=[run, view]),
        step(2, "MODEL", "RUN_COMMAND", content="Created At: x\nCompleted At: y\n1 ok"),
        step(3, "MODEL", "VIEW_FILE", content="cart = {}"),
        step(4, "MODEL", "PLANNER_RESPONSE", content="Fixed."),
    )
    items = read(file)
    assert [(e.role, e.text) for e in items if isinstance(e, Event)] == [
        (EventRole.USER, "Fix the cart"),
        (EventRole.TOOL, "run_command: pytest -q\n1 ok"),
        (EventRole.TOOL, "view_file: cart.py\ncart = {}"),
        (EventRole.ASSISTANT, "Fixed."),
    ]
    assert [t.text for t in items if isinstance(t, Thought)] == ["Hm."]
    facts = [item for item in items if isinstance(item, SessionMetadata)]
    assert facts[-1] == SessionMetadata(
        "antigravity-cli",
        "c1",
        cwd="/home/ada/shop",
        model="Gemini 3.7 Flash (High)",
        at=datetime(2026, 8, 21, 11, 23, tzinfo=UTC),
    )


def test_a_result_written_before_its_call_belongs_to_it(tmp_path: Path) -> None:
    events = read_events(
        tmp_path,
        step(3, "MODEL", "GENERIC", content="/tmp"),
        step(2, "MODEL", "PLANNER_RESPONSE", tool_calls=[call("run_command")]),
    )
    assert [e.text for e in events] == ["run_command\n/tmp"]


def test_a_result_without_a_call_is_kept(tmp_path: Path) -> None:
    file = write_file(tmp_path, step(3, "MODEL", "GENERIC", content="/tmp"))
    early = read(file, datetime(2026, 8, 21, 11, 23, 5, tzinfo=UTC))
    assert PendingRecord("a result without its call yet", 1) in early
    assert not [e for e in early if isinstance(e, Event)]
    cursor = early[-1]
    assert isinstance(cursor, Cursor) and cursor.needs_reread
    late = antigravity.FORMAT.read(file, cursor, agent="", now=NOW)
    assert [e.text for e in late if isinstance(e, Event)] == ["tool\n/tmp"]


@pytest.mark.parametrize(
    ("source", "kind", "content", "expected"),
    [
        ("SYSTEM", "CHECKPOINT", "{{ CHECKPOINT 0 }} Greeting", "checkpoint"),
        ("SYSTEM", "SYSTEM_MESSAGE", "a notice", "system_message"),
        ("SYSTEM", "ERROR_MESSAGE", "the stream broke", "error_message"),
        ("USER_IMPLICIT", "USER_INPUT", "go on", "user_implicit"),
    ],
)
def test_text_of_the_program_is_separated(
    source: str, kind: str, content: str, expected: str, tmp_path: Path
) -> None:
    (event,) = read_events(tmp_path, step(1, source, kind, content=content))
    assert (event.role, event.metadata["kind"]) == (EventRole.SYSTEM, expected)
    assert event.text == content


def test_a_compaction_and_a_failed_call_are_read(tmp_path: Path) -> None:
    start, failed = read_events(
        tmp_path,
        step(1, "SYSTEM", "CHECKPOINT", content="{{ CHECKPOINT 1 }}\nSo far, so good."),
        step(2, "MODEL", "PLANNER_RESPONSE", tool_calls=[call("run_command")]),
        step(3, "SYSTEM", "ERROR_MESSAGE", content="no such tool"),
    )
    assert start.event_type is EventType.SESSION_START
    assert start.metadata["source"] == "compact"
    assert (failed.text, failed.ending) == ("run_command\nno such tool", "failed")


@pytest.mark.parametrize(
    ("record", "reading"),
    [
        ({"step_index": 1}, InvalidRecord("a record without type", 1)),
        (
            {**ASKED, "created_at": None},
            InvalidRecord("no timestamp", 1),
        ),
        (
            step(1, "SYSTEM", "CONVERSATION_HISTORY"),
            SkippedRecord("CONVERSATION_HISTORY", 1),
        ),
    ],
)
def test_skipped_records_are_counted_by_type(
    record: dict[str, Any], reading: ParsedItem, tmp_path: Path
) -> None:
    assert reading in read(write_file(tmp_path, record))


def test_full_transcript_is_preferred(tmp_path: Path) -> None:
    short = write_file(tmp_path, ASKED, place=PLACE.replace("_full", ""))
    assert formats.find_files(tmp_path) == [short]
    assert formats.detect_format(short) is antigravity.FORMAT
    write_file(tmp_path, ASKED)
    assert not antigravity.FORMAT.matches_path(short)


def test_file_read_in_pieces_gives_the_same_items(
    tmp_path: Path, read_in_pieces: Callable[..., list[ParsedItem]]
) -> None:
    run = call("run_command", CommandLine="ls")
    steps = [ASKED]
    for number in range(1, 40, 3):
        steps += [
            step(number, "MODEL", "PLANNER_RESPONSE", content="I", tool_calls=[run]),
            step(number + 1, "MODEL", "GENERIC", content=f"result {number}"),
            step(number + 2, "MODEL", "PLANNER_RESPONSE", content=f"So {number}"),
        ]
    file = write_file(tmp_path, *steps)
    whole = [e.text for e in read(file) if isinstance(e, Event)]
    pieces = read_in_pieces(antigravity.FORMAT, file, 7)
    assert [e.text for e in pieces if isinstance(e, Event)] == whole
    assert len(whole) == 40


def test_copies_of_transcripts_are_called_after_their_folders(tmp_path: Path) -> None:
    places = "one/transcript.jsonl", "two/transcript_full.jsonl", "three.jsonl"
    items = [read(write_file(tmp_path, ASKED, place=place)) for place in places]
    names = [e.session_id for of in items for e in of if isinstance(e, Event)]
    assert names == ["one", "two", "three"]
