"""Settings that cannot be read, or name something that does not exist."""

from pathlib import Path

from tests.cli_runner import run_memtui
from tests.doctor.findings import Ask, failed_findings, get_finding, open_database


def test_settings_that_cannot_be_read_are_found_and_the_rest_still_looked_at(
    home: Path, ask: Ask
) -> None:
    (home / "config.toml").write_text("[store]\ncolour = 1\n")
    shown = ask()
    assert (
        "there is no setting store.colour"
        in failed_findings(shown)["settings"]["message"]
    )
    assert get_finding(shown, "store")["is_ok"]


def test_settings_that_name_what_is_not_there_are_found(ask: Ask) -> None:
    shown = ask("--set", "capture.folders=/no/such/folder")
    assert (
        "/no/such/folder in capture.folders"
        in failed_findings(shown)["settings"]["message"]
    )
    shown = ask("--set", "capture.sources=aider")
    assert (
        "aider in capture.sources has no fixed folder"
        in failed_findings(shown)["settings"]["message"]
    )
    shown = ask("--set", "capture.sources=codex")
    assert (
        "codex in capture.sources has no transcripts"
        in get_finding(shown, "settings")["message"]
    )
    shown = ask("--set", "capture.exclude=/no/such/folder")
    assert (
        "/no/such/folder in capture.exclude"
        in get_finding(shown, "settings")["message"]
    )


def test_a_time_zone_this_machine_does_not_know_is_found(home: Path, ask: Ask) -> None:
    with open_database(home) as connection:
        connection.execute(
            "UPDATE meta SET value = 'Mars/Base' WHERE name = 'time_zone'"
        )
    assert (
        "does not know the store's time zone, Mars/Base"
        in failed_findings(ask())["zone"]["message"]
    )


def test_a_watch_that_is_blind_says_why_and_is_no_fault(home: Path, ask: Ask) -> None:
    run_memtui(home, "sources", "watch", "claude-code")
    with open_database(home) as connection:
        connection.execute("INSERT INTO meta VALUES ('polling_reason', '/x is on nfs')")
    shown = ask()
    assert shown["is_ok"]
    assert (
        "polled every 2 s, because /x is on nfs"
        in get_finding(shown, "watching")["message"]
    )
