"""The settings' file, changed one value at a time: nothing else in it is touched.

A change is taken back unless the file then reads as it did but for this one value: what
memtui cannot change so, such as a table within a line, is left to its owner's editor.
"""

import errno
import os
import stat
import tempfile
import threading
import tomllib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from memtui import settings
from memtui.errors import SettingsError
from memtui.model.setting import Setting, SettingEntry, SettingsSheet, SettingValue
from memtui.settings import ALL, BUILT_IN, BY_NAME, PREFIX, Held, Settings, toml

Tables = dict[str, Any]


def write(file: Path, setting: Setting, value: SettingValue) -> None:
    """Set a value in a file; the file is made if there is none.

    Args:
        file: The settings' file; where it is a link, what that leads to.
        setting: What is set.
        value: What it is set to, checked.

    Raises:
        SettingsError: The file is broken, cannot be written, or says this in a way
            that only its owner can change; it is as it was.
    """
    try:
        text = _text(file)
        _replace(file, changed(text, setting, value, str(file)))
    except OSError as error:
        raise SettingsError(f"{file}: {error.strerror}") from error


def _text(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as error:
        raise SettingsError(f"{file}: is not UTF-8 text") from error


def changed(text: str, setting: Setting, value: SettingValue, name: str) -> str:
    """The text with the value in it.

    Raises:
        SettingsError: It cannot be put in without touching more.
    """
    try:
        before = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{name}: {error}") from error
    section, _, key = setting.name.partition(".")
    wanted = _with(before, section, key, value)
    if before == wanted:
        return text
    lines = text.splitlines(keepends=True)
    end = "\r\n" if "\r\n" in text else "\n"
    entry = f"{key} = {toml(value)}"
    is_set = key in before.get(section, {})
    tries = _in_place if is_set else _added
    for candidate in tries(lines, section, key, entry, end):
        if _reads_as(candidate, wanted):
            return candidate
    where = f"{name}: {setting.name} is written there in a way memtui does not change"
    raise SettingsError(f"{where}; change it with an editor")


def _with(tables: Tables, section: str, key: str, value: SettingValue) -> Tables:
    told = list(value) if isinstance(value, tuple) else value
    return tables | {section: {**tables.get(section, {}), key: told}}


def _reads_as(text: str, wanted: Tables) -> bool:
    try:
        return tomllib.loads(text) == wanted
    except tomllib.TOMLDecodeError:
        return False


def _in_place(
    lines: list[str], section: str, key: str, entry: str, end: str
) -> Iterator[str]:
    """The entry in place of the lines that hold it now, however many they are."""
    here = ""
    for at, line in enumerate(lines):
        here = _header(line) or here
        if here != section or _key(line) != key:
            continue
        for last in range(at, len(lines)):
            new = entry + _comment(lines[at : last + 1]) + end
            yield "".join([*lines[:at], new, *lines[last + 1 :]])


def _added(
    lines: list[str], section: str, key: str, entry: str, end: str
) -> Iterator[str]:
    """The entry where it is explained, else at the end of its section, else of all."""
    here, of_section = "", None
    for at, line in enumerate(lines):
        here = _header(line) or here
        if here != section:
            continue
        if line.strip() and not line.lstrip().startswith("#"):
            of_section = at
        if line.startswith("#") and _key(line.lstrip("# ")) == key:
            yield "".join([*lines[:at], entry, end, *lines[at + 1 :]])
    if of_section is not None:
        for at in range(of_section + 1, len(lines) + 1):
            before = _ended(lines[:at], end)
            yield "".join([*before, entry, end, *lines[at:]])
    gap = [end] if lines else []
    yield "".join([*_ended(lines, end), *gap, f"[{section}]", end, entry, end])


def _ended(lines: list[str], end: str) -> list[str]:
    if lines and not lines[-1].endswith("\n"):
        return [*lines[:-1], lines[-1] + end]
    return lines


def _header(line: str) -> str:
    said = line.split("#", 1)[0].strip()
    return said[1:-1].strip() if said[:1] == "[" and said[-1:] == "]" else ""


def _key(line: str) -> str:
    name, equals, _ = line.partition("=")
    return name.strip().strip("\"'") if equals else ""


def _comment(lines: list[str]) -> str:
    """What stands behind a value: the comment, with the room before it."""
    text = "".join(lines).rstrip("\r\n")
    for at, letter in enumerate(text):
        if letter == "#":
            with suppress(tomllib.TOMLDecodeError):
                tomllib.loads(text[:at])
                return text[len(text[:at].rstrip()) :]
    return ""


def _replace(file: Path, text: str) -> None:
    """Put the text in place of the file at once, or leave the file as it is."""
    real = file.resolve()
    real.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if real.exists() and not real.stat().st_mode & stat.S_IWUSR:
        raise PermissionError(errno.EACCES, "is write-protected")
    handle, beside = tempfile.mkstemp(dir=real.parent, prefix=f".{real.name}.")
    try:
        with os.fdopen(handle, "wb") as opened:
            opened.write(text.encode("utf-8"))
            opened.flush()
            os.fsync(opened.fileno())
        if real.exists():
            _keep_rights(real, beside)
        Path(beside).replace(real)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise


def _keep_rights(real: Path, beside: str) -> None:
    """Give the new file the rights and the owner of the one it replaces."""
    before, after = real.stat(), Path(beside).stat()
    Path(beside).chmod(before.st_mode & 0o777)
    if before.st_uid != after.st_uid:
        os.chown(beside, before.st_uid, before.st_gid)


class SettingsEditor:
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

    def look(self) -> SettingsSheet:
        """All settings as they stand; as they stood last where they are broken now."""
        problem = ""
        try:
            self._last = self._load()
        except SettingsError as error:
            problem = str(error)
        entries = tuple(self._entry(one, self._last.held[one.name]) for one in ALL)
        return SettingsSheet(entries, str(self._file), problem)

    def change(self, name: str, text: str) -> SettingEntry:
        """Set a value in the file it belongs to; how the setting stands then.

        Raises:
            SettingsError: It cannot be that, or not be changed, or not be written; all
                files are as they were.
        """
        with self._one_by_one:
            return self._changed(BY_NAME[name], settings.value_of(name, text))

    def _changed(self, setting: Setting, value: SettingValue) -> SettingEntry:
        name = setting.name
        held = self._load().held[name]
        if fixed := _fixed(setting, held.origin):
            raise SettingsError(fixed)
        file = self._file_of(held.origin)
        write(file, setting, value)
        if setting.applies_at_once:
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

    def _entry(self, setting: Setting, held: Held) -> SettingEntry:
        return SettingEntry(
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


def typed(value: SettingValue) -> str:
    """A value as a person types it."""
    if isinstance(value, str):
        return value
    return ", ".join(value) if isinstance(value, tuple) else toml(value)
