from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from memtui.model import events
from memtui.model.events import MESSAGES, Event, EventRole, EventType, counted_text
from memtui.summarize import segmenter
from memtui.summarize.segmenter import SegmentRules

START = datetime(2024, 1, 15, 10, 0, tzinfo=UTC)
RULES = SegmentRules()


def said(
    at_s: float,
    tokens: int = 100,
    kind: EventType = EventType.USER_MESSAGE,
    role: EventRole | None = None,
) -> Event:
    made = events.make(
        agent="claude-code",
        session_id="s",
        timestamp=START + timedelta(seconds=at_s),
        event_type=kind,
        text=f"said at {at_s}",
        source_key=f"{at_s} {kind}",
        role=role,
    )
    return replace(made, tokens=tokens)


def lengths(events: list[Event], rules: SegmentRules = RULES) -> list[int]:
    return [len(run) for run in segmenter.split_events(events, rules)]


def test_a_pause_of_exactly_thirty_minutes_does_not_end_a_segment() -> None:
    assert lengths([said(0), said(1800)]) == [2]


def test_a_longer_pause_ends_a_segment() -> None:
    assert lengths([said(0), said(1800.001)]) == [1, 1]


def test_a_segment_may_be_filled_to_its_limit() -> None:
    assert lengths([said(0, 1500), said(10, 2500)]) == [2]


def test_one_more_token_starts_a_new_segment() -> None:
    assert lengths([said(0, 1500), said(10, 2501)]) == [1, 1]


def test_an_event_over_the_limit_is_a_segment_of_its_own() -> None:
    assert lengths([said(0), said(10, 9000), said(20)]) == [1, 1, 1]


def test_the_end_of_a_session_ends_its_segment() -> None:
    end = said(20, 0, EventType.SESSION_END)
    assert lengths([said(0), end, said(30)]) == [2, 1]


def test_boundaries_alone_wait_for_a_message() -> None:
    start = said(0, 0, EventType.SESSION_START)
    assert lengths([start]) == []
    assert lengths([start, said(7200)]) == [2]


def test_boundaries_after_the_last_message_join_it_or_wait() -> None:
    assert lengths([said(0), said(9, 0, EventType.SESSION_END)]) == [2]
    next_day = said(86_400, 0, EventType.SESSION_START)
    assert lengths([said(0), next_day]) == [1]
    assert lengths([said(0), next_day, said(86_401)]) == [1, 2]


def test_tools_after_the_last_message_join_it() -> None:
    assert lengths([said(0), said(9000, 9, EventType.TOOL_RESULT)]) == [2]


def test_system_text_is_not_a_message() -> None:
    caveat = said(0, role=EventRole.SYSTEM)
    assert lengths([caveat]) == []


def test_only_the_start_of_a_tools_text_counts() -> None:
    tool = events.make(
        agent="a",
        session_id="s",
        timestamp=START,
        event_type=EventType.TOOL_RESULT,
        text="x" * 5000,
        source_key="k",
    )
    assert len(counted_text(tool)) == 1000


def test_a_run_is_finished_after_its_end_or_a_long_pause() -> None:
    run = [said(0)]
    assert not segmenter.is_finished(run, START + timedelta(seconds=1800), RULES)
    assert segmenter.is_finished(run, START + timedelta(seconds=1801), RULES)
    ended = [said(0), said(1, 0, EventType.SESSION_END)]
    assert segmenter.is_finished(ended, START + timedelta(seconds=2), RULES)


@given(
    st.lists(
        st.tuples(
            st.integers(0, 20_000),
            st.integers(0, 5000),
            st.sampled_from(list(EventType)),
        ),
        max_size=40,
        unique_by=lambda drawn: drawn[0],
    )
)
def test_no_event_is_lost_and_every_segment_has_a_message(
    drawn: list[tuple[int, int, EventType]],
) -> None:
    rows = sorted((said(*row) for row in drawn), key=lambda event: event.position)
    runs = segmenter.split_events(rows, RULES)
    assert all(any(event.is_message for event in run) for run in runs)
    kept = [event for run in runs for event in run]
    assert kept == rows[: len(kept)]
    waiting = {event.event_type for event in rows[len(kept) :]}
    assert waiting.isdisjoint(MESSAGES | {EventType.TOOL_RESULT} if runs else MESSAGES)
    for run in runs:
        spoken = [n for n, event in enumerate(run) if event.is_message]
        tail = run[spoken[0] : spoken[-1] + 1]
        assert len(tail) == 1 or sum(e.tokens for e in tail) <= RULES.max_tokens
