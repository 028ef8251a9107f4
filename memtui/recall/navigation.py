"""Navigation: the table of contents and what it rests on, as an agent walks through it.

``get_toc_root`` → ``get_node`` / ``browse_toc`` → ``expand_grip``; ``in_range`` and
``get_events`` by time. Ids and tokens are legal whatever they say; what is not there
gives an empty answer.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo

from memtui.memory import calendar
from memtui.memory.events import Event, is_event_id, to_ms
from memtui.memory.replies import citations
from memtui.memory.scopes import ALL, Scope
from memtui.memory.shares import Part
from memtui.memory.toc import TocLevel, TocLine, TocNode
from memtui.recall import sessions
from memtui.store import database, shares, spans, toc

LIMIT = 10
"""How many nodes or parts are a page unless fewer or more are asked for."""

EVENTS = 50
"""How many events are a page."""

WIDE = 400
"""How many nodes of a level are followed down at most, the newest first."""

_PLACE = re.compile("[0-9]{1,9}")


@dataclass(frozen=True, slots=True)
class NodePage:
    """A page of nodes (seed 1)."""

    nodes: tuple[TocLine, ...] = ()
    continuation_token: str | None = None
    """Where the next page begins; None on the last."""
    has_more: bool = False


@dataclass(frozen=True, slots=True)
class EventPage:
    """A page of events in the order of time."""

    events: tuple[Event, ...] = ()
    continuation_token: str | None = None
    has_more: bool = False


def get_toc_root(*, of: Scope = ALL) -> list[TocLine]:
    """The years, newest first."""
    return list(browse_toc(None, limit=WIDE, of=of).nodes)


def get_node(node_id: str) -> TocNode | None:
    """The latest version of a node with bullets, grips and children's ids."""
    with database.connected():
        return toc.node(spans.cited_node(node_id))


def part(node_id: str, of: Scope = ALL) -> Part | None:
    """A node with no more than what a scope has of it."""
    with database.connected():
        found = toc.node(spans.cited_node(node_id))
        return shares.part(found, of) if found else None


def browse_toc(
    parent_id: str | None,
    *,
    limit: int = LIMIT,
    token: str | None = None,
    of: Scope = ALL,
) -> NodePage:
    """A page of a node's children, newest first; the years where it is None.

    Args:
        parent_id: Of which node.
        limit: The most nodes.
        token: Where the page begins, as the page before said; what is no token is
            taken for the beginning.
        of: Whose work.
    """
    offset, limit = place(token) or 0, max(1, limit)
    with database.connected():
        parent = spans.cited_node(parent_id) if parent_id else None
        found = shares.lines_under(parent, offset, limit + 1, of)
    has_more = len(found) > limit
    after = str(offset + limit) if has_more else None
    return NodePage(tuple(found[:limit]), after, has_more)


def place(token: str | None) -> int | None:
    """Where a page of nodes begins by a token; None if it is none."""
    digits = (token or "").strip()
    return int(digits) if _PLACE.fullmatch(digits) else None


def is_seen(token: str | None) -> bool:
    """Whether a token names an event, a page of events having ended with it."""
    with database.connected():
        return bool(_last_seen(token or ""))


def _last_seen(token: str) -> str:
    """The id of the event a token names; also one that is cited, and one forgotten."""
    token = citations.bare(token)
    if is_event_id(token):
        return token
    start = citations.event_start(token)
    return spans.event_beginning(start) if start else ""


def get_events(
    start: datetime | None = None,
    end: datetime | None = None,
    *,
    limit: int = EVENTS,
    token: str | None = None,
    of: Scope = ALL,
    session: str = "",
) -> EventPage:
    """A page of events of a stretch of time, oldest first.

    Args:
        start: From when, aware; None from the first one on.
        end: Until before when; None until now.
        limit: The most events.
        token: The id of the last event of the page before, or as it is cited; what
            is no token is taken for the beginning.
        of: Whose work.
        session: Only of the session named by ``[agent:]id`` or how that begins.

    Raises:
        NotOne: There is no such session, or more than one.
    """
    limit = max(1, limit)
    if session:
        agent, session = sessions.find(session)
        of = replace(of, agent=agent)
    with database.connected():
        after = _last_seen(token or "")
        found = spans.events_in(
            to_ms(start) if start else None,
            to_ms(end) if end else None,
            after=after,
            limit=limit + 1,
            of=of,
            session=session,
        )
    has_more = len(found) > limit
    kept = tuple(found[:limit])
    return EventPage(kept, kept[-1].event_id if has_more else None, has_more)


def in_range(
    start: datetime | None, end: datetime | None, zone: tzinfo, *, of: Scope = ALL
) -> list[TocLine]:
    """The coarsest nodes that cover a stretch of time and no day besides, newest first.

    A month holds whole weeks, so that days decide (decisions §5): of March the weeks
    that lie in it whole, and the days at its ends. Hours are covered by segments.

    Args:
        start: From when, aware; None from the first one on.
        end: Until before when; None until now.
        zone: The calendar's.
        of: Whose work.
    """
    kept: list[str] = []
    with database.connected():
        partly: Sequence[str] | None = None
        while partly is None or partly:
            names, partly = spans.under(partly, of), []
            for name in names:
                first, last = calendar.bounds(name, zone)
                is_segment = calendar.period(name).level is TocLevel.SEGMENT
                if (end and first >= end) or (start and last <= start):
                    continue
                is_within = (not start or first >= start) and (not end or last <= end)
                if is_segment or is_within:
                    kept.append(name)
                else:
                    partly.append(name)
        found = toc.lines(kept)
    within = [one for one in found if _overlaps(one, start, end)]
    return sorted(within, key=lambda one: one.start_time, reverse=True)


def _overlaps(line: TocLine, start: datetime | None, end: datetime | None) -> bool:
    if line.level is not TocLevel.SEGMENT:
        return True
    return (not start or line.end_time >= start) and (not end or line.start_time < end)
