"""How calls end is read from every format and from all hooks."""

import json
import time
from pathlib import Path

import pytest

from memtui.capture import formats
from memtui.capture.formats import (
    antigravity,
    copilot,
    gemini,
    hooks,
    saved_results,
)
from memtui.capture.formats.endings import (
    EXIT_STATUS_FIELDS,
    read_ending,
    read_fields,
    unwrapped,
)
from memtui.model.events import Event
from memtui.model.tool_calls import CallEnd
from memtui.settings import AGENTS
from memtui.store import database, sources
from memtui.store import events as store_events
from memtui.summarize.facts import read_facts
from memtui.workspace import Workspace
from tests.capture import endings
from tests.capture.endings import LATER, Way
from tests.tables import EventRow

STORED = {
    Way.OK: CallEnd.OK,
    Way.PRINTED: CallEnd.OK,
    Way.FAILED: CallEnd.FAILED,
    Way.KILLED: CallEnd.FAILED,
    Way.DENIED: CallEnd.FAILED,
    Way.CANCELLED: CallEnd.CANCELLED,
    Way.RUNNING: CallEnd.UNFINISHED,
    Way.BACKGROUND: CallEnd.BACKGROUND,
}


def read_file(name: str, way: Way, folder: Path) -> list[Event]:
    place, make = endings.FILES[name]
    records = make(way)
    if records is None:
        pytest.skip("this format does not have it")
    file = folder / place
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(endings.write_lines(records))
    source = formats.detect_format(file)
    assert source
    items = source.read(file, None, agent="own", now=LATER)
    return [item for item in items if isinstance(item, Event)]


def check(events: list[Event], way: Way, is_stated: bool) -> None:
    (call,) = [event for event in events if event.is_tool_call]
    expected = STORED[way] if is_stated else CallEnd.UNKNOWN
    if call.agent == "copilot-cli" and way is Way.CANCELLED:
        expected = CallEnd.UNFINISHED  # Its calls have no result then.
    assert call.call_end is expected
    if way is Way.FAILED:
        assert call.metadata["exit_status"] == "3"
    facts = read_facts(events)
    assert bool(facts.commits) is (way in (Way.OK, Way.PRINTED))
    if way in (Way.FAILED, Way.KILLED):
        assert [line.text for line in facts.failed_commands] == [
            'git commit -m "Round prices"'
        ]


@pytest.mark.parametrize("way", Way)
@pytest.mark.parametrize("name", endings.FILES)
def test_how_a_command_ended_is_read_from_files(
    name: str, way: Way, tmp_path: Path
) -> None:
    # Gemini CLI says nothing of commands that succeed.
    check(read_file(name, way, tmp_path), way, is_stated=True)


@pytest.mark.parametrize("way", Way)
@pytest.mark.parametrize("name", endings.HOOKS)
def test_how_a_command_ended_is_read_from_hooks(name: str, way: Way) -> None:
    payload = endings.HOOKS[name](way)
    if payload is None:
        pytest.skip("this hook does not report it")
    items = hooks.read(json.dumps(payload).encode(), received_at=LATER, now=LATER)
    events = [item for item in items if isinstance(item, Event)]
    says_success = name != "gemini-cli" or way not in (Way.OK, Way.PRINTED)
    check(events, way, is_stated=says_success)


def stored_calls() -> list[Event]:
    with database.connection():
        ids = [row.id for row in EventRow.select() if row.type == "tool_result"]
        return list(store_events.get(ids).values())


def write(folder: Path, name: str, way: Way) -> Path:
    place, make = endings.FILES[name]
    file = folder / place
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(endings.write_lines(make(way) or iter(())))
    return file


KILLED_IN_A_CALL = sorted(endings.FILES.keys() - {"codex items", "plain"})
"""The formats that say that a call began."""


@pytest.mark.parametrize("name", KILLED_IN_A_CALL)
def test_a_call_that_ends_later_is_finished(
    name: str, workspace: Workspace, tmp_path: Path
) -> None:
    importer = workspace.pipeline.importer()
    list(importer.run([write(tmp_path, name, Way.RUNNING)]))
    (started,) = stored_calls()
    assert started.ending == "not finished"
    list(importer.run([write(tmp_path, name, Way.FAILED)]))
    (ended,) = stored_calls()
    assert ended.ending == "failed with exit status 3"
    with database.connection():
        assert store_events.get([started.event_id]) == {started.event_id: ended}
    # An older copy of the file changes nothing.
    list(importer.run([write(tmp_path / "copy", name, Way.RUNNING)]))
    assert stored_calls() == [ended]
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    with database.connection():
        assert not sources.list_damaged()


