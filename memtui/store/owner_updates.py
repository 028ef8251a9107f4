"""Sessions whose events may belong to another session now, noted for ``owners``."""

import json
from collections.abc import Iterable, Mapping

from memtui.store import meta
from memtui.store.database import db

_KEY = "owner_updates"

_EARLIER_OWN_EVENT = (
    "SELECT 1 FROM events e WHERE e.session_id = ? AND e.at_ms < ? AND NOT EXISTS"
    " (SELECT 1 FROM source_copies c WHERE c.event_id = e.id"
    " AND c.session_id != e.session_id) ORDER BY e.at_ms DESC LIMIT 1"
)

_SHARING_SESSIONS = (
    "SELECT DISTINCT e.session_id FROM events e"
    " JOIN source_copies c ON c.event_id = e.id"
    " WHERE c.session_id IS NOT NULL AND e.id IN (SELECT value FROM json_each(?))"
)


def request(numbers: Iterable[int]) -> None:
    """Note sessions, if there are copies at all."""
    new = set(numbers)
    if new and _has_copies() and not new <= (pending := _read()):
        _write(pending | new)


def request_if_first(times: Mapping[int, int]) -> None:
    """Note the sessions that have no own event before a time.

    Args:
        times: The earliest of the events that came or went, in milliseconds, by the
            numbers of their sessions.
    """
    if times and _has_copies():
        request(
            number
            for number, at_ms in times.items()
            if not db.execute_sql(_EARLIER_OWN_EVENT, (number, at_ms)).fetchone()
        )


def request_for_sharers(event_ids: Iterable[str]) -> None:
    """Note the sessions of those events that other sessions have too."""
    rows = db.execute_sql(_SHARING_SESSIONS, (json.dumps([*event_ids]),)).fetchall()
    request(number for (number,) in rows)


def take() -> set[int]:
    """Return the noted sessions and note them no more."""
    pending = _read()
    if pending:
        _write(())
    return pending


def _has_copies() -> bool:
    sql = "SELECT 1 FROM source_copies WHERE session_id IS NOT NULL LIMIT 1"
    return db.execute_sql(sql).fetchone() is not None


def _read() -> set[int]:
    return set(json.loads(meta.read(_KEY) or "[]"))


def _write(numbers: Iterable[int]) -> None:
    meta.write(_KEY, json.dumps(sorted(numbers)))
