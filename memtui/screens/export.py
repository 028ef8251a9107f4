"""Asking where a session is written to; a file is replaced only when that is agreed."""

from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from memtui.widgets import wording

HOW = "enter writes all that was said there, as Markdown; esc does not."


class ExportScreen(ModalScreen[Path | None]):
    """Names the file; answers with it, or with nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "back", show=False),
    ]

    def __init__(self, file: Path) -> None:
        super().__init__()
        self._file = file
        self._agreed = ""

    def compose(self) -> ComposeResult:
        """The file's name, to be changed or taken."""
        with Vertical(id="export"):
            yield Input(str(self._file), compact=True, id="file", select_on_focus=False)
            yield Static(HOW, id="how", markup=False)

    @on(Input.Submitted)
    def go(self, event: Input.Submitted) -> None:
        """Write there, or say what stands against it."""
        named = event.value.strip()
        try:
            self._go(named, Path(named).expanduser())
        except (OSError, RuntimeError) as error:
            self._say(f"This cannot be written to: {wording.why(error)}.")

    def _go(self, named: str, file: Path) -> None:
        if not named or file.is_dir():
            self._say("Name a file.")
        elif not file.absolute().parent.is_dir():
            self._say(f"There is no folder {file.absolute().parent}.")
        elif file.exists() and self._agreed != named:
            self._agreed = named
            self._say("This file is there already: enter again replaces it.")
        else:
            self.dismiss(file.absolute())

    def _say(self, words: str) -> None:
        self.query_one("#how", Static).update(Content.styled(words, "$error"))

    def action_leave(self) -> None:
        """Write nothing."""
        self.dismiss(None)
