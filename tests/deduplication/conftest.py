"""Fixtures for tests of histories that arrive in several ways."""

from pathlib import Path

import pytest

from memtui.settings import Settings
from tests.deduplication.deliveries import HistoryDelivery, TreeOf


@pytest.fixture
def delivery(tmp_path: Path, settings: Settings, tree_of: TreeOf) -> HistoryDelivery:
    """Delivers histories, each time into a new home."""
    return HistoryDelivery(tmp_path, settings, tree_of)
