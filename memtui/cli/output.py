"""How answers are written: lines for people, JSON for programs."""

import json
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Any

from memtui.agents import replies, trimming
from memtui.agents.replies import Problem, Reply
from memtui.text import fencing
from memtui.text.tokens import ESTIMATED, Counter

_CUTS = (600, 300, 150, 80, 40, 20)
"""To how many characters an error's words are cut, in turn, where they do not fit."""


def print_lines(told: Iterable[str]) -> None:
    """Print lines; a reader that stops listening ends them without complaint."""
    for line in told:
        sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


@dataclass(slots=True)
class _Answer:
    """What a command answers a program; printed when the command is over."""

    data: Any = None
    reply: Reply | None = None
    limit: int = replies.DEFAULT
    counter: Counter = ESTIMATED
    began_s: float = 0.0


_answer = _Answer()


def begin(limit: int) -> None:
    """Forget what was answered before, and look at the clock.

    Args:
        limit: The budget of the answer in tokens, where it has one.
    """
    global _answer
    _answer = _Answer(limit=limit or replies.DEFAULT, began_s=time.perf_counter())


def as_json(value: Any) -> None:
    """Answer with a value: dataclasses as objects, times as ISO 8601 in UTC."""
    _answer.data = to_plain(value)


def as_reply(reply: Reply, counter: Counter = ESTIMATED) -> None:
    """Answer with a reply, within the budget."""
    _answer.reply, _answer.counter = reply, counter


def bounded(told: Iterable[str]) -> None:
    """Print lines; where no person reads them, as many as the budget holds."""
    if is_read():
        print_lines(told)
        return
    some = trimming.lines([*told], _answer.limit, ESTIMATED)
    _answer.limit -= replies.cost("\n".join(some), ESTIMATED)
    print_lines(some)


def is_read() -> bool:
    """Whether a person reads what is printed."""
    return sys.stdout.isatty()


def in_lines(reply: Reply, limit: int, counter: Counter = ESTIMATED) -> None:
    """Print a reply within so many tokens; fenced wherever no person reads it."""
    told = replies.fitted(reply, limit, counter).text.splitlines()
    print_lines(told[1:-1] if is_read() else told)


def end(code: int, failing: Problem | None = None) -> None:
    """Print the answer in its envelope.

    Args:
        code: The exit code; where it is not 0 the status says so too.
        failing: Why, where that is known.
    """
    if code and failing is None:
        failing = Problem(*_CODES.get(code, _CODES[1]))
    ms = (time.perf_counter() - _answer.began_s) * 1000
    counter, reply = _answer.counter, _answer.reply
    if failing and _answer.data is None:
        failing = _brief(failing, ms, counter)

    def wrap(data: Any, left: str = "", tokens: int = _answer.limit) -> dict[str, Any]:
        told = replies.wrapped(data, tokens=tokens, ms=ms, failing=failing)
        told["meta"] |= {"left_out": left} if left else {}
        return told

    data, left = trimming.fitted(_answer.data, _answer.limit, counter, wrap)
    if reply is not None:
        told = replies.fitted_json(reply, _answer.limit, counter, wrap)
        data = json.loads(told.text)["data"]
    tokens = replies.cost(replies.dumped(wrap(data, left)), counter)
    whole = wrap(data, left, tokens)
    if is_read():
        print(json.dumps(whole, ensure_ascii=False, indent=2))
    else:
        print(replies.dumped(whole))


_CODES = {
    1: (replies.UNDONE, "not all is well, or not all could be done", "see data"),
    2: ("unasked", "nothing was done", "add --yes to do it"),
    130: (replies.STOPPED, "it was stopped", "what was done is kept"),
}
"""What an exit code says where nothing else does."""


def _brief(failing: Problem, ms: float, counter: Counter) -> Problem:
    """A problem whose words keep within the budget; they may quote what was asked."""
    says, hint = fencing.neutral(failing.message), fencing.neutral(failing.hint)
    limit = _answer.limit
    for width in _CUTS:
        # What to do is worth more than what was wrong, and is short.
        told = Problem(failing.code, replies.cut(says, width), replies.cut(hint, 150))
        whole = replies.wrapped(None, tokens=limit, ms=ms, failing=told)
        if replies.cost(replies.dumped(whole), counter) <= limit:
            return told
    return Problem(failing.code, replies.cut(says, _CUTS[-1]))


def to_plain(value: Any) -> Any:
    """A value in JSON's own types."""
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: to_plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, dict):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [to_plain(item) for item in value]
    return value


def plural(count: int, one: str, many: str = "") -> str:
    """A count with its noun: ``1 session``, ``1,204 sessions``."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def with_tilde(place: Path | str) -> str:
    """A place as a person writes it, with ``~`` for their home."""
    home, given = Path.home(), Path(place)
    return f"~/{given.relative_to(home)}" if given.is_relative_to(home) else str(place)


def mark_matches(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """A text with the matched words between asterisks."""
    parts, at = [], 0
    for start, end in spans:
        parts += [text[at:start], "*", text[start:end], "*"]
        at = end
    return "".join([*parts, text[at:]])


EXIT_UNASKED = 2
"""Nothing was done, since nobody could be asked."""


def may(summary: Iterable[str], question: str) -> int | None:
    """Show what would be done and ask for it.

    Returns:
        None if it may be done; else the exit code.
    """
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        print("memtui: nothing was done; add --yes to do it, or --dry-run to see"
              " what it would do", file=sys.stderr)  # fmt: skip
        return EXIT_UNASKED
    for line in summary:
        print(line, file=sys.stderr)
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() in ("y", "yes"):
        return None
    print_lines(["Nothing was done."])
    return 0
