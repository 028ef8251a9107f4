"""The terminal of the app: notice that it is closed, or run another program in it."""

import os
import select
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from os import environ
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from textual.app import SuspendNotSupported

if TYPE_CHECKING:
    from textual.app import App


class TerminalOutput:
    """A stream for a terminal, which drops what a closed terminal cannot show.

    Textual's thread for output ends at the first error, and the app waits for it.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> None:
        with suppress(OSError):
            self._stream.write(text)

    def flush(self) -> None:
        with suppress(OSError):
            self._stream.flush()


def end_when_closed() -> None:
    """Send SIGHUP to this process when its terminal, or the server of its tab, is gone.

    The system sends it to the leader of the session alone, which may be ``make``.
    """
    if sys.__stderr__ is not None:
        vars(sys)["__stderr__"] = TerminalOutput(sys.__stderr__)
    threading.Thread(target=_wait_until_closed, name="terminal", daemon=True).start()


def _wait_until_closed() -> None:
    poll = select.poll()
    for stream in (0, 2):
        poll.register(stream, 0)  # Only its end and errors are reported.
    if not all(state & (select.POLLHUP | select.POLLERR) for _, state in poll.poll()):
        return  # This system cannot poll terminals.
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    os.kill(os.getpid(), signal.SIGHUP)


def run(app: "App[object]", argv: Sequence[str], folder: str = "") -> str:
    """Run a program in place of the app, without a shell.

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


_AT_LINE = frozenset(("vi", "vim", "nvim", "nano", "emacs", "emacsclient"))
"""The editors that open a file at ``+LINE``."""


def open_at(file: Path, line: int) -> list[str]:
    """Return the command that opens a file in the editor, at a line if it can."""
    command = editor()
    name = Path(command[0]).stem
    if name in _AT_LINE:
        return [*command, f"+{line}", str(file)]
    if name == "code":
        return [*command, "--goto", f"{file}:{line}"]
    return [*command, str(file)]


def editor() -> list[str]:
    """Return the command of the user's editor; empty if none is set."""
    try:
        return shlex.split(environ.get("VISUAL") or environ.get("EDITOR") or "")
    except ValueError:
        return []
