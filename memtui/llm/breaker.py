"""When not to ask: after faults for a while, and never for more minutes than allowed.

Nothing here waits or looks at a clock of its own.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from memtui.llm.faults import (
    BadReply,
    Fault,
    Offline,
    OutOfMemory,
    Overflow,
    Resting,
    TooLong,
    Unwell,
)

FIRST_S, LONGEST_S = 60.0, 1800.0
"""How long the breaker stays open at first, and at most; it doubles in between."""

IN_A_ROW = {Unwell: 3, OutOfMemory: 2, Offline: 1}
"""How many faults of a kind, with no success between them, open the breaker."""

WELL = (BadReply, Overflow, TooLong)
"""Faults of a model or of a prompt, told by a server that works."""

LOOKED_AT, POOR = 10, 5
"""A model is poor when so many of its last replies were bad."""

HOUR_S = 3600.0


@dataclass(slots=True)
class Breaker:
    """Opens when asking makes no sense, and lets a request through when it is time."""

    clock: Callable[[], float]
    """Seconds that only go forward."""
    _faults: dict[type[Fault], int] = field(default_factory=dict)
    _open_s: float = 0.0
    _until: float | None = None

    def wait_s(self) -> float:
        """For how many seconds nothing should be asked; 0 if one may ask."""
        return 0.0 if self._until is None else max(0.0, self._until - self.clock())

    def failed(self, fault: Fault) -> None:
        """Count a fault; one that only a server that is well can cause closes."""
        if isinstance(fault, WELL):
            self.succeeded()
            return
        kind = next((kind for kind in IN_A_ROW if isinstance(fault, kind)), None)
        if kind is None:
            return
        count = self._faults.get(kind, 0) + 1
        self._faults[kind] = count
        if count >= IN_A_ROW[kind] or self._open_s:
            self._open_s = min(self._open_s * 2 or FIRST_S, LONGEST_S)
            self._until = self.clock() + self._open_s

    def seen(self) -> None:
        """Close if it opened only because nobody answered: somebody does."""
        if self._faults and set(self._faults) <= {Offline}:
            self.succeeded()

    def succeeded(self) -> None:
        """Close, and forget all faults."""
        self._faults.clear()
        self._open_s, self._until = 0.0, None

    def check(self) -> None:
        """Let a request through, or not.

        Raises:
            Resting: The breaker is open.
        """
        if wait := self.wait_s():
            raise Resting("the model's server failed; it is asked again later", wait)


@dataclass(slots=True)
class Record:
    """How the last replies of each model were."""

    _replies: dict[str, deque[bool]] = field(default_factory=dict)

    def add(self, model: str, fault: Fault | None) -> None:
        """Count a reply: good, or bad in a way that is the model's own."""
        if fault is None or isinstance(fault, BadReply):
            last = self._replies.setdefault(model, deque(maxlen=LOOKED_AT))
            last.append(fault is None)

    @property
    def poor(self) -> set[str]:
        """The models that write too many replies that are no summaries."""
        return {m for m, last in self._replies.items() if last.count(False) >= POOR}


@dataclass(slots=True)
class Allowance:
    """How many minutes of each hour a model may work."""

    minutes: float
    clock: Callable[[], float]
    _spent: deque[tuple[float, float]] = field(default_factory=deque)

    def spend(self, seconds: float) -> None:
        """Count time that a model has worked until now."""
        self._spent.append((self.clock(), seconds))

    def wait_s(self) -> float:
        """In how many seconds there is time again; 0 if there is some now."""
        now = self.clock()
        while self._spent and self._spent[0][0] <= now - HOUR_S:
            self._spent.popleft()
        used = sum(seconds for _, seconds in self._spent)
        for at, seconds in self._spent:
            if used < self.minutes * 60:
                return 0.0
            used -= seconds
            if used < self.minutes * 60:
                return at + HOUR_S - now
        return 0.0 if self.minutes > 0 else HOUR_S

    def check(self) -> None:
        """Let a request through, or not.

        Raises:
            Resting: This hour's minutes are used.
        """
        if wait := self.wait_s():
            raise Resting("the model has used its minutes of this hour", wait)
