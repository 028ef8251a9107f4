"""What is installed for each agent, and whether it works."""

import difflib
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from memtui.errors import HooksError
from memtui.integrations import config_files, known_agents
from memtui.integrations.config_edit import NotJson
from memtui.integrations.known_agents import Agent, Entry, Machine


class ConfigEntry(Protocol):
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

    def with_own(self, text: str) -> "ConfigEntry":
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
class ConfigChange:
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


def install(agent: ConfigEntry, machine: Machine) -> ConfigChange:
    """Plan to put the hooks in, and out what is there of an older installation.

    Raises:
        HooksError: The settings are none that can be changed.
    """
    file, target, now, text = _read(agent, machine)
    base: bytes | None = now
    agent = agent.with_own(text)
    if is_up_to_date(agent.ours(text), agent.wanted(machine)):
        return ConfigChange(agent.name, file, target, now, now)
    kept = config_files.kept(machine.backups, target)
    if kept and kept.fits(now):
        base = kept.before
    try:
        after = agent.added(text, machine).encode()
        if agent.ours(_text(base, file)):
            base = agent.removed(_text(base, file)).encode() or None
    except NotJson as error:
        raise _refused(file, str(error)) from None
    return ConfigChange(agent.name, file, target, now, after, base)


def uninstall(agent: ConfigEntry, machine: Machine) -> ConfigChange:
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
    return ConfigChange(agent.name, file, target, now, after, is_removal=True)


def _without(
    agent: ConfigEntry, machine: Machine, target: Path, now: bytes | None, text: str
) -> bytes | None:
    kept = config_files.kept(machine.backups, target)
    if kept and kept.fits(now) and not agent.ours(_text(kept.before, target)):
        return kept.before
    rest = agent.removed(text)
    is_spare = agent.is_own_file or (kept is not None and kept.before is None)
    is_bare = rest.split() in ([], agent.skeleton.split(), ["{}"])
    return None if is_spare and is_bare else rest.encode()


def write(change: ConfigChange, machine: Machine) -> Path | None:
    """Write a change; where a copy of what was there lies, if one was made.

    Raises:
        HooksError: The file was changed since the change was planned, or cannot be
            written; it is as it was.
    """
    if change.is_nothing:
        return None
    kept = config_files.kept(machine.backups, change.target)
    if change.is_removal or change.after is None:
        config_files.replace(change.target, change.before, change.after)
        config_files.forget(machine.backups, change.target)
        if change.after is None:
            config_files.remove_empty(kept.folders if kept else ())
        return None
    folders = config_files.missing_folders(change.target) or (
        kept.folders if kept else ()
    )
    copy = config_files.keep(
        machine.backups, change.target, change.base, change.after, folders
    )
    config_files.replace(change.target, change.before, change.after)
    return copy


def is_up_to_date(found: list[Entry], wanted: list[Entry]) -> bool:
    """Whether what is there is what should be, in whatever order."""

    def told(entries: list[Entry]) -> list[tuple[str, str]]:
        return sorted((e.event, repr(sorted(e.handler.items()))) for e in entries)

    return told(found) == told(wanted)


def _read(agent: ConfigEntry, machine: Machine) -> tuple[Path, Path, bytes | None, str]:
    file = agent.file(machine)
    try:
        target = file.resolve()
    except (OSError, RuntimeError) as error:
        raise HooksError(f"{file}: a link that leads in a circle") from error
    now = config_files.read(target)
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


PATIENCE_S = 10.0
"""How long the hook may take before it counts as one that does not run."""


@dataclass(frozen=True, slots=True)
class HookStatus:
    """One agent and the hooks in its settings."""

    agent: str
    title: str
    is_found: bool
    """Whether the agent is on this machine."""
    scope: str
    """``user`` or ``project``."""
    file: Path
    is_installed: bool
    is_current: bool
    """Whether it is what would be installed now."""
    runs: bool | None
    """Whether the command it names runs; None if there is none or it was not tried."""
    events: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    problem: str = ""
    """What is wrong with it, in words."""
    note: str = ""
    """What a person must know to have it work."""
    is_off: bool = False
    """Whether the agent's settings have it run no hooks: installing changes nothing."""

    @property
    def is_well(self) -> bool:
        """Whether nothing needs to be done about it."""
        return not self.problem


