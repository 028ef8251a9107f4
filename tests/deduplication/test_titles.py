"""Titles of sessions in other files: in any order, once, and gone when forgotten."""

import json
from datetime import UTC, datetime
from itertools import permutations
from pathlib import Path

import pytest

from memtui.capture.ingest import ImportProgress
from memtui.paths import in_home
from memtui.services.forget import Forget
from memtui.settings import Settings
from memtui.store import database, sessions
from memtui.store.tombstones import TombstoneKind
from memtui.workspace import Workspace
from tests.deduplication.deliveries import record, session_records
from tests.tables import CursorRow

TITLE = "The quokkaberry migration"


def summary(leaf: str, title: str = TITLE) -> str:
    return json.dumps({"type": "summary", "summary": title, "leafUuid": leaf}) + "\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "projects"
    folder.mkdir()
    return folder


def read(workspace: Workspace, folder: Path, *names: str) -> ImportProgress:
    paths = [folder / f"{name}.jsonl" for name in names] or [folder]
    *_, progress = workspace.pipeline.importer().run(paths)
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    return progress


def list_titles() -> dict[str, str]:
    with database.connection():
        matches = {row["name"]: sessions.from_row(row) for row in sessions.list_rows()}
        return {name: item.agent_title for name, item in matches.items()}


def list_states() -> str:
    with database.connection():
        return " ".join(row.state for row in CursorRow.select())


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize("order", permutations(["a", "b"]))
def test_a_summary_in_another_file_is_the_title(
    workspace: Workspace, folder: Path, order: tuple[str, str], together: bool
) -> None:
    session, other = order
    (folder / f"{session}.jsonl").write_text(session_records("s1", 1, 2))
    text = summary("u2") + session_records("s2", 11, 12)
    (folder / f"{other}.jsonl").write_text(text)
    for names in [()] if together else [("a",), ("b",)]:
        progress = read(workspace, folder, *names)
    assert list_titles() == {"s1": TITLE, "s2": ""}
    assert progress.unread == {}
    assert TITLE not in list_states()
    again = read(workspace, folder)
    assert (again.created, again.unchanged) == (0, 2)
    assert list_titles() == {"s1": TITLE, "s2": ""}


def test_title_of_an_unknown_session_waits_for_it(
    workspace: Workspace, folder: Path
) -> None:
    (folder / "a.jsonl").write_text(summary("u99") + session_records("s1", 1, 2))
    progress = read(workspace, folder)
    assert (progress.unread, progress.skipped) == ({}, 1)
    assert list_titles() == {"s1": ""} and TITLE in list_states()
    assert read(workspace, folder).unchanged == 1
    (folder / "b.jsonl").write_text(session_records("s2", 99))
    read(workspace, folder)
    assert list_titles() == {"s1": "", "s2": TITLE}
    assert TITLE not in list_states()


def test_a_title_of_the_session_itself_is_newer(
    workspace: Workspace, folder: Path
) -> None:
    own = {"type": "ai-title", "sessionId": "s1", "aiTitle": "Own title"}
    (folder / "a.jsonl").write_text(session_records("s1", 1, 2) + json.dumps(own))
    (folder / "b.jsonl").write_text(summary("u2") + session_records("s2", 11, 12))
    progress = read(workspace, folder)
    assert list_titles() == {"s1": "Own title", "s2": ""}
    assert progress.unread == {} and TITLE not in list_states()


@pytest.mark.parametrize("order", permutations(["a", "b", "c"]))
def test_a_fork_does_not_get_the_title_of_its_original(
    workspace: Workspace, folder: Path, order: tuple[str, ...]
) -> None:
    (folder / "a.jsonl").write_text(session_records("s1", 1, 2))
    (folder / "b.jsonl").write_text(session_records("s2", 1, 2, 3, 4))
    (folder / "c.jsonl").write_text(summary("u2") + session_records("s3", 11, 12))
    for name in order:
        read(workspace, folder, name)
    assert list_titles() == {"s1": TITLE, "s2": "", "s3": ""}


def test_summary_of_an_earlier_message_is_no_title(
    workspace: Workspace, folder: Path
) -> None:
    (folder / "a.jsonl").write_text(session_records("s1", 1, 2, 3))
    (folder / "b.jsonl").write_text(summary("u2") + session_records("s2", 11, 12))
    read(workspace, folder)
    assert list_titles() == {"s1": "", "s2": ""}


@pytest.mark.parametrize("is_known", [True, False])
def test_the_title_of_a_forgotten_session_is_gone(
    tmp_path: Path, settings: Settings, folder: Path, is_known: bool
) -> None:
    workspace = Workspace(in_home(tmp_path / "home"), settings)
    (folder / "a.jsonl").write_text(session_records("s1", 1, 2))
    if is_known:
        (folder / "b.jsonl").write_text(summary("u2") + session_records("s2", 11, 12))
    read(workspace, folder)
    assert list_titles()["s1"] == (TITLE if is_known else "")
    forgetting = Forget(workspace.paths, workspace.zone, lambda: datetime.now(UTC))
    forgetting.run(TombstoneKind.SESSION, ["s1"])
    (folder / "c.jsonl").write_text(summary("u2") + session_records("s3", 21, 22))
    with (folder / "c.jsonl").open("a") as file:
        file.write(record(23, "Thanks.", "s3"))
    assert read(workspace, folder).unread == {}
    assert "s1" not in list_titles()
    assert TITLE not in list_states()
    workspace.stop()
    for place in (tmp_path / "home").rglob("*"):
        assert not place.is_file() or b"quokkaberry" not in place.read_bytes(), place
