"""A summary: what a summariser makes of events, before its claims are checked."""

from dataclasses import dataclass

from memtui.memory.events import clean


@dataclass(frozen=True, slots=True)
class Claim:
    """One bullet as a summariser writes it.

    ``refs`` are places in what the summariser was given: of events for a segment, of
    the children's bullets (all of them in a row) for a roll-up. They are a hint; what
    a bullet rests on is decided by its wording.
    """

    text: str
    refs: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Summary:
    """A title, a few claims and the words to find them by (seed 0)."""

    title: str
    bullets: tuple[Claim, ...]
    keywords: tuple[str, ...]


BULLET_CHARS = 300
"""A longer bullet is no bullet; it is cut on a word."""

TITLE_CHARS = 120
"""A longer title does not fit a line; it is cut on a word."""


def sane(draft: Summary) -> Summary:
    """A draft without control characters, line ends, empty bullets or endless text.

    Args:
        draft: What a summariser wrote, whoever it is.
    """
    bullets = tuple(
        Claim(text, claim.refs)
        for claim in draft.bullets
        if (text := _line(claim.text, BULLET_CHARS))
    )
    keywords = (_line(word, TITLE_CHARS) for word in draft.keywords)
    return Summary(
        title=_line(draft.title, TITLE_CHARS) or "Untitled",
        bullets=bullets,
        keywords=tuple(dict.fromkeys(word for word in keywords if word)),
    )


def _line(text: str, limit: int) -> str:
    line = " ".join(clean(text).split())
    if len(line) <= limit:
        return line
    head, _, _ = line[: limit - 1].rpartition(" ")
    return f"{head or line[: limit - 1]}…"
