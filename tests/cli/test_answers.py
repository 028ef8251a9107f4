"""The output of commands that answer: complete, or within a budget."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from memtui.cli import main
from memtui.text import fencing
from memtui.tools import table
from memtui.workspace import Workspace
from tests.cli_runner import run_at_terminal
from tests.message_factory import make_message, store_messages

GOLDEN = Path(__file__).parents[1] / "data" / "asked.json"
"""The answers of the commands below; delete it to have the tests write it again."""

ASKED = (
    "ask what did we do on 18 January 2024",
    "ask mutex tabs",
    "toc",
    "toc --max-tokens 300",
    "show",
    "show toc:day:2024-01-18",
    "search mutex",
    "search mutex --max-tokens 300",
    "sessions --limit 2",
    "expand nothing",
    "show nothing",
    "call retrieve_memory query=mutex limit=2",
    "call browse_toc node_id=toc:year:2024 limit=1",
    "call browse_toc when=2024-01",
    "call get_events when=2024-01-18 limit=2",
    "call browse_toc keyword=token",
    "call search_sessions query=mutex --max-tokens 300",
    "call teleport query=mutex limit=2",
)

VARIES = {"when", "took_ms", "score", "meta"}
"""What depends on the day, on the machine or on an index's making."""


def without_varying(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            k: without_varying(field) for k, field in value.items() if k not in VARIES
        }
    if isinstance(value, list):
        return [without_varying(element) for element in value]
    return value


@pytest.fixture
def home(full_workspace: Workspace, tmp_path: Path) -> Path:
    home = full_workspace.paths.store.parent
    full_workspace.stop()
    (home / "config.toml").write_text('[store]\ntime_zone = "UTC"\n')
    return shutil.copytree(home, tmp_path / "asked")


def test_answers_equal_the_golden_file(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = {}
    for asked in ASKED:
        code = main.main(["--home", str(home), *asked.split(), "--json"])
        answer = json.loads(capsys.readouterr().out)
        assert (answer["status"] == "ok") is (code == 0), asked
        answers[asked] = without_varying(answer)
    if not GOLDEN.exists():
        GOLDEN.write_text(json.dumps(answers, ensure_ascii=False, indent=1) + "\n")
    assert answers == json.loads(GOLDEN.read_text())


COMPLETE = (
    ("toc",),
    ("show", "toc:day:2024-01-18"),
    ("session", "shop-1", "--all"),
    ("search", "mutex"),
)


@pytest.mark.parametrize("words", COMPLETE, ids=" ".join)
def test_answers_on_a_terminal_and_in_a_pipe_are_equal(
    home: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    assert main.main(["--home", str(home), *words]) == 0
    text = capsys.readouterr().out
    assert text == run_at_terminal(home, *words)
    assert fencing.NOTICE not in text
    assert main.main(["--home", str(home), *words, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)["data"]
    assert "left_out" not in data and "notice" not in data


def test_messages_are_printed_whole(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--home", str(home), "session", "shop-2", "--all"]
    assert main.main([*words, "--json"]) == 0
    messages = json.loads(capsys.readouterr().out)["data"]["messages"]
    (code,) = [
        message["text"] for message in messages if "pub fn refresh" in message["text"]
    ]
    assert "\n" in code
    assert main.main(words) == 0
    printed = capsys.readouterr().out
    assert all(line.strip() in printed for line in code.splitlines())


def test_with_a_budget_text_is_fenced(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.main(["--home", str(home), "toc", "--max-tokens", "100"]) == 0
    first, *between, last = capsys.readouterr().out.splitlines()
    assert fencing.NOTICE in first
    assert last.startswith("</memory ")
    assert between[0].startswith("toc:year:2024")


def test_contents_within_a_budget_have_wide_and_recent_entries(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--home", str(home), "toc", "--max-tokens", "400", "--json"]
    assert main.main(words) == 0
    answer = json.loads(capsys.readouterr().out)
    levels = [line["level"] for line in answer["data"]["lines"]]
    assert levels.count("year") == 2, "what is old goes before what is deep"
    assert answer["meta"]["tokens"] <= 400


def test_call_lists_the_tools_without_a_store(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.main(["--home", str(tmp_path / "none"), "call"]) == 0
    text = capsys.readouterr().out
    assert all(f"\n{tool.name}" in f"\n{text}" for tool in table.TOOLS)
    assert main.main(["--home", str(tmp_path / "none"), "call", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["data"]
    assert [tool["name"] for tool in listed] == [tool.name for tool in table.TOOLS]
    assert not (tmp_path / "none").exists()


def test_call_takes_what_the_tool_takes(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call = ["--home", str(home), "call"]
    assert main.main([*call, "scheduler_pause", "jobs=rollup_day"]) == 0
    assert "rollup_day: paused" in capsys.readouterr().out
    jobs = ["jobs=rollup_day", "jobs=rollup_week"]
    assert main.main([*call, "scheduler_resume", *jobs]) == 0
    printed = capsys.readouterr().out
    assert "rollup_day: at" in printed and "rollup_week: at" in printed
    for words, says in (
        (["nosuch"], "there is no tool 'nosuch'"),
        (["expand_grip"], "grip_id is missing"),
        (["get_node", "toc:day:2024-01-18"], "is not KEY=VALUE"),
        (["browse_toc", "limit=0"], "limit must be a whole number from 1 to 200"),
        (["browse_toc", "depth=1"], "there is no 'depth' here"),
        (["browse_toc", "max_tokens=90"], "--max-tokens N"),
    ):
        assert main.main([*call, *words]) == 2
        assert says in capsys.readouterr().err


def test_a_wrong_command_line_is_reported_in_the_envelope(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for words, says in (
        (["show", "--nothing"], "unrecognized arguments: --nothing"),
        (["toc", "--max-tokens", "10"], "must be a whole number from 50 to 100,000"),
        (["expand", "evt:1", "--before", "-1"], "must be a whole number from 0"),
        (["ask", "x", "--limit", "99"], "must be a whole number from 1 to 50"),
        (
            ["search", "x", "--lmit", "3"],
            "unrecognized arguments: --lmit; to search for it: -- --lmit",
        ),
    ):
        with pytest.raises(SystemExit) as left:
            main.main([*words, "--json"])
        error = json.loads(capsys.readouterr().out)["error"]
        assert (left.value.code, error["code"]) == (2, "usage")
        assert says in error["message"]
        assert error["hint"] == f"see memtui {words[0]} --help"


def test_contradicting_arguments_are_usage_errors(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in (
        ["jobs", "pause", "nosuch"],
        ["jobs", "list", "segments"],
        ["quarantine", "retry", "x", "--all"],
    ):
        assert main.main(["--home", str(home), *words, "--json"]) == 2
        error = json.loads(capsys.readouterr().out)["error"]
        assert (error["code"], error["hint"][-6:]) == ("usage", "--help")


def test_invisible_tag_characters_are_not_printed(
    full_workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    hidden = "".join(chr(0xE0000 + ord(letter)) for letter in "obey")
    store_messages(
        make_message(f"A walrus{hidden}", session=f"s{hidden}", agent=f"bot{hidden}")
    )
    full_workspace.stop()
    home = full_workspace.paths.store.parent
    for words in (["stats"], ["sessions"], ["search", "walrus"]):
        for more in ([], ["--json"]):
            assert main.main(["--home", str(home), *words, *more]) == 0
            printed = capsys.readouterr().out
            assert not any(0xE0000 <= ord(char) <= 0xE007F for char in printed)
            assert "bot" in printed or words[0] == "search"
