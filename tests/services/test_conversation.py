"""The place at which a session opens, and messages without a bullet."""

from datetime import UTC, datetime, timedelta

from memtui.model.events import Event
from memtui.services.browse import find_session_node
from memtui.services.conversation import expand_event
from memtui.store import database, events, sessions
from memtui.workspace import Workspace

WORK = ("claude-code", "shop-1")


def said() -> list[Event]:
    with database.connection():
        number = sessions.get_number(*WORK)
        assert number is not None
        return events.between(number, 0, 2**60)


def test_a_time_leads_to_its_segment_or_the_nearest(
    full_workspace: Workspace,
) -> None:
    first, *_, last = said()
    home = f"toc:segment:2024-01-15:{first.event_id}"
    for at in (
        first.timestamp,
        last.timestamp,
        first.timestamp - timedelta(days=400),
        last.timestamp + timedelta(days=400),
    ):
        assert find_session_node(*WORK, at) == home


def test_a_session_without_segments_has_no_node(full_workspace: Workspace) -> None:
    at = datetime(2024, 1, 15, tzinfo=UTC)
    assert find_session_node("claude-code", "nobody", at) == ""


def test_an_expanded_message_has_those_around_it(full_workspace: Workspace) -> None:
    row = said()
    expansion = expand_event(row[4].event_id, "sliding", before=2, after=1)
    assert [e.event_id for e in expansion.events_before] == [
        e.event_id for e in row[2:4]
    ]
    assert [e.event_id for e in expansion.excerpt_events] == [row[4].event_id]
    assert [e.event_id for e in expansion.events_after] == [row[5].event_id]
    assert expansion.grip is not None and expansion.grip.excerpt == "sliding"


def test_an_unknown_message_expands_to_nothing(full_workspace: Workspace) -> None:
    assert expand_event("0" * 26).excerpt_events == ()
