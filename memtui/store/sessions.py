"""Sessions and their subagents: created by their first event, updated by later ones.

The number of a session is its row id; its name is the id that its agent gave it, and
"agent:name" its id for users and agents.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import astuple
from datetime import datetime
from typing import Any, NamedTuple

from memtui.model.events import (
    MAX_MS,
    MESSAGES,
    MIN_MS,
    Event,
    clean,
    clean_line,
    from_ms,
    hash_source_id,
    to_ms,
)
from memtui.model.filters import ALL, Scope
from memtui.model.nodes import TITLE_CHARS
from memtui.model.sessions import (
    UNTITLED,
    Session,
    SessionMetadata,
    SessionOrder,
    SubagentMetadata,
)
from memtui.store import meta, queues, scopes, segments, tombstones
from memtui.store import work as store_work
from memtui.store.database import (
    IN_JSON,
    LIKE_ESCAPE,
    case_variants,
    db,
    execute,
    fetch,
    fetch_dicts,
    fetch_value,
    like_pattern,
    prefix_range,
    valid_ms,
)
from memtui.store.schema import IS_MESSAGE

PROMPT_READ_CHARS = 1_000
"""Only this much of a prompt is read for the session's first line."""

TITLE = (
    "CASE WHEN own_name != '' THEN own_name WHEN work_name != '' THEN work_name"
    f" WHEN title != '' THEN title ELSE '{UNTITLED}' END"
)
"""The name of a session, in SQL."""

_ORDERS = {
    None: ("updated_ms", "DESC"),
    SessionOrder.NEWEST: ("created_ms", "DESC"),
    SessionOrder.OLDEST: ("created_ms", "ASC"),
    SessionOrder.LONGEST: ("updated_ms - created_ms", "DESC"),
    SessionOrder.MESSAGES: ("message_count", "DESC"),
    SessionOrder.TITLE: (f"lower({TITLE})", "ASC"),
}
"""The key and direction of each order; equal keys are ordered by agent and name."""

SessionKey = tuple[str, str]

SessionRow = dict[str, Any]
"""A row of the table, by the names of its columns."""


class OpenedSession(NamedTuple):
    """The stored facts on a session that gets new events."""

    number: int
    routes: str


def open_all(batch: Iterable[Event]) -> dict[SessionKey, OpenedSession]:
    """Return the sessions of events; missing ones are made."""
    times: dict[SessionKey, list[int]] = {}
    for event in batch:
        times.setdefault((event.agent, event.session_id), []).append(event.timestamp_ms)
    return {key: _open(key, min(of), max(of)) for key, of in times.items()}


def find_agents(names: Iterable[str]) -> dict[str, str]:
    """Return the agents of sessions with these names, stored or forgotten.

    A name that several agents use is left out.
    """
    agents: dict[str, set[str]] = {}
    for agent, name in fetch(
        f"SELECT agent, name FROM sessions WHERE name {IN_JSON} UNION"
        " SELECT agent, subject FROM tombstones WHERE kind = 'session'"
        f" AND subject {IN_JSON}",
        *[json.dumps(sorted(names))] * 2,
    ):
        agents.setdefault(name, set()).add(agent)
    return {name: min(of) for name, of in agents.items() if len(of) == 1}


def list_folders() -> list[str]:
    """Return the folders of all sessions, and their repositories'."""
    sql = "SELECT cwd FROM sessions WHERE cwd <> '' UNION SELECT root FROM sessions"
    return [folder for (folder,) in fetch(f"{sql} WHERE root <> ''")]


def name_agents(keys: Iterable[SessionKey], unnamed_route: str) -> None:
    """Give sessions of which no event named its agent the agent of these sessions.

    They have the same id, and all of their events came by the unnamed route.
    """
    for agent, name in keys:
        number = fetch_value(
            "SELECT id FROM sessions WHERE name = ? AND agent <> ? AND routes = ?"
            " AND NOT EXISTS (SELECT 1 FROM sessions WHERE name = ? AND agent = ?)",
            *(name, agent, unnamed_route, name, agent),
        )
        if number is not None:
            execute("UPDATE sessions SET agent = ? WHERE id = ?", agent, number)
            queues.add_events_of(number)
            segments.request_session_summaries(number)


def open_number(agent: str, session_id: str, at_ms: int) -> int:
    """Return a session's number; a missing one is made and begins at this time."""
    return _open((agent, session_id), at_ms, at_ms).number


