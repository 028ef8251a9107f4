"""What agents ask over the command line: bounded, in an envelope, as it was before."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from memtui.agents import replies
from memtui.cli import main, options
from memtui.text import fencing
from memtui.workspace import Workspace

GOLDEN = Path(__file__).parent / "data" / "asked.json"
"""What the written history answers; write it anew: delete it and run the tests."""

ASKED = (
    "ask-route what did we do on 18 January 2024",
    "ask-route mutex tabs",
    "retrieve-memory mutex tabs --limit 2",
    "toc --budget 300",
    "show",
    "show toc:day:2024-01-18",
    "browse toc:year:2024 --limit 1",
    "when in January 2024",
    "events --when 2024-01-18 --limit 2",
    "keyword token",
    "search-node toc:year:2024 token",
    "search-children root token",
    "search mutex --max-tokens 300",
    "search-sessions mutex --max-tokens 300",
    "teleport mutex --limit 2",
    "sessions --limit 2",
    "expand nothing",
    "show nothing",
)

VARIES = {"when", "took_ms", "score", "meta"}
"""What depends on the day, on the machine or on an index's making."""


def still(value: Any) -> Any:
    """An answer without what varies."""
    if isinstance(value, dict):
        return {k: still(one) for k, one in value.items() if k not in VARIES}
    return [still(one) for one in value] if isinstance(value, list) else value


@pytest.fixture
def home(full_house: Workspace, tmp_path: Path) -> Path:
    home = full_house.paths.store.parent
    full_house.stop()
    (home / "config.toml").write_text('[store]\ntime_zone = "UTC"\n')
    return shutil.copytree(home, tmp_path / "asked")


def test_answers_are_as_they_were_and_keep_within_2_kb(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = {}
    for asked in ASKED:
        code = main.main(["--home", str(home), *asked.split(), "--json"])
        printed = capsys.readouterr().out
        assert len(printed.encode()) <= 2048, asked
        answer = json.loads(printed)
        assert (answer["status"] == "ok") is (code == 0), asked
        told[asked] = still(answer)
    if not GOLDEN.exists():
        GOLDEN.write_text(json.dumps(told, ensure_ascii=False, indent=1) + "\n")
    assert told == json.loads(GOLDEN.read_text())


def test_lines_are_fenced_off_a_terminal(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.main(["--home", str(home), "toc", "--budget", "100"]) == 0
    first, *between, last = capsys.readouterr().out.splitlines()
    assert fencing.NOTICE in first
    assert last.startswith("</memory ")
    assert between[0].startswith("toc:year:2024")


def test_the_command_line_knows_the_usual_budget() -> None:
    mine = options.DEFAULT, options.LEAST, options.MOST
    assert mine == (replies.DEFAULT, replies.LEAST, replies.MOST)


def test_json_tells_the_lines_of_the_contents_that_are_worth_most(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--home", str(home), "toc", "--budget", "400", "--json"]
    assert main.main(words) == 0
    told = json.loads(capsys.readouterr().out)
    levels = [one["level"] for one in told["data"]["lines"]]
    assert levels.count("year") == 2, "what is old goes before what is deep"
    assert told["meta"]["tokens"] <= 400


def test_a_wrong_command_line_is_told_in_the_envelope(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for words, says in (
        (["show", "--nothing"], "unrecognized arguments: --nothing"),
        (["toc", "--max-tokens", "10"], "must be from 50 to 100,000"),
        (["expand", "evt:1", "--before", "-1"], "must not be negative"),
        (["search-sessions", "x", "--limit", "99"], "must be from 1 to 20"),
        (["search", "x", "--lmit", "3"], "there is no --lmit, but --limit"),
    ):
        with pytest.raises(SystemExit) as left:
            main.main([*words, "--json"])
        error = json.loads(capsys.readouterr().out)["error"]
        assert (left.value.code, error["code"]) == (2, "usage")
        assert says in error["message"]
        assert error["hint"] == f"see how: memtui {words[0]} --help"


def test_what_can_not_be_meant_is_a_wrong_command_line(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in (["jobs", "pause", "nosuch"], ["jobs", "fly"], ["quarantine", "x"]):
        assert main.main(["--home", str(home), *words, "--json"]) == 2
        error = json.loads(capsys.readouterr().out)["error"]
        assert (error["code"], error["hint"][-6:]) == ("usage", "--help")
