"""The list of sessions, in columns.

It is as long as there are sessions, but only the pages in view are requested from the
screen; rows that have not been read yet are blank.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.content import Content
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.style import Style
from textual.visual import Visual

from memtui.model.sessions import Session
from memtui.services.sessions import SessionRange
from memtui.text import date_format
from memtui.tui import commands, format
from memtui.tui.messages import SessionRequested, SessionsRequested

SESSIONS_PAGE = 200
"""The number of sessions read at once."""

MARK = "▸ "
"""Before the row under the cursor; two spaces before all others."""

DIM = "$context"

DIM_SELECTED = "$footer-foreground"
"""The dim color on the brighter background of the cursor."""

SEPARATOR = "  "
UNTITLED = "(untitled)"

WHEN, LONG_WHEN, AGE, LENGTH, MESSAGES = 11, 17, 13, 7, 6
"""Widths in cells: "Thu 18 Jan", with the time, "11 months ago", "3h 56m", "12,345"."""


@dataclass(frozen=True, slots=True)
class SessionColumns:
    """The widths of the columns in cells; 0 for a column that is not shown."""

    when: int
    age: int
    agent: int
    project: int
    title: int
    length: int
    messages: int


def fit_columns(width: int) -> SessionColumns:
    """Return the columns of a list with a width in cells."""
    is_wide, is_very_wide = width >= 110, width >= 150
    when = LONG_WHEN if is_wide else WHEN
    age = AGE if is_very_wide else 0
    agent = 11 if width >= 70 else 0
    project = 20 if is_wide else 12 if width >= 60 else 0
    length = LENGTH if width >= 84 else 0
    messages = MESSAGES if width >= 48 else 0
    others = [when, age, agent, project, length, messages]
    taken = sum(cells + len(SEPARATOR) for cells in others if cells)
    title = max(width - len(MARK) - taken - 1, 8)
    return SessionColumns(when, age, agent, project, title, length, messages)


def column_headings(columns: SessionColumns) -> Content:
    cells = [
        _left("started", columns.when),
        _left("", columns.age),
        _left("agent", columns.agent),
        _left("project", columns.project),
        _left("title", columns.title),
        _right("length", columns.length),
        _right("msgs", columns.messages),
    ]
    text = SEPARATOR.join(cell for cell in cells if cell)
    return Content.styled(" " * len(MARK) + text, DIM)


def draw_session(
    session: Session,
    columns: SessionColumns,
    now: datetime,
    zone: tzinfo,
    *,
    is_selected: bool,
) -> Content:
    dim = DIM_SELECTED if is_selected else DIM
    when = _when(session.created_at, now, zone, columns.when)
    length = date_format.duration(session.updated_at - session.created_at)
    parts = [
        (_left(when, columns.when), dim),
        (_left(date_format.age(session.created_at, now), columns.age), dim),
        (_left(session.agent, columns.agent), dim),
        (_left(session.project, columns.project), ""),
        (_left(session.title or UNTITLED, columns.title), "" if session.title else dim),
        (_right(length, columns.length), dim),
        (_right(format.number(session.message_count), columns.messages), dim),
    ]
    cells = [Content.styled(text, style) for text, style in parts if text]
    mark = Content.styled(MARK, "$accent") if is_selected else Content(" " * len(MARK))
    return mark + Content(SEPARATOR).join(cells)


def _when(at: datetime, now: datetime, zone: tzinfo, cells: int) -> str:
    """Format when a session began, as completely as fits."""
    if cells >= LONG_WHEN:
        return date_format.near_moment(at, now, zone)
    day, today = at.astimezone(zone).date(), now.astimezone(zone).date()
    if day == today:
        return date_format.clock(at, zone)
    return date_format.near_day(day, today)


def _left(text: str, cells: int) -> str:
    if not cells:
        return ""
    cut = Content(" ".join(text.split())).truncate(cells, ellipsis=True)
    return cut.plain + " " * (cells - cut.cell_length)


def _right(text: str, cells: int) -> str:
    return f"{text:>{cells}}" if cells else ""


class SessionList(ScrollView, can_focus=True, inherit_bindings=False):
    """Moves a cursor through the sessions."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"session-list--cursor"}
    BINDINGS: ClassVar[list[BindingType]] = commands.bindings(
        "first", "last", "cursor_up", "cursor_down", "page_up", "page_down",
        open="Read this session.",
    )  # fmt: skip
    HELP_TITLE = "In the list of sessions"

    def __init__(self, zone: tzinfo, now: Callable[[], datetime]) -> None:
        super().__init__(id="sessions")
        self._zone, self._now = zone, now
        self.sessions: dict[int, Session] = {}
        """The sessions that have been read, by their index in the list."""
        self.total = 0
        self.cursor = 0
        self._requested: set[int] = set()
        """The pages that have been requested."""
        self._errors: dict[int, str] = {}
        """Why pages could not be read."""
        self._is_outdated, self._opens_when_current = True, False

    @property
    def current(self) -> Session | None:
        """The session under the cursor, None if it has not been read."""
        return self.sessions.get(self.cursor)

    def show(self, loaded: SessionRange, *, is_reload: bool, shift: int = 0) -> None:
        """Show sessions that have been read.

        Args:
            loaded: The sessions.
            is_reload: Whether they replace all others. Cursor and scroll position then
                stay on the same session.
            shift: How many rows further down the sessions are now.
        """
        top = self.scroll_offset.y
        if is_reload:
            self.sessions, self._requested, self._errors = {}, set(), {}
            self.cursor += shift
        self.total = loaded.total
        self.cursor = max(0, min(self.cursor, self.total - 1))
        self.sessions |= dict(enumerate(loaded.sessions, loaded.offset))
        self.virtual_size = Size(self.scrollable_content_region.width, self.total)
        if is_reload:
            self.scroll_to(y=max(0, top + shift), animate=False)
            if self._opens_when_current:
                self.call_later(self.action_open)
            self.mark_current()
        self.refresh()

    def mark_current(self) -> None:
        """Note that the list is up to date, so that sessions can be opened."""
        self._is_outdated = self._opens_when_current = False

    def show_error(self, offset: int, reason: str) -> None:
        """Show in its rows why a page could not be read."""
        self._errors[offset // SESSIONS_PAGE] = reason
        self.refresh()

    def retry_failed(self) -> None:
        """Request the pages in view that could not be read again."""
        self._requested -= {*self._errors}
        self.refresh()

    def request_again(self, offset: int) -> None:
        """Request a page again if it is in view."""
        self._requested.discard(offset // SESSIONS_PAGE)
        self.refresh()

    def reset(self) -> None:
        """Go to the first row and wait for another list."""
        self.cursor = 0
        self._is_outdated, self._opens_when_current = True, False
        self.scroll_to(y=0, animate=False)

    # Drawing

    def render_line(self, y: int) -> Strip:
        """Draw a row, or request its page."""
        width = max(1, self.scrollable_content_region.width)
        index = y + self.scroll_offset.y
        style = self.visual_style
        is_selected = index == self.cursor and self.total > 0
        if is_selected:
            style += self.get_visual_style("session-list--cursor")
        session = self.sessions.get(index)
        if session is None:
            self._request(index)
            return self._draw_unread(index, width, style)
        columns = fit_columns(width)
        row = draw_session(
            session, columns, self._now(), self._zone, is_selected=is_selected
        )
        return self._to_strip(row.truncate(width), width, style)

    def _draw_unread(self, index: int, width: int, style: Style) -> Strip:
        reason = self._errors.get(index // SESSIONS_PAGE)
        if reason is None or index >= self.total:
            return Strip.blank(width, style.rich_style)
        text = Content.styled(f"  ✗ Could not be read, retrying: {reason}", "$error")
        return self._to_strip(text.truncate(width, ellipsis=True), width, style)

    def _to_strip(self, line: Content, width: int, style: Style) -> Strip:
        (strip,) = Visual.to_strips(self, line, width, 1, style, pad=True)
        return strip

    def _request(self, index: int) -> None:
        page = index // SESSIONS_PAGE
        if index < self.total and page not in self._requested:
            self._requested.add(page)
            self.post_message(SessionsRequested(page * SESSIONS_PAGE, SESSIONS_PAGE))

    # Keys and mouse

    def _move(self, index: int) -> None:
        self._opens_when_current = False
        if not self.total:
            return
        self.cursor = max(0, min(index, self.total - 1))
        top, height = self.scroll_offset.y, max(1, self.size.height)
        if self.cursor < top:
            self.scroll_to(y=self.cursor, animate=False)
        elif self.cursor >= top + height:
            self.scroll_to(y=self.cursor - height + 1, animate=False)
        self.refresh()

    async def _on_click(self, event: events.Click) -> None:
        """Move the cursor there, or open the row it is on already."""
        index = event.y + self.scroll_offset.y
        if index == self.cursor:
            self.action_open()
        elif index < self.total:
            self._move(index)

    def action_open(self) -> None:
        """Read the session, once the list is up to date."""
        self._opens_when_current = self._is_outdated
        if not self._is_outdated and (session := self.current) is not None:
            self.post_message(SessionRequested(session.agent, session.session_id))

    def action_cursor_down(self) -> None:
        self._move(self.cursor + 1)

    def action_cursor_up(self) -> None:
        self._move(self.cursor - 1)

    def action_page_down(self) -> None:
        self._move(self.cursor + max(1, self.size.height - 1))

    def action_page_up(self) -> None:
        self._move(self.cursor - max(1, self.size.height - 1))

    def action_first(self) -> None:
        self._move(0)

    def action_last(self) -> None:
        self._move(self.total - 1)
