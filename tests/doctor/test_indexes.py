"""Indexes that are missing, broken, incomplete, or of another store."""

import shutil
import sqlite3
from pathlib import Path

import pytest

from tests.cli_runner import run_memtui
from tests.conftest import HISTORY
from tests.doctor.findings import Ask, failed_findings, get_finding, open_database


# Whoosh leaves open what it cannot read.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("toc", ["_MAIN_1.toc", "_MAIN_99.toc"])
def test_an_index_whose_contents_are_no_more_is_found_and_made_anew(
    home: Path, ask: Ask, toc: str
) -> None:
    (home / "index" / toc).write_text("junk\n")
    found = failed_findings(ask())["index"]
    assert "it is damaged" in found["message"] and found["remedy"] == "memtui reindex"
    run_memtui(home, "import", str(HISTORY))
    assert "index" not in failed_findings(ask())


def test_a_missing_index_is_found_and_made_again(home: Path, ask: Ask) -> None:
    shutil.rmtree(home / "index")
    found = failed_findings(ask())["index"]
    assert (found["message"], found["remedy"]) == (
        "there is no index",
        "memtui reindex",
    )
    run_memtui(home, "reindex")
    assert ask()["is_ok"]


def test_a_broken_index_is_found(home: Path, ask: Ask) -> None:
    for file in (home / "index").glob("*.seg"):
        file.unlink()
    assert failed_findings(ask())["index"]["message"] == "it is damaged"


def test_an_index_of_another_store_is_found(home: Path, ask: Ask) -> None:
    mark = home / "index" / "memtui-index"
    mark.write_text(mark.read_text()[:-3] + "xy\n")
    assert "of another store" in failed_findings(ask())["index"]["message"]


def test_an_index_that_lacks_something_is_found(home: Path, ask: Ask) -> None:
    with open_database(home) as connection:
        connection.execute(
            "CREATE TEMP TABLE one AS SELECT * FROM nodes WHERE NOT is_dirty LIMIT 1"
        )
        connection.execute("UPDATE one SET node_id = 'toc:day:2024-02-28'")
        connection.execute("INSERT INTO nodes SELECT * FROM one")
    assert "it contains" in failed_findings(ask())["index"]["message"]


def test_an_index_of_messages_that_is_missing_broken_or_short_is_found(
    home: Path, ask: Ask
) -> None:
    file = home / "index-messages.db"
    assert "up to date" in get_finding(ask(), "messages")["message"]
    with sqlite3.connect(file) as index:
        index.execute("UPDATE meta SET value = value - 1 WHERE name = 'messages'")
    index.close()
    assert "it contains" in failed_findings(ask())["messages"]["message"]
    file.write_bytes(b"junk" * 5000)
    assert "it is damaged" in failed_findings(ask())["messages"]["message"]
    file.unlink()
    found = failed_findings(ask())["messages"]
    assert (found["message"], found["remedy"]) == (
        "there is no index",
        "memtui reindex",
    )
    run_memtui(home, "reindex")
    assert ask()["is_ok"]
