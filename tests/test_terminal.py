"""The real program in a real terminal, from an empty store on."""

import json
import shlex
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.terminal import TMUX, Terminal, open_terminal

pytestmark = pytest.mark.skipif(TMUX is None, reason="this machine has no tmux")

BEGIN = datetime(2026, 3, 2, 9, tzinfo=UTC)

SAID = (
    ("user", "Why does the ferry timetable drop its last departure on Sundays?"),
    ("assistant", "The query ends at midnight, and the last ferry leaves at 00:15."),
    ("user", "Then let the timetable of a day run until four in the morning."),
    ("assistant", "Done: the day of the timetable now ends at 04:00 in ferry/day.py."),
)


def transcripts(person: Path) -> None:
    """A session of Claude Code among a person's files."""
    folder = person / ".claude" / "projects" / "-home-robin-ferry"
    folder.mkdir(parents=True)
    with (folder / "ferry-1.jsonl").open("w") as file:
        for number, (role, text) in enumerate(SAID):
            record = {
                "type": role,
                "sessionId": "ferry-1",
                "uuid": f"{number}",
                "timestamp": f"{BEGIN + timedelta(minutes=number):%Y-%m-%dT%H:%M:%SZ}",
                "cwd": "/home/robin/ferry",
                "message": {"role": role, "content": text},
            }
            file.write(json.dumps(record) + "\n")


@pytest.fixture
def person(tmp_path: Path) -> Path:
    home = tmp_path / "robin"
    transcripts(home)
    return home


def modes(shell: Terminal, mark: str) -> str:
    """How the terminal treats what is typed."""
    shell.press("clear", "Enter")
    shell.type(f"stty -a; echo {mark[:-1]}''{mark[-1]}\n")
    screen = shell.wait_for_text(mark)
    return screen[screen.index("speed") : screen.index(mark)]


def test_first_session_on_a_real_terminal(person: Path, tmp_path: Path) -> None:
    words = [sys.executable, "-m", "memtui", "--home", str(tmp_path / "home")]
    settings = {"MEMTUI_SUMMARIES__PROVIDER": "extractive", "TZ": "UTC"}
    with open_terminal(tmp_path, HOME=str(person), **settings) as shell:
        before = modes(shell, "before")
        shell.type(f"{shlex.join(words)}; echo it ended with $?\n")
        shell.wait_for_text("No conversations yet", "Claude Code")
        assert shell.is_alternate
        shell.press("i")
        shell.wait_for_text("2026", "1 session", "idle")
        shell.wait_for_text("▾ March › 2–8 Mar › Mon 2 Mar", "Why does the ferry")
        shell.press("/")
        shell.wait_for_text("search everything")
        shell.type("midnight")
        shell.wait_for_text("00:15", "1 hit")
        shell.press("Enter")
        shell.wait_for_text("Source")
        shell.press("q")
        shell.wait_for_text("it ended with 0")
        assert not shell.is_alternate
        assert modes(shell, "after.") == before
