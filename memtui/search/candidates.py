"""Candidates: the messages that contain terms of a query, with what ranks them.

``MessageIndex.search`` returns them; messages that are not indexed yet are added.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from memtui.model.events import EventRole
from memtui.search.query import Query
from memtui.store.index_input import IndexableEvent
from memtui.text import analyzer

UNINDEXED_ID = 1 << 62
"""The ids of messages that are not indexed begin here."""

UNINDEXED_CHARS = 100_000
"""How many characters of such a message are read."""


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """A term to look up."""

    term: str
    prefix: str = ""
    """Terms that begin so match too; "" if only the term itself does."""
    weight: float = 1.0
    """The factor on its idf."""
    is_whole: bool = False
    """Whether it is a complete identifier whose parts are terms, too: it adds to the
    score, and a message without it may match fully."""

    def matches(self, terms: frozenset[str]) -> bool:
        """Return True if any of these terms matches."""
        return self.term in terms or (
            bool(self.prefix) and any(term.startswith(self.prefix) for term in terms)
        )


@dataclass(frozen=True, slots=True)
class MessageFilter:
    """Which messages a search may return."""

    sessions: frozenset[int] | None = None
    """The numbers of the sessions; None for all."""
    role: EventRole | None = None
    since: datetime | None = None
    until: datetime | None = None
    """Times are aware; an index may also return messages a little after this one."""
    with_subagents: bool = True
    excluded: tuple[tuple[QueryTerm, ...], ...] = ()
    """Groups of terms; a message that contains all terms of one is not returned."""

    @property
    def is_of_messages(self) -> bool:
        """Whether it can select some of a session's messages."""
        return bool(self.role or self.since or self.until)


class Candidate(NamedTuple):
    """A message that contains some of the terms."""

    id: int
    """Its rowid in the index: later messages have higher ones."""
    event_id: str
    conversation: int
    """A session's main conversation, or that of a subagent."""
    position: int
    """Its place in the conversation: neighbours have consecutive numbers."""
    role: EventRole
    length: int
    """How many terms it has."""
    session: int
    """The number of its session in the store."""
    conversation_length: int
    """How many terms the whole conversation has."""
    mask: int
    """Which of the query's terms it contains, one bit for each."""


@dataclass(slots=True)
class Candidates:
    """All candidates for a query, and the statistics that BM25 needs."""

    terms: Sequence[QueryTerm]
    by_id: dict[int, Candidate] = field(default_factory=dict)
    frequencies: list[int] = field(default_factory=list)
    """How many messages contain each term."""
    common: list[str] = field(default_factory=list)
    """Terms for which only the newest messages were looked up."""
    messages: int = 0
    """How many messages there are that the filter lets pass."""
    length: int = 0
    """How many terms these have."""
    conversations: int = 0
    """How many conversations they are of."""
    titles: dict[int, float] = field(default_factory=dict)
    """The scores of sessions for their titles and summaries, by session number."""

    @property
    def required(self) -> int:
        """The bits of all terms but complete identifiers."""
        return sum((not one.is_whole) << bit for bit, one in enumerate(self.terms))

    def __post_init__(self) -> None:
        """Count nothing for each term, unless frequencies are given."""
        self.frequencies = self.frequencies or [0] * len(self.terms)

    def mask(self, terms: frozenset[str]) -> int:
        """Return which of the query's terms these terms match, one bit for each."""
        return sum(one.matches(terms) << bit for bit, one in enumerate(self.terms))

    def add_unindexed(
        self, events: Sequence[IndexableEvent], query: Query, *, with_tools: bool
    ) -> None:
        """Add messages that match and are not indexed.

        Args:
            events: The events, in the order of time.
            query: The query.
            with_tools: Whether the text of tool calls is searched, not only the name.
        """
        known = {candidate.event_id for candidate in self.by_id.values()}
        required = self.required
        for position, one in enumerate(events, 1):
            role = one.indexed_role
            if role is None or one.event_id in known:
                continue
            is_only_name = role is EventRole.TOOL and not with_tools
            text = one.tool if is_only_name else one.text[:UNINDEXED_CHARS]
            # Without terms, messages are not compared with each other.
            if not self.terms and not query.matches(text):
                continue
            terms = analyzer.terms(text)
            mask = self.mask(frozenset(terms))
            if role is not EventRole.TOOL:
                self.messages += 1
                self.length += len(terms)
            matches = mask & required == required if is_only_name else mask
            if not (matches or not self.terms):
                continue
            for bit in range(len(self.terms)):
                self.frequencies[bit] += mask >> bit & 1
            # They are a conversation of their own: the indexed ones are not read.
            self.by_id[UNINDEXED_ID + position] = Candidate(
                id=UNINDEXED_ID + position,
                event_id=one.event_id,
                conversation=-one.session,
                position=position,
                role=role,
                length=len(terms),
                session=one.session,
                conversation_length=len(terms),
                mask=mask,
            )
