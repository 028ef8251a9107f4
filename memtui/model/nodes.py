"""The table of contents: year → month → week → day → segment.

A node summarizes a period or a segment. A new summary is a new version of the node;
existing versions are never changed.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from enum import StrEnum

from memtui.model import calendar
from memtui.model.calendar import DayRange, TocLevel
from memtui.model.judgements import HIDING, Judgement
from memtui.model.sessions import Session
from memtui.model.verdicts import UNCHECKED, Support, Verdict

# Summaries as they are written, before their bullets are checked


class BulletKind(StrEnum):
    """The kind of statement that a bullet makes."""

    NOTE = ""
    """A model's line about a period."""
    ASKED = "asked"
    OUTCOME = "outcome"
    DECISION = "decided"
    COMMIT = "commit"
    PULL_REQUEST = "pull request"
    TESTS = "tests"
    FILES = "files"
    FAILED = "failed"
    """Commands that failed."""
    LEFT_OPEN = "left open"
    STATE = "state"
    """The state of a session; no version has it, but it can be judged."""
    ADDED = "added"
    """A person's line."""
    WORK = "work"
    """The work of a session, in a day."""
    PROJECT = "project"
    """The work on a project, in a week or a longer period."""
    MORE = "more"
    """The number of lines that did not fit."""
    TITLE = "title"
    """A model's title of a session or of a piece of work; only withheld ones are
    bullets."""


QUOTED = frozenset((BulletKind.ASKED, BulletKind.OUTCOME))
"""Kinds that quote a message unless a model worded them."""

FACTS = frozenset(
    (
        BulletKind.COMMIT,
        BulletKind.PULL_REQUEST,
        BulletKind.TESTS,
        BulletKind.FILES,
        BulletKind.FAILED,
    )
)
"""Kinds that say what calls did; a model never words them."""

UNSEARCHED = frozenset((BulletKind.TESTS, BulletKind.PROJECT, BulletKind.MORE))
"""Kinds of numbers and counts, which are not searched."""


@dataclass(frozen=True, slots=True)
class DraftBullet:
    """A bullet as a summarizer writes it.

    ``event_ids`` are the events that it was taken from. For the line of a model they
    are a hint: what it is linked to is decided by its wording.
    """

    text: str
    event_ids: tuple[str, ...] = ()
    kind: BulletKind = BulletKind.NOTE
    project: str = ""
    """The project of the work; "" if unknown or if the node has only one."""
    session_id: str = ""
    """The session of the work; "" for several."""
    work: str = ""
    """A model's title of the piece of work that the line is about."""


@dataclass(frozen=True, slots=True)
class GenerationStats:
    """Measurements of how a model generated a summary; empty if no model did."""

    model: str = ""
    digest: str = ""
    """The digest of the model, which changes when its name is pulled again."""
    server: str = ""
    prompt: str = ""
    """The version of the prompt and of the schema."""
    options: str = ""
    """The options of the last request, as compact JSON."""
    requests: int = 0
    """The number of requests, including failed ones."""
    parts: int = 0
    """The number of parts that were read one by one."""
    prompt_tokens: int = 0
    reply_tokens: int = 0
    load_ms: int = 0
    prompt_ms: int = 0
    reply_ms: int = 0
    total_ms: int = 0
    """From the first request to the last reply, including waits."""
    was_truncated: bool = False
    """True if a reply reached its limit, so that its last bullet was dropped."""


NO_STATS = GenerationStats()


@dataclass(frozen=True, slots=True)
class Summary:
    """A title, a few bullets and keywords.

    ``keywords`` are what a model proposes beside those that are found without one.
    """

    title: str
    bullets: tuple[DraftBullet, ...]
    keywords: tuple[str, ...] = ()
    generation: GenerationStats = NO_STATS


BULLET_CHARS = 240
"""The maximum length of a bullet; a longer one is shortened."""

HEADLINE_CHARS = 160
"""The maximum length of the headline of a day or longer period."""

TITLE_CHARS = 96
"""The maximum length of a title; a longer one is shortened."""


@dataclass(frozen=True, slots=True)
class Keyword:
    """A keyword of a node."""

    word: str
    weight: float = 0.0
    """Its weight among the node's keywords."""


