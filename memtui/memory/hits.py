"""A hit: one answer of a search, ready to be shown."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from memtui.memory import bands
from memtui.memory.bands import Band
from memtui.memory.toc import TocLevel


class HitKind(StrEnum):
    """What was found."""

    NODE = "node"
    GRIP = "grip"


@dataclass(frozen=True, slots=True)
class Match:
    """What an index answers: which document, how well it fits, by which words."""

    kind: HitKind
    target_id: str
    score: float
    """0 to 1: the share of the query's own upper bound (decisions §8)."""
    leads_to: str = ""
    """The node to land on: a wide node's segment that answers best, itself if none."""


@dataclass(frozen=True, slots=True)
class Found:
    """All an index answers, best first."""

    matches: tuple[Match, ...] = ()
    left_out: tuple[str, ...] = ()
    """The terms so common that not all their documents were looked at."""


@dataclass(frozen=True, slots=True)
class Snippet:
    """A piece of text and the spans in it that matched, as (start, end) offsets."""

    text: str
    marks: tuple[tuple[int, int], ...] = ()


NOTHING_SAID = Snippet("")


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
    leads_to: str = ""
    """The node to land on: a wide node's segment that answers best, itself if none."""

    @property
    def band(self) -> Band:
        """What its score advises."""
        return bands.of(self.score)


@dataclass(frozen=True, slots=True)
class Answer:
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
    is_listed: bool = False
    """Whether no word was looked for: these are the newest, and no score is one."""
