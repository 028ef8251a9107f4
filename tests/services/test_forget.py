"""Forgotten content leaves no trace, and everything else stays the same."""

import json
import random
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from memtui.capture.ingest import ImportProgress
from memtui.errors import MemtuiError, StoreBusyError
from memtui.model import citations
from memtui.model.nodes import BulletKind
from memtui.paths import in_home
from memtui.services import browse, status, versions
from memtui.services.forget import Forget, ForgetResult, undo
from memtui.services.sessions import read_card
from memtui.settings import Settings
from memtui.store import database, meta, sources, tombstones
from memtui.store.database import fetch_column, fetch_value
from memtui.store.tombstones import TombstoneKind
from memtui.workspace import Workspace
from tests.conftest import HISTORY
from tests.message_factory import make_message, make_run, store_messages
from tests.tables import (
    EventRow,
    SessionRow,
    SourceCopyRow,
    SubagentRow,
    ThoughtRow,
    TombstoneRow,
    VersionRow,
)

Tree = dict[str, Any]
TreeOf = Callable[[Workspace], Tree]
ImportFiles = Callable[..., Workspace]

WORDS = "The quokkaberry żółwik"
"""What must not be found: a word nobody else says, and one that is not ASCII."""

TRACES = [
    form
    for word in ("quokkaber", "Quokkaber", "żółwik", "zolwik", "żółwi")
    for form in {
        word.encode(),
        json.dumps(word)[1:-1].encode(),
        word.encode("utf-16-le"),
        word.encode("utf-16-be"),
    }
]
AT = datetime(2025, 3, 14, 10, tzinfo=UTC)


def forgetting(workspace: Workspace) -> Forget:
    return Forget(workspace.paths, workspace.zone, lambda: datetime.now(UTC))


def forget(workspace: Workspace, kind: TombstoneKind, *words: str) -> ForgetResult:
    """What the command does, without its words."""
    result = forgetting(workspace).run(kind, words)
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    return result


def traces(home: Path) -> list[Path]:
    """The files that hold any of it, byte by byte."""
    return [
        file
        for file in sorted(home.rglob("*"))
        if file.is_file() and any(form in file.read_bytes() for form in TRACES)
    ]


def record(minute: float, session: str, kind: str, content: object) -> dict[str, Any]:
    at = AT + timedelta(minutes=minute)
    return {
        "type": kind,
        "uuid": f"{session}-{minute}",
        "sessionId": session,
        "cwd": f"/home/ada/{session.partition('-')[0]}",
        "timestamp": at.isoformat(),
        "message": {"role": kind, "content": content},
    }


def transcript(folder: Path, session: str, words: str, minute: float = 0) -> Path:
    """A session that says some words in all the places where words can be."""
    call = {"type": "tool_use", "id": f"call-{session}", "name": "Bash"}
    pending = {"type": "tool_use", "id": f"open-{session}", "name": "Bash"}
    answer = {"type": "tool_result", "tool_use_id": f"call-{session}", "content": "ok"}
    spoken = [
        record(minute, session, "user", f"{words} must be counted in the harbour."),
        record(minute + 1, session, "assistant", [
            {"type": "thinking", "thinking": f"{words} wants a ledger."},
        ]),
        record(minute + 2, session, "assistant", [
            {"type": "text", "text": f"{words} is counted by the harbour master now."},
        ]),
        record(minute + 3, session, "assistant", [
            {**call, "input": {"command": f"grep -r '{words}' harbour/"}},
        ]),
        record(minute + 4, session, "user", [answer]),
        record(minute + 5, session, "assistant", [
            {"type": "text", "text": f"Done: {words} stands in harbour/ledger.py."},
        ]),
        record(minute + 6, session, "assistant", [
            {**pending, "input": {"command": f"echo {words}"}},
        ]),
    ]  # fmt: skip
    title = {"customTitle": f"{words} ledger", "sessionId": session}
    spoken.append({"type": "custom-title", **title})
    file = folder / f"-home-ada-{session.partition('-')[0]}" / f"{session}.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{json.dumps(line)}\n" for line in spoken))
    return file


