"""Asking before what cannot be undone."""

import sys
from collections.abc import Iterable

from memtui.shell import output

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
    output.lines(["Nothing was done."])
    return 0
