"""The list of sessions, which can be sorted and filtered by words."""

from dataclasses import replace
from datetime import datetime, tzinfo
from functools import partial
from itertools import takewhile
from typing import ClassVar, NamedTuple

from textual import events, getters, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.visual import Visual
from textual.widgets import Input, Static

from memtui.model import calendar
from memtui.model.filters import Scope
from memtui.model.sessions import Session
from memtui.services import sessions
from memtui.services.conversation import ConversationKey
from memtui.services.sessions import SessionQuery, SessionRange
from memtui.text import date_format
from memtui.tui import commands, format, workers
from memtui.tui.messages import (
    ProgressReported,
    SessionHighlighted,
    SessionRequested,
    SessionsRequested,
)
from memtui.tui.screens.base import (
    LAYOUTS,
    NO_CONVERSATIONS,
    BaseScreen,
    FindInput,
    describe_failure,
)
from memtui.tui.screens.session_actions import ACTIONS, SESSION, SessionActions
from memtui.tui.widgets import preview
from memtui.tui.widgets.panes import PaneTitle, ScrollbarInStep
from memtui.tui.widgets.preview import Preview
from memtui.tui.widgets.text_block import mark_selected

SESSIONS_PAGE = 200
ROW_LINES = 2  # A line for a session, and one for its project and outcome.
MARK = "▸ "  # Before the row under the cursor; two spaces before all others.
SEPARATOR = "  "


class Column(NamedTuple):
    """A column of the list."""

    heading: str
    cells: int
    """Its width; 0 for the rest of the row."""
    least_width: int = 0
    """The narrowest list that has this column."""
    is_number: bool = False
    """True to align it to the right."""


COLUMNS = {
    "when": Column("started", 17),
    "age": Column("", 13, least_width=150),  # "5 days ago" needs no heading.
    "agent": Column("agent", 11, least_width=84),
    "title": Column("title", 0),
    "state": Column("state", 9, least_width=60),
    "length": Column("length", 7, least_width=84, is_number=True),
    "messages": Column("msgs", 6, least_width=48, is_number=True),
}
LEAST_TITLE = 8

DAY_CELLS = 11
"""The width of "when" without the time."""
TIME_LEAST_WIDTH = 110
"""The narrowest list that has the time."""


def fit_columns(width: int) -> dict[str, int]:
    """Return the widths of the columns that a list has room for."""
    fitted = {
        name: column.cells
        for name, column in COLUMNS.items()
        if width >= column.least_width
    }
    if width < TIME_LEAST_WIDTH:
        fitted["when"] = DAY_CELLS
    taken = sum(cells + len(SEPARATOR) for cells in fitted.values() if cells)
    fitted["title"] = max(width - len(MARK) - taken - 1, LEAST_TITLE)
    return fitted


def column_headings(width: int) -> Content:
    cells = [
        _align(COLUMNS[name].heading, name, cells)
        for name, cells in fit_columns(width).items()
    ]
    return Content.styled(" " * len(MARK) + SEPARATOR.join(cells), "$context")


def draw_session(session: Session, width: int, now: datetime, zone: tzinfo) -> Content:
    """Draw the first line of a session, without the mark of the cursor."""
    columns, at = fit_columns(width), session.created_at
    day, today = calendar.local_day(at, zone), calendar.local_day(now, zone)
    if columns["when"] > DAY_CELLS:
        when = date_format.near_moment(at, now, zone)
    elif day == today:
        when = date_format.clock(at, zone)
    else:
        when = date_format.near_day(day, today)
    texts = {
        "when": when,
        "age": date_format.near_age(at, now, zone),
        "agent": session.agent,
        "title": session.title,
        "state": session.work.state or "",
        "length": date_format.duration(session.updated_at - at),
        "messages": f"{session.message_count:,}",
    }
    cells = [
        Content.styled(
            _align(texts[name], name, cells), "" if name == "title" else "$context"
        )
        for name, cells in columns.items()
    ]
    return Content(SEPARATOR).join(cells)


