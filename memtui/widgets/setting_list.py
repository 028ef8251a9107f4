"""All settings, a line each, in groups; those alone that hold what is looked for."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from memtui import commands
from memtui.widgets import setting_words
from memtui.widgets.options import Options

if TYPE_CHECKING:
    from memtui.memory.setting import Entry


class SettingList(Options, inherit_bindings=False):
    """Moves through the settings."""

    BINDINGS: ClassVar[list[BindingType]] = commands.bindings(
        "first", "last", "cursor_up", "cursor_down", "page_up", "page_down",
        open="Change this setting.",
    )  # fmt: skip
    CALLED = "In the list of settings"

    def __init__(self) -> None:
        super().__init__(id="entries", markup=False)
        self._entries: Sequence[Entry] = ()
        self._sought: tuple[str, ...] = ()
        self.listed = 0
        """How many settings hold what is looked for."""

    @property
    def pointed_at(self) -> "Entry | None":
        """The setting the cursor is on."""
        at = self.highlighted
        name = None if at is None else self.get_option_at_index(at).id
        return next((e for e in self._entries if e.setting.name == name), None)

    def show(self, entries: "Sequence[Entry]") -> None:
        """List these; the cursor stays on its setting."""
        self._entries = entries
        self._list()

    def seek(self, words: str) -> None:
        """List those alone that hold all these words."""
        self._sought = tuple(words.lower().split())
        self._list()

    def _list(self) -> None:
        before, section, lines = self.pointed_at, "", []
        found = [entry for entry in self._entries if self._holds(entry)]
        for entry in found:
            if (of := entry.setting.name.partition(".")[0]) != section:
                section = of
                lines.append(Option(setting_words.heading(of), disabled=True))
            lines.append(Option(setting_words.row(entry), id=entry.setting.name))
        self.listed = len(found)
        with self.prevent(OptionList.OptionHighlighted):
            self.clear_options()
            self.add_options(lines)
        if found:
            kept = before if before and self._holds(before) else found[0]
            self.highlighted = self.get_option_index(kept.setting.name)
            if kept is found[0]:
                self.scroll_home(animate=False)

    def _holds(self, entry: "Entry") -> bool:
        setting = entry.setting
        text = f"{setting.name} {setting.says} {setting.unit} {entry.text}".lower()
        return all(word in text for word in self._sought)

    def action_open(self) -> None:
        """Change the setting."""
        self.action_select()
