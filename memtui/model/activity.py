"""Activity: how much was said in each part of a node's time, for a glance at it."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta

from memtui.model import calendar
from memtui.model.nodes import NodeCounts, TocLevel, TocNode

PART_HOURS = 3
"""How long a part of a day is."""

_HOUR_MS = 3_600_000
_DAYS_OF_WEEK, _MONTHS = 7, 12


def count_by_part(
    node_id: str, start_ms: int, under: Iterable[tuple[str, int, int]]
) -> tuple[int, ...]:
    """The messages of each part: of a year's months, a month's weeks, a week's days.

    A day's parts are of three hours each; a segment has none.

    Args:
        node_id: Whose.
        start_ms: When it begins.
        under: The nodes under it: id, when it begins, messages.
    """
    here = calendar.period(node_id)
    parts = {
        TocLevel.YEAR: _MONTHS,
        TocLevel.MONTH: here.days // _DAYS_OF_WEEK,
        TocLevel.WEEK: _DAYS_OF_WEEK,
        TocLevel.DAY: 24 // PART_HOURS,
    }.get(here.level, 0)
    said = [0] * parts
    for child_id, at_ms, messages in under:
        if here.level is TocLevel.DAY:
            place = (at_ms - start_ms) // (PART_HOURS * _HOUR_MS)
        elif here.level is TocLevel.YEAR:
            place = _thursday_of(child_id).month - 1
        else:
            days = (calendar.period(child_id).first - here.first).days
            place = days // (_DAYS_OF_WEEK if here.level is TocLevel.MONTH else 1)
        # A day has an hour more where the clocks change.
        said[min(max(place, 0), parts - 1)] += messages
    return tuple(said)


def _thursday_of(month_id: str) -> date:
    first = calendar.period(month_id).first
    return first + timedelta(days=calendar.THURSDAY - 1)


ChildCounts = dict[str, list[tuple[str, int, int]]]
"""What lies under each of some nodes, as ``activity.of`` takes it."""


@dataclass(frozen=True, slots=True)
class ScopeShare:
    """What of a node is of a scope."""

    counts: NodeCounts = field(default_factory=NodeCounts)
    is_live: bool = False
    agents: frozenset[str] = frozenset()
    projects: frozenset[str] = frozenset()
    longest_segment: str = ""
    """The segment of it in which most was said; of several the first."""
    longest_messages: int = 0
    """How many messages that has."""

    def __add__(self, other: "ScopeShare") -> "ScopeShare":
        """Both together."""
        mine, others = self.counts, other.counts
        longer = (
            other
            if other.longest_messages > self.longest_messages
            or not self.longest_segment
            else self
        )
        return ScopeShare(
            NodeCounts(
                mine.segments + others.segments,
                mine.events + others.events,
                mine.messages + others.messages,
                mine.subagent_events + others.subagent_events,
            ),
            self.is_live or other.is_live,
            self.agents | other.agents,
            self.projects | other.projects,
            longer.longest_segment,
            longer.longest_messages,
        )

    def is_all_of(self, tally: NodeCounts) -> bool:
        """Whether nothing of a node with this tally is left out."""
        return self.counts.segments >= tally.segments


@dataclass(frozen=True, slots=True)
class ScopedNode:
    """A node, with no more than what a scope has of it."""

    node: TocNode
    total: NodeCounts
    """How much all of the node is."""
    hidden_bullets: int = 0
    """How many of its bullets rest on other work."""

    @property
    def is_all(self) -> bool:
        """Whether nothing is left out."""
        return self.node.counts == self.total


def shares_of_level(
    level: TocLevel, days: Mapping[str, ScopeShare]
) -> dict[str, ScopeShare]:
    """The shares of the nodes of a level.

    Args:
        level: Of a year, a month, a week or a day.
        days: The shares of days, by their ids.
    """
    found: dict[str, ScopeShare] = {}
    for day_id, share in days.items():
        node_id = calendar.ancestor_id(day_id, level)
        before = found.get(node_id)
        found[node_id] = share if before is None else before + share
    return found


def children_of_level(level: TocLevel, days: Mapping[str, ScopeShare]) -> ChildCounts:
    """What lies under each node of a level.

    Args:
        level: Of a year, a month or a week.
        days: The shares of days, by their ids.
    """
    below = level.child() or TocLevel.DAY
    found: dict[str, Counter[str]] = {}
    for day_id, share in days.items():
        under = found.setdefault(calendar.ancestor_id(day_id, level), Counter())
        under[calendar.ancestor_id(day_id, below)] += share.counts.messages
    return {
        name: [(child, 0, messages) for child, messages in under.items()]
        for name, under in found.items()
    }
