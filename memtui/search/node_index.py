"""The node index: which nodes and grips have which terms, with weights.

It is a Whoosh index in a folder of its own and can always be rebuilt from the store.
One process writes; any number read, each the latest commit. Whatever goes wrong with
its files is a ``SearchError``.

Postings are read through Whoosh's ``IndexReader`` and added up here, because the score
(see ``node_scoring``) depends on how many of the query's terms a document contains.
Whoosh's own searcher only adds up terms, and takes five times as long.
"""

import logging
import os
import shutil
import struct
import threading
import weakref
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property, lru_cache, partial
from heapq import nlargest
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, TypeVar, cast

from whoosh import columns, fields, formats
from whoosh.codec.whoosh3 import W3Codec
from whoosh.filedb.filestore import FileStorage, RamStorage
from whoosh.index import LockError
from whoosh.query import And, Or, Prefix, Term
from whoosh.reading import SegmentReader, TermNotFound
from whoosh.searching import Searcher
from whoosh.support.levenshtein import distance

from memtui.errors import SearchError
from memtui.files import drafts_in, write_atomically
from memtui.model.calendar import TocLevel
from memtui.model.citations import Grip
from memtui.model.filters import Filters, SummarizerKind
from memtui.model.nodes import TocNode
from memtui.search import node_scoring
from memtui.search.node_scoring import FieldText, NodeField, node_texts
from memtui.search.query import Query, Word
from memtui.text.analyzer import fold, inverse_document_frequency
from memtui.text.stems import stem

log = logging.getLogger(__name__)
T = TypeVar("T")

WORDS, FILTERS, NODE = "words", "filters", "node"
"""The indexed fields: words to search for, filter tokens, and the node's id."""

MARK, SUSPECT = "memtui-index", "memtui-suspect"
"""Our own files beside Whoosh's: the index's version and name (its presence makes the
folder ours), and a reader's report of damage."""

TRIES = 2
"""The number of attempts at a query: a writer may replace files while they are read."""

MEMORY_MB = 64
"""The memory that Whoosh uses for documents not written yet."""

VERSION = "11"
"""Raise it when the indexed documents, fields or weights change: it is rebuilt then."""

# Whoosh divides an index into parts, which it calls segments.

LARGE, SMALL = 25_000, 400
"""The most documents of a part that is merged, which takes up to 1.5 ms for each: in
large updates, and in small ones, which are to be visible within a second."""

LARGE_UPDATE = 200
"""The number of documents that makes an update large."""

MANY_PARTS = 8
"""Parts are merged when there are this many, each with others of about its size."""

SIMILAR_SIZE = 2
"""A part up to this many times as large as all smaller ones is merged with them."""

ENOUGH_COMPLETIONS = 200
"""Completions are chosen from at least this many terms, if there are so many."""

ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789_"
"""The letters that may have been typed by mistake."""

SHORTEST, LONGEST = 5, 40
"""Shorter words resemble too many others; longer ones are no words."""

TWO_EDITS = 8
"""Words of at least this length may be two edits off, shorter ones one, or two letters
in the wrong order."""

BEGINNING = 3
"""A word that is two edits off must have these first letters right."""

RARE = 10
"""A word that is found is only replaced by one this many times more frequent."""

# Documents

AGENT, PROJECT, LEVEL, BY = "agent", "project", "level", "by"

SEGMENT = "segment"
"""The filter token of nodes that are segments: hits of wider nodes lead to one."""

MINUTE_S = 60

_EPOCH = datetime.fromtimestamp(0, UTC)


@dataclass(frozen=True, slots=True)
class Document:
    """One entry of the index: a node or, with a ``grip_id``, a grip of it."""

    node_id: str
    texts: tuple[FieldText, ...]
    level: TocLevel = TocLevel.SEGMENT
    filters: tuple[str, ...] = ()
    """Its filter tokens, as ``filter_token`` makes them."""
    start: datetime = _EPOCH
    end: datetime = _EPOCH
    grip_id: str = ""

    @property
    def key(self) -> str:
        return f"{self.node_id} {self.grip_id}".strip()


