"""The rows of seed 3, the sequences of the data flow."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from memtui import hook, store
from memtui.capture.formats import hooks
from memtui.capture.formats.base import InvalidRecord, SkippedRecord
from memtui.errors import UsageError
from memtui.model import calendar
from memtui.model.calendar import TocLevel
from memtui.model.events import (
    TOOL_CHARS,
    Event,
    EventRole,
    EventType,
    counted_text,
    timestamp_ms_of_id,
    to_ms,
)
from memtui.model.jobs import Job, JobSchedule, find_cron_error
from memtui.model.nodes import NodeStatus
from memtui.pipeline import summarization
from memtui.pipeline.model_worker import MIN_AGES
from memtui.services import browse, conversation
from memtui.settings import Settings
from memtui.store import conversations, database, events, jobs, queues, sessions
from memtui.summarize import segmenter
from memtui.summarize.segmenter import SegmentRules
from memtui.text.tokens import estimate
from memtui.tools import changes, history, replies, toc
from memtui.tools import sessions as agents_sessions
from memtui.workspace import Workspace
from tests.cli_runner import json_data, run_memtui
from tests.conftest import HISTORY
from tests.message_factory import make_message, store_messages
from tests.tables import (
    BulletGripRow,
    BulletRow,
    CheckpointRow,
    EventRow,
    GripRow,
    NodeRow,
    OutboxRow,
    SegmentRow,
    VersionRow,
)


@contextmanager
def open_copy(digested: Path, home: Path) -> Iterator[sqlite3.Connection]:
    """Copy a home, and open its store so that its events can be damaged."""
    shutil.copytree(digested, home)
    with closing(sqlite3.connect(home / "memory.db")) as opened, opened:
        opened.execute("INSERT INTO events_unlocked VALUES (1)")
        yield opened
        opened.execute("DELETE FROM events_unlocked")


@pytest.fixture(
    params=[
        "metadata = '{'",
        "metadata = '[1]'",
        "type = 'no type'",
        "role = 'no role'",
        "text = x'ff00fe'",
        "tokens = x'00'",
        "token_counter = x'00'",
    ]
)
def damaged_home(
    request: pytest.FixtureRequest, digested: Path, tmp_path: Path
) -> tuple[Path, str]:
    """A home with an event that cannot be read, and the event's id."""
    home = tmp_path / "home"
    with open_copy(digested, home) as opened:
        (event_id,) = opened.execute(
            "SELECT e.id FROM events e JOIN sessions s ON s.id = e.session_id"
            " WHERE s.name = 'shop-1' ORDER BY e.at_ms LIMIT 1 OFFSET 2"
        ).fetchone()
        opened.execute(f"UPDATE events SET {request.param} WHERE id = ?", (event_id,))
    return home, event_id


def ask_json(home: Path, tool: str, arguments: str) -> dict[str, Any]:
    """Call a tool of the agents and return its data."""
    data = json_data(
        run_memtui(home, "call", tool, *arguments.split(), "--json").stdout
    )
    assert isinstance(data, dict)
    return data


RECEIVED = datetime(2026, 1, 31, 10, 15, 30, tzinfo=UTC)


def read_hook(payload: object, **options: str) -> list[object]:
    """Read a hook's payload: an object, or the bytes of a file."""
    raw = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    return list(hooks.read(raw, received_at=RECEIVED, now=RECEIVED, **options))


def events_of(payload: object, **options: str) -> list[Event]:
    return [item for item in read_hook(payload, **options) if isinstance(item, Event)]


def take_in(workspace: Workspace) -> None:
    assert workspace.pipeline.run_until_idle(lambda _: None) == []


PROMPTS = [
    {"session_id": "s1", "hook_event_name": "UserPromptSubmit", "prompt": text}
    for text in ("One.", "Two.")
]


@pytest.mark.parametrize("spool", ["/dev/null/spool", "/proc/spool"])
def test_s3_01_16_and_19_a_hook_never_fails_the_agent(spool: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-I", hook.__file__, "--spool", spool],
        input=json.dumps(PROMPTS[0]).encode(),
        capture_output=True,
        check=False,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")


def test_s3_01_a_hooks_event_is_kept_while_memtui_does_not_run(
    workspace: Workspace,
) -> None:
    payload = json.dumps(PROMPTS[0]).encode()
    hook.write_event([payload], str(workspace.paths.spool), "", is_synced=False)
    (file,) = (workspace.paths.spool / "new").iterdir()
    assert file.read_bytes() == payload
    take_in(workspace)
    assert not file.exists()
    items = agents_sessions.list_messages(workspace, "s1").items
    assert [item["text"] for item in items] == ["One."]


def test_s3_02_an_event_from_hook_and_transcript_is_stored_once(
    workspace: Workspace,
) -> None:
    message = make_message("Polish the harbour crane.")
    store_messages(message, route="hook")
    later = replace(message, event_id=f"{message.event_id[:-1]}Z")
    later = replace(later, timestamp=message.timestamp + timedelta(milliseconds=300))
    store_messages(later, route="transcript")
    with database.connection():
        assert EventRow.select().count() == 1


def test_s3_03_and_22_a_failed_write_stores_no_event_and_no_outbox_row(
    workspace: Workspace,
) -> None:
    with database.transaction():
        database.db.execute_sql(
            "CREATE TRIGGER no_outbox BEFORE INSERT ON outbox"
            " BEGIN SELECT RAISE(ABORT, 'no space'); END"
        )
    with pytest.raises(Exception, match="no space"):
        store_messages(make_message("Polish the harbour crane."))
    with database.connection():
        assert not EventRow.select().count()
        assert not OutboxRow.select().count()


def test_s3_04_a_stop_keeps_its_content() -> None:
    payload = {
        "session_id": "s1",
        "event_type": "Stop",
        "content": "The cart is fixed.",
        "timestamp": "2025-03-14T10:00:00Z",
    }
    at = datetime(2025, 3, 14, 10, tzinfo=UTC)
    raw = json.dumps(payload).encode()
    read_events = [
        e for e in hooks.read(raw, received_at=at, now=at) if isinstance(e, Event)
    ]
    assert [(event.event_type.value, event.text) for event in read_events] == [
        ("assistant_message", "The cart is fixed."),
        ("assistant_stop", ""),
    ]


HOOK_VECTORS: list[tuple[str, dict[str, Any], list[str]]] = [
    ("SessionStart", {}, ["session_start"]),
    ("UserPromptSubmit", {"prompt": "Fix the cart"}, ["user_message"]),
    ("PostToolUse", {"tool_name": "Read", "tool_response": "x"}, ["tool_result"]),
    ("PostToolUseFailure", {"tool_name": "Read", "error": "x"}, ["tool_result"]),
    ("Stop", {}, ["assistant_stop"]),
    (
        "Stop",
        {"last_assistant_message": "Done."},
        ["assistant_message", "assistant_stop"],
    ),
    ("SubagentStart", {"agent_id": "a1"}, ["subagent_start"]),
    ("SubagentStop", {"agent_id": "a1"}, ["subagent_stop"]),
    ("SessionEnd", {}, ["session_end"]),
    # The names of this document, and of other agents.
    ("AssistantResponse", {"content": "Done."}, ["assistant_message"]),
    ("ToolResult", {"tool_name": "Read", "content": "x"}, ["tool_result"]),
    ("BeforeAgent", {"prompt": "Fix the cart"}, ["user_message"]),
    ("AfterTool", {"tool_name": "Read", "tool_response": "x"}, ["tool_result"]),
    (
        "AfterAgent",
        {"prompt_response": "Done."},
        ["assistant_message", "assistant_stop"],
    ),
    ("user_prompt_submit", {"prompt": "Fix the cart"}, ["user_message"]),
]


@pytest.mark.parametrize("key", ["event_type", "hook_event_name"])
@pytest.mark.parametrize(("name", "fields", "expected"), HOOK_VECTORS)
def test_s3_05_each_hook_becomes_its_type_of_event(
    key: str, name: str, fields: dict[str, Any], expected: list[str]
) -> None:
    read_events = events_of({"session_id": "s1", key: name, **fields})
    assert [event.event_type.value for event in read_events] == expected


@pytest.mark.parametrize("name", ["PreToolUse", "Notification", "PreCompact"])
def test_s3_05_other_hooks_are_known_and_not_stored(name: str) -> None:
    payload = {"session_id": "s1", "hook_event_name": name, "message": "x"}
    (record,) = read_hook(payload)
    assert isinstance(record, SkippedRecord)


def test_s3_05_an_unknown_hook_goes_to_quarantine(workspace: Workspace) -> None:
    new = workspace.paths.spool / "new"
    new.mkdir(parents=True)
    payload = {"session_id": "s1", "event_type": "Frobnicate", "content": "Go on."}
    (new / "1.json").write_text(json.dumps(payload))
    take_in(workspace)
    with database.connection():
        assert not EventRow.select().count()
    assert not list(new.iterdir())
    assert [path.suffix for path in (workspace.paths.spool / "bad").iterdir()]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (json.dumps(PROMPTS[0]), ["One."]),
        (json.dumps(PROMPTS[0], indent=2), ["One."]),
        (json.dumps(PROMPTS), ["One.", "Two."]),
        ("\n".join(map(json.dumps, PROMPTS)), ["One.", "Two."]),
        ("\n".join(map(json.dumps, PROMPTS)) + "\n", ["One.", "Two."]),
    ],
)
def test_s3_05_a_hooks_input_may_have_any_layout(raw: str, expected: list[str]) -> None:
    assert [event.text for event in events_of(raw.encode())] == expected


