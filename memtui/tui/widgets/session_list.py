"""The list of sessions: as long as there are sessions, and read only where it is seen.

A line that has not been read yet is blank; what is in sight is asked for.
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


def fit_columns(width: int) -> Columns:
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


def column_headings(of: Columns) -> Content:
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
        (_left(date_format.age(one.created_at, now), of.ago), dim),
        (_left(one.agent, of.agent), dim),
        (_left(one.project, of.project), ""),
        (_left(title, of.title), "" if one.title else dim),
        (_right(date_format.duration(one.updated_at - one.created_at), of.length), dim),
        (_right(format.number(one.message_count), of.messages), dim),
    ]
    cells = [Content.styled(text, style) for text, style in parts if text]
    mark = Content.styled(MARK, "$accent") if is_chosen else Content(" " * len(MARK))
    return mark + Content(APART).join(cells)


def when(at: datetime, now: datetime, zone: tzinfo, cells: int) -> str:
    """When a session began, as fully as there is room for."""
    if cells >= LONG_WHEN:
        return date_format.near_moment(at, now, zone)
    on, today = at.astimezone(zone).date(), now.astimezone(zone).date()
    is_today = on == today
    return date_format.clock(at, zone) if is_today else date_format.near_day(on, today)


def _left(text: str, cells: int) -> str:
    if not cells:
        return ""
    cut = Content(" ".join(text.split())).truncate(cells, ellipsis=True)
    return cut.plain + " " * (cells - cut.cell_length)


def _right(text: str, cells: int) -> str:
    return f"{text:>{cells}}"[-max(cells, len(text)) :] if cells else ""


SESSIONS_PAGE = 200
"""How many sessions are read at once."""


class SessionList(ScrollView, can_focus=True, inherit_bindings=False):
    """Moves through sessions; the title of the screen says how they are sorted."""

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
        self.total = 0
        self.cursor = 0
        self._asked: set[int] = set()
        self._failed: dict[int, str] = {}
        self._is_old, self._is_wanted = True, False

    @property
    def current(self) -> Session | None:
        """The session the cursor is on, if it has been read."""
        return self.sessions.get(self.cursor)

    def show(self, stretch: SessionRange, *, is_anew: bool, shift: int = 0) -> None:
        """Take a stretch of the list.

        Args:
            stretch: What was read.
            is_anew: Whether what was known before is out of date. The cursor stays on
                its session then, and that stays on its line of the screen.
            shift: How many lines further down the sessions stand now.
        """
        top = self.scroll_offset.y
        if is_anew:
            self.sessions, self._asked, self._failed = {}, set(), {}
            self.cursor += shift
        self.total = stretch.total
        self.cursor = max(0, min(self.cursor, self.total - 1))
        self.sessions |= dict(enumerate(stretch.sessions, stretch.offset))
        self.virtual_size = Size(self.scrollable_content_region.width, self.total)
        if is_anew:
            self.scroll_to(y=max(0, top + shift), animate=False)
            if self._is_wanted:
                self.call_later(self.action_open)
            self.mark_current()
        self.refresh()

    def mark_current(self) -> None:
        """Let what stands here be what is opened: nothing else is to come."""
        self._is_old = self._is_wanted = False

    def show_error(self, offset: int, why: str) -> None:
        """Say where it belongs that a page could not be read."""
        self._failed[offset // SESSIONS_PAGE] = why
        self.refresh()

    def retry_failed(self) -> None:
        """Ask once more for what could not be read, where it is in sight."""
        self._asked -= {*self._failed}
        self.refresh()

    def request_again(self, offset: int) -> None:
        """Ask once more for a page, where it is in sight."""
        self._asked.discard(offset // SESSIONS_PAGE)
        self.refresh()

    def reset(self) -> None:
        """Go to the first line before something else is listed."""
        self.cursor = 0
        self._is_old, self._is_wanted = True, False
        self.scroll_to(y=0, animate=False)

    def _move(self, to: int) -> None:
        self._is_wanted = False
        if not self.total:
            return
        self.cursor = max(0, min(to, self.total - 1))
        self._bring_into_sight()
        self.refresh()

    def _bring_into_sight(self) -> None:
        top, height = self.scroll_offset.y, max(1, self.size.height)
        if self.cursor < top:
            self.scroll_to(y=self.cursor, animate=False)
        elif self.cursor >= top + height:
            self.scroll_to(y=self.cursor - height + 1, animate=False)

    def render_line(self, y: int) -> Strip:
        """Draw a line, or ask for what belongs there."""
        width = max(1, self.scrollable_content_region.width)
        place = y + self.scroll_offset.y
        style = self.visual_style
        is_chosen = place == self.cursor and self.total > 0
        if is_chosen:
            style += self.get_visual_style("session-list--cursor")
        one = self.sessions.get(place)
        if one is None:
            self._ask_for(place)
            return self._unread(place, width, style)
        now, columns = self._now(), fit_columns(width)
        said = row(one, columns, now, self._zone, is_chosen=is_chosen)
        line = said.truncate(width)
        (strip,) = Visual.to_strips(self, line, width, 1, style, pad=True)
        return strip

    def _unread(self, place: int, width: int, style: Style) -> Strip:
        """A blank line; where it could not be read, why that is."""
        why = self._failed.get(place // SESSIONS_PAGE)
        if why is None or place >= self.total:
            return Strip.blank(width, style.rich_style)
        words = f"  ✗ Not read, tried again soon: {why}"
        line = Content.styled(words, "$error").truncate(width, ellipsis=True)
        (strip,) = Visual.to_strips(self, line, width, 1, style, pad=True)
        return strip

    def _ask_for(self, place: int) -> None:
        page = place // SESSIONS_PAGE
        if place < self.total and page not in self._asked:
            self._asked.add(page)
            self.post_message(SessionsRequested(page * SESSIONS_PAGE, SESSIONS_PAGE))

    async def _on_click(self, event: events.Click) -> None:
        """Put the cursor there; on the line it is on, open it."""
        place = event.y + self.scroll_offset.y
        if place == self.cursor:
            self.action_open()
        elif place < self.total:
            self._move(place)

    def action_open(self) -> None:
        """Read the session; what is still to be listed is waited for."""
        self._is_wanted = self._is_old
        if self._is_old:
            return
        one = self.current
        if one is not None:
            self.post_message(SessionRequested(one.agent, one.session_id))

    def action_cursor_down(self) -> None:
        """Move down a line."""
        self._move(self.cursor + 1)

    def action_cursor_up(self) -> None:
        """Move up a line."""
        self._move(self.cursor - 1)

    def action_page_down(self) -> None:
        """Move down a page."""
        self._move(self.cursor + max(1, self.size.height - 1))

    def action_page_up(self) -> None:
        """Move up a page."""
        self._move(self.cursor - max(1, self.size.height - 1))

    def action_first(self) -> None:
        """Go to the first session."""
        self._move(0)

    def action_last(self) -> None:
        """Go to the last session."""
        self._move(self.total - 1)
