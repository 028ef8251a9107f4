"""The command line as a person gives it: another process, and what it says."""

import json
import subprocess
import sys
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
