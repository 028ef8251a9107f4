"""Tallies: how much is finished under the nodes that were not summed up yet.

Such a node has no version to count for it; its segments are counted, by day.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from peewee import fn

from memtui.memory import calendar, shares
from memtui.memory.days import Day
from memtui.memory.shares import Share
from memtui.memory.toc import Status, Tally, TocLevel, TocLine, TocNode
from memtui.store.tables.contents import NodeRow, VersionRow


def lines(found: list[TocLine]) -> list[TocLine]:
    """Lines, with the tallies of those not summed up yet."""
    mine = under(x.node_id for x in found if _is_waiting(x.level, x.status))
    return [
        replace(line, tally=mine[line.node_id]) if line.node_id in mine else line
        for line in found
    ]


def node(found: TocNode) -> TocNode:
    """A node, with its tally where it was not summed up yet."""
    mine = under([found.node_id] if _is_waiting(found.level, found.status) else [])
    return replace(found, tally=mine.get(found.node_id, found.tally))


def days(found: Sequence[Day]) -> list[Day]:
    """Days, with the tallies of those not summed up yet."""
    mine = under(day.node_id for day in found if day.is_pending)
    told = []
    for day in found:
        tally = mine.get(day.node_id)
        if tally:
            day = replace(day, segments=tally.segments, messages=tally.messages)
        told.append(day)
    return told


def under(node_ids: Iterable[str]) -> dict[str, Tally]:
    """How much is finished under some nodes; those without any are left out.

    Args:
        node_ids: Of days, weeks, months or years.
    """
    asked = {name: calendar.period(name) for name in node_ids}
    if not asked:
        return {}
    first = min(here.first for here in asked.values())
    end = max(here.end for here in asked.values())
    rows = of_days(calendar.day_id(first), calendar.day_id(end))
    found = {day: Share(Tally(*told)) for day, *told in rows}
    told: dict[str, Share] = {}
    for level in {here.level for here in asked.values()}:
        told |= shares.at(level, found)
    return {name: told[name].tally for name in asked if name in told}


def of_days(first: str, after: str, *more: Any, where: Iterable[Any] = ()) -> Any:
    """Rows of days: the id, how much is finished there, and what else is asked.

    Args:
        first: The id of the first day.
        after: The id of the day after the last.
        more: What else is asked of a day's segments, joined with their versions.
        where: The conditions on these.
    """
    above = NodeRow.parent_id
    rows = NodeRow.select(
        above,
        fn.COUNT(NodeRow.node_id),
        fn.SUM(VersionRow.events),
        fn.SUM(VersionRow.messages),
        fn.SUM(VersionRow.subagent_events),
        *more,
    )
    mine = rows.join(VersionRow).where(above >= first, above < after, *where)
    # By the day they are under, which an index has in order.
    return mine.group_by(above).tuples()


def _is_waiting(level: TocLevel, status: Status) -> bool:
    return status is Status.PENDING and level is not TocLevel.SEGMENT
