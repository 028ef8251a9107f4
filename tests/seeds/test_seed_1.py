"""The rows of seed 1, the domain model."""

import peewee
import pytest

from memtui.store import database
from memtui.store.schema import GripRow
from memtui.workspace import Workspace


def test_s1_29_grips_are_never_changed_nor_deleted(full_house: Workspace) -> None:
    changed = pytest.raises(peewee.IntegrityError, match="grips are never changed")
    with changed, database.transaction():
        GripRow.update(excerpt="rewritten").execute()
    deleted = pytest.raises(peewee.IntegrityError, match="only deleted by forgetting")
    with deleted, database.transaction():
        GripRow.delete().execute()
