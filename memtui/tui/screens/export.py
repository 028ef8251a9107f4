"""Asking where a session is written to; a file is replaced only when that is agreed."""

from functools import partial
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Static

from memtui.tui import format, workers
from memtui.tui.messages import FileLookedAt
from memtui.tui.screens.base import Dialog

HOW = "All that was said there, as Markdown, is written into this file."


class ExportScreen(Dialog[Path | None]):
    """Names the file; answers with it, or with nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "submit", "write it", key_display="enter", priority=True),
        Binding("escape", "leave", "back"),
    ]

    def __init__(self, file: Path) -> None:
        super().__init__()
        self._file = file
        self._agreed = ""

    def ask(self) -> ComposeResult:
        """The file's name, to be changed or taken."""
        with Vertical(id="export"):
            yield Input(str(self._file), compact=True, id="file", select_on_focus=False)
            yield Static(HOW, id="how", markup=False)

    def on_mount(self) -> None:
        """Show how the file is called, where its folder leaves no room for that."""
        line = self.query_one(Input)
        line.cursor_position = 0
        self.call_after_refresh(line.action_end)

    @on(Input.Submitted)
    def go(self, event: Input.Submitted) -> None:
        """Look on a thread whether it can be written: the disk may be slow."""
        workers.ask(self, partial(self._look, event.value.strip()), "look")

    def _look(self, named: str) -> None:
        why, file, is_there = "", Path(named), False
        try:
            file = file.expanduser().absolute()
            if not named or file.is_dir():
                why = "Name a file."
            elif not file.parent.is_dir():
                why = f"There is no folder {file.parent}."
            else:
                is_there = file.exists()
        except (OSError, RuntimeError) as error:
            why = f"This cannot be written to: {format.why(error)}."
        workers.tell(self, FileLookedAt(named, str(file), why, is_there=is_there))

    @on(FileLookedAt)
    def write(self, message: FileLookedAt) -> None:
        """Write there, or say what stands against it."""
        if message.why_not:
            self._say(message.why_not)
        elif message.is_there and self._agreed != message.named:
            self._agreed = message.named
            self._say("This file is there already: enter again replaces it.")
        else:
            self.dismiss(Path(message.file))

    def _say(self, words: str) -> None:
        self.query_one("#how", Static).update(Content.styled(words, "$error"))

    def action_leave(self) -> None:
        """Write nothing."""
        self.dismiss(None)
