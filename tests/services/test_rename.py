"""A session is called what its user calls it, everywhere and whatever comes later."""

import json
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memtui.capture import ingest
from memtui.errors import MemtuiError
from memtui.model.filters import Scope
from memtui.model.nodes import TITLE_CHARS
from memtui.model.sessions import SessionMetadata
from memtui.paths import in_home
from memtui.services import browse, export, sessions
from memtui.services.forget import Forget
from memtui.services.redact import Redaction
from memtui.services.sessions import SessionQuery
from memtui.settings import Settings
from memtui.store import backup, database, events, work
from memtui.store import sessions as store_sessions
from memtui.store.tombstones import TombstoneKind
from memtui.workspace import Workspace
from tests.cli_runner import json_data, run_memtui
from tests.conftest import HISTORY

KEY = ("claude-code", "shop-1")
NAME = "Pangolin prices"


def run_pipeline(workspace: Workspace) -> None:
    assert workspace.pipeline.run_until_idle(lambda _: None) == []


def rename(workspace: Workspace, name: str = NAME) -> str:
    title = sessions.rename(*KEY, name, workspace.zone).title
    run_pipeline(workspace)
    return title


def name_now() -> str:
    return sessions.get_details(*KEY).session.title


def headlines() -> str:
    years = browse.list_children()
    return " ".join(year.headline for year in years)


def test_name_is_shown_everywhere_and_taken_back(full_workspace: Workspace) -> None:
    workspace, before = full_workspace, name_now()
    headlines_before = headlines()
    assert rename(workspace) == NAME
    session = sessions.get_details(*KEY).session
    assert (session.title, session.work.name, session.own_name) == (NAME,) * 3
    listed = sessions.list_range(SessionQuery(words=("pangolin",)), 0, 9).sessions
    assert [(row.agent, row.session_id) for row in listed] == [KEY]
    day = f"toc:day:{session.created_at:%Y-%m-%d}"
    rows = browse.list_day_sessions(day)
    (row,) = (row for row in rows if row.session.full_name == ":".join(KEY))
    page = browse.read_page(row.only_segment or row)
    assert row.session.work.name == NAME
    assert page is not None and page.headline == NAME
    assert NAME in headlines()
    (hit, *_) = workspace.search.find("pangolin").hits
    assert hit.session_key == KEY
    assert sessions.undo_rename(*KEY, workspace.zone).title == before
    run_pipeline(workspace)
    assert headlines() == headlines_before
    assert workspace.search.find("pangolin").hits == ()


def test_name_is_given_before_the_session_is_summarized(workspace: Workspace) -> None:
    for _ in workspace.pipeline.importer().run([HISTORY]):
        pass
    sessions.rename(*KEY, NAME, workspace.zone)
    assert name_now() == NAME
    run_pipeline(workspace)
    assert name_now() == NAME


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("  Two\nlines\t here ", "Two lines here"),
        ("\x1b[31mred\x1b[0m\x07 \u202eevil", "red evil"),
        ("[bold]not markup[/]", "[bold]not markup[/]"),
        ("hidden\U000e0041 letters", "hidden letters"),
    ],
)
def test_name_is_one_clean_line(
    full_workspace: Workspace, given: str, name: str
) -> None:
    assert sessions.rename(*KEY, given, full_workspace.zone).title == name


def test_name_is_as_long_as_a_title_and_without_secrets(
    full_workspace: Workspace,
) -> None:
    secret = "ghp_quokkaber7Zr4Tq9Xw2Lm8Nv5Kd3Jf6Hs1Ga"
    title = sessions.rename(*KEY, f"key {secret}", full_workspace.zone).title
    assert "quokka" not in title and title.startswith("key [")
    title = sessions.rename(*KEY, "word " * 1000, full_workspace.zone).title
    assert len(title) <= TITLE_CHARS


def test_bad_requests_are_refused(full_workspace: Workspace) -> None:
    zone = full_workspace.zone
    for name in ("", " \x1b[31m\n", "\u200b \u2060"):
        with pytest.raises(MemtuiError, match="the name is empty"):
            sessions.rename(*KEY, name, zone)
    with pytest.raises(MemtuiError, match="no longer stored"):
        sessions.rename("codex", "missing", NAME, zone)
    with pytest.raises(MemtuiError, match="nobody has renamed"):
        sessions.undo_rename(*KEY, zone)


def test_name_survives_what_comes_later(full_workspace: Workspace) -> None:
    workspace = full_workspace
    rename(workspace)
    with database.transaction():
        titled = SessionMetadata(*KEY, title="Title of the agent", own_name="Other")
        ingest.store_session_metadata([titled])
    for _ in workspace.pipeline.importer().run([HISTORY]):
        pass
    workspace.pipeline.reindex()
    run_pipeline(workspace)
    assert name_now() == NAME
    assert workspace.search.find("pangolin").hits[0].session_key == KEY


