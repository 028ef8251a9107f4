"""The words of what agents ask: by route, by time, by keyword, within a budget."""

import argparse

from memtui.shell.options import AddCommand, between, budget, natural, positive, scope

ASKING = (
    "ask-route",
    "retrieve-memory",
    "toc",
    "browse",
    "when",
    "events",
    "keyword",
    "search-node",
    "search-children",
)
"""The commands that answer agents."""

QUESTIONS = ("ask-route", "retrieve-memory", "when", "keyword")
"""Those whose question may hold anything."""


def add(command: AddCommand) -> None:
    """Add the commands."""
    route = command("ask-route", "answer a question by the way that fits it")
    _question(route, "a question: what did we do about retries last week?", 8)
    retrieve = command("retrieve-memory", "the memories that answer, as Markdown")
    _question(retrieve, "a question", 5, 20)
    retrieve.add_argument(
        "--detail-limit",
        type=between(0, 20),
        metavar="N",
        help="how many are told with their messages (default: key moments of the two"
        " best; 0 for none)",
    )
    toc = command("toc", "the best table of contents that fits a budget")
    scope(toc)
    budget(toc, "--budget", "--max-tokens")
    browse = command("browse", "what is under a node, a page at a time")
    browse.add_argument("node_id", nargs="?", help="without one: the years")
    _paged(browse, 10)
    when = command("when", "what a time in words means, and the nodes that cover it")
    when.add_argument("query", nargs="+", help='"last week", "in March", "Q1 2025"')
    scope(when)
    budget(when)
    _add_events(command)
    _add_finding(command)


def _add_events(command: AddCommand) -> None:
    events = command("events", "what was said in a time, oldest first")
    events.add_argument("--when", default="", help='"last week", "on 3 June"')
    events.add_argument("--session", default="", help="how the session's id begins")
    _paged(events, 20)


def _add_finding(command: AddCommand) -> None:
    keyword = command("keyword", "the segments whose keywords hold a word")
    _question(keyword, "one word or more", 10)
    keyword.add_argument("--under", metavar="NODE_ID", help="only under this node")
    for name, says in (
        ("search-node", "what of one node answers; needs no index"),
        ("search-children", "which children of a node answer; needs no index"),
    ):
        one = command(name, says)
        one.add_argument("node_id", help="a node's id; for children also: root")
        _question(one, "words", 10)


def _question(
    command: argparse.ArgumentParser, says: str, limit: int, most: int = 1_000
) -> None:
    command.add_argument("query", nargs="+", help=says)
    command.add_argument(
        "--limit",
        type=between(1, most),
        default=limit,
        help=f"how many, {most:,} at most (default {limit})",
    )
    scope(command)
    budget(command)


def _paged(command: argparse.ArgumentParser, limit: int) -> None:
    command.add_argument(
        "--limit", type=positive, default=limit, help=f"how many (default {limit})"
    )
    command.add_argument("--token", help="go on from here, as the page before said")
    scope(command)
    budget(command)


def add_serving(command: AddCommand) -> None:
    """Add ``serve``."""
    serve = command("serve", "answer retrieve_memory over HTTP, to this machine alone")
    serve.add_argument("--port", type=natural, default=8765, help="(default 8765)")
