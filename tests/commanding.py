"""The command line as a person gives it: another process, and what it says."""

import json
import os
import subprocess
import sys
import tty
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def data_of(printed: str) -> Any:
    """The data of a JSON answer; its envelope is seen to be whole."""
    told = json.loads(printed)
    assert list(told) == ["version", "status", "data", "error", "meta"]
    assert told["version"] == 1
    assert (told["status"] == "ok") is (told["error"] is None)
    assert set(told["meta"]) == {"tokens", "ms"}
    return told["data"]


def memtui(
    home: Path, *words: str, code: int = 0
) -> "subprocess.CompletedProcess[str]":
    """Run a command in a home, and see that it ends as it should."""
    told = subprocess.run(
        [sys.executable, "-m", "memtui", "--home", str(home), *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == code, (told.stdout, told.stderr)
    assert "Traceback" not in told.stderr
    return told


def read_by_a_person(home: Path, *words: str, code: int = 0) -> str:
    """Run a command whose answer goes to a terminal; what is to be read there."""
    here, there = os.openpty()
    tty.setraw(there)
    with subprocess.Popen(
        [sys.executable, "-m", "memtui", "--home", str(home), *words],
        stdin=subprocess.DEVNULL,
        stdout=there,
        stderr=subprocess.PIPE,
    ) as running:
        os.close(there)
        told = b"".join(_printed(here)).decode()
        os.close(here)
        assert running.stderr is not None
        said = running.stderr.read().decode()
    assert running.returncode == code, (told, said)
    assert "Traceback" not in said
    return told


def _printed(terminal: int) -> Iterator[bytes]:
    while True:
        try:
            if not (some := os.read(terminal, 65_536)):
                return
        except OSError:  # nobody writes to it any more
            return
        yield some
