"""The words of what is read and found: nodes, sessions, and anything by its words."""

import argparse

from memtui.shell.options import (
    AddCommand,
    between,
    budget,
    natural,
    paged,
    positive,
    scope,
)

ROLES = ("user", "assistant", "system", "tool")
"""Who can have said something: the values of ``memory.events.EventRole``."""


def add(command: AddCommand) -> None:
    """Add the commands."""
    show = command("show", "print a node and what is under it")
    show.add_argument("node_id", nargs="?", help="a node's id; without one: the years")
    show.add_argument(
        "--version",
        dest="number",
        type=positive,
        metavar="N",
        help="this version of it, as memtui versions lists them",
    )
    scope(show)
    budget(show)
    _add_search(command)
    _add_teleport(command)
    _add_sessions(command)
    expand = command("expand", "print the events behind a bullet")
    expand.add_argument("grip_id", help="a grip's id, as show prints them")
    expand.add_argument("--before", type=natural, default=3, help="events before it")
    expand.add_argument("--after", type=natural, default=3, help="events after it")
    budget(expand)
    command("stats", "print how much is kept")


def _add_search(command: AddCommand) -> None:
    search = command("search", "find moments in everything that is kept")
    _asked(search, 10)
    says = "find messages, each with what was said around it"
    talk = command("search-sessions", says)
    _asked(talk, 20, 20)
    for name, where in (("before", "before"), ("after", "after")):
        talk.add_argument(
            f"--context-{name}",
            type=between(0, 15),
            default=4,
            metavar="N",
            help=f"messages {where} each (default 4; 16 in all at most)",
        )
    talk.add_argument(
        "--one-each", action="store_true", help="only the best message of a session"
    )


def _asked(command: argparse.ArgumentParser, limit: int, most: int = 1_000) -> None:
    """What both searches are asked."""
    says = 'words, "exact words", refr*, -not, agent:codex, after:2025-03, last week'
    command.add_argument("query", nargs="+", help=says)
    command.add_argument(
        "--limit",
        type=between(1, most),
        default=limit,
        help=f"how many, {most:,} at most (default {limit})",
    )
    scope(command)
    command.add_argument(
        "--session", default="", metavar="ID", help="only this session"
    )
    command.add_argument(
        "--role",
        default="",
        choices=ROLES,
        help="only what this one said",
    )
    budget(command)
    command.add_argument(
        "--no-subagents", action="store_true", help="without what subagents said"
    )


def _add_teleport(command: AddCommand) -> None:
    says = "jump to nodes and quotes by words alone"
    teleport = command("teleport", says)
    teleport.add_argument("query", nargs="+", help="as in the app: words, filters, …")
    teleport.add_argument(
        "--limit", type=positive, default=10, help="how many (default 10)"
    )
    teleport.add_argument(
        "--recent", action="store_true", help="what is old is worth less"
    )
    teleport.add_argument(
        "--why", action="store_true", help="say what each score is made of"
    )
    scope(teleport)
    budget(teleport)


def _add_sessions(command: AddCommand) -> None:
    listing = command("sessions", "list the sessions, the latest first")
    scope(listing)
    paged(listing, "sessions")
    budget(listing)
    one = command("session", "print what is known of a session, and what was said")
    one.add_argument(
        "session", metavar="[AGENT:]ID", help="its id, or as much of it as is needed"
    )
    paged(one, "messages")
    budget(one)
    one.add_argument(
        "--all", action="store_true", help="what tools answered too, not messages alone"
    )
    one.add_argument(
        "--subagent", default="", metavar="NAME", help="a helper's conversation"
    )
    one.add_argument(
        "--thoughts", action="store_true", help="what was thought before each message"
    )
