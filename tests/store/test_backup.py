"""A backup is one moment of the store, and restoring it replaces the store."""

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from memtui.errors import StoreBusyError, StoreError, StoreVersionError
from memtui.store import backup, database
from memtui.workspace import Workspace
from tests.tables import MetaRow, SessionRow


@pytest.fixture
def store(full_workspace: Workspace) -> Iterator[Path]:
    yield full_workspace.paths.store
    database.close()


def rows(file: Path, table: str = "events") -> list[Any]:
    with closing(
        sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)
    ) as db:
        return db.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall()


def change(store: Path) -> None:
    """Something that only the store has, and not a copy made before."""
    with closing(sqlite3.connect(store)) as db, db:
        db.execute("UPDATE sessions SET title = 'Later'")


def test_a_backup_is_one_private_file(store: Path, tmp_path: Path) -> None:
    file = tmp_path / "out" / "memory.bak"
    file.parent.mkdir()
    info = backup.create(file)
    assert [path.name for path in file.parent.iterdir()] == ["memory.bak"]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert rows(file) == rows(store)
    assert (info.events, info.sessions) == (44, 6)
    file.parent.chmod(0o500)
    assert backup.read_info(file) == info
    file.parent.chmod(0o700)


def test_a_backup_beside_a_writer_is_one_moment_of_the_store(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backup, "COPY_PAGES", 3)
    with database.connection():
        number = SessionRow.select(SessionRow.id).scalar()
    script = (
        "import sqlite3, sys\n"
        "db = sqlite3.connect(sys.argv[1], timeout=30, isolation_level=None)\n"
        "n = 0\n"
        "while True:\n"
        "    n += 1\n"
        "    db.execute('BEGIN IMMEDIATE')\n"
        '    db.execute("INSERT INTO outbox (action, subject_id, at_ms)'
        " VALUES ('x', ?, ?)\", ('y' * 3000, n))\n"
        "    db.execute('UPDATE sessions SET project_ms = ? WHERE id = ?',"
        f" (n, {number}))\n"
        "    db.execute('COMMIT')\n"
        "    n > 1 or print('ready', flush=True)\n"
    )
    writer = subprocess.Popen(
        [sys.executable, "-c", script, str(store)], stdout=subprocess.PIPE
    )
    try:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"ready\n"
        moments = []
        for place in range(5):
            file = tmp_path / f"{place}.bak"
            backup.create(file)
            with closing(sqlite3.connect(file)) as db:
                asked = "SELECT max(at_ms) FROM outbox WHERE action = 'x'"
                (last,) = db.execute(asked).fetchone()
                said = "SELECT project_ms FROM sessions WHERE id = ?"
                assert db.execute(said, (number,)).fetchone() == (last,)
                assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            moments.append(last)
        assert moments[-1] > moments[0]
    finally:
        writer.kill()
        writer.communicate()


def test_an_existing_file_is_overwritten_only_with_may_replace(
    store: Path, tmp_path: Path
) -> None:
    file = tmp_path / "thesis.txt"
    file.write_text("months of work")
    with pytest.raises(StoreError, match="exists already; --force"):
        backup.create(file)
    assert file.read_text() == "months of work"
    backup.create(file, may_replace=True)
    assert rows(file) == rows(store)
    with pytest.raises(StoreError, match="is the store itself"):
        backup.create(store, may_replace=True)
    with pytest.raises(StoreError, match="is a folder"):
        backup.create(tmp_path)
    with pytest.raises(StoreError, match="No such file"):
        backup.create(tmp_path / "nowhere" / "memory.bak")


def test_a_damaged_store_is_not_backed_up(store: Path, tmp_path: Path) -> None:
    database.close()
    damage(store)
    with pytest.raises(StoreError, match="damaged"):
        backup.create(tmp_path / "memory.bak")
    assert [path.name for path in tmp_path.glob("*.bak*")] == []
    assert list(tmp_path.glob(".*.part")) == []


