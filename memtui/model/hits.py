"""A hit: one answer of a search, ready to be shown."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from memtui.model.events import EventRole
from memtui.model.nodes import TocLevel
from memtui.model.sessions import Session

MIN_EXCELLENT = 0.8
"""From this score on, all of the query stands where it says what something is about:
in one title, or several times over."""

MIN_GOOD = 0.5
"""From this score on, all or nearly all of the query is there, if only in passing."""

MIN_PARTIAL = 0.3
"""From this score on, the better part of the query is there. Below, a word or two."""


class ScoreBand(StrEnum):
    """How far a hit can be trusted to be what was meant."""

    EXCELLENT = "excellent"
    GOOD = "good"
    PARTIAL = "partial"
    WEAK = "weak"

    @property
    def advice(self) -> str:
        """What to do with such a hit."""
        return _ADVICE[self]


_ADVICE = {
    ScoreBand.EXCELLENT: "Jump there.",
    ScoreBand.GOOD: "Jump there, and check it against what is around it.",
    ScoreBand.PARTIAL: "Look at several hits.",
    ScoreBand.WEAK: "Browse the contents instead.",
}


def score_band(score: float) -> ScoreBand:
    """The band a score lies in; a limit belongs to the band above it.

    Args:
        score: 0 to 1.
    """
    if score >= MIN_EXCELLENT:
        return ScoreBand.EXCELLENT
    if score >= MIN_GOOD:
        return ScoreBand.GOOD
    return ScoreBand.PARTIAL if score >= MIN_PARTIAL else ScoreBand.WEAK


class HitKind(StrEnum):
    """What was found."""

    NODE = "node"
    GRIP = "grip"


@dataclass(frozen=True, slots=True)
class IndexMatch:
    """What an index answers: which document, how well it fits, by which words."""

    kind: HitKind
    target_id: str
    score: float
    """0 to 1: the share of the query's own upper bound (decisions §8)."""
    landing_id: str = ""
    """The node to land on: a wide node's segment that answers best, itself if none."""


@dataclass(frozen=True, slots=True)
class IndexMatches:
    """All an index answers, best first."""

    matches: tuple[IndexMatch, ...] = ()
    skipped_terms: tuple[str, ...] = ()
    """The terms so common that not all their documents were looked at."""


@dataclass(frozen=True, slots=True)
class Snippet:
    """A piece of text and the spans in it that matched, as (start, end) offsets."""

    text: str
    marks: tuple[tuple[int, int], ...] = ()


NO_SNIPPET = Snippet("")


@dataclass(frozen=True, slots=True)
class Hit:
    """One line of the teleport's answer."""

    kind: HitKind
    target_id: str
    """The node's id, or the grip's."""
    node_id: str
    """Where the tree jumps to: the node itself, or the node the grip belongs to."""
    level: TocLevel
    """The level of that node."""
    title: str
    at: datetime
    score: float
    snippet: Snippet
    project: str = ""
    landing_id: str = ""
    """The node to land on: a wide node's segment that answers best, itself if none."""

    @property
    def band(self) -> ScoreBand:
        """What its score advises."""
        return score_band(self.score)


@dataclass(frozen=True, slots=True)
class TeleportResult:
    """All hits of one query, best first."""

    query: str
    hits: tuple[Hit, ...] = ()
    took_ms: float = 0.0
    note: str = ""
    """What the reader should know: that the index is still being built, say."""
    suggestion: str = ""
    """The query with what seems misspelt written as the memory writes it, if any."""
    hints: tuple[str, ...] = ()
    """What of the query could not be understood, each a sentence."""
    is_recent: bool = False
    """Whether no word was looked for: these are the newest, and no score is one."""


SNIPPET_BYTES = 1_024
"""The most of a message that is shown in a window, in bytes (decisions §8)."""

WINDOW_MESSAGES = 16
"""How many messages a window has at most."""

MAX_HITS = 20
"""How many hits a search of sessions gives at most."""


