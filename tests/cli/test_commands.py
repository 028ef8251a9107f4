"""The command line, for people and for programs."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from memtui import __version__
from memtui.text import fencing
from memtui.text.tokens import ESTIMATING_COUNTER
from memtui.tools import replies
from tests.cli_runner import json_data, run_at_terminal, run_memtui, run_separately

HISTORY = Path(__file__).parents[1] / "data" / "history.jsonl"


def read_json(home: Path, *words: str, code: int = 0) -> Any:
    return json_data(run_memtui(home, *words, "--json", code=code).stdout)


@pytest.fixture(scope="module")
def imported_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the written history in it, made once."""
    home = tmp_path_factory.mktemp("imported") / "home"
    home.mkdir()
    (home / "config.toml").write_text('[store]\ntime_zone = "UTC"\n')
    output = run_separately(home, "import", str(HISTORY))
    assert output.stdout.startswith("1 file read (0 unchanged since last time): 44 new")
    return home


@pytest.fixture
def home(imported_home: Path, tmp_path: Path) -> Path:
    """A home with the written history in it."""
    return Path(shutil.copytree(imported_home, tmp_path / "home"))


def test_help_and_version_explain_themselves(tmp_path: Path) -> None:
    assert "COMMAND" in run_separately(tmp_path, "--help").stdout
    assert run_separately(tmp_path, "--version").stdout == f"memtui {__version__}\n"


def test_empty_store_names_the_import_command(tmp_path: Path) -> None:
    empty_home = tmp_path / "new"
    run_memtui(empty_home, "work", "--until-idle")
    for words in (("show",), ("toc",), ("ask", "mutex"), ("sessions",)):
        assert "memtui import" in run_memtui(empty_home, *words).stdout
        assert "memtui import" in run_at_terminal(empty_home, *words)
    assert read_json(empty_home, "stats")["events"] == 0


