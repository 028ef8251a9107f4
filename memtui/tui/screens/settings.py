"""The settings: their values, what they mean, and where they come from."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from memtui.settings_file import SettingEntry, SettingsEditor, SettingsState
from memtui.tui import commands, format
from memtui.tui.messages import SettingChanged
from memtui.tui.screens.base import Dialog, ListDetailScreen
from memtui.tui.widgets.panes import ItemList, PaneTitle

NAME_CELLS, VALUE_CELLS = 18, 24

EMPTY_VALUE = "(empty)"

SECTIONS = {
    "store": "Storage",
    "capture": "Capture",
    "segments": "Segmentation",
    "search": "Search",
    "summaries": "Summarizer",
    "jobs": "Roll-up schedule",
    "screen": "Screen",
    "log": "Log",
}
"""The headings of the groups; other sections are shown by their names."""


def _draw_setting(entry: SettingEntry) -> Content:
    key = entry.setting.name.partition(".")[2]
    value = format.fit(entry.text or EMPTY_VALUE, VALUE_CELLS)
    return Content.assemble(
        f"  {key:<{NAME_CELLS}} ",
        (f"{value} ", "bold" if entry.is_set else ""),
        (_short_origin(entry), "$context"),
    )


def _short_origin(entry: SettingEntry) -> str:
    origin = _origin(entry)
    if origin.startswith("MEMTUI_"):
        origin = "environment"
    elif entry.is_set and origin != "command line":
        origin = "file"
    return f"{origin}, next start" if needs_restart(entry) else origin


def _origin(entry: SettingEntry) -> str:
    return entry.origin if entry.is_set else "default"


def needs_restart(entry: SettingEntry) -> bool:
    """Return whether the setting has changed but takes effect at the next start."""
    return entry.text != entry.running and not entry.setting.applies_to


def effect_time(entry: SettingEntry) -> str:
    """Return when a change takes effect, or for what."""
    setting = entry.setting
    if setting.applies_to:
        return setting.applies_to
    return "at once" if setting.applies_at_once else "at the next start"


def describe_setting(entry: SettingEntry) -> Content:
    setting = entry.setting
    lines = [Content(setting.description), Content("")]
    lines.append(_fact("value", _with_unit(entry.text, setting.unit)))
    if needs_restart(entry):
        running = _with_unit(entry.running, setting.unit)
        lines.append(_fact("in effect", f"{running}, until memtui is restarted"))
    lines.append(_fact("set by", _origin(entry)))
    lines.append(_fact("default", _with_unit(entry.default, setting.unit)))
    if setting.choices:
        is_list = isinstance(setting.default, tuple)
        choices = ", ".join(setting.choices)
        lines.append(_fact("any of" if is_list else "one of", choices))
    if setting.minimum is not None:
        lines.append(_fact("at least", f"{setting.minimum:g} {setting.unit}".strip()))
    change = f"Press enter to change it. A change takes effect {effect_time(entry)}."
    if entry.locked_reason:
        change = f"{entry.locked_reason}."
    lines += [Content(""), Content.styled(change, "$context")]
    return Content("\n").join(lines)


def _fact(name: str, value: str) -> Content:
    return Content.assemble((f"{name:<10}", "$context"), value)


def _with_unit(text: str, unit: str) -> str:
    return f"{text or EMPTY_VALUE} {unit}".strip()


class SettingList(ItemList[SettingEntry]):
    """Moves through the settings."""

    BINDINGS: ClassVar[list[BindingType]] = commands.bindings(
        open="Change this setting."
    )
    HELP_TITLE = "In the list of settings"

    def show(self, entries: Sequence[SettingEntry], words: str) -> None:
        matches = {
            entry.setting.name: entry
            for entry in entries
            if all(word in _text(entry) for word in words.lower().split())
        }
        section, options = "", []
        for name, entry in matches.items():
            if (own := name.partition(".")[0]) != section:
                section = own
                heading = SECTIONS.get(section, section.capitalize())
                styled = Content.styled(heading, "bold $accent")
                options.append(Option(styled, disabled=True))
            options.append(Option(_draw_setting(entry), id=name))
        self.show_items(matches, options)
        if self.highlighted == 1:  # Below the first heading.
            self.scroll_home(animate=False)


def _text(entry: SettingEntry) -> str:
    setting = entry.setting
    return f"{setting.name} {setting.description} {setting.unit} {entry.text}".lower()


class SettingScreen(Dialog[SettingEntry]):
    """A dialog that changes one setting; returns its new entry once it is saved."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "submit", "save", key_display="enter", priority=True),
        Binding("down", "step(1)", "choose", key_display="↑ ↓", priority=True),
        Binding("up", "step(-1)", "previous choice", show=False),
        Binding("escape", "leave", "back"),
    ]

    def __init__(
        self, entry: SettingEntry, file: str, change: Callable[[str, str], SettingEntry]
    ) -> None:
        """Make the dialog.

        Args:
            file: The file the change is saved to.
            change: Validates and saves a value; called on a thread.
        """
        super().__init__()
        self._entry, self._file, self._change = entry, file, change
        setting = entry.setting
        self._is_saving = False
        if isinstance(setting.default, bool):
            self.choices = "true", "false"
        elif not isinstance(setting.default, tuple):
            self.choices = setting.choices

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
        if self.choices:
            hints.insert(0, f"↑ ↓  {' · '.join(self.choices)}")
        elif isinstance(setting.default, tuple):
            choices = f": {', '.join(setting.choices)}" if setting.choices else ""
            hints.insert(0, f"separated by commas{choices}")
        return "\n".join([*hints, f"Will be saved to {self._file}."])

    @on(Input.Changed)
    def clear_error(self) -> None:
        self._show_text("")

    @on(Input.Submitted)
    def save(self, event: Input.Submitted) -> None:
        if self._is_saving:
            return
        self._is_saving = True
        change = partial(self._change, self._entry.setting.name, event.value)
        self.load(change, self._leave_saved, "save")

    def _leave_saved(self, entry: SettingEntry) -> None:
        self.app.post_message(SettingChanged(entry))
        self.dismiss(entry)

    def show_error(self, error: BaseException, group: str) -> None:
        self._is_saving = False
        self._show_text(f"✗ {format.error_text(error)}. Nothing was saved.")

    def _show_text(self, text: str) -> None:
        line = self.query_one("#error", Static)
        line.update(Content(text))
        line.display = bool(text)

    def action_leave(self) -> None:
        if self._is_saving:
            self._show_text("Saving…")
        else:
            super().action_leave()


