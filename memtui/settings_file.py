"""Show and change the settings: ``SettingsEditor`` is what the settings screen uses.

A change sets one value in the settings file and leaves the rest of it as it is.
"""

import errno
import stat
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from memtui import settings
from memtui.errors import SettingsError
from memtui.files import resolve_link, write_atomically
from memtui.paths import PRIVATE_FOLDER
from memtui.settings import (
    COMMAND_LINE,
    DEFAULT,
    ENVIRONMENT_PREFIX,
    SETTINGS,
    Setting,
    Settings,
    SettingValue,
    to_toml,
)


def write(file: Path, setting: Setting, value: SettingValue) -> None:
    """Set a value in a settings file, which is created if it is missing.

    Raises:
        SettingsError: The file is not valid TOML or cannot be written; it is unchanged.
    """
    try:
        target = resolve_link(file)
        text = target.read_bytes().decode("utf-8") if target.exists() else ""
        data = set_value(text, setting, value).encode("utf-8")
        if target.exists() and not target.stat().st_mode & stat.S_IWUSR:
            raise PermissionError(errno.EACCES, "is write-protected")
        target.parent.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
        write_atomically(target, data, keep_attributes=True)
    except UnicodeDecodeError as error:
        raise SettingsError(f"{file}: is not UTF-8 text") from error
    except ValueError as error:  # every error of tomlkit's parser
        raise SettingsError(f"{file}: {error}") from error
    except OSError as error:
        raise SettingsError(f"{file}: {error.strerror}") from error


def set_value(text: str, setting: Setting, value: SettingValue) -> str:
    import tomlkit

    document = tomlkit.parse(text)
    if setting.key not in document.get(setting.section, {}):
        document = tomlkit.parse(_uncomment(text, setting))
    if setting.section not in document:
        if text.strip():
            document.add(tomlkit.nl())
        document.add(setting.section, tomlkit.table())
    section = document[setting.section]
    assert isinstance(section, dict)
    section[setting.key] = list(value) if isinstance(value, tuple) else value
    changed = document.as_string()
    return (
        changed.replace("\r\n", "\n").replace("\n", "\r\n") if "\r" in text else changed
    )


def _uncomment(text: str, setting: Setting) -> str:
    """Remove the comment sign before a setting that the file only explains."""
    section, lines = "", text.splitlines(keepends=True)
    for at, line in enumerate(lines):
        if line.startswith("["):
            section = line.strip().strip("[]").strip()
        elif section == setting.section and line.startswith(f"# {setting.key} = "):
            lines[at] = line.removeprefix("# ")
    return "".join(lines)


@dataclass(frozen=True, slots=True)
class SettingEntry:
    """A setting with its value, as the settings screen shows it."""

    setting: Setting
    text: str
    """The value as it is typed: the items of a list with commas between them."""
    origin: str
    """The place where the value was set."""
    running: str
    """The value in effect in this process; a change may need a restart."""
    locked_reason: str = ""
    """The reason why it cannot be changed in a file; "" if it can."""

    @property
    def default(self) -> str:
        return to_text(self.setting.default)

    @property
    def is_set(self) -> bool:
        return self.origin != DEFAULT


@dataclass(frozen=True, slots=True)
class SettingsState:
    """All settings with their values."""

    entries: tuple[SettingEntry, ...]
    """In the order of the file."""
    file: str
    """The file that changes are written to."""
    problem: str = ""
    """The reason why the settings cannot be read now; "" if they can."""


class SettingsEditor:
    """Reads the settings each time it is asked, and changes them in their file."""

    def __init__(
        self,
        load: Callable[[], Settings],
        running: Settings,
        file: Path,
        config_file: Path | None = None,
    ) -> None:
        """Remember where the settings are.

        Args:
            load: Reads all settings as they were read at the start.
            running: The settings memtui was started with.
            file: The file in memtui's folder; it may be missing.
            config_file: The file given on the command line or in the environment.
        """
        self._load, self._file, self._config_file = load, file, config_file
        self._running = {name: running.value(name) for name in SETTINGS}
        self._last = running
        self._lock = threading.Lock()

    @property
    def theme(self) -> str:
        return str(self._running["screen.theme"])

    @property
    def ascii(self) -> str:
        return str(self._running["screen.ascii"])

    def read(self) -> SettingsState:
        """Read all settings; the values last read where the file is invalid now."""
        problem = ""
        try:
            self._last = self._load()
        except SettingsError as error:
            problem = str(error)
        entries = tuple(
            self._entry(setting, self._last) for setting in SETTINGS.values()
        )
        return SettingsState(entries, str(self._file), problem)

    def change(self, name: str, text: str) -> SettingEntry:
        """Set a value in the file it is set in, and return the new entry.

        Raises:
            SettingsError: The value is invalid, or cannot be changed or written; all
                files are unchanged.
        """
        with self._lock:
            return self._change(SETTINGS[name], settings.parse_value(name, text))

    def _change(self, setting: Setting, value: SettingValue) -> SettingEntry:
        name = setting.name
        origin = self._load().origin(name)
        if reason := _locked_reason(setting, origin):
            raise SettingsError(reason)
        given = self._config_file
        file = given if given and origin.startswith(f"{given}:") else self._file
        write(file, setting, value)
        if setting.applies_at_once:
            self._running[name] = value
        # The value is written; a file that became invalid meanwhile is reported by
        # the next read.
        with suppress(SettingsError):
            self._last = self._load()
            return self._entry(setting, self._last)
        running = to_text(self._running[name])
        return SettingEntry(setting, to_text(value), str(file), running)

    def _entry(self, setting: Setting, current: Settings) -> SettingEntry:
        name, origin = setting.name, current.origin(setting.name)
        return SettingEntry(
            setting,
            to_text(current.value(name)),
            origin,
            to_text(self._running[name]),
            _locked_reason(setting, origin),
        )


def _locked_reason(setting: Setting, origin: str) -> str:
    """Return why a value from this origin cannot be changed in a file, or ""."""
    if origin == COMMAND_LINE:
        return (
            f"{setting.name} was set on the command line, which overrides the settings"
            " file: start memtui without it to change it here"
        )
    if origin.startswith(ENVIRONMENT_PREFIX):
        return (
            f"{origin} in the environment overrides the settings file: remove it from"
            " the environment to change the setting here"
        )
    return ""


def to_text(value: SettingValue) -> str:
    """Write a value as it is typed."""
    if isinstance(value, str):
        return value
    return ", ".join(value) if isinstance(value, tuple) else to_toml(value)
