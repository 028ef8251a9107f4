"""``web``: serves the app to a browser of this machine; each tab is a process."""

import shlex
import socket
import sys
from argparse import Namespace
from importlib.util import find_spec

from memtui.cli.arguments import MAX_PORT, Parser, add_number
from memtui.cli.context import Context
from memtui.errors import MemtuiError

HOST = "127.0.0.1"
"""The address it is served at: of this machine alone."""

MISSING = "memtui web needs textual-serve: pip install 'memtui[web]'"


def add_options(parser: Parser, command: str) -> None:
    text = "the port (default 8421; 0 takes any that is free)"
    add_number(parser, "--port", 8421, text, maximum=MAX_PORT)


def run(args: Namespace, context: Context) -> int:
    if find_spec("textual_serve") is None:
        raise MemtuiError(MISSING)
    from memtui.cli.web_server import Guard, WebServer

    with listen(args.port) as listener:
        guard = Guard(HOST, listener.getsockname()[1])
        WebServer(command(args), guard).listen(listener)
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


def listen(port: int) -> socket.socket:
    """Return a socket that only this machine can reach; port 0 takes any."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((HOST, port))
        listener.listen()
    except (OSError, OverflowError) as error:
        listener.close()
        why = getattr(error, "strerror", None) or str(error)
        raise MemtuiError(
            f"cannot serve at port {port}: {why}; another port: --port N,"
            " where 0 takes any that is free"
        ) from error
    return listener
