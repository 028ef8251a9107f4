"""Lists what sessions left open, and what was decided in them.

What a later session of the project finished stays listed, with where: the same task is
done, the same tests pass, or the same prompt is answered.
"""

from dataclasses import replace

from memtui.model.audit import AuditQuery, ClaimGroup, ClaimRow, Later
from memtui.model.events import from_ms, timestamp_ms_of_id
from memtui.model.filters import ALL, Filters, Scope
from memtui.model.judgements import HIDING
from memtui.model.nodes import BulletKind
from memtui.services import audit
from memtui.store import database, points, scopes, segments, sessions

MAX_DECISIONS = 10_000
"""The most decisions that are listed."""


def list_left_open(scope: Scope = ALL) -> list[ClaimRow]:
    """Return what sessions left open, the latest first.

    The same task, tests or prompt of a project is listed once, for its latest session.
    """
    rows: dict[tuple[str, ...], list[ClaimRow]] = {}
    numbers: dict[tuple[str, ...], list[int]] = {}
    with database.connection():
        for number, end, row in points.list_open():
            key: tuple[str, ...] = (row.project, end.kind, end.subject)
            if not all(key):
                key = (row.node_id, row.text)  # It cannot be compared.
            rows.setdefault(key, []).append(row)
            numbers.setdefault(key, []).append(number)
        in_scope = scopes.get_sessions(Filters(scope))
        keys = [key for key in rows if len(key) > 2]
        finished = points.list_finished({k[0] for k in keys}, {k[2] for k in keys})
    later: dict[tuple[str, ...], Later] = {}
    for number, *about, session, name, event_id in finished:
        key = tuple(about)
        if key in rows and key not in later and number not in numbers[key]:
            at = from_ms(timestamp_ms_of_id(event_id))
            if rows[key][0].event_id < event_id:
                later[key] = Later(session, name, event_id, at)
    return [
        replace(latest, later=later.get(key), earlier=tuple(earlier))
        for key, (latest, *earlier) in rows.items()
        if in_scope is None or numbers[key][0] in in_scope
    ]


def read_finished() -> set[tuple[str, str]]:
    """Return the session, as ``agent:id``, and the text of all that was left open and
    that a later session finished."""
    return {
        (row.node_id, text)
        for latest in list_left_open()
        if latest.later
        for row in (latest, *latest.earlier)
        for text in (row.text, row.words)
    }


def list_decisions(scope: Scope = ALL) -> list[ClaimRow]:
    """Return what was decided, the latest first: answers of the user to questions of an
    agent, what models found, and what a person added."""
    groups = frozenset((ClaimGroup.WEAK, ClaimGroup.BY_MODEL, ClaimGroup.FACT))
    rows = [
        row
        for kind in (BulletKind.DECISION, BulletKind.ADDED)
        for row in audit.list_claims(
            AuditQuery(scope, kind=kind, groups=groups), MAX_DECISIONS
        )
        if row.ruling not in HIDING
    ]
    with database.connection():
        numbers = segments.get_sessions(row.node_id for row in rows)
        by_number = sessions.get_many(set(numbers.values()))
    of_row = {name: by_number[number] for name, number in numbers.items()}
    rows = [
        replace(row, session_name=session.title, project=session.project)
        for row in rows
        if (session := of_row.get(row.node_id))
    ]
    return sorted(rows, key=lambda row: row.at, reverse=True)
