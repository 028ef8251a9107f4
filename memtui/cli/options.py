"""Options that several commands have, and the numbers they take. It loads nothing."""

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn

LEAST, MOST = 50, 100_000
"""The bounds of it: those of ``memory.replies.budgets``."""

NEAR = 0.8
"""How like an option a word is that is taken for one, mistyped."""

AddCommand = Callable[[str, str], argparse.ArgumentParser]
"""Adds a command by its name and what it does."""


class WrongLine(SystemExit):
    """A command line that cannot be meant; how was said on standard error."""

    def __init__(self, says: str, of: str) -> None:
        """Remember what is wrong with which command's line."""
        super().__init__(2)
        self.says, self.of = says, of


class Parser(argparse.ArgumentParser):
    """Says to a program what it says to a person."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and how it is used, and leave."""
        self.print_usage(sys.stderr)
        print(f"{self.prog}: error: {message}", file=sys.stderr)
        raise WrongLine(message, self.prog)


def refuse_mistyped(of: argparse.ArgumentParser, words: Sequence[str]) -> None:
    """Refuse what is nearly an option of a command, though any word may be asked for.

    Args:
        of: The command.
        words: What is none of its options.
    """
    known = re.findall(r"--[a-z-]+", of.format_help())
    for word in words:
        if not word.startswith("--"):
            continue
        import difflib

        near = [one for one in known if one.endswith(word[1:])]
        near += difflib.get_close_matches(word, known, 1, NEAR)
        if near:
            of.error(f"there is no {word}, but {near[0]}; to look for it: -- {word}")


def scope(command: argparse.ArgumentParser) -> None:
    """Let a command be asked of one agent's or one project's work."""
    command.add_argument("--agent", default="", help="only this agent's work")
    command.add_argument("--project", default="", help="only work on this project")


def budget(command: argparse.ArgumentParser) -> None:
    """Add ``--max-tokens`` to a command."""
    command.add_argument(
        "--max-tokens",
        type=between(LEAST, MOST),
        metavar="N",
        help=f"write for an agent: fenced, and at most N tokens, {LEAST} or more",
    )


def paged(command: argparse.ArgumentParser, what: str) -> None:
    """Let a command be told which part of a long list to print."""
    says = f"how many {what} to leave out (default 0)"
    command.add_argument("--offset", type=natural, default=0, help=says)
    says = f"how many {what} to print (default 50)"
    command.add_argument("--limit", type=positive, default=50, help=says)


def between(least: int, most: int) -> Callable[[str], int]:
    """A number within bounds."""

    def number(text: str) -> int:
        found = int(text)
        if not least <= found <= most:
            raise argparse.ArgumentTypeError(f"must be from {least:,} to {most:,}")
        return found

    return number


def natural(text: str) -> int:
    """A number of 0 or more."""
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError("must not be negative")
    return number


def positive(text: str) -> int:
    """A number of 1 or more."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number
