"""Tools for sessions and events: which there are, and what was said, page by page."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from memtui.agents import formatting, replies
from memtui.agents.replies import Item, Reply
from memtui.agents.toc import NO_TIME, NO_TOKEN
from memtui.errors import UsageError
from memtui.model import citations
from memtui.model.events import is_event_id, to_ms
from memtui.model.scope import Scope
from memtui.search import resolve_filters
from memtui.services import sessions
from memtui.services.grip_events import AFTER, BEFORE, expand
from memtui.services.sessions import SessionDetails
from memtui.store import database
from memtui.store import events as store_events
from memtui.store import nodes as store_nodes
from memtui.text import date_format, dates

if TYPE_CHECKING:
    from memtui.workspace import Workspace

NO_GRIP = "There is no such grip or event. Search again: ids come from replies."
IS_NODE = "That is no citation but a node: get_node opens it."
SEE_SESSIONS = "See them: list_sessions."


def list_sessions(
    workspace: "Workspace",
    *,
    agent: str = "",
    project: str = "",
    offset: int = 0,
    limit: int = 20,
) -> Reply:
    """List a page of the sessions, the latest first."""
    page = sessions.list_sessions(
        agent=agent, project=project, offset=offset, limit=limit
    )
    scope = Scope(agent, project)
    none = f"No session is of {scope}." if scope.is_narrow else "There is no session."
    return _page(
        "sessions",
        [formatting.session(one, workspace.zone) for one in page.sessions],
        page.offset,
        page.total,
        none,
    )


def get_session_meta(workspace: "Workspace", session: str) -> Reply:
    """Describe one session, named by ``[agent:]id`` or the beginning of that."""
    try:
        facts = sessions.get_details(*resolve_filters.find_session(session))
    except resolve_filters.SessionNameError as error:
        return no_session("about", error)
    head = session_head(workspace, facts)
    return Reply(
        "about",
        [{"text": text} for text in session_summary(facts)],
        lambda item: f"- {item['text']}",
        head,
        session_lead(head),
        is_headed=True,
    )


def session_head(workspace: "Workspace", facts: SessionDetails) -> Item:
    """Return what is known of a session as fields."""
    session, zone = facts.session, workspace.zone
    return formatting.session(session, zone) | {
        "began": date_format.iso_minute(session.created_at, zone),
        "branch": session.branch,
        "model": session.model,
        "events": facts.events,
        "segments": facts.segments,
        "subagents": len(facts.subagents),
    }


def session_lead(head: Item) -> list[str]:
    """Write what is known of a session as lines."""
    about = ("began", "branch", "model", "segments", "subagents")
    rest = " · ".join(f"{name}: {head[name]}" for name in about if head[name])
    return [formatting.session_line(head), rest]


def session_summary(facts: SessionDetails) -> list[str]:
    """Return the summary a client set, then the headlines of the longest segments."""
    summary = facts.session.summary
    return [*([summary] if summary else []), *facts.summary]


def list_messages(
    workspace: "Workspace",
    session: str,
    *,
    offset: int = 0,
    limit: int = 20,
    subagent: str = "",
    all_events: bool = False,
) -> Reply:
    """List a page of the messages of a session, oldest first.

    Args:
        workspace: Where to look.
        session: Its ``[agent:]id`` or the beginning of that.
        offset: How many to leave out.
        limit: How many.
        subagent: Of this subagent's conversation.
        all_events: Tool results and boundaries as well.

    Raises:
        MemtuiError: The session has no such subagent.
    """
    try:
        facts = sessions.get_details(*resolve_filters.find_session(session))
    except resolve_filters.SessionNameError as error:
        return no_session("messages", error)
    page = sessions.list_messages(
        facts, offset=offset, limit=limit, subagent=subagent, all_events=all_events
    )
    return _page(
        "messages",
        [formatting.event(event, workspace.zone) for event in page.events],
        page.offset,
        page.total,
        "There is no message.",
    )


def _page(
    name: str, items: Sequence[Item], offset: int, total: int, none: str
) -> Reply:
    """Return a page of a list of known length."""

    def next_page(count: int) -> Item:
        place = offset + count
        return {"total": total, "next_offset": place if place < total else None}

    past_end = f"The offset is past the end: there are {total:,} {name}."
    is_sessions = name == "sessions"
    return Reply(
        name,
        items,
        formatting.session_line if is_sessions else formatting.dated_event_line,
        notes=() if items else (past_end if total else none,),
        next_page=next_page,
        has_more=offset + len(items) < total,
        shorten=formatting.shorten_title if is_sessions else formatting.shorten_event,
    )


def no_session(name: str, error: resolve_filters.SessionNameError) -> Reply:
    """Return an empty reply that says why a name is not that of one session."""
    notes = replies.problem(error).message.splitlines()
    notes += (
        [SEE_SESSIONS] if isinstance(error, resolve_filters.UnknownSessionError) else []
    )
    return Reply(name, (), str, notes=notes)


def get_events(
    workspace: "Workspace",
    when: str = "",
    *,
    limit: int = 50,
    token: str = "",
    agent: str = "",
    project: str = "",
    session: str = "",
) -> Reply:
    """List a page of the events of a time or a session, oldest first.

    Args:
        workspace: Where to look.
        when: A time in words; of several the first counts.
        limit: How many.
        token: The id of the last event of the page before, whole or as it is cited.
        agent: Of this agent's sessions alone.
        project: Of this project alone.
        session: Of this session alone: ``[agent:]id`` or the beginning of that.

    Raises:
        UsageError: Neither a time nor a session is given.
    """
    if not (when.strip() or session.strip()):
        raise UsageError("when is missing; give it, or a session")
    periods = dates.read_exact(when, workspace.now(), workspace.zone)
    if when.strip() and not periods:
        return Reply("events", (), formatting.dated_event_line, notes=(NO_TIME,))
    start, end = (periods[0].start, periods[0].end) if periods else (None, None)
    if session:
        try:
            agent, session = resolve_filters.find_session(session)
        except resolve_filters.SessionNameError as error:
            reply = no_session("events", error)
            return replace(reply, notes=[*reply.notes, *_labels(periods)])
    with database.connection():
        after = _cited_event(token)
        found = store_events.list_in_time(
            to_ms(start) if start else None,
            to_ms(end) if end else None,
            after=after,
            limit=limit + 1,
            scope=Scope(agent, project),
            session=session,
        )
    page = found[:limit]
    notes = [NO_TOKEN] if token and not after else []

    def next_page(count: int) -> Item:
        has_more = count < len(found)
        last = page[count - 1].event_id if count else token
        return {"continuation_token": last if has_more else None, "has_more": has_more}

    if page:
        notes += _labels(periods)
    else:
        # Why there is nothing comes first: it is kept where there is little room.
        notes = [*notes, "Nothing was said then.", *_labels(periods)]
    return Reply(
        "events",
        [formatting.event(event, workspace.zone) for event in page],
        formatting.dated_event_line,
        notes=notes,
        next_page=next_page,
        has_more=len(found) > limit,
        shorten=formatting.shorten_event,
    )


def _labels(periods: Sequence[dates.DatePeriod]) -> list[str]:
    return [period.label for period in periods[:1]]


def _cited_event(token: str) -> str:
    """Return the id of the event a token names, also of one that was forgotten."""
    token = citations.strip(token)
    if is_event_id(token):
        return token
    start = citations.parse_event(token)
    return store_nodes.find_event(start) if start else ""


def expand_grip(
    workspace: "Workspace", grip_id: str, *, before: int = BEFORE, after: int = AFTER
) -> Reply:
    """List the events a citation names, then those around them, the nearest first."""
    found = expand(grip_id, before=before, after=after)
    if found.grip is None:
        note = IS_NODE if grip_id.startswith("toc:") else NO_GRIP
        return Reply("events", (), formatting.event_line, notes=(note,))
    items = [
        formatting.event(event, workspace.zone) | {"is_excerpt": True}
        for event in found.excerpt_events
    ]
    earlier, later = found.events_before[::-1], found.events_after
    for distance in range(max(len(earlier), len(later))):
        for events, sign in ((earlier, -1), (later, 1)):
            if distance < len(events):
                item = formatting.event(events[distance], workspace.zone)
                items.append(item | {"place": sign * (distance + 1)})
    head: Item = {"grip": formatting.grip(found.grip, workspace.zone)}
    lead = []
    if found.session:
        head["session"] = formatting.session(found.session, workspace.zone)
        lead = [formatting.session_line(head["session"])]
    return Reply(
        "events",
        items,
        _placed_event_line,
        head,
        lead,
        hint=f"{replies.MORE}, or for fewer before and after",
        shorten=partial(formatting.shorten_quoted_event, quote=found.grip.excerpt),
    )


def _placed_event_line(item: Item) -> str:
    place = f"{item['place']:+d} " if "place" in item else ""
    return f"{place}{formatting.event_line(item)}"
