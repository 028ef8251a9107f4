"""Skipped input is listed, shown, retried and dropped."""

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
from memtui.services.quarantine import (
    EntryKind,
    QuarantineService,
    RetryOutcome,
    RetryState,
    problem_name,
)
from memtui.settings import Settings
from memtui.store import database, sources
from memtui.workspace import Workspace

KEY = "sk-ant-api03-" + "a1B2c3D4e5" * 9 + "AA"


@pytest.fixture
def quarantine(workspace: Workspace) -> Iterator[QuarantineService]:
    yield workspace.quarantine
    database.close()


def leave(
    workspace: Workspace, name: str, said: object, *, at_s: int = 1_700_000_000
) -> Path:
    """Have a hook leave a file."""
    file = workspace.paths.spool / "new" / name
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(said if isinstance(said, bytes) else json.dumps(said).encode())
    os.utime(file, (at_s, at_s))
    return file


def prompt(text: str, **fields: Any) -> dict[str, Any]:
    named = {"session_id": "s1", "hook_event_name": "UserPromptSubmit"}
    return {**named, "prompt": text, **fields}


def digest(workspace: Workspace) -> None:
    assert workspace.pipeline.run_until_idle(lambda _: None) == []


def transcript(folder: Path, *others: str) -> Path:
    """A transcript with a good line before and after others."""
    said = [
        json.dumps(_record("u1", "Hello")),
        *others,
        json.dumps(_record("u9", "Bye")),
    ]
    file = folder / "t.jsonl"
    file.write_text("".join(f"{line}\n" for line in said))
    return file


def _record(uuid: str, text: str) -> dict[str, Any]:
    at = f"2025-03-14T10:00:0{uuid[1:]}Z"
    said = {"role": "user", "content": text}
    base = {"type": "user", "uuid": uuid, "sessionId": "s7", "timestamp": at}
    return {**base, "cwd": "/home/ada/shop", "message": said}


def bring_in(workspace: Workspace, file: Path) -> None:
    for _ in workspace.pipeline.importer().run([file]):
        pass


def in_bad(workspace: Workspace) -> list[str]:
    return sorted(file.name for file in (workspace.paths.spool / "bad").iterdir())


def test_what_could_not_be_taken_is_listed_newest_first(
    workspace: Workspace, quarantine: QuarantineService, tmp_path: Path
) -> None:
    leave(workspace, "1.7.0a1b.codex.Stop.json", b'{"half', at_s=1_700_000_000)
    novel = prompt("x", hook_event_name="Novelty", transcript_path="/a/.gemini/t")
    leave(workspace, "2.7.0a1b.json", novel, at_s=1_700_000_500)
    digest(workspace)
    bring_in(workspace, transcript(tmp_path, "{broken"))
    page = quarantine.page()
    assert page.total == 3
    fault, novel_one, half = page.entries
    assert (fault.kind, fault.agent, fault.line) == (
        EntryKind.TRANSCRIPT,
        "claude-code",
        2,
    )
    assert fault.file == str(tmp_path / "t.jsonl")
    assert fault.reasons == ("not valid JSON",)
    assert (novel_one.agent, novel_one.event) == ("gemini-cli", "Novelty")
    assert novel_one.reasons == ("line 1: unknown hook event 'Novelty'",)
    assert (half.name, half.agent, half.event, half.size) == (
        "1.7.0a1b.codex.Stop.json",
        "codex",
        "Stop",
        6,
    )
    assert half.at.timestamp() == 1_700_000_000


def test_pages_meet_without_a_gap(
    workspace: Workspace, quarantine: QuarantineService, tmp_path: Path
) -> None:
    for number in range(7):
        leave(workspace, f"{number}.json", b"{", at_s=1_700_000_000 + number)
    digest(workspace)
    bring_in(workspace, transcript(tmp_path, "{broken", '"stray"'))
    whole = quarantine.page(0, 100).entries
    paged = [e for at in range(0, 12, 2) for e in quarantine.page(at, 2).entries]
    assert len(whole) == 9
    assert paged == list(whole)
    assert quarantine.page(50, 2).entries == ()


