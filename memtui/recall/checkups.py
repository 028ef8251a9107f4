"""What can be told of a store that is only looked at: sound, in step, what waits.

Every question stands alone: a store that cannot answer one may answer the next.
"""

import re
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from memtui.errors import SearchError
from memtui.memory.events import to_ms
from memtui.memory.secrets import RULES_VERSION
from memtui.search.index import Index
from memtui.store import (
    counts,
    database,
    dirty,
    facts,
    grips,
    looking,
    outbox,
    problems,
    redactions,
    sayings,
    seen,
    segments,
    toc,
    unfinished,
)
from memtui.store.facts import Found
from memtui.store.messages import Messages, full_name
from memtui.store.outbox import Waiting
from memtui.store.seen import Seen

_UNKNOWN = re.compile(r"unknown (?:record type|hook event) (.+)", re.DOTALL)
"""How the sources say that a record is of a type they do not know."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A store that was opened to look at it."""

    schema: int
    latest: int
    """The schema of this memtui."""


@dataclass(frozen=True, slots=True)
class Work:
    """What is still to be done."""

    waiting: tuple[Waiting, ...]
    """The outbox."""
    segments: int
    """How many segments want a summary."""
    nodes: int
    """How many nodes are to be rolled up."""
    failing: int
    """How many of both could not be done, and wait for another try."""

    @property
    def count(self) -> int:
        """How much waits in all."""
        return sum(row.count for row in self.waiting) + self.segments + self.nodes


@dataclass(frozen=True, slots=True)
class Step:
    """Whether the index keeps step with the table of contents."""

    is_there: bool
    is_ours: bool
    """Whether it is the one this store has fed."""
    is_sound: bool
    documents: int
    wanted: int
    """How many there are to be found."""
    waiting: int
    """How many nodes are announced and not indexed yet."""


@dataclass(frozen=True, slots=True)
class Cleanness:
    """Whether what was taken out of the memory is gone from it."""

    has_traces: bool
    """Whether its traces are still to be removed."""
    is_forgetting: bool
    """Whether what is forgotten is itself still there."""
    is_redacted: bool
    """Whether all that is kept has been through today's rules for secrets."""


def look_at(file: Path) -> Opened:
    """Open a store to look at it; it must exist.

    Raises:
        StoreError: It cannot be read.
    """
    return Opened(looking.open_to_look(file), looking.latest())


def damages() -> list[str]:
    """What is wrong with the store's file; empty when all is well. May take seconds."""
    with database.connected():
        return looking.damages()


def kept() -> tuple[int, int]:
    """How many events and sessions are kept."""
    with database.connected():
        return counts.events()[0], counts.sessions()


def model() -> Found | None:
    """How the memtui that works last found its model; None if none has looked yet."""
    with database.connected():
        return facts.model()


def work(now: datetime) -> Work:
    """What is still to be done."""
    now_ms = to_ms(now)
    with database.connected():
        return Work(
            tuple(outbox.waiting()),
            segments.count_waiting(),
            dirty.count(),
            segments.count_failing(now_ms) + dirty.count_failing(now_ms),
        )


def step(folder: Path) -> Step:
    """Whether an index keeps step with the store."""
    index = Index(folder)
    try:
        with database.connected():
            fed, nodes = facts.index_name(), toc.count()[0]
            wanted = nodes + grips.count()
            waiting = outbox.length(outbox.INDEX_NODE)
        is_ours = bool(fed) and index.name() == fed
        is_sound = is_ours and index.is_sound()
        documents = index.count() if is_sound else 0
        return Step(index.exists(), is_ours, is_sound, documents, wanted, waiting)
    finally:
        index.close()


def heed(file: Path, *, with_tools: bool) -> Step:
    """Whether an index of messages keeps step with the store."""
    index = Messages(file)
    with database.connected():
        fed = full_name(facts.messages_name(), with_tools=with_tools)
        wanted = sayings.count()
        waiting = outbox.added_lately(0)[1]
    is_ours = bool(fed) and index.name() == fed
    try:
        filling, messages = index.filling(), index.count()
    except SearchError:
        return Step(index.exists(), is_ours, False, 0, wanted, waiting)
    if not filling.is_done:
        waiting = wanted - messages
    return Step(index.exists(), is_ours, True, messages, wanted, max(0, waiting))


def heard() -> list[Seen]:
    """What has come from each source of each agent, the one heard of last first."""
    with database.connected():
        return seen.all_of_them()


def redacted() -> list[tuple[str, int]]:
    """Each kind of secret that was taken out, and how often."""
    with database.connected():
        return redactions.by_kind()


def cleanness() -> Cleanness:
    """Whether what was taken out of the memory is gone from it."""
    with database.connected():
        is_redacted = facts.redacted_by() >= RULES_VERSION
        is_forgetting = unfinished.noted() is not None
        return Cleanness(facts.is_to_be_cleaned(), is_forgetting, is_redacted)


def unknown() -> list[tuple[str, int]]:
    """The types of records nobody knows, by name, and how many there were of each."""
    with database.connected():
        rows = problems.by_reason()
    named = ((_UNKNOWN.fullmatch(reason), count) for reason, _, count in rows)
    return [(found[1].strip("'"), count) for found, count in named if found]


def blind() -> str:
    """Why changes are found by looking alone, as the last work found; "" if told."""
    with database.connected():
        return facts.blind()


def agreed() -> tuple[str, ...] | None:
    """The agents a person agreed to have watched; None if nobody was asked yet."""
    with database.connected():
        return facts.watched()


def time_zone() -> str:
    """The IANA name of the calendar's zone."""
    with database.connected():
        return facts.time_zone()
