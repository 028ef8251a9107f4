"""No words are lost: sessions with every known record type, each with words of its own.

A word that is expected in the store begins with ``kept``, one in a record that is not
stored with ``left``. Every kept word must be stored once, and the left ones counted.
"""

import json
import os
import re
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from memtui.store import database, sources
from memtui.store.database import db
from memtui.workspace import Workspace
from tests.capture.test_opencode import SCHEMA_2, Agent

Fields = dict[str, Any]
AT = datetime(2026, 3, 14, 10, tzinfo=UTC)
START = int(AT.timestamp() * 1000)
_numbers = count(1000)


def kept(words: int = 3) -> str:
    return " ".join(f"kept{next(_numbers)}" for _ in range(words))


def left(words: int = 3) -> str:
    return " ".join(f"left{next(_numbers)}" for _ in range(words))


def clock(second: int) -> str:
    return (AT + timedelta(seconds=second)).isoformat().replace("+00:00", "Z")


def text(said: str) -> Fields:
    return {"type": "text", "text": said}


def claude() -> Iterator[Fields]:
    seconds = count(1)

    def record(kind: str, session: str = "s1", **fields: Any) -> Fields:
        number = next(seconds)
        about = {"uuid": f"u{number}", "sessionId": session, "cwd": "/home/ada/shop"}
        return {"type": kind, "timestamp": clock(number), **about, **fields}

    def user(content: object, **fields: Any) -> Fields:
        return record("user", message={"role": "user", "content": content}, **fields)

    def assistant(*content: Fields, name: str, **fields: Any) -> Fields:
        message = {"id": name, "model": "opus", "content": [*content]}
        return record("assistant", message=message, **fields)

    def call(key: str) -> Fields:
        given = {"command": kept()}
        return {"type": "tool_use", "id": key, "name": "Bash", "input": given}

    def result(key: str, content: object) -> Fields:
        return {"type": "tool_result", "tool_use_id": key, "content": content}

    yield user(kept())
    yield assistant({"type": "thinking", "thinking": kept()}, name="m1")
    yield assistant(text(kept()), name="m1")
    yield assistant(call("t1"), call("t2"), name="m1", stop_reason="tool_use")
    yield user([result("t1", kept())], toolUseResult={"stdout": "repeats it all"})
    yield user([result("t2", [text(kept())])])
    yield assistant(text(kept()), name="m2", isApiErrorMessage=True)
    yield assistant(call("t3"), name="m3")
    yield user("[Request interrupted by user] " + kept())
    yield user([text(kept()), {"type": "image", "source": {"data": "QUJD"}}])
    yield user(kept(), isMeta=True)
    yield user(kept(), isCompactSummary=True)
    yield user(kept(), origin={"kind": "task-notification"})
    yield user(f"<ide_selection>{kept()}</ide_selection>\n{kept()}")
    yield user(f"<teammate-message>{kept()}</teammate-message>")
    yield user(f"<local-command-stdout>{kept()}</local-command-stdout>")
    yield user(kept(), isSidechain=True, agentId="a1")
    message = {**user(kept()), "sessionId": "s1"}
    progress = {"type": "agent_progress", "agentId": "a2", "message": message}
    yield record("progress", data=progress)
    yield record("progress", data={"type": "hook_progress", "command": left()})
    yield record("progress", data={"type": "bash_progress", "output": left()})
    for subtype in ("away_summary", "local_command", "api_refusal", "error"):
        yield record("system", subtype=subtype, content=kept())
    yield record("system", subtype="compact_boundary", content=kept())
    for subtype in (
        *("stop_hook_summary", "turn_duration", "api_error", "session_start"),
        *("informational", "model_refusal_fallback"),
    ):
        yield record("system", subtype=subtype, content=left())
    for kind in (
        *("hook_success", "hook_additional_context", "hook_blocking_error", "file"),
        *("hook_non_blocking_error", "hook_cancelled", "edited_text_file"),
        *("compact_file_reference", "plan_mode", "plan_mode_exit", "todo_reminder"),
        *("task_reminder", "task_status", "skill_listing", "invoked_skills"),
        *("nested_memory", "deferred_tools_delta", "agent_listing_delta"),
        *("mcp_instructions_delta", "date_change", "budget_usd", "diagnostics"),
    ):
        yield record("attachment", attachment={"type": kind, "content": left()})
    queued = {"type": "queued_command", "prompt": kept(), "commandMode": "prompt"}
    yield record("attachment", attachment=queued)
    delivered = kept()
    yield record("queue-operation", operation="enqueue", content=delivered)
    yield record("queue-operation", operation="enqueue", content=kept())
    yield record("queue-operation", operation="dequeue")
    yield user(delivered)
    yield record("queue-operation", operation="remove")
    yield record("queue-operation", operation="popAll")
    yield user(kept(), session="s2")
    yield record("ai-title", session="s2", aiTitle=kept())
    yield {"type": "custom-title", "sessionId": "s1", "customTitle": kept()}
    leaf = user(kept(), session="s3")
    yield leaf
    yield {"type": "summary", "summary": kept(), "leafUuid": leaf["uuid"]}
    # It waits for its session.
    yield {"type": "summary", "summary": "A title", "leafUuid": "of another file"}
    yield {"type": "summary", "summary": left()}
    for kind in (
        *("agent-name", "last-prompt", "mode", "permission-mode", "pr-link"),
        *("file-history-snapshot", "worktree-state", "relocated", "bridge-session"),
        *("frame-link", "started", "result", "atis-latch", "hologram"),
    ):
        yield record(kind, value=left())


