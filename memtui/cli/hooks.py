"""``hooks`` and ``mcp install``: put memtui into agents' settings, or take it out."""

import itertools
import os
import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from memtui.cli import output
from memtui.cli.command import Context, Parser, add_dry_run
from memtui.errors import HooksError
from memtui.integrations import agents, config_files
from memtui.integrations.agents import (
    AGENT_NAMES,
    AGENTS,
    ALL_TOOLS,
    ALLOW_WRITE,
    Agent,
    HookStatus,
    ServerStatus,
)
from memtui.integrations.config_files import (
    ConfigEntry,
    Machine,
    find_project_root,
)
from memtui.model.events import clean
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


def this_machine(paths: Paths, project: Path | None) -> Machine:
    """Return this machine, with the hook of this memtui."""
    # The spool that a hook uses by itself when it has no environment.
    default_spool = Path.home() / ".local" / "share" / "memtui" / "spool"
    return Machine(
        home=Path.home(),
        environment=os.environ,
        python=sys.executable,
        hook=(Path(__file__).parents[1] / "hook.py").absolute(),
        spool=None if paths.spool == default_spool else paths.spool,
        project=project.absolute() if project else None,
    )


def add_options(parser: Parser, command: str) -> None:
    parser.add_argument("action", choices=("install", "uninstall", "status"))
    parser.add_argument(
        "agents",
        nargs="*",
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


def run(args: Namespace, context: Context) -> int:
    machine = this_machine(context.paths, _project(args))
    if args.action == "status":
        chosen = _named(args) or AGENTS
        statuses = [agents.hook_status(agent, machine) for agent in chosen]
        lines = [_hook_lines(status) for status in statuses]
        return _print_status(args, "hooks", statuses, lines)
    chosen = _choose(args, machine)
    if not args.agents and not args.json:
        titles = ", ".join(agent.title for agent in chosen)
        where = "Found on this machine" if args.action == "install" else "Hooks are in"
        output.print_lines([f"{where}: {titles}."])
    return _change(args, machine, [(agent, agent.hooks) for agent in chosen])


def run_mcp(args: Namespace, paths: Paths) -> int:
    """Register the MCP server with agents and install the skill, or remove both."""
    home = os.environ.get("MEMTUI_HOME")
    machine = replace(
        this_machine(paths, _project(args)),
        server=_server_command(args, Path(home) if home else None),
    )
    if args.action == "status":
        chosen = _named(args) or AGENTS
        statuses = [agents.server_status(agent, machine) for agent in chosen]
        details = [
            ", may write" * status.may_write + ", with the skill" * status.has_skill
            for status in statuses
        ]
        lines = map(_status_lines, statuses, details)
        return _print_status(args, "servers", statuses, lines)
    pairs = []
    for agent in _choose(args, machine):
        entries = [agent.server, *[agent.skill] * (not args.no_skill)]
        # Removed in the opposite order: the folders last.
        for entry in entries if args.action == "install" else entries[::-1]:
            pairs.append((agent, entry))
    return _change(args, machine, pairs)


def _server_command(args: Namespace, home: Path | None) -> tuple[str, ...]:
    # -P: a folder called memtui where the agent works is not taken for the package.
    command = [sys.executable, "-P", "-m", "memtui"]
    for option, path in (("--home", args.home or home), ("--config", args.config)):
        command += [option, str(path.expanduser().absolute())] if path else []
    command += ["mcp", *[ALLOW_WRITE] * args.allow_write]
    return (*command, *[ALL_TOOLS] * (args.tools == "all"))


def _project(args: Namespace) -> Path | None:
    return find_project_root(Path.cwd()) if args.project else None


def _named(args: Namespace) -> list[Agent]:
    return [agents.find_agent(name) for name in args.agents]


def _choose(args: Namespace, machine: Machine) -> list[Agent]:
    """Return the named agents, or all that the action concerns."""
    if args.agents:
        return _named(args)
    if args.action == "install":
        chosen = [agent for agent in AGENTS if agent.is_found(machine)]
        problem = (
            "none of the agents memtui knows was found on this machine; name one:"
            f" {', '.join(AGENT_NAMES)}"
        )
    else:
        is_hooks = args.command == "hooks"
        chosen = []
        for agent in AGENTS:
            entries = [agent.hooks] if is_hooks else [agent.server, agent.skill]
            if any(_is_installed(entry, machine) for entry in entries):
                chosen.append(agent)
        subject = "no hooks of memtui are" if is_hooks else "memtui's server is not"
        where = f"{machine.project}" if machine.project else "your agents' settings"
        problem = f"{subject} in {where}"
    if not chosen:
        raise HooksError(problem)
    return chosen


def _is_installed(entry: ConfigEntry, machine: Machine) -> bool:
    try:
        return bool(config_files.read(entry, machine)[1])
    except HooksError:
        return False


def _change(
    args: Namespace, machine: Machine, pairs: Iterable[tuple[Agent, ConfigEntry]]
) -> int:
    """Install or remove entries one by one, and return the exit code."""
    results = [_change_one(args, machine, agent, entry) for agent, entry in pairs]
    is_open = any(result.diff and not result.is_written for result in results)
    code = UNCONFIRMED if is_open and not args.dry_run else 0
    if any(result.problem for result in results):
        code = 1
    if args.json:
        data = {"action": args.action, "changes": results}
        output.print_json(data, code=code)
    return code


def _change_one(
    args: Namespace, machine: Machine, agent: Agent, entry: ConfigEntry
) -> ChangeResult:
    """Show the change of one file, ask, and write it."""
    lines: list[str] = []
    is_install = args.action == "install"
    plan = config_files.plan_installation if is_install else config_files.plan_removal
    file = entry.path(machine)
    subject = "memtui's hooks are"
    if entry is not agent.hooks:
        name = "server" if entry is agent.server else "skill"
        subject = f"memtui's {name} is"
    try:
        change = plan(entry, machine)
        if change.is_empty:
            state = "already in" if is_install else "not in"
            lines = [f"{agent.title}: {subject} {state} {change.file}."]
        else:
            target = f" (a link to {change.target})" * (change.target != change.file)
            lines = ["", f"{agent.title}: {change.file}{target}", *change.diff()]
        output.print_lines([] if args.json else lines)
        is_written = not change.is_empty and _is_confirmed(args)
        copy = config_files.write(change) if is_written else None
    except HooksError as error:
        print(f"memtui: {agent.title}: {clean(str(error))}", file=sys.stderr)
        return ChangeResult(agent.name, file, [], False, str(error))
    if is_written and not args.json:
        done = "installed" if is_install else "removed"
        lines = [f"{agent.title}: {subject} {done}."]
        if copy:
            lines.append(f"A copy of the old file is in {copy}.")
        note = agent.note_for(entry, machine)
        output.print_lines([*lines, note] if is_install and note else lines)
    return ChangeResult(agent.name, file, change.diff(), is_written)


def _is_confirmed(args: Namespace) -> bool:
    """Return whether to write: by an option, or by asking on the terminal."""
    if args.dry_run or args.yes or args.json:
        return args.yes and not args.dry_run
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        output.print_lines(["Nothing was written. To write it, say --yes."])
        return False
    try:
        return input("Write this? [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        return False


def _print_status(
    args: Namespace,
    name: str,
    statuses: Sequence[HookStatus] | Sequence[ServerStatus],
    lines: Iterable[Iterable[str]],
) -> int:
    code = 1 if any(status.problem for status in statuses) else 0
    all_lines = itertools.chain.from_iterable(lines)
    return output.print_result(args, {name: statuses}, all_lines, code=code)


def _hook_lines(status: HookStatus) -> Iterator[str]:
    yield from _status_lines(status, "")
    if status.problem and status.is_installed and not status.is_off:
        where = " --project" if status.scope == "project" else ""
        yield f"    memtui hooks install {status.agent}{where} corrects it"
    elif status.is_installed and not status.problem:
        runs = (
            "the command runs" if status.runs else agents.command_line(status.command)
        )
        yield f"    {', '.join(status.events)}; {runs}"


def _status_lines(status: HookStatus | ServerStatus, details: str) -> Iterator[str]:
    mark = "✗" if status.problem else "✓" if status.is_installed else " "
    state = "installed" if status.is_installed else "not installed"
    where = "" if status.is_found else ", and not found on this machine"
    yield f"{mark} {status.title:<12} {state}{details}{where}"
    yield f"    {status.file}"
    if status.problem:
        yield f"    {status.problem}"