@dataclass(frozen=True, slots=True)
class NodeMatch:
    """A document that matches a query."""

    node_id: str
    grip_id: str
    """"" for the node itself."""
    score: float
    """0 to 1: the share of the query's upper bound."""
    opens: str
    """The node to open: the best segment below a wide node, else the node itself."""


def filter_token(name: str, value: str) -> str:
    """Return the token a document has if a filter lets it pass."""
    return f"{name}\x1f{value}"


def filter_tokens(filters: Filters) -> list[str]:
    """Return the filter tokens of which a document must have each, except levels."""
    values = {
        AGENT: filters.scope.agent,
        PROJECT: filters.scope.project,
        BY: filters.summarizer_kind,
    }
    return [filter_token(name, value) for name, value in values.items() if value]


def node_documents(node: TocNode, grips: Iterable[Grip]) -> Iterator[Document]:
    """Return the documents of a node: the node itself and its grips."""
    maker = SummarizerKind.MODEL if node.is_by_model else SummarizerKind.EXTRACTIVE
    common = [filter_token(AGENT, name) for name in node.agents]
    common += [filter_token(PROJECT, name) for name in node.projects]
    common += [filter_token(LEVEL, node.level), filter_token(BY, maker)]
    own = [*common, *([SEGMENT] if node.level is TocLevel.SEGMENT else [])]
    yield Document(
        node.node_id,
        tuple((field, text) for field, text, _ in node_texts(node)),
        node.level,
        tuple(own),
        node.start_time,
        node.last_time,
    )
    for grip in grips:
        yield Document(
            node.node_id,
            ((NodeField.EXCERPT, grip.excerpt),),
            node.level,
            tuple(common),
            grip.timestamp,
            grip.timestamp,
            grip.grip_id,
        )


