"""Envelopes: what stands around every JSON answer, whatever was asked.

``{"version": 1, "status": "ok" | "error", "data": …, "error": null | {code, message,
hint}, "meta": {tokens, ms}}``. The status is ``error`` exactly where the command's exit
code is not 0; there may be data then too. A field may be added without a new version.
"""

from dataclasses import dataclass
from typing import Any

from memtui import errors
from memtui.errors import MemtuiError

VERSION = 1
"""Goes up when a field is taken away or comes to mean something else."""

USAGE, UNDONE, STOPPED = "usage", "undone", "stopped"
"""The codes of a wrong command line, and of what is no error of a kind: something found
to be wrong, a part that could not be done, and what a person stopped."""

CODES: dict[type[MemtuiError], tuple[str, str]] = {
    errors.UsageError: (USAGE, ""),
    errors.SettingsError: ("settings", "see them: memtui config show"),
    errors.StoreBusy: ("store_busy", "try again in a moment"),
    errors.StoreTooNew: ("store_too_new", "use the memtui that made it"),
    errors.StoreError: ("store", "see what is wrong: memtui doctor"),
    errors.SpoolError: ("spool", "see what is wrong: memtui doctor"),
    errors.SourceError: ("source", "see what could not be taken: memtui quarantine"),
    errors.SearchError: ("search", "make the index anew: memtui reindex"),
    errors.HooksError: ("hooks", "see them: memtui hooks status"),
    errors.TokensError: ("tokens", "counts are estimated meanwhile"),
    errors.ModelError: ("model", "what there is without a model stays"),
    MemtuiError: ("failed", "see what can be asked: memtui --help"),
}
"""The code of each kind of error and what helps where its own words say nothing."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Why something could not be done, or not all of it."""

    code: str
    message: str
    hint: str = ""


def problem(error: MemtuiError) -> Problem:
    """An error as a program is told of it; what stands behind a semicolon helps."""
    kinds = (kind for kind in type(error).__mro__ if kind in CODES)
    code, usual = CODES[next(kinds, MemtuiError)]
    message, _, hint = str(error).partition("; ")
    return Problem(code, message, hint or usual)


def wrapped(
    data: Any, *, tokens: int, ms: float, failing: Problem | None = None
) -> dict[str, Any]:
    """An answer in its envelope.

    Args:
        data: The answer, in JSON's own types; None where there is none.
        tokens: What the whole of it costs an agent.
        ms: How long it took.
        failing: Why it is none, or not all of it.
    """
    told = None
    if failing:
        told = {
            "code": failing.code,
            "message": failing.message,
            "hint": failing.hint,
        }
    return {
        "version": VERSION,
        "status": "error" if failing else "ok",
        "data": data,
        "error": told,
        "meta": {"tokens": tokens, "ms": round(ms)},
    }
