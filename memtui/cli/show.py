"""``show``, ``expand``, ``sessions``, ``session``, ``stats``: print what is stored."""

from argparse import Namespace
from dataclasses import replace

from memtui.agents import formatting, sessions, toc
from memtui.agents.formatting import LineWriter
from memtui.agents.replies import Item, Reply
from memtui.cli import output, versions
from memtui.cli.arguments import (
    Parser,
    add_max_tokens,
    add_paging,
    add_scope,
    whole_number,
)
from memtui.cli.context import Context
from memtui.model.nodes import Bullet
from memtui.search import resolve_filters
from memtui.services import sessions as services_sessions
from memtui.services import status
from memtui.text import date_format
from memtui.workspace import Workspace


def add_options(parser: Parser, command: str) -> None:
    if command == "show":
        parser.add_argument(
            "node_id", nargs="?", metavar="NODE_ID", help="a node; default: the years"
        )
        parser.add_argument(
            "--version",
            dest="number",
            type=whole_number(1),
            metavar="N",
            help="this version of it, as memtui versions lists them",
        )
        add_scope(parser)
        add_max_tokens(parser)
    elif command == "expand":
        parser.add_argument(
            "grip_id", metavar="GRIP_ID", help="a grip, as show prints them"
        )
        for side in ("before", "after"):
            parser.add_argument(
                f"--{side}",
                type=whole_number(0),
                default=3,
                metavar="N",
                help=f"events {side} it (default 3)",
            )
        add_max_tokens(parser)
    elif command in ("sessions", "session"):
        _add_session_options(parser, command)


def run(args: Namespace, context: Context) -> int:
    """Print a node, the events behind a bullet, sessions, or the counts."""
    with context.workspace(or_empty=True) as workspace:
        if args.command == "stats":
            return _stats(workspace, args)
        if args.command == "expand":
            return _expand(workspace, args)
        if args.command == "sessions":
            return _list_sessions(workspace, args)
        if args.command == "session":
            return _print_session(workspace, args)
        return _show(workspace, args)


def _show(workspace: Workspace, args: Namespace) -> int:
    scope = {"agent": args.agent, "project": args.project}
    if args.number is not None:
        reply = _version(workspace, args.node_id, args.number)
    elif args.node_id:
        reply = toc.get_node(workspace, args.node_id, **scope)
    else:
        reply = toc.get_toc_root(workspace, **scope)
    return output.print_reply(workspace, args, reply)


def _version(workspace: Workspace, node_id: str | None, number: int) -> Reply:
    """Describe a version of a node, with what the verification of bullets found."""
    node = versions.get_version(node_id, number)
    reply = toc.node_reply(workspace, node)
    by = node.generation.model or node.summarizer
    made = [f"Version {node.version}, by {by}"]
    if node.created_at:
        made[0] += f", {date_format.moment(node.created_at, workspace.zone)}"
    made += [f"Rejected: {node.rejection}"] if node.rejection else []
    head = {
        **reply.head,
        "made": made,
        "is_models": node.is_by_model,
        "is_pinned": node.is_pinned,
        "rejected": node.rejection,
        "facts": output.to_plain(node.generation),
    }
    items = [_verified(bullet) for bullet in node.bullets]
    items += [_verified(bullet) | {"is_withheld": True} for bullet in node.withheld]
    lead = [*made, *reply.lead]
    return replace(
        reply,
        items=items,
        line=LineWriter(workspace.zone).bullet,
        head=head,
        lead=lead,
        has_more=False,
        priority=(),
        groups={},
    )


def _verified(bullet: Bullet) -> Item:
    verdict, features = bullet.verdict, bullet.verdict.features
    return formatting.bullet(bullet) | {
        "covered": features.covered,
        "terms": features.terms,
        "hard": list(features.hard),
        "missing": list(features.missing),
        "negated": features.negation_differs,
        "opposites": [list(pair) for pair in features.opposites],
        "conflicts": list(features.conflicts),
        "matched": list(verdict.matched),
        "quotes": output.to_plain(verdict.spans),
        "repaired": verdict.is_repaired,
    }


def _expand(workspace: Workspace, args: Namespace) -> int:
    """Print the events behind a citation, and those around them."""
    reply = sessions.expand_grip(
        workspace, args.grip_id, before=args.before, after=args.after
    )
    return output.print_reply(workspace, args, reply)


def _stats(workspace: Workspace, args: Namespace) -> int:
    stats = status.read_stats()
    span = "nothing yet"
    if stats.first_at and stats.last_at:
        zone = workspace.zone
        first = date_format.moment(stats.first_at, zone)
        last = date_format.moment(stats.last_at, zone)
        span = f"{first} – {last}"
    rows = [
        ("sessions", f"{stats.sessions:,}"),
        ("messages", f"{stats.messages:,}"),
        ("events", f"{stats.events:,} ({stats.subagent_events:,} of subagents)"),
        ("segments", f"{stats.segments:,}"),
        ("nodes", f"{stats.nodes:,}"),
        ("bullets", f"{stats.bullets:,} ({stats.supported:,} with a source)"),
        ("grips", f"{stats.grips:,}"),
        ("waiting", f"{stats.pending:,}"),
        ("skipped", f"{stats.skipped:,}"),
        ("span", span),
        *((f"agent {name}", f"{count:,} messages") for name, count in stats.agents),
        *(
            (f"project {name or '(none)'}", f"{count:,} messages")
            for name, count in stats.projects
        ),
    ]
    lines = (f"{name:<28} {value}" for name, value in rows)
    return output.print_result(args, stats, lines)


def _add_session_options(parser: Parser, command: str) -> None:
    if command == "sessions":
        add_scope(parser)
        add_paging(parser, "sessions")
    else:
        parser.add_argument(
            "session", metavar="[AGENT:]ID", help="its id, or the beginning of it"
        )
        add_paging(parser, "messages")
        parser.add_argument(
            "--all", action="store_true", help="the results of tools too"
        )
        parser.add_argument(
            "--subagent", default="", metavar="NAME", help="a subagent's messages"
        )
        parser.add_argument(
            "--thoughts", action="store_true", help="the thoughts before each message"
        )
    add_max_tokens(parser)


def _list_sessions(workspace: Workspace, args: Namespace) -> int:
    reply = sessions.list_sessions(
        workspace,
        agent=args.agent,
        project=args.project,
        offset=args.offset,
        limit=args.limit,
    )
    return output.print_reply(workspace, args, reply)


def _print_session(workspace: Workspace, args: Namespace) -> int:
    """Print what is known of a session, and a page of its messages."""
    reply = sessions.list_messages(
        workspace,
        args.session,
        offset=args.offset,
        limit=args.limit,
        subagent=args.subagent,
        all_events=args.all,
        with_thoughts=args.thoughts,
    )
    try:
        facts = services_sessions.get_details(
            *resolve_filters.find_session(args.session)
        )
    except resolve_filters.SessionNameError:
        return output.print_reply(workspace, args, reply)
    head = sessions.session_head(facts)
    lead = sessions.session_lead(workspace, head)
    card = list(map(formatting.bullet, facts.card))
    lead += map(LineWriter(workspace.zone).bullet, card)
    for one in facts.subagents:
        started = f"started by {one.tool_use_id}" if one.tool_use_id else ""
        about = [one.kind, one.task, f"{one.events:,} events", started]
        lead.append(f"subagent {one.name}: {' · '.join(filter(None, about))}")
    reply = replace(
        reply,
        head={
            "session": head,
            "card": card,
            "subagents": output.to_plain(facts.subagents),
        },
        lead=lead,
    )
    return output.print_reply(workspace, args, reply)
