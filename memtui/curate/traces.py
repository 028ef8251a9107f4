"""The traces that what was deleted leaves outside its rows, and their removal.

An index keeps the words of what was deleted, the log may name what it could not read,
and the database's file keeps the room of deleted rows.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from memtui.errors import StoreError
from memtui.search.index import Index
from memtui.store import compaction, copies, database, facts
from memtui.store.messages import Messages

write_over = compaction.write_over


@contextmanager
def writing(*, is_undone: bool = False, durable: bool = False) -> Iterator[None]:
    """A transaction; of one that is undone nothing stays."""
    try:
        with database.writing(durable=durable):
            yield
            if is_undone:
                raise _Undone
    except _Undone:
        return


class _Undone(Exception):
    """Nothing is to stay."""


@dataclass(frozen=True, slots=True)
class Places:
    """Where traces are left."""

    index: Path
    messages: Path
    log: Path


def remove(places: Places) -> None:
    """Remove them all; what was left for another time is removed too.

    Raises:
        MemtuiError: Something is in use or cannot be written; it can be tried again.
    """
    Index(places.index).remove()
    Messages(places.messages).remove()
    try:
        for earlier in places.log.parent.glob(f"{places.log.name}.*"):
            earlier.unlink()
        if places.log.exists():
            with places.log.open("r+b") as log:
                log.truncate()
    except OSError as error:
        raise StoreError(f"{places.log}: {error.strerror}") from error
    copies.discard(database.path())
    compaction.compact()
    with database.writing():
        facts.set_to_be_cleaned(False)
