"""Run another program in the terminal while the app is suspended."""

import shlex
import signal
import subprocess
from collections.abc import Sequence
from os import environ
from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported

if TYPE_CHECKING:
    from textual.app import App


def run(app: "App[object]", argv: Sequence[str], folder: str = "") -> str:
    """Run a program in place of the app.

    Args:
        app: The app to suspend.
        argv: The program and its arguments, without a shell.
        folder: The working folder; empty for the current one.

    Returns:
        Why the program failed, or an empty string.
    """
    try:
        with app.suspend():
            # Ctrl+C belongs to the program. It does not inherit a handler, as it
            # would inherit SIG_IGN.
            before = signal.signal(signal.SIGINT, lambda *_: None)
            try:
                done = subprocess.run(list(argv), cwd=folder or None, check=False)
            finally:
                signal.signal(signal.SIGINT, before)
    except SuspendNotSupported:
        return "This terminal does not support running other programs."
    except OSError as error:
        return f"{argv[0]} could not be run: {error.strerror or error}."
    if done.returncode:
        return f"{argv[0]} exited with code {done.returncode}."
    return ""


def editor() -> list[str]:
    """Return the command of the user's editor; empty if none is set."""
    try:
        return shlex.split(environ.get("VISUAL") or environ.get("EDITOR") or "")
    except ValueError:
        return []
