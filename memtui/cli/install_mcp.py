"""``mcp install``, ``uninstall`` and ``status``: telling agents of the server."""

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from memtui.cli import hooks, mcp, output
from memtui.cli.hooks import UNCONFIRMED, Outcome, Wish, is_wanted
from memtui.errors import HooksError
from memtui.integrations import config_files
from memtui.integrations import hooks as integrations_hooks
from memtui.integrations.config_edit import NotJson
from memtui.integrations.hooks import ConfigChange, ConfigEntry
from memtui.integrations.known_agents import Entry, Machine, project_of
from memtui.integrations.mcp import Client, clients
from memtui.paths import Paths

_DONE = {"install": "installed", "uninstall": "taken out"}


_WRITES = "--allow-write"
"""What has the server offer tools that change something."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How it stands with one agent."""

    agent: str
    title: str
    is_found: bool
    """Whether the agent is on this machine."""
    file: Path
    is_installed: bool
    is_current: bool
    """Whether it is what would be installed now."""
    has_skill: bool
    may_write: bool = False
    """Whether tools that change something are offered."""
    problem: str = ""


def asked(given: argparse.Namespace, places: Paths) -> int:
    """Do what the command line says."""
    project = project_of(Path.cwd()) if given.project else None
    wish = Wish(project, given.dry_run, given.yes, given.json)
    named = os.environ.get("MEMTUI_HOME")
    home = given.home or (Path(named) if named else None)
    program = command(home, given.config, with_writing=given.allow_write)
    # Copies of their own: one file may hold both hooks and the server.
    here = replace(hooks.machine(places, project), backups=places.server_backups)
    with_skill = not given.no_skill
    return run(given.action, given.agents, program, here, wish, with_skill=with_skill)


def command(home: Path | None, config: Path | None, *, with_writing: bool) -> list[str]:
    """What an agent is to run.

    ``-P``: a folder called memtui where the agent works is not taken for this one.

    Args:
        home: Where everything is kept, if that was said.
        config: The settings that are read besides.
        with_writing: Whether tools that change something are offered.
    """
    told = [sys.executable, "-P", "-m", "memtui"]
    told += ["--home", str(home.expanduser().absolute())] if home else []
    told += ["--config", str(config.expanduser().absolute())] if config else []
    return [*told, "mcp", *[_WRITES] * with_writing]


def run(
    action: str,
    names: Sequence[str],
    program: Sequence[str],
    here: Machine,
    wish: Wish,
    *,
    with_skill: bool,
) -> int:
    """Do what was asked for with the agents named, or with all on this machine."""
    known = clients(program)
    chosen = [one for one in known if one.name in names]
    if action == "status":
        return _status(chosen or known, program, here, as_json=wish.as_json)
    if not chosen:
        chosen = _meant(action, known, program, here)
    if action == "install" and not mcp.has_sdk():
        print(f"memtui: {mcp.MISSING}", file=sys.stderr)
    told = [
        _one(action, one, writing, here, wish)
        for one in chosen
        for writing in _writings(one, action, with_skill=with_skill)
    ]
    if wish.as_json:
        output.as_json({"action": action, "changes": told})
    if any(one.problem for one in told):
        return 1
    is_open = any(one.diff and not one.is_written for one in told)
    return UNCONFIRMED if is_open and not wish.is_only_shown else 0


def _writings(one: Client, action: str, *, with_skill: bool) -> list[ConfigEntry]:
    """What is put in; it is taken out in the opposite order, folders last."""
    some = [one.server, *[one.skill] * with_skill]
    return some if action == "install" else some[::-1]


def _meant(
    action: str, known: Sequence[Client], program: Sequence[str], here: Machine
) -> list[Client]:
    """The agents that are meant when none is named."""
    if action == "install":
        found = [one for one in known if one.is_found(here)]
        if not found:
            names = ", ".join(one.name for one in known)
            raise HooksError(
                "none of the agents memtui knows was found on this machine; name one:"
                f" {names}"
            )
        return found
    standing = {one.name: _look(one, program, here) for one in known}
    found = [
        one
        for one in known
        if standing[one.name].is_installed or standing[one.name].has_skill
    ]
    if not found:
        raise HooksError("no agent's settings name memtui's server")
    return found


