"""Run ``memtui web`` as a process for tests."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from memtui.paths import in_home
from memtui.settings import Settings
from memtui.workspace import Workspace

HISTORY = Path(__file__).parent / "data" / "history.jsonl"

PATIENCE_S = 30.0
"""Far more than anything takes here, even on a busy machine."""

POLL_S = 0.01


def wait_until(holds: Callable[[], bool]) -> None:
    """Wait until a condition holds."""
    latest_s = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < latest_s
        time.sleep(POLL_S)


@dataclass(frozen=True)
class WebServer:
    """A running server."""

    home: Path
    process: "subprocess.Popen[str]"
    address: str

    @property
    def url(self) -> str:
        """The address of the folder that everything is in, without the key."""
        return self.address.partition("/?")[0]

    @property
    def origin(self) -> str:
        """The origin of its pages."""
        return self.url.rpartition("/")[0]

    @property
    def key(self) -> str:
        """The key in the address."""
        return self.address.partition("?key=")[2]

    def child_processes(self) -> set[int]:
        """Return its running child processes: one for each tab."""
        process = subprocess.run(
            ["ps", "-A", "-o", "pid=,ppid=,stat="],
            capture_output=True,
            text=True,
            check=True,
        )
        rows = [line.split() for line in process.stdout.splitlines()]
        mine = str(self.process.pid)
        return {
            int(pid) for pid, parent, stat in rows if parent == mine and stat[0] != "Z"
        }


def is_running(pid: int) -> bool:
    """Return whether a process runs, even if it is an orphan."""
    process = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(pid)],
        capture_output=True,
        text=True,
        check=False,
    )
    return bool(process.stdout.strip()) and not process.stdout.strip().startswith("Z")


def fill_store(home: Path) -> None:
    """Fill a store with the sample history."""
    settings = Settings(store_time_zone="UTC", summaries_provider="extractive")
    workspace = Workspace(in_home(home), settings)
    for _ in workspace.pipeline.importer().run([HISTORY]):
        pass
    workspace.pipeline.run_until_idle(lambda _: None)
    workspace.stop()


@contextmanager
def run_web_server(home: Path) -> Iterator[WebServer]:
    """Run the server at a free port, and stop it at the end."""
    process = subprocess.Popen(
        [sys.executable, "-m", "memtui", "--home", str(home), "web", "--port=0"],
        env={**os.environ, "MEMTUI_SUMMARIES__PROVIDER": "extractive"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        assert process.stdout is not None
        said = process.stdout.readline()
        match = re.search(r"http://\S+", said)
        assert match, said
        yield WebServer(home, process, match[0])
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        try:
            process.communicate(timeout=PATIENCE_S)
        finally:
            process.kill()
