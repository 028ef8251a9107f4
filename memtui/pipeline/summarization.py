"""segments → summaries with grips, at once, in the segment's own words.

A model may write a better one later; see ``memtui.stages.improve``.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from functools import partial

from memtui.model import calendar, hashing
from memtui.model.events import to_ms
from memtui.model.grips import Grip
from memtui.model.nodes import NodeCounts, NodeStatus, TocLevel, TocNode
from memtui.model.segments import Segment, SegmentRules, overlap
from memtui.model.sessions import Session
from memtui.model.summaries import Summary, sanitize
from memtui.pipeline.retries import next_retry_ms, try_item
from memtui.pipeline.worker import ChangedNodes
from memtui.store import (
    conversations,
    database,
    meta,
    nodes,
    outbox,
    rollup_queue,
    segments,
    sessions,
    surprise,
    versions,
)
from memtui.store import grips as store_grips
from memtui.store.segments import SegmentRange
from memtui.store.surprise import SegmentTerms
from memtui.summarize import draft as summarize_draft
from memtui.summarize import keywords
from memtui.summarize import surprise as summarize_surprise
from memtui.summarize.draft import GroundedSummary
from memtui.summarize.grounding import claims
from memtui.summarize.keywords import WordWeights
from memtui.summarize.summarizer import Summarizer
from memtui.text import secrets

SOURCE = "segment_summarizer"
"""What grips of segments say made them."""


@dataclass(frozen=True, slots=True)
class Made:
    """A version of a node, and the grips that were made for it."""

    node: TocNode
    grips: tuple[Grip, ...]
    is_live: bool
    """Whether something in it is still going on."""

    def rejected(self, why: str) -> "Made":
        """The same as one that is not shown."""
        told = secrets.redact(why).text
        return replace(self, node=replace(self.node, rejection=told))


@dataclass(frozen=True, slots=True)
class OfSegment:
    """A segment to be summarised, with all that its node tells."""

    stretch: SegmentRange
    segment: Segment
    agent: str
    project: str

    @property
    def name(self) -> str:
        """The node's id."""
        return self.segment.segment_id

    def draft(self, summarizer: Summarizer, attempt: int = 0) -> Summary:
        """Let somebody summarise it; see ``Summarizer`` for what attempts are."""
        return summarizer.summarize_segment(self.segment, attempt=attempt)

    def input_hash(self, identity: str, attempt: int = 0) -> str:
        """What the node follows from: events never change, so their ids say it all."""
        stretch = self.stretch
        counts = f"{stretch.is_open} {stretch.subagent_events} {self.project}"
        context = (event.event_id for event in self.segment.overlap_events)
        told = (event.event_id for event in self.segment.events)
        return hashing.content_hash(
            _who(identity, attempt), counts, *context, "", *told
        )

    def made(
        self,
        draft: Summary,
        identity: str,
        digest: str,
        instead: str,
        weighed: WordWeights | None = None,
    ) -> Made:
        """A version of the node.

        Args:
            draft: What a summariser wrote.
            identity: Who it is.
            digest: The ``input_hash``.
            instead: The title to take where the draft's is not in the source.
            weighed: What its words weigh, where that is known already.
        """
        segment, stretch = self.segment, self.stretch
        sound = _redacted(sanitize(draft))
        vouched = summarize_draft.ground_segment(
            sound, segment.events, node_id=self.name, source=SOURCE
        )
        node = TocNode(
            node_id=self.name,
            level=TocLevel.SEGMENT,
            title=vouched.title or instead,
            headline=vouched.title or instead,
            start_time=segment.start_time,
            end_time=segment.end_time,
            keywords=keywords.segment_keywords(segment.events, sound.keywords, weighed),
            status=NodeStatus.PROVISIONAL if stretch.is_open else NodeStatus.CURRENT,
            counts=NodeCounts(
                1, stretch.events, stretch.messages, stretch.subagent_events
            ),
            agents=(self.agent,),
            projects=(self.project,) if self.project else (),
        )
        whole = _with(node, vouched, sound, identity, digest)
        return Made(whole, vouched.grips, stretch.is_open)


