"""Small sessions of every line-based format, made here or real, to be damaged."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from memtui.capture import formats
from memtui.capture.formats import jsonl
from memtui.capture.formats.plain import with_check
from tests.conftest import SHARED

AT = datetime(2026, 3, 14, 10, tzinfo=UTC)
"""The time of all sessions, within a few seconds."""

MOST_BYTES = 4000
"""Longer lines of real files are left out."""

STRETCH = 40
"""The number of consecutive lines taken from a real file."""

Fields = dict[str, Any]

PATHS = {
    "claude-code": "projects/shop/s1.jsonl",
    "codex": "sessions/rollout-2026-03-14T10-00-00-s1.jsonl",
    "copilot-cli": "session-state/s1/events.jsonl",
    "gemini-cli": "tmp/shop/chats/session-1.jsonl",
    "plain": "events.jsonl",
    "antigravity-cli": "brain/s1/.system_generated/logs/transcript_full.jsonl",
}
"""The path of a file of each format."""


def clock(second: int) -> str:
    return (AT + timedelta(seconds=second)).isoformat().replace("+00:00", "Z")


def claude() -> Iterator[Fields]:
    def record(number: int, kind: str, **fields: Any) -> Fields:
        about = {"uuid": f"u{number}", "sessionId": "s1", "timestamp": clock(number)}
        return {"type": kind, **about, "cwd": "/home/ada/shop", **fields}

    def said(number: int, name: str, *content: Fields, **more: Any) -> Fields:
        message = {"id": name, "model": "opus", "content": list(content), **more}
        return record(number, "assistant", message=message)

    def asked(number: int, content: object, **fields: Any) -> Fields:
        return record(number, "user", message={"content": content}, **fields)

    text = {"type": "text", "text": "I look."}
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}
    yield {"type": "summary", "summary": "The cart", "leafUuid": "u1"}
    yield asked(1, "Why is the cart empty?")
    yield said(2, "m1", {"type": "thinking", "thinking": "Perhaps it is stale."})
    yield said(3, "m1", text, stop_reason=None)
    yield said(4, "m1", call, stop_reason="tool_use")
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "cart.py"}
    yield asked(5, [result], toolUseResult={"stdout": "cart.py"})
    yield said(6, "m2", {"type": "text", "text": "Found it."}, stop_reason="end_turn")
    yield asked(7, "<command-name>/clear</command-name>")
    yield asked(8, [{"type": "image", "source": {"data": "QUJD"}}, "look"])
    progress = {"type": "agent_progress", "agentId": "a1", "message": asked(9, "help")}
    yield record(9, "progress", data=progress)
    queued = {"type": "queued_command", "prompt": "and the tests"}
    yield record(10, "attachment", attachment=queued)
    yield record(11, "system", subtype="compact_boundary", content="compacted")
    yield asked(12, "[Request interrupted by user]", isSidechain=True, parentUuid="u1")
    yield record(13, "custom-title", customTitle="Carts")
    yield asked(14, "copied", forkedFrom={"sessionId": "s0", "messageUuid": "u1"})

    def queue(number: int, operation: str, **more: Any) -> Fields:
        about = {"type": "queue-operation", "operation": operation, "sessionId": "s1"}
        return {**about, "timestamp": clock(number), **more}

    yield queue(15, "enqueue", content="in the queue")
    yield queue(16, "enqueue", content="and behind it")
    yield queue(17, "dequeue")
    yield asked(18, "in the queue")
    yield queue(19, "remove")


def codex() -> Iterator[Fields]:
    def record(number: int, envelope: str, kind: str = "", **payload: Any) -> Fields:
        fields = {"type": kind, **payload} if kind else payload
        return {"timestamp": clock(number), "type": envelope, "payload": fields}

    words = [{"type": "input_text", "text": "Why is the cart empty?"}]
    yield record(0, "session_meta", id="s1", cwd="/home/ada/shop", originator="cli")
    yield record(1, "turn_context", turn_id="t1", model="gpt", cwd="/home/ada/shop")
    yield record(2, "response_item", "message", role="user", content=words)
    yield record(2, "event_msg", "user_message", message="Why is the cart empty?")
    yield record(3, "event_msg", "agent_reasoning", text="Perhaps it is stale.")
    yield record(3, "response_item", "reasoning", summary=[{"text": "Hm."}])
    asked = {"name": "shell", "arguments": '{"command": ["ls"]}', "call_id": "c1"}
    yield record(4, "response_item", "function_call", **asked)
    end = {"call_id": "c1", "command": ["ls"], "exit_code": 0, "stdout": "cart.py"}
    yield record(5, "event_msg", "exec_command_end", **end)
    answer = {"call_id": "c1", "output": "cart.py"}
    yield record(5, "response_item", "function_call_output", **answer)
    yield record(6, "event_msg", "web_search_end", call_id="c2", query="carts")
    said = [{"type": "output_text", "text": "Found it."}]
    yield record(7, "response_item", "message", role="assistant", content=said)
    yield record(7, "event_msg", "agent_message", message="Found it.")
    yield record(8, "event_msg", "task_complete", last_agent_message="Found it.")
    yield record(9, "event_msg", "turn_aborted", reason="interrupted")
    yield record(10, "compacted", message="The cart was empty.")
    item = {"type": "CommandExecution", "id": "c3", "command": "ls"}
    yield record(11, "event_msg", "item_completed", item=item)
    yield record(12, "event_msg", "error", message="no more tokens")


def copilot() -> Iterator[Fields]:
    def record(number: int, kind: str, **about: Any) -> Fields:
        named = {"id": f"e{number}", "timestamp": clock(number)}
        return {"type": kind, "data": about, **named, "parentId": None}

    context = {"cwd": "/home/ada/shop", "gitRoot": "/home/ada/shop", "branch": "main"}
    yield record(0, "session.start", sessionId="s1", producer="cli", context=context)
    yield record(1, "user.message", content="Why is the cart empty?", attachments=[])
    requests = [{"toolCallId": "c1", "name": "bash", "arguments": {"command": "ls"}}]
    about = {"content": "I look.", "reasoningText": "Hm.", "toolRequests": requests}
    yield record(2, "assistant.message", messageId="m1", **about)
    call = {"toolCallId": "c1", "toolName": "bash", "arguments": {"command": "ls"}}
    yield record(3, "tool.execution_start", **call)
    result = {"success": True, "result": {"content": "cart.py"}}
    yield record(4, "tool.execution_complete", toolCallId="c1", **result)
    yield record(5, "assistant.reasoning", content="Hm.")
    yield record(6, "subagent.started", toolCallId="c2", agentName="explorer")
    yield record(7, "assistant.message", content="Found it.", parentToolCallId="c2")
    yield record(8, "session.model_change", newModel="gpt")
    yield record(9, "abort", reason="user")
    yield record(10, "session.error", message="no more tokens")
    yield record(11, "session.shutdown", shutdownType="routine")


def gemini() -> Iterator[Fields]:
    def record(number: int, kind: str, content: object, **more: Any) -> Fields:
        about = {"id": f"m{number}", "timestamp": clock(number), "type": kind}
        return {**about, "content": content, **more}

    yield {"sessionId": "s1", "projectHash": "p", "startTime": clock(0), "kind": "main"}
    yield record(1, "user", [{"text": "Why is the cart empty?"}])
    call = {"id": "c1", "name": "shell", "args": {"command": "ls"}}
    thoughts = [{"subject": "Carts", "description": "Perhaps it is stale."}]
    open_call = {**call, "status": "executing"}
    yield record(2, "gemini", "I look.", thoughts=thoughts, toolCalls=[open_call])
    response = {"functionResponse": {"response": {"output": "cart.py"}}}
    done = {**call, "status": "success", "result": [response], "timestamp": clock(3)}
    yield record(2, "gemini", "I look.", thoughts=thoughts, toolCalls=[done])
    yield record(4, "info", "Update available")
    yield {"$set": {"messages": [record(1, "user", "Why?"), record(5, "user", "So?")]}}
    yield {"$rewindTo": "m1"}
    yield record(6, "gemini", "Found it.", model="gemini-pro")
    yield record(7, "error", "no more tokens")


def antigravity() -> Iterator[Fields]:
    def step(number: int, source: str, kind: str, **more: Any) -> Fields:
        about = {"step_index": number, "source": source, "type": kind}
        return {**about, "status": "DONE", "created_at": clock(number), **more}

    asked = "<USER_REQUEST>\nWhy is the cart empty?\n</USER_REQUEST>\n<ADDITIONAL_META>"
    call = {"name": "run_command", "args": {"CommandLine": "ls", "Cwd": "/home/ada"}}
    yield step(0, "USER_EXPLICIT", "USER_INPUT", content=asked)
    yield step(1, "SYSTEM", "CHECKPOINT", content="{{ CHECKPOINT 0 }}\nThe cart")
    yield step(3, "MODEL", "GENERIC", content=f"Created At: {clock(3)}\ncart.py")
    yield step(2, "MODEL", "PLANNER_RESPONSE", thinking="Hm.", tool_calls=[call])
    yield step(4, "MODEL", "PLANNER_RESPONSE", content="I look.", tool_calls=[call])
    yield step(5, "SYSTEM", "ERROR_MESSAGE", content="no such command")
    yield step(6, "SYSTEM", "CHECKPOINT", content="{{ CHECKPOINT 1 }}\nSo far")
    yield step(7, "SYSTEM", "SYSTEM_MESSAGE", content="a notice")
    yield step(8, "MODEL", "PLANNER_RESPONSE", content="Found it.")


def plain() -> Iterator[Fields]:
    about = {"session_id": "s1", "agent": "own", "cwd": "/home/ada/shop"}
    said = {"role": "user", "text": "Why is the cart empty?", "key": "k1"}
    yield {**about, "timestamp": clock(1), **said}
    yield {**about, "timestamp": clock(2), "role": "assistant", "text": "I look."}
    done = {"event_type": "tool_result", "text": "ls", "metadata": {"tool_name": "ls"}}
    yield {**about, "timestamp": clock(3), **done, "subagent": "a1"}
    yield {**about, "timestamp": clock(4), "event_type": "session_end", "title": "Cart"}
    yield {**about, "record": "session", "timestamp": clock(1), "branch": "main"}
    helper = {"kind": "explorer", "task": "Look around", "tool_use_id": "t1"}
    yield {**about, "record": "subagent", "subagent": "a1", **helper}
    yield {**about, "record": "thought", "timestamp": clock(5), "text": "Hm."}
    name = "01JPA9Z0000000000000000000"
    telling = {"id": name, "route": "hook", "session_id": "s2"}
    more = {
        "id": name,
        "route": "transcript",
        "copies": [telling],
        "source_hash": "0" * 16,
    }
    counts = {"timestamp": clock(6), "tokens": 4, "ordinal": 7}
    yield with_check({**about, **said, **more, **counts})


MADE = {
    "claude-code": claude,
    "codex": codex,
    "copilot-cli": copilot,
    "gemini-cli": gemini,
    "plain": plain,
    "antigravity-cli": antigravity,
}

AIDER = f"""
# aider chat started at {AT:%Y-%m-%d %H:%M:%S}

