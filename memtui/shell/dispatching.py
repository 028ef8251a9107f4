"""Which module answers a command that needs the memory. Each is loaded when it does."""

import argparse
from typing import TYPE_CHECKING

from memtui.shell import asking_grammar, curating_grammar

if TYPE_CHECKING:
    from memtui.house import House

READING = ("show", "sessions", "session", "expand", "stats")
"""The commands that only read."""

FINDING = ("search", "search-sessions", "teleport")
"""The commands that find by words."""

ASKING = (*READING, *FINDING, *asking_grammar.ASKING)
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


def run(given: argparse.Namespace, house: "House") -> int:
    """Run a command on the memory, and leave it; the exit code."""
    as_json = getattr(given, "json", False)
    try:
        if given.command in READING:
            return _read(given, house)
        if given.command in ("import", "work", "reindex"):
            return _work(given, house, as_json=as_json)
        if given.command in curating_grammar.CURATING:
            from memtui.shell import curating  # noqa: PLC0415 - not to be waited for

            return curating.run(house, given)
        if given.command in curating_grammar.VERSIONING:
            from memtui.shell import versioning  # noqa: PLC0415

            return versioning.run(house, given)
        if given.command in curating_grammar.COPYING:
            from memtui.shell import copying  # noqa: PLC0415

            return copying.run(house, given)
        if given.command in FINDING:
            return _find(given, house)
        if given.command in asking_grammar.ASKING:
            from memtui.shell import answering  # noqa: PLC0415

            return answering.run(house, given)
        if given.command == "jobs":
            from memtui.shell import steering  # noqa: PLC0415

            return steering.run(house, given)
        if given.command == "quarantine":
            from memtui.shell import quarantining  # noqa: PLC0415

            return quarantining.run(house, given)
        return _sources(given, house)
    finally:
        house.stop()


def _work(given: argparse.Namespace, house: "House", *, as_json: bool) -> int:
    from memtui.shell import working  # noqa: PLC0415 - Whoosh: 55 ms

    if given.command == "import":
        return working.bring_in(house, given.paths, as_json=as_json)
    if given.command == "work":
        return working.work(house, until_idle=given.until_idle, as_json=as_json)
    return working.reindex(house)


def _read(given: argparse.Namespace, house: "House") -> int:
    from memtui.shell import conversing, reading  # noqa: PLC0415

    if given.command == "stats":
        return reading.stats(house, as_json=given.json)
    if given.command == "expand":
        return reading.expand(house, given)
    if given.command == "session":
        return conversing.show(house, given)
    if given.command == "sessions":
        return conversing.show_all(house, given)
    return reading.show(house, given)


def _find(given: argparse.Namespace, house: "House") -> int:
    from memtui.shell import searching, teleporting  # noqa: PLC0415

    if given.command == "teleport":
        return teleporting.run(house, given)
    is_all = given.command == "search"
    return (searching.run if is_all else searching.run_sessions)(house, given)


def _sources(given: argparse.Namespace, house: "House") -> int:
    from memtui.shell import sourcing  # noqa: PLC0415

    if given.action is None:
        return sourcing.show(house, as_json=given.json)
    is_watched = given.action == "watch"
    return sourcing.agree(house, given.names, is_watched=is_watched, as_json=given.json)
