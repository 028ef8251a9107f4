"""The agents that can be told of the server: where, and how each says what to run."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from memtui.agents import opencode
from memtui.agents.changes import Writing
from memtui.agents.machine import Machine
from memtui.agents.registering.json_server import JsonServer
from memtui.agents.registering.skills import Skill
from memtui.agents.registering.toml_server import TomlServer

Place = Callable[[Machine], Path]

_SKILL = Path("skills", "memtui", "SKILL.md")
_SHARED = "The command names this machine's paths: keep the file out of commits."


@dataclass(frozen=True, slots=True)
class Client:
    """An agent that asks MCP servers and reads skills."""

    name: str
    title: str
    program: str
    home: Place
    server: Writing
    skill: Writing
    note: str = "Start it anew to have it find memtui."

    def is_found(self, machine: Machine) -> bool:
        """Whether the agent is on this machine."""
        return self.home(machine).is_dir() or machine.has_program(self.program)

    def note_in(self, machine: Machine) -> str:
        """What a person must know to have it work."""
        return f"{self.note} {_SHARED}" if machine.project else self.note


def clients(command: Sequence[str]) -> tuple[Client, ...]:
    """All agents, as they would run a command.

    Args:
        command: What starts the server.
    """
    servers = _servers(command)
    return tuple(
        Client(name, title, program, home, servers[name], _skill(name, home, project))
        for name, title, program, home, project in _AGENTS
    )


def _servers(command: Sequence[str]) -> dict[str, Writing]:
    """How each is told of the server, by its name."""
    program, *rest = command
    plain: dict[str, object] = {"command": program, "args": rest}
    local = {"type": "local", "command": [*command], "enabled": True}
    key = "mcpServers"
    said: tuple[Writing, ...] = (
        JsonServer("claude-code", _claude_file, key, {"type": "stdio", **plain}),
        TomlServer("codex", _in(_codex, "config.toml", ".codex/config.toml"), plain),
        JsonServer(
            "gemini-cli",
            _in(_gemini, "settings.json", ".gemini/settings.json"),
            key,
            plain,
        ),
        JsonServer(
            "opencode",
            _in(opencode.folder, "opencode.json", "opencode.json"),
            "mcp",
            local,
            has_comments=True,
        ),
        JsonServer(
            "copilot-cli",
            _in(_copilot, "mcp-config.json", ".github/mcp.json"),
            key,
            {"type": "local", **plain, "tools": ["*"]},
        ),
    )
    return {one.name: one for one in said}


def _in(home: Place, user: str, project: str) -> Place:
    def file(machine: Machine) -> Path:
        if machine.project is not None:
            return machine.project / project
        return home(machine) / user

    return file


def _skill(name: str, home: Place, project: str) -> Skill:
    def file(machine: Machine) -> Path:
        if machine.project is not None:
            return machine.project / project / _SKILL
        return home(machine) / _SKILL

    return Skill(name, file)


def _claude(machine: Machine) -> Path:
    return machine.folder("CLAUDE_CONFIG_DIR", ".claude")


def _claude_file(machine: Machine) -> Path:
    """Not its settings: Claude Code keeps servers with its own state."""
    if machine.project is not None:
        return machine.project / ".mcp.json"
    if machine.environment.get("CLAUDE_CONFIG_DIR"):
        return _claude(machine) / ".claude.json"
    return machine.home / ".claude.json"


def _codex(machine: Machine) -> Path:
    return machine.folder("CODEX_HOME", ".codex")


def _gemini(machine: Machine) -> Path:
    return machine.home / ".gemini"


def _copilot(machine: Machine) -> Path:
    return machine.folder("COPILOT_HOME", ".copilot")


_AGENTS = (
    ("claude-code", "Claude Code", "claude", _claude, ".claude"),
    ("codex", "Codex", "codex", _codex, ".codex"),
    ("gemini-cli", "Gemini CLI", "gemini", _gemini, ".gemini"),
    ("opencode", "OpenCode", "opencode", opencode.folder, ".opencode"),
    ("copilot-cli", "Copilot CLI", "copilot", _copilot, ".github"),
)
"""Each agent's name, title and program, its own folder and that in a project."""
