"""Replies: what a tool or a command answers, written as text or as JSON.

``write_text`` and ``write_data`` give all of a reply, for people and their programs.
``fit_text`` and ``fit_json`` are for agents: they keep within a budget of tokens,
neutralize stored text, and put it in a fence. Items are added until the budget is full,
then their details; the first item that does not fit is cut to what is left. The answer
says how many more there are and how to get them.
"""

import json
import re
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from memtui.text import fencing
from memtui.text.tokens import ESTIMATOR_NAME, TokenCounter

MIN_TOKENS = 50
"""The smallest budget: an empty reply needs about this many tokens."""

DEFAULT_TOKENS = 1_000
"""The budget over MCP and HTTP unless another is given: about 4 KB of English."""

MAX_TOKENS = 100_000

Item = dict[str, Any]

MORE = "ask for more tokens"

CUT_TEXTS = "[…+N]: expand_grip ID before=0 after=0, with this text_offset, reads on"

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
        return {key: shorten_texts(field, width, key) for key, field in value.items()}
    if _UNCUT.fullmatch(name):
        return value
    if isinstance(value, str):
        return cut(value, width)
    if isinstance(value, list | tuple):
        return [shorten_texts(element, width, name) for element in value]
    return value


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer of a tool or a command: lists of items, and what is said beside them.

    ``Reply({"hits": items}, line)`` is written as a line for each item, and in JSON as
    ``{"hits": [...]}``.
    """

    lists: Mapping[str, Sequence[Item]]
    """The lists of items by their keys in JSON, in the order of the text."""
    line: Callable[[Item], str]
    """Writes an item as text, in one line or several."""
    head: Item = field(default_factory=dict)
    """Fields beside the items in JSON, the most important first."""
    head_lines: Sequence[str] = ()
    """The same as lines of text."""
    notes: Sequence[str] = ()
    """Remarks: how a date was read, that the index is missing."""
    has_more: bool = False
    """There are more items than these."""
    next_page: Callable[[int], Item] = lambda _: {}
    """Returns the JSON fields that lead on after this many items: ``next_offset``."""
    more_hint: str = ""
    """The way to further items where ``next_page`` does not lead there."""
    more_tokens: str = MORE
    """The way to a larger budget."""
    separator: str = "\n"
    has_headings: bool = False
    """The names of the lists are headings in text."""
    order: Sequence[int] = ()
    """The places of the items, the most important first; without it, as they are."""
    details: str = ""
    """The key of a list within items that is left out before whole items are."""
    multiline: str = ""
    """The key of the texts within items that keep their line breaks."""
    item_chars: int = 0
    """Texts are cut to this many characters before items are left out; 0 to leave items
    out first."""
    shorten: Callable[[Item, int], Item] = shorten_texts
    """Cuts the texts of an item to this many characters. An item that says with
    ``left_chars`` how much was cut can be read on."""
    tokens: int = 0
    """The budget unless the caller gives one; 0 for that of the tool."""
    is_stored: bool = True
    """Holds stored text, which is fenced for agents."""

    @property
    def items(self) -> list[Item]:
        """The items of all lists."""
        return [item for items in self.lists.values() for item in items]

    def count_parts(self) -> int:
        """Count what can be left out: items and their details; notes without items."""
        items = self.items
        details = (len(item.get(self.details, ())) for item in items)
        return len(items) + (sum(details) if self.details else 0) or len(self.notes)


def as_page(
    reply: Reply,
    offset: int,
    total: int,
    none: str,
    places: Sequence[int] = (),
    end: int | None = None,
    noun: str = "",
) -> Reply:
    """Return a reply as a page of a list of known length.

    Where damaged items are left out, ``places`` has the offset of each item, and
    ``end`` is that of the next page.
    """
    last = offset + len(reply.items) if end is None else end

    def next_page(count: int) -> Item:
        if count >= len(reply.items):
            place = last
        else:
            place = places[count] if places else offset + count
        return {"total": total, "next_offset": place if place < total else None}

    note = "" if reply.items else none
    if note and total and last <= offset:
        noun = noun or next(iter(reply.lists))
        note = f"The offset is past the end: there are {total:,} {noun}."
    return replace(
        reply,
        notes=[*reply.notes, *filter(None, [note])],
        next_page=next_page,
        has_more=last < total,
    )


def note_damage(reply: Reply) -> Reply:
    """Add a note if events of the store were met that cannot be read."""
    from memtui.services import status  # loaded with the workspace

    if not status.count_unreadable_events():
        return reply
    return replace(reply, notes=[*reply.notes, DAMAGED])


def empty_store() -> Reply:
    """Return the reply to any question while there is no store."""
    return Reply({"items": ()}, str, notes=(NOTHING_KEPT,), is_stored=False)


# Writing


@dataclass(frozen=True, slots=True)
class _Size:
    """The amount of a reply that is written."""

    parts: int
    """The number of items, then of details; of a reply without items, of notes."""
    head_chars: int | None = None
    """The length that the head and the notes are cut to; None for all of them."""
    item_chars: int | None = None
    """The length that the texts of items are cut to; None for whole texts."""
    last_chars: int | None = None
    """The length that the last item is cut to, to use what is left of the budget."""

    @property
    def is_bare(self) -> bool:
        """Return whether there is hardly room for anything beside the items."""
        return self.head_chars is not None and self.head_chars <= BARE_CHARS


def write_text(reply: Reply) -> str:
    return _text(reply, _Size(reply.count_parts()))


def write_data(reply: Reply) -> Item:
    return _data(reply, _Size(reply.count_parts()))


def _text(reply: Reply, size: _Size) -> str:
    lines = _notes(reply, size)
    if not size.is_bare:
        lines += [cut(line, size.head_chars) for line in reply.head_lines]
    elif size.head_chars:
        lines += [
            value for value in [*reply.head.values()][:1] if isinstance(value, str)
        ]
    lists, texts = _items(reply, size), list[str]()
    for name, items in lists.items():
        texts += [name.upper()] if reply.has_headings and items else []
        texts += map(reply.line, items)
    lines += [reply.separator.join(texts)] if texts else []
    if left_out := _left_out(reply, size, lists):
        lines.append(f"({left_out})")
    return "\n".join(lines) or "(nothing)"


def _data(reply: Reply, size: _Size) -> Item:
    lists = _items(reply, size)
    data = _head(reply, size) | lists
    if notes := _notes(reply, size):
        data["notes"] = notes
    if not size.is_bare:
        data |= reply.next_page(min(size.parts, len(reply.items)))
    if left_out := _left_out(reply, size, lists):
        data["left_out"] = left_out
    return data


def _head(reply: Reply, size: _Size) -> Item:
    """Return the head with its texts cut, and without lists that are long."""
    if size.head_chars is None:
        return dict(reply.head)
    fields = list(reply.head.items())
    if size.is_bare:
        fields = fields[:1] if size.head_chars else []
    return {
        key: shorten_texts(value, size.head_chars, key)
        for key, value in fields
        if not isinstance(value, list) or len(dumps(value)) <= size.head_chars
    }


def _notes(reply: Reply, size: _Size) -> list[str]:
    if not reply.items:
        chars = NOTE_CHARS if size.is_bare else size.head_chars
        return [cut(note, chars) for note in reply.notes[: size.parts]]
    return [] if size.is_bare else [cut(note, size.head_chars) for note in reply.notes]


def _items(reply: Reply, size: _Size) -> dict[str, list[Item]]:
    """Return the items of the first parts, with as many of their details."""
    items = reply.items
    order = reply.order or range(len(items))
    places = sorted(order[: size.parts])
    last = order[size.parts - 1] if 0 < size.parts <= len(items) else None
    # Details that match the query come first, whichever item they belong to.
    details = sorted(
        (not detail.get("is_match"), place, number)
        for place in places
        for number, detail in enumerate(items[place].get(reply.details, ()))
    )
    chosen = {detail[1:] for detail in details[: max(0, size.parts - len(items))]}
    written: dict[int, Item] = {}
    for place in places:
        item = items[place]
        if reply.details in item:
            numbered = enumerate(item[reply.details])
            kept = [detail for number, detail in numbered if (place, number) in chosen]
            item = {key: value for key, value in item.items() if key != reply.details}
            item |= {reply.details: kept} if kept else {}
        chars = size.last_chars if place == last else None
        chars = chars or size.item_chars
        written[place] = item if chars is None else reply.shorten(item, chars)
    lists, start = {}, 0
    for name, members in reply.lists.items():
        end = start + len(members)
        lists[name] = [written[place] for place in places if start <= place < end]
        start = end
    return lists


def _left_out(reply: Reply, size: _Size, lists: Mapping[str, Sequence[Item]]) -> str:
    """Say what is left out or cut and how to get it; return "" if nothing is."""
    items = [item for members in lists.values() for item in members]
    missing = len(reply.items) - len(items)
    missing_details = reply.count_parts() - size.parts if reply.items else 0
    texts = []
    if missing or reply.has_more:
        page = reply.next_page(len(items))
        token, offset = page.get("continuation_token"), page.get("next_offset")
        what = f"{missing} more" if missing else "more"
        how = reply.more_tokens if missing else reply.more_hint or reply.more_tokens
        if offset is not None:
            what = f"{page['total'] - offset:,} more of {page['total']:,}"
        if not items:
            how = reply.more_tokens
        elif token or offset is not None:
            how = f"token={token}" if token else f"offset={offset}"
        texts.append(f"{what}: {'more tokens' if size.is_bare else how}")
    elif missing_details > 0:
        texts.append(f"{missing_details} more messages: {reply.more_tokens}")
    if any("left_chars" in item for item in items) and not size.is_bare:
        texts.append(CUT_TEXTS)
    return "; ".join(texts)


def dumps(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


# Budgets


MARGIN = 1.05
"""Factor on an estimated count: 9 in 10 answers cost less."""

ASTRAL_TOKENS = 2
"""Added for each character beyond the basic plane (emoji): up to three tokens each."""

BARE_CHARS = 10
"""With a head as short as this there is hardly room for anything but the items."""

HEAD_CHARS = (300, 80, BARE_CHARS, 0)
"""The lengths that the head and the notes are cut to in turn until an item fits. At
``BARE_CHARS`` only the first field of the head is left, then nothing."""

NOTE_CHARS = 40
"""The notes of a reply without items are cut no shorter than this."""

LAST_CHARS = (400, 250, 150, 60, 40)
"""The lengths the first item that does not fit is cut to, to use the rest."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """A reply written within its budget."""

    text: str
    parts: int
    """The number of parts written."""
    chars: int | None
    """The length that the texts of its items were cut to; None if they were not."""
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
        lists=_neutral(reply.lists, reply.multiline),
        head=_neutral(reply.head),
        head_lines=_neutral(reply.head_lines),
        notes=_neutral(reply.notes),
    )

    def fits(size: _Size) -> bool:
        return cost(write(reply, size), counter) <= limit

    size = _Size(reply.count_parts())
    if not fits(size):
        size = _choose_size(reply, fits, limit)
    text = write(reply, size)
    parts = size.parts if reply.items else 0
    return Fitted(text, parts, size.item_chars or size.last_chars, cost(text, counter))


def _choose_size(reply: Reply, fits: Callable[[_Size], bool], limit: int) -> _Size:
    """Shorten what stands beside the items until one of them fits."""
    without_items = None
    for chars in HEAD_CHARS:
        if without_items and reply.items and chars <= BARE_CHARS:
            break
        size = _fill(reply, chars, fits, limit)
        if size.parts > 0:
            return size
        if size.parts == 0 and without_items is None:
            without_items = size
    return without_items or _Size(0, 0)


def _fill(
    reply: Reply, head_chars: int, fits: Callable[[_Size], bool], limit: int
) -> _Size:
    """Add parts until the budget is full; -1 if not even the head fits."""
    least = reply.item_chars or None
    most = reply.count_parts()
    if least and fits(_Size(most, head_chars, least)):
        # A token hardly ever has more than ten characters.
        chars = _largest(
            least, 10 * limit, lambda number: fits(_Size(most, head_chars, number))
        )
        return _Size(most, head_chars, chars)
    parts = _largest(0, most, lambda number: fits(_Size(number, head_chars, least)))
    size = _Size(parts, head_chars, least)
    if 0 <= parts < len(reply.items):
        for chars in LAST_CHARS:
            larger = _Size(parts + 1, head_chars, least, chars)
            if chars <= (least or chars) and fits(larger):
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
            key: _neutral(field, multiline, inside or key)
            for key, field in value.items()
        }
    if isinstance(value, list | tuple):
        return [_neutral(element, multiline, name) for element in value]
    return value
