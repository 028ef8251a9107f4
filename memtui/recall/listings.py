"""The list of sessions as it is looked at: a stretch of it, and how long it is."""

from collections.abc import Sequence
from dataclasses import dataclass

from memtui.memory.orders import Order
from memtui.memory.scopes import ALL, Scope
from memtui.memory.sessions import Session
from memtui.store import database, sessions
from memtui.store import listings as listed

MOST = 500
"""The most sessions that are read at once."""


@dataclass(frozen=True, slots=True)
class Listing:
    """What is listed: in which order, of which words, and whose."""

    order: Order = Order.NEWEST
    words: tuple[str, ...] = ()
    """What title, project or agent must hold, each of them."""
    of: Scope = ALL


@dataclass(frozen=True, slots=True)
class Stretch:
    """Some of a list."""

    listing: Listing
    total: int
    """How many sessions the whole list has."""
    kept: int
    """How many there are, listed or not."""
    offset: int
    sessions: Sequence[Session]
    place: int | None = None
    """Where the session asked for stands; None where it is not in the list."""


def stretch(listing: Listing, offset: int, limit: int) -> Stretch:
    """Some of a list, from a place on."""
    with database.connected():
        return _stretch(listing, offset, limit)


def around(
    listing: Listing, session: Session | None, place: int, limit: int
) -> Stretch:
    """Some of a list around a session, wherever it stands now.

    Args:
        listing: What is listed.
        session: The one to find again, if any.
        place: Where to look while it is not there.
        limit: The most that are given.
    """
    with database.connected():
        number = found = None
        if session is not None:
            number = sessions.number(session.agent, session.session_id)
        if number is not None:
            found = listed.place(listing.order, listing.words, number, listing.of)
        here = place if found is None else found
        offset = max(0, here - limit // 2)
        return _stretch(listing, offset, limit, found)


def _stretch(
    listing: Listing, offset: int, limit: int, place: int | None = None
) -> Stretch:
    wanted = listing.order, listing.words
    rows = listed.stretch(*wanted, offset, min(limit, MOST), listing.of)
    total = listed.count(listing.words, listing.of)
    is_all = not listing.words and not listing.of.is_narrow
    kept = total if is_all else listed.count(())
    return Stretch(listing, total, kept, offset, rows, place)
