"""Shares: how much of a day, and of what is above it, is of a scope.

What a wide node says of itself was written from all that is in it. Of a part of it only
what lies in that part may be told: how much it is, and its longest stretch.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from memtui.memory import calendar
from memtui.memory.toc import Tally, TocLevel, TocNode

Parts = dict[str, list[tuple[str, int, int]]]
"""What lies under each of some nodes, as ``activity.of`` takes it."""


@dataclass(frozen=True, slots=True)
class Share:
    """What of a node is of a scope."""

    tally: Tally = field(default_factory=Tally)
    is_live: bool = False
    agents: frozenset[str] = frozenset()
    projects: frozenset[str] = frozenset()
    longest: str = ""
    """The segment of it in which most was said; of several the first."""
    said: int = 0
    """How many messages that has."""

    def __add__(self, other: "Share") -> "Share":
        """Both together."""
        mine, others = self.tally, other.tally
        longer = other if other.said > self.said or not self.longest else self
        return Share(
            Tally(
                mine.segments + others.segments,
                mine.events + others.events,
                mine.messages + others.messages,
                mine.subagent_events + others.subagent_events,
            ),
            self.is_live or other.is_live,
            self.agents | other.agents,
            self.projects | other.projects,
            longer.longest,
            longer.said,
        )

    def is_all_of(self, tally: Tally) -> bool:
        """Whether nothing of a node with this tally is left out."""
        return self.tally.segments >= tally.segments


@dataclass(frozen=True, slots=True)
class Part:
    """A node, with no more than what a scope has of it."""

    node: TocNode
    whole: Tally
    """How much all of the node is."""
    hidden: int = 0
    """How many of its bullets rest on other work."""

    @property
    def is_all(self) -> bool:
        """Whether nothing is left out."""
        return self.node.tally == self.whole


def at(level: TocLevel, days: Mapping[str, Share]) -> dict[str, Share]:
    """The shares of the nodes of a level.

    Args:
        level: Of a year, a month, a week or a day.
        days: The shares of days, by their ids.
    """
    found: dict[str, Share] = {}
    for day_id, share in days.items():
        node_id = calendar.above(day_id, level)
        before = found.get(node_id)
        found[node_id] = share if before is None else before + share
    return found


def parts(level: TocLevel, days: Mapping[str, Share]) -> Parts:
    """What lies under each node of a level.

    Args:
        level: Of a year, a month or a week.
        days: The shares of days, by their ids.
    """
    below = level.child() or TocLevel.DAY
    found: dict[str, Counter[str]] = {}
    for day_id, share in days.items():
        under = found.setdefault(calendar.above(day_id, level), Counter())
        under[calendar.above(day_id, below)] += share.tally.messages
    return {
        name: [(child, 0, messages) for child, messages in under.items()]
        for name, under in found.items()
    }
