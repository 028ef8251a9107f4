"""Redaction removes secrets that were stored under older rules."""

import json
import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memtui import redaction
from memtui.paths import in_home
from memtui.services.redact import Redaction, RedactionResult
from memtui.settings import Settings
from memtui.store import database, meta, nodes, sessions, sources
from memtui.text.tokens import load_counter
from memtui.workspace import Workspace
from tests.services.conftest import Tree
from tests.services.test_forget import AT, record, transcript
from tests.tables import EventRow, SessionRow, SubagentRow, ThoughtRow

TreeOf = Callable[[Workspace], Tree]
ImportFiles = Callable[..., Workspace]
ImportUnredacted = Callable[..., Workspace]

SECRET = "quokkaber7Zr4Tq9"
"""What must not be found: it stands in every key and password below."""

KEYS = (
    f"ghp_{SECRET}Xw2Lm8Nv5Kd3Jf6Hs1Ga",
    f"export DATABASE_PASSWORD='{SECRET}Pw'",
    f"<private>{SECRET} is the way in</private>",
)
WORDS = f"The key {KEYS[0]} and {KEYS[1]} beside {KEYS[2]}"
FORMS = [
    form
    for word in (SECRET, SECRET.lower())
    for form in (word.encode(), word.encode("utf-16-le"), word.encode("utf-16-be"))
]


@pytest.fixture
def histories(tmp_path: Path) -> Path:
    """Sessions that tell secrets wherever words can be, one with a subagent."""
    folder = tmp_path / "projects"
    transcript(folder, "secret-1", WORDS)
    transcript(folder, "open-1", "The heron", minute=3)
    transcript(folder, "late-1", WORDS, minute=9 * 24 * 60)
    helpers = folder / "-home-ada-secret" / "secret-1" / "subagents"
    helpers.mkdir(parents=True)
    line = record(3.5, "secret-1", "assistant", [{"type": "text", "text": WORDS}])
    (helpers / "agent-a1.jsonl").write_text(f"{json.dumps(line)}\n")
    note = {"agentType": "Explore", "toolUseId": "call-secret-1", "description": WORDS}
    (helpers / "agent-a1.meta.json").write_text(json.dumps(note))
    return folder


def hook_files(workspace: Workspace) -> None:
    """News, an old draft, and quarantined files, some damaged."""
    payload = {
        "session_id": "hooked-1",
        "cwd": "/home/ada/open",
        "hook_event_name": "PostToolUse",
        "timestamp": AT.isoformat(),
        "tool_name": "Bash",
        "tool_use_id": "t1",
        "tool_input": {"command": WORDS, "password": SECRET},
        "tool_response": {"stdout": WORDS},
    }
    whole = json.dumps(payload).encode()
    files = {
        "new/1.1.a.json": whole,
        "tmp/2.1.a.json": whole,
        "bad/3.1.a.json": json.dumps({**payload, "hook_event_name": "Novel"}).encode(),
        "bad/4.1.a.json": whole[:-9],
        "bad/5.1.a.json": b'{"hook_event_name": "Stop"}\n' + whole + b"\n{\n",
        "bad/6.1.a.json": b'{"hook_event_name": "Stop"}',
    }
    for name, raw in files.items():
        file = workspace.paths.spool / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(raw)
        os.utime(file, (AT.timestamp(), AT.timestamp()))
    said = f"line 1: unknown event {KEYS[0]}\n"
    (workspace.paths.spool / "bad" / "3.1.a.json.reason").write_text(said)


@pytest.fixture
def workspace_with_secrets(
    workspace: Workspace, histories: Path, import_unredacted: ImportUnredacted
) -> Workspace:
    """A workspace whose every room knows a secret."""
    import_unredacted(workspace, histories)
    hook_files(workspace)
    workspace.paths.log.write_text(f"could not read {WORDS}\n")
    database.close()
    return workspace


def redacting(workspace: Workspace) -> Redaction:
    return Redaction(
        workspace.paths,
        workspace.zone,
        load_counter(workspace.paths.vocabulary),
        lambda: datetime.now(UTC),
    )


