"""Print answers: lines, JSON in an envelope, and replies within a budget."""

import json
import sys
import time
from argparse import Namespace
from collections.abc import Iterable
from dataclasses import fields, is_dataclass, replace
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.errors import UnconfirmedError
from memtui.model.events import clean, remove_tag_characters
from memtui.text import fencing
from memtui.text.tokens import ESTIMATING_COUNTER, TokenCounter
from memtui.tools import replies
from memtui.tools.envelope import ErrorInfo, make_envelope, write_envelope
from memtui.tools.replies import Reply

if TYPE_CHECKING:
    from memtui.workspace import Workspace

_STARTED_S = time.perf_counter()

_ERRORS = {
    1: ErrorInfo(
        "incomplete", "some checks failed or some work was not done", "see data"
    ),
    130: ErrorInfo("interrupted", "it was interrupted", "finished work is kept"),
}
"""The error in the envelope for an exit code."""


def print_lines(lines: Iterable[str]) -> None:
    """Print lines, without what would disturb a terminal or hide text."""
    for line in lines:
        sys.stdout.write(remove_tag_characters(f"{clean(line)}\n"))
    sys.stdout.flush()


def print_result(
    args: Namespace,
    data: object,
    lines: Iterable[str],
    *,
    code: int = 0,
    errors: Iterable[object] | None = None,
) -> int:
    """Print data if JSON is asked for, otherwise lines; return the exit code.

    Errors are added to both, and make the exit code 1.
    """
    if errors is not None:
        messages = list(map(str, errors))
        data = to_plain(data) | {"errors": messages}
        lines = [*lines, *(f"error: {message}" for message in messages)]
        code = code or int(bool(messages))
    if args.json:
        return print_json(data, code=code)
    print_lines(lines)
    return code


def print_json(
    data: object,
    *,
    code: int = 0,
    error: ErrorInfo | None = None,
    max_tokens: int | None = None,
) -> int:
    """Print data in the envelope with the error of the exit code; return that."""
    error = error or _ERRORS.get(code)
    if error and data is None and max_tokens:
        error = _shorten(error, max_tokens)
    _print_envelope(_envelope(to_plain(data), error), ESTIMATING_COUNTER)
    return code


def _print_envelope(envelope: dict[str, Any], counter: TokenCounter) -> None:
    text = write_envelope(envelope, counter)
    # Nothing but hidden characters is left out: a program may need odd paths.
    sys.stdout.write(remove_tag_characters(f"{text}\n"))
    sys.stdout.flush()


def _envelope(data: Any, error: ErrorInfo | None = None) -> dict[str, Any]:
    ms = (time.perf_counter() - _STARTED_S) * 1000
    return make_envelope(data, ms=ms, error=error)


ERROR_CHARS = (1_000, 300, 100, 40)
"""The lengths the message of an error is cut to in turn until it fits."""


def _shorten(error: ErrorInfo, max_tokens: int) -> ErrorInfo:
    """Cut the message of an error, so that its envelope keeps within a budget."""
    hint = fencing.neutralize(error.hint)[:150]  # worth more than the message
    message = fencing.neutralize_line(error.message)
    for chars in ERROR_CHARS:
        error = replace(error, message=replies.cut(message, chars), hint=hint)
        text = replies.dumps(_envelope(None, error))
        if replies.cost(text, ESTIMATING_COUNTER) <= max_tokens:
            break
    return error


def print_reply(workspace: "Workspace", args: Namespace, reply: Reply) -> int:
    """Print a reply, all of it or as much as ``--max-tokens`` allows."""
    if not reply.items:
        from memtui.services import status

        if status.is_empty():
            reply = replace(reply, notes=(replies.NOTHING_KEPT,))
    reply = replies.note_damage(reply)
    if args.command != "call":
        reply = replace(
            reply,
            notes=[_name_commands(note) for note in reply.notes],
            more_hint=_name_commands(reply.more_hint),
        )
    limit = args.max_tokens
    if limit is None and args.json:
        return print_json(replies.write_data(reply))
    if limit is None:
        print_lines([replies.write_text(reply)])
    elif args.json:
        counter = workspace.counter
        fitted = replies.fit_json(reply, limit, counter, _envelope)
        _print_envelope(json.loads(fitted.text), counter)
    else:
        print_lines([replies.fit_text(reply, limit, workspace.counter).text])
    return 0


COMMANDS = {
    "get_toc_root": "show",
    "get_node": "show",
    "browse_toc": "show",
    "expand_grip": "expand",
    "list_sessions": "sessions",
    "list_messages": "session",
    "get_session_meta": "session",
    "list_points": "open",
    "search_memory": "search",
}
"""Tools that are commands of their own; the others are called with ``memtui call``."""


def _name_commands(text: str) -> str:
    """Replace the names of tools in a hint with commands."""
    if "_" not in text:
        return text
    import re

    from memtui.tools import table

    names = "|".join(tool.name for tool in table.TOOLS)

    def command(name: "re.Match[str]") -> str:
        return f"memtui {COMMANDS.get(name[0], f'call {name[0]}')}"

    return re.sub(rf"\b(?:{names})\b(?!=)", command, text)


def confirm(summary: Iterable[str], question: str) -> bool:
    """Print what would be done and ask for confirmation.

    Raises:
        UnconfirmedError: Not running in a terminal.
    """
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UnconfirmedError(
            "nothing was done; add --yes to do it, or --dry-run to see what it would do"
        )
    for line in summary:
        print(line, file=sys.stderr)
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() in ("y", "yes"):
        return True
    print_lines(["Nothing was done."])
    return False


def to_plain(value: Any) -> Any:
    """Convert dataclasses, enums, paths, times and collections to JSON's types."""
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