def test_name_stays_if_an_event_is_forgotten_and_goes_with_the_session(
    full_workspace: Workspace,
) -> None:
    workspace = full_workspace
    rename(workspace)
    forget = Forget(workspace.paths, workspace.zone, lambda: datetime.now(UTC))
    with database.connection():
        page = events.list_in_time(
            None, None, after="", limit=1, scope=Scope(), session=KEY[1]
        )
    forget.run(TombstoneKind.EVENT, [page[0].event_id])
    run_pipeline(workspace)
    assert name_now() == NAME
    forget.run(TombstoneKind.SESSION, [":".join(KEY)])
    run_pipeline(workspace)
    assert NAME not in headlines()
    database.close()
    folder = workspace.paths.store.parent
    files = [file for file in folder.rglob("*") if file.is_file()]
    assert not any(b"angolin" in file.read_bytes() for file in files)


def test_name_is_in_backups_and_exports(
    full_workspace: Workspace, tmp_path: Path, settings: Settings
) -> None:
    workspace = full_workspace
    rename(workspace)
    backup.create(tmp_path / "backup.db")
    export.export_events(tmp_path / "export.jsonl", may_replace=True)
    sessions.rename(*KEY, "Another name", workspace.zone)
    workspace.stop()
    backup.restore(
        backup.prepare_restore(tmp_path / "backup.db", workspace.paths.store),
        workspace.paths.store,
    )
    with database.connection():
        assert name_now() == NAME
    database.close()
    copy = Workspace(in_home(tmp_path / "copy"), settings)
    for _ in copy.pipeline.importer().run([tmp_path / "export.jsonl"]):
        pass
    assert name_now() == NAME
    run_pipeline(copy)
    assert NAME in headlines()
    copy.stop()


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_one_of_several_exported_names_counts_in_any_order(
    full_workspace: Workspace,
    tmp_path: Path,
    settings: Settings,
    order: tuple[int, int],
) -> None:
    names = ("Zebra crossing", NAME)
    files = []
    for number, name in enumerate(names):
        rename(full_workspace, name)
        files.append(tmp_path / f"{number}.jsonl")
        export.export_events(files[-1], may_replace=True)
    full_workspace.stop()
    copy = Workspace(in_home(tmp_path / "copy"), settings)
    for place in order:
        import_file(copy, files[place])
        run_pipeline(copy)
    assert name_now() == names[0]
    assert names[0] in headlines() and names[1] not in headlines()
    # What the user says here counts more, also that it has no such name.
    rename(copy, "Aardvark")
    import_file(copy, copy_of(files[0]))
    assert name_now() == "Aardvark"
    sessions.undo_rename(*KEY, copy.zone)
    before = name_now()
    import_file(copy, copy_of(files[1]))
    assert name_now() == before != names[1]
    copy.stop()


def test_changed_line_names_no_session(
    full_workspace: Workspace, tmp_path: Path
) -> None:
    rename(full_workspace)
    file = tmp_path / "export.jsonl"
    export.export_events(file, may_replace=True)
    sessions.undo_rename(*KEY, full_workspace.zone)
    with database.transaction():
        database.execute("UPDATE sessions SET fact_times = ''")
    before = name_now()
    exported = file.read_text()
    made_up = {"record": "session", "agent": KEY[0], "session_id": KEY[1]}
    for text in (
        exported.replace(NAME, "Forged"),
        json.dumps(made_up | {"own_name": "Forged"}),
    ):
        file.write_text(text)
        import_file(full_workspace, file)
        assert name_now() == before
    file.write_text(exported)
    import_file(full_workspace, file)
    assert name_now() == NAME


def import_file(workspace: Workspace, file: Path) -> None:
    for _ in workspace.pipeline.importer().run([file]):
        pass


def copy_of(file: Path) -> Path:
    """Return a copy under another name, which is read as a new file."""
    return Path(shutil.copy(file, file.with_stem(f"{file.stem}-again")))


def test_later_rules_redact_the_name(full_workspace: Workspace) -> None:
    workspace = full_workspace
    secret = "ghp_quokkaber7Zr4Tq9Xw2Lm8Nv5Kd3Jf6Hs1Ga"
    with database.transaction():
        number = store_sessions.get_number(*KEY)
        assert number is not None
        work.save_own_name(number, f"key {secret}", workspace.zone)
    run_pipeline(workspace)
    assert "quokka" in headlines()
    redaction = Redaction(
        workspace.paths, workspace.zone, workspace.counter, workspace.now
    )
    assert redaction.run().titles == 1
    run_pipeline(workspace)
    assert "quokka" not in name_now() + headlines()


def test_command_renames(full_workspace: Workspace) -> None:
    full_workspace.stop()
    home = full_workspace.paths.store.parent
    printed = run_memtui(home, "rename", "shop-1", "Pangolin", "prices", "--json")
    data = json_data(printed.stdout)
    assert (data["session"], data["name"]) == ("claude-code:shop-1", NAME)
    assert NAME in run_memtui(home, "search", "pangolin").stdout
    assert NAME in run_memtui(home, "session", "shop-1").stdout
    undone = run_memtui(home, "rename", "shop-1", "--undo").stdout
    assert "claude-code:shop-1 is called: " in undone and NAME not in undone
    for words in (["shop-1"], ["shop-1", "x", "--undo"]):
        assert "or say --undo" in run_memtui(home, "rename", *words, code=2).stderr
