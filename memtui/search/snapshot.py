"""One commit of the node index, and the ranking of its documents for a query.

Postings are read through Whoosh's ``IndexReader`` and added up here, because the score
(see ``scoring``) depends on how many of the query's terms a document contains. Whoosh's
own searcher only adds up terms, and takes three to five times as long.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from heapq import nlargest, nsmallest
from itertools import islice
from operator import add
from typing import Any

from whoosh.query import And, Or, Prefix, Term
from whoosh.reading import TermNotFound
from whoosh.searching import Searcher

from memtui.model.filters import Filters
from memtui.model.hits import HitKind, IndexMatch, IndexMatches
from memtui.model.nodes import TocLevel
from memtui.search import node_documents, scoring
from memtui.search.query import Query, Word
from memtui.search.scoring import WeightedTerm

WORDS, FILTERS, NODE = "words", "filters", "node"
"""The indexed fields: words to search for, filter tokens, and the node's id."""

MINUTES_A_DAY = 24 * 60

MAX_POSTINGS = 40_000
"""How many postings of a query's rarer terms are read to find documents."""

MIN_COMMON_POSTINGS = 4_000
"""Before a term with this many postings is read, the search checks whether it can still
change the matches."""

LOOKUP_RATIO = 20
"""If a term has this many times more postings than there are documents to look up, each
document is looked up by bisection."""

SAMPLE_SIZE, ENOUGH_COMPLETIONS = 3_000, 200
"""Completions are searched for in index segments near this size first, until this many
are known."""

ONE_TERM = 65_536.0
"""Added to the sum of a document's weights for each term it has, so that one number
holds both: the weights of all terms together stay far below."""

Postings = tuple["array[int]", "array[float]"]
"""The numbers of a term's documents, and its weight in each."""


@dataclass(frozen=True, slots=True)
class DocumentCondition:
    """The conditions on a document besides containing some of a query's words."""

    filters: Filters
    nodes: frozenset[str] | None = None
    """The ids of the nodes that may be found; None for all."""
    required: tuple[str, ...] = ()
    """Terms it must have."""
    excluded: tuple[Word, ...] = ()

    @property
    def for_segments(self) -> "DocumentCondition":
        """The same for documents of all levels."""
        return replace(self, filters=replace(self.filters, levels=frozenset()))


