"""OpenCode's sessions: its SQLite database, or the folder of files it used before.

The database is ``$XDG_DATA_HOME/opencode/opencode.db`` (``~/.local/share`` by default),
the folder ``storage`` beside it.

A message names no place in a file, so the cursor remembers when the latest messages
were changed, which of those were given and which are not finished. A message counts as
changed whenever OpenCode completes it, so its parts need no such mark of their own.
What came with an earlier time is found by what was seen of each session.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path, PurePath

from memtui.sources.opencode import folders as folders
from memtui.sources.opencode import tables as tables
from memtui.sources.opencode.messages import AGENT
from memtui.sources.opencode.sessions import Sessions
from memtui.sources.records import Cursor, Reading, Record, Restarted
from memtui.sources.source import TRANSCRIPT, Source

OVERLAP_MS = 60_000
"""How much before the latest change is looked at again: several programs write, and
one may finish with an earlier time than another."""

_MAGIC = b"SQLite format 3\0"
_TABLES = ("session", "message", "part")


def _may_be(path: PurePath) -> bool:
    if path.suffix == ".json":
        return path.parent.parent.name == "session" and path.name.startswith("ses_")
    return path.suffix == ".db" and path.name.startswith("opencode")


def fits(path: Path, head: Sequence[Record]) -> bool:
    """Whether a file is OpenCode's database, or a session of its older folder."""
    if path.suffix == ".json":
        return folders.fits(path.absolute())
    with path.open("rb") as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            return False
    try:
        with tables.opened(path) as database:
            return all(tables.columns(database, table) for table in _TABLES)
    except OSError:
        # What is wrong with it is told by reading it.
        return _may_be(path)


def _beside(path: Path) -> Iterator[Path]:
    if path.suffix == ".json":
        return folders.beside(path.absolute())
    return iter((path.with_name(f"{path.name}-wal"),))


def read(
    path: Path, start: Cursor | None, *, agent: str, now: datetime
) -> Iterator[Reading]:
    """Read all that is new; see ``memtui.sources.source.Read``."""
    if path.suffix == ".json":
        return folders.read(path.absolute(), start, now)
    return _database(path, start, now)


SOURCE = Source(AGENT, "OpenCode", TRANSCRIPT, _may_be, fits, read, _beside)


def _database(path: Path, start: Cursor | None, now: datetime) -> Iterator[Reading]:
    state: Mapping[str, object] = start.state if start else {}
    latest = tables.number(state.get("latest"))
    with tables.opened(path) as database:
        if start and latest > tables.latest_ms(database):
            yield Restarted("the database is older than it was")
            state, latest, start = {}, 0, None
        unread = [] if start else list(tables.unread(database))
        mark = (latest - OVERLAP_MS, "")
        late, now_seen = tables.late(database, start, mark[0])
    yield from unread
    sessions = Sessions(now, state)
    yield from _late(path, sessions, late)
    told_ms = tables.number(state.get("sessions"))
    told: dict[str, object] = {"seen": now_seen, "sessions": told_ms}
    again = sessions.held
    while True:
        with tables.opened(path) as database:
            sessions.know(rows := tables.rows(database))
            found = tables.messages(database, mark, again)
            size = path.stat().st_size
        sessions.gone(set(again) - {message.name for message, _ in found})
        for message, _ in found:
            yield from sessions.take(message)
        new = [at for message, at in found if message.name not in again]
        again = []
        latest = max([latest, *(changed for changed, _ in new)])
        told["latest"] = latest
        if len(new) < tables.MESSAGES_AT_ONCE:
            break
        mark = new[-1]
        yield Cursor(size, state=told | sessions.state())
    yield from sessions.rest(told_ms)
    told["sessions"] = max([told_ms, *(row.changed_ms for row in rows)])
    yield Cursor(size, state=told | sessions.state(), is_held=sessions.is_held)


def _late(path: Path, sessions: Sessions, names: list[str]) -> Iterator[Reading]:
    """Read messages that came with an earlier time than what was read before."""
    for at in range(0, len(names), tables.MESSAGES_AT_ONCE):
        with tables.opened(path) as database:
            sessions.know(tables.rows(database))
            found = tables.named(database, names[at : at + tables.MESSAGES_AT_ONCE])
        for message, _ in found:
            yield from sessions.take(message)
