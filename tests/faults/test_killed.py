"""Killed with -9 at any moment and started again, the memory is complete."""

import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from memtui.services import status
from memtui.workspace import Workspace
from tests.deduplication.deliveries import hook
from tests.faults.conftest import ForkServer

KILLS = 200

HomeOf = Callable[[str], Path]
Kept = Callable[[Path], str]


@pytest.mark.torture
def test_two_hundred_kills_change_no_result(
    fork_server: ForkServer,
    folder: Path,
    home_of: HomeOf,
    kept: Kept,
    chance: random.Random,
    is_short: bool,
) -> None:
    undisturbed = home_of("undisturbed")
    begun_s = time.monotonic()
    assert fork_server.run(undisturbed, "import", str(folder))["code"] == 0
    took_s = time.monotonic() - begun_s
    expected = kept(undisturbed)
    assert expected.count('"toc:day:') > 5

    killed = places = 0
    kills = KILLS // 10 if is_short else KILLS
    while killed < kills:
        places += 1
        home = home_of(f"disturbed-{places}")
        code = -9
        while code == -9 and killed < kills:
            after_s = chance.uniform(0.02, 0.9) * took_s
            begun_s = time.monotonic()
            code = fork_server.run(home, "import", str(folder), after_s=after_s)["code"]
            killed += code == -9
            if code != -9:  # The machine is less busy than when this was measured.
                took_s = min(took_s, time.monotonic() - begun_s)
        assert fork_server.run(home, "import", str(folder))["code"] == 0
        assert kept(home) == expected
        shutil.rmtree(home)


DYING = """
import os, signal
from memtui import hook

opened, written = os.open, os.write

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

def opens(path, flags, mode=0o777):
    opened(path, flags, mode)
    die()

def writes(descriptor, given):
    written(descriptor, given[: len(given) // 2])
    die()

os.{name} = {by}
hook.main()
"""


@pytest.mark.parametrize(
    ("name", "by", "messages", "refused"),
    [("open", "opens", 0, 0), ("write", "writes", 0, 1), ("rename", "die", 1, 0)],
)
def test_a_draft_of_a_killed_hook_is_stored(
    workspace: Workspace, name: str, by: str, messages: int, refused: int
) -> None:
    spool = workspace.paths.spool
    payload = json.loads(hook(1, "UserPromptSubmit", prompt="Word"))["payload"]
    killed = subprocess.run(
        [sys.executable, "-c", DYING.format(name=name, by=by)],
        input=json.dumps(payload).encode(),
        env={**os.environ, "MEMTUI_SPOOL": str(spool)},
        check=False,
    )
    assert killed.returncode == -9
    (draft,) = (spool / "tmp").iterdir()
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    assert draft.exists(), "it may still be written to"
    os.utime(draft, (1.7e9, 1.7e9))
    workspace.pipeline._ingester._next_drafts_s = 0.0
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    assert status.read_stats().messages == messages
    assert len(list((spool / "bad").glob("*.json"))) == refused
    assert list((spool / "tmp").iterdir()) == list((spool / "new").iterdir()) == []


@pytest.mark.torture
def test_a_kill_before_any_step_changes_no_result(
    fork_server: ForkServer,
    folder: Path,
    home_of: HomeOf,
    kept: Kept,
    chance: random.Random,
    is_short: bool,
) -> None:
    undisturbed = home_of("undisturbed")
    steps = fork_server.run(undisturbed, "import", str(folder), step=0)["steps"]
    expected = kept(undisturbed)
    assert steps > 50
    tried = range(1, steps + 1)
    for step in chance.sample(tried, 12) if is_short else tried:
        home = home_of(f"step-{step}")
        assert fork_server.run(home, "import", str(folder), step=step)["code"] == -9
        assert fork_server.run(home, "import", str(folder))["code"] == 0
        assert kept(home) == expected, f"killed before step {step} of {steps}"
        shutil.rmtree(home)
