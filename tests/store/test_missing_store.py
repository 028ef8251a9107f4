"""The store is moved, deleted or replaced while it is open: nothing is lost."""

import json
import queue
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from memtui import hook, store
from memtui.errors import StoreGoneError
from memtui.paths import in_home
from memtui.pipeline.progress import PipelineProgress
from memtui.services import status
from memtui.settings import Settings
from memtui.store import database, meta
from memtui.tui.widgets import status_line
from memtui.workspace import Workspace

GONE = r"is gone\. Put it back or quit; nothing is written meanwhile"
ANOTHER = r"another store is at .* now\. Put the former one back"


def write_value(word: str) -> None:
    with database.transaction(durable=True):
        meta.write(meta.NODE_INDEX, word)


def read_value() -> str:
    with database.connection():
        return meta.read(meta.NODE_INDEX)


def test_a_moved_store_is_not_created_again_and_may_come_back(
    tmp_path: Path,
) -> None:
    file, away = tmp_path / "made here" / "50% memory?.db", tmp_path / "away.db"
    store.open_at(file)
    write_value("before")
    file.rename(away)
    for use in (read_value, lambda: write_value("meanwhile")):
        with pytest.raises(StoreGoneError, match=GONE):
            use()
    assert not file.exists()
    away.rename(file)
    assert read_value() == "before"
    write_value("after")
    assert read_value() == "after"


def test_an_open_connection_does_not_write_into_a_moved_store(
    tmp_path: Path,
) -> None:
    file, away = tmp_path / "memory.db", tmp_path / "away.db"
    store.open_at(file)
    with database.connection():
        write_value("before")
        file.rename(away)
        with pytest.raises(StoreGoneError, match=GONE):
            write_value("meanwhile")
    log = file.with_name(f"{file.name}-wal")
    assert not log.exists() or not log.stat().st_size, "nothing stays behind"
    store.open_at(away)
    assert read_value() == "before"


def test_a_durable_transaction_fails_if_the_store_is_deleted_during_it(
    tmp_path: Path,
) -> None:
    file = tmp_path / "memory.db"
    store.open_at(file)
    with pytest.raises(StoreGoneError, match=GONE), database.transaction(durable=True):
        meta.write(meta.NODE_INDEX, "meanwhile")
        file.unlink()


def test_another_store_in_its_place_is_not_changed(tmp_path: Path) -> None:
    file, other = tmp_path / "memory.db", tmp_path / "other.db"
    store.open_at(other)
    write_value("other")
    store.open_at(file)
    write_value("mine")
    kept = shutil.copy(file, tmp_path / "copy.db")
    with database.connection():
        pass
    file.unlink()
    with pytest.raises(StoreGoneError, match=GONE):
        read_value()
    shutil.copy(other, file)
    for use in (read_value, lambda: write_value("mine")):
        with pytest.raises(StoreGoneError, match=ANOTHER):
            use()
    file.write_bytes(b"no database at all")
    with pytest.raises(StoreGoneError, match=ANOTHER):
        read_value()
    shutil.copy(kept, file)
    assert read_value() == "mine", "a copy of the same store is the same store"


def test_a_store_with_a_reused_inode_is_another_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, other = tmp_path / "memory.db", tmp_path / "other.db"
    store.open_at(other)
    store.open_at(file)
    monkeypatch.setattr("memtui.store.database._read_inode", _one_number)
    store.open_at(file)
    file.unlink()
    with pytest.raises(StoreGoneError, match=GONE):
        read_value()
    shutil.copy(other, file)
    with pytest.raises(StoreGoneError, match=ANOTHER):
        read_value()


def _one_number(path: str) -> tuple[int, int]:
    return Path(path).stat().st_dev, 1


@pytest.mark.full
def test_an_app_waits_for_its_missing_store_and_then_stores_everything(
    workspace: Workspace, tmp_path: Path
) -> None:
    home, away = workspace.paths.store.parent, tmp_path / "away"
    reports: queue.Queue[PipelineProgress] = queue.Queue()
    workspace.start(reports.put)
    until(reports, lambda progress: progress.is_active and not progress.error)
    home.rename(away)
    gone = until(reports, lambda progress: progress.is_store_gone)
    assert str(status_line.describe_work(gone)).startswith(
        f"✗ the store at {workspace.paths.store}"
    )
    assert not home.exists()
    say("Where is the mill?", workspace.paths.spool)
    say("Down by the river.", workspace.paths.spool)
    until(reports, lambda progress: progress.is_store_gone)
    assert len([*(home / "spool" / "new").iterdir()]) == 2
    assert {file.name for file in home.iterdir()} == {"spool"}, "nothing else is made"
    shutil.copytree(home / "spool", away / "spool", dirs_exist_ok=True)
    shutil.rmtree(home)
    away.rename(home)
    until(reports, lambda progress: not progress.is_store_gone and not progress.error)
    until(reports, lambda _: status.read_stats().events == 2)
    assert not [*(home / "spool" / "new").iterdir()]


def say(prompt: str, spool: Path) -> None:
    """Have an agent's hook leave what was said."""
    payload = {
        "session_id": "mill",
        "hook_event_name": "UserPromptSubmit",
        "cwd": "/home/miller/mill",
        "prompt": prompt,
    }
    hook.write_event([json.dumps(payload).encode()], str(spool), "", is_synced=False)


def until(
    reports: "queue.Queue[PipelineProgress]",
    is_it: "Callable[[PipelineProgress], bool]",
) -> PipelineProgress:
    """The first report of which something holds."""
    while True:
        progress = reports.get(timeout=20)
        if is_it(progress):
            return progress


def test_a_store_keeps_its_identity_in_a_new_process(
    tmp_path: Path, settings: Settings
) -> None:
    first = Workspace(in_home(tmp_path / "home"), settings)
    with database.connection():
        word = meta.identity()
    first.stop()
    again = Workspace(in_home(tmp_path / "home"), settings)
    with database.connection():
        assert meta.identity() == word
    again.stop()