class HitSource(StrEnum):
    """What of the memory led to a moment."""

    MESSAGES = "messages"
    NODES = "nodes"
    """Titles, headlines, keywords and bullets of the table of contents."""
    GRIPS = "grips"
    """Excerpts that bullets rest on."""
    TITLES = "titles"
    """Titles of sessions."""


@dataclass(frozen=True, slots=True)
class WindowMessage:
    """One message of a window."""

    event_id: str
    msg_idx: int
    """Its place among the messages of its conversation, from 0."""
    role: EventRole
    at: datetime
    snippet: Snippet
    is_truncated: bool
    """Whether the message goes on."""
    tool_name: str = ""
    """The tool it used; of a call itself, the tool it is of."""
    is_match: bool = False


@dataclass(frozen=True, slots=True)
class MessageHit:
    """A message that answers a query, and what was said around it."""

    session: Session
    subagent: str
    """Whose conversation within the session; "" for the main one."""
    event_id: str
    """The message; where the session's title or summary alone answers, its first one;
    "" where it has none."""
    msg_idx: int
    """Its place among the messages of its conversation; -1 where none answers."""
    score: float
    """0 to 1: the best share of the query's own upper bound that a message has
    (decisions §8), by what this one is worth against the best; it falls as ranks do."""
    window: tuple[WindowMessage, ...]
    about: Snippet = NO_SNIPPET
    """What of the session's title and summary answers, where no message does."""

    @property
    def match(self) -> WindowMessage | None:
        """The message itself."""
        return next((said for said in self.window if said.is_match), None)


@dataclass(frozen=True, slots=True)
class CombinedHit:
    """A place in a session that answers a query."""

    agent: str
    session_id: str
    """Which session; "" where it is a node that is of many."""
    subagent: str
    project: str
    title: str
    """What the moment is about: its segment's headline, else its session's title."""
    at: datetime
    node_id: str
    """The segment it lies in; "" while there is none."""
    event_id: str
    """The message that answers best; "" where summaries alone do, and where what its
    session is called and summed up by does, the first one of that."""
    grip_id: str
    """The grip that answers best, if one does; "" if none."""
    role: EventRole | None
    """Who said what the snippet shows; None where a summary says it."""
    snippet: Snippet
    score: float
    """0 to 1, as a teleport's hit."""
    layers: frozenset[HitSource]
    is_unsummarised: bool
    """Whether only messages led to it: no summary of it holds the words."""

    @property
    def band(self) -> ScoreBand:
        """What its score advises."""
        return score_band(self.score)


@dataclass(frozen=True, slots=True)
class ReadDate:
    """A time that was read in a question."""

    text: str
    """``last week: 9–15 November 2026``."""
    has_hits: bool
    """Whether something that was found lies in it: that comes first."""

    def __str__(self) -> str:
        """What was understood and what follows from it, in a sentence."""
        how = "comes first" if self.has_hits else "has nothing that answers"
        return f"{self.text} {how}."


@dataclass(frozen=True, slots=True)
class CombinedResult:
    """What the search over everything found for one query, the best first."""

    query: str
    hits: tuple[CombinedHit, ...] = ()
    notes: tuple[str, ...] = ()
    """What the reader should know, each a sentence: how far an index is, say."""
    times: tuple[ReadDate, ...] = ()
    """The times that were read in the question."""
    suggestion: str = ""
    """The query with a misspelt word put right; "" where there is nothing to say."""
    took_ms: float = 0.0
    messages: int = 0
    """From how many messages that answer the moments were taken, one a session."""
    summaries: int = 0
    """From how many nodes and grips besides."""
    is_recent: bool = False
    """Whether no word was looked for: these are the newest, and no score is one."""


@dataclass(frozen=True, slots=True)
class MessageResult:
    """What the search of sessions found for one query, the best first."""

    query: str
    hits: tuple[MessageHit, ...] = ()
    notes: tuple[str, ...] = ()
    times: tuple[ReadDate, ...] = ()
    took_ms: float = 0.0
    is_recent: bool = False
    """Whether no word was looked for: these are the newest, and no score is one."""
