"""Deletion of selected events, and of all that was derived from them; redaction of text
that is not in events.

``select_for_deletion`` and ``select_events`` fill temporary tables of the connection.
The other functions count, describe and delete what was selected last, in the same
transaction.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from typing import Any

import peewee

from memtui.errors import StoreBusyError
from memtui.model import calendar
from memtui.model.sessions import project_folder
from memtui.store import meta, queues, sessions, sources, tombstones
from memtui.store import segments as store_segments
from memtui.store.database import (
    IN_JSON,
    close,
    connection,
    db,
    fetch,
    fetch_value,
    path,
)
from memtui.store.events import IS_MESSAGE
from memtui.store.schema import (
    CursorRow,
    ProblemRow,
    SessionRow,
    SubagentRow,
)
from memtui.store.sources import ProblemCount, ProblemKind
from memtui.store.tombstones import Tombstone, TombstoneKind
from memtui.text import analyzer

_SELECTED = "IN (SELECT id FROM selected)"
_SELECTED_SESSIONS = "IN (SELECT id FROM selected_sessions)"
_DERIVED = "IN (SELECT id FROM derived_nodes)"

_AFFECTED_SESSIONS = (
    "(id IN (SELECT id FROM selected_sessions) OR id IN (SELECT session FROM selected)"
    " OR id IN (SELECT session FROM selected_thoughts))"
)

_SESSION = "(SELECT id FROM sessions WHERE agent = ? AND name = ?)"
_FOLDER = r"rtrim(replace(CASE WHEN root <> '' THEN root ELSE cwd END, '\', '/'), '/')"
_PROJECT_BY_FOLDER = f"(SELECT id FROM sessions WHERE {_FOLDER} = ?)"

_PROJECT_BY_NAME = (
    f"(SELECT id FROM sessions WHERE project = ? AND {_FOLDER} NOT GLOB '/?*'"
    f" AND {_FOLDER} NOT GLOB '[A-Za-z]:/?*')"
)
"""Sessions of a project without a known folder."""

CONTEXT_MS = 3_600_000
"""The maximum distance from a segment at which one of its versions may use an event:
as its context, or at another time by another route."""

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

_DERIVED_VERSIONS = (
    f"SELECT id FROM node_versions WHERE node_id {_DERIVED}"
    " OR (node_id IN (SELECT id FROM earlier_segments) AND id NOT IN"
    " (SELECT latest_id FROM nodes WHERE latest_id IS NOT NULL))"
)


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


@dataclass(frozen=True, slots=True)
class DeletionCounts:
    """The numbers of selected items."""

    sessions: int
    events: int
    messages: int
    thoughts: int
    subagents: int


def _make_table(name: str, columns: str) -> None:
    db.execute_sql(f"CREATE TEMP TABLE IF NOT EXISTS {name} ({columns})")
    db.execute_sql(f"DELETE FROM {name}")


def _column(sql: str, *values: object) -> list[Any]:
    return [value for (value,) in fetch(sql, *values)]


def _clear_selection() -> None:
    columns = "id TEXT PRIMARY KEY, session INTEGER, at_ms INTEGER"
    _make_table("selected", columns)
    for column in ("session", "at_ms"):
        db.execute_sql(
            f"CREATE INDEX IF NOT EXISTS temp.selected_{column}"
            f" ON selected ({column}, at_ms)"
        )
    _make_table("selected_thoughts", columns)
    _make_table("selected_sessions", "id INTEGER PRIMARY KEY")


def select_for_deletion(chosen: Iterable[Tombstone]) -> None:
    """Select the content that tombstones cover, in place of any earlier selection."""
    _clear_selection()
    for tombstone in chosen:
        values: tuple[object, ...] = (tombstone.subject,)
        numbers = ""
        match tombstone.kind:
            case TombstoneKind.EVENT:
                copies = "(SELECT event_id FROM source_copies WHERE copy_id = ?)"
                condition = f"id = ? OR id IN {copies}"
                values *= 2
            case TombstoneKind.SESSION:
                numbers, values = _SESSION, (tombstone.agent, tombstone.subject)
                condition = f"session_id IN {numbers}"
            case TombstoneKind.PROJECT:
                has_folder = bool(project_folder(tombstone.subject))
                numbers = _PROJECT_BY_FOLDER if has_folder else _PROJECT_BY_NAME
                condition = f"session_id IN {numbers}"
            case _:
                condition, values = "at_ms < ?", (tombstone.at_ms,)
        for table in ("events", "thoughts"):
            selected = "selected" if table == "events" else "selected_thoughts"
            db.execute_sql(
                f"INSERT OR IGNORE INTO {selected}"
                f" SELECT id, session_id, at_ms FROM {table} WHERE {condition}",
                values,
            )
        if numbers:
            db.execute_sql(
                f"INSERT OR IGNORE INTO selected_sessions SELECT id FROM {numbers}",
                values,
            )
    # Sessions that have nothing left, and the thoughts in them.
    db.execute_sql(
        "INSERT OR IGNORE INTO selected_sessions SELECT DISTINCT session"
        " FROM selected d"
        " WHERE NOT EXISTS (SELECT 1 FROM events e WHERE e.session_id = d.session"
        f" AND e.id NOT {_SELECTED})"
        " AND NOT EXISTS (SELECT 1 FROM source_copies c WHERE c.session_id = d.session"
        f" AND c.event_id NOT {_SELECTED})"
    )
    db.execute_sql(
        "INSERT OR IGNORE INTO selected_thoughts SELECT id, session_id, at_ms"
        f" FROM thoughts WHERE session_id {_SELECTED_SESSIONS}"
    )
    db.execute_sql(f"INSERT OR IGNORE INTO selected_thoughts {_COPIED_THOUGHTS}")


def select_events(event_ids: Sequence[str]) -> None:
    """Select events, in place of any earlier selection."""
    _clear_selection()
    db.execute_sql(
        "INSERT OR IGNORE INTO selected SELECT id, session_id, at_ms FROM events"
        f" WHERE id {IN_JSON}",
        (json.dumps(list(event_ids)),),
    )


def select_sessions(numbers: Iterable[int]) -> None:
    """Select all events of sessions, in place of any earlier selection."""
    _clear_selection()
    db.execute_sql(
        "INSERT INTO selected SELECT id, session_id, at_ms FROM events"
        f" WHERE session_id {IN_JSON}",
        (json.dumps(list(numbers)),),
    )


def is_nothing_selected() -> bool:
    tables = ("selected", "selected_thoughts", "selected_sessions")
    return not any(fetch(f"SELECT 1 FROM {table} LIMIT 1") for table in tables)


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


def _count(sql: str) -> int:
    return int(fetch_value(f"SELECT count(*) {sql}"))


def list_texts() -> Iterator[tuple[str, str]]:
    yield from db.execute_sql(
        f"SELECT text, metadata FROM events WHERE id {_SELECTED}"
        " UNION ALL SELECT text, '' FROM thoughts"
        " WHERE id IN (SELECT id FROM selected_thoughts)"
    )


def list_selected_sessions() -> list[tuple[str, str, str]]:
    sql = f"SELECT agent, name, cwd FROM sessions WHERE id {_SELECTED_SESSIONS}"
    return [(agent, name, cwd) for agent, name, cwd in fetch(sql)]


def list_session_titles(limit: int) -> tuple[list[tuple[str, str]], int]:
    """Return titles and folders of sessions with selected content; and how many."""
    rows = fetch(
        "SELECT coalesce(nullif(work_name, ''), nullif(title, ''),"
        " nullif(first_prompt, ''), name),"
        " coalesce(nullif(root, ''), nullif(cwd, ''), project)"
        f" FROM sessions WHERE {_AFFECTED_SESSIONS}"
        " ORDER BY updated_ms DESC, id LIMIT ?",
        limit,
    )
    titles = [(title, folder) for title, folder in rows]
    return titles, _count(f"FROM sessions WHERE {_AFFECTED_SESSIONS}")


def list_forks() -> list[tuple[str, int]]:
    """Return the sessions, as agent:name, that share selected events, and how many."""
    rows = fetch(
        "SELECT s.agent || ':' || s.name, count(DISTINCT e.id)"
        " FROM source_copies c JOIN events e ON e.id = c.event_id"
        " JOIN sessions s ON s.id = e.session_id"
        f" WHERE c.session_id {_SELECTED_SESSIONS} AND e.id NOT {_SELECTED}"
        " GROUP BY 1 ORDER BY 1"
    )
    return [(name, count) for name, count in rows]


def list_source_sessions() -> set[tuple[str, str]]:
    """Return the sessions with any copy of what is selected, by agent and name."""
    rows = fetch(
        f"SELECT agent, name FROM sessions WHERE {_AFFECTED_SESSIONS}"
        f" OR id IN (SELECT session_id FROM source_copies WHERE event_id {_SELECTED})"
    )
    return {(agent, name) for agent, name in rows}


def list_project_folders(project: str) -> list[str]:
    rows = fetch("SELECT DISTINCT root, cwd FROM sessions WHERE project = ?", project)
    return sorted({project_folder(root, cwd) for root, cwd in rows})


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
    for event_id in _column(ids):
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
    if kind is TombstoneKind.EVENT:
        for fingerprint, route, at_ms in fetch(
            "SELECT e.fingerprint, e.route, e.at_ms"
            " FROM events e JOIN selected d ON d.id = e.id"
        ):
            subject = bytes(fingerprint).hex()
            yield Tombstone(TombstoneKind.FINGERPRINT, subject, route, at_ms)
    for _, title in _list_titles():
        yield tombstones.for_title(title)
    for key in _list_subagents():
        yield tombstones.for_subagent(*key)


def _list_titles() -> list[tuple[int, str]]:
    """Return sessions, by number, whose titles may contain what is selected.

    These are selected sessions, and those that share a word with a selected event.
    """
    found = []
    for number, title, is_selected in fetch(
        f"SELECT id, title, id {_SELECTED_SESSIONS} FROM sessions"
        f" WHERE title <> '' AND {_AFFECTED_SESSIONS}"
    ):
        terms = set(analyzer.terms(title))
        texts = _column(
            "SELECT text FROM events WHERE id IN"
            " (SELECT id FROM selected WHERE session = ?) UNION ALL"
            " SELECT text FROM thoughts WHERE id IN"
            " (SELECT id FROM selected_thoughts WHERE session = ?)",
            number,
            number,
        )
        if is_selected or any(not terms.isdisjoint(analyzer.terms(t)) for t in texts):
            found.append((number, title))
    return found


def _list_subagents() -> list[tuple[str, str, str]]:
    """Return subagents, by agent, session and name, whose task may be selected.

    These were started by a selected call, have nothing left, or belong to a selected
    session.
    """
    calls = _column(
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


def delete_selected() -> None:
    """Delete what is selected, and correct the sessions that remain."""
    remaining = _column(
        f"SELECT DISTINCT session FROM selected WHERE session NOT {_SELECTED_SESSIONS}"
    )
    titles, subagents = _list_titles(), _list_subagents()
    for number, _ in titles:
        db.execute_sql("UPDATE sessions SET title = '' WHERE id = ?", (number,))
    # An agent's summary of the session may repeat what is deleted.
    db.execute_sql(
        "UPDATE sessions SET summary = '' WHERE id IN (SELECT session FROM selected)"
    )
    for key in subagents:
        condition = "agent = ? AND session_name = ? AND subagent = ?"
        db.execute_sql(f"DELETE FROM subagents WHERE {condition}", key)
    db.execute_sql(
        f"DELETE FROM source_copies WHERE event_id {_SELECTED}"
        f" OR session_id {_SELECTED_SESSIONS}"
    )
    db.execute_sql(
        "DELETE FROM thoughts WHERE id IN (SELECT id FROM selected_thoughts)"
    )
    db.execute_sql(f"DELETE FROM events WHERE id {_SELECTED}")
    sessions.request_owner_update(remaining)
    for number in remaining:
        sessions.recount(number)
    db.execute_sql(f"DELETE FROM outbox WHERE session {_SELECTED_SESSIONS}")
    store_segments.remove_terms(
        _column(f"SELECT id FROM segments WHERE session_id {_SELECTED_SESSIONS}")
    )
    db.execute_sql(f"DELETE FROM segments WHERE session_id {_SELECTED_SESSIONS}")
    db.execute_sql(f"DELETE FROM sessions WHERE id {_SELECTED_SESSIONS}")


def find_derived() -> tuple[int, int]:
    """Find what was derived from the selected events: count segments, nodes above."""
    for table in ("derived_nodes", "earlier_segments"):
        _make_table(table, "id TEXT PRIMARY KEY")
    db.execute_sql(f"INSERT OR IGNORE INTO derived_nodes {_DERIVED_SEGMENTS}")
    db.execute_sql(f"INSERT INTO earlier_segments {_EARLIER_SEGMENTS}")
    segments = _column("SELECT id FROM derived_nodes")
    earlier = _column("SELECT id FROM earlier_segments")
    days = {str(calendar.parent_id(node_id)) for node_id in segments + earlier}
    parents = {node_id for day in days for node_id in calendar.path(day)}
    db.connection().executemany(
        "INSERT OR IGNORE INTO derived_nodes VALUES (?)", [(name,) for name in parents]
    )
    _make_table("derived_versions", "id INTEGER PRIMARY KEY")
    db.execute_sql(f"INSERT INTO derived_versions {_DERIVED_VERSIONS}")
    return len(segments), len(parents)


def delete_derived(zone: tzinfo, now_ms: int) -> None:
    """Delete what ``find_derived`` found, and have it made again."""
    segments = _column(f"SELECT id FROM segments WHERE id {_DERIVED}")
    versions = "IN (SELECT id FROM derived_versions)"
    bullets = f"SELECT id FROM bullets WHERE version_id {versions}"
    for sql in (
        f"UPDATE nodes SET latest_id = NULL WHERE latest_id {versions}",
        f"DELETE FROM bullet_grips WHERE bullet_id IN ({bullets})",
        f"DELETE FROM bullets WHERE version_id {versions}",
        f"DELETE FROM generations WHERE version_id {versions}",
        f"DELETE FROM node_versions WHERE id {versions}",
        f"DELETE FROM grips WHERE (node_id {_DERIVED}"
        " OR node_id IN (SELECT id FROM earlier_segments))"
        " AND NOT EXISTS (SELECT 1 FROM bullet_grips b WHERE b.grip_id = grips.id)",
    ):
        db.execute_sql(sql)
    db.execute_sql(
        "UPDATE sessions SET work_name = '', state = '', outcome = '', work = ''"
        " WHERE id IN (SELECT session FROM selected)"
    )
    store_segments.remove_terms(segments)
    db.execute_sql(f"DELETE FROM segments WHERE id {_DERIVED}")
    db.execute_sql(f"DELETE FROM nodes WHERE level = 'segment' AND node_id {_DERIVED}")
    db.execute_sql(
        "UPDATE nodes SET is_dirty = 1, attempts = 0, retry_ms = 0,"
        " is_pinned = 0, is_outdated = 0, needs_model = 0, requested_ms = 0"
        f" WHERE node_id {_DERIVED}"
    )
    queues.add_rollups({str(calendar.parent_id(node_id)) for node_id in segments}, zone)
    queues.add_nodes(_column("SELECT id FROM derived_nodes"), now_ms)
    first = "SELECT min(id), min(at_ms), session FROM selected GROUP BY session"
    queues.add_segment_updates(
        (event_id, at_ms, session) for event_id, at_ms, session in fetch(first)
    )


def enable_secure_delete() -> None:
    """Have this connection overwrite what it deletes with zeros."""
    db.execute_sql("PRAGMA secure_delete = on")


def vacuum() -> None:
    """Rewrite the store without free pages, and empty its log.

    Raises:
        StoreBusyError: Another process reads the store and does not let go.
    """
    close()
    with connection():
        enable_secure_delete()
        # A copy of the whole store needs room: on the disk, not in memory.
        db.execute_sql("PRAGMA temp_store = file")
        db.execute_sql("VACUUM")
        busy, *_ = db.execute_sql("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            raise StoreBusyError(
                f"{path()}-wal is read by another process; end it and run this again"
            )
    close()


def set_pending(kind: TombstoneKind, named: Sequence[Tombstone]) -> None:
    """Note what is to be deleted, in the transaction that adds the tombstones."""
    rows = [[one.kind.value, one.subject, one.agent, one.at_ms] for one in named]
    noted = json.dumps({"kind": kind.value, "tombstones": rows}) if rows else ""
    meta.write(meta.FORGETTING, noted)


def clear_pending() -> None:
    """Note that nothing is left to be deleted."""
    meta.write(meta.FORGETTING, "")


def get_pending() -> tuple[TombstoneKind, list[Tombstone]] | None:
    """Return the kind and the tombstones of what is still to be deleted, if any."""
    if not (value := meta.read(meta.FORGETTING)):
        return None
    pending = json.loads(value)
    named = [
        Tombstone(TombstoneKind(kind), *columns)
        for kind, *columns in pending["tombstones"]
    ]
    return TombstoneKind(pending["kind"]), named


# Redaction of all text that is not in events

Redact = Callable[[str], str]

SESSION_FIELDS = (
    SessionRow.title,
    SessionRow.summary,
    SessionRow.branch,
    SessionRow.cwd,
    SessionRow.root,
    SessionRow.project,
    SessionRow.model,
    SessionRow.created_by,
)

SUBAGENT_FIELDS = (SubagentRow.task, SubagentRow.kind, SubagentRow.tool_use_id)


def redact_sessions(redact: Redact) -> list[int]:
    """Redact what is known of sessions; return the numbers of those that changed."""
    return [row.id for row in _redact_rows(SESSION_FIELDS, redact)]


def redact_subagents(redact: Redact) -> int:
    """Redact what is known of subagents; return how many changed."""
    return len(_redact_rows(SUBAGENT_FIELDS, redact))


def _redact_rows(fields: Sequence[peewee.Field], redact: Redact) -> list[Any]:
    """Redact some fields of all rows of their table; return the rows that changed."""
    table, changed = fields[0].model, []
    for row in list(table.select()):
        before = {field: getattr(row, field.name) for field in fields}
        changes = {f: new for f, old in before.items() if (new := redact(old)) != old}
        if changes:
            table.update(changes).where(row._pk_expr()).execute()
            changed.append(row)
    return changed


def list_kept_names() -> Iterator[tuple[str, str]]:
    """Yield the names that stay as they are, each with its kind.

    Stored content is found by them when its source is read again.
    """
    for kind, column in (
        ("agent", SessionRow.agent),
        ("session", SessionRow.name),
        ("file", CursorRow.path),
        ("file", ProblemRow.source),
    ):
        for (name,) in column.model.select(column).distinct().tuples():
            yield kind, name


def redact_cursors(redact: Callable[[object], object]) -> int:
    """Redact the saved state of file readers; return how many changed."""
    changed = 0
    for file, stored in CursorRow.select(CursorRow.path, CursorRow.state).tuples():
        state = json.dumps(redact(json.loads(stored)))
        if state != stored:
            CursorRow.update(state=state).where(CursorRow.path == file).execute()
            changed += 1
    return changed


def redact_problems(redact: Redact) -> int:
    """Redact the reasons why records were skipped; return how many changed."""
    changed = 0
    for row in list(ProblemRow.select()):
        if (reason := redact(row.reason)) != row.reason:
            ProblemRow.delete().where(
                ProblemRow.source == row.source, ProblemRow.reason == row.reason
            ).execute()
            kind = ProblemKind(row.kind)
            count = ProblemCount(reason, kind, row.line, row.count, row.words)
            sources.add_problems(row.source, [count], row.last_ms)
            changed += 1
    return changed
