"""The settings: what each is, what it means, who set it; and changing it for good."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Protocol

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Input, OptionList, Static
from textual.worker import Worker, WorkerState

from memtui.tui import commands, format
from memtui.tui.messages import SettingsRead, SettingWritten, WentBack, WorkReported
from memtui.tui.screens.base import LAYOUTS, Dialog
from memtui.tui.widgets import setting_list
from memtui.tui.widgets.detail_pane import Reader
from memtui.tui.widgets.key_line import KeyLine
from memtui.tui.widgets.pane_title import PaneTitle
from memtui.tui.widgets.setting_list import SettingList
from memtui.tui.widgets.status_line import StatusLine

if TYPE_CHECKING:
    from memtui.model.setting import Entry, SettingsSheet


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
            self._say(f"✗ {format.why(event.worker.error)}. Nothing was written.")

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


BROKEN = (
    "✗ {}\n\nShown is what was read before. Nothing is written until that is mended;"
    " then come back here."
)


NONE_FOUND = "No setting says that. esc shows all of them."


class SettingsEditorProtocol(Protocol):
    """What the screen needs: ``memtui.settings.desk.Desk``."""

    def look(self) -> "SettingsSheet":
        """All settings as they stand; may take a while."""

    def change(self, name: str, text: str) -> "Entry":
        """Set a value for good, or say why not."""


class SettingsScreen(Screen[None]):
    """Lists the settings and explains the chosen one."""

    HORIZONTAL_BREAKPOINTS = LAYOUTS
    BINDINGS: ClassVar[list[BindingType]] = [
        *commands.bindings(
            in_footer=True,
            find_here="List the settings that say what you type.",
            back="List all of them again, go back to the list, or leave it.",
        ),
        *commands.bindings("next_pane", "previous_pane"),
    ]

    def __init__(self, desk: SettingsEditorProtocol, *, is_demo: bool = False) -> None:
        """Make the screen.

        Args:
            desk: Whom to ask; on threads, since a disk may be slow.
            is_demo: Whether the demo is open; the settings are a person's own.
        """
        super().__init__()
        self._desk, self._is_demo = desk, is_demo
        self._sheet: SettingsSheet | None = None

    def compose(self) -> ComposeResult:
        """The list, and beside or below it what the chosen one means."""
        yield StatusLine(is_demo=self._is_demo)
        yield Static(id="broken", markup=False)
        with Horizontal(id="settings"):
            with Vertical(id="listed"):
                yield PaneTitle("Settings")
                yield Input(placeholder="/ finds a setting", compact=True, id="find")
                yield SettingList()
                yield Static(NONE_FOUND, id="nothing", markup=False)
            with Vertical(id="chosen"):
                yield PaneTitle("Setting")
                with Reader():
                    yield Static(id="told", markup=False)
        yield KeyLine()

    @property
    def _list(self) -> SettingList:
        return self.query_one(SettingList)

    @property
    def _find(self) -> Input:
        return self.query_one("#find", Input)

    def on_mount(self) -> None:
        """Read the settings."""
        self._list.focus()
        self._read()

    def on_screen_resume(self) -> None:
        """Read them again: the file may have been mended meanwhile."""
        if self._sheet is not None:
            self._read()

    def _read(self) -> None:
        self.run_worker(self._look, thread=True, exclusive=True, exit_on_error=False)

    def _look(self) -> None:
        self.post_message(SettingsRead(self._desk.look()))

    @on(SettingsRead)
    def show(self, message: SettingsRead) -> None:
        """List what was read, or say where the file is broken."""
        sheet = self._sheet = message.sheet
        broken = self.query_one("#broken", Static)
        broken.update(Content.styled(BROKEN.format(sheet.problem), "$error"))
        broken.display = bool(sheet.problem)
        self._list.show(sheet.entries)
        self._measure()

    @on(Worker.StateChanged)
    def say_why(self, event: Worker.StateChanged) -> None:
        """Say why the settings could not be read."""
        if event.state is WorkerState.ERROR:
            self._say("Setting", Content(f"✗ {format.why(event.worker.error)}"))

    # Finding one

    def action_find_here(self) -> None:
        """Type what is looked for."""
        self._find.focus()

    @on(Input.Changed, "#find")
    def seek(self, event: Input.Changed) -> None:
        """List what holds the words."""
        self._list.seek(event.value)
        self._measure()

    @on(Input.Submitted, "#find")
    def choose(self) -> None:
        """Go on to what was found."""
        self._list.focus()

    def _measure(self) -> None:
        total = len(self._sheet.entries) if self._sheet else 0
        listed = self._list.listed
        of = f"{listed} of {total}" if listed != total else f"{total}"
        self.query_one("#listed PaneTitle", PaneTitle).measure = of if total else ""
        self.set_class(not listed and bool(total), "-none")
        if total and not listed:
            self._say("Setting", Content(""))

    @on(OptionList.OptionHighlighted)
    def point(self) -> None:
        """Explain what the cursor is on."""
        if entry := self._list.pointed_at:
            self._say(entry.setting.name, setting_list.told(entry))

    def _say(self, title: str, said: Content) -> None:
        self.query_one("#chosen PaneTitle", PaneTitle).what = title
        self.query_one("#told", Static).update(said)
        self.query_one(Reader).scroll_home(animate=False)

    # Changing one

    @on(OptionList.OptionSelected)
    def change(self) -> None:
        """Ask for another value, or say why there can be none."""
        entry, sheet = self._list.pointed_at, self._sheet
        if entry is None or sheet is None:
            return
        if sheet.problem or entry.fixed:
            self.notify(f"{sheet.problem or entry.fixed}.", markup=False)
            return
        written_in = entry.origin.rpartition(":")[0] if entry.is_set else sheet.file
        screen = SettingScreen(entry, written_in, self._desk.change)
        self.app.push_screen(screen, self._say_written)

    def _say_written(self, entry: "Entry | None") -> None:
        if entry is None:
            return
        name, value = entry.setting.name, entry.text or setting_list.EMPTY
        waits = setting_list.is_waiting(entry) or entry.setting.when
        effect = setting_list.effect(entry)
        when = f"It takes effect {effect}." if waits else "It is in effect."
        self.notify(f"{name} is {value} now. {when}", markup=False)

    @on(WorkReported)
    def follow_work(self, message: WorkReported) -> None:
        """Say what the workers do."""
        self.query_one(StatusLine).say(message.progress)

    # From pane to pane

    def action_next_pane(self) -> None:
        """Go from the list to what the chosen one means, and back."""
        (self.query_one(Reader) if self._list.has_focus else self._list).focus()

    def action_previous_pane(self) -> None:
        """Go the other way round, which is the same."""
        self.action_next_pane()

    @on(WentBack)
    def action_back(self) -> None:
        """Out of what was looked for, back to the list, or away."""
        if self._find.value:
            self._find.value = ""
            self._list.focus()
        elif self._list.has_focus:
            self.dismiss(None)
        else:
            self._list.focus()
