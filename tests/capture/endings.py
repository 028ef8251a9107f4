"""One command in every format and ended in every way: files and payloads of hooks.

Each maker returns the records of a session in which ``COMMAND`` was run, or None if the
format does not say that it ended so. ``PRINTED`` is what the program printed in a run
that succeeded; it looks like a failure in all formats.
"""

import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from enum import StrEnum
from typing import Any

from tests.capture.corpora import AT, clock

COMMAND = "git commit -m 'Round prices'"

PRINTED = """Exit code: 1
Exit Code: 1
Process exited with code 1
<shellId: 1 completed with exit code 1>
The command failed with exit code: 1
<exit_code>1</exit_code>
done"""


class Way(StrEnum):
    """How the command ended."""

    OK = "ok"
    PRINTED = "printed"
    """It succeeded, and printed what looks like a failure."""
    FAILED = "failed"
    """Its exit status was 3."""
    KILLED = "killed"
    """It was stopped, or took too long."""
    DENIED = "denied"
    """The user did not allow it."""
    CANCELLED = "cancelled"
    """The user stopped the agent while it ran."""
    RUNNING = "running"
    """The agent was killed while it ran: nothing follows."""
    BACKGROUND = "background"
    """The call returned while the command went on running."""


Fields = dict[str, Any]
Maker = Callable[[Way], Iterator[Fields] | None]


def output(way: Way) -> str:
    return PRINTED if way is Way.PRINTED else "lint: 3 problems"


def claude(way: Way) -> Iterator[Fields]:
    def record(number: int, kind: str, **fields: Any) -> Fields:
        about = {"uuid": f"u{number}", "sessionId": "s1", "timestamp": clock(number)}
        return {"type": kind, **about, "cwd": "/home/ada/shop", **fields}

    given = {"command": COMMAND}
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": given}
    message = {"id": "m1", "content": [call], "stop_reason": "tool_use"}
    yield record(1, "user", message={"content": "Commit it"})
    yield record(2, "assistant", message=message)
    if way is Way.RUNNING:
        return
    text, structured = output(way), {}
    is_error = way not in (Way.OK, Way.PRINTED, Way.BACKGROUND)
    if way is Way.FAILED:
        text = f"Exit code 3\n{text}"
    elif way is Way.KILLED:
        text = "Command timed out after 2m 0.0s"
    elif way is Way.DENIED:
        text = "The user doesn't want to proceed with this tool use."
    elif way is Way.CANCELLED:
        is_error, structured = False, {"stdout": text, "interrupted": True}
    elif way is Way.BACKGROUND:
        text = (
            "Command did not complete within its 120s timeout and was moved to the"
            " background (ID: b1). You will be notified when it completes."
        )
    block = {"type": "tool_result", "tool_use_id": "t1", "content": text}
    content = [block | {"is_error": is_error}]
    message = {"role": "user", "content": content}
    yield record(3, "user", message=message, toolUseResult=structured)


def codex_text(way: Way) -> str:
    if way is Way.DENIED:
        return "exec command rejected by user"
    if way is Way.CANCELLED:
        return "aborted by user after 3.2s"
    if way is Way.BACKGROUND:
        return "Wall time: 10 seconds\nProcess running with session ID 7\nOutput:\n"
    status = {Way.FAILED: 3, Way.KILLED: 124}.get(way, 0)
    return f"Wall time: 1.0 seconds\nProcess exited with code {status}\nOutput:\n" + (
        output(way)
    )


def codex(way: Way) -> Iterator[Fields]:
    def record(number: int, kind: str, **payload: Any) -> Fields:
        envelope = {"timestamp": clock(number), "type": "response_item"}
        return {**envelope, "payload": {"type": kind, **payload}}

    meta = {"id": "s1", "cwd": "/home/ada/shop", "originator": "cli"}
    yield {"timestamp": clock(0), "type": "session_meta", "payload": meta}
    words = [{"type": "input_text", "text": "Commit it"}]
    yield record(1, "message", role="user", content=words)
    call = {"name": "exec_command", "arguments": json.dumps({"cmd": COMMAND})}
    yield record(2, "function_call", call_id="t1", **call)
    if way is not Way.RUNNING:
        text = codex_text(way)
        yield record(3, "function_call_output", call_id="t1", output=text)


