"""A real terminal in tmux, with a shell in it."""

import shlex
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

TMUX = shutil.which("tmux")

PATIENCE_S = 20.0
"""Far more than anything takes here, even on a busy machine."""

POLL_S = 0.02

COLUMNS, LINES = 120, 40


class Terminal:
    """One terminal of a private tmux server."""

    def __init__(self, socket: Path) -> None:
        self._socket = str(socket)

    def tmux(self, *words: str) -> str:
        """Run a command of tmux, and return its output."""
        return subprocess.run(
            [str(TMUX), "-S", self._socket, "-f", "/dev/null", *words],
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    def press(self, *keys: str) -> None:
        """Press keys, named as in tmux."""
        self.tmux("send-keys", *keys)

    def type(self, text: str) -> None:
        """Type a text."""
        self.tmux("send-keys", "-l", text)

    @property
    def screen(self) -> str:
        """The text on the screen."""
        return self.tmux("capture-pane", "-p")

    @property
    def is_alternate(self) -> bool:
        """Whether a program uses the alternate screen."""
        return self.tmux("display-message", "-p", "#{alternate_on}").strip() == "1"

    def wait_for_text(self, *words: str) -> str:
        """Wait until all these texts are shown; return the screen."""
        return self.wait_until(lambda: all(word in self.screen for word in words))

    def wait_until(self, holds: Callable[[], bool]) -> str:
        """Wait until a condition holds; return the screen."""
        latest_s = time.monotonic() + PATIENCE_S
        while not holds():
            assert time.monotonic() < latest_s, self.screen
            time.sleep(POLL_S)
        return self.screen


@contextmanager
def open_terminal(folder: Path, **environment: str) -> Iterator[Terminal]:
    """Open a terminal with a shell, and close it at the end."""
    terminal = Terminal(folder / "tmux")
    assignments = [f"{name}={value}" for name, value in environment.items()]
    shell = shlex.join(["env", *assignments, "PS1=ready> ", "sh"])
    terminal.tmux("new-session", "-d", shell)
    terminal.tmux("resize-window", "-x", str(COLUMNS), "-y", str(LINES))
    try:
        terminal.wait_for_text("ready>")
        yield terminal
    finally:
        terminal.tmux("kill-server")
