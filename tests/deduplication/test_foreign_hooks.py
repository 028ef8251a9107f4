"""One agent runs the hooks of another: its session and its prompts are stored once."""

import itertools
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from memtui.store import database
from memtui.store import events as store_events
from memtui.workspace import Workspace
from tests.tables import EventRow, SessionRow

NAME = "15151515-0000-4000-8000-000000000001"
PLACE = f"/home/ada/.copilot/session-state/{NAME}/events.jsonl"
PROMPT, REPLY = "why is the cart slow", "The query has no index."

ABOUT = {"session_id": NAME, "cwd": "/home/ada/shop"}
CLAUDES_PROMPT = {
    **ABOUT,
    "hook_event_name": "UserPromptSubmit",
    "prompt": PROMPT,
    "timestamp": "2026-03-20T09:00:02.013Z",
}
CLAUDES_STOP = {
    **ABOUT,
    "hook_event_name": "Stop",
    "last_assistant_message": REPLY,
    "timestamp": "2026-03-20T09:00:04.000Z",
}
OWN_PROMPT = {
    "sessionId": NAME,
    "timestamp": 1773997202000,
    "cwd": "/home/ada/shop",
    "prompt": PROMPT,
}
OWN = "copilot-cli.userPromptSubmitted"


def transcript() -> bytes:
    def record(number: int, kind: str, **data: Any) -> dict[str, Any]:
        at = f"2026-03-20T09:00:0{number}.000Z"
        return {"type": kind, "data": data, "id": f"e{number}", "timestamp": at}

    context = {"cwd": "/home/ada/shop"}
    records = (
        record(1, "session.start", sessionId=NAME, context=context),
        record(2, "user.message", content=PROMPT),
        record(3, "assistant.message", content=REPLY, toolRequests=[]),
    )
    return b"".join(json.dumps(fields).encode() + b"\n" for fields in records)


class Agent:
    def __init__(self, workspace: Workspace, folder: Path) -> None:
        self._workspace, self._folder, self._count = workspace, folder, 0

    def take(self, step: str, path: str | None) -> None:
        given = {} if path is None else {"transcript_path": path}
        if step == "transcript":
            file = self._folder / "session-state" / NAME / "events.jsonl"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(transcript())
            list(self._workspace.pipeline.importer().run([file]))
        elif step == "own prompt":
            self._write(OWN_PROMPT, f".{OWN}")
        else:
            payload = CLAUDES_PROMPT if step == "prompt" else CLAUDES_STOP
            self._write({**payload, **given})

    def _write(self, payload: dict[str, object], name: str = "") -> None:
        self._count += 1
        folder = self._workspace.paths.spool / "new"
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"{self._count}.1.a{name}.json"
        file.write_text(json.dumps(payload))

    def work(self) -> None:
        assert self._workspace.pipeline.run_until_idle(lambda _: None) == []


STEPS = ("prompt", "own prompt", "stop", "transcript")


@pytest.mark.parametrize("path", [None, "", PLACE])
@pytest.mark.parametrize("order", itertools.permutations(STEPS))
@pytest.mark.parametrize("at_once", [True, False])
def test_session_and_prompt_are_stored_once(
    order: Sequence[str],
    path: str | None,
    at_once: bool,
    workspace: Workspace,
    tmp_path: Path,
) -> None:
    agent = Agent(workspace, tmp_path)
    for step in order:
        agent.take(step, path)
        if not at_once:
            agent.work()
    agent.work()
    with database.connection():
        (session,) = SessionRow.select()
        events = store_events.get(row.id for row in EventRow.select()).values()
    assert (session.agent, session.name) == ("copilot-cli", NAME)
    messages = sorted(event.text for event in events if event.is_message)
    assert messages == sorted([PROMPT, REPLY])
    assert session.message_count == 2


def test_unnamed_hooks_alone_are_of_claude_code(
    workspace: Workspace, tmp_path: Path
) -> None:
    agent = Agent(workspace, tmp_path)
    agent.take("prompt", None)
    agent.take("stop", None)
    agent.work()
    with database.connection():
        (session,) = SessionRow.select()
    assert (session.agent, session.message_count) == ("claude-code", 2)


# Other agents that run Claude Code's hook beside their own, or another agent's.

CALL_ID = "call_AbCdEf0123456789xyz"
CODEX_PATH = "/srv/codex/sessions/2026/03/20/rollout-2026-03-20T09-00-00-s1.jsonl"
ANTIGRAVITY_PATH = "/home/ada/.gemini/antigravity-cli/brain/s1/logs/transcript.jsonl"
VS_CODE_PATH = "/home/ada/Code/User/abc/GitHub.copilot-chat/transcripts/s1.jsonl"
PLACES = {
    "codex": CODEX_PATH,
    "gemini-cli": "/home/ada/.gemini/tmp/shop/chats/session-1.json",
    "antigravity-cli": ANTIGRAVITY_PATH,
    "copilot-cli": VS_CODE_PATH,
    "cursor": "/home/ada/.cursor/projects/shop/agent-transcripts/s1/s1.jsonl",
    "claude-code": "/home/ada/.claude/projects/-home-ada-shop/s1.jsonl",
}


def spool(workspace: Workspace, number: float, payload: object, agent: str) -> None:
    folder = workspace.paths.spool / "new"
    folder.mkdir(parents=True, exist_ok=True)
    part = f".{agent}.Any" if agent else ""
    file = folder / f"{number:04.0f}.1.a{part}.json"
    file.write_text(json.dumps(payload))
    at_s = 1_773_997_200 + number / 10
    os.utime(file, (at_s, at_s))


