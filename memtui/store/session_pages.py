"""Sessions and what was said in them, a page at a time: nothing reads a whole one."""

from collections.abc import Sequence
from typing import Any

from peewee import Case, fn

from memtui.model.events import MESSAGES, SPEAKERS, Event
from memtui.model.scope import ALL, Scope
from memtui.model.sessions import Session, SessionOrder
from memtui.store import events as store_events
from memtui.store import scopes, sessions
from memtui.store.database import db
from memtui.store.schema import (
    EventRow,
    NodeRow,
    SegmentRow,
    SessionRow,
    SourceCopyRow,
    VersionRow,
)

AFTER_ALL = "\U0010ffff"
"""Sorts behind whatever a name may go on with."""


def latest(agent: str, project: str, offset: int, limit: int) -> list[Session]:
    """Sessions, the one that was heard of last first.

    Args:
        agent: Whose; everybody's if empty.
        project: Of which project; of all if empty.
        offset: How many to leave out.
        limit: The most that are given.
    """
    rows = _of(SessionRow.select(), agent, project).order_by(
        SessionRow.updated_ms.desc(), SessionRow.id.desc()
    )
    return [sessions.session(row) for row in rows.limit(limit).offset(offset)]


def count(agent: str, project: str) -> int:
    """How many sessions there are of an agent and a project."""
    return int(_of(SessionRow.select(), agent, project).count())


def _of(rows: Any, agent: str, project: str) -> Any:
    if agent:
        rows = rows.where(SessionRow.agent == agent)
    return rows.where(SessionRow.project == project) if project else rows


def agents() -> list[str]:
    """The agents that have sessions, by name."""
    rows = SessionRow.select(SessionRow.agent).distinct().order_by(SessionRow.agent)
    return [name for (name,) in rows.tuples()]


def named(name: str, agent: str, *, is_whole: bool) -> list[tuple[str, str]]:
    """The sessions of a name, as (agent, name).

    Args:
        name: The name, or how it begins.
        agent: Whose; everybody's if empty.
        is_whole: Whether it is the whole name.
    """
    key = SessionRow.name
    fits = key == name if is_whole else (key >= name) & (key < name + AFTER_ALL)
    rows = SessionRow.select(SessionRow.agent, key).where(fits)
    if agent:
        rows = rows.where(SessionRow.agent == agent)
    return list(rows.order_by(SessionRow.agent, key).tuples())


def said(
    number: int, subagent: str, offset: int, limit: int, *, is_all: bool
) -> list[Event]:
    """A stretch of a session's events, in their order.

    Counting past those left out takes 0.6 µs each: they are told by the columns
    before their text, which is not read.

    Args:
        number: The session's number in the store.
        subagent: Whose conversation; the main one's if empty.
        offset: How many events to leave out.
        limit: The most that are given.
        is_all: Whether tool results and boundaries are given too, not messages alone.
    """
    rows = EventRow.select(EventRow.id).where(
        EventRow.session == number, EventRow.subagent == subagent
    )
    if not is_all:
        rows = rows.where(_is_message())
    page = (
        rows.order_by(EventRow.at_ms, EventRow.ordinal, EventRow.id)
        .limit(limit)
        .offset(offset)
    )
    names = [name for (name,) in page.tuples()]
    found = store_events.get(names)
    return [found[name] for name in names]


def by_subagent(number: int) -> dict[str, tuple[int, int]]:
    """How many events and messages each conversation of a session has.

    Returns:
        For each subagent, and for the main conversation under "".
    """
    messages = fn.SUM(Case(None, [(_is_message(), 1)], 0))
    rows = (
        EventRow.select(EventRow.subagent, fn.COUNT(EventRow.id), messages)
        .where(EventRow.session == number)
        .group_by(EventRow.subagent)
        .tuples()
    )
    return {name: (events, messages) for name, events, messages in rows}


def shared(number: int) -> int:
    """How many messages a session has in common with the one it goes on from.

    They are kept with that one.
    """
    rows = (
        SourceCopyRow.select(fn.COUNT(SourceCopyRow.event.distinct()))
        .join(EventRow)
        .where(SourceCopyRow.session == number, EventRow.subagent == "", _is_message())
    )
    return int(rows.scalar() or 0)


