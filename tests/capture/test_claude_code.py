import json
import tempfile
import time
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.capture import formats
from memtui.capture.formats import claude_code, saved_results
from memtui.capture.formats.base import (
    Cursor,
    InvalidRecord,
    MessageTitle,
    ParsedItem,
    PendingRecord,
    SkippedRecord,
)
from memtui.model.events import Event, EventRole, EventType
from memtui.model.sessions import SessionMetadata, SubagentMetadata
from memtui.store import database, sessions, sources
from memtui.store.database import db
from memtui.workspace import Workspace
from tests.cli_runner import run_memtui

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def record(number: int, kind: str = "user", **fields: Any) -> dict[str, Any]:
    made = {
        "type": kind,
        "uuid": f"uuid-{number}",
        "sessionId": "s1",
        "timestamp": f"2025-03-14T10:00:{number:02}.000Z",
        "cwd": "/home/ada/work/shop",
        "gitBranch": "main",
    }
    return {**made, **fields}


def user(number: int, content: object, **fields: Any) -> dict[str, Any]:
    return record(number, message={"role": "user", "content": content}, **fields)


def assistant(number: int, *blocks: dict[str, Any], **fields: Any) -> dict[str, Any]:
    message = {"id": f"msg-{number}", "model": "opus", "content": list(blocks)}
    return record(number, "assistant", message=message, **fields)


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


