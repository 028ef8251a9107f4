import hashlib
import json
import tempfile
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.capture import formats
from memtui.capture.formats import gemini, jsonl
from memtui.capture.formats.base import (
    Cursor,
    FileReplaced,
    InvalidRecord,
    ParsedItem,
    PendingRecord,
    SkippedRecord,
)
from memtui.model.events import Event, EventRole, EventType, Thought
from memtui.model.sessions import SessionMetadata, SubagentMetadata, hash_folder
from tests.capture.conftest import without_starts

NOW = datetime(2026, 11, 21, tzinfo=UTC)
HEADER = {
    "sessionId": "s1",
    "projectHash": hashlib.sha256(b"/home/ada/shop").hexdigest(),
    "startTime": "2026-03-14T10:00:00.000Z",
    "lastUpdated": "2026-03-14T10:00:00.000Z",
    "kind": "main",
}


def message(
    number: int, kind: str, content: object = "", **more: Any
) -> dict[str, Any]:
    at = f"2026-03-14T10:00:{number:02}.000Z"
    return {
        "id": f"m{number}",
        "timestamp": at,
        "type": kind,
        "content": content,
    } | more


def call(key: str, status: str = "success", output: object = "ok") -> dict[str, Any]:
    made = {
        "id": key,
        "name": "run_shell_command",
        "args": {"command": "pytest -q"},
        "status": status,
        "timestamp": "2026-03-14T10:00:30.000Z",
    }
    if output is None:
        return made
    response = {"functionResponse": {"id": key, "response": {"output": output}}}
    return made | {"result": [response]}


def as_lines(*records: object) -> bytes:
    return "".join(f"{json.dumps(record)}\n" for record in records).encode()


def write_file(folder: Path, raw: bytes, name: str = "session-a.jsonl") -> Path:
    file = folder / "tmp" / "p" / "chats" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(raw)
    return file


def read_items(file: Path, start: Cursor | None = None) -> list[ParsedItem]:
    return list(gemini.FORMAT.read(file, start, agent="x", now=NOW))


def read_events(folder: Path, *records: object) -> list[Event]:
    file = write_file(folder, as_lines(HEADER, *records))
    return [r for r in read_items(file) if isinstance(r, Event)]


def _place(item: ParsedItem) -> str:
    return item.event_id if isinstance(item, Event) else repr(item)


def last_cursor(items: list[ParsedItem]) -> Cursor:
    return next(r for r in reversed(items) if isinstance(r, Cursor))


def test_prompts_and_replies_are_messages(tmp_path: Path) -> None:
    said = [{"text": "Fixed."}]
    items = read_events(
        tmp_path, message(1, "user", "Fix it"), message(2, "gemini", said)
    )
    assert [(e.event_type, e.role, e.text, e.session_id) for e in items] == [
        (EventType.USER_MESSAGE, EventRole.USER, "Fix it", "s1"),
        (EventType.ASSISTANT_MESSAGE, EventRole.ASSISTANT, "Fixed.", "s1"),
    ]


def test_a_message_repeated_with_its_calls_is_read_once(tmp_path: Path) -> None:
    first = message(2, "gemini", "I look.")
    running = first | {"toolCalls": [call("c1", "executing", None)]}
    done = first | {"toolCalls": [call("c1")]}
    every = read_events(tmp_path, message(1, "user", "Go"), first, running, done, done)
    items = sorted(every, key=lambda event: event.position)
    assert [e.text for e in items] == [
        "Go",
        "I look.",
        "run_shell_command: pytest -q\nok",
    ]
    assert items[2].timestamp.second == 30


FURTHER = message(2, "gemini", "I will look at the file and fix it.")


