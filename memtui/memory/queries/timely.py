"""Timely: the times in what was typed, told apart from the words to be looked up.

What stands in quotes, and filters, are not read for times.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, time, tzinfo

from memtui.memory import times
from memtui.memory.times import Period
from memtui.model import filters
from memtui.model.filters import Filters
from memtui.model.hits import ReadDate
from memtui.search import query

GAIN = 1.5
"""What that gains which lies in a time the question speaks of."""


PERIODS = 12
"""How many times of a question are looked at: its first ones."""


WORDS_CHARS = 60
"""How far a time behind a filter's colon is read, in characters."""


_BESIDE = re.compile(
    r'\b(?P<name>after|before):(?:"(?P<quoted>[^"]*)"|(?=[^\W\d]|\d+[^\W\d]|\d+ ))',
    re.I,
)


_KEPT = re.compile(
    rf'"[^"]*"|\b(?:{"|".join(filters.FILTER_FIELDS)}):(?:"[^"]*"|\S+)', re.I
)


@dataclass(frozen=True, slots=True)
class Timely:
    """What was typed, read for times."""

    rest: str
    """What remains to be looked up."""
    periods: tuple[Period, ...] = ()

    def understood(self, found: Collection[datetime]) -> tuple[ReadDate, ...]:
        """What was understood, to be shown.

        Args:
            found: When that was which was found.
        """
        return tuple(
            ReadDate(period.said, any(_lies_in(at, period) for at in found))
            for period in self.periods
        )

    def covers(self, at: datetime) -> bool:
        """Whether a moment lies in one of the times."""
        return any(_lies_in(at, period) for period in self.periods)


def bounded(within: Filters, periods: Sequence[Period]) -> Filters:
    """Filters that leave of some times all between the ends.

    Args:
        within: What they leave besides.
        periods: The times; where there are none, or one has no end, they leave all.
    """
    starts, ends = [one.start for one in periods], [one.end for one in periods]
    first = min((at for at in starts if at), default=None) if all(starts) else None
    last = max((at for at in ends if at), default=None) if all(ends) else None
    return replace(
        within,
        since=max((at for at in (within.since, first) if at), default=None),
        until=min((at for at in (within.until, last) if at), default=None),
    )


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
    asked = _dated(text[: query.CAP_CHARS], now, zone)
    bare = _KEPT.sub(lambda kept: "\0" * len(kept.group()), asked)
    periods = [one for one in times.read(bare, now, zone) if not one.is_soft]
    if not periods:
        return Timely(asked)
    rest = times.without(asked, periods)
    return Timely(rest, tuple(times.distinct(periods)[:PERIODS]))


def _dated(asked: str, now: datetime, zone: tzinfo) -> str:
    """The same with the words behind ``after:`` and ``before:`` as a date."""
    place, told = 0, ""
    for found in _BESIDE.finditer(asked):
        if found.start() < place or asked.count('"', 0, found.start()) % 2:
            continue
        quoted = found["quoted"]
        words = quoted if quoted is not None else asked[found.end() :][:WORDS_CHARS]
        read = next(iter(times.read(words, now, zone)), None)
        if read is None or read.span[0] or (quoted and read.span[1] < len(quoted)):
            continue
        at = (read.start or read.end or now).astimezone(zone)
        form = "%Y-%m-%d" if at.time() == time() else "%Y-%m-%dT%H:%M"
        told += f"{asked[place : found.start()]}{found['name']}:{at.strftime(form)}"
        place = found.end() + (0 if quoted is not None else read.span[1])
    return told + asked[place:]
