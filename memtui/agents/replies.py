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

from memtui import errors
from memtui.errors import MemtuiError
from memtui.text import fencing
from memtui.text.tokens import ESTIMATE, Counter

LEAST = 50
"""The smallest budget there is, in tokens: an answer that holds nothing needs it."""


DEFAULT = 500
"""What an answer may cost unless more is asked for: about 2 KB of English."""


MOST = 100_000
"""The largest budget, in tokens."""


MARGIN = 1.15
"""What is added to an estimated count: 97 in 100 counts are over-estimated then."""


FOUR_BYTES = 2
"""What is added for each character beyond the basic plane, an emoji say: these take up
to three tokens."""


HEADED, NOTED, PAGED = 20, 16, 12
"""Down to these widths an answer has its head, its notice and notes, and what it goes
on with: then it holds its parts alone."""


WIDTHS = (None, 600, 300, 150, 80, 40, HEADED, NOTED, PAGED, 10)
"""To how many characters texts are cut, in turn, where no part fits; None for none."""


Render = Callable[[int, int | None], str]
"""Gives the answer with so many parts, their texts cut to so many characters."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """An answer that keeps within its budget."""

    text: str
    kept: int
    """How many of its parts it holds: its items, then what they can do without."""
    width: int | None
    """To how many characters its texts were cut; None if they were not."""
    tokens: int
    """What it costs: counted, or estimated with its margin."""


def cost(text: str, counter: Counter) -> int:
    """What a text costs at most, in tokens.

    Args:
        text: The answer.
        counter: Of tokens; an estimate is taken with its margin.
    """
    count = counter.count(text)
    if counter.name != ESTIMATE:
        return count
    beyond = 0 if text.isascii() else sum(char > "\uffff" for char in text)
    return min(
        round(count * MARGIN) + FOUR_BYTES * beyond,
        len(text.encode("utf-8", "replace")),
    )


def clamped(limit: int) -> int:
    """A budget that an answer can be fitted into."""
    return max(LEAST, min(limit, MOST))


def fit(
    render: Render, count: int, limit: int, counter: Counter, *, least: int = 0
) -> Fitted:
    """The answer with as many of its first parts as a budget holds.

    Args:
        render: Makes the answer of so many of its parts; with fewer it is shorter, and
            with none of them, cut to the least, it is expected to fit.
        count: How many parts there are.
        limit: The budget in tokens.
        counter: Of tokens.
        least: Where texts were cut shorter than that, an answer without any part is
            the better one.
    """
    frame = None
    for width in WIDTHS:
        kept = _most(render, width, count, limit, counter)
        if kept > 0 and (frame is None or width is None or width >= least):
            return _fitted(render, kept, width, counter)
        if kept == 0 and frame is None:
            frame = _fitted(render, 0, width, counter)
        if frame and not count:
            break
    return frame or _fitted(render, 0, WIDTHS[-1], counter)


def _fitted(render: Render, kept: int, width: int | None, counter: Counter) -> Fitted:
    text = render(kept, width)
    return Fitted(text, kept, width, cost(text, counter))


def _most(
    render: Render, width: int | None, count: int, limit: int, counter: Counter
) -> int:
    """How many parts fit; -1 if not even none of them does."""
    fits = -1
    low, high = 0, count
    if cost(render(count, width), counter) <= limit:
        return count
    while low <= high:
        middle = (low + high) // 2
        if cost(render(middle, width), counter) <= limit:
            fits, low = middle, middle + 1
        else:
            high = middle - 1
    return fits


def cut(text: str, width: int | None) -> str:
    """A text of at most so many characters, cut at a word where there is one."""
    if width is None or len(text) <= width:
        return text
    start = text[: width - 1]
    whole, blank, _ = start.rpartition(" ")
    return f"{whole if blank and len(whole) > width // 2 else start}…"


Plain = dict[str, Any]
"""A JSON object; its texts are neutral already."""


Line = Callable[[Plain], str]
"""How an item is written as lines."""


_WHOLE = re.compile(r"(?:.*_)?(?:ids?|session|token|at|start|end|cite|leads_to)")
"""The names of fields that are names or times themselves, and are never cut."""


SAID_CHARS = 80
"""What is said of the whole answer is never cut shorter than to so many characters."""


WHY_CHARS = {NOTED: SAID_CHARS, PAGED: 40, WIDTHS[-1]: 20}
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
    told += _said(reply.lead, width) if _has(width, HEADED) else []
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
    is_noted = _has(width, NOTED) and not _is_why(reply, width)
    told: Plain = {}
    if reply.is_quoted and (is_noted or kept > 0):
        told["notice"] = fencing.NOTICE if is_noted else fencing.SHORT_NOTICE
    if _has(width, HEADED):
        told |= brief(dict(reply.head), width)
    told[reply.name] = [brief(one, width) for one in _kept(reply, kept)]
    if notes := _noted(reply, width):
        told["notes"] = notes
    if _has(width, PAGED):
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
        return [cut(one, WHY_CHARS[width]) for one in reply.notes]
    return _said(reply.notes, width) if _has(width, NOTED) else []


def _said(lines: Sequence[str], width: int | None) -> list[str]:
    most = None if width is None else max(width, SAID_CHARS)
    return [cut(str(one), most) for one in lines]


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
    most, least = clamped(limit), _least(reply)

    def render(kept: int, width: int | None) -> str:
        return write(reply, kept, width)

    def why(notes: int, width: int | None) -> str:
        return write(replace(reply, notes=reply.notes[: max(1, notes)]), 0, width)

    if reply.items or not reply.notes:
        return fit(render, reply.parts, most, counter, least=least)
    # Without an item the notes say why: the first one is cut before it is left out.
    told = replace(fit(why, len(reply.notes), most, counter), kept=0)
    if told.tokens <= most:
        return told
    return fit(
        lambda _, width: write(replace(reply, notes=()), 0, width), 0, most, counter
    )


def _least(reply: Reply) -> int:
    return HEADED if reply.is_headed else 0


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
        return cut(value, width)
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
    if not _has(width, PAGED):
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


VERSION = 1
"""Goes up when a field is taken away or comes to mean something else."""


USAGE, UNDONE, STOPPED = "usage", "undone", "stopped"
"""The codes of a wrong command line, and of what is no error of a kind: something found
to be wrong, a part that could not be done, and what a person stopped."""


CODES: dict[type[MemtuiError], tuple[str, str]] = {
    errors.UsageError: (USAGE, ""),
    errors.SettingsError: ("settings", "see them: memtui config show"),
    errors.StoreBusyError: ("store_busy", "try again in a moment"),
    errors.StoreVersionError: ("store_too_new", "use the memtui that made it"),
    errors.StoreError: ("store", "see what is wrong: memtui doctor"),
    errors.SpoolError: ("spool", "see what is wrong: memtui doctor"),
    errors.SourceError: ("source", "see what could not be taken: memtui quarantine"),
    errors.SearchError: ("search", "make the index anew: memtui reindex"),
    errors.HooksError: ("hooks", "see them: memtui hooks status"),
    errors.VocabularyError: ("tokens", "counts are estimated meanwhile"),
    errors.ModelError: ("model", "what there is without a model stays"),
    MemtuiError: ("failed", "see what can be asked: memtui --help"),
}
"""The code of each kind of error and what helps where its own words say nothing."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Why something could not be done, or not all of it."""

    code: str
    message: str
    hint: str = ""


def problem(error: MemtuiError) -> Problem:
    """An error as a program is told of it; what stands behind a semicolon helps."""
    kinds = (kind for kind in type(error).__mro__ if kind in CODES)
    code, usual = CODES[next(kinds, MemtuiError)]
    message, _, hint = str(error).partition("; ")
    return Problem(code, message, hint or usual)


def wrapped(
    data: Any, *, tokens: int, ms: float, failing: Problem | None = None
) -> dict[str, Any]:
    """An answer in its envelope.

    Args:
        data: The answer, in JSON's own types; None where there is none.
        tokens: What the whole of it costs an agent.
        ms: How long it took.
        failing: Why it is none, or not all of it.
    """
    told = None
    if failing:
        told = {
            "code": failing.code,
            "message": failing.message,
            "hint": failing.hint,
        }
    return {
        "version": VERSION,
        "status": "error" if failing else "ok",
        "data": data,
        "error": told,
        "meta": {"tokens": tokens, "ms": round(ms)},
    }
