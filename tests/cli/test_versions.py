"""The ``versions``, ``pin`` and ``regenerate`` commands, in real processes."""

import re
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest

from memtui import store
from memtui.pipeline.worker import PROC_LOCKS, WorkerLock
from memtui.store import database, queues
from memtui.workspace import Workspace
from tests import model_versions
from tests.cli_runner import json_data, run_at_terminal, run_memtui

DAY = "toc:day:2024-01-18"
WHY = "1 of 2 bullets are not supported by the source"

listing = pytest.mark.skipif(
    not PROC_LOCKS.exists(), reason="this system does not list who holds a lock"
)


def read_json(home: Path, *words: str) -> Any:
    return json_data(run_memtui(home, *words, "--json").stdout)


@pytest.fixture
def home(full_workspace: Workspace) -> Path:
    """A home of one of whose days a model wrote two versions."""
    model_versions.add_model_version(
        DAY, "Tokens refreshed", with_weak="42 sessions in payments.py"
    )
    held = (model_versions.unsupported_bullet("The moon was counted"),)
    model_versions.add_model_version(DAY, "Moons counted", rejected=WHY, held=held)
    full_workspace.stop()
    return full_workspace.paths.store.parent


def test_versions_are_printed_with_author_and_state(
    home: Path,
) -> None:
    title, rejected, model, first = run_memtui(
        home, "versions", DAY
    ).stdout.splitlines()
    assert title == "Thursday, January 18, 2024"
    cost = "1,204 tokens read, 310 written, 12.4 s"
    assert rejected == (
        "  3  Tue 20 Feb 2024 03:30  qwen3:4b 2bfd38a7daaf  2 supported, 0 weak,"
        f" 1 unsupported  1 line withheld: no source  rejected: {WHY}  {cost}"
    )
    assert model == (
        "  2  Tue 20 Feb 2024 03:30  qwen3:4b 2bfd38a7daaf  2 supported, 1 weak,"
        f" 0 unsupported  shown  {cost}"
    )
    assert re.match(r"  1  \w{3} +\d", first) and "  extract (extractive-" in first
    assert first.endswith("supported, 0 weak, 0 unsupported")


def test_versions_are_given_in_json(home: Path) -> None:
    output = read_json(home, "versions", DAY)
    assert (output["node"]["node_id"], output["requested_at"]) == (DAY, None)
    rejected, model, _ = output["versions"]
    assert (rejected["version"], rejected["rejection"]) == (3, WHY)
    assert (rejected["unsupported"], rejected["withheld"]) == (1, 1)
    assert rejected["withheld_for"] == {"no source": 1}
    assert (model["is_shown"], model["is_pinned"], model["is_by_model"]) == (1, 0, 1)
    assert model["generation"]["digest"] == model_versions.DIGEST


@pytest.mark.full
def test_earlier_version_is_pinned_and_unpinned(home: Path) -> None:
    output = run_memtui(home, "pin", DAY, "1").stdout
    assert output == "Version 1 is pinned and stays shown.\n"
    output = run_at_terminal(home, "show", DAY)
    assert "Tokens refreshed" not in output
    assert "Thursday, January 18, 2024 (pinned): " in output
    week = run_at_terminal(home, "show", "toc:week:2024-W03").splitlines()
    assert [line.endswith(" (pinned)") for line in week if DAY in line] == [True]
    lines = run_memtui(home, "versions", DAY).stdout.splitlines()
    assert [line[:3] for line in lines if "pinned" in line] == ["  1"]
    output = run_memtui(home, "unpin", f"`{DAY}`").stdout
    assert output.startswith("Version 2, the newest, is shown")
    assert "Tokens refreshed" in run_at_terminal(home, "show", DAY)
    assert "no version" in run_memtui(home, "unpin", DAY, code=1).stderr


def test_rejected_version_is_pinned_with_an_option(
    home: Path,
) -> None:
    printed = run_memtui(home, "pin", DAY, "3", code=1).stderr
    assert printed == (
        f"memtui: version 3 was rejected: {WHY}; to show it all the same: memtui pin"
        f" {DAY} 3 --even-rejected\n"
    )
    output = read_json(home, "pin", DAY, "3", "--even-rejected")
    assert (output["shown"]["version"], output["shown"]["is_pinned"]) == (3, True)
    assert f"It was rejected: {WHY}." in output["note"]
    assert "Moons counted" in run_at_terminal(home, "show", DAY)


