"""A sentence that every level repeats is told once, where it comes from."""

from datetime import UTC, datetime

from memtui.model import calendar
from memtui.model.hits import Hit, HitKind, Snippet
from memtui.tui.widgets.results import told_once

SEGMENT = "toc:segment:2024-01-15:01HM0000000000000000000000"


def hit(node_id: str, text: str, score: float, kind: HitKind = HitKind.NODE) -> Hit:
    level = calendar.period(node_id).level
    at = datetime(2024, 1, 15, tzinfo=UTC)
    return Hit(kind, node_id, node_id, level, "", at, score, Snippet(text))


def test_what_a_wide_node_repeats_stands_once_at_the_place_of_the_best() -> None:
    week, month = "toc:week:2024-W03", "toc:month:2024-01"
    hits = [
        hit("toc:day:2024-02-20", "Other.", 0.9),
        hit(week, "The timeout was 600.", 0.8),
        hit(SEGMENT, "The timeout was 600.", 0.7),
        hit(SEGMENT, "The timeout was 600.", 0.6, HitKind.GRIP),
        hit(month, "The timeout was 600.", 0.5),
        hit("toc:day:2024-02-20", "The timeout was 600.", 0.4),
    ]
    told = [(one.node_id, one.score, also) for one, also in told_once(hits)]
    assert told == [
        ("toc:day:2024-02-20", 0.9, []),
        (SEGMENT, 0.8, ["week", "month"]),
        (SEGMENT, 0.6, []),
        ("toc:day:2024-02-20", 0.4, []),
    ]
