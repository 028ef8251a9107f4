"""An index to be filled."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from memtui.search.index import Index


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    """An empty index."""
    made = Index(tmp_path / "index")
    made.make("fed")
    yield made
    made.close()
