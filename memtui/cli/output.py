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

from memtui.agents import replies
from memtui.agents.replies import Problem, Reply
from memtui.text import fencing
from memtui.text.tokens import ESTIMATING_COUNTER, TokenCounter

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
    limit: int | None = None
    counter: TokenCounter = ESTIMATING_COUNTER
    began_s: float = 0.0


_answer = _Answer()


def begin(limit: int | None) -> None:
    """Start the answer of a command; its budget in tokens, if any."""
    global _answer
    _answer = _Answer(limit=limit, began_s=time.perf_counter())


def as_json(value: Any) -> None:
    """Answer with a value: dataclasses as objects, times as ISO 8601 in UTC."""
    _answer.data = to_plain(value)


def print_reply(reply: Reply, counter: TokenCounter, *, as_json: bool) -> None:
    """Answer with a reply, all of it or as much as the budget holds."""
    if as_json:
        _answer.reply, _answer.counter = reply, counter
    elif _answer.limit is None:
        print_lines([replies.write_text(reply)])
    else:
        print_lines([replies.fit_text(reply, _answer.limit, counter).text])


def is_read() -> bool:
    """Tell whether a person reads what is printed."""
    return sys.stdout.isatty()


def end(code: int, problem: Problem | None = None) -> None:
    """Print the JSON answer in its envelope.

    Args:
        code: The exit code; where it is not 0 the status says so too.
        problem: Why, where that is known.
    """
    if code and problem is None:
        problem = Problem(*_CODES.get(code, _CODES[1]))
    ms = (time.perf_counter() - _answer.began_s) * 1000
    reply, limit, counter = _answer.reply, _answer.limit, _answer.counter
    if problem and limit and _answer.data is None:
        problem = _cut(problem, ms, limit)

    def wrap(data: Any, tokens: int = limit or 0) -> dict[str, Any]:
        return replies.envelope(data, tokens=tokens, ms=ms, problem=problem)

    data = _answer.data
    if reply is not None and limit is None:
        data = replies.write_data(reply)
    elif reply is not None and limit is not None:
        data = json.loads(replies.fit_json(reply, limit, counter, wrap).text)["data"]
    tokens = replies.cost(replies.dumps(wrap(data)), counter)
    print_lines([replies.dumps(wrap(data, tokens))])


_CODES = {
    1: ("undone", "not all is well, or not all could be done", "see data"),
    2: ("unasked", "nothing was done", "add --yes to do it"),
    130: ("stopped", "it was stopped", "what was done is kept"),
}
"""What an exit code says where nothing else does."""


def _cut(problem: Problem, ms: float, limit: int) -> Problem:
    """Cut the words of a problem, which may quote a command line, to the budget."""
    message, hint = (
        fencing.neutralize(problem.message),
        fencing.neutralize(problem.hint),
    )
    for width in _CUTS:
        # The hint is more important than the message, and is short.
        short = Problem(
            problem.code, replies.cut(message, width), replies.cut(hint, 150)
        )
        whole = replies.envelope(None, tokens=limit, ms=ms, problem=short)
        if replies.cost(replies.dumps(whole), ESTIMATING_COUNTER) <= limit:
            return short
    return Problem(problem.code, replies.cut(message, _CUTS[-1]))


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
