"""Tools for sessions and events: lists of both, page by page."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from memtui.errors import UsageError
from memtui.model.citations import CONTEXT_EVENTS
from memtui.model.filters import ALL, Scope
from memtui.search.query import SessionNameError, UnknownSessionError, find_session
from memtui.services import browse, sessions, usage
from memtui.services.conversation import expand
from memtui.services.sessions import SessionDetails
from memtui.text import dates, fencing
from memtui.tools import formatting
from memtui.tools.envelope import error_info
from memtui.tools.formatting import LineWriter
from memtui.tools.replies import (
    NO_TIME,
    NO_TOKEN,
    Item,
    Reply,
    as_page,
    cut,
    shorten_texts,
)

if TYPE_CHECKING:
    from memtui.workspace import Workspace

EVENT_CHARS = 400
"""The texts of events are cut no shorter than this before some are left out."""

EXCERPT_CHARS, NEIGHBOR_SHARE = 120, 6
"""The same for the events of a citation; those around it are cut to a sixth of it."""

HEAD_CHARS = 60
"""The title of the session above the events of a citation is cut to this."""

NO_GRIP = "There is no such grip or event. Search again: ids come from replies."
IS_NODE = "That is a node, not a citation: get_node opens it."
SEE_SESSIONS = "See them: list_sessions."


def list_sessions(
    workspace: "Workspace",
    *,
    scope: Scope = ALL,
    offset: int = 0,
    limit: int = 20,
) -> Reply:
    """List a page of the sessions, the latest first."""
    scope, unknown_names = browse.resolve_scope(scope)
    page = sessions.list_sessions(
        agent=scope.agent, project=scope.project, offset=offset, limit=limit
    )
    none = (
        f"There is no session of {scope}."
        if scope.is_narrow
        else "There is no session."
    )
    none = " ".join(unknown_names) or none
    items = list(map(formatting.session, page.sessions))
    reply = Reply({"sessions": items}, LineWriter(workspace.zone).session)
    return as_page(reply, offset, page.total, none)


def get_session_meta(workspace: "Workspace", session: str) -> Reply:
    """Describe one session, named by ``[agent:]id`` or the beginning of that."""
    try:
        facts = sessions.get_details(*find_session(session))
    except SessionNameError as error:
        return _no_session("card", error)
    return _describe(workspace, facts)


def _describe(workspace: "Workspace", facts: SessionDetails) -> Reply:
    session = facts.session
    fork = f"{session.agent}:{session.forked_from}" if session.forked_from else ""
    head = formatting.session(session) | {
        "summary": session.summary or None,
        "branch": session.branch,
        "model": session.model,
        "root": session.root,
        "folder": session.cwd,
        "forked_from": fork,
        "shared_messages": facts.shared_messages,
        "events": facts.events,
        "segments": len(facts.card.segments),
        "subagents": len(facts.subagents),
    }
    lines = LineWriter(workspace.zone)
    about = ("created_by", "branch", "model", "segments", "subagents")
    counts = [f"{name}: {head[name]}" for name in about if head[name]]
    began = f"began: {lines.minute(head['created_at'])}"
    more = ("root", "folder", "forked_from", "shared_messages", "summary")
    return Reply(
        {"card": list(map(formatting.bullet, facts.card.bullets))},
        lines.bullet,
        head,
        [
            lines.session(head),
            " · ".join([began, *counts]),
            *(f"{name}: {head[name]}" for name in more if head[name]),
        ],
    )


def list_messages(
    workspace: "Workspace",
    session: str,
    *,
    offset: int = 0,
    limit: int = 20,
    subagent: str = "",
    text_offset: int = 0,
    all_events: bool = False,
    with_thoughts: bool = False,
    with_card: bool = False,
) -> Reply:
    """List a page of the messages of a session, oldest first.

    ``text_offset`` is for the first message; ``all_events`` adds the results of tools,
    ``with_card`` what is known of the session.

    Raises:
        MemtuiError: The session has no such subagent.
    """
    try:
        facts = sessions.get_details(*find_session(session))
    except SessionNameError as error:
        return _no_session("messages", error)
    page = sessions.list_messages(
        facts,
        offset=offset,
        limit=limit,
        subagent=subagent,
        all_events=all_events,
        with_thoughts=with_thoughts,
    )
    items = []
    for turn in page.turns:
        item = formatting.event(turn.event)
        if turn.thoughts:
            item["thoughts"] = [thought.text for thought in turn.thoughts]
        items.append(item)
    items[:1] = [_from_offset(item, text_offset) for item in items[:1]]
    reply = _event_list(workspace, "messages", items)
    if with_card:
        reply = _add_card(workspace, reply, facts)
    none = "There is no message."
    if facts.shared_messages:
        original = f"{facts.session.agent}:{facts.session.forked_from}"
        none = f"All messages are those of the session it continues: {original}."
    return as_page(reply, offset, page.total, none, page.places, page.end)


def _add_card(workspace: "Workspace", reply: Reply, facts: SessionDetails) -> Reply:
    meta = _describe(workspace, facts)
    count = len(meta.head_lines) - bool(facts.session.summary)
    about, summary = meta.head_lines[:count], meta.head_lines[count:]
    total = usage.read_session(facts.session, workspace.settings, workspace.zone)
    about = [*about, usage.describe(total)]
    head_lines = [*about, *map(meta.line, meta.items)]
    for subagent in facts.subagents:
        call = subagent.tool_use_id
        started = f"started by {call}" if call else ""
        parts = [subagent.kind, subagent.task, f"{subagent.events:,} events", started]
        described = " · ".join(filter(None, parts))
        head_lines.append(f"subagent {subagent.name}: {described}")
    head_lines += summary  # perhaps several screens long
    subagents = list(map(asdict, facts.subagents))
    head = {"session": meta.head, "card": meta.items, "subagents": subagents}
    head["usage"] = asdict(total)
    return replace(reply, head=head, head_lines=head_lines)


def _event_list(workspace: "Workspace", name: str, items: Sequence[Item]) -> Reply:
    return Reply(
        {name: items},
        LineWriter(workspace.zone).dated_event,
        multiline="text",
        item_chars=EVENT_CHARS,
        shorten=formatting.shorten_event,
    )


def _from_offset(item: Item, text_offset: int) -> Item:
    """Return an event with the rest of its text, in the form that agents read."""
    if not text_offset:
        return item
    text = fencing.neutralize(item["text"])
    return item | {"text": text[text_offset:], "text_offset": text_offset}


def _no_session(name: str, error: SessionNameError) -> Reply:
    """Return an empty reply that says why a name is not that of one session."""
    notes = error_info(error).message.splitlines()
    notes += [SEE_SESSIONS] if isinstance(error, UnknownSessionError) else []
    return Reply({name: ()}, str, notes=notes)


def get_events(
    workspace: "Workspace",
    when: str = "",
    *,
    limit: int = 50,
    token: str = "",
    scope: Scope = ALL,
    session: str = "",
) -> Reply:
    """List a page of the events of a time or a session, oldest first.

    If there are several times, the first one is used. A token is the id of the last
    event of the page before, whole or as it is cited.

    Raises:
        UsageError: Neither a time nor a session is given.
    """
    if not (when.strip() or session.strip()):
        raise UsageError("when is missing; give it, or a session")
    periods = dates.read_exact(when, workspace.now(), workspace.zone)[:1]
    if when.strip() and not periods:
        return Reply({"events": ()}, str, notes=(NO_TIME,))
    labels = [period.label for period in periods]
    start, end = (periods[0].start, periods[0].end) if periods else (None, None)
    if session:
        try:
            agent, session = find_session(session)
            scope = replace(scope, agent=agent)
        except SessionNameError as error:
            reply = _no_session("events", error)
            return replace(reply, notes=[*reply.notes, *labels])
    page = sessions.list_events(
        start, end, after=token, limit=limit, scope=scope, session_id=session
    )

    def next_page(count: int) -> Item:
        is_last = count >= len(page.events) and not page.has_more
        last_id = page.events[count - 1].event_id if count else token
        return {
            "continuation_token": None if is_last else last_id,
            "has_more": not is_last,
        }

    # The reason for an empty page comes first, as later notes may be cut.
    notes = [NO_TOKEN] if token and not page.is_continued else []
    notes += labels if page.events else ["Nothing was said then.", *labels]
    items = list(map(formatting.event, page.events))
    return replace(
        _event_list(workspace, "events", items),
        notes=notes,
        next_page=next_page,
        has_more=page.has_more,
    )


def expand_grip(
    workspace: "Workspace",
    grip_id: str,
    *,
    before: int = CONTEXT_EVENTS,
    after: int = CONTEXT_EVENTS,
    text_offset: int = 0,
) -> Reply:
    """List the events before a citation, those that it names, and those after it.

    ``text_offset`` is for the first event that it names.
    """
    expansion = expand(grip_id, before=before, after=after)
    grip, session = expansion.grip, expansion.session
    if grip is None:
        note = IS_NODE if grip_id.startswith("toc:") else NO_GRIP
        return Reply({"before": (), "excerpt": (), "after": ()}, str, notes=(note,))
    parts = {
        "before": expansion.events_before,
        "excerpt": expansion.excerpt_events,
        "after": expansion.events_after,
    }
    lists = {name: list(map(formatting.event, parts[name])) for name in parts}
    if lists["excerpt"]:
        lists["excerpt"][0] = _from_offset(lists["excerpt"][0], text_offset)
    cited = {item["id"] for item in lists["excerpt"]}

    def shorten(item: Item, chars: int) -> Item:
        if item["id"] in cited:
            return formatting.shorten_event(item, chars, grip.excerpt)
        if len(item["text"]) <= chars // NEIGHBOR_SHARE:
            return item
        text = cut(formatting.one_line(item["text"]), chars // NEIGHBOR_SHARE)
        return item | {"text": text, "is_short": True}

    head: Item = {"grip": formatting.grip(grip)}
    lines, head_lines = LineWriter(workspace.zone), []
    if session:
        head["session"] = formatting.session(session)
        # The room is for the messages.
        about = shorten_texts(head["session"] | {"outcome": ""}, HEAD_CHARS)
        head_lines = [lines.session(about)]
    first, end = len(lists["before"]), len(lists["before"]) + len(lists["excerpt"])
    return Reply(
        lists,
        lines.event,
        head,
        head_lines,
        # What is cited comes first, then what is nearest to it.
        order=sorted(
            range(end + len(lists["after"])),
            key=lambda place: max(first - place, place - end + 1, 0),
        ),
        has_headings=True,
        multiline="text",
        item_chars=EXCERPT_CHARS,
        shorten=shorten,
    )
