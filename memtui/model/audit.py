"""The claims of summaries as an audit lists them."""

from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum

from memtui.model.events import MAX_MS
from memtui.model.filters import ALL, Scope
from memtui.model.judgements import Ruling


class ClaimGroup(IntEnum):
    """Groups of claims, the worst first."""

    WITHHELD = 0
    WEAK = 1
    REJECTED_VERSION = 2
    """It is in a version by a model that was rejected."""
    BY_MODEL = 3
    FACT = 4
    """It is a quotation, or says what calls did."""


@dataclass(frozen=True, slots=True)
class AuditQuery:
    """The claims that are listed."""

    scope: Scope = ALL
    start_ms: int = 0
    end_ms: int = MAX_MS
    session: str = ""
    """Only this session, as ``agent:id``."""
    groups: frozenset[ClaimGroup] = frozenset(ClaimGroup)
    kind: str = ""
    model: str = ""

    @property
    def has_times(self) -> bool:
        return self.start_ms > 0 or self.end_ms < MAX_MS

    @property
    def is_whole(self) -> bool:
        """True if it is about all that is stored."""
        return not (self.scope.is_narrow or self.has_times or self.session)


@dataclass(frozen=True, slots=True)
class Later:
    """A place where a later session finished what was left open."""

    session: str
    """As ``agent:id``."""
    session_name: str
    event_id: str
    at: datetime


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """A claim in a list."""

    node_id: str
    """Its segment or period; the session as ``agent:id`` for its state and open
    ends."""
    subject: str
    """Its session as ``agent:id``, or its period."""
    kind: str
    text: str
    """Its wording before any correction."""
    at: datetime
    group: ClaimGroup
    version: int
    """The version that has it; 0 for none."""
    ruling: Ruling | None
    words: str
    """The wording of a correction; else ""."""
    session_name: str = ""
    """The name of the session, if it is about a whole one."""
    event_id: str = ""
    """The event that shows it, if it is known."""
    project: str = ""
    later: Later | None = None
    earlier: tuple["ClaimRow", ...] = ()
    """The same in earlier sessions: what is said of it is said of them."""

    @property
    def is_judged(self) -> bool:
        return self.ruling is not None


@dataclass(frozen=True, slots=True)
class ClaimCount:
    """The number of claims that are alike."""

    group: ClaimGroup
    kind: str
    model: str
    ruling: Ruling | None
    level: str
    """That of its node; "session" for its state and open ends."""
    project: str
    period: str
    """Its month as ``2024-01``; that of its start for a week, and a year for itself."""
    count: int


@dataclass(frozen=True, slots=True)
class Damage:
    """Something that is not as it was made."""

    subject: str
    """Its kind: "event", "source", "line"."""
    ids: tuple[str, ...]
    """Its id, or its node and its text; then where it belongs."""
    message: str
    remedy: str
