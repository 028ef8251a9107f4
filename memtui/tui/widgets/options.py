"""Lists of options that can be asked to move before they have been drawn.

Textual's own list knows which line an option stands on only once it has been laid out;
asked for a page before that, or given no width at all, it ends the app.
"""

from textual.widgets import OptionList

LEAST_CELLS = 6
"""In less than so many cells nothing is laid out."""


class Options(OptionList):
    """A list that stands still until it is there to be seen."""

    def watch_loading(self) -> None:
        """Have its keys offered once it is there: before, they do nothing."""
        self.refresh_bindings()

    def action_page_down(self) -> None:
        """Move down a page."""
        if is_drawn(self):
            super().action_page_down()  # type: ignore[no-untyped-call]

    def action_page_up(self) -> None:
        """Move up a page."""
        if is_drawn(self):
            super().action_page_up()  # type: ignore[no-untyped-call]

    def _update_lines(self) -> None:
        if self.scrollable_content_region.width >= LEAST_CELLS:
            super()._update_lines()


def is_drawn(options: OptionList) -> bool:
    """Whether it is known on which line the option under the cursor stands."""
    return (options.highlighted or 0) in options._index_to_line
