"""The versions of a node, the latest first, a few lines for each."""

from datetime import tzinfo
from typing import ClassVar

from textual.binding import BindingType
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from memtui import commands
from memtui.memory.toc import TocEdition, TocHistory
from memtui.widgets import editions
from memtui.widgets.options import Options


class VersionList(Options, inherit_bindings=False):
    """Moves through the versions."""

    BINDINGS: ClassVar[list[BindingType]] = commands.bindings(
        "first", "last", "cursor_up", "cursor_down", "page_up", "page_down",
        open="Read this version.",
    )  # fmt: skip
    CALLED = "In the list of versions"

    def __init__(self, zone: tzinfo) -> None:
        super().__init__(id="editions")
        self._zone = zone
        self.editions: tuple[TocEdition, ...] = ()

    @property
    def pointed_at(self) -> TocEdition | None:
        """The version the cursor is on."""
        at = self.highlighted
        return None if at is None or at >= len(self.editions) else self.editions[at]

    def show(self, history: TocHistory) -> None:
        """List these; the cursor stays on its version, at first on the one shown."""
        before = self.pointed_at or history.shown
        self.editions = history.editions
        status = history.line.status
        rows = [editions.row(one, status, self._zone) for one in history.editions]
        with self.prevent(OptionList.OptionHighlighted):
            self.set_options(Option(row) for row in rows)
        numbers = [one.version for one in history.editions]
        if before is not None and before.version in numbers:
            self.highlighted = numbers.index(before.version)
        elif numbers:
            self.highlighted = 0

    def action_open(self) -> None:
        """Go to what the version says."""
        self.action_select()