BROKEN = (
    "✗ {}\n\nThe values below were read before the file was damaged. Nothing is saved"
    " until it is repaired."
)

NO_MATCH = "No setting matches. Press esc to show all settings."


class SettingsScreen(ListDetailScreen[None]):
    """Lists the settings and explains the selected one."""

    BINDINGS: ClassVar[list[BindingType]] = commands.bindings(
        in_footer=True,
        find_here="Filter the settings by words.",
        back="Clear the filter, go back to the list, or leave it.",
    )

    DETAIL_TITLE = "Setting"

    _list = getters.query_one(SettingList)
    _input = getters.query_one("#find", Input)

    def __init__(self, settings: SettingsEditor) -> None:
        super().__init__()
        self._settings = settings
        self._sheet: SettingsState | None = None

    def compose_head(self) -> ComposeResult:
        yield Static(id="broken", markup=False)

    def compose_list(self) -> ComposeResult:
        yield PaneTitle("Settings")
        yield Input(placeholder="/ find a setting", compact=True, id="find")
        yield SettingList()
        yield Static(NO_MATCH, id="nothing", markup=False)

    def on_screen_resume(self) -> None:
        """Reload: the file may have been repaired meanwhile."""
        if self._sheet is not None:
            self.reload()

    def reload(self) -> None:
        self.load(self._settings.read, self._show, "settings")

    def _show(self, sheet: SettingsState) -> None:
        self._sheet = sheet
        broken = self.query_one("#broken", Static)
        broken.update(Content.styled(BROKEN.format(sheet.problem), "$error"))
        broken.display = bool(sheet.problem)
        self._list.show(sheet.entries, self._input.value)
        self._show_count()

    # Filtering

    def action_find_here(self) -> None:
        self._input.focus()

    @on(Input.Changed, "#find")
    def filter(self, event: Input.Changed) -> None:
        if self._sheet is not None:
            self._list.show(self._sheet.entries, event.value)
            self._show_count()

    @on(Input.Submitted, "#find")
    def go_to_list(self) -> None:
        self._list.focus()

    def _show_count(self) -> None:
        total = len(self._sheet.entries) if self._sheet else 0
        listed = len(self._list.items)
        count = f"{listed} of {total}" if listed != total else f"{total}"
        self._list_title.info = count if total else ""
        self.set_class(not listed and bool(total), "-none")
        if total and not listed:
            self.show_details("Setting", Content(""))

    @on(OptionList.OptionHighlighted)
    def _describe(self) -> None:
        if entry := self._list.current:
            details = describe_setting(entry)
            self.show_details(entry.setting.name, details)

    # Changing

    def open_option(self) -> None:
        entry, sheet = self._list.current, self._sheet
        if entry is None or sheet is None:
            return
        if sheet.problem or entry.locked_reason:
            self.notify(f"{sheet.problem or entry.locked_reason}.")
            return
        file = entry.origin.rpartition(":")[0] if entry.is_set else sheet.file
        screen = SettingScreen(entry, file, self._settings.change)
        self.memtui.ask(screen, self._confirm)

    def _confirm(self, entry: SettingEntry) -> None:
        name, value = entry.setting.name, entry.text or EMPTY_VALUE
        is_later = needs_restart(entry) or entry.setting.applies_to
        effect = effect_time(entry) if is_later else "now"
        self.notify(f"{name} is {value}; takes effect {effect}.")

    def action_back(self) -> None:
        if self._input.value:
            self._input.value = ""
            self._list.focus()
        else:
            super().action_back()
