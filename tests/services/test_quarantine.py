"""Skipped input is listed, content, retried and dropped."""

import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memtui.errors import MemtuiError
from memtui.paths import in_home
from memtui.services import status
from memtui.services.quarantine import QuarantineService, problem_name
from memtui.settings import Settings
from memtui.store import database, sources
from memtui.workspace import Workspace

KEY = "sk-ant-api03-" + "a1B2c3D4e5" * 9 + "AA"


@pytest.fixture
def quarantine(workspace: Workspace) -> Iterator[QuarantineService]:
    yield workspace.quarantine
    database.close()


def write_payload(
    workspace: Workspace, name: str, payload: object, *, at_s: int = 1_700_000_000
) -> Path:
    """Have a hook leave a file."""
    file = workspace.paths.spool / "new" / name
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(
        payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    )
    os.utime(file, (at_s, at_s))
    return file


def prompt(text: str, **fields: Any) -> dict[str, Any]:
    named = {"session_id": "s1", "hook_event_name": "UserPromptSubmit"}
    return {**named, "prompt": text, **fields}


def run_pipeline(workspace: Workspace) -> None:
    assert workspace.pipeline.run_until_idle(lambda _: None) == []


def write_transcript(folder: Path, *others: str) -> Path:
    """A transcript with a good line before and after others."""
    lines = [
        json.dumps(_record("u1", "Hello")),
        *others,
        json.dumps(_record("u9", "Bye")),
    ]
    file = folder / "t.jsonl"
    file.write_text("".join(f"{line}\n" for line in lines))
    return file


def _record(uuid: str, text: str) -> dict[str, Any]:
    at = f"2025-03-14T10:00:0{uuid[1:]}Z"
    message = {"role": "user", "content": text}
    base = {"type": "user", "uuid": uuid, "sessionId": "s7", "timestamp": at}
    return {**base, "cwd": "/home/ada/shop", "message": message}


def import_file(workspace: Workspace, file: Path) -> None:
    for _ in workspace.pipeline.importer().run([file]):
        pass


def list_bad(workspace: Workspace) -> list[str]:
    return sorted(file.name for file in (workspace.paths.spool / "bad").iterdir())


def test_entries_are_listed_latest_first(
    workspace: Workspace, quarantine: QuarantineService, tmp_path: Path
) -> None:
    write_payload(workspace, "1.json", b'{"half', at_s=1_700_000_000)
    unknown = prompt("x", hook_event_name="Novelty")
    write_payload(workspace, "2.json", unknown, at_s=1_700_000_500)
    run_pipeline(workspace)
    import_file(workspace, write_transcript(tmp_path, "{broken"))
    page = quarantine.page()
    assert page.total == 3
    record, novelty, half = page.entries
    assert record.place == f"{tmp_path / 't.jsonl'}:2"
    assert (record.reason, record.count) == ("not valid JSON", 1)
    assert (novelty.line, novelty.reason) == (1, "unknown hook event 'Novelty'")
    bad = workspace.paths.spool / "bad"
    assert (half.name, half.place) == ("1.json", f"{bad / '1.json'}:1")
    assert half.at.timestamp() == 1_700_000_000
    assert [entry.is_hook for entry in page.entries] == [False, True, True]


def test_reasons_of_a_file_are_listed_together(
    workspace: Workspace, quarantine: QuarantineService
) -> None:
    unknown = [prompt("x", hook_event_name=f"Novelty{number}") for number in range(5)]
    write_payload(workspace, "1.json", unknown)
    run_pipeline(workspace)
    (entry,) = quarantine.page().entries
    assert entry.count == 5
    assert entry.reason.startswith("unknown hook event 'Novelty0'; ")
    assert entry.reason.endswith("; and 2 more")


def test_pages_have_all_entries_once(
    workspace: Workspace, quarantine: QuarantineService, tmp_path: Path
) -> None:
    for number in range(7):
        write_payload(workspace, f"{number}.json", b"{", at_s=1_700_000_000 + number)
    run_pipeline(workspace)
    import_file(workspace, write_transcript(tmp_path, "{broken", '"stray"'))
    whole = quarantine.page(0, 100).entries
    paged = [e for at in range(0, 12, 2) for e in quarantine.page(at, 2).entries]
    assert len(whole) == 9
    assert paged == list(whole)
    assert quarantine.page(50, 2).entries == ()


