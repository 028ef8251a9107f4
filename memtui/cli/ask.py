"""What agents ask from a shell: each answer fenced, cited and within its budget."""

import argparse
import re
from collections.abc import Callable, Iterable
from dataclasses import replace

from memtui.agents import outline
from memtui.agents.replies import NOTHING_KEPT, Reply
from memtui.cli import output
from memtui.model.filters import Filters
from memtui.model.scope import Scope
from memtui.services import sessions
from memtui.workspace import Workspace

Ask = Callable[[Workspace, argparse.Namespace, Scope], Reply]


COMMANDS = {
    "get_toc_root": "show",
    "get_node": "show",
    "browse_toc": "browse",
    "browse_time": "when",
    "browse_keyword": "keyword",
    "expand_grip": "expand",
    "get_events": "events",
    "list_sessions": "sessions",
    "list_messages": "session",
    "get_session_meta": "session",
    "search_sessions": "search-sessions",
    "search_memory": "search",
    "retrieve_memory": "retrieve-memory",
    "search_children": "search-children",
    "search_node": "search-node",
}
"""What agents' tools are called on the command line."""


_TOOLS = re.compile(rf"\b(?:{'|'.join(COMMANDS)})\b")


def run(house: Workspace, given: argparse.Namespace) -> int:
    """Print what answers."""
    of = Scope(given.agent, given.project)
    return answer(house, given, lambda: _ASKS[given.command](house, given, of))


def answer(
    house: Workspace,
    given: argparse.Namespace,
    reply: Callable[[], Reply],
    page: Callable[[], Iterable[str]] | None = None,
) -> int:
    """Print an answer: to a person as a page, to all others fenced and in its budget.

    Args:
        house: Who is asked.
        given: The command line.
        reply: Answers.
        page: Answers as a person reads it; None where that is the reply as well.
    """
    is_empty = not sessions.listed(limit=1).total
    if page is not None and output.is_read() and not given.json:
        output.print_lines([NOTHING_KEPT] if is_empty else page())
        return 0
    told = reply()
    if is_empty and not told.items:
        told = replace(told, notes=(NOTHING_KEPT,))
    told = replace(
        told,
        notes=[_as_commands(one) for one in told.notes],
        how=_as_commands(told.how),
    )
    if given.json:
        output.as_reply(told, house.counter)
    else:
        output.in_lines(told, given.max_tokens, house.counter)
    return 0


def _as_commands(said: str) -> str:
    """A sentence that names tools, with the commands that ask the same."""
    return _TOOLS.sub(lambda found: f"memtui {COMMANDS[found[0]]}", said)


def _query(given: argparse.Namespace) -> str:
    return " ".join(given.query)


def _toc(house: Workspace, given: argparse.Namespace, of: Scope) -> Reply:
    return outline.reply(
        house.zone, given.max_tokens, house.counter, of=of, as_json=given.json
    )


def _route(house: Workspace, given: argparse.Namespace, of: Scope) -> Reply:
    return house.asking.ask_route(_query(given), limit=given.limit, of=of)


def _retrieve(house: Workspace, given: argparse.Namespace, of: Scope) -> Reply:
    return house.asking.retrieve_memory(
        _query(given),
        limit=given.limit,
        detail_limit=given.detail_limit,
        filters=Filters(scope=of),
    )


def _browse(house: Workspace, given: argparse.Namespace, of: Scope) -> Reply:
    return house.asking.browse_toc(
        given.node_id, limit=given.limit, token=given.token, of=of
    )


def _when(house: Workspace, given: argparse.Namespace, of: Scope) -> Reply:
    return house.asking.in_time(_query(given), of=of)


def _events(house: Workspace, given: argparse.Namespace, of: Scope) -> Reply:
    return house.asking.events_when(
        given.when, limit=given.limit, token=given.token, of=of, session=given.session
    )


def _keyword(house: Workspace, given: argparse.Namespace, of: Scope) -> Reply:
    return house.asking.by_keyword(
        _query(given), under=given.under, limit=given.limit, of=of
    )


def _search_node(house: Workspace, given: argparse.Namespace, _: Scope) -> Reply:
    return house.asking.search_node(given.node_id, _query(given), limit=given.limit)


def _search_children(house: Workspace, given: argparse.Namespace, of: Scope) -> Reply:
    parent = None if given.node_id == "root" else given.node_id
    return house.asking.search_children(parent, _query(given), limit=given.limit, of=of)


_ASKS: dict[str, Ask] = {
    "toc": _toc,
    "ask-route": _route,
    "retrieve-memory": _retrieve,
    "browse": _browse,
    "when": _when,
    "events": _events,
    "keyword": _keyword,
    "search-node": _search_node,
    "search-children": _search_children,
}
