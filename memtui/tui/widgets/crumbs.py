"""Where you are: the way down from the year."""

from collections.abc import Iterator
from datetime import timedelta, tzinfo

from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from memtui.model import calendar
from memtui.model.nodes import TocLevel, TocLine
from memtui.tui import format

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


def _way(line: TocLine, zone: tzinfo) -> Iterator[str]:
    for node_id in calendar.path(line.node_id):
        here = calendar.period(node_id)
        match here.level:
            case TocLevel.YEAR:
                yield calendar.title(node_id)
            case TocLevel.MONTH:
                yield calendar.title(node_id).partition(" ")[0]
            case TocLevel.WEEK:
                yield format.week(here.first, here.end - timedelta(days=1))
            case TocLevel.DAY:
                yield f"{here.first:%a} {here.first.day}"
            case TocLevel.SEGMENT:
                yield format.clock(line.start_time, zone)