def call(key: str, name: str, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": key, "name": name, "input": given}


def answer(key: str, said: object, **fields: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": key, "content": said, **fields}


def read(*records: object, path: str = "projects/shop/s1.jsonl") -> list[ParsedItem]:
    lines = [r if isinstance(r, str) else json.dumps(r) for r in records]
    return read_bytes("\n".join(lines).encode("utf-8", "surrogatepass") + b"\n", path)


def read_bytes(raw: bytes, path: str = "projects/shop/s1.jsonl") -> list[ParsedItem]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, path)
        file.parent.mkdir(parents=True)
        file.write_bytes(raw)
        given = claude_code.FORMAT.read(file, None, agent="", now=NOW)
        return [reading for reading in given if not isinstance(reading, Cursor)]


def read_events(*records: object, path: str = "projects/shop/s1.jsonl") -> list[Event]:
    return [event for event in read(*records, path=path) if isinstance(event, Event)]


def test_a_prompt_and_its_reply_are_messages() -> None:
    events = read_events(user(1, "Fix the cart"), assistant(2, text("Fixed.")))
    assert [(e.event_type, e.role, e.text) for e in events] == [
        (EventType.USER_MESSAGE, EventRole.USER, "Fix the cart"),
        (EventType.ASSISTANT_MESSAGE, EventRole.ASSISTANT, "Fixed."),
    ]


def test_call_and_result_are_one_event() -> None:
    (event,) = read_events(
        assistant(1, call("t1", "Bash", command="pytest -q")),
        user(2, [answer("t1", "2 failed", is_error=True)]),
    )
    assert event.event_type is EventType.TOOL_RESULT
    assert event.text == "Bash: pytest -q\n2 failed"
    assert event.metadata["tool_input"] == '{"command":"pytest -q"}'
    assert event.metadata["call_end"] == "failed"
    assert event.timestamp.second == 2


def test_interrupted_call_is_stored() -> None:
    stop = "[Request interrupted by user]"
    events = read_events(
        assistant(1, call("t1", "Bash", command="rm x")), user(2, stop)
    )
    assert [e.text for e in events] == ["Bash: rm x", stop]
    assert events[0].metadata["call_end"] == "unfinished"


def test_prompt_during_a_call_does_not_interrupt_it() -> None:
    queued = {"type": "queued_command", "prompt": "and the tests"}
    events = read_events(
        assistant(1, call("t1", "Bash", command="pytest")),
        record(2, "attachment", attachment=queued),
        user(3, [answer("t1", "3 passed")]),
    )
    assert [e.text for e in events] == ["and the tests", "Bash: pytest\n3 passed"]


@pytest.mark.parametrize(
    ("given", "typed"),
    [
        ("\n<command-args>the tests</command-args>", "/review the tests"),
        ("\n<command-args></command-args>", "/review"),
        ("", "/review"),
    ],
)
def test_slash_command_for_the_model_is_a_prompt(given: str, typed: str) -> None:
    wrapped = (
        "<command-message>review is running…</command-message>\n"
        f"<command-name>/review</command-name>{given}"
    )
    (event,) = read_events(user(1, wrapped))
    assert (event.role, event.text, event.metadata) == (EventRole.USER, typed, {})


@pytest.mark.parametrize(
    ("content", "fields", "kind"),
    [
        ("<command-name>/clear</command-name>", {}, "command"),
        ("<local-command-stdout>ok</local-command-stdout>", {}, "command"),
        ("Caveat: The messages below were generated by the user while", {}, "caveat"),
        ("[Request interrupted by user]", {}, "interruption"),
        ("a skill's long text", {"isMeta": True}, "meta"),
        ("a summary", {"isCompactSummary": True}, "compact_summary"),
        (
            "This session is being continued from a previous conversation that ran out",
            {},
            "compact_summary",
        ),
        ("job done", {"origin": {"kind": "task-notification"}}, "task-notification"),
    ],
)
def test_texts_of_the_program_have_the_role_system(
    content: str, fields: dict[str, Any], kind: str
) -> None:
    (event,) = read_events(user(1, content, **fields))
    assert event.role is EventRole.SYSTEM
    assert event.metadata["kind"] == kind
    assert not event.is_message


def test_reminder_is_separated_from_the_prompt() -> None:
    reminder = "<system-reminder>be brief</system-reminder>"
    (event,) = read_events(user(1, [text("Fix the cart"), text(reminder)]))
    assert (event.text, event.role) == ("Fix the cart", EventRole.USER)
    assert event.metadata["added"] == reminder


def test_queued_prompt_in_an_attachment_is_a_prompt() -> None:
    queued = {"type": "queued_command", "prompt": "and the tests", "commandMode": None}
    (event,) = read_events(record(1, "attachment", attachment=queued))
    assert (event.text, event.role) == ("and the tests", EventRole.USER)


def test_an_image_is_a_placeholder_with_type_and_size() -> None:
    image = {"type": "image", "source": {"media_type": "image/png", "data": "A" * 8192}}
    (event,) = read_events(user(1, [text("look"), image]))
    assert event.text == "look\n\n[image: image/png, 6 kB]"


def test_a_subagents_file_belongs_to_its_parent_session() -> None:
    (event,) = read_events(
        user(1, "search for x", isSidechain=True, sessionId="agent-77"),
        path="projects/shop/s1/subagents/agent-77.jsonl",
    )
    assert (event.session_id, event.subagent) == ("s1", "77")


@pytest.mark.parametrize("place", ["workflows/wf_1", "workflows/wf_1/wf_2", "a/b/c"])
def test_subagent_of_a_workflow_belongs_to_its_session(
    place: str, tmp_path: Path
) -> None:
    folder = tmp_path / "s1/subagents" / place
    folder.mkdir(parents=True)
    line = json.dumps(user(1, "search for x", isSidechain=True))
    (folder / "agent-77.jsonl").write_text(line)
    about = {"agentType": "reviewer", "description": "Review it"}
    (folder / "agent-77.meta.json").write_text(json.dumps(about))
    file = folder / "agent-77.jsonl"
    items = list(claude_code.FORMAT.read(file, None, agent="", now=NOW))
    assert [e.subagent for e in items if isinstance(e, Event)] == ["77"]
    (told,) = (item for item in items if isinstance(item, SubagentMetadata))
    assert (told.session_id, told.subagent) == ("s1", "77")
    assert (told.kind, told.task) == ("reviewer", "Review it")


@pytest.mark.parametrize(
    "fields",
    [
        {"type": "started", "agentId": "a1", "label": "verify"},
        {"type": "result", "agentId": "a1", "result": {"verdict": "it is correct"}},
        user(1, "Sort my invoices", _audit_timestamp="2026-11-20T09:00:05Z"),
    ],
)
def test_record_that_repeats_a_transcript_is_passed_over(
    fields: dict[str, Any],
) -> None:
    assert claude_code.FORMAT.matches_record(fields)
    (skipped,) = read(fields)
    assert isinstance(skipped, SkippedRecord) and not skipped.words


def test_only_the_file_beside_a_folder_of_cowork_is_passed_over(tmp_path: Path) -> None:
    export = tmp_path / "local_export.json"
    export.write_text('{"info": {"id": "s1"}, "messages": []}')
    (tmp_path / "local_1").mkdir()
    (tmp_path / "local_1.json").write_text("{}")
    assert formats.sort_files(tmp_path) == ([export], [])


def test_journal_of_a_workflow_is_passed_over(tmp_path: Path) -> None:
    folder = tmp_path / "s1/subagents/workflows/wf_1"
    folder.mkdir(parents=True)
    for name, text in (("journal.jsonl", '{"type": "log"}'), ("agent-1.jsonl", "")):
        (folder / name).write_text(text)
    assert formats.sort_files(tmp_path) == ([folder / "agent-1.jsonl"], [])


@pytest.mark.parametrize("size", [0, 50_000, 2_000_000])
@pytest.mark.parametrize("separator", ["/", "\\"])
def test_result_in_its_own_file_is_read(
    size: int, separator: str, tmp_path: Path
) -> None:
    saved = separator.join(("", "home", "ada", "s1", "tool-results", "b1.txt"))
    preview = (
        f"<persisted-output>\nOutput too large (73KB). Full output saved to: {saved}"
    )
    preview += "\n\nPreview (first 2KB):\nbeginning"
    result = {"type": "tool_result", "tool_use_id": "t1", "content": preview}
    file = tmp_path / "s1.jsonl"
    file.write_text(json.dumps(user(1, [result])))
    (event, missing) = read_file(file)
    assert "Preview" in event.text and "missing" in missing
    folder = tmp_path / "s1/tool-results"
    folder.mkdir(parents=True)
    (folder / "b1.txt").write_text(f"beginning{'x ' * (size // 2)}\nthe end")
    (event, missing) = read_file(file)
    assert "\nbeginning" in event.text and event.text.endswith("\nthe end")
    is_cut = size > saved_results.MAX_RESULT_BYTES
    assert len(event.text) < saved_results.MAX_RESULT_BYTES + 100
    assert bool(missing) is ("kB left out]" in event.text) is is_cut


POINTERS = {
    "persisted": "<persisted-output>\nOutput too large (73KB). Full output saved to: {}"
    "\n\nPreview (first 2KB):\nbeginning\n...\n</persisted-output>",
    "path on a line of its own": "<persisted-output>\nOutput too large (73KB). Full"
    " output saved to:\n{}\n\nPreview",
    "too many tokens": "Error: result (307,533 characters) exceeds maximum allowed"
    " tokens. Output has been saved to {}.\nFormat: Plain text\n- For targeted",
    "too many tokens in lines": "Error: result (9 characters across 3 lines) exceeds"
    " maximum allowed tokens. Output has been saved to {}.\nFormat: JSON array",
}
"""What stands in the place of a result that is in a file of its own."""


@pytest.mark.parametrize("pointer", POINTERS.values(), ids=POINTERS)
@pytest.mark.parametrize("name", ["mcp-search-17.txt", "b1k2.json", "gone/t1.txt"])
def test_file_of_a_result_is_found(pointer: str, name: str, tmp_path: Path) -> None:
    folder = tmp_path / "s1/tool-results"
    folder.mkdir(parents=True)
    text = "first line\nthe end"
    blocks = [
        {"type": "text", "text": "first line"},
        {"type": "text", "text": "the end"},
    ]
    is_json = name.endswith(".json")
    # The path may have been changed by a program that removes secrets.
    given, _, own = name.rpartition("gone/")
    (folder / own).write_text(json.dumps(blocks, indent=1) if is_json else text)
    content = pointer.format(f"/home/ada/tool-results/{given or own}")
    result = {"type": "tool_result", "tool_use_id": "t1", "content": content}
    file = tmp_path / "s1.jsonl"
    file.write_text(json.dumps(user(1, [result])))
    assert read_file(file)[0].text.endswith("\nfirst line\nthe end")


@pytest.mark.parametrize(
    ("size", "chars"),
    [
        ("(73KB)", 73 * 1024),
        ("(1.5MB)", 1.5 * 1024**2),
        ("(30,000 characters)", 30_000),
    ],
)
def test_size_of_a_result_whose_file_is_missing_is_counted(
    size: str, chars: float, tmp_path: Path
) -> None:
    content = f"<persisted-output>\nOutput too large {size}. Full output saved to: /a/b"
    result = {"type": "tool_result", "tool_use_id": "t1", "content": content}
    file = tmp_path / "s1.jsonl"
    file.write_text(json.dumps(user(1, [result])))
    items = list(claude_code.FORMAT.read(file, None, agent="", now=NOW))
    (missing,) = (item for item in items if isinstance(item, SkippedRecord))
    assert missing.line == 1
    assert missing.words == int(chars - len(content)) // 6


def test_file_of_a_result_may_be_named_beside_it(tmp_path: Path) -> None:
    folder = tmp_path / "s1/tool-results"
    folder.mkdir(parents=True)
    (folder / "b1.txt").write_text("all of it")
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "the beginning"}
    structured = {"stdout": "", "persistedOutputPath": "/home/ada/b1.txt"}
    file = tmp_path / "s1.jsonl"
    file.write_text(json.dumps(user(1, [result], toolUseResult=structured)))
    assert read_file(file)[0].text.endswith("\nall of it")