def draw_outcome(session: Session, width: int) -> Content:
    """Draw the second line of a session, which starts under its title."""
    indent, columns = 0, fit_columns(width)
    for name in takewhile(lambda name: name != "title", columns):
        indent += columns[name] + len(SEPARATOR)
    outcome = " ".join(session.work.outcome.split())
    outcome = f"  → {outcome}" if outcome else ""
    text = Content(" ".join(session.project.split()))
    text += Content.styled(outcome, "$context")
    text = text.truncate(max(1, width - len(MARK) - indent - 1), ellipsis=True)
    return Content(" " * indent) + text


def _align(text: str, name: str, cells: int) -> str:
    return f"{text:>{cells}}" if COLUMNS[name].is_number else format.fit(text, cells)


class SessionList(
    ScrollView, ScrollbarInStep, workers.AppNode, can_focus=True, inherit_bindings=False
):
    """Moves a cursor through the sessions."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {"session-list--cursor"}
    BINDINGS: ClassVar[list[BindingType]] = commands.bindings(
        *commands.LINES, open="Read this session."
    )
    HELP_TITLE = "In the list of sessions"

    def __init__(self) -> None:
        super().__init__(id="sessions")
        # The sessions that have been read, by their index in the list.
        self.sessions: dict[int, Session] = {}
        self.total = 0
        self.cursor = 0
        self._requested: set[int] = set()
        self.is_outdated = True  # True until this list is loaded.
        self._opens_when_up_to_date = False

    @property
    def current(self) -> Session | None:
        return self.sessions.get(self.cursor)

    def show(self, loaded: SessionRange, *, is_reload: bool, shift: int = 0) -> None:
        """Show sessions that have been read.

        Args:
            is_reload: True if they replace all others. Cursor and scroll position then
                stay on the same session.
            shift: How many rows further down the sessions are now.
        """
        top = self.scroll_offset.y
        if is_reload:
            self.sessions, self._requested = {}, set()
            self.cursor += shift
        self.total = loaded.total
        self.cursor = max(0, min(self.cursor, self.total - 1))
        self.sessions |= dict(enumerate(loaded.sessions, loaded.offset))
        width = self.scrollable_content_region.width
        self.virtual_size = Size(width, self.total * ROW_LINES)
        if is_reload:
            self.scroll_to(y=max(0, top + shift * ROW_LINES), animate=False)
            if self._opens_when_up_to_date:
                self.call_later(self.action_open)
            self.mark_up_to_date()
        self.refresh()
        self.post_message(SessionHighlighted())

    def mark_up_to_date(self) -> None:
        """Note that the list is up to date, so that sessions can be opened."""
        self.is_outdated = self._opens_when_up_to_date = False

    def reset(self) -> None:
        """Go to the first row and wait for another list."""
        self.cursor = 0
        self.is_outdated, self._opens_when_up_to_date = True, False
        self.scroll_to(y=0, animate=False)

    # Drawing

    def render_line(self, y: int) -> Strip:
        width = max(1, self.scrollable_content_region.width)
        index, line = divmod(y + self.scroll_offset.y, ROW_LINES)
        style = self.visual_style
        is_selected = index == self.cursor and self.total > 0
        if is_selected:
            style += self.get_visual_style("session-list--cursor")
        if (session := self.sessions.get(index)) is None:
            self._request_page(index)
            return Strip.blank(width, style.rich_style)
        if line:
            row = draw_outcome(session, width)
        else:
            row = draw_session(session, width, self.now(), self.zone)
        mark = Content(" " * len(MARK))
        if is_selected and not line:
            mark = Content.styled(MARK, "$accent")
        row = mark + row
        row = (mark_selected(row) if is_selected else row).truncate(width)
        (strip,) = Visual.to_strips(self, row, width, 1, style, pad=True)
        return strip

    def _request_page(self, index: int) -> None:
        page = index // SESSIONS_PAGE
        if index < self.total and page not in self._requested:
            self._requested.add(page)
            self.post_message(SessionsRequested(page * SESSIONS_PAGE, SESSIONS_PAGE))

    # Keys and mouse

    @property
    def _page_rows(self) -> int:
        return max(1, self.size.height // ROW_LINES - 1)

    def _move(self, index: int) -> None:
        self._opens_when_up_to_date = False
        if not self.total:
            return
        self.cursor = max(0, min(index, self.total - 1))
        self._show_cursor()
        self.refresh()
        self.post_message(SessionHighlighted())

    def on_resize(self) -> None:
        self._show_cursor()

    def _show_cursor(self) -> None:
        first = self.cursor * ROW_LINES
        below = first + ROW_LINES - self.size.height
        if first < self.scroll_offset.y:
            self.scroll_to(y=first, animate=False)
        elif below > self.scroll_offset.y:
            self.scroll_to(y=below, animate=False)

    def on_click(self, event: events.Click) -> None:
        index = (event.y + self.scroll_offset.y) // ROW_LINES
        if index == self.cursor:
            self.action_open()
        elif index < self.total:
            self._move(index)

    def action_open(self) -> None:
        """Read the session, once the list is up to date."""
        self._opens_when_up_to_date = self.is_outdated
        if not self.is_outdated and (session := self.current) is not None:
            self.post_message(SessionRequested(session.agent, session.session_id))

    def action_cursor_down(self) -> None:
        self._move(self.cursor + 1)

    def action_cursor_up(self) -> None:
        self._move(self.cursor - 1)

    def action_page_down(self) -> None:
        self._move(self.cursor + self._page_rows)

    def action_page_up(self) -> None:
        self._move(self.cursor - self._page_rows)

    def action_half_page_down(self) -> None:
        self._move(self.cursor + max(1, self._page_rows // 2))

    def action_half_page_up(self) -> None:
        self._move(self.cursor - max(1, self._page_rows // 2))

    def action_first(self) -> None:
        self._move(0)

    def action_last(self) -> None:
        self._move(self.total - 1)


NO_MATCH = "No session matches {filter}.\n\nPress esc to show all sessions."


class SessionsScreen(SessionActions[None], BaseScreen[None]):
    """Loads the list page by page, as it is scrolled."""

    AUTO_FOCUS = ""
    HORIZONTAL_BREAKPOINTS = LAYOUTS
    FILTERS_BY_SCOPE = True
    BINDINGS: ClassVar[list[BindingType]] = [
        *commands.bindings(
            "sort",
            in_footer=True,
            find_here="Filter the list by words, or as in a search: state:open.",
            back="Clear the filter, or leave the list.",
        ),
        *commands.bindings(
            "next_pane",
            "previous_pane",
            *ACTIONS,
            copy="Copy the name of this session, and how to find it.",
        ),
    ]

    _list = getters.query_one(SessionList)
    _input = getters.query_one(FindInput)

    def __init__(self, scope: Scope) -> None:
        super().__init__()
        self.listing = SessionQuery(of=scope)

    def compose_body(self) -> ComposeResult:
        yield PaneTitle("Sessions")
        with Horizontal(id="finding"):
            yield Static("/", id="slash", markup=False)
            yield FindInput("title, project or agent; state:open, project:shop")
        with Horizontal(id="panes"):
            with Vertical(id="list-pane"):
                yield Static(id="columns", markup=False)
                yield SessionList()
            yield Preview()
        yield Static(id="nothing", markup=False)

    def on_mount(self) -> None:
        self._list.focus()
        self.reload()

    def on_resize(self) -> None:
        self.set_class(self.size.width >= preview.LEAST_WIDTH, "-with-preview")
        self.call_after_refresh(self._show_headings)

    def _show_headings(self) -> None:
        headings = column_headings(self._list.scrollable_content_region.width)
        self.query_one("#columns", Static).update(headings)

    @on(SessionHighlighted)
    def show_preview(self) -> None:
        if (session := self._list.current) is not None:
            read = partial(preview.read_session, session.agent, session.session_id)
            self.query_one(Preview).request(read)

    # Loading

    def _show_loading(self) -> None:
        self.query_one(PaneTitle).info = workers.LOADING

    def reload(self) -> None:
        rows, place = self._list, self._list.cursor
        session = None if rows.is_outdated else rows.current
        read = partial(
            sessions.list_around, self.listing, session, place, 2 * SESSIONS_PAGE
        )
        slow = self._show_loading if rows.is_outdated else None
        self.load(read, partial(self._show_reloaded, place), "list", slow)

    def _show_reloaded(self, place: int, loaded: SessionRange) -> None:
        shift = 0 if loaded.selected is None else loaded.selected - place
        self._show(loaded, is_reload=True, shift=shift)

    @on(SessionsRequested)
    def load_page(self, message: SessionsRequested) -> None:
        offset, limit = message.offset, message.limit
        read = partial(sessions.list_range, self.listing, offset, limit)
        # Pages do not supersede each other.
        self.load(read, partial(self._show, is_reload=False), "page", exclusive=False)

    def _show(self, loaded: SessionRange, *, is_reload: bool, shift: int = 0) -> None:
        if loaded.query != self.listing:
            return
        self._list.show(loaded, is_reload=is_reload, shift=shift)
        measure = f"{loaded.total:,}"
        if loaded.total != loaded.stored:
            measure = f"{measure} of {loaded.stored:,}"
        self.query_one(PaneTitle).show(f"Sessions, {loaded.query.order}", measure)
        if not loaded.total:
            self.show_instead(self._why_empty() if loaded.stored else NO_CONVERSATIONS)
        self.set_class(not loaded.total, "-empty")

    def _why_empty(self) -> str:
        words, scope = self.listing.words, self.listing.of
        parts = [f"“{' '.join(words)}”"] if words else []
        parts += [format.scope_text(scope)] if scope.is_narrow else []
        return NO_MATCH.format(filter=" · ".join(parts))

    @property
    def selected_session(self) -> ConversationKey | None:
        session = self._list.current
        if session is None:
            return None
        return ConversationKey(session.agent, session.session_id)

    def show_renamed(self) -> None:
        self.request_reload()

    def action_copy(self) -> None:
        if (session := self._list.current) is not None:
            self.copy_session(session)

    def show_error(self, error: BaseException, group: str) -> None:
        if group == SESSION:
            super().show_error(error, group)
            return
        self._list.mark_up_to_date()
        self.retry_reload()
        if self._list.sessions:
            info = f"✗ not loaded: {format.error_text(error)}"
            self.query_one(PaneTitle).info = info
        else:
            lead = "✗ The sessions could not be read:"
            self.show_instead(describe_failure(lead, error))

    # Sorting and filtering

    def action_sort(self) -> None:
        self._change_listing(replace(self.listing, order=self.listing.order.next))

    def action_find_here(self) -> None:
        self.set_class(True, "-finding")
        self._input.focus()

    @on(Input.Changed)
    def filter(self, event: Input.Changed) -> None:
        event.stop()
        self._filter_by_typed()

    def _filter_by_typed(self) -> None:
        words = tuple(self._input.value.split())
        if words != self.listing.words:
            self._change_listing(replace(self.listing, words=words))

    def action_keep_words(self) -> None:
        self._filter_by_typed()
        self.set_focus(self._list)

    def show_scope(self, scope: Scope) -> None:
        self._change_listing(replace(self.listing, of=scope))

    def _change_listing(self, listing: SessionQuery) -> None:
        self.listing = listing
        self._list.reset()
        self.reload()

    def show_progress(self, message: ProgressReported) -> None:
        self.request_reload()

    # Panes

    def action_next_pane(self) -> None:
        if self._list.has_focus:
            self.action_find_here()
        else:
            self._list.focus()

    def action_previous_pane(self) -> None:
        self.action_next_pane()

    def action_back(self) -> None:
        if self.has_class("-finding"):
            self.set_class(False, "-finding")
            self._input.value = ""
            self.action_keep_words()
        else:
            self.dismiss(None)
