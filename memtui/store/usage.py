"""The usage that transcripts state: the tokens and the cost of each reply.

Each session with a copy of a reply has a row for it, so that the order of imports does
not matter. The row of the session that had it first counts.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import tzinfo
from functools import cache

from memtui.model.events import clean_line, from_ms, lowest_id, to_ms
from memtui.model.filters import ALL, Scope
from memtui.model.usage import KINDS, Usage, UsageTotal
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

_GROUPS = {
    "session": "s.agent || ':' || s.name",
    "day": "local_day(at_ms / 900000)",
    "project": "s.project",
    "model": "r.model",
    "": "''",
}
"""The names by which usage is summed up. A day begins with a quarter of an hour."""

_SUMS = ", ".join(f"sum({kind}) AS {kind}" for kind in KINDS)
_PRODUCTS = " + ".join(
    f"ifnull({kind}, 0) * json_extract(p.value, '$[{place}]')"
    for place, kind in enumerate(KINDS)
)

_LIST = f"""
    WITH pauses AS (
        SELECT session_id, at_ms, at_ms - lag(at_ms)
        OVER (PARTITION BY session_id ORDER BY at_ms) AS pause_ms
        FROM events WHERE typeof(at_ms) = 'integer' AND {{of_events}}
    ), rows AS (
        SELECT session_id, at_ms, model, {", ".join(KINDS)}, cost, NULL AS active_ms
        FROM usage u WHERE {{of_usage}} AND {IS_COUNTED} UNION ALL
        SELECT session_id, at_ms, '', {"NULL, " * len(KINDS)} NULL,
        CASE WHEN pause_ms < {PAUSE_MS} THEN pause_ms ELSE 0 END FROM pauses
    ), parts AS (
        SELECT {{group}} AS name, {{title}} AS title, r.model AS model, {_SUMS},
        sum(cost) AS cost, sum(active_ms) AS active_ms, min(at_ms) AS first_ms
        FROM rows r JOIN sessions s ON s.id = r.session_id
        WHERE {{of_sessions}} GROUP BY 1, r.model, cost IS NULL
    ), priced AS (
        SELECT *, (
            SELECT ({_PRODUCTS}) / 1e6 FROM json_each(?) p
            WHERE substr(lower(model), 1, length(p.key)) = p.key
            ORDER BY length(p.key) DESC LIMIT 1
        ) AS price FROM parts
    )
    SELECT {_SUMS}, name, title, sum(active_ms), sum(cost), sum(CASE
    WHEN cost IS NULL THEN price END), group_concat(DISTINCT CASE WHEN cost IS NULL
    AND price IS NULL THEN nullif(model, '') END)
    FROM priced GROUP BY name ORDER BY min(first_ms)
"""
"""Lists totals in the order of time.

A pause counts at the time of the event after it. The price of the longest name that the
name of a model begins with counts, where the source does not state the cost."""


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


def list_totals(
    by: str,
    prices: Mapping[str, Sequence[float]],
    zone: tzinfo,
    *,
    session: int | None = None,
    scope: Scope = ALL,
    bounds: Sequence[int | None] = (None, None),
) -> list[UsageTotal]:
    """Sum up usage by session, day, project or model, or all of it for "".

    The bounds are the first millisecond and the one after the last.
    """

    @cache
    def local_day(quarter: int) -> str:
        return f"{from_ms(quarter * 900_000).astimezone(zone):%Y-%m-%d}"

    db.connection().create_function("local_day", 1, local_day)
    values: list[object] = []

    def where(conditions: Mapping[str, object]) -> str:
        chosen = {c: v for c, v in conditions.items() if v not in (None, "")}
        values.extend(chosen.values())
        return " AND ".join(["1", *chosen])

    since_ms, until_ms = bounds
    before_ms = since_ms and since_ms - PAUSE_MS
    events = {
        "session_id = ?": session,
        "id >= ?": before_ms and lowest_id(before_ms),
        "id < ?": until_ms and lowest_id(until_ms),
    }
    times = {"u.at_ms >= ?": since_ms, "u.at_ms < ?": until_ms}
    names = {"s.agent = ?": scope.agent, "s.project = ?": scope.project}
    sql = _LIST.format(
        # No pause is that of a model.
        of_events=f"{where(events)} AND {by != 'model'}",
        of_usage=where({"u.session_id = ?": session, **times}),
        of_sessions=where({"at_ms >= ?": since_ms, **names}),
        group=_GROUPS[by],
        title=sessions.TITLE if by == "session" else "''",
    )
    rows = fetch(sql, *values, json.dumps(prices))
    return [UsageTotal(dict(zip(KINDS, row, strict=False)), *row[4:]) for row in rows]
