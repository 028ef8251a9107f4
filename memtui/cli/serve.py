"""``serve``: serves the tools of agents over HTTP."""

import sys
from argparse import Namespace

from memtui.agents import http_server
from memtui.agents.api import ToolRunner
from memtui.cli.arguments import MAX_PORT, Parser, add_number
from memtui.cli.context import Context


def add_options(parser: Parser, command: str) -> None:
    add_number(parser, "--port", 8765, "(default 8765)", maximum=MAX_PORT)
    parser.add_argument(
        "--allow-write",
        action="store_true",
        help="offer tools that add and change things too",
    )


def run(args: Namespace, context: Context) -> int:
    runner = ToolRunner(context.open_workspace, has_store=context.has_store)
    key = http_server.create_key()
    server = http_server.create(runner, args.port, key, with_writing=args.allow_write)
    address = f"http://{http_server.HOST}:{server.server_port}{http_server.PREFIX}"
    print(
        f"memtui serves {address}TOOL; stop it with ctrl+c\n"
        f"Anybody with this key can read everything: {key}",
        file=sys.stderr,
        flush=True,
    )
    try:
        server.serve_forever()
    finally:
        server.server_close()
        runner.close()
    return 0
