"""The calendar: the activity of each day, year by year."""

from collections.abc import Sequence
from datetime import date
from functools import partial
from typing import ClassVar, TypeAlias

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from memtui.model import calendar
from memtui.model.calendar import CalendarYear, DateRange
from memtui.model.scope import Scope
from memtui.services import browse
from memtui.text import date_format
from memtui.tui import commands, format, workers
from memtui.tui.messages import (
    DayHighlighted,
    DaySelected,
    ProgressReported,
    ScopeChanged,
    YearsScrolled,
)
from memtui.tui.screens.base import AGAIN, EMPTY, BaseScreen
from memtui.tui.screens.date import DateScreen
from memtui.tui.widgets import day_grid
from memtui.tui.widgets.day_grid import DayGrid
from memtui.tui.widgets.pane_title import PaneTitle
from memtui.tui.widgets.status_line import StatusLine

DAY_LEVELS = ("toc:day:", "toc:segment:")
"""A change to one of these nodes changes a day."""


YearData: TypeAlias = tuple[DateRange | None, Sequence[CalendarYear], Sequence[int]]
"""The first and the last day, years, and the counts of all days."""


class CalendarScreen(BaseScreen[str]):
    """Returns the id of the day to open, or an empty string."""

    FILTERS_BY_SCOPE = True
    RELOAD_INTERVAL_S = 0.5
    BINDINGS: ClassVar[list[BindingType]] = [
        *commands.bindings(
            in_footer=True,
            older_sibling="Go to the previous year.",
            newer_sibling="Go to the next year.",
            back="Go back to the previous screen.",
        ),
        *commands.bindings("go_to_date"),
    ]

    def __init__(self, scope: Scope, day: date | None = None) -> None:
        """Make the screen.

        Args:
            scope: Which part of the memory is shown.
            day: Where the cursor starts; None for the last day with conversations.
        """
        super().__init__()
        self._scope, self._day = scope, day
        self._is_placed = False

    def compose_body(self) -> ComposeResult:
        with Vertical(id="days"):
            yield PaneTitle("Days")
            yield DayGrid(self._day or self._today, self._today)
            yield Static(id="legend", markup=False)
            yield Static(id="day", markup=False)
            yield Static(EMPTY, id="nothing", markup=False)

    @property
    def _today(self) -> date:
        return self.now().astimezone(self.zone).date()

    @property
    def _grid(self) -> DayGrid:
        return self.query_one(DayGrid)

    def on_mount(self) -> None:
        self.query_one(StatusLine).scope = self._scope
        self._grid.focus()
        self.set_timer(workers.SLOW_S, self._show_loading)

    def _show_loading(self) -> None:
        if not self._grid.is_loaded and not self.has_class("-failing"):
            self.query_one(PaneTitle).info = workers.LOADING

    # Loading

    @on(YearsScrolled)
    def reload(self) -> None:
        """Load the years that are visible now or were before."""
        numbers = sorted({*self._grid.years, *self._grid.visible_years})
        zone, scope = self.zone, self._scope

        def read() -> YearData:
            years = [browse.get_calendar_year(one, zone, scope) for one in numbers]
            return browse.get_date_range(), years, browse.list_daily_counts(scope)

        self.load(read, self._show, "years")

    @on(ScopeChanged)
    def change_scope(self, message: ScopeChanged) -> None:
        """Show the days of another scope; the cursor stays."""
        self._scope = self.query_one(StatusLine).scope = message.scope
        self._grid.reload()

    def _show(self, data: YearData) -> None:
        span, years, counts = data
        self.set_class(span is None, "-empty")
        self.remove_class("-failing")
        self._grid.show(span, years, counts)
        if span is not None and not self._is_placed:
            self._is_placed = True
            self._grid.go_to(self._day or span.last)
        self._show_day()

    @on(DayHighlighted)
    def _show_day(self) -> None:
        """Describe the day under the cursor, and its year."""
        grid = self._grid
        if not grid.is_loaded:
            return
        day = day_grid.describe_day(grid.cursor, grid.current, self._today)
        self.query_one("#day", Static).update(day)
        legend = day_grid.describe_scale(grid.scale)
        self.query_one("#legend", Static).update(legend)
        year = grid.years[grid.cursor.isocalendar().year]
        messages = sum(one.messages for one in year.days.values())
        measure = (
            f"{year.number}: {format.quantity(len(year.days), 'day')}"
            f" · {format.quantity(messages, 'message')}"
        )
        self.query_one(PaneTitle).info = measure if year.days else ""

    def show_error(self, error: BaseException, group: str) -> None:
        text = f"✗ The days could not be read:\n{format.error_text(error)}"
        self.add_class("-failing")
        content = Content.styled(text, "$error") + f"\n{AGAIN}"
        self.query_one("#day", Static).update(content)
        self.retry_reload()

    @on(ProgressReported)
    def note_changes(self, message: ProgressReported) -> None:
        if any(name.startswith(DAY_LEVELS) for name in message.progress.changed):
            self.request_reload()

    # Commands

    def action_older_sibling(self) -> None:
        self._grid.step_year(-1)

    def action_newer_sibling(self) -> None:
        self._grid.step_year(1)

    @on(DaySelected)
    def open(self) -> None:
        """Open the day in the contents, or find the nearest with conversations."""
        grid = self._grid
        if grid.current is not None:
            self.dismiss(grid.current.node_id)
        elif grid.is_loaded:
            wanted = calendar.day_id(grid.cursor)
            find = partial(browse.find_nearest, wanted, self.zone, self._scope)
            self.load(find, partial(self._go_to_nearest, grid.cursor), "nearest")

    def _go_to_nearest(self, wanted: date, found: str) -> None:
        """Move to the nearest day with conversations, and say so."""
        if not found:
            return
        day = calendar.period(found).first
        self._grid.go_to(day)
        scope = ""
        if self._scope.is_narrow:
            scope = f" for {format.scope_text(self._scope)}"
        text = (
            f"{date_format.day(wanted)} has no conversations{scope}."
            f" Nearest: {date_format.day(day)}; enter opens it."
        )
        self.notify(text, markup=False)

    def action_go_to_date(self) -> None:
        def arrive(node_id: str | None) -> None:
            if node_id:
                self._grid.go_to(calendar.period(node_id).first)

        self.app.push_screen(DateScreen(self.now().astimezone(self.zone)), arrive)

    def action_back(self) -> None:
        self.dismiss("")
