from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from memtui.errors import StoreBusyError, StoreDamagedError
from memtui.model.calendar import TocLevel
from memtui.model.events import EventRole, EventType, make
from memtui.model.nodes import Bullet, BulletKind, NodeCounts, NodeStatus, TocEntry
from memtui.model.verdicts import Support, Verdict
from memtui.tui import format

NOW = datetime(2024, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("supported", "weak", "bullets", "mark"),
    [
        (0, 0, 0, " "),
        (3, 0, 3, "✓"),
        (2, 1, 3, "~"),
        (1, 0, 3, "~"),
        (0, 3, 3, "~"),
        (0, 0, 3, "✗"),
    ],
)
def test_verdicts_have_marks(
    supported: int, weak: int, bullets: int, mark: str
) -> None:
    entry = TocEntry(
        "id", TocLevel.DAY, "", "", NOW, NOW, NodeStatus.CURRENT, False, NodeCounts(),
        supported, weak, bullets, True, False, (), (),
    )  # fmt: skip
    assert format.node_mark(entry) == mark
    assert format.node_mark(replace(entry, is_by_model=False)) == " "


def test_bullet_of_an_extract_is_a_quote() -> None:
    verdict = Verdict(Support.SUPPORTED)
    marks = [
        format.bullet_mark(Bullet("Fixed", ("grip:1:a",), verdict, kind))
        for kind in (BulletKind.NOTE, BulletKind.OUTCOME, BulletKind.COMMIT)
    ]
    assert marks == ["✓", "“", " "]


TODAY = date(2024, 3, 1)


def test_tree_labels_do_not_repeat_their_branch() -> None:
    def named(level: TocLevel, title: str, start: datetime, days: float) -> str:
        line = TocEntry(
            "toc:week:2024-W05", level, title, "", start, start + timedelta(days=days),
            NodeStatus.CURRENT, False, NodeCounts(), 0, 0, 0, False, False, (), (),
        )  # fmt: skip
        return format.tree_label(line, ZoneInfo("Europe/Berlin"), TODAY)

    monday = datetime(2024, 1, 28, 23, tzinfo=UTC)
    assert named(TocLevel.YEAR, "2024", monday, 364) == "2024"
    assert named(TocLevel.MONTH, "January 2024", monday, 28) == "January"
    assert named(TocLevel.WEEK, "Week of …", monday, 7) == "29 Jan – 4 Feb"
    assert named(TocLevel.DAY, "Monday, …", monday, 1) == "Mon 29 Jan"
    assert named(TocLevel.SEGMENT, "A headline", monday, 0.1) == "00:00"


def test_note_of_a_program_has_its_own_speaker() -> None:
    note = make(
        agent="claude-code",
        session_id="s",
        timestamp=NOW,
        event_type=EventType.USER_MESSAGE,
        text="This session is being continued",
        source_key="1",
        role=EventRole.SYSTEM,
    )
    assert format.speaker(note) == "note"


def test_boundary_without_text_is_a_sentence() -> None:
    start = make(
        agent="codex",
        session_id="s",
        timestamp=NOW,
        event_type=EventType.SESSION_START,
        text="",
        source_key="1",
    )
    assert format.event_text(start) == "The session starts."


def test_damaged_store_is_reported_with_advice() -> None:
    text = format.error_text(StoreDamagedError("memory.db is damaged"))
    assert text == "memory.db is damaged (run memtui doctor)"
    assert format.error_text(StoreBusyError("it is busy")) == "it is busy"
