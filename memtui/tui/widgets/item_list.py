"""The base of the lists of the app: an option list that is safe before it is drawn.

Textual's list knows on which line an option is only after its first layout; asked for a
page before that, or given no width at all, it ends the app.
"""

from textual.widgets import OptionList

MIN_WIDTH = 6
"""Below this width, in cells, nothing is laid out."""


class ItemList(OptionList):
    """An option list that ignores page keys until it has been drawn."""

    def watch_loading(self) -> None:
        """Offer the keys of the list again once it has loaded."""
        self.refresh_bindings()

    def action_open(self) -> None:
        self.action_select()

    def action_page_down(self) -> None:
        if is_drawn(self):
            super().action_page_down()  # type: ignore[no-untyped-call]

    def action_page_up(self) -> None:
        if is_drawn(self):
            super().action_page_up()  # type: ignore[no-untyped-call]

    def _update_lines(self) -> None:
        if self.scrollable_content_region.width >= MIN_WIDTH:
            super()._update_lines()


def is_drawn(options: OptionList) -> bool:
    """Return whether the line of the option under the cursor is known."""
    return (options.highlighted or 0) in options._index_to_line