def _open(key: SessionKey, first_ms: int, last_ms: int) -> OpenedSession:
    execute(
        "INSERT INTO sessions (agent, name, created_ms, updated_ms)"
        " VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        *key,
        first_ms,
        last_ms,
    )
    sql = "SELECT id, CAST(routes AS TEXT) FROM sessions WHERE agent = ? AND name = ?"
    return OpenedSession(*fetch(sql, *key)[0])


def add_events(
    new: Sequence[Event], opened: dict[SessionKey, OpenedSession], route: str
) -> None:
    by_session: dict[SessionKey, list[Event]] = {key: [] for key in opened}
    for event in new:
        by_session[event.agent, event.session_id].append(event)
    for key, events in by_session.items():
        session = opened[key]
        times = [event.timestamp_ms for event in events]
        main = [event for event in events if not event.subagent]
        execute(
            "UPDATE sessions SET routes = ?, created_ms = min(created_ms, ?),"
            " updated_ms = max(updated_ms, ?), message_count = message_count + ?,"
            " event_count = event_count + ? WHERE id = ?",
            " ".join(sorted({*session.routes.split(), route})),
            min(times, default=MAX_MS),
            max(times, default=MIN_MS),
            sum(event.is_message for event in main),
            len(events),
            session.number,
        )


def _find_title(number: int) -> str:
    """Return the beginning of the first prompt that has one, in one line.

    It names a session until it is summarized; that of a subagent, if it has no other.
    """
    from memtui.text import plain  # its patterns take long to compile

    for condition in ("subagent = ''", "subagent <> ''"):
        # Most sessions have it in the first row: read only as far as needed.
        for (text,) in db.execute_sql(
            f"SELECT substr(text, 1, ?) FROM events WHERE session_id = ?"
            f" AND {condition} AND {valid_ms('at_ms')} NOT NULL"
            " AND type = 'user_message' AND role = 'user'"
            " ORDER BY at_ms, ordinal, id",
            (PROMPT_READ_CHARS, number),
        ):
            beginning = plain.plain_beginning(str(text), TITLE_CHARS)
            if isinstance(text, str) and beginning:
                return beginning
    return ""


def find_first_prompt(agent: str, session_id: str) -> str:
    """Return the text of the first prompt of a session; "" if it has none."""
    text = fetch_value(
        "SELECT text FROM events WHERE subagent = '' AND type = 'user_message'"
        " AND role = 'user' AND session_id ="
        " (SELECT id FROM sessions WHERE agent = ? AND name = ?)"
        " ORDER BY at_ms, ordinal, id LIMIT 1",
        agent,
        session_id,
    )
    return text if isinstance(text, str) else ""


def recount(number: int) -> None:
    """Update the times and counts of a session from its events."""
    at_ms = valid_ms("at_ms")
    ((first_ms, last_ms, events, messages),) = fetch(
        f"SELECT min({at_ms}), max({at_ms}), count(*),"
        f" sum({IS_MESSAGE} AND subagent = '') FROM events WHERE session_id = ?",
        number,
    )
    if not events:
        # All its events are stored with other sessions: use their times.
        ((first_ms, last_ms),) = fetch(
            f"SELECT min({at_ms}), max({at_ms}) FROM source_copies c"
            " JOIN events e ON e.id = c.event_id WHERE c.session_id = ?",
            number,
        )
    execute(
        "UPDATE sessions SET created_ms = coalesce(?, created_ms),"
        " updated_ms = coalesce(?, updated_ms), event_count = ?, message_count = ?"
        " WHERE id = ?",
        first_ms,
        last_ms,
        events,
        messages or 0,
        number,
    )


def delete_if_empty(number: int) -> None:
    """Delete a session of which nothing is stored any more, and that has no name.

    All its events were copies of others, under ids that are those of others.
    """
    tables = ("events", "source_copies", "segments", "thoughts", "usage")
    empty = " AND ".join(
        f"NOT EXISTS (SELECT 1 FROM {table} WHERE session_id = sessions.id)"
        for table in tables
    )
    sql = "DELETE FROM sessions WHERE id = ? AND title || summary || own_name = ''"
    execute(f"{sql} AND {empty}", number)