> Aider v0.86.1  
> Main model: gemini/gemini-2.5-pro with diff-fenced edit format  
> Git repo: .git with 360 files  

#### Why does the cart  
#### lose items?  

The cart is `None`.

#### A heading of the answer

> a quotation
```python
#### no prompt
```

> Applied edit to cart.py  
> Commit 1a2b3c4 fix: keep the cart  

#### /run pytest -q  
> ..F  

#### /ask is it done?  

Not yet.
# aider chat started at {AT + timedelta(seconds=9):%Y-%m-%d %H:%M:%S}
#### <blank>  
"""
"""A history of Aider, whose lines are not JSON."""

HOOKS: list[Fields] = [
    {"hook_event_name": name, "session_id": "s1", "cwd": "/home/ada/shop", **more}
    for name, more in (
        ("SessionStart", {"source": "startup", "transcript_path": "/x/.codex/s.jsonl"}),
        ("UserPromptSubmit", {"prompt": "Why is the cart empty?"}),
        ("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": "ls"}}),
        (
            "PostToolUse",
            {
                "tool_name": "Bash",
                "tool_input": {"command": "ls"},
                "tool_response": {"stdout": "cart.py", "stderr": "", "content": []},
                "tool_use_id": "t1",
            },
        ),
        ("AfterTool", {"tool_response": {"llmContent": [{"text": "x"}], "error": {}}}),
        ("SubagentStop", {"agent_id": "a1", "agent_type": "explorer"}),
        ("Stop", {"last_assistant_message": "Found it.", "timestamp": clock(1)}),
        ("SessionEnd", {"reason": "logout"}),
    )
] + [
    {
        "sessionId": "",
        "cwd": "/shop",
        "agent": "copilot-cli",
        "timestamp": 1773482400000,
    }
    | {"toolName": "bash", "toolArgs": '{"command": "ls"}', "event_type": "postToolUse"}
    | {"toolResult": {"resultType": "failure", "textResultForLlm": "no"}}
]
"""Payloads of hooks."""


MADE_HERE = "field"
"""The folder of shared sessions that were made to show what agents write."""


def real_files(shared: Path) -> list[Path]:
    """Return the real files of sessions."""
    return [
        file
        for folder in sorted(shared.iterdir())
        if folder.name != MADE_HERE
        for file in sorted(folder.rglob("*.jsonl"))
    ]


@cache
def stretches(name: str) -> list[list[bytes]]:
    """Return consecutive lines of one format: made here and, if there are any, real."""
    from tests.capture import endings  # It needs this module.

    made = [json.dumps(fields).encode() for fields in MADE[name]()]
    _, make = endings.FILES[name]
    sessions = (make(way) or () for way in endings.Way)
    ended = [
        [json.dumps(fields).encode() for fields in session] for session in sessions
    ]
    return [made, *filter(None, ended), *_real(name)]


def _real(name: str) -> Iterator[list[bytes]]:
    source = formats.FORMATS_BY_NAME[name]
    for file in sorted(SHARED.rglob("*.jsonl")):
        if source.matches_content(file, jsonl.read_head(file, formats.HEAD_LINES)):
            lines = file.read_bytes().splitlines()
            short = [line for line in lines if line.strip() and len(line) < MOST_BYTES]
            for start in range(0, min(len(short), 20 * STRETCH), STRETCH):
                yield [*map(_near, short[start : start + STRETCH], range(STRETCH))]


_TIME = re.compile(rb'"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z"')


def _near(line: bytes, number: int) -> bytes:
    """Return a real line with the times of this module."""
    return _TIME.sub(f'"{clock(number // 4)}"'.encode(), line)


@cache
def payloads() -> list[bytes]:
    """Return hook payloads: made here and, if there are any, real."""
    matches = [json.dumps(payload).encode() for payload in HOOKS]
    for file in sorted((SHARED / "hooks").rglob("*.jsonl")):
        for line in file.read_bytes().splitlines()[:20]:
            matches += [line] if len(line) < MOST_BYTES else []
    return matches


@cache
def aider_histories() -> list[list[bytes]]:
    """Return the lines of histories: made here and, if there are any, real."""
    files = sorted(SHARED.glob("**/.aider.chat.history.md"))
    lines = [AIDER.encode(), *(file.read_bytes() for file in files)]
    rows = [raw.split(b"\n") for raw in lines]
    return [
        row[at : at + STRETCH] for row in rows for at in range(0, len(row), STRETCH)
    ]


def path(name: str, folder: Path) -> Path:
    """Return the path of a file of a format, and create its folder."""
    file = folder / PATHS[name]
    file.parent.mkdir(parents=True, exist_ok=True)
    return file
