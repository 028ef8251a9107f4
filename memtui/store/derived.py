"""What was made from events: taken away where they change, so that it is made anew.

Every version of every node above an event may hold its words, those that are no longer
the latest included. Which events change stands in ``chosen`` (``memtui.store.choice``).
"""

from datetime import tzinfo

from memtui.memory import calendar
from memtui.memory.toc import TocLevel
from memtui.store import choice, dirty, outbox, surprises
from memtui.store.database import db

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
    f"SELECT DISTINCT node_id FROM toc_versions v WHERE level = '{_SEGMENT}'"
    " AND EXISTS (SELECT 1 FROM chosen c WHERE c.at_ms"
    f" BETWEEN v.start_ms - {REACH_MS} AND v.end_ms + {REACH_MS})"
)
_VERSIONS = (
    "SELECT id FROM toc_versions WHERE node_id IN (SELECT id FROM stale)"
    " OR (node_id IN (SELECT id FROM once) AND id NOT IN"
    " (SELECT latest_id FROM toc_latest WHERE latest_id IS NOT NULL))"
)


def find() -> tuple[int, int]:
    """Find what rests on the chosen events.

    Returns:
        How many segments, and how many nodes above them, are to be made anew.
    """
    choice.table("stale", "id TEXT PRIMARY KEY")
    choice.table("once", "id TEXT PRIMARY KEY")
    for found in (_AROUND, _AFTER):
        db.execute_sql(f"INSERT OR IGNORE INTO stale {found}")
    db.execute_sql(f"INSERT INTO once {_ONCE}")
    segments = _names("SELECT id FROM stale")
    days = {str(calendar.parent_id(name)) for name in segments + _once()}
    above = {name for day in days for name in calendar.path(day)}
    db.connection().executemany(
        "INSERT OR IGNORE INTO stale VALUES (?)", [(name,) for name in above]
    )
    choice.table("old", "id INTEGER PRIMARY KEY")
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
    surprises.remove(segments)
    in_stale = "id IN (SELECT id FROM stale)"
    db.execute_sql(f"DELETE FROM segments WHERE {in_stale}")
    db.execute_sql(
        f"DELETE FROM toc_latest WHERE level = '{_SEGMENT}' AND node_{in_stale}"
    )
    db.execute_sql(
        "UPDATE toc_latest SET is_dirty = 1, attempts = 0, retry_ms = 0,"
        " is_pinned = 0, is_behind = 0, wants_model = 0, asked_ms = 0"
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
    db.execute_sql(f"UPDATE toc_latest SET latest_id = NULL WHERE latest_id {in_old}")
    bullets = f"SELECT id FROM bullets WHERE version_id {in_old}"
    db.execute_sql(f"DELETE FROM bullet_grips WHERE bullet_id IN ({bullets})")
    db.execute_sql(f"DELETE FROM bullets WHERE version_id {in_old}")
    db.execute_sql(f"DELETE FROM makings WHERE version_id {in_old}")
    db.execute_sql(f"DELETE FROM toc_versions WHERE id {in_old}")
    db.execute_sql(
        "DELETE FROM grips WHERE (node_id IN (SELECT id FROM stale)"
        " OR node_id IN (SELECT id FROM once))"
        " AND NOT EXISTS (SELECT 1 FROM bullet_grips b WHERE b.grip_id = grips.id)"
    )


def _once() -> list[str]:
    return _names("SELECT id FROM once")


def _names(asked: str) -> list[str]:
    return [name for (name,) in db.execute_sql(asked).fetchall()]
