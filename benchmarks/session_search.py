"""The search in messages as the benchmarks call it: sessions, with windows."""

from collections.abc import Callable
from datetime import UTC, datetime

from memtui.model.hits import Hits, MessageHit
from memtui.paths import Paths
from memtui.search.message_index import MessageIndex
from memtui.search.messages import MessageMatcher, MessageSearch

TODAY = datetime(2026, 2, 2, 12, tzinfo=UTC)
"""When it is asked: after all that is kept."""


def finder(paths: Paths) -> Callable[[str], Hits[MessageHit]]:
    """Finds the best messages of a store, as a workspace does."""
    return MessageSearch(
        MessageMatcher(MessageIndex(paths.message_index, keep_open=True)),
        UTC,
        lambda: TODAY,
    ).find