def minute(at: datetime) -> int:
    return int(at.timestamp() // MINUTE_S)


def _minutes(filters: Filters) -> tuple[int, int]:
    """Return the first minute that passes, and the one after the last."""
    return (
        minute(filters.since) if filters.since else 0,
        minute(filters.until) if filters.until else 2**31,
    )


# The index


class NodeIndex:
    """A folder with a Whoosh index.

    An error of reading or writing is raised as a ``SearchError``; so is a folder with
    other files, and an index that another process writes to.
    """

    def __init__(self, folder: Path) -> None:
        """Remember the folder. It is opened by the first query or update."""
        self._folder = folder
        self._mark = folder / MARK
        self._index: Any = None
        self._opened_mark = ""
        self._reader: NodeReader | None = None
        self._lock = threading.Lock()

    # The folder

    def exists(self) -> bool:
        """Return whether the folder is an index of ours, of any version and state."""
        return _is_file(self._mark)

    def name(self) -> str:
        """Return the name it was created with; "" if it is not of this version."""
        try:
            version, _, name = self._mark.read_text(encoding="utf-8").partition(" ")
        except (OSError, UnicodeDecodeError):
            return ""
        return name.strip() if version == VERSION else ""

    def create(self, name: str) -> None:
        """Create an empty index, in place of the one that is there."""
        with self._errors():
            self.close()
            if not (self._is_free() or self.exists()):
                raise SearchError(
                    f"{self._folder} holds other files; move them to make room for"
                    " the search index"
                )
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._empty()
            self._storage().create_index(schema())
            self._mark.write_text(f"{VERSION} {name}\n", encoding="utf-8")

    def _is_free(self) -> bool:
        """Return whether the folder has nothing but what a crash left of the mark."""
        if not self._folder.exists():
            return True
        return set(drafts_in(self._folder)).issuperset(self._folder.iterdir())

    def delete(self) -> None:
        self.close()
        if self.exists():
            with self._errors():
                self._empty()
                shutil.rmtree(self._folder)

    def _empty(self) -> None:
        """Delete all files but the mark: a half-deleted index is still ours."""
        # The file itself may have been made unreadable.
        write_atomically(self._mark, b"")
        for path in self._folder.iterdir():
            if path != self._mark:
                _delete(path)

    def _storage(self) -> "_Storage":
        # A mapped file that is truncated would end the process.
        return _Storage(str(self._folder), supports_mmap=False)

    # Damage

    def is_sound(self) -> bool:
        """Return whether it can be read and no query has failed."""
        try:
            self.count()
        except SearchError:
            return False
        return not self.is_suspect

    @property
    def is_suspect(self) -> bool:
        """True if a query failed, here or in another process."""
        return _is_file(self._folder / SUSPECT)

    # Writing

    def update(self, documents: Sequence[Document], node_ids: Sequence[str]) -> None:
        """Add documents in place of all documents of some nodes, in one commit."""
        with self._errors():
            with self._lock:
                opened = self._open()
            before = self._files()
            try:
                writer = opened.writer(limitmb=MEMORY_MB, codec=_codec())
            except LockError:  # the open files are another thread's
                raise
            except BaseException:
                opened.storage.close_written()
                raise
            try:
                if node_ids:
                    nodes = Or([Term(NODE, node_id) for node_id in node_ids])
                    writer.delete_by_query(nodes)
                for document in documents:
                    writer.add_document(**field_values(document))
                largest = LARGE if len(documents) >= LARGE_UPDATE else SMALL
                writer.commit(mergetype=partial(_merge, largest=largest))
            except BaseException:
                self._discard(writer, before)
                raise
            self._sync()

    def _discard(self, writer: Any, before: set[Path]) -> None:
        """Give up a commit and delete its files, which may fill the disk."""
        with suppress(Exception):
            writer.cancel()
        writer.storage.close_written()
        if not any(path.suffix == ".toc" for path in self._files() - before):
            for path in self._files() - before:
                with suppress(OSError):
                    _delete(path)
        with suppress(Exception):
            writer.writelock.release()

    def _files(self) -> set[Path]:
        return set(self._folder.iterdir()) if self._folder.is_dir() else set()

    def _sync(self) -> None:
        """Wait until all files are on the disk, which Whoosh does not do."""
        for path in (*filter(Path.is_file, self._folder.iterdir()), self._folder):
            descriptor = os.open(path, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

    # Reading

    def count(self) -> int:
        """Return how many documents there are."""
        return self.read(lambda reader: reader.count)

    def close(self) -> None:
        with self._lock:
            self._close()

    def read(self, use: Callable[["NodeReader"], T]) -> T:
        """Return what a function finds in the latest commit."""
        with self._errors(), self._lock:
            for left in reversed(range(TRIES)):
                try:
                    return use(self._latest())
                except Exception:
                    self._close()
                    if left and self.exists():
                        continue
                    if self.name():  # else it is being made, or of another version
                        with suppress(OSError):
                            (self._folder / SUSPECT).touch()
                    raise
        raise AssertionError("unreachable")

    def _latest(self) -> "NodeReader":
        """Return the latest commit of the index that is in the folder now."""
        if self._reader is not None:
            is_same = self._mark.read_text(encoding="utf-8") == self._opened_mark
            latest = self._index.latest_generation() if is_same else None
            if latest != self._reader.generation:
                self._close()
        if self._reader is None:
            self._reader = NodeReader(self._open().reader())
        return self._reader

    def _open(self) -> Any:
        if self._index is None:
            if not self.name():
                raise SearchError(f"{self._folder} holds no index")
            self._opened_mark = self._mark.read_text(encoding="utf-8")
            self._index = self._storage().open_index()
        return self._index

    def _close(self) -> None:
        reader, self._reader, self._index = self._reader, None, None
        if reader is not None:
            with suppress(Exception):
                reader.close()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Raise a SearchError for any error of Whoosh over its files."""
        try:
            yield
        except SearchError:
            raise
        except LockError as error:
            raise SearchError(f"another process writes to {self._folder}") from error
        except OSError as error:
            if isinstance(error, FileNotFoundError) and not self.exists():
                raise SearchError(f"{self._folder} holds no index") from error
            reason = error.strerror or error
            raise SearchError(f"{self._folder}: {reason}") from error
        except Exception as error:
            raise SearchError(f"{self._folder}: {error or type(error)}") from error


class NodeReader:
    """Searches one commit of the index; its terms are cached."""

    def __init__(self, reader: Any) -> None:
        """Use an ``IndexReader``."""
        self._reader = reader
        self.generation: int = reader.generation()
        self.count: int = reader.doc_count()
        self._leaves = list(reader.leaf_readers()) if self.count else []
        self._weights = lru_cache(256)(self._read_weights)
        self._best_weights = lru_cache(32)(self._find_best_weights)
        self._complete = lru_cache(4096)(self._find_completions)

    def close(self) -> None:
        self._reader.close()

    # Terms

    def frequency(self, term: str) -> int:
        return int(self._reader.doc_frequency(WORDS, _encode(term)))

    def beginning(self, start: str, enough: int | None = None) -> Counter[str]:
        """Return terms that begin so, and how many documents have each.

        Many terms begin with one letter: stop after the part of the index in which
        there are enough, the smallest parts first.
        """
        text = _encode(start)
        counts = Counter[bytes]()
        leaves = [leaf for leaf, _ in self._leaves]
        for leaf in sorted(leaves, key=lambda leaf: int(leaf.doc_count_all())):
            if enough and len(counts) >= enough:
                break
            for (field, term), info in leaf.iter_from(WORDS, text):
                if field != WORDS or not term.startswith(text):
                    break
                counts[term] += info.doc_frequency()
        return Counter({term.decode(): count for term, count in counts.items()})

    def suggestion(self, query: Query, *, has_few: bool) -> str:
        """Return a query with its misspelt words corrected; "" if none is.

        If it finds little, rare words may be misspelt too. Words of any question, such
        as "show" and "used", are not.
        """
        text = query.text
        for word in query.words:
            if word.is_specific and (
                correct := _correction(self, word, has_few=has_few)
            ):
                text = text.replace(word.text, correct, 1)
        return "" if text == query.text else text

    def _find_completions(self, start: str) -> Sequence[str]:
        """Return the most frequent other terms that begin so, of a sample."""
        counts = self.beginning(start, ENOUGH_COMPLETIONS)
        counts.pop(start, None)
        by_count = sorted(counts, key=lambda term: (-counts[term], term))
        return by_count[: node_scoring.MAX_COMPLETIONS]

    def _read_weights(self, term: str) -> dict[int, float]:
        """Return a term's weight in each document that has it."""
        text = _encode(term)
        weights: dict[int, float] = {}
        for leaf, base in self._leaves:
            try:
                matcher = leaf.postings(WORDS, text)
            except TermNotFound:
                continue
            number, weight, advance = matcher.id, matcher.weight, matcher.next
            while matcher.is_active():
                weights[base + number()] = weight()
                advance()
        return weights

    # Documents

    @cached_property
    def _searcher(self) -> Searcher:
        return Searcher(self._reader, closereader=False)

    @cached_property
    def _starts(self) -> Sequence[int]:
        """The minute each document starts in."""
        return self._column("start")

    @cached_property
    def _ends(self) -> Sequence[int]:
        """The minute each document ends in."""
        return self._column("end")

    def _column(self, name: str) -> Sequence[int]:
        leaves = (leaf for leaf, _ in self._leaves)
        readers = (leaf.column_reader(name, translate=False) for leaf in leaves)
        return [*chain.from_iterable(readers)]

    @cached_property
    def _segments(self) -> list[int]:
        """The documents of segments, in the order of their start."""
        segments = Term(FILTERS, SEGMENT).docs(self._searcher)
        return sorted(segments, key=self._starts.__getitem__)

    def hash_documents(self) -> dict[str, int]:
        """Return a hash of the terms of each document, by its key: ``hash_terms``."""
        hashes = Counter[int]()
        for leaf, base in self._leaves:
            for field, term in leaf.all_terms():
                matcher = leaf.postings(field, term)
                while matcher.is_active():
                    number = base + matcher.id()
                    hashes[number] ^= _hash_term(field, term, matcher.weight())
                    matcher.next()
        return {
            f"{stored['node_id']} {stored['grip_id']}".strip(): hashes[number]
            for number, stored in self._reader.iter_docs()
        }

    # Ranking

    def search(
        self,
        query: Query,
        limit: int,
        *,
        among: Collection[str] | None = None,
        is_exact: bool = True,
    ) -> Sequence[NodeMatch]:
        """Return the best documents, the best first and the latest among equals.

        A document of several agents and projects passes a filter for any of them. Of a
        phrase the words are looked up, all of them if ``is_exact``, but not their
        order. Only documents of the nodes ``among`` these are found; None for all.
        """
        filters = query.filters
        scores = self._score(query)
        required = query.phrase_terms if is_exact else ()
        passing = self._passing(scores, query, required, among)
        scores = {number: scores[number] for number in passing}
        if filters.levels:
            tokens = [filter_token(LEVEL, level) for level in filters.levels]
            passing.intersection_update(self._having_any(FILTERS, tokens))
        if filters.since or filters.until:
            passing -= self._matching_elsewhere(passing, scores, filters)
        best = nlargest(limit, ((scores[number], number) for number in passing))
        return [self._match(number, scores) for _, number in best]

    def _score(self, query: Query) -> dict[int, float]:
        """Return the score of each document that has a term of a query."""
        sums, counts, most = defaultdict[int, float](float), Counter[int](), 0.0
        terms = node_scoring.query_terms(query, self._complete)
        for term in terms:
            weights = self._best_weights(tuple(term.forms.items()))
            idf = term.weight * inverse_document_frequency(self.count, len(weights))
            most += idf
            counts.update(weights.keys())
            for number, weight in weights.items():
                sums[number] += idf * weight
        most *= len(terms)
        return {number: counts[number] * sums[number] / most for number in sums}

    def _find_best_weights(
        self, forms: tuple[tuple[str, float], ...]
    ) -> dict[int, float]:
        """Return the weight of a term's best form in each document that has one."""
        best: dict[int, float] = {}
        for form, factor in forms:
            for number, weight in self._weights(form).items():
                if factor * weight > best.get(number, 0.0):
                    best[number] = factor * weight
        return best

    def _passing(
        self,
        numbers: Iterable[int],
        query: Query,
        required: Iterable[str],
        among: Collection[str] | None,
    ) -> set[int]:
        """Return which of some documents pass all filters but that of the level."""
        passing, filters = set(numbers), query.filters
        for token in filter_tokens(filters):
            passing.intersection_update(self._having_any(FILTERS, [token]))
        for term in required:
            passing.intersection_update(self._weights(term))
        if among is not None:
            passing.intersection_update(self._having_any(NODE, among))
        for word in query.excluded:
            passing.difference_update(_word_query(word).docs(self._searcher))
        if filters.since or filters.until:
            first, last = _minutes(filters)
            starts, ends = self._starts, self._ends
            passing = {n for n in passing if ends[n] >= first and starts[n] < last}
        return passing

    def _having_any(self, field: str, tokens: Iterable[str]) -> Iterable[int]:
        query = Or([Term(field, token) for token in tokens])
        return cast("Iterable[int]", query.docs(self._searcher))

    def _matching_elsewhere(
        self, numbers: Collection[int], scores: Mapping[int, float], filters: Filters
    ) -> set[int]:
        """Return the wide nodes without a match within the dates.

        Those that lie within the dates themselves do not count.
        """
        first, last = _minutes(filters)
        starts, ends, segments = self._starts, self._ends, set(self._segments)
        return {
            number
            for number in numbers
            if (starts[number] < first or ends[number] >= last)
            and number not in segments
            and self._best_segment(number, scores) is None
        }

    def _match(self, number: int, scores: Mapping[int, float]) -> NodeMatch:
        stored = self._reader.stored_fields(number)
        node_id, grip_id = stored["node_id"], stored["grip_id"]
        best = None if grip_id else self._best_segment(number, scores)
        opens = node_id
        if best is not None and stored["level"] != TocLevel.SEGMENT:
            opens = self._reader.stored_fields(best)["node_id"]
        return NodeMatch(node_id, grip_id, scores[number], opens)

    def _best_segment(self, wide: int, scores: Mapping[int, float]) -> int | None:
        """Return the best segment in a wide node's time; None if none matches."""
        starts, segments = self._starts, self._segments
        first = bisect_left(segments, starts[wide], key=starts.__getitem__)
        last = bisect_right(segments, self._ends[wide], key=starts.__getitem__)
        matching = [number for number in segments[first:last] if number in scores]
        return max(matching, key=lambda n: (scores[n], n), default=None)


@contextmanager
def reading_documents(documents: Iterable[Document]) -> Iterator[NodeReader]:
    """Read an index of some documents in memory."""
    index = _MemoryStorage().create_index(schema())
    writer = index.writer(codec=_codec())
    for document in documents:
        writer.add_document(**field_values(document))
    writer.commit()
    reader = NodeReader(index.reader())
    try:
        yield reader
    finally:
        reader.close()


def _codec() -> Any:
    """Return Whoosh's codec for fields without lengths.

    By default Whoosh looks for the file of a field's lengths at each posting, which
    takes a third of the time of a commit.
    """
    codec = W3Codec()
    codec.length_stats = False
    return codec


def _encode(term: str) -> bytes:
    return term.encode("utf-8", "replace")


def _word_query(word: Word) -> And:
    clauses = [Term(WORDS, term) for term in word.terms]
    if word.is_prefix:
        clauses[-1] = Or([clauses[-1], Prefix(WORDS, word.prefix)])
    return And(clauses)


class _Storage(FileStorage):  # type: ignore[misc] # Whoosh has no type hints
    """A folder whose files are closed when Whoosh fails to read or write one of them.

    Whoosh leaves the files of a commit open if it fails.
    """

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._written: list[BinaryIO] = []
        # Of its temporary files Whoosh keeps only the file within, and closes it.
        self._closes_unused = True

    def create_file(self, name: str, *args: Any, **named: Any) -> Any:
        created = super().create_file(name, *args, **named)
        self._written[:] = [file for file in self._written if not file.closed]
        self._written.append(created.raw_file())
        return created

    def temp_storage(self, name: str | None = None) -> "_Storage":
        folder = super().temp_storage(name).folder
        storage = _Storage(folder, supports_mmap=self.supports_mmap)
        storage._written, storage._closes_unused = self._written, False
        return storage

    def close_written(self) -> None:
        """Close the files that are still being written; what is missing is lost."""
        for file in self._written:
            with suppress(OSError):
                file.close()

    def open_file(self, name: str, *args: Any, **named: Any) -> Any:
        file = super().open_file(name, *args, **named)
        if self._closes_unused:
            weakref.finalize(file, file.file.close)
        return file


class _MemoryStorage(RamStorage):  # type: ignore[misc] # Whoosh has no type hints
    """Files in memory; Whoosh would put temporary ones into the system's folder for
    them, which all users share."""

    def temp_storage(self, name: str | None = None) -> "_MemoryStorage":
        return _MemoryStorage()


class WeightsField(fields.FieldType):  # type: ignore[misc] # Whoosh has no type hints
    """Terms with their weights in the document; any string is a term."""

    def __init__(self) -> None:
        super().__init__(formats.Existence(), analyzer=None)

    def index(
        self, value: Mapping[str, float], **_: object
    ) -> Iterator[tuple[bytes, int, float, bytes]]:
        """Return (term, frequency, weight, posting value) for Whoosh."""
        for term, weight in value.items():
            yield _encode(term), 1, weight, b""


def schema() -> fields.Schema:
    return fields.Schema(
        node_id=fields.STORED,
        grip_id=fields.STORED,
        level=fields.STORED,
        start=fields.COLUMN(columns.NumericColumn("i")),
        end=fields.COLUMN(columns.NumericColumn("i")),
        **{name: WeightsField() for name in (NODE, FILTERS, WORDS)},
    )


def field_values(document: Document) -> dict[str, Any]:
    """Return the fields of a document, for ``IndexWriter.add_document``."""
    return {
        "node_id": document.node_id,
        "grip_id": document.grip_id,
        "level": document.level.value,
        "start": minute(document.start),
        "end": minute(document.end),
        NODE: {document.node_id: 1.0},
        FILTERS: dict.fromkeys(document.filters, 1.0),
        WORDS: node_scoring.term_weights(document.texts, document.level),
    }


def hash_terms(document: Document) -> int:
    """Return the hash of the terms of a document, the same in one process."""
    total = 0
    for field, weights in field_values(document).items():
        for term, weight in weights.items() if isinstance(weights, dict) else ():
            total ^= _hash_term(field, _encode(term), weight)
    return total


def _hash_term(field: str, term: bytes, weight: float) -> int:
    # Whoosh stores weights as 32-bit floats.
    return hash((field, term, struct.pack("f", weight)))


def _merge(writer: Any, parts: Sequence[Any], largest: int) -> list[Any]:
    """Write parts with up to so many documents again; return those that stay."""
    merged = parts_to_merge(parts, largest)
    for part in merged:
        reader = SegmentReader(writer.storage, writer.schema, part)
        writer.add_reader(reader)
        reader.close()
    return [part for part in parts if part not in merged]


def parts_to_merge(parts: Sequence[Any], largest: int) -> list[Any]:
    """Return the smallest parts, of about equal size, if there are many."""
    small = [part for part in parts if part.doc_count() <= largest]
    small.sort(key=lambda part: int(part.doc_count()))
    total, chosen = 0, list[Any]()
    for part in small if len(small) >= MANY_PARTS else ():
        if total > largest or (chosen and part.doc_count() > total * SIMILAR_SIZE):
            break
        chosen.append(part)
        total += part.doc_count()
    return chosen


def _is_file(path: Path) -> bool:
    """Return True if there is such a file and its folder can be read."""
    try:
        return path.is_file()
    except PermissionError:
        return False


def _delete(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


# Spelling suggestions: the terms of the index that resemble a misspelt word


def _correction(reader: NodeReader, word: Word, *, has_few: bool) -> str:
    written = fold(word.text)
    if not (SHORTEST <= len(written) <= LONGEST and written.isidentifier()):
        return ""
    frequency = max(reader.frequency(written), min(map(reader.frequency, word.terms)))
    if frequency and not has_few:
        return ""
    if not frequency and word.is_prefix and reader.beginning(word.prefix):
        return ""
    same = {written, stem(written), *word.terms}
    for _, count, other in sorted(_similar(reader, written)):
        # Another last letter is another form of the word, or another language.
        is_form = other[:-1] in (written, written[:-1]) or other == written[:-1]
        if -count > frequency * RARE and stem(other) not in same and not is_form:
            return _as_written(reader, other)
    return ""


def _similar(reader: NodeReader, word: str) -> Iterator[tuple[int, int, str]]:
    """Yield the edits, the negative frequency, and a term that resembles a word.

    The terms are one edit off, or two after a right beginning.
    """
    near = set(neighbours(word, BEGINNING)) - {word}
    yield from ((1, -reader.frequency(other), other) for other in near)
    letters = sorted(word)
    for other, count in reader.beginning(word[:BEGINNING]).items():
        # Two letters in the wrong order are two edits.
        is_swapped = sorted(other) == letters
        most = 2 if len(word) >= TWO_EDITS or is_swapped else 1
        if other in near or abs(len(other) - len(word)) > most:
            continue
        if 0 < (edits := distance(word, other, limit=most)) <= most:
            yield edits, -count, other


def _as_written(reader: NodeReader, term: str) -> str:
    """Return a word that was written for a term that is only the stem of others."""
    start = term[:-1] if len(term) > SHORTEST else term
    counts = reader.beginning(start)
    forms = [form for form in counts if form != term and stem(form) == term]
    if stem(term) != term or counts[term] > sum(counts[form] for form in forms):
        return term
    return max(forms, key=counts.__getitem__)


def neighbours(word: str, within: int) -> Iterator[str]:
    """Yield the strings that differ from a word by one edit within its first letters.

    Some are yielded twice.
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
