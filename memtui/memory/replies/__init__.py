"""A reply: what an agent is answered, as items of which any number can be left out.

It is written in one of two ways: as lines in a fence (``text``), the cheapest to read,
or as JSON for programs (``data``). Both hold the same items; ``fitted`` and
``fitted_json`` keep either within a budget. The parts of a reply are its items, then
the single ones of what they can do without: details go before whole items do.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from memtui.memory.replies import budgets, fencing
from memtui.memory.replies.budgets import Fitted
from memtui.memory.tokens import Counter

Plain = dict[str, Any]
"""A JSON object; its texts are neutral already."""

Line = Callable[[Plain], str]
"""How an item is written as lines."""

_WHOLE = re.compile(r"(?:.*_)?(?:ids?|session|token|at|start|end|cite|leads_to)")
"""The names of fields that are names or times themselves, and are never cut."""

SAID_CHARS = 80
"""What is said of the whole answer is never cut shorter than to so many characters."""

WHY_CHARS = {budgets.NOTED: SAID_CHARS, budgets.PAGED: 40, budgets.WIDTHS[-1]: 20}
"""The same where it says why there is no item: with next to nothing beside it."""

ALONE_CHARS = 80
"""Where texts are cut shorter than that, what stands beside a match is left out."""

NOTHING_KEPT = "Nothing kept yet. Bring past sessions in: memtui import"
"""What is answered where there is no memory."""

MORE = "ask for more tokens"
"""How to get what did not fit."""

SHORT_MORE = "more tokens"
"""The same where there is little room."""


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
    how: str = MORE
    """How to get what is left out."""
    more: str = ""
    """How to get what there is besides these items, where it is not by ``after``."""
    after: Callable[[int], Plain] = _nothing
    """What is said after so many items were given, a token to go on with say."""
    gap: str = "\n"
    """What stands between two items in text."""
    ahead: bool = False
    """Whether there are more items than these, by what ``after`` or ``more`` says."""
    spare: str = ""
    """The field of an item whose list it can do without; "" if it has none."""
    is_headed: bool = False
    """Whether what is said besides is worth more than the items."""
    is_quoted: bool = True
    """Whether it holds stored text: what it was told itself needs no fence."""

    @property
    def parts(self) -> int:
        """How many there are to be left out: items, then what they can do without."""
        spared = (len(one.get(self.spare, ())) for one in self.items)
        return len(self.items) + (sum(spared) if self.spare else 0)


def none_kept() -> Reply:
    """The answer to any question where there is no memory."""
    return Reply("items", (), str, notes=(NOTHING_KEPT,), is_quoted=False)


def text(reply: Reply, kept: int, width: int | None, number: str) -> str:
    """A reply as lines, fenced if they are quoted.

    Args:
        reply: What is answered.
        kept: With how many of its parts.
        width: To how many characters its texts are cut.
        number: The fence's.
    """
    told = _noted(reply, width)
    told += _said(reply.lead, width) if _has(width, budgets.HEADED) else []
    items = [reply.line(brief(one, width)) for one in _kept(reply, kept)]
    told += [reply.gap.join(items)] if items else []
    if left := _left(reply, kept, width):
        told.append(f"({left})")
    elif not reply.items and not told:
        told.append("(nothing)")
    body = "\n".join(told)
    return fencing.fenced(body, number) if reply.is_quoted else body


def data(reply: Reply, kept: int, width: int | None) -> Plain:
    """A reply as JSON has it.

    Args:
        reply: What is answered.
        kept: With how many of its parts.
        width: To how many characters its texts are cut.
    """
    is_noted = _has(width, budgets.NOTED) and not _is_why(reply, width)
    told: Plain = {}
    if reply.is_quoted and (is_noted or kept > 0):
        told["notice"] = fencing.NOTICE if is_noted else fencing.SHORT_NOTICE
    if _has(width, budgets.HEADED):
        told |= brief(dict(reply.head), width)
    told[reply.name] = [brief(one, width) for one in _kept(reply, kept)]
    if notes := _noted(reply, width):
        told["notes"] = notes
    if _has(width, budgets.PAGED):
        told |= reply.after(min(kept, len(reply.items)))
    if left := _left(reply, kept, width, with_place=False):
        told["left_out"] = left
    return told


def _has(width: int | None, least: int) -> bool:
    """Whether texts are cut no shorter than to so many characters."""
    return width is None or width >= least


def _is_why(reply: Reply, width: int | None) -> bool:
    """Whether notes are all that is told: there is no item, and little room."""
    return bool(reply.notes) and not reply.items and width in WHY_CHARS


def _noted(reply: Reply, width: int | None) -> list[str]:
    """The notes as there is room for them."""
    if width is not None and _is_why(reply, width):
        return [budgets.cut(one, WHY_CHARS[width]) for one in reply.notes]
    return _said(reply.notes, width) if _has(width, budgets.NOTED) else []


def _said(lines: Sequence[str], width: int | None) -> list[str]:
    most = None if width is None else max(width, SAID_CHARS)
    return [budgets.cut(str(one), most) for one in lines]


def _kept(reply: Reply, kept: int) -> list[Plain]:
    """The items of so many parts, with as much of what they can do without."""
    items = list(reply.items[:kept])
    if not reply.spare:
        return items
    room = max(0, kept - len(reply.items))
    spared = sorted(
        (not some.get("is_match"), at, place)
        for at, one in enumerate(items)
        for place, some in enumerate(one.get(reply.spare, ()))
    )
    # What was looked for before the rest, whosever it is.
    told = {(at, place) for _, at, place in spared[:room]}
    for at, one in enumerate(items):
        if one.get(reply.spare):
            some = [it for n, it in enumerate(one[reply.spare]) if (at, n) in told]
            rest = {key: one[key] for key in one if key != reply.spare}
            items[at] = rest | ({reply.spare: some} if some else {})
    return items


def fitted(reply: Reply, limit: int, counter: Counter, number: str = "") -> Fitted:
    """A reply as fenced lines within a budget.

    Args:
        reply: What is answered.
        limit: The budget in tokens.
        counter: Of tokens.
        number: The fence's; a new one unless given.
    """
    mark = number or fencing.nonce()
    return _fit(
        reply, limit, counter, lambda one, kept, width: text(one, kept, width, mark)
    )


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
    return _fit(reply, limit, counter, lambda *some: dumped(wrap(data(*some))))


def _fit(
    reply: Reply,
    limit: int,
    counter: Counter,
    write: Callable[[Reply, int, int | None], str],
) -> Fitted:
    most, least = budgets.clamped(limit), _least(reply)

    def render(kept: int, width: int | None) -> str:
        return write(reply, kept, width)

    def why(notes: int, width: int | None) -> str:
        return write(replace(reply, notes=reply.notes[: max(1, notes)]), 0, width)

    if reply.items or not reply.notes:
        return budgets.fit(render, reply.parts, most, counter, least=least)
    # Without an item the notes say why: the first one is cut before it is left out.
    told = replace(budgets.fit(why, len(reply.notes), most, counter), kept=0)
    if told.tokens <= most:
        return told
    return budgets.fit(
        lambda _, width: write(replace(reply, notes=()), 0, width), 0, most, counter
    )


def _least(reply: Reply) -> int:
    return budgets.HEADED if reply.is_headed else 0


def dumped(value: object) -> str:
    """A value as JSON without blanks."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def brief(value: Any, width: int | None, name: str = "") -> Any:
    """A value with its texts cut; names, ids and times stay whole."""
    if width is None:
        return value
    if isinstance(value, Mapping):
        return {key: brief(one, width, key) for key, one in value.items()}
    if _WHOLE.fullmatch(name):
        return value
    if isinstance(value, str):
        return budgets.cut(value, width)
    if isinstance(value, list | tuple):
        if width < ALONE_CHARS:
            value = _matches(value) or value
        return [brief(one, width, name) for one in value]
    return value


