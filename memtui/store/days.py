"""Days as the contents count them: nothing is read but the nodes of days."""

import json
from typing import Any

from peewee import JOIN

from memtui.memory import calendar
from memtui.memory.days import Day
from memtui.memory.toc import TocLevel
from memtui.store.tables.contents import NodeRow, VersionRow


def between(start_ms: int, end_ms: int) -> list[Day]:
    """The days that begin in a stretch of time, oldest first.

    Args:
        start_ms: Its beginning, in milliseconds.
        end_ms: Its end, in milliseconds, itself left out.
    """
    rows = _days().where(NodeRow.start_ms >= start_ms, NodeRow.start_ms < end_ms)
    return [_day(*row) for row in rows.order_by(NodeRow.start_ms).tuples()]


def counts() -> list[int]:
    """The messages of every day there is."""
    rows = NodeRow.select(VersionRow.messages).join(VersionRow)
    found = rows.where(NodeRow.level == TocLevel.DAY.value).tuples()
    return [messages for (messages,) in found]


def pending() -> list[str]:
    """The ids of the days that were not summed up yet."""
    rows = NodeRow.select(NodeRow.node_id).where(NodeRow.level == TocLevel.DAY.value)
    return [name for (name,) in rows.where(NodeRow.latest.is_null()).tuples()]


def edges() -> tuple[str, str] | None:
    """The ids of the first and of the last day; None if there is none."""
    rows = NodeRow.select(NodeRow.node_id).where(NodeRow.level == TocLevel.DAY.value)
    first = rows.order_by(NodeRow.start_ms).limit(1).scalar()
    last = rows.order_by(NodeRow.start_ms.desc()).limit(1).scalar()
    return (first, last) if first else None


def beside(level: TocLevel, at_ms: int) -> list[str]:
    """The ids of the nodes of a level before and after a moment: none, one or two.

    Args:
        level: The level.
        at_ms: The moment, in milliseconds; what begins then is the one before.
    """
    rows = NodeRow.select(NodeRow.node_id).where(NodeRow.level == level.value)
    before = rows.where(NodeRow.start_ms <= at_ms).order_by(NodeRow.start_ms.desc())
    after = rows.where(NodeRow.start_ms > at_ms).order_by(NodeRow.start_ms)
    return [name for some in (before, after) if (name := some.limit(1).scalar())]


def _days() -> Any:
    return (
        NodeRow.select(
            NodeRow.node_id,
            NodeRow.is_live,
            NodeRow.latest,
            VersionRow.segments,
            VersionRow.messages,
            VersionRow.headline,
            VersionRow.agents,
            VersionRow.projects,
        )
        .join(VersionRow, JOIN.LEFT_OUTER)
        .where(NodeRow.level == TocLevel.DAY.value)
    )


def _day(
    node_id: str,
    is_live: int,
    latest: int | None,
    segments: int | None,
    messages: int | None,
    headline: str | None,
    agents: str | None,
    projects: str | None,
) -> Day:
    return Day(
        day=calendar.period(node_id).first,
        node_id=node_id,
        segments=segments or 0,
        messages=messages or 0,
        headline=headline or "",
        agents=tuple(json.loads(agents or "[]")),
        projects=tuple(json.loads(projects or "[]")),
        is_live=bool(is_live),
        is_pending=latest is None,
    )
