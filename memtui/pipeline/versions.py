"""Build versions of nodes from the drafts of summarizers.

An extract is a version of one segment. A model reads a whole session in one request;
each of its lines goes to the segment that holds the evidence. A day or a longer period
is described by the work of its sessions. What a model wrote is checked here, so that
all models pass the same checks; lines are withheld, and never reworded.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import tzinfo

from memtui import redaction
from memtui.model import calendar
from memtui.model.calendar import TocLevel
from memtui.model.citations import Grip, grip_id
from memtui.model.events import (
    Event,
    EventRole,
    clean,
    content_hash,
    counted_text,
    from_ms,
)
from memtui.model.nodes import (
    BULLET_COUNTS,
    FACTS,
    HEADLINE_CHARS,
    TITLE_CHARS,
    Bullet,
    BulletKind,
    DraftBullet,
    NodeCounts,
    NodeStatus,
    Summary,
    TocNode,
)
from memtui.model.quantities import plural
from memtui.model.sessions import PeriodWork, Session
from memtui.model.verdicts import (
    SUPPORTED,
    EventQuote,
    Objection,
    Support,
    Verdict,
    VerdictFeatures,
    hash_quote,
)
from memtui.model.work import Facts, Line
from memtui.store import (
    conversations,
    entries,
    nodes,
    segments,
    sessions,
    work,
)
from memtui.store.judgements import ByText
from memtui.store.segments import SegmentRange
from memtui.summarize import card, keywords, rollup
from memtui.summarize.grounding import checks
from memtui.summarize.grounding.checks import GroundedBullet
from memtui.summarize.grounding.passages import Evidence
from memtui.summarize.summarizer import Summarizer
from memtui.text import analyzer, plain, sentences

SOURCE = "segment_summarizer"
"""The process that makes grips, recorded with each."""


@dataclass(frozen=True, slots=True)
class NewVersion:
    """A new version of a node, with its new grips."""

    node: TocNode
    grips: tuple[Grip, ...] = ()


# Extracts of segments


@dataclass(frozen=True, slots=True)
class SegmentInput:
    """A segment to summarize, with what its node needs."""

    range: SegmentRange
    events: tuple[Event, ...]
    """The oldest first; at least one."""
    session: Session
    earlier_request: str = ""
    """The user's last message before it, if it has none."""
    judgements: ByText = field(default_factory=dict)
    """The judgements about the lines of its session."""

    @property
    def name(self) -> str:
        return self.range.segment_id

    def input_hash(self, identity: str, facts: Facts) -> str:
        """Return a hash of the input.

        Events never change, so their ids suffice; facts may be judged.
        """
        bounds = self.range
        counts = f"{bounds.is_open} {bounds.subagent_events} {self.session.project}"
        events = (event.event_id for event in self.events)
        judged = work.facts_to_json(facts)
        return content_hash(identity, counts, self.earlier_request, judged, *events)

    def make_version(self, draft: Summary, facts: Facts, identity: str) -> NewVersion:
        """Return the version of the node that is an extract."""
        draft = _map_texts(draft, _one_line)
        bullets, grips = _link_extract(self, draft.bullets)
        # The page of the session links to events that no bullet of a segment names.
        lines = card.list_session_lines(facts, card.describe_session(facts))
        _, further_grips = _link_extract(self, lines)
        node = _segment_node(self.range, self.session, draft.title, bullets)
        node = replace(
            node,
            keywords=keywords.segment_keywords(self.events),
            summarizer=identity,
            input_hash=self.input_hash(identity, facts),
        )
        return NewVersion(node, tuple({**further_grips, **grips}.values()))


