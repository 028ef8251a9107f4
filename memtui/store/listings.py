"""The list of sessions: any stretch of it, in any order, of those that words name.

A stretch is found by its place, so that a list of thousands is never read at once.
What is sorted has no text but a title: the newest and the oldest come by an index.
"""

from collections.abc import Sequence

from memtui.memory.orders import Order
from memtui.memory.scopes import ALL, Scope
from memtui.memory.sessions import Session
from memtui.store import scopes, sessions
from memtui.store.database import db
from memtui.store.tables.conversations import SessionRow

_TITLED = "CASE WHEN title != '' THEN title ELSE prompt END"

_KEYS = {
    Order.NEWEST: ("created_ms", "DESC"),
    Order.OLDEST: ("created_ms", "ASC"),
    Order.LONGEST: ("updated_ms - created_ms", "DESC"),
    Order.MESSAGES: ("message_count", "DESC"),
    Order.TITLE: (f"lower({_TITLED})", "ASC"),
}
"""What each order goes by, and which way; the number settles what is equal."""

ESCAPE = "\\"
"""Stands before a sign that means itself in a pattern."""


def stretch(
    order: Order, words: Sequence[str], offset: int, limit: int, of: Scope = ALL
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


def count(words: Sequence[str], of: Scope = ALL) -> int:
    """How many sessions these words name."""
    where, given = _where(words, of)
    asked = f"SELECT count(*) FROM sessions WHERE {where}"
    return int(db.execute_sql(asked, given).fetchone()[0])


def place(
    order: Order, words: Sequence[str], number: int, of: Scope = ALL
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
