import os
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import peewee
import pytest

from memtui import store
from memtui.errors import StoreError, StoreVersionError
from memtui.store import conversations, database, meta, queues, schema
from memtui.tools import envelope
from memtui.workspace import Workspace
from tests.tables import EventRow, MetaRow, OutboxRow

NOBODY = 65_534


def test_only_its_owner_can_read_a_store(workspace: Workspace) -> None:
    file = workspace.paths.store
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_the_database_is_set_for_many_readers(workspace: Workspace) -> None:
    with database.connection():
        asked = {
            name: database.db.execute_sql(f"PRAGMA {name}").fetchone()[0]
            for name in ("journal_mode", "foreign_keys", "synchronous", "busy_timeout")
        }
    assert asked == {
        "journal_mode": "wal",
        "foreign_keys": 1,
        "synchronous": 1,
        "busy_timeout": 5000,
    }


def test_a_file_without_read_permission_is_reported(workspace: Workspace) -> None:
    file = workspace.paths.store
    refused = pytest.raises(StoreError, match="may not be read: memtui doctor")
    file.chmod(0)
    os.seteuid(NOBODY if os.geteuid() == 0 else os.geteuid())
    try:
        with refused, database.translate_errors(file):
            sqlite3.connect(f"{file.as_uri()}?mode=rw", uri=True).execute("PRAGMA x")
    finally:
        os.seteuid(os.getuid())


@pytest.mark.parametrize(
    "table", ["events", "grips", "node_versions", "bullets", "bullet_grips"]
)
def test_events_versions_and_grips_cannot_be_changed(
    full_workspace: Workspace, table: str
) -> None:
    del full_workspace
    with database.connection():
        (row,) = database.fetch_dicts(f"SELECT * FROM {table} LIMIT 1")
        columns = database.db.get_columns(table)
        key, value = columns[-1].name, [*row.values()][-1]
        for statement, message in (
            (f"UPDATE {table} SET {key} = {key}", "never changed"),
            (f"UPDATE OR REPLACE {table} SET {key} = {key}", "never changed"),
            (f"DELETE FROM {table}", "only deleted by forgetting"),
        ):
            with pytest.raises(peewee.IntegrityError, match=message):
                database.execute(statement)
        places = ", ".join("?" * len(row))
        sql = f"INSERT OR REPLACE INTO {table} VALUES ({places})"
        with pytest.raises(peewee.IntegrityError, match="never replaced"):
            database.execute(sql, *row.values())
        with pytest.raises(peewee.IntegrityError, match="never replaced"):
            database.execute(sql.replace("INSERT OR ", ""), *row.values())
        assert database.fetch_value(f"SELECT {key} FROM {table} LIMIT 1") == value


@pytest.mark.parametrize(
    ("table", "changed"),
    [
        ("events", "rowid, id || 'x'"),
        ("grips", "rowid, id || 'x'"),
        ("node_versions", "id + 1000, node_id"),
        ("bullets", "id + 1000, version_id"),
    ],
)
def test_rows_cannot_be_replaced_by_another_of_their_keys(
    full_workspace: Workspace, table: str, changed: str
) -> None:
    """A row is deleted, too, if one with its rowid or its other unique key comes."""
    del full_workspace
    with database.connection():
        names = [column.name for column in database.db.get_columns(table)]
        has_rowid_apart = "rowid" in changed
        into = ["rowid", *names] if has_rowid_apart else names
        others = ", ".join(names[1 if has_rowid_apart else 2 :])
        with pytest.raises(peewee.IntegrityError, match="never replaced"):
            database.execute(
                f"REPLACE INTO {table} ({', '.join(into)})"
                f" SELECT {changed}, {others} FROM {table} LIMIT 1"
            )


def test_events_can_be_deleted_while_they_are_unlocked(workspace: Workspace) -> None:
    with database.connection():
        before = EventRow.select().count()
        with schema.unlocked():
            EventRow.delete().execute()
    assert before == 0
    with pytest.raises(peewee.IntegrityError), schema.unlocked():
        MetaRow.create(name="schema_version", value="twice")
    with database.connection():
        assert not database.db.execute_sql("SELECT 1 FROM events_unlocked").fetchall()


def test_a_store_keeps_the_time_zone_it_was_made_with(tmp_path: Path) -> None:
    file = tmp_path / "made" / "memory.db"
    store.open_at(file, time_zone="Asia/Tokyo")
    store.open_at(file, time_zone="Europe/Berlin")
    with database.connection():
        assert meta.time_zone() == "Asia/Tokyo"


def test_a_store_of_a_newer_version_is_not_changed(tmp_path: Path) -> None:
    file = tmp_path / "made" / "memory.db"
    store.open_at(file)
    with database.transaction():
        MetaRow.update(value="99").where(MetaRow.name == "schema_version").execute()
    before = file.read_bytes()
    with pytest.raises(StoreVersionError) as refused:
        store.open_at(file)
    assert file.read_bytes() == before
    info = envelope.error_info(refused.value)
    assert info.code == "store_version"
    assert info.message.endswith(f"(schema 99, this one reads schema {schema.VERSION})")
    assert info.hint == "use the memtui that made it"


def test_a_file_that_is_no_database_is_reported_as_damaged(tmp_path: Path) -> None:
    file = tmp_path / "made" / "memory.db"
    file.parent.mkdir()
    file.write_bytes(b"this is no database " * 100)
    with pytest.raises(StoreError, match="damaged"):
        store.open_at(file)


def test_a_file_in_place_of_a_folder_is_reported(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(StoreError, match="taken"):
        store.open_at(tmp_path / "taken" / "memory.db")


def test_a_full_disk_is_reported_and_nothing_is_half_written(
    workspace: Workspace,
) -> None:
    with database.connection():
        pages = database.db.execute_sql("PRAGMA page_count").fetchone()[0]
        database.db.execute_sql(f"PRAGMA max_page_count = {pages + 1}")
        with (
            pytest.raises(StoreError, match="the disk is full: free some room"),
            database.transaction(),
        ):
            queues.add_nodes(["toc:day:2024-01-15"] * 5000, 0)
        assert OutboxRow.select().count() == 0


def test_outbox_ids_are_never_reused(workspace: Workspace) -> None:
    with database.transaction():
        queues.add_nodes(["toc:day:2024-01-15"], 0)
        ((first, _),) = queues.list_unindexed_nodes(10)
        queues.delete_rows([first])
        queues.add_nodes(["toc:day:2024-01-16"], 0)
        ((second, _),) = queues.list_unindexed_nodes(10)
    assert second > first


def test_the_command_reports_a_read_only_folder(tmp_path: Path) -> None:
    home = tmp_path / "locked"
    home.mkdir()
    (home / "memory.db").mkdir()
    process = subprocess.run(
        [sys.executable, "-m", "memtui", "--home", str(home), "stats"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 1
    assert "memory.db" in process.stderr
    assert "Traceback" not in process.stderr


def test_tool_calls_are_found_without_reading_messages(workspace: Workspace) -> None:
    del workspace
    asked: list[str] = []
    with database.connection():
        connection = database.db.connection()
        connection.set_trace_callback(asked.append)
        conversations.find_by_tool_input("pool.py", 10)
        connection.set_trace_callback(None)
        search = next(sql for sql in asked if "metadata LIKE" in sql)
        plan = database.fetch(f"EXPLAIN QUERY PLAN {search}")
    assert [detail for *_, detail in plan] == [
        "SCAN events USING INDEX events_tool_results"
    ]
