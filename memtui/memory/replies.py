"""A reply: what an agent is answered, as items of which any number can be left out.

It is written in one of two ways: as lines in a fence (``as_text``), the cheapest to
read, or as JSON for programs (``as_data``). Both hold the same items; ``fitted`` and
``fitted_json`` keep either within a budget.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memtui.memory import budgets, fencing
from memtui.memory.budgets import Fitted
from memtui.memory.tokens import Counter

Plain = dict[str, Any]
"""A JSON object; its texts are neutral already."""

Line = Callable[[Plain], str]
"""How an item is written as lines."""

_WHOLE = re.compile(r"(?:.*_)?(?:ids?|token|at|start|end|cite|leads_to)")
"""The names of fields that are names or times themselves, and are never cut."""


def _nothing(_: int) -> Plain:
    return {}


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer in the making: what is always said, and items in order of worth."""

    name: str
    """What the list of items is called in JSON: ``children``, ``hits``."""
    items: Sequence[Plain]
    line: Line
    head: Plain = field(default_factory=dict)
    """What is said besides, in JSON."""
    lead: Sequence[str] = ()
    """The same as lines."""
    notes: Sequence[str] = ()
    """Sentences on the answer: what a time was understood as, that an index is old."""
    how: str = "ask for more tokens"
    """How to get what is left out."""
    after: Callable[[int], Plain] = _nothing
    """What is said after so many items were given, a token to go on with say."""
    gap: str = "\n"
    """What stands between two items in text."""
    ahead: bool = False
    """Whether there are more items than these, to be had by what ``after`` gives."""


def text(reply: Reply, kept: int, width: int | None, number: str) -> str:
    """A reply as fenced lines.

    Args:
        reply: What is answered.
        kept: With how many of its items.
        width: To how many characters its texts are cut.
        number: The fence's.
    """
    is_bare = width is not None and width <= budgets.WIDTHS[-1]
    told = [] if is_bare else [*map(str, reply.notes), *reply.lead]
    told = [budgets.cut(one, width) for one in told]
    items = [reply.line(brief(one, width)) for one in reply.items[:kept]]
    told += [reply.gap.join(items)] if items else []
    if left := _left(reply, kept):
        told.append(f"({left.partition(':')[0] if is_bare else left})")
    elif not reply.items and not told:
        told.append("(nothing)")
    return fencing.fenced("\n".join(told), number)


def data(reply: Reply, kept: int, width: int | None) -> Plain:
    """A reply as JSON has it.

    Args:
        reply: What is answered.
        kept: With how many of its items.
        width: To how many characters its texts are cut.
    """
    is_bare = width is not None and width <= budgets.WIDTHS[-1]
    told: Plain = {}
    if not is_bare:
        told = {"notice": fencing.NOTICE, **brief(dict(reply.head), width)}
    told[reply.name] = [brief(one, width) for one in reply.items[:kept]]
    if reply.notes and not is_bare:
        told["notes"] = [budgets.cut(one, width) for one in reply.notes]
    if not is_bare:
        told |= reply.after(kept)
    if left := _left(reply, kept):
        told["left_out"] = len(reply.items) - kept if is_bare else left
    return told


def fitted(reply: Reply, limit: int, counter: Counter, number: str = "") -> Fitted:
    """A reply as fenced lines within a budget.

    Args:
        reply: What is answered.
        limit: The budget in tokens.
        counter: Of tokens.
        number: The fence's; a new one unless given.
    """
    mark = number or fencing.nonce()

    def render(kept: int, width: int | None) -> str:
        return text(reply, kept, width, mark)

    return budgets.fit(render, len(reply.items), budgets.clamped(limit), counter)


def fitted_json(
    reply: Reply, limit: int, counter: Counter, wrap: Callable[[Plain], Plain]
) -> Fitted:
    """A reply as JSON within a budget.

    Args:
        reply: What is answered.
        limit: The budget in tokens.
        counter: Of tokens.
        wrap: Puts the data into what is printed: the budget is of all of it.
    """

    def render(kept: int, width: int | None) -> str:
        return dumped(wrap(data(reply, kept, width)))

    return budgets.fit(render, len(reply.items), budgets.clamped(limit), counter)


def dumped(value: object) -> str:
    """A value as JSON without blanks."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def brief(value: Any, width: int | None, name: str = "") -> Any:
    """A value with its texts cut; names, ids and times stay whole."""
    if width is None or _WHOLE.fullmatch(name):
        return value
    if isinstance(value, str):
        return budgets.cut(value, width)
    if isinstance(value, Mapping):
        return {key: brief(one, width, key) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [brief(one, width, name) for one in value]
    return value


def _left(reply: Reply, kept: int) -> str:
    """What is left out and how to get it; "" where nothing is."""
    left = len(reply.items) - kept
    on = reply.after(kept).get("continuation_token")
    if not left and not reply.ahead:
        return ""
    how = f"go on with token {on}" if on else reply.how
    return f"{left} left out: {how}" if left else f"more: {how}"
