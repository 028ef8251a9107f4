"""``ask``, ``search``, ``toc`` and ``call``: answer a question, or call a tool."""

from argparse import Namespace
from collections.abc import Sequence
from typing import Any

from memtui.cli import output
from memtui.cli.command import Context, Parser, add_max_tokens, add_query, add_scope
from memtui.errors import UsageError
from memtui.model.events import EventRole
from memtui.model.filters import Filters, Scope


def add_options(parser: Parser, command: str) -> None:
    if command == "call":
        parser.add_argument("tool", nargs="?", metavar="TOOL")
        parser.add_argument("arguments", nargs="*", metavar="KEY=VALUE")
    elif command == "ask":
        example = "a question: what did we do about retries last week?"
        add_query(parser, limit=16, maximum=50, help=example)
    elif command == "search":
        add_query(parser, limit=10)
        parser.add_argument(
            "--session", default="", metavar="ID", help="only this session"
        )
        parser.add_argument(
            "--role",
            default="",
            choices=[role.value for role in EventRole],
            help="only messages of this role",
        )
        parser.add_argument(
            "--no-subagents", action="store_true", help="without messages of subagents"
        )
    if command != "call":
        add_scope(parser)
    add_max_tokens(parser)


def run(args: Namespace, context: Context) -> int:
    if args.command == "call":
        return _call(args, context) if args.tool else _list_tools(args)
    scope = Scope(args.agent, args.project)
    with context.workspace(or_empty=True) as workspace:
        # Each imports much; only the one in use is imported.
        if args.command == "toc":
            from memtui.tools import toc

            reply = toc.outline(workspace, args.max_tokens, scope)
        elif args.command == "search":
            from memtui.tools import search

            filters = Filters(
                scope=scope,
                session=args.session,
                role=EventRole(args.role) if args.role else None,
                with_subagents=not args.no_subagents,
            )
            query = " ".join(args.query)
            reply = search.search_memory(
                workspace, query, limit=args.limit, filters=filters
            )
        else:
            from memtui.tools import routing

            question = " ".join(args.query)
            reply = routing.route(workspace, question, limit=args.limit, scope=scope)
        return output.print_reply(workspace, args, reply)


def _call(args: Namespace, context: Context) -> int:
    from memtui.tools import table

    tool = table.available_tools(with_writing=True).get(args.tool)
    if tool is None:
        raise UsageError(f"there is no tool {args.tool!r}; see them: memtui call")
    with context.workspace(
        create=tool.is_writing, or_empty=not tool.is_writing
    ) as workspace:
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
    from memtui.tools import table

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
