"""segments → summaries with grips, at once, in the segment's own words.

A model may write a better one later; see ``memtui.stages.improve``.
"""

from collections.abc import Callable, Sequence
from datetime import datetime, tzinfo
from functools import partial

from memtui.llm import Summarizer
from memtui.memory import audit, calendar, keywords
from memtui.memory.events import to_ms
from memtui.memory.keywords import surprise
from memtui.memory.segments import Rules
from memtui.stages import making
from memtui.stages.changes import Changes
from memtui.stages.failures import attempted, retry_ms
from memtui.stages.making import Made, OfSegment
from memtui.store import (
    database,
    dirty,
    facts,
    outbox,
    segments,
    sessions,
    surprises,
    versions,
)
from memtui.store import grips as kept_grips
from memtui.store.segments import Stretch
from memtui.store.surprises import Told

SEGMENTS_AT_ONCE = 20
"""How many segments one transaction gives their summaries."""


class Summarize:
    """Gives segments their summaries."""

    def __init__(
        self,
        summarizer: Summarizer,
        rules: Rules,
        zone: tzinfo,
        clock: Callable[[], datetime],
    ) -> None:
        """Remember who summarises."""
        self._summarizer, self._rules = summarizer, rules
        self._zone, self._clock = zone, clock
        self._is_renewed = False
        self.changed = Changes()

    def step(self) -> int:
        """Summarise a batch of segments; how many were tried."""
        if not self._is_renewed:
            self._renew()
        now_ms = to_ms(self._clock())
        with database.connected():
            waiting = segments.waiting(now_ms, SEGMENTS_AT_ONCE)
            told_in = sessions.of_numbers({stretch.number for stretch in waiting})
            work = [making.segment(one, told_in, self._rules) for one in waiting]
        if not work:
            return 0
        made: list[Made] = []
        told: list[Told] = []
        done: list[Stretch] = []
        failed: list[tuple[OfSegment, Exception]] = []
        for item in work:
            result = attempted(partial(self._make, item))
            if isinstance(result, Exception):
                failed.append((item, result))
            else:
                made.append(result[0])
                told.append(result[1])
                done.append(item.stretch)
        with database.writing():
            self._keep(made, now_ms)
            surprises.put(told)
            segments.summarised(done)
            for item, _ in failed:
                tries = segments.attempts(item.name)
                segments.failed(item.name, retry_ms(tries, now_ms))
            self._mark([item.name for item in work])
        if failed:
            item, error = failed[-1]
            raise SummaryFailed(item.name) from error
        return len(work)

    def _renew(self) -> None:
        """Once, want all summaries anew if they were made by other rules."""
        rules = f"{self._summarizer.identity} {audit.RULE}"
        with database.connected():
            if facts.rules() != rules:
                with database.writing():
                    segments.want_all()
                    facts.set_rules(rules)
        self._is_renewed = True

    def _make(self, work: OfSegment) -> tuple[Made, Told]:
        identity = self._summarizer.identity
        draft = work.draft(self._summarizer)
        weighed = keywords.weigh(work.segment.events)
        digest = work.input_hash(identity)
        made = work.made(draft, identity, digest, draft.title, weighed)
        terms = surprise.terms(weighed.weights)
        return made, Told(work.name, work.stretch.number, terms)

    def _keep(self, made: Sequence[Made], now_ms: int) -> None:
        before = versions.input_hashes([one.node.node_id for one in made])
        news = []
        for one in made:
            name = one.node.node_id
            if before.get(name) == one.node.input_hash:
                dirty.settled(name, is_live=one.is_live)
            else:
                news.append(one)
        kept_grips.put([grip for one in news for grip in one.grips])
        versions.put([(one.node, one.is_live) for one in news], now_ms)
        outbox.announce([one.node.node_id for one in news], now_ms)

    def _mark(self, names: Sequence[str]) -> None:
        days = {str(calendar.parent_id(name)) for name in names}
        dirty.mark(days, self._zone)
        self.changed.update(names, (a for day in days for a in calendar.path(day)))


class SummaryFailed(Exception):
    """A segment could not be summarised; it is tried again later."""
