"""What can be told of a store that is only looked at: sound, in step, what waits.

Every question stands alone: a store that cannot answer one may answer the next.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from memtui.capture import formats, watcher
from memtui.errors import SearchError
from memtui.model.events import clean, to_ms
from memtui.search import message_index
from memtui.search.message_index import MessageIndex, full_name
from memtui.search.node_index import NodeIndex
from memtui.store import (
    backup,
    cursors,
    database,
    grips,
    meta,
    outbox,
    problems,
    rollup_queue,
    statistics,
    tombstones,
)
from memtui.store import nodes as store_nodes
from memtui.store import schema as store_schema
from memtui.store import segments as store_segments
from memtui.store.cursors import FileStamp, SourceActivity, read_stamp
from memtui.store.meta import ModelRecord
from memtui.store.outbox import OutboxCount
from memtui.text.secrets import RULES_VERSION

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

    waiting: tuple[OutboxCount, ...]
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
    return Opened(backup.open_read_only(file), store_schema.VERSION)


def damages() -> list[str]:
    """What is wrong with the store's file; empty when all is well. May take seconds."""
    with database.connection():
        return backup.find_damages()


def kept() -> tuple[int, int]:
    """How many events and sessions are kept."""
    with database.connection():
        return statistics.count_events()[0], statistics.count_sessions()


def model() -> ModelRecord | None:
    """How the memtui that works last found its model; None if none has looked yet."""
    with database.connection():
        return meta.model_record()


def work(now: datetime) -> Work:
    """What is still to be done."""
    now_ms = to_ms(now)
    with database.connection():
        return Work(
            tuple(outbox.count_by_action()),
            store_segments.count_pending(),
            rollup_queue.count(),
            store_segments.count_failing(now_ms) + rollup_queue.count_failing(now_ms),
        )


def step(folder: Path) -> Step:
    """Whether an index keeps step with the store."""
    index = NodeIndex(folder)
    try:
        with database.connection():
            fed, nodes = meta.node_index_name(), store_nodes.count()[0]
            wanted = nodes + grips.count()
            waiting = outbox.count(outbox.INDEX_NODE)
        is_ours = bool(fed) and index.name() == fed
        is_sound = is_ours and index.is_sound()
        documents = index.count() if is_sound else 0
        return Step(index.exists(), is_ours, is_sound, documents, wanted, waiting)
    finally:
        index.close()


def heed(file: Path, *, with_tools: bool) -> Step:
    """Whether an index of messages keeps step with the store."""
    index = MessageIndex(file)
    with database.connection():
        fed = full_name(meta.message_index_name(), with_tools=with_tools)
        wanted = message_index.count()
        waiting = outbox.list_latest_events(0)[1]
    is_ours = bool(fed) and index.name() == fed
    try:
        filling, messages = index.filling(), index.count()
    except SearchError:
        return Step(index.exists(), is_ours, False, 0, wanted, waiting)
    if not filling.is_done:
        waiting = wanted - messages
    return Step(index.exists(), is_ours, True, messages, wanted, max(0, waiting))


def heard() -> list[SourceActivity]:
    """What has come from each source of each agent, the one heard of last first."""
    with database.connection():
        return cursors.list_activity()


def redacted() -> list[tuple[str, int]]:
    """Each kind of secret that was taken out, and how often."""
    with database.connection():
        return problems.list_redactions()


def cleanness() -> Cleanness:
    """Whether what was taken out of the memory is gone from it."""
    with database.connection():
        is_redacted = meta.redaction_version() >= RULES_VERSION
        is_forgetting = tombstones.get_pending() is not None
        return Cleanness(meta.needs_cleanup(), is_forgetting, is_redacted)


def unknown() -> list[tuple[str, int]]:
    """The types of records nobody knows, by name, and how many there were of each."""
    with database.connection():
        rows = problems.count_by_reason()
    named = ((_UNKNOWN.fullmatch(reason), count) for reason, _, count in rows)
    return [(found[1].strip("'"), count) for found, count in named if found]


def blind() -> str:
    """Why changes are found by looking alone, as the last work found; "" if told."""
    with database.connection():
        return meta.polling_reason()


def agreed() -> tuple[str, ...] | None:
    """The agents a person agreed to have watched; None if nobody was asked yet."""
    with database.connection():
        return meta.watched_sources()


def time_zone() -> str:
    """The IANA name of the calendar's zone."""
    with database.connection():
        return meta.time_zone()


SETTLED = timedelta(minutes=5)
"""A file that changed later than this may be about to be read."""

SOON = timedelta(days=7)
"""What is to be deleted within this time is said."""


@dataclass(frozen=True, slots=True)
class Account:
    """One agent's transcripts."""

    agent: str
    title: str
    files: int
    newest_at: datetime | None
    """When one of them was last written to."""
    unread: int
    """How many were never read."""
    grown: int
    """How many were read, and have changed since, not just now."""
    late: int
    """How many of both, the unread and the grown, did not change just now."""
    doomed: int
    """How many of those that are missing here the agent deletes soon."""
    doomed_at: datetime | None
    """When the first of them goes; it may be overdue."""


def account(
    name: str,
    places: Collection[Path],
    now: datetime,
    *,
    keep: timedelta | None = None,
    is_kept: bool = True,
) -> Account:
    """Compare an agent's transcripts with what was read of them.

    Args:
        name: The agent, as its source is called.
        places: Where they lie.
        now: The time, aware.
        keep: How long the agent keeps them; None for always.
        is_kept: Whether there is a store that could tell what was read.
    """
    files = unread = grown = late = 0
    written = [datetime.min.replace(tzinfo=UTC)]
    ends: list[datetime] = []
    for look, known in _looks(name, places, is_kept=is_kept):
        files += 1
        at = datetime.fromtimestamp(look.mtime_ns / 1e9, UTC)
        written.append(at)
        if known == look:
            continue
        is_late = at <= now - SETTLED
        unread += known is None
        grown += known is not None and is_late
        late += is_late
        if keep is not None and at + keep < now + SOON:
            ends.append(at + keep)
    title = formats.FORMATS_BY_NAME[name].title
    newest = max(written) if files else None
    doomed_at = min(ends, default=None)
    counts = (files, newest, unread, grown, late, len(ends), doomed_at)
    return Account(name, title, *counts)


def _looks(
    name: str, places: Collection[Path], *, is_kept: bool
) -> Iterator[tuple[FileStamp, FileStamp | None]]:
    """How each file that says anything looks, and how it did when it was read."""
    for place in places:
        if not place.exists():
            continue
        whole = place.resolve()
        known: dict[str, FileStamp] = {}
        if is_kept:
            with database.connection():
                folder = clean(str(whole))
                known = cursors.get_stamps(folder)
        for file in watcher.walk_files(whole):
            if source := formats.format_for_path(file, name):
                try:
                    look = read_stamp(file, source.related_files(file))
                except OSError:
                    continue
                if look.size:
                    yield look, cursors.find_stamp(known, file) if is_kept else None
