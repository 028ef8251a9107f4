"""``serve``: serves the tools of agents over HTTP."""

import sys
from argparse import Namespace
from collections.abc import Callable

from memtui.agents import http_server
from memtui.agents.api import ToolRunner
from memtui.cli.arguments import Parser, whole_number
from memtui.cli.context import Context
from memtui.workspace import Workspace


def add_options(parser: Parser, command: str) -> None:
    """Add the options of ``serve``."""
    parser.add_argument(
        "--port", type=whole_number(0), default=8765, metavar="N", help="(default 8765)"
    )
    parser.add_argument(
        "--allow-write",
        action="store_true",
        help="offer tools that add and change things too",
    )


def run(args: Namespace, context: Context) -> int:
    """Serve until ctrl+c."""
    return serve(
        context.open_workspace,
        context.has_store,
        args.port,
        with_writing=args.allow_write,
    )


def serve(
    open_workspace: Callable[[], Workspace],
    has_store: Callable[[], bool],
    port: int,
    *,
    with_writing: bool,
) -> int:
    """Serve until ctrl+c.

    Args:
        open_workspace: Opens the workspace.
        has_store: Tells whether there is a store: a question makes none.
        port: On which port; 0 takes any that is free.
        with_writing: Offer tools that change something.
    """
    runner = ToolRunner(open_workspace, has_store=has_store)
    key = http_server.create_key()
    server = http_server.create(runner, port, key, with_writing=with_writing)
    address = f"http://{http_server.HOST}:{server.server_port}{http_server.PREFIX}"
    print(
        f"memtui serves {address}TOOL; stop it with ctrl+c\n"
        f"Whoever has this key can read all of it: {key}",
        file=sys.stderr,
        flush=True,
    )
    try:
        server.serve_forever()
    finally:
        server.server_close()
        runner.close()
    return 0
