"""Asking before something that could not be taken is deleted for good."""

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from memtui.screens.dialog import Dialog
from memtui.widgets import wording
from memtui.widgets.refusals import how_much, place

if TYPE_CHECKING:
    from memtui.curate.refusals import Entry

ONE, ALL = "one", "all"
"""What may be dropped."""


class DropScreen(Dialog[str]):
    """Says what would be deleted; answers with what may be, or nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", f"answer('{ONE}')", "drop it"),
        Binding("a", f"answer('{ALL}')", "drop all"),
        Binding("escape,n", "answer('')", "keep it", key_display="esc"),
        Binding("q", "app.quit", "quit"),
    ]

    def __init__(self, entry: "Entry", total: int) -> None:
        """Make the question.

        Args:
            entry: What would be dropped.
            total: How much there is in all.
        """
        super().__init__()
        self._entry, self._total = entry, total

    def ask(self) -> ComposeResult:
        """What would happen."""
        with Vertical(id="drop"):
            yield Static(self._question(), id="question")

    def _question(self) -> Content:
        entry = self._entry
        if entry.file:
            what = f"Note no more that {how_much(entry)} could not be taken?\n\n"
            then = f"\n\n{place(entry)} stays as it is."
        else:
            what = f"Delete this hook's file for good, {how_much(entry)}?\n\n"
            then = "\n\nWhat it says is kept nowhere else."
        if self._total > 1:
            then += f" a drops all {wording.count(self._total)} entries."
        return Content.assemble((what, "bold"), entry.name, (then, "$context"))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool:
        """One entry is not dropped as all."""
        return parameters != (ALL,) or self._total > 1

    def action_answer(self, answer: str) -> None:
        """Answer."""
        self.dismiss(answer)
