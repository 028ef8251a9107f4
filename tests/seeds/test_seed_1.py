"""The rows of seed 1, the domain model."""

import json
from datetime import UTC, datetime

import peewee
import pytest

from memtui.capture.formats import hooks
from memtui.model.events import Event
from memtui.store import database
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
