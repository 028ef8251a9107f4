"""``web``: serves the app to a browser of this machine; each tab is a process."""

import shlex
import socket
import sys
from argparse import Namespace
from importlib.util import find_spec

from memtui.cli.arguments import MAX_PORT, Parser, add_number
from memtui.cli.context import Context
from memtui.errors import MemtuiError

HOSTS = {"127.0.0.1": socket.AF_INET, "::1": socket.AF_INET6}
"""The addresses it can be served at: only those of this machine."""

MISSING = "memtui web needs textual-serve: pip install 'memtui[web]'"


def add_options(parser: Parser, command: str) -> None:
    parser.add_argument(
        "--host", default="127.0.0.1", help="127.0.0.1 (the default) or ::1"
    )
    text = "the port (default 8421; 0 takes any that is free)"
    add_number(parser, "--port", 8421, text, maximum=MAX_PORT)


def run(args: Namespace, context: Context) -> int:
    if args.host not in HOSTS:
        raise MemtuiError(
            f"{args.host!r} would show your conversations to other machines;"
            f" memtui web serves {' or '.join(HOSTS)} alone"
        )
    if find_spec("textual_serve") is None:
        raise MemtuiError(MISSING)
    from memtui.cli.web_server import Guard, WebServer

    with _listener(args.host, args.port) as listener:
        port = listener.getsockname()[1]
        name = f"[{args.host}]" if ":" in args.host else args.host
        WebServer(command(args), Guard(name, port)).listen(listener)
    return 0


def command(args: Namespace) -> str:
    """Return the command of each tab: this memtui with the options of this process."""
    words = [sys.executable, "-m", "memtui"]
    for option in ("home", "config"):
        if (value := getattr(args, option)) is not None:
            words += [f"--{option}", str(value)]
    for setting in args.set:
        words += ["--set", setting]
    # The process of the shell becomes memtui, so that ending it ends memtui.
    return f"exec {shlex.join(words)}"


def _listener(host: str, port: int) -> socket.socket:
    listener = socket.socket(HOSTS[host], socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen()
    except (OSError, OverflowError) as error:
        listener.close()
        why = getattr(error, "strerror", None) or str(error)
        raise MemtuiError(
            f"cannot serve at {host}, port {port}: {why}; another port: --port N,"
            " where 0 takes any that is free"
        ) from error
    return listener
