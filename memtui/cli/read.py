"""The commands that read: ``toc``, ``show``, ``expand``, ``sessions``, ``session``,
``open``, ``decisions``, ``ask``, ``search`` and ``stats``; and ``call``, for any tool.
Tools answer them."""

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from memtui.cli import output
from memtui.cli.command import (
    Context,
    Parser,
    add_max_tokens,
    add_number,
    add_paging,
    add_query,
    add_scope,
    whole_number,
)
from memtui.errors import UsageError
from memtui.model.events import EventRole
from memtui.model.filters import Filters, Scope
from memtui.model.nodes import Bullet
from memtui.search.query import find_session
from memtui.services import browse, status, usage, versions
from memtui.text import date_format
from memtui.tools import formatting, points, sessions, table, toc
from memtui.tools.formatting import LineWriter
from memtui.tools.replies import Item, Reply
from memtui.workspace import Workspace

POINTS = {"open": "open", "decisions": "decided"}
"""The commands that list points, and the kind of these."""

SCOPED = ("toc", "show", "sessions", *POINTS, "usage", "ask", "search")
"""The commands that can be narrowed to an agent or a project."""


def add_options(parser: Parser, command: str) -> None:
    if command == "show":
        parser.text("node_id", "a node; default: the years", metavar="NODE_ID")
        parser.add_argument(
            "--version",
            dest="number",
            type=whole_number(1),
            metavar="N",
            help="this version of it, as memtui versions lists them",
        )
    elif command == "expand":
        help_text = "a source of a bullet, as show prints it: grip:…"
        parser.add_argument("grip_id", metavar="GRIP_ID", help=help_text)
        for side in ("before", "after"):
            add_number(parser, f"--{side}", 3, f"events {side} it (default 3)")
    elif command == "sessions" or command in POINTS:
        add_paging(parser, "lines" if command in POINTS else "sessions")
    elif command == "session":
        help_text = "its id, or the beginning of it"
        parser.add_argument("session", metavar="[AGENT:]ID", help=help_text)
        add_paging(parser, "messages")
        parser.flag("--all", "the results of tools too")
        parser.text("--subagent", "a subagent's messages", metavar="NAME")
        parser.flag("--thoughts", "the thoughts before each message")
    elif command == "ask":
        example = "a question: what did we do about retries last week?"
        add_query(parser, limit=16, maximum=50, help=example)
    elif command == "search":
        add_query(parser, limit=10)
        parser.text("--session", "only this session", metavar="ID")
        roles = [role.value for role in EventRole]
        parser.text("--role", "only messages of this role", choices=roles)
        parser.flag("--no-subagents", "without messages of subagents")
    elif command == "usage":
        by = ("session", "day", "project", "model")
        parser.add_argument("--by", choices=by, default="day", help="default: day")
    elif command == "call":
        parser.add_argument("tool", nargs="?", metavar="TOOL")
        parser.add_argument("arguments", nargs="*", metavar="KEY=VALUE")
    if command in SCOPED:
        add_scope(parser)
    if command not in ("stats", "usage"):
        add_max_tokens(parser)


def run(args: Namespace, context: Context) -> int:
    if args.command == "call":
        return _call(args, context) if args.tool else _list_tools(args)
    with context.workspace() as workspace:
        if args.command == "stats":
            return _print_stats(workspace, args)
        if args.command == "usage":
            return _print_usage(workspace, args)
        return output.print_reply(workspace, args, _reply(workspace, args))


def _reply(workspace: Workspace, args: Namespace) -> Reply:
    if args.command == "expand":
        return sessions.expand_grip(
            workspace, args.grip_id, before=args.before, after=args.after
        )
    if args.command == "session":
        return sessions.list_messages(
            workspace,
            ":".join(find_session(args.session)),
            offset=args.offset,
            limit=args.limit,
            subagent=args.subagent,
            all_events=args.all,
            with_thoughts=args.thoughts,
            with_card=True,
        )
    scope = Scope(args.agent, args.project)
    if args.command == "toc":
        return toc.outline(workspace, args.max_tokens, scope)
    if args.command == "sessions":
        return sessions.list_sessions(
            workspace, scope=scope, offset=args.offset, limit=args.limit
        )
    if args.command in POINTS:
        kind, page = POINTS[args.command], {"offset": args.offset, "limit": args.limit}
        return points.list_points(workspace, kind=kind, scope=scope, **page)
    if args.command == "show":
        if args.number is None:
            return toc.get_node(workspace, args.node_id, scope)
        if not args.node_id:
            raise UsageError("name the node: memtui show NODE_ID --version N")
        return _version(workspace, args.node_id, args.number)
    query = " ".join(args.query)
    # These import much.
    if args.command == "ask":
        from memtui.tools import routing

        return routing.route(workspace, query, limit=args.limit, scope=scope)
    from memtui.tools import search

    filters = Filters(
        scope=scope,
        session=args.session,
        role=EventRole(args.role) if args.role else None,
        with_subagents=not args.no_subagents,
    )
    return search.search_memory(workspace, query, limit=args.limit, filters=filters)


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


def _print_stats(workspace: Workspace, args: Namespace) -> int:
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


def _print_usage(workspace: Workspace, args: Namespace) -> int:
    scope, unknown_names = browse.resolve_scope(Scope(args.agent, args.project))
    if unknown_names:
        raise UsageError(" ".join(unknown_names))
    settings, zone = workspace.settings, workspace.zone
    rows = usage.read(args.by, settings, zone, scope)
    (total,) = usage.read("", settings, zone, scope)
    table = usage.tabulate([*rows, replace(total, name="total")])
    lines = table if rows else ["No usage is stored."]
    data = {"by": args.by, "rows": rows, "total": total}
    return output.print_result(args, data, lines)


# Tools


def _call(args: Namespace, context: Context) -> int:
    tool = table.available_tools(with_writing=True).get(args.tool)
    if tool is None:
        raise UsageError(f"there is no tool {args.tool!r}; see them: memtui call")
    with context.workspace(create=tool.is_writing) as workspace:
        reply = tool.run(workspace, tool.check(_arguments(args.arguments)))
        return output.print_reply(workspace, args, reply)


def _arguments(pairs: Sequence[str]) -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals:
            raise UsageError(f"{pair!r} is not KEY=VALUE")
        if name == "max_tokens":
            raise UsageError("the budget of a command is --max-tokens N")
        before = arguments.get(name)
        several = [*before, value] if isinstance(before, list) else [before, value]
        arguments[name] = value if before is None else several
    return arguments


def _list_tools(args: Namespace) -> int:
    if args.json:
        return output.print_json(
            [
                {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": [
                        {"name": parameter.name, **parameter.schema()}
                        for parameter in tool.parameters
                    ],
                    "is_writing": tool.is_writing,
                }
                for tool in table.TOOLS
            ]
        )
    for tool in table.TOOLS:
        parameters = []
        for parameter in tool.parameters:
            default = "" if parameter.default is None else parameter.default
            pair = f"{parameter.name}={default}"
            parameters.append(pair if parameter.is_required else f"[{pair}]")
        line = " ".join([tool.name, *parameters])
        output.print_lines([line, f"    {tool.description}"])
    return 0
