"""What the settings' screens hear."""

from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from memtui.memory.setting import Entry, Sheet


class SettingsRead(Message):
    """All settings have been read."""

    def __init__(self, sheet: "Sheet") -> None:
        super().__init__()
        self.sheet = sheet


class SettingWritten(Message):
    """A setting has been changed for good."""

    def __init__(self, entry: "Entry") -> None:
        super().__init__()
        self.entry = entry
