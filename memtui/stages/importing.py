"""transcripts → events: whole files, each remembered when it has been read.

An import can be stopped anywhere and run again: what is stored already stays as it is,
and a file that has not changed since is not read.
"""

import logging
from collections import Counter as Tally
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from memtui import sources
from memtui.errors import SourceError, StoreError
from memtui.memory.events import Event, clean, to_ms
from memtui.memory.sessions import SessionFacts
from memtui.memory.tokens import Counter
from memtui.sources import Opened
from memtui.sources.records import Refused
from memtui.stages.ingest import counted, learn
from memtui.store import cursors, database, events, problems

log = logging.getLogger(__name__)

EVENTS_AT_ONCE = 1000
"""How many events one transaction stores."""


@dataclass(slots=True)
class Imported:
    """What an import did."""

    files: int = 0
    unchanged: int = 0
    """Files that were read before and have not changed since."""
    created: int = 0
    known: int = 0
    refused: int = 0
    left: int = 0
    unreadable: int = 0


class Import:
    """Imports files, one after the other."""

    def __init__(
        self, *, agent: str, counter: Counter, clock: Callable[[], datetime]
    ) -> None:
        """Remember how events are made.

        Args:
            agent: The agent of events that name none.
            counter: How tokens are counted.
            clock: The time, aware.
        """
        self._agent, self._counter, self._clock = agent, counter, clock
        self.imported = Imported()

    def run(self, paths: Sequence[Path]) -> Iterator[Imported]:
        """Import files and folders.

        Yields:
            The state after each transaction.

        Raises:
            SourceError: A path does not exist.
        """
        with database.connected():
            for file in [file for path in paths for file in sources.files(path)]:
                yield from self._file(file)
                self.imported.files += 1
                yield self.imported

    def _file(self, file: Path) -> Iterator[Imported]:
        name = clean(str(file.resolve()))
        try:
            status = file.stat()
            look = cursors.Look(status.st_size, status.st_mtime_ns)
            with database.connected():
                is_known = cursors.get(name) == look
            if is_known:
                self.imported.unchanged += 1
                return
            for opened in sources.read(file, agent=self._agent, now=self._clock()):
                yield from self._readings(name, opened, look)
        except StoreError:
            raise
        except SourceError:
            self._give_up(name, "not of a format memtui knows, or not readable")
        except Exception as error:  # one file's surprise must not stop the others
            log.exception("%s could not be imported", name)
            self._give_up(name, f"{type(error).__name__}: {error}")

    def _readings(
        self, name: str, opened: Opened, look: cursors.Look
    ) -> Iterator[Imported]:
        batch: list[Event] = []
        facts: list[SessionFacts] = []
        missed: Tally[tuple[str, bool]] = Tally()
        lines: dict[tuple[str, bool], int] = {}
        for reading in opened.readings:
            if isinstance(reading, Event):
                batch.append(reading)
                if len(batch) >= EVENTS_AT_ONCE:
                    with database.writing():
                        self._add(batch, facts, opened.route)
                    batch, facts = [], []
                    yield self.imported
            elif isinstance(reading, SessionFacts):
                facts.append(reading)
            else:
                reason = reading.reason, isinstance(reading, Refused)
                missed[reason] += 1
                lines[reason] = reading.line
        self._count(missed)
        now_ms = to_ms(self._clock())
        with database.writing():
            self._add(batch, facts, opened.route)
            counts = [(*reason, lines[reason], n) for reason, n in missed.items()]
            problems.replace(name, counts, now_ms)
            cursors.put(name, look, now_ms)

    def _add(
        self, batch: Sequence[Event], facts: Iterable[SessionFacts], route: str
    ) -> None:
        fresh = events.unknown(batch)
        added = events.add(counted(fresh, self._counter), route=route)
        self.imported.created += len(added.created)
        self.imported.known += len(batch) - len(added.created)
        learn(facts)

    def _count(self, missed: Tally[tuple[str, bool]]) -> None:
        for (_, is_fault), number in missed.items():
            if is_fault:
                self.imported.refused += number
            else:
                self.imported.left += number

    def _give_up(self, name: str, reason: str) -> None:
        self.imported.unreadable += 1
        with database.writing():
            now_ms = to_ms(self._clock())
            problems.replace(name, [(reason, True, 0, 1)], now_ms)
