"""An empty index."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from memtui.search.node_index import NodeIndex


@pytest.fixture
def index(tmp_path: Path) -> Iterator[NodeIndex]:
    """An empty index."""
    made = NodeIndex(tmp_path / "index")
    made.create("fed")
    yield made
    made.close()
