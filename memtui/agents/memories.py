"""Memories: what ``retrieve_memory`` answers, as the Markdown a model reads (seed 4).

Stored text stands in one line each, quotes and line breaks escaped, so that none can
pass for a heading or for another memory.
"""

import json
from dataclasses import dataclass
from datetime import datetime

from memtui.agents.replies import Plain
from memtui.text import fencing

KEY = 0.7
"""From this surprise on a memory is a key moment (decisions §9)."""


USUAL = 2
"""So many ranks have details unless another number is asked for, if they are key."""


LIMIT = 5
"""How many memories are given unless fewer or more are asked for."""


@dataclass(frozen=True, slots=True)
class Line:
    """One message of a memory."""

    role: str
    text: str
    is_match: bool = False
    """Whether it answers what was asked."""


@dataclass(frozen=True, slots=True)
class Memory:
    """One memory."""

    rank: int
    score: float | None
    """None where no word was looked for."""
    surprise: float | None
    """None before it was weighed."""
    at: datetime
    """When it ended."""
    when: str
    """The same, seen from now."""
    summary: str
    cite: str
    """What ``expand_grip`` opens it by."""
    details: tuple[Line, ...] = ()
    node_id: str = ""

    @property
    def is_key(self) -> bool:
        """Whether it broke with what was expected."""
        return (self.surprise or 0.0) >= KEY


def has_details(
    rank: int, surprise: float | None, detail_limit: int | None, returned: int
) -> bool:
    """Whether a memory is told with its messages (decisions §9).

    Args:
        rank: Its place, from 1.
        surprise: 0 to 1; None if unknown.
        detail_limit: How many may have them; None for the usual.
        returned: How many memories are given.
    """
    if detail_limit is not None and detail_limit >= returned:
        return detail_limit > 0
    most = USUAL if detail_limit is None else detail_limit
    return rank <= most and (surprise or 0.0) >= KEY


def quoted(text: str) -> str:
    """A text in quotes, with its quotes and line breaks escaped."""
    return json.dumps(text, ensure_ascii=False)


def plain(memory: Memory) -> Plain:
    """A memory as JSON has it."""
    told: Plain = {
        "rank": memory.rank,
        "score": None if memory.score is None else round(memory.score, 2),
        "is_key_moment": memory.is_key,
        "when": memory.when,
        "summary": fencing.line(memory.summary),
        "cite": memory.cite,
    }
    if memory.details:
        told["details"] = [
            {"role": line.role, "text": fencing.neutral(line.text)}
            | ({"is_match": True} if line.is_match else {})
            for line in memory.details
        ]
    return told


def markdown(told: Plain) -> str:
    """A memory as seed 4 writes it, with its citation at its end.

    Args:
        told: What ``plain`` gives; its texts may have been cut.
    """
    key = ", key moment" if told["is_key_moment"] else ""
    rank, score = told["rank"], told["score"]
    fit = "" if score is None else f", score: {score:.2f}"
    lines = [
        f"## Memory {rank} [rank: {rank}{fit}{key}]",
        f"**When:** {told['when']}",
        f"**Summary:** {told['summary']}",
    ]
    if details := told.get("details"):
        lines += ["", "**Details:**"]
        lines += [f"- {one['role']}: {quoted(one['text'])}" for one in details]
    if told["cite"]:
        lines.append(f"[{told['cite']}]")
    return "\n".join(lines)