def _segment_node(
    bounds: SegmentRange, session: Session, title: str, bullets: Sequence[Bullet]
) -> TocNode:
    displayed, further = _limit(bullets, (), BULLET_COUNTS[TocLevel.SEGMENT][1])
    return TocNode(
        node_id=bounds.segment_id,
        level=TocLevel.SEGMENT,
        title=title,
        headline=title,
        start_time=from_ms(bounds.start_ms),
        end_time=from_ms(bounds.end_ms),
        bullets=displayed,
        further=further,
        status=NodeStatus.PROVISIONAL if bounds.is_open else NodeStatus.CURRENT,
        counts=NodeCounts(1, bounds.events, bounds.messages, bounds.subagent_events),
        agents=(session.agent,),
        projects=(session.project,) if session.project else (),
    )


def _link_extract(
    source: SegmentInput, lines: Sequence[DraftBullet]
) -> tuple[list[Bullet], dict[str, Grip]]:
    """Return lines as bullets, each with a grip for each of its events."""
    events = {event.event_id: event for event in source.events}
    grips: dict[str, Grip] = {}
    bullets = []
    for line in lines:
        sources = [events[name] for name in line.event_ids if name in events]
        terms = analyzer.query_terms(line.text)
        quotes = [_quote(line.text, event, terms, source.name) for event in sources]
        grips |= {grip.grip_id: grip for grip, _ in quotes}
        verdict = Verdict(
            Support.SUPPORTED,
            VerdictFeatures(1.0, len(terms)),
            tuple(sorted(set(terms))),
            spans=tuple(span for _, span in quotes if span),
        )
        ids = tuple(grip.grip_id for grip, _ in quotes)
        bullets.append(_bullet(line, ids, verdict, source.session))
    return bullets, grips


def _quote(
    text: str, event: Event, terms: Iterable[str], node_id: str
) -> tuple[Grip, EventQuote | None]:
    """Return a grip to an event, and the place of the excerpt in it."""
    excerpt = text if text in event.text else ""
    if not excerpt:
        excerpt = sentences.best_excerpt(counted_text(event), dict.fromkeys(terms, 1.0))
    excerpt = sentences.truncate(excerpt, sentences.EXCERPT_CHARS)
    start = event.text.find(excerpt.removesuffix("…")) if excerpt else -1
    span = None
    if start >= 0:
        end = start + len(excerpt.removesuffix("…"))
        quoted = event.text[start:end]
        span = EventQuote(event.event_id, start, end, hash_quote(quoted))
    return _grip(text, event, event, event, excerpt, node_id), span


def _grip(
    text: str, first: Event, last: Event, best: Event, excerpt: str, node_id: str
) -> Grip:
    return Grip(
        grip_id=grip_id(node_id, text, first),
        excerpt=excerpt,
        event_id_start=first.event_id,
        event_id_end=last.event_id,
        timestamp=best.timestamp,
        source=SOURCE,
        toc_node_id=node_id,
    )


def _bullet(
    line: DraftBullet, grip_ids: tuple[str, ...], verdict: Verdict, session: Session
) -> Bullet:
    return Bullet(
        line.text, grip_ids, verdict, line.kind, session.project, session.session_id
    )


def read_segment_input(
    bounds: SegmentRange, session_rows: Mapping[int, Session]
) -> SegmentInput | None:
    """Read a segment; None if none of its events can be read."""
    session = session_rows[bounds.session_number]
    events = conversations.read_segment(bounds)
    if not events:
        return None
    request = ""
    if not any(event.role is EventRole.USER for event in events):
        prompt = conversations.last_prompt_before(bounds.session_number, events[0])
        request = prompt.text if prompt else ""
    judged = work.read_judgements(bounds.session_number)
    return SegmentInput(bounds, tuple(events), session, request, judged)


# A model's summary of a session


