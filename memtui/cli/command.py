"""The parser of a command's options, and the options that several commands have."""

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from memtui.model.quantities import check_number

MAX_PORT = 65_535


class UsageExit(SystemExit):
    """A wrong command line; the message is on standard error already."""

    def __init__(self, message: str, prog: str) -> None:
        super().__init__(2)
        self.message, self.prog = message, prog


class Parser(argparse.ArgumentParser):
    """A parser whose list of words goes on behind options.

    ``search --limit 5 mutex -tabs`` searches for ``mutex -tabs``.
    """

    has_query = False
    """True if the words are a query, which may contain ``-word``."""

    def __init__(self, **details: Any) -> None:
        super().__init__(allow_abbrev=False, **details)
        self._list: argparse.Action | None = None

    def add_argument(self, *names: Any, **details: Any) -> argparse.Action:
        if details.get("nargs") == "*":
            # Without a default, argparse asks for what may be missing.
            details.setdefault("default", [])
        action = super().add_argument(*names, **details)
        if not action.option_strings and action.nargs in ("*", "+"):
            self._list = action
        return action

    def read(self, words: Sequence[str], args: argparse.Namespace) -> None:
        """Parse the words of a command into a namespace; raises UsageExit."""
        _, rest = self.parse_known_args(words, args)
        # A query may contain -word.
        mark = "--" if self.has_query else "-"
        unknown = [word for word in rest if word.startswith(mark)]
        if unknown or (rest and self._list is None):
            hint = f"; to search for it: -- {unknown[0]}" if self.has_query else ""
            self.error(f"unrecognized arguments: {' '.join(unknown or rest)}{hint}")
        if rest and self._list is not None:
            convert = self._list.type if callable(self._list.type) else str
            try:
                getattr(args, self._list.dest).extend(map(convert, rest))
            except argparse.ArgumentTypeError as error:
                self.error(str(error))

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        print(f"{self.prog}: error: {message}", file=sys.stderr)
        raise UsageExit(message, self.prog)


def whole_number(minimum: int, maximum: int | None = None) -> Callable[[str], int]:
    """Return a converter of whole numbers within bounds."""

    def convert(text: str) -> int:
        try:
            return int(check_number(text, minimum=minimum, maximum=maximum))
        except ValueError as error:
            raise argparse.ArgumentTypeError(f"must be {error}") from None

    convert.__name__ = "whole number"  # argparse prints it
    return convert


def add_number(
    parser: argparse.ArgumentParser,
    name: str,
    default: int | None,
    help: str,
    *,
    minimum: int = 0,
    maximum: int | None = None,
) -> None:
    parser.add_argument(
        name,
        type=whole_number(minimum, maximum),
        default=default,
        metavar="N",
        help=help,
    )


QUERY_HELP = 'words, "exact words", refr*, -not, agent:codex, after:2025-03, last week'


def add_query(
    parser: Parser, limit: int, maximum: int = 1_000, help: str = QUERY_HELP
) -> None:
    parser.has_query = True
    parser.add_argument("query", nargs="+", help=help)
    text = f"how many results to print (default {limit}, at most {maximum:,})"
    add_number(parser, "--limit", limit, text, minimum=1, maximum=maximum)


def add_scope(parser: Parser) -> None:
    parser.add_argument("--agent", default="", help="only this agent's work")
    parser.add_argument("--project", default="", help="only work on this project")


def add_paging(parser: Parser, items: str) -> None:
    add_number(parser, "--offset", 0, f"how many {items} to skip (default 0)")
    text = f"how many {items} to print (default 50)"
    add_number(parser, "--limit", 50, text, minimum=1)


def add_max_tokens(parser: Parser) -> None:
    from memtui.agents import replies  # not needed by most commands

    add_number(
        parser,
        "--max-tokens",
        None,
        "for agents: an answer of at most N tokens, in which stored text is marked as"
        " data, not instructions",
        minimum=replies.MIN_TOKENS,
        maximum=replies.MAX_TOKENS,
    )


def add_dry_run(parser: Parser, *, with_yes: bool = True) -> None:
    parser.add_argument(
        "--dry-run", action="store_true", help="print what would change, and stop"
    )
    if with_yes:
        parser.add_argument(
            "--yes", action="store_true", help="do not ask for confirmation"
        )
