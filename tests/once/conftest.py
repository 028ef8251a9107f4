"""Fixtures for tests of histories that arrive in several ways."""

from pathlib import Path

import pytest

from memtui.settings import Settings
from tests.once.telling import Told, TreeOf


@pytest.fixture
def told(tmp_path: Path, settings: Settings, tree_of: TreeOf) -> Told:
    """Tells histories, each time into a new home."""
    return Told(tmp_path, settings, tree_of)
