"""The calendar: a column for each week, a block of rows for each year, newest on top.

A day has a glyph for its number of messages, a dot for none; days that have not been
read yet are blank.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.content import Content
from textual.reactive import reactive
from textual.strip import Strip
from textual.visual import Visual
from textual.widget import Widget

from memtui.model import calendar
from memtui.model.calendar import CalendarDay, CalendarYear, DateRange
from memtui.text import date_format
from memtui.tui import commands, format
from memtui.tui.messages import DayHighlighted, DaySelected, YearsScrolled

GLYPHS = "·░▒▓█"
"""From no messages to most; the ASCII theme needs five different characters, too."""

DIM, NO_MESSAGES = "$context", "$rule"
CURSOR = "bold $block-cursor-foreground on $block-cursor-background"

LEAD_CELLS = 6
"""The width of years and weekdays at the left."""

BLOCK_LINES = 9
"""The height of a year: months, seven weekdays, a blank line."""

WIDE_CELLS = 112
"""From this width on, in cells, a week is two cells wide."""

WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class ActivityScale:
    """Four levels of activity, each with a quarter of the days."""

    cuts: tuple[int, int, int]
    """The smallest numbers of messages of levels 2, 3 and 4."""

    @classmethod
    def from_counts(cls, counts: Iterable[int]) -> "ActivityScale":
        """Create a scale from the numbers of messages of all days that have some."""
        ordered = sorted(max(1, count) for count in counts) or [1]
        one, two, three = (ordered[len(ordered) * part // 4] for part in (1, 2, 3))
        return cls((one, two, three))

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
    )  # fmt: skip
    HELP_TITLE = "In the calendar"

    cursor: reactive[date] = reactive(date(1970, 1, 1), init=False)

    def __init__(self, cursor: date, today: date) -> None:
        super().__init__()
        self.set_reactive(DayGrid.cursor, cursor)
        self._today = today
        self._top_year = calendar.iso_year(cursor)
        self.span: DateRange | None = None
        """The first and the last day with conversations."""
        self.years: dict[int, CalendarYear] = {}
        self.scale = ActivityScale.from_counts(())

    @property
    def visible_years(self) -> list[int]:
        """The years in view, the newest first."""
        blocks = max(1, (self.size.height + 1) // BLOCK_LINES)
        newest, oldest = map(calendar.iso_year, (self._last_day, self._first_day))
        top = min(newest, max(self._top_year, oldest + blocks - 1))
        return list(range(top, max(oldest, top - blocks + 1) - 1, -1))

    @property
    def _last_day(self) -> date:
        return max(self.span.last, self._today) if self.span else self._today

    @property
    def _first_day(self) -> date:
        """The first Monday of the first year."""
        first = self.span.first if self.span else self._today
        return calendar.first_day(calendar.iso_year(first))

    @property
    def current(self) -> CalendarDay | None:
        """The day under the cursor, None if it is empty or has not been read."""
        return self._find(self.cursor)

    @property
    def is_loaded(self) -> bool:
        """True if the year under the cursor has been read."""
        return calendar.iso_year(self.cursor) in self.years

    def _find(self, day: date) -> CalendarDay | None:
        year = self.years.get(calendar.iso_year(day))
        return year.days.get(day) if year else None

    def show(
        self,
        span: DateRange | None,
        years: Iterable[CalendarYear],
        counts: Iterable[int],
    ) -> None:
        """Show years; the cursor stays where it is.

        Args:
            span: The first and the last day with conversations.
            years: The years that were read.
            counts: The messages of each day of all years, for one scale in all.
        """
        self.span, self.scale = span, ActivityScale.from_counts(counts)
        self.years |= {year.number: year for year in years}
        self._request_years()

    def reload(self) -> None:
        """Request all years in view again."""
        self.years.clear()
        self._request_years()

    def go_to(self, day: date) -> None:
        """Move the cursor to a day, or to the nearest one there is."""
        self.cursor = min(max(day, self._first_day), self._last_day)

    def watch_cursor(self) -> None:
        """Bring the year of the cursor into view, and post the day."""
        year = calendar.iso_year(self.cursor)
        if year not in (years := self.visible_years):
            self._top_year = year if year > years[0] else year + len(years) - 1
        self._request_years()
        self.post_message(DayHighlighted(self.cursor))

    def on_resize(self) -> None:
        self.watch_cursor()

    def _request_years(self) -> None:
        """Draw again, and request the years in view that have not been read."""
        if any(year not in self.years for year in self.visible_years):
            self.post_message(YearsScrolled())
        self.refresh()

    # Keys and mouse

    def _move(self, days: timedelta) -> None:
        """Move the cursor, or notify that there are no such days."""
        day = self.cursor + days
        if self._first_day <= day <= self._last_day:
            self.cursor = day
        elif day < self._first_day:
            year = calendar.iso_year(self._first_day)
            self.notify(f"There is nothing before {year}.", markup=False)
        else:
            self.notify("This is the last day.", markup=False)

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

    def step_year(self, step: int) -> None:
        """Go to the same week and weekday of the next (1) or previous (-1) year."""
        year = calendar.iso_year(self.cursor) + step
        first, last = map(calendar.iso_year, (self._first_day, self._last_day))
        if first <= year <= last:
            self.go_to(calendar.same_day(self.cursor, year))
        elif self.span is None and not self.is_loaded:
            self.notify("The years are still being read.", markup=False)
        else:
            end = "first" if step < 0 else "last"
            self.notify(f"This is the {end} year.", markup=False)

    def action_first(self) -> None:
        self.go_to(self.span.first if self.span else self.cursor)

    def action_last(self) -> None:
        self.go_to(self.span.last if self.span else self.cursor)

    def action_open(self) -> None:
        self.post_message(DaySelected())

    def on_click(self, event: events.Click) -> None:
        """Go to a day, or open it on a double click."""
        block, row = divmod(event.y, BLOCK_LINES)
        week = (event.x - LEAD_CELLS) // self._week_cells
        years = self.visible_years
        if not 1 <= row <= len(WEEKDAYS) or block >= len(years) or week < 0:
            return
        year = years[block]
        if week < calendar.week_count(year):
            weekday = (row - 1) * DAY
            day = calendar.first_day(year) + week * calendar.WEEK + weekday
            self._move(day - self.cursor)
            if event.chain == 2 and self.cursor == day:
                self.action_open()

    # Drawing

    @property
    def _week_cells(self) -> int:
        return 2 if self.size.width >= WIDE_CELLS else 1

    def render_line(self, y: int) -> Strip:
        """Draw a line: months, a weekday, or a blank one."""
        block, row = divmod(y, BLOCK_LINES)
        years, width, style = self.visible_years, self.size.width, self.visual_style
        if block >= len(years) or row > len(WEEKDAYS):
            return Strip.blank(width, style.rich_style)
        draw = self._weekday if row else self._months
        line = draw(years[block], row - 1).truncate(width)
        (strip,) = Visual.to_strips(self, line, width, 1, style, pad=True)
        return strip

    def _months(self, year: int, _: int) -> Content:
        """Draw the year, and the name of each month above its first week."""
        cells, names = self._week_cells, ""
        for week in range(calendar.week_count(year)):
            thursday = calendar.first_day(year) + week * calendar.WEEK + 3 * DAY
            if thursday.day <= calendar.WEEK.days:
                names = f"{names:<{week * cells}}{thursday:%b}"
        is_current = year == calendar.iso_year(self.cursor)
        name = f"{year:<{LEAD_CELLS}}"
        return Content.assemble((name, "bold" if is_current else DIM), (names, DIM))

    def _weekday(self, year: int, weekday: int) -> Content:
        first, cells = calendar.first_day(year) + weekday * DAY, self._week_cells
        days = [first + n * calendar.WEEK for n in range(calendar.week_count(year))]
        has_cursor = self.cursor in days
        lead = f"{'>' if has_cursor else ' '}{WEEKDAYS[weekday]}".ljust(LEAD_CELLS)
        parts = [(lead, "bold" if has_cursor else DIM)]
        for day in days:
            found, text, style = self._find(day), " " * cells, NO_MESSAGES
            if found is not None:
                level = self.scale.level(found.messages)
                text, style = GLYPHS[level] * cells, "$accent"
            elif day <= self._last_day and year in self.years:
                text = GLYPHS[0].ljust(cells)
            parts.append((text, CURSOR if day == self.cursor else style))
        return Content.assemble(*parts)


def describe_day(day: date, found: CalendarDay | None, today: date) -> Content:
    """Describe a day in up to three lines; None for one without conversations."""
    when = f"{date_format.day(day)}, {date_format.day_age(day, today)}"
    parts = [Content.styled(when, "bold")]
    if found is None:
        return parts[0] + Content.styled(" · no conversations", DIM)
    pending = [Content("not summarized yet")] if found.is_pending else []
    if not found.segments and found.is_pending:
        return Content(" · ").join(parts + pending)
    parts.append(Content(format.quantity(found.segments, "segment")))
    parts.append(Content(format.quantity(found.messages, "message")))
    parts += pending
    if found.is_live:
        parts.append(Content(f"{format.LIVE} live"))
    names = [format.name_list(some) for some in (found.agents, found.projects) if some]
    lines = [
        Content(" · ").join(parts),
        Content(found.headline),
        Content.styled(" · ".join(names), DIM),
    ]
    return Content("\n").join(line for line in lines if line)


def describe_scale(scale: ActivityScale) -> Content:
    parts = [f"{GLYPHS[level]} {text}" for level, text in scale.ranges()]
    return Content("   ".join(parts)) + Content.styled(" messages a day", DIM)
