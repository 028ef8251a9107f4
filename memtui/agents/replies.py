"""Replies: what a tool or a command answers, written as text or as JSON.

``write_text`` and ``write_data`` give all of a reply, for people and their programs.
``fit_text`` and ``fit_json`` are for agents: they keep within a budget of tokens, make
stored text harmless, and put it in a fence. Where a budget is too small, the details of
items are left out first, then whole items from the end, then texts are cut.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from memtui import errors
from memtui.errors import MemtuiError
from memtui.text import fencing
from memtui.text.tokens import ESTIMATOR_NAME, TokenCounter

MIN_TOKENS = 50
"""The smallest budget: an empty reply needs about this many tokens."""

DEFAULT_TOKENS = 500
"""The budget over MCP and HTTP unless another is given: about 2 KB of English."""

MAX_TOKENS = 100_000

Item = dict[str, Any]
"""A JSON object."""

MORE = "ask for more tokens"

NOTHING_KEPT = "No conversations yet. Import past sessions: memtui import"
"""The note of every reply while nothing is stored."""


def _no_page(_: int) -> Item:
    return {}


def _whole(item: Item, _: int) -> Item:
    return item


@dataclass(frozen=True, slots=True)
class Reply:
    """What a tool or a command answers: items, the most important first, and notes."""

    name: str
    """The key of the list of items in JSON: ``children``, ``hits``."""
    items: Sequence[Item]
    line: Callable[[Item], str]
    """Writes an item as text, in one line or several."""
    head: Item = field(default_factory=dict)
    """Fields that stand beside the items in JSON."""
    lead: Sequence[str] = ()
    """The same as lines of text."""
    notes: Sequence[str] = ()
    """Remarks: how a date was read, that the index is missing."""
    hint: str = MORE
    """How to get what a budget left out."""
    has_more: bool = False
    """There are more items than these."""
    next_page: Callable[[int], Item] = _no_page
    """Returns the JSON fields that lead on after this many items: ``next_offset``."""
    more_hint: str = ""
    """How to get further items where ``next_page`` does not lead there."""
    separator: str = "\n"
    details: str = ""
    """The key of a list within items that is left out before whole items are."""
    shorten: Callable[[Item, int], Item] = _whole
    """Shortens the texts of an item to this many characters, for agents."""
    is_headed: bool = False
    """The head is more important than the items."""
    is_stored: bool = True
    """Holds stored text, which is fenced for agents."""

    @property
    def parts(self) -> int:
        """The number of parts that can be left out: items and their details."""
        details = (len(item.get(self.details, ())) for item in self.items)
        return len(self.items) + (sum(details) if self.details else 0)


def empty_store() -> Reply:
    """Return the reply to any question while there is no store."""
    return Reply("items", (), str, notes=(NOTHING_KEPT,), is_stored=False)


def write_text(reply: Reply) -> str:
    """Write all of a reply as text."""
    return _text(reply, reply.parts, None)


def write_data(reply: Reply) -> Item:
    """Write all of a reply as a JSON object."""
    return _data(reply, reply.parts, None)


# Budgets


MARGIN = 1.15
"""Factor on an estimated count: 97 in 100 texts cost less."""

ASTRAL_TOKENS = 2
"""Added for each character beyond the basic plane (emoji): up to three tokens each."""

HEAD_WIDTH, NOTES_WIDTH, PAGE_WIDTH = 20, 16, 12
"""Texts cut shorter than this leave no room for the head, the notice and notes, and the
fields of the next page."""

WIDTHS = (None, 600, 300, 150, 80, 40, HEAD_WIDTH, NOTES_WIDTH, PAGE_WIDTH, 10)
"""The lengths texts are cut to in turn, in characters, until a part fits."""

NOTE_CHARS = 80
"""The head and the notes are cut no shorter than this."""

EMPTY_NOTE_CHARS = {NOTES_WIDTH: NOTE_CHARS, PAGE_WIDTH: 40, WIDTHS[-1]: 20}
"""Except where there is no item and the notes say why."""

MATCH_ONLY_CHARS = 80
"""Where texts are cut shorter than this, lists keep only what matches the query."""

ITEM_CHARS = 400
"""Texts are shortened to this many characters before items are left out."""

CHARS_PER_TOKEN = 3

_UNCUT = re.compile(r"(?:.*_)?(?:ids?|session|token|at|start|end|cite|leads_to)")
"""The names of fields that hold ids and times, which are never cut."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """A reply written within its budget."""

    text: str
    parts: int
    """How many parts it holds."""
    width: int | None
    """The length its texts were cut to; None if they were not."""
    tokens: int
    """What it costs: counted, or estimated with a margin."""


def cost(text: str, counter: TokenCounter) -> int:
    """Return what a text costs at most, in tokens."""
    count = counter.count(text)
    if counter.name != ESTIMATOR_NAME:
        return count
    astral = 0 if text.isascii() else sum(char > "\uffff" for char in text)
    return min(
        round(count * MARGIN) + ASTRAL_TOKENS * astral,
        len(text.encode("utf-8", "replace")),
    )


def fit_text(
    reply: Reply, limit: int, counter: TokenCounter, nonce: str = ""
) -> Fitted:
    """Write a reply as text within a budget, stored text in a fence.

    Args:
        reply: The reply.
        limit: The budget in tokens.
        counter: Counts tokens.
        nonce: The number of the fence; a new one by default.
    """
    nonce = nonce or fencing.new_nonce()

    def write(reply: Reply, parts: int, width: int | None) -> str:
        body = _text(reply, parts, width)
        return fencing.fence(body, nonce) if reply.is_stored else body

    return _fit(reply, limit, counter, write)


def fit_json(
    reply: Reply, limit: int, counter: TokenCounter, wrap: Callable[[Item], Item]
) -> Fitted:
    """Write a reply as JSON within a budget, with the notice that it is quoted.

    Args:
        reply: The reply.
        limit: The budget in tokens.
        counter: Counts tokens.
        wrap: Puts the data into the object that is printed, which the budget is for.
    """

    def write(reply: Reply, parts: int, width: int | None) -> str:
        return dumps(wrap(_noticed(reply, parts, width)))

    return _fit(reply, limit, counter, write)


Write = Callable[[Reply, int, int | None], str]
"""Renders a reply with a number of parts, and the maximum length of their texts."""


def _fit(reply: Reply, limit: int, counter: TokenCounter, write: Write) -> Fitted:
    limit = max(MIN_TOKENS, min(limit, MAX_TOKENS))
    reply = _harmless(reply, limit)

    def render(parts: int, width: int | None) -> str:
        return write(reply, parts, width)

    if reply.items or not reply.notes:
        least = HEAD_WIDTH if reply.is_headed else 0
        return _fit_parts(render, reply.parts, limit, counter, least)

    # Without an item the notes say why: they are cut before they are left out.
    def notes_alone(notes: int, width: int | None) -> str:
        return write(replace(reply, notes=reply.notes[: max(1, notes)]), 0, width)

    fitted = _fit_parts(notes_alone, len(reply.notes), limit, counter)
    if fitted.tokens > limit:
        bare = replace(reply, notes=())
        fitted = _fit_parts(lambda _, width: write(bare, 0, width), 0, limit, counter)
    return replace(fitted, parts=0)


def _fit_parts(
    render: Callable[[int, int | None], str],
    count: int,
    limit: int,
    counter: TokenCounter,
    least: int = 0,
) -> Fitted:
    """Render as many of the first parts as a budget holds.

    Args:
        render: Renders the reply with a number of parts; fewer are shorter.
        count: How many parts there are.
        limit: The budget in tokens.
        counter: Counts tokens.
        least: Rather than with texts cut shorter than this, write it without any part.
    """

    def fitted(parts: int, width: int | None) -> Fitted:
        text = render(parts, width)
        return Fitted(text, parts, width, cost(text, counter))

    frame = None
    for width in WIDTHS:
        parts = _most_parts(render, width, count, limit, counter)
        if parts > 0 and (frame is None or width is None or width >= least):
            return fitted(parts, width)
        if parts == 0 and frame is None:
            frame = fitted(0, width)
        if frame and not count:
            break
    return frame or fitted(0, WIDTHS[-1])


def _most_parts(
    render: Callable[[int, int | None], str],
    width: int | None,
    count: int,
    limit: int,
    counter: TokenCounter,
) -> int:
    """Return how many parts fit at a width; -1 if not even none does."""
    if cost(render(count, width), counter) <= limit:
        return count
    fits, low, high = -1, 0, count
    while low <= high:
        middle = (low + high) // 2
        if cost(render(middle, width), counter) <= limit:
            fits, low = middle, middle + 1
        else:
            high = middle - 1
    return fits


def _harmless(reply: Reply, limit: int) -> Reply:
    """Shorten the items of a reply to the budget, and neutralize all stored text."""
    chars = max(ITEM_CHARS, limit * CHARS_PER_TOKEN // max(1, len(reply.items)))
    items = [reply.shorten(item, chars) for item in reply.items]
    return replace(
        reply,
        items=[_neutral(item, reply.details) for item in items],
        head=_neutral(reply.head),
        lead=_neutral(reply.lead),
        notes=_neutral(reply.notes),
    )


def _neutral(value: Any, multiline: str = "", name: str = "") -> Any:
    """Neutralize the texts of a value; those below ``multiline`` keep line breaks."""
    if isinstance(value, str):
        is_multiline = multiline and name == multiline
        return (
            fencing.neutralize(value)
            if is_multiline
            else fencing.neutralize_line(value)
        )
    if isinstance(value, Mapping):
        inside = name if multiline and name == multiline else ""
        return {
            key: _neutral(one, multiline, inside or key) for key, one in value.items()
        }
    if isinstance(value, list | tuple):
        return [_neutral(one, multiline, name) for one in value]
    return value


def _text(reply: Reply, parts: int, width: int | None) -> str:
    lines = _notes(reply, width)
    lines += _cut_lines(reply.lead, width) if _fits(width, HEAD_WIDTH) else []
    items = [reply.line(shortened(item, width)) for item in _items(reply, parts)]
    lines += [reply.separator.join(items)] if items else []
    if left_out := _left_out(reply, parts, width):
        lines.append(f"({left_out})")
    elif not reply.items and not lines:
        lines.append("(nothing)")
    return "\n".join(lines)


def _data(reply: Reply, parts: int, width: int | None) -> Item:
    data: Item = {}
    if _fits(width, HEAD_WIDTH):
        data |= shortened(dict(reply.head), width)
    data[reply.name] = [shortened(item, width) for item in _items(reply, parts)]
    if notes := _notes(reply, width):
        data["notes"] = notes
    if _fits(width, PAGE_WIDTH):
        data |= reply.next_page(min(parts, len(reply.items)))
    if left_out := _left_out(reply, parts, width, with_place=False):
        data["left_out"] = left_out
    return data


def _noticed(reply: Reply, parts: int, width: int | None) -> Item:
    """Put the notice that text is quoted before the data."""
    data = _data(reply, parts, width)
    is_roomy = _fits(width, NOTES_WIDTH) and not _has_notes_alone(reply, width)
    if reply.is_stored and (is_roomy or parts > 0):
        notice = fencing.NOTICE if is_roomy else fencing.SHORT_NOTICE
        return {"notice": notice, **data}
    return data


def _fits(width: int | None, least: int) -> bool:
    return width is None or width >= least


def _has_notes_alone(reply: Reply, width: int | None) -> bool:
    """Tell whether there is room for nothing but notes, which say why it is empty."""
    return bool(reply.notes) and not reply.items and width in EMPTY_NOTE_CHARS


def _notes(reply: Reply, width: int | None) -> list[str]:
    if width is not None and _has_notes_alone(reply, width):
        return [cut(note, EMPTY_NOTE_CHARS[width]) for note in reply.notes]
    return _cut_lines(reply.notes, width) if _fits(width, NOTES_WIDTH) else []


def _cut_lines(lines: Sequence[str], width: int | None) -> list[str]:
    chars = None if width is None else max(width, NOTE_CHARS)
    return [cut(line, chars) for line in lines]


def _items(reply: Reply, parts: int) -> list[Item]:
    """Return the items of the first parts, with as many of their details."""
    items = list(reply.items[:parts])
    if not reply.details:
        return items
    room = max(0, parts - len(reply.items))
    in_order = sorted(
        (not detail.get("is_match"), place, number)
        for place, item in enumerate(items)
        for number, detail in enumerate(item.get(reply.details, ()))
    )
    # What matches the query comes first, whichever item it belongs to.
    chosen = {(place, number) for _, place, number in in_order[:room]}
    for place, item in enumerate(items):
        if details := item.get(reply.details):
            some = [one for n, one in enumerate(details) if (place, n) in chosen]
            rest = {key: item[key] for key in item if key != reply.details}
            items[place] = rest | ({reply.details: some} if some else {})
    return items


def _left_out(
    reply: Reply, parts: int, width: int | None, *, with_place: bool = True
) -> str:
    """Say what is left out and how to get it; return "" where nothing is.

    Args:
        reply: The reply.
        parts: With how many of its parts.
        width: The length its texts are cut to.
        with_place: Name the token or offset to go on from, which JSON has as a field.
    """
    items, all_parts = len(reply.items) - parts, reply.parts - parts
    if all_parts <= 0 and not reply.has_more:
        return ""
    if items > 0:
        what = f"{items} left out"
    else:
        what = f"{all_parts} {reply.details} left out" if all_parts > 0 else "more"
    if not _fits(width, PAGE_WIDTH):
        return f"{what}: more tokens"
    page = reply.next_page(min(parts, len(reply.items)))
    token, offset = page.get("continuation_token"), page.get("next_offset")
    if offset is not None and "total" in page:
        rest, total = f"{page['total'] - offset:,}", f"of {page['total']:,}"
        what = f"{rest} {total} left out" if items > 0 else f"{rest} more {total}"
    hint = reply.hint if all_parts > 0 else reply.more_hint or reply.hint
    if not parts and reply.items:
        hint = MORE
    elif items > 0 or reply.has_more:
        place = f"offset {offset}" if offset is not None else ""
        place = f"token {token}" if token else place
        if place:
            hint = f"go on with {place}" if with_place else "go on there"
    return f"{what}: {hint}"


def cut(text: str, width: int | None) -> str:
    """Cut a text to a maximum length, between two words where possible."""
    if width is None or len(text) <= width:
        return text
    start = text[: width - 1]
    whole, blank, _ = start.rpartition(" ")
    return f"{whole if blank and len(whole) > width // 2 else start}…"


def shortened(value: Any, width: int | None, name: str = "") -> Any:
    """Return a value with its texts cut; ids and times stay whole."""
    if width is None:
        return value
    if isinstance(value, Mapping):
        return {key: shortened(one, width, key) for key, one in value.items()}
    if _UNCUT.fullmatch(name):
        return value
    if isinstance(value, str):
        return cut(value, width)
    if isinstance(value, list | tuple):
        if width < MATCH_ONLY_CHARS:
            objects = [one for one in value if isinstance(one, Mapping)]
            matches = [one for one in objects if one.get("is_match")]
            value = matches or value
        return [shortened(one, width, name) for one in value]
    return value


def dumps(value: object) -> str:
    """Write a value as JSON without blanks."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


