"""Hints: what helps, said as a tool where the command line has a command for it."""

import re
from typing import Final

_TOOLS: Final = (
    (re.compile(r"memtui versions (\S+)"), r'list_versions(node_id="\1")'),
    (re.compile(r"memtui sessions\b"), "list_sessions()"),
    (re.compile(r"memtui show\b"), "get_toc_root()"),
    (re.compile(r"see what can be asked: memtui --help"), "see the tool's schema"),
)
"""Commands as errors name them, and the tools that ask the same."""

_COMMAND: Final = re.compile(r"\bmemtui (?:config|doctor|hooks|quarantine|reindex)\b")
"""What no tool does."""


def for_agents(text: str) -> str:
    """A sentence that names commands, with tools in their place."""
    for command, tool in _TOOLS:
        text = command.sub(tool, text)
    return text


def hint(text: str) -> str:
    """The same of a hint; what only a person can do is said to be for them."""
    said = for_agents(text)
    return f"ask the person to do this: {said}" if _COMMAND.search(said) else said
