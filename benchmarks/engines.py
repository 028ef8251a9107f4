"""Search the same texts with other engines, for comparison.

Plain FTS5 with its own tokenizer, and tantivy if it is installed. Both search for any
word of a query and return the best twenty texts by BM25, without sessions, windows,
parts of identifiers or filters.
"""

import re
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memtui.model.filters import FILTER_FIELDS

BEST = 20
"""How many answers are given."""

AT_ONCE = 10_000
"""How many texts are kept in one transaction of FTS5."""

_WORD = re.compile(r"\w+")
_FILTER = re.compile(rf"\b(?:{'|'.join(FILTER_FIELDS)}):\S+")

Texts = Callable[[], Iterable[tuple[int, str]]]
"""Gives all messages, by their numbers."""


@dataclass(frozen=True, slots=True)
class Rival:
    """Another engine, filled."""

    name: str
    find: Callable[[str], Sequence[object]]
    size: int
    """Of what it keeps, in bytes."""
    rate: float
    """How many messages a second it took; 0 if it was there."""


def words(question: str) -> list[str]:
    """The words of a question as these engines cut them, each once."""
    words = _WORD.findall(_FILTER.sub(" ", question).lower())
    return list(dict.fromkeys(words))


def plain(folder: Path, messages: int, texts: Texts) -> Rival:
    """FTS5 with ``unicode61``, a row for each message and nothing else."""
    path = folder / "plain.db"
    began_s = time.perf_counter()
    is_new = not path.exists()
    if is_new:
        draft = path.with_suffix(".part")
        draft.unlink(missing_ok=True)
        with closing(sqlite3.connect(draft, isolation_level=None)) as db:
            db.execute("PRAGMA journal_mode = off")
            db.execute("CREATE VIRTUAL TABLE said USING fts5 (text, content='')")
            for batch in _batches(texts()):
                db.execute("BEGIN")
                insert = "INSERT INTO said (rowid, text) VALUES (?, ?)"
                db.executemany(insert, batch)
                db.execute("COMMIT")
        draft.rename(path)
    rate = messages / (time.perf_counter() - began_s) if is_new else 0.0
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA mmap_size = 1073741824")
    asked = "SELECT rowid FROM said WHERE said MATCH ? ORDER BY rank LIMIT ?"

    def find(question: str) -> Sequence[object]:
        match = " OR ".join(f'"{word}"' for word in words(question))
        return db.execute(asked, (match, BEST)).fetchall() if match else []

    return Rival("plain FTS5", find, path.stat().st_size, rate)


def tantivy(folder: Path, messages: int, texts: Texts) -> Rival | None:
    """Tantivy with its own tokenizer; None where it is not installed."""
    try:
        import tantivy as engine  # type: ignore[import-not-found]
    except ImportError:
        return None
    builder = engine.SchemaBuilder()
    builder.add_text_field("text", stored=False)
    builder.add_unsigned_field("number", stored=True)
    schema = builder.build()
    path = folder / "tantivy"
    began_s = time.perf_counter()
    is_new = not path.exists()
    if is_new:
        draft = path.with_suffix(".part")
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir()
        _fill(engine, engine.Index(schema, str(draft)), texts)
        draft.rename(path)
    rate = messages / (time.perf_counter() - began_s) if is_new else 0.0
    searcher = engine.Index(schema, str(path)).searcher()
    size = sum(file.stat().st_size for file in path.iterdir())

    def find(question: str) -> Sequence[object]:
        queries = [engine.Query.term_query(schema, "text", w) for w in words(question)]
        if not queries:
            return []
        any_of = [(engine.Occur.Should, query) for query in queries]
        hits = searcher.search(engine.Query.boolean_query(any_of), BEST).hits
        return [searcher.doc(address)["number"] for _, address in hits]

    return Rival("tantivy", find, size, rate)


def _fill(engine: Any, index: Any, texts: Texts) -> None:
    writer = index.writer(heap_size=256_000_000, num_threads=1)
    for number, text in texts():
        writer.add_document(engine.Document(text=text, number=number))
    writer.commit()
    writer.wait_merging_threads()


def _batches(texts: Iterable[tuple[int, str]]) -> Iterator[list[tuple[int, str]]]:
    batch: list[tuple[int, str]] = []
    for text in texts:
        batch.append(text)
        if len(batch) == AT_ONCE:
            yield batch
            batch = []
    yield batch