def test_what_is_put_aside_lies_there_without_its_secrets(workspace: Workspace) -> None:
    leave(workspace, "1.json", prompt(f"Use {KEY}", hook_event_name="Novelty"))
    leave(workspace, "2.json", b"\xff\xfe" + KEY.encode() + b" <private>the fern")
    digest(workspace)
    for file in workspace.paths.spool.rglob("*"):
        if file.is_file():
            assert KEY.encode() not in file.read_bytes()
            assert b"the fern" not in file.read_bytes()
            assert file.stat().st_mode & 0o077 == 0


def test_nothing_of_an_excluded_project_is_quarantined(tmp_path: Path) -> None:
    settings = Settings(capture_exclude=("diary",))
    workspace = Workspace(in_home(tmp_path / "other"), settings)
    novel = {"hook_event_name": "Novelty"}
    leave(workspace, "1.json", prompt("mine", cwd="/home/ada/diary", **novel))
    leave(workspace, "2.json", prompt("ours", cwd="/home/ada/shop", **novel))
    digest(workspace)
    assert in_bad(workspace) == ["2.json", "2.json.reason"]
    with database.connection():
        skipped = sources.count_problems_by_reason()
    assert ("excluded by diary", sources.ProblemKind.SKIPPED, 1) in skipped
    assert status.read_stats().skipped == 1
    workspace.stop()


def test_what_is_shown_has_no_secret_and_nothing_that_disturbs(
    workspace: Workspace, quarantine: QuarantineService
) -> None:
    bad = workspace.paths.spool / "bad"
    bad.mkdir(parents=True)
    (bad / "old.json").write_bytes(f"\x1b[31m{KEY}\x07 [b]x[/b]".encode())
    (bad / "old.json.reason").write_text(f"line 1: \x1b]0;me\x07bad {KEY}\n")
    shown = quarantine.show("old.json")
    assert shown.text == "[redacted: anthropic key] [b]x[/b]"
    assert shown.entry.reasons == ("line 1: bad [redacted: anthropic key]",)


def test_a_long_file_is_shown_in_part_and_says_so(
    workspace: Workspace, quarantine: QuarantineService
) -> None:
    said = "word " * 100_000
    leave(workspace, "1.json", f'{{"prompt": "{said}'.encode())
    digest(workspace)
    shown = quarantine.show("1.json", limit=1000)
    assert shown.is_cut and len(shown.text) == 1000
    whole = quarantine.show("1.json")
    assert not whole.is_cut and whole.text.endswith("word ")


def test_the_line_of_a_transcript_is_shown_while_it_is_there(
    workspace: Workspace, quarantine: QuarantineService, tmp_path: Path
) -> None:
    file = transcript(tmp_path, f'{{"broken": {KEY}')
    bring_in(workspace, file)
    (fault,) = quarantine.page().entries
    assert quarantine.show(fault.name).text == '{"broken": [redacted: anthropic key]'
    file.write_text("{}\n")
    shown = quarantine.show(fault.name)
    assert (shown.text, shown.note) == (
        "",
        "The file has nothing on this line any more.",
    )
    file.unlink()
    assert "no longer exists" in quarantine.show(fault.name).note


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
    leave(workspace, "1.json", b"{")
    digest(workspace)
    (workspace.paths.spool / "bad" / ".hidden").write_text("x")
    for asked in (quarantine.show, lambda n: quarantine.retry([n])):
        with pytest.raises(MemtuiError, match="nothing in the quarantine is called"):
            asked(name)
    with pytest.raises(MemtuiError):
        quarantine.drop(["1.json", name])
    assert "1.json" in in_bad(workspace)


def test_a_file_that_can_be_taken_by_now_is_taken_once(
    workspace: Workspace, quarantine: QuarantineService
) -> None:
    later = prompt("Later", timestamp="2999-01-01T00:00:00Z")
    leave(workspace, "1.json", [prompt(f"Now, with {KEY}"), later])
    digest(workspace)
    assert status.read_stats().messages == 1
    kept = workspace.paths.spool / "bad" / "1.json"
    assert json.loads(kept.read_bytes()) == later
    mended = json.dumps({**later, "timestamp": "2025-01-01T00:00:00Z"})
    kept.write_text(mended)
    assert quarantine.retry(["1.json"]).names == ("1.json",)
    assert (workspace.paths.spool / "new" / "1.json").read_text() == mended
    assert in_bad(workspace) == []
    digest(workspace)
    assert quarantine.outcomes(["1.json"]) == [RetryOutcome("1.json", RetryState.TAKEN)]
    assert status.read_stats().messages == 2
    assert status.read_stats().skipped == 0