@pytest.mark.parametrize("is_hook_first", [True, False])
@pytest.mark.parametrize("name", ["claude-code", "codex", "gemini-cli", "opencode"])
def test_a_hook_ends_a_call(
    name: str, is_hook_first: bool, workspace: Workspace, tmp_path: Path
) -> None:
    payload = endings.HOOKS[name](Way.FAILED)
    running = endings.FILES[name][1](Way.RUNNING)
    assert payload and running
    if name == "codex":
        payload |= {"tool_name": "exec_command", "tool_input": {"cmd": endings.COMMAND}}

    def capture_hook() -> None:
        folder = workspace.paths.spool / "new"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "1.1.a.json").write_text(json.dumps(payload))
        assert workspace.pipeline.run_until_idle(lambda _: None) == []

    importer = workspace.pipeline.importer()
    if is_hook_first:
        capture_hook()
    list(importer.run([write(tmp_path, name, Way.RUNNING)]))
    if not is_hook_first:
        capture_hook()
    (call,) = stored_calls()
    assert call.ending == "failed with exit status 3"
    # The transcript's own record of the end replaces the hook's.
    list(importer.run([write(tmp_path, name, Way.FAILED)]))
    (ended,) = stored_calls()
    assert ended.ending == "failed with exit status 3"
    assert ended.event_id != call.event_id


@pytest.mark.parametrize("name", [*KILLED_IN_A_CALL])
def test_a_call_that_is_cancelled_later_is_stored_once(
    name: str, workspace: Workspace, tmp_path: Path
) -> None:
    importer = workspace.pipeline.importer()
    list(importer.run([write(tmp_path, name, Way.RUNNING)]))
    list(importer.run([write(tmp_path, name, Way.CANCELLED)]))
    (call,) = stored_calls()
    assert call.ending == "not finished"
    (alone,) = [e for e in read_file(name, Way.CANCELLED, tmp_path) if e.is_tool_call]
    assert call.text == alone.text


def test_an_equal_call_later_leaves_the_unfinished_one(
    workspace: Workspace, tmp_path: Path
) -> None:
    file = write(tmp_path, "claude-code", Way.RUNNING)
    list(workspace.pipeline.importer().run([file]))
    again = endings.write_lines(endings.claude(Way.OK)).replace(b'"t1"', b'"t2"')
    again = again.replace(b'"uuid": "u', b'"uuid": "v').replace(b"T10:00", b"T10:05")
    with file.open("ab") as opened:
        opened.write(again)
    list(workspace.pipeline.importer().run([file]))
    assert [call.ending for call in stored_calls()] == ["not finished", ""]


TASK_OUTPUT = """<retrieval_status>success</retrieval_status>

<task_id>b1</task_id>

<status>STATUS</status>

<output>
<status>completed</status>
</output>"""

STATUSES = {
    "running": CallEnd.BACKGROUND,
    "completed": CallEnd.OK,
    "failed": CallEnd.FAILED,
    "killed": CallEnd.FAILED,
}


@pytest.mark.parametrize("status", STATUSES)
def test_output_of_a_command_in_the_background_ends_as_its_status_says(
    status: str,
) -> None:
    text = TASK_OUTPUT.replace("STATUS", status)
    ending = read_ending("claude-code", "TaskOutput", text, has_failed=False)
    assert ending.end is STATUSES[status]
    task = {"status": status, "exitCode": None, "output": "half"}
    payload = {"tool_name": "TaskOutput", "tool_input": {"task_id": "b1"}}
    payload |= {"tool_response": {"retrieval_status": "success", "task": task}}
    payload |= {"session_id": "s1", "hook_event_name": "PostToolUse"}
    items = hooks.read(json.dumps(payload).encode(), received_at=LATER, now=LATER)
    (call,) = [item for item in items if isinstance(item, Event)]
    assert call.call_end is STATUSES[status]


