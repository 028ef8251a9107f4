"""The index on disk: opened, kept up, asked; made anew when it cannot be used."""

import logging
import shutil
import threading
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from whoosh import index

from memtui.errors import SearchError
from memtui.model.hits import IndexMatches
from memtui.search import (
    committing,
    finding,
    folders,
    masks,
    schema,
    suggesting,
    sums,
    terms,
)
from memtui.search.documents import Document
from memtui.search.query import Query
from memtui.search.scoring import Unit
from memtui.search.snapshots import Snapshot

log = logging.getLogger(__name__)


Asked = TypeVar("Asked")


TRIES = 3
"""How often a question is asked: what a writer replaces may vanish while it is read."""


class NodeIndex:
    """A folder with an index in it. One process writes; any number read."""

    def __init__(self, folder: Path) -> None:
        """Remember the folder; nothing is opened yet."""
        self._folder = folder
        self._mark = folder / "memtui-index"
        self._suspect = folder / "memtui-suspect"
        self._index: Any = None
        self._reader: Any = None
        self._snapshot: Snapshot | None = None
        self._opened = ""
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
        """Whether the index can be opened and asked, and is what was written."""
        try:
            if not sums.are_right(self._folder):
                return False
            with self._lock:
                return all(p.contents.vocabulary for p in self._current().pieces)
        except Exception:
            log.exception("the index in %s cannot be asked", self._folder)
            return False
        finally:
            self.close()  # whoever only writes never asks, and a copy is dear

    @property
    def is_suspect(self) -> bool:
        """Whether somebody could not ask it."""
        return self._suspect.exists()

    def trust(self) -> None:
        """Take the suspicion back: it was looked at."""
        self._suspect.unlink(missing_ok=True)

    def count(self) -> int:
        """How many documents can be found.

        Raises:
            SearchError: The index is missing or broken.
        """
        return self._ask(lambda snapshot: snapshot.alive)

    def put(self, documents: Sequence[Document], gone: Sequence[str]) -> None:
        """Index documents in place of all that stood for these nodes.

        Args:
            documents: What is to be found from now on.
            gone: The ids of the nodes whose documents are replaced or removed.

        Raises:
            SearchError: The index is broken, or another process writes to it.
        """
        try:
            with self._lock:
                opened = self._open()
            committing.commit(opened, documents, gone)
            sums.keep(self._folder)
            folders.sync(self._folder)
        except Exception as error:
            raise self._failed(error) from error

    def find(
        self,
        query: Query,
        limit: int,
        *,
        among: Collection[str] | None = None,
        is_recent_first: bool = False,
        is_exact: bool = True,
    ) -> IndexMatches:
        """The best documents for a query.

        Args:
            query: What is asked. Of documents that tell of several agents and
                projects, the index does not know which belong together, nor whether
                a phrase stands there word for word.
            limit: The most matches.
            among: The nodes that may be found; all of them where None.
            is_recent_first: Whether old documents are worth less.
            is_exact: Whether all words of a phrase must be there, and not only parts.

        Raises:
            SearchError: The index is missing or broken.
        """
        wanted = masks.conditions(query, among, is_exact=is_exact)
        return self._ask(
            lambda snapshot: finding.find(
                snapshot,
                terms.units(query, snapshot),
                wanted,
                limit,
                is_recent_first=is_recent_first,
            )
        )

    def units(self, query: Query) -> tuple[Unit, ...]:
        """The terms of a query as they are looked up, and how rare each is.

        Raises:
            SearchError: The index is missing or broken.
        """
        return self._ask(lambda snapshot: terms.units(query, snapshot))

    def suggestion(self, query: Query, *, has_few: bool) -> str:
        """A query with its misspelt words as the index has them; "" where none is.

        Args:
            query: What was asked.
            has_few: Whether it finds little, so that rare words are in doubt too.

        Raises:
            SearchError: The index is missing or broken.
        """
        return self._ask(
            lambda snapshot: suggesting.suggestion(snapshot, query, has_few=has_few)
        )

    def newest(self) -> datetime:
        """The last moment that anything in it tells of, to the minute.

        Raises:
            SearchError: The index is missing or broken.
        """
        return self._ask(lambda snapshot: schema.moment(snapshot.newest))

    def _ask(self, question: Callable[[Snapshot], Asked]) -> Asked:
        """Ask the latest commit; once more if that has just been replaced."""
        with self._lock:
            for left in reversed(range(TRIES)):
                try:
                    return question(self._current())
                except Exception as error:
                    self._let_go()
                    if left and self.exists():
                        continue
                    self._suspected()
                    raise self._failed(error) from error
        raise AssertionError("unreachable")

    def _failed(self, error: Exception) -> SearchError:
        """What to say of something that went wrong."""
        if isinstance(error, SearchError):
            return error
        if not self.exists():
            return SearchError(f"{self._folder} holds no index")
        return SearchError(f"{self._folder}: {error or type(error)}")

    def _suspected(self) -> None:
        """Tell whoever keeps it up that it could not be asked."""
        if self.exists():
            with suppress(OSError):
                self._suspect.touch()

    def _open(self) -> Any:
        if self._index is None:
            if not self.name():
                raise SearchError(f"{self._folder} holds no index")
            self._opened = self._mark.read_text(encoding="utf-8")
            self._index = index.open_dir(self._folder)
        return self._index

    def _current(self) -> Snapshot:
        """The latest commit.

        Whoosh's own ``refresh`` takes 0.5 ms rather than 2, but goes on finding what
        was deleted from the pieces of the index that are otherwise unchanged.
        """
        known = self._snapshot.contents if self._snapshot else {}
        if self._snapshot is not None and not self._is_current():
            self._let_go()
        if self._snapshot is None:
            self._reader = _read(self._open())
            self._snapshot = Snapshot(self._reader, known)
        return self._snapshot

    def _is_current(self) -> bool:
        """Whether there was no commit since, and no other index in its place."""
        if self._mark.read_text(encoding="utf-8") != self._opened:
            return False
        return bool(self._index.latest_generation() == self._reader.generation())

    def close(self) -> None:
        """Let go of the files."""
        with self._lock:
            self._let_go()

    def _let_go(self) -> None:
        if self._snapshot is not None:
            self._snapshot.let_go()
        reader, self._reader = self._reader, None
        self._index = self._snapshot = None
        if reader is not None:
            with suppress(Exception):
                reader.close()


def _read(opened: Any) -> Any:
    """Read the latest commit; Whoosh's own way would wait for a file that is gone."""
    toc = opened._read_toc()
    found = toc.schema, toc.segments, toc.generation
    return index.FileIndex._reader(opened.storage, *found)
