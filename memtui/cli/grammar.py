"""The command line's grammar: every command with its options. It loads nothing else."""

import argparse
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from memtui import __version__
from memtui.cli import options
from memtui.cli.options import (
    AddCommand,
    between,
    budget,
    natural,
    paged,
    positive,
    scope,
)

ASKING = ("ask", "toc", "call")

QUESTIONS = ("ask",)
"""Those whose question may hold anything."""


def add_asking_grammar(command: AddCommand) -> None:
    """Add the commands that answer a question, and those of agents."""
    ask = command("ask", "answer a question from the memory")
    ask.add_argument("query", nargs="+", help="what did we do about retries last week?")
    ask.add_argument(
        "--limit",
        type=between(1, 50),
        default=8,
        help="how many hits, 50 at most (default 8)",
    )
    scope(ask)
    budget(ask)
    toc = command("toc", "print the table of contents")
    scope(toc)
    budget(toc)
    call = command("call", "call a tool of the agents; without one: list them")
    call.add_argument("tool", nargs="?", metavar="TOOL")
    call.add_argument("arguments", nargs="*", metavar="KEY=VALUE")
    budget(call)


def add_serving(command: AddCommand) -> None:
    """Add ``serve``."""
    says = "serve the tools of agents over HTTP, to this machine alone"
    serve = command("serve", says)
    serve.add_argument("--port", type=natural, default=8765, help="(default 8765)")
    serve.add_argument(
        "--allow-write",
        action="store_true",
        help="offer tools that add and change things too",
    )


CURATING = frozenset({"forget", "redact"})
"""The commands that change what is kept."""

VERSIONING = frozenset({"versions", "pin", "unpin", "anew"})
"""The commands that tell and choose which version of a node is shown."""

COPYING = frozenset({"backup", "export"})
"""The commands that copy what is kept."""

STANDARD_OUTPUT = Path("-")
"""The name of no file."""


def add_curating_grammar(command: AddCommand) -> None:
    """Add the commands."""
    forget = command("forget", "forget events, sessions, projects, or all before a day")
    forget.add_argument(
        "kind", nargs="?", choices=("event", "session", "project", "before")
    )
    forget.add_argument(
        "subjects",
        nargs="*",
        metavar="NAME",
        help="events' ids, [AGENT:]SESSION names, projects' names or folders, or one"
        " date",
    )
    forget.add_argument(
        "--dry-run", action="store_true", help="say what would go, and change nothing"
    )
    forget.add_argument("--yes", action="store_true", help="do not ask")
    forget.add_argument(
        "--list", action="store_true", help="list what was forgotten so far"
    )
    forget.add_argument(
        "--undo", action="store_true", help="let it be imported again after all"
    )
    redact = command("redact", "take secrets out of what is kept, by today's rules")
    redact.add_argument(
        "--dry-run", action="store_true", help="count them, and change nothing"
    )
    _add_versioning(command)
    _add_copying(command)


def _add_versioning(command: AddCommand) -> None:
    listing = command("versions", "list the versions of a node, the latest first")
    pin = command("pin", "show one version of a node, whatever comes after it")
    unpin = command("unpin", "show the newest version of a node again")
    anew = command("anew", "ask for a new version of a node by a model")
    for one in (listing, pin, unpin, anew):
        one.add_argument("node_id", metavar="NODE_ID", help="a node's id")
    pin.add_argument(
        "number",
        nargs="?",
        type=int,
        metavar="N",
        help="which, as versions lists them; without it: the one that is shown",
    )
    pin.add_argument(
        "--even-rejected",
        action="store_true",
        help="also a model's version that was rejected",
    )


def _add_copying(command: AddCommand) -> None:
    backup = command("backup", "copy the memory into one file, while it is in use")
    backup.add_argument("file", type=Path, metavar="FILE")
    backup.add_argument(
        "--force", action="store_true", help="write over a file of this name"
    )
    restore = command("restore", "put a copy made by backup in the memory's place")
    restore.add_argument("file", type=Path, metavar="FILE")
    restore.add_argument("--yes", action="store_true", help="do not ask")
    restore.add_argument(
        "--dry-run",
        action="store_true",
        help="see whether the copy is whole and what it would replace",
    )
    export = command("export", "write what was said as plain JSON lines")
    export.add_argument(
        "--events",
        nargs="?",
        type=Path,
        const=STANDARD_OUTPUT,
        required=True,
        metavar="FILE",
        help="every event, session, subagent and thought; - or nothing: standard"
        " output",
    )
    export.add_argument(
        "--force", action="store_true", help="write over a file of this name"
    )


ROLES = ("user", "assistant", "system", "tool")
"""Who can have said something: the values of ``memory.events.EventRole``."""


def add_reading_grammar(command: AddCommand) -> None:
    """Add the commands."""
    show = command("show", "print a node and what is under it")
    show.add_argument("node_id", nargs="?", help="a node's id; without one: the years")
    show.add_argument(
        "--version",
        dest="number",
        type=positive,
        metavar="N",
        help="this version of it, as memtui versions lists them",
    )
    scope(show)
    budget(show)
    _add_search(command)
    _add_sessions(command)
    expand = command("expand", "print the events behind a bullet")
    expand.add_argument("grip_id", help="a grip's id, as show prints them")
    expand.add_argument("--before", type=natural, default=3, help="events before it")
    expand.add_argument("--after", type=natural, default=3, help="events after it")
    budget(expand)
    command("stats", "print how much is kept")


