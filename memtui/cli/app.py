"""``memtui`` and ``memtui demo``: open the app."""

import gc
import os
import sys
import tempfile
from argparse import Namespace
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.cli.command import Context, open_workspace
from memtui.errors import MemtuiError, StoreDamagedError
from memtui.paths import in_home

if TYPE_CHECKING:
    from memtui.integrations.config_files import Machine
    from memtui.workspace import Workspace

TAB_DRIVER = "textual.drivers.web_driver:WebDriver"
"""The driver that ``memtui web`` sets for the process of a tab."""

NO_TERMINAL = (
    "the app needs a terminal for input and output; without one:"
    " memtui show, or memtui work"
)


def run(args: Namespace, context: Context) -> int:
    """Run the app until it is left; from the welcome screen it may open the demo."""
    if os.environ.get("TEXTUAL_DRIVER") != TAB_DRIVER and not _has_terminal():
        raise MemtuiError(NO_TERMINAL)
    gc.disable()  # The app enables it when the contents are shown.
    from memtui.settings_file import SettingsEditor
    from memtui.tui import terminal
    from memtui.tui.app import MemtuiApp

    terminal.end_when_closed()
    settings = context.settings
    editor = SettingsEditor(
        context.load_settings, settings, context.paths.config, context.config_file
    )
    app = MemtuiApp(
        context.open_workspace,
        theme=settings.screen_theme,
        hooks_machine=partial(_hooks_machine, context),
        settings=editor,
        ascii=settings.screen_ascii,
    )
    result = "demo" if args.command == "demo" else app.run()
    if result == "demo":
        with tempfile.TemporaryDirectory(prefix="memtui-demo-") as folder:
            app = MemtuiApp(
                partial(_open_demo, context, Path(folder)),
                theme=editor.theme,
                opening="creating three months of sample work…",
                settings=editor,
                ascii=editor.ascii,
            )
            result = app.run()
    if isinstance(result, StoreDamagedError):
        raise StoreDamagedError(f"{result}; memtui doctor says what to do")
    if isinstance(result, MemtuiError):
        raise result
    return app.return_code or 0


def _open_demo(context: Context, folder: Path) -> "Workspace":
    """Open made-up conversations in a temporary folder."""
    from memtui import demo

    settings = replace(context.settings, store_path="")
    workspace = open_workspace(in_home(folder), settings, is_demo=True)
    demo.fill(workspace)
    return workspace


def _hooks_machine(context: Context) -> "Machine":
    from memtui.cli import hooks

    return hooks.this_machine(context.paths, None)


def _has_terminal() -> bool:
    """Return True if input and output are a terminal; the app draws on standard
    error."""
    streams = (sys.stdin, sys.stdout, sys.stderr)
    return all(stream is not None and stream.isatty() for stream in streams)
