"""Separate the dates in a query from the words to look up.

Dates within quotes and filters are not read.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime, time, tzinfo

from memtui.model.filters import EVERYTHING, FILTER_FIELDS, Filters
from memtui.search import query as search_query
from memtui.search.query import Query
from memtui.text import dates
from memtui.text.dates import DatePeriod
from memtui.text.stopwords import word_set

NEWEST_LISTED = "Without a word to search for, the newest are listed."

STARTS_BEFORE = (
    "Nothing starts then. This starts before and continues into it: work is listed"
    " under the day it starts in."
)

PERIOD_WORDS = word_set(
    "activity conversations done history overview progress recap session sessions"
    " status summary updates work"
)
"""Words that ask for all of a period: "summary of february"."""

MIN_STOP_WORDS = 2
"""A text with so many stop words is a sentence."""

MAX_PERIODS = 12
"""The number of periods of a query that are used: its first ones."""

FILTER_CHARS = 60
"""The number of characters read for a date after ``after:`` or ``before:``."""

_FILTER = re.compile(
    r'\b(?P<name>after|before):(?:"(?P<quoted>[^"]*)"|(?=[^\W\d]|\d+[^\W\d]|\d+ ))',
    re.I,
)

_NOT_READ = re.compile(
    rf'"[^"]*"|\b(?:{"|".join(FILTER_FIELDS)}):(?:"[^"]*"|\S+)', re.I
)


def restrict(within: Filters, periods: Sequence[DatePeriod]) -> Filters:
    """Restrict filters to the time from the first period's start to the last one's end.

    A side on which a period is open is not restricted.
    """
    starts, ends = [one.start for one in periods], [one.end for one in periods]
    first = min((at for at in starts if at), default=None) if all(starts) else None
    last = max((at for at in ends if at), default=None) if all(ends) else None
    return replace(
        within,
        since=max((at for at in (within.since, first) if at), default=None),
        until=min((at for at in (within.until, last) if at), default=None),
    )


def parse(
    text: str, now: datetime, zone: tzinfo, filters: Filters = EVERYTHING
) -> Query:
    """Parse any text with dates; filters in it replace the others.

    Loose times ("recently") remain words.
    """
    words, periods = _read_dates(text, now, zone)
    return replace(search_query.parse(words, zone, filters), periods=periods)


def _read_dates(
    text: str, now: datetime, zone: tzinfo
) -> tuple[str, tuple[DatePeriod, ...]]:
    query = _with_filter_dates(text[: search_query.MAX_CHARS], now, zone)
    readable = _NOT_READ.sub(lambda found: "\0" * len(found.group()), query)
    periods = [one for one in dates.read(readable, now, zone) if not one.is_soft]
    if periods:
        rest = dates.remove(query, periods)
        return rest, tuple(dates.distinct(periods)[:MAX_PERIODS])
    # "feb 11" and "july" alone are dates, unlike within a text; "2000" is a number.
    for preposition in ("on", "in") if not query.strip().isdigit() else ():
        text = f"{preposition} {query.strip()}"
        alone = dates.read(text, now, zone)
        if len(alone) == 1 and not dates.remove(text, alone):
            return "", tuple(alone)
    return query, ()


def _with_filter_dates(query: str, now: datetime, zone: tzinfo) -> str:
    """Replace words after ``after:`` and ``before:`` by an ISO date."""
    place, replaced = 0, ""
    for found in _FILTER.finditer(query):
        if found.start() < place or query.count('"', 0, found.start()) % 2:
            continue
        quoted = found["quoted"]
        words = quoted if quoted is not None else query[found.end() :][:FILTER_CHARS]
        period = next(iter(dates.read(words, now, zone)), None)
        if period is None or period.span[0]:
            continue
        if quoted and period.span[1] < len(quoted):
            continue
        at = (period.start or period.end or now).astimezone(zone)
        form = "%Y-%m-%d" if at.time() == time() else "%Y-%m-%dT%H:%M"
        replaced += f"{query[place : found.start()]}{found['name']}:{at.strftime(form)}"
        place = found.end() + (0 if quoted is not None else period.span[1])
    return replaced + query[place:]


# Queries without a topic, for which the newest are listed


def recent_query(query: Query) -> Query | None:
    """Return the query to list the newest for; None if it names a topic, or no filters.

    "What was I doing" names none. Several periods are taken as one, from the first to
    the last.
    """
    has_filters = any(f"{name}:" in query.text.lower() for name in FILTER_FIELDS)
    is_restricted = bool(query.periods) or (has_filters and not query.hints)
    names_period = all(word.text.lower() in PERIOD_WORDS for word in query.words)
    is_question = (query.stop_words > 0 or names_period) and not query.has_topic
    is_without_words = query.is_empty or (bool(query.periods) and is_question)
    if not (is_without_words and is_restricted) or query.needs_text:
        return None
    filters = restrict(query.filters, query.periods)
    return replace(query, words=(), filters=filters)


def is_small_talk(query: Query) -> bool:
    """Return True for "how are you" and "remind me what we discussed"."""
    indexed = len(query.words) if not query.has_only_stop_words else 0
    is_sentence = query.stop_words >= MIN_STOP_WORDS or not indexed
    return (
        query.stop_words > 0
        and is_sentence
        and not (query.has_topic or query.needs_text)
    )


def describe_newest(query: Query) -> tuple[str, ...]:
    """Return the periods of the query, and a note that this is no ranking."""
    return (*(f"{period.label}." for period in query.periods), NEWEST_LISTED)


def note_earlier_starts(
    periods: Collection[DatePeriod], starts: Collection[datetime]
) -> tuple[str, ...]:
    """Return a note if all work that was found starts before the periods."""
    bounds = [period.start for period in periods if period.start]
    is_earlier = bounds and starts and max(starts) < min(bounds)
    return (STARTS_BEFORE,) if is_earlier else ()


def page_ids(query: Query, zone: tzinfo) -> list[str]:
    """Return the nodes of exactly the periods of a query without other filters."""
    filters = replace(query.filters, since=None, until=None)
    if filters != replace(EVERYTHING, scope=filters.scope):
        return []
    return [
        node_id
        for period in query.periods
        if (node_id := dates.whole_node(period, zone))
    ]
