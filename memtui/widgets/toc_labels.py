"""A line of the contents as it is drawn: name, headline, spark, count and marks."""

from dataclasses import dataclass
from datetime import tzinfo

from rich.cells import cell_len, set_cell_size
from rich.style import Style
from rich.text import Text

from memtui.memory.toc import Status, TocLevel, TocLine
from memtui.widgets import sparks, wording

COUNT_CELLS = 5
"""How wide the column of counts is, with a space: "9,999"; a segment has none."""


LEAST_CELLS = 28
"""What a headline must have left of its own, so that there is room for a spark."""


@dataclass(frozen=True, slots=True)
class Inks:
    """The colours a line is drawn in; each only repeats what a mark or place says."""

    name: Style
    quiet: Style
    wrong: Style
    live: Style


def label(
    line: TocLine, *, width: int, zone: tzinfo, is_open: bool, inks: Inks
) -> Text:
    """Draw a line of exactly this width.

    Args:
        line: What to draw.
        width: How many cells there are, the fold mark not counted.
        zone: The store's time zone.
        is_open: Whether its branch is unfolded, so that a live child speaks for itself.
        inks: The colours.
    """
    is_leaf = line.level is TocLevel.SEGMENT
    name = wording.name_of(line, zone)
    if is_leaf:
        name = f"{wording.LIVE if line.is_live else ' '} {name}"
    count = "" if is_leaf else f"{_count(line):>{COUNT_CELLS}}"
    standing, mark = _standing(line), _mark(line, is_open)
    room = width - cell_len(name) - 2 - len(count) - 3
    headline = _headline(line)
    bars = sparks.spark(line.activity)
    if bars and room - len(bars) - 2 >= min(LEAST_CELLS, cell_len(headline)):
        count = f" {bars} {count}"
        room -= len(bars) + 2
    text = Text(no_wrap=True, end="")
    text.append(name, inks.live if is_leaf and line.is_live else inks.name)
    text.append("  ")
    quiet = not is_leaf and line.level is not TocLevel.DAY
    text.append(_cut(headline, room), inks.quiet if quiet else None)
    text.append(f"{count} {standing}", inks.quiet)
    text.append(mark, _ink_of(mark, inks))
    return text


def _headline(line: TocLine) -> str:
    said = line.headline or (line.title if line.level is TocLevel.SEGMENT else "")
    if not said and line.status is Status.PENDING:
        return wording.standing(line.status)
    return said


def _count(line: TocLine) -> str:
    """How many segments there are; nothing where none is known of yet."""
    is_known = line.tally.segments or line.status is not Status.PENDING
    return wording.count(line.tally.segments) if is_known else ""


def _standing(line: TocLine) -> str:
    """Whether it is still to change, or else whether a model wrote it."""
    if line.status is Status.STALE and not line.is_pinned:
        return wording.BEHIND
    if line.status is Status.PROVISIONAL:
        return wording.PASSING
    return wording.MODELS if line.is_models else " "


def _mark(line: TocLine, is_open: bool) -> str:
    is_leaf = line.level is TocLevel.SEGMENT
    if line.is_live and not is_leaf and not is_open:
        return wording.LIVE
    return wording.verdict(line.supported, line.weak, line.bullets) if is_leaf else " "


def _ink_of(mark: str, inks: Inks) -> Style:
    if mark == wording.UNSUPPORTED:
        return inks.wrong
    return inks.live if mark == wording.LIVE else inks.quiet


def _cut(text: str, room: int) -> str:
    text = " ".join(text.split())
    if room < 1:
        return ""
    if cell_len(text) > room:
        head = set_cell_size(text, room - 1).rstrip("…")
        return set_cell_size(f"{head}…", room)
    return set_cell_size(text, room)
