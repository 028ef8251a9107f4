"""Ollama's output: JSON escaped as in Go, without zero fields, one object a line."""

import json
from collections.abc import Mapping
from typing import Any

_ESCAPED = {
    "<": "\\u003c",
    ">": "\\u003e",
    "&": "\\u0026",
    "\u2028": "\\u2028",
    "\u2029": "\\u2029",
}


def dump_json(value: object) -> bytes:
    """Return JSON as Go writes it: HTML characters escaped, U+0085 not."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for char, escape in _ESCAPED.items():
        text = text.replace(char, escape)
    return text.encode()


def line(value: object) -> bytes:
    """Return one line of a stream."""
    return dump_json(value) + b"\n"


def without_zeros(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that remain with Go's ``omitempty``."""
    return {name: value for name, value in fields.items() if value}


def tokens(text: str, size: int = 4) -> int:
    """Count tokens of so many bytes each."""
    return -(-len(text.encode()) // size)


def last_tokens(text: str, count: int, size: int = 4) -> str:
    """Return the end of a text, so many tokens long."""
    kept = text.encode()[-size * count :] if count > 0 else b""
    return kept.decode(errors="ignore")
