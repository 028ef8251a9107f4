"""``mcp``, ``serve`` and ``web``: serve the tools of agents, and the app to a browser.

Each tab of the browser is a process of its own.
"""

import shlex
import socket
import sys
from argparse import Namespace
from importlib.util import find_spec

from memtui.cli.command import MAX_PORT, Context, Parser, add_dry_run, add_number
from memtui.errors import MemtuiError, UsageError

MCP_SDK = "mcp"
"""The package of the protocol, an optional dependency."""

MCP_MISSING = (
    "the MCP server needs the package mcp, which is not here; get it with:"
    " pipx install 'memtui[mcp]' (or: uv tool install 'memtui[mcp]',"
    " pip install 'memtui[mcp]')"
)

WEB_HOST = "127.0.0.1"
"""The address it is served at: of this machine alone."""

WEB_MISSING = "memtui web needs textual-serve: pip install 'memtui[web]'"

AT_A_TERMINAL = (
    "memtui: this serves agents over standard input and output; to tell yours of it:"
    " memtui mcp install. Ctrl+C ends it."
)


def add_options(parser: Parser, command: str) -> None:
    if command == "web":
        text = "the port (default 8421; 0 takes any that is free)"
        add_number(parser, "--port", 8421, text, maximum=MAX_PORT)
    elif command == "serve":
        add_number(parser, "--port", 8765, "(default 8765)", maximum=MAX_PORT)
        _add_allow_write(parser)
    else:
        _add_mcp_options(parser)


def _add_allow_write(parser: Parser) -> None:
    parser.flag("--allow-write", "offer tools that add and change things too")


def _add_mcp_options(parser: Parser) -> None:
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
    _add_allow_write(parser)
    parser.add_argument(
        "--tools",
        choices=("core", "all"),
        default="core",
        help="which tools to offer (default: core, those needed most)",
    )
    parser.flag(
        "--project", "in the settings of this folder's project, not in your own"
    )
    parser.flag("--no-skill", "install only the server, no skill")
    add_dry_run(parser)


def run(args: Namespace, context: Context) -> int:
    if args.command == "serve":
        return _serve_http(args, context)
    return _open_web(args) if args.command == "web" else _run_mcp(args, context)


def _run_mcp(args: Namespace, context: Context) -> int:
    if args.action != "serve":
        from memtui.cli import hooks

        if args.action == "install" and not _has_mcp_sdk():
            print(f"memtui: {MCP_MISSING}", file=sys.stderr)
        return hooks.run_mcp(args, context.paths)
    if args.agents:
        raise UsageError("serve takes no agent")
    if not _has_mcp_sdk():
        raise MemtuiError(MCP_MISSING)
    from memtui.tools import mcp_server, table

    if sys.stdin.isatty():
        print(AT_A_TERMINAL, file=sys.stderr)
    mcp_server.run(
        table.ToolRunner(context.open_workspace, has_store=context.has_store),
        table.available_tools(
            with_writing=args.allow_write, only_core=args.tools == "core"
        ),
    )
    return 0


def _has_mcp_sdk() -> bool:
    return find_spec(MCP_SDK) is not None


def _serve_http(args: Namespace, context: Context) -> int:
    from memtui.tools import http_server, table

    runner = table.ToolRunner(context.open_workspace, has_store=context.has_store)
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


def _open_web(args: Namespace) -> int:
    if find_spec("textual_serve") is None:
        raise MemtuiError(WEB_MISSING)
    from memtui.cli.web_server import Guard, WebServer

    with listen(args.port) as listener:
        guard = Guard(WEB_HOST, listener.getsockname()[1])
        WebServer(tab_command(args), guard).listen(listener)
    return 0


def tab_command(args: Namespace) -> str:
    """Return the command of each tab: this memtui with the options of this process."""
    words = [sys.executable, "-m", "memtui"]
    for option in ("home", "config"):
        if (value := getattr(args, option)) is not None:
            words += [f"--{option}", str(value)]
    for setting in args.set:
        words += ["--set", setting]
    # The process of the shell becomes memtui, so that ending it ends memtui.
    return f"exec {shlex.join(words)}"


def listen(port: int) -> socket.socket:
    """Return a socket that only this machine can reach; port 0 takes any."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((WEB_HOST, port))
        listener.listen()
    except (OSError, OverflowError) as error:
        listener.close()
        why = getattr(error, "strerror", None) or str(error)
        raise MemtuiError(
            f"cannot serve at port {port}: {why}; another port: --port N,"
            " where 0 takes any that is free"
        ) from error
    return listener
