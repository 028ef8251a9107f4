"""``show``, ``expand``, ``sessions``, ``session``, ``stats``: print what is stored."""

from argparse import Namespace
from dataclasses import replace

from memtui.cli import output
from memtui.cli.command import (
    Context,
    Parser,
    add_max_tokens,
    add_number,
    add_paging,
    add_scope,
    whole_number,
)
from memtui.errors import UsageError
from memtui.model.filters import Scope
from memtui.model.nodes import Bullet
from memtui.services import status, versions
from memtui.text import date_format
from memtui.tools import formatting, sessions, toc
from memtui.tools.formatting import LineWriter
from memtui.tools.replies import Item, Reply
from memtui.workspace import Workspace


def add_options(parser: Parser, command: str) -> None:
    if command == "show":
        parser.add_argument(
            "node_id",
            nargs="?",
            default="",
            metavar="NODE_ID",
            help="a node; default: the years",
        )
        parser.add_argument(
            "--version",
            dest="number",
            type=whole_number(1),
            metavar="N",
            help="this version of it, as memtui versions lists them",
        )
        add_scope(parser)
    elif command == "expand":
        parser.add_argument(
            "grip_id",
            metavar="GRIP_ID",
            help="a source of a bullet, as show prints it: grip:…",
        )
        for side in ("before", "after"):
            add_number(parser, f"--{side}", 3, f"events {side} it (default 3)")
    elif command == "sessions":
        add_scope(parser)
        add_paging(parser, "sessions")
    elif command == "session":
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
    if command != "stats":
        add_max_tokens(parser)


def run(args: Namespace, context: Context) -> int:
    with context.workspace(or_empty=True) as workspace:
        if args.command == "stats":
            return _stats(workspace, args)
        return output.print_reply(workspace, args, _reply(workspace, args))


def _reply(workspace: Workspace, args: Namespace) -> Reply:
    if args.command == "expand":
        return sessions.expand_grip(
            workspace, args.grip_id, before=args.before, after=args.after
        )
    if args.command == "session":
        return sessions.list_messages(
            workspace,
            args.session,
            offset=args.offset,
            limit=args.limit,
            subagent=args.subagent,
            all_events=args.all,
            with_thoughts=args.thoughts,
            with_card=True,
        )
    scope = Scope(args.agent, args.project)
    if args.command == "sessions":
        return sessions.list_sessions(
            workspace, scope=scope, offset=args.offset, limit=args.limit
        )
    if args.number is None:
        return toc.get_node(workspace, args.node_id, scope)
    if not args.node_id:
        raise UsageError("name the node: memtui show NODE_ID --version N")
    return _version(workspace, args.node_id, args.number)


def _version(workspace: Workspace, node_id: str, number: int) -> Reply:
    """Describe a version of a node, with what the verification of bullets found."""
    node = versions.find_version(node_id, number)
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
    bullets = [_verified(bullet) for bullet in (*node.bullets, *node.further)]
    bullets += [_verified(bullet) | {"is_withheld": True} for bullet in node.withheld]
    return replace(
        reply,
        lists={"bullets": bullets},
        line=LineWriter(workspace.zone).bullet,
        head=head,
        head_lines=[*made, *reply.head_lines],
        has_more=False,
        order=(),
    )


def _verified(bullet: Bullet) -> Item:
    verdict, features = bullet.verdict, bullet.verdict.features
    return formatting.bullet(bullet) | {
        "covered": features.covered,
        "terms": features.terms,
        "names_and_numbers": list(features.names_and_numbers),
        "missing": list(features.missing),
        "conflicts": list(features.conflicts),
        "matched": list(verdict.matched),
        "quotes": output.to_plain(verdict.spans),
        "repaired": verdict.is_repaired,
    }


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