def test_quarantined_files_have_no_secrets(workspace: Workspace) -> None:
    write_payload(workspace, "1.json", prompt(f"Use {KEY}", hook_event_name="Novelty"))
    write_payload(
        workspace, "2.json", b"\xff\xfe" + KEY.encode() + b" <private>the fern"
    )
    run_pipeline(workspace)
    for file in workspace.paths.spool.rglob("*"):
        if file.is_file():
            assert KEY.encode() not in file.read_bytes()
            assert b"the fern" not in file.read_bytes()
            assert file.stat().st_mode & 0o077 == 0


def test_nothing_of_an_excluded_project_is_quarantined(tmp_path: Path) -> None:
    settings = Settings(capture_exclude=("diary",))
    workspace = Workspace(in_home(tmp_path / "other"), settings)
    novel = {"hook_event_name": "Novelty"}
    write_payload(workspace, "1.json", prompt("mine", cwd="/home/ada/diary", **novel))
    write_payload(workspace, "2.json", prompt("ours", cwd="/home/ada/shop", **novel))
    run_pipeline(workspace)
    assert list_bad(workspace) == ["2.json", "2.json.reason"]
    with database.connection():
        skipped = sources.count_problems_by_reason()
    assert ("excluded by diary", sources.ProblemKind.SKIPPED, 1) in skipped
    assert status.read_stats().skipped == 1
    workspace.stop()


def test_shown_text_has_no_secrets_and_no_control_characters(
    workspace: Workspace, quarantine: QuarantineService
) -> None:
    bad = workspace.paths.spool / "bad"
    bad.mkdir(parents=True)
    (bad / "old.json").write_bytes(f"\x1b[31m{KEY}\x07 [b]x[/b]".encode())
    (bad / "old.json.reason").write_text(f"line 1: \x1b]0;me\x07bad {KEY}\n")
    content = quarantine.show("old.json")
    assert content.text == "[redacted: anthropic key] [b]x[/b]"
    assert content.entry.reason == "bad [redacted: anthropic key]"


def test_a_long_file_is_cut(
    workspace: Workspace, quarantine: QuarantineService
) -> None:
    words = "word " * 100_000
    write_payload(workspace, "1.json", f'{{"prompt": "{words}'.encode())
    run_pipeline(workspace)
    content = quarantine.show("1.json", limit=1000)
    assert content.is_cut and len(content.text) == 1000
    whole = quarantine.show("1.json")
    assert not whole.is_cut and whole.text.endswith("word ")


def test_the_line_of_a_transcript_is_shown_while_it_exists(
    workspace: Workspace, quarantine: QuarantineService, tmp_path: Path
) -> None:
    file = write_transcript(tmp_path, f'{{"broken": {KEY}')
    import_file(workspace, file)
    (entry,) = quarantine.page().entries
    assert quarantine.show(entry.name).text == '{"broken": [redacted: anthropic key]'
    file.write_text("{}\n")
    content = quarantine.show(entry.name)
    assert (content.text, content.note) == (
        "",
        "The file has nothing on this line any more.",
    )
    file.unlink()
    assert "no longer exists" in quarantine.show(entry.name).note


@pytest.mark.parametrize(
    "name",
    [
        "../new/1.json",
        "/etc/passwd",
        "..",
        "",
        "x/../1.json",
        ".hidden",
        "\0",
        "1.json/",
    ],
)
def test_a_name_is_never_a_path(
    workspace: Workspace, quarantine: QuarantineService, name: str
) -> None:
    write_payload(workspace, "1.json", b"{")
    run_pipeline(workspace)
    (workspace.paths.spool / "bad" / ".hidden").write_text("x")
    for method in (quarantine.show, lambda n: quarantine.retry([n])):
        with pytest.raises(MemtuiError, match="nothing in the quarantine is called"):
            method(name)
    with pytest.raises(MemtuiError):
        quarantine.drop(["1.json", name])
    assert "1.json" in list_bad(workspace)


def test_a_corrected_file_is_stored_once(
    workspace: Workspace, quarantine: QuarantineService
) -> None:
    later = prompt("Later", timestamp="2999-01-01T00:00:00Z")
    write_payload(workspace, "1.json", [prompt(f"Now, with {KEY}"), later])
    run_pipeline(workspace)
    assert status.read_stats().messages == 1
    kept = workspace.paths.spool / "bad" / "1.json"
    assert json.loads(kept.read_bytes()) == later
    mended = json.dumps({**later, "timestamp": "2025-01-01T00:00:00Z"})
    kept.write_text(mended)
    assert quarantine.retry(["1.json"]).names == ("1.json",)
    assert (workspace.paths.spool / "new" / "1.json").read_text() == mended
    assert list_bad(workspace) == []
    run_pipeline(workspace)
    assert quarantine.find(["1.json"]) == []
    assert status.read_stats().messages == 2
    assert status.read_stats().skipped == 0


