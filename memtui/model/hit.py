"""Hits: what a search found, ready to be shown."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from memtui.model.calendar import TocLevel
from memtui.model.events import Event
from memtui.model.nodes import TocEntry
from memtui.model.sessions import Session

MIN_EXCELLENT = 0.8
"""From this score on, nearly all of the query is found, in rare words."""

MIN_GOOD = 0.5
"""From this score on, most of the query is found, or all of a query of common words."""

MIN_PARTIAL = 0.3
"""From this score on, about half of the query is found."""


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


@dataclass(frozen=True, slots=True)
class Snippet:
    """A piece of text and the matches in it, as (start, end) offsets."""

    text: str
    marks: tuple[tuple[int, int], ...] = ()


NO_SNIPPET = Snippet("")

SNIPPET_BYTES = 1_024
"""The maximum size of a message in a window."""

WINDOW_MESSAGES = 16

MAX_HITS = 20


@dataclass(frozen=True, slots=True)
class WindowMessage:
    """A message that matches, or one of those around it."""

    event: Event
    msg_idx: int
    """Its index among the messages of its conversation, from 0."""
    snippet: Snippet
    tool_name: str = ""
    """The tool it used, or the tool of a call."""
    is_match: bool = False

    @property
    def is_truncated(self) -> bool:
        """True if the message is longer than the snippet."""
        return self.snippet.text != self.event.text


class HitKind(StrEnum):
    """The kind of item that matches a query."""

    MESSAGE = "message"
    SESSION = "session"
    """The title or the summary of a session; none of its messages matches."""
    NODE = "node"
    GRIP = "grip"


@dataclass(frozen=True, slots=True)
class Hit:
    """A place that matches a query: a message, a session, a node or a grip."""

    kind: HitKind
    session: Session | None
    """None for a node or grip of teleport."""
    node: TocEntry | None
    """The segment of the message, or the node that matches; None while there is
    none."""
    event: Event | None
    """The message that matches; of a session its first message."""
    at: datetime
    snippet: Snippet
    score: float
    """0 to 1; see docs/search.md."""
    grip_id: str = ""
    opens: str = ""
    """The id of the node to open: the best segment below a wide node, else ``node``."""
    also: tuple[TocLevel, ...] = ()
    """The levels of nodes above that repeat its sentence, the lowest first."""
    window: tuple[WindowMessage, ...] = ()
    """The message with those around it, if requested."""
    more: int = 0
    """The number of other messages of its session with the specific words of this
    one, if it stands for its session."""

    @property
    def band(self) -> ScoreBand:
        return score_band(self.score)

    @property
    def title(self) -> str:
        """The headline of its node, else the title of its session."""
        if self.node:
            return self.node.headline or self.node.title
        return self.session.title if self.session else ""

    @property
    def session_id(self) -> str:
        return self.session.session_id if self.session else ""

    @property
    def session_key(self) -> tuple[str, str]:
        """The agent and the id of its session."""
        return (self.session.agent, self.session_id) if self.session else ("", "")

    @property
    def node_id(self) -> str:
        return self.node.node_id if self.node else ""

    @property
    def level(self) -> TocLevel | None:
        return self.node.level if self.node else None

    @property
    def target_id(self) -> str:
        """The id of the grip or node."""
        return self.grip_id or self.node_id

    @property
    def event_id(self) -> str:
        return self.event.event_id if self.event else ""

    @property
    def match(self) -> WindowMessage | None:
        """The message that matches, in its window."""
        return next((message for message in self.window if message.is_match), None)

    @property
    def msg_idx(self) -> int:
        """The index of the message in its conversation; -1 if no message matches."""
        return self.match.msg_idx if self.match else -1


@dataclass(frozen=True, slots=True)
class Hits:
    """The hits of a search, best first."""

    query: str = ""
    hits: tuple[Hit, ...] = ()
    notes: tuple[str, ...] = ()
    """Sentences about the query, or about an index that is being built."""
    dates: tuple[str, ...] = ()
    """Sentences about the dates that were read in the query."""
    suggestion: str = ""
    """The query with misspelt words corrected; "" if there is none."""
    took_ms: float = 0.0
    total: int = 0
    """The number of matching messages and sessions, if each session has one hit."""
    has_more: bool = False
    """True if there are more than ``total``."""
    is_recent: bool = False
    """True if the query has no words: these are the newest, without scores."""

    @property
    def is_incomplete(self) -> bool:
        """True while an index is being built, so that there may be more soon."""
        return any("index" in note for note in self.notes)
