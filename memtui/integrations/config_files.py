"""Change memtui's entry in an agent's settings file: plan, show and write.

A file is parsed, changed and written in the style it had. While memtui is in it, a copy
of the file as it was before the last change is kept beside it.
"""

import difflib
import io
import os
import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from memtui.errors import HooksError
from memtui.files import read_small_file, resolve_link, write_atomically
from memtui.model.events import clean

COPY_SUFFIX = ".before-memtui"
"""The suffix of the copy; agents that read whole folders do not read it."""


@dataclass(frozen=True, slots=True)
class Machine:
    """The computer that agents are configured on; tests replace it."""

    home: Path
    environment: Mapping[str, str]
    python: str
    hook: Path
    """The hook's file: it runs without finding any package."""
    spool: Path | None = None
    """The folder where the hook writes events; None for the hook's default."""
    project: Path | None = None
    """The project whose settings are changed; None for the user's own."""
    server: tuple[str, ...] = ()
    """The command that agents run as the MCP server."""

    def folder(self, variable: str, default: str) -> Path:
        """Return the first folder that a variable names, else one in the home folder.

        Users of several accounts name theirs with commas between them.
        """
        named = self.environment.get(variable, "").partition(",")[0].strip()
        value = named or default
        return self.home / value.removeprefix("~/")

    def has_program(self, name: str) -> bool:
        path = self.environment.get("PATH", "")
        return shutil.which(name, path=path) is not None

    def hook_command(self, *arguments: str) -> list[str]:
        """Return the command that an agent is to run.

        ``-I -S`` ignore the environment and the site's packages: that is faster, and
        what is broken there cannot break the hook.
        """
        spool = ["--spool", str(self.spool)] if self.spool else []
        return [self.python, "-I", "-S", str(self.hook), *spool, *arguments]


def find_project_root(folder: Path) -> Path:
    """Return the root of the repository that a folder is in, else the folder.

    A worktree is a project of its own: agents read their settings there.
    """
    for parent in (folder, *folder.parents):
        with suppress(OSError):
            if (parent / ".git").exists():
                return parent
    return folder


@dataclass(frozen=True, slots=True)
class ConfigValue:
    """One value of memtui in a settings file, and the key it belongs to."""

    key: str
    """The name of a hook's event, or of the object that holds MCP servers."""
    value: dict[str, object]


@dataclass(frozen=True)
class ConfigEntry(ABC):
    """An addition to a settings file: hooks, an MCP server, or a file of its own.

    All methods raise HooksError, without the file's name, if the text is not valid or
    has something else where the entry belongs.
    """

    agent: str
    path: Callable[[Machine], Path]

    @abstractmethod
    def expected(self, machine: Machine, text: str = "") -> list[ConfigValue]:
        """Return the values that the file with this text should contain."""

    @abstractmethod
    def existing(self, text: str) -> list[ConfigValue]:
        """Return memtui's values in the file."""

    @abstractmethod
    def add(self, text: str, machine: Machine) -> str:
        """Return the text with the expected values in place of the existing ones."""

    @abstractmethod
    def remove(self, text: str) -> str:
        """Return the text without memtui's values; "" if nothing else was in it."""


@dataclass(frozen=True, slots=True)
class ConfigChange:
    agent: str
    file: Path
    """The file as the agent names it."""
    target: Path
    """The file itself, where that one is a link."""
    before: bytes | None
    after: bytes | None
    """None deletes the file."""
    is_removal: bool = False

    @property
    def is_empty(self) -> bool:
        """The file is already as it should be."""
        return self.before == self.after

    @property
    def copy(self) -> Path:
        return copy_of(self.target)

    def diff(self) -> list[str]:
        (before, old), (after, new) = (
            (list(io.StringIO(content.decode("utf-8"), newline="\n")), str(self.file))
            if content is not None
            else ([], os.devnull)
            for content in (self.before, self.after)
        )
        lines = difflib.unified_diff(before, after, old, new)
        return [clean(line.rstrip("\r\n")) for line in lines]


def copy_of(target: Path) -> Path:
    """Return where the content of a settings file before installing is kept."""
    return target.with_name(f"{target.name}{COPY_SUFFIX}")


