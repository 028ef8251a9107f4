"""A session of which only a subagent is stored has a page until its parent comes."""

import json
from pathlib import Path

import pytest

from memtui.paths import in_home
from memtui.services import browse
from memtui.settings import Settings
from memtui.store import database
from memtui.store.database import fetch
from memtui.workspace import Workspace
from tests.capture.corpora import clock


def write(file: Path, first: int, *texts: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = [
        {"type": "user" if number % 2 == 0 else "assistant", "sessionId": "s1"}
        | {"uuid": f"{file.stem}-{number}", "timestamp": clock(first + number)}
        | {"cwd": "/home/ada/shop", "message": {"content": text}}
        for number, text in enumerate(texts)
    ]
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return file


@pytest.mark.parametrize("parent_at", [0, 100])
def test_parent_replaces_what_was_made_of_its_subagent(
    parent_at: int, tmp_path: Path
) -> None:
    agent = "s1/subagents/agent-1.jsonl"
    helper = write(tmp_path / agent, 50, "Count the carts", "There are nine carts.")
    main = tmp_path / "s1.jsonl"
    parent = write(main, parent_at, "Repair the mill", "The mill is repaired.")
    pages = []
    for number, order in enumerate([(helper, parent), (parent, helper)]):
        workspace = Workspace(in_home(tmp_path / f"home{number}"), Settings())
        workspace.paths.make_folders()
        list(workspace.pipeline.importer().run(order[:1]))
        assert not workspace.pipeline.run_until_idle(lambda _: None)
        name = "Count the carts" if order[0] is helper else "Repair the mill"
        assert titles(workspace) == [name]
        list(workspace.pipeline.importer().run(order[1:]))
        assert not workspace.pipeline.run_until_idle(lambda _: None)
        assert titles(workspace) == ["Repair the mill"]
        with database.connection():
            pages.append(fetch("SELECT id, events, subagent_events FROM segments"))
        workspace.stop()
    assert pages[0] == pages[1]


def titles(workspace: Workspace) -> list[str]:
    """Return the titles of the segments in the table of contents."""
    with database.connection():
        return [row.title for row in browse.list_children("toc:day:2026-03-14")]
