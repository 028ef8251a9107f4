"""The quarantine: what could not be taken, to look at, to try again, or to drop.

Hook files lie in it; transcripts are their agents' own and are only named. Whatever is
asked for is looked up in the list, so that a name is never taken for a path.
"""

import heapq
from collections import Counter as Tally
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from pathlib import Path

from memtui.curate import refusals
from memtui.curate.refusals import Entry, Shown
from memtui.curate.remains import PROBLEMS
from memtui.errors import MemtuiError, SpoolError
from memtui.memory.events import to_ms
from memtui.sources import quarantine
from memtui.sources.quarantine import Found
from memtui.sources.spool import Spool
from memtui.store import cursors, database, problems
from memtui.store.problems import Kind, Problem

FILES_AT_ONCE = 200
"""How many files are moved or deleted before they are counted no more."""

Held = Found | Problem
"""A hook's file, or records of a transcript."""


@dataclass(frozen=True, slots=True)
class Page:
    """Some of what could not be taken, the newest first."""

    entries: tuple[Entry, ...]
    offset: int
    total: int
    """How many entries there are: hook files, and faults of transcripts."""
    records: int
    """How many records of both could not be taken: a fault may have many."""


@dataclass(frozen=True, slots=True)
class Retried:
    """What is to be tried again."""

    names: tuple[str, ...]
    """What it is called in the list."""
    files: tuple[Path, ...]
    """The transcripts to be read again from their start."""
    problems: tuple[str, ...]
    """Why the others are not."""


class Became(StrEnum):
    """What became of something that was tried again."""

    TAKEN = "taken"
    REFUSED = "refused again"
    WAITING = "waiting"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one of them, and why."""

    name: str
    became: Became
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Dropped:
    """What was dropped."""

    files: int
    """Hook files that were deleted."""
    notes: int
    """Transcripts' faults that are not noted any more."""
    problems: tuple[str, ...]
    """Why others were not."""


class Quarantine:
    """What one memtui could not take."""

    def __init__(self, spool: Path) -> None:
        """Remember the hooks directory."""
        self._box, self._spool = quarantine.Quarantine(spool), Spool(spool)

    def page(self, offset: int = 0, limit: int = 50) -> Page:
        """Some of what could not be taken, the newest first."""
        files: list[Held] = [*self._box.files()]
        with database.connected():
            noted: list[Held] = [*_faults(offset + limit)]
            total = len(files) + problems.rows(Kind.FAULT, besides=PROBLEMS)
            merged = heapq.merge(files, noted, key=_at_ms, reverse=True)
            found = list(islice(merged, offset, offset + limit))
            entries = tuple(self._entries(found))
            return Page(entries, offset, total, problems.faults())

    def show(self, name: str, limit: int | None = None) -> Shown:
        """One of them with what it says.

        Args:
            name: What it is called in the list.
            limit: How much of it to read, in bytes; all when None.

        Raises:
            MemtuiError: Nothing is called so.
        """
        with database.connected():
            (held,) = self._named([name])
            (entry,) = self._entries([held])
        if isinstance(held, Found):
            return Shown(entry, *refusals.content(held, self._box, limit))
        return Shown(entry, *refusals.line(Path(held.source), held.line, limit))

    def retry(self, names: Sequence[str] | None = None) -> Retried:
        """Have hook files taken again, and transcripts read from their start.

        Args:
            names: What they are called in the list; all when None.

        Raises:
            MemtuiError: Nothing is called so; then nothing is done.
        """
        with database.connected():
            held = self._named(names)
        files = {h.source: Path(h.source) for h in held if isinstance(h, Problem)}
        there = {source for source, file in files.items() if file.is_file()}
        done, why_not = self._move(held, self._box.give_back)
        given = [h for h in held if isinstance(h, Problem)]
        why_not += [f"{s}: is not there any more" for s in files if s not in there]
        with database.writing():
            cursors.drop(sorted(there))
        done += [refusals.name_of(one) for one in given if one.source in there]
        return Retried(
            tuple(done), tuple(files[s] for s in sorted(there)), tuple(why_not)
        )

    def outcomes(self, names: Iterable[str]) -> list[Outcome]:
        """What became of what was tried again, once it was."""
        # In this order: what is refused meanwhile is found in one place at least.
        waiting = set(self._spool.names())
        with database.connected():
            bad = self._all()
        return [_outcome(name, bad.get(name), self._box, waiting) for name in names]

    def count(self, names: Sequence[str] | None = None) -> Dropped:
        """What ``drop`` would drop."""
        with database.connected():
            held = self._named(names)
        files = sum(isinstance(one, Found) for one in held)
        return Dropped(files, len(held) - files, ())

    def drop(self, names: Sequence[str] | None = None) -> Dropped:
        """Delete hook files, and note faults of transcripts no more.

        Args:
            names: What they are called in the list; all when None.

        Raises:
            MemtuiError: Nothing is called so; then nothing is done.
        """
        with database.connected():
            held = self._named(names)
        done, why_not = self._move(held, self._box.drop)
        noted = [one for one in held if isinstance(one, Problem)]
        with database.writing():
            for one in noted:
                problems.take_back(one.source, one.reason, one.count)
        return Dropped(len(done), len(noted), tuple(why_not))

    def _move(
        self, held: Sequence[Held], move: Callable[[Found], None]
    ) -> tuple[list[str], list[str]]:
        """Move or delete hook files; what was, and why others were not."""
        done: list[str] = []
        why_not: list[str] = []
        files = [one for one in held if isinstance(one, Found)]
        for start in range(0, len(files), FILES_AT_ONCE):
            gone: Tally[str] = Tally()
            for file in files[start : start + FILES_AT_ONCE]:
                reasons = self._box.counted(file)
                try:
                    move(file)
                except SpoolError as error:
                    why_not.append(str(error))
                    continue
                done.append(file.name)
                gone.update(reasons)
            with database.writing():
                for reason, count in gone.items():
                    problems.take_back(PROBLEMS, reason, count)
        return done, why_not

    def _named(self, names: Sequence[str] | None) -> list[Held]:
        every = self._all()
        if names is None:
            return list(every.values())
        for name in names:
            if name not in every:
                raise MemtuiError(
                    f"nothing in the quarantine is called {name!r};"
                    " memtui quarantine list names all there is"
                )
        return [every[name] for name in dict.fromkeys(names)]

    def _all(self) -> dict[str, Held]:
        noted: dict[str, Held] = {refusals.name_of(one): one for one in _faults(None)}
        return noted | {file.name: file for file in self._box.files()}

    def _entries(self, held: Sequence[Held]) -> Iterator[Entry]:
        sources = (one.source for one in held if isinstance(one, Problem))
        agents = cursors.formats(sources)
        for one in held:
            if isinstance(one, Found):
                yield refusals.of_hook(one, self._box)
            else:
                yield refusals.of_fault(one, agents.get(one.source, ""))


def _faults(limit: int | None) -> list[Problem]:
    return problems.latest(limit, kind=Kind.FAULT, besides=PROBLEMS)


def _at_ms(held: Held) -> int:
    return to_ms(held.received_at if isinstance(held, Found) else held.last_at)


def _outcome(
    name: str, held: Held | None, box: quarantine.Quarantine, waiting: set[str]
) -> Outcome:
    if isinstance(held, Found):
        return Outcome(name, Became.REFUSED, tuple(box.reasons(held)))
    if held is not None:
        where = f"line {held.line}: " if held.line else ""
        return Outcome(name, Became.REFUSED, (f"{where}{held.reason}",))
    return Outcome(name, Became.WAITING if name in waiting else Became.TAKEN)
