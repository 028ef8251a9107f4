import json
import tempfile
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.capture import formats
from memtui.capture.formats import copilot, jsonl
from memtui.capture.formats.base import (
    Cursor,
    InvalidRecord,
    ParsedItem,
    PendingRecord,
    SkippedRecord,
)
from memtui.model.events import Event, EventRole, EventType, Thought
from memtui.model.sessions import SessionMetadata, SubagentMetadata
from memtui.store import database
from memtui.store import sessions as store_sessions
from memtui.text.stopwords import word_set
from memtui.workspace import Workspace
from tests.capture import corpora

NOW = datetime(2027, 1, 1, tzinfo=UTC)


def line(kind: str, second: int, **data: Any) -> dict[str, Any]:
    at = f"2025-09-01T10:00:{second:02}.000Z"
    return {"type": kind, "data": data, "id": f"e{second}", "timestamp": at}


def start(**data: Any) -> dict[str, Any]:
    context = {"cwd": "/home/ada/shop/cart", "gitRoot": "/home/ada/shop"}
    about = {"sessionId": "s1", "producer": "copilot-agent", "context": context}
    return line("session.start", 0, **(about | data))


def asks(second: int, key: str, **given: Any) -> dict[str, Any]:
    request = {"toolCallId": key, "name": "bash", "arguments": given}
    return line("assistant.message", second, content="", toolRequests=[request])


def begins(second: int, key: str, **given: Any) -> dict[str, Any]:
    about = {"toolCallId": key, "toolName": "bash", "arguments": given}
    return line("tool.execution_start", second, **about)


def ends(second: int, key: str, **about: Any) -> dict[str, Any]:
    return line("tool.execution_complete", second, toolCallId=key, **about)


def read(*records: object) -> list[ParsedItem]:
    return read_bytes("".join(json.dumps(r) + "\n" for r in records).encode())


def read_bytes(raw: bytes, name: str = "s9/events.jsonl") -> list[ParsedItem]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, name)
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(raw)
        readings = copilot.FORMAT.read(file, None, agent="", now=NOW)
        return [reading for reading in readings if not isinstance(reading, Cursor)]


def read_events(*records: object) -> list[Event]:
    return [r for r in read(*records) if isinstance(r, Event)]


def test_a_prompt_and_its_reply_are_messages() -> None:
    events = read_events(
        line("user.message", 1, content="Fix it", transformedContent="<x>Fix it"),
        line("assistant.message", 2, content="Fixed.", toolRequests=[]),
    )
    assert [(e.event_type, e.role, e.text) for e in events] == [
        (EventType.USER_MESSAGE, EventRole.USER, "Fix it"),
        (EventType.ASSISTANT_MESSAGE, EventRole.ASSISTANT, "Fixed."),
    ]


def test_prompt_of_a_program_has_the_role_system() -> None:
    (said,) = read_events(line("user.message", 1, content="Go on", source="autopilot"))
    assert (said.role, said.metadata["kind"]) == (EventRole.SYSTEM, "autopilot")


def test_attachments_are_shown_without_their_bytes() -> None:
    sent = [
        {"type": "file", "path": "/a.py"},
        {"type": "blob", "mimeType": "image/png", "data": "A" * 8192},
    ]
    (said,) = read_events(line("user.message", 1, content="look", attachments=sent))
    assert said.text == "look\n\n[file: /a.py]\n\n[image: image/png, 6 kB]"


@pytest.mark.parametrize(
    "calls",
    [
        [asks(1, "c1", command="ls")],
        [begins(1, "c1", command="ls")],
        [asks(1, "c1", command="ls"), begins(2, "c1", command="ls")],
        [begins(1, "c1", command="ls"), asks(2, "c1", command="ls")],
    ],
)
def test_call_and_result_are_one_event(calls: list[Any]) -> None:
    done = ends(3, "c1", success=True, result={"content": "a.py"})
    (event,) = read_events(*calls, done)
    assert (event.event_type, event.text) == (EventType.TOOL_RESULT, "bash: ls\na.py")
    assert event.timestamp.second == 3


def test_failed_call_is_marked() -> None:
    failed = ends(2, "c1", success=False, error={"message": "no such file"})
    (event,) = read_events(begins(1, "c1", command="cat x"), failed)
    assert event.metadata["call_end"] == "failed"
    assert event.text == "bash: cat x\nno such file"


