"""The calendar: the activity of each day, year by year."""

from collections.abc import Callable, Sequence
from datetime import date, tzinfo
from functools import partial
from typing import ClassVar, NamedTuple

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


class YearData(NamedTuple):
    """What one load returns."""

    scope: Scope
    span: DateRange | None
    years: Sequence[CalendarYear]
    counts: Sequence[int]


def read_years(numbers: Sequence[int], zone: tzinfo, scope: Scope) -> YearData:
    years = [browse.get_calendar_year(number, zone, scope) for number in numbers]
    return YearData(
        scope, browse.get_date_range(), years, browse.list_daily_counts(scope)
    )


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
        self._changed: set[int] = set()
        self._reloading: set[int] = set()

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
    def load_visible(self) -> None:
        """Load the visible years that are not loaded yet."""
        missing = [
            year for year in self._grid.visible_years if year not in self._grid.years
        ]
        self._load_years(missing, self._show, "years")

    def _load_years(
        self, years: Sequence[int], show: Callable[[YearData], None], group: str
    ) -> None:
        self.load(partial(read_years, years, self.zone, self._scope), show, group)

    @on(ScopeChanged)
    def change_scope(self, message: ScopeChanged) -> None:
        """Show the days of another scope; the cursor stays."""
        self._scope = self.query_one(StatusLine).scope = message.scope
        self._grid.reload()

    def _show(self, data: YearData) -> None:
        if data.scope != self._scope:
            return
        self.set_class(data.span is None, "-empty")
        self.remove_class("-failing")
        self._grid.show(data.span, data.years, data.counts)
        if data.span is not None and not self._is_placed:
            self._is_placed = True
            self._grid.go_to(self._day or data.span.last)
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
        self._changed |= {*self._grid.visible_years}
        self.retry_reload()

    # Live changes

    @on(ProgressReported)
    def note_changes(self, message: ProgressReported) -> None:
        for name in message.progress.changed:
            if name.startswith(DAY_LEVELS):
                day = calendar.period(name).first
                self._changed.add(day.isocalendar().year)
        if self._changed:
            self.request_reload()

    def reload(self) -> None:
        """Load again the years in which something has changed."""
        self._reloading |= self._changed & {
            *self._grid.years,
            *self._grid.visible_years,
        }
        self._changed = set()
        self._load_years(sorted(self._reloading), self._show_reloaded, "changed")

    def _show_reloaded(self, data: YearData) -> None:
        # The scope may have changed since: then the years are loaded anyhow.
        self._reloading.clear()
        self._show(data)

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
