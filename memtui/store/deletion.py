"""Deleting what is chosen: all of it, inside one transaction of ``forgetting.door``."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import tzinfo

from memtui.errors import StoreBusy
from memtui.model import calendar
from memtui.model.nodes import TocLevel
from memtui.model.sessions import project_folder
from memtui.store import dedup, dirty, outbox, owner_updates, surprise
from memtui.store.database import close, connection, db, path
from memtui.store.sessions import entitle
from memtui.store.tombstones import Kind, Tombstone

_MESSAGE = (
    "type IN ('user_message', 'assistant_message') AND role IN ('user', 'assistant')"
    " AND subagent = ''"
)


_IN_CHOSEN = "IN (SELECT id FROM chosen)"


_IN_SESSIONS = "IN (SELECT id FROM chosen_sessions)"


@dataclass(frozen=True, slots=True)
class Counts:
    """How much is chosen."""

    sessions: int
    """Those of which nothing is left."""
    events: int
    messages: int
    thoughts: int
    helpers: int


def counts() -> Counts:
    """Count what is chosen."""
    return Counts(
        sessions=_count(f"FROM sessions WHERE id {_IN_SESSIONS}"),
        events=_count("FROM chosen"),
        messages=_count(f"FROM events WHERE id {_IN_CHOSEN} AND {_MESSAGE}"),
        thoughts=_count("FROM chosen_thoughts"),
        helpers=len(dedup.helpers()),
    )


def _count(asked: str) -> int:
    return int(db.execute_sql(f"SELECT count(*) {asked}").fetchone()[0])


def delete() -> None:
    """Delete what is chosen, and set right what remains of its sessions."""
    rest = "SELECT DISTINCT session FROM chosen WHERE session NOT"
    kept = db.execute_sql(f"{rest} {_IN_SESSIONS}").fetchall()
    titles, helpers = dedup.titles(), dedup.helpers()
    for number, _ in titles:
        db.execute_sql("UPDATE sessions SET title = '' WHERE id = ?", (number,))
    # What a client said of the whole may say what goes.
    db.execute_sql(
        "UPDATE sessions SET summary = '' WHERE id IN (SELECT session FROM chosen)"
    )
    for key in helpers:
        db.execute_sql(
            "DELETE FROM subagents WHERE agent = ? AND session_name = ? AND subagent = ?",
            key,
        )
    db.execute_sql(
        f"DELETE FROM source_copies WHERE event_id {_IN_CHOSEN} OR session_id {_IN_SESSIONS}"
    )
    db.execute_sql("DELETE FROM thoughts WHERE id IN (SELECT id FROM chosen_thoughts)")
    db.execute_sql(f"DELETE FROM events WHERE id {_IN_CHOSEN}")
    owner_updates.request(number for (number,) in kept)
    _set_right()
    db.execute_sql(f"DELETE FROM outbox WHERE session {_IN_SESSIONS}")
    mine = db.execute_sql(f"SELECT id FROM segments WHERE session_id {_IN_SESSIONS}")
    surprise.remove(name for (name,) in mine.fetchall())
    db.execute_sql(f"DELETE FROM segments WHERE session_id {_IN_SESSIONS}")
    db.execute_sql(f"DELETE FROM sessions WHERE id {_IN_SESSIONS}")


def _set_right() -> None:
    """Count what remains, and find what stands for it."""
    mine = "FROM events e WHERE e.session_id = sessions.id"
    db.execute_sql(
        "UPDATE sessions SET"
        f" event_count = (SELECT count(*) {mine}),"
        f" message_count = (SELECT count(*) {mine} AND {_MESSAGE}),"
        f" created_ms = coalesce((SELECT min(at_ms) {mine}), created_ms),"
        f" updated_ms = coalesce((SELECT max(at_ms) {mine}), updated_ms)"
        " WHERE id IN (SELECT session FROM chosen)"
    )
    chosen = db.execute_sql("SELECT DISTINCT session FROM chosen").fetchall()
    entitle(int(number) for (number,) in chosen)


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
            told = "(SELECT event_id FROM source_copies WHERE copy_id = ?)"
            return f"id = ? OR id IN {told}", (stone.subject, stone.subject)
        case Kind.SESSION:
            return f"session_id IN {_SESSION}", (stone.agent, stone.subject)
        case Kind.PROJECT:
            return f"session_id IN {_of_project(stone)}", (stone.subject,)
        case _:
            return "at_ms < ?", (stone.at_ms,)


def _of_project(stone: Tombstone) -> str:
    return _IN_FOLDER if project_folder(stone.subject) else _IN_NONE


def _take_emptied() -> None:
    """Choose the sessions that have nothing left, and the thoughts in them."""
    db.execute_sql(
        "INSERT OR IGNORE INTO chosen_sessions SELECT DISTINCT session FROM chosen c"
        " WHERE NOT EXISTS (SELECT 1 FROM events e WHERE e.session_id = c.session"
        " AND e.id NOT IN (SELECT id FROM chosen))"
        " AND NOT EXISTS (SELECT 1 FROM source_copies t WHERE t.session_id = c.session"
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
        "SELECT coalesce(nullif(title, ''), nullif(first_prompt, ''), name),"
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
        " OR id IN (SELECT session_id FROM source_copies"
        " WHERE event_id IN (SELECT id FROM chosen))"
    )
    return set(rows.fetchall())


def folders_called(project: str) -> list[str]:
    """The folders of the projects of a name; "" is among them where none is known."""
    rows = db.execute_sql(
        "SELECT DISTINCT root, cwd FROM sessions WHERE project = ?", (project,)
    )
    return sorted({project_folder(root, cwd) for root, cwd in rows.fetchall()})


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


def write_over() -> None:
    """From now on, let this connection write over what it deletes."""
    db.execute_sql("PRAGMA secure_delete = on")


def compact() -> None:
    """Write the store anew without the room that deleted rows left, and empty its log.

    Raises:
        StoreBusy: Another process reads the store and does not let go.
    """
    close()
    with connection():
        write_over()
        # The room of a whole copy is asked of the disk, not of memory.
        db.execute_sql("PRAGMA temp_store = file")
        db.execute_sql("VACUUM")
        busy, *_ = db.execute_sql("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            raise StoreBusy(
                f"{path()}-wal is read by another process; end it and run this again"
            )
    close()


REACH_MS = 3_600_000
"""How far around a segment an event may lie and still be told by one of its versions:
as its context, or, told by another route, at another time."""


_SEGMENT = TocLevel.SEGMENT.value


_AROUND = (
    "SELECT id FROM segments s WHERE EXISTS (SELECT 1 FROM chosen c"
    " WHERE c.session = s.session_id"
    f" AND c.at_ms BETWEEN s.start_ms - {REACH_MS} AND s.end_ms)"
)


_AFTER = (
    "SELECT s.id FROM chosen c JOIN segments s ON s.id = (SELECT id FROM segments"
    " WHERE session_id = c.session AND start_ms > c.at_ms ORDER BY start_ms LIMIT 1)"
)


_ONCE = (
    f"SELECT DISTINCT node_id FROM node_versions v WHERE level = '{_SEGMENT}'"
    " AND EXISTS (SELECT 1 FROM chosen c WHERE c.at_ms"
    f" BETWEEN v.start_ms - {REACH_MS} AND v.end_ms + {REACH_MS})"
)


_VERSIONS = (
    "SELECT id FROM node_versions WHERE node_id IN (SELECT id FROM stale)"
    " OR (node_id IN (SELECT id FROM once) AND id NOT IN"
    " (SELECT latest_id FROM nodes WHERE latest_id IS NOT NULL))"
)


def find() -> tuple[int, int]:
    """Find what rests on the chosen events.

    Returns:
        How many segments, and how many nodes above them, are to be made anew.
    """
    table("stale", "id TEXT PRIMARY KEY")
    table("once", "id TEXT PRIMARY KEY")
    for found in (_AROUND, _AFTER):
        db.execute_sql(f"INSERT OR IGNORE INTO stale {found}")
    db.execute_sql(f"INSERT INTO once {_ONCE}")
    segments = _names("SELECT id FROM stale")
    days = {str(calendar.parent_id(name)) for name in segments + _once()}
    above = {name for day in days for name in calendar.path(day)}
    db.connection().executemany(
        "INSERT OR IGNORE INTO stale VALUES (?)", [(name,) for name in above]
    )
    table("old", "id INTEGER PRIMARY KEY")
    db.execute_sql(f"INSERT INTO old {_VERSIONS}")
    return len(segments), len(above)


def remove(zone: tzinfo, now_ms: int) -> None:
    """Take away what was found, and say that it must be made anew.

    Args:
        zone: The store's time zone.
        now_ms: The time, in milliseconds.
    """
    segments = _names("SELECT id FROM segments WHERE id IN (SELECT id FROM stale)")
    _remove_versions()
    surprise.remove(segments)
    in_stale = "id IN (SELECT id FROM stale)"
    db.execute_sql(f"DELETE FROM segments WHERE {in_stale}")
    db.execute_sql(f"DELETE FROM nodes WHERE level = '{_SEGMENT}' AND node_{in_stale}")
    db.execute_sql(
        "UPDATE nodes SET is_dirty = 1, attempts = 0, retry_ms = 0,"
        " is_pinned = 0, is_outdated = 0, needs_model = 0, requested_ms = 0"
        f" WHERE node_{in_stale}"
    )
    dirty.mark({str(calendar.parent_id(name)) for name in segments}, zone)
    outbox.announce(_names("SELECT id FROM stale"), now_ms)
    outbox.touch(
        db.execute_sql(
            "SELECT min(id), min(at_ms), session FROM chosen GROUP BY session"
        ).fetchall()
    )


def _remove_versions() -> None:
    in_old = "IN (SELECT id FROM old)"
    db.execute_sql(f"UPDATE nodes SET latest_id = NULL WHERE latest_id {in_old}")
    bullets = f"SELECT id FROM bullets WHERE version_id {in_old}"
    db.execute_sql(f"DELETE FROM bullet_grips WHERE bullet_id IN ({bullets})")
    db.execute_sql(f"DELETE FROM bullets WHERE version_id {in_old}")
    db.execute_sql(f"DELETE FROM generations WHERE version_id {in_old}")
    db.execute_sql(f"DELETE FROM node_versions WHERE id {in_old}")
    db.execute_sql(
        "DELETE FROM grips WHERE (node_id IN (SELECT id FROM stale)"
        " OR node_id IN (SELECT id FROM once))"
        " AND NOT EXISTS (SELECT 1 FROM bullet_grips b WHERE b.grip_id = grips.id)"
    )


def _once() -> list[str]:
    return _names("SELECT id FROM once")


def _names(asked: str) -> list[str]:
    return [name for (name,) in db.execute_sql(asked).fetchall()]
