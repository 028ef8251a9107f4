"""Files that told of what was still to come: they are read again when it has come.

A record from the future is refused. Where the clock was set back, the record was right,
and nobody would ever see it if the file were only read on.
"""

import json

from memtui.store import cursors
from memtui.store.database import db
from memtui.store.tables.keeping import MetaRow

_AHEAD = "ahead"


def note(path: str, at_ms: int) -> None:
    """Note when the earliest of a file's records will have come, in milliseconds."""
    waiting = _waiting()
    if at_ms < waiting.get(path, at_ms + 1):
        _set(waiting | {path: at_ms})


def due(now_ms: int) -> list[str]:
    """The files to be read again now."""
    return [path for path, at_ms in _waiting().items() if at_ms <= now_ms]


def begin_anew(path: str) -> None:
    """Have a file read from its start."""
    _set({name: at for name, at in _waiting().items() if name != path})
    cursors.drop([path])


def _waiting() -> dict[str, int]:
    # Asked for every file: building the statement would cost more than it does.
    asked = "SELECT value FROM meta WHERE name = ?"
    row = db.execute_sql(asked, (_AHEAD,)).fetchone()
    return dict(json.loads(row[0])) if row else {}


def _set(waiting: dict[str, int]) -> None:
    value = json.dumps(waiting)
    MetaRow.insert(name=_AHEAD, value=value).on_conflict_replace().execute()
