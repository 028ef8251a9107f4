"""One node's version by a model: read, asked for, held against its source, kept.

The node is read, the model is asked while nothing of the store is held, and what it
wrote passes the same gate as every draft. It is kept only if nothing has changed
meanwhile, and shown only if its bullets stand up to their sources.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from enum import StrEnum

from memtui.llm import Summarizer
from memtui.llm.faults import (
    BadReply,
    Cancelled,
    Fault,
    ModeRefused,
    NothingToSay,
    OutOfMemory,
    Overflow,
    Refused,
    Resting,
    TooLong,
    Unwell,
)
from memtui.memory import calendar
from memtui.memory.events import to_ms
from memtui.memory.segments import Rules
from memtui.memory.summaries import Facts, Summary
from memtui.memory.summarizers import Doing, Phase
from memtui.memory.toc import TocLevel, TocNode
from memtui.stages import making
from memtui.stages.failures import attempted, retry_ms
from memtui.stages.making import Made, OfChildren, OfSegment
from memtui.store import (
    database,
    dirty,
    outbox,
    segments,
    sessions,
    toc,
    versions,
    wanted,
)
from memtui.store import grips as kept_grips

LAST_WORDS = (BadReply, Overflow, TooLong)
"""Faults that the same model would only repeat with the same text."""

OF_THE_TEXT = (Unwell, OutOfMemory, ModeRefused)
"""Faults that may lie in the text: others are tried before it is tried again."""

PUT_OFF_S = 600.0
"""How much later what is above a node follows, in seconds: a model writes for hours,
and each of its versions would make four more."""

FORBIDDEN_S = 1800.0
"""How long to ask nothing of a server that passed a prompt on, or refused it."""

Work = OfSegment | OfChildren


class Kind(StrEnum):
    """What came of it."""

    MADE = "made"
    REJECTED = "rejected"
    FAILED = "failed"
    NOTHING = "nothing"
    """There was nothing to say, or something has changed meanwhile."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one node."""

    kind: Kind
    error: str = ""
    rest_s: float | None = None
    """For how long nothing should be asked; None if it may be."""
    changed: frozenset[str] = frozenset()
    """The nodes whose line or page is another now."""


NOTHING = Outcome(Kind.NOTHING)


