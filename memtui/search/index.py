"""The index on disk: opened, kept up, asked; made anew when it cannot be used."""

import logging
import shutil
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

from whoosh import index, query, scoring
from whoosh.collectors import TimeLimitCollector
from whoosh.searching import TimeLimit

from memtui.errors import SearchError
from memtui.memory import words
from memtui.memory.hits import HitKind, Match
from memtui.memory.scopes import ALL, Scope
from memtui.search import folders, schema
from memtui.search.collectors import Within
from memtui.search.documents import Document

log = logging.getLogger(__name__)

K1 = 1.2
B = 0.6
"""BM25's saturation and its weight of a document's length."""

EXPANSIONS = 8
"""How many completions of the word being typed are searched for."""

COMPLETED = 0.7
"""What a completion weighs against the word as it was typed."""

OR_LIMIT_S = 0.03
"""How long a search for any of the words may take, in seconds; then what it has is
answered."""

ENOUGH = 5
"""With fewer documents that hold all words, those that hold any are searched too."""

_PREFIX_CAP = 300
"""How many words that begin as the unfinished one are looked at."""

_BATCH_MERGE = 200
"""From this many documents on, a write merges the index's pieces."""


class Index:
    """A folder with an index in it. One process writes; any number read."""

    def __init__(self, folder: Path) -> None:
        """Remember the folder; nothing is opened yet."""
        self._folder = folder
        self._mark = folder / "memtui-index"
        self._index: Any = None
        self._searcher: Any = None
        self._lock = threading.Lock()

    def name(self) -> str:
        """The name it was made under; "" if there is none of this schema."""
        try:
            version, _, name = self._mark.read_text(encoding="utf-8").partition(" ")
            is_there = version == schema.VERSION and index.exists_in(self._folder)
        except Exception:  # Whoosh says of a file cut short whatever Python said of it
            return ""
        return name.strip() if is_there else ""

    def make(self, name: str) -> None:
        """Make an empty index in place of the one that is there.

        Raises:
            SearchError: The folder cannot be written, or holds what is not ours.
        """
        try:
            self.close()
            if not folders.is_free(self._folder, self._mark):
                raise SearchError(
                    f"{self._folder} holds other files; move them to make room for"
                    " the search index"
                )
            folders.empty(self._folder, self._mark)
            index.create_in(self._folder, schema.schema())
            self._mark.write_text(f"{schema.VERSION} {name}\n", encoding="utf-8")
        except OSError as error:
            raise SearchError(f"{self._folder}: {error.strerror}") from error

    def remove(self) -> None:
        """Delete the index with all its files; it is made anew when next fed.

        Raises:
            SearchError: It cannot be deleted.
        """
        self.close()
        if not self.exists():
            return
        try:
            folders.empty(self._folder, self._mark)
            shutil.rmtree(self._folder)
        except OSError as error:
            raise SearchError(f"{self._folder}: {error.strerror}") from error

    def exists(self) -> bool:
        """Whether there is an index of ours, of whatever schema and state."""
        return self._mark.is_file()

    def is_sound(self) -> bool:
        """Whether the index can be opened and asked."""
        try:
            with self._lock:
                reader = self._current().reader()
                terms = reader.expand_prefix("terms", "")
                return all(reader.doc_frequency("terms", t) for t in islice(terms, 1))
        except Exception:
            log.exception("the index in %s cannot be asked", self._folder)
            self._index = self._searcher = None
            return False

    def count(self) -> int:
        """How many documents can be found.

        Raises:
            SearchError: The index is missing or broken.
        """
        try:
            with self._lock:
                return int(self._current().doc_count())
        except SearchError:
            raise
        except Exception as error:
            self._searcher = None
            raise SearchError(f"{self._folder}: {error or type(error)}") from error

    def put(self, documents: Iterable[Document], gone: Sequence[str]) -> None:
        """Index documents in place of all that stood for these nodes.

        Args:
            documents: What is to be found from now on.
            gone: The ids of the nodes whose documents are replaced or removed.

        Raises:
            SearchError: The index is broken, or another process writes to it.
        """
        try:
            writer = self._open().writer(limitmb=64, codec=schema.codec())
            try:
                for node_id in gone:
                    writer.delete_by_term("node", node_id)
                count = 0
                for document in documents:
                    self._add(writer, document)
                    count += 1
                writer.commit(merge=count >= _BATCH_MERGE)
            except BaseException:
                _let_go(writer)
                raise
            folders.sync(self._folder)
        except SearchError:
            raise
        except Exception as error:
            raise SearchError(f"{self._folder}: {error or type(error)}") from error

    @staticmethod
    def _add(writer: Any, document: Document) -> None:
        writer.add_document(
            target=document.target_id,
            kind=document.kind.value,
            node=document.node_id,
            terms=document.parts,
            agents=document.agents,
            projects=document.projects,
        )

    def find(self, text: str, limit: int, of: Scope = ALL) -> list[Match]:
        """The best documents for a query whose last word may be unfinished.

        Args:
            text: What was typed.
            limit: The most matches.
            of: Whose work is looked through. Of documents that tell of several agents
                and projects, it does not know which belong together.

        Raises:
            SearchError: The index is missing or broken.
        """
        asked = words.needed(text)
        if not asked or not text.strip():
            return []
        with self._lock:
            try:
                return self._find(asked, text, limit, _within(of))
            except SearchError:
                raise
            except Exception as error:
                self._searcher = None
                raise SearchError(f"{self._folder}: {error or type(error)}") from error

    def _find(
        self, asked: list[str], text: str, limit: int, within: Any
    ) -> list[Match]:
        searcher = self._current()
        if not searcher.doc_count():
            return []
        unfinished = not text[-1].isspace()
        begun = _begun(text) | ({asked[-1]} if unfinished else set())
        groups = [self._group(term, is_begun=term in begun) for term in asked]
        bound = sum(_bound(searcher, group) for group in groups)
        parts = [_any_of(group) for group in groups]
        found = self._run(searcher, query.And(parts), limit, within)
        matches = {m.target_id: _scaled(m, bound, 1.0) for m, _ in found}
        if len(found) < ENOUGH and len(groups) > 1:
            wider = self._run(
                searcher, query.Or(parts), limit, within, within_s=OR_LIMIT_S
            )
            for match, held in wider:
                share = sum(not held.isdisjoint(g) for g in groups) / len(groups)
                matches.setdefault(match.target_id, _scaled(match, bound, share))
        return list(matches.values())[:limit]

    def _group(self, term: str, *, is_begun: bool) -> list[str]:
        """A term, and, of a word that is only begun, its likeliest completions."""
        if not is_begun:
            return [term]
        reader = self._searcher.reader()
        completions = sorted(
            (other for other in self._completions(term) if other != term),
            key=lambda other: (-reader.doc_frequency("terms", other), other),
        )
        return [term, *completions[:EXPANSIONS]]

    def _completions(self, start: str) -> Iterator[str]:
        reader = self._searcher.reader()
        for number, raw in enumerate(reader.expand_prefix("terms", start)):
            if number >= _PREFIX_CAP:
                return
            yield raw.decode("utf-8") if isinstance(raw, bytes) else raw

    def _run(
        self,
        searcher: Any,
        asked: Any,
        limit: int,
        within: Any,
        *,
        within_s: float | None = None,
    ) -> list[tuple[Match, set[str]]]:
        """The best matches, and for a search within a time the terms each holds."""
        collector = searcher.collector(limit=limit, terms=within_s is not None)
        if within:
            collector = Within(collector, within)
        if within_s is not None:
            collector = TimeLimitCollector(collector, within_s, use_alarm=False)
        with suppress(TimeLimit):
            searcher.search_with_collector(asked, collector)
        return [
            (
                Match(HitKind(hit["kind"]), hit["target"], float(hit.score)),
                _held(hit) if within_s else set(),
            )
            for hit in collector.results()
        ]

    def _open(self) -> Any:
        if self._index is None:
            if not self.name():
                raise SearchError(f"{self._folder} holds no index")
            self._index = index.open_dir(self._folder)
        return self._index

    def _current(self) -> Any:
        """A searcher that sees the latest commit.

        Whoosh's own ``refresh`` takes 0.5 ms rather than 2, but goes on finding what
        was deleted from the pieces of the index that are otherwise unchanged.
        """
        if self._searcher is not None and not self._searcher.up_to_date():
            self._searcher.close()
            self._searcher = None
        if self._searcher is None:
            weighting = scoring.BM25F(B=B, K1=K1)
            self._searcher = self._open().searcher(weighting=weighting)
        return self._searcher

    def close(self) -> None:
        """Let go of the files."""
        if self._searcher is not None:
            self._searcher.close()
        if self._index is not None:
            self._index.close()
        self._searcher = self._index = None


