"""``memtui doctor`` on memories that are sound, and on such as are really broken."""

import fcntl
import json
import os
import shutil
import socket
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from memtui import __main__
from memtui.house import House
from memtui.memory.summarizers import Condition
from memtui.paths import in_home
from memtui.settings import Held, Settings
from memtui.shell import checking_model, doctoring
from memtui.stages.claim import LOCKS
from memtui.store import database, facts
from tests.commanding import data_of
from tests.stub.models import Model
from tests.stub.server import serving

HISTORY = Path(__file__).parent / "data" / "history.jsonl"

Ask = Callable[..., Any]

NOBODY = 65534
"""Whom the superuser becomes, to be refused something."""


listing = pytest.mark.skipif(
    not LOCKS.exists(), reason="this system does not list who holds a lock"
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the history in it, to be copied."""
    home = tmp_path_factory.mktemp("made") / "home"
    house = House(in_home(home), Settings({"store.time_zone": Held("UTC", "test")}))
    for _ in house.works.importer().run([HISTORY]):
        pass
    assert house.works.until_idle(lambda _: None) == []
    house.stop()
    return home


@pytest.fixture
def home(made: Path, tmp_path: Path) -> Path:
    """A home of the test's own, to be broken."""
    return Path(shutil.copytree(made, tmp_path / "home"))


@pytest.fixture(autouse=True)
def no_ollama(monkeypatch: pytest.MonkeyPatch) -> None:
    """None answers, whatever runs on this machine."""
    monkeypatch.setenv("MEMTUI_SUMMARIES__URL", "http://127.0.0.1:1")


@pytest.fixture
def ask(home: Path, capsys: pytest.CaptureFixture[str]) -> Ask:
    """Runs doctor; what it answered, after its exit code was compared with that."""

    def asked(*options: str, words: bool = False) -> Any:
        capsys.readouterr()
        asking = ["--home", str(home), *options, "doctor"]
        code = __main__.main(asking if words else [*asking, "--json"])
        told = capsys.readouterr()
        if words:
            assert code == ("✗" in told.out)
            return told.out
        answer = data_of(told.out)
        assert code == (not answer["is_well"])
        ill = [one for one in answer["findings"] if not one["is_well"]]
        assert answer["is_well"] == (not ill)
        assert all(one["cure"] for one in ill)
        return answer

    return asked


def ill(answer: Any) -> dict[str, Any]:
    """What is wrong, by its name."""
    return {one["name"]: one for one in answer["findings"] if not one["is_well"]}


def of(answer: Any, name: str) -> Any:
    return next(one for one in answer["findings"] if one["name"] == name)


def named(answer: Any, name: str) -> list[Any]:
    return [one for one in answer["findings"] if one["name"] == name]


def memtui(home: Path, *words: str) -> None:
    assert __main__.main(["--home", str(home), *words]) == 0


def store(home: Path) -> Path:
    return home / "memory.db"


@contextmanager
def changing(home: Path) -> Iterator[sqlite3.Connection]:
    """The store as somebody has it who minds none of memtui's rules."""
    connection = sqlite3.connect(store(home))
    try:
        yield connection
        connection.commit()
    finally:
        connection.close()


def test_a_sound_memory_is_said_to_be_well(ask: Ask) -> None:
    told = ask()
    assert told["is_well"]
    assert "44 events in 6 sessions" in of(told, "store")["says"]
    assert "in step" in of(told, "index")["says"]
    assert {one["agent"] for one in told["heard"]} == {"claude-code", "codex"}


def test_what_is_told_fits_80_columns(ask: Ask) -> None:
    lines = ask(words=True).splitlines()
    assert "All is well." in lines
    assert max(len(line) for line in lines if "/" not in line) <= doctoring.WIDTH


def test_before_anything_is_kept_nothing_is_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    memtui(tmp_path / "new", "doctor")
    assert "nothing is kept yet" in capsys.readouterr().out
    assert not (tmp_path / "new").exists()


def test_looking_changes_no_file_of_the_memory(home: Path, ask: Ask) -> None:
    def contents() -> dict[Path, bytes]:
        files = (f for f in home.rglob("*") if f.is_file())
        return {f: f.read_bytes() for f in files if f.suffix not in (".db-shm",)}

    before = contents()
    ask()
    after = contents()
    assert {f: said for f, said in after.items() if f in before} == before
    assert [said for f, said in after.items() if f not in before] in ([], [b""])


@listing
def test_the_right_to_work_is_not_taken_and_its_holder_is_named(
    home: Path, ask: Ask
) -> None:
    with (home / "work.lock").open("w") as claim:
        fcntl.flock(claim, fcntl.LOCK_EX)
        assert f"process {os.getpid()}" in of(ask(), "work")["says"]
    assert "at work" not in of(ask(), "work")["says"]


@pytest.mark.parametrize("share", [0.3, 0.7])
def test_a_store_cut_short_is_damaged(home: Path, ask: Ask, share: float) -> None:
    os.truncate(store(home), int(store(home).stat().st_size * share))
    assert "memtui restore" in ill(ask())["store"]["cure"]


def test_a_store_with_a_page_overwritten_is_damaged(home: Path, ask: Ask) -> None:
    with store(home).open("r+b") as file:
        file.seek(4096 * 3)
        file.write(os.urandom(4096 * 20))
    assert ill(ask())["store"]


def test_a_file_that_is_no_database_is_said_so(home: Path, ask: Ask) -> None:
    store(home).write_bytes(b"a shopping list\n" * 1000)
    assert "is damaged" in ill(ask())["store"]["says"]


def test_a_row_that_refers_to_none_is_damage(home: Path, ask: Ask) -> None:
    with changing(home) as connection:
        connection.execute("PRAGMA foreign_keys = off")
        connection.execute("DELETE FROM sessions WHERE id = 1")
    assert "sessions that are not there" in ill(ask())["store"]["says"]


def test_a_store_of_a_newer_memtui_is_left_alone(home: Path, ask: Ask) -> None:
    with changing(home) as connection:
        connection.execute("UPDATE meta SET value = 99 WHERE name = 'schema_version'")
    found = ill(ask())["store"]
    assert "newer memtui (schema 99" in found["says"]
    assert found["cure"] == "upgrade memtui"


def test_a_store_that_somebody_locks_is_said_so(home: Path, ask: Ask) -> None:
    with changing(home) as connection:
        connection.execute("PRAGMA locking_mode = exclusive")
        connection.execute("UPDATE meta SET value = 'x' WHERE name = 'nobody'")
        connection.commit()
        assert "in use by another process" in ill(ask())["store"]["says"]


def test_a_store_that_was_emptied_is_told_from_one_that_is_new(
    home: Path, ask: Ask
) -> None:
    store(home).write_bytes(b"")
    assert "though there was something in it" in ill(ask())["store"]["says"]
    shutil.rmtree(home / "index")
    assert of(ask(), "store")["says"] == "nothing is kept yet"


def test_the_database_of_another_program_is_left_alone(home: Path, ask: Ask) -> None:
    store(home).unlink()
    with changing(home) as connection:
        connection.execute("CREATE TABLE recipes (name TEXT)")
    assert "of another program" in ill(ask())["store"]["says"]


def test_what_this_person_must_not_read_is_said_so(home: Path, ask: Ask) -> None:
    ask()
    home.chmod(0)
    os.seteuid(NOBODY if os.geteuid() == 0 else os.geteuid())
    try:
        found = ill(ask())
    finally:
        os.seteuid(os.getuid())
        home.chmod(0o700)
    assert "permission denied" in found["store"]["says"]
    assert "chmod" in found["store"]["cure"]


def test_a_folder_in_the_store_s_place_is_said_so(home: Path, ask: Ask) -> None:
    for file in home.glob("memory.db*"):
        file.unlink()
    store(home).mkdir()
    assert ill(ask())["store"]


def test_a_folder_in_the_place_of_the_store_is_found(home: Path, ask: Ask) -> None:
    for file in home.glob("memory.db*"):
        file.unlink()
    store(home).mkdir()
    found = ill(ask())["store"]
    assert found["says"] == f"{store(home)} is a folder, not a file"
    assert found["cure"].startswith("mv ")


# Whoosh leaves open what it cannot read.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("toc", ["_MAIN_1.toc", "_MAIN_99.toc"])
def test_an_index_whose_contents_are_no_more_is_found_and_made_anew(
    home: Path, ask: Ask, toc: str
) -> None:
    (home / "index" / toc).write_text("junk\n")
    found = ill(ask())["index"]
    assert "it is broken" in found["says"] and found["cure"] == "memtui reindex"
    memtui(home, "import", str(HISTORY))
    assert "index" not in ill(ask())


def test_a_missing_index_is_found_and_made_again(home: Path, ask: Ask) -> None:
    shutil.rmtree(home / "index")
    found = ill(ask())["index"]
    assert (found["says"], found["cure"]) == ("there is no index", "memtui reindex")
    memtui(home, "reindex")
    assert ask()["is_well"]


def test_a_broken_index_is_found(home: Path, ask: Ask) -> None:
    for file in (home / "index").glob("*.seg"):
        file.unlink()
    assert ill(ask())["index"]["says"] == "it is broken"


def test_an_index_of_another_store_is_found(home: Path, ask: Ask) -> None:
    mark = home / "index" / "memtui-index"
    mark.write_text(mark.read_text()[:-3] + "xy\n")
    assert "of another store" in ill(ask())["index"]["says"]


def test_an_index_that_lacks_something_is_found(home: Path, ask: Ask) -> None:
    with changing(home) as connection:
        connection.execute(
            "CREATE TEMP TABLE one AS"
            " SELECT * FROM toc_latest WHERE NOT is_dirty LIMIT 1"
        )
        connection.execute("UPDATE one SET node_id = 'toc:day:2024-02-28'")
        connection.execute("INSERT INTO toc_latest SELECT * FROM one")
    assert "it holds" in ill(ask())["index"]["says"]


def test_an_index_of_messages_that_is_missing_broken_or_short_is_found(
    home: Path, ask: Ask
) -> None:
    file = home / "index-messages.db"
    assert "in step" in of(ask(), "messages")["says"]
    with sqlite3.connect(file) as index:
        index.execute("UPDATE facts SET value = value - 1 WHERE name = 'messages'")
    index.close()
    assert "it holds" in ill(ask())["messages"]["says"]
    file.write_bytes(b"junk" * 5000)
    assert "it is broken" in ill(ask())["messages"]["says"]
    file.unlink()
    found = ill(ask())["messages"]
    assert (found["says"], found["cure"]) == ("there is no index", "memtui reindex")
    memtui(home, "reindex")
    assert ask()["is_well"]


def test_work_that_nobody_does_is_found(home: Path, ask: Ask) -> None:
    hour_ago = int((time.time() - 3600) * 1000)
    with changing(home) as connection:
        connection.execute(
            "INSERT INTO outbox (action, subject_id, at_ms) SELECT 'index_node',"
            " node_id, ? FROM toc_latest LIMIT 2",
            (hour_ago,),
        )
    found = ill(ask())["work"]
    assert "2 nodes to index (oldest 1 hour ago)" in found["says"]
    assert "no memtui is at work" in found["says"]
    memtui(home, *found["cure"].split()[1:])
    assert ask()["is_well"]


def test_what_fails_again_and_again_is_found(home: Path, ask: Ask) -> None:
    later = int((time.time() + 3600) * 1000)
    with changing(home) as connection:
        connection.execute(
            "UPDATE toc_latest SET is_dirty = 1, attempts = 3, retry_ms = ?"
            " WHERE level = 'day'",
            (later,),
        )
    assert "could not be done and are tried again" in ill(ask())["work"]["says"]


def test_what_lies_in_the_spool_for_days_is_found(home: Path, ask: Ask) -> None:
    letter = home / "spool" / "new" / "1.json"
    letter.write_text("{}")
    assert ask()["is_well"]
    four_days_ago = time.time() - 4 * 86_400
    os.utime(letter, (four_days_ago, four_days_ago))
    found = ill(ask())["spool"]
    assert "1 event of hooks waiting (oldest 4 days ago)" in found["says"]
    assert found["cure"] == "memtui work --until-idle"


@listing
def test_what_a_working_memtui_does_not_take_is_found(home: Path, ask: Ask) -> None:
    letter = home / "spool" / "new" / "1.json"
    letter.write_text("{}")
    hour_ago = time.time() - 3600
    os.utime(letter, (hour_ago, hour_ago))
    with (home / "work.lock").open("w") as claim:
        fcntl.flock(claim, fcntl.LOCK_EX)
        assert "does not take them" in ill(ask())["spool"]["says"]


def test_what_hooks_never_finished_is_counted(home: Path, ask: Ask) -> None:
    draft = home / "spool" / "tmp" / "1.json"
    draft.write_text('{"promp')
    assert "never finished" not in of(ask(), "spool")["says"]
    aged(draft, timedelta(hours=1))
    assert "1 file that hooks never finished" in of(ask(), "spool")["says"]


def test_a_spool_that_is_no_folder_is_found(home: Path, ask: Ask) -> None:
    shutil.rmtree(home / "spool")
    (home / "spool").write_text("")
    assert "is not a folder" in ill(ask())["spool"]["says"]


def test_the_quarantined_are_counted_by_their_reasons(home: Path, ask: Ask) -> None:
    for number, said in enumerate(("{", "{", '{"hook_event_name": "Sneeze"}')):
        (home / "spool" / "new" / f"{number}.json").write_text(said)
    memtui(home, "work", "--until-idle")
    told = ask()
    assert "3 files" in ill(told)["quarantine"]["says"]
    reasons = {row["name"]: row["count"] for row in told["quarantined"]}
    assert reasons["not valid JSON"] == 2
    assert {"name": "Sneeze", "count": 1} in told["unknown"]


def test_what_was_taken_out_and_left_out_is_counted(
    home: Path, ask: Ask, tmp_path: Path
) -> None:
    records = [
        {"type": "zork", "sessionId": "s1", "timestamp": "2025-03-14T10:00:00Z"},
        {
            "type": "user",
            "uuid": "u1",
            "sessionId": "s1",
            "timestamp": "2025-03-14T10:00:00Z",
            "message": {"content": "Use ghp_16C7e42F292c6912E7710c838347Ae178B4a"},
        },
    ]
    file = tmp_path / "s1.jsonl"
    file.write_text("".join(json.dumps(record) + "\n" for record in records) + "[1]\n")
    memtui(home, "import", str(file))
    told = ask()
    assert told["unknown"] == [{"name": "zork", "count": 1}]
    assert [row["count"] for row in told["redacted"]] == [1]
    assert {row["kind"] for row in told["not_taken"]} == {"fault", "left"}
    assert told["latest"][0]["source"] == str(file)
    words = ask(words=True)
    assert "zork" in words
    assert "ghp_" not in words


def test_settings_that_cannot_be_read_are_found_and_the_rest_still_looked_at(
    home: Path, ask: Ask
) -> None:
    (home / "config.toml").write_text("[store]\ncolour = 1\n")
    told = ask()
    assert "there is no setting store.colour" in ill(told)["settings"]["says"]
    assert of(told, "store")["is_well"]


def test_settings_that_name_what_is_not_there_are_found(ask: Ask) -> None:
    told = ask("--set", "capture.folders=/no/such/folder")
    assert "/no/such/folder, which is not there" in ill(told)["settings"]["says"]
    told = ask("--set", "capture.sources=aider")
    assert "whose histories lie in no one place" in ill(told)["settings"]["says"]
    told = ask("--set", "capture.sources=codex")
    assert "codex, of which nothing is there" in of(told, "settings")["says"]
    told = ask("--set", "capture.exclude=/no/such/folder")
    assert "capture.exclude names /no/such" in of(told, "settings")["says"]


def test_a_time_zone_this_machine_does_not_know_is_found(home: Path, ask: Ask) -> None:
    with changing(home) as connection:
        connection.execute(
            "UPDATE meta SET value = 'Mars/Base' WHERE name = 'time_zone'"
        )
    assert "does not know Mars/Base" in ill(ask())["zone"]["says"]


def test_a_watch_that_is_blind_says_why_and_is_no_fault(home: Path, ask: Ask) -> None:
    memtui(home, "sources", "watch", "claude-code")
    with changing(home) as connection:
        connection.execute("INSERT INTO meta VALUES ('blind', '/x is on nfs')")
    told = ask()
    assert told["is_well"]
    assert "looking every 2 s, since /x is on nfs" in of(told, "watching")["says"]


@pytest.fixture
def transcript() -> Path:
    """A conversation with Claude Code that was never read."""
    folder = Path.home() / ".claude" / "projects" / "shop"
    folder.mkdir(parents=True)
    record = {
        "type": "user",
        "uuid": "u1",
        "sessionId": "s1",
        "timestamp": "2025-03-14T10:00:00Z",
        "message": {"content": "Fix the cart"},
    }
    file = folder / "s1.jsonl"
    file.write_text(json.dumps(record) + "\n")
    return file


def aged(file: Path, age: timedelta) -> None:
    at_s = (datetime.now(UTC) - age).timestamp()
    os.utime(file, (at_s, at_s))


def test_transcripts_nobody_reads_are_named_and_no_fault_until_they_go(
    ask: Ask, transcript: Path
) -> None:
    told = ask()
    assert told["is_well"]
    assert "1 of 1 were never read" in of(told, "transcripts")["says"]
    aged(transcript, timedelta(days=22))
    assert ask()["is_well"]
    aged(transcript, timedelta(days=25))
    found = ill(ask())["transcripts"]
    assert "Claude Code deletes 1 transcript from" in found["says"]
    assert "memtui sources watch claude-code" in found["cure"]
    aged(transcript, timedelta(days=40))
    assert "at any moment" in ill(ask())["transcripts"]["says"]


def test_how_long_transcripts_are_kept_is_claude_code_s_own_setting(
    ask: Ask, transcript: Path
) -> None:
    aged(transcript, timedelta(days=40))
    settings = Path.home() / ".claude" / "settings.json"
    settings.write_text('{"cleanupPeriodDays": 365}')
    assert ask()["is_well"]
    settings.write_text('{"cleanupPeriodDays": 45}')
    assert "transcripts" in ill(ask())


def test_without_a_store_transcripts_that_go_are_found_too(
    home: Path, ask: Ask, transcript: Path
) -> None:
    shutil.rmtree(home)
    aged(transcript, timedelta(days=25))
    assert "transcripts" in ill(ask())
    assert not home.exists()


def test_a_transcript_that_was_read_may_go(
    home: Path, ask: Ask, transcript: Path
) -> None:
    aged(transcript, timedelta(days=25))
    memtui(home, "import")
    assert ask()["is_well"]


def test_a_transcript_that_grew_unread_is_found(
    home: Path, ask: Ask, transcript: Path
) -> None:
    memtui(home, "import")
    with transcript.open("a") as file:
        file.write('{"type": "mode", "sessionId": "s1"}\n')
    assert ask()["is_well"], "it may be about to be read"
    aged(transcript, timedelta(hours=1))
    found = ill(ask())["transcripts"]
    assert "1 transcript changed since" in found["says"]
    memtui(home, "sources", "watch", "codex")
    assert ask()["is_well"], "a person decided against it"
    memtui(home, "sources", "watch", "claude-code")
    cure = ill(ask())["transcripts"]["cure"]
    memtui(home, *cure.split()[1:])
    assert ask()["is_well"]


def test_a_new_transcript_is_given_the_time_to_be_read(
    home: Path, ask: Ask, transcript: Path
) -> None:
    memtui(home, "sources", "watch", "claude-code")
    assert ask()["is_well"]
    aged(transcript, timedelta(hours=1))
    assert "1 transcript changed since" in ill(ask())["transcripts"]["says"]


@pytest.fixture
def hooked(home: Path, transcript: Path) -> Path:
    """Claude Code's settings, with the hooks installed a day ago."""
    memtui(home, "hooks", "install", "claude-code", "--yes")
    settings = Path.home() / ".claude" / "settings.json"
    aged(settings, timedelta(days=1))
    aged(transcript, timedelta(days=2))
    memtui(home, "import")
    return settings


def test_hooks_that_run_are_well(ask: Ask, hooked: Path) -> None:
    told = ask()
    assert told["is_well"]
    assert "the command runs; nothing heard yet" in of(told, "hooks")["says"]


def test_a_hook_whose_command_is_gone_is_found(ask: Ask, hooked: Path) -> None:
    there = json.loads(hooked.read_text())["hooks"]["Stop"][0]["hooks"][0]["command"]
    hooked.write_text(hooked.read_text().replace(there, "/no/such/python"))
    found = ill(ask())["hooks"]
    assert "the command it names does not run" in found["says"]
    assert found["cure"] == "memtui hooks install claude-code"


def test_hooks_of_the_project_are_looked_at_and_none_twice(
    home: Path, ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def looked_at() -> list[str]:
        found = ask()["findings"]
        return [one["subject"] for one in found if one["name"] == "hooks"]

    memtui(home, "hooks", "install", "codex", "--yes")
    monkeypatch.chdir(Path.home())
    assert looked_at() == ["codex"]
    (tmp_path / "shop").mkdir()
    monkeypatch.chdir(tmp_path / "shop")
    memtui(home, "hooks", "install", "gemini-cli", "--project", "--yes")
    assert looked_at() == ["codex", "gemini-cli"]


def test_settings_of_an_agent_that_are_broken_are_found(ask: Ask, hooked: Path) -> None:
    hooked.write_text("{")
    assert ill(ask())["hooks"]["cure"] == f"mend {hooked}"


def test_hooks_that_are_installed_and_silent_are_found(
    home: Path, ask: Ask, hooked: Path, transcript: Path
) -> None:
    os.utime(transcript)
    found = ill(ask())["hooks"]
    assert "installed, but silent" in found["says"]
    payload = {
        "hook_event_name": "UserPromptSubmit",
        "session_id": "s2",
        "prompt": "And the basket",
        "transcript_path": str(transcript),
    }
    (home / "spool" / "new" / "2.json").write_text(json.dumps(payload))
    assert "hooks" not in ill(ask()), "what waits was heard"
    memtui(home, "work", "--until-idle")
    told = ask()
    assert "hooks" not in ill(told)
    assert "last heard" in of(told, "hooks")["says"]
    assert "hooks" in {one["source"] for one in told["heard"]}


Set = Callable[..., None]


@pytest.fixture
def summaries(monkeypatch: pytest.MonkeyPatch) -> Set:
    """Sets who summarises."""

    def put(**values: str) -> None:
        for name, value in values.items():
            monkeypatch.setenv(f"MEMTUI_SUMMARIES__{name.upper()}", value)

    return put


def test_the_model_is_named_with_its_window_and_where_it_runs(
    ask: Ask, summaries: Set, connected: list[tuple[Any, ...]]
) -> None:
    with serving(Model("qwen3:4b"), Model("far", remote_host="https://x")) as stub:
        summaries(url=stub.url, provider="ollama")
        found = of(ask(), "model")
        assert found["is_well"]
        assert "qwen3:4b, not loaded now, with a window of 8,192" in found["says"]
        assert f"Ollama 0.33.0 at {stub.url}" in found["says"]
        assert {one.path for one in stub.received} == {
            *("/api/version", "/api/tags", "/api/ps", "/api/show")
        }
    assert {host for host, *_ in connected} == {"127.0.0.1"}


@pytest.mark.parametrize(
    ("on_gpu", "words"), [(True, "a graphics card"), (False, "the CPU alone")]
)
def test_of_a_loaded_model_it_is_said_what_it_runs_on(
    ask: Ask, summaries: Set, on_gpu: bool, words: str
) -> None:
    model = Model(on_gpu=on_gpu)
    with serving(model) as stub:
        stub.memory.load(model, {"num_ctx": 4096})
        summaries(url=stub.url)
        told = ask()
    assert f"loaded, on {words}, with a window of 4,096" in of(told, "model")["says"]
    health = told["model"]["health"]
    assert (health["is_loaded"], health["on_cpu"]) == (True, not on_gpu)
    assert health["condition"] == "ready"


@listing
def test_beside_its_own_look_it_tells_that_of_the_memtui_that_works(
    home: Path, ask: Ask
) -> None:
    at = datetime(2026, 1, 2, 21, 20, tzinfo=UTC)
    until = at + timedelta(minutes=14)
    opened = House(in_home(home), Settings({}))
    with database.writing():
        found = facts.Found(Condition.RESTING, "its minutes are used", until, at)
        facts.set_model(found)
    opened.stop()
    assert [one["subject"] for one in named(ask(), "model")] == [""]
    with (home / "work.lock").open("w") as claim:
        fcntl.flock(claim, fcntl.LOCK_EX)
        ours, theirs = named(ask(), "model")
    assert ours["subject"] == "" and theirs["is_well"]
    words = "the memtui that works: resting until {}, its minutes are used (seen at {})"
    times = [f"{when.astimezone(opened.zone):%H:%M}" for when in (until, at)]
    assert theirs["says"] == words.format(*times)


def test_a_model_that_has_no_minutes_is_told_from_one_that_is_unwell(
    ask: Ask, summaries: Set
) -> None:
    model = Model(on_gpu=False)
    with serving(model) as stub:
        stub.memory.load(model, {"num_ctx": 4096})
        summaries(url=stub.url, provider="ollama", cpu_minutes="0")
        found = of(ask(), "model")
    assert "without one it must not work" in found["says"]
    assert "summaries.cpu_minutes above 0" in found["cure"]


@pytest.mark.parametrize("provider", ["auto", "ollama"])
def test_the_want_of_a_model_is_wrong_where_one_is_asked_for(
    ask: Ask, summaries: Set, provider: str
) -> None:
    summaries(provider=provider)
    found = of(ask(), "model")
    assert found["is_well"] == (provider == "auto")
    assert "no Ollama answers at http://127.0.0.1:1" in found["says"]
    assert "memtui's own summariser is used" in found["says"]
    assert "install it from ollama.com, then: ollama pull qwen3:4b" in found["cure"]


@pytest.mark.parametrize("named", ["", "gemma3:4b"])
def test_a_model_that_is_missing_is_to_be_pulled(
    ask: Ask, summaries: Set, named: str
) -> None:
    with serving(Model("nomic-embed-text", size="137M")) as stub:
        summaries(url=stub.url, provider="ollama", model=named)
        found = ill(ask())["model"]
    assert found["cure"] == f"ollama pull {named or 'qwen3:4b'}"


def test_a_model_that_must_not_summarise_is_to_be_named_otherwise(
    ask: Ask, summaries: Set
) -> None:
    with serving(Model("tiny:1b", size="1.0B")) as stub:
        summaries(url=stub.url, provider="ollama", model="tiny:1b")
        found = ill(ask())["model"]
    assert "too small" in found["says"]
    assert "summaries.model" in found["cure"]


def test_a_model_in_the_cloud_is_not_asked(ask: Ask, summaries: Set) -> None:
    with serving(Model("far", remote_host="https://x")) as stub:
        summaries(url=stub.url, provider="ollama", model="far")
        found = ill(ask())["model"]
        assert not stub.chats()
    assert "does not run on this machine" in found["says"]
    assert "summaries.model" in found["cure"]


@pytest.mark.parametrize(
    "named", ["http://203.0.113.5:11434", "https://ollama.example", "http://[::", "x:y"]
)
def test_no_ollama_elsewhere_is_asked(
    ask: Ask, summaries: Set, connected: list[tuple[Any, ...]], named: str
) -> None:
    summaries(url=named, provider="ollama")
    found = ill(ask())["model"]
    assert "summaries.url" in found["cure"]
    assert "summaries.allowed_hosts" in found["cure"]
    assert connected == []


def test_what_the_environment_says_of_ollama_is_not_looked_at(
    ask: Ask, summaries: Set, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving() as stub, serving() as other:
        monkeypatch.setenv("OLLAMA_HOST", other.url)
        monkeypatch.setenv("HTTP_PROXY", other.url)
        summaries(url=stub.url)
        assert "qwen3:4b" in of(ask(), "model")["says"]
        assert other.received == []


@pytest.mark.parametrize("provider", ["auto", "ollama"])
def test_an_ollama_that_never_answers_is_not_waited_for(
    ask: Ask, summaries: Set, provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checking_model, "PATIENCE_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}"
        summaries(url=url, provider=provider)
        found = of(ask(), "model")
    assert found["is_well"] == (provider == "auto")
    assert f"{url} does not answer within 0.2 s" in found["says"]


def test_where_no_model_is_wanted_nobody_is_asked(ask: Ask, summaries: Set) -> None:
    with serving() as stub:
        summaries(url=stub.url, provider="extractive")
        told = ask()
        assert stub.received == []
    assert "no model is asked (summaries.provider)" in of(told, "model")["says"]
    assert told["model"]["health"] is None


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of two megabytes."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "memtui-test", str(place)]
    if os.geteuid() or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("no disk can be mounted here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_full_disk_is_found(
    ask: Ask, small_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool = small_disk / "spool"
    for box in ("tmp", "new", "bad"):
        (spool / box).mkdir(parents=True)
    monkeypatch.setenv("MEMTUI_SPOOL", str(spool))
    found = ill(ask())
    assert "MB free" in found["disk"]["says"]
    assert "spool" not in found
    with pytest.raises(OSError), (small_disk / "full").open("wb", buffering=0) as file:
        while True:
            file.write(bytes(1 << 16))
    assert "no space left" in ill(ask())["spool"]["says"]


def test_a_disk_that_cannot_be_written_is_found_and_read(
    home: Path, ask: Ask, small_disk: Path
) -> None:
    shutil.copytree(home, small_disk, dirs_exist_ok=True)
    shutil.rmtree(home)
    home.symlink_to(small_disk)
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    told = ask()
    assert "44 events" in ill(told)["store"]["says"]
    assert "cannot be written" in ill(told)["store"]["says"]
    assert "cannot be written" in ill(told)["spool"]["says"]
    assert of(told, "index")["is_well"]
