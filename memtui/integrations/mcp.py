"""Registering memtui's MCP server and its skill with the agents that can use them."""

import tomllib
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.integrations import json_edit
from memtui.integrations.config_files import ConfigEntry, ConfigValue
from memtui.integrations.json_edit import ConfigSyntaxError
from memtui.integrations.known_agents import (
    PathOf,
    claude_folder,
    codex_folder,
    copilot_folder,
    gemini_folder,
    opencode_folder,
)
from memtui.integrations.machine import Machine

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

SERVER_NAME = "memtui"

_OWN_FIELDS = ("", "type", "command", "args", "url", "httpUrl")
"""The fields that say how the server is reached; all others belong to the user."""

_CODEX_SERVERS = "mcp_servers"
_SKILL_SOURCE = Path(__file__).with_name("skill.md")
_SKILL_MARK = "<!-- Written by memtui"
_SKILL_PATH = Path("skills", "memtui", "SKILL.md")
_PROJECT_NOTE = "The command names this machine's paths: keep the file out of commits."


def _merge_user_fields(
    server: Mapping[str, object], existing: Sequence[ConfigValue]
) -> dict[str, object]:
    """Return a server's fields with those that the user has added."""
    fields = {name: value for one in existing for name, value in one.value.items()}
    return {**server, **{n: v for n, v in fields.items() if n not in _OWN_FIELDS}}


@dataclass(frozen=True)
class JsonServer(ConfigEntry):
    """The server in a JSON file."""

    name: str
    path_of: PathOf
    key: str
    """The object that holds the servers: ``mcpServers``."""
    server: dict[str, object]
    allow_comments: bool = False
    """The agent accepts comments and trailing commas."""
    empty_text: str = "{}\n"

    def path(self, machine: Machine) -> Path:
        return self.path_of(machine)

    def with_user_values(self, text: str) -> "JsonServer":
        server = _merge_user_fields(self.server, self.existing(text))
        return replace(self, server=server)

    def wanted(self, machine: Machine) -> list[ConfigValue]:
        return [ConfigValue(self.key, self.server)]

    def existing(self, text: str) -> list[ConfigValue]:
        found = json_edit.find(text, self.key, SERVER_NAME) if text else None
        if found is None:
            return []
        value = found.value if isinstance(found.value, dict) else {"": found.value}
        return [ConfigValue(self.key, value)]

    def add(self, text: str, machine: Machine) -> str:
        text = self.remove(text) or self.empty_text
        if json_edit.find(text, self.key) is None:
            text = json_edit.append(text, json_edit.root(text), {}, self.key)
        servers = json_edit.find(text, self.key)
        assert servers is not None
        if not isinstance(servers.value, dict):
            line = json_edit.line_number(text, servers.start)
            raise ConfigSyntaxError(f"line {line}: {self.key} is not an object")
        return json_edit.append(text, servers.at, self.server, SERVER_NAME)

    def remove(self, text: str) -> str:
        """Remove the server, and the object that holds no other."""
        servers = json_edit.find(text, self.key) if self.existing(text) else None
        if servers is None:
            return text
        is_alone = len(json_edit.members(text, servers.at)) == 1
        if is_alone and json_edit.has_no_comments(text, servers.at):
            return _remove_key(text, json_edit.root(text), self.key)
        return _remove_key(text, servers.at, SERVER_NAME)

    def check(self, text: str) -> None:
        json_edit.check(text, allow_comments=self.allow_comments)


def _remove_key(text: str, at: int, key: str) -> str:
    keys = [member.key for member in json_edit.members(text, at)]
    return json_edit.remove(text, at, keys.index(key))


@dataclass(frozen=True)
class TomlServer(ConfigEntry):
    """The server in Codex' TOML file."""

    name: str
    path_of: PathOf
    server: dict[str, object]

    def path(self, machine: Machine) -> Path:
        return self.path_of(machine)

    def with_user_values(self, text: str) -> "TomlServer":
        server = _merge_user_fields(self.server, self.existing(text))
        return replace(self, server=server)

    def wanted(self, machine: Machine) -> list[ConfigValue]:
        return [ConfigValue(_CODEX_SERVERS, self.server)]

    def existing(self, text: str) -> list[ConfigValue]:
        servers = _parse_toml(text).get(_CODEX_SERVERS, {})
        found = servers.get(SERVER_NAME) if isinstance(servers, dict) else None
        if found is None:
            return []
        value = found if isinstance(found, dict) else {"": found}
        return [ConfigValue(_CODEX_SERVERS, value)]

    def add(self, text: str, machine: Machine) -> str:
        import tomlkit
        from tomlkit.items import InlineTable

        document = tomlkit.parse(text)
        servers: object = document.setdefault(
            _CODEX_SERVERS, tomlkit.table(is_super_table=True)
        )
        if not isinstance(servers, MutableMapping):
            raise ConfigSyntaxError(f"{_CODEX_SERVERS} is not a table")
        server = servers.get(SERVER_NAME)
        if isinstance(server, MutableMapping):
            for name in [name for name in server if name in _OWN_FIELDS]:
                if name not in self.server:
                    del server[name]
            for name, value in self.server.items():
                if server.get(name) != value:
                    server[name] = value
        else:
            is_inline = isinstance(servers, InlineTable)
            table = tomlkit.inline_table() if is_inline else tomlkit.table()
            table.update(self.server)
            if not is_inline and list(document)[-1] != _CODEX_SERVERS:
                table.add(tomlkit.nl())
            servers[SERVER_NAME] = table
        return _dump_toml(document, text)

    def remove(self, text: str) -> str:
        if not self.existing(text):
            return text
        import tomlkit

        document = tomlkit.parse(text)
        servers = document[_CODEX_SERVERS]
        assert isinstance(servers, MutableMapping)
        del servers[SERVER_NAME]
        if not servers:
            del document[_CODEX_SERVERS]
        return _dump_toml(document, text)

    def check(self, text: str) -> None:
        _parse_toml(text)