class Snapshot:
    """A commit of the index that is open for reading. It is a ``scoring.Lexicon``."""

    def __init__(self, reader: Any) -> None:
        """Use an ``IndexReader``; its terms and documents are cached."""
        self.reader = reader
        self.generation: int = reader.generation()
        self.size: int = reader.doc_count_all()
        self._leaves = list(reader.leaf_readers()) if self.size else []
        self.frequency = lru_cache(4096)(self._frequency)
        self.completions = lru_cache(4096)(self._completions)
        self.postings = lru_cache(256)(self._postings)
        self._allowed = lru_cache(16)(self._passing_all)
        self._stored = lru_cache(4096)(reader.stored_fields)

    # Terms

    def _frequency(self, term: str) -> int:
        """Return how many documents have a term."""
        text = term.encode("utf-8", "replace")
        return sum(leaf.doc_frequency(WORDS, text) for leaf, _ in self._leaves)

    def _completions(self, start: str) -> tuple[str, ...]:
        """Return the most common terms with a prefix."""
        most = scoring.MAX_COMPLETIONS
        counts = self.beginning(start, ENOUGH_COMPLETIONS)
        counts.pop(start, None)
        likely = nsmallest(2 * most, counts, key=lambda term: (-counts[term], term))
        likely.sort(key=lambda term: (-self.frequency(term), term))
        return tuple(likely[:most])

    def beginning(self, start: str, enough: int | None = None) -> Counter[str]:
        """Return terms with a prefix, and how many documents contain each.

        Args:
            start: The prefix.
            enough: Stop after the segment in which this many are reached.
        """
        text = start.encode("utf-8", "replace")
        found = Counter[bytes]()
        leaves = [leaf for leaf, _ in self._leaves]
        leaves.sort(key=lambda leaf: abs(int(leaf.doc_count_all()) - SAMPLE_SIZE))
        for leaf in leaves:
            if enough and len(found) >= enough:
                break
            for (field, term), info in leaf.iter_from(WORDS, text):
                if field != WORDS or not term.startswith(text):
                    break
                found[term] += info.doc_frequency()
        return Counter({term.decode(): count for term, count in found.items()})

    def _postings(self, term: str) -> Postings:
        """Return a term's documents; of very many, those in the newest segments."""
        text = term.encode("utf-8", "replace")
        numbers, weights = array("I"), array("f")
        for leaf, base in reversed(self._leaves):
            more, their_weights = array("I"), array("f")
            try:
                matcher = leaf.postings(WORDS, text)
            except TermNotFound:
                continue
            number, weight, advance = matcher.id, matcher.weight, matcher.next
            while matcher.is_active():
                more.append(base + number())
                their_weights.append(weight())
                advance()
            numbers, weights = more + numbers, their_weights + weights
            if len(numbers) >= MAX_POSTINGS:
                break
        return numbers, weights

    # Documents

    @cached_property
    def _searcher(self) -> Searcher:
        return Searcher(self.reader, closereader=False)

    @cached_property
    def starts(self) -> "array[int]":
        """The minute each document starts in."""
        return self._column("start")

    @cached_property
    def ends(self) -> "array[int]":
        """The minute each document ends in."""
        return self._column("end")

    def _column(self, name: str) -> "array[int]":
        values = array("i")
        for leaf, base in self._leaves:
            values.extend(leaf.column_reader(name, translate=False).load())
            # A column ends with the last document that has a value.
            values.extend([0] * (base + leaf.doc_count_all() - len(values)))
        return values

    @cached_property
    def _segments(self) -> list[int]:
        """The documents of segments, in the order of their start."""
        segments = Term(FILTERS, node_documents.SEGMENT).docs(self._searcher)
        return sorted(segments, key=self.starts.__getitem__)

    def _passing_all(self, condition: DocumentCondition) -> frozenset[int] | None:
        """Return the documents that fulfil a condition; None if all do."""
        sets = list(self._passing(condition))
        return frozenset.intersection(*sets) if sets else None

    def _passing(self, condition: DocumentCondition) -> Iterator[frozenset[int]]:
        groups = node_documents.filter_groups(condition.filters)
        clauses = [Or([Term(FILTERS, token) for token in group]) for group in groups]
        clauses += [Term(WORDS, term) for term in condition.required]
        if condition.nodes is not None:
            clauses.append(Or([Term(NODE, name) for name in condition.nodes]))
        if clauses:
            yield frozenset(And(clauses).docs(self._searcher))
        if since := condition.filters.since:
            first = node_documents.minute(since)
            yield frozenset(n for n, end in enumerate(self.ends) if end >= first)
        if until := condition.filters.until:
            last = node_documents.minute(until)
            yield frozenset(n for n, start in enumerate(self.starts) if start < last)
        if condition.excluded:
            excluded = Or([_having(word) for word in condition.excluded])
            yield frozenset(range(self.size)).difference(excluded.docs(self._searcher))

    # Ranking

    def search(
        self,
        query: Query,
        condition: DocumentCondition,
        limit: int,
        *,
        is_recent_first: bool,
    ) -> IndexMatches:
        """Return the best documents, the best first and the latest among equals."""
        terms = scoring.weighted_terms(query, self)
        if not terms or not self.size:
            return IndexMatches()
        allowed = self._allowed(condition)
        sums, left_out = self._add_up(terms, allowed, limit)
        passing = sums if allowed is None else sums.keys() & allowed
        totals = _totals([sums[n] for n in passing])
        if is_recent_first:
            newest = max(self.ends)
            ages = [(newest - self.ends[n]) / MINUTES_A_DAY for n in passing]
            totals = [t * scoring.recency(a) for t, a in zip(totals, ages, strict=True)]
        best = nlargest(limit, zip(totals, passing, strict=True))
        most = sum(term.idf for term in terms) * len(terms)
        in_segments = self._allowed(condition.for_segments)
        matches = [self._match(t / most, n, sums, in_segments) for t, n in best]
        return IndexMatches(tuple(matches), tuple(left_out))

    def _add_up(
        self, terms: Sequence[WeightedTerm], allowed: frozenset[int] | None, limit: int
    ) -> tuple[dict[int, float], list[str]]:
        """Return ONE_TERM for each term a document has, plus the terms' weights.

        The rarest terms come first. When ``MAX_POSTINGS`` have been read, the others
        count in the documents found so far; they are returned too if these may be too
        few.
        """
        sums: dict[int, float] = {}
        left_out: list[str] = []
        room = MAX_POSTINGS
        rest = sorted(terms, key=self._size)
        while rest:
            term, size = rest[0], self._size(rest[0])
            is_enough = size >= MIN_COMMON_POSTINGS and self._are_enough(
                sums, rest, allowed, limit
            )
            if sums and (is_enough or size > room):
                best = self._best_forms(term, among=sums)
            else:
                best = self._best_forms(term)
            if size > room and not is_enough:
                left_out.append(term.term)
            _combine(sums, best, add)
            room -= size
            del rest[0]
        return sums, left_out

    def _size(self, term: WeightedTerm) -> int:
        return sum(self.frequency(form.term) for form in term.forms)

    def _best_forms(
        self, term: WeightedTerm, among: Collection[int] | None = None
    ) -> dict[int, float]:
        """Return ONE_TERM plus the weight of a term's best form in each document.

        Args:
            term: The term.
            among: The documents that are looked at; None for all, or for as many as
                ``MAX_POSTINGS`` allows.
        """
        best: dict[int, float] = {}
        room = MAX_POSTINGS
        for form in term.forms:
            numbers, weights = self.postings(form.term)
            if among is not None:
                found = _lookup(numbers, weights, among)
            elif best and len(numbers) > room:
                break
            else:
                found = dict(zip(numbers, weights, strict=True))
                room -= len(numbers)
            factor = form.factor * term.idf
            weighed = [ONE_TERM + factor * weight for weight in found.values()]
            _combine(best, dict(zip(found, weighed, strict=True)), max)
        return best

    def _are_enough(
        self,
        sums: dict[int, float],
        rest: Sequence[WeightedTerm],
        allowed: frozenset[int] | None,
        limit: int,
    ) -> bool:
        """Return True if no document with only the rest of the terms can be a match."""
        passing = sums if allowed is None else sums.keys() & allowed
        best = nlargest(limit, _totals([sums[n] for n in passing]))
        most = sum(term.idf for term in rest) * len(rest)
        return len(best) == limit > 0 and best[-1] * scoring.MIN_RECENCY >= most

    def _match(
        self,
        score: float,
        number: int,
        sums: dict[int, float],
        in_segments: frozenset[int] | None,
    ) -> IndexMatch:
        stored = self._stored(number)
        kind, node_id = HitKind(stored["kind"]), stored["node_id"]
        lead = node_id
        if kind is HitKind.NODE and stored["level"] != TocLevel.SEGMENT:
            lead = self._best_segment(number, sums, in_segments) or node_id
        return IndexMatch(kind, stored["target"], score, lead)

    def _best_segment(
        self, wide: int, sums: dict[int, float], allowed: frozenset[int] | None
    ) -> str:
        """Return the id of the best segment in a wide node's time; "" if none is."""
        starts, segments = self.starts, self._segments
        first = bisect_left(segments, starts[wide], key=starts.__getitem__)
        last = bisect_right(segments, self.ends[wide], key=starts.__getitem__)
        found = (n for n in islice(segments, first, last) if n in sums)
        passing = (n for n in found if allowed is None or n in allowed)
        leads = list(passing)
        totals = _totals([sums[n] for n in leads])
        best = max(zip(totals, leads, strict=True), default=None)
        return self._stored(best[1])["node_id"] if best else ""