def update_metadata(metadata: SessionMetadata) -> int | None:
    """Update a session with what a source says of it; empty fields change nothing.

    The earliest record decides on folder and project, wherever the agent moves later,
    and the latest on branch, title, model and summary, in whatever order the records
    come. A name that the user gave or took back here stays; of those given elsewhere,
    the last in order of their texts counts. Returns the session's number if its
    project has changed.
    """
    row = _get_row(clean(metadata.agent), clean(metadata.session_id))
    if row is None:
        return None
    number: int = row["id"]
    at_ms = to_ms(metadata.at) if metadata.at else row["created_ms"]
    values: dict[str, object] = {
        "created_by": row["created_by"] or clean(metadata.created_by),
        "forked_from": clean(metadata.forked_from) or row["forked_from"],
        **_latest_facts(row, metadata),
    }
    if store_work.NAMED_HERE not in _fact_times(row):
        own_name = clean(metadata.own_name)[:TITLE_CHARS]
        values["own_name"] = max(row["own_name"], own_name)
    if metadata.project and (row["project_ms"] is None or at_ms < row["project_ms"]):
        values |= {"cwd": clean(metadata.cwd), "project": clean_line(metadata.project)}
        values |= {"root": clean(metadata.root), "project_ms": at_ms}
    changes = {n: value for n, value in values.items() if row[n] != value}
    if changes:
        assignments = ", ".join(f"{column} = ?" for column in changes)
        sql = f"UPDATE sessions SET {assignments} WHERE id = ?"
        execute(sql, *changes.values(), number)
    if not changes.keys().isdisjoint(("title", "summary", "own_name")):
        queues.add_sessions([number])
    if "title" in changes:
        segments.request_first_summary(number)
    if "own_name" in changes:
        segments.request_session_summaries(number)
    if "forked_from" in changes:
        request_owner_update([number])
    if "project" not in changes:
        return None
    queues.add_events_of(number)
    return number


_GIVEN_TITLE = "given title"
"""Among the times of facts, that of a title that the user gave in the agent."""

_REMOVED_TITLE = "removed title"
"""That of when the user took such a title away: older ones do not count."""


def _fact_times(row: SessionRow) -> dict[str, int]:
    try:
        return dict(json.loads(row["fact_times"] or "{}"))
    except (ValueError, TypeError):  # The row is damaged.
        return {}


def is_title_given(row: SessionRow) -> bool:
    """Return whether the user gave the session its title, in the agent."""
    return _GIVEN_TITLE in _fact_times(row)


def _latest_facts(row: SessionRow, metadata: SessionMetadata) -> dict[str, object]:
    """Return the facts of a source that are not older than those of the row."""
    facts: dict[str, object] = {}
    times = _fact_times(row)
    is_given, was_given = metadata.is_title_given, _GIVEN_TITLE in times
    for name in ("branch", "model", "title", "summary"):
        to_value = clean_line if name in ("branch", "model") else clean
        value, at = to_value(getattr(metadata, name)), metadata.facts_at
        known_ms = times.get(name, 0)
        if name == "title":
            at = metadata.title_at or at
            if was_given and not is_given:
                continue
            known_ms = known_ms if was_given == is_given else 0
        at_ms = to_ms(at) if at else max(known_ms, row["updated_ms"])
        if name == "title" and is_given:
            removed_ms = times.get(_REMOVED_TITLE, 0)
            if value and at_ms < removed_ms:
                continue
            if not value:
                times[_REMOVED_TITLE] = max(at_ms, removed_ms)
                if was_given and at_ms >= known_ms:
                    facts["title"] = ""
                    del times["title"], times[_GIVEN_TITLE]
        is_forgotten = name in ("title", "summary") and tombstones.covers_title(value)
        if value and at_ms >= known_ms and not is_forgotten:
            facts[name], times[name] = value, at_ms
            if name == "title" and is_given:
                times[_GIVEN_TITLE] = at_ms
    if times != _fact_times(row):
        facts["fact_times"] = json.dumps(times)
    return facts


def share_events() -> bool:
    """Return whether an event is in several sessions."""
    sql = "SELECT 1 FROM source_copies WHERE session_id IS NOT NULL LIMIT 1"
    return fetch_value(sql) is not None


def request_owner_update(numbers: Iterable[int]) -> None:
    """Note sessions whose events may belong to another one: see ``source_copies``."""
    new = set(numbers)
    if new and share_events():
        pending = set(json.loads(meta.read(meta.OWNER_UPDATES) or "[]"))
        if not new <= pending:
            meta.write(meta.OWNER_UPDATES, json.dumps(sorted(pending | new)))


def take_owner_updates() -> set[int]:
    pending = set(json.loads(meta.read(meta.OWNER_UPDATES) or "[]"))
    if pending:
        meta.delete(meta.OWNER_UPDATES)
    return pending


def get(agent: str, session_id: str) -> Session | None:
    row = _get_row(agent, session_id)
    return from_row(row) if row else None


