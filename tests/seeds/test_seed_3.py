"""The rows of seed 3, the sequences of the data flow."""

import json
import os
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memtui import store
from memtui.agents import changes
from memtui.capture.formats import hooks
from memtui.model.events import Event
from memtui.pipeline import rollup
from memtui.services import browse
from memtui.store import conversations, database, events, sessions
from memtui.store.schema import NodeRow
from memtui.workspace import Workspace
from tests.cli_runner import run_memtui
from tests.conftest import HISTORY


@pytest.fixture(params=["metadata = '{'", "metadata = '[1]'", "type = 'no type'"])
def damaged_home(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, str]:
    """A home with an event that cannot be read, and the event's id."""
    home = tmp_path / "home"
    run_memtui(home, "import", str(HISTORY))
    with closing(sqlite3.connect(home / "memory.db")) as opened, opened:
        (event_id,) = opened.execute(
            "SELECT e.id FROM events e JOIN sessions s ON s.id = e.session_id"
            " WHERE s.name = 'shop-1' ORDER BY e.at_ms LIMIT 1 OFFSET 2"
        ).fetchone()
        opened.execute("INSERT INTO events_unlocked VALUES (1)")
        opened.execute(f"UPDATE events SET {request.param} WHERE id = ?", (event_id,))
        opened.execute("DELETE FROM events_unlocked")
    return home, event_id


def test_s3_79_an_event_that_cannot_be_read_is_skipped(
    damaged_home: tuple[Path, str], caplog: pytest.LogCaptureFixture
) -> None:
    home, event_id = damaged_home
    events.unreadable.clear()
    shown = run_memtui(home, "session", "shop-1", "--all", "--json").stdout
    assert event_id[:14] not in shown and "evt:" in shown
    answer = run_memtui(home, "export", "--events")
    assert "1 event cannot be read" in answer.stderr
    exported = answer.stdout.splitlines()
    found = [one for one in map(json.loads, exported) if "event_type" in one]
    assert len(found) == 43
    assert "basket" in run_memtui(home, "search", "basket").stdout
    run_memtui(home, "expand", f"evt:{event_id}")
    run_memtui(home, "search", "make it slide")
    run_memtui(home, "reindex")
    assert f"{event_id} cannot be read" in caplog.text
    told = run_memtui(home, "doctor", code=1).stdout
    assert "1 event cannot be read" in told


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


def test_s3_04_a_stop_keeps_its_content() -> None:
    payload = {
        "session_id": "s1",
        "event_type": "Stop",
        "content": "The cart is fixed.",
        "timestamp": "2025-03-14T10:00:00Z",
    }
    at = datetime(2025, 3, 14, 10, tzinfo=UTC)
    raw = json.dumps(payload).encode()
    found = [e for e in hooks.read(raw, received_at=at, now=at) if isinstance(e, Event)]
    assert [(event.event_type.value, event.text) for event in found] == [
        ("assistant_message", "The cart is fixed."),
        ("assistant_stop", ""),
    ]


def test_s3_06_a_hooks_event_keeps_tool_name_and_metadata() -> None:
    payload = {
        "session_id": "s1",
        "event_type": "PostToolUse",
        "tool_name": "Read",
        "content": "fn refresh()",
        "metadata": {"duration_ms": "12"},
    }
    at = datetime(2025, 3, 14, 10, tzinfo=UTC)
    event, _ = hooks.read(json.dumps(payload).encode(), received_at=at, now=at)
    assert isinstance(event, Event)
    assert event.metadata == {"duration_ms": "12", "tool_name": "Read"}
    assert event.text == "Read\nfn refresh()"


@pytest.mark.parametrize("is_beside", [False, True])
def test_s3_38_a_tools_result_tells_what_the_tool_did(
    house: Workspace, tmp_path: Path, is_beside: bool
) -> None:
    def tool(second: int, name: str, text: str, given: object) -> dict[str, object]:
        call = {"tool_name": name, "tool_input": given}
        fields = {"event_type": "tool_result", "text": text}
        return line(second, **fields, **(call if is_beside else {"metadata": call}))

    def line(second: int, **fields: object) -> dict[str, object]:
        at = f"2025-03-14T10:00:{second:02}Z"
        return {"session_id": "s1", "timestamp": at, "project": "shop", **fields}

    lines = [
        line(1, role="user", text="The token refresh test fails; find out why."),
        tool(2, "Read", "u64 expires_at", {"file_path": "src/auth/token.rs"}),
        tool(3, "Bash", "test_backoff: assert 3 == 4", {"command": "cargo test"}),
        tool(4, "Edit", "ok", json.dumps({"file_path": "src/auth/retry.rs"})),
        line(5, role="assistant", text="The backoff counted one retry too few."),
        line(6, event_type="session_end", text=""),
    ]
    file = tmp_path / "events.jsonl"
    file.write_text("".join(json.dumps(one) + "\n" for one in lines))
    list(house.pipeline.importer().run([file]))
    assert house.pipeline.run_until_idle(lambda _: None) == []
    with database.connection():
        rows = database.db.execute_sql(
            "SELECT text, metadata FROM events WHERE type = 'tool_result'"
            " ORDER BY at_ms"
        ).fetchall()
        bullets = [
            text for (text,) in database.db.execute_sql("SELECT text FROM bullets")
        ]
    assert [text.partition("\n")[0] for text, _ in rows] == [
        "Read: src/auth/token.rs",
        "Bash: cargo test",
        "Edit: src/auth/retry.rs",
    ]
    assert json.loads(rows[2][1])["tool_input"] == '{"file_path": "src/auth/retry.rs"}'
    assert any("retry.rs" in one for one in bullets)
    assert not any("u64" in one for one in bullets)


def test_s3_12_an_event_that_comes_again_is_not_created(
    house: Workspace, tmp_path: Path
) -> None:
    payload = {"session_id": "s1", "hook_event_name": "UserPromptSubmit"}
    payload |= {"prompt": "Fix the cart", "timestamp": "2025-03-14T10:00:00Z"}
    for number in range(2):
        file = house.paths.spool / "new" / f"{number}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(payload))
        assert house.pipeline.run_until_idle(lambda _: None) == []
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(HISTORY.read_bytes())
    for file, created in ((HISTORY, 44), (copy, 0)):
        importer = house.pipeline.importer()
        list(importer.run([file]))
        progress = importer.progress
        assert (progress.created, progress.already_stored) == (created, 44 - created)
    with database.connection():
        assert sessions.count_events()[0] == 45


def test_s3_15_an_event_is_on_the_disk_when_it_is_answered(
    house: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    sync = os.fsync

    def record(descriptor: int) -> None:
        synced.append(str(Path(f"/proc/self/fd/{descriptor}").readlink()))
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", record)
    answer = changes.ingest_event(
        house, session="mcp:s1", event_type="user_message", text="Feed the walrus."
    )
    assert answer.head["created"] is True
    new = house.paths.spool / "new"
    (file,) = new.iterdir()
    assert synced == [str(house.paths.spool / "tmp" / file.name), str(new)]
    assert house.pipeline.run_until_idle(lambda _: None) == []
    with database.connection():
        assert list(events.get([answer.head["event_id"]]))
