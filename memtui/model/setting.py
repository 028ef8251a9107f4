"""What a setting is."""

from collections.abc import Callable
from dataclasses import dataclass

SettingValue = str | int | float | bool | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting."""

    name: str
    """``section.key``."""
    default: SettingValue
    description: str
    """What it means, in whole sentences."""
    unit: str = ""
    choices: tuple[str, ...] = ()
    """What the text, or each text of a list, may be; anything if empty."""
    minimum: float | None = None
    """The least a number may be."""
    check: Callable[[str], str] | None = None
    """Says what is wrong with a text; "" if nothing is."""
    applies_at_once: bool = False
    """Whether a change takes effect while memtui runs, not at its next start."""
    applies_to: str = ""
    """For what a change takes effect, if neither the one nor the other says it."""


@dataclass(frozen=True, slots=True)
class SettingEntry:
    """A setting as it stands, for who shows it."""

    setting: Setting
    text: str
    """The value as it is typed: the texts of a list with commas between them."""
    default: str
    """What is built in, likewise."""
    origin: str
    """Where the value comes from."""
    running: str
    """The value this memtui was started with, or took since, likewise."""
    locked_reason: str = ""
    """Why it cannot be changed in a file; "" if it can."""
    is_set: bool = False
    """Whether anybody has set it."""


@dataclass(frozen=True, slots=True)
class SettingsSheet:
    """All settings as they stand."""

    entries: tuple[SettingEntry, ...]
    """In the order of the file."""
    file: str
    """The file that changes are written to."""
    problem: str = ""
    """Why the settings cannot be read again, with file and line; "" if they can."""
