"""The latest of what filters leave: nodes, and messages."""

from typing import Any

from memtui.memory.events import MESSAGES, SPEAKERS, Event, to_ms
from memtui.memory.filters import Filters, Maker
from memtui.memory.toc import TocLevel
from memtui.store import events, scopes
from memtui.store.tables.contents import NodeRow, VersionRow
from memtui.store.tables.conversations import EventRow, SessionRow

SESSIONS = 200
"""Of how many sessions the latest messages are looked for at the most."""


def nodes(filters: Filters, limit: int) -> list[str]:
    """The ids of the latest nodes, newest first: of segments, where no level is named.

    Args:
        filters: What is left; no verdict is looked at.
        limit: The most ids.
    """
    levels = filters.levels or {TocLevel.SEGMENT}
    where = [*scopes.within(filters.of)]
    where.append(NodeRow.level.in_([level.value for level in levels]))
    if filters.since is not None:
        where.append(VersionRow.end_ms > to_ms(filters.since))
    if filters.until is not None:
        where.append(NodeRow.start_ms < to_ms(filters.until))
    if filters.by is not None:
        where.append(VersionRow.is_models == (filters.by is Maker.MODEL))
    if filters.session:
        where.append(NodeRow.node_id.in_(scopes.of_sessions(filters.session, limit)))
    rows = NodeRow.select(NodeRow.node_id).join(VersionRow).where(*where)
    rows = rows.order_by(NodeRow.start_ms.desc(), NodeRow.node_id.desc()).limit(limit)
    return [name for (name,) in rows.tuples()]


def messages(filters: Filters, limit: int) -> list[tuple[int, Event]]:
    """The latest messages, newest first, each with its session's number.

    Args:
        filters: What is left; conditions on nodes are not looked at.
        limit: The most messages.
    """
    found: list[tuple[int, str, int]] = []
    for number, updated_ms in _sessions(filters):
        if len(found) == limit and found[-1][0] >= updated_ms:
            break  # The sessions to come were all silent by then.
        found += [(at, name, number) for name, at in _of(number, filters, limit)]
        found = sorted(found, reverse=True)[:limit]
    known = events.get(name for _, name, _ in found)
    return [(number, known[name]) for _, name, number in found if name in known]


def _sessions(filters: Filters) -> list[tuple[int, int]]:
    """The sessions last spoken in, with when that was."""
    where = []
    numbers = scopes.sessions_of(filters)
    if numbers is not None:
        where.append(SessionRow.id.in_(list(numbers)))
    if filters.since is not None:
        where.append(SessionRow.updated_ms >= to_ms(filters.since))
    if filters.until is not None:
        where.append(SessionRow.created_ms < to_ms(filters.until))
    rows = SessionRow.select(SessionRow.id, SessionRow.updated_ms)
    rows = rows.where(*where) if where else rows
    return list(rows.order_by(SessionRow.updated_ms.desc()).limit(SESSIONS).tuples())


def _of(number: int, filters: Filters, limit: int) -> list[tuple[str, int]]:
    """The ids of the latest messages of a session, with when each was said."""
    roles = {filters.role} if filters.role else SPEAKERS
    where: list[Any] = [
        EventRow.session == number,
        EventRow.type.in_([kind.value for kind in MESSAGES]),
        EventRow.role.in_([role.value for role in roles]),
        EventRow.text != "",
    ]
    if not filters.with_subagents:
        where.append(EventRow.subagent == "")
    if filters.since is not None:
        where.append(EventRow.at_ms >= to_ms(filters.since))
    if filters.until is not None:
        where.append(EventRow.at_ms < to_ms(filters.until))
    rows = EventRow.select(EventRow.id, EventRow.at_ms).where(*where)
    newest = rows.order_by(EventRow.at_ms.desc(), EventRow.ordinal.desc())
    return list(newest.limit(limit).tuples())