def redact(workspace: Workspace) -> RedactionResult:
    """What the command does, without its words."""
    result = redacting(workspace).run()
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    database.close()
    return result


def traces(home: Path) -> set[str]:
    """The files that hold a secret, byte by byte."""
    return {
        str(file.relative_to(home))
        for file in home.rglob("*")
        if file.is_file() and any(form in file.read_bytes() for form in FORMS)
    }


def test_a_redacted_secret_is_in_no_file(workspace_with_secrets: Workspace) -> None:
    home = workspace_with_secrets.paths.store.parent
    files = traces(home)
    assert {"memory.db", "memtui.log", "spool/bad/3.1.a.json.reason"} <= files
    assert any(name.startswith("index/") for name in files)
    with database.connection():
        titles = SessionRow.select().where(SessionRow.title.contains(SECRET)).count()
        assert titles == 2
        assert (
            SubagentRow.select().where(SubagentRow.task.contains(SECRET)).count() == 1
        )
        assert ThoughtRow.select().where(ThoughtRow.text.contains(SECRET)).count() == 2
        states = [
            str(sources.get_cursor(str(file)))
            for file in _files(workspace_with_secrets)
        ]
        assert states and SECRET not in "".join(states)
    database.close()

    result = redact(workspace_with_secrets)
    assert traces(home) == set()
    assert result.hook_files == 5
    assert (result.thoughts, result.titles) == (2, 3)
    assert result.kinds["github token"] >= 12


def _files(workspace: Workspace) -> list[Path]:
    folder = workspace.paths.store.parent.parent / "projects"
    return sorted(folder.rglob("*.jsonl"))


def test_a_redacted_store_equals_one_redacted_at_import(
    workspace_with_secrets: Workspace,
    histories: Path,
    tmp_path: Path,
    settings: Settings,
    import_files: ImportFiles,
    tree: TreeOf,
) -> None:
    redact(workspace_with_secrets)
    after = tree(workspace_with_secrets)
    kept = cursor_states()
    workspace_with_secrets.stop()
    guarded = import_files(
        Workspace(in_home(tmp_path / "guarded"), settings), histories
    )
    hook_files(guarded)
    assert guarded.pipeline.run_until_idle(lambda _: None) == []
    expected = tree(guarded)
    assert len(after["nodes"]) > 5
    assert after == expected
    assert kept == cursor_states()
    guarded.stop()


def cursor_states() -> list[object]:
    with database.connection():
        rows = database.db.execute_sql("SELECT path, state FROM cursors ORDER BY path")
        return list(rows.fetchall())


def test_reading_sources_again_after_a_redaction_adds_nothing(
    workspace_with_secrets: Workspace,
    histories: Path,
    import_files: ImportFiles,
    tree: TreeOf,
) -> None:
    redact(workspace_with_secrets)
    before = tree(workspace_with_secrets)
    with database.connection():
        sources.delete_all_cursors()
    assert tree(import_files(workspace_with_secrets, histories)) == before


def test_a_dry_run_counts_the_same_and_changes_nothing(
    workspace_with_secrets: Workspace,
) -> None:
    home = workspace_with_secrets.paths.store.parent
    with database.connection():
        database.db.execute_sql("PRAGMA wal_checkpoint(TRUNCATE)")
    files = [f for f in home.rglob("*") if f.is_file() and "-shm" not in f.name]
    kept = {file: file.read_bytes() for file in files}
    tried = redacting(workspace_with_secrets).run(is_dry_run=True)
    database.close()
    assert {file: file.read_bytes() for file in kept} == kept
    assert redact(workspace_with_secrets) == tried