@dataclass(frozen=True, slots=True)
class SessionInput:
    """A session for a model to summarize, with the segments it consists of."""

    session: Session
    parts: tuple[tuple[SegmentRange, tuple[Event, ...]], ...]
    """The segments with their events, oldest first; of tools only what is counted."""
    facts: Facts
    """The facts in the whole events."""

    @property
    def number(self) -> int:
        return self.parts[0][0].session_number

    @property
    def node_ids(self) -> list[str]:
        return [bounds.segment_id for bounds, _ in self.parts]

    @property
    def events(self) -> tuple[Event, ...]:
        return tuple(event for _, events in self.parts for event in events)

    def draft(self, summarizer: Summarizer, attempt: int = 0) -> Summary:
        return summarizer.summarize_events(self.events, self.facts, attempt=attempt)

    def input_hash(self, identity: str, attempt: int = 0) -> str:
        event_ids = (event.event_id for event in self.events)
        return content_hash(_identity_key(identity, attempt), *event_ids)

    def make_versions(
        self,
        draft: Summary,
        identity: str,
        digest: str,
    ) -> list[NewVersion]:
        """Return versions of the segments that hold evidence of a model's lines.

        Args:
            draft: What the model wrote.
            identity: The model.
            digest: The ``input_hash``.
        """
        draft = _redact_draft(draft)
        extracts = {node.node_id: node for node in nodes.get_extracts(self.node_ids)}
        evidence = Evidence(self.events, self._list_evidence(), self.facts)
        title, withheld_title = _check_title(draft.title, evidence)
        lines = _group_by_segment(
            checks.ground_bullets(draft.bullets, evidence), self.parts
        )
        if not lines and extracts:
            lines = {self.node_ids[-1]: []}
        new_versions = []
        for bounds, part_events in self.parts:
            extract = extracts.get(bounds.segment_id)
            if bounds.segment_id not in lines or extract is None:
                continue
            version = self._make_version(
                bounds, lines[bounds.segment_id], extract, evidence, title
            )
            node = replace(
                version.node,
                withheld=(*withheld_title, *version.node.withheld),
                keywords=keywords.segment_keywords(part_events, draft.keywords),
                session_title=title,
                summarizer=identity,
                input_hash=digest,
                generation=draft.generation,
            )
            new_versions.append(replace(version, node=node))
            withheld_title = ()
        return new_versions

    def _make_version(
        self,
        bounds: SegmentRange,
        lines: Sequence[GroundedBullet],
        extract: TocNode,
        evidence: Evidence,
        session_title: str,
    ) -> NewVersion:
        """Return a segment's version with the lines that belong to it."""
        grips: dict[str, Grip] = {}
        kept: list[Bullet] = []
        withheld: list[Bullet] = []
        for line in lines:
            grip = _grip_of_line(line, bounds.segment_id)
            if grip:
                grips[grip.grip_id] = grip
            ids = (grip.grip_id,) if grip else ()
            bullet = _bullet(line.draft, ids, line.verdict, self.session)
            (withheld if line.verdict.objection else kept).append(bullet)
        title = session_title if len(self.parts) == 1 else ""
        if not title:
            title, withheld_titles = _title_of_works(
                [line.draft for line in lines if not line.verdict.objection], evidence
            )
            withheld += withheld_titles
        bullets = _beside_facts(kept, extract)
        node = _segment_node(bounds, self.session, title or extract.headline, bullets)
        node = replace(node, withheld=tuple(withheld))
        if not (kept or title):
            reasons = Counter(bullet.verdict.objection for bullet in withheld)
            why = describe_withheld(reasons) if withheld else "nothing was written"
            node = replace(node, rejection=why)
        return NewVersion(node, tuple(grips.values()))

    def _list_evidence(self) -> list[Line]:
        """Return what is known of the session besides its events and facts."""
        session = self.session
        texts = (session.project, session.branch, session.cwd, session.agent_title)
        return [Line(text, self.facts.end_event_id) for text in texts if text]


def describe_withheld(reasons: Mapping[Objection, int]) -> str:
    """Return why lines of a model were withheld: "2 × no source, said twice"."""
    return ", ".join(
        f"{count} × {reason}" if count > 1 else str(reason)
        for reason, count in Counter(reasons).most_common()
    )


