"""Rows with values that memtui never writes: doctor reports them, commands say so."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli_runner import run_memtui
from tests.doctor.findings import Ask, failed_findings, open_database

NOT_UTF8 = "CAST(x'6166ff7265' AS TEXT)"

DAMAGES = {
    "sessions": (
        *("updated_ms = 'x'", "created_ms = 1 << 60"),
        *("agent = x'ff00'", f"title = {NOT_UTF8}"),
    ),
    "events": ("at_ms = 'x'", "role = 'nobody'", f"text = {NOT_UTF8}"),
    "node_versions": ("status = 'bogus'", "keywords = '{'", "agents = '{}'"),
    "nodes": ("level = 'decade'", "start_ms = 'x'"),
    "bullets": ("verdict = '{'", "verdict = ''", "verdict = '[]'", "kind = 'x'"),
    "grips": ("at_ms = 'x'",),
    "cursors": ("state = '{'",),
}


@pytest.mark.parametrize(
    ("table", "damage"),
    [(table, damage) for table, damages in DAMAGES.items() for damage in damages],
)
def test_a_damaged_row_is_reported(
    home: Path, ask: Ask, table: str, damage: str
) -> None:
    damage_rows(home, table, damage)
    rows = "1 event" if table == "events" else f"1 row of {table}"
    finding = failed_findings(ask())["store"]
    assert finding["message"] == f"{rows} cannot be read"
    assert "memtui restore" in finding["remedy"]


@pytest.mark.parametrize(
    ("table", "damage", "words"),
    [
        ("node_versions", "end_ms = 'x'", ("toc",)),
        ("node_versions", "status = 'bogus'", ("show", "toc:year:2024")),
        ("grips", "at_ms = 'x'", ("expand", "GRIP")),
    ],
)
def test_a_command_that_reads_a_damaged_row_suggests_doctor(
    home: Path, table: str, damage: str, words: tuple[str, ...]
) -> None:
    damage_rows(home, table, damage, limit=-1)
    with open_database(home) as connection:
        (grip,) = connection.execute("SELECT id FROM grips LIMIT 1").fetchone()
    words = tuple(grip if word == "GRIP" else word for word in words)
    error = run_memtui(home, *words, code=1).stderr
    assert error == "memtui: the store is damaged: memtui doctor says where\n"


def test_text_that_is_not_utf8_does_not_stop_commands(home: Path) -> None:
    damage_rows(home, "events", f"text = {NOT_UTF8}")
    damage_rows(home, "sessions", f"title = {NOT_UTF8}")
    for words in (("sessions",), ("search", "parser"), ("stats",)):
        run_memtui(home, *words)
    run_memtui(home, "export", "--events", str(home / "all.jsonl"))
    assert "af\ufffdre" in (home / "all.jsonl").read_text("utf-8")


def test_an_agent_name_that_is_not_text_does_not_stop_the_list(home: Path) -> None:
    damage_rows(home, "sessions", "agent = x'ff00'")
    listed = run_memtui(home, "sessions").stdout.splitlines()
    assert len(listed) > 1
    assert sum(line.startswith(":") for line in listed) == 1


def test_a_subagent_that_is_not_text_does_not_stop_the_index(home: Path) -> None:
    damage = "subagent = CASE rowid % 3 WHEN 0 THEN x'ff00' ELSE subagent END"
    damage_rows(home, "events", damage, limit=-1)
    run_memtui(home, "reindex")
    with closing(sqlite3.connect(home / "index-messages.db")) as index:
        assert index.execute("SELECT count(*) FROM messages").fetchone() > (9,)


def test_damaged_sessions_and_bullets_do_not_stop_commands(home: Path) -> None:
    damage_rows(home, "sessions", "updated_ms = 'x'", limit=-1)
    damage_rows(home, "bullets", "verdict = '{'", limit=-1)
    for words in (("sessions",), ("show", "toc:year:2024"), ("stats",)):
        assert run_memtui(home, *words).stdout


def damage_rows(home: Path, table: str, damage: str, limit: int = 1) -> None:
    with open_database(home) as connection:
        triggers = connection.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
        ).fetchall()
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute(
            f"UPDATE {table} SET {damage} WHERE rowid IN"
            f" (SELECT rowid FROM {table} LIMIT {limit})"
        )
        for _, sql in triggers:
            connection.execute(sql)


def test_an_error_of_a_command_is_not_reported_as_damage(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> int:
        raise ZeroDivisionError

    monkeypatch.setattr("memtui.cli.read.run", fail)
    with pytest.raises(ZeroDivisionError):
        run_memtui(home, "sessions")
