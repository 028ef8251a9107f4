"""A search of messages, as it is measured: what was said in sessions, with windows."""

from collections.abc import Callable
from datetime import UTC, datetime

from memtui.memory.found import Messages as Found
from memtui.paths import Paths
from memtui.recall.hearing import Ears
from memtui.recall.talk import Talk
from memtui.store.messages import Messages

TODAY = datetime(2026, 2, 2, 12, tzinfo=UTC)
"""When it is asked: after all that is kept."""


def finder(paths: Paths) -> Callable[[str], Found]:
    """Finds the best messages of a store, as a house does."""
    return Talk(Ears(Messages(paths.messages, is_kept=True)), UTC, lambda: TODAY).find
