"""Timely: the times in what was typed, told apart from the words to be looked up.

What stands in quotes, and filters, are not read for times.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, tzinfo

from memtui.memory import filters, queries, times
from memtui.memory.found import Understood
from memtui.memory.times import Period

GAIN = 1.5
"""What that gains which lies in a time the question speaks of."""

_KEPT = re.compile(rf'"[^"]*"|\b(?:{"|".join(filters.NAMES)}):(?:"[^"]*"|\S+)', re.I)


@dataclass(frozen=True, slots=True)
class Timely:
    """What was typed, read for times."""

    rest: str
    """What remains to be looked up."""
    periods: tuple[Period, ...] = ()

    def understood(self, found: Collection[datetime]) -> tuple[Understood, ...]:
        """What was understood, to be shown.

        Args:
            found: When that was which was found.
        """
        return tuple(
            Understood(period.said, any(_lies_in(at, period) for at in found))
            for period in self.periods
        )

    def covers(self, at: datetime) -> bool:
        """Whether a moment lies in one of the times."""
        return any(_lies_in(at, period) for period in self.periods)


def _lies_in(at: datetime, period: Period) -> bool:
    return (period.start is None or period.start <= at) and (
        period.end is None or at < period.end
    )


def read(text: str, now: datetime, zone: tzinfo) -> Timely:
    """Tell times and words apart; loose times ("recently") are read as words.

    Args:
        text: What was typed.
        now: The time, by which "last week" is meant.
        zone: The calendar's.
    """
    asked = text[: queries.CAP_CHARS]
    bare = _KEPT.sub(lambda kept: "\0" * len(kept.group()), asked)
    periods = [one for one in times.read(bare, now, zone) if not one.is_soft]
    if not periods:
        return Timely(text)
    return Timely(times.without(asked, periods), tuple(periods))
