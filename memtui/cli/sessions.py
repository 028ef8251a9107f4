"""``sessions`` and ``session``: lists the sessions, and prints one."""

import argparse
from collections.abc import Sequence
from dataclasses import replace

from memtui.agents import formatting
from memtui.agents import sessions as agents_sessions
from memtui.agents.replies import Item, cut
from memtui.cli import ask
from memtui.search import resolve_filters
from memtui.services import sessions
from memtui.services.sessions import Facts, Page
from memtui.workspace import Workspace

THOUGHT_CHARS = 1_000


def show_all(workspace: Workspace, given: argparse.Namespace) -> int:
    """Print a page of the sessions."""
    reply = agents_sessions.list_sessions(
        workspace,
        agent=given.agent,
        project=given.project,
        offset=given.offset,
        limit=given.limit,
    )
    return ask.answer(workspace, given, reply)


def show(workspace: Workspace, given: argparse.Namespace) -> int:
    """Print what is known of a session, and a page of its messages."""
    try:
        facts = sessions.facts(*resolve_filters.find(given.session))
    except resolve_filters.NotOne as error:
        reply = agents_sessions.no_session("messages", error)
        return ask.answer(workspace, given, reply)
    page = {"offset": given.offset, "limit": given.limit, "subagent": given.subagent}
    whole_id = f"{facts.session.agent}:{facts.session.session_id}"
    reply = agents_sessions.list_messages(
        workspace, whole_id, **page, all_events=given.all
    )
    head = agents_sessions.session_head(workspace, facts) | _more(facts)
    about = agents_sessions.session_summary(facts)
    subagents = [
        {
            "name": one.name,
            "kind": one.kind,
            "task": one.task,
            "started_by": one.started_by,
            "events": one.events,
        }
        for one in facts.subagents
    ]
    lead = [*agents_sessions.session_lead(head)]
    lead += [f"{key}: {value}" for key, value in _more(facts).items()]
    lead += [f"- {text}" for text in about]
    lead += [_subagent_line(one) for one in subagents]
    items = reply.items
    if given.thoughts:
        found = sessions.page(facts, **page, is_all=given.all, with_thoughts=True)
        items = _with_thoughts(items, found)
    reply = replace(
        reply,
        items=items,
        line=_event_line,
        head={"session": head, "about": about, "subagents": subagents},
        lead=lead,
        shorten=_shorten_event,
    )
    return ask.answer(workspace, given, reply)


def _more(facts: Facts) -> Item:
    """Return what else is known of a session, where there is anything."""
    session = facts.session
    more: Item = {
        "root": session.root,
        "folder": session.cwd,
        "created_by": session.created_by,
    }
    if session.forked_from:
        more["forked_from"] = f"{session.agent}:{session.forked_from}"
        more["shared_messages"] = facts.shared_messages
    return {key: value for key, value in more.items() if value}


def _subagent_line(subagent: Item) -> str:
    about = [subagent["kind"], subagent["task"], f"{subagent['events']:,} events"]
    if subagent["started_by"]:
        about.append(f"started by {subagent['started_by']}")
    return f"subagent {subagent['name']}: {' · '.join(filter(None, about))}"


def _with_thoughts(items: Sequence[Item], page: Page) -> list[Item]:
    """Put the thoughts before each message into its item."""
    thoughts, found = list(page.thoughts), []
    for item, event in zip(items, page.events, strict=False):
        before = []
        while thoughts and thoughts[0].at <= event.timestamp:
            before.append(thoughts.pop(0).text)
        found.append(item | {"thoughts": before} if before else item)
    return found


def _shorten_event(item: Item, chars: int) -> Item:
    item = formatting.shorten_event(item, chars)
    if "thoughts" in item:
        item["thoughts"] = [cut(text, THOUGHT_CHARS) for text in item["thoughts"]]
    return item


def _event_line(item: Item) -> str:
    thoughts = [f"~ {text}" for text in item.get("thoughts", ())]
    return "\n".join([*thoughts, formatting.dated_event_line(item)])
