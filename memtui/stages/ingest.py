"""spool → events: what hooks left is stored, then deleted where it lay."""

import logging
import time
from collections import Counter as Tally
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from memtui.errors import SpoolError, StoreError
from memtui.memory.events import CLOCK_SKEW, Event, is_too_late, to_ms
from memtui.memory.segments import counted_text
from memtui.memory.sessions import SessionFacts
from memtui.memory.thoughts import Thought
from memtui.memory.tokens import Counter
from memtui.sources import hooks, remnants
from memtui.sources.quarantine import Quarantine
from memtui.sources.records import Left, Reading, Refused
from memtui.sources.remnants import Remnant
from memtui.sources.source import HOOK
from memtui.sources.spool import Letter, Spool
from memtui.stages.gate import ELSEWHERE, Admission, Gate
from memtui.store import (
    database,
    events,
    facts,
    forks,
    problems,
    redactions,
    seen,
    segments,
    sessions,
    thoughts,
)
from memtui.store.problems import Count, Kind

log = logging.getLogger(__name__)

FILES_AT_ONCE = 200
"""How many spool files one transaction takes."""

BYTES_AT_ONCE = 32 * 1024 * 1024
"""How much of them one transaction takes, unless one file alone is larger."""

DRAFTS_S = 60.0
"""How often drafts are looked for that killed hooks have left, in seconds."""

ABANDONED = timedelta(minutes=10)
"""How long after its last word a draft's hook has surely been killed."""

FORESEEN = timedelta(days=2)
"""How far a clock is set back, for what comes from the future to be waited for."""

SOURCE = "hooks"
"""The name under which problems with spool files are counted."""


@dataclass(frozen=True, slots=True)
class _Taken:
    """What one file held."""

    name: str
    events: tuple[Event, ...] = ()
    thoughts: tuple[Thought, ...] = ()
    facts: tuple[SessionFacts, ...] = ()
    refused: tuple[Refused, ...] = ()
    left: tuple[Left, ...] = ()
    redacted: Mapping[str, int] = field(default_factory=dict)
    remnant: Remnant | None = None
    """What is put aside of it, where some is refused; none where it cannot be read."""

    @property
    def is_elsewhere(self) -> bool:
        """Whether it is all for a memory of another project."""
        return bool(self.left) and all(left.reason == ELSEWHERE for left in self.left)