def codex() -> Iterator[Fields]:
    seconds = count(1)

    def line(kind: str, **payload: Any) -> Fields:
        return {"timestamp": clock(next(seconds)), "type": kind, "payload": payload}

    def item(kind: str, **fields: Any) -> Fields:
        return line("response_item", type=kind, **fields)

    def event(kind: str, **fields: Any) -> Fields:
        return line("event_msg", type=kind, **fields)

    def message(role: str, said: str) -> Fields:
        kind = "output_text" if role == "assistant" else "input_text"
        return item("message", role=role, content=[{"type": kind, "text": said}])

    yield line("session_meta", id="s1", cwd="/home/ada", base_instructions=left())
    yield line("turn_context", turn_id="t1", model="gpt", summary=left())
    prompt, reply, thought = kept(), kept(), kept()
    yield message("user", prompt)
    yield event("user_message", message=prompt)
    yield message("developer", kept())
    yield message("user", f"<environment_context>{kept()}</environment_context>")
    yield item("reasoning", summary=[{"text": thought}], encrypted_content="x")
    yield event("agent_reasoning", text=thought)
    yield message("assistant", reply)
    yield event("agent_message", message=reply, phase="final")
    calls: list[tuple[str, Fields, str]] = [
        ("function_call", {"name": "f", "arguments": json.dumps({"x": kept()})}, ""),
        ("custom_tool_call", {"name": "apply", "input": kept()}, "custom_tool_"),
        ("local_shell_call", {"action": {"command": [kept()]}}, "local_shell_"),
    ]
    for number, (kind, fields, prefix) in enumerate(calls):
        key, output = f"c{number}", kept()
        yield item(kind, call_id=key, **fields)
        name = f"{prefix}call_output" if prefix else "function_call_output"
        yield item(name, call_id=key, output=output)
    end = {"call_id": "c0", "command": ["f"], "exit_code": 0, "stdout": "told before"}
    yield event("exec_command_end", **end)
    yield event("exec_command_end", call_id="d1", command=[kept()], stdout=kept())
    yield event("patch_apply_end", call_id="d2", changes={"a.py": {}}, stdout=kept())
    invocation = {"server": "s", "tool": "t", "arguments": {"query": kept()}}
    answer = {"Ok": {"content": [text(kept())]}}
    yield event("mcp_tool_call_end", call_id="d3", invocation=invocation, result=answer)
    yield event("web_search_end", call_id="d4", query=kept())
    yield item("web_search_call", action={"query": kept()})
    yield item("tool_search_call", call_id="d5", arguments={"query": kept()})
    yield item("tool_search_output", call_id="d5", tools=[{"name": kept()}])
    yield item("image_generation_call", id="d6", revised_prompt=kept())
    yield item("agent_message", author="b", content=[text(kept())])
    completed = {"type": "CommandExecution", "id": "d7", "command": kept()}
    yield event("item_completed", item=completed | {"aggregated_output": kept()})
    yield event("entered_review_mode", user_facing_hint=kept())
    finding = {"title": kept(), "body": kept()}
    review = {"overall_explanation": kept(), "findings": [finding]}
    yield event("exited_review_mode", review_output=review)
    yield event("thread_goal_updated", goal={"objective": kept(), "status": "active"})
    hook = {"fragments": [{"text": kept()}]}
    for kind, more in (
        ("EnteredReviewMode", {"review": kept()}),
        ("ExitedReviewMode", {"review": kept()}),
        ("HookPrompt", hook),
        ("CollabAgentToolCall", {"tool": "spawn_agent", "prompt": kept()}),
    ):
        yield event("item_completed", item={"id": kind, "type": kind} | more)
    spoken = {"type": "input_audio", "transcript": kept()}
    yield line("realtime_item", type="message", role="user", content=[spoken])
    yield event("error", message=kept())
    yield event("turn_aborted", reason=kept(1))
    yield line("compacted", message=kept())
    yield event("thread_name_updated", thread_name=kept())
    spawned = {"call_id": "d8", "new_thread_id": "s9"}
    yield event("collab_agent_spawn_end", prompt=kept(), **spawned)
    yield event("task_started", turn_id="t2")
    yield event("task_complete", turn_id="t2", last_agent_message=kept())
    for kind in ("token_count", "sub_agent_activity", "hologram"):
        yield event(kind, value=left())
    yield item("ghost_snapshot", value=left())
    for kind in ("world_state", "inter_agent_communication_metadata", "hologram"):
        yield line(kind, value=left())


