"""``hooks``: puts memtui's hook into agents' settings, takes it out, says how it is."""

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from memtui.cli import output
from memtui.errors import HooksError
from memtui.integrations import hooks, known_agents
from memtui.integrations.hooks import ConfigChange, HookStatus
from memtui.integrations.known_agents import Agent, Machine
from memtui.paths import Paths

UNCONFIRMED = 2
"""The exit code when something would change and nobody said yes."""


_PLANS: dict[str, Callable[[Agent, Machine], ConfigChange]] = {
    "install": hooks.install,
    "uninstall": hooks.uninstall,
}


_MEANT = {"install": "Found on this machine", "uninstall": "Hooks are in"}


_DONE = {"install": "installed", "uninstall": "taken out"}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one agent's settings."""

    agent: str
    file: Path
    diff: list[str]
    is_written: bool
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Wish:
    """What was asked for beside the action and the agents."""

    project: Path | None
    is_only_shown: bool
    is_confirmed: bool
    as_json: bool


def machine(places: Paths, project: Path | None) -> Machine:
    """This machine, as the hook that is installed is to see it."""
    hook = Path(__file__).parents[1] / "hook.py"
    # Where a hook without any environment looks; another place it must be told.
    plain = Path.home() / ".local" / "share" / "memtui" / "spool"
    return Machine(
        home=Path.home(),
        environment=os.environ,
        python=sys.executable,
        hook=hook.absolute(),
        backups=places.hook_backups,
        spool=None if places.spool == plain else places.spool,
        project=project.absolute() if project else None,
    )


def run(action: str, names: Sequence[str], places: Paths, wish: Wish) -> int:
    """Do what was asked for with the agents named, or with all on this machine."""
    here = machine(places, wish.project)
    if action == "status":
        return _status(names, here, as_json=wish.as_json)
    if not names:
        names = _meant(action, here)
        if not wish.as_json:
            output.print_lines([f"{_MEANT[action]}: {_titles(names)}."])
    told = [
        _one(action, known_agents.agent_by_name(name), here, wish) for name in names
    ]
    if wish.as_json:
        output.as_json({"action": action, "changes": told})
    if any(one.problem for one in told):
        return 1
    is_open = any(one.diff and not one.is_written for one in told)
    return UNCONFIRMED if is_open and not wish.is_only_shown else 0


def _meant(action: str, here: Machine) -> list[str]:
    """The agents that are meant when none is named."""
    if action == "install":
        names = hooks.found(here)
        if not names:
            raise HooksError(
                "none of the agents memtui knows was found on this machine; name one:"
                f" {', '.join(known_agents.NAMES)}"
            )
        return names
    there = hooks.installed(here, is_tried=False)
    names = [one.agent for one in there if one.is_installed]
    if not names:
        where = here.project or "your agents' settings"
        raise HooksError(f"no hooks of memtui are in {where}")
    return names


def _one(action: str, agent: Agent, here: Machine, wish: Wish) -> Outcome:
    file = agent.file(here)
    try:
        change = _PLANS[action](agent, here)
        if not wish.as_json:
            output.bounded(_shown(action, agent, change))
        is_written = not change.is_nothing and is_wanted(wish)
        copy = hooks.write(change, here) if is_written else None
    except HooksError as error:
        print(f"memtui: {agent.title}: {error}", file=sys.stderr)
        return Outcome(agent.name, file, [], False, str(error))
    if is_written and not wish.as_json:
        output.print_lines(_written(action, agent, here, copy))
    return Outcome(agent.name, file, change.diff(), is_written)


def _shown(action: str, agent: Agent, change: ConfigChange) -> list[str]:
    if not change.is_nothing:
        linked = f" (a link to {change.target})" if change.target != change.file else ""
        return ["", f"{agent.title}: {change.file}{linked}", *change.diff()]
    said = "already in" if action == "install" else "not in"
    return [f"{agent.title}: memtui's hooks are {said} {change.file}."]


def is_wanted(wish: Wish) -> bool:
    """Whether to write: said so on the command line, or on the terminal now."""
    if wish.is_only_shown or wish.is_confirmed:
        return wish.is_confirmed and not wish.is_only_shown
    if wish.as_json:
        return False
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        output.print_lines(["Nothing was written. To write it, say --yes."])
        return False
    try:
        return input("Write this? [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        return False


def _written(action: str, agent: Agent, here: Machine, copy: Path | None) -> list[str]:
    told = [f"{agent.title}: memtui's hooks are {_DONE[action]}."]
    if copy:
        told.append(f"The file as it was is kept in {copy}.")
    note = known_agents.note_of(agent, here)
    return [*told, note] if note and action == "install" else told


def _status(names: Sequence[str], here: Machine, *, as_json: bool) -> int:
    found = hooks.installed(here, names or known_agents.NAMES)
    if as_json:
        output.as_json({"hooks": found})
    else:
        for one in found:
            output.print_lines(_told(one))
    return 0 if all(one.is_well for one in found) else 1


def _told(one: HookStatus) -> list[str]:
    mark = "✗" if one.problem else "✓" if one.is_installed else " "
    said = "installed" if one.is_installed else "not installed"
    where = "" if one.is_found else ", and not found on this machine"
    told = [f"{mark} {one.title:<12} {said}{where}", f"    {one.file}"]
    if one.problem:
        told.append(f"    {one.problem}")
        if one.is_installed and not one.is_off:
            told.append(f"    memtui hooks install {one.agent} puts it right")
    elif one.is_installed:
        told.append(f"    {', '.join(one.events)}; the command runs")
    return told


def _titles(names: Sequence[str]) -> str:
    return ", ".join(known_agents.agent_by_name(name).title for name in names)
