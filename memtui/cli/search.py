"""``search``: search messages and summaries."""

from argparse import Namespace

from memtui.agents import search
from memtui.cli import output
from memtui.cli.arguments import Parser, add_max_tokens, add_query, add_scope
from memtui.cli.context import Context
from memtui.model.events import EventRole
from memtui.model.filters import Filters
from memtui.model.scope import Scope


def add_options(parser: Parser, command: str) -> None:
    """Add the options of ``search``."""
    add_query(parser, limit=10)
    add_scope(parser)
    parser.add_argument("--session", default="", metavar="ID", help="only this session")
    parser.add_argument(
        "--role",
        default="",
        choices=[role.value for role in EventRole],
        help="only messages of this role",
    )
    parser.add_argument(
        "--no-subagents", action="store_true", help="without messages of subagents"
    )
    add_max_tokens(parser)


def run(args: Namespace, context: Context) -> int:
    """Print the hits of a query."""
    filters = Filters(
        scope=Scope(args.agent, args.project),
        session=args.session,
        role=EventRole(args.role) if args.role else None,
        with_subagents=not args.no_subagents,
    )
    query = " ".join(args.query)
    with context.workspace(or_empty=True) as workspace:
        reply = search.search_memory(
            workspace, query, limit=args.limit, filters=filters
        )
        return output.print_reply(workspace, args, reply)