def installed(
    machine: Machine,
    names: Sequence[str] = known_agents.NAMES,
    *,
    is_tried: bool = True,
) -> list[HookStatus]:
    """How it stands with the hooks of each agent.

    Args:
        machine: Where to look.
        names: Which agents.
        is_tried: Whether the command they name is run, with nothing to read.
    """
    return [
        _look(known_agents.agent_by_name(name), machine, is_tried) for name in names
    ]


def found(machine: Machine) -> list[str]:
    """The names of the agents on this machine."""
    return [agent.name for agent in known_agents.AGENTS if agent.is_found(machine)]


def _look(agent: Agent, machine: Machine, is_tried: bool) -> HookStatus:
    problem, ours, wanted = "", list[Entry](), agent.wanted(machine)
    is_off = False
    try:
        ours, is_off = _ours(agent, machine)
    except HooksError as error:
        problem = str(error)
    is_current = is_up_to_date(ours, wanted)
    runs = None
    if ours:
        runs = _run(ours[0].words) if is_tried else None
        problem = _wrong(ours, wanted, is_current=is_current, runs=runs)
    if ours and is_off:
        problem = f"all hooks are switched off there, by {agent.switch}"
    return HookStatus(
        agent=agent.name,
        title=agent.title,
        is_found=agent.is_found(machine),
        scope="project" if machine.project else "user",
        file=agent.file(machine),
        is_installed=bool(ours),
        is_current=is_current,
        runs=runs,
        events=tuple(entry.event for entry in ours),
        command=ours[0].words if ours else (),
        problem=problem,
        note=known_agents.note_of(agent, machine),
        is_off=is_off,
    )


def _ours(agent: Agent, machine: Machine) -> tuple[list[Entry], bool]:
    """The hooks of ours in an agent's settings, and whether all hooks are off there."""
    file = agent.file(machine)
    content = config_files.read(file)
    try:
        text = (content or b"").decode("utf-8")
        if text.strip("\ufeff \t\r\n"):
            agent.check(text)
            return agent.ours(text), agent.is_off(text)
    except (NotJson, UnicodeDecodeError) as error:
        said = "not UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)
        raise HooksError(f"{file}: {said}") from None
    return [], False


def _wrong(
    ours: list[Entry], wanted: list[Entry], *, is_current: bool, runs: bool | None
) -> str:
    if runs is False:
        return "the command it names does not run"
    if is_current:
        return ""
    there, needed = ({e.event for e in some} for some in (ours, wanted))
    if lacking := sorted(needed - there):
        return f"outdated: events are missing ({', '.join(lacking)})"
    if spare := sorted(there - needed):
        return f"outdated: events nobody needs ({', '.join(spare)})"
    if len(ours) > len(wanted):
        return "outdated: some events are told twice"
    return "outdated: another command than this memtui's"


def _run(words: Sequence[str]) -> bool:
    """Whether a command ends silently and well when it is told nothing."""
    try:
        ended = subprocess.run(
            words, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE_S
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return False
    return (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")


class HooksEditor:
    """Looks, plans and writes on one machine."""

    def __init__(self, machine: Machine) -> None:
        """Remember the machine."""
        self._machine = machine

    def look(self) -> Sequence[HookStatus]:
        """How it stands with each agent; runs the commands that are installed."""
        return installed(self._machine)

    def plan(self, agent: str, *, is_removal: bool) -> ConfigChange:
        """What would become of an agent's settings.

        Raises:
            HooksError: They are none that can be changed.
        """
        make: Callable[[known_agents.Agent, Machine], ConfigChange]
        make = uninstall if is_removal else install
        return make(known_agents.agent_by_name(agent), self._machine)

    def write(self, change: ConfigChange) -> None:
        """Write a change that was planned.

        Raises:
            HooksError: The settings are others by now, or cannot be written.
        """
        write(change, self._machine)