# Errors and the envelope of JSON answers


VERSION = 1
"""Of the envelope; rises when a field is removed or changes its meaning."""

USAGE = "usage"

CODES: dict[type[MemtuiError], tuple[str, str]] = {
    errors.UsageError: (USAGE, ""),
    errors.UnconfirmedError: ("unconfirmed", "add --yes to do it"),
    errors.SettingsError: ("settings", "see them: memtui config show"),
    errors.StoreBusyError: ("store_busy", "try again in a moment"),
    errors.StoreVersionError: ("store_too_new", "use the memtui that made it"),
    errors.StoreError: ("store", "see what is wrong: memtui doctor"),
    errors.SpoolError: ("spool", "see what is wrong: memtui doctor"),
    errors.SourceError: ("source", "see what was skipped: memtui quarantine"),
    errors.SearchError: ("search", "rebuild the index: memtui reindex"),
    errors.HooksError: ("hooks", "see them: memtui hooks status"),
    errors.VocabularyError: ("tokens", "counts are estimated until then"),
    errors.ModelError: ("model", "what needs no model still works"),
    MemtuiError: ("failed", "see the commands: memtui --help"),
}
"""The code of each kind of error, and the hint where the message has none."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Why something could not be done, or not all of it."""

    code: str
    message: str
    hint: str = ""


def problem(error: MemtuiError) -> Problem:
    """Describe an error to a program; its message has the hint after a semicolon."""
    kinds = (kind for kind in type(error).__mro__ if kind in CODES)
    code, usual = CODES[next(kinds, MemtuiError)]
    message, _, hint = str(error).partition("; ")
    return Problem(code, message, hint or usual)


def envelope(
    data: Any, *, tokens: int, ms: float, problem: Problem | None = None
) -> dict[str, Any]:
    """Put an answer into its envelope.

    Args:
        data: The answer, in JSON's own types; None where there is none.
        tokens: What all of it costs an agent.
        ms: How long it took.
        problem: Why there is no answer, or only a part of it.
    """
    error = None
    if problem:
        error = {
            "code": problem.code,
            "message": problem.message,
            "hint": problem.hint,
        }
    return {
        "version": VERSION,
        "status": "error" if problem else "ok",
        "data": data,
        "error": error,
        "meta": {"tokens": tokens, "ms": round(ms)},
    }