def headlines(number: int, limit: int) -> list[str]:
    """What the longest segments of a session are about, in the order of time."""
    longest = (
        SegmentRow.select(SegmentRow.id)
        .where(SegmentRow.session == number)
        .order_by(SegmentRow.messages.desc(), SegmentRow.start_ms)
        .limit(limit)
    )
    rows = (
        NodeRow.select(VersionRow.headline)
        .join(VersionRow)
        .where(NodeRow.node_id.in_([row.id for row in longest]))
        .order_by(NodeRow.start_ms, NodeRow.node_id)
        .tuples()
    )
    return [headline for (headline,) in rows if headline]


def segments(number: int) -> int:
    """How many segments a session has."""
    return int(SegmentRow.select().where(SegmentRow.session == number).count())


def _is_message() -> Any:
    return EventRow.type.in_(_values(MESSAGES)) & EventRow.role.in_(_values(SPEAKERS))


def _values(some: Sequence[Any] | frozenset[Any]) -> list[str]:
    return sorted(one.value for one in some)


_TITLED = "CASE WHEN title != '' THEN title ELSE first_prompt END"


_KEYS = {
    SessionOrder.NEWEST: ("created_ms", "DESC"),
    SessionOrder.OLDEST: ("created_ms", "ASC"),
    SessionOrder.LONGEST: ("updated_ms - created_ms", "DESC"),
    SessionOrder.MESSAGES: ("message_count", "DESC"),
    SessionOrder.TITLE: (f"lower({_TITLED})", "ASC"),
}
"""What each order goes by, and which way; the number settles what is equal."""


ESCAPE = "\\"
"""Stands before a sign that means itself in a pattern."""


def stretch(
    order: SessionOrder, words: Sequence[str], offset: int, limit: int, of: Scope = ALL
) -> list[Session]:
    """Sessions in their order.

    Args:
        order: Which.
        words: What title, project or agent must hold, each of them.
        offset: How many to leave out.
        limit: The most that are given.
        of: Whose.
    """
    key, way = _KEYS[order]
    where, given = _where(words, of)
    names = SessionRow._meta.sorted_field_names
    columns = ", ".join(field.column_name for field in SessionRow._meta.sorted_fields)
    rows = db.execute_sql(
        f"SELECT {columns} FROM sessions WHERE {where}"
        f" ORDER BY {key} {way}, id {way} LIMIT ? OFFSET ?",
        (*given, limit, offset),
    ).fetchall()
    return [
        sessions.session(SessionRow(**dict(zip(names, row, strict=True))))
        for row in rows
    ]


def count_listed(words: Sequence[str], of: Scope = ALL) -> int:
    """How many sessions these words name."""
    where, given = _where(words, of)
    asked = f"SELECT count(*) FROM sessions WHERE {where}"
    return int(db.execute_sql(asked, given).fetchone()[0])


def place(
    order: SessionOrder, words: Sequence[str], number: int, of: Scope = ALL
) -> int | None:
    """How many come before a session; None where it is not among them."""
    key, way = _KEYS[order]
    where, given = _where(words, of)
    before = "<" if way == "ASC" else ">"
    asked = (
        f"SELECT (SELECT count(*) FROM sessions WHERE {where}"
        f" AND ({key}, id) {before} (mine.key, mine.id))"
        f" FROM (SELECT {key} AS key, id FROM sessions WHERE id = ? AND {where}) mine"
    )
    row = db.execute_sql(asked, (*given, number, *given)).fetchone()
    return int(row[0]) if row else None


def _where(words: Sequence[str], of: Scope) -> tuple[str, list[str]]:
    parts, given = ["1"], []
    for column, name in (("agent", of.agent), ("project", of.project)):
        if name:
            parts.append(f"{column} = ?")
            given.append(name)
    if of.keyword:
        parts.append(f"id IN {scopes.SPEAKING_OF}")
        given.append(scopes.listed(of.keyword))
    for word in words:
        forms = spellings(word)
        columns = (_TITLED, "project", "agent")
        like = f"LIKE ? ESCAPE '{ESCAPE}'"
        fits = [f"{column} {like}" for column in columns for _ in forms]
        parts.append(f"({' OR '.join(fits)})")
        given += [pattern(form) for _ in columns for form in forms]
    return " AND ".join(parts), given


def spellings(word: str) -> list[str]:
    """How a word may be spelled: SQLite knows the capitals of ASCII alone."""
    if word.isascii():
        return [word]
    return [*dict.fromkeys((word, word.lower(), word.upper(), word.capitalize()))]


def pattern(words: str) -> str:
    """What a text is like that holds these words as they stand."""
    for sign in (ESCAPE, "%", "_"):
        words = words.replace(sign, ESCAPE + sign)
    return f"%{words}%"
