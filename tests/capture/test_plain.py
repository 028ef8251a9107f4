import json
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memtui.capture.formats import plain
from memtui.capture.formats.base import Cursor, InvalidRecord, SkippedRecord
from memtui.model.events import (
    Event,
    EventRole,
    EventType,
    Provenance,
    SourceCopy,
    Thought,
)
from memtui.model.sessions import SessionMetadata, SubagentMetadata

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
        given = plain.FORMAT.read(Path(file.name), None, agent="mine", now=NOW)
        return [reading for reading in given if not isinstance(reading, Cursor)]


def test_a_line_is_an_event() -> None:
    facts, event, again = read(line(project="shop", metadata={"n": 1}))
    assert isinstance(event, Event)
    assert event.event_type is EventType.USER_MESSAGE
    assert event.timestamp == datetime(2025, 3, 14, 10, 0, tzinfo=UTC)
    assert (event.agent, event.metadata) == ("mine", {"n": "1"})
    assert (
        facts
        == again
        == SessionMetadata("mine", "s1", project="shop", at=event.timestamp)
    )


def test_type_or_role_is_enough() -> None:
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
        ({"text": {"a": 1}}, "text is not a text"),
        ({"text": ["Why?"]}, "text is not a text"),
        ({"session_id": {"a": 1}}, "session_id is not a text"),
        ({"project": True}, "project is not a text"),
        ({"record": "session", "title": ["a"]}, "title is not a text"),
        ({"record": "thought", "subagent": {}}, "subagent is not a text"),
        ({"role": "wizard"}, "'wizard' is not a valid EventRole"),
        ({"role": "system"}, "an event of the role system must name its event_type"),
    ],
)
def test_invalid_line_is_reported(fields: dict[str, Any], reason: str) -> None:
    readings = read(line(), line(**fields))
    assert InvalidRecord(reason, 2) in readings


ID = "01JPA1H600ABCDEFGHJKMNPQRS"


def kept(**fields: Any) -> dict[str, Any]:
    values = line(id=ID, tokens=7, counter="c", route="hook", ordinal=40)
    return plain.with_check(values | fields)


def only_event(*records: object) -> Event:
    (event,) = [item for item in read(*records) if isinstance(item, Event)]
    return event


def test_exported_values_are_kept() -> None:
    other = "01JPA1H6Z4TVWXYZ0123456789"
    copies = [{"id": other, "route": "transcript", "session_id": "s2"}, {"id": "?"}, 3]
    event = only_event(kept(source_hash="5f0c1b7a9e2d4c68", copies=copies))
    assert (event.event_id, event.ordinal, event.tokens) == (ID, 40, 7)
    assert event.provenance == Provenance(
        "hook",
        bytes.fromhex("5f0c1b7a9e2d4c68"),
        (SourceCopy(other, "transcript", "s2"),),
    )


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"tokens": -1}, (0, "")),
        ({"tokens": True}, (0, "")),
        ({"tokens": 10**30}, (0, "")),
        ({"counter": ""}, (0, "")),
        ({"tokens": 0}, (0, "c")),
    ],
)
def test_invalid_token_count_is_ignored(
    fields: dict[str, Any], expected: tuple[int, str]
) -> None:
    event = only_event(kept(**fields))
    assert (event.tokens, event.token_counter) == expected


@pytest.mark.parametrize("origin", (None, "", "xyz", "00", "5f0c1b7a9e2d4c6800", 7))
def test_invalid_source_hash_is_ignored(origin: object) -> None:
    assert only_event(
        kept(source_hash=origin, route="rumour")
    ).provenance == Provenance("jsonl")


def test_exported_fields_need_an_id() -> None:
    assert only_event(kept(id="")).provenance is None
    assert InvalidRecord("an id that memtui did not make", 1) in read(kept(id="mine"))


@pytest.mark.parametrize(
    "change", [{"text": "bye"}, {"session_id": "s2"}, {"id": ID[::-1]}, {"check": ""}]
)
def test_exported_fields_of_a_changed_line_are_ignored(change: dict[str, Any]) -> None:
    original = kept(source_hash="5f0c1b7a9e2d4c68")
    event = only_event(original | change)
    assert event.provenance is None
    plain_line = {n: v for n, v in line(ordinal=40).items()}
    assert event == only_event(
        plain_line | {n: change[n] for n in change if n in plain_line}
    )


def test_session_metadata_comes_before_the_events_and_once_with_one() -> None:
    session = {
        "record": "session",
        "session_id": "s1",
        "agent": "claude-code",
        "timestamp": "2025-03-14T10:00:00Z",
        "project": "shop",
        "cwd": "/home/ada/shop/api",
        "root": "/home/ada/shop",
        "branch": "main",
        "model": "m",
        "title": "The build",
        "created_by": "cli",
        "forked_from": "s0",
    }
    facts = SessionMetadata(
        agent="claude-code",
        session_id="s1",
        at=datetime(2025, 3, 14, 10, tzinfo=UTC),
        facts_at=None,
        title_at=None,
        is_title_given=False,
        **{
            name: said
            for name, said in session.items()
            if name not in ("record", "session_id", "agent", "timestamp")
        },
    )
    items = read(
        session, line(agent="claude-code"), line(agent="claude-code", text="b")
    )
    kinds = [type(item).__name__ for item in items]
    said = "SessionMetadata"
    assert kinds == [said, said, "Event", said, "Event", said]
    assert {item for item in items if isinstance(item, SessionMetadata)} == {facts}


def test_subagents_and_thoughts_are_read() -> None:
    about = {"session_id": "s1", "agent": "a"}
    helper = {"record": "subagent", **about, "subagent": "h", "task": "Look"}
    at = {"timestamp": "2025-03-14T10:00:00Z"}
    thought = {"record": "thought", **about, **at, "text": "Hm."}
    first, second = read(helper, thought)
    assert first == SubagentMetadata("a", "s1", "h", task="Look")
    assert isinstance(second, Thought)
    assert second.text == "Hm."
    # An id is not believed.
    assert read(thought | {"id": ID}) == [second]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"record": "session", "session_id": " "}, InvalidRecord("no session id", 1)),
        ({"record": "subagent"}, InvalidRecord("no subagent", 1)),
        ({"record": "thought", "text": ""}, InvalidRecord("a thought without text", 1)),
        ({"record": "thought", "timestamp": None}, InvalidRecord("no timestamp", 1)),
        ({"record": ["poem"]}, SkippedRecord('record ["poem"]', 1)),
    ],
)
def test_other_records_need_a_session_id(
    fields: dict[str, Any], expected: object
) -> None:
    assert read(line(**fields)) == [expected]


def test_examples_of_the_manual_are_read() -> None:
    manual = Path(__file__).parents[2] / "docs" / "jsonl.md"
    lines = [text for text in manual.read_text().splitlines() if text[:1] == "{"]
    items = read(*(json.loads(text) for text in lines))
    first, second = [item for item in items if isinstance(item, Event)]
    assert not [
        item for item in items if isinstance(item, InvalidRecord | SkippedRecord)
    ]
    # Its id is made as the manual says.
    again = {k: v for k, v in json.loads(lines[2]).items() if k != "id"}
    assert only_event(again).event_id == second.event_id != first.event_id
