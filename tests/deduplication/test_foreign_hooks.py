"""One agent runs the hooks of another: its session and its prompts are stored once."""

import itertools
import json
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
