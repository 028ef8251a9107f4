"""How surprising a segment is, beside the sessions that began before its own."""

import pytest

from memtui.services import memories
from memtui.store import database
from memtui.workspace import Workspace
from tests.message_factory import make_message, store_messages
from tests.tables import SegmentRow

AUTH = (
    "token refresh session cookie redirect router login expiry middleware oauth scope"
    " claim"
)
BILLING = (
    "invoice ledger rounding tax currency refund receipt discount customer quarter"
    " balance payment"
)
DAY_S = 86_400


def store_session(name: str, day: int, text: str) -> None:
    store_messages(make_message(text, day * DAY_S, session=name))


def read_scores(workspace: Workspace) -> list[float | None]:
    """Return the surprise of each segment, in the order of time."""
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    with database.connection():
        names = [row.id for row in SegmentRow.select().order_by(SegmentRow.start_ms)]
    return [memories.get_surprise(name) for name in names]


def test_repeated_work_is_no_surprise_and_a_new_subject_is(
    workspace: Workspace,
) -> None:
    for day, text in enumerate((AUTH, AUTH, BILLING)):
        store_session(f"s{day}", day, text)
    assert read_scores(workspace) == [1.0, 0.0, 1.0]


def test_session_that_comes_later_but_began_earlier_counts(
    workspace: Workspace,
) -> None:
    store_session("late", 9, AUTH)
    assert read_scores(workspace) == [1.0]
    store_session("early", 1, AUTH)
    assert read_scores(workspace) == [1.0, 0.0]


def test_a_session_is_not_compared_with_itself(workspace: Workspace) -> None:
    for day in (1, 2):
        store_session("s", day, AUTH)
    assert read_scores(workspace) == [1.0, 1.0]


def test_only_the_newest_earlier_segments_are_compared(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    for day, text in enumerate((AUTH, BILLING, AUTH)):
        store_session(f"s{day}", day, text)
    assert read_scores(workspace) == [1.0, 1.0, 0.0]
    monkeypatch.setattr(memories, "MAX_COMPARED", 1)
    assert read_scores(workspace) == [1.0, 1.0, 1.0]


def test_segment_without_a_summary_has_none(workspace: Workspace) -> None:
    assert memories.get_surprise("toc:segment:2025-03-10:none") is None
