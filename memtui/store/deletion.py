"""Deleting what is chosen: all of it, inside one transaction of ``forgetting.door``."""

from dataclasses import dataclass

from memtui.store import echoes, surprises, unsettled
from memtui.store.database import db
from memtui.store.sessions import entitle

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
        helpers=len(echoes.helpers()),
    )


def _count(asked: str) -> int:
    return int(db.execute_sql(f"SELECT count(*) {asked}").fetchone()[0])


def delete() -> None:
    """Delete what is chosen, and set right what remains of its sessions."""
    rest = "SELECT DISTINCT session FROM chosen WHERE session NOT"
    kept = db.execute_sql(f"{rest} {_IN_SESSIONS}").fetchall()
    titles, helpers = echoes.titles(), echoes.helpers()
    for number, _ in titles:
        db.execute_sql("UPDATE sessions SET title = '' WHERE id = ?", (number,))
    # What a client said of the whole may say what goes.
    db.execute_sql(
        "UPDATE sessions SET summary = '' WHERE id IN (SELECT session FROM chosen)"
    )
    for key in helpers:
        db.execute_sql(
            "DELETE FROM helpers WHERE agent = ? AND session_name = ? AND subagent = ?",
            key,
        )
    db.execute_sql(
        f"DELETE FROM tellings WHERE event_id {_IN_CHOSEN} OR session_id {_IN_SESSIONS}"
    )
    db.execute_sql("DELETE FROM thoughts WHERE id IN (SELECT id FROM chosen_thoughts)")
    db.execute_sql(f"DELETE FROM events WHERE id {_IN_CHOSEN}")
    unsettled.note(number for (number,) in kept)
    _set_right()
    db.execute_sql(f"DELETE FROM outbox WHERE session {_IN_SESSIONS}")
    mine = db.execute_sql(f"SELECT id FROM segments WHERE session_id {_IN_SESSIONS}")
    surprises.remove(name for (name,) in mine.fetchall())
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