def _matches(values: Sequence[Any]) -> list[Any]:
    """Those of some objects that are marked as what was looked for."""
    return [one for one in values if isinstance(one, Mapping) and one.get("is_match")]


def _left(
    reply: Reply, kept: int, width: int | None, *, with_place: bool = True
) -> str:
    """What is left out and how to get it; "" where nothing is.

    Args:
        reply: What is answered.
        kept: With how many of its parts.
        width: To how many characters its texts are cut.
        with_place: Whether the place to go on from is told, as JSON does beside it.
    """
    left, spared = len(reply.items) - kept, reply.parts - kept
    if spared <= 0 and not reply.ahead:
        return ""
    if left > 0:
        what = f"{left} left out"
    else:
        what = f"{spared} {reply.spare} left out" if spared > 0 else "more"
    if not _has(width, budgets.PAGED):
        return f"{what}: {SHORT_MORE}"
    after = reply.after(min(kept, len(reply.items)))
    on, offset = after.get("continuation_token"), after.get("next_offset")
    if offset is not None and "total" in after:
        some, of = f"{after['total'] - offset:,}", f"of {after['total']:,}"
        what = f"{some} {of} left out" if left > 0 else f"{some} more {of}"
    how = reply.how if spared > 0 else reply.more or reply.how
    if not kept and reply.items:
        how = MORE
    elif left > 0 or reply.ahead:
        if offset is not None:
            how = f"go on with offset {offset}" if with_place else "go on there"
        if on:
            how = f"go on with token {on}" if with_place else "go on there"
    return f"{what}: {how}"