# Nodes

BULLET_COUNTS = {
    TocLevel.SEGMENT: (2, 5),
    TocLevel.DAY: (3, 8),
    TocLevel.WEEK: (5, 10),
    TocLevel.MONTH: (5, 8),
    TocLevel.YEAR: (3, 5),
}
"""The minimum and maximum number of bullets; fewer if there is little to summarize."""

MAX_KEYWORDS = {
    TocLevel.SEGMENT: 10,
    TocLevel.DAY: 10,
    TocLevel.WEEK: 10,
    TocLevel.MONTH: 7,
    TocLevel.YEAR: 7,
}


class NodeStatus(StrEnum):
    """The state of a node's summary."""

    PENDING = "pending"
    """It has no summary yet."""
    PROVISIONAL = "provisional"
    """It has a summary, but its period has not ended, or its segment is open."""
    CURRENT = "current"
    STALE = "stale"
    """Its summary is going to be replaced, usually because its content has changed."""


_UNLABELLED = {
    BulletKind.NOTE,
    BulletKind.OUTCOME,
    BulletKind.MORE,
    BulletKind.ADDED,
}
"""The text of these bullets says what they are."""


@dataclass(frozen=True, slots=True)
class Bullet:
    """A sentence of a node, with the grips that support it and its verdict."""

    text: str
    grip_ids: tuple[str, ...] = ()
    verdict: Verdict = UNCHECKED
    kind: BulletKind = BulletKind.NOTE
    project: str = ""
    session_id: str = ""
    judgement: Judgement | None = None
    """The last judgement about it."""

    @property
    def claim_text(self) -> str:
        """Its wording before any correction."""
        return self.judgement.claim.text if self.judgement else self.text

    @property
    def is_rejected(self) -> bool:
        """True if it is not shown because of a judgement."""
        return self.judgement is not None and self.judgement.ruling in HIDING

    @property
    def is_checked(self) -> bool:
        """True if its wording was checked, since a model wrote it."""
        return self.kind is BulletKind.NOTE or self.verdict.is_by_model

    @property
    def is_quote(self) -> bool:
        """True if it quotes a message."""
        is_corrected = self.judgement is not None and bool(self.judgement.words)
        return self.kind in QUOTED and not self.verdict.is_by_model and not is_corrected

    @property
    def labelled(self) -> str:
        """The text with its label or project, as in "left open: …"."""
        label = "" if self.kind in _UNLABELLED else self.kind.value
        if self.kind in (BulletKind.PROJECT, BulletKind.WORK):
            label = self.project
        if not label or self.text.startswith(f"{label}: "):
            return self.text
        return f"{label}: {self.text}"

    @property
    def support(self) -> Support:
        """The verdict; a bullet without grips is unsupported.

        What a person accepted or corrected is supported.
        """
        if self.judgement:
            return Support.UNSUPPORTED if self.is_rejected else Support.SUPPORTED
        return self.verdict.support if self.grip_ids else Support.UNSUPPORTED

    @property
    def has_support(self) -> bool:
        """True if it is supported at least weakly."""
        return self.support is not Support.UNSUPPORTED

    @property
    def is_withheld(self) -> bool:
        """True if it is not shown: it was rejected, or its verdict has the reason."""
        if self.judgement:
            return self.is_rejected
        return bool(self.verdict.objection) or not self.has_support


@dataclass(frozen=True, slots=True)
class NodeCounts:
    """The size of a node's content."""

    segments: int = 0
    events: int = 0
    messages: int = 0
    """Messages of the user and the assistant."""
    subagent_events: int = 0
    """Events of subagents: stored, but not summarized."""

    def __add__(self, other: "NodeCounts") -> "NodeCounts":
        return NodeCounts(
            self.segments + other.segments,
            self.events + other.events,
            self.messages + other.messages,
            self.subagent_events + other.subagent_events,
        )


