"""Small dialogs: go to a date, name a file, choose, write a line, resume a session."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar, NamedTuple, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from memtui.model import calendar
from memtui.services import browse
from memtui.services.resume import ResumeCommand
from memtui.text import dates
from memtui.tui import format
from memtui.tui.commands import FIRST_LINE
from memtui.tui.screens.base import Dialog
from memtui.tui.widgets.panes import ItemList

# Going to a date

EXAMPLES = (
    "today · last tuesday · two weeks ago · in March\n"
    "2024 · 2024-01 · 2024-W03 · 2024-01-18"
)

NOTHING = "No conversations yet: there is no day to go to."


class DateScreen(Dialog[str]):
    """Returns the id of an existing node."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "submit", "go there", key_display="enter", priority=True),
        Binding("escape", "leave", "back"),
        # The dialog is opened by the first key of the sequence.
        Binding(FIRST_LINE[-1], "go_to_first", "first line", show=False),
    ]

    def compose_dialog(self) -> ComposeResult:
        today = calendar.local_day(self.now(), self.zone)
        with Vertical(id="date"):
            yield Input(placeholder=today.isoformat(), compact=True, id="day")
            yield Static(id="parsed", markup=False)
            yield Static(EXAMPLES, id="examples", markup=False)

    @on(Input.Changed)
    def show_parsed(self, event: Input.Changed) -> None:
        if event.value == FIRST_LINE[-1]:
            self.action_go_to_first()
            return
        date = self._read_date(event.value)
        self._say(f"→ {date.label}" if date else "")

    def action_go_to_first(self) -> None:
        self.dismiss("")
        self.app.call_later(self.app.run_action, "go_to_first")

    def _read_date(self, text: str) -> dates.NodeDate | None:
        return dates.read_node(text, self.now().astimezone(self.zone))

    def _say(self, text: str, style: str = "$foreground") -> None:
        self.query_one("#parsed", Static).update(Content.styled(text, style))

    @on(Input.Submitted)
    def go(self, event: Input.Submitted) -> None:
        date = self._read_date(event.value)
        if date is None:
            self._say(f"“{event.value}” is not a past date. Examples:", "$error")
            return
        find = partial(browse.find_nearest, date.node_id)
        self.load(find, partial(self._leave_to, date.node_id), "nearest")

    def _leave_to(self, asked_id: str, nearest_id: str) -> None:
        if not nearest_id:
            self._say(NOTHING, "$error")
            return
        if nearest_id != asked_id:
            self.notify(
                f"{dates.node_label(asked_id)} has no conversations."
                f" Nearest: {dates.node_label(nearest_id)}."
            )
        self.dismiss(nearest_id)

    def show_error(self, error: BaseException, group: str) -> None:
        self._say(f"✗ {format.error_text(error)}", "$error")


# Writing a file

CONVERSATION = "The whole conversation is written to this file, as Markdown."
REPORT = "A report is written to this file, as Markdown, or as HTML if named .html."
PACK = "The context pack is written to this file, as Markdown."


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


class ExportScreen(Dialog[str]):
    """Returns the file, an existing one only after a second Enter."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "submit", "write it", key_display="enter", priority=True),
        Binding("escape", "leave", "back"),
    ]

    def __init__(self, file: Path, hint: str) -> None:
        super().__init__()
        self._file, self._hint, self._confirmed = file, hint, ""

    def compose_dialog(self) -> ComposeResult:
        with Vertical(id="export"):
            yield Input(str(self._file), compact=True, id="file", select_on_focus=False)
            yield Static(self._hint, id="how", markup=False)

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
            self.dismiss(str(check.file))

    def _say(self, text: str) -> None:
        self.query_one("#how", Static).update(Content.styled(text, "$error"))


# Choosing

Choice = TypeVar("Choice")


class ChoiceScreen(Dialog[Choice]):
    """Returns one of several values, each with a label."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "choose", "choose", key_display="enter", priority=True),
        Binding("escape", "leave", "back"),
    ]

    def __init__(self, title: str, choices: Sequence[tuple[Choice, Content]]) -> None:
        super().__init__()
        self._title, self._choices = title, choices

    def compose_dialog(self) -> ComposeResult:
        with Vertical():
            yield Static(self._title, markup=False)
            yield ItemList[Choice]()

    def on_mount(self) -> None:
        choices = {str(at): choice for at, choice in enumerate(self._choices)}
        options = [Option(label, id=name) for name, (_, label) in choices.items()]
        values = {name: value for name, (value, _) in choices.items()}
        self.query_one(ItemList).show_items(values, options)

    def action_choose(self) -> None:
        self.query_one(ItemList).action_select()

    @on(OptionList.OptionSelected)
    def choose(self) -> None:
        self.dismiss(self.query_one(ItemList).current)


# Writing a line


class TypedLine(NamedTuple):
    """A line that was typed; it may be empty."""

    text: str


class LineScreen(Dialog[TypedLine]):
    """Returns a line of text."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "submit", "save it", key_display="enter", priority=True),
        Binding("escape", "leave", "back"),
    ]

    def __init__(self, text: str, hint: str) -> None:
        super().__init__()
        self._text, self._hint = text, hint

    def compose_dialog(self) -> ComposeResult:
        with Vertical():
            yield Input(self._text, compact=True)
            yield Static(self._hint, id="how", markup=False)

    @on(Input.Submitted)
    def submit(self, event: Input.Submitted) -> None:
        self.dismiss(TypedLine(event.value.strip()))


# Resuming a session


class ResumeScreen(Dialog[bool]):
    """Returns whether to run the command."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,y", "answer(True)", "run it", key_display="enter"),
        Binding("c", "copy", "copy the command"),
        Binding("escape,n", "answer(False)", "back", key_display="esc"),
        Binding("q", "app.quit", "quit"),
    ]

    def __init__(self, resume: ResumeCommand) -> None:
        super().__init__()
        self._resume = resume

    def compose_dialog(self) -> ComposeResult:
        lead = self._resume.problem or "Run this now? memtui comes back when it ends."
        parts = Content(lead), Content.styled(str(self._resume), "bold")
        question = Content("\n\n").join(part for part in parts if part)
        with Vertical(id="resume"):
            yield Static(question, id="question")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool:
        if action == "copy":
            return bool(self._resume.argv)
        return parameters != (True,) or not self._resume.problem

    def action_answer(self, is_yes: bool) -> None:
        self.dismiss(is_yes)

    def action_copy(self) -> None:
        self.app.copy_to_clipboard(str(self._resume))
        self.notify(str(self._resume), title="Copied")
        self.dismiss(False)