class Rewrite:
    """Lets a model write versions of nodes."""

    def __init__(
        self,
        summarizer: Summarizer,
        rules: Rules,
        zone: tzinfo,
        clock: Callable[[], datetime],
        tell: Callable[[Doing], None],
    ) -> None:
        """Remember who summarises, and whom to tell how far it is."""
        self._summarizer, self._rules = summarizer, rules
        self._zone, self._clock, self._tell = zone, clock, tell

    def run(self, name: str, *, is_asked: bool) -> Outcome:
        """Let the model write a version of a node.

        Args:
            name: The node.
            is_asked: Whether a person asked: then it is written anew even if there is
                one already that was made from the same.

        Raises:
            Cancelled: It was called off; the node is as it was.
        """
        with database.connected():
            work, shown = self._read(name), toc.node(name)
            if work is None or shown is None:
                return self._done(name, Kind.NOTHING)
            attempt = self._attempt(work) if is_asked else 0
            if not is_asked and (kept := self._kept(work)):
                return kept
        draft = attempted(lambda: self._draft(work, attempt))
        if isinstance(draft, Fault):
            return self._failed(work, shown, draft, attempt)
        if isinstance(draft, Exception):
            return self._later(name, repr(draft))
        self._tell(Doing(Phase.AUDITING))
        digest = self._hash(work, attempt)
        identity = self._summarizer.identity
        with database.connected():
            made = attempted(lambda: work.made(draft, identity, digest, shown.headline))
        if isinstance(made, Exception):
            return self._later(name, repr(made))
        return self._keep(work, made)

    def _draft(self, work: Work, attempt: int) -> Summary | Fault:
        try:
            return work.draft(self._summarizer, attempt)
        except Fault as fault:
            return fault

    def _read(self, name: str) -> Work | None:
        """What a node is made from; None if there is nothing any more."""
        if calendar.period(name).level is not TocLevel.SEGMENT:
            work = making.parent(name, self._zone)
            return work if work.children else None
        stretch = segments.get(name)
        if stretch is None:
            return None
        told_in = sessions.of_numbers([stretch.number])
        return making.segment(stretch, told_in, self._rules)

    def _hash(self, work: Work, attempt: int = 0) -> str:
        return work.input_hash(self._summarizer.identity, attempt)

    def _attempt(self, work: Work) -> int:
        """Which attempt at the same comes next."""
        attempt = 0
        while versions.models(work.name, self._hash(work, attempt)):
            attempt += 1
        return attempt

    def _kept(self, work: Work) -> Outcome | None:
        """Show what the same model made of the same before, if it did."""
        before = versions.models(work.name, self._hash(work))
        if before is None:
            return None
        row, rejected = before
        if rejected:
            return self._done(work.name, Kind.NOTHING)
        with database.writing():
            wanted.done_with(work.name)
            versions.show(work.name, row)
            return self._announced(work.name, Kind.MADE)

    def _keep(self, work: Work, made: Made) -> Outcome:
        name, node = work.name, made.node
        now_ms = to_ms(self._clock())
        with database.writing():
            fresh = self._read(name)
            if fresh is None or self._hash(fresh) != self._hash(work):
                return NOTHING
            kept_grips.put(made.grips)
            is_shown = versions.put_models(node, now_ms)
            wanted.done_with(name)
            if is_shown:
                return self._announced(name, Kind.MADE)
        kind = Kind.REJECTED if node.rejected else Kind.MADE
        return Outcome(kind, node.rejected, changed=frozenset([name]))

    def _announced(self, name: str, kind: Kind) -> Outcome:
        """Let search and the nodes above follow a version that is shown now."""
        now_ms = to_ms(self._clock())
        outbox.announce([name], now_ms)
        if above := calendar.parent_id(name):
            later_ms = now_ms + round(PUT_OFF_S * 1000)
            dirty.mark([above], self._zone, from_ms=later_ms)
        return Outcome(kind, changed=frozenset([name, *calendar.path(above or name)]))

    def _done(self, name: str, kind: Kind) -> Outcome:
        with database.writing():
            wanted.done_with(name)
        return Outcome(kind)

    def _failed(
        self, work: Work, shown: TocNode, fault: Fault, attempt: int
    ) -> Outcome:
        """Put a fault down to the text, to the model, or to the server."""
        if isinstance(fault, Cancelled):
            raise fault
        if isinstance(fault, NothingToSay):
            return self._done(work.name, Kind.NOTHING)
        if isinstance(fault, LAST_WORDS):
            return self._refused(work, shown, fault, attempt)
        if isinstance(fault, OF_THE_TEXT):
            return self._later(work.name, str(fault))
        return Outcome(Kind.NOTHING, str(fault), rest_s=_rest_s(fault))

    def _later(self, name: str, error: str) -> Outcome:
        """Try this node again, but others first."""
        with database.writing():
            # Later than the server that it made fail is asked again: others come first.
            at_ms = retry_ms(wanted.attempts(name) + 1, to_ms(self._clock()))
            wanted.failed(name, at_ms)
        return Outcome(Kind.FAILED, error)

    def _refused(
        self, work: Work, shown: TocNode, fault: Fault, attempt: int
    ) -> Outcome:
        """Keep what a model wrote that could not be used, and why."""
        health = self._summarizer.health()
        identity = self._summarizer.identity
        facts = Facts(health.model or identity, health.digest, health.server)
        draft = fault.summary if isinstance(fault, BadReply) else None
        if draft is None or not draft.facts.model:
            draft = replace(draft or Summary(shown.headline, ()), facts=facts)
        with database.connected():
            digest = self._hash(work, attempt)
            made = work.made(draft, identity, digest, shown.headline)
        return self._keep(work, made.rejected(str(fault)))


def _rest_s(fault: Fault) -> float:
    """For how long a server is left alone: very long where it must not be asked."""
    if isinstance(fault, Resting):
        return fault.retry_s
    return FORBIDDEN_S if isinstance(fault, Refused) else 0.0