@dataclass(frozen=True, slots=True)
class TocNode:
    """A version of a node with all its content.

    ``title`` is the date ("Monday, January 15, 2024"); ``headline`` is the title the
    summarizer wrote. In a segment both are the same. ``end_time`` is the first moment
    after the period; for a segment it is the time of the last event.
    """

    node_id: str
    level: TocLevel
    title: str
    start_time: datetime
    end_time: datetime
    bullets: tuple[Bullet, ...] = ()
    further: tuple[Bullet, ...] = ()
    """A model's lines that did not fit among the bullets; the page of the session has
    them."""
    withheld: tuple[Bullet, ...] = ()
    """A model's lines that are not shown, each with the reason in its verdict."""
    keywords: tuple[Keyword, ...] = ()
    """The keywords, highest weight first."""
    child_node_ids: tuple[str, ...] = ()
    version: int = 0
    created_at: datetime | None = None
    headline: str = ""
    session_title: str = ""
    """A model's title of the session that a segment belongs to; else ""."""
    status: NodeStatus = NodeStatus.PENDING
    summarizer: str = ""
    """The summarizer and the version of its rules: ``extractive-2``."""
    input_hash: str = ""
    """A hash of the input. If it has not changed, no new version is made."""
    counts: NodeCounts = field(default_factory=NodeCounts)
    agents: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()
    generation: GenerationStats = NO_STATS
    """Measurements, if a model wrote it."""
    rejection: str = ""
    """The reason for which a version by a model is not shown; else ""."""
    is_pinned: bool = False
    all_segments: int = 0
    """The segments of the whole node, if it is narrowed to a scope; else 0."""
    work_state: str = ""
    """A ``WorkState``, if it is the page of a session; else ""."""

    @property
    def last_time(self) -> datetime:
        """The last moment of the period, or the time of a segment's last event."""
        is_segment = self.level is TocLevel.SEGMENT
        return self.end_time - timedelta(milliseconds=0 if is_segment else 1)

    @property
    def is_by_model(self) -> bool:
        return bool(self.generation.model)

    @property
    def checked_bullets(self) -> tuple[Bullet, ...]:
        """The bullets that verdicts are counted of: a model's own, or all."""
        if not self.is_by_model:
            return self.bullets
        return tuple(bullet for bullet in self.bullets if bullet.is_checked)

    @property
    def searched_bullets(self) -> tuple[Bullet, ...]:
        """The bullets that are more than numbers and states."""
        return tuple(bullet for bullet in self.bullets if bullet.kind not in UNSEARCHED)

    @property
    def keyword_texts(self) -> tuple[str, ...]:
        return tuple(keyword.word for keyword in self.keywords)


@dataclass(frozen=True, slots=True)
class TocEntry:
    """A node in a list, without its bullets and keywords."""

    node_id: str
    level: TocLevel
    title: str
    headline: str
    start_time: datetime
    end_time: datetime
    status: NodeStatus
    is_live: bool
    """True if it contains an open segment."""
    counts: NodeCounts
    supported_count: int
    weak_count: int
    bullet_count: int
    is_by_model: bool
    is_pinned: bool
    agents: tuple[str, ...]
    projects: tuple[str, ...]
    activity: tuple[int, ...] = ()
    """The number of messages in each month of a year, week of a month, day of a week,
    or three hours of a day; empty if not requested."""
    sessions: int = 0
    """The number of sessions in it; 0 if not requested."""
    month_id: str = ""
    """The month that a week is listed under: counts, headline and activity are of its
    days in that month."""
    above: "tuple[TocEntry, ...]" = ()
    """The nodes above it that have no other child, the highest first: they share its
    row."""

    @property
    def is_part(self) -> bool:
        """True for the days of a week in one of its two months."""
        return self.days != calendar.day_range(self.node_id)

    @property
    def days(self) -> DayRange:
        """Its days; of a week, those in the month that it is listed under."""
        first, end = calendar.day_range(self.node_id)
        if not self.month_id:
            return first, end
        first_of_month, end_of_month = calendar.day_range(self.month_id)
        return max(first, first_of_month), min(end, end_of_month)


@dataclass(frozen=True, slots=True)
class TocVersion:
    """A version of a node in the list of its versions."""

    version: int
    headline: str
    summarizer: str
    created_at: datetime
    supported: int
    weak: int
    bullets: int
    withheld: int
    rejection: str
    """The reason for which a version by a model is not shown; else ""."""
    is_by_model: bool
    is_shown: bool
    is_pinned: bool
    generation: GenerationStats = NO_STATS
    """Measurements, if a model wrote it."""

    @property
    def unsupported(self) -> int:
        return self.bullets + self.withheld - self.supported - self.weak


