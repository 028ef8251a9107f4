"""The rows of seed 1, the domain model."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import peewee
import pytest

from memtui.agents import changes, sessions
from memtui.capture.formats import hooks
from memtui.model.events import Event
from memtui.model.jobs import Job
from memtui.model.schedule import JobSchedule
from memtui.settings import load
from memtui.store import database
from memtui.store import events as store_events
from memtui.store.schema import GripRow
from memtui.text import dates
from memtui.workspace import Workspace


def test_s1_29_grips_are_never_changed_nor_deleted(full_house: Workspace) -> None:
    changed = pytest.raises(peewee.IntegrityError, match="grips are never changed")
    with changed, database.transaction():
        GripRow.update(excerpt="rewritten").execute()
    deleted = pytest.raises(peewee.IntegrityError, match="only deleted by forgetting")
    with deleted, database.transaction():
        GripRow.delete().execute()


def test_s1_09_the_metadata_of_a_hooks_event_is_kept() -> None:
    payload = {
        "session_id": "s1",
        "event_type": "UserPromptSubmit",
        "content": "Fix the cart",
        "timestamp": "2025-03-14T10:00:00Z",
        "metadata": {"ticket": "SHOP-7", "tries": 2},
    }
    at = datetime(2025, 3, 14, 10, tzinfo=UTC)
    event, _ = hooks.read(json.dumps(payload).encode(), received_at=at, now=at)
    assert isinstance(event, Event)
    assert event.metadata == {"ticket": "SHOP-7", "tries": "2"}


@pytest.mark.parametrize(
    "interval",
    [
        "2024-01-18 10:02-10:04",
        "2024-01-18T10:02:00Z/2024-01-18T10:04:00Z",
        "1705572120000-1705572240000",
    ],
)
def test_s1_64_a_range_of_times_is_read(interval: str) -> None:
    now = datetime(2024, 1, 20, tzinfo=UTC)
    (period,) = dates.read_exact(interval, now, UTC)
    assert period.start == datetime(2024, 1, 18, 10, 2, tzinfo=UTC)
    assert period.end is not None
    assert period.end.replace(microsecond=0) == datetime(2024, 1, 18, 10, 4, tzinfo=UTC)


def test_s1_67_an_ingested_event_is_answered_with_its_id(house: Workspace) -> None:
    told: dict[str, Any] = {
        "session": "mcp:s1",
        "event_type": "user_message",
        "text": "Feed the walrus.",
        "timestamp": "2024-02-20T10:00:00+00:00",
        "metadata": {"ticket": "ZOO-7"},
    }
    first = changes.ingest_event(house, **told).head
    assert first["created"] is True
    # Known while it waits in the spool, and once it is stored.
    assert changes.ingest_event(house, **told).head | {"created": True} == first
    assert house.pipeline.run_until_idle(lambda _: None) == []
    again = changes.ingest_event(house, **told).head
    assert (again["event_id"], again["created"]) == (first["event_id"], False)
    with database.connection():
        (event,) = store_events.get([first["event_id"]]).values()
    assert event.metadata["ticket"] == "ZOO-7"
    assert first["timestamp"] == "2024-02-20T10:00:00.000Z"


def test_s1_71_times_are_exact_and_in_utc(full_house: Workspace) -> None:
    one = sessions.list_sessions(full_house, limit=1).items[0]
    (event,) = sessions.get_events(full_house, "15 January 2024", limit=1).items
    for time in (one["created_at"], one["updated_at"], event["at"]):
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", time)


@pytest.mark.parametrize(
    ("cron", "expected"),
    [
        ("0 0 1 * * *", "2024-01-31T01:00:00"),
        ("0 0 2 * * 0", "2024-02-04T02:00:00"),
        ("0 0 3 1 * *", "2024-02-01T03:00:00"),
        ("30 15 1 * * *", "2024-01-31T01:15:30"),
    ],
)
def test_s1_89_schedules_have_six_fields(
    cron: str, expected: str, tmp_path: Path
) -> None:
    file = tmp_path / "config.toml"
    file.write_text(f'[jobs]\nday = "{cron}"\n')
    settings = load(file, config_file=None, assignments=[])
    schedule = JobSchedule(Job.DAY, settings.jobs_day, UTC, 0, "a")
    at = datetime(2024, 1, 30, 12, tzinfo=UTC)
    assert schedule.next_run(at) == datetime.fromisoformat(f"{expected}+00:00")
    assert schedule.last_due(schedule.next_run(at)) == schedule.next_run(at)
