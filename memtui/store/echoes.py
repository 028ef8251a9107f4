"""By what else the chosen events, were they told again, would be known.

Other ids they were told under, copies of them in other sessions, their tellings by
another route, titles and subagents' tasks that say the same: hashes and ids, no text.
"""

import json
from collections.abc import Iterator
from typing import Any

from memtui.memory import words
from memtui.store import forgotten_titles, tombstones
from memtui.store.database import db
from memtui.store.tombstones import Kind, Tombstone


def of_chosen(kind: Kind) -> Iterator[Tombstone]:
    """The tombstones that go with one of a kind, for what is chosen now."""
    if kind is Kind.PROJECT:
        for agent, name in _rows(
            "SELECT agent, name FROM sessions"
            " WHERE id IN (SELECT id FROM chosen_sessions)"
        ):
            yield Tombstone(Kind.SESSION, name, agent)
    yield from _told(is_session=kind in (Kind.SESSION, Kind.PROJECT))
    if kind in (Kind.EVENT, Kind.SESSION):
        yield from _copies()
    if kind is Kind.EVENT:
        yield from _twins()
    for _, title in titles():
        yield forgotten_titles.stone(title)
    for key in helpers():
        yield tombstones.helper_stone(*key)


def _told(*, is_session: bool) -> Iterator[Tombstone]:
    """Every id an event has; a session's own are covered by the session's."""
    if not is_session:
        for (name,) in _rows(
            "SELECT id FROM chosen UNION SELECT id FROM chosen_thoughts"
        ):
            yield Tombstone(Kind.EVENT, name)
    elsewhere = " AND session_id IS NOT NULL" if is_session else ""
    for (name,) in _rows(
        "SELECT told_id FROM tellings WHERE event_id IN (SELECT id FROM chosen)"
        + elsewhere
    ):
        yield Tombstone(Kind.EVENT, name)


def _copies() -> Iterator[Tombstone]:
    for agent, origin in _rows(
        "SELECT s.agent, e.origin FROM events e JOIN chosen c ON c.id = e.id"
        " JOIN sessions s ON s.id = e.session_id WHERE e.origin IS NOT NULL"
    ):
        yield Tombstone(Kind.COPY, bytes(origin).hex(), agent)


def _twins() -> Iterator[Tombstone]:
    for twin, route, at_ms in _rows(
        "SELECT e.twin, e.route, e.at_ms FROM events e JOIN chosen c ON c.id = e.id"
    ):
        yield Tombstone(Kind.TWIN, bytes(twin).hex(), route, at_ms)


def titles() -> list[tuple[int, str]]:
    """Sessions, by their numbers, whose titles may say what is chosen.

    Those of sessions that go, and those that share a word with a chosen event.
    """
    found = []
    for number, title, is_gone in _rows(
        "SELECT id, title, id IN (SELECT id FROM chosen_sessions) FROM sessions"
        " WHERE title <> '' AND (id IN (SELECT session FROM chosen)"
        " OR id IN (SELECT session FROM chosen_thoughts)"
        " OR id IN (SELECT id FROM chosen_sessions))"
    ):
        if is_gone or _shares(number, set(words.terms(title))):
            found.append((number, title))
    return found


def _shares(number: int, terms: set[str]) -> bool:
    for kept in ("events", "thoughts"):
        chosen = "chosen" if kept == "events" else "chosen_thoughts"
        told = db.execute_sql(
            f"SELECT text FROM {kept} WHERE id IN"
            f" (SELECT id FROM {chosen} WHERE session = ?)",
            (number,),
        )
        if any(not terms.isdisjoint(words.terms(text)) for (text,) in told):
            return True
    return False


def helpers() -> list[tuple[str, str, str]]:
    """Subagents, by agent, session and name, whose tasks say what is chosen.

    Those that a chosen call started, those with nothing left, those of sessions that
    go.
    """
    calls = {
        json.loads(metadata).get("tool_use_id", "")
        for (metadata,) in _rows(
            "SELECT metadata FROM events WHERE type = 'tool_result'"
            " AND metadata <> '' AND id IN (SELECT id FROM chosen)"
        )
    } - {""}
    found = []
    for agent, session, subagent, started_by, number, is_gone in _rows(
        "SELECT h.agent, session_name, subagent, started_by, s.id,"
        " s.id IN (SELECT id FROM chosen_sessions) FROM helpers h JOIN sessions s"
        " ON s.agent = h.agent AND s.name = h.session_name"
        " WHERE s.id IN (SELECT session FROM chosen)"
        " OR s.id IN (SELECT id FROM chosen_sessions)"
    ):
        if is_gone or started_by in calls or _is_emptied(number, subagent):
            found.append((agent, session, subagent))
    return found


def _is_emptied(number: int, subagent: str) -> bool:
    mine = "SELECT 1 FROM events WHERE session_id = ? AND subagent = ? AND id"
    chosen = "IN (SELECT id FROM chosen)"
    (had,) = _rows(f"SELECT EXISTS ({mine} {chosen})", number, subagent)[0]
    (has,) = _rows(f"SELECT EXISTS ({mine} NOT {chosen})", number, subagent)[0]
    return bool(had and not has)


def _rows(asked: str, *values: object) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = db.execute_sql(asked, values).fetchall()
    return rows
