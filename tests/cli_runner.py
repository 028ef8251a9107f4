"""Run memtui's commands: in this process, in another one, or at a terminal."""

import json
import os
import pty
import subprocess
import sys
import threading
import tty
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, TextIO

from memtui.cli.main import main
from tests import process_state


def json_data(printed: str) -> Any:
    """Return the data of a JSON answer, after checking its envelope."""
    output = json.loads(printed)
    assert list(output) == ["version", "status", "data", "error", "meta"]
    assert output["version"] == 1
    assert (output["status"] == "ok") is (output["error"] is None)
    assert set(output["meta"]) == {"tokens", "ms"}
    return output["data"]


@dataclass(frozen=True, slots=True)
class CommandOutput:
    """The output of a command without a terminal."""

    stdout: str
    stderr: str


def run_memtui(home: Path, *words: str, code: int = 0) -> CommandOutput:
    """Run a command with ``--home``; see ``run_in_process``."""
    return run_in_process("--home", str(home), *words, code=code)


def run_in_process(*words: str, code: int = 0) -> CommandOutput:
    """Run a command in this process, and check its exit code.

    Starting another process takes ten times as long.
    """
    with process_state.restored_state(), _redirected_streams() as (output, said):
        try:
            ended = main(words)
        except SystemExit as left:  # raised by the argument parser
            ended = int(left.code or 0)
        answer = CommandOutput(_read(output), _read(said))
    assert ended == code, answer
    assert "Traceback" not in answer.stderr
    return answer


@contextmanager
def _redirected_streams() -> Iterator[tuple[TextIO, TextIO]]:
    """Replace standard input by an empty file and redirect the output to two files."""
    names = "stdin", "stdout", "stderr"
    before = [getattr(sys, name) for name in names]
    with (
        Path(os.devnull).open(encoding="utf-8") as given,
        TemporaryFile("w+", encoding="utf-8", newline="") as output,
        TemporaryFile("w+", encoding="utf-8", newline="") as said,
    ):
        files = given, output, said
        for name, file in zip(names, files, strict=True):
            setattr(sys, name, file)
        try:
            yield output, said
        finally:
            for name, file in zip(names, before, strict=True):
                setattr(sys, name, file)


def _read(file: TextIO) -> str:
    file.seek(0)
    return file.read()


def run_separately(
    home: Path, *words: str, code: int = 0
) -> "subprocess.CompletedProcess[str]":
    """Run a command in a process of its own."""
    output = subprocess.run(
        [sys.executable, "-m", "memtui", "--home", str(home), *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert output.returncode == code, (output.stdout, output.stderr)
    assert "Traceback" not in output.stderr
    return output


def run_with_answer(home: Path, *words: str, answer: str) -> tuple[str, str]:
    """Answer a command's question; return its output and what the terminal showed."""
    ours, theirs = pty.openpty()
    os.write(ours, f"{answer}\n".encode())
    output = subprocess.run(
        [sys.executable, "-m", "memtui", "--home", str(home), *words],
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=theirs,
        check=True,
    )
    terminal_text = os.read(ours, 1 << 16).decode()
    os.close(theirs)
    os.close(ours)
    return output.stdout.decode(), terminal_text


def run_at_terminal(home: Path, *words: str, code: int = 0) -> str:
    """Run a command in this process with its output on a terminal, and return it."""
    here, there = os.openpty()
    tty.setraw(there)
    chunks: list[bytes] = []
    reader = threading.Thread(target=lambda: chunks.extend(_read_terminal(here)))
    reader.start()
    with process_state.restored_state(), _redirected_streams() as (_, said):
        try:
            with os.fdopen(there, "w", encoding="utf-8", newline="") as sys.stdout:
                ended = main(("--home", str(home), *words))
        finally:
            reader.join()
            os.close(here)
        complaint = _read(said)
    output = b"".join(chunks).decode()
    assert ended == code, (output, complaint)
    assert "Traceback" not in complaint
    return output


def _read_terminal(terminal: int) -> Iterator[bytes]:
    while True:
        try:
            if not (chunk := os.read(terminal, 65_536)):
                return
        except OSError:  # the other end is closed
            return
        yield chunk
