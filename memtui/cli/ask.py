"""``ask``, ``toc`` and ``call``, and how any reply is printed."""

import argparse
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from memtui.agents import api, routing, toc
from memtui.agents.replies import NOTHING_KEPT, Reply
from memtui.cli import output
from memtui.errors import UsageError
from memtui.services import sessions
from memtui.workspace import Workspace

COMMANDS = {
    "get_toc_root": "show",
    "get_node": "show",
    "browse_toc": "show",
    "expand_grip": "expand",
    "list_sessions": "sessions",
    "list_messages": "session",
    "get_session_meta": "session",
    "search_memory": "search",
}
"""Tools that are commands of their own; the others are called with ``memtui call``."""

_TOOL = re.compile(rf"\b(?:{'|'.join(tool.name for tool in api.TOOLS)})\b(?!=)")


def run(workspace: Workspace, given: argparse.Namespace) -> int:
    """Answer ``ask``, ``toc`` or ``call``."""
    if given.command == "call":
        return call(workspace, given)
    scope = {"agent": given.agent, "project": given.project}
    if given.command == "toc":
        reply = toc.outline(workspace, given.max_tokens, **scope, is_json=given.json)
    else:
        question = " ".join(given.query)
        reply = routing.route(workspace, question, limit=given.limit, **scope)
    return answer(workspace, given, reply)


def call(workspace: Workspace, given: argparse.Namespace) -> int:
    """Call a tool of the agents."""
    tool = find_tool(given.tool)
    reply = tool.run(workspace, tool.check(_arguments(given.arguments)))
    return answer(workspace, given, reply)


def find_tool(name: str) -> api.Tool:
    """Return the tool of a name.

    Raises:
        UsageError: There is none.
    """
    tools = api.available_tools(with_writing=True)
    if name not in tools:
        raise UsageError(f"there is no tool {name!r}; see them: memtui call")
    return tools[name]


def _arguments(pairs: Sequence[str]) -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals:
            raise UsageError(f"{pair!r} is not KEY=VALUE")
        if name == api.MAX_TOKENS.name:
            raise UsageError("the budget of a command is --max-tokens N")
        before = arguments.get(name)
        several = [*before, value] if isinstance(before, list) else [before, value]
        arguments[name] = value if before is None else several
    return arguments


def list_tools(*, as_json: bool) -> int:
    """Print the tools, each with its parameters."""
    if as_json:
        output.as_json(
            [
                {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": [
                        {"name": one.name, **one.schema()} for one in tool.parameters
                    ],
                    "is_writing": tool.is_writing,
                }
                for tool in api.TOOLS
            ]
        )
        return 0
    for tool in api.TOOLS:
        parameters = [
            f"{one.name}=" if one.is_required else f"[{one.name}={one.default or ''}]"
            for one in tool.parameters
        ]
        line = " ".join([tool.name, *parameters])
        output.print_lines([line, f"    {tool.description}"])
    return 0


def answer(workspace: Workspace, given: argparse.Namespace, reply: Reply) -> int:
    """Print a reply, all of it or as much as ``--max-tokens`` holds."""
    if not reply.items and not sessions.listed(limit=1).total:
        reply = replace(reply, notes=(NOTHING_KEPT,))
    reply = replace(
        reply,
        notes=[_name_commands(note) for note in reply.notes],
        hint=_name_commands(reply.hint),
        more_hint=_name_commands(reply.more_hint),
    )
    output.print_reply(reply, workspace.counter, as_json=given.json)
    return 0


def _name_commands(text: str) -> str:
    """Name commands in a hint that names tools."""

    def command(found: "re.Match[str]") -> str:
        return f"memtui {COMMANDS.get(found[0], f'call {found[0]}')}"

    return _TOOL.sub(command, text)
