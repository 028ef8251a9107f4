"""Searches the calls and the output of tools, which no index contains.

It reads the stored events one by one. An event matches if it has all words of the
query, in any case; each session has one hit.
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


def find(
    text: str,
    now: datetime,
    zone: tzinfo,
    *,
    limit: int = LIMIT,
    filters: Filters = EVERYTHING,
) -> Hits:
    """Return the sessions whose tools' calls or output have all words of a query.

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
            hits = _find(resolve_names(query)[0])
    return Hits(
        text,
        tuple(hits[:limit]),
        took_ms=(time.perf_counter() - began_s) * 1000,
        total=len(hits),
    )


def is_needed(hits: Sequence[Hit], filters: Filters) -> bool:
    """Return whether tools should be searched: if asked for, or without good hits."""
    return filters.role is EventRole.TOOL or all(hit.score < MIN_GOOD for hit in hits)


def _find(query: Query) -> list[Hit]:
    """Return a hit for each session, the best first."""
    words = [word.text for word in query.words] or [*query.phrases]
    best: dict[int, tuple[bool, Event, str]] = {}
    counts: dict[int, int] = {}
    for number, event in conversations.find_in_tools(words, query.filters, MAX_EVENTS):
        if not query.matches(event.text):
            continue
        counts[number] = counts.get(number, 0) + 1
        line, has_all = _best_line(event.text, words)
        before = best.get(number)
        is_better = (has_all, event.is_failed)
        if before is None or is_better > (before[0], before[1].is_failed):
            best[number] = has_all, event, line
    times = {n: (n, event.timestamp_ms) for n, (_, event, _) in best.items()}
    segment_at = segments.find_at(times.values())
    entries = {
        entry.node_id: entry for entry in nodes.get_entries([*segment_at.values()])
    }
    by_number = sessions.get_many(best)
    hits = []
    for number, (has_all, event, line) in best.items():
        node_id = segment_at.get(times[number], "")
        hits.append(
            Hit(
                HitKind.MESSAGE,
                by_number[number],
                entries.get(node_id),
                event,
                event.timestamp,
                best_snippet([line], query),
                MIN_GOOD if has_all else MIN_PARTIAL,
                opens=node_id,
                more=counts[number] - 1,
            )
        )
    newest = sorted(hits, key=lambda hit: hit.at, reverse=True)
    return sorted(newest, key=lambda hit: (-hit.score, not _is_failed(hit)))


def _is_failed(hit: Hit) -> bool:
    return hit.event is not None and hit.event.is_failed


def _best_line(text: str, words: Sequence[str]) -> tuple[str, bool]:
    """Return the first line with the most words, and whether it has all of them."""
    folded = [word.lower() for word in words]
    best, most = "", -1
    for line in text.splitlines():
        lowered = line.lower()
        count = sum(word in lowered for word in folded)
        if count > most:
            best, most = line, count
    return best, most == len(words)