def test_file_of_a_result_in_a_copied_session_is_found(tmp_path: Path) -> None:
    saved = tmp_path / "original/tool-results/b1.txt"
    saved.parent.mkdir(parents=True)
    saved.write_text("all of it")
    content = POINTERS["persisted"].format("/home/ada/original/tool-results/b1.txt")
    result = {"type": "tool_result", "tool_use_id": "t1", "content": content}
    file = tmp_path / "fork.jsonl"
    file.write_text(json.dumps(user(1, [result])))
    assert read_file(file)[0].text.endswith("\nall of it")


@pytest.mark.parametrize("place", ["s1", "s1/subagents/agent-7"])
def test_file_of_a_subagents_result_is_found(place: str, tmp_path: Path) -> None:
    folder = tmp_path / place / "tool-results"
    folder.mkdir(parents=True)
    (folder / "b1.txt").write_text("all of it")
    content = POINTERS["persisted"].format(folder / "b1.txt")
    result = {"type": "tool_result", "tool_use_id": "t1", "content": content}
    file = tmp_path / "s1/subagents/agent-7.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(user(1, [result], isSidechain=True)))
    assert read_file(file)[0].text.endswith("\nall of it")


def test_results_without_their_transcript_are_counted(tmp_path: Path) -> None:
    saved = tmp_path / "s1/tool-results/b1.txt"
    saved.parent.mkdir(parents=True)
    saved.write_text("all of it")
    assert formats.sort_files(tmp_path)[1] == [saved]
    (tmp_path / "s1.jsonl").write_text(json.dumps(user(1, "hello")))
    assert not formats.sort_files(tmp_path)[1]


@pytest.mark.parametrize("size", [saved_results.MAX_FILE_BYTES + 9, 400_000])
def test_middle_of_a_huge_result_is_left_out(size: int, tmp_path: Path) -> None:
    file = tmp_path / "b1.txt"
    with file.open("wb") as opened:
        opened.write(b"start")
        opened.seek(size - 3)
        opened.write(b"end")
    text, (omitted,) = saved_results.read_whole(tmp_path, [Path("b1.txt")], "part")
    assert text.startswith("start") and text.endswith("end")
    assert omitted.words == (size - saved_results.MAX_RESULT_BYTES) // 6
    assert len(text) < saved_results.MAX_RESULT_BYTES + 100


