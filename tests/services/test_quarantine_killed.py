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


def said(number: int) -> bytes:
    """A payload that can be taken by now; every other one cannot."""
    name = "Novelty" if number % 2 else "UserPromptSubmit"
    given = {"session_id": f"s{number}", "hook_event_name": name}
    return json.dumps({**given, "prompt": f"Prompt {number}"}).encode()


@pytest.mark.torture
def test_killed_anywhere_each_file_is_taken_once_or_lies_there(tmp_path: Path) -> None:
    home = tmp_path / "home"
    bad, new = home / "spool" / "bad", home / "spool" / "new"
    for box in (bad, new):
        box.mkdir(parents=True)
    for number in range(FILES):
        (bad / f"{number}.json").write_bytes(said(number))
        (bad / f"{number}.json.reason").write_text("line 1: for some reason\n")
    chance = random.Random(7)
    for _ in range(KILLS):
        running = memtui(home, "quarantine", "retry", "--all")
        try:
            running.communicate(timeout=chance.uniform(0.3, LONGEST_S))
        except subprocess.TimeoutExpired:
            running.kill()
            running.communicate()
        lie = {file.name for box in (new, bad) for file in box.iterdir()}
        assert {f"{number}.json" for number in range(1, FILES, 2)} <= lie
    memtui(home, "quarantine", "retry", "--all").communicate()
    shown, _ = memtui(home, "stats", "--json").communicate()
    stats = json_data(shown.decode())
    assert (stats["messages"], stats["skipped"]) == (FILES // 2, FILES // 2)
    left = sorted(file.name for file in bad.iterdir())
    names = [f"{number}.json" for number in range(1, FILES, 2)]
    assert left == sorted([*names, *(f"{name}.reason" for name in names)])
    assert list(new.iterdir()) == []