def test_a_file_keeps_its_time_when_retried(
    workspace: Workspace, quarantine: QuarantineService
) -> None:
    write_payload(
        workspace, "1.json", prompt(KEY, hook_event_name="Novelty"), at_s=1_700_000_123
    )
    for _ in range(3):
        run_pipeline(workspace)
        (entry,) = quarantine.page().entries
        assert entry.at.timestamp() == 1_700_000_123
        quarantine.retry()
    assert (workspace.paths.spool / "new" / "1.json").exists()


def test_files_skipped_again_are_counted_once(
    workspace: Workspace, quarantine: QuarantineService
) -> None:
    for name in ("1.json", "2.json"):
        write_payload(workspace, name, b"{")
    run_pipeline(workspace)
    for _ in range(3):
        retried = quarantine.retry()
        assert status.read_stats().skipped == 0
        run_pipeline(workspace)
        skipped = quarantine.find(retried.names)
        assert [entry.reason for entry in skipped] == ["not valid JSON"] * 2
        assert status.read_stats().skipped == 2


def test_a_retried_file_does_not_replace_a_waiting_one(
    workspace: Workspace, quarantine: QuarantineService
) -> None:
    write_payload(workspace, "1.json", b"{")
    run_pipeline(workspace)
    write_payload(workspace, "1.json", prompt("Hi"))
    retried = quarantine.retry()
    assert retried.names == ()
    assert "another file of this name is waiting" in retried.problems[0]
    assert list_bad(workspace) == ["1.json", "1.json.reason"]


def test_a_corrected_transcript_is_read_again(
    workspace: Workspace, quarantine: QuarantineService, tmp_path: Path
) -> None:
    file = write_transcript(tmp_path, "{broken")
    import_file(workspace, file)
    (entry,) = quarantine.page().entries
    retried = quarantine.retry([entry.name])
    import_file(workspace, *retried.files)
    assert [(e.line, e.reason) for e in quarantine.find([entry.name])] == [
        (2, "not valid JSON")
    ]
    write_transcript(tmp_path, json.dumps(_record("u2", "Mended")))
    retried = quarantine.retry([entry.name])
    import_file(workspace, *retried.files)
    assert quarantine.find([entry.name]) == []
    assert status.read_stats().messages == 3
    file.unlink()


def test_records_skipped_again_keep_their_time(
    workspace: Workspace, quarantine: QuarantineService, tmp_path: Path
) -> None:
    import_file(workspace, write_transcript(tmp_path, "{half", "[1, 2]"))
    with database.transaction():
        database.db.execute_sql("UPDATE problems SET last_ms = 1700000000000")
    listed = quarantine.page().entries
    import_file(workspace, quarantine.retry([listed[0].name]).files[0])
    assert quarantine.page().entries == listed
    import_file(workspace, write_transcript(tmp_path, "{half", "[1, 2]", "[3, 4]"))
    newer, older = quarantine.page().entries
    assert (newer.count, older) == (2, next(e for e in listed if e.name == older.name))
    assert newer.at > older.at


def test_a_missing_transcript_cannot_be_retried(
    workspace: Workspace, quarantine: QuarantineService, tmp_path: Path
) -> None:
    file = write_transcript(tmp_path, "{broken")
    import_file(workspace, file)
    file.unlink()
    retried = quarantine.retry()
    assert (retried.names, retried.files) == ((), ())
    assert retried.problems == (f"{file}: no longer exists",)


def test_dropped_entries_are_not_counted(
    workspace: Workspace, quarantine: QuarantineService, tmp_path: Path
) -> None:
    for name in ("1.json", "2.json"):
        write_payload(workspace, name, b"{")
    run_pipeline(workspace)
    file = write_transcript(tmp_path, "{broken")
    import_file(workspace, file)
    assert status.read_stats().skipped == 3
    dropped = quarantine.drop(["1.json"])
    assert (dropped.count, dropped.problems) == (1, ())
    assert list_bad(workspace) == ["2.json", "2.json.reason"]
    assert status.read_stats().skipped == 2
    dropped = quarantine.drop()
    assert dropped.count == 2
    assert list_bad(workspace) == []
    assert status.read_stats().skipped == 0
    assert file.exists()
    assert quarantine.page().entries == ()


