"""Indexes that are missing, broken, incomplete, or of another store."""

import os
import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

import pytest

from memtui.search.teleport import NO_INDEX
from tests.cli_runner import json_data, run_memtui
from tests.conftest import HISTORY
from tests.doctor.findings import (
    NOBODY,
    Ask,
    failed_findings,
    get_finding,
    open_database,
)


def test_an_index_without_contents_is_found_and_recreated(home: Path, ask: Ask) -> None:
    (home / "index" / "memtui-index").write_text("junk\n")
    finding = failed_findings(ask())["index"]
    assert (
        "it is damaged" in finding["message"] and finding["remedy"] == "memtui reindex"
    )
    run_memtui(home, "import", str(HISTORY))
    assert "index" not in failed_findings(ask())


def test_a_missing_index_is_found_and_recreated(home: Path, ask: Ask) -> None:
    shutil.rmtree(home / "index")
    finding = failed_findings(ask())["index"]
    assert (finding["message"], finding["remedy"]) == (
        "there is no index",
        "memtui reindex",
    )
    run_memtui(home, "reindex")
    assert ask()["is_ok"]


def test_a_broken_index_is_found(home: Path, ask: Ask) -> None:
    for file in (home / "index").glob("*.seg"):
        file.write_bytes(b"junk")
    assert "it is damaged" in failed_findings(ask())["index"]["message"]


def test_an_index_of_another_store_is_found(home: Path, ask: Ask) -> None:
    mark = home / "index" / "memtui-index"
    mark.write_text(mark.read_text().replace(" ", " xy", 1))
    assert "of another store" in failed_findings(ask())["index"]["message"]


def test_an_incomplete_index_is_found(home: Path, ask: Ask) -> None:
    with open_database(home) as connection:
        connection.execute(
            "CREATE TEMP TABLE copy AS SELECT * FROM nodes WHERE NOT is_dirty LIMIT 1"
        )
        connection.execute("UPDATE copy SET node_id = 'toc:day:2024-02-28'")
        connection.execute("INSERT INTO nodes SELECT * FROM copy")
    assert "it contains" in failed_findings(ask())["index"]["message"]


def test_a_missing_damaged_or_incomplete_message_index_is_found(
    home: Path, ask: Ask
) -> None:
    file = home / "index-messages.db"
    assert "up to date" in get_finding(ask(), "messages")["message"]
    with closing(sqlite3.connect(file)) as index, index:
        index.execute("UPDATE meta SET value = value - 1 WHERE name = 'messages'")
    index.close()
    assert "it contains" in failed_findings(ask())["messages"]["message"]
    file.write_bytes(b"junk" * 5000)
    assert "it is damaged" in failed_findings(ask())["messages"]["message"]
    file.unlink()
    finding = failed_findings(ask())["messages"]
    assert (finding["message"], finding["remedy"]) == (
        "there is no index",
        "memtui reindex",
    )
    run_memtui(home, "reindex")
    assert ask()["is_ok"]


@pytest.mark.parametrize("name", ["index", "spool"])
def test_folder_without_permissions_is_found_and_the_remedy_helps(
    home: Path, name: str
) -> None:
    with tempfile.TemporaryDirectory() as place:
        # The folder of the test is closed to others.
        mine = Path(shutil.move(home, place)).resolve()
        user = NOBODY if os.geteuid() == 0 else os.geteuid()
        (mine / name / "new").mkdir(parents=True, exist_ok=True)
        for path in (Path(place), mine, *mine.rglob("*")):
            os.chown(path, user, -1)
        (mine / name).chmod(0)
        os.seteuid(user)
        try:
            call = ("call", "teleport", "query=mutex", "--json")
            searched = json_data(run_memtui(mine, *call).stdout)
            report = json_data(run_memtui(mine, "doctor", "--json", code=1).stdout)
        finally:
            os.seteuid(os.getuid())
        for path in (Path(place), mine, *mine.rglob("*")):
            os.chown(path, os.getuid(), -1)
        (mine / name).chmod(0o700)
        repaired = json_data(run_memtui(mine, "doctor", "--json").stdout)
    assert searched["hits"] and (NO_INDEX in str(searched)) is (name == "index")
    finding = failed_findings(report)[name]
    assert finding["remedy"].endswith(f"chmod -R u+rwX {mine / name}")
    assert name not in failed_findings(repaired)


def test_reindex_replaces_index_files_that_may_not_be_read(home: Path) -> None:
    with tempfile.TemporaryDirectory() as place:
        mine = Path(shutil.move(home, place)).resolve()
        user = NOBODY if os.geteuid() == 0 else os.geteuid()
        for path in (Path(place), mine, *mine.rglob("*")):
            os.chown(path, user, -1)
        for path in (*(mine / "index").iterdir(), mine / "index-messages.db"):
            path.chmod(0)
        os.seteuid(user)
        try:
            report = json_data(run_memtui(mine, "doctor", "--json", code=1).stdout)
            run_memtui(mine, "reindex")
        finally:
            os.seteuid(os.getuid())
        for path in (Path(place), mine, *mine.rglob("*")):
            os.chown(path, os.getuid(), -1)
        repaired = json_data(run_memtui(mine, "doctor", "--json").stdout)
    for name in ("index", "messages"):
        assert failed_findings(report)[name]["remedy"] == "memtui reindex"
        assert name not in failed_findings(repaired)
