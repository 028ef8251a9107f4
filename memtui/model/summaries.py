"""A summary: what a summariser makes of events, before its claims are checked."""

import re
from dataclasses import dataclass, replace
from enum import StrEnum

from memtui.model.events import clean


@dataclass(frozen=True, slots=True)
class DraftBullet:
    """One bullet as a summariser writes it.

    ``refs`` are places in what the summariser was given: of events for a segment, of
    the children's bullets (all of them in a row) for a roll-up. They are a hint; what
    a bullet rests on is decided by its wording.
    """

    text: str
    refs: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class GenerationStats:
    """What was measured while a model wrote; all empty where none did."""

    model: str = ""
    digest: str = ""
    """The model's own, so that a model pulled anew under its old name is another."""
    server: str = ""
    """The server's version."""
    prompt: str = ""
    """The version of the prompt and of the schema."""
    mode: str = ""
    """How the model was held to the schema."""
    options: str = ""
    """The options of the last request, as compact JSON."""
    requests: int = 0
    """How many requests it took, those that failed counted."""
    parts: int = 0
    """How many parts were read one by one."""
    prompt_tokens: int = 0
    reply_tokens: int = 0
    load_ms: int = 0
    prompt_ms: int = 0
    reply_ms: int = 0
    total_ms: int = 0
    """From the first request to the last reply, waits counted."""
    dropped_bullets: int = 0
    """How many bullets named no place in the source, or said nothing of their own."""
    was_truncated: bool = False
    """Whether a reply reached its limit and only its whole bullets were kept."""
    surprise: float | None = None
    """How surprising the model says it is: 0 to 1; None if it does not say."""


NO_STATS = GenerationStats()
"""Of what no model wrote."""


@dataclass(frozen=True, slots=True)
class Summary:
    """A title, a few claims and the words to find them by (seed 0).

    ``keywords`` are what a model proposes beside those that are found without one.
    """

    title: str
    bullets: tuple[DraftBullet, ...]
    keywords: tuple[str, ...] = ()
    generation: GenerationStats = NO_STATS


BULLET_CHARS = 240
"""How long a bullet may be: a model is asked for no more, a longer one is cut."""

TITLE_CHARS = 80
"""How long a title may be: a longer one does not fit a line and is cut."""

MIN_SHARE = 0.4
"""The least share of its limit that a text is cut to so that it ends with a sentence
or a clause; where there is no such end, it is cut on a word."""

_SENTENCE = re.compile(r"[.!?](?=\s)|[。！？]")
_CLAUSE = re.compile(r"[,;:](?=\s)|\s[–—-](?=\s)|[，；：、]")


def sanitize(draft: Summary) -> Summary:
    """A draft without control characters, line ends, empty bullets or endless text.

    Args:
        draft: What a summariser wrote, whoever it is.
    """
    bullets = tuple(
        DraftBullet(text, claim.refs)
        for claim in draft.bullets
        if (text := _line(claim.text, BULLET_CHARS))
    )
    keywords = (_line(word, TITLE_CHARS) for word in draft.keywords)
    return replace(
        draft,
        title=_line(draft.title, TITLE_CHARS) or "Untitled",
        bullets=bullets,
        keywords=tuple(dict.fromkeys(word for word in keywords if word)),
    )


def _line(text: str, limit: int) -> str:
    line = " ".join(clean(text).split())
    return shorten(line, limit)


def shorten(line: str, limit: int) -> str:
    """A line of at most so many characters: its first sentences, clauses or words."""
    if len(line) <= limit:
        return line
    for ends, mark in ((_SENTENCE, ""), (_CLAUSE, "…")):
        found = [one for one in ends.finditer(line, 0, limit)]
        if found and found[-1].end() >= MIN_SHARE * limit:
            end = found[-1]
            return f"{line[: end.start() if mark else end.end()].rstrip()}{mark}"
    head, _, _ = line[: limit - 1].rpartition(" ")
    return f"{head or line[: limit - 1]}…"


class KeywordOrigin(StrEnum):
    """Why a word is a keyword, the most telling first."""

    ERROR = "error"
    PACKAGE = "package"
    FUNCTION = "function"
    FILE = "file"
    NAME = "name"
    MODEL = "model"
    FREQUENCY = "frequency"


ORIGIN_RANK = {origin: rank for rank, origin in enumerate(KeywordOrigin)}
"""Of two origins of one word the one of lower rank counts."""


@dataclass(frozen=True, slots=True)
class Keyword:
    """A word to find a node by."""

    word: str
    origin: KeywordOrigin = KeywordOrigin.FREQUENCY
    weight: float = 0.0
    """How much it tells beside the node's other keywords."""
