"""A finding of ``doctor``: one thing that was looked at, and what to do about it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from memtui.errors import MemtuiError
from memtui.paths import Paths
from memtui.settings import Settings


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    name: str
    """What was looked at: ``store``, ``hooks``; the same word from release to
    release."""
    is_well: bool
    says: str
    cure: str = ""
    """What to do: a command to type, or a sentence. Of what is well: what could be
    done, and need not be."""
    subject: str = ""
    """Of which agent or place, where several are looked at under one name."""


@dataclass(frozen=True, slots=True)
class Patient:
    """What is looked at."""

    places: Paths
    """Where everything lies, the store where the settings have it."""
    settings: Settings
    now: datetime
    is_separate: bool = False
    """Whether the store keeps one project alone."""


Check = Callable[[Patient], Iterable[Finding]]


def told_by(name: str, check: Check, patient: Patient) -> list[Finding]:
    """What a check finds; that it cannot be made is a finding too."""
    try:
        return list(check(patient))
    except MemtuiError as error:
        return [Finding(name, False, str(error), "first what is wrong with the store")]
    except OSError as error:
        return [of_error(name, error)]


def of_error(name: str, error: OSError) -> Finding:
    """The finding that something cannot be looked at."""
    says = f"{error.filename}: {(error.strerror or str(error)).lower()}"
    return Finding(name, False, says, f"make it yours: chmod -R u+rwX {error.filename}")


def size(count: float) -> str:
    """A number of bytes: ``232 MB``."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


def clock() -> datetime:
    """The time, aware."""
    return datetime.now(UTC)
