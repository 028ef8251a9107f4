"""Reads sessions: lists of them, the details of one, and its messages in pages. And
gives them other names."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime, tzinfo

from memtui.errors import MemtuiError, UsageError
from memtui.model import citations
from memtui.model.events import Event, is_event_id, plain_line, to_ms
from memtui.model.filters import ALL, FILTER_FIELDS, Filters, Scope
from memtui.model.nodes import TITLE_CHARS, Bullet, BulletKind, TocNode
from memtui.model.sessions import (
    NO_WORK,
    Session,
    SessionOrder,
    SessionWork,
    SubagentMetadata,
)
from memtui.redaction import redact
from memtui.services import conversation
from memtui.services.conversation import Turn
from memtui.store import (
    conversations,
    database,
    events,
    judgements,
    nodes,
    scopes,
    segments,
    work,
)
from memtui.store import sessions as store_sessions
from memtui.summarize import card
from memtui.text.plain import shorten

PAGE_SIZE = 50
"""The messages or sessions of a page by default."""


@dataclass(frozen=True, slots=True)
class SessionPage:
    """A page of sessions, the latest first."""

    total: int
    """The number on all pages."""
    sessions: tuple[Session, ...]


@dataclass(frozen=True, slots=True)
class SubagentSummary:
    """A subagent of a session, and how much it did."""

    name: str
    kind: str
    task: str
    tool_use_id: str
    """The id of the call that started it; "" if unknown."""
    events: int
    messages: int


@dataclass(frozen=True, slots=True)
class SessionDetails:
    """One session with its counts, its subagents and its summary."""

    card: "SessionCard"
    events: int
    """The number of events of the main conversation."""
    shared_messages: int
    """The messages that it shares with the session it was forked from, where they are
    stored."""
    subagents: tuple[SubagentSummary, ...]

    @property
    def session(self) -> Session:
        assert self.card.session is not None
        return self.card.session


@dataclass(frozen=True, slots=True)
class MessagePage:
    total: int
    """The number on all pages: of messages, or of all events."""
    turns: tuple[Turn, ...]
    """They have thoughts if asked for."""
    places: tuple[int, ...]
    """The number of messages before each of them."""
    end: int
    """The offset of the next page; damaged messages on this one are counted."""


def list_sessions(
    *, agent: str = "", project: str = "", offset: int = 0, limit: int = PAGE_SIZE
) -> SessionPage:
    """Return a page of the sessions of an agent or a project, or of all."""
    with database.connection():
        scope = Scope(agent, project)
        page = store_sessions.list_matching(None, (), offset, limit, scope)
        return SessionPage(store_sessions.count((), scope), tuple(page))


def get_details(agent: str, session_id: str) -> SessionDetails:
    """Return the details of a session.

    Raises:
        MemtuiError: It is not stored any more.
    """
    with database.connection():
        number, _ = _find(agent, session_id)
        counts = store_sessions.count_by_subagent(number)
        metadata = {
            subagent.subagent: subagent
            for subagent in store_sessions.list_subagents(agent, session_id)
        }
        subagents = []
        for name in sorted({*metadata, *counts} - {""}):
            subagent = metadata.get(name) or SubagentMetadata(agent, session_id, name)
            details = subagent.kind, subagent.task, subagent.tool_use_id
            own_counts = counts.get(name, (0, 0))
            subagents.append(SubagentSummary(name, *details, *own_counts))
        return SessionDetails(
            read_card(agent, session_id),
            counts.get("", (0, 0))[0],
            store_sessions.count_shared_messages(number),
            tuple(subagents),
        )


@dataclass(frozen=True, slots=True)
class SessionCard:
    """The facts about a session, with the grips of each line."""

    session: Session | None
    """None if it is not stored."""
    bullets: tuple[Bullet, ...]
    withheld: tuple[Bullet, ...]
    """Lines of a model that are not shown."""
    segments: tuple[TocNode, ...]
    """Its segments, the oldest first."""

    @property
    def work(self) -> SessionWork:
        return self.session.work if self.session else NO_WORK


def read_card(agent: str, session_id: str) -> SessionCard:
    """Return the card of a session; empty if it has no summary.

    A model's lines take the place of what was asked, and of the last message unless
    that came later.
    """
    with database.connection():
        number = store_sessions.get_number(agent, session_id)
        if number is None:
            return SessionCard(None, (), (), ())
        session = store_sessions.get_many([number])[number]
        parts = nodes.get_many(segments.list_ids(number))
        lines = card.list_session_lines(work.read_facts(number), session.work)
        judged = work.read_judgements(number)
        bullets = judgements.judge_lines(work.link_lines(lines), judged)
        # Those of segments that were cut anew belong to none.
        names = {part.node_id for part in parts}
        missing = {k: j for k, j in judged.items() if j.node_id not in names}
        others = judgements.list_missing(missing, parts[-1], bullets) if parts else []
    of_parts = [
        bullet
        for part in parts
        for bullet in (*part.bullets, *part.further)
        if bullet.verdict.is_by_model
        or bullet.kind is BulletKind.ADDED
        or judgements.is_beside(bullet, bullets)
    ]
    of_parts += [bullet for bullet in others if not bullet.is_rejected]
    withheld = [bullet for part in parts for bullet in part.withheld]
    withheld += [bullet for bullet in others if bullet.is_rejected]
    rejected = {(bullet.kind, bullet.claim_text) for bullet in withheld}
    withheld += [
        bullet
        for bullet in bullets
        if bullet.is_rejected and (bullet.kind, bullet.claim_text) not in rejected
    ]
    replaced = set()
    if any(bullet.verdict.is_by_model for bullet in of_parts):
        replaced.add(BulletKind.ASKED)
        if parts[-1].is_by_model:
            replaced.add(BulletKind.OUTCOME)
    facts = [
        bullet
        for bullet in bullets
        if not bullet.is_rejected
        and (
            bullet.kind not in replaced
            or (bullet.judgement and judgements.is_worded(bullet.judgement))
        )
    ]
    return SessionCard(session, (*of_parts, *facts), tuple(withheld), tuple(parts))


def list_messages(
    details: SessionDetails,
    *,
    offset: int = 0,
    limit: int = PAGE_SIZE,
    subagent: str = "",
    all_events: bool = False,
    with_thoughts: bool = False,
) -> MessagePage:
    """Return a page of a session's main conversation, or of a subagent's.

    Tool results and boundaries are left out unless all events are asked for.

    Raises:
        MemtuiError: The session has no such subagent.
    """
    total = _total(details, subagent, is_all=all_events)
    session = details.session
    with database.connection():
        number, _ = _find(session.agent, session.session_id)
        # The thoughts before the first message follow the message before it.
        ahead = 1 if with_thoughts and offset else 0
        rows = conversations.list_page(
            number, subagent, offset - ahead, limit + ahead, is_all=all_events
        )
        before = next(iter(rows[:ahead]), None)
        rows = rows[ahead:]
        places = tuple(offset + at for at, event in enumerate(rows) if event)
        events = [event for event in rows if event]
        turns = tuple(map(Turn, events))
        if with_thoughts:
            before_at = before.timestamp if before else None
            turns = conversation.add_thoughts(number, subagent, events, before_at)
        # Rows that are no messages any more are counted, but not among them.
        end = offset + len(rows) if len(rows) == limit else max(offset, total)
        return MessagePage(total, turns, places, end)


@dataclass(frozen=True, slots=True)
class EventPage:
    events: tuple[Event, ...]
    has_more: bool
    is_continued: bool
    """It follows the event that was named as the last one read."""


def list_events(
    start: datetime | None,
    end: datetime | None,
    *,
    after: str = "",
    limit: int,
    scope: Scope = ALL,
    session_id: str = "",
) -> EventPage:
    """Return a page of the events of a time, or of a session, oldest first.

    ``after`` is the last event of the page before: its id or a citation.
    """
    last_id = citations.strip(after)
    with database.connection():
        # It may have been forgotten.
        if not is_event_id(last_id):
            last_id = conversation.find_cited_event(last_id)
        page = events.list_in_time(
            to_ms(start) if start else None,
            to_ms(end) if end else None,
            after=last_id,
            limit=limit + 1,
            scope=scope,
            session=session_id,
        )
    return EventPage(tuple(page[:limit]), len(page) > limit, bool(last_id))


def _total(details: SessionDetails, subagent: str, *, is_all: bool) -> int:
    if not subagent:
        return details.events if is_all else details.session.message_count
    summaries = {summary.name: summary for summary in details.subagents}
    if summary := summaries.get(subagent):
        return summary.events if is_all else summary.messages
    names = ", ".join(summaries) or "it has none"
    raise MemtuiError(f"the session has no subagent {subagent!r}: {names}")


def _find(agent: str, session_id: str) -> tuple[int, Session]:
    number = store_sessions.get_number(agent, session_id)
    session = store_sessions.get(agent, session_id)
    if number is None or session is None:
        raise MemtuiError(f"the session {agent}:{session_id} is no longer stored")
    return number, session


def rename(agent: str, session_id: str, name: str, zone: tzinfo) -> Session:
    """Give a session a name, which it has everywhere from now on; return it as it is
    then.

    The name is one line and at most as long as a title. Secrets in it are removed.

    Raises:
        MemtuiError: The session is not stored any more, or the name is empty.
    """
    line = plain_line(name)
    if not any(character.isprintable() for character in line.replace(" ", "")):
        raise UsageError("the name is empty")
    return _set_own_name(
        agent, session_id, shorten(redact(line).text, TITLE_CHARS), zone
    )


def undo_rename(agent: str, session_id: str, zone: tzinfo) -> Session:
    """Take back the name that a user gave a session; return it as it is then.

    Raises:
        MemtuiError: The session is not stored any more, or nobody gave it a name.
    """
    return _set_own_name(agent, session_id, "", zone)


def _set_own_name(agent: str, session_id: str, name: str, zone: tzinfo) -> Session:
    with database.transaction():
        number, session = _find(agent, session_id)
        if not (name or session.own_name):
            raise MemtuiError(f"nobody has renamed the session {session.full_name}")
        work.save_own_name(number, name, zone)
        return _find(agent, session_id)[1]


MAX_RANGE = 500
"""The most sessions that are read at once."""


@dataclass(frozen=True, slots=True)
class SessionQuery:
    """The sessions that are listed, and their order."""

    order: SessionOrder = SessionOrder.NEWEST
    words: tuple[str, ...] = ()
    """Words that must all be in the title, project or agent, or filters of a scope, as
    in a search: "state:open"."""
    of: Scope = ALL


@dataclass(frozen=True, slots=True)
class SessionRange:
    query: SessionQuery
    total: int
    """The number in the whole list."""
    stored: int
    """The number of stored sessions, listed or not."""
    offset: int
    sessions: Sequence[Session]
    selected: int | None = None
    """The place of the session asked for; None if it is not in the list."""


SCOPE_FIELDS = tuple(field.name for field in fields(Scope))


def _split_words(listing: SessionQuery) -> tuple[Sequence[str], Scope]:
    """Return the words that are no filters, and the scope with those that are.

    A value may be incomplete: "state:o" is "state:open", and the beginning of a name is
    a word.
    """
    words, filters = list[str](), Filters(scope=listing.of)
    for word in listing.words:
        name, colon, value = word.partition(":")
        if not colon or name.lower() not in SCOPE_FIELDS:
            words.append(word)
            continue
        field = FILTER_FIELDS[name.lower()]
        begun = tuple(filter(None, value.lower().split(",")))
        value = ",".join(v for v in field.values if v.startswith(begun)) or value
        if not value:
            continue
        try:
            narrowed = field.read(filters, value, UTC)
        except ValueError:
            words.append(word)
            continue
        scope, unknown = scopes.resolve_names(narrowed.scope)
        if unknown:
            words.append(value)
        else:
            filters = replace(narrowed, scope=scope)
    return words, filters.scope


def list_range(
    listing: SessionQuery, offset: int, limit: int, place: int | None = None
) -> SessionRange:
    """Return a part of a list, with the place of the session that it was found by."""
    with database.connection():
        words, scope = _split_words(listing)
        limit = min(limit, MAX_RANGE)
        rows = store_sessions.list_matching(listing.order, words, offset, limit, scope)
        total = stored = store_sessions.count(words, scope)
        if words or scope.is_narrow:
            stored = store_sessions.count()
    return SessionRange(listing, total, stored, offset, rows, place)


def list_around(
    listing: SessionQuery, session: Session | None, place: int, limit: int
) -> SessionRange:
    """Return the part of a list around a session, wherever it is now.

    It is the part around the given place if the session is not in the list.
    """
    with database.connection():
        number = index = None
        if session is not None:
            number = store_sessions.get_number(session.agent, session.session_id)
        if number is not None:
            words, scope = _split_words(listing)
            index = store_sessions.find_index(listing.order, words, number, scope)
        here = place if index is None else index
        return list_range(listing, max(0, here - limit // 2), limit, index)
