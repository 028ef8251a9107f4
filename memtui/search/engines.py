"""Finders: whoever finds something by words, and the calendar it is asked by."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, tzinfo

from memtui.search.messages import SessionSearch
from memtui.search.nodes import Teleport
from memtui.search.quotes import Quoting


@dataclass(frozen=True, slots=True)
class Finders:
    """Whom an agent's questions are handed on to."""

    teleport: Teleport
    """Of nodes and grips."""
    quoting: Quoting
    """Of quotes, by the search over everything."""
    talk: SessionSearch
    """Of messages."""
    zone: tzinfo
    """The calendar's."""
    clock: Callable[[], datetime]
    """Tells the time, by which "last week" is meant."""
