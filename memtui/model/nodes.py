"""The table of contents: year → month → week → day → segment.

A node is a version of what is known of a stretch of time: never changed, only
followed by a newer version (decisions §5).
"""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from memtui.model.summaries import NO_STATS, GenerationStats, Keyword
from memtui.model.verdicts import UNSUPPORTED, Support, Verdict


class TocLevel(StrEnum):
    """A level of the table of contents, from the widest to the narrowest."""

    YEAR = "year"
    MONTH = "month"
    WEEK = "week"
    DAY = "day"
    SEGMENT = "segment"

    def parent(self) -> "TocLevel | None":
        """The level above; None for a year."""
        place = _ORDER.index(self)
        return _ORDER[place - 1] if place else None

    def child(self) -> "TocLevel | None":
        """The level below; None for a segment."""
        place = _ORDER.index(self) + 1
        return _ORDER[place] if place < len(_ORDER) else None


_ORDER = tuple(TocLevel)

BULLET_COUNTS = {
    TocLevel.SEGMENT: (2, 5),
    TocLevel.DAY: (3, 8),
    TocLevel.WEEK: (5, 10),
    TocLevel.MONTH: (5, 8),
    TocLevel.YEAR: (3, 5),
}
"""How many bullets a node has, fewer where there is less to say (decisions §5)."""

MAX_KEYWORDS = {
    TocLevel.SEGMENT: 10,
    TocLevel.DAY: 10,
    TocLevel.WEEK: 10,
    TocLevel.MONTH: 7,
    TocLevel.YEAR: 7,
}
"""The most keywords a node has (decisions §5)."""


class NodeStatus(StrEnum):
    """How far a node's summary can be relied on to be the last word."""

    PENDING = "pending"
    PROVISIONAL = "provisional"
    CURRENT = "current"
    STALE = "stale"


@dataclass(frozen=True, slots=True)
class Bullet:
    """One claim of a node, the grips it rests on, and what its audit found."""

    text: str
    grip_ids: tuple[str, ...] = ()
    verdict: Verdict = UNSUPPORTED

    @property
    def support(self) -> Support:
        """How much of its wording its source holds; nothing does without a grip."""
        return self.verdict.support if self.grip_ids else Support.UNSUPPORTED

    @property
    def has_support(self) -> bool:
        """Whether wording found in the source stands behind it, were it only some."""
        return self.support is not Support.UNSUPPORTED


@dataclass(frozen=True, slots=True)
class NodeCounts:
    """How much a node covers."""

    segments: int = 0
    events: int = 0
    messages: int = 0
    """What a person or an assistant wrote."""
    subagent_events: int = 0
    """What helpers did meanwhile: kept, but not summarised."""


@dataclass(frozen=True, slots=True)
class TocNode:
    """A version of a node, whole (seed 1).

    ``title`` is the calendar's ("Monday, January 15, 2024"), ``headline`` the
    summariser's; a segment's title is its headline. ``end_time`` is the first moment
    that is no longer covered; for a segment the time of its last event.
    """

    node_id: str
    level: TocLevel
    title: str
    start_time: datetime
    end_time: datetime
    bullets: tuple[Bullet, ...] = ()
    withheld: tuple[Bullet, ...] = ()
    """What a model claimed and no source says: kept for the record, never rolled up."""
    keywords: tuple[Keyword, ...] = ()
    """The words to find it by, weightiest first."""
    child_node_ids: tuple[str, ...] = ()
    version: int = 0
    created_at: datetime | None = None
    headline: str = ""
    status: NodeStatus = NodeStatus.PENDING
    summarizer: str = ""
    """Who wrote it, with the version of its rules: ``extractive-2``."""
    input_hash: str = ""
    """A hash of what it was made from: equal input makes no new version."""
    counts: NodeCounts = field(default_factory=NodeCounts)
    agents: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()
    generation: GenerationStats = NO_STATS
    """What was measured while a model wrote it."""
    rejection: str = ""
    """Why a model's version is not shown; "" for one that may be."""
    is_pinned: bool = False
    """Whether a person wants this version and no other."""

    @property
    def is_by_model(self) -> bool:
        """Whether a model wrote it."""
        return bool(self.generation.model)

    @property
    def words(self) -> tuple[str, ...]:
        """Its keywords as they are read."""
        return tuple(keyword.word for keyword in self.keywords)


@dataclass(frozen=True, slots=True)
class TocEntry:
    """A node as one line of the tree: all that is needed without its bullets."""

    node_id: str
    level: TocLevel
    title: str
    headline: str
    start_time: datetime
    end_time: datetime
    status: NodeStatus
    is_live: bool
    """Whether a segment in it is still open."""
    counts: NodeCounts
    supported: int
    """How many of its bullets are supported."""
    weak: int
    """How many of them are weak."""
    bullets: int
    is_by_model: bool
    """Whether a model wrote what it says."""
    is_pinned: bool
    agents: tuple[str, ...]
    projects: tuple[str, ...]
    activity: tuple[int, ...] = ()
    """The messages in each part of its time; empty where nobody asked for them."""


@dataclass(frozen=True, slots=True)
class TocVersion:
    """A version of a node as one line of its history."""

    version: int
    headline: str
    summarizer: str
    created_at: datetime
    supported: int
    weak: int
    bullets: int
    withheld: int
    rejection: str
    """Why a model's version is not shown; "" for one that may be."""
    is_by_model: bool
    is_shown: bool
    is_pinned: bool
    generation: GenerationStats = NO_STATS
    """What was measured while a model wrote it."""

    @property
    def unsupported(self) -> int:
        """How many of its bullets no source says, those that are withheld included."""
        return self.bullets + self.withheld - self.supported - self.weak


@dataclass(frozen=True, slots=True)
class TocHistory:
    """All versions of a node, and what a person wants of it."""

    entry: TocEntry
    """The node as it is shown."""
    requested_at: datetime | None
    """When a new version was asked for that is not made yet."""
    versions: tuple[TocVersion, ...]
    """The latest first; none of a node that is pending."""

    @property
    def shown(self) -> TocVersion | None:
        """The version that is shown."""
        return next((one for one in self.versions if one.is_shown), None)


def node_text(node: TocNode) -> str:
    """A node's own words, without what is withheld."""
    about = node.headline if node.headline != node.title else ""
    words, projects = ", ".join(node.words), ", ".join(node.projects)
    lines = [
        node.node_id,
        f"# {node.title}",
        about,
        f"keywords: {words}" if words else "",
        f"projects: {projects}" if projects else "",
    ]
    for bullet in node.bullets:
        doubt = "" if bullet.has_support else " (no source says it)"
        grip = f" [{bullet.grip_ids[0]}]" if bullet.grip_ids else ""
        lines.append(f"* {' '.join(bullet.text.split())}{doubt}{grip}")
    return "\n".join(filter(None, lines))
