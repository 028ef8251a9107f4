"""Finders: whoever finds something by words, and the calendar it is asked by."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, tzinfo

from memtui.recall.quoting import Quoting
from memtui.recall.talk import Talk
from memtui.recall.teleport import Teleport


@dataclass(frozen=True, slots=True)
class Finders:
    """Whom an agent's questions are handed on to."""

    teleport: Teleport
    """Of nodes and grips."""
    quoting: Quoting
    """Of quotes, by the search over everything."""
    talk: Talk
    """Of messages."""
    zone: tzinfo
    """The calendar's."""
    clock: Callable[[], datetime]
    """Tells the time, by which "last week" is meant."""
