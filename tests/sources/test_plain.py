import json
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memtui.memory.events import Event, EventRole, EventType
from memtui.memory.sessions import SessionFacts
from memtui.sources import plain
from memtui.sources.records import Cursor, Refused

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def line(**fields: Any) -> dict[str, Any]:
    return {
        "session_id": "s1",
        "timestamp": "2025-03-14T11:00:00+01:00",
        "role": "user",
        "text": "hello",
    } | fields


def read(*records: object) -> list[object]:
    raw = "\n".join(json.dumps(record) for record in records).encode() + b"\n"
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as file:
        file.write(raw)
        file.flush()
        given = plain.read(Path(file.name), None, agent="mine", now=NOW)
        return [reading for reading in given if not isinstance(reading, Cursor)]


def test_a_line_is_an_event() -> None:
    facts, event, again = read(line(project="shop", metadata={"n": 1}))
    assert isinstance(event, Event)
    assert event.event_type is EventType.USER_MESSAGE
    assert event.timestamp == datetime(2025, 3, 14, 10, 0, tzinfo=UTC)
    assert (event.agent, event.metadata) == ("mine", {"n": "1"})
    assert (
        facts == again == SessionFacts("mine", "s1", project="shop", at=event.timestamp)
    )


def test_the_type_alone_or_the_role_alone_suffices() -> None:
    typed = line(event_type="tool_result")
    del typed["role"]
    events = [e for e in read(typed, line(role="assistant")) if isinstance(e, Event)]
    assert [(e.event_type, e.role) for e in events] == [
        (EventType.TOOL_RESULT, EventRole.TOOL),
        (EventType.ASSISTANT_MESSAGE, EventRole.ASSISTANT),
    ]


def test_milliseconds_and_times_without_a_zone_are_read_as_utc() -> None:
    stamps = [1741946400000, "2025-03-14T10:00:00"]
    events = [e for at in stamps for e in read(line(timestamp=at))]
    times = {event.timestamp for event in events if isinstance(event, Event)}
    assert times == {datetime(2025, 3, 14, 10, 0, tzinfo=UTC)}


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"timestamp": "yesterday"}, "a bad timestamp"),
        ({"timestamp": "2031-01-01T00:00:00Z"}, "a timestamp in the future"),
        ({"session_id": ""}, "no session id"),
        ({"text": ""}, "a user_message without text"),
        ({"role": "wizard"}, "'wizard' is not a valid EventRole"),
        ({"role": "system"}, "an event of the role system must name its event_type"),
    ],
)
def test_a_line_that_breaks_a_rule_is_refused(
    fields: dict[str, Any], reason: str
) -> None:
    readings = read(line(), line(**fields))
    assert Refused(reason, 2) in readings