def test_any_version_is_printed_whole(home: Path) -> None:
    output = run_at_terminal(home, "show", DAY, "--version", "3").splitlines()
    assert output[:2] == [
        "Version 3, by qwen3:4b, Tue 20 Feb 2024 03:30",
        f"Rejected: {WHY}",
    ]
    assert output[2].startswith("[toc:day:2024-01-18] Thursday, January 18, 2024: ")
    assert output[-2:] == [
        "✗ The moon was counted [no source] (withheld)",
        "    withheld: no source",
    ]
    assert not any("toc:segment" in line for line in output)
    node = read_json(home, "show", DAY, "--version", "3")
    assert (node["version"], node["is_models"], node["rejected"]) == (3, True, WHY)
    assert [
        bullet["text"] for bullet in node["bullets"] if bullet.get("is_withheld")
    ] == ["The moon was counted"]
    node = read_json(home, "show", DAY, "--version", "1")
    assert (node["version"], node["is_models"], node["rejected"]) == (1, False, "")


def test_each_bullet_shows_its_verdict_and_reason(home: Path) -> None:
    output = run_at_terminal(home, "show", DAY).splitlines()
    (at,) = [
        place
        for place, text in enumerate(output)
        if text.startswith("~ 42 sessions in payments.py [grip:")
    ]
    assert output[at + 1] == (
        "    weak: not there: payments.py, 42; 50 % of its wording is in one passage"
    )
    versions = read_json(home, "versions", DAY)["versions"]
    (number,) = [version["version"] for version in versions if version["is_shown"]]
    node = read_json(home, "show", DAY, "--version", str(number))
    first, second, *_ = node["bullets"]
    assert (first["verdict"], first["covered"]) == ("weak", 0.5)
    assert first["missing"] == ["payments.py", "42"]
    assert (second["verdict"], second["missing"]) == ("supported", [])
    assert (second["repaired"], "jwt" in second["matched"]) == (False, True)
    assert node["facts"]["reply_tokens"] == model_versions.STATS.reply_tokens
    segment = node["child_node_ids"][0]
    bullet = read_json(home, "show", segment, "--version", "1")["bullets"][0]
    (quote, *_) = bullet["quotes"]
    assert len(quote["event_id"]) == 26 and quote["start"] < quote["end"]


@listing
def test_regenerate_says_when_the_model_is_asked(home: Path) -> None:
    output = run_memtui(home, "regenerate", DAY).stdout
    assert output == (
        "A new version is requested.\nIt is done next, as soon as memtui is running,"
        " if there is a model (memtui doctor).\n"
    )
    last = run_memtui(home, "versions", DAY).stdout.splitlines()[-1]
    assert re.match(r"A new version was requested at \w{3} \d", last)
    assert last.endswith("if there is a model (memtui doctor).")
    claim = WorkerLock(home / "work.lock")
    assert claim.acquire()
    try:
        output = run_memtui(home, "regenerate", DAY).stdout
    finally:
        claim.release()
    assert "It is done next, by the running memtui, if there is a model" in output
    run_memtui(home, "pin", DAY)
    output = run_memtui(home, "regenerate", DAY).stdout
    assert "Version 2 is pinned and stays shown." in output


def test_regenerate_without_a_model_says_so(home: Path) -> None:
    setting = ("--set", "summaries.provider=extractive")
    output = run_memtui(home, *setting, "regenerate", DAY).stdout
    assert "No model is used while summaries.provider is extractive" in output


def test_unknown_versions_are_errors(home: Path) -> None:
    printed = run_memtui(home, "show", DAY, "--version", "9", code=1).stderr
    assert printed == f"memtui: {DAY} has no version 9: it has 1, 2, 3\n"
    assert "it has 1, 2, 3" in run_memtui(home, "pin", DAY, "9", code=1).stderr
    for command in ("versions", "pin", "unpin", "regenerate"):
        output = run_memtui(home, command, "toc:day:1999-01-01", code=1).stderr
        assert (
            "there is no node toc:day:1999-01-01; see the years: memtui show" in output
        )
    assert "name the node" in run_memtui(home, "show", "--version", "2", code=2).stderr


def test_node_without_a_summary_has_no_versions(home: Path) -> None:
    pending = "toc:day:2024-06-01"
    store.open_at(home / "memory.db")
    with database.transaction():
        queues.add_rollups([pending], UTC)
    printed = "toc:day:2024-06-01 has no version yet: it is summarized automatically"
    assert printed in run_memtui(home, "pin", pending, code=1).stderr
    assert printed in run_memtui(home, "regenerate", pending, code=1).stderr
    assert "Not summarized yet" in run_memtui(home, "versions", pending).stdout
    output = run_memtui(home, "show", pending, "--version", "1", code=1).stderr
    assert "it has none yet" in output
