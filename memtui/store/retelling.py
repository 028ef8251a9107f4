"""Events with all that is known of how they were told, and telling them so again.

Each keeps the way it came and what it was told as besides, so that whoever tells it
once more is recognised: in another memory, and here when its words were changed.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from memtui.memory.events import Event, EventRole, EventType, from_ms
from memtui.memory.tellings import Kept, Telling
from memtui.store import events, forgetting, forks, tellings, unsettled
from memtui.store.database import db, insert, known
from memtui.store.events import Added
from memtui.store.sessions import recount
from memtui.store.tables.conversations import EventRow, SessionRow, TellingRow

Complete = Callable[[Sequence[Event]], list[Event]]

WHOLE = (
    "SELECT e.id, s.agent, s.name, e.at_ms, e.type, e.role, e.text, e.metadata,"
    " e.subagent, e.ordinal, e.tokens, e.counter, e.route, e.origin"
    " FROM events e JOIN sessions s ON s.id = e.session_id"
)
"""The rows that ``whole`` takes."""

_TELLINGS = (
    "SELECT t.event_id, t.told_id, t.route, s.name FROM tellings t"
    " LEFT JOIN sessions s ON s.id = t.session_id"
    " WHERE t.event_id IN (SELECT value FROM json_each(?)) ORDER BY t.told_id"
)


def whole(rows: Sequence[Any]) -> list[Event]:
    """Events as they are kept, with all that is known of how they were told."""
    told: dict[str, list[Telling]] = {}
    ids = json.dumps([row[0] for row in rows])
    for event_id, told_id, route, name in db.execute_sql(_TELLINGS, (ids,)).fetchall():
        told.setdefault(event_id, []).append(Telling(told_id, route, name or ""))
    return [_event(*row, told=tuple(told.get(row[0], ()))) for row in rows]


def _event(
    event_id: str,
    agent: str,
    session_id: str,
    at_ms: int,
    kind: str,
    role: str,
    text: str,
    metadata: str,
    subagent: str,
    ordinal: int,
    tokens: int,
    counter: str,
    route: str,
    origin: bytes | None,
    *,
    told: tuple[Telling, ...],
) -> Event:
    return Event(
        event_id=event_id,
        session_id=session_id,
        timestamp=from_ms(at_ms),
        event_type=EventType(kind),
        role=EventRole(role),
        text=text,
        metadata=json.loads(metadata) if metadata else {},
        agent=agent,
        subagent=subagent,
        ordinal=ordinal,
        tokens=tokens,
        counter=counter,
        kept=Kept(route, None if origin is None else bytes(origin), told),
    )


def again(changed: Sequence[Event]) -> None:
    """Put events that say other words now in place of what they were.

    They are told anew: another one may say the same by now. Inside one transaction.
    """
    ids = (json.dumps([event.event_id for event in changed]),)
    mine = "IN (SELECT value FROM json_each(?))"
    asked = f"SELECT DISTINCT session_id FROM events WHERE id {mine}"
    numbers = {number for (number,) in db.execute_sql(asked, ids).fetchall()}
    with forgetting.allowed():
        db.execute_sql(f"DELETE FROM tellings WHERE event_id {mine}", ids)
        db.execute_sql(f"DELETE FROM events WHERE id {mine}", ids)
    numbers |= add(changed, route="").sessions
    for number in numbers:
        recount(number)
    unsettled.note(numbers)
    forks.settle()


def add(batch: Sequence[Event], *, route: str, complete: Complete = list) -> Added:
    """Keep events that are new, inside one transaction; see ``events.add``.

    Args:
        batch: Events.
        route: The way those came that no other memory kept.
        complete: Counts the tokens of those that are new.
    """
    by_route: dict[str, list[Event]] = {}
    for event in batch:
        came = event.kept.route if event.kept else route
        by_route.setdefault(came, []).append(event)
    added = []
    # The best tellings first: each brings with it what else it was told as.
    for came in sorted(by_route, key=tellings.rank, reverse=True):
        added.append(events.add(by_route[came], route=came, complete=complete))
        _note(by_route[came])
    return Added(
        created=tuple(event_id for some in added for event_id in some.created),
        known=sum(some.known for some in added),
        forgotten=sum(some.forgotten for some in added),
        sessions=frozenset[int]().union(*(some.sessions for some in added)),
    )


def _note(batch: Iterable[Event]) -> None:
    """Note what else events were told as, as far as nobody told that here."""
    told = {
        telling.event_id: (event, telling)
        for event in batch
        if event.kept
        for telling in event.kept.told
    }
    if not told:
        return
    for table in (EventRow, TellingRow):
        for event_id in known(table, told):
            del told[event_id]
    ids = [event.event_id for event, _ in told.values()]
    kept = {event_id: event_id for event_id in ids} | tellings.resolved(ids)
    asked = (
        "SELECT id, session_id FROM events WHERE id IN (SELECT value FROM json_each(?))"
    )
    owners = dict(db.execute_sql(asked, (json.dumps([*kept.values()]),)).fetchall())
    numbers: dict[tuple[str, str], int] = {}
    rows = []
    for event, telling in told.values():
        instead = kept[event.event_id]
        if instead in owners:
            key = event.agent, telling.session_id or event.session_id
            if key not in numbers:
                numbers[key] = _number(*key, event.timestamp_ms)
            told_in = numbers[key] if numbers[key] != owners[instead] else None
            rows.append((telling.event_id, instead, telling.route, told_in))
    insert(TellingRow, rows)
    unsettled.note({told_in for *_, told_in in rows if told_in is not None})


def _number(agent: str, session_id: str, at_ms: int) -> int:
    """The number of a session; it is made where missing."""
    row, _ = SessionRow.get_or_create(
        agent=agent,
        name=session_id,
        defaults={"created_ms": at_ms, "updated_ms": at_ms},
    )
    return int(row.id)
