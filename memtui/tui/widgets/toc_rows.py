"""The rows of the contents, drawn in columns."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import date, tzinfo

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text

from memtui.model.calendar import TocLevel
from memtui.model.nodes import DaySession, NodeStatus, TocEntry
from memtui.services.branches import NodeRow
from memtui.text import date_format
from memtui.tui import format
from memtui.tui.widgets.text_block import fit


@dataclass(frozen=True, slots=True)
class NoteRow:
    """The row of a branch that is being read or could not be read."""

    text: str


TocRow = NodeRow | NoteRow

COUNT_WIDTH = 5
"""The width of the column of counts with a space: "9,999"."""

MIN_HEADLINE = 28
"""The cells that a headline keeps before a sparkline gets any."""

BARS, EMPTY_BAR = "▁▂▃▄▅▆▇█", "·"

ColorOf = Callable[[str], Style]
"""Returns the style of a component class of the tree; each style only repeats what a
mark or a place says."""


def draw_line(
    line: TocEntry,
    *,
    width: int,
    zone: tzinfo,
    today: date,
    is_expanded: bool,
    color: ColorOf,
) -> Text:
    """Draw a node in a number of cells, the expand mark not included.

    All cells are filled. The rows below an expanded node say more than its headline.
    """
    is_segment = line.level is TocLevel.SEGMENT
    name = format.tree_label(line, zone, today)
    headline, count, mark = line.headline, "", " "
    if is_segment:
        name = f"{format.LIVE if line.is_live else ' '} {name}"
        headline = headline or line.title
        mark = format.node_mark(line)
    else:
        is_known = line.sessions or line.status is not NodeStatus.PENDING
        number = f"{line.sessions:,}" if is_known else ""
        count = f"{number:>{COUNT_WIDTH}}"
        mark = format.LIVE if line.is_live and not is_expanded else " "
    if not headline and line.status is NodeStatus.PENDING:
        headline = format.status_text(line.status)
    if is_expanded:
        headline = ""
    room = width - cell_len(name) - 2 - len(count) - 3
    bars = sparkline(line.activity)
    if bars and room - len(bars) - 2 >= min(MIN_HEADLINE, cell_len(headline)):
        count = f" {bars} {count}"
        room -= len(bars) + 2
    quiet, live = color("toc--quiet"), color("toc--live")
    text = Text(no_wrap=True, end="")
    text.append(name, live if is_segment and line.is_live else color("toc--name"))
    text.append("  ")
    has_own_text = line.level in (TocLevel.DAY, TocLevel.SEGMENT)
    text.append(fit(headline, room), None if has_own_text else quiet)
    text.append(f"{count} {_author_mark(line)}", quiet)
    text.append(mark, _mark_style(mark, color))
    text.truncate(width)
    return text


def draw_session(
    session: DaySession,
    *,
    width: int,
    zone: tzinfo,
    is_expanded: bool,
    has_projects: bool,
    color: ColorOf,
) -> Text:
    """Draw a session of a day in a number of cells, the expand mark not included.

    The name begins at the left, and the state ends at the right edge. Time and project
    stand between them where the complete name leaves room. A state that asks for
    nothing gives way to a name that is complete without it.
    """
    segments = session.segments
    is_live, only = session.is_live, session.only_segment
    lead, mark = "", format.LIVE if is_live and not is_expanded else ""
    if only is not None:
        lead = f"{format.LIVE if is_live else ' '} "
        mark = ""
    mark = _worst([format.node_mark(one) for one in segments], _VERDICTS) or mark
    author = _worst([_author_mark(one) for one in segments], _AUTHORS)
    marks = f"  {author}{mark}" if author or mark else ""
    is_pending = all(one.status is NodeStatus.PENDING for one in segments)
    waiting = format.status_text(NodeStatus.PENDING) if is_pending else ""
    name = " ".join((session.name or waiting).split())
    gap = " " if marks else "  "
    state = f"{gap}{session.state}" if session.state else ""
    room = width - len(lead) - len(state) - len(marks)
    if session.state in _SETTLED and room < cell_len(name) <= room + len(state):
        room, state = room + len(state), ""
    time = f"  {date_format.clock(session.start_time, zone)}"
    project = f"  {session.project}" if has_projects and session.project else ""
    left = room - cell_len(name)
    between = next(
        (one for one in (f"{project}{time}", time) if cell_len(one) <= left), ""
    )
    quiet, live = color("toc--quiet"), color("toc--live")
    text = Text(no_wrap=True, end="")
    text.append(lead, live)
    text.append(fit(name, room - cell_len(between)), live if is_live else None)
    text.append(between, quiet)
    text.append(marks[: len(marks) - len(mark)], quiet)
    text.append(mark, _mark_style(mark, color))
    style = {"failed": color("toc--wrong"), "open": None, "abandoned": None}
    text.append(state, style.get(session.state, quiet))
    text.truncate(width)
    return text


_SETTLED = ("done", "answered", "pushed", "merged")
"""The states of work that nothing is left of."""

_VERDICTS = (format.UNSUPPORTED, format.WEAK, format.SUPPORTED)
_AUTHORS = (format.STALE, format.PROVISIONAL, format.BY_MODEL)


def _worst(marks: Collection[str], ranked: Sequence[str]) -> str:
    """Return the first of the ranked marks that is among some; "" if none is."""
    return next((mark for mark in ranked if mark in marks), "")


def _author_mark(line: TocEntry) -> str:
    """Return the mark of a node that a model wrote, or that will change."""
    if line.status is NodeStatus.STALE and not line.is_pinned:
        return format.STALE
    if line.status is NodeStatus.PROVISIONAL:
        return format.PROVISIONAL
    return format.BY_MODEL if line.is_by_model else " "


def _mark_style(mark: str, color: ColorOf) -> Style:
    styles = {format.UNSUPPORTED: "toc--wrong", format.LIVE: "toc--live"}
    return color(styles.get(mark, "toc--quiet"))


def sparkline(counts: Sequence[int]) -> str:
    """Return a bar for each count, the highest for the largest, a dot for zero."""
    most, last = max(counts, default=0), len(BARS) - 1
    return "".join(
        BARS[min(last, count * len(BARS) // most)] if count else EMPTY_BAR
        for count in counts
    )
