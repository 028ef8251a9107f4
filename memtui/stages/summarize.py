"""segments → summaries with grips: every summariser's draft passes this one gate.

What a summariser answers is text from outside: it is cleaned, its claims are anchored
to the segment's events, and only then does it become a version of the node.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from functools import partial

from memtui.llm import Summarizer
from memtui.memory import calendar, grips, hashes, keywords
from memtui.memory.events import to_ms
from memtui.memory.grips import Grip
from memtui.memory.segments import Rules, Segment, overlap
from memtui.memory.sessions import Session
from memtui.memory.summaries import Claim, sane
from memtui.memory.toc import Bullet, Status, Tally, TocLevel, TocNode
from memtui.stages.failures import attempted, retry_ms
from memtui.store import database, dirty, outbox, segments, sessions, versions
from memtui.store import grips as kept_grips
from memtui.store.segments import Stretch

SEGMENTS_AT_ONCE = 20
"""How many segments one transaction gives their summaries."""

SOURCE = "segment_summarizer"
"""What grips of segments say made them."""


@dataclass(frozen=True, slots=True)
class _Work:
    stretch: Stretch
    segment: Segment
    agent: str
    project: str


@dataclass(frozen=True, slots=True)
class _Made:
    stretch: Stretch
    node: TocNode
    grips: tuple[Grip, ...]


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
        self.changed: set[str] = set()
        """Nodes that have changed since somebody last emptied this set."""

    def step(self) -> int:
        """Summarise a batch of segments; how many were tried."""
        now_ms = to_ms(self._clock())
        with database.connected():
            waiting = segments.waiting(now_ms, SEGMENTS_AT_ONCE)
            told_in = sessions.of_numbers({stretch.number for stretch in waiting})
            work = [self._load(one, told_in[one.number]) for one in waiting]
        if not work:
            return 0
        made: list[_Made] = []
        failed: list[tuple[_Work, Exception]] = []
        for item in work:
            result = attempted(partial(self._make, item))
            if isinstance(result, Exception):
                failed.append((item, result))
            else:
                made.append(result)
        with database.writing():
            self._keep(made, now_ms)
            for item, _ in failed:
                name = item.stretch.segment_id
                tries = segments.attempts(name)
                segments.failed(name, retry_ms(tries, now_ms))
            self._mark([item.stretch.segment_id for item in work])
        if failed:
            item, error = failed[-1]
            raise SummaryFailed(item.stretch.segment_id) from error
        return len(work)

    def _load(self, stretch: Stretch, session: Session) -> _Work:
        context_ms = round(self._rules.overlap_s * 1000)
        segment, earlier = segments.whole(stretch, context_ms)
        context = overlap(earlier, segment.events[0], self._rules)
        whole = replace(segment, overlap_events=context)
        return _Work(stretch, whole, session.agent, session.project)

    def _make(self, work: _Work) -> _Made:
        segment, stretch = work.segment, work.stretch
        summary = sane(self._summarizer.summarize_segment(segment))
        name = segment.segment_id
        anchored = grips.anchor(
            summary.bullets, segment.events, node_id=name, source=SOURCE
        )
        node = TocNode(
            node_id=name,
            level=TocLevel.SEGMENT,
            title=summary.title,
            headline=summary.title,
            start_time=segment.start_time,
            end_time=segment.end_time,
            bullets=_bullets(summary.bullets, anchored),
            keywords=keywords.of_events(segment.events, summary.keywords),
            status=Status.PROVISIONAL if stretch.is_open else Status.CURRENT,
            summarizer=self._summarizer.identity,
            input_hash=_hash(self._summarizer.identity, work),
            tally=Tally(1, stretch.events, stretch.messages, stretch.subagent_events),
            agents=(work.agent,),
            projects=(work.project,) if work.project else (),
        )
        return _Made(stretch, node, tuple(g for found in anchored for g in found))

    def _keep(self, made: Sequence[_Made], now_ms: int) -> None:
        before = versions.input_hashes([done.node.node_id for done in made])
        news = []
        for done in made:
            name, is_live = done.node.node_id, done.stretch.is_open
            if before.get(name) == done.node.input_hash:
                dirty.settled(name, is_live=is_live)
            else:
                news.append(done)
        kept_grips.put([grip for done in news for grip in done.grips])
        versions.put([(done.node, done.stretch.is_open) for done in news], now_ms)
        outbox.announce([done.node.node_id for done in news], now_ms)
        segments.summarised([done.stretch for done in made])

    def _mark(self, names: Sequence[str]) -> None:
        days = {str(calendar.parent_id(name)) for name in names}
        dirty.mark(days, self._zone)
        self.changed.update(names, (a for day in days for a in calendar.path(day)))


class SummaryFailed(Exception):
    """A segment could not be summarised; it is tried again later."""


def _bullets(
    claims: Sequence[Claim], anchored: Sequence[Sequence[Grip]]
) -> tuple[Bullet, ...]:
    return tuple(
        Bullet(claim.text, tuple(grip.grip_id for grip in found))
        for claim, found in zip(claims, anchored, strict=True)
    )


def _hash(identity: str, work: _Work) -> str:
    """What the node follows from: events never change, so their ids say it all."""
    stretch = work.stretch
    counts = f"{stretch.is_open} {stretch.subagent_events} {work.project}"
    context = (event.event_id for event in work.segment.overlap_events)
    told = (event.event_id for event in work.segment.events)
    return hashes.of(identity, counts, *context, "", *told)
