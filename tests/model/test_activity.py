"""The activity in the parts of a year, month, week and day."""

from datetime import UTC, datetime

import pytest

from memtui.model.events import to_ms
from memtui.model.nodes import count_messages_by_part

MONDAY = to_ms(datetime(2024, 1, 15, tzinfo=UTC))
HOUR_MS = 3_600_000


@pytest.mark.parametrize(
    ("node_id", "under", "shown"),
    [
        (
            "toc:year:2024",
            [("toc:month:2024-01", 0, 5), ("toc:month:2024-12", 0, 7)],
            (5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7),
        ),
        (
            "toc:month:2024-02",
            [("toc:week:2024-W05", 0, 1), ("toc:week:2024-W09", 0, 2)],
            (1, 0, 0, 0, 2),
        ),
        (
            "toc:week:2024-W03",
            [("toc:day:2024-01-15", 0, 3), ("toc:day:2024-01-21", 0, 4)],
            (3, 0, 0, 0, 0, 0, 4),
        ),
        (
            "toc:day:2024-01-15",
            [
                ("toc:segment:2024-01-15:a", MONDAY, 1),
                ("toc:segment:2024-01-15:b", MONDAY + 3 * HOUR_MS - 1, 1),
                ("toc:segment:2024-01-15:c", MONDAY + 3 * HOUR_MS, 1),
                ("toc:segment:2024-01-15:d", MONDAY + 24 * HOUR_MS, 9),
            ],
            (2, 1, 0, 0, 0, 0, 0, 9),
        ),
        ("toc:segment:2024-01-15:a", [], ()),
    ],
)
def test_each_part_of_a_time_has_what_was_said_in_it(
    node_id: str, under: list[tuple[str, int, int]], shown: tuple[int, ...]
) -> None:
    assert count_messages_by_part(node_id, MONDAY, under) == shown
