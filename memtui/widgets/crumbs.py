"""Where you are, where one pane is shown at a time."""

from datetime import tzinfo

from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from memtui.memory import calendar
from memtui.memory.toc import TocLevel, TocLine
from memtui.widgets import wording

APART = " › "


class Crumbs(Widget):
    """The way down to what is shown, the last step bright."""

    steps: reactive[tuple[str, ...]] = reactive(("Contents",))
    """The names on the way."""

    def show(self, line: TocLine | None, zone: tzinfo, *further: str) -> None:
        """Say where the cursor is, and which panes have been entered since."""
        way = _way(line, zone) if line is not None else ()
        self.steps = ("Contents", *way, *further)

    def render(self) -> Content:
        """The steps; the first ones give way where there is no room."""
        steps = list(self.steps)
        while len(steps) > 2 and len(APART.join(steps)) > self.size.width:
            steps[1:3] = ["…"] if steps[1] != "…" or len(steps) > 3 else []
        *before, last = steps
        return Content.assemble((APART.join([*before, ""]), "$context"), (last, "bold"))


def _way(line: TocLine, zone: tzinfo) -> tuple[str, ...]:
    start = line.start_time.astimezone(zone)
    first = calendar.period(line.node_id).first
    names = {
        TocLevel.YEAR: line.title,
        TocLevel.MONTH: line.title,
        TocLevel.WEEK: f"Week of {first.day} {first:%b %Y}",
        TocLevel.DAY: wording.short_day(first),
        TocLevel.SEGMENT: f"{wording.short_day(first)}{APART}{start:%H:%M}",
    }
    return (names[line.level],)
