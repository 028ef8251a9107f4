"""The command line: reads it, opens the house, and turns exit reasons into words."""

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.cli import dispatch, grammar, open_workspace, options
from memtui.errors import MemtuiError, SettingsError, StoreDamagedError, StoreError

if TYPE_CHECKING:
    from memtui.agents.replies import Problem
    from memtui.integrations.hooks import HooksEditor
    from memtui.paths import Paths
    from memtui.settings import Settings
    from memtui.settings_file import SettingsEditor
    from memtui.workspace import Workspace


EXIT_ERROR = 1
"""Something could not be done; the sentence on standard error says what."""

EXIT_USAGE = 2
"""The command line is wrong."""

NO_TERMINAL = (
    "the app needs a terminal to draw on and to be typed at; without one:"
    " memtui show, or memtui work"
)
"""What is said where what is typed or drawn would go elsewhere."""

LONGEST = 2000
"""How much of an error's words is printed, in characters."""

STOPPED = 130
"""The exit code of what a person stopped with ctrl+c, as shells have it."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code."""
    try:
        given = grammar.read(arguments)
    except options.WrongLine as wrong:
        if "--json" in (sys.argv[1:] if arguments is None else arguments):
            _say_usage(wrong)
        raise
    try:
        return _answered(given) if hasattr(given, "json") else _tried(given)[0]
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _say_usage(wrong: options.WrongLine) -> None:
    """Tell a program what is wrong with its command line."""
    from memtui.agents import replies
    from memtui.cli import output

    pass

    output.begin(None)
    hint = f"see how: {wrong.of} --help"
    output.end(2, replies.Problem(replies.USAGE, wrong.says, hint))


def _answered(given: argparse.Namespace) -> int:
    """Run a command that has an answer, for a program too."""
    from memtui.cli import output

    output.begin(getattr(given, "max_tokens", None))
    code, problem = _tried(given)
    if given.json:
        output.end(code, problem)
    return code


def _tried(given: argparse.Namespace) -> "tuple[int, Problem | None]":
    """Run a command; its exit code, and what went wrong."""
    try:
        return _run(given), None
    except MemtuiError as error:
        from memtui.agents import replies

        # They may quote whatever was asked.
        print(f"memtui: {replies.cut(str(error), LONGEST)}", file=sys.stderr)
        problem = replies.problem(error)
        if problem.code != replies.USAGE:
            return EXIT_ERROR, problem
        hint = problem.hint or f"see how: memtui {given.command} --help"
        return EXIT_USAGE, replace(problem, hint=hint)
    except KeyboardInterrupt:
        print("memtui: stopped; what was done is kept", file=sys.stderr)
        return STOPPED, None


def _run(given: argparse.Namespace) -> int:
    from memtui import paths
    from memtui import settings as settings_module

    if given.command in (None, "demo") and not (_has_tab() or _has_terminal()):
        raise MemtuiError(NO_TERMINAL)
    places = paths.find_paths(given.home)
    config = given.config or (
        Path(os.environ["MEMTUI_CONFIG"]) if os.environ.get("MEMTUI_CONFIG") else None
    )
    if given.command == "doctor":
        return _doctor(given, places, config)
    settings = settings_module.load(
        places.config, config_file=config, assignments=given.set
    )
    if given.command in ("config", "tokens"):
        from memtui.cli import config as cli_config

        if given.command == "tokens":
            return cli_config.fetch_tokens(places)
        return cli_config.run(given.action, places, settings, as_json=given.json)
    if given.command == "hooks":
        return _hooks(given, places)
    if given.command == "mcp":
        return _mcp(given, places, settings)
    if given.command == "serve":
        return _serve(given, places, settings)
    if given.command == "web":
        from memtui.cli import web

        return web.serve(given)
    if given.command in (None, "demo"):
        from memtui.settings_file import SettingsEditor

        load = partial(
            settings_module.load,
            places.config,
            config_file=config,
            assignments=given.set,
        )
        desk = SettingsEditor(load, settings, places.config, config)
        return _app(places, settings, desk, is_demo=given.command == "demo")
    if given.command == "restore":
        from memtui.cli import backup

        wish = {"is_tried": given.dry_run, "is_agreed": given.yes}
        return backup.restore(given.file, places, settings, **wish, as_json=given.json)
    if given.command == "call" and given.tool is None:
        from memtui.cli import ask

        return ask.list_tools(as_json=given.json)
    return _ask(given, places, settings)


def _has_terminal() -> bool:
    """Whether a person types and looks; it is standard error that is drawn on."""
    streams = (sys.stdin, sys.stdout, sys.stderr)
    return all(stream is not None and stream.isatty() for stream in streams)