def test_only_files_of_the_session_are_read(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("the secret")
    preview = "<persisted-output>\nFull output saved to: ../../secret.txt\n\nPreview"
    result = {"type": "tool_result", "tool_use_id": "t1", "content": preview}
    file = tmp_path / "s1.jsonl"
    file.write_text(json.dumps(user(1, [result])))
    (tmp_path / "s1/tool-results").mkdir(parents=True)
    (event, _) = read_file(file)
    assert "the secret" not in event.text


@pytest.mark.parametrize("link", ["tool-results/b1.txt", "tool-results", ""])
def test_no_link_out_of_a_session_is_followed(link: str, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere/s1"
    (elsewhere / "tool-results").mkdir(parents=True)
    (elsewhere / "tool-results/b1.txt").write_text("the secret")
    project = tmp_path / "project"
    place = project / "s1" / link
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(elsewhere / link)
    preview = "<persisted-output>\nFull output saved to: tool-results/b1.txt\n\nPreview"
    result = {"type": "tool_result", "tool_use_id": "t1", "content": preview}
    file = project / "s1.jsonl"
    file.write_text(json.dumps(user(1, [result])))
    (event, missing) = read_file(file)
    assert "the secret" not in event.text and "missing" in missing
    # The folder of all projects may be a link.
    (elsewhere.parent / file.name).write_bytes(file.read_bytes())
    (tmp_path / "link").symlink_to(elsewhere.parent)
    (event, missing) = read_file(tmp_path / "link/s1.jsonl")
    assert "the secret" in event.text and not missing


def read_file(file: Path) -> tuple[Event, str]:
    """Return the only event of a file, and the reason of what is skipped."""
    items = list(claude_code.FORMAT.read(file, None, agent="", now=NOW))
    (event,) = (item for item in items if isinstance(item, Event))
    reasons = [item.reason for item in items if isinstance(item, SkippedRecord)]
    return event, "".join(reasons)


def test_an_inline_side_chain_is_named_by_its_first_record() -> None:
    first = user(1, "search", isSidechain=True, parentUuid=None)
    second = assistant(2, text("found"), isSidechain=True, parentUuid="uuid-1")
    assert [event.subagent for event in read_events(first, second)] == [
        "uuid-1",
        "uuid-1",
    ]


def test_a_subagents_message_inside_a_progress_record_is_read() -> None:
    message = {**user(5, "look for y"), "type": "user"}
    nested = {"type": "agent_progress", "agentId": "a9", "message": message}
    (event,) = read_events(record(6, "progress", data=nested))
    assert (event.text, event.subagent, event.session_id) == ("look for y", "a9", "s1")


def test_session_has_folder_branch_model_and_title() -> None:
    facts = [
        reading
        for reading in read(
            user(1, "Fix the cart"),
            assistant(2, text("Fixed."), gitBranch="fix/cart"),
            {"type": "ai-title", "sessionId": "s1", "aiTitle": "Cart fixed"},
        )
        if isinstance(reading, SessionMetadata)
    ]
    assert facts[-1:] == [
        SessionMetadata(
            agent="claude-code",
            session_id="s1",
            cwd="/home/ada/work/shop",
            branch="fix/cart",
            title="Cart fixed",
            model="opus",
            at=datetime(2025, 3, 14, 10, 0, 1, tzinfo=UTC),
        )
    ]


@pytest.mark.parametrize("leaf", ["uuid-1", "uuid-2"])
@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_summary_is_the_title_of_the_session_with_its_message(
    leaf: str, is_first: bool, count: int, workspace: Workspace, tmp_path: Path
) -> None:
    summary = {"type": "summary", "summary": "Cart  fixed", "leafUuid": leaf}
    messages = [user(1, "Fix"), user(2, "Thanks")]
    records = [summary, *messages] if is_first else [*messages, summary]
    # The file may be read while it grows.
    for end in (count, len(records)):
        lines = (f"{json.dumps(fields)}\n" for fields in records[:end])
        (tmp_path / "s1.jsonl").write_text("".join(lines))
        list(workspace.pipeline.importer().run([tmp_path / "s1.jsonl"]))
    with database.connection():
        session = sessions.get("claude-code", "s1")
        assert session is not None and session.agent_title == "Cart fixed"


def test_summary_of_a_session_in_another_file_waits_for_its_message() -> None:
    summary = {"type": "summary", "summary": "Cart  fixed", "leafUuid": "uuid-9"}
    items = read(summary, user(1, "Fix"))
    title = MessageTitle("claude-code", "uuid-9", "Cart fixed")
    assert [item for item in items if isinstance(item, MessageTitle)] == [title]


def test_words_of_a_summary_that_names_no_message_are_counted() -> None:
    items = read({"type": "summary", "summary": "Cart fixed"}, user(1, "Fix"))
    skipped = [item for item in items if isinstance(item, SkippedRecord)]
    assert [(item.reason, item.words) for item in skipped] == [("summary", 2)]


def test_the_project_of_a_session_comes_before_its_first_event() -> None:
    first, *_ = read(user(1, "Fix the cart"))
    assert isinstance(first, SessionMetadata)
    assert first.cwd == "/home/ada/work/shop"


@pytest.mark.parametrize(
    ("damaged", "reason", "line"),
    [
        ("{not json", "not valid JSON", 2),
        ("42", "not a JSON object", 2),
        (user(1, "x", timestamp=None), "no timestamp", 2),
        (
            {k: v for k, v in user(1, "x").items() if k != "timestamp"},
            "no timestamp",
            2,
        ),
        (user(1, "x", sessionId=""), "no session id", 2),
        (
            user(1, "x", timestamp="2031-01-01T00:00:00Z"),
            "a timestamp in the future",
            2,
        ),
        (record(1, message="text"), "a message without content", 2),
        ({"silly": 1}, "a record without type", 2),
    ],
)
def test_damaged_record_is_reported_and_others_are_read(
    damaged: object, reason: str, line: int
) -> None:
    readings = read(user(1, "before"), damaged, user(3, "after"))
    assert InvalidRecord(reason, line) in readings
    assert [e.text for e in readings if isinstance(e, Event)] == ["before", "after"]


def test_an_unknown_record_is_counted_by_its_name() -> None:
    assert SkippedRecord("hologram", 1) in read(record(1, "hologram"))


def test_two_objects_on_one_line_are_both_read() -> None:
    line = json.dumps(user(1, "one")) + json.dumps(user(2, "two"))
    assert [event.text for event in read_events(line)] == ["one", "two"]


def test_cut_off_last_line_is_reported() -> None:
    raw = json.dumps(user(1, "whole")).encode() + b'\n{"type":"user","mess'
    assert PendingRecord("the last line is cut off", 2) in read_bytes(raw)


@pytest.mark.parametrize(
    ("junk", "reason"),
    [
        (b"\x1d", "not valid JSON"),
        (b"5", "not a JSON object"),
        (b'{"type":"us', "not valid JSON"),
        (b"\xe2\x80", "not valid JSON"),
        (b" ,x", "not valid JSON"),
    ],
)
def test_objects_before_a_cut_off_one_are_read_once(
    junk: bytes, reason: str, tmp_path: Path
) -> None:
    file = tmp_path / "session.jsonl"
    file.write_bytes(json.dumps(user(1, "caf\xe9"), ensure_ascii=False).encode() + junk)
    first = list(claude_code.FORMAT.read(file, None, agent="claude-code", now=NOW))
    assert [e.text for e in first if isinstance(e, Event)] == ["caf\xe9"]
    assert PendingRecord("the last line is cut off", 1) in first

    at = first[-1]
    assert isinstance(at, Cursor)
    with file.open("ab") as more:
        more.write(b"\n" + json.dumps(user(2, "next")).encode())
    second = list(claude_code.FORMAT.read(file, at, agent="claude-code", now=NOW))
    assert InvalidRecord(reason, 1) in second
    assert [e.text for e in second if isinstance(e, Event)] == ["next"]


def test_surrogates_nul_and_escape_codes_are_cleaned() -> None:
    line = json.dumps(user(1, "XX")).replace("XX", r"a\ud800b\u0000c\u001b[1md")
    assert [event.text for event in read_events(line)] == ["a\ufffdbcd"]


def test_invalid_utf8_is_replaced() -> None:
    raw = json.dumps(user(1, "caf#")).encode().replace(b"#", b"\xe9") + b"\n"
    readings = read_bytes(raw)
    assert [e.text for e in readings if isinstance(e, Event)] == ["caf\ufffd"]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["type", "text", "content", "id", "input", "source", "kind"]
            ),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)
