"""An index to be filled."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from memtui.search.index import NodeIndex


@pytest.fixture
def index(tmp_path: Path) -> Iterator[NodeIndex]:
    """An empty index."""
    made = NodeIndex(tmp_path / "index")
    made.make("fed")
    yield made
    made.close()
