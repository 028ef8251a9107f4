"""The usage that transcripts state: the tokens and the cost of each reply.

Each session with a copy of a reply has a row for it, so that the order of imports does
not matter. The row of the session that had it first counts.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from memtui.model.events import clean_line, lowest_id, to_ms
from memtui.model.usage import KINDS, Tokens, Usage
from memtui.store import sessions, tombstones
from memtui.store.database import db, fetch
from memtui.store.sessions import SessionKey

_ADD = (
    f"INSERT INTO usage VALUES (?, ?, ?, ?, {'?, ' * len(KINDS)}?)"
    " ON CONFLICT DO UPDATE SET at_ms = min(at_ms, excluded.at_ms), "
    + ", ".join(
        f"{name} = coalesce(max({name}, excluded.{name}), {name}, excluded.{name})"
        for name in ("model", *KINDS, "cost")
    )
)
"""A reply is recorded several times while it is written: the largest numbers count."""

_AGE = "({0}.event_count = 0, {0}.created_ms, {0}.name)"
"""Sorts the sessions with a copy of a reply: the one that had it first comes first."""

IS_COUNTED = (
    "NOT EXISTS (SELECT 1 FROM usage c JOIN sessions a ON a.id = c.session_id"
    " JOIN sessions b ON b.id = u.session_id WHERE c.key = u.key"
    " AND c.session_id <> u.session_id AND c.at_ms = u.at_ms"
    f" AND {_AGE.format('a')} < {_AGE.format('b')})"
)
"""The condition of a row ``u`` that counts because it is the first of its reply.

Some ids of replies are short: two replies at different times are not the same."""

PAUSE_MS = 300_000
"""A session is active between two of its events if less time is between them."""

QUARTER_MS = 900_000
"""A quarter of an hour: in every time zone, a day begins with one."""

_GROUPS = {
    "session": "u.session_id",
    "day": f"u.at_ms / {QUARTER_MS}",
    "project": "s.project",
    "model": "u.model",
    "": "''",
}
"""The values by which usage is grouped: a session's number, a quarter of an hour…"""

_SUMS = ", ".join(f"sum(u.{kind})" for kind in KINDS)

UsageSum = tuple[Any, str, float | None, Tokens]
"""The group, model, cost and tokens of those replies that state their cost, or of those
that do not."""


def add(batch: Sequence[Usage]) -> None:
    """Add usage, inside a transaction; what is stored already is not added again."""
    numbers: dict[SessionKey, int] = {}
    rows = []
    for usage in tombstones.filter_usage(batch):
        key, at_ms = (usage.agent, usage.session_id), to_ms(usage.at)
        if key not in numbers:
            numbers[key] = sessions.open_number(*key, at_ms)
        about = usage.key, numbers[key], at_ms, clean_line(usage.model)
        rows.append((*about, *usage.tokens, usage.cost))
    db.connection().executemany(_ADD, rows)


def _where(conditions: Mapping[str, object]) -> tuple[str, list[object]]:
    chosen = {c: v for c, v in conditions.items() if v not in (None, "")}
    return " AND ".join(["1", *chosen]), list(chosen.values())


def list_sums(
    by: str,
    *,
    session: int | None = None,
    project: str = "",
    bounds: Sequence[int | None] = (None, None),
) -> tuple[list[UsageSum], dict[Any, int]]:
    """Sum up usage by session, day, project or model, or all of it for "".

    Returns also how long the sessions of each group were active, in milliseconds. A
    pause between two events counts at the time of the later one.
    """
    since_ms, until_ms = bounds
    where, values = _where(
        {
            "u.at_ms >= ?": since_ms,
            "u.at_ms < ?": until_ms,
            "u.session_id = ?": session,
            "s.project = ?": project,
        }
    )
    sums = fetch(
        f"SELECT {_GROUPS[by]}, u.model, sum(u.cost), {_SUMS}"
        " FROM usage u JOIN sessions s ON s.id = u.session_id"
        f" WHERE {where} AND {IS_COUNTED} GROUP BY 1, 2, u.cost IS NULL",
        *values,
    )
    first_ms = since_ms and since_ms - PAUSE_MS
    inner, inner_values = _where(
        {
            "id >= ?": first_ms and lowest_id(first_ms),
            "id < ?": until_ms and lowest_id(until_ms),
            "session_id = ?": session,
        }
    )
    active = fetch(
        f"SELECT {_GROUPS[by]}, sum(CASE WHEN pause_ms < {PAUSE_MS} THEN pause_ms"
        " ELSE 0 END) FROM (SELECT session_id, at_ms, '' AS model, at_ms - lag(at_ms)"
        " OVER (PARTITION BY session_id ORDER BY at_ms) AS pause_ms"
        f" FROM events WHERE typeof(at_ms) = 'integer' AND {inner}) u"
        f" JOIN sessions s ON s.id = u.session_id WHERE {where} GROUP BY 1",
        *inner_values,
        *values,
    )
    return [(*row[:3], row[3:]) for row in sums], dict(active)
