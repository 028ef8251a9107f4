"""Spans: the nodes and the events of a stretch of time, and names by how they begin."""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import reduce
from operator import or_

from peewee import SQL, fn

from memtui.errors import Several
from memtui.memory import calendar
from memtui.memory.events import MESSAGES, SPEAKERS, Event, first_id
from memtui.memory.replies import citations
from memtui.memory.scopes import ALL, Scope
from memtui.memory.toc import TocLevel
from memtui.store import events, scopes
from memtui.store.database import db
from memtui.store.tables.contents import GripRow, NodeRow, VersionRow
from memtui.store.tables.conversations import EventRow, SessionRow

AFTER_ALL = "\U0010ffff"
"""Sorts behind whatever a name may go on with."""

NAMED = 5
"""How many are named of those that a name could be any of."""


def under(parent_ids: Sequence[str] | None, of: Scope = ALL) -> list[str]:
    """The ids of the nodes right under some, newest first; the years for None.

    Only those that have a version: of the others there is nothing to tell.
    """
    parent = NodeRow.parent_id
    where = parent.is_null() if parent_ids is None else parent.in_(list(parent_ids))
    rows = (
        NodeRow.select(NodeRow.node_id)
        .join(VersionRow)
        .where(where, *scopes.within(of))
        .order_by(NodeRow.start_ms.desc(), NodeRow.node_id.desc())
        .tuples()
    )
    return [name for (name,) in rows]


_WITHIN = """(
    WITH RECURSIVE below(node_id) AS (
        SELECT ?
        UNION
        SELECT near.node_id FROM toc_latest AS near
        JOIN below ON near.parent_id = below.node_id
    )
    SELECT node_id FROM below
)"""
"""A node and all that is under it."""


_PLAIN = re.compile(r"[!#-\[\]-~]+")
"""What LIKE looks for as it stands in a list, in either case: ASCII that JSON does not
escape. Its ``_`` and ``%`` find what is meant, and more."""


def keywords(
    under: str | None, of: Scope = ALL, *, begun: Iterable[Collection[str]] = ()
) -> Iterator[tuple[str, list[str]]]:
    """Segments with their keywords, newest first, read one by one.

    Args:
        under: The node they stand under, or which they are; all of them for None.
        of: Whose work.
        begun: Of each of these, how some words begin, the keywords hold one: to look
            for letters is far quicker than to read a list. What is not ASCII can stand
            for any letter.
    """
    where = [NodeRow.level == TocLevel.SEGMENT.value, *scopes.within(of, under=under)]
    if under is not None:
        where.append(NodeRow.node_id.in_(SQL(_WITHIN, (under,))))
    is_foreign = fn.LENGTH(VersionRow.keywords) != fn.LENGTH(
        VersionRow.keywords.cast("BLOB")
    )
    for starts in begun:
        if starts and all(map(_PLAIN.fullmatch, starts)):
            held = [VersionRow.keywords ** f"%{start}%" for start in starts]
            where.append(reduce(or_, held, is_foreign))
    rows = (
        NodeRow.select(NodeRow.node_id, VersionRow.keywords)
        .join(VersionRow)
        .where(*where)
        .order_by(NodeRow.start_ms.desc(), NodeRow.node_id.desc())
        .tuples()
    )
    for name, said in rows.iterator():
        yield name, [word for word, *_ in json.loads(said or "[]")]


def last_said_ms(number: int, start_ms: int, end_ms: int) -> int | None:
    """When the last message of a session between two times was said, if any was."""
    at_ms = (
        EventRow.select(fn.MAX(EventRow.at_ms))
        .where(
            EventRow.session == number,
            EventRow.at_ms.between(start_ms, end_ms),
            EventRow.type.in_([one.value for one in MESSAGES]),
            EventRow.role.in_([one.value for one in SPEAKERS]),
        )
        .scalar()
    )
    return None if at_ms is None else int(at_ms)


def events_in(
    start_ms: int | None,
    end_ms: int | None,
    *,
    after: str,
    limit: int,
    of: Scope = ALL,
    session: str = "",
) -> list[Event]:
    """Events of a stretch of time in the order of their ids, which is that of time.

    Args:
        start_ms: From when, in milliseconds; None from the first one on.
        end_ms: Until before when; None until the last one.
        after: Only those behind this id; "" for all.
        limit: The most.
        of: Whose work.
        session: Only of the sessions of this id.
    """
    key = EventRow.id
    rows = EventRow.select(key).join(SessionRow).order_by(key).limit(limit)
    if start_ms is not None:
        rows = rows.where(key >= first_id(start_ms))
    if end_ms is not None:
        rows = rows.where(key < first_id(end_ms))
    if after:
        rows = rows.where(key > after)
    if of.agent:
        rows = rows.where(SessionRow.agent == of.agent)
    if of.project:
        rows = rows.where(SessionRow.project == of.project)
    if session:
        rows = rows.where(SessionRow.name == session)
    names = [name for (name,) in rows.tuples()]
    found = events.get(names)
    return [found[name] for name in names if name in found]


def grip_beginning(start: str) -> str:
    """The id of the grip whose id begins so; "" for none.

    Raises:
        Several: It is shorter than a citation, and several do.
    """
    table = GripRow._meta.table_name
    return _beginning(table, start, "quotes", citations.of_grip)


def event_beginning(start: str) -> str:
    """The id of the event whose id begins so; "" for none.

    Raises:
        Several: It is shorter than a citation, and several do.
    """
    table = EventRow._meta.table_name
    return _beginning(table, start, "events", citations.of_event, lead="evt:")


def cited_node(cited: str) -> str:
    """The id of the node that is cited, whole; what cites none stays as it is.

    Raises:
        Several: It is shorter than a citation, and fits several.
    """
    name = citations.bare(cited)
    with suppress(ValueError):
        name = calendar.canonical(name)
    if not name.startswith(citations.SEGMENT):
        return name
    table = NodeRow._meta.table_name
    return _beginning(table, name, "segments", citations.of_node, "node_id") or name


def _beginning(
    table: str,
    start: str,
    what: str,
    cited: Callable[[str], str],
    key: str = "id",
    lead: str = "",
) -> str:
    """The first id that begins so: of several that are cited alike, the first."""
    within = f"FROM {table} WHERE {key} >= ? AND {key} < ?"
    ends = start, start + AFTER_ALL
    asked = f"SELECT {key} {within} ORDER BY {key} LIMIT {NAMED}"
    found = [str(name) for (name,) in db.execute_sql(asked, ends).fetchall()]
    if len(found) > 1 and len(lead + start) < len(cited(found[0])):
        count = db.execute_sql(f"SELECT COUNT(*) {within}", ends).fetchone()[0]
        raise Several(lead + start, what, [*map(cited, found)], count)
    return found[0] if found else ""
