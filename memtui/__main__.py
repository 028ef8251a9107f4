"""The command line: reads it, opens the house, and turns exit reasons into words."""

import argparse
import logging
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from memtui import __version__
from memtui.errors import MemtuiError

if TYPE_CHECKING:
    from memtui.agents.desk import Desk
    from memtui.house import House
    from memtui.paths import Paths
    from memtui.settings import Settings

    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

EXIT_ERROR = 1
"""Something could not be done; the sentence on standard error says what."""


AGENTS = ("claude-code", "codex", "gemini", "copilot", "opencode")
"""The agents whose hooks can be installed: those of ``memtui.agents.known``."""

STOPPED = 130
"""The exit code of what a person stopped with ctrl+c, as shells have it."""


def parser() -> argparse.ArgumentParser:
    """The command line's grammar."""
    top = argparse.ArgumentParser(
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
    _add_reading(commands)
    _add_working(commands)
    _add_housekeeping(commands)
    return top


def _add_reading(commands: "Commands") -> None:
    show = _command(commands, "show", "print a node and what is under it")
    show.add_argument("node_id", nargs="?", help="a node's id; without one: the years")
    search = _command(commands, "search", "find nodes and quotes by words")
    search.add_argument("query", nargs="+", help="words; the last may be unfinished")
    search.add_argument(
        "--limit", type=_positive, default=10, help="how many (default 10)"
    )
    expand = _command(commands, "expand", "print the events behind a bullet")
    expand.add_argument("grip_id", help="a grip's id, as show prints them")
    expand.add_argument("--before", type=int, default=3, help="events before it")
    expand.add_argument("--after", type=int, default=3, help="events after it")
    _command(commands, "stats", "print how much is kept")


def _add_working(commands: "Commands") -> None:
    bring = _command(commands, "import", "bring past sessions in")
    bring.add_argument(
        "paths",
        nargs="*",
        type=Path,
        metavar="PATH",
        help="transcripts, or folders of them; without one: ~/.claude/projects",
    )
    work = _command(commands, "work", "run the workers without a screen")
    work.add_argument(
        "--until-idle", action="store_true", help="end when nothing is left to do"
    )
    _command(commands, "reindex", "make the search index anew", json=False)
    _command(commands, "demo", "look around in a made-up memory", json=False)


def _add_housekeeping(commands: "Commands") -> None:
    _command(commands, "doctor", "look for what is wrong, and say what to do")
    config = _command(commands, "config", "show the settings, or write a file of them")
    config.add_argument("action", choices=("show", "init"))
    _add_hooks(commands)
    says = "fetch what exact token counts need"
    tokens = _command(commands, "tokens", says, json=False)
    tokens.add_argument("action", choices=("fetch",))


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


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


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
    return command


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code."""
    given = _read(arguments)
    try:
        return _run(given)
    except MemtuiError as error:
        print(f"memtui: {error}", file=sys.stderr)
        return EXIT_ERROR
    except KeyboardInterrupt:
        print("memtui: stopped; what was done is kept", file=sys.stderr)
        return STOPPED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _read(arguments: Sequence[str] | None) -> argparse.Namespace:
    top = parser()
    given, rest = top.parse_known_args(arguments)
    # argparse takes what stands behind an option for no part of a list before it.
    if given.command == "hooks" and not any(word.startswith("-") for word in rest):
        given.agents += rest
        if unknown := [name for name in given.agents if name not in AGENTS]:
            top.error(f"no agent is called {unknown[0]!r}: {', '.join(AGENTS)}")
    elif rest:
        top.error(f"unrecognized arguments: {' '.join(rest)}")
    return given


def _run(given: argparse.Namespace) -> int:
    from memtui import configuration, paths  # noqa: PLC0415 - after --help

    places = paths.find(given.home)
    config = given.config or (
        Path(os.environ["MEMTUI_CONFIG"]) if os.environ.get("MEMTUI_CONFIG") else None
    )
    settings = configuration.load(places.config, given_file=config, given=given.set)
    if given.command in ("config", "tokens"):
        from memtui.shell import configuring  # noqa: PLC0415

        if given.command == "tokens":
            return configuring.fetch_tokens(places)
        return configuring.run(given.action, places, settings, as_json=given.json)
    if given.command == "hooks":
        return _hooks(given, places)
    if given.command in (None, "demo"):
        return _app(places, settings, is_demo=given.command == "demo")
    return _ask(given, places, settings)


def _hooks(given: argparse.Namespace, places: "Paths") -> int:
    from memtui.shell import hooking  # noqa: PLC0415

    project = Path.cwd() if given.project else None
    wish = hooking.Wish(project, given.dry_run, given.yes, given.json)
    return hooking.run(given.action, given.agents, places, wish)


def _open(places: "Paths", settings: "Settings", *, is_demo: bool = False) -> "House":
    from memtui.house import House  # noqa: PLC0415 - what only prints needs no store

    os.umask(0o077)
    house = House(places, settings, is_demo=is_demo)
    logging.raiseExceptions = False  # a full disk must not write over the screen
    logging.basicConfig(
        filename=places.log,
        level=settings.log_level.upper(),
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )
    return house


def _ask(given: argparse.Namespace, places: "Paths", settings: "Settings") -> int:
    from memtui.shell import doctoring, reading, working  # noqa: PLC0415

    house = _open(places, settings)
    as_json = getattr(given, "json", False)
    try:
        if given.command == "show":
            return reading.show(house, given.node_id, as_json=as_json)
        if given.command == "search":
            query = " ".join(given.query)
            return reading.search(house, query, limit=given.limit, as_json=as_json)
        if given.command == "expand":
            around = {"before": given.before, "after": given.after}
            return reading.expand(house, given.grip_id, **around, as_json=as_json)
        if given.command == "stats":
            return reading.stats(house, as_json=as_json)
        if given.command == "import":
            return working.bring_in(house, given.paths, as_json=as_json)
        if given.command == "work":
            return working.work(house, until_idle=given.until_idle, as_json=as_json)
        if given.command == "reindex":
            return working.reindex(house)
        return doctoring.doctor(house, as_json=as_json)
    finally:
        house.stop()


def _app(places: "Paths", settings: "Settings", *, is_demo: bool) -> int:
    from memtui.app import MemtuiApp  # noqa: PLC0415 - 140 ms of Textual

    chosen: str | MemtuiError | None = "demo"
    if not is_demo:
        app = MemtuiApp(
            lambda: _open(places, settings),
            theme=settings.theme,
            hooks=lambda: _desk(places),
        )
        chosen = app.run()
    if chosen == "demo":
        chosen = _demo(settings)
    if isinstance(chosen, MemtuiError):
        raise chosen
    return 0


def _desk(places: "Paths") -> "Desk":
    from memtui.agents.desk import Desk  # noqa: PLC0415 - only one screen asks it
    from memtui.shell import hooking  # noqa: PLC0415

    return Desk(hooking.machine(places, None))


def _demo(settings: "Settings") -> str | MemtuiError | None:
    import tempfile  # noqa: PLC0415 - only the demo needs a place to throw away

    from memtui.app import MemtuiApp  # noqa: PLC0415
    from memtui.paths import in_home  # noqa: PLC0415

    with tempfile.TemporaryDirectory(prefix="memtui-demo-") as folder:

        def opened() -> "House":
            from memtui.shell import demonstrating  # noqa: PLC0415

            home = in_home(Path(folder))
            house = _open(home, settings.without("store.path"), is_demo=True)
            demonstrating.fill(house)
            return house

        opening = "making three months of work up…"
        return MemtuiApp(opened, theme=settings.theme, opening=opening).run()


if __name__ == "__main__":
    sys.exit(main())
