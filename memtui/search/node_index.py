"""The node index: which nodes and grips have which terms, with weights.

The score (see ``scoring``) depends on how many of the query's terms a document has, so
the postings are read and added up here.
"""

import json
import shutil
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from heapq import nlargest
from pathlib import Path

from memtui.model.filters import Filters
from memtui.model.hits import HitKind, IndexMatch, IndexMatches
from memtui.model.nodes import TocLevel
from memtui.search import node_documents, scoring
from memtui.search.index_file import IndexFile, read_meta
from memtui.search.node_documents import Document, minute
from memtui.search.query import Query, Word
from memtui.search.scoring import WeightedTerm
from memtui.text.analyzer import fold
from memtui.text.stemmer import stem

VERSION = "7"
"""Raise it when the indexed documents, fields or weights change: it is rebuilt then."""

OLD_MARK = "memtui-index"
"""A file beside the indexes of earlier versions, which are deleted."""

MAX_POSTINGS = 40_000
"""How many postings of a query's rarer terms are read to find documents."""

MANY_POSTINGS = 4_000
"""A term with so many postings finds no more documents if there are enough."""

MAX_CACHED = 200_000
"""How many postings are kept from one keystroke to the next."""

ONE_TERM = 65_536.0
"""Added to the sum of a document's weights for each term it has, so that one number
holds both: the weights of all terms together stay far below."""

ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789_"
"""The letters that may have been typed by mistake."""

SHORTEST, LONGEST = 4, 40
"""Shorter words resemble too many others; longer ones are no words."""

TWO_EDITS = 6
"""Words of at least this length may be two edits off, shorter ones one."""

BEGINNING = 3
"""A word that is two edits off must have these first letters right."""

RARE = 10
"""A word that is found is only replaced by one this many times more frequent."""

_SCHEMA = """
CREATE TABLE documents (
    id INTEGER PRIMARY KEY, kind TEXT NOT NULL, target TEXT NOT NULL,
    node TEXT NOT NULL, level TEXT NOT NULL, start INTEGER NOT NULL,
    end INTEGER NOT NULL, terms TEXT NOT NULL
);
CREATE INDEX documents_node ON documents (node);
CREATE INDEX documents_time ON documents (start, end);
CREATE INDEX documents_segment ON documents (start)
    WHERE level = 'segment' AND kind = 'node';
CREATE TABLE terms (
    id INTEGER PRIMARY KEY, term TEXT NOT NULL UNIQUE, documents INTEGER NOT NULL
);
CREATE TABLE postings (
    term INTEGER, document INTEGER, weight REAL NOT NULL, PRIMARY KEY (term, document)
) WITHOUT ROWID;
"""

_LAST_LETTER = "\U0010ffff"

_FILTER = "\ue000"
"""The first character of filter tokens among the terms; no text contains it."""

PostingCache = dict[str, dict[int, float]]
"""The weights of documents, by term."""


class NodeIndex(IndexFile):
    """The node index of one store."""

    def __init__(self, folder: Path, *, keep_open: bool = False) -> None:
        """Remember the folder; the file in it is opened when it is used.

        Args:
            folder: The folder.
            keep_open: Whether connections for reading stay open until ``close``.
        """
        super().__init__(folder / "nodes.db", VERSION, _SCHEMA, keep_open=keep_open)
        self._cache: PostingCache = {}
        self._cached_state: object = None

    def _initial_meta(self) -> Mapping[str, object]:
        return {"changes": 0}

    def delete(self) -> None:
        """Delete the index, or that of an earlier version."""
        super().delete()
        folder = self.path.parent
        with self._translate_errors():
            if (folder / OLD_MARK).is_file():
                shutil.rmtree(folder)

    def update(self, documents: Sequence[Document], node_ids: Sequence[str]) -> None:
        """Add documents in place of all documents of some nodes, in one commit.

        Args:
            documents: The documents to add.
            node_ids: The nodes whose documents are deleted first.
        """
        with self._writing() as db:
            _delete(db, node_ids)
            _add(db, documents)
            db.execute("UPDATE meta SET value = value + 1 WHERE name = 'changes'")

    def count(self) -> int:
        """Return how many documents there are."""
        with self.reading() as reader:
            return reader.size

    @contextmanager
    def reading(self) -> Iterator["NodeReader"]:
        """Read one state of the index."""
        with self._reading() as db:
            meta = read_meta(db)
            state = meta["name"], meta["changes"]
            if state != self._cached_state:
                self._cache, self._cached_state = {}, state
            yield NodeReader(db, self._cache)


