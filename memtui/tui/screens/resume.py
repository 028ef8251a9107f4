"""A dialog that shows the command that resumes a session, before it is run."""

import shutil
from collections.abc import Collection
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from memtui.model.sessions import ResumeCommand
from memtui.tui.screens.base import Dialog

CHECKING = "Checking whether it can be run here…"


def check(resume: ResumeCommand) -> tuple[str, ResumeCommand]:
    """Return why a command cannot be run here, or "", and the one to copy."""
    if resume.reason:
        return resume.reason, resume
    if shutil.which(resume.program) is None:
        return f"{resume.program} is not installed on this machine.", resume
    if resume.folder and not Path(resume.folder).is_dir():
        problem = (
            f"The folder {resume.folder} does not exist any more."
            f" Run elsewhere, {resume.program} may not find the session."
        )
        return problem, replace(resume, folder="")
    return "", resume


class ResumeScreen(Dialog[bool]):
    """Returns whether to run the command."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "run it"),
        Binding("c", "copy", "copy the command"),
        Binding("enter", "show_keys", "show keys", show=False),
        Binding("escape,n", "answer(False)", "go back", key_display="esc"),
        Binding("q", "app.quit", "quit"),
    ]

    def __init__(self, resume: ResumeCommand) -> None:
        super().__init__()
        self._resume = resume
        self._problem = CHECKING if resume.argv else resume.reason

    def compose_dialog(self) -> ComposeResult:
        with Vertical(id="resume"):
            yield Static(self._question(), id="question")

    def on_mount(self) -> None:
        if self._resume.argv:
            # On a thread: the folder may be on a slow disk.
            self.load(partial(check, self._resume), self._show, "check")

    def _show(self, checked: tuple[str, ResumeCommand]) -> None:
        self._problem, self._resume = checked
        self.query_one("#question", Static).update(self._question())
        self.refresh_bindings()

    def _question(self) -> Content:
        command = str(self._resume)
        if not command:
            return Content(self._problem)
        if self._problem:
            style = "$context" if self._problem == CHECKING else "$error"
            return Content.assemble((f"{self._problem}\n\n", style), (command, "bold"))
        return Content.assemble(
            "Run this now? memtui comes back when it ends.\n\n", (command, "bold")
        )

    @property
    def refused(self) -> Collection[str]:
        """Only what can be done is offered in the footer."""
        is_possible = {
            "answer(True)": not self._problem,
            "copy": bool(self._resume.argv),
        }
        return [action for action, possible in is_possible.items() if not possible]

    def action_answer(self, is_yes: bool) -> None:
        if is_yes and self._problem:
            self.notify(self._problem, markup=False)
        else:
            self.dismiss(is_yes)

    def action_show_keys(self) -> None:
        """Name the key that answers: Enter alone never starts a program."""
        text = "Press esc to go back."
        if not self._problem:
            text = "Press y to run it, esc to go back."
        elif self._resume.argv:
            text = "Press c to copy the command, esc to go back."
        self.notify(text, markup=False)

    def action_copy(self) -> None:
        if self._resume.argv:
            self.app.copy_to_clipboard(str(self._resume))
            self.notify(str(self._resume), title="Copied", markup=False)
            self.dismiss(False)
