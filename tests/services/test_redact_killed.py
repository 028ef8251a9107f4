"""Redaction can be killed at any moment and finished by running it again."""

import json
import random
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from memtui.paths import in_home
from memtui.settings import Settings
from memtui.store import database
from memtui.workspace import Workspace
from tests.faults.conftest import ForkServer
from tests.faults.conftest import fork_server as fork_server
from tests.services.test_redact import (
    KEYS,
    ImportUnredacted,
    TreeOf,
    hook_files,
    traces,
)

KILLS = 12
SESSIONS = 40


def line(session: int, number: int) -> str:
    event: dict[str, Any] = {
        "session_id": f"s{session}",
        "timestamp": 1_700_000_000_000 + session * 7_200_000 + number * 20_000,
        "role": ("user", "assistant")[number % 2],
        "text": f"Heron {session}.{number} must be counted in harbour {number % 7}.",
        "key": str(number),
    }
    if number % 9 == session % 9:
        event["text"] += f" {KEYS[session % 3]}"
    return f"{json.dumps(event)}\n"


@pytest.mark.torture
def test_killed_at_any_moment_it_ends_the_same(
    tmp_path: Path,
    settings: Settings,
    fork_server: ForkServer,
    import_unredacted: ImportUnredacted,
    tree: TreeOf,
    chance: random.Random,
) -> None:
    history = tmp_path / "history.jsonl"
    numbers = [(s, n) for s in range(SESSIONS) for n in range(40)]
    history.write_text("".join(line(*number) for number in numbers))
    start = tmp_path / "start"
    start.mkdir()
    (start / "config.toml").write_text('[store]\ntime_zone = "UTC"\n')
    workspace = import_unredacted(Workspace(in_home(start), settings), history)
    hook_files(workspace)
    workspace.stop()

    def kept(home: Path) -> str:
        assert traces(home) == set()
        workspace = Workspace(in_home(home), settings)
        said = tree(workspace)
        with database.connection():
            rows = database.db.execute_sql("SELECT path, state FROM cursors")
            said["cursors"] = rows.fetchall()
        workspace.stop()
        files = sorted((home / "spool").rglob("*.json"))
        said["spool"] = [(file.name, file.read_text()) for file in files]
        return json.dumps(said, sort_keys=True, default=repr)

    undisturbed = tmp_path / "undisturbed"
    shutil.copytree(start, undisturbed)
    begun_s = time.monotonic()
    words = ("redact", "--json")
    assert fork_server.run(undisturbed, *words)["code"] == 0
    took_s = time.monotonic() - begun_s
    expected = kept(undisturbed)

    for place in range(KILLS):
        home = tmp_path / f"disturbed-{place}"
        shutil.copytree(start, home)
        after_s = chance.uniform(0.1, 0.95) * took_s
        assert fork_server.run(home, *words, after_s=after_s)["code"] in (0, -9)
        assert fork_server.run(home, *words)["code"] == 0
        assert kept(home) == expected
        shutil.rmtree(home)
