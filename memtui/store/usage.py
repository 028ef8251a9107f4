"""The usage that transcripts state: the tokens and the cost of each reply.

Each session with a copy of a reply has a row for it, so that the order of imports does
not matter. The row of the session that had it first counts.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, tzinfo
from functools import cache

from memtui.model.events import clean_line, from_ms, lowest_id, to_ms
from memtui.model.filters import ALL, Scope
from memtui.model.usage import KINDS, Usage, UsageTotal
from memtui.store import sessions, tombstones
from memtui.store.database import db, fetch
from memtui.store.sessions import SessionKey

_ADD = (
    "INSERT INTO usage VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
    " ON CONFLICT DO UPDATE SET at_ms = min(at_ms, excluded.at_ms), "
    + ", ".join(
        f"{name} = coalesce(max({name}, excluded.{name}), {name}, excluded.{name})"
        for name in ("model", *KINDS, "cost")
    )
)
"""A reply is recorded several times while it is written: the largest numbers count."""

IS_COUNTED = (
    "NOT EXISTS (SELECT 1 FROM usage c JOIN sessions a ON a.id = c.session_id"
    " JOIN sessions b ON b.id = u.session_id WHERE c.key = u.key AND c.at_ms = u.at_ms"
    " AND (a.event_count = 0, a.created_ms, a.name)"
    " < (b.event_count = 0, b.created_ms, b.name))"
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

_SUM_UP = f"""
    WITH pauses AS (
        SELECT session_id, at_ms, at_ms - lag(at_ms)
        OVER (PARTITION BY session_id ORDER BY at_ms) AS pause_ms
        FROM events WHERE typeof(at_ms) = 'integer'
        AND id >= :first_id AND id < :end_id {{of_session}}
    ), rows AS (
        SELECT session_id, at_ms, model, {", ".join(KINDS)},
        ifnull(cost, price(model, {", ".join(KINDS)})) AS cost, NULL AS active_ms
        FROM usage u WHERE at_ms >= :since_ms AND at_ms < :until_ms
        AND {IS_COUNTED} {{of_session}}
        UNION ALL SELECT session_id, at_ms, {"NULL, " * len(KINDS)} NULL, NULL,
        CASE WHEN pause_ms < {PAUSE_MS} THEN pause_ms ELSE 0 END FROM pauses
    )
    SELECT {", ".join(f"sum({kind})" for kind in KINDS)}, {{group}}, {{title}},
    sum(active_ms), sum(cost),
    group_concat(DISTINCT CASE WHEN cost IS NULL THEN nullif(r.model, '') END)
    FROM rows r JOIN sessions s ON s.id = r.session_id
    WHERE at_ms >= :since_ms AND {{group}} IS NOT NULL
    AND :agent IN (s.agent, '') AND :project IN (s.project, '')
    {{by_group}} ORDER BY min(at_ms)
"""
"""Lists totals in the order of time.

A pause counts at the time of the event after it, and is of no model."""


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


def sum_up(
    by: str,
    prices: Mapping[str, Sequence[float]],
    zone: tzinfo,
    *,
    session: int | None = None,
    scope: Scope = ALL,
    bounds: Sequence[datetime] = (),
) -> list[UsageTotal]:
    """Sum up usage by session, day, project or model, or all of it for "".

    The bounds are the first time and the one after the last. The price of the longest
    name that the name of a model begins with counts.
    """

    @cache
    def local_day(quarter: int) -> str:
        return f"{from_ms(quarter * 900_000).astimezone(zone):%Y-%m-%d}"

    def price(model: str, *counts: int | None) -> float | None:
        names = [name for name in prices if model.lower().startswith(name)]
        if not names:
            return None
        pairs = zip(counts, prices[max(names, key=len)], strict=True)
        return sum((count or 0) * each for count, each in pairs) / 1e6

    db.connection().create_function("local_day", 1, local_day)
    db.connection().create_function("price", 1 + len(KINDS), price)
    since_ms, until_ms = map(to_ms, bounds) if bounds else (0, 2**48 - 1)
    rows = fetch(
        _SUM_UP.format(
            group=_GROUPS[by],
            title=sessions.TITLE if by == "session" else "''",
            of_session="" if session is None else "AND session_id = :session",
            by_group=f"GROUP BY {_GROUPS[by]}" if by else "",
        ),
        session=session,
        first_id=lowest_id(since_ms - PAUSE_MS),
        end_id=lowest_id(until_ms),
        since_ms=since_ms,
        until_ms=until_ms,
        agent=scope.agent,
        project=scope.project,
    )
    return [UsageTotal(dict(zip(KINDS, row, strict=False)), *row[4:]) for row in rows]
