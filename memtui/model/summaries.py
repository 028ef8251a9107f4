"""Summaries as they are written, before their bullets are checked."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class BulletKind(StrEnum):
    """Which part of a card a bullet is."""

    NOTE = ""
    """A model's sentence; its wording is checked against the source."""
    QUOTE = "quote"
    """Any other sentence of the source."""
    ASKED = "asked"
    OUTCOME = "outcome"
    DECISION = "decided"
    COMMIT = "commit"
    PULL_REQUEST = "pull request"
    TESTS = "tests"
    COMMANDS = "commands"
    FILES = "files"
    LEFT_OPEN = "left open"
    STATE = "state"
    """How far the work got: a ``WorkState``."""
    WORK = "work"
    """A piece of work, in a day or a longer period."""
    PROJECT = "project"
    """The work on a project in a week or a longer period."""


WORDED_FIELDS = frozenset(
    (
        BulletKind.ASKED,
        BulletKind.OUTCOME,
        BulletKind.DECISION,
        BulletKind.LEFT_OPEN,
    )
)
"""The fields of a card that a model may word."""

FACTS = frozenset(
    (
        BulletKind.COMMIT,
        BulletKind.PULL_REQUEST,
        BulletKind.TESTS,
        BulletKind.COMMANDS,
        BulletKind.FILES,
        BulletKind.STATE,
    )
)
"""Facts that calls show; a model's version of a segment contains them, too."""


FIGURES = frozenset((BulletKind.TESTS, BulletKind.STATE, BulletKind.PROJECT))
"""Bullets of numbers and states, which are not searched."""


@dataclass(frozen=True, slots=True)
class DraftBullet:
    """A bullet as a summarizer writes it.

    ``refs`` are places in what the summarizer was given: of events for a segment, of
    the children's bullets (all of them in a row) for a roll-up. They are a hint; what
    a bullet rests on is decided by its wording.
    """

    text: str
    refs: tuple[int, ...] = ()
    kind: BulletKind = BulletKind.NOTE
    project: str = ""
    """The project of the work; "" if unknown or if the node has only one."""
    session_id: str = ""
    """The session of the work; "" for several."""
    effort: float = 0.0
    """The amount of work, to choose the most important pieces of a period."""


@dataclass(frozen=True, slots=True)
class ProjectTotals:
    """The work on a project in a period."""

    sessions: int
    days: int
    commits: int


NO_TOTALS: Mapping[str, ProjectTotals] = {}


@dataclass(frozen=True, slots=True)
class GenerationStats:
    """Measurements of how a model generated a summary; empty if no model did."""

    model: str = ""
    digest: str = ""
    """The digest of the model, which changes when its name is pulled again."""
    server: str = ""
    prompt: str = ""
    """The version of the prompt and of the schema."""
    mode: str = ""
    """The way in which the schema of the reply was enforced."""
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
    dropped_bullets: int = 0
    """The number of bullets without a reference to the source, or without content;
    unlike withheld ones they are not stored."""
    was_truncated: bool = False
    """True if a reply reached its limit, so that its last bullet was dropped."""
    surprise: float | None = None
    """The model's own estimate of surprise: 0 to 1; None if there is none."""


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

TITLE_CHARS = 80
"""The maximum length of a title; a longer one is shortened."""


class KeywordOrigin(StrEnum):
    """Why a word is a keyword, the most specific origin first."""

    ERROR = "error"
    PACKAGE = "package"
    FUNCTION = "function"
    FILE = "file"
    NAME = "name"
    MODEL = "model"
    FREQUENCY = "frequency"


ORIGIN_RANK = {origin: rank for rank, origin in enumerate(KeywordOrigin)}
"""If a word has two origins, the one of lower rank counts."""


@dataclass(frozen=True, slots=True)
class Keyword:
    """A keyword of a node."""

    word: str
    origin: KeywordOrigin = KeywordOrigin.FREQUENCY
    weight: float = 0.0
    """Its weight among the node's keywords."""
