"""Judgements: what a person, or an agent for one, says of the lines of summaries.

A judgement is about a claim: a line of a session or of a period, whatever version has
it. Judgements are never changed; a later one counts, unless it is undone.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Ruling(StrEnum):
    """The kinds of judgements about a claim."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    CORRECTED = "corrected"
    """It has another wording."""
    MOVED = "moved"
    """It has another source."""
    ADDED = "added"
    """A person wrote it."""
    DONE = "done"
    """A thing that was left open is done, or not to be done any more."""
    UNDONE = "undone"
    """The last judgement about it does not count."""
    OPINION = "opinion"
    """A model says whether the source says it: the reason is its answer, the words are
    quoted. It never counts."""
    FORGOTTEN = "forgotten"
    """All that was said, since a source of the claim was forgotten."""


HIDING = frozenset((Ruling.REJECTED, Ruling.DONE))
"""After these, a line is not shown any more."""


PERSON = "you"
"""The author of what a person says, in the app or on the command line."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A line of a session or of a period."""

    subject: str
    """The session as ``agent:id``, or the node of the period."""
    kind: str
    """A ``BulletKind``."""
    text: str
    """Its wording before any correction."""


@dataclass(frozen=True, slots=True)
class Judgement:
    claim: Claim
    ruling: Ruling
    words: str = ""
    """The other wording; "" if it stays."""
    grip_ids: tuple[str, ...] = ()
    """Its sources: the other ones if they were changed."""
    event_ids: tuple[str, ...] = ()
    """The events of its sources, and those of other sources that it had before."""
    node_id: str = ""
    """The segment or the period that shows it."""
    is_by_model: bool = False
    """True if a model worded the claim."""
    reason: str = ""
    author: str = PERSON
    """``PERSON``, the agent that judged, or the model."""
    at: datetime | None = None
    number: int = 0
    """Its number among all judgements; 0 before it is stored."""

    @property
    def text(self) -> str:
        """The wording that is shown."""
        return self.words or self.claim.text
