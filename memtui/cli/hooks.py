"""``hooks``: install memtui's hook in agents' settings, remove it, show its status."""

import os
import sys
from argparse import ArgumentTypeError, Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from memtui.cli import output
from memtui.cli.arguments import Parser, add_dry_run
from memtui.cli.context import Context
from memtui.errors import HooksError
from memtui.integrations import config_files, hooks
from memtui.integrations.config_files import ConfigChange, ConfigEntry
from memtui.integrations.hooks import HookStatus
from memtui.integrations.known_agents import AGENT_NAMES, agent_by_name
from memtui.integrations.machine import Machine, find_project_root
from memtui.paths import Paths

UNCONFIRMED = 2
"""The exit code when something would change and the user has not agreed."""


@dataclass(frozen=True, slots=True)
class ChangeResult:
    """The result for one settings file, as ``--json`` prints it."""

    agent: str
    file: Path
    diff: list[str]
    is_written: bool
    problem: str = ""


@dataclass(frozen=True, slots=True)
class ChangeOptions:
    """The options of ``install`` and ``uninstall``."""

    project: Path | None
    dry_run: bool
    yes: bool
    as_json: bool


def this_machine(paths: Paths, project: Path | None) -> Machine:
    """Return this machine, with the hook of this memtui."""
    hook = Path(__file__).parents[1] / "hook.py"
    # The spool that a hook uses by itself when it has no environment.
    default_spool = Path.home() / ".local" / "share" / "memtui" / "spool"
    return Machine(
        home=Path.home(),
        environment=os.environ,
        python=sys.executable,
        hook=hook.absolute(),
        backups=paths.hook_backups,
        spool=None if paths.spool == default_spool else paths.spool,
        project=project.absolute() if project else None,
    )


def add_options(parser: Parser, command: str) -> None:
    """Add the options of ``hooks``."""
    parser.add_argument("action", choices=("install", "uninstall", "status"))
    parser.add_argument(
        "agents",
        nargs="*",
        type=_agent_name,
        metavar="AGENT",
        help=f"{', '.join(AGENT_NAMES)}; default: all found on this machine",
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--user", action="store_true", help="in your own settings (the default)"
    )
    where.add_argument(
        "--project",
        action="store_true",
        help="in the settings of this folder's project",
    )
    add_dry_run(parser)


def _agent_name(text: str) -> str:
    if text not in AGENT_NAMES:
        raise ArgumentTypeError(
            f"no agent is called {text!r}: {', '.join(AGENT_NAMES)}"
        )
    return text


def run(args: Namespace, context: Context) -> int:
    """Run an action for the named agents, or for all on this machine."""
    project = find_project_root(Path.cwd()) if args.project else None
    options = ChangeOptions(project, args.dry_run, args.yes, args.json)
    action, names = args.action, args.agents
    machine = this_machine(context.paths, project)
    if action == "status":
        return _print_status(names, machine, as_json=options.as_json)
    if not names:
        names = _default_agents(action, machine)
        if not options.as_json:
            titles = ", ".join(agent_by_name(name).title for name in names)
            where = "Found on this machine" if action == "install" else "Hooks are in"
            output.print_lines([f"{where}: {titles}."])
    results = []
    for name in names:
        agent = agent_by_name(name)
        results.append(
            change_entry(
                action,
                agent,
                agent.title,
                "memtui's hooks are",
                machine,
                options,
                note=agent.note_for(machine),
            )
        )
    return finish(action, results, options)


def _default_agents(action: str, machine: Machine) -> list[str]:
    if action == "install":
        names = hooks.agents_found(machine)
        if not names:
            raise HooksError(
                "none of the agents memtui knows was found on this machine; name one:"
                f" {', '.join(AGENT_NAMES)}"
            )
        return names
    statuses = hooks.hook_statuses(machine, run=False)
    names = [one.agent for one in statuses if one.is_installed]
    if not names:
        where = machine.project or "your agents' settings"
        raise HooksError(f"no hooks of memtui are in {where}")
    return names


def change_entry(
    action: str,
    entry: ConfigEntry,
    title: str,
    subject: str,
    machine: Machine,
    options: ChangeOptions,
    *,
    note: str = "",
) -> ChangeResult:
    """Install or remove one entry: show the change, ask, and write it.

    Args:
        action: ``install`` or ``uninstall``.
        entry: The entry.
        title: The agent's title.
        subject: The subject of the messages, with its verb: "memtui is".
        machine: This machine.
        options: Whether to ask, to write, to print.
        note: What to say after an installation.
    """
    file, is_quiet = entry.path(machine), options.as_json
    is_install = action == "install"
    plan = config_files.plan_installation if is_install else config_files.plan_removal
    try:
        change = plan(entry, machine)
        if not is_quiet:
            state = "already in" if is_install else "not in"
            nothing = f"{title}: {subject} {state} {change.file}."
            output.print_lines([nothing] if change.is_empty else _diff(title, change))
        is_written = not change.is_empty and _is_confirmed(options)
        copy = config_files.write(change, machine) if is_written else None
    except HooksError as error:
        print(f"memtui: {title}: {error}", file=sys.stderr)
        return ChangeResult(entry.name, file, [], False, str(error))
    if is_written and not is_quiet:
        lines = [f"{title}: {subject} {'installed' if is_install else 'removed'}."]
        if copy:
            lines.append(f"A copy of the original file is in {copy}.")
        if is_install and note:
            lines.append(note)
        output.print_lines(lines)
    return ChangeResult(entry.name, file, change.diff(), is_written)


def _diff(title: str, change: ConfigChange) -> list[str]:
    is_link = change.target != change.file
    target = f" (a link to {change.target})" if is_link else ""
    return ["", f"{title}: {change.file}{target}", *change.diff()]


def _is_confirmed(options: ChangeOptions) -> bool:
    """Return whether to write: by an option, or by asking on the terminal."""
    if options.dry_run or options.yes:
        return options.yes and not options.dry_run
    if options.as_json:
        return False
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        output.print_lines(["Nothing was written. To write it, say --yes."])
        return False
    try:
        return input("Write this? [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        return False


def finish(action: str, results: Sequence[ChangeResult], options: ChangeOptions) -> int:
    """Print the results as JSON, if wanted, and return the exit code."""
    is_open = any(one.diff and not one.is_written for one in results)
    code = UNCONFIRMED if is_open and not options.dry_run else 0
    if any(one.problem for one in results):
        code = 1
    if options.as_json:
        output.print_json({"action": action, "changes": list(results)}, code=code)
    return code


def _print_status(names: Sequence[str], machine: Machine, *, as_json: bool) -> int:
    statuses = hooks.hook_statuses(machine, names or AGENT_NAMES)
    code = 0 if all(one.is_ok for one in statuses) else 1
    if as_json:
        return output.print_json({"hooks": statuses}, code=code)
    for one in statuses:
        output.print_lines(_status_lines(one))
    return code


def _status_lines(one: HookStatus) -> list[str]:
    mark = "✗" if one.problem else "✓" if one.is_installed else " "
    state = "installed" if one.is_installed else "not installed"
    where = "" if one.is_found else ", and not found on this machine"
    lines = [f"{mark} {one.title:<12} {state}{where}", f"    {one.file}"]
    if one.problem:
        lines.append(f"    {one.problem}")
        if one.is_installed and not one.is_off:
            lines.append(f"    memtui hooks install {one.agent} corrects it")
    elif one.is_installed:
        runs = "the command runs" if one.runs else hooks.command_line(one.command)
        lines.append(f"    {', '.join(one.events)}; {runs}")
    return lines
