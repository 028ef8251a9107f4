"""What is installed for each agent, and whether it works."""

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from memtui.agents import changes, files, known
from memtui.agents.entries import Entry
from memtui.agents.json_text import NotJson
from memtui.agents.known import Agent
from memtui.agents.machine import Machine
from memtui.errors import HooksError

PATIENCE_S = 10.0
"""How long the hook may take before it counts as one that does not run."""


@dataclass(frozen=True, slots=True)
class Installation:
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
    machine: Machine, names: Sequence[str] = known.NAMES, *, is_tried: bool = True
) -> list[Installation]:
    """How it stands with the hooks of each agent.

    Args:
        machine: Where to look.
        names: Which agents.
        is_tried: Whether the command they name is run, with nothing to read.
    """
    return [_look(known.named(name), machine, is_tried) for name in names]


def found(machine: Machine) -> list[str]:
    """The names of the agents on this machine."""
    return [agent.name for agent in known.AGENTS if agent.is_found(machine)]


def _look(agent: Agent, machine: Machine, is_tried: bool) -> Installation:
    problem, ours, wanted = "", list[Entry](), agent.wanted(machine)
    is_off = False
    try:
        ours, is_off = _ours(agent, machine)
    except HooksError as error:
        problem = str(error)
    is_current = changes.is_current(ours, wanted)
    runs = None
    if ours:
        runs = _run(ours[0].words) if is_tried else None
        problem = _wrong(ours, wanted, is_current=is_current, runs=runs)
    if ours and is_off:
        problem = f"all hooks are switched off there, by {agent.switch}"
    return Installation(
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
        note=known.note_of(agent, machine),
        is_off=is_off,
    )


def _ours(agent: Agent, machine: Machine) -> tuple[list[Entry], bool]:
    """The hooks of ours in an agent's settings, and whether all hooks are off there."""
    file = agent.file(machine)
    content = files.read(file)
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
