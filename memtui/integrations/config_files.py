"""Change one entry in an agent's settings file: plan, show, write and undo.

Before the first change, a copy of the file is saved with a hash of the changed file.
If the file is unchanged since, undoing restores the copy.
"""

import difflib
import hashlib
import io
import json
import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from memtui.errors import HooksError
from memtui.files import read_small_file, write_atomically
from memtui.integrations.json_edit import ConfigSyntaxError
from memtui.integrations.machine import Machine
from memtui.model.events import clean
from memtui.paths import PRIVATE_FOLDER


@dataclass(frozen=True, slots=True)
class ConfigValue:
    """One value of memtui in a settings file, and the key it belongs to."""

    key: str
    """The name of a hook's event, or of the object that holds MCP servers."""
    value: dict[str, object]


class ConfigEntry(ABC):
    """An addition to a settings file: hooks, an MCP server, or a file of its own."""

    name: str
    """The agent's name."""
    empty_text: str = ""
    """The text of a file that did not exist."""
    is_own_file: bool = False
    """The file holds nothing else."""

    @abstractmethod
    def path(self, machine: Machine) -> Path:
        """Return the settings file."""

    @abstractmethod
    def wanted(self, machine: Machine) -> list[ConfigValue]:
        """Return the values that the file should hold."""

    @abstractmethod
    def existing(self, text: str) -> list[ConfigValue]:
        """Return memtui's values in the file."""

    @abstractmethod
    def add(self, text: str, machine: Machine) -> str:
        """Return the text with the wanted values in place of the existing ones.

        Raises:
            ConfigSyntaxError: There is something else where they belong.
        """

    @abstractmethod
    def remove(self, text: str) -> str:
        """Return the text without memtui's values."""

    @abstractmethod
    def check(self, text: str) -> None:
        """Check that a text is a valid file of this kind.

        Raises:
            ConfigSyntaxError: It is not.
        """

    def with_user_values(self, text: str) -> "ConfigEntry":
        """Return this entry with what the user has added to memtui's values."""
        return self


@dataclass(frozen=True, slots=True)
class ConfigChange:
    """A planned change of one file."""

    agent: str
    file: Path
    """The file as the agent names it."""
    target: Path
    """The file itself, where that one is a link."""
    before: bytes | None
    after: bytes | None
    """None deletes the file."""
    original: bytes | None = None
    """The content that undoing the change restores."""
    is_removal: bool = False

    @property
    def is_empty(self) -> bool:
        """The file is already as it should be."""
        return self.before == self.after

    def diff(self) -> list[str]:
        """Return the lines of a unified diff, without line ends."""
        name, missing = str(self.file), "/dev/null"
        lines = difflib.unified_diff(
            _lines(self.before),
            _lines(self.after),
            name if self.before is not None else missing,
            name if self.after is not None else missing,
        )
        return [clean(line.rstrip("\r\n")) for line in lines]


def _lines(content: bytes | None) -> list[str]:
    text = (content or b"").decode("utf-8")
    return list(io.StringIO(text, newline="\n"))


def plan_installation(entry: ConfigEntry, machine: Machine) -> ConfigChange:
    """Plan to add an entry in place of an older one.

    Raises:
        HooksError: The file cannot be changed.
    """
    file = entry.path(machine)
    target, before = _read(file)
    text = _check(entry, file, before)
    entry = entry.with_user_values(text)
    if is_up_to_date(entry.existing(text), entry.wanted(machine)):
        return ConfigChange(entry.name, file, target, before, before)
    backup = _read_backup(machine.backups, target)
    original = backup.before if backup and backup.matches(before) else before
    try:
        after = entry.add(text, machine).encode()
        original_text = _decode(original, file)
        if entry.existing(original_text):
            original = entry.remove(original_text).encode() or None
    except ConfigSyntaxError as error:
        raise _unchanged_error(file, str(error)) from None
    return ConfigChange(entry.name, file, target, before, after, original)


def plan_removal(entry: ConfigEntry, machine: Machine) -> ConfigChange:
    """Plan to remove an entry; an otherwise untouched file becomes what it was.

    Raises:
        HooksError: The file cannot be changed.
    """
    file = entry.path(machine)
    target, before = _read(file)
    text = _check(entry, file, before)
    after = before
    try:
        if entry.existing(text):
            after = _content_after_removal(entry, machine, target, before, text)
    except ConfigSyntaxError as error:
        raise _unchanged_error(file, str(error)) from None
    return ConfigChange(entry.name, file, target, before, after, is_removal=True)


def _content_after_removal(
    entry: ConfigEntry, machine: Machine, target: Path, before: bytes | None, text: str
) -> bytes | None:
    backup = _read_backup(machine.backups, target)
    is_untouched = backup is not None and backup.matches(before)
    if backup and is_untouched and not entry.existing(_decode(backup.before, target)):
        return backup.before
    rest = entry.remove(text)
    is_new_file = entry.is_own_file or (backup is not None and backup.before is None)
    is_empty = rest.split() in ([], entry.empty_text.split(), ["{}"])
    return None if is_new_file and is_empty else rest.encode()


