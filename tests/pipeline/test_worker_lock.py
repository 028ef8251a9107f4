import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from memtui.errors import StoreError
from memtui.pipeline.worker import PROC_LOCKS, WorkerLock, find_holder

HOLD = """
import sys
from pathlib import Path
from memtui.pipeline.worker import WorkerLock
claim = WorkerLock(Path(sys.argv[1]))
print(claim.acquire(), flush=True)
sys.stdin.read()
"""


listing = pytest.mark.skipif(
    not PROC_LOCKS.exists(), reason="this system does not list who holds a lock"
)


def test_only_one_process_holds_the_lock(tmp_path: Path) -> None:
    first, second = (
        WorkerLock(tmp_path / "work.lock"),
        WorkerLock(tmp_path / "work.lock"),
    )
    assert first.acquire()
    assert first.acquire()
    assert not second.acquire()
    first.release()
    assert second.acquire()
    second.release()


@listing
def test_holder_is_found_without_taking_the_lock(tmp_path: Path) -> None:
    file = tmp_path / "work.lock"
    assert find_holder(file) == 0
    argv = [sys.executable, "-c", HOLD, str(file)]
    with subprocess.Popen(argv, stdin=-1, stdout=-1, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "True\n"
        assert find_holder(file) == other.pid
        assert other.stdin is not None
        other.stdin.close()
    assert find_holder(file) == 0


def test_holder_is_unknown_without_a_list_of_locks(
    tmp_path: Path,
) -> None:
    assert find_holder(tmp_path / "work.lock", tmp_path / "locks") is None


def test_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    file = tmp_path / "work.lock"
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(file)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "True\n"
    claim = WorkerLock(file)
    assert not claim.acquire()
    holder.kill()
    holder.communicate()
    assert claim.acquire()
    claim.release()


def test_lock_file_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"work\.lock"):
        WorkerLock(tmp_path / "file" / "work.lock").acquire()


@pytest.mark.parametrize(
    ("code", "has_advice"),
    [(errno.EACCES, True), (errno.EROFS, True), (errno.ENAMETOOLONG, False)],
)
def test_lock_in_a_read_only_folder_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, has_advice: bool
) -> None:
    def refuse(*_: object) -> int:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(StoreError, match=r"work\.lock") as refused:
        WorkerLock(tmp_path / "work.lock").acquire()
    message, _, advice = str(refused.value).partition("; ")
    assert message.endswith(os.strerror(code))
    assert (f"chmod -R u+rwX {tmp_path}" in advice) is has_advice
