"""Filters: what of the memory a search looks through, whatever its words are."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from memtui.memory.events import EventRole
from memtui.memory.scopes import ALL, Scope
from memtui.memory.toc import TocLevel
from memtui.memory.verdicts import Support


class Maker(StrEnum):
    """Who wrote a version."""

    MODEL = "model"
    EXTRACTIVE = "extractive"


@dataclass(frozen=True, slots=True)
class Filters:
    """Conditions that all hold; an empty one leaves nothing out."""

    of: Scope = ALL
    """Whose work."""
    session: str = ""
    """A session's id, or as much of its beginning as is known."""
    role: EventRole | None = None
    """Who said it: of messages alone."""
    levels: frozenset[TocLevel] = frozenset()
    """Of nodes and their grips alone."""
    has: frozenset[Support] = frozenset()
    """How well the source supports at least one of a node's bullets."""
    by: Maker | None = None
    """Who summarised: of nodes and their grips alone."""
    since: datetime | None = None
    """Nothing that ended before; aware."""
    until: datetime | None = None
    """Nothing that began then or later; aware."""
    with_subagents: bool = True
    """Whether what a session's subagents said is looked through too."""

    @property
    def is_of_nodes(self) -> bool:
        """Whether only what is summarised can pass them."""
        return bool(self.levels or self.has or self.by)


EVERYTHING = Filters()
"""The whole memory."""