def codex_items(way: Way) -> Iterator[Fields] | None:
    """Newer rollouts, in which a command is one item."""
    if way in (Way.RUNNING, Way.CANCELLED, Way.BACKGROUND):
        return None
    item: Fields = {"type": "CommandExecution", "id": "t1"}
    item["command"] = ["bash", "-c", COMMAND]
    status = "declined" if way is Way.DENIED else "completed"
    if way in (Way.FAILED, Way.KILLED):
        item["exit_code"], status = 3 if way is Way.FAILED else 137, "failed"
    elif way is not Way.DENIED:
        item["exit_code"] = 0
    item |= {"status": status, "aggregated_output": output(way)}
    meta = {"id": "s1", "cwd": "/home/ada/shop", "originator": "cli"}
    payload = {"type": "item_completed", "item": item}
    return iter(
        [
            {"timestamp": clock(0), "type": "session_meta", "payload": meta},
            {"timestamp": clock(3), "type": "event_msg", "payload": payload},
        ]
    )


COPILOT_RUNNING = (
    "lint\n<command with shellId: build-1 is still running after 30 seconds. Use"
    " read_bash to continue waiting.>"
)


def copilot(way: Way) -> Iterator[Fields]:
    def record(number: int, kind: str, **data: Any) -> Fields:
        return {
            "type": kind,
            "data": data,
            "id": f"e{number}",
            "timestamp": clock(number),
        }

    yield record(0, "session.start", sessionId="s1", context={"cwd": "/home/ada/shop"})
    yield record(1, "user.message", content="Commit it")
    call = {"toolCallId": "t1", "toolName": "bash", "arguments": {"command": COMMAND}}
    yield record(2, "tool.execution_start", **call)
    if way is Way.RUNNING:
        return
    done: Fields = {"toolCallId": "t1", "success": True}
    if way is Way.CANCELLED:
        yield record(3, "abort", reason="user")
        return
    if way is Way.KILLED:
        done |= {
            "shellExecution": {"exitCode": 137},
            "result": {"content": output(way)},
        }
    elif way is Way.DENIED:
        error = {"code": "denied", "message": "The user did not allow it."}
        done |= {"success": False, "error": error}
    elif way is Way.BACKGROUND:
        done["result"] = {"content": COPILOT_RUNNING}
    else:
        status = 3 if way is Way.FAILED else 0
        end = f"<shellId: 51 completed with exit code {status}>"
        done["result"] = {"content": f"{output(way)}\n{end}"}
    yield record(3, "tool.execution_complete", **done)


def gemini_text(way: Way) -> str:
    if way is Way.BACKGROUND:
        return "Command moved to background (PID: 77). Output hidden."
    if way is Way.CANCELLED:
        return "Command was cancelled by user before it could complete."
    lines = [f"Output: {output(way)}"]
    lines += ["Exit Code: 3"] if way is Way.FAILED else []
    lines += ["Signal: SIGKILL"] if way is Way.KILLED else []
    return "\n".join([*lines, "Process Group PGID: 77"])


def gemini(way: Way) -> Iterator[Fields]:
    def record(number: int, kind: str, content: object, **more: Any) -> Fields:
        about = {"id": f"m{number}", "timestamp": clock(number), "type": kind}
        return {**about, "content": content, **more}

    yield {"sessionId": "s1", "projectHash": "p", "startTime": clock(0), "kind": "main"}
    yield record(1, "user", [{"text": "Commit it"}])
    call: Fields = {"id": "t1", "name": "run_shell_command"}
    call["args"] = {"command": COMMAND}
    if way is Way.RUNNING:
        call |= {"status": "executing"}
    elif way is Way.DENIED:
        denied = {"response": {"error": "Not allowed."}}
        call |= {"status": "error", "result": [{"functionResponse": denied}]}
    else:
        response = {"functionResponse": {"response": {"output": gemini_text(way)}}}
        status = "cancelled" if way is Way.CANCELLED else "success"
        call |= {"status": status, "result": [response]}
    yield record(3, "gemini", "", toolCalls=[call | {"timestamp": clock(3)}])


