"""Indexes that are missing, broken, incomplete, or of another store."""

import os
import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from memtui.search.nodes import NO_INDEX
from tests.cli_runner import json_data, run_memtui
from tests.conftest import HISTORY
from tests.doctor.findings import (
    NOBODY,
    Ask,
    failed_findings,
    get_finding,
    open_database,
)


def test_an_index_whose_contents_are_no_more_is_found_and_made_anew(
    home: Path, ask: Ask
) -> None:
    (home / "index" / "memtui-index").write_text("junk\n")
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
        file.write_bytes(b"junk")
    assert failed_findings(ask())["index"]["message"] == "it is damaged"


def test_an_index_of_another_store_is_found(home: Path, ask: Ask) -> None:
    mark = home / "index" / "memtui-index"
    mark.write_text(mark.read_text().replace(" ", " xy", 1))
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
    with closing(sqlite3.connect(file)) as index, index:
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


def test_without_permissions_for_an_index_the_store_is_searched_and_the_cure_helps(
    home: Path,
) -> None:
    with tempfile.TemporaryDirectory() as place:
        # The folder of the test is closed to others.
        mine = Path(shutil.move(home, place)).resolve()
        user = NOBODY if os.geteuid() == 0 else os.geteuid()
        for path in (Path(place), mine, *mine.rglob("*")):
            os.chown(path, user, -1)
        (mine / "index").chmod(0)
        os.seteuid(user)
        try:
            searched = json_data(run_memtui(mine, "search", "mutex", "--json").stdout)
            shown = json_data(run_memtui(mine, "doctor", "--json", code=1).stdout)
        finally:
            os.seteuid(os.getuid())
        for path in (Path(place), mine, *mine.rglob("*")):
            os.chown(path, os.getuid(), -1)
        (mine / "index").chmod(0o700)
        cured = json_data(run_memtui(mine, "doctor", "--json").stdout)
    assert searched["hits"] and NO_INDEX in str(searched)
    finding = failed_findings(shown)["index"]
    assert finding["remedy"].endswith(f"chmod -R u+rwX {mine / 'index'}")
    assert "index" not in failed_findings(cured)


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
            shown = json_data(run_memtui(mine, "doctor", "--json", code=1).stdout)
            run_memtui(mine, "reindex")
        finally:
            os.seteuid(os.getuid())
        for path in (Path(place), mine, *mine.rglob("*")):
            os.chown(path, os.getuid(), -1)
        cured = json_data(run_memtui(mine, "doctor", "--json").stdout)
    for name in ("index", "messages"):
        assert failed_findings(shown)[name]["remedy"] == "memtui reindex"
        assert name not in failed_findings(cured)