def _grip_of_line(line: GroundedBullet, node_id: str) -> Grip | None:
    if not (line.first and line.last and line.best):
        return None
    text = line.draft.text
    return _grip(text, line.first, line.last, line.best, line.excerpt, node_id)


def _beside_facts(kept: Sequence[Bullet], extract: TocNode) -> list[Bullet]:
    """Return a model's lines with the facts of the extract.

    What was asked comes first if there is room.
    """
    lines = [*extract.bullets, *extract.further]
    lines = [bullet for bullet in lines if bullet.kind is not BulletKind.MORE]
    if not kept:
        return lines
    asked = [bullet for bullet in lines if bullet.kind is BulletKind.ASKED]
    bullets = [*kept, *(bullet for bullet in lines if bullet.kind in FACTS)]
    has_room = len(bullets) < BULLET_COUNTS[TocLevel.SEGMENT][1]
    return [*asked, *bullets] if has_room else bullets


def _limit(
    bullets: Sequence[Bullet], further: Sequence[Bullet], most: int
) -> tuple[tuple[Bullet, ...], tuple[Bullet, ...]]:
    """Return at most so many bullets, and those that are not shown.

    The last bullet says what else there is.
    """
    if len(bullets) <= most and not further:
        return tuple(bullets), ()
    further = (*bullets[most - 1 :], *further)
    kinds = dict.fromkeys(bullet.kind.value for bullet in further)
    text = f"and {len(further)} more: {', '.join(kinds)}"
    grips = dict.fromkeys(name for bullet in further for name in bullet.grip_ids)
    more = Bullet(text, tuple(grips), SUPPORTED, BulletKind.MORE, bullets[0].project)
    return (*bullets[: most - 1], more), further


def _group_by_segment(
    lines: Sequence[GroundedBullet],
    parts: Sequence[tuple[SegmentRange, Sequence[Event]]],
) -> dict[str, list[GroundedBullet]]:
    """Return the lines of each segment: that of their evidence, else of what they
    cite, else the last one."""
    segment_of = {
        event.event_id: bounds.segment_id
        for bounds, events in parts
        for event in events
    }
    groups: dict[str, list[GroundedBullet]] = {}
    for line in lines:
        event_ids = [line.best.event_id] if line.best else []
        event_ids += line.draft.event_ids
        held_by = [segment_of[name] for name in event_ids if name in segment_of]
        segment_id = held_by[0] if held_by else parts[-1][0].segment_id
        groups.setdefault(segment_id, []).append(line)
    return groups


def _check_title(title: str, evidence: Evidence) -> tuple[str, tuple[Bullet, ...]]:
    """Return a model's title, or "" and the withheld bullet with the reason."""
    title = plain.shorten(" ".join(title.split()), TITLE_CHARS)
    objection, missing = checks.find_title_objection(title, evidence)
    if not objection:
        return title, ()
    verdict = Verdict(
        Support.UNSUPPORTED,
        VerdictFeatures(missing=missing),
        is_by_model=True,
        objection=objection,
    )
    return "", (Bullet(title, (), verdict, BulletKind.TITLE),) if title else ()


def _title_of_works(
    lines: Sequence[DraftBullet], evidence: Evidence
) -> tuple[str, list[Bullet]]:
    """Return the titles of pieces of work as one, and those that are withheld."""
    joined = ""
    withheld: list[Bullet] = []
    for work_title in dict.fromkeys(line.work for line in lines if line.work):
        title, objections = _check_title(work_title, evidence)
        withheld += objections
        longer = f"{joined}; {title}" if joined and title else joined or title
        joined = longer if len(longer) <= TITLE_CHARS else joined
    return joined, withheld


