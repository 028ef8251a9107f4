"""Run memtui in processes that can be killed, without starting Python each time.

A script: it imports memtui once and forks a process for each order, a JSON object a
line. It answers each order with the exit code, the number of steps and the errors.
"""

import json
import os
import signal
import sys
import tempfile
from collections.abc import Callable
from typing import Any

from memtui.cli.main import main
from memtui.pipeline import summarization
from memtui.store import database


def _load() -> None:
    """Load what memtui imports late, once for all."""
    import importlib.resources  # noqa: F401
    import logging.handlers  # noqa: F401

    import ulid  # noqa: F401


class Steps:
    """Counts what changes the disk, and kills this process before one of it."""

    def __init__(self, last: int, tell: Callable[[int], None]) -> None:
        self._last, self._tell, self._taken = last, tell, 0
        sys.addaudithook(self._on_file)
        connect = database.db._connect

        def traced() -> Any:
            connection = connect()
            connection.set_trace_callback(self._on_statement)
            return connection

        database.db._connect = traced

    def _on_file(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event in (
            "os.rename",
            "os.remove",
            "os.rmdir",
            "os.truncate",
            "os.utime",
        ) or (event == "open" and arguments[2] & (os.O_WRONLY | os.O_RDWR)):
            self._step()

    def _on_statement(self, said: str) -> None:
        if said.startswith(("BEGIN", "COMMIT", "ROLLBACK")):
            self._step()

    def _step(self) -> None:
        self._taken += 1
        self._tell(self._taken)
        if self._taken == self._last:
            os.kill(os.getpid(), signal.SIGKILL)


def born(order: dict[str, Any]) -> dict[str, Any]:
    """Run one process; how it ended, after how many steps, and with what complaints."""
    with tempfile.TemporaryFile() as complaints:
        output = _born(order, complaints.fileno())
        complaints.seek(0)
        return output | {"complaints": complaints.read().decode(errors="replace")}


def _born(order: dict[str, Any], complaints: int) -> dict[str, Any]:
    reads, writes = os.pipe()
    child = os.fork()
    if not child:
        os.close(reads)
        os.dup2(os.open(os.devnull, os.O_RDWR), 0)
        os.dup2(0, 1)
        os.dup2(complaints, 2)
        if "step" in order:
            Steps(order["step"], lambda taken: _put(writes, taken))
        code = 1
        try:
            code = main(order["argv"])
        finally:
            os._exit(code)
    os.close(writes)
    if "after_s" in order:
        ended = signal.sigtimedwait({signal.SIGCHLD}, order["after_s"])
        if ended is None:
            os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    signal.sigtimedwait({signal.SIGCHLD}, 0)
    output = os.read(reads, 4096) if "step" in order else b""
    os.close(reads)
    return {"code": os.waitstatus_to_exitcode(status), "steps": len(output)}


def _put(pipe: int, taken: int) -> None:
    os.write(pipe, b".")


if __name__ == "__main__":
    _load()
    summarization.PATIENCE_S = 600.0  # a slow machine makes the same versions
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    print(flush=True)
    for line in sys.stdin:
        print(json.dumps(born(json.loads(line))), flush=True)
