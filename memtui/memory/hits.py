"""A hit: one answer of a search, ready to be shown."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

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


@dataclass(frozen=True, slots=True)
class Snippet:
    """A piece of text and the spans in it that matched, as (start, end) offsets."""

    text: str
    marks: tuple[tuple[int, int], ...] = ()


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


@dataclass(frozen=True, slots=True)
class Answer:
    """All hits of one query, best first."""

    query: str
    hits: tuple[Hit, ...] = ()
    took_ms: float = 0.0
    note: str = ""
    """What the reader should know: that the index is still being built, say."""