def turn(path: str) -> list[dict[str, object]]:
    about = {"session_id": NAME, "cwd": "/home/ada/shop", "turn_id": "turn-1"}
    about |= {"transcript_path": path}
    call = {"tool_name": "Bash", "tool_input": {"command": "make"}}
    call |= {"tool_response": "done", "tool_use_id": CALL_ID}
    return [
        {**about, "hook_event_name": "UserPromptSubmit", "prompt": PROMPT},
        {**about, "hook_event_name": "PostToolUse", **call},
        {**about, "hook_event_name": "Stop", "last_assistant_message": REPLY},
    ]


def stored() -> list[tuple[str, str, str]]:
    with database.connection():
        events = store_events.get(row.id for row in EventRow.select()).values()
        (session,) = SessionRow.select()
    assert session.event_count == len(events)
    return sorted((e.agent, e.event_type.value, e.text) for e in events)


@pytest.mark.parametrize("hooks", [("", "own"), ("own", ""), ("", "", "own", "own")])
@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("agent", PLACES)
def test_events_are_stored_once_if_an_agent_runs_several_hooks(
    agent: str, hooks: tuple[str, ...], at_once: bool, workspace: Workspace
) -> None:
    # Claude Code runs the hook of another agent beside its own, which has no name.
    own, other = (agent, "") if agent != "claude-code" else ("", "copilot-cli")
    for number, whose in enumerate(hooks):
        name = own if whose == "own" else other
        for step, payload in enumerate(turn(PLACES[agent])):
            spool(workspace, 100 * step + number, payload, name)
        if not at_once:
            assert workspace.pipeline.run_until_idle(lambda _: None) == []
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    assert stored() == [
        (agent, "assistant_message", REPLY),
        (agent, "assistant_stop", ""),
        (agent, "tool_result", "Bash: make\ndone"),
        (agent, "user_message", PROMPT),
    ]


@pytest.mark.parametrize("order", itertools.permutations(("", "codex", "file")))
def test_call_with_another_name_in_hooks_is_stored_once(
    order: Sequence[str], workspace: Workspace, tmp_path: Path
) -> None:
    def record(kind: str, **payload: object) -> dict[str, object]:
        at = "2026-03-20T09:00:10.000Z"
        return {"timestamp": at, "type": kind, "payload": payload}

    call = {"name": "exec_command", "arguments": '{"cmd": "make"}'}
    result = "Process exited with code 2\nOutput:\ndone"
    records = (
        record("session_meta", id=NAME, cwd="/home/ada/shop"),
        record("response_item", type="function_call", call_id=CALL_ID, **call),
        record(
            "response_item", type="function_call_output", call_id=CALL_ID, output=result
        ),
    )
    for step in order:
        if step == "file":
            file = tmp_path / Path(CODEX_PATH).name
            file.write_text("".join(f"{json.dumps(fields)}\n" for fields in records))
            list(workspace.pipeline.importer().run([file]))
        else:
            spool(workspace, 100 + len(step), turn(CODEX_PATH)[1], step)
        assert workspace.pipeline.run_until_idle(lambda _: None) == []
    ((agent, _, text),) = stored()
    assert (agent, text) == ("codex", f"exec_command: make\n{result}")


def test_two_turns_with_the_same_words_are_two(workspace: Workspace) -> None:
    for number, turn_id in enumerate(("turn-1", "turn-2", "turn-2")):
        for step, payload in enumerate(turn(CODEX_PATH)[::2]):
            sent = payload | {"turn_id": turn_id}
            spool(workspace, 100 * number + 10 * step, sent, "codex")
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    texts = [text for _, _, text in stored()]
    assert sorted(texts) == sorted([PROMPT, REPLY, ""] * 2)


def test_agent_that_a_later_payload_shows_gets_the_session(
    workspace: Workspace,
) -> None:
    first, _, last = turn(CODEX_PATH)
    spool(workspace, 1, first | {"transcript_path": None}, "")
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    spool(workspace, 2, last, "")
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    assert {agent for agent, _, _ in stored()} == {"codex"}


@pytest.mark.parametrize("order", itertools.permutations(("hook", "file")))
@pytest.mark.parametrize("output", ["1 failed", ""])
def test_output_that_only_the_hook_has_is_kept(
    order: Sequence[str], output: str, workspace: Workspace, tmp_path: Path
) -> None:
    # VS Code writes no results into its transcripts.
    call = {"toolCallId": CALL_ID, "toolName": "bash", "arguments": {"command": "make"}}
    records = [
        {"type": kind, "id": f"e{number}", "timestamp": "2026-03-20T09:00:10Z"}
        | {"data": call | {"success": True}}
        for number, kind in enumerate(
            ("tool.execution_start", "tool.execution_complete")
        )
    ]
    file = tmp_path / f"{NAME}.jsonl"
    file.write_text("".join(f"{json.dumps(fields)}\n" for fields in records))
    told = turn(VS_CODE_PATH)[1] | {"tool_name": "bash"}
    told |= {"tool_response": {"stdout": output, "stderr": ""}}
    for step in order:
        if step == "hook":
            spool(workspace, 100, told, "")
        else:
            list(workspace.pipeline.importer().run([file]))
        assert workspace.pipeline.run_until_idle(lambda _: None) == []
    ((_, _, text),) = stored()
    assert text == f"bash: make\n{output}".rstrip()
