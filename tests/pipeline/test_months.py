"""Months and years have the events of their calendar days, and those alone."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime, time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.model import calendar
from memtui.model.calendar import TocLevel
from memtui.model.filters import ALL
from memtui.model.nodes import NodeStatus, TocEntry
from memtui.paths import in_home
from memtui.pipeline.pipeline import Pipeline
from memtui.services import browse
from memtui.settings import Settings
from memtui.store import database, nodes, queues
from memtui.store.tombstones import TombstoneKind
from memtui.summarize.summarizer import ExtractiveSummarizer
from memtui.tools import toc
from memtui.workspace import Workspace
from tests.conftest import often
from tests.pipeline.test_pipeline import import_file, made, settle, tree
from tests.services.test_forget import forget
from tests.tables import NodeRow, SegmentRow

SATURDAY = date(2026, 8, 1)
"""A day of the week of 27 July, whose Thursday is in July."""

DAYS = [
    *(date(2020, 12, 31), date(2021, 1, 1), date(2021, 1, 3)),
    *(date(2024, 12, 29), date(2024, 12, 30), date(2024, 12, 31)),
    *(date(2026, 7, 6), date(2026, 7, 31), SATURDAY, date(2026, 8, 2)),
    *(date(2026, 12, 28), date(2027, 1, 1)),
]
"""Days around the ends of months and years."""


def clock() -> datetime:
    return datetime(2028, 1, 1, tzinfo=UTC)


@pytest.fixture
def pipeline(workspace: Workspace) -> Pipeline:
    return made(workspace, clock)


def line(day: date, text: str = "") -> str:
    at = datetime.combine(day, time(10), UTC)
    output = {
        "session_id": f"s-{day}",
        "timestamp": at.isoformat(),
        "role": "user",
        "text": text or f"Paint the quay of {day:%d %B}",
        "project": "ferry" if day.day % 2 else "harbour",
        "key": f"key-{day}",
    }
    return json.dumps(output)


def import_days(pipeline: Pipeline, folder: Path, days: Iterable[date]) -> None:
    import_file(pipeline, folder, "days", [line(day) for day in days])
    settle(pipeline)


def expected_counts() -> Counter[str]:
    """Count the segments of each month and year by the days they start in."""
    with database.connection():
        rows = SegmentRow.select(SegmentRow.id).tuples()
        days = [calendar.period(name).first for (name,) in rows]
    counts = Counter(f"toc:month:{day:%Y-%m}" for day in days)
    return counts + Counter(f"toc:year:{day:%Y}" for day in days)


def list_all(parent: str = "") -> Iterator[TocEntry]:
    for entry in browse.list_children(parent):
        yield entry
        if entry.level is TocLevel.YEAR:
            yield from list_all(entry.node_id)


def test_a_month_and_a_year_have_the_events_of_their_days(
    pipeline: Pipeline, tmp_path: Path
) -> None:
    import_days(pipeline, tmp_path, DAYS)
    counts = expected_counts()
    listed = {entry.node_id: entry for entry in list_all()}
    for entry in browse.add_activity([*listed.values()]):
        assert sum(entry.activity) == entry.counts.messages == counts[entry.node_id]
    assert {name: entry.counts.segments for name, entry in listed.items()} == counts
    for name, number in counts.items():
        node = browse.get_node(name)
        assert node is not None and node.status is NodeStatus.CURRENT
        assert node.counts.segments == number
        assert (node.start_time, node.end_time) == calendar.bounds(name, UTC)
    august = browse.get_node("toc:month:2026-08")
    assert august is not None
    output = " ".join(bullet.text for bullet in august.bullets)
    assert "01 August" in output and "July" not in output
    assert "1 session" in output and "sessions" not in output


def test_a_week_across_two_months_has_its_own_days_in_each(
    pipeline: Pipeline, tmp_path: Path
) -> None:
    import_days(pipeline, tmp_path, DAYS)
    week = "toc:week:2026-W31"
    for month, days in (("toc:month:2026-07", [31]), ("toc:month:2026-08", [2, 1])):
        weeks = {entry.node_id: entry for entry in browse.list_children(month)}
        assert weeks[week].month_id == month
        assert weeks[week].counts.segments == len(days)
        assert ("31 July" in weeks[week].headline) is (days == [31])
        (active,) = browse.add_activity([weeks[week]])
        assert sum(active.activity) == len(days)
        entries = browse.list_children(week, month_id=month)
        assert [calendar.period(day.node_id).first.day for day in entries] == days
        loaded = browse.read_below(("toc:year:2026", month), ALL, UTC, 500)
        listed = [day.node_id for day in loaded.rows[month, week]]
        assert listed == [day.node_id for day in entries]
    whole = browse.list_children(week)
    assert [calendar.period(day.node_id).first.day for day in whole] == [2, 1, 31]
    node = browse.get_node(week)
    assert node is not None and node.counts.segments == 3
    across_years = browse.list_children("toc:month:2027-01")
    assert [entry.node_id for entry in across_years] == ["toc:week:2026-W53"]


def test_there_is_no_month_without_events(pipeline: Pipeline, tmp_path: Path) -> None:
    import_days(pipeline, tmp_path, [SATURDAY])
    assert [entry.node_id for entry in list_all()] == [
        "toc:year:2026",
        "toc:month:2026-08",
    ]
    way = ["toc:year:2026", "toc:month:2026-08", "toc:week:2026-W31"]
    assert browse.get_path("toc:week:2026-W31") == way
    assert browse.get_path("toc:day:2026-08-01") == [*way, "toc:day:2026-08-01"]
    assert browse.find_nearest("toc:month:2026-08") == "toc:month:2026-08"
    assert browse.find_nearest("toc:month:2026-07") == "toc:month:2026-08"
    assert [*browse.list_days(UTC)] == [SATURDAY]
    with database.transaction():
        nodes.delete(["toc:day:2026-08-01"])
    assert browse.get_path("toc:week:2026-W31")[-1] == "toc:week:2026-W31"


@pytest.mark.full
@pytest.mark.parametrize(
    ("first", "end", "covered"),
    [
        (date(2026, 8, 1), date(2026, 9, 1), ["month:2026-08"]),
        (date(2026, 7, 1), date(2026, 8, 2), ["day:2026-08-01", "month:2026-07"]),
        (date(2026, 7, 7), date(2026, 8, 3), ["week:2026-W31"]),
        (date(2026, 7, 31), date(2026, 9, 1), ["month:2026-08", "day:2026-07-31"]),
        (date(2027, 1, 1), date(2028, 1, 1), ["year:2027"]),
        (date(2026, 12, 1), date(2028, 1, 1), ["year:2027", "month:2026-12"]),
    ],
)
def test_a_time_is_covered_once(
    pipeline: Pipeline, tmp_path: Path, first: date, end: date, covered: list[str]
) -> None:
    import_days(pipeline, tmp_path, DAYS)
    bounds = [datetime.combine(day, time(), UTC) for day in (first, end)]
    entries = browse.list_covering(bounds[0], bounds[1], UTC)
    assert [entry.node_id.removeprefix("toc:") for entry in entries] == covered


def test_the_tools_of_agents_find_both_months_of_a_week(
    workspace: Workspace, tmp_path: Path
) -> None:
    import_days(made(workspace, clock), tmp_path, DAYS)
    week = "toc:week:2026-W31"
    for month in ("toc:month:2026-07", "toc:month:2026-08"):
        listed = toc.browse_toc(workspace, month).items
        assert week in [item["node_id"] for item in listed]
        assert week in toc.get_node(workspace, month).head["child_node_ids"]
    lines = [item["node_id"] for item in toc.outline(workspace, None).items]
    assert lines.count(week) == 2
    assert lines.count("toc:day:2026-08-01") == lines.count("toc:day:2026-07-31") == 1
    for month, word in (("2026-07", "August"), ("2026-08", "July")):
        assert not toc.browse_toc(workspace, f"toc:month:{month}", keyword=word).items
    assert toc.browse_toc(workspace, "toc:month:2026-08", keyword="august").items


@pytest.mark.full
@given(order=st.permutations(DAYS))
@often(20)
def test_months_do_not_depend_on_the_order_of_arrival(
    tmp_path_factory: pytest.TempPathFactory,
    settings: Settings,
    order: Sequence[date],
) -> None:
    trees = []
    for days in (DAYS, order):
        folder = tmp_path_factory.mktemp("order")
        workspace = Workspace(in_home(folder / "home"), settings)
        pipeline = made(workspace, clock)
        for place in range(0, len(days), 3):
            lines = [line(day) for day in days[place : place + 3]]
            import_file(pipeline, folder, f"{place}", lines)
            settle(pipeline)
        trees.append(tree())
        workspace.stop()
    assert trees[0] == trees[1]


def test_a_month_without_its_only_events_is_removed(
    workspace: Workspace, tmp_path: Path
) -> None:
    pipeline = made(workspace, clock)
    import_days(pipeline, tmp_path, [date(2026, 7, 31), SATURDAY, date(2027, 1, 1)])
    for day in (SATURDAY, date(2027, 1, 1)):
        forget(workspace, TombstoneKind.SESSION, f"s-{day}")
    settle(pipeline)
    assert [entry.node_id for entry in list_all()] == [
        "toc:year:2026",
        "toc:month:2026-07",
    ]
    (week,) = browse.list_children("toc:month:2026-07")
    assert week.counts.segments == 1
    with database.connection():
        assert NodeRow.select().count() == 5


def test_a_model_writes_a_month_after_its_own_days(
    pipeline: Pipeline, tmp_path: Path
) -> None:
    import_days(pipeline, tmp_path, DAYS)

    def months() -> list[str]:
        return queues.list_parent_rewrites(TocLevel.MONTH, 1, 99, before_ms=1 << 62)

    with database.transaction():
        for day in ("2026-08-01", "2026-08-02"):
            assert months() == []
            queues.remove_rewrite(f"toc:day:{day}")
        assert months() == ["toc:month:2026-08"]


class OlderSummarizer(ExtractiveSummarizer):
    @property
    def identity(self) -> str:
        return "extractive-1"


def test_a_store_with_months_of_whole_weeks_is_rolled_up_again(
    workspace: Workspace, tmp_path: Path
) -> None:
    import_days(made(workspace, clock, summarizer=OlderSummarizer()), tmp_path, DAYS)
    january = {"node_id": "toc:month:2025-01", "level": "month", "is_dirty": False}
    is_wide = NodeRow.level << ["month", "year"]
    with database.transaction():
        for name in ("toc:month:2026-08", "toc:year:2027"):
            NodeRow.delete().where(NodeRow.node_id == name).execute()
        NodeRow.insert(**january, parent_id="toc:year:2025", start_ms=0).execute()
        NodeRow.update(start_ms=NodeRow.start_ms - 86_400_000).where(is_wide).execute()
    settle(made(workspace, clock))
    entries = {entry.node_id: entry for entry in list_all()}
    assert {name: entry.counts.segments for name, entry in entries.items()} == (
        expected_counts()
    )
    for name, entry in entries.items():
        assert (entry.start_time, entry.end_time) == calendar.bounds(name, UTC)
