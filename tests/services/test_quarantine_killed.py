"""Retrying can be killed: nothing is lost, and nothing is stored twice."""

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli_runner import json_data

FILES = 60
KILLS = 12
LONGEST_S = 1.2
"""About how long one whole run takes."""


def memtui(home: Path, *words: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-m", "memtui", "--home", str(home), *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def payload(number: int) -> bytes:
    """Return a payload; every second one cannot be stored."""
    name = "Novelty" if number % 2 else "UserPromptSubmit"
    fields = {"session_id": f"s{number}", "hook_event_name": name}
    return json.dumps({**fields, "prompt": f"Prompt {number}"}).encode()


@pytest.mark.torture
def test_a_killed_retry_stores_each_file_once_or_keeps_it(
    tmp_path: Path, chance: random.Random
) -> None:
    home = tmp_path / "home"
    bad, new = home / "spool" / "bad", home / "spool" / "new"
    for folder in (bad, new):
        folder.mkdir(parents=True)
    for number in range(FILES):
        (bad / f"{number}.json").write_bytes(payload(number))
        (bad / f"{number}.json.reason").write_text("line 1: for some reason\n")
    for _ in range(KILLS):
        running = memtui(home, "quarantine", "retry", "--all")
        try:
            running.communicate(timeout=chance.uniform(0.3, LONGEST_S))
        except subprocess.TimeoutExpired:
            running.kill()
            running.communicate()
        remaining = {file.name for folder in (new, bad) for file in folder.iterdir()}
        assert {f"{number}.json" for number in range(1, FILES, 2)} <= remaining
    memtui(home, "quarantine", "retry", "--all").communicate()
    output, _ = memtui(home, "stats", "--json").communicate()
    stats = json_data(output.decode())
    assert (stats["messages"], stats["skipped"]) == (FILES // 2, FILES // 2)
    left = sorted(file.name for file in bad.iterdir())
    names = [f"{number}.json" for number in range(1, FILES, 2)]
    assert left == sorted([*names, *(f"{name}.reason" for name in names)])
    assert list(new.iterdir()) == []