def _held(hit: Any) -> set[str]:
    """The words of a query that a document holds."""
    return {raw.decode() for field, raw in hit.matched_terms() if field == "terms"}


def _within(of: Scope) -> Any:
    """The documents of a scope; None for all."""
    names = (("agents", of.agent), ("projects", of.project))
    wanted = [query.Term(field, name) for field, name in names if name]
    return query.And(wanted) if wanted else None


def _begun(text: str) -> set[str]:
    """The terms of words that are said to be only begun: ``migrat*``."""
    stars = (word[:-1] for word in text.split() if word.endswith("*"))
    return {term for word in stars for term in words.needed(word)[-1:]}


def _any_of(group: list[str]) -> Any:
    """The best of a term and its completions: they are one word of the query."""
    first, *others = group
    completed = [query.Term("terms", term, boost=COMPLETED) for term in others]
    return query.DisjunctionMax([query.Term("terms", first), *completed])


def _bound(searcher: Any, group: list[str]) -> float:
    """The most a word of the query can add to a score: BM25 with endless repetition."""
    reader = searcher.reader()
    known = [term for term in group if reader.doc_frequency("terms", term)]
    counted = known[0] if known else group[0]
    return float(searcher.idf("terms", counted) * (K1 + 1))


def _scaled(match: Match, bound: float, share: float) -> Match:
    """A match with its score between 0 and 1 (decisions §8).

    Args:
        match: With BM25's score.
        bound: The query's own upper bound of it.
        share: How many of the query's words it holds, of all.
    """
    of_bound = min(match.score / bound, 1.0) if bound > 0 else 0.0
    return Match(match.kind, match.target_id, of_bound * share)


def _let_go(writer: Any) -> None:
    """Drop what was not committed, and the lock: a commit that fails keeps it."""
    with suppress(Exception):
        writer.cancel()
    if not writer.is_closed:
        writer._finish()