@pytest.mark.parametrize("is_alone", [False, True])
def test_session_whose_header_is_torn_is_named_by_its_file(
    tmp_path: Path, *, is_alone: bool
) -> None:
    raw = as_lines(message(1, "user", "Why?"), message(2, "gemini", "Because."))
    torn = as_lines(HEADER)[:40] + (b"\n" if is_alone else b"")
    file = write_file(tmp_path, torn + raw, "session-2026-03-14T10-00-abc.jsonl")
    assert formats.detect_format(file) is gemini.FORMAT
    (file.parents[1] / ".project_root").write_text("/home/ada/kiosk")
    items = read_items(file)
    events = [item for item in items if isinstance(item, Event)]
    assert [event.text for event in events] == ["Why?", "Because."]
    facts = next(item for item in items if isinstance(item, SessionMetadata))
    assert facts.cwd == "/home/ada/kiosk"
    assert {event.session_id for event in events} == {file.stem}
    assert sum(isinstance(item, InvalidRecord) for item in items) == 1
    file = write_file(tmp_path, torn + raw, "s1/a1.jsonl")
    events = [item for item in read_items(file) if isinstance(item, Event)]
    assert {(event.session_id, event.subagent) for event in events} == {("s1", "a1")}


@pytest.mark.parametrize("place", ["tool-outputs/session-s1", "tool-outputs", "."])
@pytest.mark.parametrize(
    "pointer",
    [
        "Output too large. Showing first 8,000 and last 32,000 characters. For full"
        " output see: {}\nOutput: lint\n\n... [9 characters omitted] ...\n\nlint\n{}",
        "Tool output was too large and has been truncated.\nThe full output has been"
        " saved to: {}\nTo read the complete output, use the read_file tool.\n{}",
    ],
)
def test_large_result_is_read_from_its_own_file(
    pointer: str, place: str, tmp_path: Path
) -> None:
    end = "Exit Code: 3\nProcess Group PGID: 77"
    content = pointer.format("C:\\Users\\ada\\.gemini\\tmp\\shop\\x\\t1.txt", end)
    reply = message(2, "gemini", "", toolCalls=[call("t1", output=content)])
    file = write_file(tmp_path, as_lines(HEADER, reply))
    skipped = [item for item in read_items(file) if isinstance(item, SkippedRecord)]
    assert any("missing" in item.reason for item in skipped)
    saved = tmp_path / "tmp/p" / place / "t1.txt"
    saved.parent.mkdir(parents=True, exist_ok=True)
    saved.write_text(f"<untrusted_context>\nthe middle\n{end}\n</untrusted_context>")
    (event,) = (item for item in read_items(file) if isinstance(item, Event))
    assert event.text.endswith(f"\nthe middle\n{end}")
    assert event.metadata["exit_status"] == "3"


def test_the_longest_version_of_a_growing_reply_is_used(
    tmp_path: Path,
) -> None:
    begun = message(2, "gemini", "I will")
    items = read_events(tmp_path, begun, FURTHER, begun, message(3, "user", "Go on"))
    assert [e.text for e in items] == [FURTHER["content"], "Go on"]


def test_prompt_with_the_id_of_a_reply_is_separate(
    tmp_path: Path,
) -> None:
    said = message(2, "user", "I will look at another file now.")
    items = read_events(tmp_path, message(2, "gemini", "I will"), said)
    assert {e.text for e in items} == {"I will", said["content"]}


def test_every_version_of_a_reply_is_counted(tmp_path: Path) -> None:
    begun = message(2, "gemini", "I will")
    file = write_file(tmp_path, as_lines(HEADER, begun, FURTHER, begun))
    items = [r for r in read_items(file) if isinstance(r, Event | SkippedRecord)]
    assert len([r for r in items if r != SkippedRecord("header", 1)]) == 3


def test_a_reply_is_held_back_while_it_may_be_continued(tmp_path: Path) -> None:
    file = write_file(tmp_path, as_lines(HEADER, message(2, "gemini", "I will")))
    soon = datetime(2026, 3, 14, 10, 0, 4, tzinfo=UTC)
    items = list(gemini.FORMAT.read(file, None, agent="x", now=soon))
    cursor = last_cursor(items)
    assert cursor.needs_reread and not [r for r in items if isinstance(r, Event)]
    with file.open("ab") as opened:
        opened.write(as_lines(FURTHER))
    (event,) = [r for r in read_items(file, cursor) if isinstance(r, Event)]
    assert event.text == FURTHER["content"]


