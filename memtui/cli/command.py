"""The parser of a command's options, the options that several commands have, and the
context of a command: paths, settings, and the workspace."""

import argparse
import logging
import os
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from memtui.errors import MemtuiError, StoreError
from memtui.model.quantities import check_number, plural

if TYPE_CHECKING:
    from memtui.paths import Paths
    from memtui.settings import Settings
    from memtui.workspace import Workspace


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
        # Python 3.14 would color the help on a terminal.
        self.color = False
        self._list: argparse.Action | None = None

    def add_argument(self, *names: Any, **details: Any) -> argparse.Action:
        if details.get("nargs") == "*":
            # Without a default, argparse asks for what may be missing.
            details.setdefault("default", [])
        action = super().add_argument(*names, **details)
        if not action.option_strings and action.nargs in ("*", "+"):
            self._list = action
        return action

    def flag(self, name: str, help: str) -> None:
        """Add an option without a value."""
        self.add_argument(name, action="store_true", help=help)

    def text(self, name: str, help: str, **details: Any) -> None:
        """Add a text that may be missing: "" is its default."""
        if not name.startswith("-"):
            details["nargs"] = "?"
        self.add_argument(name, default="", help=help, **details)

    def read(self, words: Sequence[str], args: argparse.Namespace) -> None:
        """Parse the words of a command into a namespace; raises UsageExit."""
        _, remaining = self.parse_known_args(words, args)
        # A query may contain -word.
        mark = "--" if self.has_query else "-"
        unknown = [word for word in remaining if word.startswith(mark)]
        if unknown or (remaining and self._list is None):
            hint = f"; to search for it: -- {unknown[0]}" if self.has_query else ""
            self.error(
                f"unrecognized arguments: {' '.join(unknown or remaining)}{hint}"
            )
        if remaining and self._list is not None:
            convert = self._list.type if callable(self._list.type) else str
            try:
                getattr(args, self._list.dest).extend(map(convert, remaining))
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
    parser.text("--agent", "only this agent's work")
    parser.text("--project", "only work on this project")


def add_paging(parser: Parser, items: str) -> None:
    add_number(parser, "--offset", 0, f"how many {items} to skip (default 0)")
    text = f"how many {items} to print (default 50)"
    add_number(parser, "--limit", 50, text, minimum=1)


def add_max_tokens(parser: Parser) -> None:
    from memtui.tools import replies  # not needed by most commands

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
    parser.flag("--dry-run", "print what would change, and stop")
    if with_yes:
        parser.flag("--yes", "do not ask for confirmation")


# The context of a command

LOG_BYTES = 1_000_000
"""The size at which the log is put aside, in place of the one before."""


def _note_unreadable() -> None:
    from memtui.services import status

    if count := status.count_unreadable_events():
        note = f"{plural(count, 'event')} cannot be read, left out: memtui doctor"
        print(f"memtui: {note}", file=sys.stderr)


class Context:
    def __init__(self, args: Namespace) -> None:
        """Find the paths; nothing is read or created yet."""
        from memtui.paths import find_paths  # not needed for --help and --version

        self.paths: Paths = find_paths(args.home)
        named = os.environ.get("MEMTUI_CONFIG")
        self.config_file: Path | None = args.config or (Path(named) if named else None)
        self._assignments: list[str] = args.set

    @cached_property
    def settings(self) -> "Settings":
        """Read the settings; raises SettingsError."""
        return self.load_settings()

    def load_settings(self) -> "Settings":
        from memtui import settings

        return settings.load(
            self.paths.config,
            config_file=self.config_file,
            assignments=self._assignments,
        )

    def missing_store(self) -> Path | None:
        """Return the folder of the store if there is no store, but could be one."""
        from memtui import workspace

        _, paths = workspace.resolve_paths(self.paths, self.settings)
        folder = paths.store.parent
        try:
            existing = next(path for path in (folder, *folder.parents) if path.exists())
            is_possible = not paths.store.exists() and existing.is_dir()
        except OSError:
            return None
        return folder if is_possible else None

    def has_store(self) -> bool:
        """Return True if there is a store, or an error to be raised by opening it."""
        return self.missing_store() is None

    def has_damaged_store(self) -> bool:
        """Return whether doctor finds a damage in the store; takes a moment."""
        from memtui import workspace
        from memtui.services import status

        try:
            _, paths = workspace.resolve_paths(self.paths, self.settings)
        except MemtuiError:
            return False
        return status.is_damaged(paths.store)

    def open_workspace(self) -> "Workspace":
        """Open the store, or create it with files that only this user can read."""
        return open_workspace(self.paths, self.settings)

    @contextmanager
    def workspace(self, *, create: bool = False) -> Iterator["Workspace"]:
        """Open the store and close it at the end; note events that cannot be read.

        Raises:
            StoreError: There is no store and none is created, or it cannot be opened.
        """
        if not create and (missing := self.missing_store()):
            raise StoreError(
                f"there is no store in {missing} yet; memtui import creates it"
            )
        opened = self.open_workspace()
        try:
            yield opened
            _note_unreadable()
        finally:
            opened.stop()


def open_workspace(
    paths: "Paths", settings: "Settings", *, is_demo: bool = False
) -> "Workspace":
    """Open a store and start the log."""
    from memtui.workspace import Workspace

    os.umask(0o077)
    opened = Workspace(paths, settings, is_demo=is_demo)
    start_log(paths.log, settings.log_level)
    return opened


def start_log(file: Path, level: str) -> None:
    from logging.handlers import RotatingFileHandler

    logging.raiseExceptions = False  # a full disk must not write over the screen
    # The file is opened by the first line: reading works on a read-only disk too.
    handler = RotatingFileHandler(file, maxBytes=LOG_BYTES, backupCount=1, delay=True)
    logging.basicConfig(
        handlers=[handler],
        level=level.upper(),
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )
    logging.getLogger("watchfiles").setLevel(logging.WARNING)  # it logs every change
