"""Ten thousand files in a second, and file systems that report no changes."""

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from memtui.capture import tail
from memtui.paths import in_home
from memtui.services import status
from memtui.settings import Settings
from memtui.store import database, meta
from memtui.workspace import Workspace
from tests import test_end_to_end
from tests.deduplication.deliveries import TreeOf, hook, record, without_versions
from tests.tables import EventRow
from tests.test_end_to_end import run_pipeline

FILES = 10_000
TRANSCRIPTS = 500


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is not told is found by looking, within half a minute."""
    monkeypatch.setattr(test_end_to_end, "DEADLINE_S", 150.0)


@pytest.fixture
def projects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    folder = tmp_path / "claude" / "projects" / "shop"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def tailing(tmp_path: Path, projects: Path) -> Iterator[Workspace]:
    settings = Settings(store_time_zone="UTC", capture_sources=("claude-code",))
    workspace = Workspace(in_home(tmp_path / "home"), settings)
    yield workspace
    workspace.stop()


def _polling_reason() -> str:
    with database.connection():
        return meta.read(meta.POLLING_REASON)


def kept(messages: int) -> Callable[[], bool]:
    """Whether so many messages are kept."""
    return lambda: status.read_stats().messages == messages


def letters() -> Iterator[tuple[str, str]]:
    for number in range(FILES):
        payload = json.loads(hook(1, "UserPromptSubmit", prompt=f"Word {number}"))
        at = f"2025-03-14T10:{number // 600 % 60:02}:{number / 10 % 60:04.1f}00Z"
        yield f"{number:06}.json", json.dumps(payload["payload"] | {"timestamp": at})


def flood(new: Path) -> None:
    """Leave all files, each by a rename, as fast as can be."""
    drafts = new.parent / "tmp"
    for name, said in letters():
        draft = drafts / name
        draft.write_text(said)
        draft.rename(new / name)


@pytest.mark.torture
@pytest.mark.usefixtures("patient")
def test_ten_thousand_hooks_at_once_are_all_stored(
    workspace: Workspace, tmp_path: Path, settings: Settings, tree_of: TreeOf
) -> None:
    with run_pipeline(workspace) as watched:
        flooding = threading.Thread(target=flood, args=(workspace.paths.spool / "new",))
        workspace.pipeline._ingester._spool.create()
        flooding.start()
        watched.wait_until(kept(FILES))
        watched.wait_until(lambda: status.read_stats().pending == 0)
        flooding.join()
    assert list((workspace.paths.spool / "new").iterdir()) == []
    home = workspace.paths.store.parent
    workspace.stop()
    other = Workspace(in_home(tmp_path / "undisturbed"), settings)
    other.pipeline._ingester._spool.create()
    flood(other.paths.spool / "new")
    assert other.pipeline.run_until_idle(lambda _: None) == []
    other.stop()
    assert said(tree_of(home)) == said(tree_of(tmp_path / "undisturbed"))


def said(tree: dict[str, Any]) -> str:
    return json.dumps(without_versions(tree), sort_keys=True)


@pytest.mark.torture
@pytest.mark.usefixtures("patient")
def test_changes_beyond_the_capacity_of_the_watch_are_found(
    tailing: Workspace, projects: Path
) -> None:
    with run_pipeline(tailing) as watched:
        watched.wait_until(lambda: tailing.pipeline._tail._is_watching)
        for number in range(FILES):
            session = f"s{number}"
            if number % (FILES // TRANSCRIPTS):
                (projects / f"{number}.txt").write_text("a tool's result")
            else:
                line = record(number, f"Word {number}", session)
                (projects / f"{session}.jsonl").write_text(line)
        watched.wait_until(kept(TRANSCRIPTS))
        watched.wait_until(lambda: status.read_stats().pending == 0)
    with database.connection():
        texts = [text for (text,) in EventRow.select(EventRow.text).tuples()]
    assert len(set(texts)) == len(texts) == TRANSCRIPTS


@pytest.mark.parametrize("kind", ["nfs4", "fuse.sshfs", "9p"])
def test_a_spool_without_notifications_is_polled(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kind: str
) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(f"server:/x {tmp_path} {kind} rw 0 0\n")
    monkeypatch.setattr(tail, "MOUNTS", mounts)
    with run_pipeline(workspace) as watched:
        watched.wait_until(lambda: kind in _polling_reason())
        for number in range(3):
            test_end_to_end.run_hook(
                workspace, hook_event_name="UserPromptSubmit", prompt=f"Word {number}"
            )
            watched.wait_until(kept(number + 1))
    assert f"is on {kind}, which does not report changes" in _polling_reason()
