"""Parts: by what the whole memory can be narrowed to a part of it."""

from dataclasses import dataclass

from memtui.store import database, parts

KEYWORDS = 5_000
"""How many keywords are known at most: those that most days carry."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What there is, each with how much of it, the most first."""

    agents: tuple[tuple[str, int], ...] = ()
    """With their sessions."""
    projects: tuple[tuple[str, int], ...] = ()
    """With their sessions."""
    keywords: tuple[tuple[str, int], ...] = ()
    """With the days that carry them."""


def known() -> Parts:
    """The agents, projects and keywords there are."""
    with database.connected():
        return Parts(
            tuple(parts.agents()),
            tuple(parts.projects()),
            tuple(parts.keywords(KEYWORDS)),
        )