def copilot() -> Iterator[Fields]:
    seconds = count(1)

    def record(kind: str, **data: Any) -> Fields:
        number = next(seconds)
        named = {"id": f"e{number}", "timestamp": clock(number), "parentId": None}
        return {"type": kind, "data": data, **named}

    context = {"cwd": "/home/ada/shop", "repository": "ada/shop"}
    yield record("session.start", sessionId="s1", producer="cli", context=context)
    yield record("user.message", content=kept(), transformedContent="told before")
    yield record("user.message", content=kept(), source="skill")
    thought = kept()
    arguments = {"command": kept()}
    request = {"toolCallId": "c1", "name": "bash", "arguments": arguments}
    said = {"content": kept(), "reasoningText": thought, "toolRequests": [request]}
    yield record("assistant.message", messageId="m1", **said)
    yield record("assistant.reasoning", content=thought)
    started = {"toolCallId": "c1", "toolName": "bash", "arguments": arguments}
    yield record("tool.execution_start", **started)
    result = {"success": True, "result": {"content": kept()}}
    yield record("tool.execution_complete", toolCallId="c1", **result)
    given = {"description": kept()}
    yield record("tool.execution_start", toolCallId="c2", arguments=given)
    yield record("subagent.started", toolCallId="c2", agentName="explorer")
    yield record("assistant.message", content=kept(), parentToolCallId="c2")
    yield record("subagent.failed", toolCallId="c2", error=kept())
    yield record("subagent.completed", toolCallId="c2")
    yield record("tool.execution_complete", toolCallId="c2", error={"message": kept()})
    yield record("session.title_changed", title=kept())
    yield record("session.model_change", newModel="gpt")
    yield record("session.compaction_complete", summaryContent=kept())
    yield record("session.error", message=kept())
    yield record("session.handoff", summary=kept(), context=kept())
    yield record("session.task_complete", summary=kept())
    yield record("session.context_cleared", initialMessage=kept())
    yield record("session.schedule_created", prompt=kept())
    yield record("system.notification", content=kept())
    yield record("skill.invoked", name="tdd", content=kept())
    yield record("session.resume")
    yield record("abort", reason=kept())
    for kind in (
        *("assistant.turn_start", "assistant.turn_end", "session.truncation"),
        *("hook.start", "hook.end", "system.message", "session.hologram"),
    ):
        yield record(kind, value=left())
    yield record("session.shutdown", shutdownType="routine")


