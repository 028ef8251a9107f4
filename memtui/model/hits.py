"""Search results, ready to be shown."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Generic, TypeVar

from memtui.model.calendar import TocLevel
from memtui.model.events import EventRole
from memtui.model.sessions import NO_WORK, Session, SessionWork

MIN_EXCELLENT = 0.8
"""From this score on, all of the query is in one title, or in several places."""

MIN_GOOD = 0.5
"""From this score on, all or nearly all of the query is found."""

MIN_PARTIAL = 0.3
"""From this score on, more than half of the query is found."""


class ScoreBand(StrEnum):
    """The probability that a hit is relevant, as a band."""

    EXCELLENT = "excellent"
    GOOD = "good"
    PARTIAL = "partial"
    WEAK = "weak"

    @property
    def advice(self) -> str:
        return _ADVICE[self]


_ADVICE = {
    ScoreBand.EXCELLENT: "Jump there.",
    ScoreBand.GOOD: "Jump there, and check it against what is around it.",
    ScoreBand.PARTIAL: "Look at several hits.",
    ScoreBand.WEAK: "Browse the contents instead.",
}


def score_band(score: float) -> ScoreBand:
    """Return the band of a score; a limit belongs to the band above it."""
    if score >= MIN_EXCELLENT:
        return ScoreBand.EXCELLENT
    if score >= MIN_GOOD:
        return ScoreBand.GOOD
    return ScoreBand.PARTIAL if score >= MIN_PARTIAL else ScoreBand.WEAK


class HitKind(StrEnum):
    """The kinds of documents in the node index."""

    NODE = "node"
    GRIP = "grip"


@dataclass(frozen=True, slots=True)
class IndexMatch:
    """A document that the node index found."""

    kind: HitKind
    target_id: str
    score: float
    """0 to 1: the share of the query's upper bound."""
    landing_id: str = ""
    """The node to open: the best segment below a wide node, else the node itself."""


@dataclass(frozen=True, slots=True)
class IndexMatches:
    """All documents that the node index found, best first."""

    matches: tuple[IndexMatch, ...] = ()
    skipped_terms: tuple[str, ...] = ()
    """The terms so common that not all their documents were scored."""


@dataclass(frozen=True, slots=True)
class Snippet:
    """A piece of text and the matches in it, as (start, end) offsets."""

    text: str
    marks: tuple[tuple[int, int], ...] = ()


NO_SNIPPET = Snippet("")


@dataclass(frozen=True, slots=True)
class Hit:
    """A hit of teleport: a node or a grip."""

    kind: HitKind
    target_id: str
    """The node's id, or the grip's."""
    node_id: str
    """The node itself, or the node of the grip."""
    level: TocLevel
    title: str
    at: datetime
    score: float
    snippet: Snippet
    project: str = ""
    landing_id: str = ""
    """The node to open: the best segment below a wide node, else the node itself."""
    also: tuple[TocLevel, ...] = ()
    """The levels of nodes above that repeat its sentence, the lowest first."""

    @property
    def band(self) -> ScoreBand:
        return score_band(self.score)


SNIPPET_BYTES = 1_024
"""The maximum size of a message in a window."""

WINDOW_MESSAGES = 16

MAX_HITS = 20


@dataclass(frozen=True, slots=True)
class WindowMessage:
    """A message of a hit's window."""

    event_id: str
    msg_idx: int
    """Its index among the messages of its conversation, from 0."""
    role: EventRole
    at: datetime
    snippet: Snippet
    is_truncated: bool
    """True if the message is longer than the snippet."""
    tool_name: str = ""
    """The tool it used, or the tool of a call."""
    is_match: bool = False


@dataclass(frozen=True, slots=True)
class MessageHit:
    """A message that matches a query, with the messages around it."""

    session: Session
    subagent: str
    """The subagent; "" for the main conversation."""
    event_id: str
    """The message; the session's first one if only its title or summary matches; "" if
    it has none."""
    msg_idx: int
    """Its index among the messages of its conversation; -1 if no message matches."""
    score: float
    """0 to 1: the best message's share of the query's upper bound,
    scaled by this one's score; it falls with the rank."""
    window: tuple[WindowMessage, ...]
    about: Snippet = NO_SNIPPET
    """The match in the session's title or summary, if no message matches."""
    more: int = 0
    """The number of other messages of the session with the specific words of this one,
    if only one of each session is returned."""
    work: SessionWork = NO_WORK
    """The work of its session, if requested."""

    @property
    def match(self) -> WindowMessage | None:
        return next((message for message in self.window if message.is_match), None)


@dataclass(frozen=True, slots=True)
class CombinedHit:
    """A place in a session, or a node, that matches a query."""

    agent: str
    session_id: str
    """"" for a node with several sessions."""
    project: str
    title: str
    """The headline of its segment, else the title of its session."""
    at: datetime
    node_id: str
    """Its segment; "" while there is none."""
    snippet: Snippet
    score: float
    """0 to 1, as in teleport."""
    event_id: str = ""
    """The best message; "" if only summaries match; the session's first message if only
    its title or summary matches."""
    subagent: str = ""
    grip_id: str = ""
    """The best grip; "" if none matches."""
    role: EventRole | None = None
    """The role of the snippet's message; None for a summary."""
    is_unsummarized: bool = False
    """True if only messages match and no summary."""
    more: int = 0
    """The number of other messages of the session with the specific words of this
    one."""
    work: SessionWork = NO_WORK
    """The work of its session, if requested."""

    @property
    def band(self) -> ScoreBand:
        return score_band(self.score)


@dataclass(frozen=True, slots=True)
class ReadDate:
    """A date that was read in a question."""

    text: str
    """``last week: 9–15 November 2026``."""
    has_hits: bool
    """True if some hits are of this time; these come first."""

    def __str__(self) -> str:
        """Return the date and its effect as a sentence."""
        how = "comes first" if self.has_hits else "has nothing that answers"
        return f"{self.text} {how}."


HitT = TypeVar("HitT")


@dataclass(frozen=True)  # with slots, Hits[Hit]() would raise a TypeError
class Hits(Generic[HitT]):
    """The hits of a search, best first."""

    query: str = ""
    hits: tuple[HitT, ...] = ()
    notes: tuple[str, ...] = ()
    """Sentences about the query, or about an index that is being built."""
    times: tuple[ReadDate, ...] = ()
    """The dates that were read in the query."""
    suggestion: str = ""
    """The query with misspelt words corrected; "" if there is none."""
    took_ms: float = 0.0
    total: int = 0
    """The number of matching messages and summaries, if only one of each session is a
    hit."""
    is_recent: bool = False
    """True if the query has no words: these are the newest, without scores."""

    @property
    def is_incomplete(self) -> bool:
        """True while an index is being built, so that there may be more soon."""
        return any("index" in note for note in self.notes)
