"""The command line as a person gives it: another process, and what it says."""

import subprocess
import sys
from pathlib import Path


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
