"""``memtui web`` as a process, and what its tests ask of it."""

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
"""Far more than anything takes here, on a busy machine too."""

POLL_S = 0.01


def wait_until(holds: Callable[[], bool]) -> None:
    """Look again and again until something is so."""
    latest_s = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < latest_s
        time.sleep(POLL_S)


@dataclass(frozen=True)
class WebServer:
    """A server that runs."""

    home: Path
    process: "subprocess.Popen[str]"
    address: str

    @property
    def origin(self) -> str:
        """Where it is."""
        return self.address.partition("/?")[0]

    @property
    def key(self) -> str:
        """What a browser has to know."""
        return self.address.partition("?key=")[2]

    def child_processes(self) -> set[int]:
        """The processes it has begun that still run."""
        told = subprocess.run(
            ["ps", "-A", "-o", "pid=,ppid=,stat="],
            capture_output=True,
            text=True,
            check=True,
        )
        rows = [line.split() for line in told.stdout.splitlines()]
        mine = str(self.process.pid)
        return {
            int(pid) for pid, parent, stat in rows if parent == mine and stat[0] != "Z"
        }


def is_running(pid: int) -> bool:
    """Whether a process, perhaps of somebody who is no more, runs."""
    told = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(pid)],
        capture_output=True,
        text=True,
        check=False,
    )
    return bool(told.stdout.strip()) and not told.stdout.strip().startswith("Z")


def fill_store(home: Path) -> None:
    """Keep the written history in a home."""
    settings = Settings(store_time_zone="UTC", summaries_provider="extractive")
    house = Workspace(in_home(home), settings)
    for _ in house.pipeline.importer().run([HISTORY]):
        pass
    house.pipeline.run_until_idle(lambda _: None)
    house.stop()


@contextmanager
def run_web_server(home: Path) -> Iterator[WebServer]:
    """Serve a home at a free port; ended in any case."""
    process = subprocess.Popen(
        [sys.executable, "-m", "memtui", "--home", str(home), "web", "--port=0"],
        env={**os.environ, "MEMTUI_SUMMARIES__PROVIDER": "extractive"},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        said = process.stdout.readline()
        found = re.search(r"http://\S+", said)
        assert found, said
        yield WebServer(home, process, found[0])
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        try:
            process.communicate(timeout=PATIENCE_S)
        finally:
            process.kill()
