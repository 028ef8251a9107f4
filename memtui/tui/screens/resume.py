"""Asking before a session is taken up in its agent: the very command is shown."""

import shutil
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from memtui.model.sessions import Resume
from memtui.tui import workers
from memtui.tui.messages import RunLookedAt
from memtui.tui.screens.base import Dialog

LOOKING = "Looking whether it can be run here…"


ANSWERS = "y runs it. esc goes back."


ONLY_COPIES = "c copies the command. esc goes back."
"""What the key that answers elsewhere says here, where a program would be started."""


def why_not(resume: Resume) -> str:
    """Why the command cannot be run here; "" where it can."""
    if resume.why_not:
        return resume.why_not
    if shutil.which(resume.program) is None:
        return f"{resume.program} is not installed on this machine."
    return of_the_folder(resume)


def of_the_folder(resume: Resume) -> str:
    """That the folder it is run in is gone; "" where it is not."""
    if not resume.folder or Path(resume.folder).is_dir():
        return ""
    return (
        f"The folder {resume.folder} is not there any more."
        f" Run elsewhere, {resume.program} may not find the session."
    )


class ResumeScreen(Dialog[bool]):
    """Shows the command; answers whether it is to be run."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "run it"),
        Binding("c", "copy", "copy the command"),
        Binding("enter", "say_keys", "what answers", show=False),
        Binding("escape,n", "answer(False)", "go back", key_display="esc"),
        Binding("q", "app.quit", "quit"),
    ]

    def __init__(self, resume: Resume) -> None:
        super().__init__()
        self._resume = resume
        self._why_not = LOOKING if resume.argv else why_not(resume)

    def ask(self) -> ComposeResult:
        """The command, and what stands against it."""
        with Vertical(id="resume"):
            yield Static(self._question(), id="question")

    def on_mount(self) -> None:
        """Look whether it can be run: its folder may lie on a disk that is slow."""
        if self._resume.argv:
            workers.ask(self, self._look, "look")

    def _look(self) -> None:
        why, is_gone = why_not(self._resume), bool(of_the_folder(self._resume))
        workers.tell(self, RunLookedAt(why, is_gone=is_gone))

    @on(RunLookedAt)
    def show(self, message: RunLookedAt) -> None:
        """Show what stands against it, or ask."""
        self._why_not = message.why_not
        if message.is_gone:  # To go there first would fail.
            self._resume = replace(self._resume, folder="")
        self.query_one("#question", Static).update(self._question())
        self.refresh_bindings()

    def _question(self) -> Content:
        said = str(self._resume)
        if not said:
            return Content(self._why_not)
        if self._why_not:
            style = "$context" if self._why_not == LOOKING else "$error"
            return Content.assemble((f"{self._why_not}\n\n", style), (said, "bold"))
        return Content.assemble(
            "Leave memtui for this, and come back when it ends?\n\n", (said, "bold")
        )

    @property
    def refused(self) -> Collection[str]:
        """It is run where it can be, and copied where there is a command."""
        is_told = {"answer(True)": not self._why_not, "copy": bool(self._resume.argv)}
        return [action for action, can_be in is_told.items() if not can_be]

    def action_answer(self, is_yes: bool) -> None:
        """Answer, as far as the command can be run."""
        if is_yes and self._why_not:
            self.notify(self._why_not, markup=False)
        else:
            self.dismiss(is_yes)

    def action_say_keys(self) -> None:
        """Say which key answers."""
        if not self._why_not:
            said = ANSWERS
        else:
            said = ONLY_COPIES if self._resume.argv else "esc goes back."
        self.notify(said, markup=False)

    def action_copy(self) -> None:
        """Copy the command, and go back."""
        if self._resume.argv:
            self.app.copy_to_clipboard(str(self._resume))
            self.notify(str(self._resume), title="Copied", markup=False)
            self.dismiss(False)