@contextmanager
def reading_documents(documents: Iterable[Document]) -> Iterator["NodeReader"]:
    """Read an index of some documents in memory."""
    with closing(sqlite3.connect(":memory:")) as db:
        db.executescript(_SCHEMA)
        _add(db, documents)
        yield NodeReader(db, {})


def _delete(db: sqlite3.Connection, node_ids: Sequence[str]) -> None:
    nodes = json.dumps(node_ids)
    where = "WHERE node IN (SELECT value FROM json_each(?))"
    rows = db.execute(f"SELECT id, terms FROM documents {where}", (nodes,)).fetchall()
    gone = [(term, number) for number, terms in rows for term in json.loads(terms)]
    db.executemany("DELETE FROM postings WHERE term = ? AND document = ?", gone)
    _count(db, Counter(term for term, _ in gone), -1)
    db.execute(f"DELETE FROM documents {where}", (nodes,))


def _add(db: sqlite3.Connection, documents: Iterable[Document]) -> None:
    counts = Counter[int]()
    (last,) = db.execute("SELECT coalesce(max(id), 0) FROM documents").fetchone()
    for number, one in enumerate(documents, last + 1):
        weights = scoring.term_weights(one.texts, one.level)
        weights |= {f"{_FILTER}{token}": 0.0 for token in one.filters}
        # Lone surrogates cannot be stored.
        clean = {_storable(term): weight for term, weight in weights.items()}
        db.executemany(
            "INSERT OR IGNORE INTO terms (term, documents) VALUES (?, 0)",
            [(term,) for term in clean],
        )
        rows = db.execute(
            "SELECT id, term FROM terms WHERE term IN (SELECT value FROM json_each(?))",
            (json.dumps([*clean]),),
        ).fetchall()
        db.executemany(
            "INSERT INTO postings VALUES (?, ?, ?)",
            [(term, number, clean[text]) for term, text in rows],
        )
        terms = [term for term, _ in rows]
        counts.update(terms)
        db.execute(
            "INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                number,
                one.kind.value,
                one.target_id,
                one.node_id,
                one.level.value,
                minute(one.start),
                minute(one.end),
                json.dumps(terms),
            ),
        )
    _count(db, counts, 1)


def _storable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _count(db: sqlite3.Connection, counts: Counter[int], sign: int) -> None:
    db.executemany(
        "UPDATE terms SET documents = documents + ? WHERE id = ?",
        [(sign * count, term) for term, count in counts.items()],
    )