def test_a_file_keeps_the_time_it_was_left_however_often_it_is_tried(
    workspace: Workspace, quarantine: QuarantineService
) -> None:
    leave(
        workspace, "1.json", prompt(KEY, hook_event_name="Novelty"), at_s=1_700_000_123
    )
    for _ in range(3):
        digest(workspace)
        (entry,) = quarantine.page().entries
        assert entry.at.timestamp() == 1_700_000_123
        quarantine.retry()
    assert quarantine.outcomes(["1.json"])[0].state is RetryState.WAITING


def test_what_is_refused_again_is_counted_once(
    workspace: Workspace, quarantine: QuarantineService
) -> None:
    for name in ("1.json", "2.json"):
        leave(workspace, name, b"{")
    digest(workspace)
    for _ in range(3):
        tried = quarantine.retry()
        digest(workspace)
        outcomes = quarantine.outcomes(tried.names)
        assert [one.state for one in outcomes] == [RetryState.REFUSED] * 2
        assert outcomes[0].reasons == ("line 1: not valid JSON",)
        assert status.read_stats().skipped == 2


def test_a_file_is_not_put_over_another_that_waits(
    workspace: Workspace, quarantine: QuarantineService
) -> None:
    leave(workspace, "1.json", b"{")
    digest(workspace)
    leave(workspace, "1.json", prompt("Hi"))
    tried = quarantine.retry()
    assert tried.names == ()
    assert "another file of this name is waiting" in tried.problems[0]
    assert in_bad(workspace) == ["1.json", "1.json.reason"]


def test_a_mended_transcript_is_read_again(
    workspace: Workspace, quarantine: QuarantineService, tmp_path: Path
) -> None:
    file = transcript(tmp_path, "{broken")
    bring_in(workspace, file)
    (fault,) = quarantine.page().entries
    tried = quarantine.retry([fault.name])
    bring_in(workspace, *tried.files)
    assert quarantine.outcomes([fault.name])[0] == RetryOutcome(
        fault.name, RetryState.REFUSED, ("line 2: not valid JSON",)
    )
    transcript(tmp_path, json.dumps(_record("u2", "Mended")))
    tried = quarantine.retry([fault.name])
    bring_in(workspace, *tried.files)
    assert quarantine.outcomes([fault.name])[0].state is RetryState.TAKEN
    assert status.read_stats().messages == 3
    file.unlink()


def test_what_is_refused_again_was_noticed_when_it_was_first(
    workspace: Workspace, quarantine: QuarantineService, tmp_path: Path
) -> None:
    bring_in(workspace, transcript(tmp_path, "{half", "[1, 2]"))
    with database.transaction():
        database.db.execute_sql("UPDATE problems SET last_ms = 1700000000000")
    listed = quarantine.page().entries
    bring_in(workspace, quarantine.retry([listed[0].name]).files[0])
    assert quarantine.page().entries == listed
    bring_in(workspace, transcript(tmp_path, "{half", "[1, 2]", "[3, 4]"))
    newer, older = quarantine.page().entries
    assert (newer.count, older) == (2, next(e for e in listed if e.name == older.name))
    assert newer.at > older.at


def test_a_transcript_that_is_gone_cannot_be_tried(
    workspace: Workspace, quarantine: QuarantineService, tmp_path: Path
) -> None:
    file = transcript(tmp_path, "{broken")
    bring_in(workspace, file)
    file.unlink()
    tried = quarantine.retry()
    assert (tried.names, tried.files) == ((), ())
    assert tried.problems == (f"{file}: no longer exists",)


def test_what_is_dropped_is_gone_and_counted_no_more(
    workspace: Workspace, quarantine: QuarantineService, tmp_path: Path
) -> None:
    for name in ("1.json", "2.json"):
        leave(workspace, name, b"{")
    digest(workspace)
    file = transcript(tmp_path, "{broken")
    bring_in(workspace, file)
    assert status.read_stats().skipped == 3
    dropped = quarantine.drop(["1.json"])
    assert (dropped.files, dropped.notes, dropped.problems) == (1, 0, ())
    assert in_bad(workspace) == ["2.json", "2.json.reason"]
    assert status.read_stats().skipped == 2
    dropped = quarantine.drop()
    assert (dropped.files, dropped.notes) == (1, 1)
    assert in_bad(workspace) == []
    assert status.read_stats().skipped == 0
    assert file.exists()
    assert quarantine.page().entries == ()


