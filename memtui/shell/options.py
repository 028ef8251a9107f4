"""Options that several commands have, and the numbers they take. It loads nothing."""

import argparse
from collections.abc import Callable

DEFAULT = 500
"""The budget of an answer unless another is given: ``memory.budgets.DEFAULT``."""

AddCommand = Callable[[str, str], argparse.ArgumentParser]
"""Adds a command by its name and what it does."""


def scope(command: argparse.ArgumentParser) -> None:
    """Let a command be asked of one agent's or one project's work."""
    command.add_argument("--agent", default="", help="only this agent's work")
    command.add_argument("--project", default="", help="only work on this project")


def budget(command: argparse.ArgumentParser, *names: str) -> None:
    """Let a command be told how many tokens its answer may cost."""
    command.add_argument(
        *(names or ["--max-tokens"]),
        dest="max_tokens",
        type=natural,
        default=DEFAULT,
        metavar="N",
        help=f"the most tokens an answer may cost, 50 or more (default {DEFAULT})",
    )


def paged(command: argparse.ArgumentParser, what: str) -> None:
    """Let a command be told which part of a long list to print."""
    says = f"how many {what} to leave out (default 0)"
    command.add_argument("--offset", type=natural, default=0, help=says)
    says = f"how many {what} to print (default 50)"
    command.add_argument("--limit", type=positive, default=50, help=says)


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
