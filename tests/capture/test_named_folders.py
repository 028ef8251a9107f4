"""Transcripts of any agent in folders that the user has named."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from memtui.paths import in_home
from memtui.settings import Settings
from memtui.store import database, sources
from memtui.workspace import Workspace
from tests.tables import EventRow, SessionRow

HISTORY = """
# aider chat started at 2025-03-14 10:00:00

#### Why is the cart empty?  

It is stale.
"""


@pytest.fixture
def projects(tmp_path: Path) -> Path:
    """Two projects with histories of Aider, one in a hidden folder."""
    for name in ("shop", ".hidden/ferry"):
        file = tmp_path / "projects" / name / ".aider.chat.history.md"
        file.parent.mkdir(parents=True)
        file.write_text(HISTORY)
        make_settled(file)
    return tmp_path / "projects"


def make_settled(file: Path) -> None:
    """Set the time of change of a file to long ago."""
    os.utime(file, (1_750_000_000 + file.stat().st_size, 1_750_000_000))


def list_stored() -> list[tuple[str, str]]:
    with database.connection():
        rows = EventRow.select(SessionRow.project, EventRow.text).join(SessionRow)
        return sorted(rows.where(EventRow.role != "tool").tuples())


BOTH = [
    (project, said)
    for project in ("ferry", "shop")
    for said in ("It is stale.", "Why is the cart empty?")
]


@pytest.fixture
def named_workspace(tmp_path: Path, projects: Path) -> Iterator[Workspace]:
    """A workspace that watches the projects' folder and no agent's own."""
    settings = Settings(capture_folders=(str(projects),))
    workspace = Workspace(in_home(tmp_path / "home"), settings)
    yield workspace
    workspace.stop()


def test_a_folder_named_in_the_settings_is_enough_for_aiders_histories(
    named_workspace: Workspace, projects: Path
) -> None:
    assert named_workspace.pipeline.run_until_idle(lambda _: None) == []
    assert list_stored() == BOTH
    file = projects / "shop" / ".aider.chat.history.md"
    file.write_text(f"{HISTORY}\n#### And now?  \n")
    make_settled(file)
    named_workspace.pipeline._tail._next_full_check_s = (
        named_workspace.pipeline._tail._next_quick_check_s
    ) = 0.0
    assert named_workspace.pipeline.run_until_idle(lambda _: None) == []
    assert list_stored() == sorted([*BOTH, ("shop", "And now?")])


def test_a_folder_named_for_an_import_is_enough_for_aiders_histories(
    workspace: Workspace, projects: Path
) -> None:
    for _ in workspace.pipeline.importer().run([projects]):
        pass
    assert list_stored() == BOTH


def test_files_of_no_format_are_counted_and_named(
    workspace: Workspace, projects: Path
) -> None:
    other = projects / "shop" / "qwen.jsonl"
    other.write_text('{"type": "user", "sessionId": "s", "message": {"parts": []}}\n')
    done = workspace.pipeline.importer()
    for _ in done.run([projects]):
        pass
    assert (done.progress.files, done.progress.unreadable) == (3, 1)
    assert list_stored() == BOTH
    with database.connection():
        (problem,) = sources.list_damaged()
    assert problem.source == str(other)
    assert problem.reason == "has an unknown format"
