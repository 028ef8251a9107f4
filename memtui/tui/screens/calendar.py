"""The days at a glance: how much was said on each, and the way to any of them."""

from collections.abc import Callable, Sequence
from datetime import date, datetime, tzinfo
from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static
from textual.worker import Worker, WorkerState

from memtui.model import calendar
from memtui.model.scope import ALL, Scope
from memtui.services import browse
from memtui.tui import commands, format, workers
from memtui.tui.messages import (
    DayChosen,
    DayPointedAt,
    DaysRead,
    Narrowed,
    NearestFound,
    WorkReported,
    YearsShown,
)
from memtui.tui.screens.base import AGAIN, Following
from memtui.tui.widgets import day_grid
from memtui.tui.widgets.day_grid import DayGrid
from memtui.tui.widgets.key_line import KeyLine
from memtui.tui.widgets.pane_title import PaneTitle
from memtui.tui.widgets.status_line import StatusLine

NOTHING_KEPT = (
    "Nothing kept yet: there is no day to show.\n\n"
    "Press i to import what agents keep on this machine."
)


class CalendarScreen(Following[str]):
    """Ends with the id of the day to open, or with nothing."""

    OBEYS_SCOPE = True
    REST_S = 0.5
    BINDINGS: ClassVar[list[BindingType]] = [
        *commands.bindings(
            in_footer=True,
            next_peer="Go down to the year before.",
            previous_peer="Go up to the year after.",
            back="Go back to where you were.",
        ),
        *commands.bindings("go_to_date"),
    ]

    def __init__(
        self,
        zone: tzinfo,
        now: Callable[[], datetime],
        day: date | None = None,
        *,
        of: Scope = ALL,
        is_demo: bool = False,
    ) -> None:
        """Make the screen.

        Args:
            zone: The store's time zone.
            now: The time, aware.
            day: Where the cursor is first; on the last day there is if None.
            of: What part of the memory is shown.
            is_demo: Whether this is the made-up memory.
        """
        super().__init__()
        self._of = of
        self._zone, self._now, self._day = zone, now, day
        self._is_demo = is_demo
        self._is_placed = False
        self._changed: set[int] = set()
        self._renewed: set[int] = set()

    def compose(self) -> ComposeResult:
        """The years, what the shades mean, and the day the cursor is on."""
        yield StatusLine(is_demo=self._is_demo)
        with Vertical(id="days"):
            yield PaneTitle("Days")
            yield DayGrid(self._day or self._today, self._today)
            yield Static(id="legend", markup=False)
            yield Static(id="day", markup=False)
            yield Static(NOTHING_KEPT, id="nothing", markup=False)
        yield KeyLine()

    @property
    def _today(self) -> date:
        return self._now().astimezone(self._zone).date()

    @property
    def _grid(self) -> DayGrid:
        return self.query_one(DayGrid)

    def on_mount(self) -> None:
        """Start in the grid, which asks for what it shows."""
        self.query_one(StatusLine).scope = self._of
        self._grid.focus()
        self.set_timer(workers.SLOW_S, self._say_slow)

    def _say_slow(self) -> None:
        if not self._grid.is_read and not self.has_class("-failing"):
            self.query_one(PaneTitle).measure = workers.READING

    # Reading

    @on(YearsShown)
    def read(self) -> None:
        """Read what is in sight and was not read yet."""
        missing = [year for year in self._grid.shown if year not in self._grid.years]
        self.ask(partial(self._load, self._of, missing), "years")

    def _load(
        self, of: Scope, numbers: Sequence[int], *, is_again: bool = False
    ) -> None:
        years = [browse.year(number, self._zone, of) for number in numbers]
        if of == self._of:
            counts = browse.counts(of)
            self.tell(DaysRead(browse.span(), years, counts, is_again=is_again))

    @on(Narrowed)
    def narrow(self, message: Narrowed) -> None:
        """Show the days of another part of the memory; the cursor stays."""
        self._of = message.scope
        self.query_one(StatusLine).scope = message.scope
        self._grid.forget()

    @on(DaysRead)
    def show(self, message: DaysRead) -> None:
        """Show what was read."""
        if message.is_again:
            self._renewed.clear()
        self.set_class(message.span is None, "-empty")
        self.remove_class("-failing")
        self._grid.show(message.span, message.years, message.counts)
        if message.span is not None and not self._is_placed:
            self._is_placed = True
            self._grid.point_at(self._day or message.span.last)
        self._tell()

    @on(DayPointedAt)
    def _tell(self) -> None:
        """Say what is known of the day the cursor is on, and of its year."""
        grid = self._grid
        if not grid.is_read:
            return
        day = day_grid.told(grid.cursor, grid.pointed_at, self._today)
        self.query_one("#day", Static).update(day)
        legend = day_grid.legend(grid.shades)
        self.query_one("#legend", Static).update(legend)
        year = grid.years[grid.cursor.isocalendar().year]
        messages = sum(one.messages for one in year.days.values())
        measure = (
            f"{year.number}: {format.counted(len(year.days), 'day')}"
            f" · {format.counted(messages, 'message')}"
        )
        self.query_one(PaneTitle).measure = measure if year.days else ""

    @on(Worker.StateChanged)
    def say_why(self, event: Worker.StateChanged) -> None:
        """Say why the days could not be read."""
        if event.state is WorkerState.ERROR:
            why = f"✗ The days could not be read:\n{format.why(event.worker.error)}"
            self.add_class("-failing")
            told = Content.styled(why, "$error") + f"\n{AGAIN}"
            self.query_one("#day", Static).update(told)
            self._changed |= {*self._grid.shown}
            self.look_soon()

    # What changes by itself

    @on(WorkReported)
    def follow_work(self, message: WorkReported) -> None:
        """Say what the workers do, and show the days they have changed."""
        self.query_one(StatusLine).say(message.progress)
        known = {"toc:day", "toc:segment"}
        for name in message.progress.changed:
            if name.rpartition(":")[0].startswith(tuple(known)):
                day = calendar.period(name).first
                self._changed.add(day.isocalendar().year)
        if self._changed:
            self.look_again()

    def read_anew(self) -> None:
        """Read again the years in which something has changed."""
        self._renewed |= self._changed & {*self._grid.years, *self._grid.shown}
        self._changed = set()
        read = sorted(self._renewed)
        self.ask(partial(self._load, self._of, read, is_again=True), "changed")

    # Commands

    def action_next_peer(self) -> None:
        """Go down to the year before."""
        self._grid.step_year(-1)

    def action_previous_peer(self) -> None:
        """Go up to the year after."""
        self._grid.step_year(1)

    @on(DayChosen)
    def open(self) -> None:
        """Open the day in the contents, or find the nearest one that is there."""
        grid = self._grid
        if grid.pointed_at is not None:
            self.dismiss(grid.pointed_at.node_id)
        elif grid.is_read:
            wanted = calendar.day_id(grid.cursor)
            self.ask(partial(self._find, wanted), "nearest")

    def _find(self, wanted: str) -> None:
        self.tell(NearestFound(wanted, browse.nearest(wanted, self._zone, self._of)))

    @on(NearestFound)
    def offer(self, message: NearestFound) -> None:
        """Go to the nearest day of which something is kept, and say so."""
        if not message.found:
            return
        wanted, found = (
            calendar.period(name).first for name in (message.wanted, message.found)
        )
        self._grid.point_at(found)
        mine = f"Nothing of {self._of}" if self._of.is_narrow else "Nothing"
        words = (
            f"{mine} is kept of {format.day(wanted)}."
            f" This is the nearest day, {format.day(found)}: enter opens it."
        )
        self.notify(words, markup=False)

    def action_go_to_date(self) -> None:
        """Ask for a date and put the cursor there."""
        from memtui.tui.screens.date import DateScreen

        def arrive(node_id: str | None) -> None:
            if node_id:
                here = calendar.period(node_id)
                self._grid.point_at(here.first)

        self.app.push_screen(DateScreen(self._now().astimezone(self._zone)), arrive)

    def action_back(self) -> None:
        """Leave everything as it was."""
        self.dismiss("")
