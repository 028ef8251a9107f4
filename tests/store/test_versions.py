"""Provisional versions of live nodes do not pile up, and old ones stay readable."""

from dataclasses import replace
from datetime import UTC

from memtui.model.nodes import NodeStatus, TocNode
from memtui.services import browse
from memtui.store import database, nodes, versions
from memtui.workspace import Workspace
from tests.tables import BulletRow, VersionRow

NAME = "toc:day:2024-01-15"


def add(node: TocNode, status: NodeStatus) -> list[int]:
    """Add a version and return the numbers of all."""
    with database.transaction():
        versions.add([replace(node, status=status)], 1)
        return [version.version for version in nodes.list_versions(NAME)]


def test_only_the_last_provisional_version_is_kept(full_workspace: Workspace) -> None:
    node = browse.get_node(NAME)
    assert node is not None and node.version == 1
    provisional = NodeStatus.PROVISIONAL
    assert add(node, provisional) == [2, 1]
    assert add(node, provisional) == [3, 1]
    with database.transaction():
        assert versions.pin(NAME, 3, UTC, 1)
    assert add(node, provisional) == [4, 3, 1]
    assert add(node, NodeStatus.CURRENT) == [5, 3, 1]
    with database.connection():
        kept = VersionRow.select(VersionRow.id)
        assert not BulletRow.select().where(BulletRow.version.not_in(kept)).count()
        assert database.db.execute_sql("PRAGMA foreign_key_check").fetchall() == []
