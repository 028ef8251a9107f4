"""The activity in the parts of a year, month, week and day."""

from datetime import UTC, date, datetime

import pytest

from memtui.model.events import to_ms
from memtui.model.nodes import count_messages_by_part

MONDAY = to_ms(datetime(2024, 1, 15, tzinfo=UTC))
HOUR_MS = 3_600_000


@pytest.mark.parametrize(
    ("node_id", "children", "activity"),
    [
        (
            "toc:year:2024",
            [(date(2024, 1, 31), 0, 5), (date(2024, 12, 1), 0, 7)],
            (5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7),
        ),
        (
            "toc:month:2024-02",
            [(date(2024, 2, 4), 0, 1), (date(2024, 2, 26), 0, 2)],
            (1, 0, 0, 0, 2),
        ),
        (
            "toc:week:2024-W03",
            [(date(2024, 1, 15), 0, 3), (date(2024, 1, 21), 0, 4)],
            (3, 0, 0, 0, 0, 0, 4),
        ),
        (
            "toc:day:2024-01-15",
            [
                (date(2024, 1, 15), MONDAY, 1),
                (date(2024, 1, 15), MONDAY + 3 * HOUR_MS - 1, 1),
                (date(2024, 1, 15), MONDAY + 3 * HOUR_MS, 1),
                (date(2024, 1, 15), MONDAY + 24 * HOUR_MS, 9),
            ],
            (2, 1, 0, 0, 0, 0, 0, 9),
        ),
        ("toc:segment:2024-01-15:a", [], ()),
    ],
)
def test_messages_are_counted_by_the_parts_of_a_node(
    node_id: str, children: list[tuple[date, int, int]], activity: tuple[int, ...]
) -> None:
    assert count_messages_by_part(node_id, MONDAY, children) == activity
