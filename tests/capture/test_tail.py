"""Transcripts are read as they are written."""

import json
import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from memtui.capture import tail
from memtui.capture.tail import FileWatcher
from memtui.model.events import EventType
from memtui.paths import in_home
from memtui.pipeline.pipeline import Pipeline
from memtui.services import status
from memtui.settings import Settings
from memtui.store import database, meta, sources
from memtui.workspace import Workspace
from tests.tables import EventRow, SessionRow, ThoughtRow

START = datetime(2025, 3, 14, 10, tzinfo=UTC)


def record(number: int, said: str, kind: str = "user", **more: Any) -> str:
    content: object = said
    if kind == "assistant":
        content = [{"type": "text", "text": said}]
    fields = {
        "type": kind,
        "uuid": f"u{number}",
        "sessionId": "s1",
        "timestamp": (START + timedelta(seconds=number)).isoformat(),
        "cwd": "/home/ada/shop",
        "message": {"id": f"m{number}", "content": content, "stop_reason": "end_turn"},
    }
    return json.dumps(fields | more) + "\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    folder = tmp_path / "claude" / "projects" / "shop"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def watching_workspace(tmp_path: Path, folder: Path) -> Iterator[Workspace]:
    """A workspace that reads Claude Code's transcripts as they are written."""
    settings = Settings(store_time_zone="UTC", capture_sources=("claude-code",))
    workspace = Workspace(in_home(tmp_path / "home"), settings)
    yield workspace
    workspace.stop()


def read_changes(workspace: Workspace) -> list[str]:
    """Read all changed files, and return the texts of all stored events."""
    pipeline = workspace.pipeline
    pipeline._tail._next_quick_check_s = pipeline._tail._next_full_check_s = 0.0
    assert pipeline.run_until_idle(lambda _: None) == []
    with database.connection():
        rows = EventRow.select(EventRow.text).order_by(EventRow.at_ms, EventRow.id)
        return [text for (text,) in rows.tuples()]


def saved_offset(file: Path) -> int:
    with database.connection():
        place = sources.get_cursor(str(file))
    assert place is not None
    return place.offset


def test_only_appended_bytes_are_read(
    watching_workspace: Workspace, folder: Path
) -> None:
    file = folder / "s1.jsonl"
    file.write_text(record(1, "one"))
    assert read_changes(watching_workspace) == ["one"]
    # Bytes read before are damaged in place, outside the compared ranges.
    filler = record(2, "x" * 20_000)
    with file.open("a") as grown:
        grown.write(filler)
    assert len(read_changes(watching_workspace)) == 2
    raw = bytearray(file.read_bytes())
    raw[8000:8100] = b"y" * 100
    file.write_bytes(bytes(raw))
    with file.open("a") as grown:
        grown.write(record(3, "three"))
    assert read_changes(watching_workspace)[-1] == "three"
    assert saved_offset(file) == file.stat().st_size
    assert status.read_stats().events == 3


def test_incomplete_line_is_read_when_complete(
    watching_workspace: Workspace, folder: Path
) -> None:
    file = folder / "s1.jsonl"
    whole = record(2, "two")
    file.write_text(record(1, "one") + whole[:40])
    assert read_changes(watching_workspace) == ["one"]
    assert status.read_stats().skipped == 0
    with file.open("a") as grown:
        grown.write(whole[40:])
    assert read_changes(watching_workspace) == ["one", "two"]
    with database.connection():
        assert not [r for r, *_ in sources.count_problems_by_reason() if "cut off" in r]