class NodeReader:
    """Searches one state of an index. It is valid while its transaction lasts."""

    def __init__(self, db: sqlite3.Connection, cache: "PostingCache") -> None:
        """Take a connection in a read transaction, and what was read in this state."""
        self._db, self._cache = db, cache
        (size,) = db.execute("SELECT count(*) FROM documents").fetchone()
        self.size: int = size

    # Terms

    def frequencies(self, terms: Iterable[str]) -> Counter[str]:
        """Return how many documents contain each of these terms."""
        rows = self._db.execute(
            "SELECT term, documents FROM terms"
            " WHERE term IN (SELECT value FROM json_each(?)) AND documents > 0",
            (json.dumps([*map(_storable, terms)]),),
        )
        return Counter(dict(rows.fetchall()))

    def beginning(self, start: str, limit: int = -1) -> Counter[str]:
        """Return the most frequent terms that begin so, and how many documents have
        each."""
        rows = self._db.execute(
            "SELECT term, documents FROM terms WHERE term >= ? AND term < ?"
            " AND documents > 0 ORDER BY documents DESC, term LIMIT ?",
            (_storable(start), f"{_storable(start)}{_LAST_LETTER}", limit),
        )
        return Counter(dict(rows.fetchall()))

    def suggestion(self, query: Query, *, has_few: bool) -> str:
        """Return a query with its misspelt words corrected; "" if none is.

        Args:
            query: The query.
            has_few: Whether it finds little: then rare words may be misspelt too.
        """
        return _correct_query(self, query, has_few=has_few)

    # Ranking

    def search(
        self,
        query: Query,
        limit: int,
        *,
        among: Collection[str] | None = None,
        is_exact: bool = True,
    ) -> IndexMatches:
        """Return the best documents, the best first and the latest among equals.

        A document of several agents and projects passes a filter for any of them. Of a
        phrase only the words are looked up, not their order.

        Args:
            query: The query.
            limit: The most matches.
            among: The ids of the nodes that may be found; None for all.
            is_exact: Whether all words of a phrase are required.
        """
        terms = scoring.weighted_terms(
            query, self.size, self.frequencies, self._complete
        )
        if not terms or not self.size:
            return IndexMatches()
        any_level = replace(query.filters, levels=frozenset())
        required = query.phrase_terms if is_exact else ()
        in_segments = self._passing(any_level, among, required, query.excluded)
        allowed = in_segments
        if query.filters.levels:
            levels = replace(Filters(), levels=query.filters.levels)
            of_levels = self._passing(levels, None, (), ()) or frozenset()
            allowed = of_levels if allowed is None else allowed & of_levels
        sums, left_out = self._add_up(terms, allowed, limit)
        passing = sums if allowed is None else sums.keys() & allowed
        totals = _totals([sums[number] for number in passing])
        best = nlargest(limit, zip(totals, passing, strict=True))
        most = sum(term.idf for term in terms) * len(terms)
        scores = {number: total / most for total, number in best}
        matches = self._matches(scores, sums, in_segments)
        return IndexMatches(tuple(matches), tuple(left_out))

    def _complete(self, start: str) -> Sequence[str]:
        found = self.beginning(start, scoring.MAX_COMPLETIONS + 1)
        return [term for term in found if term != start][: scoring.MAX_COMPLETIONS]

    def _passing(
        self,
        filters: Filters,
        among: Collection[str] | None,
        required: Sequence[str],
        excluded: Sequence[Word],
    ) -> frozenset[int] | None:
        """Return the documents that pass; None if all do."""
        groups = node_documents.filter_groups(filters)
        sets = [self._having([f"{_FILTER}{t}" for t in group]) for group in groups]
        sets += [self._having([term]) for term in required]
        if among is not None:
            where = "node IN (SELECT value FROM json_each(?))"
            sets.append(self._documents(where, json.dumps([*among])))
        if since := filters.since:
            sets.append(self._documents("end >= ?", minute(since)))
        if until := filters.until:
            sets.append(self._documents("start < ?", minute(until)))
        for word in excluded:
            *first, last = word.terms
            parts = [self._having([term]) for term in first]
            parts.append(self._having([last], word.prefix))
            sets.append(self._documents("1") - frozenset.intersection(*parts))
        return frozenset.intersection(*sets) if sets else None

    def _documents(self, where: str, *values: object) -> frozenset[int]:
        rows = self._db.execute(f"SELECT id FROM documents WHERE {where}", values)
        return frozenset(number for (number,) in rows.fetchall())

    def _having(self, terms: Sequence[str], prefix: str = "") -> frozenset[int]:
        """Return the documents with any of some terms, or of those that begin so."""
        sql = (
            "SELECT document FROM postings WHERE term IN (SELECT id FROM terms"
            " WHERE term IN (SELECT value FROM json_each(?)) OR term >= ? AND term < ?)"
        )
        end = f"{prefix}{_LAST_LETTER}" if prefix else ""
        rows = self._db.execute(sql, (json.dumps(terms), prefix, end))
        return frozenset(number for (number,) in rows.fetchall())

    def _add_up(
        self, terms: Sequence[WeightedTerm], allowed: frozenset[int] | None, limit: int
    ) -> tuple[dict[int, float], list[str]]:
        """Return ONE_TERM for each term a document has, plus the terms' weights.

        The rarest terms come first. When ``MAX_POSTINGS`` have been read, the others
        count in the documents found so far, and are returned too.
        """
        sums: dict[int, float] = {}
        left_out: list[str] = []
        room = MAX_POSTINGS
        for term in sorted(terms, key=lambda term: term.postings):
            found = sums if allowed is None else sums.keys() & allowed
            is_enough = term.postings >= MANY_POSTINGS and len(found) >= limit
            if term.postings > room and not is_enough:
                left_out.append(term.term)
            is_cut = bool(sums) and (is_enough or term.postings > room)
            best = self._best_forms(term, sums if is_cut else None)
            both = {n: sums[n] + best[n] for n in sums.keys() & best.keys()}
            sums |= best
            sums |= both
            room -= term.postings
        return sums, left_out

    def _best_forms(
        self, term: WeightedTerm, among: Mapping[int, float] | None
    ) -> dict[int, float]:
        """Return ONE_TERM plus the weight of a term's best form in each document.

        Args:
            term: The term.
            among: The documents that are looked at; None for the newest ones.
        """
        best: dict[int, float] = {}
        for form in term.forms:
            weights, factor = self._weights(form.term), form.factor * term.idf
            numbers = weights if among is None else weights.keys() & among.keys()
            found = {n: ONE_TERM + factor * weights[n] for n in numbers}
            both = {n: max(best[n], found[n]) for n in best.keys() & found.keys()}
            best |= found
            best |= both
        return best

    def _weights(self, term: str) -> dict[int, float]:
        """Return a term's weight in each document; of very many, the newest."""
        found = self._cache.get(term)
        if found is None:
            rows = self._db.execute(
                "SELECT document, weight FROM postings WHERE term ="
                " (SELECT id FROM terms WHERE term = ?) ORDER BY document DESC LIMIT ?",
                (term, MAX_POSTINGS),
            )
            if sum(map(len, self._cache.values())) > MAX_CACHED:
                self._cache.clear()
            found = self._cache[term] = dict(rows.fetchall())
        return found

    def _matches(
        self,
        scores: Mapping[int, float],
        sums: Mapping[int, float],
        in_segments: frozenset[int] | None,
    ) -> Iterator[IndexMatch]:
        sql = (
            "SELECT id, kind, target, node, level, start, end FROM documents"
            " WHERE id IN (SELECT value FROM json_each(?))"
        )
        rows = self._db.execute(sql, (json.dumps([*scores]),)).fetchall()
        stored = {number: row for number, *row in rows}
        for number, score in scores.items():
            kind, target, node, level, *times = stored[number]
            lead = node
            if kind == HitKind.NODE and level != TocLevel.SEGMENT:
                lead = self._best_segment(times, sums, in_segments) or node
            yield IndexMatch(HitKind(kind), target, score, lead)

    def _best_segment(
        self,
        times: Sequence[int],
        sums: Mapping[int, float],
        allowed: frozenset[int] | None,
    ) -> str:
        """Return the id of the best segment in a wide node's time; "" if none is."""
        sql = (
            "SELECT id, node FROM documents WHERE level = 'segment' AND kind = 'node'"
            " AND start BETWEEN ? AND ?"
        )
        passing = {
            number: node
            for number, node in self._db.execute(sql, times)
            if number in sums and (allowed is None or number in allowed)
        }
        totals = _totals([sums[number] for number in passing])
        best = max(zip(totals, passing, strict=True), default=None)
        return passing[best[1]] if best else ""


