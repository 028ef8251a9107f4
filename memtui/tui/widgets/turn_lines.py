"""A turn laid out in lines: its day, its time, who speaks, and what is said.

Tool calls and notes of the agent's own take one line until they are unfolded. The two
cells at the left, where the cursor and matches are marked, are left to who draws.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, tzinfo

from textual.content import Content

from memtui.model.events import BOUNDARIES, Event, EventRole
from memtui.services.conversation import Turn
from memtui.tui import format
from memtui.tui.widgets import quotes, turn_text
from memtui.tui.widgets.transcript import MARKED, SIDE_BY_SIDE

MARGIN = 2
"""The cells at the left for the cursor and for matches."""


HEAD = 5 + 1 + format.SPEAKER_CELLS + 1
"""The time and the speaker, with the spaces after them, in cells."""


MEASURE = 100
"""The widest lines of text, in cells: longer ones are tiring to read."""


LONGEST = 20_000
"""How much of one turn is shown, in characters."""


FOLDED, UNFOLDED = "▸ ", "▾ "


FAILED = "✗ failed"


FOUND = f"{MARKED} bold"
"""How words that were looked for are shown; their lines have a mark, too."""


DIM = "$context"


@dataclass(frozen=True, slots=True)
class Look:
    """How turns are laid out."""

    width: int
    """In cells, the margin with them."""
    zone: tzinfo
    now: datetime = field(compare=False)
    with_thoughts: bool = False
    words: str = ""
    """What is looked for."""
    subagents: tuple[tuple[str, str], ...] = ()
    """Which calls started a subagent: their ids, and what it is called."""


@dataclass(frozen=True, slots=True, eq=False)
class Laid:
    """A turn in lines; laid out anew it is another one."""

    lines: tuple[Content, ...]
    body: int
    """Which of them is the first of the turn itself."""
    found: frozenset[int] = frozenset()
    """Which of them hold what is looked for."""
    is_found: bool = False
    """Whether the turn holds it, seen or folded away."""


def is_foldable(event: Event) -> bool:
    """Whether it takes one line until it is unfolded."""
    return event.role in (EventRole.TOOL, EventRole.SYSTEM)


def lay(turn: Turn, look: Look, *, is_unfolded: bool) -> Laid:
    """Lay a turn out."""
    lines = [*_ahead(turn, look)]
    body = len(lines)
    event = turn.event
    lines += (
        _folded(event, look, is_unfolded) if is_foldable(event) else _said(turn, look)
    )
    words = look.words.casefold()
    found = frozenset(at for at, line in enumerate(lines) if _has_mark(line))
    is_found = bool(words) and words in event.text.casefold()
    return Laid(tuple(lines), body, found, is_found)


def _has_mark(line: Content) -> bool:
    return any(span.style == FOUND for span in line.spans)


def _ahead(turn: Turn, look: Look) -> Iterator[Content]:
    """What stands before the turn itself: its day if that is new, and thoughts."""
    at = turn.event.timestamp
    on = at.astimezone(look.zone).date()
    before = turn.before_at and turn.before_at.astimezone(look.zone).date()
    blank = Content("")
    if before != on:
        if before is not None:
            yield blank
        room = max(1, look.width - MARGIN)
        words = f"── {format.day(on)} · {format.ago(at, look.now)} "
        pad = "─" * max(0, min(MEASURE + HEAD, room) - len(words))
        yield Content.styled(words + pad, DIM).truncate(room, ellipsis=True)
    if look.with_thoughts:
        for thought in turn.thoughts:
            yield blank
            text = Content.styled(thought.text.strip()[:LONGEST], f"italic {DIM}")
            yield from _beside(thought.at, "thought", text, look, dim=True)
    if not is_foldable(turn.event):
        yield blank


def _said(turn: Turn, look: Look) -> list[Content]:
    event = turn.event
    piece = _piece(format.said(event), look.words)
    text = turn_text.marked(turn_text.prose(piece.text), look.words, FOUND)
    text = _with_rest(text, piece)
    return _beside(event.timestamp, format.speaker(event), text, look)


def _piece(text: str, words: str) -> quotes.Piece:
    at = text.casefold().find(words.casefold()) if words else -1
    return quotes.piece(text, (at, at + len(words)) if at >= 0 else None, LONGEST)


def _with_rest(text: Content, piece: quotes.Piece) -> Content:
    style = f"italic {DIM}"
    if piece.left_before:
        words = f"… {format.size(piece.left_before)} before\n"
        text = Content.styled(words, style) + text
    if piece.left_after:
        words = f"\n… {format.size(piece.left_after)} more: e exports all of it"
        text += Content.styled(words, style)
    return text


def _beside(
    at: datetime, who: str, text: Content, look: Look, *, dim: bool = False
) -> list[Content]:
    time = format.clock(at, look.zone)
    room = max(1, look.width - MARGIN)
    if look.width < SIDE_BY_SIDE:
        head = Content.assemble((f"{time} ", DIM), (who, DIM if dim else "bold"))
        return [head, *text.wrap(room)]
    name = (f"{who:<{format.SPEAKER_CELLS}} ", DIM if dim else "bold")
    first, *rest = text.wrap(min(MEASURE, room - HEAD)) or [Content("")]
    blank = Content(" " * HEAD)
    head = Content.assemble((f"{time} ", DIM), name)
    return [head + first, *(blank + line for line in rest)]


def _folded(event: Event, look: Look, is_unfolded: bool) -> list[Content]:
    answer = turn_text.answer(event)
    can_open = bool(answer or turn_text.edits(event))
    sign = (UNFOLDED if is_unfolded else FOLDED) if can_open else "  "
    time, who = format.clock(event.timestamp, look.zone), format.speaker(event)
    room = max(1, look.width - MARGIN)
    is_wide = look.width >= SIDE_BY_SIDE
    name = f"{who:<{format.SPEAKER_CELLS}} " if is_wide else ""
    head = Content.styled(f"{time} {name}{sign}", DIM)
    style = "" if event.role is EventRole.TOOL else f"italic {DIM}"
    if event.event_type in BOUNDARIES:
        style = DIM
    ends = _ends(event, answer, look, is_unfolded)
    left = min(room, MEASURE + HEAD) - head.cell_length - ends.cell_length
    said = Content.styled(turn_text.call(event), style)
    said = turn_text.marked(said, look.words, FOUND)
    lines = [head + said.truncate(max(8, left), ellipsis=True) + ends]
    if is_unfolded:
        lines += _unfolded(event, answer, look)
    return lines


def _ends(event: Event, answer: str, look: Look, is_unfolded: bool) -> Content:
    """What is said at the end of a folded line: changes, failure, a subagent."""
    parts = []
    if change := turn_text.change(event):
        parts.append(Content.styled(change, DIM))
    if event.metadata.get("is_error"):
        parts.append(Content.styled(FAILED, "$error"))
    helper = dict(look.subagents).get(event.metadata.get("tool_use_id", ""))
    if helper is not None:
        parts.append(Content.styled("enter: its subagent", "$accent"))
    if not is_unfolded and look.words and look.words.casefold() in answer.casefold():
        parts.append(Content.styled("found inside", "bold $evidence"))
    return Content("").join([Content("  ") + part for part in parts])


def _unfolded(event: Event, answer: str, look: Look) -> list[Content]:
    indent = (HEAD if look.width >= SIDE_BY_SIDE else 6) + len(UNFOLDED)
    room = max(8, min(MEASURE, look.width - MARGIN - indent))
    blank = Content(" " * indent)
    whole = turn_text.call(event)
    parts = []
    if len(whole) > room:
        parts.append(turn_text.marked(Content(whole), look.words, FOUND))
    if (changed := turn_text.changed(event)) is not None:
        parts.append(changed)
    if answer:
        piece = _piece(answer, look.words)
        text = Content.styled(piece.text, DIM)
        text = turn_text.marked(text, look.words, FOUND)
        parts.append(_with_rest(text, piece))
    return [blank + line for part in parts for line in part.wrap(room)]
