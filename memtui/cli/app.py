"""``memtui`` and ``memtui demo``: open the app."""

import os
import sys
import tempfile
from argparse import Namespace
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.cli.arguments import Parser
from memtui.cli.context import Context, open_workspace
from memtui.errors import MemtuiError, StoreDamagedError
from memtui.paths import in_home

if TYPE_CHECKING:
    from memtui.integrations.hooks import HooksEditor
    from memtui.settings_file import SettingsEditor
    from memtui.workspace import Workspace

NO_TERMINAL = (
    "the app needs a terminal for input and output; without one:"
    " memtui show, or memtui work"
)


def add_options(parser: Parser, command: str) -> None:
    """Add nothing: neither has options."""


def run(args: Namespace, context: Context) -> int:
    """Run the app until it is left; from the welcome screen it may open the demo."""
    if not (_is_browser_tab() or _has_terminal()):
        raise MemtuiError(NO_TERMINAL)
    from memtui.settings_file import SettingsEditor
    from memtui.tui import garbage
    from memtui.tui.app import MemtuiApp

    garbage.reduce_collections()
    settings = context.settings
    editor = SettingsEditor(
        context.load_settings, settings, context.paths.config, context.config_file
    )
    result: str | MemtuiError | None = "demo"
    if args.command != "demo":
        app = MemtuiApp(
            context.open_workspace,
            theme=settings.screen_theme,
            hooks=partial(_hooks_editor, context),
            settings=editor,
            ascii=settings.screen_ascii,
        )
        result = app.run()
        if app.return_code:
            return app.return_code
    if result == "demo":
        result = _run_demo(context, editor)
    if isinstance(result, StoreDamagedError):
        raise StoreDamagedError(f"{result}; memtui doctor says what to do")
    if isinstance(result, MemtuiError):
        raise result
    return 0


def _run_demo(context: Context, editor: "SettingsEditor") -> str | MemtuiError | None:
    """Run the app with a made-up memory in a temporary folder."""
    from memtui.tui.app import MemtuiApp

    with tempfile.TemporaryDirectory(prefix="memtui-demo-") as folder:

        def open_demo() -> "Workspace":
            from memtui import demo

            settings = replace(context.settings, store_path="")
            workspace = open_workspace(in_home(Path(folder)), settings, is_demo=True)
            demo.fill(workspace)
            return workspace

        app = MemtuiApp(
            open_demo,
            theme=editor.theme,
            opening="making three months of work up…",
            settings=editor,
            ascii=editor.ascii,
        )
        return app.run()


def _hooks_editor(context: Context) -> "HooksEditor":
    from memtui.cli import hooks
    from memtui.integrations.hooks import HooksEditor

    return HooksEditor(hooks.this_machine(context.paths, None))


def _has_terminal() -> bool:
    """Whether input and output are a terminal; the app draws on standard error."""
    streams = (sys.stdin, sys.stdout, sys.stderr)
    return all(stream is not None and stream.isatty() for stream in streams)


def _is_browser_tab() -> bool:
    """Whether ``memtui web`` started this process; it then ends with its server."""
    if "TEXTUAL_DRIVER" not in os.environ:
        return False
    from memtui.cli import web

    return web.is_tab() and web.end_with_server()