fields = st.dictionaries(
    st.sampled_from(
        [
            "type",
            "subtype",
            "message",
            "content",
            "sessionId",
            "timestamp",
            "uuid",
            "parentUuid",
            "data",
            "cwd",
            "attachment",
            "isSidechain",
            "isMeta",
            "origin",
            "agentId",
            "summary",
            "leafUuid",
        ]
    ),
    json_values
    | st.sampled_from(["user", "assistant", "progress", "2025-03-14T10:00:00Z", "s"]),
    max_size=8,
)


@given(st.lists(fields, max_size=5))
def test_no_record_raises(records: list[dict[str, Any]]) -> None:
    read(*records)


@given(st.binary(max_size=200))
def test_no_bytes_raise(raw: bytes) -> None:
    read_bytes(raw)


def queued(number: int, operation: str, content: str = "") -> dict[str, Any]:
    """Return a record of the queue of prompts, which has no uuid and no folder."""
    made = {"type": "queue-operation", "operation": operation, "sessionId": "s1"}
    at = {"timestamp": f"2025-03-14T10:00:{number:02}.000Z"}
    return made | at | ({"content": content} if content else {})


def delivered(number: int, said: str) -> dict[str, Any]:
    attachment = {"type": "queued_command", "prompt": said, "commandMode": "prompt"}
    return record(number, "attachment", attachment=attachment)


def test_folder_is_told_as_soon_as_it_is_known() -> None:
    items = read(queued(0, "enqueue", "first"), user(1, "first"), user(2, "second"))
    places = [item.cwd for item in items if isinstance(item, SessionMetadata)]
    kinds = [type(item) for item in items]
    assert places[:2] == ["", record(1)["cwd"]]
    assert kinds[:3] == [SessionMetadata, SessionMetadata, Event]


WAITING = "and the tests, too"

REPETITIONS = {
    "never": [queued(2, "enqueue", WAITING), queued(4, "remove")],
    "still queued": [queued(2, "enqueue", WAITING)],
    "as a prompt": [
        queued(2, "enqueue", WAITING),
        queued(4, "dequeue"),
        user(5, WAITING),
    ],
    "as an attachment": [
        queued(2, "enqueue", WAITING),
        queued(4, "remove"),
        delivered(4, WAITING),
    ],
    "before the queue says so": [delivered(4, WAITING), queued(2, "enqueue", WAITING)],
    "with other spaces": [queued(2, "enqueue", WAITING), user(5, f"{WAITING} \n")],
}


