"""The hooks in the agents' settings: their status, and how to change them."""

import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from memtui.errors import HooksError
from memtui.integrations import config_files, known_agents
from memtui.integrations.config_files import ConfigChange, ConfigValue
from memtui.integrations.known_agents import AGENT_NAMES, KnownAgent, agent_by_name
from memtui.integrations.machine import Machine
from memtui.model.events import clean

RUN_TIMEOUT_S = 10.0

MAX_LINE_CHARS = 200
"""The longest command that is shown whole."""


@dataclass(frozen=True, slots=True)
class HookStatus:
    """One agent and the hooks in its settings."""

    agent: str
    title: str
    is_found: bool
    """The agent is on this machine."""
    scope: str
    """``user`` or ``project``."""
    file: Path
    is_installed: bool
    is_current: bool
    """The hooks are what would be installed now."""
    runs: bool | None
    """The command runs; None if there is none or it was not tried."""
    events: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    problem: str = ""
    note: str = ""
    """A hint for the user without which the hooks may not work."""
    is_off: bool = False
    """The agent's settings switch off all hooks."""

    @property
    def is_ok(self) -> bool:
        """Nothing needs to be done."""
        return not self.problem


def hook_statuses(
    machine: Machine, names: Sequence[str] = AGENT_NAMES, *, run: bool = True
) -> list[HookStatus]:
    """Return the status of each agent's hooks.

    Args:
        machine: Where to look.
        names: Which agents.
        run: Whether to run the installed commands, with empty input.
    """
    return [_status(agent_by_name(name), machine, run=run) for name in names]


def agents_found(machine: Machine) -> list[str]:
    """Return the names of the agents on this machine."""
    return [one.name for one in known_agents.AGENTS if one.is_found(machine)]


def _status(agent: KnownAgent, machine: Machine, *, run: bool) -> HookStatus:
    problem, existing, is_off = "", list[ConfigValue](), False
    try:
        if text := config_files.read_text(agent, machine):
            existing, is_off = agent.existing(text), agent.hooks_are_off(text)
    except HooksError as error:
        problem = str(error)
    wanted = agent.wanted(machine)
    is_current = config_files.is_up_to_date(existing, wanted)
    command = known_agents.command_words(existing[0].value) if existing else ()
    # The files of a project may come from anybody: what they name is never run.
    may_run = run and machine.project is None
    runs = _runs(command, machine.home) if existing and may_run else None
    if existing and is_off:
        problem = f"{agent.off_setting} switches off all hooks there"
    elif existing and runs is False:
        problem = "the command it names does not run"
    elif existing and not is_current:
        problem = f"{_outdated(existing, wanted)}; it runs: {command_line(command)}"
    return HookStatus(
        agent=agent.name,
        title=agent.title,
        is_found=agent.is_found(machine),
        scope="project" if machine.project else "user",
        file=agent.path(machine),
        is_installed=bool(existing),
        is_current=is_current,
        runs=runs,
        events=tuple(clean(one.key) for one in existing),
        command=command,
        problem=problem,
        note=agent.note_for(machine),
        is_off=is_off,
    )


def _outdated(existing: Sequence[ConfigValue], wanted: Sequence[ConfigValue]) -> str:
    events, wanted_events = ({one.key for one in some} for some in (existing, wanted))
    if missing := sorted(wanted_events - events):
        return f"outdated: events are missing ({', '.join(missing)})"
    if extra := sorted(events - wanted_events):
        return f"outdated: events that are not needed ({', '.join(extra)})"
    if len(existing) > len(wanted):
        return "outdated: some events are sent twice"
    return "outdated: another command than this memtui's"


def command_line(command: Sequence[str]) -> str:
    """Return a command on one line, to be shown."""
    words = command[2:] if command[:2] == ("/bin/sh", "-c") else (shlex.join(command),)
    line = " ".join(clean(" ".join(words)).split())
    short = line[:MAX_LINE_CHARS]
    return f"{short}{'…' if short != line else ''}"


def _runs(command: Sequence[str], folder: Path) -> bool:
    """Return whether a command succeeds without output when its input is empty.

    Args:
        command: The command, from the user's own settings.
        folder: Where to run it: a relative path must not lead into a repository.
    """
    try:
        result = subprocess.run(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=RUN_TIMEOUT_S,
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return False
    return (result.returncode, result.stdout, result.stderr) == (0, b"", b"")


class HooksEditor:
    """Shows and changes the hooks on one machine, for the hooks screen."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    def statuses(self) -> Sequence[HookStatus]:
        """Return the status of each agent's hooks; runs the installed commands."""
        return hook_statuses(self._machine)

    def plan(self, agent: str, *, is_removal: bool) -> ConfigChange:
        """Plan to install or to remove an agent's hooks.

        Raises:
            HooksError: The settings cannot be changed.
        """
        entry = agent_by_name(agent)
        if is_removal:
            return config_files.plan_removal(entry, self._machine)
        return config_files.plan_installation(entry, self._machine)

    def write(self, change: ConfigChange) -> None:
        """Write a planned change.

        Raises:
            HooksError: The settings have changed since then, or cannot be written.
        """
        config_files.write(change, self._machine)
