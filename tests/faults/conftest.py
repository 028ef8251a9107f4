"""A sample history, and processes that can be killed."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from memtui.store import database
from tests.deduplication.conftest import delivery as delivery
from tests.deduplication.deliveries import (
    hook,
    record,
    session_records,
    write_hook_files,
)
from tests.tables import RedactionRow

DAY = 24 * 60
"""Minutes."""

SECRET = "My key is AKIAIOSFODNN7EXAMPLE, and it times out"


class ForkServer:
    """Processes of memtui that can be killed; see ``tests.faults.fork_server``."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def run(self, home: Path, *words: str, **order: float) -> dict[str, int]:
        """Run a command to its end, for ``after_s`` seconds, or up to a ``step``.

        It complains only where it fails, and then in memtui's own words.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        argv = ["--home", str(home), *words]
        print(json.dumps({"argv": argv} | order), file=self._process.stdin, flush=True)
        told = json.loads(self._process.stdout.readline())
        complaints = told.pop("complaints")
        is_said = told["code"] == 1 and complaints.startswith("memtui: ")
        assert is_said or not complaints, complaints
        return dict(told)


@pytest.fixture
def fork_server(tmp_path: Path) -> Iterator[ForkServer]:
    """A process of which others are born quickly."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.faults.fork_server"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "MEMTUI_CONFIG": str(config(tmp_path))},
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "\n"
        yield ForkServer(process)
        assert process.stdin is not None
        process.stdin.close()


def config(place: Path) -> Path:
    file = place / "config.toml"
    file.write_text('[store]\ntime_zone = "UTC"\n')
    return file


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Transcripts of four sessions, two of them forks, on five days."""
    folder = tmp_path / "projects" / "-home-ada-shop"
    folder.mkdir(parents=True)
    numbers = [1, 2, 3, 4, 50, 51, DAY, DAY + 1, 9 * DAY, 9 * DAY + 1]
    (folder / "s1.jsonl").write_text(session_records("s1", *numbers) + "{broken\n")
    (folder / "s2.jsonl").write_text(
        session_records("s2", *numbers[:6], 40 * DAY, 40 * DAY + 1)
    )
    (folder / "s3.jsonl").write_text(session_records("s3", *range(401, 421)))
    (folder / "s4.jsonl").write_text(record(700, SECRET, "s4"))
    return folder.parent


HOOKED = [
    hook(1, "UserPromptSubmit", prompt="Word 1 about the migration of table 1"),
    hook(401, "Stop", "s3", last_assistant_message="Parquet fails after a timeout"),
    *(
        hook(n, "UserPromptSubmit", "s5", prompt=f"Why does parquet {n} time out?")
        for n in range(801, 812)
    ),
    hook(812, "SessionEnd", "s5", reason="logout"),
    hook(802, "UserPromptSubmit", "s5", prompt=SECRET),
    hook(813, "Novelty", "s5", prompt="nobody knows this"),
]


@pytest.fixture
def home_of(tmp_path: Path) -> Callable[[str], Path]:
    """Makes homes in whose spool lies what hooks were told."""

    def make(name: str) -> Path:
        home = tmp_path / name
        new = home / "spool" / "new"
        new.mkdir(parents=True)
        write_hook_files(new, 1, "".join(HOOKED))
        return home

    return make


TreeOf = Callable[[Path], dict[str, Any]]


@pytest.fixture
def kept(tree_of: TreeOf) -> Callable[[Path], str]:
    """All that a home keeps, its spool included, as one text to be compared."""

    def kept(home: Path) -> str:
        spool = sorted(
            str(file.relative_to(home))
            for file in (home / "spool").rglob("*")
            if file.is_file()
        )
        told = {**tree_of(home), "spool": spool}
        with database.connection():
            rows = RedactionRow.select(RedactionRow.kind, RedactionRow.count)
            told["redacted"] = sorted(rows.tuples())
        return json.dumps(told, indent=1, sort_keys=True)

    return kept
