"""Importing an export gives the same memory, and adds nothing twice."""

import json
import tracemalloc
from collections.abc import Callable, Iterator
from datetime import UTC, date, timedelta
from pathlib import Path
from typing import Any

import pytest

from memtui import demo
from memtui.capture.formats import plain
from memtui.cli.output import to_plain
from memtui.paths import in_home
from memtui.services import export, sessions
from memtui.settings import Settings
from memtui.store import database, tombstones
from memtui.store.events import read_all
from memtui.store.tombstones import Tombstone, TombstoneKind
from memtui.workspace import Workspace
from tests.conftest import HISTORY
from tests.conftest import TreeOf as TreeOfHome
from tests.services.conftest import Tree
from tests.services.test_forget import AT, forget, record, transcript
from tests.tables import EventRow, SessionRow, SourceCopyRow, SubagentRow

TreeOf = Callable[[Workspace], Tree]
ImportFiles = Callable[..., Workspace]
ExportEvents = Callable[[Workspace], Path]

AGENTS = ("claude_code", "codex", "copilot_cli", "aider", "fixtures_other")
"""The folders of real transcripts."""


@pytest.fixture
def export_events(tmp_path: Path) -> ExportEvents:
    """Writes what a workspace keeps into a file."""

    def write(workspace: Workspace) -> Path:
        file = tmp_path / f"{workspace.paths.store.parent.name}.jsonl"
        export.export_events(file, may_replace=True)
        return file

    return write


@pytest.fixture
def make_workspace(
    tmp_path: Path, settings: Settings
) -> Iterator[Callable[[], Workspace]]:
    """Opens a workspace with nothing in it, in place of the one before."""
    yield lambda: Workspace(in_home(tmp_path / "empty"), settings)
    database.close()


@pytest.fixture
def files_with_copies(
    tmp_path: Path, workspace: Workspace, import_files: ImportFiles
) -> list[Path]:
    """A workspace that hooks and transcripts told of the same, and of a fork of it.

    Returns:
        The transcripts.
    """
    folder = tmp_path / "projects"
    first = transcript(folder, "harbour-1", "The heron of the harbour")
    records = [json.loads(line) for line in first.read_text().splitlines()]
    copied = [{**line, "sessionId": "harbour-2"} for line in records[:6]]
    own = record(90, "harbour-2", "user", "And now for the otters of the harbour.")
    fork = first.with_name("harbour-2.jsonl")
    fork.write_text("".join(f"{json.dumps(line)}\n" for line in [*copied, own]))
    helpers = first.with_suffix("") / "subagents"
    helpers.mkdir(parents=True)
    said = record(3.5, "harbour-1", "assistant", [{"type": "text", "text": "Looked."}])
    (helpers / "agent-a1.jsonl").write_text(f"{json.dumps(said)}\n")
    about = {
        "agentType": "Explore",
        "toolUseId": "call-harbour-1",
        "description": "Look",
    }
    (helpers / "agent-a1.meta.json").write_text(json.dumps(about))
    for number, (event, text) in enumerate(
        (
            ("UserPromptSubmit", records[0]["message"]["content"]),
            ("UserPromptSubmit", "Only the hook heard of the kingfisher."),
            ("SessionEnd", ""),
        )
    ):
        payload = {
            "session_id": "harbour-1",
            "hook_event_name": event,
            "timestamp": (AT + timedelta(minutes=number * 0.1)).isoformat(),
            "prompt": text,
        }
        file = workspace.paths.spool / "new" / f"{number}.1.a.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(payload))
    import_files(workspace, folder)
    return [folder]


def list_copies() -> list[Any]:
    with database.connection():
        rows = database.db.execute_sql(
            "SELECT t.copy_id, t.event_id, t.route, s.name FROM source_copies t"
            " LEFT JOIN sessions s ON s.id = t.session_id ORDER BY 1"
        )
        return list(rows.fetchall())


def lists() -> Any:
    """The sessions as a person is shown them."""
    return to_plain(sessions.list_sessions(limit=1000))


def test_an_import_of_an_export_gives_the_same_store(
    workspace: Workspace,
    files_with_copies: list[Path],
    make_workspace: Callable[[], Workspace],
    export_events: ExportEvents,
    import_files: ImportFiles,
    tree: TreeOf,
) -> None:
    before, copies, listed = tree(workspace), list_copies(), lists()
    routes = {row["route"] for row in before["events"]}
    assert routes == {"unnamed-hook", "transcript"} and len(copies) == 5
    assert {row["forked_from"] for row in before["sessions"]} == {"", "harbour-1"}
    with database.connection():
        helpers = list(SubagentRow.select().dicts())
    assert [row["task"] for row in helpers] == ["Look"]
    file = export_events(workspace)
    workspace.stop()

    new = import_files(make_workspace(), file)
    assert tree(new) == before
    assert list_copies() == copies
    assert lists() == listed
    with database.connection():
        assert list(SubagentRow.select().dicts()) == helpers
    assert export_events(new).read_text() == file.read_text()