@pytest.mark.parametrize("how", ["truncated", "replaced", "rewritten"])
def test_replaced_file_is_read_from_its_start(
    watching_workspace: Workspace, folder: Path, how: str
) -> None:
    file = folder / "s1.jsonl"
    file.write_text(record(1, "one") + record(2, "two") + record(3, "three"))
    assert len(read_changes(watching_workspace)) == 3
    if how == "truncated":
        file.write_text(record(4, "four"))
    elif how == "replaced":
        other = folder / "new"
        other.write_text("".join(record(n, f"new {n}") for n in range(11, 15)))
        other.rename(file)
    else:
        said = [record(1, "one"), record(2, "two, said anew"), record(3, "three")]
        file.write_text("".join(said) + record(4, "four"))
    kept = read_changes(watching_workspace)
    # A text that replaces another one is stored beside it.
    assert ("two, said anew" in kept) == (how == "rewritten")
    before = [text for text in kept if text != "two, said anew"]
    assert before[:3] == ["one", "two", "three"]
    assert kept[-1] == ("new 14" if how == "replaced" else "four")
    assert saved_offset(file) == file.stat().st_size


def test_call_is_joined_with_a_later_result(
    watching_workspace: Workspace, folder: Path
) -> None:
    file = folder / "s1.jsonl"
    call = [
        {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}
    ]
    file.write_text(
        record(1, "List", "user")
        + record(2, "", "assistant", message={"content": call})
    )
    assert read_changes(watching_workspace) == ["List", "Bash: ls"]
    answer = [{"type": "tool_result", "tool_use_id": "t1", "content": "cart.py"}]
    with file.open("a") as grown:
        grown.write(record(3, "", message={"content": answer}))
    assert read_changes(watching_workspace) == ["List", "Bash: ls\ncart.py"]


