"""A list, and beside or below it all there is to read of the one chosen in it.

The keys go from the one to the other, and out again by the list.
"""

from textual import on
from textual.screen import ScreenResultType
from textual.widgets import OptionList

from memtui.messages.page import WentBack
from memtui.screens.following import Following
from memtui.screens.layouts import LAYOUTS
from memtui.widgets.source_pane import Reader


class Choosing(Following[ScreenResultType]):
    """A screen of two panes: the list, and the reader of what is chosen."""

    HORIZONTAL_BREAKPOINTS = LAYOUTS

    @property
    def _list(self) -> OptionList:
        return self.query_one(OptionList)

    @property
    def _reader(self) -> Reader:
        return self.query_one(Reader)

    @on(OptionList.OptionSelected)
    def action_next_pane(self) -> None:
        """Go from the list to what there is of the chosen one, and back."""
        (self._reader if self._list.has_focus else self._list).focus()

    def action_previous_pane(self) -> None:
        """Go the other way round, which is the same."""
        self.action_next_pane()

    @on(WentBack)
    def action_back(self) -> None:
        """Back to the list, or leave."""
        if self._reader.has_focus:
            self._list.focus()
        else:
            self._leave()

    def _leave(self) -> None:
        self.dismiss(None)