class Ingest:
    """Takes files from the spool."""

    def __init__(
        self,
        spool: Spool,
        counter: Counter,
        clock: Callable[[], datetime],
        admission: Admission,
    ) -> None:
        """Remember where files come from, how tokens are counted, and what is kept."""
        self._spool, self._counter, self._clock = spool, counter, clock
        self._admission = admission
        self._elsewhere: set[str] = set()
        self._early: dict[str, datetime] = {}
        self._next_drafts_s = 0.0
        self._is_counted = False

    def step(self) -> int:
        """Take a batch of files; how many were taken."""
        if not self._is_counted:
            self.recount()
        self._take_up_drafts()
        names = [name for name in self._spool.names() if self._is_due(name)]
        with database.connected():
            taken = list(self._read(names[:FILES_AT_ONCE]))
        # What is for another project's memory is left lying for it.
        self._elsewhere.update(file.name for file in taken if file.is_elsewhere)
        taken = [file for file in taken if not file.is_elsewhere]
        try:
            self._keep(taken)
        except StoreError:
            raise
        except Exception:
            log.exception("a batch of hook files could not be kept; taken one by one")
            taken = [self._kept_alone(file) for file in taken]
        # Should one of them not be moved, it will be counted again.
        self._is_counted = False
        for file in taken:
            self._tidy(file)
        self._is_counted = True
        return len(taken)

    def _tidy(self, file: _Taken) -> None:
        """Take a file that was kept out of the others' way."""
        if not file.refused:
            self._spool.done(file.name)
        elif file.remnant:
            raw = file.remnant.raw if file.remnant.is_changed else None
            self._spool.refuse(file.name, file.remnant.reasons, raw)
        else:
            reasons = [f"line {r.line}: {remnants.reason(r)}" for r in file.refused]
            self._spool.refuse(file.name, reasons)

    def recount(self) -> None:
        """Count what lies in the quarantine: whoever was killed counted otherwise."""
        box = Quarantine(self._spool.folder)
        box.tidy()
        there = Tally(reason for file in box.files() for reason in box.counted(file))
        with database.connected(), database.writing():
            counted = Tally(problems.faults_of(SOURCE))
            more = (there - counted).items()
            counts = [Count(reason, Kind.FAULT, 0, number) for reason, number in more]
            problems.count_up(SOURCE, counts, to_ms(self._clock()))
            for reason, number in (counted - there).items():
                problems.take_back(SOURCE, reason, number)
        self._is_counted = True

    def _take_up_drafts(self) -> None:
        """Now and then: see to what killed hooks have left."""
        now_s = time.monotonic()
        if now_s >= self._next_drafts_s:
            self._next_drafts_s = now_s + DRAFTS_S
            self._spool.take_up(self._clock() - ABANDONED)

    def _is_due(self, name: str) -> bool:
        """Whether a file is to be taken now."""
        if name in self._elsewhere:
            return False
        at = self._early.get(name)
        return at is None or not is_too_late(at, self._clock())

    def _kept_alone(self, file: _Taken) -> _Taken:
        """Keep one file, or refuse it: it must not hold up those behind it."""
        try:
            self._keep([file])
        except StoreError:
            raise
        except Exception as error:
            reason = Refused(f"cannot be kept: {type(error).__name__}: {error}")
            file = self._whole(file.name, reason)
            self._keep([file])
        return file

    def _whole(self, name: str, refused: Refused) -> _Taken:
        """A file of which nothing is taken."""
        said = replace(refused, reason=remnants.reason(refused))
        try:
            letter = self._spool.read(name)
        except SpoolError:
            letter = None
        if letter is None:
            return _Taken(name, refused=(said,))
        raw, kinds = remnants.without_secrets(letter.raw)
        remnant = Remnant(raw, raw != letter.raw, (said,), kinds=kinds)
        return _Taken(name, refused=(said,), redacted=Tally(kinds), remnant=remnant)

    def _keep(self, taken: Sequence[_Taken]) -> None:
        if not taken:
            return
        told = counted((e for file in taken for e in file.events), self._counter)
        now_ms = to_ms(self._clock())
        with database.writing(durable=True):
            added = events.add(told, route=HOOK)
            new = set(added.created)
            seen.note(SOURCE, [e for e in told if e.event_id in new], now_ms)
            # What somebody kept who was killed is not counted again.
            before = facts.taken()
            for file in taken:
                thoughts.add(file.thoughts)
                learn(file.facts)
                problems.count_up(SOURCE, _faults(file), now_ms)
                if file.name not in before:
                    redactions.count_up(file.redacted, now_ms)
                    problems.count_up(SOURCE, _left(file), now_ms)
            facts.set_taken(file.name for file in taken)
            forks.settle()

    def _is_early(self, letter: Letter) -> bool:
        """Whether a file comes from a moment that a clock set back has still to reach.

        It is left lying until then, unless nobody would live to see it.
        """
        self._early.pop(letter.name, None)
        ahead = letter.received_at - self._clock()
        if not CLOCK_SKEW < ahead <= FORESEEN:
            return False
        self._early[letter.name] = letter.received_at
        return True

    def _read(self, names: Sequence[str]) -> Iterator[_Taken]:
        size = 0
        for name in names:
            try:
                letter = self._spool.read(name)
            except SpoolError as error:
                reason = Refused(str(error))
                yield _Taken(name, refused=(reason,))
                continue
            if letter is None:
                continue
            if self._is_early(letter):
                continue
            yield self._taken(letter)
            size += len(letter.raw)
            if size > BYTES_AT_ONCE:
                return

    def _taken(self, letter: Letter) -> _Taken:
        now = self._clock()
        given = hooks.read(
            letter.raw,
            received_at=letter.received_at,
            now=now,
            agent=letter.agent,
            event=letter.event,
        )
        gate = Gate(self._admission)
        # Whose a session is must be known before its events can pass.
        in_order = sorted(given, key=lambda r: not isinstance(r, SessionFacts))
        taken = _sorted(letter.name, list(gate.through(in_order)))
        taken = replace(taken, redacted=gate.redacted)
        if not taken.refused:
            return taken
        remnant = remnants.of(letter, now, gate.why_nothing_of)
        return replace(
            taken,
            refused=remnant.refused,
            left=taken.left + remnant.left,
            redacted=gate.redacted + Tally(remnant.kinds),
            remnant=remnant,
        )


def _faults(file: _Taken) -> Iterator[Count]:
    for refused in file.refused:
        yield Count(refused.reason, Kind.FAULT, refused.line, 1)


def _left(file: _Taken) -> Iterator[Count]:
    for left in file.left:
        yield Count(left.reason, Kind.LEFT, left.line, 1)


def _sorted(name: str, readings: Sequence[Reading]) -> _Taken:
    return _Taken(
        name,
        events=tuple(r for r in readings if isinstance(r, Event)),
        thoughts=tuple(r for r in readings if isinstance(r, Thought)),
        facts=tuple(r for r in readings if isinstance(r, SessionFacts)),
        refused=tuple(r for r in readings if isinstance(r, Refused)),
        left=tuple(r for r in readings if isinstance(r, Left)),
    )


def counted(told: Iterable[Event], counter: Counter) -> list[Event]:
    """Events with their tokens, counted once and for all; by another memory, maybe."""
    return [
        event
        if event.counter
        else replace(
            event, tokens=counter.count(counted_text(event)), counter=counter.name
        )
        for event in told
    ]


def learn(facts: Iterable[SessionFacts]) -> None:
    """Keep what was told of sessions; one that changes projects is told of anew."""
    for told in facts:
        moved = sessions.learn(told)
        if moved is not None:
            segments.want_again(moved)
