from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memtui.capture.formats.base import compact_json
from memtui.model import events
from memtui.model.events import Event, EventType
from memtui.model.nodes import TITLE_CHARS
from memtui.model.sessions import SessionMetadata
from memtui.store import database, queues, sessions
from memtui.store import events as store_events
from memtui.workspace import Workspace
from tests.tables import EventRow, OutboxRow, SourceCopyRow

AT = datetime(2025, 3, 14, 10, 0, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _open(workspace: Workspace) -> Iterator[None]:
    with database.connection():
        yield


def said(
    text: str,
    after_s: float = 0,
    key: str = "",
    kind: EventType = EventType.USER_MESSAGE,
    **metadata: str,
) -> Event:
    return events.make(
        agent="claude-code",
        session_id="s1",
        timestamp=AT + timedelta(seconds=after_s),
        event_type=kind,
        text=text,
        source_key=key,
        metadata=metadata,
    )


def add(*batch: Event, route: str = "transcript") -> store_events.AddResult:
    with database.transaction():
        return store_events.add(batch, route=route)


def test_an_event_is_exported_unchanged() -> None:
    event = said("Fix the cart", key="k", tool_name="Bash")
    add(event)
    assert store_events.get([event.event_id]) == {event.event_id: event}


def test_an_event_is_stored_with_its_outbox_rows() -> None:
    event = said("Fix the cart")
    add(event)
    added, touched = OutboxRow.select().order_by(OutboxRow.id)
    assert added.action == queues.INDEX_EVENT
    assert (touched.action, touched.subject_id) == (queues.UPDATE_TOC, event.event_id)


def test_a_renamed_session_waits_since_its_last_event() -> None:
    add(said("Fix the cart"), said("And the basket", 60))
    with database.transaction():
        queues.add_sessions(store_events.list_session_numbers())
    (waits,) = [
        row
        for row in queues.count_rows_by_action()
        if row.action == queues.INDEX_SESSION
    ]
    assert (waits.count, waits.oldest_at) == (1, AT + timedelta(seconds=60))


def test_a_failed_transaction_stores_neither_event_nor_outbox_rows() -> None:
    class Failed(Exception):
        pass

    with pytest.raises(Failed), database.transaction():
        store_events.add([said("Fix the cart")], route="hook")
        raise Failed
    assert OutboxRow.select().count() == 0
    assert sessions.get("claude-code", "s1") is None


def test_the_same_event_again_changes_nothing() -> None:
    event = said("Fix the cart", key="k")
    assert add(event).created == [event.event_id]
    before = OutboxRow.select().count(), sessions.get("claude-code", "s1")
    again = add(event, event)
    assert (again.created, again.already_stored) == ([], 2)
    assert (OutboxRow.select().count(), sessions.get("claude-code", "s1")) == before


def test_an_event_from_a_hook_is_not_stored_again_from_the_transcript() -> None:
    add(said("Fix the cart"), route="hook")
    output = said("Fix  the\ncart", after_s=2, key="uuid-1")
    assert add(output).created == []
    assert add(output).created == []


def test_hook_and_transcript_may_come_in_either_order() -> None:
    add(said("Fix the cart", after_s=2, key="uuid-1"))
    assert add(said("Fix the cart"), route="hook").created == []


@pytest.mark.parametrize("placeholder", ["[image: image/png, 1 kB]", "[image]"])
@pytest.mark.parametrize("routes", [("hook", "transcript"), ("transcript", "hook")])
def test_an_image_missing_from_a_hook_makes_no_second_message(
    routes: tuple[str, str], placeholder: str
) -> None:
    plain = said("[Image #1] what is this?")
    whole = said(f"[Image #1] what is this?\n\n{placeholder}", after_s=2, key="uuid-1")
    telling = {"hook": plain, "transcript": whole}
    for route in routes:
        add(telling[route], route=route)
    assert [row.text for row in EventRow.select()] == [whole.text]


@pytest.mark.parametrize("routes", [("hook", "transcript"), ("transcript", "hook")])
def test_a_hook_with_the_last_block_of_a_message_makes_no_second_one(
    routes: tuple[str, str],
) -> None:
    kind = EventType.ASSISTANT_MESSAGE
    whole = said("First part\n\nSecond part", key="uuid-1", kind=kind)
    other = said("What a second part!", after_s=60, key="uuid-2", kind=kind)
    telling = {
        "hook": [said("Second part", after_s=4, kind=kind)],
        "transcript": [whole, other],
    }
    for route in routes:
        add(*telling[route], route=route)
    assert {row.text for row in EventRow.select()} == {whole.text, other.text}


def test_a_last_block_matches_only_one_message() -> None:
    kind = EventType.ASSISTANT_MESSAGE
    for number in range(2):
        said_so = said(f"Step {number}\n\nDone.", number, f"k{number}", kind)
        add(said_so)
    for number in range(3):
        add(said("Done.", number + 5, f"h{number}", kind), route="hook")
    assert EventRow.select().count() == 3


def test_copies_of_a_tool_call_are_recognized_by_its_input() -> None:
    given = compact_json({"command": "ls"})
    about: dict[str, Any] = {"tool_name": "Bash", "tool_input": given}
    add(said("Bash: ls\na b", kind=EventType.TOOL_RESULT, **about), route="hook")
    other = said(
        "Bash: ls\na\nb", after_s=1, key="t1", kind=EventType.TOOL_RESULT, **about
    )
    assert add(other).created == []


def test_the_id_in_the_source_decides_before_the_text() -> None:
    first, second = (
        replace(said("commit", n, key=f"u{n}"), source_id=f"u{n}") for n in (0, 60)
    )
    add(first, second)
    add(replace(said("commit", after_s=1), source_id="u60"), route="hook")
    assert [row.event_id for row in SourceCopyRow.select()] == [second.event_id]


def test_equal_texts_of_one_source_are_two_messages() -> None:
    add(said("commit"), said("commit", after_s=60), route="hook")
    first, second, third = (said("commit", n, key=f"u{n}") for n in (1, 61, 120))
    assert add(first, second).created == []
    assert add(third).created == [third.event_id]


def test_an_equal_text_is_a_copy_up_to_the_maximum_difference_of_time() -> None:
    most_s = events.MAX_TIME_DIFFERENCE_MS / 1000
    add(said("commit"), said("push"), route="hook")
    assert add(said("commit", after_s=most_s, key="u1")).created == []
    later = said("push", after_s=most_s + 0.001, key="u2")
    assert add(later).created == [later.event_id]


def test_an_equal_text_much_later_is_another_message() -> None:
    add(said("commit"), route="hook")
    assert add(said("commit", after_s=3600, key="u1")).already_stored == 0


def test_a_session_counts_messages_and_keeps_its_first_prompt() -> None:
    add(said("second", after_s=60), said("third", after_s=90))
    add(said("first"), said("Bash: ls", 5, kind=EventType.TOOL_RESULT))
    session = sessions.get("claude-code", "s1")
    assert session is not None
    assert (session.title, session.message_count) == ("first", 3)
    assert (session.created_at, session.event_count) == (AT, 4)
    assert session.updated_at == AT + timedelta(seconds=90)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_a_session_is_named_by_the_beginning_of_its_first_prompt(
    order: tuple[int, ...],
) -> None:
    output = (
        said("<image>", key="1"),
        said("# Plan\n\nMend the **mill** [wheel](wheel.md)\n" + "x" * 99, 60, key="2"),
        said("Then sweep the yard", 120, key="3"),
    )
    for place in order:
        add(output[place])
    session = sessions.get("claude-code", "s1")
    assert session is not None and session.title.startswith("Plan Mend the mill wheel")
    assert len(session.title) <= TITLE_CHARS


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
def test_prompt_of_a_subagent_names_a_session_without_prompts(
    order: tuple[int, ...],
) -> None:
    output = (
        replace(said("Look at the mill"), subagent="a1"),
        replace(said("Look at the wheel", 60), subagent="a2"),
        said("The mill stands", 70, kind=EventType.ASSISTANT_MESSAGE),
    )
    for place in order:
        add(output[place])
    session = sessions.get("claude-code", "s1")
    assert session is not None and session.title == "Look at the mill"
    add(said("Mend the mill", 3600))
    session = sessions.get("claude-code", "s1")
    assert session is not None and session.title == "Mend the mill"


def test_a_session_stays_in_its_first_project() -> None:
    add(said("Fix the cart"))
    with database.transaction():
        for project, branch in (("shop", "main"), ("lib", "fix"), ("", "")):
            facts = SessionMetadata("claude-code", "s1", project=project, branch=branch)
            sessions.update_metadata(facts)
    session = sessions.get("claude-code", "s1")
    assert session is not None
    assert (session.project, session.branch) == ("shop", "fix")
