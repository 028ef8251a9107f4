"""The rows of seed 3, the sequences of the data flow."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from memtui import store
from memtui.pipeline import rollup
from memtui.services import browse
from memtui.store import conversations, database, events, sessions
from memtui.store.schema import NodeRow
from memtui.workspace import Workspace
from tests.cli_runner import run_memtui
from tests.conftest import HISTORY


@pytest.fixture
def damaged_home(tmp_path: Path) -> tuple[Path, str]:
    """A home with an event that cannot be read, and the event's id."""
    home = tmp_path / "home"
    run_memtui(home, "import", str(HISTORY))
    with closing(sqlite3.connect(home / "memory.db")) as opened, opened:
        (event_id,) = opened.execute(
            "SELECT e.id FROM events e JOIN sessions s ON s.id = e.session_id"
            " WHERE s.name = 'shop-1' ORDER BY e.at_ms LIMIT 1 OFFSET 2"
        ).fetchone()
        opened.execute("INSERT INTO events_unlocked VALUES (1)")
        opened.execute("UPDATE events SET metadata = '{' WHERE id = ?", (event_id,))
        opened.execute("DELETE FROM events_unlocked")
    return home, event_id


def test_s3_79_an_event_that_cannot_be_read_is_skipped(
    damaged_home: tuple[Path, str], caplog: pytest.LogCaptureFixture
) -> None:
    home, event_id = damaged_home
    events.unreadable.clear()
    shown = run_memtui(home, "session", "shop-1", "--all", "--json").stdout
    assert event_id[:14] not in shown and "evt:" in shown
    exported = run_memtui(home, "export", "--events").stdout.splitlines()
    found = [one for one in map(json.loads, exported) if "event_type" in one]
    assert len(found) == 43
    assert "basket" in run_memtui(home, "search", "basket").stdout
    run_memtui(home, "expand", f"evt:{event_id}")
    run_memtui(home, "reindex")
    assert f"{event_id} cannot be read" in caplog.text
    told = run_memtui(home, "doctor", code=1).stdout
    assert "1 of events cannot be read" in told


def test_s3_79_pages_go_on_after_an_event_that_cannot_be_read(
    damaged_home: tuple[Path, str],
) -> None:
    home, event_id = damaged_home
    store.open_at(home / "memory.db")
    with database.connection():
        number = sessions.get_number("claude-code", "shop-1")
        assert number is not None
        found = conversations.list_after(number, "", None, 5)
        names = [event.event_id for event in found]
        assert len(names) == 5 and event_id not in names
        before = conversations.list_before(number, "", found[-1].position, 3)
        assert [event.event_id for event in before] == names[1:4]
    database.close()


def test_s3_35_all_four_parents_exist_with_the_segment(
    house: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ValueError("no roll-up today")

    monkeypatch.setattr(rollup.RollupStage, "_roll_up", fail)
    for _ in house.pipeline.importer().run([HISTORY]):
        pass
    assert house.pipeline.run_until_idle(lambda _: None)
    with database.connection():
        segments = NodeRow.select().where(NodeRow.level == "segment").count()
    found: list[str] = []
    waiting = [entry.node_id for entry in browse.list_children()]
    while waiting:
        name = waiting.pop()
        found += [name] if name.startswith("toc:segment:") else []
        waiting += [entry.node_id for entry in browse.list_children(name)]
    assert len(found) == segments == 6
