"""Read the input of the message index from the store: events, and titles of
sessions."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from memtui.model.events import MESSAGES, EventRole, EventType
from memtui.store.database import IN_JSON, fetch, fetch_value
from memtui.store.queues import EventRange

_SELECT = (
    "SELECT e.id, e.session_id, e.subagent, e.at_ms, e.ordinal, e.type, e.role, e.text,"
    " CASE WHEN e.type = 'tool_result' AND json_valid(e.metadata)"
    " THEN json_extract(e.metadata, '$.tool_name') END,"
    " (SELECT group_concat(copy_id) FROM source_copies t WHERE t.event_id = e.id),"
    " CAST(s.agent AS TEXT), CAST(s.project AS TEXT)"
    " FROM events e JOIN sessions s ON s.id = e.session_id"
)
_ARE_MESSAGES = "type IN ('user_message', 'assistant_message')"


@dataclass(frozen=True, slots=True)
class IndexableEvent:
    """An event as the message index reads it."""

    event_id: str
    session: int
    subagent: str
    at_ms: int
    ordinal: int
    type: EventType
    role: EventRole
    text: str
    tool: str = ""
    copy_ids: tuple[str, ...] = ()
    """The ids that copies of it had in other sources."""
    agent: str = ""
    project: str = ""

    @property
    def indexed_role(self) -> EventRole | None:
        """The role it is indexed under; None if it is not indexed."""
        if self.type is EventType.TOOL_RESULT:
            return EventRole.TOOL if self.tool or self.text else None
        if self.type not in MESSAGES:
            return None
        is_speaker = self.role in (EventRole.USER, EventRole.ASSISTANT)
        return self.role if is_speaker else EventRole.SYSTEM


class SessionTexts(NamedTuple):
    """The title of a session, and its summary with the headlines of its segments."""

    session: int
    title: str
    summary: str


def read_ranges(ranges: Iterable[EventRange]) -> list[IndexableEvent]:
    """Return the events of these ranges that are still stored, ordered by id."""
    sql = f"{_SELECT} WHERE e.rowid BETWEEN ? AND ?"
    rows = [row for one in ranges for row in fetch(sql, one.first, one.last)]
    return list(_read(sorted(rows)))


def read_before(event_id: str, limit: int) -> list[IndexableEvent]:
    """Return the events before one (before all for ""), the latest first."""
    sql = f"{_SELECT} WHERE e.id < ? ORDER BY e.id DESC LIMIT ?"
    return list(_read(fetch(sql, event_id or "~", limit)))  # "~" follows all ids


def read_newest(limit: int) -> list[IndexableEvent]:
    sql = f"{_SELECT} WHERE e.{_ARE_MESSAGES} ORDER BY e.id DESC LIMIT ?"
    return list(_read(reversed(fetch(sql, limit))))


def count_messages() -> int:
    return int(fetch_value(f"SELECT count(*) FROM events WHERE {_ARE_MESSAGES}"))


def list_sessions() -> list[int]:
    return [number for (number,) in fetch("SELECT id FROM sessions")]


def read_session_texts(sessions: Iterable[int]) -> list[SessionTexts]:
    """Return what sessions are indexed by, besides their messages."""
    rows = fetch(
        "SELECT s.id, coalesce(nullif(s.title, ''), s.first_prompt),"
        " s.summary || char(10) || coalesce((SELECT"
        " group_concat(v.headline, char(10)) FROM segments g"
        " JOIN nodes n ON n.node_id = g.id JOIN node_versions v ON v.id ="
        " n.latest_id WHERE g.session_id = s.id), '') FROM sessions s"
        f" WHERE s.id {IN_JSON}",
        json.dumps(sorted(sessions)),
    )
    return list(map(SessionTexts._make, rows))


def _read(rows: Iterable[tuple[Any, ...]]) -> Iterator[IndexableEvent]:
    """Yield events, without those whose type, role or subagent cannot be read."""
    types, roles = set(map(str, EventType)), set(map(str, EventRole))
    for name, session, subagent, at_ms, ordinal, kind, role, text, *rest in rows:
        if kind in types and role in roles and isinstance(subagent, str):
            tool, ids, agent, project = rest
            yield IndexableEvent(
                event_id=name,
                session=session,
                subagent=subagent,
                at_ms=at_ms,
                ordinal=ordinal,
                type=EventType(kind),
                role=EventRole(role),
                text=text,
                tool=tool or "",
                copy_ids=tuple(ids.split(",")) if ids else (),
                agent=agent,
                project=project,
            )
