"""Events that another memory kept: they come in as they were there.

Each keeps the way it was told, and what it was told as besides, so that whoever tells
it again is recognised here as there.
"""

from collections.abc import Callable, Iterable, Sequence

from memtui.memory.events import Event
from memtui.store import events, tellings
from memtui.store.database import insert, known
from memtui.store.events import Added
from memtui.store.tables import EventRow, SessionRow, TellingRow

Complete = Callable[[Sequence[Event]], list[Event]]


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
    kept = {event_id: event_id for event_id in known(EventRow, ids)}
    kept |= tellings.resolved(ids)
    insert(
        TellingRow,
        [
            (
                telling.event_id,
                kept[event.event_id],
                telling.route,
                _number(event, telling.session_id),
            )
            for event, telling in told.values()
            if event.event_id in kept
        ],
    )


def _number(event: Event, session_id: str) -> int | None:
    """The number of another session that told an event; it is made where missing."""
    if not session_id:
        return None
    at_ms = event.timestamp_ms
    row, _ = SessionRow.get_or_create(
        agent=event.agent,
        name=session_id,
        defaults={"created_ms": at_ms, "updated_ms": at_ms},
    )
    return int(row.id)
