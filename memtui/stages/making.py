"""Making a node: every summariser's draft passes this one gate.

What a summariser answers is text from outside: it is cleaned, its claims are held
against what they are about, and only then does it become a version of the node.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo

from memtui.llm import Summarizer
from memtui.memory import audit, calendar, hashes, keywords, secrets, vouching
from memtui.memory.grips import Grip
from memtui.memory.keywords import Weighed
from memtui.memory.segments import Rules, Segment, overlap
from memtui.memory.sessions import Session
from memtui.memory.summaries import Summary, sane
from memtui.memory.toc import Status, Tally, TocLevel, TocNode
from memtui.memory.vouching import Vouched
from memtui.store import grips as kept_grips
from memtui.store import segments, toc
from memtui.store.segments import Stretch

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
        return replace(self, node=replace(self.node, rejected=told))


@dataclass(frozen=True, slots=True)
class OfSegment:
    """A segment to be summarised, with all that its node tells."""

    stretch: Stretch
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
        return hashes.of(_who(identity, attempt), counts, *context, "", *told)

    def made(
        self,
        draft: Summary,
        identity: str,
        digest: str,
        instead: str,
        weighed: Weighed | None = None,
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
        sound = _redacted(sane(draft))
        vouched = vouching.of_segment(
            sound, segment.events, node_id=self.name, source=SOURCE
        )
        node = TocNode(
            node_id=self.name,
            level=TocLevel.SEGMENT,
            title=vouched.title or instead,
            headline=vouched.title or instead,
            start_time=segment.start_time,
            end_time=segment.end_time,
            keywords=keywords.of_events(segment.events, sound.keywords, weighed),
            status=Status.PROVISIONAL if stretch.is_open else Status.CURRENT,
            tally=Tally(1, stretch.events, stretch.messages, stretch.subagent_events),
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
        return hashes.of(_who(identity, attempt), str(self.is_live), *made_of)

    def made(self, draft: Summary, identity: str, digest: str, instead: str) -> Made:
        """A version of the node; see ``OfSegment.made``."""
        level = calendar.period(self.name).level
        start, end = calendar.bounds(self.name, self.zone)
        sound = _redacted(sane(draft))
        vouched = vouching.of_children(sound, self.children, kept_grips.leaves)
        node = TocNode(
            node_id=self.name,
            level=level,
            title=calendar.title(self.name),
            start_time=start,
            end_time=end,
            keywords=keywords.of_children(
                level, [child.keywords for child in self.children], sound.keywords
            ),
            child_node_ids=tuple(child.node_id for child in self.children),
            headline=vouched.title or instead,
            status=Status.PROVISIONAL if self.is_live else Status.CURRENT,
            tally=_sum(child.tally for child in self.children),
            agents=_all(child.agents for child in self.children),
            projects=_all(child.projects for child in self.children),
        )
        return Made(_with(node, vouched, sound, identity, digest), (), self.is_live)


def segment(
    stretch: Stretch, told_in: Mapping[int, Session], rules: Rules
) -> OfSegment:
    """Read a segment.

    Args:
        stretch: Which.
        told_in: Its session, by its number in the store.
        rules: How far back its context reaches.
    """
    session = told_in[stretch.number]
    context_ms = round(rules.overlap_s * 1000)
    found, earlier = segments.whole(stretch, context_ms)
    context = overlap(earlier, found.events[0], rules)
    whole = replace(found, overlap_events=context)
    return OfSegment(stretch, whole, session.agent, session.project)


def parent(name: str, zone: tzinfo) -> OfChildren:
    """Read a node's children; there may be none."""
    ids = toc.child_ids(name)
    children = tuple(c for c in toc.nodes(ids) if c.status is not Status.PENDING)
    return OfChildren(name, children, bool(toc.live_among(ids)), zone)


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
    return f"{identity} {audit.RULE} {attempt or ''}".strip()


def _with(
    node: TocNode, vouched: Vouched, draft: Summary, identity: str, digest: str
) -> TocNode:
    is_models = bool(draft.facts.model)
    return replace(
        node,
        bullets=vouched.bullets,
        withheld=vouched.withheld,
        summarizer=identity,
        input_hash=digest,
        facts=draft.facts,
        rejected=vouched.why_not if is_models else "",
    )


def _sum(tallies: Iterable[Tally]) -> Tally:
    rows = list(tallies)
    return Tally(
        segments=sum(row.segments for row in rows),
        events=sum(row.events for row in rows),
        messages=sum(row.messages for row in rows),
        subagent_events=sum(row.subagent_events for row in rows),
    )


def _all(names: Iterable[Sequence[str]]) -> tuple[str, ...]:
    return tuple(sorted({name for some in names for name in some}))