def _add_search(command: AddCommand) -> None:
    search = command("search", "find moments in everything that is kept")
    says = 'words, "exact words", refr*, -not, agent:codex, after:2025-03, last week'
    search.add_argument("query", nargs="+", help=says)
    search.add_argument(
        "--limit",
        type=between(1, 1_000),
        default=10,
        help="how many, 1,000 at most (default 10)",
    )
    scope(search)
    search.add_argument("--session", default="", metavar="ID", help="only this session")
    search.add_argument(
        "--role", default="", choices=ROLES, help="only what this one said"
    )
    budget(search)
    search.add_argument(
        "--no-subagents", action="store_true", help="without what subagents said"
    )


def _add_sessions(command: AddCommand) -> None:
    listing = command("sessions", "list the sessions, the latest first")
    scope(listing)
    paged(listing, "sessions")
    budget(listing)
    one = command("session", "print what is known of a session, and what was said")
    one.add_argument(
        "session", metavar="[AGENT:]ID", help="its id, or as much of it as is needed"
    )
    paged(one, "messages")
    budget(one)
    one.add_argument(
        "--all", action="store_true", help="what tools answered too, not messages alone"
    )
    one.add_argument(
        "--subagent", default="", metavar="NAME", help="a helper's conversation"
    )
    one.add_argument(
        "--thoughts", action="store_true", help="what was thought before each message"
    )


CLIENTS = ("claude-code", "codex", "gemini-cli", "opencode", "copilot-cli")
"""The agents the server can be registered with."""

SERVE = "serve"


def add(command: AddCommand) -> None:
    """Add the command."""
    mcp = command("mcp", "let agents ask the memory: an MCP server, and its install")
    mcp.add_argument(
        "action",
        nargs="?",
        default=SERVE,
        choices=(SERVE, "install", "uninstall", "status"),
        help="serve, which is meant without one, is what agents run",
    )
    mcp.add_argument(
        "agents",
        nargs="*",
        metavar="AGENT",
        help=f"which: {', '.join(CLIENTS)}; without one: all found on this machine",
    )
    mcp.add_argument(
        "--allow-write",
        action="store_true",
        help="offer tools that add and change things too",
    )
    mcp.add_argument(
        "--structured",
        action="store_true",
        help="answer with data beside the text: for programs, not for models",
    )
    mcp.add_argument(
        "--project",
        action="store_true",
        help="in the settings of this folder's project, not in your own",
    )
    mcp.add_argument(
        "--no-skill", action="store_true", help="install the server alone, no skill"
    )
    mcp.add_argument(
        "--dry-run", action="store_true", help="only show what would be changed"
    )
    mcp.add_argument("--yes", action="store_true", help="write without asking")


def find_usage_error(given: argparse.Namespace) -> str:
    """What cannot be meant; "" where all can."""
    if given.command != "mcp":
        return ""
    if given.action == SERVE and given.agents:
        return f"{SERVE} takes no agent"
    if unknown := [name for name in given.agents if name not in CLIENTS]:
        return f"no agent is called {unknown[0]!r}: {', '.join(CLIENTS)}"
    return ""


AGENTS = ("claude-code", "codex", "gemini-cli", "copilot-cli", "opencode")
"""The agents whose hooks can be installed: those of ``memtui.agents.known``."""

SEARCHES = ("search", *QUESTIONS)
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
    add_reading_grammar(partial(_command, commands))
    _add_working(commands)
    _add_housekeeping(commands)
    add_asking_grammar(partial(_command, commands))
    add_serving(partial(_command, commands, json=False))
    add_curating_grammar(partial(_command, commands))
    add(partial(_command, commands))
    return top


def _add_working(commands: "argparse._SubParsersAction[options.Parser]") -> None:
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


def _add_jobs(commands: "argparse._SubParsersAction[options.Parser]") -> None:
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


def _add_housekeeping(commands: "argparse._SubParsersAction[options.Parser]") -> None:
    _command(commands, "doctor", "look for what is wrong, and say what to do")
    _add_quarantine(commands)
    config = _command(commands, "config", "show the settings, or write a file of them")
    config.add_argument("action", choices=("show", "init"))
    _add_sources(commands)
    _add_hooks(commands)
    says = "fetch what exact token counts need"
    tokens = _command(commands, "tokens", says, json=False)
    tokens.add_argument("action", choices=("fetch",))


def _add_sources(commands: "argparse._SubParsersAction[options.Parser]") -> None:
    says = "list whose conversations come in, and choose whose transcripts are watched"
    command = _command(commands, "sources", says)
    command.add_argument("action", nargs="?", choices=("watch", "unwatch"))
    command.add_argument(
        "names", nargs="*", metavar="NAME", help="agents, as they are listed; or all"
    )


def _add_hooks(commands: "argparse._SubParsersAction[options.Parser]") -> None:
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


def _add_quarantine(commands: "argparse._SubParsersAction[options.Parser]") -> None:
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
    commands: "argparse._SubParsersAction[options.Parser]",
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
    if wrong := find_usage_error(given):
        of.error(wrong)
    return given
