"""Searches the calls and the output of tools, which no index contains.

It reads the stored events one by one. An event matches if it has all words of the
query, in any case; each session has one hit. Where none has all of them, one with a
word that no message contains is enough.
"""

import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, tzinfo

from memtui.model.events import Event, EventRole
from memtui.model.filters import EVERYTHING, Filters
from memtui.model.hit import MIN_GOOD, MIN_PARTIAL, Hit, HitKind, Hits
from memtui.search.query import (
    Query,
    parse_with_dates,
    resolve_names,
    restrict_to_periods,
)
from memtui.search.snippets import best_snippet
from memtui.store import conversations, database, nodes, segments, sessions

LIMIT = 20

MAX_EVENTS = 400
"""The most events that are read, the newest ones that match."""

UNKNOWN_CHARS = 4
"""A shorter word in ASCII is part of many others: it is not enough alone."""


def find(
    text: str,
    now: datetime,
    zone: tzinfo,
    *,
    limit: int = LIMIT,
    filters: Filters = EVERYTHING,
    unknown: Sequence[str] = (),
) -> Hits:
    """Return the sessions whose tools' calls or output have all words of a query.

    If there is none, those that have one of its ``unknown`` words, which no message
    contains.

    Those with all words in one line come first, then failed calls, then the newest.
    Nothing matches without a word, or with a filter that only messages or nodes pass.
    """
    began_s = time.perf_counter()
    query = parse_with_dates(text, now, zone, filters)
    is_of_tools = query.filters.role in (None, EventRole.TOOL)
    hits: list[Hit] = []
    if is_of_tools and not query.is_empty and not query.filters.needs_nodes:
        query = replace(
            query, filters=restrict_to_periods(query.filters, query.periods)
        )
        with database.connection():
            query = resolve_names(query)[0]
            hits = _find(query, unknown, has_all=True)
            hits = hits or _find(query, unknown, has_all=False)
    return Hits(
        text,
        tuple(hits[:limit]),
        took_ms=(time.perf_counter() - began_s) * 1000,
        total=len(hits),
    )


def is_needed(hits: Sequence[Hit], filters: Filters) -> bool:
    """Return whether tools should be searched: if asked for, or without good hits."""
    return filters.role is EventRole.TOOL or all(hit.score < MIN_GOOD for hit in hits)


def _find(query: Query, unknown: Sequence[str], *, has_all: bool) -> list[Hit]:
    """Return a hit for each session, the best first.

    It has all words of the query, or one of the unknown words.
    """
    words = [word.text for word in query.words] or [*query.phrases]
    sought = words
    if not has_all:
        sought = [w for w in unknown if len(w) >= UNKNOWN_CHARS or not w.isascii()]
        if not sought:
            return []
    best: dict[int, tuple[bool, Event, str]] = {}
    counts: dict[int, int] = {}
    for number, event in conversations.find_in_tools(
        sought, query.filters, MAX_EVENTS, has_all=has_all
    ):
        if not query.matches(event.text):
            continue
        counts[number] = counts.get(number, 0) + 1
        line, is_whole = _best_line(event.text, words, unknown)
        before = best.get(number)
        is_better = (is_whole, event.is_failed)
        if before is None or is_better > (before[0], before[1].is_failed):
            best[number] = is_whole, event, line
    times = {n: (n, event.timestamp_ms) for n, (_, event, _) in best.items()}
    segment_at = segments.find_at(times.values())
    entries = {
        entry.node_id: entry for entry in nodes.get_entries([*segment_at.values()])
    }
    by_number = sessions.get_many(best)
    hits = []
    for number, (is_whole, event, line) in best.items():
        node_id = segment_at.get(times[number], "")
        hits.append(
            Hit(
                HitKind.MESSAGE,
                by_number[number],
                entries.get(node_id),
                event,
                event.timestamp,
                best_snippet([line], query),
                MIN_GOOD if is_whole else MIN_PARTIAL,
                opens=node_id,
                more=counts[number] - 1,
            )
        )
    newest = sorted(hits, key=lambda hit: hit.at, reverse=True)
    return sorted(newest, key=lambda hit: (-hit.score, not _is_failed(hit)))


def _is_failed(hit: Hit) -> bool:
    return hit.event is not None and hit.event.is_failed


def _best_line(
    text: str, words: Sequence[str], unknown: Sequence[str]
) -> tuple[str, bool]:
    """Return the first line with the most words, and whether it has all of them.

    Words that no message contains count before others.
    """
    folded = [word.lower() for word in words]
    rare = [word.lower() for word in unknown]
    best, most = "", (-1, -1)
    for line in text.splitlines():
        lowered = line.lower()
        count = sum(word in lowered for word in folded)
        counts = sum(word in lowered for word in rare), count
        if counts > most:
            best, most = line, counts
    return best, most[1] == len(words)