@dataclass(frozen=True, slots=True)
class TocHistory:
    """All versions of a node, and a pending request for a new one."""

    entry: TocEntry
    requested_at: datetime | None
    """The time of the pending request for a new version; None if there is none."""
    versions: tuple[TocVersion, ...]
    """The latest first; empty for a pending node."""

    @property
    def displayed(self) -> TocVersion | None:
        return next((v for v in self.versions if v.is_shown), None)


def node_text(node: TocNode) -> str:
    """Return a node as plain text, without withheld bullets."""
    headline = node.headline if node.headline != node.title else ""
    keywords, projects = ", ".join(node.keyword_texts), ", ".join(node.projects)
    lines = [
        node.node_id,
        f"# {node.title}",
        headline,
        f"keywords: {keywords}" if keywords else "",
        f"projects: {projects}" if projects else "",
    ]
    for bullet in node.bullets:
        note = "" if bullet.has_support else " (unsupported)"
        grip = f" [{bullet.grip_ids[0]}]" if bullet.grip_ids else ""
        lines.append(f"* {' '.join(bullet.labelled.split())}{note}{grip}")
    return "\n".join(filter(None, lines))


# Sessions of a day, which group its segments

DAY_SESSION_PREFIX = "toc:session:"
"""The beginning of the ids of sessions of a day; no stored node has such an id."""


@dataclass(frozen=True, slots=True)
class DaySession:
    """The work of a session on a day."""

    day_id: str
    session: Session
    segments: tuple[TocEntry, ...]
    """At least one, newest first."""
    alike: tuple["DaySession", ...] = ()
    """Older sessions of the day that look the same, which share its row."""

    @property
    def node_id(self) -> str:
        """An id that no stored node has."""
        day, session = self.day_id.rpartition(":")[2], self.session
        return f"{DAY_SESSION_PREFIX}{day}:{session.agent}/{session.session_id}"

    @property
    def start_time(self) -> datetime:
        return self.segments[-1].start_time

    @property
    def end_time(self) -> datetime:
        return self.segments[0].end_time

    @property
    def is_live(self) -> bool:
        return any(segment.is_live for segment in self.segments)

    @property
    def only_segment(self) -> TocEntry | None:
        """Its segment; None if it has several."""
        return self.segments[0] if len(self.segments) == 1 else None

    @property
    def rows(self) -> "tuple[TocEntry | DaySession, ...]":
        """The rows below it: its segments if it has several, and sessions like it."""
        return (*(() if self.only_segment else self.segments), *self.alike)


# Activity

PART_HOURS = 3

_HOUR_MS = 3_600_000
_DAYS_OF_WEEK = 7


def count_messages_by_part(
    node_id: str, start_ms: int, children: Iterable[tuple[date, int, int]]
) -> tuple[int, ...]:
    """Count the messages of a year's months, a month's weeks or a week's days.

    The parts of a day have three hours each; a segment has none.

    Args:
        node_id: The node.
        start_ms: Its start, in milliseconds.
        children: The day, the start and the number of messages of each day below the
            node; of each segment, if it is a day.
    """
    here = calendar.period(node_id)
    parts = {
        TocLevel.YEAR: 12,
        TocLevel.MONTH: calendar.week_count(here.first, here.end),
        TocLevel.WEEK: _DAYS_OF_WEEK,
        TocLevel.DAY: 24 // PART_HOURS,
    }.get(here.level, 0)
    counts = [0] * parts
    for day, at_ms, messages in children:
        if here.level is TocLevel.DAY:
            index = (at_ms - start_ms) // (PART_HOURS * _HOUR_MS)
        elif here.level is TocLevel.YEAR:
            index = day.month - 1
        elif here.level is TocLevel.MONTH:
            index = (day - calendar.monday(here.first)).days // _DAYS_OF_WEEK
        else:
            index = (day - here.first).days
        # A day has an hour more where the clocks change.
        counts[min(max(index, 0), parts - 1)] += messages
    return tuple(counts)