def gemini() -> Iterator[Fields]:
    seconds = count(1)

    def record(kind: str, content: object, **more: Any) -> Fields:
        number = next(seconds)
        about = {"id": f"m{number}", "timestamp": clock(number), "type": kind}
        return {**about, "content": content, **more}

    yield {"sessionId": "s1", "projectHash": "p", "startTime": clock(0), "kind": "main"}
    yield record("user", [{"text": kept()}])
    yield record("user", f"<session_context>{kept()}</session_context>")
    response = {"functionResponse": {"response": {"output": kept()}}}
    call = {"id": "c1", "name": "shell", "args": {"command": kept()}}
    done = {**call, "status": "success", "result": [response]}
    thoughts = [{"subject": kept(), "description": kept()}]
    reply = record("gemini", kept(), thoughts=thoughts)
    yield reply | {"toolCalls": [{**call, "status": "executing"}]}
    yield reply | {"toolCalls": [done]}
    yield record("error", kept())
    for kind in ("info", "warning", "hologram"):
        yield record(kind, left())
    yield {"$set": {"summary": kept()}}
    yield {"$rewindTo": "m1"}


def antigravity() -> Iterator[Fields]:
    def step(number: int, source: str, kind: str, **more: Any) -> Fields:
        about = {"step_index": number, "source": source, "type": kind}
        return {**about, "created_at": clock(number), **more}

    asked = f"<USER_REQUEST>{kept()}</USER_REQUEST><ADDITIONAL_METADATA>{kept()}"
    call = {"name": "run_command", "args": {"CommandLine": kept()}}
    yield step(0, "USER_EXPLICIT", "USER_INPUT", content=asked)
    yield step(1, "SYSTEM", "CHECKPOINT", content="{{ CHECKPOINT 0 }}" + kept())
    said = {"thinking": kept(), "content": kept(), "tool_calls": [call]}
    yield step(2, "MODEL", "PLANNER_RESPONSE", **said)
    yield step(3, "MODEL", "RUN_COMMAND", content=kept())
    yield step(4, "MODEL", "PLANNER_RESPONSE", tool_calls=[{"name": "again"}])
    yield step(5, "SYSTEM", "ERROR_MESSAGE", content=kept())
    yield step(6, "SYSTEM", "SYSTEM_MESSAGE", content=kept())
    yield step(7, "SYSTEM", "CHECKPOINT", content="{{ CHECKPOINT 1 }}" + kept())
    yield step(8, "SYSTEM", "CONVERSATION_HISTORY", content=left())


def plain() -> Iterator[Fields]:
    def line(second: int, **fields: Any) -> Fields:
        return {"session_id": "s1", "timestamp": clock(second), **fields}

    yield line(1, record="session", title=kept(), summary=kept())
    yield line(2, role="user", text=kept())
    yield line(3, role="assistant", text=kept(), metadata={"mood": kept()})
    call = {"tool_name": "Bash", "tool_input": {"command": kept()}}
    yield line(4, event_type="tool_result", text=kept(), **call)
    for number, kind in enumerate(
        ("session_start", "assistant_stop", "subagent_start", "subagent_stop"), 5
    ):
        yield line(number, event_type=kind, text=kept())
    yield line(9, event_type="user_message", role="system", text=kept())
    yield line(10, event_type="session_end", text=kept())
    yield line(11, record="subagent", subagent="a1", task=kept())
    yield line(12, record="thought", text=kept())
    yield line(13, record="hologram", text=left())


