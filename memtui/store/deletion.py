"""Decide what ``memtui forget`` deletes from the store, and delete it.

A deletion is one transaction, which fills temporary tables of its connection first:

1. ``select`` finds the events, thoughts and sessions that tombstones cover.
   ``list_tombstones`` has the hashes by which their copies are recognized later.
2. ``find_derived`` finds what was made from them: segments and the nodes above.
3. ``delete_derived`` and ``delete_selected`` delete all of that.

The first parts of this module are these decisions, as statements. A redaction selects
the events it changes, to have all that was made from them made again. Hook files and
traces outside the store are deleted by ``services.forget``.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import tzinfo

from memtui.model import calendar
from memtui.model.sessions import project_folder
from memtui.store import (
    judgements,
    queues,
    sessions,
    source_copies,
    tombstones,
)
from memtui.store.database import (
    IN_JSON,
    close,
    connection,
    db,
    execute,
    fetch,
    fetch_column,
    fetch_value,
    valid_ms,
)
from memtui.store.schema import IS_MESSAGE
from memtui.store.tombstones import Tombstone, TombstoneKind
from memtui.store.usage import IS_COUNTED
from memtui.text import analyzer

_AT_MS = f"coalesce({valid_ms('at_ms')}, 0)"
_SELECTED = "IN (SELECT id FROM selected)"
_SELECTED_THOUGHTS = "IN (SELECT id FROM selected_thoughts)"
_SELECTED_SESSIONS = "IN (SELECT id FROM selected_sessions)"
_SELECTED_USAGE = "IN (SELECT key, at_ms FROM selected_usage)"

# What is selected: the tables selected, selected_thoughts, selected_sessions, and
# selected_usage with the replies whose usage is

_SESSION = "(SELECT id FROM sessions WHERE agent = ? AND name = ?)"
_FOLDER = r"rtrim(replace(CASE WHEN root <> '' THEN root ELSE cwd END, '\', '/'), '/')"
_PROJECT_BY_FOLDER = f"(SELECT id FROM sessions WHERE {_FOLDER} = ?)"

_PROJECT_BY_NAME = (
    f"(SELECT id FROM sessions WHERE project = ? AND {_FOLDER} NOT GLOB '/?*'"
    f" AND {_FOLDER} NOT GLOB '[A-Za-z]:/?*')"
)
"""Sessions of a project without a known folder."""

_EMPTY_SESSIONS = (
    "SELECT id FROM sessions s WHERE id IN (SELECT session FROM selected)"
    " AND NOT EXISTS (SELECT 1 FROM events e WHERE e.session_id = s.id"
    f" AND e.id NOT {_SELECTED})"
    " AND NOT EXISTS (SELECT 1 FROM source_copies c WHERE c.session_id = s.id"
    f" AND c.event_id NOT {_SELECTED})"
)
"""Sessions that keep no event."""

_THOUGHTS_OF_SESSIONS = (
    f"SELECT id, session_id, at_ms FROM thoughts WHERE session_id {_SELECTED_SESSIONS}"
)

_USAGE_OF_SESSIONS = (
    f"SELECT key, at_ms FROM usage u WHERE session_id {_SELECTED_SESSIONS}"
    f" AND {IS_COUNTED}"
)
"""That of replies which the sessions had first."""

_USAGE_OF_MESSAGES = (
    "SELECT key, u.at_ms FROM events e JOIN usage u ON u.session_id = e.session_id"
    " WHERE e.type = 'assistant_message' AND NOT EXISTS (SELECT 1 FROM events o"
    " WHERE o.session_id = e.session_id AND o.id <> e.id"
    " AND o.at_ms BETWEEN min(u.at_ms, e.at_ms) AND max(u.at_ms, e.at_ms))"
)
"""That of replies with no other event between them and the message ``e``."""

_COPIED_THOUGHTS = (
    "WITH forks AS MATERIALIZED ("
    f"SELECT session_id AS id FROM source_copies WHERE event_id {_SELECTED}"
    " UNION SELECT id FROM sessions WHERE NOT EXISTS (SELECT 1 FROM selected))"
    " SELECT t.id, t.session_id, t.at_ms FROM selected_thoughts d"
    " JOIN thoughts o ON o.id = d.id JOIN sessions s ON s.id = o.session_id"
    " JOIN forks JOIN sessions f ON f.id = forks.id AND f.agent = s.agent"
    " JOIN thoughts t ON t.session_id = f.id AND t.at_ms = o.at_ms AND t.text = o.text"
)
"""The same thoughts in forks that share selected events, or if only thoughts are
selected, in any session."""

_AFFECTED_SESSIONS = (
    "(id IN (SELECT id FROM selected_sessions) OR id IN (SELECT session FROM selected)"
    " OR id IN (SELECT session FROM selected_thoughts))"
)
"""The condition of sessions that lose something."""

# What was made from it: the tables derived_nodes, earlier_segments, derived_versions

CONTEXT_MS = 3_600_000
"""The maximum distance from a segment at which one of its versions may use an event:
as its context, or at another time by another route."""

_DERIVED = "IN (SELECT id FROM derived_nodes)"
_EARLIER = "IN (SELECT id FROM earlier_segments)"

_DERIVED_SEGMENTS = (
    "SELECT id FROM segments WHERE session_id IN (SELECT session FROM selected)"
)
"""All segments of a session: a model reads the whole of it, and its name and outcome
are in all of its days."""

_EARLIER_SEGMENTS = (
    "SELECT DISTINCT node_id FROM node_versions v WHERE level = 'segment'"
    " AND EXISTS (SELECT 1 FROM sessions s"
    " WHERE s.id IN (SELECT session FROM selected) AND v.end_ms"
    f" BETWEEN s.created_ms - {CONTEXT_MS} AND s.updated_ms + {CONTEXT_MS})"
)
"""Segments of which an old version may have used the events: only the version that is
shown stays."""

_IS_OF_OTHERS = (
    "IN (SELECT id FROM segments WHERE session_id NOT IN (SELECT session FROM selected"
    " UNION SELECT session_id FROM source_copies WHERE session_id IS NOT NULL"
    f" AND event_id {_SELECTED}))"
)
"""The condition of segments whose session never had the events: no period above them
has lines of these."""

_DERIVED_VERSIONS = (
    f"SELECT id FROM node_versions WHERE node_id {_DERIVED}"
    f" OR (node_id {_EARLIER} AND id NOT IN"
    " (SELECT latest_id FROM nodes WHERE latest_id IS NOT NULL))"
)

_IS_DERIVED_VERSION = "version_id IN (SELECT id FROM derived_versions)"

_QUOTES_ANOTHER = (
    "(start_event_id = end_event_id AND start_event_id IN"
    f" (SELECT id FROM events WHERE id NOT {_SELECTED}))"
)
"""The condition of grips that quote one event which stays: the page of another session
may need them, although no line of a segment does."""

_DELETE_DERIVED = (
    "UPDATE nodes SET latest_id = NULL"
    " WHERE latest_id IN (SELECT id FROM derived_versions)",
    "DELETE FROM bullet_grips WHERE bullet_id IN"
    f" (SELECT id FROM bullets WHERE {_IS_DERIVED_VERSION})",
    f"DELETE FROM bullets WHERE {_IS_DERIVED_VERSION}",
    "DELETE FROM node_versions WHERE id IN (SELECT id FROM derived_versions)",
    f"DELETE FROM grips WHERE (node_id {_DERIVED} OR (node_id {_EARLIER}"
    f" AND NOT {_QUOTES_ANOTHER}))"
    " AND NOT EXISTS (SELECT 1 FROM bullet_grips b WHERE b.grip_id = grips.id)"
    f" AND NOT {judgements.IS_CITED}",
    "UPDATE sessions SET work_name = '', state = '', outcome = '', work = ''"
    " WHERE id IN (SELECT session FROM selected)",
    f"DELETE FROM segments WHERE id {_DERIVED}",
    f"DELETE FROM nodes WHERE level = 'segment' AND node_id {_DERIVED}",
    "UPDATE nodes SET is_dirty = 1, attempts = 0, retry_ms = 0,"
    " is_pinned = 0, is_outdated = 0, needs_model = 0, requested_ms = 0"
    f" WHERE node_id {_DERIVED}",
)

_SELECTED_COPIES = (
    f"FROM source_copies WHERE event_id {_SELECTED} OR session_id {_SELECTED_SESSIONS}"
)

_DELETE_SELECTED = (
    # An agent's summary of the session may repeat what is deleted.
    "UPDATE sessions SET summary = '' WHERE id IN (SELECT session FROM selected)",
    f"DELETE FROM claimed_ids WHERE id {_SELECTED} OR id IN"
    f" (SELECT copy_id {_SELECTED_COPIES})",
    f"DELETE {_SELECTED_COPIES}",
    f"DELETE FROM thoughts WHERE id {_SELECTED_THOUGHTS}",
    f"DELETE FROM usage WHERE (key, at_ms) {_SELECTED_USAGE}"
    f" OR session_id {_SELECTED_SESSIONS}",
    f"DELETE FROM events WHERE id {_SELECTED}",
)

_DELETE_SESSIONS = (
    f"DELETE FROM outbox WHERE session {_SELECTED_SESSIONS}",
    f"DELETE FROM segments WHERE session_id {_SELECTED_SESSIONS}",
    f"DELETE FROM sessions WHERE id {_SELECTED_SESSIONS}",
)


# Selection


def _make_table(name: str, columns: str) -> None:
    execute(f"CREATE TEMP TABLE IF NOT EXISTS {name} ({columns})")
    execute(f"DELETE FROM {name}")


def _clear_selection() -> None:
    columns = "id TEXT PRIMARY KEY, session INTEGER, at_ms INTEGER"
    _make_table("selected", columns)
    for column in ("session", "at_ms"):
        execute(
            f"CREATE INDEX IF NOT EXISTS temp.selected_{column}"
            f" ON selected ({column}, at_ms)"
        )
    _make_table("selected_thoughts", columns)
    _make_table("selected_sessions", "id INTEGER PRIMARY KEY")
    _make_table("selected_usage", "key TEXT, at_ms INTEGER, PRIMARY KEY (key, at_ms)")


def select(forgotten: Iterable[Tombstone]) -> None:
    """Select the content that tombstones cover, in place of any earlier selection."""
    _clear_selection()
    for tombstone in forgotten:
        values: tuple[object, ...] = (tombstone.subject,)
        whole_sessions = ""
        match tombstone.kind:
            case TombstoneKind.EVENT:
                copies = "(SELECT event_id FROM source_copies WHERE copy_id = ?)"
                condition = f"id = ? OR id IN {copies}"
                values *= 2
                query = f"{_USAGE_OF_MESSAGES} AND ({condition})"
                _add("selected_usage", query, *values)
            case TombstoneKind.SESSION:
                whole_sessions = _SESSION
                values = (tombstone.agent, tombstone.subject)
            case TombstoneKind.PROJECT:
                has_folder = bool(project_folder(tombstone.subject))
                whole_sessions = _PROJECT_BY_FOLDER if has_folder else _PROJECT_BY_NAME
            case _:
                condition, values = "at_ms < ?", (tombstone.at_ms,)
                query = f"SELECT key, at_ms FROM usage WHERE {condition}"
                _add("selected_usage", query, *values)
        if whole_sessions:
            condition = f"session_id IN {whole_sessions}"
            _add("selected_sessions", f"SELECT id FROM {whole_sessions}", *values)
        columns = f"SELECT id, session_id, {_AT_MS} FROM"
        _add("selected", f"{columns} events WHERE {condition}", *values)
        _add("selected_thoughts", f"{columns} thoughts WHERE {condition}", *values)
    _add("selected_sessions", _EMPTY_SESSIONS)
    _add("selected_usage", _USAGE_OF_SESSIONS)
    _add("selected_thoughts", _THOUGHTS_OF_SESSIONS)
    _add("selected_thoughts", _COPIED_THOUGHTS)


def _add(table: str, query: str, *values: object) -> None:
    execute(f"INSERT OR IGNORE INTO {table} {query}", *values)


def select_events(column: str, values: Sequence[object]) -> None:
    """Select the events with some ``id`` or ``session_id``, in place of others."""
    _clear_selection()
    query = f"SELECT id, session_id, {_AT_MS} FROM events WHERE {column} {IN_JSON}"
    _add("selected", query, json.dumps(values))


def is_nothing_selected() -> bool:
    tables = ("selected", "selected_thoughts", "selected_sessions")
    return not any(fetch(f"SELECT 1 FROM {table} LIMIT 1") for table in tables)


# Descriptions of what is selected


@dataclass(frozen=True, slots=True)
class DeletionCounts:
    """The numbers of selected items."""

    sessions: int
    events: int
    messages: int
    thoughts: int
    subagents: int


def count() -> DeletionCounts:
    return DeletionCounts(
        sessions=_count(f"FROM sessions WHERE id {_SELECTED_SESSIONS}"),
        events=_count("FROM selected"),
        messages=_count(
            f"FROM events WHERE id {_SELECTED} AND {IS_MESSAGE} AND subagent = ''"
        ),
        thoughts=_count("FROM selected_thoughts"),
        subagents=len(_list_subagents()),
    )


def _count(condition: str) -> int:
    return int(fetch_value(f"SELECT count(*) {condition}"))


def list_texts() -> Iterator[tuple[str, str]]:
    """Yield the text and the metadata of the selected events and thoughts."""
    yield from db.execute_sql(
        f"SELECT text, metadata FROM events WHERE id {_SELECTED} UNION ALL"
        f" SELECT text, '' FROM thoughts WHERE id {_SELECTED_THOUGHTS}"
    )


def list_selected_sessions() -> list[tuple[str, str, str]]:
    """Return agent, name and folder of the sessions that are deleted as a whole."""
    return fetch(f"SELECT agent, name, cwd FROM sessions WHERE id {_SELECTED_SESSIONS}")


def list_session_titles(limit: int) -> tuple[list[tuple[str, str]], int]:
    """Return titles and folders of sessions with selected content; and how many."""
    titles = fetch(
        f"SELECT {sessions.TITLE},"
        " coalesce(nullif(root, ''), nullif(cwd, ''), project)"
        f" FROM sessions WHERE {_AFFECTED_SESSIONS}"
        " ORDER BY updated_ms DESC, id LIMIT ?",
        limit,
    )
    return titles, _count(f"FROM sessions WHERE {_AFFECTED_SESSIONS}")


def list_forks() -> list[tuple[str, int]]:
    """Return the sessions, as agent:name, that share selected events, and how many."""
    return fetch(
        "SELECT s.agent || ':' || s.name, count(DISTINCT e.id)"
        " FROM source_copies c JOIN events e ON e.id = c.event_id"
        " JOIN sessions s ON s.id = e.session_id"
        f" WHERE c.session_id {_SELECTED_SESSIONS} AND e.id NOT {_SELECTED}"
        " GROUP BY 1 ORDER BY 1"
    )


def list_source_sessions() -> set[tuple[str, str]]:
    """Return the sessions with any copy of what is selected, by agent and name."""
    rows = fetch(
        f"SELECT agent, name FROM sessions WHERE {_AFFECTED_SESSIONS}"
        f" OR id IN (SELECT session_id FROM source_copies WHERE event_id {_SELECTED})"
    )
    return set(rows)


def list_project_folders(project: str) -> list[str]:
    rows = fetch("SELECT DISTINCT root, cwd FROM sessions WHERE project = ?", project)
    return sorted({project_folder(root, cwd) for root, cwd in rows})


# What is kept of it: tombstones


def list_tombstones(kind: TombstoneKind) -> Iterator[Tombstone]:
    """Yield the hashes that belong to a tombstone of a kind, for what is selected."""
    is_session = kind in (TombstoneKind.SESSION, TombstoneKind.PROJECT)
    if kind is TombstoneKind.PROJECT:
        for agent, name, _ in list_selected_sessions():
            yield Tombstone(TombstoneKind.SESSION, name, agent)
    # Every id that no session's tombstone covers.
    copies = f"SELECT copy_id FROM source_copies WHERE event_id {_SELECTED}"
    own = "SELECT id FROM selected UNION ALL SELECT id FROM selected_thoughts"
    elsewhere = " AND session_id IS NOT NULL"
    ids = f"{copies}{elsewhere}" if is_session else f"{own} UNION ALL {copies}"
    for event_id in fetch_column(ids):
        yield Tombstone(TombstoneKind.EVENT, event_id)
    if kind in (TombstoneKind.EVENT, TombstoneKind.SESSION):
        for agent, source_hash in fetch(
            "SELECT s.agent, e.source_hash FROM events e"
            " JOIN selected d ON d.id = e.id JOIN sessions s ON s.id = e.session_id"
            " WHERE e.source_hash IS NOT NULL"
        ):
            yield Tombstone(TombstoneKind.SOURCE, bytes(source_hash).hex(), agent)
        for agent, at_ms, text in fetch(
            "SELECT s.agent, t.at_ms, t.text FROM thoughts t"
            " JOIN selected_thoughts d ON d.id = t.id"
            " JOIN sessions s ON s.id = t.session_id"
        ):
            yield tombstones.for_thought(agent, at_ms, text)
        for agent, key in fetch(
            "SELECT s.agent, u.key FROM usage u JOIN sessions s ON s.id = u.session_id"
            f" WHERE (u.key, u.at_ms) {_SELECTED_USAGE}"
        ):
            yield Tombstone(TombstoneKind.SOURCE, key, agent)
    if kind is TombstoneKind.EVENT:
        # A call that has not ended may come by the same route when it has.
        for fingerprint, route, at_ms in fetch(
            f"SELECT e.fingerprint, CASE WHEN {source_copies.HAS_NO_RESULT}"
            " THEN '' ELSE e.route END, e.at_ms"
            " FROM events e JOIN selected d ON d.id = e.id"
        ):
            subject = bytes(fingerprint).hex()
            yield Tombstone(TombstoneKind.FINGERPRINT, subject, route, at_ms)
    for _, title in _list_titles():
        yield tombstones.for_title(title)
    for key in _list_subagents():
        yield tombstones.for_subagent(*key)


# Texts about what is selected


def _list_titles() -> list[tuple[int, str]]:
    """Return sessions, by number, whose titles may contain what is selected.

    These are selected sessions, and those that share a word with a selected event.
    """
    titles = []
    for number, title, is_selected in fetch(
        f"SELECT id, title, id {_SELECTED_SESSIONS} FROM sessions"
        f" WHERE title <> '' AND {_AFFECTED_SESSIONS}"
    ):
        terms = set(analyzer.terms(title))
        texts = fetch_column(
            "SELECT text FROM events WHERE id IN"
            " (SELECT id FROM selected WHERE session = ?) UNION ALL"
            " SELECT text FROM thoughts WHERE id IN"
            " (SELECT id FROM selected_thoughts WHERE session = ?)",
            number,
            number,
        )
        if is_selected or any(not terms.isdisjoint(analyzer.terms(t)) for t in texts):
            titles.append((number, title))
    return titles


def _list_subagents() -> list[tuple[str, str, str]]:
    """Return subagents, by agent, session and name, whose task may be selected.

    These were started by a selected call, have nothing left, or belong to a selected
    session.
    """
    calls = fetch_column(
        "SELECT DISTINCT json_extract(metadata, '$.tool_use_id') FROM events"
        f" WHERE type = 'tool_result' AND json_valid(metadata) AND id {_SELECTED}"
    )
    events = "SELECT 1 FROM events WHERE session_id = s.id AND subagent = a.subagent"
    rows = fetch(
        "SELECT a.agent, session_name, a.subagent, tool_use_id,"
        f" s.id {_SELECTED_SESSIONS} OR (EXISTS ({events} AND id {_SELECTED})"
        f" AND NOT EXISTS ({events} AND id NOT {_SELECTED}))"
        " FROM subagents a JOIN sessions s"
        " ON s.agent = a.agent AND s.name = a.session_name"
        f" WHERE s.id IN (SELECT session FROM selected) OR s.id {_SELECTED_SESSIONS}"
    )
    return [
        (agent, session, subagent)
        for agent, session, subagent, call, is_selected in rows
        if is_selected or (call and call in calls)
    ]


# Deletion


def find_derived() -> tuple[int, int]:
    """Find what was made from the selected events: count segments, and nodes above."""
    for table in ("derived_nodes", "earlier_segments"):
        _make_table(table, "id TEXT PRIMARY KEY")
    _add("derived_nodes", _DERIVED_SEGMENTS)
    _add("earlier_segments", _EARLIER_SEGMENTS)
    segment_ids = fetch_column("SELECT id FROM derived_nodes")
    sql = f"SELECT id FROM earlier_segments WHERE id NOT {_IS_OF_OTHERS}"
    days = {str(calendar.parent_id(name)) for name in segment_ids + fetch_column(sql)}
    parents = {node_id for day in days for node_id in calendar.path(day)}
    _add("derived_nodes", "SELECT value FROM json_each(?)", json.dumps([*parents]))
    _make_table("derived_versions", "id INTEGER PRIMARY KEY")
    _add("derived_versions", _DERIVED_VERSIONS)
    return len(segment_ids), len(parents)


def delete_derived(zone: tzinfo, now_ms: int) -> None:
    """Delete what ``find_derived`` found, and have it made again."""
    segment_ids = fetch_column(f"SELECT id FROM segments WHERE id {_DERIVED}")
    judgements.forget_selected()
    for statement in _DELETE_DERIVED:
        execute(statement)
    days = {str(calendar.parent_id(segment_id)) for segment_id in segment_ids}
    queues.add_rollups(days, zone)
    queues.add_nodes(fetch_column("SELECT id FROM derived_nodes"), now_ms)
    first = (
        "SELECT min(d.id), min(at_ms), session FROM selected d"
        " JOIN sessions s ON s.id = session GROUP BY session"
    )
    queues.add_segment_updates(fetch(first))


def delete_selected() -> None:
    """Delete what is selected, and correct the sessions that remain."""
    remaining = fetch_column(
        "SELECT id FROM sessions WHERE id IN (SELECT session FROM selected)"
        f" AND id NOT {_SELECTED_SESSIONS}"
    )
    titles, subagents = _list_titles(), _list_subagents()
    for number, _ in titles:
        execute("UPDATE sessions SET title = '' WHERE id = ?", number)
    for key in subagents:
        condition = "agent = ? AND session_name = ? AND subagent = ?"
        execute(f"DELETE FROM subagents WHERE {condition}", *key)
    for statement in _DELETE_SELECTED:
        execute(statement)
    sessions.request_owner_update(remaining)
    for number in remaining:
        sessions.recount(number)
    for statement in _DELETE_SESSIONS:
        execute(statement)


def enable_secure_delete() -> None:
    """Have this connection overwrite what it deletes with zeros."""
    execute("PRAGMA secure_delete = on")


def vacuum() -> bool:
    """Rewrite the store without free pages, and empty its log.

    Returns:
        False if another process reads the store, so that its log cannot be emptied.
    """
    close()
    with connection():
        enable_secure_delete()
        # A copy of the whole store needs room: on the disk, not in memory.
        execute("PRAGMA temp_store = file")
        execute("VACUUM")
        is_read = bool(fetch_value("PRAGMA wal_checkpoint(TRUNCATE)"))
    close()
    return not is_read