def test_a_second_redaction_finds_nothing_and_keeps_the_index(
    workspace_with_secrets: Workspace, tree: TreeOf
) -> None:
    redact(workspace_with_secrets)
    before = tree(workspace_with_secrets)
    with database.connection():
        index, counted = meta.read(meta.NODE_INDEX), sources.list_redactions()
    again = redacting(workspace_with_secrets).run()
    assert again == RedactionResult()
    with database.connection():
        assert meta.read(meta.NODE_INDEX) == index
        assert sources.list_redactions() == counted
        assert not meta.needs_cleanup()
    assert tree(workspace_with_secrets) == before


def test_a_store_without_secrets_stays_unchanged(
    full_workspace: Workspace, tree: TreeOf
) -> None:
    before = tree(full_workspace)
    assert redact(full_workspace) == RedactionResult()
    assert tree(full_workspace) == before


def test_secrets_in_sessions_and_subagents_are_removed(
    workspace: Workspace,
) -> None:
    said = "ghp_" + f"{SECRET}Xw2Lm8Nv5Kd3Jf6Hs1Ga"
    names = ("branch", "cwd", "root", "project", "model", "created_by", "title")
    with database.transaction():
        SessionRow.create(
            agent="codex",
            name="s1",
            created_ms=1,
            updated_ms=1,
            **dict.fromkeys(names, said),
        )
        about = ("kind", "tool_use_id", "task")
        SubagentRow.create(
            agent="codex", session_name="s1", subagent="a", **dict.fromkeys(about, said)
        )
    database.close()
    result = redacting(workspace).run()
    assert result.titles == 2
    with database.connection():
        session = SessionRow.get()
        assert {getattr(session, n) for n in names} == {
            redaction.redaction_mark("github token")
        }
        helper = SubagentRow.get()
        assert {getattr(helper, n) for n in about} == {
            redaction.redaction_mark("github token")
        }


def test_a_young_draft_of_a_hook_is_not_redacted(
    workspace: Workspace,
) -> None:
    hook_files(workspace)
    draft = workspace.paths.spool / "tmp" / "2.1.a.json"
    os.utime(draft)
    whole = draft.read_bytes()
    redacting(workspace).run()
    assert draft.read_bytes() == whole
    assert traces(workspace.paths.store.parent) == {"spool/tmp/2.1.a.json"}


def test_other_hook_records_stay_when_secrets_are_removed(
    workspace: Workspace,
) -> None:
    hook_files(workspace)
    bad = workspace.paths.spool / "bad"
    harmless = bad / "6.1.a.json"
    before = harmless.read_bytes()
    redacting(workspace).run()
    assert harmless.read_bytes() == before
    said = (bad / "3.1.a.json.reason").read_text()
    assert said == "line 1: unknown event [redacted: github token]\n"
    first, redacted, damaged = (bad / "5.1.a.json").read_text().splitlines()
    assert (json.loads(first), damaged) == ({"hook_event_name": "Stop"}, "{")
    given = json.loads(redacted)["tool_input"]
    assert given["password"] == "[redacted: password]"
    assert (bad / "5.1.a.json").stat().st_mtime == AT.timestamp()


def test_the_version_of_the_redaction_rules_is_stored(
    workspace_with_secrets: Workspace,
) -> None:
    with database.transaction():
        meta.set_redaction_version(0)
    redact(workspace_with_secrets)
    with database.connection():
        assert meta.redaction_version() == redaction.RULES_VERSION
        assert meta.read(meta.REDACTION_POSITION) == ""


def test_a_secret_in_a_session_title_is_removed_as_a_whole(
    workspace: Workspace, tmp_path: Path, import_unredacted: ImportUnredacted
) -> None:
    file = tmp_path / "one.jsonl"
    text = f"Count the herons, then use {KEYS[0]} to tell them."
    event = {"session_id": "s", "timestamp": AT.isoformat(), "role": "user"}
    file.write_text(json.dumps({**event, "text": text, "key": "1"}))
    import_unredacted(workspace, file)
    with database.connection():
        (session,) = sessions.get_many([1]).values()
    assert "ghp_quokka" in session.title
    redact(workspace)
    assert traces(workspace.paths.store.parent) == set()
    with database.connection():
        (session,) = sessions.get_many([1]).values()
        assert "then use [redacted: " in session.title
        assert EventRow.select().count() == 1


