"""Quitting the app while a model is busy does not wait for it."""

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
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from memtui import store
from memtui.model.jobs import Job, RunResult
from memtui.paths import in_home
from memtui.pipeline.worker import WorkerLock
from memtui.store import database, jobs
from memtui.tui.terminal import TerminalOutput
from memtui.workspace import Workspace
from tests.stub import faults
from tests.stub.server import Pace, Stub, run_stub

LEAVES_S = 10.0
"""How long the app may take to end on a machine that is busy, in seconds: it leaves in
half a second, where a model that it waited for would hold it for much longer."""

HUNG_UP = 128 + signal.SIGHUP

HELD = 1000.0
"""Longer than any test, in seconds."""

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(
        not hasattr(termios, "TIOCSWINSZ"), reason="there are no terminals here"
    ),
]


Leave = Callable[[Callable[[subprocess.Popen[bytes], int], None]], float]
"""Ends the app in some way, given the process and its terminal: in how many seconds."""


def by_key(_: subprocess.Popen[bytes], terminal: int) -> None:
    os.write(terminal, b"q")


def by_sigterm(app: subprocess.Popen[bytes], _: int) -> None:
    app.send_signal(signal.SIGTERM)


def by_hang_up(app: subprocess.Popen[bytes], _: int) -> None:
    app.send_signal(signal.SIGHUP)


def start(home: Path, url: str, *parent: str) -> tuple[subprocess.Popen[bytes], int]:
    """Start the app on a terminal of its own; return the terminal's other end too.

    Args:
        home: Where its memory lies.
        url: Where the model is.
        parent: A program that runs the app, the leader of the terminal's session.
    """
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    process = subprocess.Popen(
        [*parent, sys.executable, "-m", "memtui", "--home", str(home)],
        stdin=its,
        stdout=its,
        stderr=its,
        env={**os.environ, "MEMTUI_SUMMARIES__URL": url, "TERM": "xterm-256color"},
        cwd=Path(__file__).parents[2],
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )
    os.close(its)
    return process, ours


@contextmanager
def run_app(home: Path, url: str, seen: bytearray | None = None) -> Iterator[Leave]:
    """The app on a terminal of its own; called, it leaves.

    Args:
        home: Where its memory lies.
        url: Where the model is.
        seen: Takes what it draws.
    """
    process, ours = start(home, url)
    drain = threading.Thread(target=_drain, args=(ours, seen), daemon=True)
    drain.start()

    def leave(by: Callable[[subprocess.Popen[bytes], int], None]) -> float:
        began = time.monotonic()
        by(process, ours)
        assert process.wait(20) == (HUNG_UP if by is by_hang_up else 0)
        took_s = time.monotonic() - began
        drain.join(20)
        return took_s

    try:
        yield leave
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            process.wait()
        with suppress(OSError):
            os.close(ours)


def _drain(terminal: int, seen: bytearray | None) -> None:
    with suppress(OSError):
        while drawn := os.read(terminal, 1 << 16):
            if seen is not None:
                seen += drawn


@pytest.fixture
def home(full_workspace: Workspace, tmp_path: Path) -> Path:
    """A home whose nodes all want a version by a model."""
    full_workspace.stop()
    return Path(shutil.copytree(full_workspace.paths.store.parent, tmp_path / "left"))


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


@pytest.mark.parametrize("state", [loading, reading, writing, stalling, busy])
def test_quitting_does_not_wait_for_a_model(
    home: Path, state: Callable[[Stub], None]
) -> None:
    with run_stub() as stub:
        state(stub)
        with run_app(home, stub.url) as leave:
            stub.wait_for(1)
            assert leave(by_key) < LEAVES_S


@pytest.mark.parametrize("by", [by_key, by_sigterm, by_hang_up])
def test_quitting_restores_terminal_and_ends_runs(
    home: Path, by: Callable[[subprocess.Popen[bytes], int], None]
) -> None:
    drawn = bytearray()
    with run_stub() as stub:
        stub.pace = Pace(token_s=HELD)
        with run_app(home, stub.url, drawn) as leave:
            stub.wait_for(1, "/api/chat")
            assert leave(by) < LEAVES_S
    assert drawn.count(b"\x1b[?1049h") == drawn.count(b"\x1b[?1049l") == 1
    store.open_at(in_home(home).store, time_zone="UTC")
    with database.connection():
        runs = jobs.list_runs(Job.SEGMENTS, 9)
    database.close()
    assert [run.result for run in runs] == [RunResult.STOPPED]


SWALLOWS = 'trap : HUP TERM; "$@"; code=$?; echo $code > $MEMTUI_CODE; exit $code'
"""A shell that runs a program and outlives the hang-up, as ``make`` does."""


@pytest.mark.parametrize("parent", [(), ("sh", "-c", SWALLOWS, "sh")])
def test_app_ends_with_its_terminal(
    home: Path, tmp_path: Path, parent: Sequence[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code = tmp_path / "code"
    monkeypatch.setenv("MEMTUI_CODE", str(code))
    with run_stub() as stub:
        stub.pace = Pace(token_s=HELD)
        process, ours = start(home, stub.url, *parent)
        try:
            drawn = b""
            while b"sessions" not in drawn:
                drawn += os.read(ours, 1 << 16)
            stub.wait_for(1, "/api/chat")
            os.close(ours)
            assert process.wait(LEAVES_S) == HUNG_UP
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    if parent:
        assert code.read_text().strip() == str(HUNG_UP)
    claim = WorkerLock(in_home(home).worker_lock)
    assert claim.acquire()
    claim.release()
    assert not list(home.glob("*-wal")), "the store was closed"


def test_write_to_a_closed_terminal_does_not_fail() -> None:
    ours, its = pty.openpty()
    with os.fdopen(its, "w", closefd=False) as stream:
        output = TerminalOutput(stream)
        os.close(ours)
        output.write("x")
        output.flush()
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, its)
    assert output.encoding == stream.encoding
    os.close(null)
    os.close(its)


@pytest.mark.parametrize("left_out", ["stdin", "stdout", "stderr"])
@pytest.mark.parametrize("command", [[], ["demo"]])
def test_without_terminal_alternatives_are_named(
    tmp_path: Path, left_out: str, command: list[str]
) -> None:
    ours, its = pty.openpty()
    streams = {"stdin": its, "stdout": its, "stderr": its}
    streams[left_out] = subprocess.PIPE
    ran = subprocess.Popen(
        [sys.executable, "-m", "memtui", "--home", str(tmp_path / "new"), *command],
        stdin=streams["stdin"],
        stdout=streams["stdout"],
        stderr=streams["stderr"],
        cwd=Path(__file__).parents[2],
        start_new_session=True,
    )
    os.close(its)
    said = bytearray()
    _drain(ours, said)
    os.close(ours)
    piped = ran.communicate(timeout=20)
    said += b"".join(filter(None, piped))
    assert ran.returncode == 1
    lines = said.decode().splitlines()
    assert len(lines) == 1 and "memtui show, or memtui work" in lines[0]
    assert not (tmp_path / "new").exists()


def test_quitting_does_not_wait_for_a_silent_server(home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}"
        with run_app(home, url) as leave:
            asker, _ = deaf.accept()
            with asker:
                assert leave(by_key) < LEAVES_S
