"""Forgetting: what a person wants gone is gone, with all that was made from it.

What is forgotten is noted first, so that nothing brings it back; then it is deleted
from the hooks directory and, in one transaction, from the store; then its traces are
removed: the index, the log, the room that deleted rows leave. Ended anywhere, it is
taken up again by the next forgetting, and by whoever removes traces.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, tzinfo
from pathlib import Path

from memtui.curate import needles, remains, subjects, traces
from memtui.curate.remains import Covered
from memtui.memory.events import to_ms
from memtui.sources.spool import Spool
from memtui.store import (
    choice,
    cursors,
    database,
    deletion,
    derived,
    echoes,
    facts,
    forgetting,
    problems,
    tombstones,
    unfinished,
)
from memtui.store.deletion import Counts
from memtui.store.tombstones import Kind, Tombstone

SHOWN = 5
"""How many of the sessions that go are named."""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What a forgetting takes."""

    kept: Counts
    """What it takes of what is kept."""
    segments: int
    nodes: int
    """How many segments and nodes above them are deleted and, where something of them
    remains, made anew."""
    hook_files: int
    """How many files of the hooks directory hold some of it."""
    sessions: int
    """How many sessions it takes something of."""
    titles: tuple[tuple[str, str], ...]
    """What the latest of these are called, each with its folder."""


class Forget:
    """Forgets, in one store."""

    def __init__(
        self,
        places: traces.Places,
        spool: Path,
        zone: tzinfo,
        clock: Callable[[], datetime],
    ) -> None:
        """Remember where everything lies; nobody else may work the store meanwhile.

        Args:
            places: Where traces are left.
            spool: The hooks directory.
            zone: The store's time zone.
            clock: The time, aware.
        """
        self._places, self._spool = places, Spool(spool)
        self._zone, self._clock = zone, clock

    def tried(self, kind: Kind, words: Sequence[str]) -> Forgotten:
        """Say what would be forgotten; nothing changes."""
        with traces.writing(is_undone=True):
            covered = self._note(kind, self._named(kind, words))
            return self._found(covered, is_tried=True)

    def run(self, kind: Kind, words: Sequence[str]) -> Forgotten:
        """Forget what a person named.

        Args:
            kind: Events, sessions, projects, or all before a date.
            words: Their ids, names, or the one date.

        Raises:
            MemtuiError: A word names nothing that is known, or something cannot be
                deleted.
        """
        self.finish()
        with database.connected():
            with database.writing(durable=True):
                stones = self._named(kind, words)
                covered = self._note(kind, stones)
                unfinished.note(kind, stones)
                facts.set_to_be_cleaned(True)
            found = self._delete(covered)
        traces.remove(self._places)
        return found

    def finish(self) -> Forgotten | None:
        """Take up what was noted and not deleted, since it was broken off.

        Returns:
            What it took; None if there was nothing.

        Raises:
            MemtuiError: Something cannot be deleted.
        """
        with database.connected():
            left = unfinished.noted()
            if left is None:
                return None
            with database.writing(durable=True):
                covered = self._note(*left)
                facts.set_to_be_cleaned(True)
            found = self._delete(covered)
        traces.remove(self._places)
        return found

    def _delete(self, covered: Covered) -> Forgotten:
        """Delete what is chosen and noted."""
        with _written_over():
            found = self._found(covered, is_tried=False)
            derived.remove(self._zone, self._now_ms())
            told = choice.tellers() | covered.named
            deletion.delete()
            for path in cursors.drop_telling(told):
                problems.clear(path)
            facts.forget_indexes()
            unfinished.done()
        return found

    def _now_ms(self) -> int:
        return to_ms(self._clock())

    def _named(self, kind: Kind, words: Sequence[str]) -> list[Tombstone]:
        return subjects.named(kind, words, self._zone, self._now_ms())

    def _note(self, kind: Kind, stones: Sequence[Tombstone]) -> Covered:
        """Note what is forgotten, with all by which it would be known again."""
        moment = max(self._now_ms(), tombstones.latest_ms() + 1)
        noted: list[Tombstone] = []
        for place, stone in enumerate(stones):
            choice.clear()
            choice.take([stone])
            found = [stone, *echoes.of_chosen(kind)]
            at_ms = tombstones.moment_of(stone)
            tombstones.put(found, moment + place if at_ms is None else at_ms)
            noted += found
        choice.clear()
        choice.take(stones)
        return Covered(noted, needles.of(kind, noted))

    def _found(self, covered: Covered, *, is_tried: bool) -> Forgotten:
        segments, nodes = derived.find()
        files = remains.delete(self._spool, covered, is_tried=is_tried)
        titles, sessions = choice.titles(SHOWN)
        about = tuple((title, folder) for title, folder in titles)
        return Forgotten(deletion.counts(), segments, nodes, files, sessions, about)


@contextmanager
def _written_over() -> Iterator[None]:
    """A transaction in which events may be deleted, and what is deleted is erased."""
    traces.write_over()
    with forgetting.door():
        yield