def _get_row(agent: str, name: str) -> SessionRow | None:
    rows = _read("WHERE agent = ? AND name = ?", agent, name)
    return rows[0] if rows else None


def _read(sql: str, *values: object) -> list[SessionRow]:
    rows = fetch_dicts(f"SELECT * FROM sessions {sql}", *values)
    return [{name: _valid(name, row[name]) for name in row} for row in rows]


def _valid(column: str, value: Any) -> Any:
    """Return a value, or an empty one for a value of another type in a damaged row."""
    if value is None and column == "project_ms":
        return None
    if column == "id" or column.endswith(("_ms", "_count")):
        return value if isinstance(value, int) and MIN_MS <= value <= MAX_MS else 0
    return value if isinstance(value, str) else ""


def list_rows() -> list[SessionRow]:
    """Return all sessions in the order of their beginnings."""
    return _read("ORDER BY created_ms, agent, name")


def get_many(numbers: Iterable[int]) -> dict[int, Session]:
    rows = _read(f"WHERE id {IN_JSON}", json.dumps(list(numbers)))
    return {row["id"]: from_row(row) for row in rows}


def get_number(agent: str, session_id: str) -> int | None:
    sql = "SELECT id FROM sessions WHERE agent = ? AND name = ?"
    number: int | None = fetch_value(sql, agent, session_id)
    return number


def from_row(row: SessionRow) -> Session:
    work = store_work.work_from_row(
        row["work_name"], row["state"], row["outcome"], row["work"], row["own_name"]
    )
    name = work.name or row["title"] or _find_title(row["id"])
    title = " ".join(name.split())
    return Session(
        agent=row["agent"],
        session_id=row["name"],
        project=row["project"],
        cwd=row["cwd"],
        branch=row["branch"],
        title=title or UNTITLED,
        model=row["model"],
        created_at=from_ms(row["created_ms"]),
        updated_at=from_ms(row["updated_ms"]),
        message_count=row["message_count"],
        event_count=row["event_count"],
        root=row["root"],
        created_by=row["created_by"],
        forked_from=row["forked_from"],
        summary=row["summary"],
        agent_title=" ".join(row["title"].split()),
        is_title_given=is_title_given(row),
        own_name=row["own_name"],
        work=work,
    )


def find_by_message(agent: str, source_id: str, names: Iterable[str]) -> Session | None:
    """Return the session that has a message, by the id in its source.

    It must end with the message unless it is one of these names. If several have the
    message, the one that had it first is returned.
    """
    number = fetch_value(
        "SELECT session_id FROM events e JOIN sessions s ON s.id = e.session_id"
        f" WHERE source_hash IN (?, ?) AND subagent = '' AND (s.name {IN_JSON}"
        " OR NOT EXISTS (SELECT 1 FROM events l"
        " WHERE l.session_id = e.session_id AND l.subagent = ''"
        " AND (l.at_ms, l.ordinal, l.id) > (e.at_ms, e.ordinal, e.id)"
        " AND l.type IN ('user_message', 'assistant_message') AND l.role <> 'system'))",
        *(hash_source_id(agent, event_type, source_id) for event_type in MESSAGES),
        json.dumps(list(names)),
    )
    return None if number is None else get_many([number]).get(number)


def find_by_name(name: str, agent: str, *, is_prefix: bool) -> list[SessionKey]:
    """Return the agents and names of sessions of a name.

    With ``is_prefix`` the name is only a beginning.
    """
    condition, values = "name = ?", [name]
    if is_prefix:
        condition, values = "name >= ? AND name < ?", [*prefix_range(name)]
    return fetch(
        f"SELECT agent, name FROM sessions WHERE {condition}"
        " AND typeof(agent) = 'text' AND ? IN ('', agent) ORDER BY agent, name",
        *values,
        agent,
    )


def list_matching(
    order: SessionOrder | None,
    words: Sequence[str],
    offset: int,
    limit: int,
    scope: Scope = ALL,
) -> list[Session]:
    """Return sessions whose title, project or agent contains each of some words.

    Without an order, those with the latest events come first. Forks without a message
    of their own are left out.
    """
    key, direction = _ORDERS[order]
    condition, values = _matching(words, scope)
    rows = _read(
        f"WHERE {condition}"
        f" ORDER BY {key} {direction}, agent {direction}, name {direction}"
        " LIMIT ? OFFSET ?",
        *values,
        limit,
        offset,
    )
    return list(map(from_row, rows))


