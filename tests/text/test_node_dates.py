"""Dates as they are typed, and the nodes they mean."""

from datetime import UTC, datetime

import pytest

from memtui.text import dates

NOW = datetime(2026, 3, 11, 12, tzinfo=UTC)
"""A Wednesday."""


@pytest.mark.parametrize(
    ("typed", "node_id", "label"),
    [
        ("today", "day:2026-03-11", "Wed 11 Mar 2026"),
        ("last tuesday", "day:2026-03-10", "Tue 10 Mar 2026"),
        ("  Last   Week ", "week:2026-W10", "week of 2 Mar 2026"),
        ("two weeks ago", "week:2026-W09", "week of 23 Feb 2026"),
        ("december", "month:2025-12", "December 2025"),
        ("in March", "month:2026-03", "March 2026"),
        ("10 march", "day:2026-03-10", "Tue 10 Mar 2026"),
        ("2025-01", "month:2025-01", "January 2025"),
        ("2025-03-14", "day:2025-03-14", "Fri 14 Mar 2025"),
        ("2025-W3", "week:2025-W03", "week of 13 Jan 2025"),
        ("2025", "year:2025", "2025"),
        ("last year", "year:2025", "2025"),
        (
            "since march",
            "month:2026-03",
            "from Sun 1 Mar 2026: begins with March 2026",
        ),
        (
            "before march",
            "month:2026-02",
            "until Sat 28 Feb 2026: ends with February 2026",
        ),
        (
            "last 3 days",
            "day:2026-03-08",
            "8–11 Mar 2026: begins with Sun 8 Mar 2026",
        ),
    ],
)
def test_typed_date_means_a_node(typed: str, node_id: str, label: str) -> None:
    assert dates.read_node(typed, NOW) == dates.NodeDate(f"toc:{node_id}", label)


@pytest.mark.parametrize(
    "typed",
    ["", "d", "dentist", "tomorrow", "2025-13", "2025-02-30", "shop yesterday", "[b]"],
)
def test_other_text_means_no_node(typed: str) -> None:
    assert dates.read_node(typed, NOW) is None