@pytest.mark.parametrize(
    ("path", "agent"),
    [
        ("/home/ada/.claude/projects/shop/s1.jsonl", "claude-code"),
        ("/home/ada/.codex/sessions/s1.jsonl", "codex"),
        ("/home/ada/.gemini/tmp/s1.json", "gemini-cli"),
        ("/home/ada/.copilot/s1.jsonl", "copilot-cli"),
    ],
)
def test_s3_05_the_agent_is_known_by_the_folder_of_its_transcript(
    path: str, agent: str
) -> None:
    (event,) = events_of(PROMPTS[0] | {"transcript_path": path})
    assert event.agent == agent


def test_s3_06_a_hooks_event_keeps_tool_name_and_metadata() -> None:
    payload = {
        "session_id": "s1",
        "event_type": "PostToolUse",
        "tool_name": "Read",
        "content": "fn refresh()",
        "metadata": {"duration_ms": "12"},
    }
    at = datetime(2025, 3, 14, 10, tzinfo=UTC)
    event, _ = hooks.read(json.dumps(payload).encode(), received_at=at, now=at)
    assert isinstance(event, Event)
    assert event.metadata == {"duration_ms": "12", "tool_name": "Read"}
    assert event.text == "Read\nfn refresh()"


@pytest.mark.parametrize(
    ("payload", "text"),
    [
        ({"tool_input": {"command": "ls"}, "tool_response": "a.py"}, "Bash: ls\na.py"),
        (
            {
                "tool_input": {"command": "ls"},
                "tool_response": {"stdout": "a", "stderr": "b"},
            },
            "Bash: ls\na\nb",
        ),
        ({"tool_input": {"command": "ls"}, "error": "exit 2"}, "Bash: ls\nexit 2"),
        ({"content": "a.py"}, "Bash\na.py"),
    ],
)
def test_s3_06_input_and_response_of_a_tool_are_both_kept(
    payload: dict[str, Any], text: str
) -> None:
    name = "PostToolUseFailure" if "error" in payload else "PostToolUse"
    common = {"session_id": "s1", "hook_event_name": name, "tool_name": "Bash"}
    (event,) = events_of(common | payload)
    assert event.text == text and event.metadata["tool_name"] == "Bash"


@pytest.mark.parametrize("fields", [{}, {"timestamp": "2025-03-14T10:00:00Z"}])
def test_s3_07_an_event_is_given_an_id_with_its_time(
    fields: dict[str, Any],
) -> None:
    (event,) = events_of(PROMPTS[0] | fields)
    (again,) = events_of(PROMPTS[0] | fields)
    assert event.event_id == again.event_id and len(event.event_id) == 26
    stamp = fields.get("timestamp")
    at = datetime.fromisoformat(stamp) if stamp else RECEIVED
    assert timestamp_ms_of_id(event.event_id) == to_ms(at)


def test_s3_08_and_10_a_program_adds_an_event_by_a_call(tmp_path: Path) -> None:
    home = tmp_path / "home"
    arguments = ("session=mcp:s1", "event_type=user_message", "text=Feed the walrus.")
    answer = run_memtui(home, "call", "ingest_event", *arguments, "--json").stdout
    data = json_data(answer)
    assert data["created"] is True and len(data["event_id"]) == 26
    run_memtui(home, "work", "--until-idle")
    exported = run_memtui(home, "export", "--events").stdout.splitlines()
    (event,) = [row for row in map(json.loads, exported) if "event_type" in row]
    assert (event["id"], event["text"]) == (data["event_id"], "Feed the walrus.")
    assert (event["event_type"], event["session_id"]) == ("user_message", "s1")


REFUSED = [
    ({"event_type": "UserPromptSubmit", "content": "x"}, "no session id"),
    (
        {"session_id": " ", "event_type": "UserPromptSubmit", "content": "x"},
        "no session id",
    ),
    ({"session_id": "s1", "content": "x"}, "no event name"),
    (
        {"session_id": "s1", "event_type": "Frobnicate", "content": "x"},
        "unknown hook event 'Frobnicate'",
    ),
    (
        {"session_id": "s1", "event_type": "UserPromptSubmit", "content": ""},
        "a user_message without text",
    ),
    (b"{", "not valid JSON"),
    (b"", "an empty file"),
    (b"[]", "nothing in it"),
    (b'["x"]', "not a JSON object"),
]


@pytest.mark.parametrize(("payload", "reason"), REFUSED)
def test_s3_09_20_21_and_23_an_invalid_hook_is_refused_with_its_reason(
    payload: object, reason: str
) -> None:
    (record,) = read_hook(payload)
    assert isinstance(record, InvalidRecord) and record.reason == reason


def test_s3_11_and_13_a_new_event_is_looked_up_and_queued_once(
    workspace: Workspace,
) -> None:
    message = make_message("Polish the harbour crane.")
    for _ in range(2):
        store_messages(message)
        with database.connection():
            queued = sorted((row.action, row.at_ms) for row in OutboxRow.select())
            assert EventRow.select().count() == 1
        assert queued == [
            ("index_event", message.timestamp_ms),
            ("update_toc", message.timestamp_ms),
        ]


def test_s3_12_an_event_that_comes_again_is_not_created(
    workspace: Workspace, tmp_path: Path
) -> None:
    payload = {"session_id": "s1", "hook_event_name": "UserPromptSubmit"}
    payload |= {"prompt": "Fix the cart", "timestamp": "2025-03-14T10:00:00Z"}
    for number in range(2):
        file = workspace.paths.spool / "new" / f"{number}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(payload))
        assert workspace.pipeline.run_until_idle(lambda _: None) == []
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(HISTORY.read_bytes())
    for file, created in ((HISTORY, 44), (copy, 0)):
        importer = workspace.pipeline.importer()
        list(importer.run([file]))
        progress = importer.progress
        assert (progress.created, progress.already_stored) == (created, 44 - created)
    with database.connection():
        assert sessions.count_events()[0] == 45


def test_s3_14_every_way_in_says_what_was_created(workspace: Workspace) -> None:
    message = make_message("Polish the harbour crane.")
    with database.transaction():
        first = events.add([message], route="hook")
        again = events.add([message], route="hook")
    assert first.created == [message.event_id] and first.already_stored == 0
    assert again.created == [] and again.already_stored == 1
    answer = changes.append_message(
        workspace, "mcp:s1", "user", "Feed the walrus."
    ).head
    assert len(answer["event_id"]) == 26


