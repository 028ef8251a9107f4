"""A tool call in one line: what was done, said so that it can be read and searched.

Secrets are taken out before anything is cut: half a secret is not known for one.
"""

import json
from collections.abc import Mapping
from typing import Any

from memtui.model.events import clean
from memtui.text import secrets

CALL_CHARS = 300
"""The most of a call's line, in characters."""

TASK_CHARS = 200
"""How much is kept of what a helper was asked to do."""

_TELLING = (
    "command",
    "cmd",
    "file_path",
    "path",
    "notebook_path",
    "pattern",
    "query",
    "url",
    "description",
    "subject",
    "skill",
    "prompt",
)
"""The inputs that say most of what a call does, the most telling first."""


def describe(tool_name: str, tool_input: object) -> str:
    """One line for a call: ``Bash: npm test``, ``Edit: src/auth/token.rs``."""
    said = _in_a_line(_said(tool_input))
    line = f"{tool_name or 'tool'}: {said}" if said else tool_name or "tool"
    return line if len(line) <= CALL_CHARS else line[: CALL_CHARS - 1] + "…"


def describe_task(told: str) -> str:
    """What a helper was asked to do, in a line."""
    return _in_a_line(told)[:TASK_CHARS]


def _in_a_line(text: str) -> str:
    """A text in one line, without its secrets."""
    return " ".join(secrets.redact(clean(text)).text.split())


def _said(tool_input: object) -> str:
    if isinstance(tool_input, str):
        return tool_input
    if not isinstance(tool_input, Mapping):
        return ""
    if "pattern" in tool_input and isinstance(tool_input.get("path"), str):
        return f"{tool_input['pattern']} in {tool_input['path']}"
    for name in _TELLING:
        value = tool_input.get(name)
        if isinstance(value, str) and value.strip():
            return value
        if isinstance(value, list) and value and all(isinstance(v, str) for v in value):
            return " ".join(value)
    plain = {k: v for k, v in tool_input.items() if isinstance(v, str | int | float)}
    kept, _ = secrets.redact_json(plain)
    named = kept.items() if isinstance(kept, dict) else ()
    return " ".join(f"{name}={value}" for name, value in named)


def compact_json(value: Any) -> str:
    """A tool's input as compact JSON, the same for the same input; "" for none."""
    if value in (None, "", {}):
        return ""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