def read_session_input(segment_id: str) -> SessionInput | None:
    """Read the session of a segment; None if none of it can be read."""
    bounds = segments.get(segment_id)
    if bounds is None:
        return None
    session = sessions.get_many([bounds.session_number]).get(bounds.session_number)
    parts = []
    for part in segments.list_since(bounds.session_number, 0):
        whole_events = conversations.read_segment(part)
        events = tuple(
            event if event.is_message else replace(event, text=counted_text(event))
            for event in whole_events
        )
        if events:
            parts.append((part, events))
    if session is None or not parts:
        return None
    facts = work.read_facts(bounds.session_number)
    return SessionInput(session, tuple(parts), facts)


# Roll-ups


@dataclass(frozen=True, slots=True)
class ParentInput:
    """A day, week, month or year to summarize, with its children."""

    name: str
    children: tuple[TocNode, ...]
    """The oldest first; a pending one has its counts, and no summary."""
    works: tuple[PeriodWork, ...]
    """The work of its sessions, the oldest first."""
    is_live: bool
    zone: tzinfo

    @property
    def node_ids(self) -> list[str]:
        return [self.name]

    @property
    def level(self) -> TocLevel:
        return calendar.period(self.name).level

    def draft(self, summarizer: Summarizer, attempt: int = 0) -> Summary:
        return summarizer.summarize_children(self.level, self.works, attempt=attempt)

    def input_hash(self, identity: str, attempt: int = 0) -> str:
        """Return a hash of the input: the children, and the work of sessions."""
        made_of = (
            f"{child.node_id} {child.input_hash or child.counts}"
            for child in self.children
        )
        works = (repr(session_work) for session_work in self.works)
        key = _identity_key(identity, attempt)
        return content_hash(key, str(self.is_live), *made_of, "", *works)

    def make_versions(
        self, draft: Summary, identity: str, digest: str
    ) -> list[NewVersion]:
        """Return the version of the node by a model, in a list."""
        return [self.make_version(draft, identity, digest)]

    def make_version(self, draft: Summary, identity: str, digest: str) -> NewVersion:
        """Return a version of the node, from an extract or from what a model wrote."""
        start, end = calendar.bounds(self.name, self.zone)
        extract = rollup.summarize_period(self.level, self.works)
        headline = extract.title
        bullets: Sequence[Bullet] = work.link_lines(extract.bullets)
        further: Sequence[Bullet] = ()
        withheld: Sequence[Bullet] = ()
        rejection = ""
        if draft.generation.model:
            headline, bullets, further, withheld = self._judge(
                _redact_draft(draft), bullets
            )
            if headline == extract.title and not any(
                bullet.is_checked for bullet in bullets
            ):
                rejection = "nothing of it can be shown"
        node = TocNode(
            node_id=self.name,
            level=self.level,
            title=calendar.title(self.name),
            start_time=start,
            end_time=end,
            bullets=tuple(bullets),
            further=tuple(further),
            withheld=tuple(withheld),
            keywords=keywords.parent_keywords(
                self.level, [child.keywords for child in self.children]
            ),
            child_node_ids=tuple(child.node_id for child in self.children),
            headline=headline,
            status=NodeStatus.PROVISIONAL if self.is_live else NodeStatus.CURRENT,
            summarizer=identity,
            input_hash=digest,
            counts=sum((child.counts for child in self.children), NodeCounts()),
            agents=_union(child.agents for child in self.children),
            projects=_union(child.projects for child in self.children),
            generation=draft.generation,
            rejection=rejection,
        )
        return NewVersion(node)

    def _judge(
        self, draft: Summary, bullets: Sequence[Bullet]
    ) -> tuple[str, Sequence[Bullet], Sequence[Bullet], Sequence[Bullet]]:
        """Return headline, bullets, further and withheld bullets of a model's draft.

        A line about a project takes the place of the names of its sessions; the counts
        stay.
        """
        lines = [
            f"{session.project}: {session.work.name} — {session.work.outcome}"
            f" ({session.work.state or ''}, {plural(session.messages, 'message')},"
            f" {plural(session.commits, 'commit')})"
            for session in self.works
        ]
        lines += [bullet.text for bullet in bullets]
        verdicts = checks.ground_lines(draft.bullets, lines)
        judged = [
            replace(bullet, verdict=verdict)
            for bullet, verdict in zip(
                work.link_lines(draft.bullets), verdicts, strict=True
            )
        ]
        kept = [bullet for bullet in judged if not bullet.verdict.objection]
        withheld = [bullet for bullet in judged if bullet.verdict.objection]
        evidence = Evidence((), [Line(line, "") for line in lines])
        title = plain.shorten(" ".join(draft.title.split()), HEADLINE_CHARS)
        headline, withheld_headline = _check_title(title, evidence)
        headline = headline or rollup.make_headline(self.works)
        merged, remaining = _merge_projects(bullets, kept)
        if self.level is TocLevel.DAY:
            remaining = []  # a day lists its sessions, and is asked for a headline only
        displayed, further = _limit(merged, remaining, BULLET_COUNTS[self.level][1])
        return headline, displayed, further, [*withheld, *withheld_headline]