def test_a_folder_is_reported_and_not_deleted(
    workspace: Workspace, quarantine: QuarantineService
) -> None:
    (workspace.paths.spool / "new" / "folder").mkdir(parents=True)
    (workspace.paths.spool / "new" / "folder" / "mine.txt").write_text("mine")
    run_pipeline(workspace)
    (entry,) = quarantine.page().entries
    assert entry.reason == "not a regular file"
    assert quarantine.show("folder").note == "It cannot be read: not a regular file."
    (why,) = quarantine.drop().problems
    assert "a folder, which memtui does not delete" in why
    assert (workspace.paths.spool / "bad" / "folder" / "mine.txt").read_text() == "mine"


@pytest.mark.parametrize("is_left", [True, False], ids=["before", "after"])
def test_a_kill_during_quarantine_counts_a_file_once(
    workspace: Workspace, quarantine: QuarantineService, is_left: bool
) -> None:
    file = write_payload(workspace, "1.json", prompt(KEY, hook_event_name="Novelty"))
    raw = file.read_bytes()
    run_pipeline(workspace)
    kept = (workspace.paths.spool / "bad" / "1.json").read_bytes()
    workspace.stop()
    if is_left:  # it was counted and written, and lies in new/ still
        write_payload(workspace, "1.json", raw)
        (workspace.paths.spool / "bad" / "1.json").unlink()
    (workspace.paths.spool / "bad" / "9.json.reason").write_text(
        "line 1: left behind\n"
    )
    again = Workspace(workspace.paths, workspace.settings)
    run_pipeline(again)
    assert list_bad(workspace) == ["1.json", "1.json.reason"]
    assert (workspace.paths.spool / "bad" / "1.json").read_bytes() == kept
    assert status.read_stats().skipped == 1
    again.stop()


def test_a_file_without_reasons_is_listed_and_counted(
    workspace: Workspace, quarantine: QuarantineService
) -> None:
    (workspace.paths.spool / "bad").mkdir(parents=True)
    (workspace.paths.spool / "bad" / "1.json").write_text("{")
    run_pipeline(workspace)
    assert quarantine.page().entries[0].reason == "no reason is known"
    assert status.read_stats().skipped == 1
    quarantine.drop()
    assert status.read_stats().skipped == 0


@pytest.mark.full
def test_retrying_beside_the_worker_keeps_reasons_and_counts(
    workspace: Workspace, quarantine: QuarantineService
) -> None:
    for number in range(500):
        write_payload(workspace, f"{number}.json", b"{")
    run_pipeline(workspace)
    is_idle = threading.Event()
    workspace.start(
        lambda output: is_idle.set() if output.skipped == 500 else is_idle.clear()
    )
    for _ in range(3):
        retried = quarantine.retry()
        assert len(retried.names) + len(retried.problems) == 500
        while len(entries := quarantine.find(retried.names)) < len(retried.names):
            pass
        assert {entry.reason for entry in entries} == {"not valid JSON"}
    assert is_idle.wait(30)
    workspace.stop()
    assert status.read_stats().skipped == 500


def test_names_of_entries_differ_by_file_and_reason(
    workspace: Workspace, quarantine: QuarantineService, tmp_path: Path
) -> None:
    import_file(workspace, write_transcript(tmp_path, "{broken", '"stray"'))
    with database.connection():
        problems = sources.list_damaged()
    assert len({problem_name(problem) for problem in problems}) == 2


@pytest.mark.full
def test_ten_thousand_files_are_listed_shown_and_retried(
    workspace: Workspace, quarantine: QuarantineService
) -> None:
    bad = workspace.paths.spool / "bad"
    bad.mkdir(parents=True)
    for number in range(10_000):
        (bad / f"{number}.7.0a1b.json").write_bytes(b'{"half')
        (bad / f"{number}.7.0a1b.json.reason").write_bytes(b"line 1: not valid JSON\n")
    assert len(quarantine.page(9_950, 50).entries) == 50
    content = quarantine.show("77.7.0a1b.json")
    assert content.entry.reason == "not valid JSON"
    quarantine.retry()
    assert list_bad(workspace) == []
    assert len(list((workspace.paths.spool / "new").iterdir())) == 10_000
