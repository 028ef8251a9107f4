"""What was seen of an OpenCode database: by it, what is late is found.

Messages are read in the order of their change, and a change may have an earlier time
than what was read: the clock was set back, or a session was restored or synchronised.
So it is remembered of each session how many messages it had and when those were made.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from memtui.sources.records import text_of

Ask = Callable[[str, tuple[object, ...]], list[Any]]
"""Asks the database: a query and its values, answered by rows."""

Seen = dict[str, list[float]]
"""Of each session: how many messages it has, the sum of their times, the latest."""

_MADE = "CAST(ifnull(time_created, 0) AS INTEGER)"

_TOLD = f"count(*), total({_MADE}), ifnull(max({_MADE}), 0)"


def of(ask: Ask, messages: str) -> Seen:
    """What a database holds now.

    Args:
        ask: Asks the database.
        messages: A query for its messages.
    """
    return {_short(name): told for name, told in _sessions(ask, messages)}


def late(ask: Ask, messages: str, before: object, changed: str, to: int) -> list[str]:
    """The names of messages that may have come since, with an earlier time.

    Args:
        ask: Asks the database.
        messages: A query for its messages.
        before: What was seen of it before.
        changed: The expression for when a message was changed.
        to: Until when messages are looked for: later ones are read in their turn.
    """
    known = before if isinstance(before, Mapping) else {}
    found: list[str] = []
    for name, told in _sessions(ask, messages):
        was = known.get(_short(name))
        if was != told:
            since = was[2] if was and _has(ask, messages, name, was) else -1
            rows = ask(
                f"SELECT CAST(id AS TEXT) FROM ({messages}) WHERE session_id IS ?"
                f" AND {_MADE} > ? AND {changed} <= ? AND id IS NOT NULL ORDER BY 1",
                (name, since, to),
            )
            found += [text_of(message) for (message,) in rows]
    return found


def _has(ask: Ask, messages: str, name: object, was: list[float]) -> bool:
    """Whether a session still has all that it had, and no more of that time."""
    query = f"SELECT {_TOLD} FROM ({messages}) WHERE session_id IS ? AND {_MADE} <= ?"
    return list(ask(query, (name, was[2]))[0]) == was


def _sessions(ask: Ask, messages: str) -> Iterator[tuple[object, list[float]]]:
    query = f"SELECT session_id, {_TOLD} FROM ({messages}) GROUP BY session_id"
    for name, *told in ask(query, ()):
        yield name, told


def _short(name: object) -> str:
    """A session's name, short: the state is written often."""
    raw = repr(name).encode("utf-8", "replace")
    return hashlib.blake2b(raw, digest_size=6).hexdigest()
