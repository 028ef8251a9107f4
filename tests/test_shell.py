"""The command line, as a person and as a program use it."""

import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from memtui import __version__
from memtui.memory import fencing
from tests.commanding import data_of

HISTORY = Path(__file__).parent / "data" / "history.jsonl"


def memtui(
    home: Path, *words: str, code: int = 0
) -> "subprocess.CompletedProcess[str]":
    told = subprocess.run(
        [sys.executable, "-m", "memtui", "--home", str(home), *words],
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == code, told.stderr
    assert "Traceback" not in told.stderr
    return told


def asked(home: Path, *words: str, code: int = 0) -> Any:
    return data_of(memtui(home, *words, "--json", code=code).stdout)


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the written history in it, made once."""
    home = tmp_path_factory.mktemp("imported") / "home"
    home.mkdir()
    (home / "config.toml").write_text('[store]\ntime_zone = "UTC"\n')
    told = memtui(home, "import", str(HISTORY))
    assert told.stdout.startswith("1 file read (0 unchanged since last time): 44 new")
    return home


@pytest.fixture
def home(imported: Path, tmp_path: Path) -> Path:
    """A home with the written history in it."""
    return Path(shutil.copytree(imported, tmp_path / "home"))


def test_help_and_version_explain_themselves(tmp_path: Path) -> None:
    assert "COMMAND" in memtui(tmp_path, "--help").stdout
    assert memtui(tmp_path, "--version").stdout == f"memtui {__version__}\n"


def test_an_empty_memory_says_what_to_do(tmp_path: Path) -> None:
    assert "memtui import" in memtui(tmp_path / "new", "show").stdout
    assert asked(tmp_path / "new", "stats")["events"] == 0


def test_from_the_years_down_to_the_words_behind_a_bullet(home: Path) -> None:
    years = asked(home, "show")["children"]
    assert [year["node_id"] for year in years] == ["toc:year:2024", "toc:year:2023"]
    (segment,) = asked(home, "browse", "toc:day:2024-01-22")["children"]
    shown = asked(home, "show", segment["node_id"])
    assert 0 <= shown["surprise"] <= 1
    grip_id = shown["parts"][0]["grip_ids"][0]
    found = asked(home, "expand", grip_id, "--before", "1", "--after", "1")
    texts = [one["text"] for one in found["events"] if one.get("is_excerpt")]
    assert any(found["grip"]["excerpt"] in text for text in texts)
    assert len(found["events"]) <= len(texts) + 2
    assert f"“{found['grip']['excerpt']}”" in memtui(home, "expand", grip_id).stdout


def test_people_read_the_same_as_programs(home: Path) -> None:
    told = memtui(home, "show", "toc:day:2024-01-18").stdout
    assert told.startswith("Thursday, January 18, 2024\n")
    assert "✓ " in told
    assert "toc:segment:2024-01-18:" in told


def test_teleport_tells_programs_all_they_need_to_jump(home: Path) -> None:
    words = ("mutex", "tokne", "--why", "--recent", "--max-tokens", "50000")
    told = asked(home, "teleport", *words)
    fields = {"query", "hits", "suggestion", "note", "hints", "took_ms", "notice"}
    assert set(told) == fields
    assert told["suggestion"] == "mutex token"
    for hit in told["hits"]:
        assert set(hit) == {
            *("kind", "id", "node_id", "leads_to", "level", "title", "at", "score"),
            *("band", "advice", "snippet", "project", "why"),
        }
        assert sum(term["contribution"] for term in hit["why"]["terms"]) == (
            pytest.approx(hit["score"], rel=1e-3)
        )
        assert hit["leads_to"].startswith("toc:segment:")
    (first, *_) = told["hits"]
    start, end = first["snippet"]["marks"][0]
    assert first["snippet"]["text"][start:end].lower() == "mutex"
    assert asked(home, "teleport", "mutex", "--limit", "1", "--agent", "none") == {
        "query": "mutex",
        "hits": [],
        "suggestion": "",
        "note": "",
        "hints": ["Nothing is kept of the agent “none”."],
        "took_ms": pytest.approx(0, abs=60_000),
        "notice": fencing.NOTICE,
    }


def test_what_begins_with_a_hyphen_belongs_to_a_question(home: Path) -> None:
    for command in ("search", "search-sessions", "teleport"):
        found = asked(home, command, "mutex", "-tabs", "--limit", "5")
        assert found["query"] == "mutex -tabs"


def test_teleport_tells_people_what_a_score_is_made_of(home: Path) -> None:
    told = memtui(home, "teleport", "mutxe tabs").stdout
    assert "Did you mean: mutex tabs\n" in told
    told = memtui(home, "teleport", "level:week token zeppelin", "--why").stdout
    assert "zeppelin: not there" in told
    assert "token: idf" in told
    assert "1 of 2 there" in told
    assert "toc:week:2024-W03 → toc:segment:2024-01-18:" in told
    assert "Type a word" in memtui(home, "teleport", "agent:codex").stdout
    assert "Nothing holds 'zyxw'" in memtui(home, "teleport", "zyxw").stdout


def test_search_finds_what_was_said(home: Path) -> None:
    hits = asked(home, "search", "mutex", "tabs")["hits"]
    assert hits
    assert all(0 <= hit["score"] <= 1 for hit in hits)
    assert "*" in memtui(home, "search", "mutex").stdout
    assert "Nothing holds 'zyxw'" in memtui(home, "search", "zyxw").stdout


def test_an_unknown_node_is_an_error_and_an_unknown_grip_an_empty_answer(
    home: Path,
) -> None:
    assert "there is no node" in memtui(home, "show", "toc:day:x", code=1).stderr
    assert asked(home, "expand", "grip:1:nothing")["events"] == []


def test_importing_again_changes_nothing(home: Path) -> None:
    before = asked(home, "stats")
    again = asked(home, "import", str(HISTORY))["imported"]
    assert (again["unchanged"], again["created"]) == (1, 0)
    assert asked(home, "stats") == before


def test_the_index_can_be_made_again(home: Path) -> None:
    memtui(home, "reindex")
    assert asked(home, "search", "mutex")["hits"]


def test_the_doctor_finds_nothing_wrong_and_then_something(home: Path) -> None:
    assert all(found["is_well"] for found in asked(home, "doctor")["findings"])
    (home / "spool" / "new" / "1.json").write_text("{")
    memtui(home, "work", "--until-idle")
    told = asked(home, "doctor", code=1)
    ill = [found["name"] for found in told["findings"] if not found["is_well"]]
    assert ill == ["quarantine"]
    reasons = {row["reason"]: row["count"] for row in told["not_taken"]}
    assert reasons == {"not valid JSON": 1}


def test_settings_are_shown_with_where_they_came_from(home: Path) -> None:
    told = memtui(home, "--set", "log.level=debug", "config", "show").stdout
    assert '"debug"' in told
    assert f"{home / 'config.toml'}:2" in told


def test_a_settings_file_is_written_once(tmp_path: Path) -> None:
    memtui(tmp_path / "new", "config", "init")
    assert "exists already" in memtui(tmp_path / "new", "config", "init", code=1).stderr


def test_what_does_not_exist_cannot_be_imported(home: Path) -> None:
    assert "does not exist" in memtui(home, "import", "/no/such", code=1).stderr


def test_a_file_of_another_format_is_counted_and_does_not_stop_the_others(
    home: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "mixed"
    folder.mkdir()
    (folder / "a.jsonl").write_text('{"colour": "blue"}\n')
    (folder / "b.jsonl").write_bytes(HISTORY.read_bytes())
    imported = asked(home, "import", str(folder))["imported"]
    assert (imported["unreadable"], imported["known"]) == (1, 44)


def test_a_second_worker_leaves_the_store_to_the_first(home: Path) -> None:
    first = subprocess.Popen(
        [sys.executable, "-m", "memtui", "--home", str(home), "work"],
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert first.stderr is not None
        assert "memtui works" in first.stderr.readline()
        told = memtui(home, "work", "--until-idle", code=1)
        assert "another memtui works this store" in told.stderr
        new = home.parent / "more.jsonl"
        line = json.loads(HISTORY.read_text().splitlines()[1])
        told_now = {**line, "text": "A new quay", "session_id": "shop-9", "key": "1"}
        new.write_text(json.dumps(told_now) + "\n")
        assert "digests what was stored" in memtui(home, "import", str(new)).stdout
        end_s = time.monotonic() + 30
        while not asked(home, "search", "quay")["hits"]:
            assert time.monotonic() < end_s, "the first one does not digest"
    finally:
        first.send_signal(signal.SIGINT)
        first.communicate(timeout=30)
    assert first.returncode == 130


def test_tokens_that_cannot_be_fetched_are_said_so(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
    told = memtui(home, "tokens", "fetch", code=1)
    assert "could not be fetched" in told.stderr


@pytest.mark.parametrize("inside", ["", "deeper"])
def test_a_home_that_cannot_be_is_said_so(tmp_path: Path, inside: str) -> None:
    (tmp_path / "file").write_text("")
    told = memtui(tmp_path / "file" / inside, "stats", code=1)
    assert "is not a folder" in told.stderr


def test_sessions_lead_to_what_was_said_in_them(home: Path) -> None:
    whole = ("--max-tokens", "50000")
    listed = asked(home, "sessions", "--agent", "codex", *whole)
    first = listed["sessions"][0]
    assert listed["total"] == len(listed["sessions"])
    named = f"codex:{first['session_id']}"
    told = asked(home, "session", named, "--limit", "1", *whole)
    assert told["facts"]["session"] == first
    assert told["total"] == first["message_count"]
    assert len(told["events"]) == 1
    page = memtui(home, "session", first["session_id"], "--limit", "1", "--all").stdout
    assert f"codex:{first['session_id']}" in page
    assert "more: --offset 1" in page


def test_an_unknown_session_is_an_error(home: Path) -> None:
    assert "there is no session 'x'" in memtui(home, "session", "x", code=1).stderr


def test_nothing_of_a_scope_is_said_so(home: Path) -> None:
    none = ("--agent", "codex", "--project", "nowhere")
    for words in (("sessions",), ("show",), ("search", "mutex")):
        assert "codex in nowhere" in memtui(home, *words, *none).stdout
    assert asked(home, "show", "--project", "shop")["children"]
