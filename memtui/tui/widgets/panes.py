"""Panes: titles, breadcrumbs to a node, scrolling details, and the base of lists."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import tzinfo
from typing import ClassVar, Generic, TypeVar

from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from memtui.model import calendar
from memtui.model.calendar import TocLevel
from memtui.model.nodes import DaySession, TocEntry
from memtui.text import date_format
from memtui.tui import commands, format
from memtui.tui.messages import LeavePane

SEPARATOR = " · "  # Between the parts of the info.
MIN_TITLE = 24  # The cells that a title keeps before the info gets any.


class PaneTitle(Widget):
    """A rule with a title at its left and an info at its right.

    The info consists of parts with ``SEPARATOR`` between them, the most important
    first; the last ones are left out where the pane is narrow.
    """

    title = reactive("")
    info = reactive("")

    def __init__(self, title: str = "", info: str = "") -> None:
        super().__init__()
        self.set_reactive(PaneTitle.title, title)
        self.set_reactive(PaneTitle.info, info)

    def show(self, title: str, info: str = "") -> None:
        self.title, self.info = title, info

    def render(self) -> Content:
        title, info = fit_title(self.title, self.info, self.size.width)
        left = Content("─").stylize("$rule") + Content(f" {title} ")
        right = Content(f" {info} " if info else "")
        rule = self.size.width - left.cell_length - right.cell_length - 1
        return Content.assemble(
            left,
            ("─" * max(0, rule), "$rule"),
            right.stylize("not bold $context"),
            ("─", "$rule"),
        )


def fit_title(title: str, info: str, width: int) -> tuple[str, str]:
    """Shorten title and info to a width in cells, by whole words and parts."""
    room = width - len("─  ─")
    needed = min(Content(title).cell_length, MIN_TITLE)
    parts = info.split(SEPARATOR) if info else []
    while parts and needed + _cells(parts) > room:
        parts.pop()
    return format.shorten(title, room - _cells(parts)), SEPARATOR.join(parts)


def _cells(parts: list[str]) -> int:
    return Content(SEPARATOR.join(parts)).cell_length + 2 if parts else 0


STEP = " › "


class Breadcrumbs(Widget):
    """The path to the current node, its last step in bold."""

    steps: reactive[tuple[str, ...]] = reactive(("Contents",))

    def show(
        self, line: TocEntry | DaySession | None, zone: tzinfo, *panes: str
    ) -> None:
        """Show the path to a node and the panes entered from there."""
        path = _path(line, zone) if line is not None else ()
        self.steps = ("Contents", *path, *panes)

    def render(self) -> Content:
        """Draw the steps; without enough room, the first ones become "…"."""
        steps = list(self.steps)
        while len(steps) > 2 and len(STEP.join(steps)) > self.size.width:
            steps[1:3] = ["…"] if steps[1] != "…" or len(steps) > 3 else []
        *before, last = steps
        return Content.assemble((STEP.join([*before, ""]), "$context"), (last, "bold"))


def _path(line: TocEntry | DaySession, zone: tzinfo) -> Iterator[str]:
    if isinstance(line, DaySession):
        path = calendar.path(line.day_id)
    else:
        path = calendar.path(line.node_id, line.month_id)
    for node_id in path:
        period = calendar.period(node_id)
        match period.level:
            case TocLevel.YEAR:
                yield calendar.title(node_id)
            case TocLevel.MONTH:
                yield calendar.title(node_id).partition(" ")[0]
            case TocLevel.WEEK:
                yield format.week_days(node_id, path[path.index(node_id) - 1])
            case TocLevel.DAY:
                yield f"{period.first:%a} {period.first.day}"
    if isinstance(line, DaySession) or line.level is TocLevel.SEGMENT:
        yield date_format.clock(line.start_time, zone)


class ScrollbarInStep(Widget):
    """The base of what scrolls: its bar is in place also when it comes back.

    Textual does not move a bar that is not shown.
    """

    def watch_show_vertical_scrollbar(self, is_shown: bool) -> None:
        if is_shown:
            self.vertical_scrollbar.position = self.scroll_y


class DetailPane(VerticalScroll, ScrollbarInStep, inherit_bindings=False):
    """Scrolls the details of the selected item."""

    BINDINGS: ClassVar[list[BindingType]] = commands.bindings(
        *commands.LINES, outward="Go back to where you came from."
    )

    def action_cursor_up(self) -> None:
        self.scroll_up(animate=False)

    def action_cursor_down(self) -> None:
        self.scroll_down(animate=False)

    def action_half_page_up(self) -> None:
        self.scroll_relative(y=-(self.size.height // 2), animate=False)

    def action_half_page_down(self) -> None:
        self.scroll_relative(y=self.size.height // 2, animate=False)

    def action_first(self) -> None:
        self.scroll_home(animate=False)

    def action_last(self) -> None:
        self.scroll_end(animate=False)

    def action_outward(self) -> None:
        self.post_message(LeavePane())


Item = TypeVar("Item")


class ItemList(OptionList, ScrollbarInStep, Generic[Item], inherit_bindings=False):
    """An option list whose options show items; the cursor stays on its item.

    A narrower list is cut off: it cannot be laid out.
    """

    DEFAULT_CSS = "ItemList { min-width: 8; }"
    BINDINGS: ClassVar[list[BindingType]] = commands.bindings(*commands.LINES)

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, markup=False)
        # The items by the ids of their options; headings have no id.
        self.items: dict[str, Item] = {}

    @property
    def current(self) -> Item | None:
        option = self.highlighted_option
        return self.items.get(option.id or "") if option is not None else None

    def show_items(
        self, items: Mapping[str, Item], options: Iterable[Option], cursor: str = ""
    ) -> None:
        """List other items, by the ids of their options.

        The cursor goes to the named item, else to the same item, else to the first.
        """
        before = self.highlighted_option
        self.items = {**items}
        with self.prevent(OptionList.OptionHighlighted):
            self.set_options(options)
        ids = [cursor, before.id if before and before.id else "", *items]
        if here := next((option_id for option_id in ids if option_id in items), ""):
            self.highlighted = self.get_option_index(here)

    def watch_show_vertical_scrollbar(self, is_shown: bool) -> None:
        """Lay the options out again, for the width that the scroll bar leaves."""
        super().watch_show_vertical_scrollbar(is_shown)
        self._clear_caches()

    def on_resize(self) -> None:
        """Keep the cursor in view."""
        self.call_after_refresh(self.scroll_to_highlight)

    def watch_loading(self) -> None:
        """Offer the keys of the list again once it has loaded."""
        self.refresh_bindings()

    def action_open(self) -> None:
        self.action_select()

    def action_page_down(self) -> None:
        self._move_lines(self.scrollable_content_region.height)

    def action_page_up(self) -> None:
        self._move_lines(-self.scrollable_content_region.height)

    def action_half_page_down(self) -> None:
        self._move_lines((self.scrollable_content_region.height + 1) // 2)

    def action_half_page_up(self) -> None:
        self._move_lines(-((self.scrollable_content_region.height + 1) // 2))

    def _move_lines(self, lines: int) -> None:
        """Move the cursor by lines, and at least to the next option."""
        here, step = self.highlighted, 1 if lines > 0 else -1
        if not lines or here is None:
            return  # It has no size yet, or no options.
        y = min(max(self._index_to_line[here] + lines, 0), len(self._lines) - 1)
        next_place = min(max(here + step, 0), self.option_count - 1)
        there = max(step * self._lines[y][0], step * next_place) * step
        places = range(there, here, -step)
        enabled = (at for at in places if not self.get_option_at_index(at).disabled)
        self.highlighted = next(enabled, here)