def _having(word: Word) -> And:
    """Return the query for documents with a word."""
    clauses = [Term(WORDS, term) for term in word.terms]
    if word.is_prefix:
        clauses[-1] = Or([clauses[-1], Prefix(WORDS, word.prefix)])
    return And(clauses)


def _totals(sums: Iterable[float]) -> list[float]:
    """Return the number of a document's terms times the sum of their weights."""
    return [found // ONE_TERM * (found % ONE_TERM) for found in sums]


def _lookup(
    numbers: "array[int]", weights: "array[float]", among: Collection[int]
) -> dict[int, float]:
    """Return a term's weight in each of some documents that contain it."""
    if len(among) * LOOKUP_RATIO > len(numbers):
        found = dict(zip(numbers, weights, strict=True))
        return {number: found[number] for number in found.keys() & among}
    places = ((number, bisect_left(numbers, number)) for number in among)
    return {
        number: weights[place]
        for number, place in places
        if place < len(numbers) and numbers[place] == number
    }


def _combine(
    known: dict[int, float],
    more: dict[int, float],
    function: Callable[[float, float], float],
) -> None:
    """Merge a mapping into another; the function combines the values of common keys."""
    both = {n: function(known[n], more[n]) for n in known.keys() & more.keys()}
    known |= more
    known |= both
