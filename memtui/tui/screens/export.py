"""A dialog that asks which file a session is exported to."""

from functools import partial
from pathlib import Path
from typing import ClassVar, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Static

from memtui.tui import format
from memtui.tui.screens.base import Dialog

HINT = "The whole conversation is written to this file, as Markdown."


class FileCheck(NamedTuple):
    """The result of checking a typed file name."""

    file: Path
    problem: str = ""
    exists: bool = False


def check_file(typed: str) -> FileCheck:
    """Check whether a file can be written; the disk may be slow."""
    file = Path(typed)
    try:
        file = file.expanduser().absolute()
        if not typed or file.is_dir():
            return FileCheck(file, "Name a file.")
        if not file.parent.is_dir():
            return FileCheck(file, f"There is no folder {file.parent}.")
        return FileCheck(file, exists=file.exists())
    except (OSError, RuntimeError) as error:
        return FileCheck(
            file, f"This file cannot be written: {format.error_text(error)}."
        )


class ExportScreen(Dialog[Path | None]):
    """Returns the file; an existing one only after a second Enter."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "submit", "write it", key_display="enter", priority=True),
        Binding("escape", "leave", "back"),
    ]

    def __init__(self, file: Path) -> None:
        super().__init__()
        self._file = file
        self._confirmed = ""

    def compose_dialog(self) -> ComposeResult:
        with Vertical(id="export"):
            yield Input(str(self._file), compact=True, id="file", select_on_focus=False)
            yield Static(HINT, id="how", markup=False)

    def on_mount(self) -> None:
        """Scroll to the file's name, which a long folder would hide."""
        line = self.query_one(Input)
        line.cursor_position = 0
        self.call_after_refresh(line.action_end)

    @on(Input.Submitted)
    def check(self, event: Input.Submitted) -> None:
        typed = event.value.strip()
        self.load(partial(check_file, typed), partial(self._submit, typed), "check")

    def _submit(self, typed: str, check: FileCheck) -> None:
        if check.problem:
            self._say(check.problem)
        elif check.exists and self._confirmed != typed:
            self._confirmed = typed
            self._say("This file exists. Press enter again to replace it.")
        else:
            self.dismiss(check.file)

    def _say(self, text: str) -> None:
        self.query_one("#how", Static).update(Content.styled(text, "$error"))
