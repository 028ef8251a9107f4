"""Exports, histories, hooks and transcripts of the same sessions, in any order."""

import json
import random
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from tests.deduplication.deliveries import (
    HOOKS,
    START,
    HistoryDelivery,
    hook,
    record,
    session_records,
    shuffled_pieces,
)

Ways = dict[str, str]


def typed(number: int, text: str) -> str:
    """Return a line of the history of prompts."""
    at = START + timedelta(minutes=number)
    fields = {"display": text, "timestamp": int(at.timestamp() * 1000)}
    more = {"project": "/home/ada/shop", "sessionId": "s1", "pastedContents": {}}
    return json.dumps(fields | more) + "\n"


def word(number: int) -> str:
    return f"Word {number} about the migration of table {number}"


TOLD = {
    "a.jsonl": session_records("s1", 1, 2, 3, 4),
    HOOKS: hook(1, "UserPromptSubmit", prompt=word(1))
    + hook(30, "UserPromptSubmit", prompt="Only the hook has this.")
    + hook(31, "SessionEnd", reason="logout"),
}
CHAIN = {
    "a.jsonl": session_records("s1", 1, 2, 3, 4),
    "b.jsonl": session_records("s2", 1, 2, 3, 4, 5, 6),
    "c.jsonl": session_records("s3", 1, 2, 3, 4, 5, 6, 7, 8),
}
TYPED = {
    "history.jsonl": typed(1, word(1)) + typed(3, word(3)) + typed(50, "Only typed."),
    **TOLD,
}
GROWING = [session_records("s1", *range(1, last)) for last in (3, 5, 7)]
HELPER = "".join(
    record(number, f"Count table {number}", isSidechain=True, agentId="a1")
    for number in (20, 21, 22)
)
HELPED = {
    "s1.jsonl": session_records("s1", 1, 2, 3),
    "s1/subagents/agent-a1.jsonl": HELPER,
}


ROLLOUT = "rollout-2025-03-14T10-00-00-s1.jsonl"
CODEX_CALL = "call_AbCdEf0123456789xyz"


def codex_line(number: int, kind: str, **payload: object) -> str:
    at = (START + timedelta(minutes=number)).isoformat()
    return json.dumps({"timestamp": at, "type": kind, "payload": payload}) + "\n"


def codex_item(number: int, kind: str, **payload: object) -> str:
    return codex_line(number, "response_item", type=kind, **payload)


def codex_text(number: int, role: str) -> str:
    content = [{"type": "input_text", "text": word(number)}]
    return codex_item(number, "message", role=role, content=content)


def codex_hook(number: int, name: str, **payload: Any) -> str:
    place = f"/home/ada/.codex/sessions/{ROLLOUT}"
    return hook(number, name, turn_id=f"t{number}", transcript_path=place, **payload)


def codex_typed(number: int) -> str:
    at = START + timedelta(minutes=number)
    fields = {"session_id": "s1", "ts": int(at.timestamp()), "text": word(number)}
    return json.dumps(fields) + "\n"


OF_CODEX = {
    ROLLOUT: codex_line(0, "session_meta", id="s1", cwd="/home/ada/shop")
    + codex_text(1, "user")
    + codex_item(
        2,
        "function_call",
        call_id=CODEX_CALL,
        name="exec_command",
        arguments='{"cmd": "make"}',
    )
    + codex_item(3, "function_call_output", call_id=CODEX_CALL, output="done")
    + codex_text(4, "assistant")
    + codex_text(5, "user"),
    HOOKS: codex_hook(1, "UserPromptSubmit", prompt=word(1))
    + codex_hook(
        3,
        "PostToolUse",
        tool_name="Bash",
        tool_input={"command": "make"},
        tool_response="done",
        tool_use_id=CODEX_CALL,
    )
    + codex_hook(4, "Stop", last_assistant_message=word(4)),
    "history.jsonl": codex_typed(1) + codex_typed(5) + codex_typed(9),
}


def ways_of(name: str, export: Callable[[Ways], str]) -> Ways:
    match name:
        case "an export and hooks":
            return {"x": export({"a": TOLD["a.jsonl"]}), HOOKS: TOLD[HOOKS]}
        case "an export of hooks":
            return {"x": export({HOOKS: TOLD[HOOKS]}), "a": TOLD["a.jsonl"]}
        case "an export of an export":
            text = export(TOLD)
            return TOLD | {"x": text, "y": export({"x": text})}
        case "exports of three machines":
            return {f"x{file}": export({file: CHAIN[file]}) for file in CHAIN}
        case "a chain of forks and its export":
            return CHAIN | {"x": export(CHAIN)}
        case "a history and its export":
            return TYPED | {"x": export(TYPED)}
        case "exports of a session that grew":
            exports = {f"x{len(text)}": export({"a": text}) for text in GROWING}
            return {"a": GROWING[1], **exports}
        case "Codex's hooks and history":
            return OF_CODEX
        case "Codex's hooks, history and export":
            return OF_CODEX | {"x": export(OF_CODEX)}
        case "a subagent and its export":
            return HELPED | {"x": export(HELPED)}
        case _:
            return {
                "a": session_records("s1", *range(1, 9)),
                "b": session_records("s2", *range(1, 7), 11, 12),
                "c": session_records("s1", 11, 12, 13),
            }


@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "events"),
    [
        ("an export and hooks", 6),
        ("an export of hooks", 6),
        ("an export of an export", 6),
        ("exports of three machines", 8),
        ("a chain of forks and its export", 8),
        ("a history and its export", 7),
        ("exports of a session that grew", 6),
        ("Codex's hooks and history", 6),
        ("Codex's hooks, history and export", 6),
        ("a subagent and its export", 6),
        ("two sessions resumed from each other", 11),
    ],
)
def test_sources_give_the_same_tree_in_any_order(
    name: str, events: int, delivery: HistoryDelivery
) -> None:
    ways = ways_of(name, lambda steps: delivery.export_after([*steps.items()]))
    whole = delivery.after_steps([*ways.items()])
    assert len(whole["events"]) == events
    assert delivery.after_steps([*ways.items()][::-1]) == whole
    for seed in range(3):
        chance = random.Random(seed)
        repeated = chance.choice([file for file in ways if file != HOOKS])
        twice = ways | {f"again-{repeated.replace('/', '-')}": ways[repeated]}
        assert delivery.after_steps(shuffled_pieces(twice, chance)) == whole, seed