@pytest.mark.parametrize(
    ("agent", "text", "end"),
    [
        (
            "codex",
            'exec_command failed for `git commit`: CreateProcess { message: "no" }',
            CallEnd.FAILED,
        ),
        ("codex", "execution error: Io(NotFound)", CallEnd.FAILED),
        ("codex", "failed in sandbox: denied, exit code: 1", CallEnd.FAILED),
        ("codex", "write_stdin failed: Unknown process id 9", CallEnd.FAILED),
        ("codex", "unsupported call: bash", CallEnd.FAILED),
        ("codex", "Script terminated\nWall time 1.0 seconds\n", CallEnd.FAILED),
        (
            "codex",
            "Script running with cell ID 4\nWall time 1.0 seconds\nOutput:\n",
            CallEnd.BACKGROUND,
        ),
        (
            "copilot-cli",
            "half\n<shellId: 3 was terminated by signal SIGTERM>",
            CallEnd.FAILED,
        ),
        (
            "copilot-cli",
            "<command started in detached background with shellId: srv>",
            CallEnd.BACKGROUND,
        ),
        (
            "claude-code",
            "ready\nCommand was manually backgrounded by user with ID: b1. Output is",
            CallEnd.BACKGROUND,
        ),
        (
            "opencode",
            "half\n\n<shell_metadata>\nUser aborted the command\n</shell_metadata>",
            CallEnd.CANCELLED,
        ),
        (
            "copilot-cli",
            "half\n<waiting for command with sessionId: main to exit timed out after 30"
            " seconds. try again with read_powershell or abort it>",
            CallEnd.BACKGROUND,
        ),
        ("codex", "aborted", CallEnd.CANCELLED),
        ("opencode", "lint\nCommand exited with code 3.", CallEnd.FAILED),
        ("opencode", "half\nCommand exited with code unknown.", CallEnd.FAILED),
        ("opencode", "half\nCommand timed out before completion.", CallEnd.FAILED),
        (
            "opencode",
            "half\nCommand stopped by user. Do not restart it.",
            CallEnd.FAILED,
        ),
        (
            "copilot-cli",
            "lint\n<command with shellId: build exited with exit code 3>",
            CallEnd.FAILED,
        ),
        (
            "gemini-cli",
            "Output: lint\n... [9 characters omitted] ...\nlint\nExit Code: 3\n"
            "Process Group PGID: 77\n</untrusted_context>",
            CallEnd.FAILED,
        ),
    ],
)
def test_what_an_agent_writes_of_a_command_decides(
    agent: str, text: str, end: CallEnd
) -> None:
    assert read_ending(agent, "bash", text, has_failed=False).end is end
    # Printed by the program, it says nothing.
    printed = f"{text}\ndone" if agent != "codex" else f"done\n{text}"
    assert read_ending(agent, "bash", printed, has_failed=False).end is CallEnd.OK


@pytest.mark.parametrize(
    "part",
    [
        *("Signal: 1\n", "Exit Code: 1\nSignal: 2\n", "[Exit Code: 1]\n", " \n"),
        *(
            "Background PIDs: 1\n",
            "<exited with exit code 1",
            "\n</untrusted_context>x",
        ),
        *("Command exited with code 1.\n", "Output too large saved to: x   "),
    ],
)
@pytest.mark.parametrize("agent", [*AGENTS])
def test_endings_are_read_in_linear_time(agent: str, part: str) -> None:
    seconds = []
    for count in (2_000, 8_000):
        text = f"Output too large{part * count}y"
        started = time.perf_counter()
        read_ending(agent, "shell", text, has_failed=True)
        unwrapped(f"<untrusted_context>\n{text}")
        saved_results.find_path(text)
        seconds.append(time.perf_counter() - started)
    assert seconds[1] < 8 * seconds[0] + 0.05, seconds


def test_lines_may_end_with_carriage_returns() -> None:
    text = "Wall time: 1 seconds\r\nProcess exited with code 3\r\nOutput:\r\nlint"
    assert read_ending("codex", "shell", text).exit_status == "3"
    text = "Exit code 3\r\nlint"
    ending = read_ending("claude-code", "PowerShell", text, has_failed=True)
    assert ending.exit_status == "3"


@pytest.mark.parametrize(
    ("metadata", "end"),
    [
        ({"exit": 3}, CallEnd.FAILED),
        ({"exit": 0}, CallEnd.OK),
        ({"exit": None}, CallEnd.FAILED),
        ({"signal": "SIGKILL"}, CallEnd.FAILED),
        ({"timeout": True}, CallEnd.FAILED),
        ({"status": "running", "shellID": "sh1"}, CallEnd.BACKGROUND),
        ({"shellID": "sh1"}, CallEnd.BACKGROUND),
        ({"shellID": "sh1", "exit": 0}, CallEnd.OK),
    ],
)
@pytest.mark.parametrize("name", ["metadata", "structured"])
def test_fields_beside_a_complete_result_say_how_its_command_ended(
    name: str, metadata: dict[str, object], end: CallEnd
) -> None:
    stated = read_fields({"status": "completed", name: metadata})
    assert read_ending("opencode", "shell", "lint", **stated).end is end