def antigravity(way: Way) -> Iterator[Fields]:
    def step(number: int, source: str, kind: str, **more: Any) -> Fields:
        about = {"step_index": number, "source": source, "type": kind}
        return {**about, "status": "DONE", "created_at": clock(number), **more}

    asked = "<USER_REQUEST>\nCommit it\n</USER_REQUEST>"
    yield step(0, "USER_EXPLICIT", "USER_INPUT", content=asked)
    call = {"name": "run_command", "args": {"CommandLine": json.dumps(COMMAND)}}
    yield step(1, "MODEL", "PLANNER_RESPONSE", tool_calls=[call])
    if way is Way.RUNNING:
        yield step(2, "MODEL", "RUN_COMMAND", content="", status="RUNNING")
        return
    if way is Way.BACKGROUND:
        text = "Tool is running as a background task with task id: s1/task-2"
        yield step(2, "MODEL", "RUN_COMMAND", content=text, status="RUNNING")
        return
    if way is Way.DENIED:
        yield step(2, "SYSTEM", "ERROR_MESSAGE", content="permission denied by user")
        return
    says = {
        Way.FAILED: "The command failed with exit code: 3",
        Way.KILLED: "The command failed with exit code: 137",
        Way.CANCELLED: "The command was cancelled",
    }.get(way, "The command completed successfully.")
    times = f"Created At: {clock(1)}\nCompleted At: {clock(2)}\n\n\t\t\t\t"
    text = f"{times}{says}\n\t\t\t\tOutput:\n\t\t\t\t{output(way)}\n"
    yield step(2, "MODEL", "RUN_COMMAND", content=text)


def opencode(way: Way) -> Iterator[Fields] | None:
    """One exported session, as one document."""
    return None if way is Way.BACKGROUND else _opencode(way)


def _opencode(way: Way) -> Iterator[Fields]:
    start_ms = int(AT.timestamp() * 1000)
    state: Fields = {
        "status": "completed",
        "input": {"command": COMMAND},
        "time": {"start": start_ms + 2000, "end": start_ms + 3000},
        "output": output(way),
        "metadata": {"exit": {Way.FAILED: 3, Way.KILLED: None}.get(way, 0)},
    }
    if way is Way.DENIED:
        error = "The user rejected permission to use this specific tool call."
        state |= {"status": "error", "error": error, "metadata": {}}
    elif way is Way.CANCELLED:
        state |= {"status": "error", "error": "Tool execution aborted", "metadata": {}}
    elif way is Way.RUNNING:
        state = {"status": "running", "input": {"command": COMMAND}}
        state["time"] = {"start": start_ms + 2000}
    part = {"id": "p2", "type": "tool", "callID": "t1", "tool": "bash", "state": state}
    text = {"id": "p1", "type": "text", "text": "Commit it"}
    asked = {"id": "m1", "role": "user", "time": {"created": start_ms + 1000}}
    times = {"created": start_ms + 2000}
    if way is not Way.RUNNING:
        times["completed"] = start_ms + 4000
    said = {"id": "m2", "role": "assistant", "time": times}
    info = {"id": "s1", "directory": "/home/ada/shop", "time": {"created": start_ms}}
    messages = [{"info": asked, "parts": [text]}, {"info": said, "parts": [part]}]
    yield {"info": info, "messages": messages}


def plain(way: Way) -> Iterator[Fields] | None:
    if way is Way.RUNNING:
        return None
    about: Fields = {"session_id": "s1", "agent": "own", "cwd": "/home/ada/shop"}
    about |= {"tool_name": "Bash", "tool_input": {"command": COMMAND}}
    call = {**about, "timestamp": clock(3), "event_type": "tool_result"}
    call["text"] = output(way)
    states: dict[Way, Fields] = {
        Way.FAILED: {"exit_status": 3},
        Way.KILLED: {"exit_status": 137},
        Way.DENIED: {"is_error": True},
        Way.CANCELLED: {"call_end": "cancelled"},
        Way.BACKGROUND: {"call_end": "background"},
    }
    return iter([call | states.get(way, {"exit_status": 0})])


FILES: dict[str, tuple[str, Maker]] = {
    "claude-code": ("projects/shop/s1.jsonl", claude),
    "codex": ("sessions/rollout-2026-03-14T10-00-00-s1.jsonl", codex),
    "codex items": ("sessions/rollout-2026-03-14T10-00-00-s1.jsonl", codex_items),
    "copilot-cli": ("session-state/s1/events.jsonl", copilot),
    "gemini-cli": ("tmp/shop/chats/session-1.jsonl", gemini),
    "antigravity-cli": (
        "brain/s1/.system_generated/logs/transcript.jsonl",
        antigravity,
    ),
    "opencode": ("opencode-session-1.json", opencode),
    "plain": ("events.jsonl", plain),
}
"""The path and the maker of a file of each format."""


