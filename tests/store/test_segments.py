"""The queue of segments to summarize, in a real file."""

from pathlib import Path

import pytest

from memtui import store
from memtui.store import database, segments
from memtui.store.segments import SegmentRange
from tests.tables import SessionRow

SEGMENT = SegmentRange("s", 1, "a" * 26, "b" * 26, 1, 2, 1, 1, 1, 0, False)
MINUTE_MS = 60_000


@pytest.fixture(autouse=True)
def _store(tmp_path: Path) -> None:
    store.open_at(tmp_path / "memory.db")
    with database.transaction():
        SessionRow.insert(
            id=1, agent="codex", name="s1", created_ms=1, updated_ms=1
        ).execute()
        segments.save([SEGMENT])


def test_a_success_resets_the_wait_before_a_retry() -> None:
    with database.transaction():
        for _ in range(5):
            segments.set_failed("s", 0)
        assert not segments.list_pending(MINUTE_MS, 1)
        segments.set_summarized([SEGMENT])
        segments.request_summaries(["s"])
        segments.set_failed("s", 0)
        assert segments.list_pending(MINUTE_MS, 1) == [SEGMENT]


def test_a_failed_segment_is_summarized_at_once_by_new_rules() -> None:
    with database.transaction():
        segments.set_failed("s", 0)
        assert not segments.list_pending(0, 1)
        segments.request_all_summaries()
        assert segments.list_pending(0, 1) == [SEGMENT]
        assert segments.count_failing(0) == 0
