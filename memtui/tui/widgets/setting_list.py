"""All settings, a line each, in groups; those alone that hold what is looked for."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from memtui.model.setting import SettingEntry
from memtui.tui import commands
from memtui.tui.widgets.item_list import ItemList

if TYPE_CHECKING:
    from memtui.model.setting import SettingEntry


NAME_CELLS, VALUE_CELLS = 18, 24
"""How wide the columns of a line are."""


EMPTY_VALUE = "(empty)"
"""What an empty value is called."""


SECTIONS = {
    "store": "The store",
    "capture": "What is kept",
    "segments": "How talk is cut into segments",
    "search": "Search",
    "summaries": "Who summarises",
    "jobs": "When the model rolls up",
    "screen": "The screen",
    "log": "The log",
}
"""What the groups are called; one that is not here goes by its own name."""


def heading(section: str) -> Content:
    """The line above a group."""
    return Content.styled(SECTIONS.get(section, section.capitalize()), "bold $accent")


def row(entry: "SettingEntry") -> Content:
    """A setting in a line: its name, its value, and who set it."""
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
    origin = entry.origin
    if origin.startswith("MEMTUI_"):
        origin = "environment"
    elif entry.is_set and origin != "command line":
        origin = "file"
    return f"{origin}, next start" if needs_restart(entry) else origin


def needs_restart(entry: "SettingEntry") -> bool:
    """Whether it was changed, and takes effect at the next start."""
    return entry.text != entry.running and not entry.setting.applies_to


def effect_time(entry: "SettingEntry") -> str:
    """When a change of it takes effect, or for what."""
    setting = entry.setting
    return setting.applies_to or (
        "at once" if setting.applies_at_once else "at the next start"
    )


def describe_setting(entry: "SettingEntry") -> Content:
    """All there is to say of a setting."""
    setting = entry.setting
    lines = [Content(setting.description), Content("")]
    lines.append(_fact("value", _with_unit(entry.text, setting.unit)))
    if needs_restart(entry):
        running = _with_unit(entry.running, setting.unit)
        lines.append(_fact("in effect", f"{running}, until memtui is started again"))
    lines.append(_fact("set by", entry.origin))
    lines.append(_fact("built in", _with_unit(entry.default, setting.unit)))
    if setting.choices:
        several = isinstance(setting.default, tuple)
        lines.append(_fact("any of" if several else "one of", _listed(setting.choices)))
    if setting.minimum is not None:
        lines.append(_fact("at least", f"{setting.minimum:g} {setting.unit}".strip()))
    lines += [Content(""), Content.styled(_how(entry), "$context")]
    return Content("\n").join(lines)


def _how(entry: "SettingEntry") -> str:
    """Which key changes it and when that takes effect, or why none does."""
    if entry.locked_reason:
        return f"{entry.locked_reason}."
    return f"enter changes it; that takes effect {effect_time(entry)}."


def _fact(name: str, said: str) -> Content:
    return Content.assemble((f"{name:<10}", "$context"), said)


def _with_unit(text: str, unit: str) -> str:
    return f"{_value(text)} {unit}".strip()


def _value(text: str) -> str:
    return text or EMPTY_VALUE


def _listed(choices: tuple[str, ...]) -> str:
    return ", ".join(choices)


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
        self._sought: tuple[str, ...] = ()
        self.listed_count = 0
        """How many settings hold what is looked for."""

    @property
    def current(self) -> "SettingEntry | None":
        """The setting the cursor is on."""
        at = self.highlighted
        name = None if at is None else self.get_option_at_index(at).id
        return next((e for e in self._entries if e.setting.name == name), None)

    def show(self, entries: "Sequence[SettingEntry]") -> None:
        """List these; the cursor stays on its setting."""
        self._entries = entries
        self._list()

    def filter(self, words: str) -> None:
        """List those alone that hold all these words."""
        self._sought = tuple(words.lower().split())
        self._list()

    def _list(self) -> None:
        before, section, lines = self.current, "", []
        found = [entry for entry in self._entries if self._holds(entry)]
        for entry in found:
            if (of := entry.setting.name.partition(".")[0]) != section:
                section = of
                lines.append(Option(heading(of), disabled=True))
            lines.append(Option(row(entry), id=entry.setting.name))
        self.listed_count = len(found)
        with self.prevent(OptionList.OptionHighlighted):
            self.clear_options()
            self.add_options(lines)
        if found:
            kept = before if before and self._holds(before) else found[0]
            self.highlighted = self.get_option_index(kept.setting.name)
            if kept is found[0]:
                self.scroll_home(animate=False)

    def _holds(self, entry: "SettingEntry") -> bool:
        setting = entry.setting
        text = (
            f"{setting.name} {setting.description} {setting.unit} {entry.text}".lower()
        )
        return all(word in text for word in self._sought)

    def action_open(self) -> None:
        """Change the setting."""
        self.action_select()