def damage(file: Path) -> None:
    """Write over pages in the middle of a database."""
    with closing(sqlite3.connect(file)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    size = file.stat().st_size
    with file.open("r+b") as opened:
        for place in range(8192, size, 16384):
            opened.seek(place)
            opened.write(b"\xff" * 2048)


FULL = """
import resource, signal, sys
from pathlib import Path
from memtui.errors import StoreError
from memtui.store import backup, database
store, file = Path(sys.argv[1]), Path(sys.argv[2])
def fill():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))
try:
    {steps}
except StoreError as error:
    print("refused:", error)
"""


def on_a_full_disk(steps: str, store: Path, file: Path) -> None:
    """Do something, at one point of which no file can grow any more."""
    process = subprocess.run(
        [sys.executable, "-c", FULL.format(steps=steps), str(store), str(file)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert process.stdout.startswith("refused:"), process.stderr


def test_on_a_full_disk_an_existing_backup_stays(store: Path, tmp_path: Path) -> None:
    file = tmp_path / "memory.bak"
    file.write_text("the copy of yesterday")
    steps = (
        "database.db.init(str(store)); fill(); backup.create(file, may_replace=True)"
    )
    on_a_full_disk(steps, store, file)
    assert file.read_text() == "the copy of yesterday"
    assert list(tmp_path.glob(".*")) == []


@pytest.mark.parametrize(
    "steps",
    (
        "fill(); backup.restore(backup.prepare_restore(file, store), store)",
        "draft = backup.prepare_restore(file, store); fill();"
        " backup.restore(draft, store)",
    ),
)
def test_on_a_full_disk_a_restore_leaves_the_store_unchanged(
    store: Path, tmp_path: Path, steps: str
) -> None:
    file = tmp_path / "memory.bak"
    backup.create(file)
    change(store)
    before = rows(store, "sessions")
    database.close()
    on_a_full_disk(steps, store, file)
    assert rows(store, "sessions") == before
    assert rows(store) == rows(file)


def test_remains_of_a_killed_backup_are_deleted_by_the_next(
    store: Path, tmp_path: Path
) -> None:
    abandoned = {".memtui-a1b2.part", ".memtui-a1b2.part-journal"}
    in_use, other = ".memtui-c3d4.part", ".photo.jpg.a1b2.part"
    for name in (*abandoned, in_use, other):
        (tmp_path / name).touch()
    for name in (*abandoned, other):
        os.utime(tmp_path / name, (0, 0))
    backup.create(tmp_path / "of another name.bak")
    remaining = {path.name for path in tmp_path.glob(".*")}
    assert not remaining & abandoned
    assert {in_use, other} <= remaining


def test_a_restored_backup_is_the_store(store: Path, tmp_path: Path) -> None:
    file = tmp_path / "memory.bak"
    backup.create(file)
    expected = rows(store, "sessions")
    change(store)
    database.close()
    backup.restore(backup.prepare_restore(file, store), store)
    assert rows(store, "sessions") == expected
    assert not list(store.parent.glob("*restoring*"))


def test_a_reader_sees_a_whole_restore_or_none_of_it(
    store: Path, tmp_path: Path
) -> None:
    file = tmp_path / "memory.bak"
    backup.create(file)
    change(store)
    database.close()
    seen = set()
    is_done = threading.Event()

    def look() -> None:
        with closing(sqlite3.connect(store, timeout=30)) as db:
            while not is_done.is_set():
                titles = db.execute(
                    "SELECT count(*) FROM sessions WHERE title = 'Later'"
                )
                seen.add(titles.fetchone()[0])
            titles = db.execute("SELECT count(*) FROM sessions WHERE title = 'Later'")
            seen.add(titles.fetchone()[0])

    reader = threading.Thread(target=look)
    reader.start()
    try:
        for _ in range(3):
            backup.restore(backup.prepare_restore(file, store), store)
    finally:
        is_done.set()
        reader.join()
    assert 0 in seen and seen <= {0, 6}


def test_a_restore_waits_for_a_writer_and_then_reports_it(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "memory.bak"
    backup.create(file)
    change(store)
    before = rows(store, "sessions")
    database.close()
    draft = backup.prepare_restore(file, store)
    monkeypatch.setattr(database, "BUSY_TIMEOUT_S", 0.2)
    with closing(sqlite3.connect(store, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusyError, match="in use by another process"):
            backup.restore(draft, store)
    assert rows(store, "sessions") == before


@pytest.mark.parametrize("how", ("nonsense", "pages", "empty", "missing"))
def test_a_damaged_store_can_be_restored(store: Path, tmp_path: Path, how: str) -> None:
    file = tmp_path / "memory.bak"
    backup.create(file)
    expected = rows(store)
    change(store)
    database.close()
    if how == "pages":
        damage(store)
    elif how == "missing":
        for path in store.parent.glob(f"{store.name}*"):
            path.unlink()
    else:
        store.write_bytes(b"" if how == "empty" else b"not a database " * 999)
    backup.restore(backup.prepare_restore(file, store), store)
    assert rows(store) == expected
    assert stat.S_IMODE(store.stat().st_mode) == 0o600
    with closing(sqlite3.connect(store)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_only_an_undamaged_store_of_this_version_is_restored(
    store: Path, tmp_path: Path
) -> None:
    text, other = tmp_path / "notes.txt", tmp_path / "other.db"
    text.write_text("no database at all, but long enough to look like something")
    with closing(sqlite3.connect(other)) as db, db:
        db.execute("CREATE TABLE meta (name, value)")
    for file in (text, other, tmp_path / "missing"):
        with pytest.raises(StoreError, match=r"not a backup of memtui|no file"):
            backup.read_info(file)
    damaged = tmp_path / "damaged.bak"
    backup.create(damaged)
    damage(damaged)
    with pytest.raises(StoreError, match=r"damaged\.bak is damaged"):
        backup.prepare_restore(damaged, store)
    newer = tmp_path / "newer.bak"
    with database.transaction():
        MetaRow.update(value="99").where(MetaRow.name == "schema_version").execute()
    copies_of = sqlite3.connect(store)
    copies_of.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    copies_of.close()
    shutil.copy(store, newer)
    with pytest.raises(
        StoreVersionError, match=r"newer\.bak was made by another version of memtui"
    ):
        backup.read_info(newer)
