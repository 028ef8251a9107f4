"""``sessions`` and ``session``: lists the sessions, and prints one."""

from argparse import Namespace
from dataclasses import replace

from memtui.agents import sessions as agents_sessions
from memtui.cli import output
from memtui.cli.arguments import Parser, add_max_tokens, add_paging, add_scope
from memtui.cli.context import Context
from memtui.search import resolve_filters
from memtui.services import sessions
from memtui.workspace import Workspace


def add_options(parser: Parser, command: str) -> None:
    """Add the options of these commands."""
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


def run(args: Namespace, context: Context) -> int:
    """Print the sessions, or one of them."""
    with context.workspace(or_empty=True) as workspace:
        if args.command == "session":
            return _print_session(workspace, args)
        reply = agents_sessions.list_sessions(
            workspace,
            agent=args.agent,
            project=args.project,
            offset=args.offset,
            limit=args.limit,
        )
        return output.print_reply(workspace, args, reply)


def _print_session(workspace: Workspace, args: Namespace) -> int:
    """Print what is known of a session, and a page of its messages."""
    reply = agents_sessions.list_messages(
        workspace,
        args.session,
        offset=args.offset,
        limit=args.limit,
        subagent=args.subagent,
        all_events=args.all,
        with_thoughts=args.thoughts,
    )
    try:
        facts = sessions.get_details(*resolve_filters.find_session(args.session))
    except resolve_filters.SessionNameError:
        return output.print_reply(workspace, args, reply)
    head = agents_sessions.session_head(facts)
    lead = agents_sessions.session_lead(workspace, head)
    lead += [f"- {text}" for text in facts.summary]
    for one in facts.subagents:
        started = f"started by {one.tool_use_id}" if one.tool_use_id else ""
        about = [one.kind, one.task, f"{one.events:,} events", started]
        lead.append(f"subagent {one.name}: {' · '.join(filter(None, about))}")
    reply = replace(
        reply,
        head={
            "session": head,
            "about": list(facts.summary),
            "subagents": output.to_plain(facts.subagents),
        },
        lead=lead,
    )
    return output.print_reply(workspace, args, reply)
