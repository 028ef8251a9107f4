"""Chooses the few memories that match a query: summaries, some with their messages."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from memtui.model.events import Event, from_ms
from memtui.model.hit import Hit
from memtui.model.nodes import TocNode
from memtui.search.quotes import QuoteResult
from memtui.store import database, events, nodes, segments
from memtui.store.segments import SegmentRange
from memtui.summarize import keywords
from memtui.text import analyzer

MAX_MEMORIES = 20

KEY_SURPRISE = 0.7
"""A segment at least as surprising is a key moment."""

MAX_COMPARED = 1_000
"""The number of segments of earlier sessions that a segment is compared with."""

DETAILED_RANKS = 2
"""By default, key moments up to this rank have details."""


@dataclass(frozen=True, slots=True)
class Memory:
    """A segment that matches a query."""

    score: float
    quotes: Sequence[Hit]
    """The matches in its session, the best first."""
    node: TocNode | None
    surprise: float | None
    ended_at: datetime
    """The time of the last message: a session may end days later."""
    messages: Sequence[Event]
    """All its messages; empty if it has no details."""


def choose(
    quoted: QuoteResult, limit: int, detail_limit: int | None = None
) -> list[Memory]:
    """Return a memory for each of the best sessions that a search found."""
    if quoted.sessions.is_recent and detail_limit is None:
        # Without a word to look for these are the newest ones: none is relevant.
        detail_limit = 0
    hits = quoted.sessions.hits[: min(limit, MAX_MEMORIES)]
    memories = []
    with database.connection():
        for rank, hit in enumerate(hits, 1):
            # Sessions are ranked by their score, but described by their best quotes.
            quotes = [
                quote
                for quote in quoted.quotes
                if quote.session_key == hit.session_key and quote.event_id
            ] or [hit]
            node_id = quotes[0].node_id
            node = nodes.get(node_id)
            surprise = get_surprise(node_id)
            segment = segments.get(node_id)
            messages: list[Event] = []
            if segment and has_details(rank, surprise, detail_limit, len(hits)):
                times = segment.session_number, segment.start_ms, segment.end_ms
                messages = [
                    event
                    for event in events.between(*times)
                    if event.is_message and event.text
                ]
            ended_at = _end_time(segment, quotes[0], node)
            memories.append(
                Memory(hit.score, quotes, node, surprise, ended_at, messages)
            )
    return memories


def has_details(
    rank: int, surprise: float | None, detail_limit: int | None, count: int
) -> bool:
    """Decide whether a memory is given with its messages.

    The limit says how many may have details; by default the key moments among the first
    two ranks. As many as there are memories or more gives all of them details, fewer
    the key moments up to that rank.
    """
    if detail_limit is not None and detail_limit >= count:
        return detail_limit > 0
    most = DETAILED_RANKS if detail_limit is None else detail_limit
    return rank <= most and is_key_moment(surprise)


def get_surprise(segment_id: str) -> float | None:
    """Return how surprising a segment is, 0 to 1; None before it is summarized.

    It is compared with the earlier sessions that are stored now: it makes no difference
    in which order they were.
    """
    with database.connection():
        node = nodes.get(segment_id)
        earlier = segments.read_earlier_keywords(segment_id, MAX_COMPARED)
    if node is None or not node.version:
        return None
    holders: dict[str, set[int]] = {}
    for number, words in earlier:
        for word in words:
            for term in analyzer.query_terms(word):
                holders.setdefault(term, set()).add(number)
    terms = keywords.surprise_terms(node.keywords)
    return keywords.surprise_score(terms, holders, len({n for n, _ in earlier}))


def is_key_moment(surprise: float | None) -> bool:
    """Return whether a segment differs much from the sessions before it."""
    return (surprise or 0.0) >= KEY_SURPRISE


def _end_time(
    segment: SegmentRange | None, quote: Hit, node: TocNode | None
) -> datetime:
    if segment is None:
        return node.end_time if node else quote.at
    times = segment.session_number, segment.start_ms, segment.end_ms
    last_ms = events.last_message_ms(*times)
    return from_ms(last_ms) if last_ms is not None else quote.at
