"""The calendar: the activity of each day, year by year."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial
from typing import ClassVar, TypeAlias

from textual import events, getters, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.reactive import reactive
from textual.strip import Strip
from textual.visual import Visual
from textual.widget import Widget
from textual.widgets import Static

from memtui.model import calendar
from memtui.model.filters import Scope
from memtui.model.nodes import NodeStatus, TocEntry
from memtui.model.quantities import plural
from memtui.services import browse
from memtui.text import date_format
from memtui.tui import commands, format, workers
from memtui.tui.messages import DayHighlighted, DaySelected, ProgressReported
from memtui.tui.screens.base import NO_CONVERSATIONS, RETRY_HINT, BaseScreen
from memtui.tui.screens.dialogs import DateScreen
from memtui.tui.screens.session_actions import PAGE_ACTIONS, SESSION, SessionActions
from memtui.tui.widgets.panes import PaneTitle

GLYPHS = "·░▒▓█"
"""From no messages to most; the ASCII theme needs five different characters, too."""

Span: TypeAlias = tuple[date, date]

NO_MESSAGES = "$rule"
CURSOR = "bold $block-cursor-foreground on $block-cursor-background"
LEAD_CELLS = 6  # The width of years and weekdays at the left.
BLOCK_LINES = 9  # The height of a year: months, seven weekdays, a blank line.
WIDE_CELLS = 114  # From this width on, in cells, a week is two cells wide.
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
DAY = timedelta(days=1)
HALF_YEAR = 26 * calendar.WEEK


@dataclass(frozen=True, slots=True)
class ActivityScale:
    """Four levels of activity, each with a quarter of the days."""

    cuts: tuple[int, int, int]
    """The smallest numbers of messages of levels 2, 3 and 4."""

    @classmethod
    def from_counts(cls, counts: Iterable[int]) -> "ActivityScale":
        """Create a scale from the numbers of messages of all days that have some."""
        ordered = sorted(max(1, count) for count in counts) or [1]
        low, middle, high = (ordered[len(ordered) * part // 4] for part in (1, 2, 3))
        return cls((low, middle, high))

    def level(self, count: int) -> int:
        """Return the level of a day with messages, 1 to 4."""
        return 1 + sum(max(1, count) >= cut for cut in self.cuts)

    def ranges(self) -> list[tuple[int, str]]:
        """Return the levels that occur, from 0, with the numbers they stand for."""
        ranges = [(0, "none")]
        least = 1
        for level, cut in enumerate(self.cuts, 1):
            if cut > least:
                most = cut - 1
                text = f"{least:,}" if least == most else f"{least:,}–{most:,}"
                ranges.append((level, text))
                least = cut
        ranges.append((4, f"{least:,} or more"))
        return ranges


class DayGrid(Widget, can_focus=True):
    """Moves a cursor through the days and posts the day it is on."""

    BINDINGS: ClassVar[list[BindingType]] = commands.bindings(
        "cursor_down", "cursor_up", "first", "last",
        open="Open this day in the contents.",
        deeper="Next week.",
        outward="Previous week.",
        page_down="Previous year.",
        page_up="Next year.",
        half_page_down="Half a year back.",
        half_page_up="Half a year on.",
    )  # fmt: skip
    HELP_TITLE = "In the calendar"

    cursor: reactive[date] = reactive(date(1970, 1, 1), init=False)

    def __init__(self, cursor: date, today: date) -> None:
        super().__init__()
        self.set_reactive(DayGrid.cursor, cursor)
        self._today = today
        self._top_year = cursor.year
        # The first and the last day with conversations.
        self.span: Span | None = None
        self.days: Mapping[date, TocEntry] | None = None  # None until they are read.
        self.scale = ActivityScale.from_counts(())

    @property
    def visible_years(self) -> list[int]:
        blocks = max(1, (self.size.height + 1) // BLOCK_LINES)
        newest, oldest = self._last_day.year, self._first_day.year
        top = min(newest, max(self._top_year, oldest + blocks - 1))
        return list(range(top, max(oldest, top - blocks + 1) - 1, -1))

    @property
    def _last_day(self) -> date:
        return max(self.span[1], self._today) if self.span else self._today

    @property
    def _first_day(self) -> date:
        first = self.span[0] if self.span else self._today
        return first.replace(month=1, day=1)

    @property
    def current(self) -> TocEntry | None:
        """The day under the cursor, None if it is empty or has not been read."""
        return self._days.get(self.cursor)

    @property
    def is_loaded(self) -> bool:
        return self.days is not None

    @property
    def _days(self) -> Mapping[date, TocEntry]:
        return self.days or {}

    def show(self, span: Span | None, days: Mapping[date, TocEntry] | None) -> None:
        """Show days, with one scale for all; the cursor stays where it is.

        Args:
            span: The first and the last day with conversations.
            days: Those with conversations of the scope; None while they are read.
        """
        self.span, self.days = span, days
        counts = (day.counts.messages for day in self._days.values())
        self.scale = ActivityScale.from_counts(counts)
        self.refresh()

    def go_to(self, day: date) -> None:
        """Move the cursor to a day, or to the nearest one there is."""
        self.cursor = min(max(day, self._first_day), self._last_day)

    def watch_cursor(self) -> None:
        """Bring the year of the cursor into view, and post the day."""
        year = self.cursor.year
        if year not in (years := self.visible_years):
            self._top_year = year if year > years[0] else year + len(years) - 1
        self.post_message(DayHighlighted())

    def on_resize(self) -> None:
        self.watch_cursor()

    # Keys and mouse

    def _move(self, days: timedelta) -> None:
        """Move the cursor, or notify that there are no such days."""
        day = self.cursor + days
        if self._first_day <= day <= self._last_day:
            self.cursor = day
        elif day < self._first_day:
            year = self._first_day.year
            self.notify(f"There is nothing before {year}.")
        else:
            self.notify("This is the last day.")

    def action_cursor_down(self) -> None:
        self._move(DAY)

    def action_cursor_up(self) -> None:
        self._move(-DAY)

    def action_deeper(self) -> None:
        self._move(calendar.WEEK)

    def action_outward(self) -> None:
        self._move(-calendar.WEEK)

    def action_page_down(self) -> None:
        self.step_year(-1)

    def action_page_up(self) -> None:
        self.step_year(1)

    def action_half_page_down(self) -> None:
        self.go_to(self.cursor - HALF_YEAR)

    def action_half_page_up(self) -> None:
        self.go_to(self.cursor + HALF_YEAR)

    def step_year(self, step: int) -> None:
        """Go to the same date of the next (1) or previous (-1) year."""
        year = self.cursor.year + step
        if self._first_day.year <= year <= self._last_day.year:
            self.go_to(calendar.same_day(self.cursor, year))
        elif self.span is None and not self.is_loaded:
            self.notify("The years are still being read.")
        else:
            end = "first" if step < 0 else "last"
            self.notify(f"This is the {end} year.")

    def action_first(self) -> None:
        self.go_to(self.span[0] if self.span else self.cursor)

    def action_last(self) -> None:
        self.go_to(self.span[1] if self.span else self.cursor)

    def action_open(self) -> None:
        self.post_message(DaySelected())

    def on_click(self, event: events.Click) -> None:
        block, row = divmod(event.y, BLOCK_LINES)
        week = (event.x - LEAD_CELLS) // self._week_cells
        years = self.visible_years
        if not 1 <= row <= len(WEEKDAYS) or block >= len(years) or week < 0:
            return
        day = _first_monday(years[block]) + week * calendar.WEEK + (row - 1) * DAY
        if day.year == years[block]:
            self._move(day - self.cursor)
            if event.chain == 2 and self.cursor == day:
                self.action_open()

    # Drawing

    @property
    def _week_cells(self) -> int:
        return 2 if self.size.width >= WIDE_CELLS else 1

    def render_line(self, y: int) -> Strip:
        block, row = divmod(y, BLOCK_LINES)
        years, width, style = self.visible_years, self.size.width, self.visual_style
        if block >= len(years) or row > len(WEEKDAYS):
            return Strip.blank(width, style.rich_style)
        draw = self._weekday if row else self._months
        line = draw(years[block], row - 1).truncate(width)
        (strip,) = Visual.to_strips(self, line, width, 1, style, pad=True)
        return strip

    def _months(self, year: int, _: int) -> Content:
        cells, names = self._week_cells, ""
        for week in range(_count_weeks(year)):
            thursday = _first_monday(year) + week * calendar.WEEK + 3 * DAY
            if thursday.year == year and thursday.day <= calendar.WEEK.days:
                names = f"{names:<{week * cells}}{thursday:%b}"
        is_current = year == self.cursor.year
        name = f"{year:<{LEAD_CELLS}}"
        return Content.assemble(
            (name, "bold" if is_current else "$context"), (names, "$context")
        )

    def _weekday(self, year: int, weekday: int) -> Content:
        first, cells = _first_monday(year) + weekday * DAY, self._week_cells
        days = [first + n * calendar.WEEK for n in range(_count_weeks(year))]
        has_cursor = self.cursor.year == year and self.cursor in days
        lead = f"{'>' if has_cursor else ' '}{WEEKDAYS[weekday]}".ljust(LEAD_CELLS)
        parts = [(lead, "bold" if has_cursor else "$context")]
        for day in days:
            text, style = " " * cells, NO_MESSAGES
            is_shown = day.year == year and self.is_loaded
            if is_shown and (activity := self._days.get(day)) is not None:
                level = self.scale.level(activity.counts.messages)
                text, style = GLYPHS[level] * cells, "$accent"
            elif is_shown and day <= self._last_day:
                text = GLYPHS[0].ljust(cells)
            parts.append((text, CURSOR if day == self.cursor else style))
        return Content.assemble(*parts)


def _first_monday(year: int) -> date:
    return calendar.monday(date(year, 1, 1))


def _count_weeks(year: int) -> int:
    return calendar.week_count(date(year, 1, 1), date(year + 1, 1, 1))


def describe_day(day: date, entry: TocEntry | None, today: date) -> Content:
    """Describe a day in up to three lines; None for one without conversations."""
    when = f"{date_format.day(day)}, {date_format.day_age(day, today)}"
    parts = [Content.styled(when, "bold")]
    if entry is None:
        return parts[0] + Content.styled(" · no conversations", "$context")
    is_pending = entry.status is NodeStatus.PENDING
    pending = [Content("not summarized yet")] if is_pending else []
    if not entry.counts.segments and is_pending:
        return Content(" · ").join(parts + pending)
    parts.append(Content(plural(entry.sessions, "session")))
    parts.append(Content(plural(entry.counts.messages, "message")))
    parts += pending
    if entry.is_live:
        parts.append(Content(f"{format.LIVE} live"))
    names = [
        format.name_list(names) for names in (entry.agents, entry.projects) if names
    ]
    lines = [
        Content(" · ").join(parts),
        Content(entry.headline),
        Content.styled(" · ".join(names), "$context"),
    ]
    return Content("\n").join(line for line in lines if line)


def describe_scale(scale: ActivityScale) -> Content:
    parts = [f"{GLYPHS[level]} {text}" for level, text in scale.ranges()]
    return Content("   ".join(parts)) + Content.styled(" messages a day", "$context")


DAY_LEVELS = ("toc:day:", "toc:segment:")
"""A change to one of these nodes changes a day."""


CalendarData: TypeAlias = tuple[Span | None, Mapping[date, TocEntry]]
"""The first and the last day with conversations, and those of the scope."""


class CalendarScreen(SessionActions[str], BaseScreen[str]):
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
        *commands.bindings("go_to_date", *PAGE_ACTIONS),
    ]

    _grid = getters.query_one(DayGrid)

    def __init__(self, scope: Scope, day: date | None = None) -> None:
        """Start at a day; by default at the last one with conversations."""
        super().__init__()
        self._scope, self._day = scope, day
        self._is_placed = False

    def compose_body(self) -> ComposeResult:
        with Vertical(id="days"):
            yield PaneTitle("Days")
            yield DayGrid(self._day or self._today, self._today)
            yield Static(id="legend", markup=False)
            yield Static(id="day", markup=False)
            yield Static(NO_CONVERSATIONS, id="nothing", markup=False)

    @property
    def _today(self) -> date:
        return calendar.local_day(self.now(), self.zone)

    def on_mount(self) -> None:
        self._grid.focus()
        self.reload()

    @property
    def selected_session(self) -> None:
        return None

    @property
    def page_id(self) -> str:
        return self._grid.current.node_id if self._grid.current else ""

    def _show_loading(self) -> None:
        if not self._grid.is_loaded and not self.has_class("-failing"):
            self.query_one(PaneTitle).info = workers.LOADING

    # Loading

    def reload(self) -> None:
        scope, zone = self._scope, self.zone

        def read() -> CalendarData:
            days = every = browse.list_days(zone)
            if scope.is_narrow:
                days = browse.list_days(zone, scope)
            return (min(every), max(every)) if every else None, days

        self.load(read, self._show, "years", self._show_loading)

    def show_scope(self, scope: Scope) -> None:
        self._scope = scope
        self._grid.show(self._grid.span, None)
        self.reload()

    def _show(self, data: CalendarData) -> None:
        span, days = data
        self.set_class(span is None, "-empty")
        self.remove_class("-failing")
        self._grid.show(span, days)
        if span is not None and not self._is_placed:
            self._is_placed = True
            self._grid.go_to(self._day or span[1])
        self._show_day()

    @on(DayHighlighted)
    def _show_day(self) -> None:
        grid = self._grid
        if grid.days is None:
            return
        day = describe_day(grid.cursor, grid.current, self._today)
        self.query_one("#day", Static).update(day)
        self.query_one("#legend", Static).update(describe_scale(grid.scale))
        year = grid.cursor.year
        counts = [e.counts.messages for day, e in grid.days.items() if day.year == year]
        messages = plural(sum(counts), "message")
        measure = f"{year}: {plural(len(counts), 'day')} · {messages}"
        self.query_one(PaneTitle).info = measure if counts else ""

    def show_error(self, error: BaseException, group: str) -> None:
        if group == SESSION:
            super().show_error(error, group)
            return
        text = f"✗ The days could not be read:\n{format.error_text(error)}"
        self.add_class("-failing")
        content = Content.styled(text, "$error") + f"\n{RETRY_HINT}"
        self.query_one("#day", Static).update(content)
        self.retry_reload()

    def show_progress(self, message: ProgressReported) -> None:
        if any(name.startswith(DAY_LEVELS) for name in message.progress.changed):
            self.request_reload()

    # Commands

    def action_older_sibling(self) -> None:
        self._grid.step_year(-1)

    def action_newer_sibling(self) -> None:
        self._grid.step_year(1)

    @on(DaySelected)
    def open(self) -> None:
        grid = self._grid
        if grid.current is not None:
            self.dismiss(grid.current.node_id)
        elif grid.is_loaded:
            day_id = calendar.day_id(grid.cursor)
            find = partial(browse.find_nearest, day_id, self._scope)
            self.load(find, partial(self._go_to_nearest, grid.cursor), "nearest")

    def _go_to_nearest(self, asked: date, nearest_id: str) -> None:
        """Move to the nearest day with conversations, and say so."""
        if not nearest_id:
            return
        day = calendar.period(nearest_id).first
        self._grid.go_to(day)
        scope = ""
        if self._scope.is_narrow:
            scope = f" for {format.scope_text(self._scope)}"
        text = (
            f"{date_format.day(asked)} has no conversations{scope}."
            f" Nearest: {date_format.day(day)}; enter opens it."
        )
        self.notify(text)

    def action_go_to_date(self) -> None:
        def arrive(node_id: str) -> None:
            self._grid.go_to(calendar.period(node_id).first)

        self.memtui.ask(DateScreen(), arrive)

    def action_back(self) -> None:
        self.dismiss("")