def _totals(sums: Iterable[float]) -> list[float]:
    """Return the number of a document's terms times the sum of their weights."""
    return [found // ONE_TERM * (found % ONE_TERM) for found in sums]


# Spelling suggestions: which term of the index a misspelt word was meant to be


def _correct_query(reader: NodeReader, query: Query, *, has_few: bool) -> str:
    """Return a query with its misspelt words corrected; "" if none is.

    Args:
        reader: The index.
        query: The query.
        has_few: Whether it finds little: then rare words may be misspelt too.
    """
    text = query.text
    for word in query.words:
        if correct := _correction(reader, word, has_few=has_few):
            text = text.replace(word.text, correct, 1)
    return "" if text == query.text else text


def _correction(reader: NodeReader, word: Word, *, has_few: bool) -> str:
    written = fold(word.text)
    if not (SHORTEST <= len(written) <= LONGEST and written.isidentifier()):
        return ""
    counts = reader.frequencies([written, *word.terms])
    known = max(counts[written], min(counts[term] for term in word.terms))
    if known and not has_few:
        return ""
    if not known and word.is_prefix and reader.beginning(word.prefix, 1):
        return ""
    same = {written, stem(written), *word.terms}
    near = sorted(
        (edits, -count, other) for (edits, other), count in _similar(reader, written)
    )
    for _, count, other in near:
        if -count > known * RARE and stem(other) not in same:
            return _as_written(reader, other)
    return ""


def _similar(reader: NodeReader, word: str) -> Iterator[tuple[tuple[int, str], int]]:
    """Yield (edits, term) and the frequency of the term.

    The terms are one edit off, or two after a right beginning.
    """
    near = reader.frequencies(set(neighbours(word, BEGINNING)) - {word})
    yield from (((1, other), count) for other, count in near.items())
    most = 2 if len(word) >= TWO_EDITS else 1
    for other, count in reader.beginning(word[:BEGINNING]).items():
        edits = distance(word, other, most)
        if other not in near and 0 < edits <= most:
            yield (edits, other), count


def _as_written(reader: NodeReader, term: str) -> str:
    """Return a word that was written for a term that is only the stem of others."""
    start = term[:-1] if len(term) > SHORTEST else term
    counts = reader.beginning(start)
    forms = [form for form in counts if form != term and stem(form) == term]
    if stem(term) != term or counts[term] > sum(counts[form] for form in forms):
        return term
    return max(forms, key=counts.__getitem__)


def distance(one: str, other: str, most: int) -> int:
    """Return the Damerau-Levenshtein distance of two words, at most ``most`` + 1.

    It counts letters inserted, deleted, replaced or exchanged with the next one
    (F. J. Damerau, "A technique for computer detection and correction of spelling
    errors", 1964; no part is edited twice).
    """
    if abs(len(one) - len(other)) > most:
        return most + 1
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        above, row = row, [i] + [0] * len(other)
        for j, wanted in enumerate(other, 1):
            cost = above[j - 1] + (letter != wanted)
            best = min(cost, above[j] + 1, row[j - 1] + 1)
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == wanted:
                best = min(best, before[j - 2] + 1)
            row[j] = best
        if min(row) > most:
            return most + 1
        before = above
    return row[-1]


def neighbours(word: str, within: int) -> Iterator[str]:
    """Yield what is one edit away from a word, some of it twice.

    Args:
        word: The word.
        within: Only the first letters are edited, up to this one.
    """
    cuts = [(word[:at], word[at:]) for at in range(min(within, len(word)) + 1)]
    for start, end in cuts:
        for letter in ALPHABET:
            yield start + letter + end
        if end:
            yield start + end[1:]
            for letter in ALPHABET:
                yield start + letter + end[1:]
        if len(end) > 1:
            yield start + end[1] + end[0] + end[2:]
