"""``mcp install``, ``uninstall`` and ``status``: register the server with agents."""

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from memtui.cli import hooks, output
from memtui.cli.hooks import ChangeOptions, change_entry
from memtui.errors import HooksError
from memtui.integrations import config_files
from memtui.integrations.config_files import ConfigEntry, ConfigValue
from memtui.integrations.machine import Machine, find_project_root
from memtui.integrations.mcp import McpClient, mcp_clients
from memtui.paths import Paths

_ALLOW_WRITE = "--allow-write"
"""The server's option to offer tools that change something."""


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """The server in one agent's settings, as ``--json`` prints it."""

    agent: str
    title: str
    is_found: bool
    """The agent is on this machine."""
    file: Path
    is_installed: bool
    is_current: bool
    """The entry is what would be installed now."""
    has_skill: bool
    may_write: bool = False
    """The server offers tools that change something."""
    problem: str = ""


def run_command(given: argparse.Namespace, paths: Paths) -> int:
    """Run what the command line says."""
    project = find_project_root(Path.cwd()) if given.project else None
    options = ChangeOptions(project, given.dry_run, given.yes, given.json)
    home_variable = os.environ.get("MEMTUI_HOME")
    home = given.home or (Path(home_variable) if home_variable else None)
    command = server_command(home, given.config, allow_write=given.allow_write)
    # Copies of their own: one file may hold both hooks and the server.
    machine = replace(hooks.this_machine(paths, project), backups=paths.server_backups)
    clients = mcp_clients(command)
    named = [one for one in clients if one.name in given.agents]
    if given.action == "status":
        return _print_status(named or clients, command, machine, as_json=given.json)
    chosen = named or _default_clients(given.action, clients, command, machine)
    results = [
        change_entry(
            given.action,
            entry,
            client.title,
            f"{entry.path(machine).name} is",
            machine,
            options,
            note=client.note_for(machine) if entry is client.server else "",
        )
        for client in chosen
        for entry in _entries(client, given.action, with_skill=not given.no_skill)
    ]
    return hooks.finish(given.action, results, options)


def server_command(
    home: Path | None, config: Path | None, *, allow_write: bool
) -> list[str]:
    """Return the command that an agent runs.

    Args:
        home: memtui's folder, if it is not the default.
        config: Further settings, if there are any.
        allow_write: Offer tools that change something.
    """
    # -P: a folder called memtui where the agent works is not taken for the package.
    command = [sys.executable, "-P", "-m", "memtui"]
    command += ["--home", str(home.expanduser().absolute())] if home else []
    command += ["--config", str(config.expanduser().absolute())] if config else []
    return [*command, "mcp", *[_ALLOW_WRITE] * allow_write]


def _entries(client: McpClient, action: str, *, with_skill: bool) -> list[ConfigEntry]:
    """Return what is installed; it is removed in the opposite order, folders last."""
    entries = [client.server, *[client.skill] * with_skill]
    return entries if action == "install" else entries[::-1]


def _default_clients(
    action: str,
    clients: Sequence[McpClient],
    command: Sequence[str],
    machine: Machine,
) -> list[McpClient]:
    if action == "install":
        found = [one for one in clients if one.is_found(machine)]
        if not found:
            names = ", ".join(one.name for one in clients)
            raise HooksError(
                "none of the agents memtui knows was found on this machine; name one:"
                f" {names}"
            )
        return found
    statuses = [_status(one, command, machine) for one in clients]
    found = [
        client
        for client, status in zip(clients, statuses, strict=True)
        if status.is_installed or status.has_skill
    ]
    if not found:
        raise HooksError("memtui's server is in no agent's settings")
    return found


def _print_status(
    clients: Sequence[McpClient],
    command: Sequence[str],
    machine: Machine,
    *,
    as_json: bool,
) -> int:
    statuses = [_status(one, command, machine) for one in clients]
    code = 0 if all(not one.problem for one in statuses) else 1
    if as_json:
        return output.print_json({"servers": statuses}, code=code)
    for one in statuses:
        output.print_lines(_status_lines(one))
    return code


def _status(
    client: McpClient, command: Sequence[str], machine: Machine
) -> ServerStatus:
    problem, is_installed, is_current, may_write = "", False, False, False
    try:
        text = config_files.read_text(client.server, machine)
        existing = client.server.existing(text)
        is_installed, may_write = bool(existing), _may_write(existing)
        server = _server(client.name, command, may_write=may_write)
        wanted = server.with_user_values(text).wanted(machine)
        is_current = config_files.is_up_to_date(existing, wanted)
        if is_installed and not is_current:
            arguments = f"{client.name}{f' {_ALLOW_WRITE}' * may_write}"
            problem = f"another command than this memtui's: mcp install {arguments}"
    except HooksError as error:
        problem = str(error)
    return ServerStatus(
        client.name,
        client.title,
        client.is_found(machine),
        client.server.path(machine),
        is_installed,
        is_current,
        _has_skill(client, machine),
        may_write,
        problem,
    )


def _may_write(existing: Sequence[ConfigValue]) -> bool:
    """Return whether an installed server offers tools that change something."""
    values = (value for one in existing for value in one.value.values())
    return any(isinstance(words, list) and _ALLOW_WRITE in words for words in values)


def _server(name: str, command: Sequence[str], *, may_write: bool) -> ConfigEntry:
    words = [word for word in command if word != _ALLOW_WRITE]
    clients = mcp_clients([*words, *[_ALLOW_WRITE] * may_write])
    return next(one.server for one in clients if one.name == name)


def _has_skill(client: McpClient, machine: Machine) -> bool:
    try:
        text = config_files.read_text(client.skill, machine)
    except HooksError:
        return False
    return bool(client.skill.existing(text))


def _status_lines(one: ServerStatus) -> list[str]:
    mark = "✗" if one.problem else "✓" if one.is_installed else " "
    state = "installed" if one.is_installed else "not installed"
    state += ", may write" * one.may_write
    skill = ", with the skill" if one.has_skill else ""
    where = "" if one.is_found else ", and not found on this machine"
    lines = [f"{mark} {one.title:<12} {state}{skill}{where}", f"    {one.file}"]
    return [*lines, f"    {one.problem}"] if one.problem else lines
