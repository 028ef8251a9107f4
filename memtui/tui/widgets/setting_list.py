"""The list of settings in groups, and the description of a setting."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from memtui.tui import commands
from memtui.tui.widgets.item_list import ItemList

if TYPE_CHECKING:
    from memtui.settings_file import SettingEntry

NAME_CELLS, VALUE_CELLS = 18, 24
"""The widths of the columns."""

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


def _heading(section: str) -> Content:
    return Content.styled(SECTIONS.get(section, section.capitalize()), "bold $accent")


def _draw_setting(entry: "SettingEntry") -> Content:
    key = entry.setting.name.partition(".")[2]
    value = _value(entry.text)
    if len(value) > VALUE_CELLS:
        value = value[: VALUE_CELLS - 1] + "…"
    return Content.assemble(
        f"  {key:<{NAME_CELLS}} ",
        (f"{value:<{VALUE_CELLS}} ", "bold" if entry.is_set else ""),
        (_short_origin(entry), "$context"),
    )


def _short_origin(entry: "SettingEntry") -> str:
    origin = _origin(entry)
    if origin.startswith("MEMTUI_"):
        origin = "environment"
    elif entry.is_set and origin != "command line":
        origin = "file"
    return f"{origin}, next start" if needs_restart(entry) else origin


def _origin(entry: "SettingEntry") -> str:
    return entry.origin if entry.is_set else "default"


def needs_restart(entry: "SettingEntry") -> bool:
    """Return whether the setting has changed but takes effect at the next start."""
    return entry.text != entry.running and not entry.setting.applies_to


def effect_time(entry: "SettingEntry") -> str:
    """Return when a change takes effect, or for what."""
    setting = entry.setting
    if setting.applies_to:
        return setting.applies_to
    return "at once" if setting.applies_at_once else "at the next start"


def describe_setting(entry: "SettingEntry") -> Content:
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
    lines += [Content(""), Content.styled(_how_to_change(entry), "$context")]
    return Content("\n").join(lines)


def _how_to_change(entry: "SettingEntry") -> str:
    if entry.locked_reason:
        return f"{entry.locked_reason}."
    return f"Press enter to change it. A change takes effect {effect_time(entry)}."


def _fact(name: str, value: str) -> Content:
    return Content.assemble((f"{name:<10}", "$context"), value)


def _with_unit(text: str, unit: str) -> str:
    return f"{_value(text)} {unit}".strip()


def _value(text: str) -> str:
    return text or EMPTY_VALUE


class SettingList(ItemList, inherit_bindings=False):
    """Moves through the settings."""

    BINDINGS: ClassVar[list[BindingType]] = commands.bindings(
        "first", "last", "cursor_up", "cursor_down", "page_up", "page_down",
        open="Change this setting.",
    )  # fmt: skip
    HELP_TITLE = "In the list of settings"

    def __init__(self) -> None:
        super().__init__(id="entries", markup=False)
        self._entries: Sequence[SettingEntry] = ()
        self._words: tuple[str, ...] = ()
        self.listed_count = 0
        """The number of settings that match the filter."""

    @property
    def current(self) -> "SettingEntry | None":
        index = self.highlighted
        name = None if index is None else self.get_option_at_index(index).id
        return next((e for e in self._entries if e.setting.name == name), None)

    def show(self, entries: "Sequence[SettingEntry]") -> None:
        """List settings; the cursor stays on its setting."""
        self._entries = entries
        self._update_options()

    def filter(self, words: str) -> None:
        """List only the settings that contain all these words."""
        self._words = tuple(words.lower().split())
        self._update_options()

    def _update_options(self) -> None:
        before, section, options = self.current, "", []
        matches = [entry for entry in self._entries if self._matches(entry)]
        for entry in matches:
            name = entry.setting.name
            if (own := name.partition(".")[0]) != section:
                section = own
                options.append(Option(_heading(section), disabled=True))
            options.append(Option(_draw_setting(entry), id=name))
        self.listed_count = len(matches)
        with self.prevent(OptionList.OptionHighlighted):
            self.clear_options()
            self.add_options(options)
        if matches:
            is_listed = before is not None and self._matches(before)
            current = before if before and is_listed else matches[0]
            self.highlighted = self.get_option_index(current.setting.name)
            if current is matches[0]:
                self.scroll_home(animate=False)

    def _matches(self, entry: "SettingEntry") -> bool:
        setting = entry.setting
        text = f"{setting.name} {setting.description} {setting.unit} {entry.text}"
        return all(word in text.lower() for word in self._words)
