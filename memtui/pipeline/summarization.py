"""Summarize segments and roll their summaries up: build versions of nodes.

Every draft, an extract or a model's, becomes a version in ``SegmentInput.make_version``
or ``ParentInput.make_version``.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo
from functools import partial
from typing import TYPE_CHECKING

from memtui.model import calendar
from memtui.model.calendar import TocLevel
from memtui.model.citations import Grip
from memtui.model.events import content_hash, from_ms, to_ms
from memtui.model.nodes import (
    HEADLINE_CHARS,
    NO_TOTALS,
    NodeCounts,
    NodeStatus,
    ProjectTotals,
    Summary,
    TocNode,
)
from memtui.model.sessions import Segment, Session
from memtui.pipeline.worker import ChangedNodes, try_item
from memtui.store import (
    conversations,
    database,
    jobs,
    meta,
    nodes,
    queues,
    segments,
    sessions,
    versions,
)
from memtui.store.segments import SegmentRange, SegmentTerms
from memtui.summarize import acceptance, keywords
from memtui.summarize.acceptance import GroundedSummary
from memtui.summarize.grounding.claims import GROUNDING_VERSION
from memtui.summarize.keywords import WordWeights
from memtui.summarize.rollup import sanitize_draft
from memtui.summarize.segmenter import SegmentRules, overlap_before
from memtui.summarize.summarizer import ExtractiveSummarizer, Summarizer
from memtui.text import secrets

if TYPE_CHECKING:
    from memtui.pipeline.pipeline import PipelineConfig

EARLIER_PROMPTS = 8
"""The number of prompts before a segment that are read to find its request."""


@dataclass(frozen=True, slots=True)
class NewVersion:
    """A new version of a node, with its new grips."""

    node: TocNode
    grips: tuple[Grip, ...]
    is_live: bool

    def rejected(self, why: str) -> "NewVersion":
        reason = secrets.redact(why).text
        return replace(self, node=replace(self.node, rejection=reason))


@dataclass(frozen=True, slots=True)
class SegmentInput:
    """A segment to summarize, with what its node needs."""

    range: SegmentRange
    segment: Segment
    session: Session

    @property
    def name(self) -> str:
        return self.segment.segment_id

    def draft(self, summarizer: Summarizer, attempt: int = 0) -> Summary:
        return summarizer.summarize_segment(self.segment, attempt=attempt)

    def input_hash(self, identity: str, attempt: int = 0) -> str:
        """Return a hash of the input. Events never change, so their ids suffice."""
        bounds = self.range
        counts = f"{bounds.is_open} {bounds.subagent_events} {self.session.project}"
        counts += f" {self.segment.session_title}"
        before = (*self.segment.overlap_events, *self.segment.earlier_prompts)
        earlier = (event.event_id for event in before)
        events = (event.event_id for event in self.segment.events)
        return content_hash(
            _identity_key(identity, attempt), counts, *earlier, "", *events
        )

    def make_version(
        self,
        draft: Summary,
        identity: str,
        digest: str,
        weighed: WordWeights | None = None,
    ) -> NewVersion:
        """Return a version of the node made from a summarizer's draft.

        The digest is the ``input_hash``; the words' weights may be known already.
        """
        segment, bounds, session = self.segment, self.range, self.session
        cleaned = _redact_draft(sanitize_draft(self._with_work(draft)))
        ground = partial(
            acceptance.ground_segment, events=segment.events, node_id=self.name
        )
        grounded = ground(cleaned)
        if draft.generation.model:
            extract = self._with_work(self.draft(ExtractiveSummarizer()))
            grounded = grounded.with_extract(ground(_redact_draft(extract)))
        node = TocNode(
            node_id=self.name,
            level=TocLevel.SEGMENT,
            title=grounded.title,
            headline=grounded.title,
            start_time=segment.start_time,
            end_time=segment.end_time,
            keywords=keywords.segment_keywords(
                segment.events, cleaned.keywords, weighed
            ),
            status=NodeStatus.PROVISIONAL if bounds.is_open else NodeStatus.CURRENT,
            counts=NodeCounts(
                1, bounds.events, bounds.messages, bounds.subagent_events
            ),
            agents=(session.agent,),
            projects=(session.project,) if session.project else (),
        )
        whole = _with_summary(node, grounded, cleaned, identity, digest)
        return NewVersion(whole, grounded.grips, bounds.is_open)

    def _with_work(self, draft: Summary) -> Summary:
        project, session_id = self.session.project, self.session.session_id
        bullets = (
            replace(one, project=project, session_id=session_id)
            for one in draft.bullets
        )
        return replace(draft, bullets=tuple(bullets))


@dataclass(frozen=True, slots=True)
class ParentInput:
    """A day, week, month or year to summarize, with its children."""

    name: str
    children: tuple[TocNode, ...]
    """The oldest first, none of them pending."""
    is_live: bool
    zone: tzinfo
    totals: Mapping[str, ProjectTotals]

    def draft(self, summarizer: Summarizer, attempt: int = 0) -> Summary:
        level = calendar.period(self.name).level
        return summarizer.summarize_children(
            level, self.children, totals=self.totals, attempt=attempt
        )

    def input_hash(self, identity: str, attempt: int = 0) -> str:
        """Return a hash of the input: the children and the hashes of their input."""
        made_of = (f"{child.node_id} {child.input_hash}" for child in self.children)
        return content_hash(
            _identity_key(identity, attempt), str(self.is_live), *made_of
        )

    def make_version(self, draft: Summary, identity: str, digest: str) -> NewVersion:
        """Return a version of the node; see ``SegmentInput.make_version``."""
        level = calendar.period(self.name).level
        start, end = calendar.bounds(self.name, self.zone)
        cleaned = _redact_draft(sanitize_draft(draft, HEADLINE_CHARS))
        grounded = acceptance.ground_parent(
            cleaned, self.children, conversations.read_grips
        )
        if draft.generation.model:
            extract = _redact_draft(self.draft(ExtractiveSummarizer()))
            found = acceptance.ground_parent(
                extract, self.children, conversations.read_grips
            )
            grounded = grounded.with_extract(found)
        node = TocNode(
            node_id=self.name,
            level=level,
            title=calendar.title(self.name),
            start_time=start,
            end_time=end,
            keywords=keywords.parent_keywords(
                level, [child.keywords for child in self.children], cleaned.keywords
            ),
            child_node_ids=tuple(child.node_id for child in self.children),
            headline=grounded.title,
            status=NodeStatus.PROVISIONAL if self.is_live else NodeStatus.CURRENT,
            counts=sum((child.counts for child in self.children), NodeCounts()),
            agents=_union(child.agents for child in self.children),
            projects=_union(child.projects for child in self.children),
        )
        return NewVersion(
            _with_summary(node, grounded, cleaned, identity, digest), (), self.is_live
        )


def read_segment_work(
    bounds: SegmentRange,
    session_rows: Mapping[int, Session],
    rules: SegmentRules,
) -> SegmentInput | None:
    """Read a segment and its overlap; None if none of its events can be read."""
    session = session_rows[bounds.session_number]
    overlap_ms = round(rules.overlap_s * 1000)
    found, earlier = conversations.read_segment(bounds, overlap_ms)
    if not found.events:
        return None
    overlap = overlap_before(earlier, found.events[0], rules)
    title = session.agent_title if segments.is_first(bounds) else ""
    prompts = conversations.list_prompts_before(
        bounds.session_number, found.events[0], EARLIER_PROMPTS
    )
    whole = replace(
        found,
        overlap_events=overlap,
        earlier_prompts=tuple(prompts),
        session_title=title,
        is_in_repository=bool(session.branch),
    )
    return SegmentInput(bounds, whole, session)


def read_parent_work(name: str, zone: tzinfo) -> ParentInput:
    """Read what a node is summarized from; there may be nothing."""
    ids = nodes.list_part_ids(name)
    children = tuple(
        c for c in nodes.get_many(ids) if c.status is not NodeStatus.PENDING
    )
    start, end = map(to_ms, calendar.bounds(name, zone))
    is_day = calendar.period(name).level is TocLevel.DAY
    totals = NO_TOTALS if is_day else nodes.project_totals(start, end)
    return ParentInput(name, children, bool(nodes.filter_live(ids)), zone, totals)


def _redact_draft(draft: Summary) -> Summary:
    """Return a draft without secrets; a model may join the parts of one."""

    def clean(text: str) -> str:
        return secrets.redact(text).text

    return replace(
        draft,
        title=clean(draft.title),
        bullets=tuple(replace(one, text=clean(one.text)) for one in draft.bullets),
        keywords=tuple(map(clean, draft.keywords)),
    )


def _identity_key(identity: str, attempt: int) -> str:
    return f"{identity} {GROUNDING_VERSION} {attempt or ''}".strip()


def _with_summary(
    node: TocNode, grounded: GroundedSummary, draft: Summary, identity: str, digest: str
) -> TocNode:
    is_models = bool(draft.generation.model)
    return replace(
        node,
        bullets=grounded.bullets,
        withheld=grounded.withheld,
        summarizer=identity,
        input_hash=digest,
        generation=draft.generation,
        rejection=grounded.rejection if is_models else "",
    )


def _union(names: Iterable[Sequence[str]]) -> tuple[str, ...]:
    return tuple(sorted({name for some in names for name in some}))


SEGMENTS_AT_ONCE = 20


class SummaryStage:
    """Summarizes pending segments."""

    def __init__(self, config: "PipelineConfig", changed: ChangedNodes) -> None:
        self._summarizer, self._rules = config.summarizer, config.rules
        self._zone, self._clock, self._changed = config.zone, config.clock, changed
        self._is_renewed = False

    def step(self) -> int:
        """Summarize a batch of segments; return how many were tried."""
        if not self._is_renewed:
            self._request_outdated()
        now_ms = to_ms(self._clock())
        with database.connection():
            waiting = segments.list_pending(now_ms, SEGMENTS_AT_ONCE)
            session_rows = sessions.get_many(
                {bounds.session_number for bounds in waiting}
            )
            read = [
                (one, read_segment_work(one, session_rows, self._rules))
                for one in waiting
            ]
        if not read:
            return 0
        work = [item for _, item in read if item]
        made: list[NewVersion] = []
        terms: list[SegmentTerms] = []
        done = [bounds for bounds, item in read if item is None]
        failed: list[tuple[SegmentInput, Exception]] = []
        for item in work:
            result = try_item(partial(self._make, item))
            if isinstance(result, Exception):
                failed.append((item, result))
            else:
                made.append(result[0])
                terms.append(result[1])
                done.append(item.range)
        with database.transaction():
            self._save(made, now_ms)
            segments.add_terms(
                terms,
                keywords.surprise_score,
                keywords.MAX_SESSIONS_PER_TERM,
            )
            segments.set_summarized(done)
            for item, _ in failed:
                segments.set_failed(item.name, now_ms)
            self._mark_parents([item.name for item in work])
        if failed:
            item, error = failed[-1]
            raise SummaryFailedError(item.name) from error
        return len(read)

    def _request_outdated(self) -> None:
        """At the start, request summaries again that were made by other rules."""
        rules = f"{self._summarizer.identity} {GROUNDING_VERSION}"
        with database.connection():
            if meta.read(meta.SUMMARY_RULES) != rules:
                with database.transaction():
                    segments.request_all_summaries()
                    queues.add_all_rollups()
                    meta.write(meta.SUMMARY_RULES, rules)
        self._is_renewed = True

    def _make(self, work: SegmentInput) -> tuple[NewVersion, SegmentTerms]:
        identity = self._summarizer.identity
        draft = work.draft(self._summarizer)
        weighed = keywords.weigh_words(work.segment.events)
        digest = work.input_hash(identity)
        made = work.make_version(draft, identity, digest, weighed)
        terms = keywords.surprise_terms(weighed.weights)
        return made, SegmentTerms(work.name, work.range.session_number, terms)

    def _save(self, made: Sequence[NewVersion], now_ms: int) -> None:
        before = versions.get_input_hashes([one.node.node_id for one in made])
        news = []
        for one in made:
            name = one.node.node_id
            if before.get(name) == one.node.input_hash:
                queues.set_rolled_up(name, is_live=one.is_live)
            else:
                news.append(one)
        versions.add_grips([grip for one in news for grip in one.grips])
        versions.add([(one.node, one.is_live) for one in news], now_ms)
        queues.add_nodes([one.node.node_id for one in news], now_ms)

    def _mark_parents(self, names: Sequence[str]) -> None:
        days = {str(calendar.parent_id(name)) for name in names}
        queues.add_rollups(days, self._zone)
        self._changed.update(names, (a for day in days for a in calendar.path(day)))


class SummaryFailedError(Exception):
    """A segment could not be summarized; it will be tried again."""


# Roll-ups: days are summarized from their segments, weeks and months from their days,
# years from their months. They start when no segment is pending, so that each node is
# made once however many segments arrive; while segments keep arriving, now and then.

NODES_AT_ONCE = 20

PATIENCE_S = 10.0
"""Seconds to wait for pending segments."""

MAX_SHARE = 10
"""While segments keep arriving, roll-ups take at most 1/MAX_SHARE of the time."""

UPWARDS = (TocLevel.DAY, TocLevel.WEEK, TocLevel.MONTH, TocLevel.YEAR)


class RollupStage:
    """Makes the summaries of nodes from those of their parts."""

    def __init__(
        self,
        config: "PipelineConfig",
        changed: ChangedNodes,
        *,
        is_more_read: Callable[[], bool],
    ) -> None:
        self._summarizer, self._zone = config.summarizer, config.zone
        self._clock, self._changed = config.clock, changed
        self._is_more_read = is_more_read
        self._walk: Iterator[Sequence[str]] | None = None
        self._waiting_since_s: float | None = None
        self._spent_s = 0.0

    def step(self) -> int:
        """Roll up a batch of nodes of one level; return how many were tried."""
        begun_s = time.monotonic()
        now_ms = to_ms(self._clock())
        if not (names := self._next(now_ms, begun_s)):
            return 0
        errors = [error for name in names if (error := self._try_roll_up(name, now_ms))]
        self._changed.update(names)
        self._spent_s += time.monotonic() - begun_s
        if errors:
            level = calendar.period(names[0]).level
            raise RollupFailedError(level.value) from errors[-1]
        return len(names)

    def _next(self, now_ms: int, now_s: float) -> Sequence[str]:
        if self._walk and (names := next(self._walk, ())):
            return names
        self._walk = None
        if not self._can_start(now_ms, now_s):
            return ()
        self._walk, self._waiting_since_s, self._spent_s = self._walk_up(), None, 0.0
        return next(self._walk, ())

    def _can_start(self, now_ms: int, now_s: float) -> bool:
        """Return whether nothing more is pending, or has been for too long."""
        with database.connection():
            if not any(queues.list_due_rollups(level, now_ms, 1) for level in UPWARDS):
                return False
            is_quiet = not (
                self._is_more_read()
                or segments.list_pending(now_ms, 1)
                or queues.list_changed_sessions(1)
            )
        if self._waiting_since_s is None:
            self._waiting_since_s = now_s
        patience_s = max(PATIENCE_S, self._spent_s * MAX_SHARE)
        return is_quiet or now_s - self._waiting_since_s >= patience_s

    def _walk_up(self) -> Iterator[Sequence[str]]:
        """Yield the queued nodes, level by level from the days up."""
        for level in UPWARDS:
            after_ms: int | None = None
            while True:
                now_ms = to_ms(self._clock())
                with database.connection():
                    names = queues.list_due_rollups(
                        level, now_ms, NODES_AT_ONCE, after_ms=after_ms
                    )
                if not names:
                    break
                after_ms = to_ms(calendar.bounds(names[-1], self._zone)[0])
                yield names

    def _try_roll_up(self, name: str, now_ms: int) -> Exception | None:
        error = try_item(lambda: self._roll_up(name, now_ms))
        if error:
            with database.transaction():
                queues.set_rollup_failed(name, now_ms)
        return error

    def _roll_up(self, name: str, now_ms: int) -> None:
        with database.connection():
            work = read_parent_work(name, self._zone)
            before = versions.get_input_hashes([name])
        if not work.children:
            self._save(None, name, now_ms)
            return
        identity = self._summarizer.identity
        digest = work.input_hash(identity)
        if before.get(name) == digest:
            with database.transaction():
                queues.set_rolled_up(name, is_live=work.is_live)
            return
        draft = work.draft(self._summarizer)
        self._save(work.make_version(draft, identity, digest), name, now_ms)

    def _save(self, made: NewVersion | None, name: str, now_ms: int) -> None:
        with database.transaction():
            if made:
                versions.add([(made.node, made.is_live)], now_ms)
            else:
                nodes.delete([name])
            queues.add_nodes([name], now_ms)
            above = calendar.rolled_into(name)
            queues.add_rollups(above, self._zone)
            self._changed.update(above)
            self._checkpoint(name, now_ms)

    def _checkpoint(self, name: str, now_ms: int) -> None:
        level = calendar.period(name).level
        job = f"rollup_{level}"
        before = jobs.get_checkpoint(job)
        jobs.save_checkpoint(
            jobs.Checkpoint(
                job_name=job,
                level=level,
                last_processed_time=calendar.bounds(name, self._zone)[1],
                processed_count=(before.processed_count if before else 0) + 1,
                created_at=from_ms(now_ms),
            )
        )


class RollupFailedError(Exception):
    """A node could not be rolled up; it will be tried again."""