# Hooks


def claude_hook(way: Way) -> Fields | None:
    call = _hook("Bash", "PostToolUse")
    if way in (Way.OK, Way.PRINTED):
        return call | {"tool_response": {"stdout": output(way), "interrupted": False}}
    if way is Way.CANCELLED:
        return call | {"tool_response": {"stdout": "", "interrupted": True}}
    if way is Way.BACKGROUND:
        return call | {"tool_response": {"stdout": "", "backgroundTaskId": "b1"}}
    if way is Way.RUNNING:
        return None
    error = {Way.FAILED: "Exit code 3\nlint", Way.KILLED: "Command timed out"}
    if way is Way.DENIED:
        return call | {"hook_event_name": "PermissionDenied", "reason": "not allowed"}
    return call | {"hook_event_name": "PostToolUseFailure", "error": error[way]}


def codex_hook(way: Way) -> Fields | None:
    path = {"transcript_path": "/home/ada/.codex/sessions/s1.jsonl"}
    if way is Way.RUNNING:
        return None
    return _hook("Bash", "PostToolUse") | path | {"tool_response": codex_text(way)}


def codex_fields_hook(way: Way) -> Fields | None:
    if way in (Way.RUNNING, Way.DENIED, Way.CANCELLED, Way.BACKGROUND):
        return None
    status = {Way.FAILED: 3, Way.KILLED: 124}.get(way, 0)
    answer = {"output": output(way), "metadata": {"exit_code": status}}
    path = {"transcript_path": "/home/ada/.codex/sessions/s1.jsonl"}
    return _hook("shell", "PostToolUse") | path | {"tool_response": answer}


def copilot_hook(way: Way) -> Fields | None:
    if way in (Way.RUNNING, Way.CANCELLED):
        return None
    about = {"sessionId": "s1", "timestamp": AT.timestamp() * 1000, "cwd": "/shop"}
    about |= {"agent": "copilot-cli", "event_type": "postToolUse", "toolName": "bash"}
    kind, text = "success", output(way)
    if way is Way.DENIED:
        kind = "denied"
    elif way is Way.BACKGROUND:
        text = COPILOT_RUNNING
    else:
        status = {Way.FAILED: 3, Way.KILLED: 137}.get(way, 0)
        text = f"{text}\n<exited with exit code {status}>"
    answer = {"resultType": kind, "textResultForLlm": text}
    arguments = json.dumps({"command": COMMAND})
    return about | {"toolArgs": arguments, "toolResult": answer}


def gemini_hook(way: Way) -> Fields | None:
    if way is Way.RUNNING:
        return None
    path = {"transcript_path": "/home/ada/.gemini/tmp/shop/chats/session-1.jsonl"}
    answer: Fields = {"llmContent": gemini_text(way)}
    if way is Way.DENIED:
        answer = {"llmContent": "", "error": {"message": "not allowed"}}
    call = _hook("run_shell_command", "AfterTool")
    return call | path | {"tool_response": answer}


def opencode_hook(way: Way) -> Fields | None:
    if way in (Way.RUNNING, Way.CANCELLED, Way.BACKGROUND):
        return None
    call = _hook("bash", "PostToolUse") | {"agent": "opencode"}
    if way is Way.DENIED:
        return call | {"hook_event_name": "PostToolUseFailure", "error": "rejected"}
    status = {Way.FAILED: 3, Way.KILLED: None}.get(way, 0)
    return call | {"tool_response": output(way), "exit": status}


def _hook(tool: str, event: str) -> Fields:
    about = {"session_id": "s1", "cwd": "/home/ada/shop", "timestamp": clock(4)}
    about |= {"tool_name": tool, "tool_use_id": "t1", "hook_event_name": event}
    return {**about, "tool_input": {"command": COMMAND}}


HOOKS: dict[str, Callable[[Way], Fields | None]] = {
    "claude-code": claude_hook,
    "codex": codex_hook,
    "codex fields": codex_fields_hook,
    "copilot-cli": copilot_hook,
    "gemini-cli": gemini_hook,
    "opencode": opencode_hook,
}
"""The maker of a payload of each agent's hook."""

LATER = AT + timedelta(hours=2)
"""The time of reading: calls without a result are old."""


def write_lines(records: Iterator[Fields]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)