def test_later_versions_of_a_stored_reply_are_counted(tmp_path: Path) -> None:
    file = write_file(tmp_path, as_lines(HEADER, message(2, "gemini", "I will")))
    cursor = last_cursor(read_items(file))
    with file.open("ab") as opened:
        opened.write(as_lines(FURTHER, FURTHER))
    items = read_items(file, cursor)
    assert not [r for r in items if isinstance(r, Event)]
    reasons = Counter(r.reason for r in items if isinstance(r, SkippedRecord))
    assert reasons["a repeated message with other text"] == 1


def test_call_without_result_is_pending_at_first(tmp_path: Path) -> None:
    made = message(2, "gemini", toolCalls=[call("c1", "executing", None)])
    file = write_file(tmp_path, as_lines(HEADER, made))
    pending = PendingRecord("tool call without a result yet", 2)
    soon = datetime(2026, 3, 14, 10, 0, 40, tzinfo=UTC)
    items = list(gemini.FORMAT.read(file, None, agent="x", now=soon))
    assert pending in items and last_cursor(items).needs_reread
    later = read_items(file, last_cursor(items))
    assert [e.ending for e in later if isinstance(e, Event)] == ["not finished"]
    assert pending not in later and not last_cursor(later).needs_reread


def test_call_without_result_is_stored_as_broken_off(tmp_path: Path) -> None:
    made = message(2, "gemini", toolCalls=[call("c1", "executing", None)])
    items = read_events(tmp_path, made, message(40, "user", "Stop"))
    assert [e.text for e in items] == ["run_shell_command: pytest -q", "Stop"]
    assert items[0].metadata["call_end"] == "unfinished"


@pytest.mark.parametrize(
    ("status", "ending"), [("error", "failed"), ("cancelled", "not finished")]
)
def test_failed_call_is_marked(tmp_path: Path, status: str, ending: str) -> None:
    (event,) = read_events(
        tmp_path, message(2, "gemini", toolCalls=[call("c1", status)])
    )
    assert event.ending == ending


def test_rewound_messages_stay_stored(tmp_path: Path) -> None:
    said = message(1, "user", "first"), message(2, "gemini", "reply")
    items = read_events(
        tmp_path, *said, {"$rewindTo": "m1"}, message(3, "user", "second")
    )
    assert [e.text for e in items] == ["first", "reply", "second"]


def test_a_snapshot_adds_new_messages_only(tmp_path: Path) -> None:
    first = message(1, "user", "continue")
    renamed = {**first, "id": "other"}
    summary = message(5, "user", "<state_snapshot>all of it</state_snapshot>")
    items = read_events(tmp_path, first, {"$set": {"messages": [summary, renamed]}})
    assert [(e.text, e.role) for e in items] == [
        ("continue", EventRole.USER),
        ("<state_snapshot>all of it</state_snapshot>", EventRole.SYSTEM),
    ]
    assert items[1].metadata["kind"] == "compact_summary"


def test_same_text_twice_is_two_messages(tmp_path: Path) -> None:
    both = [message(1, "user", "continue"), message(3, "user", "continue")]
    items = read_events(
        tmp_path, {"$set": {"messages": both}}, {"$set": {"messages": both}}
    )
    assert [e.text for e in items] == ["continue", "continue"]


def test_displayed_text_of_a_prompt_is_stored(tmp_path: Path) -> None:
    sent = [
        {"text": "Explain @a.py"},
        {"text": "--- Content from referenced files ---"},
    ]
    (event,) = read_events(
        tmp_path, message(1, "user", sent, displayContent=[{"text": "Explain @a.py"}])
    )
    assert event.text == "Explain @a.py"


def test_files_are_placeholders_with_type_and_size(tmp_path: Path) -> None:
    image = {"inlineData": {"mimeType": "image/png", "data": "A" * 4096}}
    (event,) = read_events(tmp_path, message(1, "user", [{"text": "See"}, image]))
    assert event.text == "See\n\n[image: image/png, 3 kB]"


def test_errors_are_events_and_notices_are_skipped(tmp_path: Path) -> None:
    notes = message(1, "info", "Signed in"), message(2, "error", "429: too many")
    file = write_file(tmp_path, as_lines(HEADER, *notes))
    items = read_items(file)
    (event,) = [r for r in items if isinstance(r, Event)]
    assert (event.role, event.metadata["kind"]) == (EventRole.SYSTEM, "error")
    assert SkippedRecord("info", 2) in items


