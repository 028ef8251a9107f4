"""The command that sums up tokens, costs and time."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from memtui.errors import SettingsError
from memtui.model.usage import UsageTotal
from memtui.services import usage
from memtui.settings import Settings, parse_value
from tests.capture.test_usage import claude_prompt, claude_reply, write
from tests.cli_runner import json_data, run_memtui

MILLION = 1_000_000

WITHOUT_PRICE = "no price of opus, Opus-Mini-1"

PRICES = "opus 15 75 1.5 18.75, opus-mini 1 2 3 4"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with a session of two days and two models, and one that states nothing."""
    home, day = tmp_path / "home", timedelta(days=1).total_seconds()
    home.mkdir()
    (home / "config.toml").write_text('[store]\ntime_zone = "America/New_York"\n')
    late = 14 * 3600  # 20:00 in New York, and the next day in UTC
    records = [
        claude_prompt(0),
        claude_reply(60, "m1", (MILLION, MILLION, 0, 0)),
        claude_reply(late, "m2", (0, 2000, 0, 0)),
        claude_reply(late + 120, "m3", (0, 500, 0, 0), costUSD=0.5),
        claude_reply(day, "m4", (MILLION, 0, 0, 0)),
    ]
    records[4]["message"]["model"] = "Opus-Mini-1"
    write(tmp_path / "s1.jsonl", records)
    silent = [claude_prompt(0, "s2", cwd="/home/ada/site")]
    write(tmp_path / "s2.jsonl", silent)
    run_memtui(home, "import", str(tmp_path / "s1.jsonl"), str(tmp_path / "s2.jsonl"))
    return home


def read_json(home: Path, *words: str) -> Any:
    return json_data(run_memtui(home, *words, "--json").stdout)


def rows(home: Path, *words: str) -> list[str]:
    return run_memtui(home, *words).stdout.splitlines()


def test_days_are_those_of_the_store(home: Path) -> None:
    assert rows(home, "usage") == [
        "               in    out  cache read  cache write   cost  active",
        "2026-03-14  1.0 M  1.0 M           0            0  $0.50      3m"
        "  no price of opus",
        "2026-03-15  1.0 M      0           0            0      –     <1m",
        "total       2.0 M  1.0 M           0            0  $0.50      3m"
        f"  {WITHOUT_PRICE}",
    ]


def test_price_with_the_longest_name_counts(home: Path) -> None:
    data = read_json(home, "--set", f"prices.models={PRICES}", "usage", "--by", "model")
    costs = {row["name"]: row["cost"] for row in data["rows"]}
    stated = 0.5
    assert costs == pytest.approx({"opus": 15 + 75 + 0.15 + stated, "Opus-Mini-1": 1})
    assert data["total"]["cost"] == pytest.approx(91.15 + stated)
    assert data["total"]["without_price"] is None


def test_project_without_usage_says_so(home: Path) -> None:
    assert rows(home, "usage", "--by", "project")[1:3] == [
        f"shop   2.0 M  1.0 M           0            0  $0.50      3m  {WITHOUT_PRICE}",
        "site       –      –           –            –      –     <1m",
    ]


def test_columns_without_any_value_are_left_out(home: Path) -> None:
    assert rows(home, "usage", "--by", "session", "--project", "site") == [
        "                in  out  active",
        "claude-code:s2   –    –     <1m  Prompt at 0 in s2",
        "total            –    –     <1m",
    ]


def test_columns_are_aligned_behind_wide_and_long_names() -> None:
    names = ("店", "x" * 80, "shop")
    counts = {"input": 1, "output": 2, "cache_read": None, "cache_write": None}
    totals = [UsageTotal(counts, name, "", 0, None, None) for name in names]
    _, wide, long, narrow = usage.tabulate(totals)
    assert wide == f"店{' ' * 50} 1    2     <1m"
    assert narrow == f"shop{' ' * 48} 1    2     <1m"
    assert long == f"{'x' * 80}   1    2     <1m"


def test_usage_can_be_narrowed_to_a_project(home: Path) -> None:
    data = read_json(home, "usage", "--by", "session", "--project", "SHOP")
    assert [(row["name"], row["tokens"]["input"]) for row in data["rows"]] == [
        ("claude-code:s1", 2 * MILLION)
    ]
    assert data["rows"][0]["title"]
    assert data["total"]["tokens"]["output"] == MILLION + 2500
    assert data["total"]["tokens"]["cache_read"] == 0


@pytest.mark.parametrize("words", [("--project", "nowhere"), ("--by", "agent")])
def test_unknown_names_are_refused(home: Path, words: tuple[str, ...]) -> None:
    assert run_memtui(home, "usage", *words, code=2).stderr


def test_empty_store_has_no_usage(tmp_path: Path) -> None:
    empty_home = tmp_path / "new"
    run_memtui(empty_home, "work", "--until-idle")
    data = read_json(empty_home, "usage")
    assert data["rows"] == []
    assert data["total"]["tokens"] == dict.fromkeys(data["total"]["tokens"])
    assert rows(empty_home, "usage") == ["No usage is stored."]


@pytest.mark.parametrize("text", ["opus 15 75", "opus a b c d", "opus -1 2 3 4", ""])
def test_invalid_price_is_refused(text: str) -> None:
    with pytest.raises(SettingsError, match="prices"):
        parse_value("prices.models", f'["{text}"]')


def test_models_without_a_price_are_named_beside_the_cost(home: Path) -> None:
    lines = rows(home, "--set", "prices.models=opus-mini 1 2 3 4", "usage")
    assert "$1.50" in lines[-1] and lines[-1].endswith("  no price of opus")


def test_no_price_is_built_in() -> None:
    assert Settings().price_list == {}
