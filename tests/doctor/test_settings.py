"""Settings that cannot be read, or name something that does not exist."""

from pathlib import Path

from tests.cli_runner import run_memtui
from tests.doctor.findings import Ask, failed_findings, get_finding, open_database


def test_invalid_settings_do_not_stop_other_checks(home: Path, ask: Ask) -> None:
    (home / "config.toml").write_text("[store]\ncolour = 1\n")
    report = ask()
    assert (
        "there is no setting store.colour"
        in failed_findings(report)["settings"]["message"]
    )
    assert get_finding(report, "store")["is_ok"]


def test_settings_with_missing_folders_are_found(ask: Ask) -> None:
    report = ask("--set", "capture.folders=/no/such/folder")
    assert (
        "/no/such/folder in capture.folders"
        in failed_findings(report)["settings"]["message"]
    )
    report = ask("--set", "capture.sources=aider")
    assert (
        "aider in capture.sources has no fixed folder"
        in failed_findings(report)["settings"]["message"]
    )
    report = ask("--set", "capture.sources=codex")
    assert (
        "codex in capture.sources has no transcripts"
        in get_finding(report, "settings")["message"]
    )
    report = ask("--set", "capture.exclude=/no/such/folder")
    assert (
        "/no/such/folder in capture.exclude"
        in get_finding(report, "settings")["message"]
    )


def test_an_unknown_time_zone_is_found(home: Path, ask: Ask) -> None:
    with open_database(home) as connection:
        connection.execute(
            "UPDATE meta SET value = 'Mars/Base' WHERE name = 'time_zone'"
        )
    assert (
        "does not know the store's time zone, Mars/Base"
        in failed_findings(ask())["zone"]["message"]
    )


def test_the_reason_for_polling_is_shown(home: Path, ask: Ask) -> None:
    run_memtui(home, "sources", "watch", "claude-code")
    with open_database(home) as connection:
        connection.execute("INSERT INTO meta VALUES ('polling_reason', '/x is on nfs')")
    report = ask()
    assert report["is_ok"]
    assert (
        "polled every 2 s, because /x is on nfs"
        in get_finding(report, "watching")["message"]
    )
