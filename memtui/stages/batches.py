"""What is read of a file until it is stored, sorted by what it is."""

from collections import Counter as Tally
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from memtui.memory.events import Event
from memtui.memory.sessions import Helper, SessionFacts
from memtui.memory.thoughts import Thought
from memtui.sources.records import Awaited, Left, Reading, Refused, Restarted
from memtui.store.problems import Count, Kind


@dataclass(slots=True)
class Batch:
    """What one transaction will store."""

    events: list[Event] = field(default_factory=list)
    thoughts: list[Thought] = field(default_factory=list)
    facts: list[SessionFacts] = field(default_factory=list)
    latest: dict[tuple[str, str], SessionFacts] = field(default_factory=dict)
    helpers: list[Helper] = field(default_factory=list)
    missed: Tally[tuple[str, Kind]] = field(default_factory=Tally)
    lines: dict[tuple[str, Kind], int] = field(default_factory=dict)
    restarted: str = ""
    until: datetime | None = None
    """When the earliest of what comes from the future will have come."""

    def take(self, reading: Reading) -> None:
        """Add what was read."""
        match reading:
            case Event():
                self.events.append(reading)
            case Thought():
                self.thoughts.append(reading)
            case SessionFacts():
                key = reading.agent, reading.session_id
                if self.latest.get(key) != reading:
                    self.latest[key] = reading
                    self.facts.append(reading)
            case Helper():
                self.helpers.append(reading)
            case Restarted():
                self.restarted = reading.reason
            case Refused() | Left() | Awaited():
                key = reading.reason, _KINDS[type(reading)]
                self.missed[key] += 1
                self.lines[key] = reading.line
        if isinstance(reading, Refused) and reading.until:
            self.until = min(self.until or reading.until, reading.until)

    def counts(self) -> Iterator[Count]:
        """What was not taken, by why."""
        for (reason, kind), number in self.missed.items():
            yield Count(reason, kind, self.lines[reason, kind], number)


_KINDS = {Refused: Kind.FAULT, Left: Kind.LEFT, Awaited: Kind.AWAITED}
