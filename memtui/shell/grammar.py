"""The command line's grammar: every command with its options. It loads nothing else."""

import argparse
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from memtui import __version__
from memtui.shell import (
    asking_grammar,
    curating_grammar,
    options,
    reading_grammar,
    serving_grammar,
)

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[options.Parser]

AGENTS = ("claude-code", "codex", "gemini-cli", "copilot-cli", "opencode")
"""The agents whose hooks can be installed: those of ``memtui.agents.known``."""

SEARCHES = ("search", "search-sessions", "teleport", *asking_grammar.QUESTIONS)
"""The commands whose question may hold anything."""

LISTS = {
    "hooks": "agents",
    "mcp": "agents",
    "sources": "names",
    "quarantine": "words",
    "jobs": "words",
}
"""The list that each of these commands ends with."""


def parser() -> argparse.ArgumentParser:
    """The command line's grammar."""
    top = options.Parser(
        prog="memtui",
        description="Keeps your conversations with coding agents and makes them"
        " readable: a table of contents from year to segment, where every line leads"
        " back to the words it rests on. Without a command it opens the app.",
        epilog="Everything stays on this machine.",
    )
    top.add_argument("--version", action="version", version=f"memtui {__version__}")
    top.add_argument(
        "--home", type=Path, metavar="DIR", help="keep everything in this folder"
    )
    top.add_argument(
        "--config", type=Path, metavar="FILE", help="read settings from this file too"
    )
    top.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="set one setting, as in segments.silence_min=45",
    )
    commands = top.add_subparsers(dest="command", metavar="COMMAND")
    reading_grammar.add(partial(_command, commands))
    _add_working(commands)
    _add_housekeeping(commands)
    asking_grammar.add(partial(_command, commands))
    asking_grammar.add_serving(partial(_command, commands, json=False))
    curating_grammar.add(partial(_command, commands))
    serving_grammar.add(partial(_command, commands))
    for one in commands.choices.values():
        if one.get_default("json") is not None and not one.get_default("max_tokens"):
            options.budget(one)
    return top


def _add_working(commands: "Commands") -> None:
    bring = _command(commands, "import", "bring past sessions in")
    bring.add_argument(
        "paths",
        nargs="*",
        type=Path,
        metavar="PATH",
        help="transcripts, or folders of them; without one: those of every agent"
        " that is found here",
    )
    work = _command(commands, "work", "run the workers without a screen")
    work.add_argument(
        "--until-idle", action="store_true", help="end when nothing is left to do"
    )
    _add_jobs(commands)
    _command(commands, "reindex", "make the search index anew", json=False)
    _command(commands, "demo", "look around in a made-up memory", json=False)
    web = _command(commands, "web", "open the app in a browser here", json=False)
    web.add_argument(
        "--host", default="127.0.0.1", help="127.0.0.1 (the default) or ::1"
    )
    says = "the port (default 8421; 0 takes any that is free)"
    web.add_argument(
        "--port", type=options.natural, default=8421, metavar="N", help=says
    )


def _add_jobs(commands: "Commands") -> None:
    jobs = _command(commands, "jobs", "see and steer when the model rolls up")
    jobs.add_argument(
        "words",
        nargs="*",
        metavar="pause NAME… | resume NAME… | run NAME… | history [NAME]",
        help="what to do with which job, as they are listed, or all; without one: list"
        " them",
    )
    jobs.add_argument(
        "--limit",
        type=options.positive,
        help="how many runs history prints (default 20)",
    )


def _add_housekeeping(commands: "Commands") -> None:
    _command(commands, "doctor", "look for what is wrong, and say what to do")
    _add_quarantine(commands)
    config = _command(commands, "config", "show the settings, or write a file of them")
    config.add_argument("action", choices=("show", "init"))
    _add_sources(commands)
    _add_hooks(commands)
    says = "fetch what exact token counts need"
    tokens = _command(commands, "tokens", says, json=False)
    tokens.add_argument("action", choices=("fetch",))


def _add_sources(commands: "Commands") -> None:
    says = "list whose conversations come in, and choose whose transcripts are watched"
    command = _command(commands, "sources", says)
    command.add_argument("action", nargs="?", choices=("watch", "unwatch"))
    command.add_argument(
        "names", nargs="*", metavar="NAME", help="agents, as they are listed; or all"
    )


def _add_hooks(commands: "Commands") -> None:
    says = "have agents tell memtui what happens: install, uninstall, status"
    hooks = _command(commands, "hooks", says)
    hooks.add_argument("action", choices=("install", "uninstall", "status"))
    hooks.add_argument(
        "agents",
        nargs="*",
        metavar="AGENT",
        help=f"which: {', '.join(AGENTS)}; without one: all found on this machine",
    )
    where = hooks.add_mutually_exclusive_group()
    where.add_argument(
        "--user", action="store_true", help="in your own settings (the default)"
    )
    where.add_argument(
        "--project",
        action="store_true",
        help="in the settings of this folder's project",
    )
    hooks.add_argument(
        "--dry-run", action="store_true", help="only show what would be changed"
    )
    hooks.add_argument("--yes", action="store_true", help="write without asking")


def _add_quarantine(commands: "Commands") -> None:
    says = "see what could not be taken: list, show, retry, drop"
    quarantine = _command(commands, "quarantine", says)
    quarantine.add_argument(
        "words",
        nargs="*",
        metavar="list | show NAME… | retry NAME… | drop NAME…",
        help="what to do with which, as the list names them; without one: list",
    )
    quarantine.add_argument("--all", action="store_true", help="retry or drop all")
    quarantine.add_argument(
        "--dry-run", action="store_true", help="only say what would be dropped"
    )
    quarantine.add_argument("--yes", action="store_true", help="drop without asking")
    options.paged(quarantine, "entries")


def _command(
    commands: "Commands",
    name: str,
    says: str,
    *,
    json: bool = True,
) -> argparse.ArgumentParser:
    command = commands.add_parser(
        name, help=says, description=f"{says[0].upper()}{says[1:]}."
    )
    if json:
        command.add_argument("--json", action="store_true", help="answer in JSON")
    command.set_defaults(of=command)
    return command


def read(arguments: Sequence[str] | None) -> argparse.Namespace:
    """What was asked for on the command line; ends the process where it is wrong."""
    top = parser()
    given, rest = top.parse_known_args(arguments)
    of = given.of if given.command else top
    # argparse takes what stands behind an option for no part of a list before it.
    behind = LISTS.get(given.command or "")
    if behind and not any(word.startswith("-") for word in rest):
        getattr(given, behind).extend(rest)
    elif rest and given.command in SEARCHES:
        # What begins with a hyphen belongs to the question: ``-draft``, ``--force``.
        options.refuse_mistyped(of, rest)
        given.query.extend(rest)
    elif rest:
        of.error(f"unrecognized arguments: {' '.join(rest)}")
    agents = given.agents if given.command == "hooks" else ()
    if unknown := [name for name in agents if name not in AGENTS]:
        of.error(f"no agent is called {unknown[0]!r}: {', '.join(AGENTS)}")
    if wrong := serving_grammar.wrong(given):
        of.error(wrong)
    return given
