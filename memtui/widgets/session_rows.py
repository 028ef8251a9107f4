"""A line of the list of sessions: columns that give way as it gets narrower.

What a title or a project says is cut, never wrapped; it is ``Content``, never markup.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo

from textual.content import Content

from memtui.memory.sessions import Session
from memtui.widgets import wording

MARK = "▸ "
"""What stands before the line the cursor is on; two spaces before all others."""

DIM = "$context"

DIM_CHOSEN = "$footer-foreground"
"""What is dim where the cursor is: its background is brighter."""

APART = "  "

UNTITLED = "(without a title)"


@dataclass(frozen=True, slots=True)
class Columns:
    """How wide each column is, in cells; 0 where there is no room for it."""

    when: int
    ago: int
    agent: int
    project: int
    title: int
    length: int
    messages: int


WHEN, LONG_WHEN, AGO, MESSAGES, LENGTH = 11, 17, 13, 6, 7
"""Their widths in cells: "Thu 18 Jan", with the time, "11 months ago", "12,345"."""


def columns(width: int) -> Columns:
    """The columns of a list that is so many cells wide."""
    is_wide, is_roomy = width >= 110, width >= 150
    when = LONG_WHEN if is_wide else WHEN
    ago = AGO if is_roomy else 0
    agent = 11 if width >= 70 else 0
    project = 20 if is_wide else 12 if width >= 60 else 0
    length = LENGTH if width >= 84 else 0
    messages = MESSAGES if width >= 48 else 0
    taken = [when, ago, agent, project, length, messages]
    room = width - len(MARK) - sum(part + len(APART) for part in taken if part) - 1
    return Columns(when, ago, agent, project, max(room, 8), length, messages)


def head(of: Columns) -> Content:
    """What the columns are called."""
    cells = [
        _left("started", of.when),
        _left("", of.ago),
        _left("agent", of.agent),
        _left("project", of.project),
        _left("title", of.title),
        _right("length", of.length),
        _right("said" if of.messages else "", of.messages),
    ]
    return Content.styled(" " * len(MARK) + APART.join(c for c in cells if c), DIM)


def row(
    one: Session, of: Columns, now: datetime, zone: tzinfo, *, is_chosen: bool
) -> Content:
    """A session in one line."""
    dim = DIM_CHOSEN if is_chosen else DIM
    title = one.title or UNTITLED
    parts = [
        (_left(when(one.created_at, now, zone, of.when), of.when), dim),
        (_left(wording.ago(one.created_at, now), of.ago), dim),
        (_left(one.agent, of.agent), dim),
        (_left(one.project, of.project), ""),
        (_left(title, of.title), "" if one.title else dim),
        (_right(lasted(one.updated_at - one.created_at), of.length), dim),
        (_right(wording.count(one.message_count), of.messages), dim),
    ]
    cells = [Content.styled(text, style) for text, style in parts if text]
    mark = Content.styled(MARK, "$accent") if is_chosen else Content(" " * len(MARK))
    return mark + Content(APART).join(cells)


def when(at: datetime, now: datetime, zone: tzinfo, cells: int) -> str:
    """When a session began, as fully as there is room for."""
    here, today = at.astimezone(zone), now.astimezone(zone).date()
    day = wording.near_day(here.date(), today)
    if cells >= LONG_WHEN:
        return f"{day} {here:%H:%M}"
    return f"{here:%H:%M}" if here.date() == today else day


def lasted(length: timedelta) -> str:
    """How long a session was, in its two largest units."""
    minutes = int(length.total_seconds() // 60)
    hours, days = minutes // 60, minutes // (24 * 60)
    if days:
        return f"{days} d" if days > 9 else f"{days} d {hours % 24} h"
    if hours:
        return f"{hours} h {minutes % 60:02}"
    return f"{minutes} min"


def _left(text: str, cells: int) -> str:
    if not cells:
        return ""
    cut = Content(" ".join(text.split())).truncate(cells, ellipsis=True)
    return cut.plain + " " * (cells - cut.cell_length)


def _right(text: str, cells: int) -> str:
    return f"{text:>{cells}}"[-max(cells, len(text)) :] if cells else ""