def hook_files(workspace: Workspace) -> None:
    """What hooks left: news, a draft, and quarantined files, some damaged."""
    spool = workspace.paths.spool
    payload = {
        "session_id": "secret-1",
        "cwd": "/home/ada/secret",
        "hook_event_name": "UserPromptSubmit",
        "timestamp": (AT + timedelta(minutes=0.2)).isoformat(),
        "prompt": f"{WORDS} must be counted in the harbour.",
    }
    other = {**payload, "session_id": "open-9", "cwd": "/home/ada/open", "prompt": "Hi"}
    other["timestamp"] = (AT + timedelta(days=9)).isoformat()
    files = {
        "new/1.1.a.json": json.dumps(payload).encode(),
        "tmp/2.1.a.json": json.dumps(payload, ensure_ascii=False).encode(),
        "bad/3.1.a.json": json.dumps({**payload, "hook_event_name": "Novel"}).encode(),
        "bad/4.1.a.json": json.dumps(payload, ensure_ascii=False).encode()[:-9],
        "bad/5.1.a.json": json.dumps([payload, {**other, "n": 1}]).encode(),
        "bad/6.1.a.json": json.dumps(other).encode(),
    }
    for name, raw in files.items():
        file = spool / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(raw)
    (spool / "bad" / "3.1.a.json.reason").write_text(f"line 1: unknown {WORDS}\n")


@pytest.fixture
def histories(tmp_path: Path) -> Path:
    folder = tmp_path / "projects"
    transcript(folder, "secret-1", WORDS)
    transcript(folder, "open-1", "The heron", minute=3)
    transcript(folder, "open-2", "The otter", minute=3 * 24 * 60)
    return folder


@pytest.fixture
def history_workspace(
    workspace: Workspace, histories: Path, import_files: ImportFiles
) -> Workspace:
    """A workspace that knows the words from everywhere."""
    import_files(workspace, histories)
    hook_files(workspace)
    workspace.paths.log.write_text(f"could not read {WORDS}\n")
    # What a restoring left that was killed.
    workspace.paths.store.with_name("memory.db.restoring").write_text(WORDS)
    database.close()
    return workspace


def subjects(kind: TombstoneKind) -> list[str]:
    if kind is TombstoneKind.SESSION:
        return ["secret-1"]
    if kind is TombstoneKind.PROJECT:
        return ["secret"]
    if kind is TombstoneKind.BEFORE:
        return ["2025-03-16"]
    with database.connection():
        said = EventRow.text.contains("berry") | EventRow.metadata.contains("berry")
        events = [e for (e,) in EventRow.select(EventRow.id).where(said).tuples()]
        thoughts = ThoughtRow.select(ThoughtRow.id).where(
            ThoughtRow.text.contains("berry")
        )
        return events + [t for (t,) in thoughts.tuples()]


KINDS = (
    TombstoneKind.EVENT,
    TombstoneKind.SESSION,
    TombstoneKind.PROJECT,
    TombstoneKind.BEFORE,
)


@pytest.mark.parametrize("kind", KINDS)
def test_forgotten_text_is_in_no_file_even_after_another_import(
    history_workspace: Workspace,
    histories: Path,
    import_files: ImportFiles,
    kind: TombstoneKind,
) -> None:
    workspace = history_workspace
    home = workspace.paths.store.parent
    names = {file.name for file in traces(home)}
    assert {"memory.db", "memtui.log", "1.1.a.json", "3.1.a.json.reason"} <= names
    assert any(file.parent.name == "index" for file in traces(home))

    forget(workspace, kind, *subjects(kind))
    database.close()
    assert traces(home) == []

    import_files(workspace, histories)
    with database.connection():
        sources.delete_all_cursors()
    import_files(workspace, histories)
    database.close()
    assert traces(home) == []