@pytest.mark.parametrize("records", REPETITIONS.values(), ids=REPETITIONS)
def test_a_queued_prompt_is_stored_once(records: list[dict[str, Any]]) -> None:
    events = read_events(user(1, "Fix the cart"), *records, assistant(9, text("Done.")))
    assert sorted(e.text.strip() for e in events) == ["Done.", "Fix the cart", WAITING]
    (prompt,) = [e for e in events if e.text.strip() == WAITING]
    assert (prompt.event_type, prompt.role) == (
        EventType.USER_MESSAGE,
        EventRole.USER,
    )


@pytest.mark.parametrize("records", REPETITIONS.values(), ids=REPETITIONS)
@pytest.mark.parametrize("is_late", [False, True])
def test_a_queued_prompt_is_stored_once_however_the_file_is_read(
    records: list[dict[str, Any]], is_late: bool, workspace: Workspace, tmp_path: Path
) -> None:
    file, raw = tmp_path / "s1.jsonl", b""
    steps = [user(1, "Fix the cart"), *records, assistant(9, text("Done."))]
    started = datetime(2025, 3, 14, 10, tzinfo=UTC)
    for number, item in enumerate(steps):
        raw += json.dumps(item).encode() + b"\n"
        file.write_bytes(raw)
        # Late: each record arrives when the one before is old.
        now = started + (timedelta(hours=2) if is_late else timedelta(seconds=number))
        importer = workspace.pipeline.importer()
        importer.clock = partial(lambda at: at, now)
        list(importer.run([file]))
    again = tmp_path / "copy" / "s1.jsonl"
    again.parent.mkdir()
    again.write_bytes(raw)
    list(workspace.pipeline.importer().run([again]))
    with database.connection():
        texts = [text for (text,) in db.execute_sql("SELECT text FROM events")]
    assert sorted(map(str.strip, texts)) == ["Done.", "Fix the cart", WAITING]


LEAVING = ("remove", "popAll", "dequeue")

TAKEN = {
    "from the queue": [queued(2, "enqueue", WAITING)],
    "after its delivery": [queued(2, "enqueue", WAITING), delivered(3, WAITING)],
    "after its prompt": [queued(2, "enqueue", WAITING), user(3, WAITING)],
    "queued after its prompt": [user(3, WAITING), queued(2, "enqueue", WAITING)],
    "without a note of its queueing": [user(3, WAITING)],
    "with a reminder": [
        queued(2, "enqueue", f"{WAITING}<system-reminder>be brief</system-reminder>")
    ],
    "with another": [
        queued(1, "enqueue", "and the"),
        queued(2, "enqueue", "tests, too"),
    ],
}


@pytest.mark.parametrize("operation", LEAVING)
@pytest.mark.parametrize("records", TAKEN.values(), ids=TAKEN)
@pytest.mark.parametrize("is_growing", [False, True])
def test_stored_prompt_leaving_the_queue_counts_no_unread_words(
    operation: str,
    records: list[dict[str, Any]],
    is_growing: bool,
    workspace: Workspace,
    tmp_path: Path,
) -> None:
    taken = queued(4, operation, WAITING)
    file, steps = tmp_path / "s1.jsonl", [*records, taken, user(9, "Thanks")]
    importer = workspace.pipeline.importer()
    for number in range(1 if is_growing else len(steps), len(steps) + 1):
        file.write_text("".join(json.dumps(item) + "\n" for item in steps[:number]))
        list(importer.run([file]))
    assert importer.progress.unread == {}


@pytest.mark.parametrize("operation", LEAVING)
def test_prompt_that_only_left_the_queue_counts_as_unread(
    operation: str,
) -> None:
    readings = read(user(1, "Fix it"), queued(2, operation, WAITING))
    assert [item.words for item in readings if isinstance(item, SkippedRecord)] == [4]
    # Another session's prompt is another one.
    readings = read(user(1, WAITING, sessionId="s2"), queued(2, operation, WAITING))
    assert [item.words for item in readings if isinstance(item, SkippedRecord)] == [4]


def test_queued_prompt_is_recognized_after_a_day(tmp_path: Path) -> None:
    file, late = tmp_path / "s1.jsonl", {"timestamp": "2025-03-15T12:00:00.000Z"}
    first = queued(2, "enqueue", WAITING)
    later = [user(3, "Good morning", **late), queued(4, "remove", WAITING) | late]
    cursor = None
    for records in ([first], [first, *later]):
        file.write_text("".join(json.dumps(item) + "\n" for item in records))
        readings = list(claude_code.FORMAT.read(file, cursor, agent="", now=NOW))
        cursor = next(item for item in readings if isinstance(item, Cursor))
    assert [item.words for item in readings if isinstance(item, SkippedRecord)] == [0]


def test_several_queued_prompts_are_delivered_as_one() -> None:
    events = read_events(
        queued(1, "enqueue", "first"),
        queued(2, "enqueue", "second"),
        queued(3, "dequeue"),
        queued(3, "dequeue"),
        user(4, "first\nsecond"),
    )
    assert [e.text for e in events] == ["first\nsecond"]


