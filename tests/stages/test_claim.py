import subprocess
import sys
from pathlib import Path

import pytest

from memtui.errors import StoreError
from memtui.stages.claim import Claim

HOLD = """
import sys
from pathlib import Path
from memtui.stages.claim import Claim
claim = Claim(Path(sys.argv[1]))
print(claim.take(), flush=True)
sys.stdin.read()
"""


def test_only_one_holds_a_claim_until_it_is_dropped(tmp_path: Path) -> None:
    first, second = Claim(tmp_path / "work.lock"), Claim(tmp_path / "work.lock")
    assert first.take()
    assert first.take()
    assert not second.take()
    first.drop()
    assert second.take()
    second.drop()


def test_a_killed_process_leaves_its_claim_to_the_next(tmp_path: Path) -> None:
    file = tmp_path / "work.lock"
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(file)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "True\n"
    claim = Claim(file)
    assert not claim.take()
    holder.kill()
    holder.communicate()
    assert claim.take()
    claim.drop()


def test_a_claim_that_cannot_be_made_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"work\.lock"):
        Claim(tmp_path / "file" / "work.lock").take()