def test_s3_15_an_event_is_on_the_disk_when_it_is_answered(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    sync = os.fsync

    def record(descriptor: int) -> None:
        synced.append(str(Path(f"/proc/self/fd/{descriptor}").readlink()))
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", record)
    answer = changes.ingest_event(
        workspace, session="mcp:s1", event_type="user_message", text="Feed the walrus."
    )
    assert answer.head["created"] is True
    new = workspace.paths.spool / "new"
    (file,) = new.iterdir()
    assert synced == [str(workspace.paths.spool / "tmp" / file.name), str(new)]
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    with database.connection():
        assert list(events.get([answer.head["event_id"]]))


def test_s3_17_the_example_of_a_hooks_event_becomes_the_example_of_an_event() -> None:
    (event,) = events_of(
        {
            "session_id": "session-abc123",
            "event_type": "UserPromptSubmit",
            "content": "How do I implement JWT authentication?",
            "timestamp": "2026-01-31T10:15:30Z",
            "tool_name": None,
            "metadata": None,
        }
    )
    assert len(event.event_id) == 26
    assert event.session_id == "session-abc123"
    assert event.timestamp == RECEIVED and event.timestamp_ms == 1_769_854_530_000
    assert (event.event_type, event.role) == (EventType.USER_MESSAGE, EventRole.USER)
    assert event.text == "How do I implement JWT authentication?"
    assert event.metadata == {}


def test_s3_17_a_hook_without_a_time_has_that_of_its_file(workspace: Workspace) -> None:
    new = workspace.paths.spool / "new"
    new.mkdir(parents=True)
    (new / "1.json").write_text(json.dumps(PROMPTS[0]))
    os.utime(new / "1.json", (RECEIVED.timestamp(), RECEIVED.timestamp()))
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    with database.connection():
        (row,) = EventRow.select()
    assert row.at_ms == to_ms(RECEIVED)


@pytest.mark.parametrize(
    "stamp", ["2026-01-31T10:15:30Z", "2026-01-31T11:15:30+01:00", 1_769_854_530_000]
)
def test_s3_17_a_hooks_time_may_have_any_form(stamp: object) -> None:
    (event,) = events_of(PROMPTS[0] | {"timestamp": stamp})
    assert event.timestamp == RECEIVED


def test_s3_17_times_of_the_wrong_unit_are_refused() -> None:
    payload = PROMPTS[0] | {"timestamp": "1970-01-21T11:37:34Z"}
    (record,) = read_hook(payload)
    assert isinstance(record, InvalidRecord) and "before 2000" in record.reason


def test_s3_18_events_are_kept_in_the_order_of_their_times(
    workspace: Workspace,
) -> None:
    numbers = (5, 1, 4, 2, 3)
    for number in numbers:
        store_messages(make_message(f"Crane {number}.", number))
    with database.connection():
        rows = list(EventRow.select().order_by(EventRow.id))
    assert [row.text for row in rows] == [f"Crane {n}." for n in sorted(numbers)]
    assert [row.at_ms for row in rows] == sorted(row.at_ms for row in rows)


def test_s3_24_a_hook_returns_when_its_event_is_in_the_spool(tmp_path: Path) -> None:
    spool = tmp_path / "spool"
    ended = subprocess.run(
        [sys.executable, "-I", hook.__file__, "--spool", str(spool)],
        input=json.dumps(PROMPTS[0]).encode(),
        capture_output=True,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (0, b"")
    (file,) = (spool / "new").iterdir()
    assert json.loads(file.read_bytes()) == PROMPTS[0]
    assert not list((spool / "tmp").iterdir())


def test_s3_25_a_summary_comes_before_the_events(full_workspace: Workspace) -> None:
    page = agents_sessions.list_messages(full_workspace, "grep-1", limit=50)
    messages = replies.fit_text(page, 5_000, full_workspace.counter).text
    (entry,) = browse.list_children("toc:day:2024-01-22")
    reply = toc.get_node(full_workspace, entry.node_id)
    summary = replies.fit_text(reply, 5_000, full_workspace.counter).text
    assert "perf record" not in summary and "profile it" in summary
    assert "Most lines can be thrown away" not in summary
    assert "Most lines can be thrown away" in messages


def test_s3_26_segments_follow_the_times_of_events(workspace: Workspace) -> None:
    # The second segment arrives first.
    store_messages(make_message("Grease the winch.", 7_200))
    take_in(workspace)
    store_messages(
        make_message("It is polished.", 60, role=EventRole.ASSISTANT),
        make_message("Polish the crane.", 0),
    )
    take_in(workspace)
    segments = browse.list_children("toc:day:2025-03-14")
    assert [segment.headline or segment.title for segment in segments] == [
        "Grease the winch.",
        "Polish the crane.",
    ]
    with database.connection():
        rows = SegmentRow.select().order_by(SegmentRow.start_ms)
        assert [(row.events, row.messages) for row in rows] == [(2, 2), (1, 1)]


@pytest.mark.parametrize(
    ("role", "is_cut"),
    [("tool", True), ("system", True), ("user", False), ("assistant", False)],
)
def test_s3_27_results_of_tools_are_shortened_for_summaries(
    role: str, is_cut: bool
) -> None:
    event = make_message("word " * 1_000, role=EventRole(role), tool="Bash")
    assert len(counted_text(event)) == (TOOL_CHARS if is_cut else len(event.text))
    assert len(event.text) == 5_000 and TOOL_CHARS == 1_000


def test_s3_28_39_and_40_a_segment_ends_at_a_pause_or_before_it_is_too_large() -> None:
    def counts(*messages: tuple[float, int]) -> list[int]:
        talk = [
            replace(make_message(f"crane {n}", 60 * minute), tokens=tokens)
            for n, (minute, tokens) in enumerate(messages)
        ]
        return [len(run) for run in segmenter.split_events(talk, SegmentRules())]

    assert counts((0, 9), (30, 9)) == [2]
    assert counts((0, 9), (30.1, 9)) == [1, 1]
    assert counts((0, 3_000), (1, 1_000)) == [2]
    assert counts((0, 3_000), (1, 1_001)) == [1, 1]


def test_s3_29_an_open_segment_is_provisional_and_live(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = datetime.now(UTC)
    said = [
        replace(make_message(text, n), timestamp=now - timedelta(minutes=5 - n))
        for n, text in enumerate(("Polish the crane.", "Grease it too."))
    ]
    store_messages(*said)
    take_in(workspace)
    (year,) = browse.list_children()
    path = [year]
    while path[-1].level is not TocLevel.SEGMENT:
        path.append(browse.list_children(path[-1].node_id)[0])
    segment = path[-1]
    assert segment.status is NodeStatus.PROVISIONAL
    assert segment.is_live and all(entry.is_live for entry in path)


def test_s3_30_a_segment_is_summarized_from_its_own_events(
    workspace: Workspace,
) -> None:
    # A decision has the events before it be context alone, as for its title.
    talk = [
        replace(make_message("Polish the walrus statue."), tokens=3_900),
        replace(make_message("Grease the winch.", 60), tokens=200),
    ]
    store_messages(*talk)
    take_in(workspace)
    second, first = browse.list_children("toc:day:2025-03-14")
    for entry, own, other in ((first, "walrus", "winch"), (second, "winch", "walrus")):
        node = browse.get_node(entry.node_id)
        assert node is not None
        text = " ".join([node.title, *(bullet.text for bullet in node.bullets)])
        assert own in text and other not in text


def test_s3_31_a_segment_has_the_parts_of_a_summary(full_workspace: Workspace) -> None:
    (entry,) = browse.list_children("toc:day:2024-01-22")
    node = browse.get_node(entry.node_id)
    assert node is not None
    assert node.title.startswith("logsift takes 40 seconds")
    kinds = [bullet.kind.value for bullet in node.bullets]
    assert "outcome" in kinds and "files" in kinds
    assert len(node.keyword_texts) >= 3
    assert all(bullet.grip_ids for bullet in node.bullets)


def test_s3_31_a_summarys_bullets_are_the_lines_of_its_card(
    full_workspace: Workspace,
) -> None:
    (entry,) = browse.list_children("toc:day:2024-01-15")
    node = browse.get_node(entry.node_id)
    assert node is not None
    by_kind = {bullet.kind.value: bullet.text for bullet in node.bullets}
    assert by_kind["tests"].startswith("14 passed")
    assert "settings.py" in by_kind["files"] and "middleware.py" in by_kind["files"]
    assert "state" not in by_kind, "it is that of the whole session"
    assert "ten minutes" in by_kind["asked"]
    assert "I changed SESSION_TTL to 3600" in " ".join(by_kind.values())


def test_s3_32_and_41_the_summary_becomes_a_node_of_its_day(
    full_workspace: Workspace,
) -> None:
    with database.connection():
        rows = list(NodeRow.select().where(NodeRow.level == "segment"))
        versions = {row.node_id: row for row in VersionRow.select()}
        segments = {row.id for row in SegmentRow.select()}
    assert {row.node_id for row in rows} == segments and len(segments) == 6
    for row in rows:
        version = versions[row.node_id]
        assert row.parent_id == calendar.parent_id(row.node_id)
        assert version.level == "segment" and version.headline
        assert version.bullets >= 2 and json.loads(version.keywords)


def test_s3_33_and_34_a_grip_is_stored_with_its_node(full_workspace: Workspace) -> None:
    with database.connection():
        assert BulletGripRow.select().count() > 20
        for row in BulletGripRow.select():
            bullet = BulletRow.get_by_id(row.bullet_id)
            version = VersionRow.get_by_id(bullet.version_id)
            grip = GripRow.get_by_id(row.grip_id)
            assert grip.node_id.startswith("toc:segment:")
            above = calendar.path(grip.node_id)
            # Its own node's, or inherited by one above.
            assert version.node_id in above
            assert EventRow.select().where(EventRow.id == grip.start_event_id).exists()


def test_s3_35_all_four_parents_exist_with_the_segment(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ValueError("no roll-up today")

    monkeypatch.setattr(summarization.RollupStage, "_roll_up", fail)
    for _ in workspace.pipeline.importer().run([HISTORY]):
        pass
    assert workspace.pipeline.run_until_idle(lambda _: None)
    with database.connection():
        segments = NodeRow.select().where(NodeRow.level == "segment").count()
    segment_ids: list[str] = []
    waiting = [entry.node_id for entry in browse.list_children()]
    while waiting:
        name = waiting.pop()
        segment_ids += [name] if name.startswith("toc:segment:") else []
        waiting += [entry.node_id for entry in browse.list_children(name)]
    assert len(segment_ids) == segments == 6


@pytest.mark.parametrize(
    "failing", ["toc:day:2023-12-11", "toc:week:2023-W50", "toc:month:2023-12"]
)
def test_s3_35_parents_exist_if_the_roll_up_of_one_node_fails(
    workspace: Workspace, failing: str
) -> None:
    for _ in workspace.pipeline.importer().run([HISTORY]):
        pass
    with database.connection():
        database.execute(
            "CREATE TRIGGER one_fails BEFORE INSERT ON node_versions"
            f" WHEN NEW.node_id = '{failing}'"
            " BEGIN SELECT RAISE(ABORT, 'not today'); END"
        )
    (error,) = workspace.pipeline.run_until_idle(lambda _: None)
    assert str(error).startswith(f"{failing} cannot be rolled up: ")
    node = browse.get_node(failing)
    assert node is not None and node.status is NodeStatus.PENDING
    for parent_id in calendar.path(failing)[:-1]:
        parent = browse.get_node(parent_id)
        assert parent is not None and parent.status is NodeStatus.CURRENT
        assert parent.headline and parent.bullets and parent.projects
        assert parent.counts == node.counts and parent.counts.messages
    assert "toc:year:2023" in [entry.node_id for entry in browse.list_children()]
    with database.connection():
        rows = NodeRow.select(NodeRow.node_id).where(NodeRow.latest_id.is_null())
        assert [row.node_id for row in rows] == [failing]
        assert queues.count_failing_rollups(0) == 1


def test_s3_36_a_late_event_marks_every_ancestor(full_workspace: Workspace) -> None:
    late = make_message("Polish the harbour crane.", session="late")
    at = datetime(2024, 1, 15, 20, tzinfo=UTC)
    before = {
        name: node.version
        for name in calendar.path("toc:day:2024-01-15")
        if (node := browse.get_node(name))
    }
    store_messages(replace(late, timestamp=at))
    take_in(full_workspace)
    after = {name: browse.get_node(name) for name in before}
    for name, node in after.items():
        assert node is not None and node.version > before[name], name
        assert node.counts.segments >= 2


def test_s3_36_nodes_beside_a_late_event_stay_as_they_are(
    full_workspace: Workspace,
) -> None:
    beside = ["toc:day:2024-01-18", "toc:week:2024-W04", "toc:year:2023"]
    before = [browse.get_node(name) for name in beside]
    late = make_message("Polish the harbour crane.", session="late")
    store_messages(replace(late, timestamp=datetime(2024, 1, 15, 20, tzinfo=UTC)))
    take_in(full_workspace)
    assert [browse.get_node(name) for name in beside] == before


def test_s3_37_a_placeholder_never_enters_a_parents_summary(
    workspace: Workspace,
) -> None:
    for _ in workspace.pipeline.importer().run([HISTORY]):
        pass
    with database.connection():
        database.execute(
            "CREATE TRIGGER day_fails BEFORE INSERT ON node_versions"
            " WHEN NEW.node_id = 'toc:day:2024-01-18'"
            " BEGIN SELECT RAISE(ABORT, 'not today'); END"
        )
    assert workspace.pipeline.run_until_idle(lambda _: None)
    pending = []
    waiting = [entry.node_id for entry in browse.list_children()]
    while waiting:
        name = waiting.pop()
        node = browse.get_node(name)
        assert node is not None
        pending += [name] if node.status is NodeStatus.PENDING else []
        text = " ".join([node.headline, *(bullet.text for bullet in node.bullets)])
        assert "pending" not in text.lower()
        waiting += [entry.node_id for entry in browse.list_children(name)]
    assert "toc:day:2024-01-18" in pending


def test_s3_37_a_node_is_pending_until_it_is_rolled_up(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(summarization.RollupStage, "step", lambda _: 0)
    store_messages(make_message("Polish the harbour crane."))
    take_in(workspace)
    (year,) = browse.list_children()
    assert (year.node_id, year.status) == ("toc:year:2025", NodeStatus.PENDING)


@pytest.mark.parametrize("is_beside", [False, True])
def test_s3_38_a_tool_result_says_what_the_tool_did(
    workspace: Workspace, tmp_path: Path, is_beside: bool
) -> None:
    def tool(second: int, name: str, text: str, given: object) -> dict[str, object]:
        call = {"tool_name": name, "tool_input": given}
        fields = {"event_type": "tool_result", "text": text}
        return line(second, **fields, **(call if is_beside else {"metadata": call}))

    def line(second: int, **fields: object) -> dict[str, object]:
        at = f"2025-03-14T10:00:{second:02}Z"
        return {"session_id": "s1", "timestamp": at, "project": "shop", **fields}

    lines = [
        line(1, role="user", text="The token refresh test fails; find out why."),
        tool(2, "Read", "u64 expires_at", {"file_path": "src/auth/token.rs"}),
        tool(3, "Bash", "test_backoff: assert 3 == 4", {"command": "cargo test"}),
        tool(4, "Edit", "ok", json.dumps({"file_path": "src/auth/retry.rs"})),
        line(5, role="assistant", text="The backoff counted one retry too few."),
        line(6, event_type="session_end", text=""),
    ]
    file = tmp_path / "events.jsonl"
    file.write_text("".join(json.dumps(record) + "\n" for record in lines))
    list(workspace.pipeline.importer().run([file]))
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    with database.connection():
        rows = database.db.execute_sql(
            "SELECT text, metadata FROM events WHERE type = 'tool_result'"
            " ORDER BY at_ms"
        ).fetchall()
        bullets = [
            text for (text,) in database.db.execute_sql("SELECT text FROM bullets")
        ]
    assert [text.partition("\n")[0] for text, _ in rows] == [
        "Read: src/auth/token.rs",
        "Bash: cargo test",
        "Edit: src/auth/retry.rs",
    ]
    assert json.loads(rows[2][1])["tool_input"] == '{"file_path": "src/auth/retry.rs"}'
    assert any("retry.rs" in bullet for bullet in bullets)
    assert not any("u64" in bullet for bullet in bullets)


def test_s3_42_the_parents_of_the_example_are_those_of_the_seed() -> None:
    segment = f"toc:segment:2026-01-31:{make_message('x').event_id}"
    assert calendar.path(segment) == [
        "toc:year:2026",
        "toc:month:2026-01",
        "toc:week:2026-W05",
        "toc:day:2026-01-31",
        segment,
    ]


def test_s3_43_a_roll_up_replaces_what_was_pending(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(summarization.RollupStage, "step", lambda _: 0)
        store_messages(make_message("Polish the harbour crane."))
        take_in(workspace)
        parents = calendar.path("toc:day:2025-03-14")
        pending = [browse.get_node(name) for name in parents]
        assert [node and node.status for node in pending] == [NodeStatus.PENDING] * 4
        assert not any(node and (node.bullets or node.headline) for node in pending)
    take_in(workspace)
    for name in parents:
        node = browse.get_node(name)
        assert node is not None and node.status is NodeStatus.CURRENT
        assert "harbour crane" in node.headline and node.bullets


def test_s3_44_a_job_is_due_at_its_time_and_once() -> None:
    schedule = JobSchedule(Job.DAY, "0 1 * * *", UTC, 0, "a")
    midnight = datetime(2025, 3, 14, tzinfo=UTC)
    run = schedule.next_run(midnight)
    assert run == midnight + timedelta(hours=1)
    assert not schedule.is_due(midnight, run - timedelta(seconds=1))
    assert schedule.is_due(midnight, run)
    assert not schedule.is_due(run, run + timedelta(hours=22))


def test_s3_45_and_52_a_checkpoint_follows_the_nodes_that_were_rolled_up(
    workspace: Workspace,
) -> None:
    with database.connection():
        assert jobs.get_checkpoint("rollup_day") is None
    for number in range(3):
        at = 24 * 3_600 * number
        store_messages(make_message("Polish the crane.", at, session=f"s{number}"))
        take_in(workspace)
        with database.connection():
            checkpoint = jobs.get_checkpoint("rollup_day")
        assert checkpoint is not None and checkpoint.processed_count == number + 1
        end = datetime(2025, 3, 15 + number, tzinfo=UTC)
        assert checkpoint.last_processed_time == end


def test_s3_46_a_node_that_fails_does_not_block_the_others(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    roll_up = summarization.RollupStage._roll_up

    def fail(stage: summarization.RollupStage, name: str, now_ms: int) -> None:
        if name == "toc:day:2024-01-18":
            raise ValueError("no roll-up today")
        roll_up(stage, name, now_ms)

    monkeypatch.setattr(summarization.RollupStage, "_roll_up", fail)
    list(workspace.pipeline.importer().run([HISTORY]))
    workspace.pipeline.run_until_idle(lambda _: None)
    other = browse.get_node("toc:day:2024-01-15")
    assert other is not None and other.bullets
    assert browse.get_node("toc:year:2023") is not None
    # It is tried again later.
    monkeypatch.setattr(summarization.RollupStage, "_roll_up", roll_up)
    with database.transaction():
        database.db.execute_sql("UPDATE nodes SET retry_ms = 0")
    take_in(workspace)
    failed = browse.get_node("toc:day:2024-01-18")
    assert failed is not None and failed.bullets
    week = browse.get_node("toc:week:2024-W03")
    assert week is not None and "JWT tokens" in week.bullets[0].text


@pytest.mark.parametrize(
    ("level", "hours"), [("day", 1), ("week", 24), ("month", 24), ("year", 7 * 24)]
)
def test_s3_47_and_57_a_model_waits_for_the_minimum_age(level: str, hours: int) -> None:
    assert MIN_AGES[TocLevel(level)] == timedelta(hours=hours)


def test_s3_48_a_node_without_children_is_removed(tmp_path: Path) -> None:
    home = tmp_path / "home"

    def weeks() -> list[str]:
        output = run_memtui(home, "show", "toc:month:2024-01", "--json").stdout
        names: list[str] = json_data(output)["child_node_ids"]
        return names

    run_memtui(home, "--set", "store.time_zone=UTC", "import", str(HISTORY))
    assert weeks() == ["toc:week:2024-W04", "toc:week:2024-W03"]
    run_memtui(home, "forget", "session", "grep-1", "--yes")
    run_memtui(home, "work", "--until-idle")
    assert weeks() == ["toc:week:2024-W03"]


def test_s3_49_and_51_a_roll_up_joins_its_children_in_a_new_version(
    full_workspace: Workspace,
) -> None:
    before = browse.get_node("toc:day:2024-01-18")
    assert before is not None and before.version == 1
    late = make_message("Polish the harbour crane.", session="late")
    store_messages(replace(late, timestamp=datetime(2024, 1, 18, 20, tzinfo=UTC)))
    take_in(full_workspace)
    node = browse.get_node("toc:day:2024-01-18")
    assert node is not None and node.version == 2
    grip_ids = [bullet.grip_ids for bullet in node.bullets]
    assert all(bullet.grip_ids in grip_ids for bullet in before.bullets)
    assert any("harbour crane" in bullet.text for bullet in node.bullets)
    assert len(browse.list_children("toc:day:2024-01-18")) == 3


def test_s3_50_a_day_has_a_line_for_each_session(full_workspace: Workspace) -> None:
    node = browse.get_node("toc:day:2024-01-18")
    assert node is not None
    sessions_named = [bullet.session_id for bullet in node.bullets]
    assert len(sessions_named) == len(set(sessions_named)) == 2


def test_s3_53_a_run_says_how_many_nodes_it_rolled_up(tmp_path: Path) -> None:
    home = tmp_path / "home"
    run_memtui(home, "--set", "store.time_zone=UTC", "import", str(HISTORY))
    rows = json_data(run_memtui(home, "jobs", "--json").stdout)["jobs"]
    counts = {row["job"]: row["rolled_up"] for row in rows}
    assert {
        job: checkpoint and checkpoint["processed_count"]
        for job, checkpoint in counts.items()
    } == {
        "segments": None,
        "rollup_day": 5,
        "rollup_week": 4,
        "rollup_month": 3,
        "rollup_year": 2,
    }


def test_s3_54_roll_ups_go_from_the_days_up(full_workspace: Workspace) -> None:
    with database.connection():
        made = {
            level.value: database.fetch_value(
                "SELECT min(id) FROM node_versions WHERE level = ?", level.value
            )
            for level in TocLevel
        }
    order = sorted(made, key=lambda level: made[level])
    assert order == ["segment", "day", "week", "month", "year"]


SCHEDULE_VECTORS = [
    ("rollup_day", "2024-02-01T01:00:00"),
    ("rollup_week", "2024-02-04T02:00:00"),
    ("rollup_month", "2024-02-01T03:00:00"),
    ("rollup_year", "2025-01-01T04:00:00"),
]


@pytest.mark.parametrize(("job", "expected"), SCHEDULE_VECTORS)
def test_s3_55_each_roll_up_has_its_schedule(job: str, expected: str) -> None:
    cron = str(Settings().value(f"jobs.{Job(job).level}"))
    schedule = JobSchedule(Job(job), cron, UTC, 0, "a")
    at = schedule.next_run(datetime(2024, 1, 31, 12, tzinfo=UTC))
    assert at == datetime.fromisoformat(f"{expected}+00:00")


@pytest.mark.parametrize(
    "cron", ["", "* * * *", "61 * * * *", "0 0 30 2 *", "a b c d e"]
)
def test_s3_55_a_wrong_schedule_is_refused(cron: str) -> None:
    assert find_cron_error(cron)
    assert not find_cron_error("0 1 * * *")


def test_s3_56_a_run_is_late_by_five_minutes_at_most(workspace: Workspace) -> None:
    schedule = workspace.schedules[Job.DAY]
    assert schedule.jitter_s == 300
    delays = set()
    for number in range(40):
        at = datetime(2024, 1, 1, 12, tzinfo=UTC) + timedelta(days=number)
        run = schedule.next_run(at)
        assert run == schedule.next_run(at)
        delays.add((run - run.replace(hour=1, minute=0, second=0)).total_seconds())
    assert min(delays) >= 0 and max(delays) <= 300 and len(delays) > 10


def test_s3_58_checkpoints_have_the_fields_of_the_seed(
    full_workspace: Workspace,
) -> None:
    with database.connection():
        checkpoint = jobs.get_checkpoint("rollup_day")
        names = {row.job_name for row in CheckpointRow.select()}
    assert names == {"rollup_day", "rollup_week", "rollup_month", "rollup_year"}
    assert checkpoint is not None
    assert (checkpoint.job_name, checkpoint.level) == ("rollup_day", TocLevel.DAY)
    assert checkpoint.processed_count == 5
    assert checkpoint.last_processed_time <= checkpoint.created_at


def test_s3_59_a_roll_up_goes_on_after_a_crash(
    workspace: Workspace, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(summarization.RollupStage, "step", lambda _: 0)
    list(workspace.pipeline.importer().run([HISTORY]))
    take_in(workspace)
    with database.connection():
        assert queues.count_rollups() and not CheckpointRow.select().count()
    workspace.stop()
    monkeypatch.undo()
    again = Workspace(workspace.paths, settings)
    take_in(again)
    with database.connection():
        assert not queues.count_rollups()
    year = browse.get_node("toc:year:2024")
    assert year is not None and year.bullets
    again.stop()


@pytest.mark.parametrize(
    ("stage", "is_rolled_up"), [("_checkpoint", False), ("_save", False)]
)
def test_s3_61_a_failed_write_leaves_the_node_to_be_rolled_up(
    workspace: Workspace,
    monkeypatch: pytest.MonkeyPatch,
    stage: str,
    is_rolled_up: bool,
) -> None:
    def fail(*_: object) -> None:
        raise OSError("no space")

    with monkeypatch.context() as patched:
        patched.setattr(summarization.RollupStage, stage, fail)
        store_messages(make_message("Polish the harbour crane."))
        workspace.pipeline.run_until_idle(lambda _: None)
    with database.connection():
        assert not CheckpointRow.select().count()
        assert queues.count_rollups() > 0
        day = NodeRow.get_by_id("toc:day:2025-03-14")
        assert (day.latest is not None) is is_rolled_up
    with database.transaction():
        NodeRow.update(retry_ms=0).execute()
    take_in(workspace)
    node = browse.get_node("toc:day:2025-03-14")
    assert node is not None and node.bullets


def test_s3_62_a_job_that_is_asked_for_twice_runs_once(workspace: Workspace) -> None:
    with database.transaction():
        for number in range(2):
            jobs.request_run(Job.DAY, 1_000 + number)
        states = jobs.get_states()
    asked = states[Job.DAY].requested_at
    assert asked is not None and asked.timestamp() == 1.001


ROLLUP_NAMES = ["rollup_day", "rollup_week", "rollup_month", "rollup_year"]


def test_s3_62_jobs_are_paused_across_a_restart(
    workspace: Workspace, settings: Settings
) -> None:
    changes.scheduler_pause(workspace, jobs=["rollup_week"])
    workspace.stop()
    again = Workspace(workspace.paths, settings)
    items = changes.scheduler_status(again).items
    assert [item["job"] for item in items if item["is_paused"]] == ["rollup_week"]
    assert [item["job"] for item in items] == ["segments", *ROLLUP_NAMES]
    again.stop()


def test_s3_62_an_unknown_job_is_refused_with_those_there_are(
    workspace: Workspace,
) -> None:
    with pytest.raises(UsageError, match="rollup_day, rollup_week"):
        changes.scheduler_pause(workspace, jobs=["rollup_decade"])


def test_s3_63_the_years_are_listed_newest_first(workspace: Workspace) -> None:
    for year in (2023, 2025, 2022, 2024):
        said = make_message(f"Crane of {year}.", session=f"s{year}")
        store_messages(replace(said, timestamp=datetime(year, 3, 14, tzinfo=UTC)))
    take_in(workspace)
    years = [item["node_id"] for item in toc.get_toc_root(workspace).items]
    assert years == [f"toc:year:{year}" for year in (2025, 2024, 2023, 2022)]


def test_s3_64_and_65_a_year_has_its_months(full_workspace: Workspace) -> None:
    months = ["toc:month:2024-02", "toc:month:2024-01"]
    node = replies.write_data(toc.get_node(full_workspace, "toc:year:2024"))
    assert node["child_node_ids"] == months
    page = toc.browse_toc(full_workspace, "toc:year:2024", limit=12)
    assert [item["node_id"] for item in page.items] == months
    (first,) = toc.browse_toc(full_workspace, "toc:year:2024", limit=1).items
    assert first["node_id"] == months[0]


@pytest.mark.parametrize(
    ("now", "week"),
    [
        (datetime(2024, 1, 22, 12, tzinfo=UTC), "toc:week:2024-W03"),
        (datetime(2024, 1, 28, 23, tzinfo=UTC), "toc:week:2024-W03"),
        (datetime(2024, 1, 29, 1, tzinfo=UTC), "toc:week:2024-W04"),
    ],
)
def test_s3_66_last_week_is_the_week_before_this(
    full_workspace: Workspace,
    monkeypatch: pytest.MonkeyPatch,
    now: datetime,
    week: str,
) -> None:
    monkeypatch.setattr(full_workspace, "now", lambda: now)
    (item,) = toc.browse_toc(full_workspace, when="last week").items
    assert item["node_id"] == week


@pytest.mark.parametrize("given", ["toc:week:2024-03", "toc:week:2024-W03"])
def test_s3_67_a_week_is_got_by_both_forms_of_its_id(
    full_workspace: Workspace, given: str
) -> None:
    assert toc.get_node(full_workspace, given).head["node_id"] == "toc:week:2024-W03"


def test_s3_68_the_example_of_a_week_has_its_days() -> None:
    days = [f"toc:day:2026-01-{day}" for day in (26, 27, 28, 29, 30, 31)]
    assert {calendar.parent_id(day) for day in days} == {"toc:week:2026-W05"}
    start, end = calendar.bounds("toc:week:2026-05", UTC)
    assert (start, end - start) == (datetime(2026, 1, 26, tzinfo=UTC), timedelta(7))


def test_s3_69_the_navigation_ends_at_source_events(full_workspace: Workspace) -> None:
    name = toc.get_toc_root(full_workspace).items[0]["node_id"]
    path = [name]
    while not name.startswith("toc:segment:"):
        name = toc.browse_toc(full_workspace, name, limit=12).items[-1]["node_id"]
        path.append(name)
    assert [node_id.split(":")[1] for node_id in path] == [
        level.value for level in TocLevel
    ]
    node = toc.get_node(full_workspace, name)
    grip_id = next(item["grip_ids"][0] for item in node.items if item.get("grip_ids"))
    assert agents_sessions.expand_grip(full_workspace, grip_id).lists["excerpt"]


def test_s3_70_a_large_node_is_browsed_in_pages_of_ten(workspace: Workspace) -> None:
    store_messages(
        *(make_message(f"word {n}", 60 * n, session=f"s{n}") for n in range(26))
    )
    take_in(workspace)
    (day,) = browse.list_children("toc:week:2025-W11")
    answers = []
    token = ""
    for _ in range(3):
        page = toc.browse_toc(workspace, day.node_id, limit=10, token=token)
        assert page.next_page is not None
        place = page.next_page(len(page.items))
        answers.append(
            (len(page.items), place["continuation_token"], place["has_more"])
        )
        token = place["continuation_token"] or ""
    assert answers == [(10, "10", True), (10, "20", True), (6, None, False)]


@pytest.mark.parametrize("token", ["x", "-1", "1.5", "toc:year:2024"])
def test_s3_70_a_token_that_does_not_exist_gives_the_first_page(
    full_workspace: Workspace, token: str
) -> None:
    first = toc.browse_toc(full_workspace, "toc:year:2024", limit=10)
    page = toc.browse_toc(full_workspace, "toc:year:2024", limit=10, token=token)
    assert page.items == first.items and replies.NO_TOKEN in page.notes


def test_s3_71_and_74_an_expansion_is_what_is_before_in_and_after_the_excerpt(
    full_workspace: Workspace,
) -> None:
    with database.connection():
        order = [
            row.id
            for row in EventRow.select().order_by(EventRow.at_ms, EventRow.ordinal)
        ]
        grips = list(GripRow.select())
    assert len(grips) > 10
    for grip in grips:
        expansion = conversation.expand(grip.id)
        before, excerpt, after = (
            [event.event_id for event in group]
            for group in (
                expansion.events_before,
                expansion.excerpt_events,
                expansion.events_after,
            )
        )
        assert (excerpt[0], excerpt[-1]) == (grip.start_event_id, grip.end_event_id)
        together = [*before, *excerpt, *after]
        assert len(set(together)) == len(together)
        assert together == sorted(together, key=order.index)
        assert {
            event.session_id
            for group in (expansion.events_before, expansion.events_after)
            for event in group
        } <= {expansion.excerpt_events[0].session_id}


@pytest.mark.parametrize(
    "grip_id", ["grip:1738318530000:jwt123", "grip:", "nonsense", "", "toc:year:2024"]
)
def test_s3_72_an_unknown_grip_is_an_empty_answer(
    full_workspace: Workspace, grip_id: str
) -> None:
    expansion = conversation.expand(grip_id)
    assert expansion.grip is None and not expansion.excerpt_events
    reply = agents_sessions.expand_grip(full_workspace, grip_id)
    assert not reply.items and reply.notes


def test_s3_73_the_events_around_an_excerpt_are_at_most_an_hour_away(
    workspace: Workspace,
) -> None:
    minutes = (0, 1, 30, 61, 90, 121, 122)
    messages = [make_message(f"minute {n}", 60 * n) for n in minutes]
    store_messages(*messages, make_message("beside", 3_700, session="s2"))
    expansion = conversation.expand_event(messages[3].event_id, before=9, after=9)
    around = [
        event.text for event in (*expansion.events_before, *expansion.events_after)
    ]
    assert around == ["minute 1", "minute 30", "minute 90", "minute 121"]


WINDOW_VECTORS = [
    # before, after, events before and after of ten on either side
    (3, 3, 3, 3),
    (0, 0, 0, 0),
    (5, 1, 5, 1),
    (20, 20, 10, 10),
    (-1, -1, 0, 0),
]


@pytest.mark.parametrize(("before", "after", "above", "below"), WINDOW_VECTORS)
def test_s3_75_the_events_around_an_excerpt_are_limited(
    workspace: Workspace, before: int, after: int, above: int, below: int
) -> None:
    messages = [make_message(f"word {n}", 60 * n) for n in range(21)]
    store_messages(*messages)
    cited = messages[10].event_id
    expansion = conversation.expand_event(cited, before=before, after=after)
    names = [event.text for event in expansion.events_before]
    assert names == [f"word {n}" for n in range(10 - above, 10)]
    names = [event.text for event in expansion.events_after]
    assert names == [f"word {n}" for n in range(11, 11 + below)]


def test_s3_76_and_77_the_example_of_an_expansion_has_its_groups(
    workspace: Workspace,
) -> None:
    said = [
        ("user", "How should we sign JWTs?"),
        ("assistant", "Let me research that..."),
        ("tool", "Read security docs"),
        ("assistant", "We should use RS256 for signing JWTs: its keys are asymmetric."),
        ("user", "That makes sense"),
        ("assistant", "Great, I'll implement that"),
        ("tool", "Write token.rs"),
    ]
    talk = [
        make_message(text, 60 * n, role=EventRole(role))
        for n, (role, text) in enumerate(said)
    ]
    store_messages(*talk)
    take_in(workspace)
    reply = agents_sessions.expand_grip(workspace, f"evt:{talk[3].event_id}")
    groups = {
        name: [(event["role"], event["text"]) for event in group]
        for name, group in reply.lists.items()
    }
    assert groups == {"before": said[:3], "excerpt": said[3:4], "after": said[4:]}


def test_s3_78_an_expansion_is_bounded_however_long_its_events_are(
    workspace: Workspace,
) -> None:
    talk = [make_message(f"Crane {n}. " + "word " * 3_000, 60 * n) for n in range(9)]
    store_messages(*talk)
    reply = agents_sessions.expand_grip(
        workspace, f"evt:{talk[4].event_id}", before=20, after=20
    )
    text = replies.fit_text(reply, 300, workspace.counter).text
    assert estimate(text) <= 300 and "Crane 4." in text


def test_s3_79_an_event_that_cannot_be_read_is_skipped(
    damaged_home: tuple[Path, str], caplog: pytest.LogCaptureFixture
) -> None:
    home, event_id = damaged_home
    events.unreadable.clear()
    session_output = run_memtui(home, "session", "shop-1", "--all", "--json").stdout
    assert event_id[:14] not in session_output and "evt:" in session_output
    answer = run_memtui(home, "export", "--events")
    assert "1 event cannot be read" in answer.stderr
    exported = answer.stdout.splitlines()
    records = [record for record in map(json.loads, exported) if "event_type" in record]
    assert len(records) == 43
    assert "basket" in run_memtui(home, "search", "basket").stdout
    run_memtui(home, "expand", f"evt:{event_id}")
    run_memtui(home, "search", "make it slide")
    run_memtui(home, "reindex")
    assert f"{event_id} cannot be read" in caplog.text
    output = run_memtui(home, "doctor", code=1).stdout
    assert "1 event cannot be read" in output


@pytest.mark.parametrize(
    "damage",
    [
        *("text = x'ff'", "text = CAST(x'ff' AS TEXT)"),
        *("at_ms = 'abc'", "at_ms = x'00'", "at_ms = 9000000000000000000"),
        *("session_id = 'abc'", "session_id = 999", "session_id = x'00'"),
        *("ordinal = 'abc'", "id = x'00'", "subagent = x'00'"),
        *("at_ms = -9000000000000000000", "type = x'00'", "metadata = x'ff'"),
        *("tokens = 'abc'", "fingerprint = 'abc'", "source_hash = 'abc'"),
    ],
)
def test_s3_79_all_work_goes_on_beside_an_event_that_cannot_be_read(
    damage: str, digested: Path, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    with open_copy(digested, home) as opened:
        (event_id,) = opened.execute(
            "SELECT id FROM events WHERE type = 'user_message' ORDER BY id LIMIT 1"
        ).fetchone()
        opened.execute(f"UPDATE events SET {damage} WHERE id = ?", (event_id,))
    assert "memtui restore" in run_memtui(home, "doctor", code=1).stdout
    events.unreadable.clear()
    noted = "1 event cannot be read, left out: memtui doctor"
    reindexed = run_memtui(home, "reindex")
    assert noted in reindexed.stderr or not damage.startswith(("at_ms", "text = x"))
    file = tmp_path / "more.jsonl"
    file.write_text(
        json.dumps(
            {
                "agent": "claude-code",
                "session_id": "shop-1",
                "timestamp": "2025-03-14T20:00:00Z",
                "event_type": "user_message",
                "text": "Now the walrus",
            }
        )
    )
    run_memtui(home, "import", str(file))
    assert "walrus" in run_memtui(home, "search", "walrus").stdout
    run_memtui(home, "rename", "shop-1", "The walrus")
    run_memtui(home, "redact")
    run_memtui(home, "work", "--until-idle")
    if not damage.startswith(("text = CAST", "fingerprint", "source_hash")):
        assert noted in run_memtui(home, "export", "--events").stderr
    output = run_memtui(home, "doctor", code=1).stdout
    assert "memtui restore" in output and "memtui reindex" not in output
    run_memtui(home, "forget", "before", "2025-03-14", "--yes")
    run_memtui(home, "forget", "session", "shop-1", "--yes")
    run_memtui(home, "work", "--until-idle")
    assert "walrus" not in run_memtui(home, "export", "--events").stdout


@pytest.mark.parametrize(
    ("damage", "count"),
    [
        ("source_hash = 'abc'", 44),
        ("route = x'00'", 44),
        ("ordinal = x'00'", 43),
        ("subagent = x'00'", 43),
        ("id = x'00'", 43),
    ],
)
def test_s3_79_an_export_leaves_out_only_what_cannot_be_read(
    damage: str, count: int, digested: Path, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    with open_copy(digested, home) as opened:
        opened.execute(f"UPDATE events SET {damage} WHERE rowid = 1")
    lines = run_memtui(home, "export", "--events").stdout.splitlines()
    assert len([line for line in lines if '"event_type"' in line]) == count


@pytest.mark.parametrize(
    "damage",
    [
        *("name = x'ff'", "agent = x'ff'", "title = x'ff'", "cwd = x'ff'"),
        *("summary = x'ff'", "project = x'ff'", "project_ms = 'abc'"),
        *("created_ms = x'ff'", "updated_ms = 4611686018427387904"),
        *("message_count = 'abc'", "routes = x'ff'"),
    ],
)
def test_s3_79_a_damaged_session_does_not_hide_the_others(
    damage: str, digested: Path, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    with open_copy(digested, home) as opened:
        opened.execute(f"UPDATE sessions SET {damage} WHERE name = 'shop-1'")
    lines = run_memtui(home, "export", "--events").stdout.splitlines()
    assert len([line for line in lines if '"event_type"' in line]) >= 20
    for command in (
        ("sessions",),
        ("session", "shop-2"),
        ("stats",),
        ("stats", "--json"),
    ):
        assert run_memtui(home, *command).stdout
    assert "basket" in run_memtui(home, "search", "basket").stdout
    assert "cannot be read" in run_memtui(home, "doctor", code=1).stdout


@pytest.mark.parametrize(
    "damage",
    [
        "text = x'ff'",
        "support = 'abc'",
        "verdict = '{'",
        "kind = x'ff'",
        "is_withheld = 7",
    ],
)
def test_s3_79_a_bullet_that_cannot_be_read_is_skipped(
    damage: str, digested: Path, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    with open_copy(digested, home) as opened:
        opened.execute("DROP TRIGGER bullets_no_update")
        opened.execute(f"UPDATE bullets SET {damage} WHERE id % 2")
    for command in (("session", "shop-1"), ("toc", "--json"), ("sessions",)):
        assert run_memtui(home, *command).stdout
    assert "cannot be read" in run_memtui(home, "doctor", code=1).stdout


@pytest.mark.parametrize("damage", ["project = x'ff'", "project = 7"])
def test_s3_79_messages_of_a_session_with_a_damaged_project_are_indexed(
    damage: str, digested: Path, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    with open_copy(digested, home) as opened:
        opened.execute(f"UPDATE sessions SET {damage} WHERE name = 'shop-1'")
    run_memtui(home, "reindex")
    assert "basket" in run_memtui(home, "search", "basket").stdout


def test_s3_79_paging_passes_an_event_that_cannot_be_read_and_ends(
    damaged_home: tuple[Path, str],
) -> None:
    home, event_id = damaged_home
    events.unreadable.clear()
    message_ids: list[str] = []
    offset: int | None = 0
    while offset is not None:
        page = f"session=shop-1 offset={offset} limit=2"
        data = ask_json(home, "list_messages", page)
        message_ids += [message["id"] for message in data["messages"]]
        assert data["next_offset"] is None or data["next_offset"] > offset
        offset = data["next_offset"]
    assert (
        len(message_ids) == len(set(message_ids))
        and f"evt:{event_id[:14]}" not in message_ids
    )
    whole = ask_json(home, "list_messages", "session=shop-1 limit=100")
    assert [message["id"] for message in whole["messages"]] == message_ids

    times: list[str] = []
    token: str | None = ""
    while token is not None:
        data = ask_json(home, "get_events", f"session=shop-1 limit=2 token={token}")
        times += [event["id"] for event in data["events"]]
        token = data["continuation_token"]
    whole = ask_json(home, "get_events", "session=shop-1 limit=200")
    assert [event["id"] for event in whole["events"]] == times
    assert replies.DAMAGED in whole["notes"]


def test_s3_79_the_context_of_an_event_that_cannot_be_read_is_given(
    damaged_home: tuple[Path, str],
) -> None:
    home, event_id = damaged_home
    whole = ask_json(home, "get_events", "session=shop-1 limit=200")
    names = [event["id"] for event in whole["events"]]
    events.unreadable.clear()
    expansion = ask_json(home, "expand_grip", f"grip_id=evt:{event_id}")
    assert replies.DAMAGED in expansion["notes"]
    groups = {
        name: [event["id"] for event in expansion[name]]
        for name in ("before", "excerpt", "after")
    }
    assert groups == {"before": names[:2], "excerpt": [], "after": names[2:5]}
    output = run_memtui(home, "expand", f"evt:{event_id}").stdout
    assert replies.DAMAGED in output and "no such" not in output


@pytest.mark.parametrize(
    "damage", ["type = 'no type'", "role = 'no role'", "role = x'00'", "text = x'ff'"]
)
def test_s3_79_a_session_page_notes_a_message_that_cannot_be_read(
    damage: str, digested: Path, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    with open_copy(digested, home) as opened:
        (event_id,) = opened.execute(
            "SELECT e.id FROM events e JOIN sessions s ON s.id = e.session_id"
            " WHERE s.name = 'shop-1' AND e.type = 'assistant_message' LIMIT 1"
        ).fetchone()
        opened.execute(f"UPDATE events SET {damage} WHERE id = ?", (event_id,))
    events.unreadable.clear()
    page = ask_json(home, "list_messages", "session=shop-1 limit=100")
    assert replies.DAMAGED in page["notes"]
    assert f"evt:{event_id[:14]}" not in [message["id"] for message in page["messages"]]
    noted = 0
    for offset in range(page["total"]):
        events.unreadable.clear()
        answer = ask_json(
            home, "list_messages", f"session=shop-1 limit=1 offset={offset}"
        )
        noted += replies.DAMAGED in answer.get("notes", ())
    assert noted == 1
    for options in ((), ("--all",)):
        events.unreadable.clear()
        assert replies.DAMAGED in run_memtui(home, "session", "shop-1", *options).stdout
    events.unreadable.clear()
    assert "notes" not in ask_json(home, "list_messages", "session=shop-2")


@pytest.mark.parametrize(
    "damage",
    ["type = 'no type'", "role = 'no role'", "metadata = '{'", "tokens = x'00'"],
)
def test_s3_79_a_search_says_that_what_matches_cannot_be_read(
    damage: str, digested: Path, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    with open_copy(digested, home) as opened:
        opened.execute(f"UPDATE events SET {damage} WHERE text LIKE '%middleware.py%'")
    for tool, parameter in (("search_file", "path"), ("search_error", "error")):
        events.unreadable.clear()
        answer = ask_json(home, tool, f"{parameter}=middleware.py")
        assert (
            history.NOT_READ in answer["notes"] and replies.DAMAGED in answer["notes"]
        )
        events.unreadable.clear()
        answer = ask_json(home, tool, f"{parameter}=nowhere.py")
        assert len(answer["notes"]) == 1 and history.NOT_READ not in answer["notes"]


def test_s3_79_pages_go_on_after_an_event_that_cannot_be_read(
    damaged_home: tuple[Path, str],
) -> None:
    home, event_id = damaged_home
    store.open_at(home / "memory.db")
    with database.connection():
        number = sessions.get_number("claude-code", "shop-1")
        assert number is not None
        later = conversations.list_after(number, "", None, 5)
        names = [event.event_id for event in later]
        assert len(names) == 5 and event_id not in names
        before = conversations.list_before(number, "", later[-1].position, 3)
        assert [event.event_id for event in before] == names[1:4]
    database.close()


def test_s3_80_a_window_without_events_has_the_excerpt_alone(
    workspace: Workspace,
) -> None:
    messages = [make_message(f"hour {n}", 7_200 * n) for n in range(3)]
    store_messages(*messages)
    expansion = conversation.expand_event(messages[1].event_id)
    assert not expansion.events_before and not expansion.events_after
    assert [event.text for event in expansion.excerpt_events] == ["hour 1"]


def test_s3_81_an_agent_goes_on_while_the_store_fails(workspace: Workspace) -> None:
    store_messages(make_message("Polish the crane."))
    workspace.stop()
    workspace.paths.store.write_bytes(b"no database" * 1_000)
    ended = subprocess.run(
        [sys.executable, "-I", hook.__file__, "--spool", str(workspace.paths.spool)],
        input=json.dumps(PROMPTS[0]).encode(),
        capture_output=True,
        check=False,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")
    (file,) = (workspace.paths.spool / "new").iterdir()
    assert json.loads(file.read_bytes()) == PROMPTS[0]
