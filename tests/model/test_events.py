from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.model import events
from memtui.model.events import EventRefused, EventRole, EventType

AT = datetime(2024, 1, 15, 10, 0, 0, 250_000, tzinfo=UTC)


def made(**changes: object) -> events.Event:
    given = {
        "agent": "claude-code",
        "session_id": "s1",
        "timestamp": AT,
        "event_type": EventType.USER_MESSAGE,
        "text": "hello",
        "source_key": "k1",
    }
    return events.make(**{**given, **changes})  # type: ignore[arg-type]


def test_equal_input_gives_the_same_event_id() -> None:
    assert made() == made()
    assert events.is_event_id(made().event_id)


@pytest.mark.parametrize(
    "change",
    [
        {"agent": "codex"},
        {"session_id": "s2"},
        {"event_type": EventType.ASSISTANT_MESSAGE},
        {"source_key": "k2"},
        {"timestamp": AT + timedelta(milliseconds=1)},
    ],
)
def test_different_input_gives_another_event_id(change: dict[str, object]) -> None:
    assert made(**change).event_id != made().event_id


def test_event_ids_sort_by_time() -> None:
    ids = [made(timestamp=AT + timedelta(seconds=n)).event_id for n in range(50)]
    assert ids == sorted(ids)


def test_events_without_a_key_differ_by_their_text() -> None:
    assert made(source_key="").event_id != made(source_key="", text="other").event_id


def test_an_event_needs_a_session() -> None:
    with pytest.raises(EventRefused, match="session"):
        made(session_id="  ")


def test_a_message_needs_text_and_a_boundary_does_not() -> None:
    with pytest.raises(EventRefused, match="without text"):
        made(text=" \x00\n")
    assert made(text="", event_type=EventType.SESSION_END).role is EventRole.SYSTEM


def test_a_time_before_2000_is_refused() -> None:
    with pytest.raises(EventRefused, match="2000"):
        made(timestamp=datetime(1970, 1, 20, tzinfo=UTC))


def test_a_time_up_to_five_minutes_ahead_is_accepted() -> None:
    assert not events.is_in_future(AT + timedelta(minutes=5), AT)
    assert events.is_in_future(AT + timedelta(minutes=5, milliseconds=1), AT)


@pytest.mark.parametrize(
    ("raw", "kept"),
    [
        ("\x1b[1mbold\x1b[0m", "bold"),
        ("\x1b]8;;http://x\x07link\x1b]8;;\x07", "link"),
        ("a\x00b\x07c", "abc"),
        ("one\r\ntwo\rthree", "one\ntwo\nthree"),
        ("tab\tstays\n", "tab\tstays\n"),
        ("\ud800lone", "\ufffdlone"),
        ("abc\u202edcb", "abcdcb"),
        ("中文 stays, so does é", "中文 stays, so does é"),
    ],
)
def test_control_characters_are_removed(raw: str, kept: str) -> None:
    assert events.clean(raw) == kept


@given(st.text())
def test_cleaning_a_clean_text_changes_nothing(text: str) -> None:
    once = events.clean(text)
    assert events.clean(once) == once
    once.encode("utf-8")


@pytest.mark.parametrize(
    "text", ["", "01HN4QXKN6YWXVKZ3JMHP4BCD", "01HN4QXKN6YWXVKZ3JMHP4BCDI", "x" * 26]
)
def test_only_ulids_are_event_ids(text: str) -> None:
    assert not events.is_event_id(text)
