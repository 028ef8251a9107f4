"""How Ollama writes: JSON as Go escapes it, zero fields left out, one object a line."""

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


def go(value: object) -> bytes:
    """JSON as Go writes it: HTML signs escaped, U+0085 as it stands."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for char, escape in _ESCAPED.items():
        text = text.replace(char, escape)
    return text.encode()


def line(value: object) -> bytes:
    """One line of a stream."""
    return go(value) + b"\n"


def without_zeros(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that Go's ``omitempty`` leaves."""
    return {name: value for name, value in fields.items() if value}


def tokens(text: str, size: int = 4) -> int:
    """The fake tokeniser: a token for every so many bytes begun."""
    return -(-len(text.encode()) // size)


def last_tokens(text: str, count: int, size: int = 4) -> str:
    """The end of a text that is so many tokens long."""
    kept = text.encode()[-size * count :] if count > 0 else b""
    return kept.decode(errors="ignore")
