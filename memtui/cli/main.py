"""The command line: the table of commands, and how one is parsed and run.

A command's module has ``run(args, context)``, which returns the exit code, and, if it
has options, ``add_options(parser, command)``. Only the module of the command typed is
imported.
"""

import argparse
import io
import logging
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from memtui import __version__
from memtui.cli.command import Context, Parser, UsageExit
from memtui.errors import MemtuiError, StoreDamagedError

log = logging.getLogger(__name__)


class Subcommand(NamedTuple):
    name: str
    module: str
    help: str
    has_json: bool = True
    details: str = ""
    """Further sentences for its own help."""


GROUPS = {
    "Read": (
        Subcommand("toc", "read", "print the table of contents"),
        Subcommand("show", "read", "print a node and its children"),
        Subcommand("expand", "read", "print the events behind a bullet"),
        Subcommand("sessions", "read", "list sessions with outcomes, the latest first"),
        Subcommand("session", "read", "print the card of a session and its messages"),
        Subcommand("open", "read", "list what sessions left open, the latest first"),
        Subcommand("decisions", "read", "list what was decided, the latest first"),
        Subcommand("report", "report", "report what was done in a period"),
        Subcommand("handover", "report", "print a context pack for another agent"),
        Subcommand("stats", "read", "print how much is stored"),
        Subcommand(
            "usage",
            "read",
            "sum up tokens, cost and time",
            details="Tokens and costs are those that transcripts state; other costs are"
            " by the setting prices.models. Pauses of five minutes do not count.",
        ),
        Subcommand("versions", "versions", "list the versions of a node"),
    ),
    "Search": (
        Subcommand("search", "read", "search messages and summaries"),
        Subcommand(
            "ask",
            "read",
            "find the summaries and messages that answer a question",
            details="It goes by the dates and words of the question, asks no model, and"
            " says how certain the result is.",
        ),
    ),
    "Capture": (
        Subcommand("import", "work", "import past sessions"),
        Subcommand(
            "sources", "work", "list agents, or choose whose transcripts are watched"
        ),
        Subcommand("hooks", "hooks", "install hooks that report agents' events"),
        Subcommand("work", "work", "run the background work without the app"),
        Subcommand("jobs", "jobs", "list, pause, resume or run the jobs of the model"),
    ),
    "Change": (
        Subcommand(
            "rename",
            "rename",
            "give a session a name of your own",
            details="The session has it everywhere, whatever comes later.",
        ),
        Subcommand(
            "judge",
            "judge",
            "accept, reject or correct a line of a summary",
            details="A rejected line is shown nowhere any more; an accepted or"
            " corrected one stays, whatever a model writes later.",
        ),
        Subcommand("pin", "versions", "keep showing one version of a node"),
        Subcommand("unpin", "versions", "show the newest version of a node again"),
        Subcommand(
            "regenerate", "versions", "ask the model for a new version of a node"
        ),
        Subcommand(
            "forget",
            "forget",
            "delete events, sessions, projects, or all before a date",
            details="What is deleted here is gone for good. It also stays out of later"
            " imports, until --undo allows it to be imported again from its files.",
        ),
        Subcommand("redact", "forget", "remove secrets from everything that is stored"),
        Subcommand("backup", "backup", "copy the store into one file"),
        Subcommand("restore", "backup", "replace the store with a backup"),
        Subcommand(
            "export",
            "backup",
            "write all events as JSON lines",
            details="Judgements, pins and usage are only in backups.",
        ),
    ),
    "Agents": (
        Subcommand(
            "call", "read", "call one of memtui's tools for agents, or list them"
        ),
        Subcommand("mcp", "servers", "serve MCP, or register the server with agents"),
        Subcommand(
            "serve",
            "servers",
            "serve memtui's tools for agents over HTTP",
            has_json=False,
        ),
    ),
    "Maintenance": (
        Subcommand(
            "audit",
            "audit",
            "check that summaries lead to their sources, and total their claims",
            details="It names every line that does not lead to stored messages any"
            " more, changed or deleted content, and rejected lines that are shown. It"
            " only reads. The exit code is 1 if anything is damaged.",
        ),
        Subcommand("doctor", "doctor", "check everything and say how to fix it"),
        Subcommand("quarantine", "quarantine", "list, retry or drop skipped input"),
        Subcommand("reindex", "work", "build the search index again"),
        Subcommand("config", "config", "print the settings, or write a file of them"),
        Subcommand("tokens", "config", "download what exact token counts need"),
        Subcommand("web", "servers", "open the app in a browser", False),
        Subcommand("demo", "app", "open the app with made-up conversations", False),
    ),
}
"""The commands as ``memtui --help`` lists them."""


COMMANDS = {command.name: command for group in GROUPS.values() for command in group}


