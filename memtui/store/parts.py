"""Parts: the agents, projects and keywords by which a memory can be narrowed."""

from typing import Any

from peewee import fn

from memtui.store.database import db
from memtui.store.tables.conversations import SessionRow

_KEYWORDS = """
    SELECT said.word, COUNT(*) AS days FROM (
        SELECT json_extract(one.value, '$[0]') AS word
        FROM toc_latest AS node
        JOIN toc_versions AS says ON says.id = node.latest_id,
        json_each(says.keywords) AS one
        WHERE node.level = 'day'
        ORDER BY node.start_ms DESC
    ) AS said
    GROUP BY LOWER(said.word)
    ORDER BY days DESC, LOWER(said.word)
    LIMIT ?
"""
"""The keywords of days: segments have many more, of which a day keeps the best."""


def agents() -> list[tuple[str, int]]:
    """The agents, each with how many sessions it has; the one with most first."""
    return _sessions_by(SessionRow.agent)


def projects() -> list[tuple[str, int]]:
    """The projects, each with how many sessions it has; the one with most first."""
    return _sessions_by(SessionRow.project)


def keywords(limit: int) -> list[tuple[str, int]]:
    """Keywords, each with how many days carry it; the one with most first."""
    rows = db.execute_sql(_KEYWORDS, (limit,)).fetchall()
    return [(str(word), int(days)) for word, days in rows]


def _sessions_by(column: Any) -> list[tuple[str, int]]:
    count = fn.COUNT(SessionRow.id)
    rows = SessionRow.select(column, count).where(column != "").group_by(column)
    return [(name, n) for name, n in rows.order_by(count.desc(), column).tuples()]