def test_forgetting_beside_a_reader_is_finished_when_it_ends(
    history_workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader's old moment of the store stays in the log until the reader ends."""
    home, store = history_workspace.paths.store.parent, history_workspace.paths.store
    monkeypatch.setattr(database.db, "_timeout", 0.1)
    forgetter, named = forgetting(history_workspace), subjects(TombstoneKind.SESSION)
    with closing(sqlite3.connect(store, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        (before,) = reader.execute("SELECT count(*) FROM events").fetchone()
        with pytest.raises(StoreBusyError, match="it is removed, but stays in"):
            forgetter.run(TombstoneKind.SESSION, named)
        assert reader.execute("SELECT count(*) FROM events").fetchone() == (before,)
        with database.connection():
            assert EventRow.select().count() < before
            assert meta.needs_cleanup() and meta.is_in_log()
        assert "memory.db" in {file.name for file in traces(home)}
    forgetter.run(TombstoneKind.SESSION, named)
    database.close()
    assert traces(home) == []
    with database.connection():
        assert not meta.needs_cleanup()


@pytest.mark.parametrize("kind", (TombstoneKind.SESSION, TombstoneKind.PROJECT))
def test_after_forgetting_the_store_equals_one_without_the_session(
    history_workspace: Workspace,
    histories: Path,
    tmp_path: Path,
    settings: Settings,
    import_files: ImportFiles,
    tree: TreeOf,
    kind: TombstoneKind,
) -> None:
    forget(history_workspace, kind, *subjects(kind))
    after = tree(history_workspace)
    history_workspace.stop()
    (histories / "-home-ada-secret" / "secret-1.jsonl").unlink()
    never = Workspace(in_home(tmp_path / "never"), settings)
    expected = tree(import_files(never, histories))
    # Two files with other sessions are still in the quarantine.
    expected["stats"]["skipped"] = 2
    assert after == expected
    assert after["nodes"]
    never.stop()


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.full
def test_forgetting_any_events_gives_the_store_of_a_history_without_them(
    seed: int,
    tmp_path: Path,
    settings: Settings,
    import_files: ImportFiles,
    tree: TreeOf,
) -> None:
    chance = random.Random(seed)
    lines = HISTORY.read_text().splitlines()
    gone = set(chance.sample(range(len(lines)), chance.choice((1, 3, 12, 30))))
    remaining = tmp_path / "rest.jsonl"
    kept = [line for place, line in enumerate(lines) if place not in gone]
    remaining.write_text("".join(f"{line}\n" for line in kept))
    never = Workspace(in_home(tmp_path / "never"), settings)
    expected = tree(import_files(never, remaining))
    never.stop()

    workspace = import_files(Workspace(in_home(tmp_path / "home"), settings), HISTORY)
    ids = {row["id"] for row in expected["events"]}
    with database.connection():
        all_ids = {name for (name,) in EventRow.select(EventRow.id).tuples()}
    forget(workspace, TombstoneKind.EVENT, *sorted(all_ids - ids))
    assert tree(workspace) == expected
    assert tree(import_files(workspace, HISTORY)) == expected
    workspace.stop()


def test_before_a_date_means_midnight_in_the_zone_of_the_store(
    full_workspace: Workspace, tree: TreeOf
) -> None:
    forget(full_workspace, TombstoneKind.BEFORE, "2024-01-16")
    first = min(row["at_ms"] for row in tree(full_workspace)["events"])
    with database.connection():
        assert first >= datetime(2024, 1, 16, tzinfo=UTC).timestamp() * 1000
        assert SessionRow.select().where(SessionRow.event_count == 0).count() == 0


def test_an_event_at_midnight_is_not_before_the_date(
    workspace: Workspace, tmp_path: Path, import_files: ImportFiles
) -> None:
    midnight = datetime(2025, 3, 16, tzinfo=workspace.zone)
    minute = (midnight - AT) / timedelta(minutes=1)
    for before, session in ((0.5, "open-1"), (0, "open-2")):
        file = transcript(tmp_path, session, "The heron", minute - before)
        import_files(workspace, file)
    forget(workspace, TombstoneKind.BEFORE, "2025-03-16")
    with database.connection():
        times = EventRow.select(EventRow.at_ms).order_by(EventRow.at_ms).tuples()
        assert next(iter(times))[0] == midnight.timestamp() * 1000


def test_older_versions_with_forgotten_text_are_deleted(
    workspace: Workspace, tmp_path: Path, import_files: ImportFiles
) -> None:
    file = tmp_path / "one.jsonl"
    about = {"session_id": "s", "project": "p", "agent": "a"}

    def say(minute: int, text: str) -> str:
        at = (AT + timedelta(minutes=minute)).isoformat()
        event = {**about, "timestamp": at, "role": "user", "text": text, "key": text}
        return f"{json.dumps(event)}\n"

    file.write_text(say(5, f"{WORDS} came late to the harbour."))
    import_files(workspace, file)
    file.write_text(say(5, f"{WORDS} came late to the harbour.") + say(0, "The heron."))
    import_files(workspace, file)
    with database.connection():
        assert VersionRow.select().where(VersionRow.level == "segment").count() == 2
    forget(workspace, TombstoneKind.EVENT, *subjects(TombstoneKind.EVENT))
    database.close()
    assert traces(workspace.paths.store.parent) == []
    assert status.read_stats().nodes == 5


def test_older_versions_within_an_hour_of_what_is_forgotten_are_deleted(
    workspace: Workspace, tmp_path: Path, import_files: ImportFiles
) -> None:
    file = tmp_path / "one.jsonl"
    about = {"project": "p", "agent": "a", "role": "user"}

    def say(minute: int, session: str, text: str) -> str:
        at = (AT + timedelta(minutes=minute)).isoformat()
        event = {**about, "session_id": session, "timestamp": at, "text": text}
        return f"{json.dumps({**event, 'key': text})}\n"

    def count_versions() -> dict[int, int]:
        """Return the versions of segments by the minute of their end."""
        with database.connection():
            rows = VersionRow.select().where(VersionRow.level == "segment")
            start_ms = int(AT.timestamp() * 1000)
            return Counter((row.end_ms - start_ms) // 60_000 for row in rows)

    told = [
        say(-70, "far", "The heron."),
        say(-50, "near", "The otter."),
        say(0, "secret", f"{WORDS} came late to the harbour."),
    ]
    file.write_text("".join(told))
    import_files(workspace, file)
    earlier = [say(-75, "far", "The ibis."), say(-55, "near", "The owl.")]
    file.write_text("".join([*told, *earlier]))
    import_files(workspace, file)
    assert count_versions() == {-70: 2, -50: 2, 0: 1}
    forget(workspace, TombstoneKind.SESSION, "secret")
    assert count_versions() == {-70: 2, -50: 1}


@pytest.mark.parametrize(
    "kind", (TombstoneKind.EVENT, TombstoneKind.SESSION, TombstoneKind.PROJECT)
)
def test_a_late_hook_does_not_restore_forgotten_content(
    history_workspace: Workspace, kind: TombstoneKind
) -> None:
    forget(history_workspace, kind, *subjects(kind))
    hook_files(history_workspace)
    assert history_workspace.pipeline.run_until_idle(lambda _: None) == []
    with database.connection():
        said = EventRow.text.contains("berry")
        assert EventRow.select().where(said).count() == 0


def test_a_new_session_of_a_forgotten_project_is_not_stored(
    history_workspace: Workspace, histories: Path, import_files: ImportFiles
) -> None:
    forget(history_workspace, TombstoneKind.PROJECT, "secret")
    transcript(histories, "secret-2", WORDS, minute=99)
    import_files(history_workspace, histories)
    database.close()
    with database.connection():
        assert SessionRow.select().where(SessionRow.name == "secret-2").count() == 0
    database.close()
    assert "memory.db" not in {
        f.name for f in traces(history_workspace.paths.store.parent)
    }


def two_of_a_name(
    workspace: Workspace, folder: Path, import_files: ImportFiles
) -> None:
    """Two folders called secret, with a session in each."""
    elsewhere = transcript(folder, "secret-2", "The heron", minute=99)
    said = elsewhere.read_text().replace("/home/ada/secret", "/srv/secret")
    elsewhere.write_text(said)
    import_files(workspace, folder)


def test_two_projects_of_one_name_differ_by_their_folder(
    history_workspace: Workspace, histories: Path, import_files: ImportFiles
) -> None:
    two_of_a_name(history_workspace, histories, import_files)
    with pytest.raises(MemtuiError, match=r"2 projects .* /home/ada/secret, /srv/secr"):
        forget(history_workspace, TombstoneKind.PROJECT, "secret")
    result = forget(history_workspace, TombstoneKind.PROJECT, "/home/ada/secret/")
    assert result.sessions == 1
    assert result.titles == ((f"{WORDS} ledger", "/home/ada/secret"),)
    database.close()
    assert traces(history_workspace.paths.store.parent) == []

    late = {
        "session_id": "secret-3",
        "hook_event_name": "UserPromptSubmit",
        "timestamp": AT.isoformat(),
    }
    new = history_workspace.paths.spool / "new"
    for number, cwd in enumerate(("/srv/secret", "/home/ada/secret")):
        payload = {**late, "cwd": cwd, "prompt": f"Late in {cwd}", "n": number}
        payload["session_id"] = f"late-{number}"
        (new / f"{number}.1.z.json").write_text(json.dumps(payload))
    with database.connection():
        sources.delete_all_cursors()
    importer = history_workspace.pipeline.importer()
    for _ in importer.run([histories]):
        pass
    assert importer.progress.forgotten > 0
    import_files(history_workspace)
    with database.connection():
        names = {name for (name,) in SessionRow.select(SessionRow.name).tuples()}
    assert names == {"open-1", "open-2", "secret-2", "late-0"}


def test_forgetting_a_project_is_undone_by_name_or_folder(
    history_workspace: Workspace, histories: Path, import_files: ImportFiles
) -> None:
    for word in ("secret", "/home/ada/secret"):
        forget(history_workspace, TombstoneKind.PROJECT, "secret")
        undo(TombstoneKind("project"), [word], history_workspace.zone)
        import_files(history_workspace, histories)
        with database.connection():
            assert SessionRow.select().where(SessionRow.name == "secret-1").exists()
    with pytest.raises(MemtuiError, match="was not forgotten"):
        undo(TombstoneKind("project"), ["secret"], history_workspace.zone)


def test_a_future_date_is_refused(full_workspace: Workspace) -> None:
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).date().isoformat()
    with pytest.raises(MemtuiError, match="is still to come"):
        forget(full_workspace, TombstoneKind.BEFORE, tomorrow)
    with database.connection():
        assert not tombstones.any_exist()
    forget(full_workspace, TombstoneKind.BEFORE, datetime.now(UTC).date().isoformat())


def test_a_fork_does_not_restore_a_forgotten_session(
    workspace: Workspace, tmp_path: Path, import_files: ImportFiles
) -> None:
    folder = tmp_path / "projects"
    first = transcript(folder, "secret-1", WORDS)
    copied = [json.loads(line) for line in first.read_text().splitlines()[:6]]
    resumed = folder / "-home-ada-secret" / "later.jsonl"
    own = record(90, "later", "user", "And now for the herons of the harbour.")
    lines = [{**line, "sessionId": "later"} for line in copied] + [own]
    resumed.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    import_files(workspace, first, resumed)
    with database.connection():
        assert SourceCopyRow.select().count() > 0
    forget(workspace, TombstoneKind.SESSION, "secret-1")
    with database.connection():
        sources.delete_all_cursors()
    import_files(workspace, folder)
    with database.connection():
        rows = EventRow.select(EventRow.text).tuples()
        assert [text for (text,) in rows] == ["And now for the herons of the harbour."]


def imported(workspace: Workspace, *paths: Path) -> ImportProgress:
    importer = workspace.pipeline.importer()
    for _ in importer.run(paths):
        pass
    return importer.progress


def test_only_files_with_the_session_are_read_again(
    history_workspace: Workspace, histories: Path
) -> None:
    forget(history_workspace, TombstoneKind.SESSION, "secret-1")
    again = imported(history_workspace, histories)
    assert (again.files, again.unchanged) == (3, 2)
    assert imported(history_workspace, histories).unchanged == 3


def of_claude(number: int, text: str) -> dict[str, Any]:
    return record(number, "ledger-1", "user", text)


def of_codex(number: int, text: str) -> dict[str, Any]:
    at = (AT + timedelta(minutes=number)).isoformat()
    if not number:
        payload: dict[str, Any] = {"id": "ledger-1", "cwd": "/home/ada/ledger"}
        return {"timestamp": at, "type": "session_meta", "payload": payload}
    payload = {"type": "user_message", "message": text}
    return {"timestamp": at, "type": "event_msg", "payload": payload}


@pytest.mark.parametrize("make_record", [of_claude, of_codex])
def test_a_file_with_forgotten_events_is_read_on_from_its_position(
    workspace: Workspace,
    tmp_path: Path,
    import_files: ImportFiles,
    make_record: Callable[[int, str], dict[str, Any]],
) -> None:
    file = tmp_path / "rollout-ledger-1.jsonl"
    said = [make_record(n, f"Question {n} of the harbour") for n in range(8)]
    said[5] = make_record(5, f"{WORDS} is the answer")
    title = {"type": "custom-title", "customTitle": WORDS, "sessionId": "ledger-1"}
    records = [*said, title] if make_record is of_claude else said
    file.write_text("".join(f"{json.dumps(line)}\n" for line in records))
    import_files(workspace, file)
    forget(workspace, TombstoneKind.EVENT, *subjects(TombstoneKind.EVENT))
    again = imported(workspace, file)
    assert (again.created, again.forgotten) == (0, 1)
    for number in (10, 11):
        with file.open("a") as grown:
            grown.write(f"{json.dumps(make_record(number, f'Question {number}'))}\n")
        more = imported(workspace, file)
        assert (more.created, more.already_stored, more.forgotten) == (1, 0, 0)
    import_files(workspace)
    with database.connection():
        assert SessionRow.get().cwd == "/home/ada/ledger"
        (offset,) = [sources.get_offset(str(file.resolve()))]
    assert offset == file.stat().st_size
    database.close()
    assert traces(workspace.paths.store.parent) == []


def test_tombstones_contain_no_text(history_workspace: Workspace) -> None:
    forget(history_workspace, TombstoneKind.EVENT, *subjects(TombstoneKind.EVENT))
    with database.connection():
        for row in TombstoneRow.select():
            assert " " not in row.subject
    database.close()


def test_a_subagents_task_is_deleted_with_the_call_that_started_it(
    history_workspace: Workspace, histories: Path, import_files: ImportFiles
) -> None:
    folder = histories / "-home-ada-secret" / "secret-1" / "subagents"
    folder.mkdir(parents=True)
    line = record(3.5, "secret-1", "assistant", [{"type": "text", "text": "Looked."}])
    (folder / "agent-a1.jsonl").write_text(f"{json.dumps(line)}\n")
    note = {"agentType": "Explore", "toolUseId": "call-secret-1", "description": WORDS}
    (folder / "agent-a1.meta.json").write_text(json.dumps(note))
    import_files(history_workspace, histories)
    with database.connection():
        assert SubagentRow.select().count() == 1
    forget(history_workspace, TombstoneKind.EVENT, *subjects(TombstoneKind.EVENT))
    with database.connection():
        assert SubagentRow.select().count() == 0
        sources.delete_all_cursors()
    import_files(history_workspace, histories)
    with database.connection():
        assert SubagentRow.select().count() == 0
        assert EventRow.select().where(EventRow.text == "Looked.").count() == 1
    database.close()
    assert traces(history_workspace.paths.store.parent) == []


def test_a_dry_run_counts_the_same_and_changes_nothing(
    history_workspace: Workspace,
) -> None:
    with database.connection():
        database.db.execute_sql("PRAGMA wal_checkpoint(TRUNCATE)")
    files = [f for f in history_workspace.paths.store.parent.rglob("*") if f.is_file()]
    kept = {f: f.read_bytes() for f in files if f.suffix not in (".db-wal", ".db-shm")}
    for kind in KINDS:
        words = subjects(kind)
        tried = forgetting(history_workspace).preview(kind, words)
        assert tried.counts.events > 0
        assert tried.hook_files >= 5
    database.close()
    assert {file: file.read_bytes() for file in kept} == kept
    assert forget(history_workspace, kind, *words) == tried


def test_hook_records_of_other_sessions_stay(
    history_workspace: Workspace,
) -> None:
    forget(history_workspace, TombstoneKind.SESSION, "secret-1")
    left = sorted((history_workspace.paths.spool / "bad").iterdir())
    assert [file.name for file in left] == ["5.1.a.json", "6.1.a.json"]
    (whole,) = [json.loads(line) for line in left[0].read_text().splitlines()]
    assert (whole["session_id"], whole["n"]) == ("open-9", 1)


def test_a_session_can_be_imported_again_after_undo(
    history_workspace: Workspace,
    histories: Path,
    import_files: ImportFiles,
    tree: TreeOf,
) -> None:
    for file in history_workspace.paths.spool.rglob("*.json*"):
        file.unlink()
    before = tree(history_workspace)
    forget(history_workspace, TombstoneKind.SESSION, "secret-1")
    undo(TombstoneKind("session"), ["secret-1"], history_workspace.zone)
    with database.connection():
        assert not tombstones.any_exist()
    after = tree(import_files(history_workspace, histories))
    for node in (*before["nodes"].values(), *after["nodes"].values()):
        del node["version"]
    for part in ("sessions", "events", "thoughts", "grips", "nodes"):
        assert after[part] == before[part]


@pytest.mark.parametrize(
    ("kind", "word", "says"),
    [
        (TombstoneKind.EVENT, "nonsense", "not the id of an event"),
        (TombstoneKind.EVENT, "01HMBJMW000000000000000000", "there is no event"),
        (
            TombstoneKind.SESSION,
            "nobody",
            "there is no session 'nobody'; with its agent",
        ),
        (TombstoneKind.SESSION, "gre", "these begin like it: codex:grep-1"),
        (TombstoneKind.PROJECT, "nothing", "there is no project 'nothing'"),
        (TombstoneKind.BEFORE, "yesterday", "not a date"),
    ],
)
def test_names_of_nothing_are_refused(
    full_workspace: Workspace, kind: TombstoneKind, word: str, says: str
) -> None:
    with pytest.raises(MemtuiError, match=says):
        forget(full_workspace, kind, word)
    with database.connection():
        assert not meta.needs_cleanup()
        assert not tombstones.any_exist()


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    database.close()


@pytest.mark.parametrize("kind", (TombstoneKind.EVENT, TombstoneKind.SESSION))
def test_a_fork_does_not_restore_forgotten_thoughts(
    history_workspace: Workspace,
    histories: Path,
    import_files: ImportFiles,
    kind: TombstoneKind,
) -> None:
    source = histories / "-home-ada-secret" / "secret-1.jsonl"
    fork = source.with_name("fork-1.jsonl")
    own = record(60, "fork-1", "user", "And now for the otters.")
    repeated = source.read_text().replace(
        '"sessionId": "secret-1"', '"sessionId": "fork-1"'
    )
    fork.write_text(f"{repeated}{json.dumps(own)}\n")
    forget(history_workspace, kind, *subjects(kind))
    import_files(history_workspace, histories)
    with database.connection():
        assert SessionRow.select().where(SessionRow.name == "fork-1").count() == 1
        assert not ThoughtRow.select().where(ThoughtRow.text.contains("berry")).count()
        assert not EventRow.select().where(EventRow.text.contains("berry")).count()


@pytest.mark.parametrize("first", ["original", "fork"])
def test_the_thoughts_of_a_stored_fork_are_forgotten_with_the_original(
    first: str, workspace: Workspace, histories: Path, import_files: ImportFiles
) -> None:
    source = histories / "-home-ada-secret" / "secret-1.jsonl"
    fork = source.with_name("fork-1.jsonl")
    own = record(60, "fork-1", "user", "And now for the otters.")
    repeated = source.read_text().replace(
        '"sessionId": "secret-1"', '"sessionId": "fork-1"'
    )
    fork.write_text(f"{repeated}{json.dumps(own)}\n")
    for file in (source, fork) if first == "original" else (fork, source):
        import_files(workspace, file)
    result = forget(workspace, TombstoneKind.SESSION, "secret-1")
    assert result.counts.thoughts and result.counts.sessions == 1
    with database.connection():
        assert not ThoughtRow.select().where(ThoughtRow.text.contains("berry")).count()
        assert not EventRow.select().where(EventRow.text.contains("berry")).count()


def test_a_fork_that_keeps_the_same_events_is_named(
    history_workspace: Workspace, histories: Path, import_files: ImportFiles
) -> None:
    source = histories / "-home-ada-secret" / "secret-1.jsonl"
    fork = source.with_name("a-fork.jsonl")
    own = record(-60, "a-fork", "user", "And now for the otters.")
    repeated = "\n".join(source.read_text().splitlines()[:-3]).replace(
        '"sessionId": "secret-1"', '"sessionId": "a-fork"'
    )
    fork.write_text(f"{json.dumps(own)}\n{repeated}\n")
    import_files(history_workspace, histories)
    result = forget(history_workspace, TombstoneKind.SESSION, "secret-1")
    # In the fork the call has no result.
    assert (result.counts.messages, result.counts.events) == (1, 2)
    assert [name for name, _ in result.forks] == ["claude-code:a-fork"]


def test_a_fork_that_keeps_only_shared_events_stays(
    history_workspace: Workspace, histories: Path, import_files: ImportFiles
) -> None:
    source = histories / "-home-ada-open" / "open-1.jsonl"
    fork = source.with_name("a-fork.jsonl")
    own = record(60, "a-fork", "user", f"{WORDS} is all that the fork adds.")
    repeated = source.read_text().replace(
        '"sessionId": "open-1"', '"sessionId": "a-fork"'
    )
    fork.write_text(f"{repeated}{json.dumps(own)}\n")
    import_files(history_workspace, histories)
    with database.connection():
        added = EventRow.get(EventRow.text.contains("the fork adds"))
    result = forget(history_workspace, TombstoneKind.EVENT, added.id)
    assert (result.counts.events, result.counts.sessions) == (1, 0)
    with database.connection():
        session = SessionRow.get(SessionRow.name == "a-fork")
        shared = SourceCopyRow.select().where(SourceCopyRow.session_id == session.id)
        assert shared.count() > 0


def test_an_interrupted_deletion_changes_nothing(
    history_workspace: Workspace, tree: TreeOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = tree(history_workspace)
    database.close()
    with monkeypatch.context() as patched:
        patched.setattr(meta, "request_cleanup", lambda: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            forgetting(history_workspace).run(TombstoneKind.SESSION, ["secret-1"])
    assert tree(history_workspace) == before
    with database.connection():
        assert not tombstones.any_exist()
    assert len(list(history_workspace.paths.spool.rglob("*.json"))) == 6


def test_traces_of_an_interrupted_deletion_are_removed_by_the_next(
    history_workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("memtui.services.forget.remove_traces", lambda _: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            forgetting(history_workspace).run(TombstoneKind.SESSION, ["secret-1"])
    database.close()
    assert traces(history_workspace.paths.store.parent)
    assert forget(history_workspace, TombstoneKind.SESSION, "open-1").had_traces
    database.close()
    assert not traces(history_workspace.paths.store.parent)
    assert not forget(history_workspace, TombstoneKind.SESSION, "open-2").had_traces


def test_event_is_named_by_a_citation_or_the_beginning_of_its_id(
    history_workspace: Workspace,
) -> None:
    with database.connection():
        names = [row.id for row in EventRow.select().order_by(EventRow.id)]
    event_id = names[3]
    citation = citations.cite_event(event_id)
    for word in (event_id, citation, f"`{citation}`", f"evt:{event_id[:20]}"):
        preview = forgetting(history_workspace).preview(TombstoneKind.EVENT, [word])
        assert preview.counts.events == 1
    forget(history_workspace, TombstoneKind.EVENT, citation)
    with database.connection():
        assert EventRow.get_or_none(EventRow.id == event_id) is None
        assert EventRow.select().count() == len(names) - 1
    for word, message in (
        ("evt:0", "fits several events: 0"),
        (citation, "there is no event"),
        ("shop-1", "is not the id of an event"),
        (event_id[:8], "is not the id of an event"),
    ):
        with pytest.raises(MemtuiError, match=message):
            forget(history_workspace, TombstoneKind.EVENT, word)


def test_citation_of_several_events_names_none(history_workspace: Workspace) -> None:
    with database.transaction():
        row = EventRow.select().order_by(EventRow.id).dicts().get()
        other = row["id"][:-1] + ("0" if row["id"][-1] != "0" else "1")
        EventRow.create(**row | {"id": other})
    citation = citations.cite_event(row["id"])
    with pytest.raises(MemtuiError, match=f"{row['id']}|{other}"):
        forget(history_workspace, TombstoneKind.EVENT, citation)
    assert forget(history_workspace, TombstoneKind.EVENT, other).counts.events == 1


def test_forgetting_a_session_makes_only_its_own_periods_again(
    workspace: Workspace,
) -> None:
    day_s = 86_400
    for session, days in (("long", (0, 20)), ("other", (8,)), ("same-day", (20,))):
        for day in days:
            at_s = day * day_s + len(session) * 60
            prompt = make_message(f"Please mend part {day}.", at_s, session=session)
            run = make_run("make", "Error: no mill", at_s + 9, session)
            store_messages(prompt, run)
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    other_day, same_day = "toc:day:2025-03-22", "toc:day:2025-04-03"
    for name in (other_day, same_day):
        versions.pin(name, None, workspace.zone, AT)

    def count_versions() -> Counter[str]:
        with database.connection():
            return Counter(fetch_column("SELECT node_id FROM node_versions"))

    with database.connection():
        before = fetch_value("SELECT max(id) FROM node_versions")
        other_count = count_versions()[other_day]
    result = forget(workspace, TombstoneKind.SESSION, "claude-code:long")
    # Two days, two weeks, two months and the year.
    assert (result.segments, result.nodes) == (2, 7)
    with database.connection():
        sql = "SELECT DISTINCT node_id FROM node_versions WHERE id > ?"
        made = set(fetch_column(sql, before))
    assert made == {
        same_day, "toc:week:2025-W14", "toc:month:2025-04", "toc:month:2025-03",
        "toc:year:2025",
    }  # fmt: skip
    assert count_versions()[other_day] == other_count
    for name, is_pinned in ((other_day, True), (same_day, False)):
        node = browse.get_node(name)
        assert node is not None and node.is_pinned is is_pinned
    # All lines of the other sessions have their sources.
    for session in ("other", "same-day"):
        card = read_card("claude-code", session)
        assert [bullet.kind for bullet in card.bullets if not bullet.grip_ids] == []
        assert any(bullet.kind is BulletKind.FAILED for bullet in card.bullets)