def prompt_of(folder: Path, session: str) -> str:
    (file,) = folder.rglob(f"{session}.jsonl")
    first, *_ = file.read_text().splitlines()
    return str(json.loads(first)["message"]["content"])


def test_an_event_redacted_by_two_sets_of_rules_is_one(
    workspace: Workspace,
    histories: Path,
    import_unredacted: ImportUnredacted,
    tmp_path: Path,
    settings: Settings,
    import_files: ImportFiles,
    tree: TreeOf,
) -> None:
    folder = histories / "-home-ada-secret"
    first = (folder / "secret-1.jsonl").read_text().splitlines()
    copied = [json.loads(line) for line in first[:6]]
    own = record(90, "secret-9", "user", "And now for the otters of the harbour.")
    lines = [{**line, "sessionId": "secret-9"} for line in copied] + [own]
    fork = folder / "secret-9.jsonl"
    prompt = {
        "session_id": "secret-1",
        "hook_event_name": "UserPromptSubmit",
        "timestamp": AT.isoformat(),
        "prompt": prompt_of(histories, "secret-1"),
    }
    late = {**prompt, "session_id": "late-1", "prompt": prompt_of(histories, "late-1")}
    late["timestamp"] = "2025-03-23T10:00:00+00:00"
    moved = tmp_path / "late-1.jsonl"
    (folder.parent / "-home-ada-late" / "late-1.jsonl").rename(moved)

    def hooked(workspace: Workspace) -> Workspace:
        for place, payload in enumerate((prompt, late)):
            file = workspace.paths.spool / "new" / f"{place}.1.a.json"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(payload))
        return workspace

    # First without rules; then with them: the transcript of one, a fork of the other.
    import_unredacted(hooked(workspace), histories)
    fork.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    import_files(workspace, moved, fork)
    with database.connection():
        before = EventRow.select().count()
    redact(workspace)
    after, tellings = tree(workspace), told_ids()
    workspace.stop()
    guarded = import_files(
        hooked(Workspace(in_home(tmp_path / "guarded"), settings)), histories
    )
    expected = tree(import_files(guarded, moved))
    assert len(expected["events"]) == len(after["events"]) < before
    for part in ("events", "sessions", "thoughts"):
        assert after[part] == expected[part]
    assert tellings == told_ids()
    guarded.stop()


def told_ids() -> list[object]:
    with database.connection():
        asked = "SELECT copy_id, event_id, route FROM source_copies ORDER BY 1"
        return list(database.db.execute_sql(asked).fetchall())


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    database.close()


def test_names_with_a_secret_are_counted(
    workspace: Workspace, tmp_path: Path, import_unredacted: ImportUnredacted
) -> None:
    transcript(tmp_path / "projects", f"open-{KEYS[0]}", "The heron")
    import_unredacted(workspace, tmp_path / "projects")
    assert redacting(workspace).run(is_dry_run=True).names == {"session": 1, "file": 1}


def test_a_secret_in_the_title_of_an_agent_is_in_no_summary(
    workspace: Workspace, tmp_path: Path, import_unredacted: ImportUnredacted
) -> None:
    event = {"session_id": "s", "timestamp": AT.isoformat(), "role": "user"}
    told = {"text": "Count the herons.", "title": f"Rotate {KEYS[0]}", "cwd": "/a/open"}
    file = tmp_path / "one.jsonl"
    file.write_text(json.dumps({**event, **told, "key": "1"}))
    import_unredacted(workspace, file)
    home = workspace.paths.store.parent
    with database.connection():
        assert SECRET in SessionRow.get().work_name
    database.close()
    assert any(name.startswith("index/") for name in traces(home))
    assert redact(workspace).titles == 1
    assert traces(home) == set()
    with database.connection():
        assert SessionRow.get().work_name == "Rotate [redacted: github token]"
        day = nodes.get(f"toc:day:{AT.date()}")
        assert day and "Rotate [redacted" in day.headline