@dataclass(frozen=True, slots=True)
class OfChildren:
    """A node above segments to be summarised, with its children."""

    name: str
    children: tuple[TocNode, ...]
    """Oldest first, none of them pending."""
    is_live: bool
    zone: tzinfo

    def draft(self, summarizer: Summarizer, attempt: int = 0) -> Summary:
        """Let somebody summarise it; see ``Summarizer`` for what attempts are."""
        level = calendar.period(self.name).level
        return summarizer.summarize_children(level, self.children, attempt=attempt)

    def input_hash(self, identity: str, attempt: int = 0) -> str:
        """What the node follows from: its children, and what these follow from."""
        made_of = (f"{child.node_id} {child.input_hash}" for child in self.children)
        return hashing.content_hash(
            _who(identity, attempt), str(self.is_live), *made_of
        )

    def made(self, draft: Summary, identity: str, digest: str, instead: str) -> Made:
        """A version of the node; see ``OfSegment.made``."""
        level = calendar.period(self.name).level
        start, end = calendar.bounds(self.name, self.zone)
        sound = _redacted(sanitize(draft))
        vouched = summarize_draft.ground_parent(
            sound, self.children, store_grips.get_events
        )
        node = TocNode(
            node_id=self.name,
            level=level,
            title=calendar.title(self.name),
            start_time=start,
            end_time=end,
            keywords=keywords.parent_keywords(
                level, [child.keywords for child in self.children], sound.keywords
            ),
            child_node_ids=tuple(child.node_id for child in self.children),
            headline=vouched.title or instead,
            status=NodeStatus.PROVISIONAL if self.is_live else NodeStatus.CURRENT,
            counts=_sum(child.counts for child in self.children),
            agents=_all(child.agents for child in self.children),
            projects=_all(child.projects for child in self.children),
        )
        return Made(_with(node, vouched, sound, identity, digest), (), self.is_live)


def segment(
    stretch: SegmentRange, told_in: Mapping[int, Session], rules: SegmentRules
) -> OfSegment:
    """Read a segment.

    Args:
        stretch: Which.
        told_in: Its session, by its number in the store.
        rules: How far back its context reaches.
    """
    session = told_in[stretch.number]
    context_ms = round(rules.overlap_s * 1000)
    found, earlier = conversations.read_segment(stretch, context_ms)
    context = overlap(earlier, found.events[0], rules)
    whole = replace(found, overlap_events=context)
    return OfSegment(stretch, whole, session.agent, session.project)


def parent(name: str, zone: tzinfo) -> OfChildren:
    """Read a node's children; there may be none."""
    ids = nodes.list_child_ids(name)
    children = tuple(
        c for c in nodes.get_many(ids) if c.status is not NodeStatus.PENDING
    )
    return OfChildren(name, children, bool(nodes.filter_live(ids)), zone)


def _redacted(draft: Summary) -> Summary:
    """A draft without secrets: a model may put together what was told apart."""

    def clean(text: str) -> str:
        return secrets.redact(text).text

    return replace(
        draft,
        title=clean(draft.title),
        bullets=tuple(replace(one, text=clean(one.text)) for one in draft.bullets),
        keywords=tuple(map(clean, draft.keywords)),
    )


def _who(identity: str, attempt: int) -> str:
    """Who makes a version, and by which audit; another attempt is another version."""
    return f"{identity} {claims.GROUNDING_VERSION} {attempt or ''}".strip()


def _with(
    node: TocNode, vouched: GroundedSummary, draft: Summary, identity: str, digest: str
) -> TocNode:
    is_models = bool(draft.generation.model)
    return replace(
        node,
        bullets=vouched.bullets,
        withheld=vouched.withheld,
        summarizer=identity,
        input_hash=digest,
        generation=draft.generation,
        rejection=vouched.why_not if is_models else "",
    )