def test_abort_ends_open_calls() -> None:
    events = read_events(
        begins(1, "c1", command="sleep"), line("abort", 2, reason="user")
    )
    assert [(e.text, e.timestamp.second) for e in events] == [
        ("bash: sleep", 1),
        ("[aborted: user]", 2),
    ]
    assert events[0].metadata["call_end"] == "unfinished"
    assert events[1].metadata["kind"] == "interruption"


def test_subagent_is_named_by_its_call() -> None:
    within = {"parentToolCallId": "c1"}
    request = {"toolCallId": "c1", "name": "task", "arguments": {"prompt": "Look\nup"}}
    readings = read(
        start(),
        line("assistant.message", 1, content="", toolRequests=[request]),
        line("subagent.started", 2, toolCallId="c1", agentName="explore"),
        line("assistant.message", 3, content="Looking.", **within),
        {
            **begins(4, "c2", command="ls"),
            "data": {**begins(4, "c2")["data"], **within},
        },
        ends(5, "c2", result={"content": "a"}, **within),
        line("subagent.completed", 6, toolCallId="c1", agentName="explore"),
        ends(7, "c1", result={"content": "Found."}),
    )
    assert (
        SubagentMetadata("copilot-cli", "s1", "c1", "explore", "c1", "Look up")
        in readings
    )
    events = [r for r in readings if isinstance(r, Event)]
    assert {e.session_id for e in events} == {"s1"}
    assert [(str(e.event_type), e.subagent) for e in events[1:]] == [
        ("subagent_start", ""),
        ("assistant_message", "c1"),
        ("tool_result", "c1"),
        ("subagent_stop", ""),
        ("tool_result", ""),
    ]


def test_thoughts_are_stored_separately_and_once() -> None:
    readings = read(
        line("assistant.reasoning", 1, reasoningId="r", content="Hm"),
        line("assistant.message", 2, content="Fixed.", reasoningText="Hm"),
    )
    assert [r.text for r in readings if isinstance(r, Thought)] == ["Hm"]


def test_session_start_resume_and_end_are_events() -> None:
    events = read_events(
        start(),
        line("session.compaction_complete", 1, success=True, summaryContent="So far"),
        line("session.shutdown", 2, shutdownType="routine"),
        line("session.resume", 3),
    )
    assert [(str(e.event_type), e.text, *e.metadata.values()) for e in events] == [
        ("session_start", "", "startup"),
        ("session_start", "So far", "compact"),
        ("session_end", "", "routine"),
        ("session_start", "", "resume"),
    ]


def test_session_metadata_precedes_the_first_event() -> None:
    first, *_, last = read(start(), line("session.model_change", 1, newModel="gpt-5"))
    assert isinstance(first, SessionMetadata)
    assert last == SessionMetadata(
        agent="copilot-cli",
        session_id="s1",
        cwd="/home/ada/shop/cart",
        root="/home/ada/shop",
        model="gpt-5",
        at=datetime(2025, 9, 1, 10, tzinfo=UTC),
        created_by="copilot-agent",
    )


@pytest.mark.parametrize(
    ("name", "session"), [("s9/events.jsonl", "s9"), ("s7.jsonl", "s7")]
)
def test_a_session_without_a_start_is_named_by_its_file(
    name: str, session: str
) -> None:
    raw = json.dumps(line("user.message", 1, content="Fix it")).encode()
    (event,) = [r for r in read_bytes(raw, name) if isinstance(r, Event)]
    assert event.session_id == session


@pytest.mark.parametrize(
    ("damaged", "said"),
    [
        ({"data": {}}, InvalidRecord("a record without type", 1)),
        (
            {"type": "user.message", "data": 4},
            InvalidRecord("a record without data", 1),
        ),
        (line("user.message", 1) | {"timestamp": ""}, InvalidRecord("no timestamp", 1)),
        (line("abort", 1) | {"timestamp": "soon"}, InvalidRecord("a bad timestamp", 1)),
        (
            line("session.hologram", 1),
            SkippedRecord("session.hologram", 1),
        ),
        (line("hook.start", 1), SkippedRecord("hook.start", 1)),
    ],
)
def test_skipped_records_are_counted_by_type(damaged: object, said: ParsedItem) -> None:
    assert said in read(damaged)


Lasting = Callable[[list[ParsedItem]], object]
InPieces = Callable[[Any, Path, int], list[ParsedItem]]


def sessions(shared: Path) -> list[Path]:
    limit = formats.HEAD_LINES
    items = [
        file
        for file in corpora.real_files(shared)
        if copilot.FORMAT.matches_content(file, jsonl.read_head(file, limit))
    ]
    assert len(items) == 8
    return items