@pytest.mark.parametrize(
    "words",
    [
        ("toc",),
        ("show",),
        ("sessions",),
        ("session", "shop-1"),
        ("open",),
        ("decisions",),
        ("usage",),
        ("stats",),
        ("report", "2024"),
        ("handover", "shop-1"),
        ("search", "mutex"),
        ("ask", "mutex"),
        ("call", "list_points"),
        ("audit",),
        ("versions", "toc:year:2024"),
    ],
    ids=" ".join,
)
def test_reading_without_a_store_is_an_error(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    output = run_memtui(tmp_path / "new", *words, code=1)
    assert output.stdout == ""
    assert f"no store in {tmp_path / 'new'} yet; memtui import" in output.stderr


def test_reading_commands_create_no_store(tmp_path: Path) -> None:
    output = run_memtui(tmp_path / "typo" / "deep", "toc", code=1)
    assert f"no store in {tmp_path / 'typo' / 'deep'} yet" in output.stderr
    assert list(tmp_path.iterdir()) == []
    for changing in (("forget", "project", "x"), ("jobs", "pause"), ("reindex",)):
        printed = run_separately(tmp_path / "typo", *changing, code=1).stderr
        assert "there is no store in" in printed
    run_memtui(tmp_path / "typo", "sources")
    assert list(tmp_path.iterdir()) == []


def test_commands_lead_from_years_to_a_source(home: Path) -> None:
    years = read_json(home, "show")["children"]
    assert [year["node_id"] for year in years] == ["toc:year:2024", "toc:year:2023"]
    (segment,) = read_json(home, "call", "browse_toc", "node_id=toc:day:2024-01-22")[
        "children"
    ]
    node = read_json(home, "show", segment["node_id"])
    assert 0 <= node["surprise"] <= 1
    grip_id = node["bullets"][0]["grip_ids"][0]
    expansion = read_json(home, "expand", grip_id, "--before", "1", "--after", "1")
    texts = [event["text"] for event in expansion["excerpt"]]
    assert any(expansion["grip"]["excerpt"] in text for text in texts)
    assert len(expansion["before"]) <= 1 and len(expansion["after"]) <= 1
    printed = run_at_terminal(home, "expand", grip_id)
    headings = [line for line in printed.splitlines() if line.isupper()]
    assert headings[-1] == "AFTER" and "EXCERPT" in headings
    assert expansion["grip"]["excerpt"] in printed


def test_node_is_printed_with_bullets_and_children(home: Path) -> None:
    output = run_at_terminal(home, "show", "toc:day:2024-01-18")
    assert output.startswith("[toc:day:2024-01-18] Thursday, January 18, 2024: ")
    assert "\n- " in output
    assert "toc:segment:2024-01-18:" in output


def test_teleport_answers_in_json(home: Path) -> None:
    output = read_json(home, "call", "teleport", "query=mutex tokne", "limit=10")
    assert set(output) == {"hits", "notes"}
    assert "Did you mean: mutex token" in output["notes"]
    for hit in output["hits"]:
        assert set(hit) >= {"id", "score", "band", "at", "title", "snippet"}
    leads = output["hits"][0].get("leads_to", output["hits"][0]["id"])
    opened = read_json(home, "show", leads)
    assert opened["node_id"].startswith(leads)
    answer = read_json(home, "call", "teleport", "query=mutex agent:none")
    assert answer["hits"] == [] and "none" in answer["notes"][0]


def test_excluded_word_belongs_to_the_query(home: Path) -> None:
    answer = read_json(home, "search", "mutex", "--limit", "5")
    without = read_json(home, "search", "mutex", "-mutex", "--limit", "5")
    assert (bool(answer["hits"]), without["hits"]) == (True, [])


FOR_PROGRAMS = (
    ("show",),
    ("show", "toc:day:2024-01-18"),
    ("show", "toc:day:2024-01-18", "--version", "1"),
    ("expand", "grip:1705572000000:c52e"),
    ("sessions",),
    ("session", "shop-1"),
    ("session", "shop-1", "--all", "--thoughts"),
    ("search", "mutex", "tabs"),
    ("ask", "mutex"),
    ("call", "search_sessions", "query=mutex"),
    ("call", "teleport", "query=mutex"),
    ("toc",),
)


@pytest.mark.parametrize("words", FOR_PROGRAMS, ids=" ".join)
def test_answers_with_a_budget_are_fenced_and_within_it(
    home: Path, words: tuple[str, ...]
) -> None:
    for limit in ("50", "200"):
        output = run_memtui(home, *words, "--max-tokens", limit).stdout
        first, *_, last = output.splitlines()
        assert fencing.NOTICE in first and last.startswith("</memory ")
        assert replies.cost(output.rstrip("\n"), ESTIMATING_COUNTER) <= int(limit)
        output = run_memtui(home, *words, "--max-tokens", limit, "--json").stdout
        assert replies.cost(output.rstrip("\n"), ESTIMATING_COUNTER) <= int(limit)
        assert json_data(output) is not None


def test_errors_keep_within_the_budget(home: Path) -> None:
    words = ("session", "shop-1", "--subagent", "x" * 10_000, "--max-tokens", "60")
    output = run_memtui(home, *words, "--json", code=1)
    assert replies.cost(output.stdout.rstrip("\n"), ESTIMATING_COUNTER) <= 60
    assert json_data(output.stdout) is None
    assert len(output.stderr) < 3000


def test_search_finds_messages(home: Path) -> None:
    hits = read_json(home, "search", "mutex", "tabs")["hits"]
    assert hits
    assert all(0 <= hit["score"] <= 1 for hit in hits)
    assert "mutex" in run_at_terminal(home, "search", "mutex")
    assert "Nothing matches" in run_at_terminal(home, "search", "zyxw")
    assert "Did you mean: mutex tabs\n" in run_at_terminal(home, "search", "mutxe tabs")
    assert "the newest are listed" in run_at_terminal(home, "search", "agent:codex")


def test_missing_things_are_not_errors(home: Path) -> None:
    for name, *words in (
        ("bullets", "show", "toc:day:1999-01-01"),
        ("bullets", "show", "nonsense"),
        ("children", "call", "browse_toc", "node_id=nonsense"),
        ("excerpt", "expand", "grip:1:nothing"),
    ):
        output = read_json(home, *words)
        assert (output[name], bool(output["notes"])) == ([], True), words
        assert run_at_terminal(home, *words).strip()
    assert "memtui show" in read_json(home, "show", "nonsense")["notes"][0]


def test_unknown_session_is_an_error(home: Path) -> None:
    for name, message in (("nobody", "no session 'nobody'"), ("s", "sessions")):
        output = run_memtui(home, "session", name, code=1)
        assert output.stdout == "" and message in output.stderr


def test_importing_again_changes_nothing(home: Path) -> None:
    before = read_json(home, "stats")
    again = read_json(home, "import", str(HISTORY))["imported"]
    assert (again["unchanged"], again["created"]) == (1, 0)
    assert read_json(home, "stats") == before


def test_reindex_restores_search(home: Path) -> None:
    run_memtui(home, "reindex")
    assert read_json(home, "search", "mutex")["hits"]


def test_doctor_reports_problems(home: Path) -> None:
    assert all(finding["is_ok"] for finding in read_json(home, "doctor")["findings"])
    (home / "spool" / "new" / "1.json").write_text("{")
    run_memtui(home, "work", "--until-idle")
    output = read_json(home, "doctor", code=1)
    failed = [f["name"] for f in output["findings"] if not f["is_ok"]]
    assert failed == ["quarantine"]
    counts = {row["reason"]: row["count"] for row in output["skipped"]}
    assert counts == {"hook file in the quarantine": 1}


def test_settings_are_printed_with_their_origin(home: Path) -> None:
    output = run_memtui(home, "--set", "log.level=debug", "config", "show").stdout
    assert '"debug"' in output
    assert f"{home / 'config.toml'}:2" in output


def test_a_settings_file_is_written_once(tmp_path: Path) -> None:
    os.umask(0)
    run_memtui(tmp_path / "new", "config", "init")
    file = tmp_path / "new" / "config.toml"
    assert file.stat().st_mode & 0o777 == 0o600
    assert (
        "exists already"
        in run_memtui(tmp_path / "new", "config", "init", code=1).stderr
    )


def test_missing_path_cannot_be_imported(home: Path) -> None:
    assert "does not exist" in run_memtui(home, "import", "/no/such", code=1).stderr


def test_import_says_what_it_keeps_nothing_of(home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "mixed"
    folder.mkdir()
    record = {"type": f"odd\nkind {'x' * 1000}", "sessionId": "s1", "x": "two words"}
    (folder / "a.jsonl").write_text(f"{json.dumps(record)}\n")
    (folder / "picture.png").write_bytes(b"x" * 2_500_000)
    (folder / "notes").touch()
    lines = run_memtui(home, "import", str(folder)).stdout.splitlines()
    assert lines[-1] == "Kept nothing of 2 other files, 2.5 MB: 1 no ending, 1 .png."
    (line,) = (line for line in lines if "odd kind" in line)
    assert len(line) < 300
    assert len(read_json(home, "import", str(folder))["ignored"]) == 2


def test_a_file_of_another_format_is_counted_and_does_not_stop_the_others(
    home: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "mixed"
    folder.mkdir()
    (folder / "a.jsonl").write_text('{"colour": "blue"}\n')
    (folder / "b.jsonl").write_bytes(HISTORY.read_bytes())
    for _ in range(2):
        output = read_json(home, "import", str(folder), code=1)["imported"]
        assert (output["unreadable"], output["already_stored"]) in ((1, 44), (1, 0))
        assert output["unreadable_files"] == [
            f"{folder}/a.jsonl: has an unknown format"
        ]
    printed = run_memtui(home, "import", str(folder / "a.jsonl"), code=1).stdout
    assert printed.startswith("0 files read")
    assert "1 file could not be read:\n" in printed
    assert "a.jsonl: has an unknown format" in printed


def test_unreadable_files_are_reported(home: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "notes.md").write_text("# Notes\n")
    (tmp_path / "empty.jsonl").touch()
    for path, problem, code in (
        ("", "a path is empty", 2),
        ("A" * 100_000, "File name too long", 1),
        (str(tmp_path / "empty"), "no conversations were found in", 1),
        (str(tmp_path / "empty.jsonl"), "there is nothing in", 1),
        ("/dev/null", "neither a file nor a folder", 1),
    ):
        assert problem in run_memtui(home, "import", path, code=code).stderr
        run_memtui(tmp_path / "new", "import", path, code=code)
        assert not (tmp_path / "new").exists()


def test_paths_without_conversations_do_not_stop_the_others(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    paths = (str(tmp_path / "empty"), str(HISTORY), "/no/such")
    result = run_memtui(tmp_path / "new", "import", *paths, code=1)
    assert "44 new events" in result.stdout
    assert f"error: no conversations were found in {paths[0]}\n" in result.stdout
    assert "error: /no/such does not exist\n" in result.stdout


def test_a_second_worker_leaves_the_store_to_the_first(home: Path) -> None:
    first = subprocess.Popen(
        [sys.executable, "-m", "memtui", "--home", str(home), "work"],
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert first.stderr is not None
        assert "memtui is working" in first.stderr.readline()
        output = run_memtui(home, "work", "--until-idle", code=1)
        assert "another memtui is running on this store" in output.stderr
        new = home.parent / "more.jsonl"
        line = json.loads(HISTORY.read_text().splitlines()[1])
        told_now = {**line, "text": "A new quay", "session_id": "shop-9", "key": "1"}
        new.write_text(json.dumps(told_now) + "\n")
        assert "is running on this store" in run_memtui(home, "import", str(new)).stdout
        end_s = time.monotonic() + 30
        while not read_json(home, "search", "quay")["hits"]:
            assert time.monotonic() < end_s, "the first one does not digest"
    finally:
        first.send_signal(signal.SIGINT)
        first.communicate(timeout=30)
    assert first.returncode == 130


def test_failed_download_of_the_vocabulary_is_reported(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
    output = run_memtui(home, "tokens", "fetch", code=1)
    assert "could not be fetched" in output.stderr


@pytest.mark.parametrize("inside", ["", "deeper"])
def test_impossible_home_is_reported(tmp_path: Path, inside: str) -> None:
    (tmp_path / "file").write_text("")
    output = run_memtui(tmp_path / "file" / inside, "stats", code=1)
    assert "is not a folder" in output.stderr


def test_sessions_lead_to_their_messages(home: Path) -> None:
    listed = read_json(home, "sessions", "--agent", "codex")
    first = listed["sessions"][0]
    assert listed["total"] == len(listed["sessions"])
    output = read_json(home, "session", first["id"], "--limit", "1")
    assert output["session"].items() >= first.items()
    assert output["total"] == first["message_count"]
    assert len(output["messages"]) == 1
    every = read_json(home, "session", first["id"], "--all")
    assert every["total"] == output["session"]["events"]
    page = run_at_terminal(home, "session", first["id"], "--limit", "1", "--all")
    assert first["id"] in page
    assert "(6 more of 7: offset=1)" in page


def test_empty_scope_is_reported(home: Path) -> None:
    none = ("--agent", "codex", "--project", "nowhere")
    for words in (("sessions",), ("show",), ("search", "mutex")):
        assert "nowhere" in run_memtui(home, *words, *none).stdout
    assert read_json(home, "show", "--project", "shop")["children"]


def test_an_unknown_agent_or_project_is_named(home: Path) -> None:
    for words in (["show"], ["toc"], ["sessions"], ["search", "mutex"], ["ask", "x"]):
        printed = run_memtui(home, *words, "--agent", "nobody").stdout
        assert "Nothing is stored for the agent “nobody”." in printed
        assert "In no message" not in printed
        printed = run_memtui(home, *words, "--project", "nowhere").stdout
        assert "Nothing is stored for the project “nowhere”." in printed
        # Each exists, but not both together.
        printed = run_memtui(
            home, *words, "--agent", "codex", "--project", "shop"
        ).stdout
        assert "“" not in printed
    assert "toc:year:2024" in run_memtui(home, "show", "--project", "SHOP").stdout
    assert "shop-1" in run_memtui(home, "sessions", "--project", "SHOP").stdout


def test_only_missing_arguments_are_named(home: Path) -> None:
    printed = run_memtui(home, "hooks", code=2).stderr
    assert "the following arguments are required: action\n" in printed
    printed = run_memtui(home, "serve", "--port", "65536", code=2).stderr
    assert "must be a whole number from 0 to 65,535" in printed


def test_terminal_codes_in_names_of_files_are_not_printed(
    home: Path, tmp_path: Path
) -> None:
    file = tmp_path / "a\x1b]0;title\x07\u202eb.jsonl"
    file.write_text('{"colour": "blue"}\n')
    printed = run_memtui(home, "import", str(file), code=1).stdout
    assert "could not be read" in printed
    assert not {"\x1b", "\x07", "\u202e"} & set(printed)
    printed = run_memtui(home, "backup", str(tmp_path / "\x1b[2J" / "x"), code=1).stderr
    assert "\x1b" not in printed


def test_a_command_whose_output_nobody_reads_does_not_report_success(
    tmp_path: Path,
) -> None:
    settings = tmp_path / ".claude" / "settings.json"
    settings.parent.mkdir()
    reading, writing = os.pipe()
    os.close(reading)
    ended = subprocess.run(
        [sys.executable, "-m", "memtui", "hooks", "install", "claude-code", "--yes"],
        stdout=writing,
        stderr=subprocess.PIPE,
        env={**os.environ, "HOME": str(tmp_path), "PYTHONUNBUFFERED": "1"},
        timeout=60,
    )
    os.close(writing)
    assert (ended.returncode, ended.stderr) == (141, b"")
    assert not settings.exists()
