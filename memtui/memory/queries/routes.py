"""Routes: which way through the memory a question is answered by (seed 0).

A question with a time browses what that time holds, specific terms teleport, and what
is neither gets the top of the table of contents; with both, the words are looked up
within the time.
"""

import re
from dataclasses import dataclass
from datetime import tzinfo
from enum import StrEnum

from memtui.memory import bands, queries, words
from memtui.memory.bands import Band
from memtui.memory.filters import EVERYTHING
from memtui.memory.queries import Query
from memtui.memory.times import Period
from memtui.memory.words import chunks


class Way(StrEnum):
    """How a question is answered."""

    BROWSE = "browse"
    """The nodes of a time."""
    TELEPORT = "teleport"
    """What holds the words."""
    BOTH = "browse+teleport"
    """What holds the words, of the nodes of a time."""
    TOP = "top"
    """The years, to be read from the top."""


VAGUE = frozenset(
    """
    anything best bit bring bug chat conversation conversations decide decided
    detail details did discuss discussed discussing discussion discussions
    everything find fix fixed happen happened happening help history info
    information issue issues item items kind know last learn learned lot may
    memories memory mention mentioned might new next note notes overview past people
    please problem problems progress project projects question questions recall
    recap recent recently remember remind said saw say see seen session sessions
    show something sort status stuff subject summarise summarize summary talk talked
    tell thing things think thought today told topic topics try trying update
    updates use used want wanted way week work worked working works wrote
    """.split()  # noqa: SIM905 - a list of so many words is read more easily so
)
"""Words that any question may have and that name nothing."""

SURE = 0.9
"""How sure one is of a time that was read and of which something is kept."""

EMPTY = 0.2
"""How sure one is of a time of which nothing is kept, or of no way at all; at most,
of what holds the words at another time."""

VAGUELY = 0.3
"""How sure one is that the top of the tree is the place to begin."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Which way is taken, and why."""

    way: Way
    why: str
    terms: tuple[str, ...] = ()
    """The words that name something."""


@dataclass(frozen=True, slots=True)
class Sureness:
    """How sure a way is to lead there: a score, and what it advises (bands)."""

    score: float

    @property
    def band(self) -> Band:
        """The band it lies in."""
        return bands.of(self.score)


def choose(asked: Query, periods: tuple[Period, ...]) -> Choice:
    """Which way a question goes.

    Args:
        asked: What remains of it to be looked up, its times taken out.
        periods: The times in it.
    """
    named = specific(asked)
    listed = ", ".join(named[:5])
    said = "; ".join(period.said for period in periods)
    if periods and named:
        return Choice(Way.BOTH, f"It names a time ({said}) and terms: {listed}.", named)
    if periods:
        return Choice(Way.BROWSE, f"It names a time: {said}.")
    if named:
        return Choice(Way.TELEPORT, f"It names specific terms: {listed}.", named)
    return Choice(Way.TOP, "It names neither a time nor a specific term.")


def specific(asked: Query) -> tuple[str, ...]:
    """The words of a query that name something, phrases first."""
    found = [word.text for word in asked.words if _names(word.text)]
    return tuple(dict.fromkeys([*asked.phrases, *found]))


def pointed(text: str, zone: tzinfo) -> str:
    """A question without the words that name nothing; filters and quotes stay.

    Args:
        text: What remains of it to be looked up, its times taken out.
        zone: The calendar's.
    """
    tokens = _TOKEN.findall(text[: queries.CAP_CHARS])
    return " ".join(one for one in tokens if not _is_idle(queries.read(one, zone)))


_TOKEN = re.compile(r'[^\s"]*"[^"]*"|\S+')
"""A word, a filter or a quote, with what stands right before it."""


def _is_idle(asked: Query) -> bool:
    is_more = asked.needs_text or asked.filters != EVERYTHING
    return bool(asked.words) and not is_more and not specific(asked)


def _names(word: str) -> bool:
    return words.is_telling(word) and chunks.fold(word) not in VAGUE
