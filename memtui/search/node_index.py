"""The node index on disk: nodes and grips, searched by words.

It can always be rebuilt from the store. One process writes; any number read, each the
latest commit. Whatever goes wrong with its files is a ``SearchError``.
"""

import json
import logging
import os
import shutil
import threading
import weakref
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from whoosh import columns, fields, formats
from whoosh.filedb.filestore import FileStorage
from whoosh.index import LockError
from whoosh.query import Or, Term
from whoosh.reading import SegmentReader

from memtui.errors import SearchError
from memtui.model.hits import IndexMatches
from memtui.model.nodes import TocLevel
from memtui.search import node_documents, scoring, suggest
from memtui.search.node_documents import Document
from memtui.search.query import Query
from memtui.search.scoring import FieldText
from memtui.search.snapshot import FILTERS, NODE, WORDS, DocumentCondition, Snapshot

log = logging.getLogger(__name__)
T = TypeVar("T")

MARK, SUSPECT, SUMS = "memtui-index", "memtui-suspect", "memtui-sums"
"""Our own files beside Whoosh's: the index's version and name (its presence makes the
folder ours), a reader's report of damage, and the checksums of the segments."""

TRIES = 2
"""How often a query is tried: a writer may replace files while they are read."""

MEMORY_MB = 64
"""How much memory Whoosh uses for what it has not written yet."""

SCHEMA_VERSION = "6"
"""Raise it when the indexed documents, fields or weights change: it is rebuilt then."""

LARGE, SMALL = 25_000, 400
"""The most documents of a segment that is merged, which takes up to 0.7 ms for each:
in large updates, and in small ones, which are to be visible within a second."""

LARGE_UPDATE = 200
"""How many documents make an update large."""

SEGMENTS = 8
"""Segments are merged when there are this many, each with others of about its size."""

SIMILAR_SIZE = 2
"""A segment up to this many times as large as all smaller ones is merged with them."""


