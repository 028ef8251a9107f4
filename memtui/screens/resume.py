"""Asking before a session is taken up in its agent: the very command is shown."""

import shutil
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from memtui.memory.resuming import Resume


def why_not(resume: Resume) -> str:
    """Why the command cannot be run here; "" where it can."""
    if resume.why_not:
        return resume.why_not
    if shutil.which(resume.program) is None:
        return f"{resume.program} is not installed on this machine."
    if resume.folder and not Path(resume.folder).is_dir():
        return f"The folder {resume.folder} is not there any more."
    return ""


class ResumeScreen(ModalScreen[bool]):
    """Shows the command; answers whether it is to be run."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "run it", show=False),
        Binding("c", "copy", "copy it", show=False),
        Binding("escape,n", "answer(False)", "leave it", show=False),
        Binding("q", "app.quit", "quit", show=False),
    ]

    def __init__(self, resume: Resume) -> None:
        super().__init__()
        self._resume = resume
        self._why_not = why_not(resume)

    def compose(self) -> ComposeResult:
        """The command, what stands against it, and the keys."""
        with Vertical(id="resume"):
            yield Static(self._question(), id="question")
            yield Static(self._keys(), id="answers")

    def _question(self) -> Content:
        said = str(self._resume)
        if not said:
            return Content(self._why_not)
        if self._why_not:
            return Content.assemble((f"{self._why_not}\n\n", "$error"), (said, "bold"))
        return Content.assemble(
            "Leave memtui for this, and come back when it ends?\n\n", (said, "bold")
        )

    def _keys(self) -> Content:
        keys = [("esc", "go back")]
        if self._resume.argv:
            keys.insert(0, ("c", "copy the command"))
        if not self._why_not:
            keys.insert(0, ("y", "run it"))
        return Content("   ").join(
            Content.assemble((key, "bold $accent"), f" {says}") for key, says in keys
        )

    def action_answer(self, is_yes: bool) -> None:
        """Answer, as far as the command can be run."""
        if is_yes and self._why_not:
            self.notify(self._why_not, markup=False)
        else:
            self.dismiss(is_yes)

    def action_copy(self) -> None:
        """Copy the command, and go back."""
        if self._resume.argv:
            self.app.copy_to_clipboard(str(self._resume))
            self.notify(str(self._resume), title="Copied", markup=False)
            self.dismiss(False)