def _one(
    action: str, client: Client, writing: ConfigEntry, here: Machine, wish: Wish
) -> Outcome:
    file = writing.file(here)
    try:
        plan = (
            integrations_hooks.install
            if action == "install"
            else integrations_hooks.uninstall
        )
        change = plan(writing, here)
        if not wish.as_json:
            output.bounded(_shown(action, client, change))
        is_written = not change.is_nothing and is_wanted(wish)
        copy = integrations_hooks.write(change, here) if is_written else None
    except HooksError as error:
        print(f"memtui: {client.title}: {error}", file=sys.stderr)
        return Outcome(client.name, file, [], False, str(error))
    if is_written and not wish.as_json:
        output.print_lines([f"{client.title}: {file.name} is {_DONE[action]}."])
        output.print_lines([f"The file as it was is kept in {copy}."] * bool(copy))
        is_server = action == "install" and writing is client.server
        output.print_lines([client.note_in(here)] * is_server)
    return Outcome(client.name, file, change.diff(), is_written)


def _shown(action: str, client: Client, change: ConfigChange) -> list[str]:
    if not change.is_nothing:
        linked = f" (a link to {change.target})" if change.target != change.file else ""
        return ["", f"{client.title}: {change.file}{linked}", *change.diff()]
    said = "already in" if action == "install" else "not in"
    return [f"{client.title}: memtui is {said} {change.file}."]


def _status(
    known: Sequence[Client], program: Sequence[str], here: Machine, *, as_json: bool
) -> int:
    found = [_look(one, program, here) for one in known]
    if as_json:
        output.as_json({"servers": found})
    else:
        for one in found:
            output.print_lines(_told(one))
    return 0 if all(not one.problem for one in found) else 1


def _look(client: Client, program: Sequence[str], here: Machine) -> Standing:
    problem, is_installed, is_current, may_write = "", False, False, False
    try:
        text = _text(client.server, here)
        ours = client.server.ours(text)
        is_installed, may_write = bool(ours), _may_write(ours)
        server = _server(client.name, program, may_write=may_write)
        is_current = integrations_hooks.is_up_to_date(
            ours, server.with_own(text).wanted(here)
        )
        if is_installed and not is_current:
            again = f"{client.name}{f' {_WRITES}' * may_write}"
            problem = f"another command than this memtui's: mcp install {again}"
    except HooksError as error:
        problem = str(error)
    return Standing(
        client.name,
        client.title,
        client.is_found(here),
        client.server.file(here),
        is_installed,
        is_current,
        _has_skill(client, here),
        may_write,
        problem,
    )


def _may_write(ours: Sequence[Entry]) -> bool:
    """Whether a server that stands somewhere offers tools that change something."""
    said = (value for one in ours for value in one.handler.values())
    return any(isinstance(words, list) and _WRITES in words for words in said)


def _server(name: str, program: Sequence[str], *, may_write: bool) -> ConfigEntry:
    """The server as an agent is told of it, with writing or without."""
    words = [*(word for word in program if word != _WRITES), *[_WRITES] * may_write]
    return next(one.server for one in clients(words) if one.name == name)


def _has_skill(client: Client, here: Machine) -> bool:
    """Whether there is a skill of ours, whatever becomes of the settings."""
    try:
        return bool(client.skill.ours(_text(client.skill, here)))
    except HooksError:
        return False


def _text(writing: ConfigEntry, here: Machine) -> str:
    """What a file holds that ours may stand in."""
    file = writing.file(here)
    text = (config_files.read(file) or b"").decode("utf-8", "replace")
    if not text.strip("\ufeff \t\r\n"):
        return ""
    try:
        writing.check(text)
        writing.ours(text)
    except NotJson as error:
        raise HooksError(f"{file}: {error}") from None
    return text


def _told(one: Standing) -> list[str]:
    mark = "✗" if one.problem else "✓" if one.is_installed else " "
    said = "installed" if one.is_installed else "not installed"
    said += ", may write" * one.may_write
    skill = ", with the skill" if one.has_skill else ""
    where = "" if one.is_found else ", and not found on this machine"
    told = [f"{mark} {one.title:<12} {said}{skill}{where}", f"    {one.file}"]
    return [*told, f"    {one.problem}"] if one.problem else told
