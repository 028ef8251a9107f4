"""The settings for who looks at them: each value, its origin, and changing it for good.

Where a value comes from says where a change belongs: to the file it stands in, or to
the default file. What wins over every file cannot be changed in one.
"""

import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from memtui.errors import SettingsError
from memtui.memory.setting import Entry, Setting, Sheet, Value
from memtui.settings import ALL, BUILT_IN, BY_NAME, Held, Settings, configuration, toml
from memtui.settings import file as settings_file
from memtui.settings.configuration import PREFIX


class Desk:
    """Reads the settings anew each time it is asked."""

    def __init__(
        self,
        load: Callable[[], Settings],
        running: Settings,
        file: Path,
        given_file: Path | None = None,
    ) -> None:
        """Take where the settings are.

        Args:
            load: Reads all settings, as they were read when memtui was started.
            running: What it was started with.
            file: The default file; it may be missing.
            given_file: The file named on the command line or in the environment.
        """
        self._load, self._file, self._given_file = load, file, given_file
        self._running = {name: held.value for name, held in running.held.items()}
        self._last = running
        self._one_by_one = threading.Lock()

    @property
    def theme(self) -> str:
        """The colours the app takes now."""
        return str(self._running["screen.theme"])

    @property
    def ascii(self) -> str:
        """When marks are drawn with plain letters."""
        return str(self._running["screen.ascii"])

    def look(self) -> Sheet:
        """All settings as they stand; as they stood last where they are broken now."""
        problem = ""
        try:
            self._last = self._load()
        except SettingsError as error:
            problem = str(error)
        entries = tuple(self._entry(one, self._last.held[one.name]) for one in ALL)
        return Sheet(entries, str(self._file), problem)

    def change(self, name: str, text: str) -> Entry:
        """Set a value in the file it belongs to; how the setting stands then.

        Raises:
            SettingsError: It cannot be that, or not be changed, or not be written; all
                files are as they were.
        """
        with self._one_by_one:
            return self._changed(BY_NAME[name], configuration.value_of(name, text))

    def _changed(self, setting: Setting, value: Value) -> Entry:
        name = setting.name
        held = self._load().held[name]
        if fixed := _fixed(setting, held.origin):
            raise SettingsError(fixed)
        file = self._file_of(held.origin)
        settings_file.write(file, setting, value)
        if setting.is_at_once:
            self._running[name] = value
        # What broke meanwhile is told by who looks next; this much is written.
        with suppress(SettingsError):
            self._last = self._load()
            return self._entry(setting, self._last.held[name])
        return self._entry(setting, Held(value, str(file)))

    def _file_of(self, origin: str) -> Path:
        given = self._given_file
        is_given = given is not None and origin.startswith(f"{given}:")
        return given if given is not None and is_given else self._file

    def _entry(self, setting: Setting, held: Held) -> Entry:
        return Entry(
            setting,
            typed(held.value),
            typed(setting.default),
            held.origin,
            typed(self._running[setting.name]),
            _fixed(setting, held.origin),
            held.origin != BUILT_IN,
        )


def _fixed(setting: Setting, origin: str) -> str:
    """Why a value from there cannot be changed in a file."""
    if origin == "command line":
        return (
            f"{setting.name} was set on the command line, which wins over every file:"
            " start memtui without it to change it here"
        )
    if origin.startswith(PREFIX):
        return (
            f"{origin} in the environment sets it, which wins over every file: take it"
            " out of the environment to change it here"
        )
    return ""


def typed(value: Value) -> str:
    """A value as a person types it."""
    if isinstance(value, str):
        return value
    return ", ".join(value) if isinstance(value, tuple) else toml(value)
