"""How the model is found, kept in the store for those who ask from elsewhere."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta, tzinfo

from memtui.llm import Summarizer
from memtui.memory.summarizers import Condition
from memtui.memory.toc import TocLevel
from memtui.stages.progress import Model
from memtui.store import database, facts, wanted
from memtui.store.facts import Found

LOOK_AGAIN = timedelta(seconds=30)
"""How long to leave a summariser alone that cannot be asked."""


class Finder:
    """Looks how a summariser is, and writes down what is another since."""

    def __init__(
        self, summarizer: Summarizer, zone: tzinfo, clock: Callable[[], datetime]
    ) -> None:
        """Remember whom to look at.

        Args:
            summarizer: Who summarises.
            zone: The store's time zone.
            clock: The time, aware.
        """
        self._summarizer, self._zone, self._clock = summarizer, zone, clock
        self._last: tuple[Condition, str, datetime | None] | None = None

    def look(self, model: Model) -> Model:
        """The same model as it is found now, at rest, with how much waits for it."""
        health, until = self._summarizer.health(), None
        if health.condition is Condition.RESTING:
            rest = max(timedelta(seconds=health.retry_s), LOOK_AGAIN)
            until = (self._clock() + rest).astimezone(self._zone)
        found = health.condition, health.says, until
        with database.connected():
            waiting = wanted.count(TocLevel.SEGMENT)
            if found != self._last:
                with database.writing():
                    facts.set_model(Found(*found, self._clock()))
                self._last = found
        return replace(model.looked_at(health), until=until, waiting=waiting)
