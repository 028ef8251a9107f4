"""Which module answers a command that needs the memory. Each is loaded when it does."""

import argparse
from typing import TYPE_CHECKING

from memtui.cli import grammar

if TYPE_CHECKING:
    from memtui.workspace import Workspace


READING = ("show", "sessions", "session", "expand", "stats")
"""The commands that only read."""


FINDING = ("search", "search-sessions", "teleport")
"""The commands that find by words."""


ASKING = (*READING, *FINDING, *grammar.ASKING)
"""All that ask and change nothing."""


MAKING = ("import", "work")
"""The commands that make a memory where there is none."""


OF_SPOOL = ("quarantine",)
"""Those that are of what hooks have left, which may be there before a memory is."""


def makes_memory(given: argparse.Namespace, *, has_spool: bool) -> bool:
    """Whether a command makes a memory where there is none.

    Args:
        given: The command line.
        has_spool: Whether hooks leave what they are told there.
    """
    if given.command in OF_SPOOL:
        return has_spool
    is_agreeing = given.command == "sources" and given.action is not None
    return given.command in MAKING or is_agreeing


def is_answered_of_nothing(given: argparse.Namespace) -> bool:
    """Whether a command has an answer though there is no memory."""
    return given.command in (*ASKING, "sources")


def run(given: argparse.Namespace, house: "Workspace") -> int:
    """Run a command on the memory, and leave it; the exit code."""
    as_json = getattr(given, "json", False)
    try:
        if given.command in READING:
            return _read(given, house)
        if given.command in ("import", "work", "reindex"):
            return _work(given, house, as_json=as_json)
        if given.command in grammar.CURATING:
            from memtui.cli import (
                ask,
                backup,
                forget,
                jobs,
                quarantine,
                versions,
            )

            return forget.run(house, given)
        if given.command in grammar.VERSIONING:
            pass

            return versions.run(house, given)
        if given.command in grammar.COPYING:
            pass

            return backup.run(house, given)
        if given.command in FINDING:
            return _find(given, house)
        if given.command in grammar.ASKING:
            pass

            return ask.run(house, given)
        if given.command == "jobs":
            pass

            return jobs.run(house, given)
        if given.command == "quarantine":
            pass

            return quarantine.run(house, given)
        return _sources(given, house)
    finally:
        house.stop()


def _work(given: argparse.Namespace, house: "Workspace", *, as_json: bool) -> int:
    from memtui.cli import work

    if given.command == "import":
        return work.bring_in(house, given.paths, as_json=as_json)
    if given.command == "work":
        return work.work(house, until_idle=given.until_idle, as_json=as_json)
    return work.reindex(house)


def _read(given: argparse.Namespace, house: "Workspace") -> int:
    from memtui.cli import (
        sessions,
        show,
    )

    if given.command == "stats":
        return show.stats(house, as_json=given.json)
    if given.command == "expand":
        return show.expand(house, given)
    if given.command == "session":
        return sessions.show(house, given)
    if given.command == "sessions":
        return sessions.show_all(house, given)
    return show.show(house, given)


def _find(given: argparse.Namespace, house: "Workspace") -> int:
    from memtui.cli import (
        search,
        teleport,
    )

    if given.command == "teleport":
        return teleport.run(house, given)
    is_all = given.command == "search"
    return (search.run if is_all else search.run_sessions)(house, given)


def _sources(given: argparse.Namespace, house: "Workspace") -> int:
    from memtui.cli import sources

    if given.action is None:
        return sources.show(house, as_json=given.json)
    is_watched = given.action == "watch"
    return sources.agree(house, given.names, is_watched=is_watched, as_json=given.json)