def test_thoughts_are_stored_separately(tmp_path: Path) -> None:
    thought = {
        "subject": "Plan",
        "description": "First the tests.",
        "timestamp": "2026-03-14T10:00:01.000Z",
    }
    file = write_file(
        tmp_path, as_lines(HEADER, message(2, "gemini", "Done.", thoughts=[thought]))
    )
    (thought_,) = [r for r in read_items(file) if isinstance(r, Thought)]
    assert (thought_.text, thought_.at.second) == ("Plan\nFirst the tests.", 1)


def test_only_unique_ids_are_source_ids(tmp_path: Path) -> None:
    name = "0a1b2c3d-4e5f-4061-8071-2a3b4c5d6e7f"
    unique = message(1, "user", "hi") | {"id": name}
    items = read_events(tmp_path, unique, message(2, "gemini", "hello"))
    assert [e.source_id for e in items] == [name, ""]


def test_a_folder_with_the_projects_hash_is_the_sessions_folder(tmp_path: Path) -> None:
    header = HEADER | {"directories": ["/somewhere/else", "/home/ada/shop"]}
    file = write_file(tmp_path, as_lines(header, message(1, "user", "hi")))
    items = [r for r in read_items(file) if isinstance(r, SessionMetadata)]
    assert {(f.cwd, f.project) for f in items} == {("/home/ada/shop", "")}


def test_project_root_file_gives_the_folder(tmp_path: Path) -> None:
    file = write_file(tmp_path, as_lines(HEADER, message(1, "user", "hi")))
    (file.parent.parent / ".project_root").write_text("/home/ada/shop\n")
    items = [r for r in read_items(file) if isinstance(r, SessionMetadata)]
    assert {f.cwd for f in items} == {"/home/ada/shop"}


def test_registered_project_with_the_hash_gives_the_folder(tmp_path: Path) -> None:
    file = write_file(tmp_path, as_lines(HEADER, message(1, "user", "hi")))
    registered = {"projects": {"/home/ada/git": "git", "/home/ada/shop": "shop"}}
    (file.parents[3] / "projects.json").write_text(json.dumps(registered))
    items = [r for r in read_items(file) if isinstance(r, SessionMetadata)]
    assert {f.cwd for f in items} == {"/home/ada/shop"}


def test_title_and_model_come_at_the_end(tmp_path: Path) -> None:
    records = (
        message(1, "gemini", "hi", model="gemini-3-pro"),
        {"$set": {"summary": "T"}},
    )
    items = read_items(write_file(tmp_path, as_lines(HEADER, *records)))
    facts = [r for r in items if isinstance(r, SessionMetadata)][-1]
    assert (facts.title, facts.model) == ("T", "gemini-3-pro")


def test_file_of_a_subagent_belongs_to_its_session(tmp_path: Path) -> None:
    header = HEADER | {"kind": "subagent", "sessionId": "helper"}
    raw = as_lines(header, message(1, "user", "look"))
    items = read_items(write_file(tmp_path, raw, "parent/helper.jsonl"))
    (event,) = [r for r in items if isinstance(r, Event)]
    assert (event.session_id, event.subagent) == ("parent", "helper")
    assert SubagentMetadata("gemini-cli", "parent", "helper") in items


@pytest.mark.parametrize(
    ("record", "reading"),
    [
        ({"id": "a"}, InvalidRecord("a record without type", 2)),
        ({"id": "a", "type": "poem"}, SkippedRecord("poem", 2)),
        ({"id": "a", "type": "user"}, InvalidRecord("no timestamp", 2)),
        (
            {"id": "a", "type": "user", "timestamp": "soon"},
            InvalidRecord("a bad timestamp", 2),
        ),
        (
            {"id": "a", "type": "user", "timestamp": "2031-01-01T00:00:00Z"},
            InvalidRecord("a timestamp in the future", 2),
        ),
        (message(1, "user", ""), InvalidRecord("a user_message without text", 2)),
        (message(1, "gemini", ""), SkippedRecord("an empty message", 2)),
        ({"$set": 3}, InvalidRecord("a $set that is not an object", 2)),
    ],
)
def test_skipped_records_are_counted_by_type(
    tmp_path: Path, record: dict[str, Any], reading: ParsedItem
) -> None:
    assert reading in read_items(write_file(tmp_path, as_lines(HEADER, record)))


