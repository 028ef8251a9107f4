"""The search in messages as the benchmarks call it: sessions, with windows."""

from collections.abc import Callable
from datetime import UTC, datetime

from memtui.model.hit import Hits
from memtui.paths import Paths
from memtui.search.message_index import MessageIndex
from memtui.search.ranking import MessageRanker
from memtui.search.search import MessageSearch

TODAY = datetime(2026, 2, 2, 12, tzinfo=UTC)
"""When it is asked: after all that is kept."""


def finder(paths: Paths) -> Callable[[str], Hits]:
    """Finds the best messages of a store, as a workspace does."""
    return MessageSearch(
        MessageRanker(MessageIndex(paths.message_index)),
        UTC,
        lambda: TODAY,
    ).find
