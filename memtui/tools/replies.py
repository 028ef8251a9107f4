"""Replies: what a tool or a command answers, written as text or as JSON.

``write_text`` and ``write_data`` give all of a reply, for people and their programs.
``fit_text`` and ``fit_json`` are for agents: they keep within a budget of tokens,
neutralize stored text, and put it in a fence. Where a budget is too small, texts are
first cut as far as the reply allows, then details and items are left out, then the rest
is cut.
"""

import json
import re
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from memtui import errors
from memtui.errors import MemtuiError
from memtui.text import fencing
from memtui.text.tokens import ESTIMATOR_NAME, TokenCounter

MIN_TOKENS = 50
"""The smallest budget: an empty reply needs about this many tokens."""

DEFAULT_TOKENS = 1_000
"""The budget over MCP and HTTP unless another is given: about 4 KB of English."""

MAX_TOKENS = 100_000

Item = dict[str, Any]

MORE = "ask for more tokens"

NOTHING_KEPT = "No conversations yet. Import past sessions: memtui import"

DAMAGED = "Some events cannot be read and are left out; memtui doctor says more."
"""The note of every reply once damaged events were met."""

NO_TOKEN = "There is no such token: this is the beginning."
NO_TIME = 'No date or time was recognized. Try "last week", "in March", "2025-03-14".'


def cut(text: str, width: int | None) -> str:
    """Cut a text to a maximum length, between two words where possible."""
    if width is None or len(text) <= width:
        return text
    start = text[: width - 1]
    whole, blank, _ = start.rpartition(" ")
    return f"{whole if blank and len(whole) > width // 2 else start}…"


_UNCUT = re.compile(
    r"(?:.*_)?(?:ids?|session|token|at|time|start|end|cite|leads_to|event_id_\w+"
    r"|verdict|level|role|band)"
)
"""The names of fields that contain ids, times and words of a fixed list."""