@pytest.mark.parametrize("kind", ["shell_exit", "terminal"])
def test_exit_status_in_a_part_of_a_result_is_read(kind: str, tmp_path: Path) -> None:
    *before, complete = endings.copilot(Way.FAILED)
    part = {"type": kind, "exitCode": 3, "text": "lint"}
    complete["data"]["result"] = {"content": "lint", "contents": [part]}
    file = tmp_path / "events.jsonl"
    file.write_bytes(endings.write_lines(iter([*before, complete])))
    items = list(copilot.FORMAT.read(file, None, agent="", now=LATER))
    check([i for i in items if isinstance(i, Event)], Way.FAILED, is_stated=True)


@pytest.mark.parametrize("way", [Way.FAILED, Way.KILLED, Way.CANCELLED, Way.BACKGROUND])
def test_element_around_a_result_is_no_part_of_it(way: Way, tmp_path: Path) -> None:
    text = endings.gemini_text(way)
    wrapped = f"<untrusted_context>\n{text}\n</untrusted_context>"
    *before, reply = endings.gemini(way)
    response = {"functionResponse": {"response": {"output": wrapped}}}
    reply["toolCalls"][0]["result"] = [response]
    file = tmp_path / "session-1.jsonl"
    file.write_bytes(endings.write_lines(iter([*before, reply])))
    payload = endings.gemini_hook(way)
    assert payload
    payload["tool_response"]["llmContent"] = wrapped
    raw = json.dumps(payload).encode()
    for items in (
        gemini.FORMAT.read(file, None, agent="", now=LATER),
        hooks.read(raw, received_at=LATER, now=LATER),
    ):
        events = [item for item in items if isinstance(item, Event)]
        check(events, way, is_stated=True)
        assert not [event for event in events if "untrusted" in event.text]


@pytest.mark.parametrize(
    ("status", "end"),
    [
        *(("WAITING", CallEnd.UNFINISHED), ("GENERATING", CallEnd.UNFINISHED)),
        *(("HALTED", CallEnd.FAILED), ("INVALID", CallEnd.FAILED)),
        *(("CANCELED", CallEnd.CANCELLED), ("INTERRUPTED", CallEnd.CANCELLED)),
    ],
)
def test_status_of_a_step_without_output_is_read(
    status: str, end: CallEnd, tmp_path: Path
) -> None:
    *before, result = endings.antigravity(Way.OK)
    at = f"Created At: {result['created_at']}"
    result |= {"content": f"{at}\nCompleted At: {at[12:]}\n\n", "status": status}
    file = tmp_path / "transcript.jsonl"
    file.write_bytes(endings.write_lines(iter([*before, result])))
    items = antigravity.FORMAT.read(file, None, agent="", now=LATER)
    (call,) = (i for i in items if isinstance(i, Event) and i.is_tool_call)
    assert call.call_end is end


def test_exit_status_in_a_field_of_a_step_is_read(tmp_path: Path) -> None:
    *before, result = endings.antigravity(Way.OK)
    result |= {"content": "lint", "exit_code": 3}
    file = tmp_path / "transcript.jsonl"
    file.write_bytes(endings.write_lines(iter([*before, result])))
    items = list(antigravity.FORMAT.read(file, None, agent="", now=LATER))
    check([i for i in items if isinstance(i, Event)], Way.FAILED, is_stated=True)


@pytest.mark.parametrize("name", EXIT_STATUS_FIELDS)
def test_exit_status_beside_the_result_of_a_hook_is_read(name: str) -> None:
    payload = endings.opencode_hook(Way.FAILED)
    assert payload
    payload[name] = payload.pop("exit")
    items = hooks.read(json.dumps(payload).encode(), received_at=LATER, now=LATER)
    check([i for i in items if isinstance(i, Event)], Way.FAILED, is_stated=True)


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("Exit code: 1\nWall time: 0 seconds\nOutput:\nio error", CallEnd.FAILED),
        ("apply_patch verification failed: no such lines", CallEnd.FAILED),
        ("Exit code: 0\nWall time: 0 seconds\nOutput:\nM a.py", CallEnd.OK),
    ],
)
def test_result_of_codex_patching_tool_is_that_of_a_command(
    text: str, end: CallEnd
) -> None:
    assert read_ending("codex", "apply_patch", text).end is end
    # Other tools that edit may show what is in a file.
    assert read_ending("codex", "edit", text).end is CallEnd.UNKNOWN


