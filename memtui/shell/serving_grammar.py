"""The words of ``mcp``: serving the memory to agents, and telling them of it."""

import argparse

from memtui.shell.options import AddCommand

CLIENTS = ("claude-code", "codex", "gemini-cli", "opencode", "copilot-cli")
"""The agents the server can be registered with: ``memtui.agents.registering.clients``."""

SERVE = "serve"


def add(command: AddCommand) -> None:
    """Add the command."""
    mcp = command("mcp", "let agents ask the memory: an MCP server, and its install")
    mcp.add_argument(
        "action",
        nargs="?",
        default=SERVE,
        choices=(SERVE, "install", "uninstall", "status"),
        help="serve, which is meant without one, is what agents run",
    )
    mcp.add_argument(
        "agents",
        nargs="*",
        metavar="AGENT",
        help=f"which: {', '.join(CLIENTS)}; without one: all found on this machine",
    )
    mcp.add_argument(
        "--allow-write",
        action="store_true",
        help="offer tools that add and change things too",
    )
    mcp.add_argument(
        "--structured",
        action="store_true",
        help="answer with data beside the text: for programs, not for models",
    )
    mcp.add_argument(
        "--project",
        action="store_true",
        help="in the settings of this folder's project, not in your own",
    )
    mcp.add_argument(
        "--no-skill", action="store_true", help="install the server alone, no skill"
    )
    mcp.add_argument(
        "--dry-run", action="store_true", help="only show what would be changed"
    )
    mcp.add_argument("--yes", action="store_true", help="write without asking")


def wrong(given: argparse.Namespace) -> str:
    """What cannot be meant; "" where all can."""
    if given.command != "mcp":
        return ""
    if given.action == SERVE and given.agents:
        return f"{SERVE} takes no agent"
    if unknown := [name for name in given.agents if name not in CLIENTS]:
        return f"no agent is called {unknown[0]!r}: {', '.join(CLIENTS)}"
    return ""
