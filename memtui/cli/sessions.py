"""``sessions`` and ``session``: lists the sessions, and prints one."""

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from memtui.agents import formatting
from memtui.agents import sessions as agents_sessions
from memtui.agents.formatting import LineWriter
from memtui.agents.replies import Item, cut
from memtui.cli import output
from memtui.cli.arguments import Parser, add_max_tokens, add_paging, add_scope
from memtui.cli.context import Context
from memtui.search import resolve_filters
from memtui.services import sessions
from memtui.services.sessions import MessagePage, SessionDetails
from memtui.workspace import Workspace

THOUGHT_CHARS = 1_000


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
        if args.command == "sessions":
            return _list_sessions(workspace, args)
        return _print_session(workspace, args)


def _list_sessions(workspace: Workspace, args: Namespace) -> int:
    """Print a page of the sessions."""
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
    try:
        facts = sessions.get_details(*resolve_filters.find_session(args.session))
    except resolve_filters.SessionNameError as error:
        reply = agents_sessions.no_session("messages", error)
        return output.print_reply(workspace, args, reply)
    page = {"offset": args.offset, "limit": args.limit, "subagent": args.subagent}
    whole_id = f"{facts.session.agent}:{facts.session.session_id}"
    reply = agents_sessions.list_messages(
        workspace, whole_id, **page, all_events=args.all
    )
    head = agents_sessions.session_head(facts) | _more(facts)
    about = list(facts.summary)
    subagents = [
        {
            "name": one.name,
            "kind": one.kind,
            "task": one.task,
            "started_by": one.tool_use_id,
            "events": one.events,
        }
        for one in facts.subagents
    ]
    lead = [*agents_sessions.session_lead(workspace, head)]
    lead += [f"{key}: {value}" for key, value in _more(facts).items()]
    lead += [f"- {text}" for text in about]
    lead += [_subagent_line(one) for one in subagents]
    items = reply.items
    if args.thoughts:
        found = sessions.list_messages(
            facts, **page, all_events=args.all, with_thoughts=True
        )
        items = _with_thoughts(items, found)
    reply = replace(
        reply,
        items=items,
        line=partial(_event_line, LineWriter(workspace.zone)),
        head={"session": head, "about": about, "subagents": subagents},
        lead=lead,
        shorten=_shorten_event,
    )
    return output.print_reply(workspace, args, reply)


def _more(facts: SessionDetails) -> Item:
    """Return what else is known of a session, where there is anything."""
    session = facts.session
    more: Item = {
        "root": session.root,
        "folder": session.cwd,
    }
    if session.forked_from:
        more["forked_from"] = f"{session.agent}:{session.forked_from}"
        more["shared_messages"] = facts.shared_messages
    return {key: value for key, value in more.items() if value}


def _subagent_line(subagent: Item) -> str:
    about = [subagent["kind"], subagent["task"], f"{subagent['events']:,} events"]
    if subagent["started_by"]:
        about.append(f"started by {subagent['started_by']}")
    return f"subagent {subagent['name']}: {' · '.join(filter(None, about))}"


def _with_thoughts(items: Sequence[Item], page: MessagePage) -> list[Item]:
    """Put the thoughts before each message into its item."""
    thoughts, found = list(page.thoughts), []
    for item, event in zip(items, page.events, strict=False):
        before = []
        while thoughts and thoughts[0].at <= event.timestamp:
            before.append(thoughts.pop(0).text)
        found.append(item | {"thoughts": before} if before else item)
    return found


def _shorten_event(item: Item, chars: int) -> Item:
    item = formatting.shorten_event(item, chars)
    if "thoughts" in item:
        item["thoughts"] = [cut(text, THOUGHT_CHARS) for text in item["thoughts"]]
    return item


def _event_line(lines: LineWriter, item: Item) -> str:
    thoughts = [f"~ {text}" for text in item.get("thoughts", ())]
    return "\n".join([*thoughts, lines.dated_event(item)])
