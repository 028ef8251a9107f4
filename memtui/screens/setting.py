"""Changing one setting: what is typed is checked before the file is touched."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Static
from textual.worker import Worker, WorkerState

from memtui.messages.settings import SettingWritten
from memtui.screens.dialog import Dialog
from memtui.widgets import wording

if TYPE_CHECKING:
    from memtui.memory.setting import Entry


class SettingScreen(Dialog["Entry | None"]):
    """Answers with the setting as it stands once it is written."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "submit", "write it", key_display="enter", priority=True),
        Binding("down", "step(1)", "choose", key_display="↑ ↓", priority=True),
        Binding("up", "step(-1)", "choice before", show=False),
        Binding("escape", "leave", "back"),
    ]

    def __init__(
        self, entry: "Entry", file: str, change: "Callable[[str, str], Entry]"
    ) -> None:
        """Make the question.

        Args:
            entry: What is to be changed.
            file: The file it will stand in.
            change: Checks and writes; may take a while, and says why it cannot.
        """
        super().__init__()
        self._entry, self._file, self._change = entry, file, change
        setting = entry.setting
        self._choices: tuple[str, ...] = ()
        self._is_writing = False
        if isinstance(setting.default, bool):
            self._choices = "true", "false"
        elif not isinstance(setting.default, tuple):
            self._choices = setting.choices

    def ask(self) -> ComposeResult:
        """What it means, a line to type in, and what can be typed."""
        setting = self._entry.setting
        unit = f", in {setting.unit}" if setting.unit else ""
        with Vertical(id="setting"):
            title = Content.styled(f"{setting.name}{unit}", "bold")
            yield Static(title, id="name", markup=False)
            yield Static(setting.says, id="says", markup=False)
            yield Input(self._entry.text, compact=True, id="value")
            yield Static(self._forms(), id="forms", markup=False)
            yield Static(id="wrong", markup=False)

    def _forms(self) -> str:
        setting = self._entry.setting
        forms = [f"built in: {self._entry.default or 'empty'}"]
        if self._choices:
            forms.insert(0, f"↑ ↓  {' · '.join(self._choices)}")
        elif isinstance(setting.default, tuple):
            what = f": {', '.join(setting.choices)}" if setting.choices else ""
            forms.insert(0, f"with commas between{what}")
        return "\n".join([*forms, f"It will stand in {self._file}."])

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool:
        """There is nothing to step through where anything can be typed."""
        return action != "step" or bool(self._choices)

    def action_step(self, by: int) -> None:
        """Type the choice after the one that stands there, or before it."""
        line = self.query_one(Input)
        known = line.value in self._choices
        at = self._choices.index(line.value) + by if known else 0
        line.value = self._choices[at % len(self._choices)]
        line.cursor_position = len(line.value)

    @on(Input.Changed)
    def forget(self) -> None:
        """What was wrong may be right now."""
        self._say("")

    @on(Input.Submitted)
    def write(self, event: Input.Submitted) -> None:
        """Check it and write it; not twice at once."""
        if self._is_writing:
            return
        self._is_writing = True
        self.run_worker(
            partial(self._write, event.value),
            thread=True,
            exclusive=True,
            exit_on_error=False,
        )

    def _write(self, text: str) -> None:
        written = self._change(self._entry.setting.name, text)
        self.post_message(SettingWritten(written))

    @on(SettingWritten)
    def leave_written(self, message: SettingWritten) -> None:
        """Leave with what it is now."""
        self.dismiss(message.entry)

    @on(Worker.StateChanged)
    def say_why(self, event: Worker.StateChanged) -> None:
        """Say why it was not written."""
        if event.state is WorkerState.ERROR:
            self._is_writing = False
            self._say(f"✗ {wording.why(event.worker.error)}. Nothing was written.")

    def _say(self, wrong: str) -> None:
        line = self.query_one("#wrong", Static)
        line.update(Content(wrong))
        line.display = bool(wrong)

    def action_leave(self) -> None:
        """Leave it as it is; what is being written is waited for."""
        if self._is_writing:
            self._say("One moment: it is being written.")
        else:
            self.dismiss(None)
