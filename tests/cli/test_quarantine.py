"""The ``quarantine`` command, in real processes."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from memtui.pipeline.worker import WorkerLock
from tests.cli_runner import json_data, run_memtui, run_with_answer

KEY = "sk-ant-api03-" + "a1B2c3D4e5" * 9 + "AA"
NAME = "1763.7.0a1b.codex.Stop.json"


def entries(home: Path) -> list[Any]:
    output = run_memtui(home, "quarantine", "list", "--json").stdout
    listed: list[Any] = json_data(output)["entries"]
    return listed


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with two quarantined hook files and a transcript with a bad line."""
    home = tmp_path / "home"
    new = home / "spool" / "new"
    new.mkdir(parents=True)
    (home / "config.toml").write_text('[store]\ntime_zone = "UTC"\n')
    (new / NAME).write_text(f'{{"session_id": "s1", "prompt": "{KEY}"')
    (new / "2.json").write_text('{"session_id": "s1", "hook_event_name": "Novelty"}')
    for file in new.iterdir():
        os.utime(file, (1_700_000_000, 1_700_000_000))
    output = {"role": "user", "content": "Hello"}
    record = {"type": "user", "uuid": "u1", "sessionId": "s7", "message": output}
    good = json.dumps({**record, "timestamp": "2025-03-14T10:00:00Z"})
    (tmp_path / "t.jsonl").write_text(f"{good}\n{{broken\n")
    run_memtui(home, "import", str(tmp_path / "t.jsonl"))
    return home


def test_the_list_has_file_line_and_reason(home: Path) -> None:
    listing = run_memtui(home, "quarantine").stdout
    assert f"{home.parent}/t.jsonl:2\n    not valid JSON\n" in listing
    file = home / "spool" / "bad" / NAME
    entry = f"{NAME}\n    Tue 14 Nov 2023 22:13 · 1 record\n    {file}:1\n"
    assert f"{entry}    not valid JSON\n" in listing
    assert "unknown hook event 'Novelty'" in listing
    assert listing == run_memtui(home, "quarantine", "list").stdout


def test_the_list_has_pages(home: Path) -> None:
    output = run_memtui(home, "quarantine", "--limit", "2").stdout
    assert output.endswith("1 to 2 of 3 entries; more: --offset 2\n")
    output = run_memtui(home, "quarantine", "list", "--offset", "2").stdout
    assert output.endswith("3 to 3 of 3 entries\n")


def test_shown_text_has_no_secrets(home: Path) -> None:
    output = run_memtui(home, "quarantine", "show", NAME).stdout
    assert ":1\nnot valid JSON\n" in output
    assert '{"session_id": "s1", "prompt": "[redacted: anthropic key]"' in output
    output = run_memtui(home, "quarantine", "show", "--json", NAME).stdout
    (content,) = json_data(output)
    assert content["entry"]["name"] == NAME and KEY not in content["text"]


def test_retrying_lists_what_is_skipped_again(home: Path) -> None:
    file = home / "spool" / "bad" / "2.json"
    file.write_text(
        '{"session_id": "s1", "hook_event_name": "UserPromptSubmit", "prompt": "Hi"}'
    )
    output = run_memtui(home, "quarantine", "retry", "--all", code=1).stdout
    assert "3 entries retried.\n2 entries skipped again:\n" in output
    assert f"    {NAME}\n        {home / 'spool' / 'bad' / NAME}:1: not valid" in output
    assert json_data(run_memtui(home, "stats", "--json").stdout)["messages"] == 2
    assert len(entries(home)) == 2


def test_a_running_memtui_stores_retried_files(home: Path) -> None:
    lock = WorkerLock(home / "work.lock")
    assert lock.acquire()
    output = run_memtui(home, "quarantine", "retry", "2.json").stdout
    assert output.startswith("1 entry retried.\nThe memtui that is running stores")
    assert (home / "spool" / "new" / "2.json").exists()
    lock.release()


def test_dry_run_of_a_retry_changes_nothing(home: Path) -> None:
    output = run_memtui(home, "quarantine", "retry", "--all", "--dry-run")
    assert output.stdout == "3 entries would be retried.\n"
    assert len(entries(home)) == 3


def test_dropping_is_confirmed_and_reported(home: Path) -> None:
    output = run_memtui(home, "quarantine", "drop", "--all", code=2)
    assert output.stdout == "" and "--yes" in output.stderr
    output = run_memtui(home, "quarantine", "drop", "--all", "--dry-run")
    assert "3 entries would be dropped" in output.stdout
    answer, question = run_with_answer(home, "quarantine", "drop", NAME, answer="n")
    assert answer == "Nothing was done.\n"
    assert "1 entry would be dropped" in question
    assert len(entries(home)) == 3
    answer, _ = run_with_answer(home, "quarantine", "drop", NAME, answer="y")
    assert answer == "1 entry dropped.\n"
    output = run_memtui(home, "quarantine", "drop", "--yes", "2.json")
    assert output.stdout == "1 entry dropped.\n"
    output = run_memtui(home, "quarantine", "drop", "--all", "--yes", "--json")
    assert json_data(output.stdout)["count"] == 1
    assert (home.parent / "t.jsonl").exists()
    assert run_memtui(home, "quarantine").stdout.startswith("Empty: ")
    assert json_data(run_memtui(home, "stats", "--json").stdout)["skipped"] == 0


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("show", "../../memory.db"), "nothing in the quarantine is called"),
        (("show", "nobody"), "memtui quarantine list shows all"),
        (("show",), "name the entries: memtui quarantine show NAME…; memtui"),
        (("drop",), "name the entries: memtui quarantine drop NAME…, or --all;"),
        (("retry", "2.json", "--all"), "retry takes names or --all, not both"),
        (("list", "2.json"), "list takes no names"),
        (("frobnicate",), "invalid choice: 'frobnicate'"),
    ],
)
def test_invalid_arguments_change_nothing(
    home: Path, words: tuple[str, ...], reason: str
) -> None:
    code = 1 if words[0] == "show" and len(words) > 1 else 2
    assert reason in run_memtui(home, "quarantine", *words, code=code).stderr
    assert len(list((home / "spool" / "bad").iterdir())) == 4
