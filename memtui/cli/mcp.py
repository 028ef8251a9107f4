"""``mcp``: serves the tools of agents as an MCP server."""

import importlib.util
import sys
from argparse import Namespace

from memtui.cli.arguments import Parser, add_dry_run
from memtui.cli.context import Context
from memtui.errors import MemtuiError, UsageError

SDK = "mcp"
"""The package of the protocol, an optional dependency."""

MISSING = (
    "the MCP server needs the package mcp, which is not here; get it with:"
    " pipx install 'memtui[mcp]' (or: uv tool install 'memtui[mcp]',"
    " pip install 'memtui[mcp]')"
)

AT_A_TERMINAL = (
    "memtui: this serves agents over standard input and output; to tell yours of it:"
    " memtui mcp install. Ctrl+C ends it."
)


def add_options(parser: Parser, command: str) -> None:
    parser.add_argument(
        "action",
        nargs="?",
        default="serve",
        choices=("serve", "install", "uninstall", "status"),
        help="serve, the default, is what agents run",
    )
    parser.add_argument(
        "agents",
        nargs="*",
        metavar="AGENT",
        help="install and uninstall; default: all that memtui mcp status finds",
    )
    parser.add_argument(
        "--allow-write",
        action="store_true",
        help="offer tools that add and change things too",
    )
    parser.add_argument(
        "--tools",
        choices=("core", "all"),
        default="core",
        help="which tools to offer (default: core, those needed most)",
    )
    parser.add_argument(
        "--project",
        action="store_true",
        help="in the settings of this folder's project, not in your own",
    )
    parser.add_argument(
        "--no-skill", action="store_true", help="install only the server, no skill"
    )
    add_dry_run(parser)


def run(args: Namespace, context: Context) -> int:
    if args.action != "serve":
        from memtui.cli import hooks

        if args.action == "install" and not has_sdk():
            print(f"memtui: {MISSING}", file=sys.stderr)
        return hooks.run_mcp(args, context.paths)
    if args.agents:
        raise UsageError("serve takes no agent")
    if not has_sdk():
        raise MemtuiError(MISSING)
    from memtui.agents import api, mcp_server

    if sys.stdin.isatty():
        print(AT_A_TERMINAL, file=sys.stderr)
    mcp_server.run(
        api.ToolRunner(context.open_workspace, has_store=context.has_store),
        api.available_tools(
            with_writing=args.allow_write, only_core=args.tools == "core"
        ),
    )
    return 0


def has_sdk() -> bool:
    return importlib.util.find_spec(SDK) is not None
