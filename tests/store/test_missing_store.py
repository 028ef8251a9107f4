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


def learn(word: str) -> None:
    with database.transaction(durable=True):
        meta.write(meta.NODE_INDEX, word)


def known() -> str:
    with database.connection():
        return meta.read(meta.NODE_INDEX)


def test_a_store_that_was_moved_is_not_made_again_and_may_come_back(
    tmp_path: Path,
) -> None:
    file, away = tmp_path / "made here" / "50% memory?.db", tmp_path / "away.db"
    store.open_at(file)
    learn("before")
    file.rename(away)
    for use in (known, lambda: learn("meanwhile")):
        with pytest.raises(StoreGoneError, match=GONE):
            use()
    assert not file.exists()
    away.rename(file)
    assert known() == "before"
    learn("after")
    assert known() == "after"


def test_a_connection_that_was_open_does_not_write_into_what_was_moved(
    tmp_path: Path,
) -> None:
    file, away = tmp_path / "memory.db", tmp_path / "away.db"
    store.open_at(file)
    with database.connection():
        learn("before")
        file.rename(away)
        with pytest.raises(StoreGoneError, match=GONE):
            learn("meanwhile")
    log = file.with_name(f"{file.name}-wal")
    assert not log.exists() or not log.stat().st_size, "nothing stays behind"
    store.open_at(away)
    assert known() == "before"


def test_what_is_deleted_before_it_is_surely_kept_is_not_called_kept(
    tmp_path: Path,
) -> None:
    file = tmp_path / "memory.db"
    store.open_at(file)
    with pytest.raises(StoreGoneError, match=GONE), database.transaction(durable=True):
        meta.write(meta.NODE_INDEX, "meanwhile")
        file.unlink()


def test_another_store_in_its_place_is_left_alone(tmp_path: Path) -> None:
    file, other = tmp_path / "memory.db", tmp_path / "other.db"
    store.open_at(other)
    learn("other")
    store.open_at(file)
    learn("mine")
    kept = shutil.copy(file, tmp_path / "copy.db")
    with database.connection():
        pass
    file.unlink()
    with pytest.raises(StoreGoneError, match=GONE):
        known()
    shutil.copy(other, file)
    for use in (known, lambda: learn("mine")):
        with pytest.raises(StoreGoneError, match=ANOTHER):
            use()
    file.write_bytes(b"no database at all")
    with pytest.raises(StoreGoneError, match=ANOTHER):
        known()
    shutil.copy(kept, file)
    assert known() == "mine", "a copy of the same store is the same store"


def test_a_file_of_the_same_number_is_still_another_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, other = tmp_path / "memory.db", tmp_path / "other.db"
    store.open_at(other)
    store.open_at(file)
    monkeypatch.setattr("memtui.store.database._read_inode", _one_number)
    store.open_at(file)
    file.unlink()
    with pytest.raises(StoreGoneError, match=GONE):
        known()
    shutil.copy(other, file)
    with pytest.raises(StoreGoneError, match=ANOTHER):
        known()


def _one_number(path: str) -> tuple[int, int]:
    return Path(path).stat().st_dev, 1


@pytest.mark.full
def test_an_app_whose_memory_is_taken_away_waits_and_takes_all_when_it_is_back(
    workspace: Workspace, tmp_path: Path
) -> None:
    home, away = workspace.paths.store.parent, tmp_path / "away"
    shown: queue.Queue[PipelineProgress] = queue.Queue()
    workspace.start(shown.put)
    until(shown, lambda one: one.is_active and not one.error)
    home.rename(away)
    gone = until(shown, lambda one: one.is_store_gone)
    assert str(status_line.describe_work(gone)).startswith(
        f"✗ the store at {workspace.paths.store}"
    )
    assert not home.exists()
    say("Where is the mill?", workspace.paths.spool)
    say("Down by the river.", workspace.paths.spool)
    until(shown, lambda one: one.is_store_gone)
    assert len([*(home / "spool" / "new").iterdir()]) == 2
    assert {file.name for file in home.iterdir()} == {"spool"}, "nothing else is made"
    shutil.copytree(home / "spool", away / "spool", dirs_exist_ok=True)
    shutil.rmtree(home)
    away.rename(home)
    until(shown, lambda one: not one.is_store_gone and not one.error)
    until(shown, lambda _: status.read_stats().events == 2)
    assert not [*(home / "spool" / "new").iterdir()]


def say(prompt: str, spool: Path) -> None:
    """Have an agent's hook leave what was said."""
    shown = {
        "session_id": "mill",
        "hook_event_name": "UserPromptSubmit",
        "cwd": "/home/miller/mill",
        "prompt": prompt,
    }
    hook.write_event([json.dumps(shown).encode()], str(spool), "", is_synced=False)


def until(
    shown: "queue.Queue[PipelineProgress]", is_it: "Callable[[PipelineProgress], bool]"
) -> PipelineProgress:
    """The first report of which something holds."""
    while True:
        one = shown.get(timeout=20)
        if is_it(one):
            return one


def test_a_new_process_finds_the_same_memory_by_its_word(
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
