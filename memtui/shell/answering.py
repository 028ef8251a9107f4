"""What agents ask from a shell: each answer fenced, cited and within its budget."""

import argparse
from collections.abc import Callable

from memtui.house import House
from memtui.memory.filters import Filters
from memtui.memory.replies import Reply
from memtui.memory.scopes import Scope
from memtui.recall import outline
from memtui.shell import output

Ask = Callable[[House, argparse.Namespace, Scope], Reply]


def run(house: House, given: argparse.Namespace) -> int:
    """Print what answers."""
    of = Scope(given.agent, given.project)
    if given.command == "toc":
        reply = outline.reply(house.zone, given.max_tokens, house.counter, of=of)
    else:
        reply = _ASKS[given.command](house, given, of)
    if given.json:
        output.as_reply(reply, house.counter)
    else:
        output.in_lines(reply, given.max_tokens, house.counter)
    return 0


def _query(given: argparse.Namespace) -> str:
    return " ".join(given.query)


def _route(house: House, given: argparse.Namespace, of: Scope) -> Reply:
    return house.asking.ask_route(_query(given), limit=given.limit, of=of)


def _retrieve(house: House, given: argparse.Namespace, of: Scope) -> Reply:
    return house.asking.retrieve_memory(
        _query(given),
        limit=given.limit,
        detail_limit=given.detail_limit,
        filters=Filters(of=of),
    )


def _browse(house: House, given: argparse.Namespace, of: Scope) -> Reply:
    return house.asking.browse_toc(
        given.node_id, limit=given.limit, token=given.token, of=of
    )


def _when(house: House, given: argparse.Namespace, of: Scope) -> Reply:
    return house.asking.in_time(_query(given), of=of)


def _events(house: House, given: argparse.Namespace, of: Scope) -> Reply:
    return house.asking.events_when(
        given.when, limit=given.limit, token=given.token, of=of, session=given.session
    )


def _keyword(house: House, given: argparse.Namespace, of: Scope) -> Reply:
    return house.asking.by_keyword(
        _query(given), under=given.under, limit=given.limit, of=of
    )


def _search_node(house: House, given: argparse.Namespace, _: Scope) -> Reply:
    return house.asking.search_node(given.node_id, _query(given), limit=given.limit)


def _search_children(house: House, given: argparse.Namespace, of: Scope) -> Reply:
    parent = None if given.node_id == "root" else given.node_id
    return house.asking.search_children(parent, _query(given), limit=given.limit, of=of)


_ASKS: dict[str, Ask] = {
    "ask-route": _route,
    "retrieve-memory": _retrieve,
    "browse": _browse,
    "when": _when,
    "events": _events,
    "keyword": _keyword,
    "search-node": _search_node,
    "search-children": _search_children,
}
