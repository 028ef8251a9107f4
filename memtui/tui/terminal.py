"""Lending the terminal to another program, and taking it back when that ends."""

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
        app: The app; it stands still meanwhile.
        argv: The program and what it is told; no shell reads it.
        folder: Where it is run; where memtui was started if empty.

    Returns:
        Why it could not be run or how it failed; "" if it ended well.
    """
    try:
        with app.suspend():
            # What is typed belongs to the program, ctrl+c too.
            before = signal.signal(signal.SIGINT, _ignored)
            try:
                done = subprocess.run(list(argv), cwd=folder or None, check=False)
            finally:
                signal.signal(signal.SIGINT, before)
    except SuspendNotSupported:
        return "This terminal cannot be lent to another program."
    except OSError as error:
        return f"{argv[0]} could not be run: {error.strerror or error}."
    if done.returncode:
        return f"{argv[0]} ended with {done.returncode}."
    return ""


def _ignored(*_: object) -> None:
    """A handler, unlike ignoring, is not passed on to the program."""


def editor() -> list[str]:
    """The editor of the person, as they have set it; empty where it cannot be told."""
    try:
        return shlex.split(environ.get("VISUAL") or environ.get("EDITOR") or "")
    except ValueError:
        return []