def _parse_toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigSyntaxError(f"it is not valid TOML: {error}") from None


def _dump_toml(document: "TOMLDocument", before: str) -> str:
    """Return a document's text with the line ends that it had before."""
    text = document.as_string()
    if "\r\n" in before:
        text = text.replace("\r\n", "\n").replace("\n", "\r\n")
    if _parse_toml(text) != document.unwrap():
        raise ConfigSyntaxError(f"{_CODEX_SERVERS} must be changed by hand")
    return text


@dataclass(frozen=True)
class Skill(ConfigEntry):
    """A skill file that explains to the agent how to use the memory."""

    name: str
    path_of: PathOf
    is_own_file: bool = True

    def path(self, machine: Machine) -> Path:
        return self.path_of(machine)

    def wanted(self, machine: Machine) -> list[ConfigValue]:
        return self.existing(self.add("", machine))

    def existing(self, text: str) -> list[ConfigValue]:
        return [ConfigValue("skill", {"text": text})] if _SKILL_MARK in text else []

    def add(self, text: str, machine: Machine) -> str:
        return _SKILL_SOURCE.read_text("utf-8")

    def remove(self, text: str) -> str:
        return "" if _SKILL_MARK in text else text

    def check(self, text: str) -> None:
        if text.strip() and _SKILL_MARK not in text:
            raise ConfigSyntaxError("line 1: it is not a skill that memtui wrote")


@dataclass(frozen=True, slots=True)
class McpClient:
    """An agent that uses MCP servers and skills."""

    name: str
    title: str
    program: str
    folder: PathOf
    server: ConfigEntry
    skill: ConfigEntry
    note: str = "Restart it so that it finds memtui."

    def is_found(self, machine: Machine) -> bool:
        """Return whether the agent is on this machine."""
        return self.folder(machine).is_dir() or machine.has_program(self.program)

    def note_for(self, machine: Machine) -> str:
        """Return what the user must know for it to work."""
        return f"{self.note} {_PROJECT_NOTE}" if machine.project else self.note


def mcp_clients(command: Sequence[str]) -> tuple[McpClient, ...]:
    """Return all agents, with the entries that run a command as the server."""
    program, *arguments = command
    plain: dict[str, object] = {"command": program, "args": arguments}
    opencode = {"type": "local", "command": [*command], "enabled": True}
    key = "mcpServers"
    servers: tuple[ConfigEntry, ...] = (
        JsonServer("claude-code", _claude_file, key, {"type": "stdio", **plain}),
        TomlServer("codex", _file(codex_folder, "config.toml", ".codex"), plain),
        JsonServer(
            "gemini-cli", _file(gemini_folder, "settings.json", ".gemini"), key, plain
        ),
        JsonServer(
            "opencode",
            _file(opencode_folder, "opencode.json", ""),
            "mcp",
            opencode,
            allow_comments=True,
        ),
        JsonServer(
            "copilot-cli",
            _file(copilot_folder, "mcp-config.json", ".github", "mcp.json"),
            key,
            {"type": "local", **plain, "tools": ["*"]},
        ),
    )
    by_name = {one.name: one for one in servers}
    return tuple(
        McpClient(
            name,
            title,
            program,
            folder,
            by_name[name],
            Skill(name, _file(folder, str(_SKILL_PATH), project_folder)),
        )
        for name, title, program, folder, project_folder in _CLIENTS
    )


def _file(
    folder: PathOf, name: str, project_folder: str, project_name: str = ""
) -> PathOf:
    """Return a function for the path of a file in an agent's folder.

    Args:
        folder: The agent's folder of the user.
        name: The file's path in it.
        project_folder: The agent's folder in a project.
        project_name: The file's path in that, if it is another.
    """

    def path(machine: Machine) -> Path:
        if machine.project is not None:
            return machine.project / project_folder / (project_name or name)
        return folder(machine) / name

    return path


def _claude_file(machine: Machine) -> Path:
    # Claude Code keeps servers with its state, not in its settings.
    if machine.project is not None:
        return machine.project / ".mcp.json"
    if machine.environment.get("CLAUDE_CONFIG_DIR"):
        return claude_folder(machine) / ".claude.json"
    return machine.home / ".claude.json"


_CLIENTS = (
    ("claude-code", "Claude Code", "claude", claude_folder, ".claude"),
    ("codex", "Codex", "codex", codex_folder, ".codex"),
    ("gemini-cli", "Gemini CLI", "gemini", gemini_folder, ".gemini"),
    ("opencode", "OpenCode", "opencode", opencode_folder, ".opencode"),
    ("copilot-cli", "Copilot CLI", "copilot", copilot_folder, ".github"),
)
"""Name, title, program, own folder and folder in a project of each agent."""