def _sum(tallies: Iterable[NodeCounts]) -> NodeCounts:
    rows = list(tallies)
    return NodeCounts(
        segments=sum(row.segments for row in rows),
        events=sum(row.events for row in rows),
        messages=sum(row.messages for row in rows),
        subagent_events=sum(row.subagent_events for row in rows),
    )


def _all(names: Iterable[Sequence[str]]) -> tuple[str, ...]:
    return tuple(sorted({name for some in names for name in some}))


SEGMENTS_AT_ONCE = 20
"""How many segments one transaction gives their summaries."""


class Summarize:
    """Gives segments their summaries."""

    def __init__(
        self,
        summarizer: Summarizer,
        rules: SegmentRules,
        zone: tzinfo,
        clock: Callable[[], datetime],
    ) -> None:
        """Remember who summarises."""
        self._summarizer, self._rules = summarizer, rules
        self._zone, self._clock = zone, clock
        self._is_renewed = False
        self.changed = ChangedNodes()

    def step(self) -> int:
        """Summarise a batch of segments; how many were tried."""
        if not self._is_renewed:
            self._renew()
        now_ms = to_ms(self._clock())
        with database.connection():
            waiting = segments.list_pending(now_ms, SEGMENTS_AT_ONCE)
            told_in = sessions.get_many({stretch.number for stretch in waiting})
            work = [segment(one, told_in, self._rules) for one in waiting]
        if not work:
            return 0
        made: list[Made] = []
        told: list[SegmentTerms] = []
        done: list[SegmentRange] = []
        failed: list[tuple[OfSegment, Exception]] = []
        for item in work:
            result = try_item(partial(self._make, item))
            if isinstance(result, Exception):
                failed.append((item, result))
            else:
                made.append(result[0])
                told.append(result[1])
                done.append(item.stretch)
        with database.transaction():
            self._keep(made, now_ms)
            surprise.add(told)
            segments.set_summarised(done)
            for item, _ in failed:
                tries = segments.count_attempts(item.name)
                segments.set_failed(item.name, next_retry_ms(tries, now_ms))
            self._mark([item.name for item in work])
        if failed:
            item, error = failed[-1]
            raise SummaryFailed(item.name) from error
        return len(work)

    def _renew(self) -> None:
        """Once, want all summaries anew if they were made by other rules."""
        rules = f"{self._summarizer.identity} {claims.GROUNDING_VERSION}"
        with database.connection():
            if meta.summary_rules() != rules:
                with database.transaction():
                    segments.request_all_summaries()
                    meta.set_summary_rules(rules)
        self._is_renewed = True

    def _make(self, work: OfSegment) -> tuple[Made, SegmentTerms]:
        identity = self._summarizer.identity
        draft = work.draft(self._summarizer)
        weighed = keywords.weigh_words(work.segment.events)
        digest = work.input_hash(identity)
        made = work.made(draft, identity, digest, draft.title, weighed)
        terms = summarize_surprise.surprise_terms(weighed.weights)
        return made, SegmentTerms(work.name, work.stretch.number, terms)

    def _keep(self, made: Sequence[Made], now_ms: int) -> None:
        before = versions.get_input_hashes([one.node.node_id for one in made])
        news = []
        for one in made:
            name = one.node.node_id
            if before.get(name) == one.node.input_hash:
                rollup_queue.set_done(name, is_live=one.is_live)
            else:
                news.append(one)
        store_grips.add([grip for one in news for grip in one.grips])
        versions.add([(one.node, one.is_live) for one in news], now_ms)
        outbox.add_nodes([one.node.node_id for one in news], now_ms)

    def _mark(self, names: Sequence[str]) -> None:
        days = {str(calendar.parent_id(name)) for name in names}
        rollup_queue.add(days, self._zone)
        self.changed.update(names, (a for day in days for a in calendar.path(day)))


class SummaryFailed(Exception):
    """A segment could not be summarised; it is tried again later."""