def test_results_after_a_command_in_the_background_belong_to_their_calls(
    tmp_path: Path,
) -> None:
    place, make = endings.FILES["antigravity-cli"]
    first, later = make(Way.BACKGROUND), make(Way.FAILED)
    assert first and later
    file = tmp_path / place
    file.parent.mkdir(parents=True)
    records = [*first, *list(later)[1:]]
    for number, record in enumerate(records):
        record["step_index"] = number
    file.write_bytes(endings.write_lines(iter(records)))
    source = formats.detect_format(file)
    assert source
    items = list(source.read(file, None, agent="own", now=LATER))
    calls = [item for item in items if isinstance(item, Event) and item.is_tool_call]
    assert [call.call_end for call in calls] == [CallEnd.BACKGROUND, CallEnd.FAILED]


@pytest.mark.parametrize(
    ("result", "display", "end"),
    [
        ("Output: a\nExit Code: 1", "a\nExit Code: 1", CallEnd.OK),
        ("Output: a\nExit Code: 1\nProcess Group PGID: 7", "a", CallEnd.FAILED),
        ("Output: a\nExit Code: 1\nExit Code: 1", "a\nExit Code: 1", CallEnd.FAILED),
        (
            "Output: (empty)\nExit Code: 1",
            "Command exited with code: 1",
            CallEnd.FAILED,
        ),
    ],
)
def test_exit_status_that_a_command_of_gemini_printed_is_none(
    result: str, display: str, end: CallEnd, tmp_path: Path
) -> None:
    response = {"functionResponse": {"response": {"output": result}}}
    call = {
        "id": "c1",
        "name": "run_shell_command",
        "args": {"command": "make"},
        "status": "success",
        "result": [response],
        "resultDisplay": display,
    }
    message = {"id": "m1", "type": "gemini", "timestamp": "2026-03-14T10:00:00Z"}
    session = {"sessionId": "s1", "messages": [{**message, "toolCalls": [call]}]}
    file = tmp_path / "session-1.json"
    file.write_text(json.dumps(session))
    items = formats.FORMATS_BY_NAME["gemini-cli"].read(
        file, None, agent="gemini-cli", now=LATER
    )
    assert [e.call_end for e in items if isinstance(e, Event)] == [end]
    payload = {
        "hook_event_name": "AfterTool",
        "transcript_path": "/home/ada/.gemini/tmp/shop/chats/session-1.jsonl",
        "session_id": "s1",
        "timestamp": "2026-03-14T10:00:00Z",
        "tool_name": "run_shell_command",
        "tool_input": {"command": "make"},
        "tool_response": {"llmContent": result, "returnDisplay": display},
    }
    hooked = hooks.read(json.dumps(payload).encode(), received_at=LATER, now=LATER)
    (event,) = [item for item in hooked if isinstance(item, Event)]
    assert event.is_failed is (end is CallEnd.FAILED)


def test_subagent_that_was_launched_goes_on_running(tmp_path: Path) -> None:
    launched: endings.Fields = {"status": "async_launched", "agentId": "a1"}
    records = [*endings.claude(Way.OK)]
    records[1]["message"]["content"][0] |= {"name": "Agent", "input": {"prompt": "x"}}
    records[2]["toolUseResult"] = launched
    file = tmp_path / "s1.jsonl"
    file.write_bytes(endings.write_lines(iter(records)))
    source = formats.detect_format(file)
    assert source
    items = source.read(file, None, agent="own", now=LATER)
    payload: endings.Fields = {"session_id": "s1", "hook_event_name": "PostToolUse"}
    payload |= {"tool_name": "Agent", "tool_input": {}, "tool_response": launched}
    told = hooks.read(json.dumps(payload).encode(), received_at=LATER, now=LATER)
    calls = [e for e in (*items, *told) if isinstance(e, Event) and e.is_tool_call]
    assert [call.call_end for call in calls] == [CallEnd.BACKGROUND] * 2