def test_real_sessions_in_pieces_give_the_same_items(
    shared: Path, read_in_pieces: InPieces, comparable: Lasting
) -> None:
    for seed, file in enumerate(sessions(shared)):
        whole = list(copilot.FORMAT.read(file, None, agent="", now=NOW))
        for more in range(4):
            pieces = read_in_pieces(copilot.FORMAT, file, 100 * seed + more)
            assert comparable(pieces) == comparable(whole), file


def test_every_message_of_real_sessions_is_read_once(shared: Path) -> None:
    files = list((shared / "copilot_cli" / "agentv").glob("*.jsonl"))
    assert files
    for file in files:
        expected, calls = Counter[Any](), set()
        for raw in file.read_text().splitlines():
            record = json.loads(raw)
            kind, data = record["type"], record["data"]
            if kind in ("user.message", "assistant.message") and data["content"]:
                expected[kind.partition(".")[0], data["content"]] += 1
            if kind == "tool.execution_complete":
                calls.add(data["toolCallId"])
        events = [
            r
            for r in copilot.FORMAT.read(file, None, agent="", now=NOW)
            if isinstance(r, Event)
        ]
        got = Counter((str(e.role), e.text) for e in events if e.is_message)
        assert got == expected
        tools = [e for e in events if e.event_type is EventType.TOOL_RESULT]
        assert {e.metadata["tool_use_id"] for e in tools} == calls
        assert len(tools) == len(calls)


def test_every_record_of_real_sessions_is_stored_or_counted(shared: Path) -> None:
    for file in sessions(shared):
        assert list_uncounted(file.read_bytes()) == [], file


def list_uncounted(raw: bytes) -> list[str]:
    """Return the records that yield nothing and belong to no call."""
    spoken = set()
    for reading in read_bytes(raw):
        if isinstance(reading, SkippedRecord | InvalidRecord | PendingRecord):
            spoken.add(reading.line)
        elif isinstance(reading, Event):
            spoken.add(reading.ordinal // 100)
    return [
        text[:200]
        for number, text in enumerate(raw.decode().split("\n"), 1)
        if text.strip() and number not in spoken and not is_call_or_thought(text)
    ]


def is_call_or_thought(text: str) -> bool:
    record = json.loads(text)
    data = record["data"]
    kind = record["type"]
    is_asking = kind == "assistant.message" and bool(
        data.get("toolRequests") or data.get("reasoningText")
    )
    return is_asking or kind in ("tool.execution_start", "assistant.reasoning")


KEYS = sorted(
    word_set(
        """content toolRequests toolCallId name toolName arguments success result error
message sessionId context cwd gitRoot branch newModel model title source attachments
parentToolCallId reasoningText contents type data mimeType agentName prompt reason
shutdownType summaryContent detailedContent"""
    )
)
"""Fields of records, at any depth."""

values = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(["", "x", "c1", '{"prompt": 1}', "{"])
    | st.text(max_size=5)
)
objects = st.dictionaries(st.sampled_from(KEYS), values, max_size=4)
nested = values | objects | st.lists(values | objects, max_size=3)
kinds = st.sampled_from(sorted({*copilot.READ_TYPES, "session.info", "hook.start"}))
records = st.builds(
    lambda kind, data, at, name: {
        "type": kind,
        "data": data,
        "timestamp": at,
        "id": name,
    },
    kinds | values,
    st.dictionaries(st.sampled_from(KEYS), nested, max_size=7) | nested,
    st.just("2025-09-01T10:00:00Z") | values,
    st.just("e1") | values,
)


@given(st.lists(records, max_size=6))
def test_every_record_is_stored_or_counted(given: list[dict[str, Any]]) -> None:
    raw = "".join(json.dumps(record) + "\n" for record in given).encode()
    assert list_uncounted(raw) == []


@given(st.binary(max_size=200))
def test_no_bytes_raise(raw: bytes) -> None:
    read_bytes(raw)


def test_a_real_session_cut_anywhere_is_read(shared: Path) -> None:
    place = "fixtures_other/agent-sessions/stage0/agents/copilot/schema_drift.jsonl"
    raw = (shared / place).read_bytes()
    for end in range(0, len(raw), 17):
        read_bytes(raw[:end])


