"""Many files at once: each is read once, and each node above is made once."""

import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memtui.capture import tail
from memtui.model.calendar import TocLevel
from memtui.paths import in_home
from memtui.pipeline import summarization
from memtui.pipeline.worker import Worker
from memtui.services import status
from memtui.settings import Settings
from memtui.store import database
from memtui.workspace import Workspace
from tests.deduplication.deliveries import record
from tests.tables import EventRow, VersionRow
from tests.test_end_to_end import run_pipeline

FILES = 200

START = datetime(2025, 3, 14, 10, tzinfo=UTC)

WATCHING = Settings(store_time_zone="UTC", capture_sources=("claude-code",))


@pytest.fixture
def projects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    folder = tmp_path / "claude" / "projects" / "shop"
    folder.mkdir(parents=True)
    return folder


def made() -> Counter[str]:
    """Count the versions of the nodes of each level."""
    with database.connection():
        return Counter(
            level for (level,) in VersionRow.select(VersionRow.level).tuples()
        )


def write(projects: Path, number: int, minute: int = 0) -> Path:
    """Write a transcript of one word, on one day."""
    file = projects / f"s{number}.jsonl"
    file.write_text(record(minute, f"Word {number}", file.stem, uuid=f"u{number}"))
    return file


@pytest.mark.full
def test_ancestors_of_many_new_files_are_rolled_up_once(
    tmp_path: Path, projects: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(summarization, "PATIENCE_S", 600.0)
    for number in range(FILES):
        write(projects, number)
    workspace = Workspace(in_home(tmp_path / "home"), WATCHING)
    with run_pipeline(workspace) as watched:
        watched.wait_until(lambda: status.read_stats().messages == FILES)
        watched.wait_until(
            lambda: status.read_stats().pending == 0 and TocLevel.YEAR in made()
        )
    assert made() == {"segment": FILES, "day": 1, "week": 1, "month": 1, "year": 1}
    workspace.stop()


def test_notified_files_are_read_before_pending_ones(
    tmp_path: Path, projects: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tail, "FILES_PER_STEP", 2)
    for number in range(9):
        write(projects, number)
    workspace = Workspace(in_home(tmp_path / "home"), WATCHING)
    reader = workspace.pipeline._tail
    assert reader.step() == 2
    monkeypatch.setattr(
        reader, "_reported_changes", lambda: iter([write(projects, 9, 1)])
    )
    assert reader.step() == 2
    with database.connection():
        texts = {text for (text,) in EventRow.select(EventRow.text).tuples()}
    assert len(texts) == 4 and "Word 9" in texts
    workspace.stop()


@pytest.mark.parametrize(("patience_s", "is_made"), [(0.0, True), (600.0, False)])
@pytest.mark.full
def test_upper_levels_are_made_while_files_keep_arriving(
    workspace: Workspace,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    patience_s: float,
    is_made: bool,
) -> None:
    monkeypatch.setattr(summarization, "PATIENCE_S", patience_s)
    monkeypatch.setattr(summarization, "MAX_SHARE", 0)
    loop = Worker(workspace.pipeline._stages(), lambda _: None)
    for turn in range(8):
        lines = [
            json.dumps(
                {
                    "session_id": f"s{turn}-{number}",
                    "timestamp": (START + timedelta(seconds=number)).isoformat(),
                    "role": "user",
                    "text": f"Word {number}",
                }
            )
            for number in range(30)
        ]
        file = tmp_path / f"{turn}.jsonl"
        file.write_text("\n".join(lines) + "\n")
        assert list(workspace.pipeline.importer().run([file]))
        assert loop.run_round()
    assert (made()["year"] > 0) is is_made
    assert made()["segment"] > 0