def hooks() -> Iterator[Fields]:
    def payload(name: str, **fields: Any) -> Fields:
        return {"hook_event_name": name, "session_id": "s1", "cwd": "/shop", **fields}

    tool = {"tool_name": "Bash", "tool_use_id": "t1"}
    yield payload("SessionStart", source="startup")
    yield payload("UserPromptSubmit", prompt=kept())
    given = {"command": kept()}
    yield payload("PreToolUse", **tool, tool_input=given)
    answer = {"stdout": kept(), "stderr": kept()}
    yield payload("PostToolUse", **tool, tool_input=given, tool_response=answer)
    failed = {"tool_name": "Bash", "tool_use_id": "t2", "tool_input": {"x": kept()}}
    yield payload("PostToolUseFailure", **failed, error=kept())
    denied = {"tool_name": "Bash", "tool_use_id": "t3", "tool_input": {"x": kept()}}
    yield payload("PermissionDenied", **denied, reason=kept())
    helper = {"agent_id": "a1", "agent_type": "explorer"}
    yield payload("SubagentStart", **helper)
    yield payload("SubagentStop", **helper, last_assistant_message=kept())
    yield payload("Stop", last_assistant_message=kept())
    yield payload("Stop", content=kept())
    failure = {"error": "unknown", "error_details": kept()}
    yield payload("StopFailure", **failure, last_assistant_message=kept())
    yield payload("PostCompact", trigger="auto", compact_summary=kept())
    yield payload("UserPromptSubmit", prompt=kept(), metadata={"ticket": kept()})
    yield payload("SessionInfo", title=kept())
    for name in (
        *("Notification", "TaskCreated", "TaskCompleted", "PreCompact", "Elicitation"),
        *("ElicitationResult", "TeammateIdle", "Setup"),
        *("InstructionsLoaded", "ConfigChange", "CwdChanged", "DirectoryAdded"),
        *("FileChanged", "WorktreeCreate", "WorktreeRemove"),
    ):
        yield payload(name, message=left())
    yield payload("SessionEnd", reason="logout")


def aider(file: Path) -> None:
    said = f"#### {kept()}  \n\n{kept()}\n\n> Applied {kept()}  \n\n#### /run x  \n"
    file.write_text(
        f"# aider chat started at {AT:%Y-%m-%d %H:%M:%S}\n\n> {left()}  \n\n"
        f"{said}> {kept()}  \n\n#### /ask {kept()}  \n\n{kept()}\n"
    )


PARTS_1: list[tuple[str, list[Fields]]] = [
    ("user", [text(kept()), text(kept()) | {"synthetic": True}]),
    ("user", [{"type": "subtask", "prompt": kept()}, {"type": "compaction"}]),
    (
        "assistant",
        [
            {"type": "reasoning", "text": kept()},
            text(kept()),
            {
                "type": "tool",
                "callID": "c1",
                "tool": "bash",
                "state": {
                    "status": "completed",
                    "input": {"command": kept()},
                    "output": kept(),
                },
            },
            {"type": "step-start", "snapshot": left()},
            {"type": "patch", "files": [left()]},
            {"type": "hologram", "text": left()},
        ],
    ),
]


def opencode(file: Path) -> None:
    agent = Agent(file)
    with closing(agent.db):
        agent.session("s1", title=kept())
        for number, (role, parts) in enumerate(PARTS_1, 1):
            agent.message(number, role)
            for place, part in enumerate(parts):
                fields = {name: part[name] for name in part if name != "type"}
                agent.part(number, part["type"], f"p{place}", **fields)


def opencode_2(file: Path) -> None:
    done = {"created": START, "completed": START + 1}
    state = {"status": "completed", "input": {"command": kept()}}
    content = [
        {"type": "reasoning", "text": kept()},
        text(kept()),
        {
            "type": "tool",
            "id": "c1",
            "name": "bash",
            "state": state | {"content": [text(kept())]},
            "time": done,
        },
    ]
    messages: list[tuple[str, Fields]] = [
        ("user", {"text": kept()}),
        ("synthetic", {"text": kept()}),
        ("system", {"text": kept()}),
        ("skill", {"text": kept()}),
        ("assistant", {"content": content}),
        ("shell", {"shellID": "x", "command": kept(), "output": {"output": kept()}}),
        ("compaction", {"status": "completed", "summary": kept()}),
        ("agent-switched", {"agent": left()}),
        ("model-switched", {"model": {"id": left()}}),
        ("location-switched", {"location": left()}),
        ("idle", {"outcome": left()}),
        ("hologram", {"text": left()}),
    ]
    agent = Agent(file)
    with closing(agent.db):
        agent.db.executescript(SCHEMA_2)
        names = "id project_id slug directory title version time_created time_updated"
        row = ("s2", "p", "s2", "/home/ada/shop", kept(), "2.0.3", START, START)
        agent.put("session_v2", names, *row)
        columns = "id session_id type seq time_created time_updated data"
        for number, (kind, fields) in enumerate(messages):
            at = START + number * 1000
            data = json.dumps({"time": {**done, "created": at}} | fields)
            agent.put(
                *("session_message", columns, f"m{number}", "s2", kind, number),
                *(at, at, data),
            )


