"""The days by weeks: a column a week from its Monday on, a block of rows a year.

The newest year is on top. What is not read yet is blank; a day of nothing has a dot.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import BindingType
from textual.content import Content
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from memtui.model import calendar
from memtui.model.calendar import CalendarDay, CalendarYear, DateRange
from memtui.text import date_format
from memtui.tui import commands, format
from memtui.tui.messages import DayHighlighted, DaySelected, YearsScrolled

GLYPHS = "·░▒▓█"
"""From nothing to most; their twins in plain letters are five as well."""


@dataclass(frozen=True, slots=True)
class ActivityScale:
    """Which step a number of messages is, among those in sight."""

    cuts: tuple[int, int, int]
    """From how many on the second, the third and the fourth step begin."""

    @classmethod
    def from_counts(cls, counts: Iterable[int]) -> "ActivityScale":
        """Steps that hold a quarter of these counts each.

        Args:
            counts: The messages of the days on which anything was said.
        """
        ordered = sorted(max(1, count) for count in counts) or [1]
        one, two, three = (ordered[len(ordered) * part // 4] for part in (1, 2, 3))
        return cls((one, two, three))

    def level(self, count: int) -> int:
        """The step of a day on which something was said, 1 to 4."""
        return 1 + sum(max(1, count) >= cut for cut in self.cuts)

    def ranges(self) -> list[tuple[int, str]]:
        """The steps there are, from 0, and what each stands for."""
        said = [(0, "none")]
        least = 1
        for step, cut in enumerate(self.cuts, 1):
            if cut > least:
                most = cut - 1
                range_ = f"{least:,}" if least == most else f"{least:,}–{most:,}"
                said.append((step, range_))
                least = cut
        said.append((4, f"{least:,} or more"))
        return said


LEAD_CELLS = 6
"""How wide the year and the names of weekdays at the left are."""


BLOCK_LINES = 9
"""A line of months, seven of days and a blank one."""


WIDE_CELLS = 112
"""From how many cells on a week is two cells wide."""


NAMES = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


DAY = timedelta(days=1)


class DayGrid(Widget, can_focus=True):
    """Moves through the days; says which one the cursor is on."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "days--name", "days--cursor", "days--none",
        "days--step1", "days--step2", "days--step3", "days--step4",
    }  # fmt: skip
    BINDINGS: ClassVar[list[BindingType]] = commands.bindings(
        "cursor_down", "cursor_up", "first", "last",
        open="Open this day in the contents.",
        deeper="Go on a week.",
        outward="Go back a week.",
        page_down="Go to the year before.",
        page_up="Go to the year after.",
    )  # fmt: skip
    HELP_TITLE = "Among the days"

    cursor: reactive[date] = reactive(date(1970, 1, 1), init=False)
    """The day the cursor is on."""

    def __init__(self, cursor: date, today: date) -> None:
        """Make the grid.

        Args:
            cursor: Where the cursor is first.
            today: The local date.
        """
        super().__init__()
        self.set_reactive(DayGrid.cursor, cursor)
        self._today = today
        self._top = calendar.iso_year(cursor)
        self.span: DateRange | None = None
        self.years: dict[int, CalendarYear] = {}
        self.scale = ActivityScale.from_counts(())

    # What is shown

    @property
    def visible_years(self) -> list[int]:
        """The years in sight, the newest first."""
        blocks = max(1, (self.size.height + 1) // BLOCK_LINES)
        newest, oldest = self._newest, self._oldest
        top = min(newest, max(self._top, oldest + blocks - 1))
        return list(range(top, max(oldest, top - blocks + 1) - 1, -1))

    @property
    def _newest(self) -> int:
        return calendar.iso_year(self._latest)

    @property
    def _oldest(self) -> int:
        return calendar.iso_year(self._earliest)

    @property
    def _latest(self) -> date:
        return max(self.span.last, self._today) if self.span else self._today

    @property
    def _earliest(self) -> date:
        """The Monday of the first year: days before its first one can be visited."""
        first = self.span.first if self.span else self._today
        return calendar.first_day(calendar.iso_year(first))

    @property
    def current(self) -> CalendarDay | None:
        """What is kept of the day the cursor is on."""
        return self._found(self.cursor)

    @property
    def is_loaded(self) -> bool:
        """Whether it is known what is kept of the day the cursor is on."""
        return calendar.iso_year(self.cursor) in self.years

    def _found(self, day: date) -> CalendarDay | None:
        year = self.years.get(calendar.iso_year(day))
        return year.days.get(day) if year else None

    def show(
        self,
        span: DateRange | None,
        years: Iterable[CalendarYear],
        counts: Iterable[int],
    ) -> None:
        """Show these years; the cursor stays where it is.

        Args:
            span: Between which days anything is kept.
            years: The years that were read.
            counts: The messages of each day there is: a shade means the same in
                every year.
        """
        self.span, self.scale = span, ActivityScale.from_counts(counts)
        self.years |= {year.number: year for year in years}
        self._look()

    def reload(self) -> None:
        """Ask anew for all that is in sight."""
        self.years.clear()
        self._look()

    def go_to(self, day: date) -> None:
        """Put the cursor on a day, as near as there is one to point at."""
        self.cursor = min(max(day, self._earliest), self._latest)

    def watch_cursor(self) -> None:
        """Bring its year into sight, and tell of it."""
        year = calendar.iso_year(self.cursor)
        if year not in (shown := self.visible_years):
            self._top = year if year > shown[0] else year + len(shown) - 1
        self._look()
        self.post_message(DayHighlighted(self.cursor))

    def on_resize(self) -> None:
        """There may be room for more years, or for less."""
        self.watch_cursor()

    def _look(self) -> None:
        """Draw anew what is in sight, and ask for what is not read of it."""
        some = [self.years[year] for year in self.visible_years if year in self.years]
        if len(some) < len(self.visible_years):
            self.post_message(YearsScrolled())
        self.refresh()

    # Moving

    def _go(self, day: date, beyond: str = "") -> None:
        """Go to a day if there is one; of days that are not there say why."""
        if self._earliest <= day <= self._latest:
            self.cursor = day
            return
        is_early = day < self._earliest
        words = f"Nothing is kept before {self._oldest}." if is_early else beyond
        self.notify(words or "The days to come are empty.", markup=False)

    def action_cursor_down(self) -> None:
        """Go to the next day."""
        self._go(self.cursor + DAY)

    def action_cursor_up(self) -> None:
        """Go to the day before."""
        self._go(self.cursor - DAY)

    def action_deeper(self) -> None:
        """Go to the same weekday a week later."""
        self._go(self.cursor + calendar.WEEK)

    def action_outward(self) -> None:
        """Go to the same weekday a week before."""
        self._go(self.cursor - calendar.WEEK)

    def action_page_down(self) -> None:
        """Go down to the year before."""
        self.step_year(-1)

    def action_page_up(self) -> None:
        """Go up to the year after."""
        self.step_year(1)

    def step_year(self, step: int) -> None:
        """Go to the same week and weekday of another year.

        Args:
            step: 1 for the year after, -1 for the year before.
        """
        year = calendar.iso_year(self.cursor) + step
        if self._oldest <= year <= self._newest:
            self.go_to(calendar.same_day(self.cursor, year))
        elif self.span is None and not self.is_loaded:
            self.notify("Which years there are is not known yet.", markup=False)
        else:
            end = "earliest" if step < 0 else "latest"
            self.notify(f"This is the {end} year.", markup=False)

    def action_first(self) -> None:
        """Go to the first day of which anything is kept."""
        self.go_to(self.span.first if self.span else self.cursor)

    def action_last(self) -> None:
        """Go to the last day of which anything is kept."""
        self.go_to(self.span.last if self.span else self.cursor)

    def action_open(self) -> None:
        """Open the day the cursor is on."""
        self.post_message(DaySelected())

    def on_click(self, event: events.Click) -> None:
        """Go to the day that is clicked; a double click opens it."""
        block, row = divmod(event.y, BLOCK_LINES)
        week = (event.x - LEAD_CELLS) // self._cells
        if not 1 <= row <= len(NAMES) or block >= len(self.visible_years) or week < 0:
            return
        day = (
            calendar.first_day(self.visible_years[block])
            + week * calendar.WEEK
            + (row - 1) * DAY
        )
        if week < calendar.week_count(self.visible_years[block]):
            self._go(day)
            if event.chain == 2 and self.cursor == day:
                self.action_open()

    # Drawing

    @property
    def _cells(self) -> int:
        return 2 if self.size.width >= WIDE_CELLS else 1

    def render_line(self, y: int) -> Strip:
        """Draw one line: of months, of a weekday, or a blank one."""
        block, row = divmod(y, BLOCK_LINES)
        shown = self.visible_years
        width, base = self.size.width, self.rich_style
        if block >= len(shown) or row > len(NAMES):
            return Strip.blank(width, base)
        year = shown[block]
        drawn = self._months(year) if row == 0 else self._weekday(year, row - 1)
        line = Strip([Segment(text, base + style) for text, style in drawn])
        return line.adjust_cell_length(width, base)

    def _months(self, year: int) -> list[tuple[str, Style]]:
        """The year, and each month over its first week."""
        cells, named = self._cells, ""
        for week in range(calendar.week_count(year)):
            thursday = calendar.first_day(year) + week * calendar.WEEK + 3 * DAY
            if thursday.day <= calendar.WEEK.days:
                named = f"{named:<{week * cells}}{thursday:%b}"
        bold = Style(bold=True)
        is_here = year == calendar.iso_year(self.cursor)
        name = self._ink("name")
        return [
            (f"{year:<{LEAD_CELLS}}", bold if is_here else name),
            (named, name),
        ]

    def _weekday(self, year: int, weekday: int) -> list[tuple[str, Style]]:
        first = calendar.first_day(year) + weekday * DAY
        is_here = self.cursor.weekday() == weekday
        is_here = is_here and calendar.iso_year(self.cursor) == year
        mark, name = (">", Style(bold=True)) if is_here else (" ", self._ink("name"))
        drawn = [(f"{mark}{NAMES[weekday]}".ljust(LEAD_CELLS), name)]
        for week in range(calendar.week_count(year)):
            drawn.append(self._cell(first + week * calendar.WEEK))
        return drawn

    def _cell(self, day: date) -> tuple[str, Style]:
        found, cells = self._found(day), self._cells
        if found is not None:
            step = self.scale.level(found.messages)
            text, ink = GLYPHS[step] * cells, f"step{step}"
        elif day > self._latest or calendar.iso_year(day) not in self.years:
            text, ink = " " * cells, "none"
        else:
            text, ink = GLYPHS[0].ljust(cells), "none"
        if day == self.cursor:
            return text, self._ink(ink) + self._ink("cursor")
        return text, self._ink(ink)

    def _ink(self, name: str) -> Style:
        read: Callable[..., Style] = self.get_component_rich_style
        return read(f"days--{name}", partial=True)


GAP = "   "


def dated(day: date, today: date) -> str:
    """A date in full and how far it is: "Tue 10 Mar 2026, yesterday"."""
    return f"{date_format.day(day)}, {date_format.day_age(day, today)}"


def describe_day(day: date, found: CalendarDay | None, today: date) -> Content:
    """What is known of a day, in lines.

    Args:
        day: The day.
        found: What is kept of it; None for nothing.
        today: The local date.
    """
    name = Content.styled(dated(day, today), "bold")
    if found is None:
        return name + Content.styled(" · nothing is kept", "$context")
    waiting = ["not summarised yet"] if found.is_pending else []
    if not found.segments and found.is_pending:
        return Content(" · ").join([name, *map(Content, waiting)])
    counts = [
        format.quantity(found.segments, "segment"),
        format.quantity(found.messages, "message"),
        *waiting,
    ]
    if found.is_live:
        counts.append(f"{format.LIVE} still going on")
    who = [format.name_list(some) for some in (found.agents, found.projects) if some]
    lines = [
        Content(" · ").join([name, *map(Content, counts)]),
        Content(found.headline),
        Content.styled(" · ".join(who), "$context"),
    ]
    return Content("\n").join(line for line in lines if line)


def describe_scale(shades: ActivityScale) -> Content:
    """What the glyphs stand for, in messages a day."""
    parts = [f"{GLYPHS[step]} {said}" for step, said in shades.ranges()]
    of = " messages a day, in any year"
    return Content(GAP.join(parts)) + Content.styled(of, "$context")
