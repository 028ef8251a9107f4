"""When not to ask: after faults for a while, and never for more minutes than allowed.

Nothing here waits or looks at a clock of its own.
"""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
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
from memtui.llm.models import Model

FIRST_S, LONGEST_S = 60.0, 1800.0
"""How long the breaker stays open at first, and at most; it doubles in between."""


IN_A_ROW = {Unwell: 3, OutOfMemory: 2, Offline: 1}
"""How many faults of a kind, with no success between them, open the breaker."""


WELL = (BadReply, Overflow, TooLong)
"""Faults of a model or of a prompt, told by a server that works."""


LOOK_S, LOOKS_S = 30.0, 600.0
"""In how many seconds to look again for a server that is not there, at first and at
most: as long as it has been missed, so that each wait is twice the one before."""


LOOKED_AT, POOR = 10, 5
"""A model is poor when so many of its last replies were bad."""


HOUR_S = 3600.0


POOR_S = 6 * HOUR_S
"""For how long a poor model is not asked unless a person wants it, in seconds."""


AHEAD = 24
"""For how many hours at most time that was overdrawn is held against a model."""


@dataclass(slots=True)
class Breaker:
    """Opens when asking makes no sense, and lets a request through when it is time."""

    clock: Callable[[], float]
    """Seconds that only go forward."""
    _faults: dict[type[Fault], int] = field(default_factory=dict)
    _open_s: float = 0.0
    _until: float | None = None
    _missed_at: float | None = None

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

    def missed(self) -> float:
        """Note that nobody answers; in how many seconds to look again."""
        now = self.clock()
        if self._missed_at is None:
            self._missed_at = now
        return min(LOOK_S + now - self._missed_at, LOOKS_S)

    def seen(self) -> None:
        """Close if it opened only because nobody answered: somebody does."""
        self._missed_at = None
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
class _Replies:
    """A model's last replies, whether each was good, and when the last one came."""

    last: deque[bool]
    at: float = 0.0


@dataclass(slots=True)
class Record:
    """How the last replies of each model were.

    A model that was pulled anew under its name is another one.
    """

    clock: Callable[[], float]
    """Seconds that only go forward."""
    _models: dict[str, _Replies] = field(default_factory=dict)

    def add(self, model: Model, fault: Fault | None) -> None:
        """Count a reply: good, or bad in a way that is the model's own."""
        if fault is None or isinstance(fault, BadReply):
            empty = _Replies(deque(maxlen=LOOKED_AT))
            replies = self._models.setdefault(model.key, empty)
            replies.last.append(fault is None)
            replies.at = self.clock()

    def wait_s(self, key: str) -> float:
        """For how many seconds a model is not asked as it is poor; 0 if it may be.

        After its rest one bad reply is enough for another.
        """
        replies = self._models.get(key)
        if replies is None or replies.last[-1] or replies.last.count(False) < POOR:
            return 0.0
        return max(0.0, replies.at + POOR_S - self.clock())

    @property
    def poor(self) -> set[str]:
        """The keys of the models that write too many replies that are no summaries."""
        return {key for key in self._models if self.wait_s(key)}


Spent = Sequence[tuple[float, float]]
"""Times that a model has worked: how many seconds ago, less than 0 for what is held
against the future, and for how many seconds."""


def _not_kept(_: Spent) -> None:
    """Keep nothing."""


@dataclass(slots=True)
class Allowance:
    """How many minutes of each hour a model may work.

    What one piece of work takes beyond them is held against the hours that follow.
    """

    minutes: float
    clock: Callable[[], float]
    keep: Callable[[Spent], None] = _not_kept
    """Told what is spent whenever that is more."""
    _spent: list[tuple[float, float]] = field(default_factory=list)

    def remember(self, spent: Iterable[tuple[float, float]]) -> None:
        """Count what was spent before, by another process; see ``Spent``."""
        now, latest = self.clock(), AHEAD * HOUR_S
        self._spent += [(now - ago, s) for ago, s in spent if -latest <= ago]

    def spend(self, seconds: float) -> None:
        """Count time that a model has worked until now."""
        now, limit = self.clock(), self.minutes * 60
        self._forget(now)
        room = max(0.0, limit - sum(spent for _, spent in self._spent))
        for hour in range(AHEAD):
            share = min(seconds, room) if hour < AHEAD - 1 and limit else seconds
            if share > 0:
                self._spent.append((now + hour * HOUR_S, share))
            seconds, room = seconds - share, limit
        self._spent.sort()
        self.keep([(now - at, spent) for at, spent in self._spent])

    @property
    def is_used(self) -> bool:
        """Whether any model has worked within the hour."""
        self._forget(self.clock())
        return bool(self._spent)

    def wait_s(self) -> float:
        """In how many seconds there is time again; 0 if there is some now."""
        now, limit = self.clock(), self.minutes * 60
        if not limit:
            return HOUR_S
        self._forget(now)
        used = sum(seconds for _, seconds in self._spent)
        for at, seconds in self._spent:
            if used < limit:
                break
            used -= seconds
            if used < limit:
                return at + HOUR_S - now
        return 0.0

    def _forget(self, now: float) -> None:
        """Drop what is more than an hour old."""
        self._spent = [one for one in self._spent if one[0] > now - HOUR_S]

    def check(self) -> None:
        """Let a request through, or not.

        Raises:
            Resting: They are used.
        """
        if wait := self.wait_s():
            used = "has used the minutes that it may work without a graphics card"
            none = "has no graphics card, and without one it must not work"
            why = used if self.minutes else f"{none} (summaries.cpu_minutes)"
            raise Resting(f"the model {why}", wait)
