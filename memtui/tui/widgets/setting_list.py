"""The list of settings in groups, and the description of a setting."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType
from textual.content import Content
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


def _draw_setting(entry: "SettingEntry") -> Content:
    key = entry.setting.name.partition(".")[2]
    value = entry.text or EMPTY_VALUE
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
    change = f"Press enter to change it. A change takes effect {effect_time(entry)}."
    if entry.locked_reason:
        change = f"{entry.locked_reason}."
    lines += [Content(""), Content.styled(change, "$context")]
    return Content("\n").join(lines)


def _fact(name: str, value: str) -> Content:
    return Content.assemble((f"{name:<10}", "$context"), value)


def _with_unit(text: str, unit: str) -> str:
    return f"{text or EMPTY_VALUE} {unit}".strip()


class SettingList(ItemList["SettingEntry"]):
    """Moves through the settings."""

    BINDINGS: ClassVar[list[BindingType]] = commands.bindings(
        open="Change this setting."
    )
    HELP_TITLE = "In the list of settings"

    def show(self, entries: "Sequence[SettingEntry]", words: str) -> None:
        """List the settings that contain all these words."""
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


def _text(entry: "SettingEntry") -> str:
    setting = entry.setting
    return f"{setting.name} {setting.description} {setting.unit} {entry.text}".lower()
