"""The envelope of answers in JSON, and errors as programs are told of them."""

from dataclasses import asdict, dataclass
from typing import Any

from memtui import errors
from memtui.errors import MemtuiError
from memtui.text.tokens import TokenCounter
from memtui.tools import replies

VERSION = 1
"""The version of the envelope; rises when a field is removed or changes its meaning."""

USAGE = "usage"

CODES: dict[type[MemtuiError], tuple[str, str]] = {
    errors.UsageError: (USAGE, ""),
    errors.UnconfirmedError: ("unconfirmed", "add --yes to do it"),
    errors.SettingsError: ("settings", "see them: memtui config show"),
    errors.StoreBusyError: ("store_busy", "try again in a moment"),
    errors.StoreVersionError: ("store_version", "use the memtui that made it"),
    errors.StoreError: ("store", "see what is wrong: memtui doctor"),
    errors.SpoolError: ("spool", "see what is wrong: memtui doctor"),
    errors.SourceError: ("source", "see what was skipped: memtui quarantine"),
    errors.SearchError: ("search", "rebuild the index: memtui reindex"),
    errors.HooksError: ("hooks", "see them: memtui hooks status"),
    errors.VocabularyError: ("tokens", "counts are estimated until then"),
    errors.ModelError: ("model", "what needs no model still works"),
    MemtuiError: ("failed", "see the commands: memtui --help"),
}
"""The code of each kind of error, and the hint where the message has none."""


@dataclass(frozen=True, slots=True)
class ErrorInfo:
    """The reason why something could not be done, or not all of it."""

    code: str
    message: str
    hint: str = ""


def error_info(error: MemtuiError) -> ErrorInfo:
    """Describe an error to a program; its message has the hint after a semicolon."""
    kinds = (kind for kind in type(error).__mro__ if kind in CODES)
    code, usual = CODES[next(kinds, MemtuiError)]
    message, _, hint = str(error).partition("; ")
    return ErrorInfo(code, message, hint or usual)


def make_envelope(
    data: Any, *, ms: float = 0, error: ErrorInfo | None = None
) -> dict[str, Any]:
    """Put an answer into its envelope, which has no number of tokens yet.

    The error says why there is no answer, or only a part of it.
    """
    return {
        "version": VERSION,
        "status": "error" if error else "ok",
        "data": data,
        "error": asdict(error) if error else None,
        "meta": {"tokens": 0, "ms": round(ms)},
    }


def write_envelope(envelope: dict[str, Any], counter: TokenCounter) -> str:
    """Write an envelope as JSON, with what all of it costs an agent."""
    envelope["meta"]["tokens"] = replies.cost(replies.dumps(envelope), counter)
    return replies.dumps(envelope)