def test_unfinished_message_is_stored_after_a_while(
    watching_workspace: Workspace, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [START + timedelta(seconds=3)]
    pipeline = watching_workspace.pipeline
    monkeypatch.setattr(pipeline._tail._reader, "clock", lambda: now[0])
    monkeypatch.setattr(pipeline._tail, "_clock", lambda: now[0])
    file = folder / "s1.jsonl"

    def part(number: int, said: str) -> str:
        content = [{"type": "text", "text": said}]
        message = {"id": "m", "content": content, "stop_reason": None}
        return record(number, "", "assistant", message=message)

    file.write_text(record(1, "Go") + part(2, "First,"))
    assert read_changes(watching_workspace) == ["Go"]
    with file.open("a") as grown:
        grown.write(part(3, "then."))
    assert read_changes(watching_workspace) == ["Go"]
    now[0] += timedelta(minutes=1)
    assert read_changes(watching_workspace) == ["Go", "First,\n\nthen."]


def test_transcripts_are_not_read_without_consent(
    tmp_path: Path, folder: Path, settings: Settings
) -> None:
    (folder / "s1.jsonl").write_text(record(1, "one"))
    workspace = Workspace(in_home(tmp_path / "home"), settings)
    assert read_changes(workspace) == []
    workspace.set_watched(["claude-code"])
    assert read_changes(workspace) == ["one"]
    workspace.set_watched(["claude-code"], watched=False)
    with (folder / "s1.jsonl").open("a") as grown:
        grown.write(record(2, "two"))
    assert read_changes(workspace) == ["one"]
    workspace.stop()


def test_excluded_projects_and_paths_are_not_kept(tmp_path: Path, folder: Path) -> None:
    (folder / "s1.jsonl").write_text(record(1, "one"))
    (folder / "s2.jsonl").write_text(
        record(2, "two", cwd="/home/ada/private/diary", sessionId="s2")
    )
    settings = Settings(capture_sources=("all",), capture_exclude=("*/private/*",))
    workspace = Workspace(in_home(tmp_path / "home"), settings)
    assert read_changes(workspace) == ["one"]
    with database.connection():
        skipped = sources.count_problems_by_reason()
    assert ("excluded by */private/*", "skipped", 1) in skipped
    workspace.stop()


def test_separate_stores_contain_one_project_each(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop, ferry = tmp_path / "shop", tmp_path / "ferry"
    for project in (shop, ferry):
        (project / ".git").mkdir(parents=True)
        (project / "src").mkdir()
    (folder / "s1.jsonl").write_text(record(1, "shop", cwd=str(shop / "src")))
    (folder / "s2.jsonl").write_text(
        record(2, "ferry", cwd=str(ferry), sessionId="s2", uuid="other")
    )
    settings = Settings(store_mode="separate", capture_sources=("all",))
    kept = {}
    for project in (shop, ferry):
        monkeypatch.chdir(project / "src")
        workspace = Workspace(in_home(tmp_path / "home"), settings)
        kept[project.name] = read_changes(workspace)
        workspace.stop()
    assert kept == {"shop": ["shop"], "ferry": ["ferry"]}


def test_running_pipeline_reads_growing_files(
    watching_workspace: Workspace, folder: Path
) -> None:
    watching_workspace.pipeline.start(lambda _: None)
    file = folder / "s1.jsonl"
    file.write_text(record(1, "one"))
    wait_for(1)
    with file.open("a") as grown:
        grown.write(record(2, "two"))
    wait_for(2)


def wait_for(events: int) -> None:
    until = time.monotonic() + 20
    while time.monotonic() < until:
        with database.connection():
            if EventRow.select().count() >= events:
                return
        time.sleep(0.02)
    raise AssertionError(f"{events} events did not come")


def test_files_are_polled_where_changes_are_not_reported(
    watching_workspace: Workspace,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(f"server:/x {tmp_path} nfs4 rw 0 0\nproc /proc proc rw 0 0\n")
    monkeypatch.setattr(tail, "MOUNTS", mounts)
    watch = FileWatcher(lambda: None)
    watching_workspace.pipeline._tail.use_watcher(watch)
    (folder / "s1.jsonl").write_text(record(1, "one"))
    assert read_changes(watching_workspace) == ["one"]
    assert "nfs4, which does not report changes" in watch.polling_reason
    with database.connection():
        assert meta.read(meta.POLLING_REASON) == watch.polling_reason


def test_deepest_mount_gives_the_file_system() -> None:
    mounts = "/dev/a / ext4 rw 0 0\nhost:/h /home/my\\040files nfs rw 0 0\n"
    assert tail.filesystem_of(Path("/home/my files/x"), mounts) == "nfs"
    assert tail.filesystem_of(Path("/home/other"), mounts) == "ext4"


def test_thoughts_are_stored_separately(
    watching_workspace: Workspace, folder: Path
) -> None:
    thought = [{"type": "thinking", "thinking": "Perhaps the cart is stale."}]
    (folder / "s1.jsonl").write_text(
        record(1, "Why?")
        + record(2, "", "assistant", message={"content": thought})
        + record(3, "Stale cart.", "assistant")
    )
    assert read_changes(watching_workspace) == ["Why?", "Stale cart."]
    from memtui.store import events as store_events
    from memtui.store import sessions

    with database.connection():
        number = sessions.get_number("claude-code", "s1")
        assert number is not None
        kept = store_events.thoughts_between(number, 0, 2**62, subagent="", limit=10)
    assert [item.text for item in kept] == ["Perhaps the cart is stale."]


def test_linked_folder_is_read_and_pipe_is_ignored(
    watching_workspace: Workspace, folder: Path, tmp_path: Path
) -> None:
    there = tmp_path / "elsewhere"
    there.mkdir()
    (there / "s1.jsonl").write_text(record(1, "said elsewhere"))
    (folder.parent / "linked").symlink_to(there)
    os.mkfifo(folder / "pipe.jsonl")
    assert read_changes(watching_workspace) == ["said elsewhere"]
    assert list(watching_workspace.pipeline._tail.find_changed_files()) == []
    with (there / "s1.jsonl").open("a") as file:
        file.write(record(2, "and more"))
    assert read_changes(watching_workspace) == ["said elsewhere", "and more"]


def test_file_that_became_a_pipe_is_ignored(
    watching_workspace: Workspace, folder: Path
) -> None:
    (folder / "s1.jsonl").write_text(record(1, "said before"))
    assert read_changes(watching_workspace) == ["said before"]
    (folder / "s1.jsonl").unlink()
    os.mkfifo(folder / "s1.jsonl")
    assert (
        list(watching_workspace.pipeline.importer().read_file(folder / "s1.jsonl"))
        == []
    )


def test_fork_has_only_its_own_events_and_its_parent(
    watching_workspace: Workspace, folder: Path
) -> None:
    said = [record(n, f"said {n}") for n in range(1, 5)]
    (folder / "s1.jsonl").write_text("".join([*said, record(9, "original goes on")]))
    copied = [line.replace('"sessionId": "s1"', '"sessionId": "s2"') for line in said]
    fork = record(10, "fork goes on", sessionId="s2")
    (folder / "a-fork.jsonl").write_text("".join([*copied, fork]))
    assert read_changes(watching_workspace) == [
        *(f"said {n}" for n in range(1, 5)),
        "original goes on",
        "fork goes on",
    ]
    from memtui.store import sessions

    with database.connection():
        first = sessions.get("claude-code", "s1")
        second = sessions.get("claude-code", "s2")
    assert first is not None and second is not None
    assert (first.message_count, first.forked_from) == (5, "")
    assert (second.message_count, second.forked_from) == (1, "s1")


def test_two_readers_of_one_file_count_it_once(
    watching_workspace: Workspace, folder: Path, pipeline: Pipeline | None = None
) -> None:
    file = folder / "s1.jsonl"
    file.write_text("".join(record(n, f"said {n}") for n in range(3)) + "{broken}\n")
    first = watching_workspace.pipeline.importer().read_file(file)
    second = watching_workspace.pipeline.importer().read_file(file)
    list(first)
    list(second)
    assert status.read_stats().events == 3
    with database.connection():
        assert [p.count for p in sources.list_damaged()] == [1]


def test_event_of_the_transcript_replaces_that_of_the_hook(
    watching_workspace: Workspace, folder: Path
) -> None:
    spool = watching_workspace.paths.spool / "new"
    spool.mkdir(parents=True, exist_ok=True)
    payload = {
        "hook_event_name": "UserPromptSubmit",
        "session_id": "s1",
        "transcript_path": str(folder / "s1.jsonl"),
        "cwd": "/home/ada/shop",
        "prompt": "one",
    }
    (spool / "1.json").write_text(json.dumps(payload))
    at = (START + timedelta(seconds=2)).timestamp()
    os.utime(spool / "1.json", (at, at))
    assert read_changes(watching_workspace) == ["one"]
    with database.connection():
        (hooked,) = EventRow.select()
    (folder / "s1.jsonl").write_text(record(1, "one"))
    assert read_changes(watching_workspace) == ["one"]
    with database.connection():
        (row,) = EventRow.select()
        from memtui.store import events as store_events

        assert row.route == "transcript" and row.id != hooked.id
        assert store_events.get([hooked.id])[hooked.id].event_id == row.id
        assert store_events.get([row.id])[row.id].event_type is EventType.USER_MESSAGE
    assert status.read_stats().messages == 1


def test_thought_before_any_event_is_stored(
    watching_workspace: Workspace, folder: Path
) -> None:
    thought = [{"type": "thinking", "thinking": "Perhaps the cart is stale."}]
    file = folder / "s1.jsonl"
    file.write_text(record(2, "", "assistant", message={"content": thought}))
    assert read_changes(watching_workspace) == []
    with file.open("a") as grown:
        grown.write(record(3, "Stale cart.", "assistant"))
    assert read_changes(watching_workspace) == ["Stale cart."]
    with database.connection():
        (session,) = SessionRow.select()
        (kept,) = ThoughtRow.select()
    assert kept.text == "Perhaps the cart is stale."
    assert (kept.session_id, session.project) == (session.id, "shop")
