"""Changes to agents' settings: planned first, shown, and written only when asked to."""

import difflib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from memtui.agents import files
from memtui.agents.entries import Entry
from memtui.agents.json_text import NotJson
from memtui.agents.machine import Machine
from memtui.errors import HooksError


class Writing(Protocol):
    """Something of ours that can stand in a file of an agent's: hooks, a server."""

    @property
    def name(self) -> str:
        """The agent's."""

    @property
    def file(self) -> Callable[[Machine], Path]:
        """Tells which file."""

    @property
    def skeleton(self) -> str:
        """What a file starts with that was not there."""

    @property
    def is_own_file(self) -> bool:
        """Whether the file is memtui's alone."""

    def with_own(self, text: str) -> "Writing":
        """The same, with what a person has set in ours besides."""

    def wanted(self, machine: Machine) -> list[Entry]:
        """What should stand there."""

    def ours(self, text: str) -> list[Entry]:
        """What stands there of ours."""

    def added(self, text: str, machine: Machine) -> str:
        """The file with ours anew in it; ``NotJson`` where there is no place for it."""

    def removed(self, text: str) -> str:
        """The file without it."""

    def check(self, text: str) -> None:
        """Make sure that a text can be such a file; ``NotJson`` where it cannot."""


@dataclass(frozen=True, slots=True)
class Change:
    """What would become of one file."""

    agent: str
    file: Path
    """The file as the agent names it."""
    target: Path
    """The file itself, where that one is a link."""
    before: bytes | None
    after: bytes | None
    """None takes the file away."""
    base: bytes | None = None
    """What undoing this change shall give back."""
    is_removal: bool = False

    @property
    def is_nothing(self) -> bool:
        """Whether everything is as it should be already."""
        return self.before == self.after

    def diff(self) -> list[str]:
        """The change as a unified diff, a line each, without line ends."""
        here = str(self.file)
        old, new = (_lines(content) for content in (self.before, self.after))
        gone = "/dev/null"
        return [
            line.rstrip("\r\n")
            for line in difflib.unified_diff(
                old,
                new,
                here if self.before is not None else gone,
                here if self.after is not None else gone,
            )
        ]


def install(agent: Writing, machine: Machine) -> Change:
    """Plan to put the hooks in, and out what is there of an older installation.

    Raises:
        HooksError: The settings are none that can be changed.
    """
    file, target, now, text = _read(agent, machine)
    base: bytes | None = now
    agent = agent.with_own(text)
    if is_current(agent.ours(text), agent.wanted(machine)):
        return Change(agent.name, file, target, now, now)
    kept = files.kept(machine.backups, target)
    if kept and kept.fits(now):
        base = kept.before
    try:
        after = agent.added(text, machine).encode()
        if agent.ours(_text(base, file)):
            base = agent.removed(_text(base, file)).encode() or None
    except NotJson as error:
        raise _refused(file, str(error)) from None
    return Change(agent.name, file, target, now, after, base)


def uninstall(agent: Writing, machine: Machine) -> Change:
    """Plan to take the hooks out: what was there before, if nobody touched it since.

    Raises:
        HooksError: The settings are none that can be changed.
    """
    file, target, now, text = _read(agent, machine)
    after = now
    try:
        if agent.ours(text):
            after = _without(agent, machine, target, now, text)
    except NotJson as error:
        raise _refused(file, str(error)) from None
    return Change(agent.name, file, target, now, after, is_removal=True)


def _without(
    agent: Writing, machine: Machine, target: Path, now: bytes | None, text: str
) -> bytes | None:
    kept = files.kept(machine.backups, target)
    if kept and kept.fits(now) and not agent.ours(_text(kept.before, target)):
        return kept.before
    rest = agent.removed(text)
    is_spare = agent.is_own_file or (kept is not None and kept.before is None)
    is_bare = rest.split() in ([], agent.skeleton.split(), ["{}"])
    return None if is_spare and is_bare else rest.encode()


def write(change: Change, machine: Machine) -> Path | None:
    """Write a change; where a copy of what was there lies, if one was made.

    Raises:
        HooksError: The file was changed since the change was planned, or cannot be
            written; it is as it was.
    """
    if change.is_nothing:
        return None
    kept = files.kept(machine.backups, change.target)
    if change.is_removal or change.after is None:
        files.replace(change.target, change.before, change.after)
        files.forget(machine.backups, change.target)
        if change.after is None:
            files.remove_empty(kept.folders if kept else ())
        return None
    folders = files.missing_folders(change.target) or (kept.folders if kept else ())
    copy = files.keep(
        machine.backups, change.target, change.base, change.after, folders
    )
    files.replace(change.target, change.before, change.after)
    return copy


def is_current(found: list[Entry], wanted: list[Entry]) -> bool:
    """Whether what is there is what should be, in whatever order."""

    def told(entries: list[Entry]) -> list[tuple[str, str]]:
        return sorted((e.event, repr(sorted(e.handler.items()))) for e in entries)

    return told(found) == told(wanted)


def _read(agent: Writing, machine: Machine) -> tuple[Path, Path, bytes | None, str]:
    file = agent.file(machine)
    try:
        target = file.resolve()
    except (OSError, RuntimeError) as error:
        raise HooksError(f"{file}: a link that leads in a circle") from error
    now = files.read(target)
    text = _text(now, file)
    try:
        if text:
            agent.check(text)
        agent.ours(text or agent.skeleton)
        return file, target, now, text
    except NotJson as error:
        raise _refused(file, str(error)) from None


def _text(content: bytes | None, file: Path) -> str:
    try:
        text = (content or b"").decode("utf-8")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise _refused(file, f"line {line}: not UTF-8") from None
    return text if text.strip("\ufeff \t\r\n") else ""


def _refused(file: Path, reason: str) -> HooksError:
    return HooksError(f"{file}: {reason}; it was left as it is")


def _lines(content: bytes | None) -> list[str]:
    lines: Iterator[str] = iter((content or b"").decode("utf-8").split("\n"))
    said = [f"{line}\n" for line in lines]
    # What follows the last line end is no line of its own.
    return said[:-1] if said[-1] == "\n" else [*said[:-1], said[-1].rstrip("\n")]
