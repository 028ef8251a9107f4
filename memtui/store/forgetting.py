"""The one door through which events can be changed or deleted."""

from collections.abc import Iterator
from contextlib import contextmanager

from memtui.store.database import writing
from memtui.store.tables.keeping import ForgettingRow


@contextmanager
def door() -> Iterator[None]:
    """A transaction in which the database lets events be changed and deleted."""
    with writing(), allowed():
        yield


@contextmanager
def allowed() -> Iterator[None]:
    """Within a transaction: the database lets events be changed and deleted."""
    ForgettingRow.create(id=1)
    yield
    ForgettingRow.delete().execute()