def test_document_and_lines_give_the_same_events(tmp_path: Path) -> None:
    messages = [message(1, "user", "hi"), message(2, "gemini", toolCalls=[call("c")])]
    document = json.dumps(HEADER | {"messages": messages}, indent=2).encode()
    whole = read_items(write_file(tmp_path, document, "session-a.json"))
    rows = read_items(write_file(tmp_path, as_lines(HEADER, *messages)))
    assert [r for r in whole if isinstance(r, Event)] == [
        r for r in rows if isinstance(r, Event)
    ]


def test_a_document_is_read_again_only_when_it_changed(tmp_path: Path) -> None:
    document = HEADER | {"messages": [message(1, "user", "hi")]}
    file = write_file(tmp_path, json.dumps(document).encode(), "session-a.json")
    cursor = last_cursor(read_items(file))
    assert read_items(file, cursor) == [cursor]
    document["messages"] = [message(1, "user", "hi"), message(2, "gemini", "hello")]
    file.write_text(json.dumps(document))
    again = read_items(file, cursor)
    assert isinstance(again[0], FileReplaced)
    assert [r.text for r in again if isinstance(r, Event)] == ["hi", "hello"]


def test_cut_off_document_is_pending(tmp_path: Path) -> None:
    document = json.dumps(HEADER | {"messages": [message(1, "user", "hi")]})
    file = write_file(tmp_path, document[:-20].encode(), "session-a.json")
    assert PendingRecord("the document is cut off", 1) in read_items(file)


def test_too_long_document_is_invalid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jsonl, "MAX_RECORD_BYTES", 1024**2)
    file = write_file(tmp_path, b" " * 1024**2 + b"{}", "session-a.json")
    assert read_items(file)[0] == InvalidRecord("a document longer than 1 MB", 1)


def everything() -> bytes:
    first = message(2, "gemini", "I look.")
    return as_lines(
        HEADER,
        message(1, "user", "Go"),
        {"$set": {"lastUpdated": "2026-03-14T10:00:01Z"}},
        first,
        first | {"toolCalls": [call("c1", "executing", None)]},
        first | {"toolCalls": [call("c1"), call("c2", "validating", None)]},
        {"$rewindTo": "m2"},
        message(40, "user", "Again", displayContent="Again"),
        {
            "$set": {
                "messages": [message(41, "user", "Again"), message(42, "gemini", "!")]
            }
        },
        message(43, "gemini", "Ä" * 50, thoughts=[{"description": "hm"}]),
    )


@given(st.lists(st.integers(min_value=1, max_value=400), max_size=25))
def test_reading_in_pieces_gives_the_same_items(sizes: list[int]) -> None:
    raw = everything()
    with tempfile.TemporaryDirectory() as folder:
        file = write_file(Path(folder), raw)
        whole = [r for r in read_items(file) if isinstance(r, Event | Thought)]
        pieces: list[ParsedItem] = []
        cursor, end = None, 0
        for size in [*sizes, len(raw)]:
            end += size
            file.write_bytes(raw[:end])
            items = read_items(file, cursor)
            cursor = last_cursor(items)
            pieces += [r for r in items if isinstance(r, Event | Thought)]
            # A reply that may be continued is yielded later, in its own place.
    ended = without_starts(pieces)
    assert sorted(ended, key=_place) == sorted(whole, key=_place)