APP = Subcommand("", "app", "open the app", has_json=False)


EXIT_USAGE, EXIT_INTERRUPTED = 2, 130

EXIT_PIPE = 141
"""The exit code if nobody reads the output any more, as of other programs: the command
may have done only a part."""


MAX_ERROR_CHARS = 2000
"""The most of an error message that is printed: it may quote the whole input."""


def main(arguments: Sequence[str] | None = None) -> int:
    words = sys.argv[1:] if arguments is None else list(arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Names of files need not be valid text.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        args = read(words)
    except UsageExit as error:
        if "--json" in words:
            from memtui.cli import output
            from memtui.tools.envelope import USAGE, ErrorInfo

            hint = f"see {error.prog} --help"
            info = ErrorInfo(USAGE, error.message, hint)
            output.print_json(None, error=info)
        raise
    try:
        return _run(args)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_PIPE


def read(words: Sequence[str]) -> argparse.Namespace:
    """Parse a command line; exits if it is wrong, or asks for help."""
    at = _command_index(words)
    top = _top_parser()
    args = top.parse_args(words[:at])
    args.command = words[at] if at < len(words) else ""
    command = COMMANDS.get(args.command, APP)
    if args.command and command is APP:
        top.error(f"there is no command {args.command!r}; see memtui --help")
    args.json, args.max_tokens = False, None
    parser = Parser(
        prog=f"memtui {command.name}".rstrip(),
        description=f"{command.help[:1].upper()}{command.help[1:]}. {command.details}",
    )
    module = import_module(f"memtui.cli.{command.module}")
    if hasattr(module, "add_options"):
        module.add_options(parser, command.name)
    if command.has_json:
        parser.add_argument("--json", action="store_true", help="print JSON")
    parser.read(words[at + 1 :], args)
    args.run = module.run
    return args


def _command_index(words: Sequence[str]) -> int:
    """Return where the command is, behind the options of memtui itself."""
    at = 0
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in ("--home", "--config", "--set") else 1
    return min(at, len(words))


def _top_parser() -> Parser:
    lines = []
    for title, group in GROUPS.items():
        lines += [
            "",
            f"{title}:",
            *(f"  {command.name:<13} {command.help}" for command in group),
        ]
    lines += ["", "More on a command: memtui COMMAND --help"]
    parser = Parser(
        prog="memtui",
        usage="memtui [--home DIR] [--config FILE] [--set KEY=VALUE] [COMMAND …]",
        description="Stores your conversations with coding agents and makes them\n"
        "readable: a table of contents from years to segments, where every line\n"
        "leads to the messages it is based on. Without a command the app opens.\n"
        "Everything stays on this machine.",
        epilog="\n".join(lines).strip(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"memtui {__version__}")
    parser.add_argument(
        "--home", type=Path, metavar="DIR", help="store everything in this folder"
    )
    parser.add_argument(
        "--config", type=Path, metavar="FILE", help="read settings from this file too"
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="set one setting, such as segments.max_gap_min=45",
    )
    return parser


def _run(args: argparse.Namespace) -> int:
    context = Context(args)
    try:
        code: int = args.run(args, context)
    except MemtuiError as error:
        return _report(error, args)
    except OSError:
        raise
    except Exception:  # a damaged row, or a fault of memtui
        if not context.has_damaged_store():
            raise
        log.exception("the store is damaged")
        message = "the store is damaged: memtui doctor says where"
        return _report(StoreDamagedError(message), args)
    except KeyboardInterrupt:
        print("memtui: interrupted; finished work is kept", file=sys.stderr)
        if args.json:
            from memtui.cli import output

            output.print_json(None, code=EXIT_INTERRUPTED)
        return EXIT_INTERRUPTED
    return code


def _report(error: MemtuiError, args: argparse.Namespace) -> int:
    from memtui.cli import output
    from memtui.errors import UnconfirmedError, UsageError
    from memtui.model.events import clean
    from memtui.tools.envelope import error_info

    message = clean(str(error))
    if len(message) > MAX_ERROR_CHARS:
        # A long message quotes the input; the reason may be before it or behind it.
        half = MAX_ERROR_CHARS // 2
        message = f"{message[:half]} … {message[-half:]}"
    print(f"memtui: {message}", file=sys.stderr)
    is_usage = isinstance(error, UsageError)
    exit_code = EXIT_USAGE if is_usage or isinstance(error, UnconfirmedError) else 1
    if args.json:
        info = error_info(error)
        if is_usage and not info.hint:
            info = replace(info, hint=f"see memtui {args.command} --help")
        output.print_json(None, error=info, max_tokens=args.max_tokens)
    return exit_code


if __name__ == "__main__":
    sys.exit(main())
