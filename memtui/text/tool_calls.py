"""Describe a tool call in one line that can be read and searched.

Secrets are redacted before anything is shortened: half a secret is not recognized.
"""

import json
from collections.abc import Mapping
from typing import Any

from memtui.model.events import clean
from memtui.text import secrets

CALL_CHARS = 300
"""The maximum length of a call's line."""

_SUMMARY_FIELDS = (
    *("command", "cmd", "file_path", "path", "notebook_path", "pattern", "query"),
    *("url", "description", "subject", "skill", "prompt"),
)
"""The inputs that best describe a call, most informative first."""


def describe(tool_name: str, tool_input: object) -> str:
    """Describe a call in one line: ``Bash: npm test``, ``Edit: src/auth/token.rs``."""
    subject = _in_a_line(_summarize_input(tool_input))
    line = f"{tool_name or 'tool'}: {subject}" if subject else tool_name or "tool"
    return line if len(line) <= CALL_CHARS else line[: CALL_CHARS - 1] + "…"


def describe_task(prompt: str) -> str:
    """Return what a subagent was asked to do, in one line."""
    return _in_a_line(prompt)[:200]


def _in_a_line(text: str) -> str:
    """Return a text in one line, without secrets."""
    return " ".join(secrets.redact(clean(text)).text.split())


def _summarize_input(tool_input: object) -> str:
    """Return the most informative value of a call's input, or all plain ones."""
    if isinstance(tool_input, str):
        return tool_input
    if not isinstance(tool_input, Mapping):
        return ""
    if "pattern" in tool_input and isinstance(tool_input.get("path"), str):
        return f"{tool_input['pattern']} in {tool_input['path']}"
    for name in _SUMMARY_FIELDS:
        value = tool_input.get(name)
        if isinstance(value, str) and value.strip():
            return value
        if isinstance(value, list) and value and all(isinstance(v, str) for v in value):
            return " ".join(value)
    plain = {k: v for k, v in tool_input.items() if isinstance(v, str | int | float)}
    redacted, _ = secrets.redact_json(plain)
    items = redacted.items() if isinstance(redacted, dict) else ()
    return " ".join(f"{name}={value}" for name, value in items)


def compact_json(value: Any) -> str:
    """Return a tool's input as compact JSON with sorted keys; "" for none."""
    if value in (None, "", {}):
        return ""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
