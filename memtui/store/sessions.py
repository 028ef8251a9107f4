"""Sessions: made by their first event, kept in step by every later one."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from peewee import fn

from memtui.model.events import Event, EventRole, clean, from_ms, to_ms
from memtui.model.sessions import Session, SessionMetadata, SubagentMetadata
from memtui.store import outbox, owner_updates, tombstones
from memtui.store.database import db
from memtui.store.schema import EventRow, SessionRow, SourceCopyRow, SubagentRow
from memtui.text import titles


@dataclass(frozen=True, slots=True)
class Known:
    """A session that has events, or is about to."""

    row: SessionRow

    @property
    def number(self) -> int:
        """Its number in the store."""
        return int(self.row.id)

    def other_routes(self, route: str) -> bool:
        """Whether anything of it came by another route than this."""
        return bool(set(self.row.routes.split()) - {route})


def numbers_of(batch: Iterable[Event]) -> dict[tuple[str, str], Known]:
    """The sessions of these events by (agent, session id); made where missing."""
    spans: dict[tuple[str, str], list[int]] = {}
    for event in batch:
        key, at_ms = (event.agent, event.session_id), event.timestamp_ms
        span = spans.setdefault(key, [at_ms, at_ms])
        span[0], span[1] = min(span[0], at_ms), max(span[1], at_ms)
    known: dict[tuple[str, str], Known] = {}
    for (agent, name), (first, last) in spans.items():
        row = _row(agent, name) or SessionRow.create(
            agent=agent, name=name, created_ms=first, updated_ms=last
        )
        known[agent, name] = Known(row)
    return known


def touch(
    new: Sequence[Event], known: dict[tuple[str, str], Known], route: str
) -> None:
    """Count new events into their sessions, and keep the line that stands for each.

    Args:
        new: The events.
        known: All sessions of which something was told.
        route: How.
    """
    by_session: dict[tuple[str, str], list[Event]] = {key: [] for key in known}
    for event in new:
        by_session[event.agent, event.session_id].append(event)
    for key, told in by_session.items():
        row = known[key].row
        if route not in row.routes.split():
            row.routes = " ".join(sorted({*row.routes.split(), route}))
        main = [event for event in told if not event.subagent]
        times = [event.timestamp_ms for event in told]
        row.created_ms = min([row.created_ms, *times])
        row.updated_ms = max([row.updated_ms, *times])
        row.message_count += sum(event.is_message for event in main)
        row.event_count += len(told)
        _stand_for(row, main)
        row.save(only=row.dirty_fields)


def _stand_for(row: SessionRow, told: Sequence[Event]) -> None:
    """Take the earliest thing a person asked that says what the session is about.

    Where nothing does, it is the earliest of all.
    """
    for event in told:
        if not event.is_message or event.role is not EventRole.USER:
            continue
        at_ms = event.timestamp_ms
        is_earlier = row.first_prompt_ms is None or at_ms < row.first_prompt_ms
        if not is_earlier and titles.tells(row.first_prompt):
            continue
        line = titles.of(event.text)
        if titles.tells(line) or (is_earlier and not titles.tells(row.first_prompt)):
            row.first_prompt_ms, row.first_prompt = at_ms, line


def entitle(numbers: Iterable[int]) -> list[int]:
    """Find anew the lines that stand for sessions; the sessions whose it changes."""
    changed = []
    for number in numbers:
        known = SessionRow.select(SessionRow.first_prompt_ms, SessionRow.first_prompt)
        before = known.where(SessionRow.id == number).tuples().first()
        found = _opening(number)
        if before != found:
            line = {"first_prompt_ms": found[0], "first_prompt": found[1]}
            SessionRow.update(line).where(SessionRow.id == number).execute()
            changed.append(number)
    return changed


def _opening(number: int) -> tuple[int | None, str]:
    first: tuple[int | None, str] = None, ""
    # As far as needed: most say it at once.
    for at_ms, text in db.execute_sql(_ASKED, (titles.READ_CHARS, number)):
        line = titles.of(text)
        if titles.tells(line):
            return int(at_ms), line
        if first[0] is None:
            first = int(at_ms), line
    return first


_ASKED = (
    "SELECT at_ms, substr(text, 1, ?) FROM events WHERE session_id = ?"
    " AND subagent = '' AND type = 'user_message' AND role = 'user'"
    " ORDER BY at_ms, ordinal, id"
)


def recount(number: int) -> None:
    """Count a session's events anew, and what stands for it, after some went."""
    mine = EventRow.select().where(EventRow.session == number)
    first, last, events, messages = (
        mine.select(
            fn.MIN(EventRow.at_ms),
            fn.MAX(EventRow.at_ms),
            fn.COUNT(EventRow.id),
            fn.SUM(_IS_MESSAGE),
        )
        .tuples()
        .get()
    )
    if not events:
        # All it tells is kept with others: it has the time of what it tells.
        times = (fn.MIN(EventRow.at_ms), fn.MAX(EventRow.at_ms))
        told = SourceCopyRow.select(*times).join(EventRow)
        first, last = told.where(SourceCopyRow.session == number).tuples().get()
    SessionRow.update(
        created_ms=fn.COALESCE(first, SessionRow.created_ms),
        updated_ms=fn.COALESCE(last, SessionRow.updated_ms),
        event_count=events,
        message_count=messages or 0,
    ).where(SessionRow.id == number).execute()
    entitle([number])


_IS_MAIN = EventRow.subagent == ""


_IS_MESSAGE = (
    EventRow.type.in_(("user_message", "assistant_message"))
    & EventRow.role.in_(("user", "assistant"))
    & _IS_MAIN
)