class NodeIndex:
    """A folder with a Whoosh index."""

    def __init__(self, folder: Path) -> None:
        """Remember the folder. It is opened by the first query or update."""
        self._folder = folder
        self._mark = folder / MARK
        self._index: Any = None
        self._opened_mark = ""
        self._snapshot: Snapshot | None = None
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
        return name.strip() if version == SCHEMA_VERSION else ""

    def create(self, name: str) -> None:
        """Create an empty index, in place of the one that is there.

        Raises:
            SearchError: The folder cannot be written, or holds other files.
        """
        with self._errors():
            self.close()
            is_free = not self._folder.exists() or not any(self._folder.iterdir())
            if not (is_free or self.exists()):
                raise SearchError(
                    f"{self._folder} holds other files; move them to make room for"
                    " the search index"
                )
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._empty()
            self._storage().create_index(schema())
            self._mark.write_text(f"{SCHEMA_VERSION} {name}\n", encoding="utf-8")

    def delete(self) -> None:
        """Delete the index with all its files.

        Raises:
            SearchError: It cannot be deleted.
        """
        self.close()
        if self.exists():
            with self._errors():
                self._empty()
                shutil.rmtree(self._folder)

    def _empty(self) -> None:
        """Delete all files but the mark: a half-deleted index is still ours."""
        self._mark.write_text("", encoding="utf-8")
        for path in self._folder.iterdir():
            if path != self._mark:
                _delete(path)

    def _storage(self) -> "_Storage":
        # A mapped file that somebody truncates would end the process.
        return _Storage(str(self._folder), supports_mmap=False)

    # Damage

    def is_sound(self) -> bool:
        """Return whether the index can be read and its files are as written."""
        sums = self._sums()
        try:
            for path in self._segment_files():
                if path.name in sums and _checksum(path) != sums[path.name]:
                    return False
            self.count()
        except (OSError, SearchError):
            log.exception("the index in %s cannot be read", self._folder)
            return False
        else:
            return True
        finally:
            self.close()

    @property
    def is_suspect(self) -> bool:
        """Whether a query failed, here or in another process."""
        return _is_file(self._folder / SUSPECT)

    def clear_suspicion(self) -> None:
        """Forget that a query failed: the index was checked."""
        (self._folder / SUSPECT).unlink(missing_ok=True)

    def _segment_files(self) -> list[Path]:
        return list(self._folder.glob("*.seg"))

    def _sums(self) -> dict[str, str]:
        """Return the checksums of the segments; of the latest they may be missing."""
        try:
            found = json.loads((self._folder / SUMS).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def _write_sums(self) -> None:
        old = self._sums()
        files = self._segment_files()
        sums = {path.name: old.get(path.name) or _checksum(path) for path in files}
        fresh = self._folder / f"{SUMS}.new"
        fresh.write_text(json.dumps(sums), encoding="utf-8")
        fresh.replace(self._folder / SUMS)

    # Writing

    def update(self, documents: Sequence[Document], node_ids: Sequence[str]) -> None:
        """Add documents in place of all documents of some nodes, in one commit.

        Args:
            documents: The documents to add.
            node_ids: The nodes whose documents are deleted first.

        Raises:
            SearchError: The index is damaged, or another process writes to it.
        """
        with self._errors():
            with self._lock:
                opened = self._open()
            before = self._files()
            writer = opened.writer(limitmb=MEMORY_MB)
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
            self._write_sums()
            self._sync()

    def _discard(self, writer: Any, before: set[Path]) -> None:
        """Give up a commit and delete its files, which may fill the disk."""
        with suppress(Exception):
            writer.cancel()
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
        """Return how many documents there are.

        Raises:
            SearchError: The index is missing or damaged.
        """
        return self._read(lambda snapshot: int(snapshot.reader.doc_count()))

    def search(
        self,
        query: Query,
        limit: int,
        *,
        among: Collection[str] | None = None,
        is_recent_first: bool = False,
        is_exact: bool = True,
    ) -> IndexMatches:
        """Return the best documents for a query.

        A document of several agents and projects passes a filter for any of them. Of a
        phrase only the words are looked up, not their order.

        Args:
            query: The query.
            limit: The most matches.
            among: The ids of the nodes that may be found; None for all.
            is_recent_first: Whether old documents score lower.
            is_exact: Whether all words of a phrase are required.

        Raises:
            SearchError: The index is missing or damaged.
        """
        condition = DocumentCondition(
            query.filters,
            nodes=None if among is None else frozenset(among),
            required=query.phrase_terms if is_exact else (),
            excluded=query.excluded,
        )
        return self._read(
            lambda snapshot: snapshot.search(
                query, condition, limit, is_recent_first=is_recent_first
            )
        )

    def suggestion(self, query: Query, *, has_few: bool) -> str:
        """Return a query with its misspelt words corrected; "" if none is.

        Args:
            query: The query.
            has_few: Whether it finds little: then rare words may be misspelt too.

        Raises:
            SearchError: The index is missing or damaged.
        """
        return self._read(
            lambda snapshot: suggest.correct_query(snapshot, query, has_few=has_few)
        )

    def close(self) -> None:
        """Close all files."""
        with self._lock:
            self._close()

    def _read(self, use: Callable[[Snapshot], T]) -> T:
        with self._errors(), self._lock:
            for left in reversed(range(TRIES)):
                try:
                    return use(self._latest())
                except Exception:
                    self._close()
                    if left and self.exists():
                        continue
                    if self.exists():
                        with suppress(OSError):
                            (self._folder / SUSPECT).touch()
                    raise
        raise AssertionError("unreachable")

    def _latest(self) -> Snapshot:
        """Return the latest commit of the index that is in the folder now."""
        if self._snapshot is not None:
            is_same = self._mark.read_text(encoding="utf-8") == self._opened_mark
            latest = self._index.latest_generation() if is_same else None
            if latest != self._snapshot.generation:
                self._close()
        if self._snapshot is None:
            self._snapshot = Snapshot(self._open().reader())
        return self._snapshot

    def _open(self) -> Any:
        if self._index is None:
            if not self.name():
                raise SearchError(f"{self._folder} holds no index")
            self._opened_mark = self._mark.read_text(encoding="utf-8")
            self._index = self._storage().open_index()
        return self._index

    def _close(self) -> None:
        snapshot, self._snapshot, self._index = self._snapshot, None, None
        if snapshot is not None:
            with suppress(Exception):
                snapshot.reader.close()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Raise a SearchError for whatever Whoosh raises over its files."""
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


class _Storage(FileStorage):  # type: ignore[misc] # Whoosh has no type hints
    """A folder whose files are closed when Whoosh fails to read one of them."""

    def open_file(self, name: str, *args: Any, **named: Any) -> Any:
        """Open a file, and close it when it is no longer used."""
        file = super().open_file(name, *args, **named)
        weakref.finalize(file, file.file.close)
        return file


class WordsField(fields.FieldType):  # type: ignore[misc] # Whoosh has no type hints
    """The words of a document's texts with their weights."""

    def __init__(self) -> None:
        super().__init__(formats.Existence(), analyzer=None)

    def index(
        self, value: tuple[Sequence[FieldText], TocLevel], **_: object
    ) -> Iterator[tuple[bytes, int, float, bytes]]:
        """Return (term, frequency, weight, posting value) for Whoosh."""
        for term, weight in scoring.term_weights(*value).items():
            yield term.encode("utf-8", "replace"), 1, weight, b""


class TokensField(fields.FieldType):  # type: ignore[misc] # Whoosh has no type hints
    """Whole strings, each one term: a project's name may hold spaces and commas."""

    def __init__(self) -> None:
        super().__init__(formats.Existence(), analyzer=None)

    def index(
        self, value: Iterable[str], **_: object
    ) -> Iterator[tuple[bytes, int, float, bytes]]:
        """Return (term, frequency, weight, posting value) for Whoosh."""
        for token in dict.fromkeys(value):
            yield token.encode("utf-8", "replace"), 1, 1.0, b""


def schema() -> fields.Schema:
    """Return the index's schema."""
    return fields.Schema(
        target=fields.STORED,
        kind=fields.STORED,
        node_id=fields.STORED,
        level=fields.STORED,
        start=fields.COLUMN(columns.NumericColumn("i")),
        end=fields.COLUMN(columns.NumericColumn("i")),
        **{NODE: TokensField(), FILTERS: TokensField(), WORDS: WordsField()},
    )


def field_values(document: Document) -> dict[str, Any]:
    """Return the fields of a document, for ``IndexWriter.add_document``."""
    return {
        "target": document.target_id,
        "kind": document.kind.value,
        "node_id": document.node_id,
        "level": document.level.value,
        "start": node_documents.minute(document.start),
        "end": node_documents.minute(document.end),
        NODE: (document.node_id,),
        FILTERS: document.filters,
        WORDS: (document.texts, document.level),
    }


def _merge(writer: Any, segments: Sequence[Any], largest: int) -> list[Any]:
    """Write some segments again as part of a commit; return those that stay.

    Args:
        writer: The commit's writer.
        segments: All segments.
        largest: The most documents of a segment that is written again.
    """
    merged = segments_to_merge(segments, largest)
    for segment in merged:
        reader = SegmentReader(writer.storage, writer.schema, segment)
        writer.add_reader(reader)
        reader.close()
    return [segment for segment in segments if segment not in merged]


def segments_to_merge(segments: Sequence[Any], largest: int) -> list[Any]:
    """Return the segments that are mostly deleted, and small ones if there are many."""
    within = [one for one in segments if one.doc_count() <= largest]
    chosen = [one for one in within if one.doc_count() * 2 < one.doc_count_all()]
    small = [one for one in within if one not in chosen]
    small.sort(key=lambda one: int(one.doc_count()))
    total = sum(one.doc_count() for one in chosen)
    for one in small if len(small) >= SEGMENTS else ():
        if chosen and one.doc_count() > max(total, 1) * SIMILAR_SIZE:
            break
        if total > largest:
            break
        chosen.append(one)
        total += one.doc_count()
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


def _checksum(path: Path) -> str:
    """Return the length and checksum of a file; "" if it has just been replaced."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return ""
    return f"{len(data)}:{zlib.crc32(data):08x}"