LINES = {
    "projects/shop/s1.jsonl": claude,
    "sessions/rollout-2026-03-14T10-00-00-s1.jsonl": codex,
    "session-state/s1/events.jsonl": copilot,
    "tmp/shop/chats/session-1.jsonl": gemini,
    "brain/s1/.system_generated/logs/transcript_full.jsonl": antigravity,
    "events.jsonl": plain,
}
FILES = {
    ".aider.chat.history.md": aider,
    "opencode.db": opencode,
    "opencode-2.db": opencode_2,
}


@pytest.mark.parametrize("name", [*LINES, *FILES])
def test_all_words_of_a_file_are_stored_or_counted(
    name: str, workspace: Workspace, tmp_path: Path
) -> None:
    file = tmp_path / name
    file.parent.mkdir(parents=True, exist_ok=True)
    if name in LINES:
        records = [json.dumps(item) for item in LINES[name]()]
        file.write_text("\n".join(records) + "\n")
        words_in = Counter(re.findall(r"(?:kept|left)\d+", "\n".join(records)))
    else:
        FILES[name](file)
        words_in = words_of_file(file)
    os.utime(file, (START / 1000, START / 1000))
    importer = workspace.pipeline.importer()
    list(importer.run([file]))
    check(words_in)
    if name != ".aider.chat.history.md":  # The folder names the session.
        copy = tmp_path / "copy" / name
        copy.parent.mkdir(parents=True)
        copy.write_bytes(file.read_bytes())
        list(importer.run([copy]))
        assert importer.progress.already_stored
        check(words_in, readings=2)


def test_all_words_of_hooks_are_stored_or_counted(
    workspace: Workspace, tmp_path: Path
) -> None:
    new = workspace.paths.spool / "new"
    new.mkdir(parents=True)
    payloads = [json.dumps(item) for item in hooks()]
    for number, payload in enumerate(payloads):
        file = new / f"{number:06}.json"
        file.write_text(payload)
        os.utime(file, (START / 1000 + number, START / 1000 + number))
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    check(Counter(re.findall(r"(?:kept|left)\d+", "\n".join(payloads))))


def words_of_file(file: Path) -> Counter[str]:
    if file.suffix != ".db":
        return Counter(re.findall(r"(?:kept|left)\d+", file.read_text()))
    with closing(sqlite3.connect(file)) as opened:
        said = "\n".join(opened.iterdump())
    return Counter(re.findall(r"(?:kept|left)\d+", said))


def check(words_in: Counter[str], readings: int = 1) -> None:
    """Check that each word is stored once or counted in each reading."""
    with database.connection():
        texts = [
            said
            for table in ("events", "thoughts")
            for (said,) in db.execute_sql(f"SELECT text FROM {table}")
        ]
        others = [
            str(value)
            for query in (
                "SELECT metadata FROM events",
                "SELECT title || ' ' || summary FROM sessions",
                "SELECT task FROM subagents",
            )
            for (value,) in db.execute_sql(query)
        ]
        unread = sources.list_unread_types()
    stored = Counter(re.findall(r"(?:kept|left)\d+", "\n".join(texts)))
    elsewhere = {*re.findall(r"(?:kept|left)\d+", "\n".join(others))}
    lost = {w for w in words_in if w.startswith("kept")} - {*stored} - elsewhere
    assert not lost
    assert {word: n for word, n in stored.items() if n > 1} == {}
    wrong = {word for word in {*stored} | elsewhere if word.startswith("left")}
    assert not wrong
    left_in = sum(n for word, n in words_in.items() if word.startswith("left"))
    assert sum(words for _, _, words in unread) == left_in * readings
