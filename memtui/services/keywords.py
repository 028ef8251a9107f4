"""Lists the segments that have a keyword, newest first."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from memtui.model.filters import ALL, Scope
from memtui.model.nodes import TocEntry
from memtui.store import database, nodes
from memtui.text import analyzer, stems
from memtui.text.dates import DatePeriod

MAX_CHARS = 1_000
"""The number of characters of a keyword that are read."""

MAX_SEGMENTS = 10_000
"""The number of segments that are searched, the newest that may have the keyword."""


@dataclass(frozen=True, slots=True)
class KeywordPage:
    """A page of segments, each with all its keywords."""

    segments: Sequence[tuple[TocEntry, Sequence[str]]]
    is_cut: bool = False
    """Older segments were not searched."""


def list_segments(
    keyword: str,
    node_id: str = "",
    *,
    periods: Sequence[DatePeriod] = (),
    offset: int = 0,
    limit: int,
    scope: Scope = ALL,
) -> KeywordPage:
    """List the segments whose keywords have all words of a text between them.

    The segments themselves are read: a node above them keeps only the most important
    of their keywords.
    """
    terms = {*analyzer.query_terms(keyword[:MAX_CHARS])}
    if not terms:
        return KeywordPage(())
    with database.connection():
        prefixes = [stems.word_prefixes(term) for term in terms]
        parent = nodes.resolve_id(node_id) if node_id else None
        segments = nodes.read_keywords(parent, scope, prefixes=prefixes)
        matching = _filter_by_terms(islice(segments, MAX_SEGMENTS), terms)
        if periods:
            matching = _filter_by_time(matching, periods)
        page = dict(islice(matching, offset, offset + limit))
        is_cut = len(page) < limit and next(segments, None) is not None
        entries = {entry.node_id: entry for entry in nodes.get_entries([*page])}
    described = [
        (entries[name], keywords) for name, keywords in page.items() if name in entries
    ]
    return KeywordPage(described, is_cut)


def _filter_by_terms(
    segments: Iterable[tuple[str, list[str]]], terms: set[str]
) -> Iterator[tuple[str, list[str]]]:
    """Yield the segments whose keywords have all terms between them."""
    terms_of: dict[str, set[str]] = {}
    for name, keywords in segments:
        for keyword in keywords:
            if keyword not in terms_of:
                terms_of[keyword] = terms.intersection(analyzer.terms(keyword))
        if set[str]().union(*(terms_of[keyword] for keyword in keywords)) == terms:
            yield name, keywords


def _filter_by_time(
    segments: Iterable[tuple[str, list[str]]], periods: Sequence[DatePeriod]
) -> Iterator[tuple[str, list[str]]]:
    """Yield the segments that start in one of some periods."""
    for name, keywords in segments:
        for entry in nodes.get_entries([name]):
            start = entry.start_time
            if any(
                (not period.start or start >= period.start)
                and (not period.end or start < period.end)
                for period in periods
            ):
                yield name, keywords