def count(words: Sequence[str] = (), scope: Scope = ALL) -> int:
    """Count the sessions that ``list_matching`` returns."""
    condition, values = _matching(words, scope)
    sql = f"SELECT count(*) FROM sessions WHERE {condition}"
    return int(fetch_value(sql, *values))


def find_index(
    order: SessionOrder, words: Sequence[str], number: int, scope: Scope = ALL
) -> int | None:
    """Return the index of a session in ``list_matching``; None if it is not in it."""
    key, direction = _ORDERS[order]
    condition, values = _matching(words, scope)
    before = "<" if direction == "ASC" else ">"
    index: int | None = fetch_value(
        f"SELECT (SELECT count(*) FROM sessions WHERE {condition}"
        f" AND ({key}, agent, name) {before} (own.key, own.agent, own.name))"
        f" FROM (SELECT {key} AS key, agent, name FROM sessions"
        f" WHERE id = ? AND {condition}) own",
        *values,
        number,
        *values,
    )
    return index


def _matching(words: Sequence[str], scope: Scope) -> scopes.Condition:
    condition, values = scopes.session_condition(scope)
    condition += " AND NOT (forked_from != '' AND message_count = 0)"
    for word in words:
        variants = case_variants(word)
        columns = (TITLE, "project", "agent")
        like = f"LIKE ? ESCAPE '{LIKE_ESCAPE}'"
        matches = [f"{column} {like}" for column in columns for _ in variants]
        condition += f" AND ({' OR '.join(matches)})"
        values += [like_pattern(variant) for _ in columns for variant in variants]
    return condition, values


def count_by_subagent(number: int) -> dict[str, tuple[int, int]]:
    """Count events and messages by subagent; the main conversation is under ""."""
    rows = fetch(
        f"SELECT subagent, count(*), sum({IS_MESSAGE}) FROM events"
        " WHERE session_id = ? AND typeof(subagent) = 'text' GROUP BY subagent",
        number,
    )
    return {subagent: (events, messages) for subagent, events, messages in rows}


def count_shared_messages(number: int) -> int:
    """Count the messages of a session that are stored with the one it was forked from.

    They are the beginning it has in common with that session.
    """
    sql = (
        "SELECT count(DISTINCT e.id) FROM source_copies c"
        " JOIN events e ON e.id = c.event_id"
        f" WHERE c.session_id = ? AND subagent = '' AND {IS_MESSAGE}"
    )
    return int(fetch_value(sql, number))


_UPDATE_SUBAGENT = (
    "INSERT INTO subagents (agent, session_name, subagent, kind, tool_use_id, task)"
    " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET"
    " kind = coalesce(nullif(excluded.kind, ''), kind),"
    " tool_use_id = coalesce(nullif(excluded.tool_use_id, ''), tool_use_id),"
    " task = coalesce(nullif(excluded.task, ''), task)"
)


def update_subagents(subagents: Iterable[SubagentMetadata]) -> None:
    """Update subagents with what a source says; empty fields change nothing."""
    for subagent in subagents:
        row = tuple(map(clean, astuple(subagent)))
        if not tombstones.covers_subagent(*row[:3]):
            execute(_UPDATE_SUBAGENT, *row)


def list_subagents(agent: str, session_id: str) -> list[SubagentMetadata]:
    rows = fetch(
        "SELECT agent, session_name, subagent, kind, tool_use_id, task FROM subagents"
        " WHERE agent = ? AND session_name = ? ORDER BY subagent",
        agent,
        session_id,
    )
    return [SubagentMetadata(*row) for row in rows]


def count_events() -> tuple[int, int]:
    """Count the events, and those of subagents among them."""
    total = fetch_value("SELECT sum(event_count) FROM sessions")
    of_subagents = fetch_value("SELECT sum(subagent_events) FROM segments")
    return int(total or 0), int(of_subagents or 0)


def count_messages_by(column: str) -> list[tuple[str, int]]:
    rows = fetch(
        f"SELECT {column}, sum(message_count) AS total FROM sessions GROUP BY {column}"
        f" ORDER BY total DESC, {column}"
    )
    # A damaged row may have bytes for a name.
    return [(name if isinstance(name, str) else "", total or 0) for name, total in rows]


def time_span() -> tuple[datetime, datetime] | None:
    ((first, last),) = fetch(
        "SELECT min(created_ms), max(updated_ms) FROM sessions"
        " WHERE created_ms BETWEEN :low AND :high"
        " AND updated_ms BETWEEN :low AND :high",
        low=MIN_MS,
        high=MAX_MS,
    )
    return (from_ms(first), from_ms(last)) if first is not None else None