def shorten_texts(value: Any, width: int, name: str = "") -> Any:
    """Return a value with its texts cut; ids and times stay whole."""
    if isinstance(value, Mapping):
        return {key: shorten_texts(one, width, key) for key, one in value.items()}
    if _UNCUT.fullmatch(name):
        return value
    if isinstance(value, str):
        return cut(value, width)
    if isinstance(value, list | tuple):
        return [shorten_texts(one, width, name) for one in value]
    return value


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer of a tool or a command: items in the order shown, and notes."""

    name: str
    """The key of the list of items in JSON: ``children``, ``hits``."""
    items: Sequence[Item]
    line: Callable[[Item], str]
    """Writes an item as text, in one line or several."""
    head: Item = field(default_factory=dict)
    """Fields beside the items in JSON."""
    head_lines: Sequence[str] = ()
    """The same as lines of text."""
    notes: Sequence[str] = ()
    """Remarks: how a date was read, that the index is missing."""
    hint: str = MORE
    """A hint on getting the items that a budget left out."""
    has_more: bool = False
    """There are more items than these."""
    next_page: Callable[[int], Item] = lambda _: {}
    """Returns the JSON fields that lead on after this many items: ``next_offset``."""
    more_hint: str = ""
    """A hint on getting further items where ``next_page`` does not lead there."""
    separator: str = "\n"
    details: str = ""
    """The key of a list within items that is left out before whole items are."""
    multiline: str = ""
    """The key of the texts within items that keep their line breaks."""
    priority: Sequence[int] = ()
    """The places of the items, the most important first; without it, their order."""
    groups: Mapping[str, str] = field(default_factory=dict)
    """Several lists in JSON instead of one: their keys and headings in text."""
    group: Callable[[Item], str] = lambda _: ""
    """Returns the list of an item."""
    min_chars: int = 0
    """Texts are cut down to this many characters before items are left out; 0 to leave
    items out first."""
    shorten: Callable[[Item, int], Item] = shorten_texts
    """Cuts the texts of an item to this many characters. An item that says with
    ``left_chars`` how much was cut can be read on."""
    cut_hint: str = ""
    tokens: int = 0
    """The budget unless the caller gives one; 0 for that of the tool."""
    is_headed: bool = False
    """The head is more important than the items: they are left out before texts are cut
    to less than ``NOTE_CHARS``."""
    brief_head: Sequence[str] = ()
    """The fields of the head in JSON that are kept where the others would leave room
    for less than half of the items; the first of them is kept if it fits at all."""
    is_stored: bool = True
    """Holds stored text, which is fenced for agents."""

    @property
    def parts(self) -> int:
        """The number of parts that can be left out: items and their details."""
        details = (len(item.get(self.details, ())) for item in self.items)
        return len(self.items) + (sum(details) if self.details else 0)


def note_damage(reply: Reply) -> Reply:
    """Add a note if events of the store were met that cannot be read."""
    from memtui.store import events  # loaded with the workspace

    return replace(reply, notes=[*reply.notes, DAMAGED]) if events.unreadable else reply


def empty_store() -> Reply:
    """Return the reply to any question while there is no store."""
    return Reply("items", (), str, notes=(NOTHING_KEPT,), is_stored=False)


# Writing


WIDTHS = (600, 300, 150, 80, 40, 20, 10)
"""The lengths texts are cut to in turn, in characters, until one part fits. At the last
one the items stand alone."""

NOTE_CHARS = 80
"""The head and the notes are cut no shorter than this."""

ALONE_CHARS = 40
"""Except where there is hardly any room, no item, and the notes say why."""


@dataclass(frozen=True, slots=True)
class _Size:
    """The part of a reply that is written."""

    parts: int
    """Items, then details; of a reply without items, notes."""
    width: int | None = None
    """The length its texts are cut to; None for whole texts."""
    last_width: int | None = None
    """The length the last item is cut to, if it would not fit otherwise."""
    is_brief: bool = False
    """The head is brief, and the items are shortened, with their texts whole."""

    @property
    def is_bare(self) -> bool:
        """Return whether there is room for nothing but the items."""
        return self.width is not None and self.width <= WIDTHS[-1]


def write_text(reply: Reply) -> str:
    return _text(reply, _whole(reply))


def write_data(reply: Reply) -> Item:
    return _data(reply, _whole(reply))


def _whole(reply: Reply) -> _Size:
    return _Size(reply.parts or len(reply.notes))


def _text(reply: Reply, size: _Size) -> str:
    lines = _notes(reply, size)
    if not size.is_bare:
        lines += _cut_lines(reply.head_lines, size)
    elif size.width:
        lines += [reply.head[name] for name in reply.brief_head[:1]]
    items, group, texts = _items(reply, size), "", list[str]()
    for item in items:
        if reply.groups and reply.group(item) != group:
            group = reply.group(item)
            texts += filter(None, [reply.groups[group]])
        texts.append(reply.line(item))
    lines += [reply.separator.join(texts)] if texts else []
    if left_out := _left_out(reply, size, items):
        lines.append(f"({left_out})")
    elif not reply.items and not lines:
        lines.append("(nothing)")
    return "\n".join(lines)


def _data(reply: Reply, size: _Size) -> Item:
    data: Item = {}
    head = reply.head
    if size.is_bare or size.is_brief:
        count = None if not size.is_bare else 1 if size.width else 0
        head = {name: head[name] for name in reply.brief_head[:count]}
    data |= dict(head) if size.width is None else shorten_texts(head, size.width)
    items = _items(reply, size)
    for name in reply.groups or [reply.name]:
        data[name] = [
            one for one in items if not reply.groups or reply.group(one) == name
        ]
    if notes := _notes(reply, size):
        data["notes"] = notes
    if not size.is_bare:
        data |= reply.next_page(min(size.parts, len(reply.items)))
    if left_out := _left_out(reply, size, items, with_place=False):
        data["left_out"] = left_out
    return data


def _notes(reply: Reply, size: _Size) -> list[str]:
    notes = reply.notes if reply.items else reply.notes[: size.parts]
    if not size.is_bare:
        return _cut_lines(notes, size)
    return [] if reply.items else [cut(note, ALONE_CHARS) for note in notes]


def _cut_lines(lines: Sequence[str], size: _Size) -> list[str]:
    return [cut(line, size.width and max(size.width, NOTE_CHARS)) for line in lines]


def _items(reply: Reply, size: _Size) -> list[Item]:
    """Return the items of the first parts, with as many of their details."""
    order = reply.priority or range(len(reply.items))
    places = sorted(order[: size.parts])
    last = order[size.parts - 1] if 0 < size.parts <= len(order) else None
    room = max(0, size.parts - len(reply.items))
    # What matches the query comes first, whichever item it belongs to.
    details = sorted(
        (not detail.get("is_match"), place, number)
        for place in places
        for number, detail in enumerate(reply.items[place].get(reply.details, ()))
    )
    chosen = {(place, number) for _, place, number in details[:room]}
    items = []
    for place in places:
        item = reply.items[place]
        if reply.details in item:
            some = enumerate(item[reply.details])
            selected = [detail for number, detail in some if (place, number) in chosen]
            item = {key: value for key, value in item.items() if key != reply.details}
            item |= {reply.details: selected} if selected else {}
        width = size.last_width if size.last_width and place == last else size.width
        if size.is_brief and width is None:
            width = len(dumps(item))
        items.append(item if width is None else reply.shorten(item, width))
    return items


def _left_out(
    reply: Reply, size: _Size, items: Sequence[Item], *, with_place: bool = True
) -> str:
    """Say what is left out or cut and how to get it; return "" where nothing is.

    The place to go on from is left to the fields of JSON if not ``with_place``.
    """
    missing, missing_parts = len(reply.items) - len(items), reply.parts - size.parts
    cut_texts = sum("left_chars" in item for item in items)
    is_all = missing_parts <= 0 or not reply.items
    if is_all and not reply.has_more:
        if size.is_brief:
            return f"fields are left out: {reply.hint}"
        if size.is_bare or not cut_texts:
            return ""
        count = f"{cut_texts} texts are" if cut_texts > 1 else "a text is"
        return f"{count} cut: {reply.cut_hint}"
    what = "more"
    if missing > 0:
        what = f"{missing} left out"
    elif missing_parts > 0:
        what = f"{missing_parts} messages left out"
    if size.is_bare:
        return f"{what}: more tokens"
    page = reply.next_page(min(size.parts, len(reply.items)))
    token, offset = page.get("continuation_token"), page.get("next_offset")
    if offset is not None and "total" in page:
        rest, total = f"{page['total'] - offset:,}", f"of {page['total']:,}"
        what = f"{rest} {total} left out" if missing > 0 else f"{rest} more {total}"
    hint = reply.hint if missing_parts > 0 else reply.more_hint or reply.hint
    if not size.parts and reply.items:
        hint = MORE
    elif (missing > 0 or reply.has_more) and (token or offset is not None):
        place = f"token {token}" if token else f"offset {offset}"
        hint = f"continue with {place}" if with_place else "continue there"
    also = f"; {cut_texts} cut: {reply.cut_hint}" if cut_texts else ""
    return f"{what}: {hint}{also}"


def dumps(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


# Budgets


MARGIN = 1.05
"""Factor on an estimated count: 9 in 10 answers cost less."""

ASTRAL_TOKENS = 2
"""Added for each character beyond the basic plane (emoji): up to three tokens each."""

LAST_WIDTHS = (400, 250, 150, 60, 40)
"""The lengths the first item that does not fit is cut to, to use the rest."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """A reply written within its budget."""

    text: str
    parts: int
    """The number of parts written."""
    width: int | None
    """The length its texts were cut to; None if they were not."""
    tokens: int
    """The cost: counted, or estimated with a margin."""


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
    """Write a reply as text within a budget of tokens, stored text in a fence."""
    nonce = nonce or fencing.new_nonce()

    def write(reply: Reply, size: _Size) -> str:
        body = _text(reply, size)
        return fencing.fence(body, nonce) if reply.is_stored else body

    return _fit(reply, limit, counter, write)


def fit_json(
    reply: Reply, limit: int, counter: TokenCounter, wrap: Callable[[Item], Item]
) -> Fitted:
    """Write a reply as JSON within a budget of tokens, with the notice on quotes.

    The budget is for the object that ``wrap`` puts the data into.
    """

    def write(reply: Reply, size: _Size) -> str:
        data = _data(reply, size)
        if reply.is_stored and not size.is_bare:
            data = {"notice": fencing.NOTICE, **data}
        elif reply.is_stored and reply.items and size.parts:
            data = {"notice": fencing.SHORT_NOTICE, **data}
        return dumps(wrap(data))

    return _fit(reply, limit, counter, write)


def _fit(
    reply: Reply,
    limit: int,
    counter: TokenCounter,
    write: Callable[[Reply, _Size], str],
) -> Fitted:
    limit = max(MIN_TOKENS, min(limit, MAX_TOKENS))
    reply = replace(
        reply,
        items=[_neutral(item, reply.multiline) for item in reply.items],
        head=_neutral(reply.head),
        head_lines=_neutral(reply.head_lines),
        notes=_neutral(reply.notes),
    )

    def fits(size: _Size) -> bool:
        return cost(write(reply, size), counter) <= limit

    size = _choose_size(reply, fits, limit)
    text = write(reply, size)
    parts = size.parts if reply.items else 0
    return Fitted(text, parts, size.width, cost(text, counter))


def _choose_size(reply: Reply, fits: Callable[[_Size], bool], limit: int) -> _Size:
    size = _choose_cut(reply, fits, limit)
    if reply.brief_head and (size.is_bare or size.parts < reply.parts):

        def fits_briefly(size: _Size) -> bool:
            return fits(replace(size, is_brief=True))

        brief = _choose_cut(reply, fits_briefly, limit)
        if size.is_bare or brief.parts >= 2 * size.parts:
            return replace(brief, is_brief=True)
    return size


def _choose_cut(reply: Reply, fits: Callable[[_Size], bool], limit: int) -> _Size:
    whole, least = _whole(reply), reply.min_chars
    if fits(whole):
        return whole
    if least and fits(_Size(whole.parts, least)):
        # A token hardly ever has more than ten characters.
        longest = 10 * limit
        chars = _largest(least, longest, lambda n: fits(_Size(whole.parts, n)))
        return _Size(whole.parts, chars)

    def most_parts(width: int | None) -> int:
        return _largest(0, whole.parts, lambda n: fits(_Size(n, width)))

    frame = None
    widths = [least or None, *(one for one in WIDTHS if one < (least or 1_000))]
    for width in widths:
        found = most_parts(width)
        is_cut_off = reply.is_headed and width is not None and width < NOTE_CHARS
        if found > 0 and not (frame and is_cut_off):
            return _fill_up(reply, _Size(found, width), fits)
        if found == 0 and frame is None:
            frame = _Size(0, width)
    bare = _Size(0, WIDTHS[-1])
    return frame or (bare if fits(bare) else _Size(0, 0))


def _fill_up(reply: Reply, size: _Size, fits: Callable[[_Size], bool]) -> _Size:
    """Add the first item that does not fit, cut to the room that is left."""
    least = reply.min_chars if reply.is_headed else 0
    if size.parts < len(reply.items) and size.width in (None, reply.min_chars):
        for width in LAST_WIDTHS:
            larger = _Size(size.parts + 1, size.width, width)
            if least <= width <= (size.width or width) and fits(larger):
                return larger
    return size


def _largest(low: int, high: int, fits: Callable[[int], bool]) -> int:
    """Return the largest number in a range that fits; one below it if none does."""
    numbers = range(low, high + 1)
    return low - 1 + bisect_left(numbers, True, key=lambda number: not fits(number))


def _neutral(value: Any, multiline: str = "", name: str = "") -> Any:
    """Neutralize the texts of a value; those below ``multiline`` keep line breaks."""
    if isinstance(value, str):
        keeps_lines = multiline and name == multiline
        return (fencing.neutralize if keeps_lines else fencing.neutralize_line)(value)
    if isinstance(value, Mapping):
        inside = name if multiline and name == multiline else ""
        return {
            key: _neutral(one, multiline, inside or key) for key, one in value.items()
        }
    if isinstance(value, list | tuple):
        return [_neutral(one, multiline, name) for one in value]
    return value


# Errors and the envelope of JSON answers


VERSION = 1
"""The version of the envelope; rises when a field is removed or changes its meaning."""

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
class ErrorInfo:
    """Why something could not be done, or not all of it."""

    code: str
    message: str
    hint: str = ""


def error_info(error: MemtuiError) -> ErrorInfo:
    """Describe an error to a program; its message has the hint after a semicolon."""
    kinds = (kind for kind in type(error).__mro__ if kind in CODES)
    code, usual = CODES[next(kinds, MemtuiError)]
    message, _, hint = str(error).partition("; ")
    return ErrorInfo(code, message, hint or usual)


def envelope(
    data: Any, *, ms: float = 0, error: ErrorInfo | None = None
) -> dict[str, Any]:
    """Put an answer into its envelope, which has no number of tokens yet.

    The error says why there is no answer, or only a part of it.
    """
    return {
        "version": VERSION,
        "status": "error" if error else "ok",
        "data": data,
        "error": asdict(error) if error else None,
        "meta": {"tokens": 0, "ms": round(ms)},
    }


def write_envelope(envelope: dict[str, Any], counter: TokenCounter) -> str:
    """Write an envelope as JSON, with what all of it costs an agent."""
    envelope["meta"]["tokens"] = cost(dumps(envelope), counter)
    return dumps(envelope)
