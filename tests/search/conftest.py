"""Fixtures for tests of the node index."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from memtui.search.node_index import NodeIndex


@pytest.fixture
def index(tmp_path: Path) -> Iterator[NodeIndex]:
    """An empty index."""
    empty_index = NodeIndex(tmp_path / "index")
    empty_index.create("test")
    yield empty_index
    empty_index.close()
