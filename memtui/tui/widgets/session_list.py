"""The list of sessions, in columns.

It is as long as there are sessions, but only the pages in view are requested from the
screen; rows that have not been read yet are blank.
"""

from collections.abc import Callable
from datetime import datetime, tzinfo
from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.content import Content
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
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

LONG_WHEN = 17
"""The width of a day with its time; without the time it is narrower."""

HEADINGS = {"when": "started", "age": "", "messages": "msgs"}
"""The headings of columns that are not their names."""

NUMBERS = ("length", "messages")
"""The columns that are aligned to the right."""


def fit_columns(width: int) -> dict[str, int]:
    """Return the columns of a list with a width, and their widths, in cells."""
    is_wide = width >= 110
    columns = {
        "when": LONG_WHEN if is_wide else 11,
        "age": 13 if width >= 150 else 0,
        "agent": 11 if width >= 70 else 0,
        "project": 20 if is_wide else 12 if width >= 60 else 0,
        "title": 0,
        "length": 7 if width >= 84 else 0,
        "messages": 6 if width >= 48 else 0,
    }
    taken = sum(cells + len(SEPARATOR) for cells in columns.values() if cells)
    columns["title"] = max(width - len(MARK) - taken - 1, 8)
    return {name: cells for name, cells in columns.items() if cells}


def column_headings(width: int) -> Content:
    cells = [
        _fit(HEADINGS.get(name, name), name, cells)
        for name, cells in fit_columns(width).items()
    ]
    return Content.styled(" " * len(MARK) + SEPARATOR.join(cells), DIM)


def draw_session(
    session: Session, width: int, now: datetime, zone: tzinfo, *, is_selected: bool
) -> Content:
    columns, at = fit_columns(width), session.created_at
    day, today = at.astimezone(zone).date(), now.astimezone(zone).date()
    if columns["when"] >= LONG_WHEN:
        when = date_format.near_moment(at, now, zone)
    elif day == today:
        when = date_format.clock(at, zone)
    else:
        when = date_format.near_day(day, today)
    texts = {
        "when": when,
        "age": date_format.age(at, now),
        "agent": session.agent,
        "project": session.project,
        "title": session.title or "(untitled)",
        "length": date_format.duration(session.updated_at - at),
        "messages": format.number(session.message_count),
    }
    bright = ("project", "title") if session.title else ("project",)
    dim = DIM_SELECTED if is_selected else DIM
    cells = [
        Content.styled(_fit(texts[name], name, cells), "" if name in bright else dim)
        for name, cells in columns.items()
    ]
    mark = Content.styled(MARK, "$accent") if is_selected else Content(" " * len(MARK))
    return mark + Content(SEPARATOR).join(cells)


def _fit(text: str, name: str, cells: int) -> str:
    if name in NUMBERS:
        return f"{text:>{cells}}"
    cut = Content(" ".join(text.split())).truncate(cells, ellipsis=True)
    return cut.plain + " " * (cells - cut.cell_length)


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
        if (session := self.sessions.get(index)) is not None:
            now, zone = self._now(), self._zone
            row = draw_session(session, width, now, zone, is_selected=is_selected)
        else:
            page = index // SESSIONS_PAGE
            is_listed = index < self.total
            if is_listed and page not in self._requested:
                self._requested.add(page)
                self.post_message(
                    SessionsRequested(page * SESSIONS_PAGE, SESSIONS_PAGE)
                )
            if page not in self._errors or not is_listed:
                return Strip.blank(width, style.rich_style)
            text = f"  ✗ Could not be read, retrying: {self._errors[page]}"
            row = Content.styled(text, "$error")
        row = row.truncate(width, ellipsis=session is None)
        (strip,) = Visual.to_strips(self, row, width, 1, style, pad=True)
        return strip

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