def test_importing_an_export_twice_or_beside_transcripts_adds_nothing(
    workspace: Workspace,
    files_with_copies: list[Path],
    make_workspace: Callable[[], Workspace],
    export_events: ExportEvents,
    import_files: ImportFiles,
    tree: TreeOf,
    tmp_path: Path,
) -> None:
    before, expected = tree(workspace), list_copies()
    file = export_events(workspace)
    import_files(workspace, file)
    assert (tree(workspace), list_copies()) == (before, expected)
    workspace.stop()

    new = import_files(make_workspace(), file)
    again = tmp_path / "again.jsonl"
    again.write_bytes(file.read_bytes())
    import_files(new, again, *files_with_copies)
    assert (tree(new), list_copies()) == (before, expected)


def test_importing_an_export_after_transcripts_adds_only_missing_events(
    workspace: Workspace,
    files_with_copies: list[Path],
    make_workspace: Callable[[], Workspace],
    export_events: ExportEvents,
    import_files: ImportFiles,
    tree: TreeOf,
) -> None:
    before = tree(workspace)
    file = export_events(workspace)
    workspace.stop()
    new = import_files(make_workspace(), *files_with_copies)
    lacking = {"Only the hook heard of the kingfisher.", ""}
    hook_texts = {
        row["text"] for row in before["events"] if row["route"] == "unnamed-hook"
    }
    assert hook_texts == lacking
    after = tree(import_files(new, file))
    for stored in (before, after):
        # Of a node that was made before the rest came, there is an earlier version.
        del stored["grips"]
        for node in stored["nodes"].values():
            del node["version"]
    assert after == before


def test_a_fork_is_recognized_after_an_import_of_an_export(
    workspace: Workspace,
    files_with_copies: list[Path],
    make_workspace: Callable[[], Workspace],
    export_events: ExportEvents,
    import_files: ImportFiles,
) -> None:
    file = export_events(workspace)
    workspace.stop()
    new = import_files(make_workspace(), file)
    with database.connection():
        events = EventRow.select().count()
    (folder,) = files_with_copies
    first = folder / "-home-ada-harbour" / "harbour-1.jsonl"
    lines = [json.loads(line) for line in first.read_text().splitlines()[:6]]
    own = record(200, "harbour-3", "user", "And what do the terns eat?")
    copied = [{**line, "sessionId": "harbour-3"} for line in lines] + [own]
    fork = first.with_name("harbour-3.jsonl")
    fork.write_text("".join(f"{json.dumps(line)}\n" for line in copied))
    import_files(new, fork)
    with database.connection():
        assert EventRow.select().count() == events + 1
        row = SessionRow.get(SessionRow.name == "harbour-3")
        assert (row.event_count, row.forked_from != "") == (1, True)


def test_an_equal_later_message_is_no_copy_of_an_exported_one(
    workspace: Workspace,
    files_with_copies: list[Path],
    make_workspace: Callable[[], Workspace],
    export_events: ExportEvents,
    import_files: ImportFiles,
) -> None:
    file = export_events(workspace)
    workspace.stop()
    new = import_files(make_workspace(), file)
    with database.connection():
        events = EventRow.select().count()
    (folder,) = files_with_copies
    first = folder / "-home-ada-harbour" / "harbour-1.jsonl"
    text = json.loads(first.read_text().splitlines()[0])["message"]["content"]
    with first.open("a") as grown:
        grown.write(f"{json.dumps(record(7.5, 'harbour-1', 'user', text))}\n")
    import_files(new, first)
    with database.connection():
        assert EventRow.select().count() == events + 1
        assert EventRow.select().where(EventRow.text == text).count() == 2


@pytest.mark.parametrize("agent", AGENTS)
def test_an_export_of_real_sessions_gives_the_same_store(
    shared: Path,
    agent: str,
    workspace: Workspace,
    make_workspace: Callable[[], Workspace],
    export_events: ExportEvents,
    import_files: ImportFiles,
    tree: TreeOf,
    tree_of: TreeOfHome,
) -> None:
    folder = shared / agent
    import_files(workspace, folder)
    before, copies, listed = without_problems(tree(workspace)), list_copies(), lists()
    assert before["events"]
    file = export_events(workspace)
    kept = without_problems(tree_of(workspace.paths.store.parent))

    new = import_files(make_workspace(), file)
    assert without_problems(tree(new)) == before
    assert (list_copies(), lists()) == (copies, listed)
    assert without_problems(tree_of(new.paths.store.parent)) == kept
    new = import_files(make_workspace(), folder)
    assert without_problems(tree(new)) == before
    assert export_events(new).read_text() == file.read_text()