def test_the_same_prompt_typed_twice_is_stored_twice() -> None:
    events = read_events(
        user(1, "continue"),
        queued(2, "enqueue", "continue"),
        queued(3, "dequeue"),
        user(4, "continue"),
        queued(5, "enqueue", "continue"),
        queued(6, "remove"),
    )
    assert [(e.text, e.timestamp.second) for e in events] == [
        ("continue", 1),
        ("continue", 4),
        ("continue", 5),
    ]


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (
            '{"task_id":"b1","description":"Push","task_type":"local_bash"}',
            "notification",
        ),
        (
            "<task-notification>\n<task-id>b1</task-id></task-notification>",
            "notification",
        ),
        ("/clear", "command"),
    ],
)
def test_text_queued_by_a_program_is_no_prompt(content: str, kind: str) -> None:
    (event,) = read_events(queued(1, "enqueue", content))
    assert (event.role, event.metadata["kind"]) == (EventRole.SYSTEM, kind)
    assert event.text == content


@pytest.mark.parametrize(
    ("content", "fields", "kind"),
    [
        ('<teammate-message teammate_id="lead">Go</teammate-message>', {}, "teammate"),
        (
            "Another Claude session sent a message:\n<teammate-message>x",
            {},
            "teammate",
        ),
        (
            "You review the cart.",
            {"teamName": "shop", "agentName": "reviewer", "parentUuid": None},
            "teammate",
        ),
        ("<task-notification>done</task-notification>", {}, "notification"),
        ("Summarize this part of a conversation in 2 sentences.", {}, "program"),
        ("<ide_opened_file>The user opened a.py</ide_opened_file>", {}, "reminder"),
    ],
)
def test_messages_of_other_agents_have_the_role_system(
    content: str, fields: dict[str, Any], kind: str
) -> None:
    (event,) = read_events(user(1, content, **fields))
    assert (event.role, event.metadata["kind"]) == (EventRole.SYSTEM, kind)
    assert event.text == content


def test_text_added_by_an_editor_is_not_in_the_title(
    workspace: Workspace, tmp_path: Path
) -> None:
    opened = "<ide_opened_file>The user opened /shop/cart.py</ide_opened_file>"
    selection = "<ide_selection>lines 1 to 2:\ncart = {}</ide_selection>"
    file = tmp_path / "s1.jsonl"
    said = f"{opened}\n{selection}\nEmpty the cart after checkout"
    file.write_text(json.dumps(user(1, said)) + "\n")
    list(workspace.pipeline.importer().run([file]))
    with database.connection():
        items = sessions.get("claude-code", "s1")
        (stored,) = db.execute_sql("SELECT text, metadata FROM events").fetchall()
    assert items and items.title == "Empty the cart after checkout"
    assert stored[0] == "Empty the cart after checkout"
    assert json.loads(stored[1])["added"] == f"{opened}\n{selection}"


def test_the_summary_of_a_compaction_becomes_that_of_the_session(
    workspace: Workspace, tmp_path: Path
) -> None:
    summary = "1. The user wants the cart to be emptied after checkout."
    whole = (
        "This session is being continued from a previous conversation that ran out of"
        f" context.\n\nAnalysis:\nI looked at it.\n\nSummary:\n{summary}\n\nPlease"
        " continue the conversation from where we left it off."
    )
    file = tmp_path / "s1.jsonl"
    records = [user(1, "Fix the cart"), user(2, whole, isCompactSummary=True)]
    file.write_text("".join(json.dumps(item) + "\n" for item in records))
    list(workspace.pipeline.importer().run([file]))
    with database.connection():
        items = sessions.get("claude-code", "s1")
        rows = db.execute_sql("SELECT role, text FROM events").fetchall()
    assert items and items.summary == summary
    assert ("system", whole) in rows


def test_a_transcript_that_is_one_array_is_read(
    workspace: Workspace, tmp_path: Path
) -> None:
    file = tmp_path / "session.json"
    records = [user(1, "Fix the cart"), assistant(2, text("Fixed."))]
    file.write_text(json.dumps(records, indent=2))
    importer = workspace.pipeline.importer()
    list(importer.run([file]))
    assert importer.progress.created == 2
    records.append(user(3, "Thanks"))
    file.write_text(json.dumps(records, indent=2))
    list(importer.run([file]))
    assert importer.progress.created == 3
    with database.connection():
        texts = [t for (t,) in db.execute_sql("SELECT text FROM events ORDER BY at_ms")]
    assert texts == ["Fix the cart", "Fixed.", "Thanks"]


@pytest.mark.parametrize("value", [17, None, "text", [user(4, "Inside a list")]])
def test_other_values_in_an_array_are_invalid(
    workspace: Workspace, tmp_path: Path, value: object
) -> None:
    file = tmp_path / "session.json"
    records = [value, user(1, "Fix the cart"), value, assistant(2, text("Fixed."))]
    file.write_text(json.dumps(records))
    importer = workspace.pipeline.importer()
    list(importer.run([file]))
    assert (importer.progress.created, importer.progress.invalid) == (2, 2)


ARRAY = [user(number, f"Message {number}") for number in range(1, 5)]

LAYOUTS = {
    "one line": (json.dumps(ARRAY), 1),
    "indented": (json.dumps(ARRAY, indent=2), 26),
    "a record a line": ("[\n" + ",\n".join(map(json.dumps, ARRAY)) + "\n]\n", 4),
    "commas first": ("[" + "\n, ".join(map(json.dumps, ARRAY)) + "\n]", 3),
}
"""Arrays, and the line on which the third record begins."""

