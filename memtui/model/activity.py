"""Activity: the number of messages in each part of a node's time, and in a scope."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from memtui.model import calendar
from memtui.model.calendar import TocLevel
from memtui.model.nodes import NodeCounts, TocNode

PART_HOURS = 3

_HOUR_MS = 3_600_000
_DAYS_OF_WEEK = 7


def count_by_part(
    node_id: str, start_ms: int, children: Iterable[tuple[str, int, int]]
) -> tuple[int, ...]:
    """Count the messages of a year's months, a month's weeks or a week's days.

    The parts of a day have three hours each; a segment has none. Of the children the
    start and the number of messages are given.
    """
    here = calendar.period(node_id)
    parts = {
        TocLevel.YEAR: 12,
        TocLevel.MONTH: calendar.week_count(here.first, here.end),
        TocLevel.WEEK: _DAYS_OF_WEEK,
        TocLevel.DAY: 24 // PART_HOURS,
    }.get(here.level, 0)
    counts = [0] * parts
    for child_id, at_ms, messages in children:
        if here.level is TocLevel.DAY:
            index = (at_ms - start_ms) // (PART_HOURS * _HOUR_MS)
        elif here.level is TocLevel.YEAR:
            index = calendar.period(child_id).first.month - 1
        else:
            first, days_each = here.first, 1
            if here.level is TocLevel.MONTH:
                first, days_each = calendar.monday(first), _DAYS_OF_WEEK
            index = (calendar.period(child_id).first - first).days // days_each
        # A day has an hour more where the clocks change.
        counts[min(max(index, 0), parts - 1)] += messages
    return tuple(counts)


ChildCounts = dict[str, list[tuple[str, int, int]]]
"""The nodes that nodes consist of, as ``count_by_part`` takes them."""


@dataclass(frozen=True, slots=True)
class ScopeShare:
    """The share of a scope in a node."""

    counts: NodeCounts = field(default_factory=NodeCounts)
    is_live: bool = False
    agents: frozenset[str] = frozenset()
    projects: frozenset[str] = frozenset()

    def __add__(self, other: "ScopeShare") -> "ScopeShare":
        return ScopeShare(
            self.counts + other.counts,
            self.is_live or other.is_live,
            self.agents | other.agents,
            self.projects | other.projects,
        )

    def is_all_of(self, tally: NodeCounts) -> bool:
        """Return whether it is all of a node with these counts."""
        return self.counts.segments >= tally.segments


@dataclass(frozen=True, slots=True)
class ScopedNode:
    """A node narrowed to a scope."""

    node: TocNode
    total: NodeCounts

    @property
    def is_all(self) -> bool:
        """True if the scope has all of the node."""
        return self.node.counts == self.total


def shares_of_level(
    level: TocLevel, days: Mapping[str, ScopeShare]
) -> dict[str, ScopeShare]:
    found: dict[str, ScopeShare] = {}
    for day_id, share in days.items():
        node_id = calendar.ancestor_id(day_id, level)
        found[node_id] = found.get(node_id, ScopeShare()) + share
    return found


def days_of_level(level: TocLevel, days: Mapping[str, ScopeShare]) -> ChildCounts:
    found: ChildCounts = {}
    for day_id, share in days.items():
        under = found.setdefault(calendar.ancestor_id(day_id, level), [])
        under.append((day_id, 0, share.counts.messages))
    return found
