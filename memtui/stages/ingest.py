"""spool → events: what hooks left is stored, then deleted where it lay."""

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from memtui.errors import SpoolError, StoreError
from memtui.memory.events import Event, clean, to_ms
from memtui.memory.segments import counted_text
from memtui.memory.sessions import SessionFacts
from memtui.memory.tokens import Counter
from memtui.sources import HOOK, hooks
from memtui.sources.records import Left, Refused
from memtui.sources.spool import Spool
from memtui.store import database, events, problems, segments, sessions

log = logging.getLogger(__name__)

FILES_AT_ONCE = 200
"""How many spool files one transaction takes."""

BYTES_AT_ONCE = 32 * 1024 * 1024
"""How much of them one transaction takes, unless one file alone is larger."""

SOURCE = "hooks"
"""The name under which problems with spool files are counted."""


@dataclass(frozen=True, slots=True)
class _Taken:
    """What one file held."""

    name: str
    events: tuple[Event, ...]
    facts: tuple[SessionFacts, ...]
    refused: tuple[Refused, ...]
    left: tuple[Left, ...]


class Ingest:
    """Takes files from the spool."""

    def __init__(
        self, spool: Spool, counter: Counter, clock: Callable[[], datetime]
    ) -> None:
        """Remember where files come from and how their tokens are counted."""
        self._spool, self._counter, self._clock = spool, counter, clock

    def step(self) -> int:
        """Take a batch of files; how many were taken."""
        taken = list(self._read(self._spool.names()[:FILES_AT_ONCE]))
        try:
            self._keep(taken)
        except StoreError:
            raise
        except Exception:
            log.exception("a batch of hook files could not be kept; taken one by one")
            for file in taken:
                self._keep_alone(file)
        return len(taken)

    def _keep_alone(self, file: _Taken) -> None:
        """Keep one file, or put it aside: it must not hold up those behind it."""
        try:
            self._keep([file])
        except StoreError:
            raise
        except Exception as error:
            reason = Refused(f"cannot be kept: {type(error).__name__}: {error}")
            self._keep([_Taken(file.name, (), (), (reason,), ())])

    def _keep(self, taken: Sequence[_Taken]) -> None:
        if not taken:
            return
        told = counted((e for file in taken for e in file.events), self._counter)
        now_ms = to_ms(self._clock())
        with database.writing(durable=True):
            events.add(told, route=HOOK)
            for file in taken:
                learn(file.facts)
                self._count(file, now_ms)
        for file in taken:
            if file.refused:
                reasons = [f"line {r.line}: {clean(r.reason)}" for r in file.refused]
                self._spool.refuse(file.name, reasons)
            else:
                self._spool.done(file.name)

    def _read(self, names: Sequence[str]) -> Iterator[_Taken]:
        size = 0
        for name in names:
            try:
                letter = self._spool.read(name)
            except SpoolError as error:
                reason = Refused(str(error))
                yield _Taken(name, (), (), (reason,), ())
                continue
            if letter is None:
                continue
            readings = hooks.read(
                letter.raw,
                received_at=letter.received_at,
                now=self._clock(),
                agent=letter.agent,
                event=letter.event,
            )
            yield _sorted(name, list(readings))
            size += len(letter.raw)
            if size > BYTES_AT_ONCE:
                return

    def _count(self, file: _Taken, now_ms: int) -> None:
        for faults, is_fault in ((file.refused, True), (file.left, False)):
            for reading in faults:
                problems.count_up(
                    SOURCE,
                    reading.reason,
                    is_fault=is_fault,
                    line=reading.line,
                    now_ms=now_ms,
                )


def _sorted(name: str, readings: Sequence[object]) -> _Taken:
    return _Taken(
        name,
        tuple(r for r in readings if isinstance(r, Event)),
        tuple(r for r in readings if isinstance(r, SessionFacts)),
        tuple(r for r in readings if isinstance(r, Refused)),
        tuple(r for r in readings if isinstance(r, Left)),
    )


def counted(told: Iterable[Event], counter: Counter) -> list[Event]:
    """Events with their tokens, counted once and for all."""
    return [
        replace(event, tokens=counter.count(counted_text(event)), counter=counter.name)
        for event in told
    ]


def learn(facts: Iterable[SessionFacts]) -> None:
    """Keep what was told of sessions; one that changes projects is told of anew."""
    for told in facts:
        moved = sessions.learn(told)
        if moved is not None:
            segments.want_again(moved)
