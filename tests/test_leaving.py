"""Leaving the app while a model is held up: nobody waits for a model."""

import fcntl
import os
import pty
import shutil
import signal
import socket
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from memtui.house import House
from tests.stub import faults
from tests.stub.server import Pace, Stub, serving

LEAVES_S = 1.5
"""How long the app may take to end, in seconds, whatever a model does."""

HELD = 1000.0
"""Longer than any test, in seconds."""

pytestmark = pytest.mark.skipif(
    not hasattr(termios, "TIOCSWINSZ"), reason="there are no terminals here"
)


@contextmanager
def running(home: Path, url: str) -> Iterator[Callable[[], float]]:
    """The app on a terminal of its own; called, it leaves: after how many seconds."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-m", "memtui", "--home", str(home)],
        stdin=its,
        stdout=its,
        stderr=its,
        env={**os.environ, "MEMTUI_SUMMARIES__URL": url, "TERM": "xterm-256color"},
        cwd=Path(__file__).parents[1],
        start_new_session=True,
    )
    os.close(its)
    threading.Thread(target=_drain, args=(ours,), daemon=True).start()

    def leave() -> float:
        began = time.monotonic()
        os.write(ours, b"q")
        assert process.wait(20) == 0
        return time.monotonic() - began

    try:
        yield leave
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            process.wait()
        with suppress(OSError):
            os.close(ours)


def _drain(terminal: int) -> None:
    with suppress(OSError):
        while os.read(terminal, 1 << 16):
            pass


@pytest.fixture
def home(full_house: House, tmp_path: Path) -> Path:
    """A home whose nodes all want a version by a model."""
    full_house.stop()
    return Path(shutil.copytree(full_house.paths.store.parent, tmp_path / "left"))


def loading(stub: Stub) -> None:
    stub.pace = Pace(load_s=HELD)


def reading(stub: Stub) -> None:
    stub.pace = Pace(token_s=HELD)


def writing(stub: Stub) -> None:
    stub.pace = Pace(word_s=1.0)


def stalling(stub: Stub) -> None:
    stub.always(faults.stalled(3))


def busy(stub: Stub) -> None:
    stub.always(faults.BUSY)


@pytest.mark.parametrize(
    ("state", "path"),
    [
        (loading, "/api/generate"),
        (reading, "/api/chat"),
        (writing, "/api/chat"),
        (stalling, "/api/chat"),
        (busy, "/api/chat"),
    ],
)
def test_nobody_waits_for_a_model_to_leave(
    home: Path, state: Callable[[Stub], None], path: str
) -> None:
    with serving() as stub:
        state(stub)
        with running(home, stub.url) as leave:
            stub.wait_for(1, path)
            assert leave() < LEAVES_S


def test_nobody_waits_for_a_server_that_never_answers(home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}"
        with running(home, url) as leave:
            asker, _ = deaf.accept()
            with asker:
                assert leave() < LEAVES_S
