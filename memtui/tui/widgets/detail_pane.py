"""The scrolling pane beside or below a list."""

from typing import ClassVar

from textual.binding import BindingType
from textual.containers import VerticalScroll

from memtui.tui import commands
from memtui.tui.messages import PaneLeft


class DetailPane(VerticalScroll, inherit_bindings=False):
    """Scrolls the details of the selected item."""

    BINDINGS: ClassVar[list[BindingType]] = commands.bindings(
        "cursor_up", "cursor_down", "page_up", "page_down", "first", "last",
        outward="Go back to where you came from.",
    )  # fmt: skip

    def action_cursor_up(self) -> None:
        self.scroll_up(animate=False)

    def action_cursor_down(self) -> None:
        self.scroll_down(animate=False)

    def action_first(self) -> None:
        self.scroll_home(animate=False)

    def action_last(self) -> None:
        self.scroll_end(animate=False)

    def action_outward(self) -> None:
        self.post_message(PaneLeft())