def learn(facts: SessionMetadata) -> int | None:
    """Keep what a source says of a session that has events; silence changes nothing.

    Of its folder and project the earliest word counts, however its agent moves about
    later and in whichever order it is told; of branch, title, model and summary the
    latest.

    Returns:
        The session's number if it belongs to another project now, else None.
    """
    row = _row(clean(facts.agent), clean(facts.session_id))
    if row is None:
        return None
    at_ms = to_ms(facts.at) if facts.at else row.created_ms
    told: dict[str, object] = {
        "created_by": row.created_by or clean(facts.created_by),
        "forked_from": clean(facts.forked_from) or row.forked_from,
        "branch": clean(facts.branch) or row.branch,
        "model": clean(facts.model) or row.model,
    }
    if facts.title and not tombstones.is_covered(facts.title):
        told["title"] = clean(facts.title) or row.title
    if facts.project and (row.project_ms is None or at_ms < row.project_ms):
        told |= {"cwd": clean(facts.cwd), "project": clean(facts.project)}
        told |= {"root": clean(facts.root), "project_ms": at_ms}
    if facts.summary and not tombstones.is_covered(facts.summary):
        told["summary"] = clean(facts.summary)
    changed = {n: value for n, value in told.items() if getattr(row, n) != value}
    if changed:
        SessionRow.update(changed).where(SessionRow.id == row.id).execute()
    if not changed.keys().isdisjoint(("title", "summary")):
        outbox.say_renamed([row.id])
    if "forked_from" in changed:
        owner_updates.request([row.id])
    return row.id if "project" in changed else None


def get(agent: str, session_id: str) -> Session | None:
    """One session, or None if nothing of it is kept."""
    row = _row(agent, session_id)
    return session(row) if row else None


def _row(agent: str, name: str) -> SessionRow | None:
    found = db.execute_sql(_named(), (agent, name)).fetchone()
    if found is None:
        return None
    names = SessionRow._meta.sorted_field_names
    return SessionRow(**dict(zip(names, found, strict=True)))


@cache
def _named() -> str:
    """Peewee's statement, kept: building it takes several times as long as running."""
    rows = SessionRow.select().where(SessionRow.agent == "", SessionRow.name == "")
    return str(rows.sql()[0])


def of_numbers(numbers: Iterable[int]) -> dict[int, Session]:
    """Sessions by their numbers in the store."""
    rows = SessionRow.select().where(SessionRow.id.in_(list(numbers)))
    return {row.id: session(row) for row in rows}


def number(agent: str, session_id: str) -> int | None:
    """A session's number in the store."""
    row = (
        SessionRow.select(SessionRow.id)
        .where(SessionRow.agent == agent, SessionRow.name == session_id)
        .tuples()
        .first()
    )
    return int(row[0]) if row else None


def begun(agent: str, session_id: str, at_ms: int) -> int:
    """A session's number in the store; one that is not kept yet begins at a time."""
    times = {"created_ms": at_ms, "updated_ms": at_ms}
    row, _ = SessionRow.get_or_create(agent=agent, name=session_id, defaults=times)
    return int(row.id)


def agents_of(name: str) -> list[str]:
    """The agents that have a session of this name."""
    rows = SessionRow.select(SessionRow.agent).where(SessionRow.name == name)
    return [agent for (agent,) in rows.order_by(SessionRow.agent).tuples()]


def beginning(start: str, limit: int) -> list[tuple[str, str]]:
    """The agents and names of sessions whose names begin so, the latest first."""
    rows = SessionRow.select(SessionRow.agent, SessionRow.name).where(
        fn.SUBSTR(SessionRow.name, 1, len(start)) == start
    )
    latest = rows.order_by(SessionRow.updated_ms.desc(), SessionRow.id)
    return list(latest.limit(limit).tuples())


def session(row: SessionRow) -> Session:
    """A row as what it means."""
    return Session(
        agent=row.agent,
        session_id=row.name,
        project=row.project,
        cwd=row.cwd,
        branch=row.branch,
        title=" ".join((row.title or row.first_prompt).split()),
        model=row.model,
        created_at=from_ms(row.created_ms),
        updated_at=from_ms(row.updated_ms),
        message_count=row.message_count,
        event_count=row.event_count,
        root=row.root,
        created_by=row.created_by,
        forked_from=row.forked_from,
        summary=row.summary,
    )


def meet(helpers: Iterable[SubagentMetadata]) -> None:
    """Keep what a source says of subagents; its silence changes nothing."""
    for told in helpers:
        names = clean(told.agent), clean(told.session_id), clean(told.subagent)
        if tombstones.covers_helper(*names):
            continue
        said = [clean(text) for text in (told.kind, told.tool_use_id, told.task)]
        row = SubagentRow.get_or_none(
            SubagentRow.agent == names[0],
            SubagentRow.session_name == names[1],
            SubagentRow.subagent == names[2],
        )
        before = (row.kind, row.tool_use_id, row.task) if row else ("", "", "")
        kept = [new or old for new, old in zip(said, before, strict=True)]
        fields = ("agent", "session_name", "subagent", "kind", "tool_use_id", "task")
        SubagentRow.insert(
            dict(zip(fields, (*names, *kept), strict=True))
        ).on_conflict_replace().execute()


def of(agent: str, session_id: str) -> list[SubagentMetadata]:
    """The subagents of a session, by their names."""
    rows = (
        SubagentRow.select()
        .where(SubagentRow.agent == agent, SubagentRow.session_name == session_id)
        .order_by(SubagentRow.subagent)
    )
    return [
        SubagentMetadata(
            agent, session_id, row.subagent, row.kind, row.tool_use_id, row.task
        )
        for row in rows
    ]
