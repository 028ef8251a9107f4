"""Stores that are damaged, locked, emptied, foreign or unreadable."""

import os
import shutil
from pathlib import Path

import pytest

from tests.doctor.findings import (
    NOBODY,
    Ask,
    failed_findings,
    get_finding,
    open_database,
    store_file,
)


@pytest.mark.parametrize("share", [0.3, 0.7])
def test_a_store_cut_short_is_damaged(home: Path, ask: Ask, share: float) -> None:
    os.truncate(store_file(home), int(store_file(home).stat().st_size * share))
    assert "memtui restore" in failed_findings(ask())["store"]["remedy"]


def test_a_store_with_an_overwritten_page_is_damaged(home: Path, ask: Ask) -> None:
    with store_file(home).open("r+b") as file:
        file.seek(4096 * 3)
        file.write(os.urandom(4096 * 20))
    assert failed_findings(ask())["store"]


def test_a_file_that_is_not_a_database_is_found(home: Path, ask: Ask) -> None:
    store_file(home).write_bytes(b"a shopping list\n" * 1000)
    assert "is damaged" in failed_findings(ask())["store"]["message"]


def test_a_reference_to_a_missing_row_is_damage(home: Path, ask: Ask) -> None:
    with open_database(home) as connection:
        connection.execute("PRAGMA foreign_keys = off")
        connection.execute("DELETE FROM sessions WHERE id = 1")
    assert "sessions that are not there" in failed_findings(ask())["store"]["message"]


def test_a_store_of_a_newer_memtui_is_found(home: Path, ask: Ask) -> None:
    with open_database(home) as connection:
        connection.execute("UPDATE meta SET value = 99 WHERE name = 'schema_version'")
    finding = failed_findings(ask())["store"]
    assert "another version of memtui (schema 99" in finding["message"]
    assert finding["remedy"] == "use that version of memtui"


def test_a_locked_store_is_found(home: Path, ask: Ask) -> None:
    with open_database(home) as connection:
        connection.execute("PRAGMA locking_mode = exclusive")
        connection.execute("UPDATE meta SET value = 'x' WHERE name = 'nobody'")
        connection.commit()
        assert "in use by another process" in failed_findings(ask())["store"]["message"]


def test_an_emptied_store_differs_from_a_new_one(home: Path, ask: Ask) -> None:
    store_file(home).write_bytes(b"")
    assert "but it had content before" in failed_findings(ask())["store"]["message"]
    shutil.rmtree(home / "index")
    assert get_finding(ask(), "store")["message"] == "nothing is stored yet"


def test_a_database_of_another_program_is_found(home: Path, ask: Ask) -> None:
    store_file(home).unlink()
    with open_database(home) as connection:
        connection.execute("CREATE TABLE recipes (name TEXT)")
    assert "of another program" in failed_findings(ask())["store"]["message"]


def test_a_store_without_permissions_is_found(home: Path, ask: Ask) -> None:
    ask()
    home.chmod(0)
    os.seteuid(NOBODY if os.geteuid() == 0 else os.geteuid())
    try:
        findings = failed_findings(ask())
    finally:
        os.seteuid(os.getuid())
        home.chmod(0o700)
    assert "permission denied" in findings["store"]["message"]
    assert "chmod" in findings["store"]["remedy"]


def test_a_folder_in_the_store_s_place_is_said_so(home: Path, ask: Ask) -> None:
    for file in home.glob("memory.db*"):
        file.unlink()
    store_file(home).mkdir()
    assert failed_findings(ask())["store"]


def test_a_folder_in_the_place_of_the_store_is_found(home: Path, ask: Ask) -> None:
    for file in home.glob("memory.db*"):
        file.unlink()
    store_file(home).mkdir()
    finding = failed_findings(ask())["store"]
    assert finding["message"] == f"{store_file(home)} is a folder, not a file"
    assert finding["remedy"].startswith("mv ")


def test_a_link_to_the_store_is_shown(home: Path, ask: Ask) -> None:
    elsewhere = home.with_name("elsewhere")
    home.rename(elsewhere)
    home.symlink_to(elsewhere)
    report = ask()
    assert report["is_ok"]
    assert f"{home} is a link to {elsewhere}" == get_finding(report, "owner")["message"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser can give files away")
@pytest.mark.parametrize("name", ["", "memory.db", "spool"])
def test_files_of_other_users_are_found(home: Path, ask: Ask, name: str) -> None:
    os.chown(home / name, NOBODY, NOBODY)
    finding = failed_findings(ask())["owner"]
    assert finding["message"] == f"{home / name} belongs to another user (id {NOBODY})"


def test_transcripts_are_not_checked_without_their_store(home: Path, ask: Ask) -> None:
    folder = Path.home() / ".claude" / "projects" / "shop"
    folder.mkdir(parents=True)
    (folder / "s1.jsonl").write_text('{"type": "user"}\n')
    assert get_finding(ask(), "transcripts")
    store_file(home).write_bytes(b"a shopping list\n" * 1000)
    names = {finding["name"] for finding in ask()["findings"]}
    assert not names & {"transcripts", "watching"}


def test_deletion_beside_a_reader_is_complete_when_the_reader_has_ended(
    home: Path, ask: Ask
) -> None:
    with open_database(home) as connection:
        connection.execute("INSERT INTO meta VALUES ('needs_cleanup', 'log')")
        connection.commit()
        finding = failed_findings(ask())["secrets"]
        assert "until the programs end that read it" in finding["message"]
        assert "memory.db-wal), then: memtui redact" in finding["remedy"]
    # Closing the last connection empties the log.
    assert get_finding(ask(), "secrets")["is_ok"]
    with open_database(home) as connection:
        connection.execute("UPDATE meta SET value = '1' WHERE name = 'needs_cleanup'")
    finding = failed_findings(ask())["secrets"]
    assert "a deletion was interrupted" in finding["message"]