def is_up_to_date(
    existing: Sequence[ConfigValue], wanted: Sequence[ConfigValue]
) -> bool:
    """Return whether the values are the wanted ones, in any order."""

    def in_order(values: Sequence[ConfigValue]) -> list[tuple[str, str]]:
        return sorted((one.key, repr(sorted(one.value.items()))) for one in values)

    return in_order(existing) == in_order(wanted)


def write(change: ConfigChange, machine: Machine) -> Path | None:
    """Write a planned change; return the copy of the original, if there is one.

    Raises:
        HooksError: The file has changed since then, or cannot be written; it is as it
            was.
    """
    if change.is_empty:
        return None
    target, backups = change.target, machine.backups
    if target.exists() and target.stat().st_nlink > 1:
        reason = "it has a second name (a hard link), which would keep the old content"
        raise _unchanged_error(target, reason)
    backup = _read_backup(backups, target)
    folders = backup.folders if backup else ()
    if change.is_removal or change.after is None:
        _write_target(target, change.before, change.after)
        for path in _backup_paths(backups, target):
            path.unlink(missing_ok=True)
        if change.after is None:
            with suppress(OSError):
                for folder in reversed(folders):
                    folder.rmdir()
        return None
    new_folders = tuple(reversed([f for f in target.parents if not f.exists()]))
    folders = new_folders or folders
    copy = _write_backup(backups, target, change.original, change.after, folders)
    _write_target(target, change.before, change.after)
    return copy


def read_text(entry: ConfigEntry, machine: Machine) -> str:
    """Return the text of an entry's settings file; "" if there is none.

    Raises:
        HooksError: The file cannot be read or is not valid.
    """
    file = entry.path(machine)
    _, content = _read(file)
    return _check(entry, file, content)


def _check(entry: ConfigEntry, file: Path, content: bytes | None) -> str:
    text = _decode(content, file)
    try:
        if text:
            entry.check(text)
        entry.existing(text or entry.empty_text)
    except ConfigSyntaxError as error:
        raise _unchanged_error(file, str(error)) from None
    return text


def _read(file: Path) -> tuple[Path, bytes | None]:
    """Return the file that a link leads to, and its content if it exists."""
    try:
        target = file.resolve()
        content = read_small_file(target) if target.exists() else None
    except RuntimeError as error:
        raise HooksError(f"{file}: a link that leads to itself") from error
    except OSError as error:
        raise HooksError(f"{file}: {error.strerror}") from error
    return target, content


def _decode(content: bytes | None, file: Path) -> str:
    try:
        text = (content or b"").decode("utf-8")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise _unchanged_error(file, f"line {line}: not UTF-8") from None
    return text if text.strip("\ufeff \t\r\n") else ""


def _unchanged_error(file: Path, reason: str) -> HooksError:
    return HooksError(f"{file}: {reason}; the file was not changed")


def _write_target(target: Path, before: bytes | None, after: bytes | None) -> None:
    if _read(target)[1] != before:
        raise HooksError(f"{target} has changed; it was not written")
    try:
        if after is None:
            target.unlink()
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(target, after, keep_attributes=True)
    except OSError as error:
        raise HooksError(f"{target}: {error.strerror or error}") from error


@dataclass(frozen=True, slots=True)
class _Backup:
    before: bytes | None
    """The content before the first change; None if there was no file."""
    after: str
    """The hash of the content after the last change."""
    folders: tuple[Path, ...]
    """The folders that were created for the file, the innermost last."""

    def matches(self, content: bytes | None) -> bool:
        """Return whether nobody has changed the file since."""
        return content is not None and _hash(content) == self.after


def _read_backup(backups: Path, file: Path) -> _Backup | None:
    note, copy = _backup_paths(backups, file)
    try:
        fields = json.loads(read_small_file(note))
        before = read_small_file(copy) if fields["existed"] else None
        folders = tuple(Path(folder) for folder in fields["folders"])
        return _Backup(before, str(fields["after"]), folders)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _write_backup(
    backups: Path,
    file: Path,
    before: bytes | None,
    after: bytes,
    folders: tuple[Path, ...],
) -> Path | None:
    note, copy = _backup_paths(backups, file)
    fields = {
        "file": str(file),
        "existed": before is not None,
        "after": _hash(after),
        "folders": [str(folder) for folder in folders],
    }
    try:
        backups.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
        if before is not None:
            write_atomically(copy, before)
        write_atomically(note, json.dumps(fields, indent=2).encode())
    except OSError as error:
        reason = f"{error.strerror or error}; nothing was changed"
        raise HooksError(f"{backups}: {reason}") from error
    return copy if before is not None else None


def _backup_paths(backups: Path, file: Path) -> tuple[Path, Path]:
    name = _hash(os.fsencode(file))[:16]
    return backups / f"{name}.json", backups / f"{name}.before"


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
