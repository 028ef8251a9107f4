"""Which events a person chose: gathered in tables of this connection alone.

``chosen`` holds events, ``chosen_thoughts`` thoughts, ``chosen_sessions`` the sessions
that were named, or that have nothing left. Gathering changes nothing in the store.
"""

import json
from collections.abc import Iterable, Iterator, Sequence

from memtui.memory.sessions import folder_of
from memtui.store.database import db
from memtui.store.tombstones import Kind, Tombstone

_SESSION = "(SELECT id FROM sessions WHERE agent = ? AND name = ?)"
_FOLDER = r"rtrim(replace(CASE WHEN root <> '' THEN root ELSE cwd END, '\', '/'), '/')"
_IN_FOLDER = f"(SELECT id FROM sessions WHERE {_FOLDER} = ?)"
_IN_NONE = (
    f"(SELECT id FROM sessions WHERE project = ? AND {_FOLDER} NOT GLOB '/?*'"
    f" AND {_FOLDER} NOT GLOB '[A-Za-z]:/?*')"
)
"""Sessions of a project of which no folder is known."""


def table(name: str, columns: str) -> None:
    """Make an empty table that only this connection sees."""
    db.execute_sql(f"CREATE TEMP TABLE IF NOT EXISTS {name} ({columns})")
    db.execute_sql(f"DELETE FROM {name}")


def clear() -> None:
    """Choose nothing."""
    table("chosen", "id TEXT PRIMARY KEY, session INTEGER, at_ms INTEGER")
    for column in ("session", "at_ms"):
        db.execute_sql(
            f"CREATE INDEX IF NOT EXISTS temp.chosen_{column}"
            f" ON chosen ({column}, at_ms)"
        )
    table("chosen_thoughts", "id TEXT PRIMARY KEY, session INTEGER, at_ms INTEGER")
    table("chosen_sessions", "id INTEGER PRIMARY KEY")


def take(stones: Iterable[Tombstone]) -> None:
    """Choose what tombstones cover."""
    for stone in stones:
        where, values = _covered(stone)
        for chosen, kept in (("chosen", "events"), ("chosen_thoughts", "thoughts")):
            db.execute_sql(
                f"INSERT OR IGNORE INTO {chosen}"
                f" SELECT id, session_id, at_ms FROM {kept} WHERE {where}",
                values,
            )
        if stone.kind in (Kind.SESSION, Kind.PROJECT):
            named = _SESSION if stone.kind is Kind.SESSION else _of_project(stone)
            db.execute_sql(
                f"INSERT OR IGNORE INTO chosen_sessions SELECT id FROM {named}", values
            )
    _take_emptied()


def take_events(event_ids: Sequence[str]) -> None:
    """Choose events by their ids."""
    db.execute_sql(
        "INSERT OR IGNORE INTO chosen SELECT id, session_id, at_ms FROM events"
        " WHERE id IN (SELECT value FROM json_each(?))",
        (json.dumps(list(event_ids)),),
    )


def _covered(stone: Tombstone) -> tuple[str, tuple[object, ...]]:
    """What of a table of events or thoughts a tombstone covers, in SQL."""
    match stone.kind:
        case Kind.EVENT:
            told = "(SELECT event_id FROM tellings WHERE told_id = ?)"
            return f"id = ? OR id IN {told}", (stone.subject, stone.subject)
        case Kind.SESSION:
            return f"session_id IN {_SESSION}", (stone.agent, stone.subject)
        case Kind.PROJECT:
            return f"session_id IN {_of_project(stone)}", (stone.subject,)
        case _:
            return "at_ms < ?", (stone.at_ms,)


def _of_project(stone: Tombstone) -> str:
    return _IN_FOLDER if folder_of(stone.subject) else _IN_NONE


def _take_emptied() -> None:
    """Choose the sessions that have nothing left, and the thoughts in them."""
    db.execute_sql(
        "INSERT OR IGNORE INTO chosen_sessions SELECT DISTINCT session FROM chosen c"
        " WHERE NOT EXISTS (SELECT 1 FROM events e WHERE e.session_id = c.session"
        " AND e.id NOT IN (SELECT id FROM chosen))"
        " AND NOT EXISTS (SELECT 1 FROM tellings t WHERE t.session_id = c.session"
        " AND t.event_id NOT IN (SELECT id FROM chosen))"
    )
    db.execute_sql(
        "INSERT OR IGNORE INTO chosen_thoughts SELECT id, session_id, at_ms"
        " FROM thoughts WHERE session_id IN (SELECT id FROM chosen_sessions)"
    )


def said() -> Iterator[tuple[str, str]]:
    """The texts of what is chosen, each with its metadata as it is stored."""
    rows = db.execute_sql(
        "SELECT text, metadata FROM events WHERE id IN (SELECT id FROM chosen)"
        " UNION ALL SELECT text, '' FROM thoughts"
        " WHERE id IN (SELECT id FROM chosen_thoughts)"
    )
    yield from rows


def sessions() -> set[str]:
    """The names of the chosen sessions."""
    rows = db.execute_sql(
        "SELECT name FROM sessions WHERE id IN (SELECT id FROM chosen_sessions)"
    )
    return {name for (name,) in rows.fetchall()}


def titles(limit: int) -> tuple[list[tuple[str, str]], int]:
    """What the sessions are called of which something is chosen, and their folders.

    Args:
        limit: The most of them, the latest first.

    Returns:
        Them, and how many there are in all.
    """
    mine = (
        "FROM sessions WHERE id IN (SELECT id FROM chosen_sessions)"
        " OR id IN (SELECT session FROM chosen)"
        " OR id IN (SELECT session FROM chosen_thoughts)"
    )
    rows = db.execute_sql(
        "SELECT coalesce(nullif(title, ''), nullif(prompt, ''), name),"
        " coalesce(nullif(root, ''), nullif(cwd, ''), project)"
        f" {mine} ORDER BY updated_ms DESC, id LIMIT ?",
        (limit,),
    )
    (count,) = db.execute_sql(f"SELECT count(*) {mine}").fetchone()
    return rows.fetchall(), int(count)


def tellers() -> set[tuple[str, str]]:
    """The sessions that told anything of what is chosen, by agent and name."""
    rows = db.execute_sql(
        "SELECT agent, name FROM sessions WHERE id IN (SELECT id FROM chosen_sessions)"
        " OR id IN (SELECT session FROM chosen)"
        " OR id IN (SELECT session FROM chosen_thoughts)"
        " OR id IN (SELECT session_id FROM tellings"
        " WHERE event_id IN (SELECT id FROM chosen))"
    )
    return set(rows.fetchall())


def folders_called(project: str) -> list[str]:
    """The folders of the projects of a name; "" is among them where none is known."""
    rows = db.execute_sql(
        "SELECT DISTINCT root, cwd FROM sessions WHERE project = ?", (project,)
    )
    return sorted({folder_of(root, cwd) for root, cwd in rows.fetchall()})


def folders() -> set[str]:
    """The folders in which the chosen sessions were held."""
    rows = db.execute_sql(
        "SELECT cwd FROM sessions WHERE id IN (SELECT id FROM chosen_sessions)"
    )
    return {cwd for (cwd,) in rows.fetchall() if cwd}


def is_anything() -> bool:
    """Whether anything at all is chosen."""
    chosen = ("chosen", "chosen_thoughts", "chosen_sessions")
    return any(
        db.execute_sql(f"SELECT EXISTS (SELECT 1 FROM {name})").fetchone()[0]
        for name in chosen
    )
