"""The breadcrumbs: the path from the year to the current node and pane."""

from collections.abc import Iterator
from datetime import timedelta, tzinfo

from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from memtui.model import calendar
from memtui.model.nodes import TocEntry, TocLevel
from memtui.text import date_format

SEPARATOR = " › "


class Breadcrumbs(Widget):
    """The path to the current node, its last step in bold."""

    steps: reactive[tuple[str, ...]] = reactive(("Contents",))

    def show(self, line: TocEntry | None, zone: tzinfo, *panes: str) -> None:
        """Show the path to a node and the panes entered from there."""
        path = _path(line, zone) if line is not None else ()
        self.steps = ("Contents", *path, *panes)

    def render(self) -> Content:
        """Draw the steps; without enough room, the first ones become "…"."""
        steps = list(self.steps)
        while len(steps) > 2 and len(SEPARATOR.join(steps)) > self.size.width:
            steps[1:3] = ["…"] if steps[1] != "…" or len(steps) > 3 else []
        *before, last = steps
        return Content.assemble(
            (SEPARATOR.join([*before, ""]), "$context"), (last, "bold")
        )


def _path(line: TocEntry, zone: tzinfo) -> Iterator[str]:
    for node_id in calendar.path(line.node_id):
        period = calendar.period(node_id)
        match period.level:
            case TocLevel.YEAR:
                yield calendar.title(node_id)
            case TocLevel.MONTH:
                yield calendar.title(node_id).partition(" ")[0]
            case TocLevel.WEEK:
                yield date_format.days(period.first, period.end - timedelta(days=1))
            case TocLevel.DAY:
                yield f"{period.first:%a} {period.first.day}"
            case TocLevel.SEGMENT:
                yield date_format.clock(line.start_time, zone)