DAMAGED_ARRAY = "the array is cut off or damaged"


def read_array(raw: str) -> tuple[list[str], list[InvalidRecord]]:
    """The texts in an array of records, and what is wrong with it."""
    readings = read_bytes(raw.encode(), "projects/shop/s1.json")
    return (
        [item.text for item in readings if isinstance(item, Event)],
        [item for item in readings if isinstance(item, InvalidRecord)],
    )


@pytest.mark.parametrize(("whole", "line"), LAYOUTS.values(), ids=LAYOUTS)
def test_records_before_the_end_of_a_cut_off_array_are_read(
    whole: str, line: int
) -> None:
    texts = [f"Message {number}" for number in range(1, 5)]
    assert read_array(whole) == (texts, [])
    cut = InvalidRecord(DAMAGED_ARRAY, line)
    assert read_array(whole[: whole.index("Message 3")]) == (texts[:2], [cut])
    assert read_array(whole[: whole.index("uuid-3")]) == (texts[:2], [cut])
    last = whole[: whole.rindex("}") + 1]
    cut = InvalidRecord(DAMAGED_ARRAY, last.count("\n") + 1)
    assert read_array(last) == (texts, [cut])
    assert read_array(f"{last},") == (texts, [cut])


@pytest.mark.parametrize("whole", [text for text, _ in LAYOUTS.values()], ids=LAYOUTS)
@pytest.mark.parametrize(
    ("right", "wrong"),
    [('"Message 3"', '"Message 3'), ('"uuid-3"', "uuid-3"), ('"uuid-3"', '"uuid-3"]')],
)
def test_damage_in_an_array_is_one_problem(whole: str, right: str, wrong: str) -> None:
    texts, damaged = read_array(whole.replace(right, wrong))
    assert texts == ["Message 1", "Message 2"]
    assert [problem.reason for problem in damaged] == [DAMAGED_ARRAY]


def test_text_after_an_array_is_a_problem() -> None:
    whole, _ = LAYOUTS["a record a line"]
    texts = [f"Message {number}" for number in range(1, 5)]
    after = InvalidRecord("text after the end of an array", 6)
    assert read_array(f"{whole}{whole}") == (texts, [after])
    assert read_array(f"{whole}\n\0") == (texts, [])


@pytest.mark.parametrize("whole", [item for item, _ in LAYOUTS.values()], ids=LAYOUTS)
def test_an_array_in_a_file_named_jsonl_is_read(whole: str) -> None:
    readings = read_bytes(whole.encode(), "projects/shop/s1.jsonl")
    texts = [item.text for item in readings if isinstance(item, Event)]
    assert texts == [f"Message {number}" for number in range(1, 5)]


def test_file_whose_first_line_is_an_array_is_read_by_lines() -> None:
    first, *others = map(json.dumps, ARRAY)
    raw = "\n".join([f"[{first}]", *others]) + "\n"
    readings = read_bytes(raw.encode(), "projects/shop/s1.jsonl")
    texts = [item.text for item in readings if isinstance(item, Event)]
    assert texts == ["Message 2", "Message 3", "Message 4"]
    (invalid,) = [item for item in readings if isinstance(item, InvalidRecord)]
    assert invalid == InvalidRecord("not a JSON object", 1)


def test_an_array_that_was_cut_off_is_read_again_when_it_is_complete(
    workspace: Workspace, tmp_path: Path
) -> None:
    file, whole = tmp_path / "session.json", LAYOUTS["indented"][0]
    importer = workspace.pipeline.importer()
    items = []
    for end in (whole.index("Message 3"), whole.index("Message 4"), len(whole)):
        file.write_text(whole[:end])
        list(importer.run([file]))
        with database.connection():
            items += [(item.source, item.reason) for item in sources.list_damaged()]
    assert items == [(str(file), DAMAGED_ARRAY)] * 2
    assert (importer.progress.created, importer.progress.unreadable) == (4, 0)


def test_an_import_of_an_array_that_is_cut_off_says_so(tmp_path: Path) -> None:
    file, whole = tmp_path / "session.json", LAYOUTS["indented"][0]
    file.write_text(whole[: whole.index("Message 3")])
    done = run_memtui(tmp_path / "home", "import", str(file), code=0)
    assert "2 new events" in done.stdout and "1 record skipped" in done.stdout
    output = run_memtui(tmp_path / "home", "quarantine").stdout
    assert f"{file}:{LAYOUTS['indented'][1]}" in output
    assert DAMAGED_ARRAY in output


def test_a_damaged_array_does_not_take_long() -> None:
    for part in ('{"a":[\n', '{"a":\n', '{"\n', "{\n", '{"a": 1}}\n'):
        started = time.process_time()
        read_array('[\n{"type": "user"},\n' + part * 20_000)
        assert time.process_time() - started < 5


def test_subtype_that_is_no_text_is_skipped() -> None:
    assert read_events(record(1, "system", subtype=["x"], content="y"), user(2, "Hi"))


def test_a_queued_shell_command_is_recorded_once() -> None:
    events = read_events(
        user(1, "Fix the cart"),
        queued(2, "enqueue", "!ls src"),
        queued(3, "dequeue"),
        user(4, "<bash-input>ls src</bash-input>"),
    )
    assert [(item.text, item.metadata.get("kind")) for item in events] == [
        ("Fix the cart", None),
        ("<bash-input>ls src</bash-input>", "command"),
    ]