def without_problems(stored: Tree) -> Tree:
    """What is kept, without what is of the files it came from: the count of damaged
    records, and when they told what is known of sessions."""
    del stored["stats"]["skipped"]
    sessions = stored["sessions"]
    for row in sessions.values() if isinstance(sessions, dict) else sessions:
        row.pop("fact_times", None)
    return stored


@pytest.mark.full
def test_an_export_of_the_demo_gives_the_same_store(
    workspace: Workspace,
    tmp_path: Path,
    make_workspace: Callable[[], Workspace],
    export_events: ExportEvents,
    import_files: ImportFiles,
    tree: TreeOf,
) -> None:
    folder = tmp_path / "history"
    demo.write(folder, today=date(2025, 6, 2), zone=UTC)
    before = tree(import_files(workspace, folder))
    file = export_events(workspace)
    workspace.stop()
    assert tree(import_files(make_workspace(), file)) == before


@pytest.mark.full
def test_an_interrupted_import_continues_with_its_state(
    workspace: Workspace,
    make_workspace: Callable[[], Workspace],
    export_events: ExportEvents,
    import_files: ImportFiles,
    tree: TreeOf,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = tree(import_files(workspace, HISTORY))
    file = export_events(workspace)
    workspace.stop()
    monkeypatch.setattr("memtui.capture.ingest.EVENTS_AT_ONCE", 1)
    monkeypatch.setattr("memtui.capture.formats.jsonl.RECORDS_PER_CURSOR", 1)
    new = make_workspace()
    # A new import for every few records: each goes on where the one before ended.
    for _ in range(60):
        for number, _ in enumerate(new.pipeline.importer().run([file])):
            if number == 1:
                break
    assert new.pipeline.run_until_idle(lambda _: None) == []
    assert tree(new) == before


def test_forgotten_events_are_not_imported_from_an_export(
    full_workspace: Workspace,
    export_events: ExportEvents,
    import_files: ImportFiles,
    tree: TreeOf,
) -> None:
    file = export_events(full_workspace)
    with database.transaction():
        stone = Tombstone(TombstoneKind.SESSION, "shop-1", "claude-code")
        tombstones.add([stone], 1)
        SessionRow.update(name="gone").where(SessionRow.name == "shop-1").execute()
    import_files(full_workspace, file)
    with database.connection():
        assert SessionRow.select().where(SessionRow.name == "shop-1").count() == 0
        assert SourceCopyRow.select().count() == 0


@pytest.mark.full
def test_an_export_of_more_events_takes_no_more_memory(workspace: Workspace) -> None:
    def most(events: int) -> int:
        with database.transaction():
            database.db.execute_sql("DELETE FROM outbox")
            number = SessionRow.insert(
                agent="a", name=f"s{events}", created_ms=0, updated_ms=0
            ).execute()
            database.db.execute_sql(
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n"
                f" WHERE i < {events}) INSERT INTO events SELECT"
                f" printf('01HM%022d', {events} * 1000000 + i), {number}, i, 0,"
                " 'user_message', 'user', '', printf('%02000d', i), '', 1, 'c',"
                " 'transcript', randomblob(8), randomblob(8), randomblob(16) FROM n"
            )
        with database.connection():
            tracemalloc.start()
            size = sum(len(plain.to_line(record)) for record in read_all())
            _, peak = tracemalloc.get_traced_memory()
            tracemalloc.stop()
        assert size > events * 2000
        return peak

    few = most(2_000)
    assert most(20_000) < few * 1.5


def test_ids_of_forgotten_lines_are_no_claims(
    full_workspace: Workspace,
    make_workspace: Callable[[], Workspace],
    export_events: ExportEvents,
    import_files: ImportFiles,
) -> None:
    file = export_events(full_workspace)
    full_workspace.stop()
    new = import_files(make_workspace(), file)
    with database.connection():
        before = database.fetch_column("SELECT id FROM claimed_ids")
    result = forget(new, TombstoneKind.SESSION, "shop-1")
    with database.connection():
        claimed = database.fetch_column("SELECT id FROM claimed_ids")
        events = database.fetch_column("SELECT id FROM events")
    assert len(claimed) == len(before) - result.counts.events - result.counts.thoughts
    assert result.counts.events and set(claimed) == set(events)