def plan_installation(entry: ConfigEntry, machine: Machine) -> ConfigChange:
    """Plan to add an entry in place of an older one.

    Raises:
        HooksError: The file cannot be changed.
    """
    file = entry.path(machine)
    target, before = _read_content(file)
    text = _decode(before, file)
    try:
        existing, expected = entry.existing(text), entry.expected(machine, text)
        is_current = is_up_to_date(existing, expected)
        after = before if is_current else entry.add(text, machine).encode()
    except HooksError as error:
        raise _unchanged_error(file, str(error)) from None
    return ConfigChange(entry.agent, file, target, before, after)


def plan_removal(entry: ConfigEntry, machine: Machine) -> ConfigChange:
    """Plan to remove an entry, and the file if nothing else is in it.

    A file that is still as installing made it becomes what it was before.

    Raises:
        HooksError: The file cannot be changed.
    """
    file = entry.path(machine)
    target, before = _read_content(file)
    text = _decode(before, file)
    after = before
    try:
        if entry.existing(text):
            after = entry.remove(text).encode() or None
            if _is_installed_into(copied := _read_copy(target), text, entry, machine):
                after = copied.encode() or None
    except HooksError as error:
        raise _unchanged_error(file, str(error)) from None
    return ConfigChange(entry.agent, file, target, before, after, is_removal=True)


def _is_installed_into(
    copied: str, text: str, entry: ConfigEntry, machine: Machine
) -> bool:
    """Return whether installing into a text that has nothing of memtui gives another
    one."""
    try:
        return not entry.existing(copied) and entry.add(copied, machine) == text
    except HooksError:
        return False


def _read_copy(target: Path) -> str:
    try:
        return _decode(_read_content(copy_of(target))[1], target)
    except HooksError:
        return ""


def is_up_to_date(
    existing: Sequence[ConfigValue], expected: Sequence[ConfigValue]
) -> bool:
    """Return whether the values are the expected ones, in any order."""

    def in_order(values: Sequence[ConfigValue]) -> list[tuple[str, str]]:
        return sorted((item.key, repr(sorted(item.value.items()))) for item in values)

    return in_order(existing) == in_order(expected)


def write(change: ConfigChange) -> Path | None:
    """Write a planned change; return the copy of the old file, if there is one.

    Raises:
        HooksError: The file has changed since then, or cannot be written; it is as it
            was.
    """
    if change.is_empty:
        return None
    target = change.target
    if target.exists() and target.stat().st_nlink > 1:
        reason = "it has a second name (a hard link), which would keep the old content"
        raise _unchanged_error(target, reason)
    if _read_content(target)[1] != change.before:
        raise HooksError(f"{target} has changed; it was not written")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        has_copy = change.before is not None and not change.is_removal
        if has_copy and change.before is not None:
            write_atomically(change.copy, change.before)
        if change.after is not None:
            write_atomically(target, change.after, keep_attributes=True)
        else:
            target.unlink()
        if change.is_removal:
            change.copy.unlink(missing_ok=True)
    except OSError as error:
        raise HooksError(f"{target}: {error.strerror or error}") from error
    if target.parent.name == "memtui":
        with suppress(OSError):  # The folder of the skill may have other files.
            target.parent.rmdir()
    return change.copy if has_copy else None


def read(entry: ConfigEntry, machine: Machine) -> tuple[str, list[ConfigValue]]:
    """Return the text of an entry's settings file, and memtui's values in it.

    Raises:
        HooksError: The file cannot be read or is not valid.
    """
    file = entry.path(machine)
    text = _decode(_read_content(file)[1], file)
    try:
        return text, entry.existing(text)
    except HooksError as error:
        raise _unchanged_error(file, str(error)) from None


def _read_content(file: Path) -> tuple[Path, bytes | None]:
    """Return the file that a link leads to, and its content."""
    try:
        target = resolve_link(file)
        return target, read_small_file(target) if target.exists() else None
    except OSError as error:
        raise HooksError(f"{file}: {error.strerror}") from error


def _decode(content: bytes | None, file: Path) -> str:
    try:
        return (content or b"").decode("utf-8")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise _unchanged_error(file, f"line {line}: not UTF-8") from None


def _unchanged_error(file: Path, reason: str) -> HooksError:
    return HooksError(f"{file}: {reason}; the file was not changed")