def _has_tab() -> bool:
    """Whether a tab of a browser shows this process; it then ends with its server."""
    if "TEXTUAL_DRIVER" not in os.environ:
        return False
    from memtui.cli import web

    return web.is_tab() and web.end_with_server()


def _hooks(given: argparse.Namespace, places: "Paths") -> int:
    from memtui.cli import hooks
    from memtui.integrations.machine import find_project_root

    pass

    project = find_project_root(Path.cwd()) if given.project else None
    options = hooks.ChangeOptions(project, given.dry_run, given.yes, given.json)
    return hooks.run(given.action, given.agents, places, options)


def _mcp(given: argparse.Namespace, places: "Paths", settings: "Settings") -> int:
    if given.action != "serve":
        from memtui.cli import (
            install_mcp,
            mcp,
        )

        return install_mcp.run_command(given, places)
    pass

    return mcp.serve(
        lambda: open_workspace.house(places, settings),
        lambda: open_workspace.missing(places, settings) is None,
        with_writing=given.allow_write,
        with_data=given.structured,
    )


def _doctor(given: argparse.Namespace, places: "Paths", config: Path | None) -> int:
    from memtui import settings as settings_module
    from memtui.cli import doctor
    from memtui.settings import Settings

    pass

    os.umask(0o077)
    problem = None
    try:
        settings = settings_module.load(
            places.config, config_file=config, assignments=given.set
        )
    except SettingsError as error:
        settings, problem = Settings(), error
    open_workspace.log_to(places.log, settings.log_level.upper())
    return doctor.doctor(places, settings, problem=problem, as_json=given.json)


def _serve(given: argparse.Namespace, places: "Paths", settings: "Settings") -> int:
    from memtui.cli import serve

    return serve.serve(
        lambda: open_workspace.house(places, settings),
        lambda: open_workspace.missing(places, settings) is None,
        given.port,
        with_writing=given.allow_write,
    )


def _ask(given: argparse.Namespace, places: "Paths", settings: "Settings") -> int:
    makes = dispatch.makes_store(given, has_spool=places.spool.exists())
    missing = None if makes else open_workspace.missing(places, settings)
    if missing is None:
        return dispatch.run(given, open_workspace.house(places, settings))
    says = f"there is no memory in {missing} yet; memtui import makes it"
    if not dispatch.works_without_store(given):
        raise StoreError(says)
    import tempfile

    from memtui.paths import in_home

    print(f"memtui: {says}", file=sys.stderr)
    # An empty one that is thrown away answers as any other.
    with tempfile.TemporaryDirectory(prefix="memtui-nothing-") as folder:
        nothing = open_workspace.house(
            in_home(Path(folder)), replace(settings, store_path="")
        )
        return dispatch.run(given, nothing)


def _app(
    places: "Paths", settings: "Settings", desk: "SettingsEditor", *, is_demo: bool
) -> int:
    from memtui.tui import garbage
    from memtui.tui.app import MemtuiApp

    garbage.reduce_collections()
    chosen: str | MemtuiError | None = "demo"
    if not is_demo:
        app = MemtuiApp(
            lambda: open_workspace.house(places, settings),
            theme=settings.screen_theme,
            hooks=lambda: _desk(places),
            settings=desk,
            ascii=settings.screen_ascii,
        )
        chosen = app.run()
        if app.return_code:
            return app.return_code
    if chosen == "demo":
        chosen = _demo(settings, desk)
    if isinstance(chosen, StoreDamagedError):
        raise StoreDamagedError(f"{chosen}; memtui doctor says what to do")
    if isinstance(chosen, MemtuiError):
        raise chosen
    return 0


def _desk(places: "Paths") -> "HooksEditor":
    from memtui.cli import hooks
    from memtui.integrations.hooks import HooksEditor

    pass

    return HooksEditor(hooks.this_machine(places, None))


def _demo(settings: "Settings", desk: "SettingsEditor") -> str | MemtuiError | None:
    import tempfile

    from memtui.paths import in_home
    from memtui.tui.app import MemtuiApp

    pass

    with tempfile.TemporaryDirectory(prefix="memtui-demo-") as folder:

        def opened() -> "Workspace":
            from memtui.cli import demo

            home = in_home(Path(folder))
            house = open_workspace.house(
                home, replace(settings, store_path=""), is_demo=True
            )
            demo.fill(house)
            return house

        words = "making three months of work up…"
        return MemtuiApp(
            opened,
            theme=desk.theme,
            opening=words,
            settings=desk,
            ascii=desk.ascii,
        ).run()


if __name__ == "__main__":
    sys.exit(main())