@pytest.mark.parametrize(
    ("repository", "project"),
    [
        ("ada/shop", "shop"),
        ("https://github.com/ada/shop.git", "shop"),
        ("", "cart"),
    ],
)
def test_a_session_belongs_to_the_repository_in_its_records(
    repository: str, project: str, workspace: Workspace, tmp_path: Path
) -> None:
    context = {"cwd": "/gone/work/cart", "repository": repository}
    at = {"timestamp": "2026-03-14T10:00:00Z"}
    records = [
        {"type": "session.start", "id": "e1", "data": {"context": context}, **at},
        {"type": "user.message", "id": "e2", "data": {"content": "Fix it"}, **at},
    ]
    file = tmp_path / "session-state/s1/events.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text("".join(json.dumps(item) + "\n" for item in records))
    list(workspace.pipeline.importer().run([file]))
    with database.connection():
        items = store_sessions.get("copilot-cli", "s1")
    assert items and items.project == project


@pytest.mark.parametrize(
    ("text", "title", "summary"),
    [
        ("name: Pipeline\nsummary: It fails", "Pipeline", "It fails"),
        ("summary: It fails: now\nid: x", "It fails: now", "It fails: now"),
        ("name: 'Ada''s pipeline'", "Ada's pipeline", ""),
        ('name: "caf\\u00e9 \\"x\\""', 'café "x"', ""),
        ('name: "open', "open", ""),
        ("summary: |-\n  Two\n\n  lines\nid: x", "Two lines", "Two lines"),
        ("summary: >\n  Two\n  lines", "Two lines", "Two lines"),
        ("name: Long\n  name\nid: x", "Long name", ""),
        ("  name: nested", "", ""),
        ("name:\nsummary:", "", ""),
        ("name: null\nsummary: ~", "", ""),
        ('name: "A # b"  # why\r', "A # b", ""),
        ("\ufeffname: Title", "Title", ""),
        ("name: Title  # why\nsummary: 'Fix #12 # now'", "Title", "Fix #12 # now"),
        ("\x00\xff{[", "", ""),
    ],
)
def test_name_is_read_from_the_file_beside(
    tmp_path: Path, text: str, title: str, summary: str
) -> None:
    file, beside = tmp_path / "events.jsonl", tmp_path / copilot.WORKSPACE
    file.write_text(json.dumps(start()) + "\n")
    beside.write_text(f"{text}\nupdated_at: 2026-11-20T09:10:00.000Z\n")
    assert list(copilot.FORMAT.related_files(file)) == [beside]
    readings = copilot.FORMAT.read(file, None, agent="", now=NOW)
    *_, last = (r for r in readings if isinstance(r, SessionMetadata))
    assert (last.title, last.summary) == (title, summary)
    if title:
        assert last.facts_at == datetime(2026, 11, 20, 9, 10, tzinfo=UTC)


def test_folder_is_read_from_the_file_beside_if_no_record_has_it(
    tmp_path: Path,
) -> None:
    file, beside = tmp_path / "events.jsonl", tmp_path / copilot.WORKSPACE
    beside.write_text("cwd: /home/ada/kiosk/src\ngit_root: /home/ada/kiosk\n")
    unplaced = line("user.message", 1, content="Why?")
    for record, project in ((start(), "shop"), (unplaced, "kiosk")):
        file.write_text(json.dumps(record) + "\n")
        readings = copilot.FORMAT.read(file, None, agent="", now=NOW)
        first = next(r for r in readings if isinstance(r, SessionMetadata))
        assert first.root == f"/home/ada/{project}"
        assert first.cwd.startswith(first.root)


def test_message_that_a_context_is_cleared_with_is_read_once() -> None:
    cleared = line("session.context_cleared", 1, initialMessage="Round the prices")
    again = line("user.message", 2, content="Round the prices")
    start, prompt = read_events(cleared, again)
    assert (start.event_type, start.metadata["source"]) == (
        EventType.SESSION_START,
        "clear",
    )
    assert (prompt.role, prompt.text) == (EventRole.USER, "Round the prices")
    (alone,) = [e for e in read_events(cleared) if e.is_message]
    assert alone.text == prompt.text


def test_summary_of_a_task_is_the_agents() -> None:
    done = line("session.task_complete", 1, summary="The prices are rounded.")
    (event,) = read_events(done)
    assert (event.role, event.text) == (EventRole.ASSISTANT, "The prices are rounded.")


def test_continuation_by_autopilot_is_no_prompt_of_the_user() -> None:
    text = "You have not marked the task as complete. Keep working."
    record = line("user.message", 2, content=text, isAutopilotContinuation=True)
    (said,) = [e for e in read(start(), record) if isinstance(e, Event)][1:]
    assert (said.role, said.metadata["kind"]) == (EventRole.SYSTEM, "autopilot")