def test_a_path_that_is_no_file_is_reported_and_left_alone(
    workspace: Workspace, quarantine: QuarantineService
) -> None:
    (workspace.paths.spool / "new" / "folder").mkdir(parents=True)
    (workspace.paths.spool / "new" / "folder" / "mine.txt").write_text("mine")
    digest(workspace)
    (entry,) = quarantine.page().entries
    assert entry.reasons == ("not a regular file",)
    assert quarantine.show("folder").note == "It cannot be read: not a regular file."
    (why,) = quarantine.drop().problems
    assert "a folder, which memtui does not delete" in why
    assert (workspace.paths.spool / "bad" / "folder" / "mine.txt").read_text() == "mine"


@pytest.mark.parametrize("is_left", [True, False], ids=["before", "after"])
def test_a_kill_during_quarantine_counts_a_file_once(
    workspace: Workspace, quarantine: QuarantineService, is_left: bool
) -> None:
    file = leave(workspace, "1.json", prompt(KEY, hook_event_name="Novelty"))
    raw = file.read_bytes()
    digest(workspace)
    kept = (workspace.paths.spool / "bad" / "1.json").read_bytes()
    workspace.stop()
    if is_left:  # it was counted and written, and lies in new/ still
        leave(workspace, "1.json", raw)
        (workspace.paths.spool / "bad" / "1.json").unlink()
    (workspace.paths.spool / "bad" / "9.json.reason").write_text(
        "line 1: left behind\n"
    )
    again = Workspace(workspace.paths, workspace.settings)
    digest(again)
    assert in_bad(workspace) == ["1.json", "1.json.reason"]
    assert (workspace.paths.spool / "bad" / "1.json").read_bytes() == kept
    assert status.read_stats().skipped == 1
    again.stop()


def test_a_file_without_reasons_is_listed_and_counted(
    workspace: Workspace, quarantine: QuarantineService
) -> None:
    (workspace.paths.spool / "bad").mkdir(parents=True)
    (workspace.paths.spool / "bad" / "1.json").write_text("{")
    digest(workspace)
    assert quarantine.page().entries[0].reasons == ("no reason is known",)
    assert status.read_stats().skipped == 1
    quarantine.drop()
    assert status.read_stats().skipped == 0


@pytest.mark.full
def test_what_is_put_back_under_the_workers_hands_keeps_reason_and_count(
    workspace: Workspace, quarantine: QuarantineService
) -> None:
    for number in range(500):
        leave(workspace, f"{number}.json", b"{")
    digest(workspace)
    rests = threading.Event()
    workspace.start(
        lambda output: rests.set() if output.skipped == 500 else rests.clear()
    )
    for _ in range(3):
        tried = quarantine.retry()
        assert len(tried.names) + len(tried.problems) == 500
        outcomes = quarantine.outcomes(tried.names)
        while any(one.state is RetryState.WAITING for one in outcomes):
            outcomes = quarantine.outcomes(tried.names)
        assert {one.reasons for one in outcomes} == {("line 1: not valid JSON",)}
    assert rests.wait(30)
    workspace.stop()
    assert status.read_stats().skipped == 500


def test_names_of_faults_differ_by_file_and_reason(
    workspace: Workspace, quarantine: QuarantineService, tmp_path: Path
) -> None:
    bring_in(workspace, transcript(tmp_path, "{broken", '"stray"'))
    with database.connection():
        faults = sources.list_damaged()
    assert len({problem_name(fault) for fault in faults}) == 2


@pytest.mark.full
def test_ten_thousand_files_are_listed_shown_and_tried(
    workspace: Workspace, quarantine: QuarantineService
) -> None:
    bad = workspace.paths.spool / "bad"
    bad.mkdir(parents=True)
    for number in range(10_000):
        (bad / f"{number}.7.0a1b.json").write_bytes(b'{"half')
        (bad / f"{number}.7.0a1b.json.reason").write_bytes(b"line 1: not valid JSON\n")
    assert len(quarantine.page(9_950, 50).entries) == 50
    shown = quarantine.show("77.7.0a1b.json")
    assert shown.entry.reasons == ("line 1: not valid JSON",)
    quarantine.retry()
    assert in_bad(workspace) == []
    assert len(list((workspace.paths.spool / "new").iterdir())) == 10_000
