"""The settings: their values, what they mean, and where they come from."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Input, OptionList, Static
from textual.worker import Worker, WorkerState

from memtui.tui import commands, format, workers
from memtui.tui.messages import SettingChanged
from memtui.tui.screens.base import Dialog, ListDetailScreen
from memtui.tui.widgets import setting_list
from memtui.tui.widgets.detail_pane import DetailPane
from memtui.tui.widgets.key_line import KeyLine
from memtui.tui.widgets.pane_title import PaneTitle
from memtui.tui.widgets.setting_list import SettingList
from memtui.tui.widgets.status_line import StatusLine

if TYPE_CHECKING:
    from memtui.settings_file import SettingEntry, SettingsEditor, SettingsState


class SettingScreen(Dialog["SettingEntry | None"]):
    """A dialog that changes one setting; returns its new entry once it is saved."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "submit", "save", key_display="enter", priority=True),
        Binding("down", "step(1)", "choose", key_display="↑ ↓", priority=True),
        Binding("up", "step(-1)", "previous choice", show=False),
        Binding("escape", "leave", "back"),
    ]

    def __init__(
        self,
        entry: "SettingEntry",
        file: str,
        change: "Callable[[str, str], SettingEntry]",
    ) -> None:
        """Make the dialog.

        Args:
            entry: The setting.
            file: The file the change is saved to.
            change: Validates and saves a value; called on a thread.
        """
        super().__init__()
        self._entry, self._file, self._change = entry, file, change
        setting = entry.setting
        self._choices: tuple[str, ...] = ()
        self._is_saving = False
        if isinstance(setting.default, bool):
            self._choices = "true", "false"
        elif not isinstance(setting.default, tuple):
            self._choices = setting.choices

    def compose_dialog(self) -> ComposeResult:
        setting = self._entry.setting
        unit = f", in {setting.unit}" if setting.unit else ""
        with Vertical(id="setting"):
            title = Content.styled(f"{setting.name}{unit}", "bold")
            yield Static(title, id="name", markup=False)
            yield Static(setting.description, id="says", markup=False)
            yield Input(self._entry.text, compact=True, id="value")
            yield Static(self._hints(), id="hints", markup=False)
            yield Static(id="error", markup=False)

    def _hints(self) -> str:
        setting = self._entry.setting
        hints = [f"default: {self._entry.default or 'empty'}"]
        if self._choices:
            hints.insert(0, f"↑ ↓  {' · '.join(self._choices)}")
        elif isinstance(setting.default, tuple):
            choices = f": {', '.join(setting.choices)}" if setting.choices else ""
            hints.insert(0, f"separated by commas{choices}")
        return "\n".join([*hints, f"Will be saved to {self._file}."])

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool:
        """Offer to step through choices only where there are some."""
        return action != "step" or bool(self._choices)

    def action_step(self, by: int) -> None:
        """Put in the next or the previous choice."""
        line = self.query_one(Input)
        known = line.value in self._choices
        at = self._choices.index(line.value) + by if known else 0
        line.value = self._choices[at % len(self._choices)]
        line.cursor_position = len(line.value)

    @on(Input.Changed)
    def clear_error(self) -> None:
        self._show_text("")

    @on(Input.Submitted)
    def save(self, event: Input.Submitted) -> None:
        """Validate and save the value, not twice at once."""
        if self._is_saving:
            return
        self._is_saving = True
        change = partial(self._change, self._entry.setting.name, event.value)
        workers.load(self, change, self._leave_saved, "save")

    def _leave_saved(self, entry: "SettingEntry") -> None:
        self.app.post_message(SettingChanged(entry))
        self.dismiss(entry)

    @on(Worker.StateChanged)
    def show_error(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR:
            self._is_saving = False
            self._show_text(
                f"✗ {format.error_text(event.worker.error)}. Nothing was saved."
            )

    def _show_text(self, text: str) -> None:
        line = self.query_one("#error", Static)
        line.update(Content(text))
        line.display = bool(text)

    def action_leave(self) -> None:
        if self._is_saving:
            self._show_text("Saving…")
        else:
            self.dismiss(None)


BROKEN = (
    "✗ {}\n\nThe values below were read before the file was damaged. Nothing is saved"
    " until it is repaired."
)

NO_MATCH = "No setting matches. Press esc to show all settings."


class SettingsScreen(ListDetailScreen[None]):
    """Lists the settings and explains the selected one."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *commands.bindings(
            in_footer=True,
            find_here="Filter the settings by words.",
            back="Clear the filter, go back to the list, or leave it.",
        ),
        *commands.bindings("next_pane", "previous_pane"),
    ]

    def __init__(self, settings: "SettingsEditor", *, is_demo: bool = False) -> None:
        """Make the screen.

        Args:
            settings: Reads and changes the settings; called on threads.
            is_demo: Whether the demo is open; the settings are the user's own.
        """
        super().__init__()
        self._settings, self._is_demo = settings, is_demo
        self._sheet: SettingsState | None = None

    def compose(self) -> ComposeResult:
        yield StatusLine(is_demo=self._is_demo)
        yield Static(id="broken", markup=False)
        with Horizontal(id="settings"):
            with Vertical(id="list-pane"):
                yield PaneTitle("Settings")
                yield Input(placeholder="/ find a setting", compact=True, id="find")
                yield SettingList()
                yield Static(NO_MATCH, id="nothing", markup=False)
            with Vertical(id="detail-pane"):
                yield PaneTitle("Setting")
                with DetailPane():
                    yield Static(id="details", markup=False)
        yield KeyLine()

    @property
    def _list(self) -> SettingList:
        return self.query_one(SettingList)

    @property
    def _input(self) -> Input:
        return self.query_one("#find", Input)

    def on_mount(self) -> None:
        self._list.focus()
        self.reload()

    def on_screen_resume(self) -> None:
        """Reload: the file may have been repaired meanwhile."""
        if self._sheet is not None:
            self.reload()

    def reload(self) -> None:
        self.load(self._settings.read, self._show, "settings")

    def _show(self, sheet: "SettingsState") -> None:
        self._sheet = sheet
        broken = self.query_one("#broken", Static)
        broken.update(Content.styled(BROKEN.format(sheet.problem), "$error"))
        broken.display = bool(sheet.problem)
        self._list.show(sheet.entries)
        self._show_count()

    @on(Worker.StateChanged)
    def show_error(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR:
            text = Content(f"✗ {format.error_text(event.worker.error)}")
            self._show_text("Setting", text)

    # Filtering

    def action_find_here(self) -> None:
        self._input.focus()

    @on(Input.Changed, "#find")
    def filter(self, event: Input.Changed) -> None:
        self._list.filter(event.value)
        self._show_count()

    @on(Input.Submitted, "#find")
    def go_to_list(self) -> None:
        self._list.focus()

    def _show_count(self) -> None:
        total = len(self._sheet.entries) if self._sheet else 0
        listed = self._list.listed_count
        count = f"{listed} of {total}" if listed != total else f"{total}"
        self.query_one("#list-pane PaneTitle", PaneTitle).info = count if total else ""
        self.set_class(not listed and bool(total), "-none")
        if total and not listed:
            self._show_text("Setting", Content(""))

    @on(OptionList.OptionHighlighted)
    def show_details(self) -> None:
        if entry := self._list.current:
            self._show_text(entry.setting.name, setting_list.describe_setting(entry))

    def _show_text(self, title: str, content: Content) -> None:
        self.query_one("#detail-pane PaneTitle", PaneTitle).title = title
        self.query_one("#details", Static).update(content)
        self._details.scroll_home(animate=False)

    # Changing

    def open_option(self) -> None:
        """Ask for a new value, or show why the setting cannot be changed."""
        entry, sheet = self._list.current, self._sheet
        if entry is None or sheet is None:
            return
        if sheet.problem or entry.locked_reason:
            self.notify(f"{sheet.problem or entry.locked_reason}.", markup=False)
            return
        file = entry.origin.rpartition(":")[0] if entry.is_set else sheet.file
        screen = SettingScreen(entry, file, self._settings.change)
        self.app.push_screen(screen, self._confirm)

    def _confirm(self, entry: "SettingEntry | None") -> None:
        if entry is None:
            return
        name, value = entry.setting.name, entry.text or setting_list.EMPTY_VALUE
        is_later = setting_list.needs_restart(entry) or entry.setting.applies_to
        effect = setting_list.effect_time(entry) if is_later else "now"
        self.notify(f"{name} is {value}; takes effect {effect}.", markup=False)

    def action_back(self) -> None:
        """Clear the filter, go back to the list, or leave."""
        if self._input.value:
            self._input.value = ""
            self._list.focus()
        elif self._list.has_focus:
            self._leave()
        else:
            self._list.focus()
