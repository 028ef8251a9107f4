"""A store of an earlier memtui is brought up to date; one of a later one is left."""

import sqlite3
from pathlib import Path

import peewee
import pytest

from memtui import store
from memtui.errors import StoreTooNew
from memtui.model.summaries import Origin
from memtui.store import database, meta, migrations, nodes, outbox, problems, sessions
from memtui.store.problems import Kind

OLD = Path(__file__).parent.parent / "data" / "schema_1.sql"
"""A store as the first memtui made it, with nothing in it."""


def schema(file: Path) -> dict[str, object]:
    """Every table's columns, every index and every trigger."""
    connection = sqlite3.connect(file)
    rows = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master")
    found: dict[str, object] = {}
    for kind, name, table, sql in rows.fetchall():
        if kind == "table":
            columns = connection.execute(f"PRAGMA table_info({name})").fetchall()
            found[name] = {(c[1], c[2], c[3], bool(c[5])) for c in columns}
        elif sql:
            found[name] = (kind, table, " ".join(sql.replace('"', "").split()))
    connection.close()
    return found


@pytest.fixture
def old(tmp_path: Path) -> Path:
    file = tmp_path / "old.db"
    connection = sqlite3.connect(file)
    connection.executescript(OLD.read_text())
    connection.executescript(
        "INSERT INTO sessions (id, agent, name, project, cwd, branch, model, title,"
        " prompt, created_ms, updated_ms, message_count, event_count, routes)"
        " VALUES (1, 'claude-code', 's1', 'shop', '/shop', '', '', '', 'Hello', 1, 1,"
        " 1, 1, 'hook');"
        "INSERT INTO events VALUES ('01HQ0000000000000000000000', 1, 1, 1,"
        " 'user_message', 'user', '', 'Hello', '', 1, 'estimate-1', 'hook', x'00');"
        "INSERT INTO toc_versions (node_id, version, level, title, headline, start_ms,"
        " end_ms, keywords, children, status, summarizer, input_hash, created_ms,"
        " segments, events, messages, subagent_events, bullets, supported, agents,"
        " projects) VALUES ('toc:day:2024-01-15', 1, 'day', '', '', 1, 2,"
        """ '["session.py", "cache", "KeyError"]', '[]', 'current', '', '', 1, 0, 0,"""
        " 0, 0, 0, 0, '[]', '[]');"
        "INSERT INTO toc_latest VALUES ('toc:day:2024-01-15', 'day', NULL, 1, 1, 0, 0,"
        " 0, 0);"
        "INSERT INTO problems VALUES ('a', 'damaged', 1, 3, 2, 5);"
        "INSERT INTO problems VALUES ('a', 'system', 0, 4, 7, 5);"
    )
    connection.commit()
    connection.close()
    return file


def test_an_old_store_becomes_what_a_new_one_is(old: Path, tmp_path: Path) -> None:
    store.open_at(tmp_path / "new.db", time_zone="Europe/Berlin")
    store.open_at(old)
    database.close()
    wanted, found = schema(tmp_path / "new.db"), schema(old)
    assert found.keys() == wanted.keys()
    for name, sort in wanted.items():
        assert found[name] == sort, name


def test_what_an_old_store_holds_stays(old: Path) -> None:
    store.open_at(old, time_zone="Europe/Berlin")
    with database.connected():
        assert meta.time_zone() == "UTC"
        told = {(r, kind, count) for r, kind, count in problems.by_reason()}
        rows = database.db.execute_sql("SELECT text, origin FROM events").fetchall()
    assert told == {("damaged", Kind.FAULT, 2), ("system", Kind.LEFT, 7)}
    assert rows == [("Hello", None)]
    with pytest.raises(peewee.IntegrityError), database.writing():
        database.db.execute_sql("UPDATE events SET text = 'changed'")


def test_sessions_of_an_old_store_are_called_by_what_was_asked(old: Path) -> None:
    said = "Implement the following plan:\n\n# Plan: Mend the mill wheel\n\n## Why"
    told = sqlite3.connect(old)
    told.execute(
        "INSERT INTO events VALUES ('01HQ0000000000000000000001', 1, 2, 1,"
        " 'user_message', 'user', '', ?, '', 1, 'estimate-1', 'hook', x'01')",
        (said,),
    )
    told.commit()
    told.close()
    store.open_at(old)
    with database.connected():
        found = sessions.get("claude-code", "s1")
        assert found is not None and found.title == "Mend the mill wheel"
        assert [number for _, number in outbox.renamed(9)] == [1]


def test_the_keywords_of_an_old_store_get_the_origins_that_they_show(
    old: Path,
) -> None:
    store.open_at(old)
    with database.connected():
        node = nodes.node("toc:day:2024-01-15")
    assert node is not None
    assert [(one.word, one.origin) for one in node.keywords] == [
        ("session.py", Origin.FILE),
        ("cache", Origin.FREQUENCY),
        ("KeyError", Origin.ERROR),
    ]
    assert sorted(one.weight for one in node.keywords)[::-1] == [
        one.weight for one in node.keywords
    ]
    with pytest.raises(peewee.IntegrityError), database.writing():
        database.db.execute_sql("UPDATE toc_versions SET title = 'changed'")


def test_the_store_of_a_later_memtui_is_not_touched(tmp_path: Path) -> None:
    file = tmp_path / "later.db"
    store.open_at(file)
    with database.writing():
        later = migrations.LATEST + 1
        database.db.execute_sql(
            "UPDATE meta SET value = ? WHERE name = ?", (str(later), migrations.SCHEMA)
        )
    before = file.read_bytes()
    with pytest.raises(StoreTooNew, match=f"schema {later}"):
        store.open_at(file)
    database.close()
    assert file.read_bytes() == before