def test_every_message_of_the_real_files_is_stored(shared: Path) -> None:
    folder = shared / "fixtures_other"
    files = [
        *(folder / "deja-vu/registry/gemini").iterdir(),
        *(folder / "agent-sessions/stage0/agents/gemini").glob("[jls][sma]*"),
    ]
    for file in files:
        items = read_items(file)
        counts = Counter(e.event_type for e in items if isinstance(e, Event))
        raw = file.read_text()
        messages = json.loads(raw)["messages"] if file.suffix == ".json" else []
        for record in map(json.loads, raw.splitlines() if not messages else ()):
            messages += record.get("$set", {}).get("messages", [])
            messages += [record] if "id" in record else []
        said = [m for m in messages if m.get("content") or m.get("parts")]
        kinds = Counter(m["type"] for m in said)
        assert counts[EventType.USER_MESSAGE] == kinds["user"] > 0
        assert counts[EventType.ASSISTANT_MESSAGE] == kinds["gemini"] + kinds["model"]
        calls = sum(len(m.get("toolCalls", ())) for m in messages)
        assert counts[EventType.TOOL_RESULT] == calls
        assert not [r for r in items if isinstance(r, InvalidRecord)]


NAMES = [
    *("id", "type", "timestamp", "content", "toolCalls", "thoughts", "args", "result"),
    *("status", "text", "functionResponse", "response", "inlineData", "parts", "model"),
    *("sessionId", "messages", "$set", "$rewindTo", "directories", "displayContent"),
]
leaves = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(["", "\ud800"])
)
objects = st.dictionaries(st.sampled_from(NAMES), leaves, max_size=3)
values = leaves | objects | st.lists(leaves | objects, max_size=2)
nested = values | st.dictionaries(st.sampled_from(NAMES), values, max_size=4)
common = st.sampled_from(["user", "gemini", "2026-03-14T10:00:00Z", "s"])
records = st.lists(
    st.dictionaries(
        st.sampled_from(NAMES),
        common | nested | st.lists(nested, max_size=2),
        max_size=8,
    ),
    min_size=1,
    max_size=4,
)


@given(records, st.booleans())
def test_no_record_raises(items: list[dict[str, Any]], is_document: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for record in items:
            raw = json.dumps(HEADER | record).encode("utf-8", "surrogatepass") + b"\n"
            name = "session-a.json" if is_document else "session-a.jsonl"
            file = write_file(
                Path(folder), as_lines(HEADER) * (not is_document) + raw, name
            )
            first = read_items(file)
            accounts = Event | Thought | SkippedRecord | InvalidRecord | PendingRecord
            assert sum(isinstance(r, accounts) for r in first) > (not is_document)
            assert isinstance(read_items(file, last_cursor(first))[-1], Cursor)


@given(st.binary(max_size=200), st.sampled_from(["session-a.json", "session-a.jsonl"]))
def test_no_bytes_raise(raw: bytes, name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        assert isinstance(read_items(write_file(Path(folder), raw, name))[-1], Cursor)


@pytest.mark.parametrize("status", [["success"], {"is": "success"}, 7, None])
def test_call_with_a_result_has_ended_in_any_status(
    tmp_path: Path, status: object
) -> None:
    (event,) = read_events(
        tmp_path, message(1, "gemini", toolCalls=[call("c1") | {"status": status}])
    )
    assert event.text == "run_shell_command: pytest -q\nok"


def test_prompt_repeated_behind_an_open_call_is_counted(tmp_path: Path) -> None:
    prompt = message(1, "user", "Test it.")
    waiting = message(2, "gemini", toolCalls=[call("t1", "executing", output=None)])
    raw = as_lines(HEADER, prompt, waiting, prompt)
    items = read_items(write_file(tmp_path, raw))
    skipped = [item for item in items if isinstance(item, SkippedRecord)]
    assert "a repeated message" in [item.reason for item in skipped]


def test_folder_that_is_called_by_the_hash_gives_it(tmp_path: Path) -> None:
    digest = hash_folder("/home/ada/shop")
    file = tmp_path / "tmp" / digest / "chats" / "session-a.jsonl"
    file.parent.mkdir(parents=True)
    file.write_bytes(as_lines(message(1, "user", "hi")))  # The header is torn.
    typed = {"sessionId": "s1", "messageId": 0, "type": "user", "message": "hi"}
    prompts = file.parents[1] / "logs.json"
    prompts.write_text(json.dumps([typed | {"timestamp": "2025-03-14T10:00:00Z"}]))
    for source in (file, prompts):
        facts = [r for r in read_items(source) if isinstance(r, SessionMetadata)]
        assert {session.cwd_hash for session in facts} == {digest}