def _merge_projects(
    extract: Sequence[Bullet], lines: Sequence[Bullet]
) -> tuple[list[Bullet], list[Bullet]]:
    """Return the bullets of a period, with a model's lines in place of names.

    Of several projects each has one line, and the remaining lines are returned beside
    them; of a single one, all lines follow its counts.
    """
    projects = [bullet for bullet in extract if bullet.kind is BulletKind.PROJECT]
    if len(projects) == 1 and lines:
        counts = replace(projects[0], text=projects[0].text.partition(": ")[0])
        return [counts, *lines], []
    names = {bullet.project for bullet in projects}
    own = {line.project: line for line in reversed(lines) if line.project in names}
    merged = [
        _with_counts(own[bullet.project], bullet)
        if bullet.kind is BulletKind.PROJECT and bullet.project in own
        else bullet
        for bullet in extract
    ]
    return merged, [line for line in lines if line is not own.get(line.project)]


def _with_counts(line: Bullet, extract: Bullet) -> Bullet:
    """Return a model's line about a project with the counts of the extract."""
    counts = extract.text.partition(": ")[0]
    return replace(extract, text=f"{line.text} ({counts})", verdict=line.verdict)


def read_parent_input(name: str, zone: tzinfo) -> ParentInput:
    """Read what a node is summarized from; there may be nothing."""
    ids = nodes.list_part_ids(name)
    children = {child.node_id: child for child in nodes.get_many(ids)}
    pending = [
        child.node_id
        for child in children.values()
        if child.status is NodeStatus.PENDING
    ]
    for entry in entries.get(pending):
        children[entry.node_id] = replace(
            children[entry.node_id],
            counts=entry.counts,
            agents=entry.agents,
            projects=entry.projects,
        )
    works = work.list_period_works(calendar.day_range(name))
    is_live = bool(nodes.filter_live(ids))
    return ParentInput(name, tuple(children.values()), tuple(works), is_live, zone)


def redact_reason(text: str) -> str:
    """Return why a version was rejected, without secrets that a reply contained."""
    return redaction.redact(text).text


def _redact_draft(draft: Summary) -> Summary:
    """Return a draft of a model without secrets; it may join the parts of one."""

    return _map_texts(draft, lambda text: redaction.redact(_one_line(text)).text)


def _map_texts(draft: Summary, change: Callable[[str], str]) -> Summary:
    return replace(
        draft,
        title=change(draft.title),
        bullets=tuple(
            replace(bullet, text=text, work=change(bullet.work))
            for bullet in draft.bullets
            if (text := change(bullet.text))
        ),
        keywords=tuple(map(change, draft.keywords)),
    )


def _one_line(text: str) -> str:
    return " ".join(clean(text).split())


def _identity_key(identity: str, attempt: int) -> str:
    return f"{identity} {checks.VERSION} {attempt or ''}".strip()


def _union(names: Iterable[Sequence[str]]) -> tuple[str, ...]:
    return tuple(sorted({name for part in names for name in part}))
