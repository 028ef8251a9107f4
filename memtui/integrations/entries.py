"""The kinds of entries in agents' settings: hooks, MCP servers and own files."""

import json
import re
import shlex
import tomllib
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from memtui.integrations import json_edit
from memtui.integrations.config_files import ConfigEntry, ConfigValue, Machine
from memtui.integrations.json_edit import ConfigSyntaxError, Member

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

SERVER_NAME = "memtui"

_HOOKS = "hooks"

COMMAND_FIELDS = ("command", "bash", "exec")
"""The fields in which a handler names its command."""

_SERVER_FIELDS = ("", "type", "command", "args", "url", "httpUrl")
"""The fields that say how the server is reached; all others belong to the user."""

_PLUGIN_COMMAND = re.compile(r"^const COMMAND = (\[.*\])$", re.MULTILINE)
"""The line of OpenCode's plugin with the command of the hook."""


@dataclass(frozen=True)
class JsonHooks(ConfigEntry):
    events: tuple[str, ...]
    handler: Callable[[Machine, str], dict[str, object]]
    """Makes the handler of one event."""
    is_grouped: bool = True
    """Handlers are in groups, not directly in the event's list."""

    def wanted(self, machine: Machine, text: str = "") -> list[ConfigValue]:
        return [ConfigValue(one, self.handler(machine, one)) for one in self.events]

    def existing(self, text: str) -> list[ConfigValue]:
        chains = _own_handlers(text) if text else ()
        return [ConfigValue(one[1].key, _fields(one[-1])) for one in chains]

    def add(self, text: str, machine: Machine) -> str:
        text = self.remove(text) or self.empty_text or "{}\n"
        for wanted in self.wanted(machine):
            text = json_edit.ensure(text, _HOOKS, value={})
            text = json_edit.ensure(text, _HOOKS, wanted.key, value=[])
            value = {_HOOKS: [wanted.value]} if self.is_grouped else wanted.value
            event = json_edit.find(text, _HOOKS, wanted.key)[-1]
            text = json_edit.append(text, event.at, value)
        return text

    def remove(self, text: str) -> str:
        """Remove memtui's handlers, and objects that contain nothing else."""
        while text and (chain := next(_own_handlers(text), None)):
            text = json_edit.remove(text, chain)
        return text

    def check(self, text: str) -> None:
        json_edit.check(text)


def _own_handlers(text: str) -> Iterator[list[Member]]:
    """Yield memtui's handlers, each after the members that it is in.

    Raises:
        ConfigSyntaxError: ``hooks`` occurs twice.
    """
    hooks = json_edit.find(text, _HOOKS)
    for event in json_edit.members(text, hooks[-1].at) if _fields(*hooks) else ():
        for element in _elements(text, event):
            groups = json_edit.members(text, element.at) if _fields(element) else ()
            lists = [one for one in groups if one.key == _HOOKS]
            for handler in _elements(text, *lists):
                if _is_own(_fields(handler)):
                    yield [*hooks, event, element, handler]
            if _is_own(_fields(element)):
                yield [*hooks, event, element]


def _elements(text: str, *members: Member) -> list[Member]:
    """Return the elements of a list; [] if it is none, or one of several."""
    if len(members) != 1 or not isinstance(members[0].value, list):
        return []
    return json_edit.members(text, members[0].at)


def _fields(*members: Member) -> dict[str, object]:
    """Return an object; {} if it is missing or is none."""
    value = members[0].value if members else None
    return value if isinstance(value, dict) else {}


def _is_own(handler: Mapping[str, object]) -> bool:
    """Return whether a handler runs memtui's hook and nothing else."""
    words = _words(handler)
    program = PurePath(words[0]).name if words else ""
    if program in ("memtui-hook", "memtui-hook.sh"):
        return True
    arguments = iter(words[1:] if program.startswith("python") else ())
    for word in arguments:
        if not word.startswith("-"):
            return PurePath(word).parts[-2:] == ("memtui", "hook.py")
        if word.endswith("m"):
            return next(arguments, "") == "memtui.hook"
        if word.endswith("c"):
            return False
        if word in ("-W", "-X"):
            next(arguments, None)
    return False


def _words(handler: Mapping[str, object]) -> list[str]:
    """Return the words of a command; [] if it does more than run one program."""
    line = next((handler[name] for name in COMMAND_FIELDS if handler.get(name)), "")
    if not isinstance(line, str):
        return []
    if isinstance(arguments := handler.get("args"), list):
        return [line, *map(str, arguments)]
    try:
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        words = list(lexer)
    except ValueError:
        return []
    return [] if any(set(word) <= set("();<>|&") for word in words if word) else words


@dataclass(frozen=True)
class OwnFile(ConfigEntry):
    """A file of memtui's own: OpenCode's plugin with the hooks, or a skill."""

    source: Path
    mark: str
    """A text that only memtui's file has."""
    events: tuple[str, ...] = ("plugin",)
    """The key of its only value."""

    def wanted(self, machine: Machine, text: str = "") -> list[ConfigValue]:
        return self.existing(self.add("", machine))

    def existing(self, text: str) -> list[ConfigValue]:
        if self.mark not in text:
            return []
        match = _PLUGIN_COMMAND.search(text)
        try:
            command = [str(word) for word in json.loads(match[1])] if match else []
        except ValueError:
            command = []
        value = {"command": command[0], "args": command[1:]} if command else {}
        return [ConfigValue(self.events[0], {**value, "text": text})]

    def add(self, text: str, machine: Machine) -> str:
        command = json.dumps(machine.hook_command("--agent", self.agent))
        source = self.source.read_text(encoding="utf-8")
        return _PLUGIN_COMMAND.sub(lambda _: f"const COMMAND = {command}", source, 1)

    def remove(self, text: str) -> str:
        return "" if self.existing(text) else text

    def check(self, text: str) -> None:
        if text.strip() and not self.existing(text):
            raise ConfigSyntaxError("line 1: it is not a file that memtui wrote")


@dataclass(frozen=True)
class ServerEntry(ConfigEntry):
    """The MCP server among others."""

    key: str
    """The object that contains the servers."""
    fields: Callable[[Sequence[str]], dict[str, object]]
    """Returns the fields of a server that is run by a command."""

    def wanted(self, machine: Machine, text: str = "") -> list[ConfigValue]:
        """Return the server, with the fields that the user has added to it."""
        old = {n: v for one in self.existing(text) for n, v in one.value.items()}
        added = {n: v for n, v in old.items() if n not in _SERVER_FIELDS}
        return [ConfigValue(self.key, {**self.fields(machine.server), **added})]


@dataclass(frozen=True)
class JsonServer(ServerEntry):
    allow_comments: bool = False
    """The agent accepts comments and trailing commas."""

    def existing(self, text: str) -> list[ConfigValue]:
        found = json_edit.find(text, self.key, SERVER_NAME) if text else []
        return [ConfigValue(self.key, _as_fields(one.value)) for one in found[1:]]

    def add(self, text: str, machine: Machine) -> str:
        (wanted,) = self.wanted(machine, text)
        text = self.remove(text) or self.empty_text or "{}\n"
        text = json_edit.ensure(text, self.key, value={})
        servers = json_edit.find(text, self.key)[-1]
        return json_edit.append(text, servers.at, wanted.value, SERVER_NAME)

    def remove(self, text: str) -> str:
        """Remove the server, and the object if it contains no other."""
        found = json_edit.find(text, self.key, SERVER_NAME) if text else []
        return json_edit.remove(text, found) if found else text

    def check(self, text: str) -> None:
        json_edit.check(text, allow_comments=self.allow_comments)


class TomlServer(ServerEntry):
    def existing(self, text: str) -> list[ConfigValue]:
        servers = _parse_toml(text).get(self.key)
        if not isinstance(servers, dict) or SERVER_NAME not in servers:
            return []
        return [ConfigValue(self.key, _as_fields(servers[SERVER_NAME]))]

    def add(self, text: str, machine: Machine) -> str:
        import tomlkit
        from tomlkit.items import InlineTable

        (wanted,) = self.wanted(machine, text)
        document = tomlkit.parse(text)
        servers: object = document.setdefault(
            self.key, tomlkit.table(is_super_table=True)
        )
        if not isinstance(servers, MutableMapping):
            raise ConfigSyntaxError(f"{self.key} is not a table")
        server = servers.get(SERVER_NAME)
        if isinstance(server, MutableMapping):
            for name in [name for name in server if name not in wanted.value]:
                del server[name]
            for name, value in wanted.value.items():
                if server.get(name) != value:
                    server[name] = value
        else:
            is_inline = isinstance(servers, InlineTable)
            table = tomlkit.inline_table() if is_inline else tomlkit.table()
            table.update(wanted.value)
            if not is_inline and list(document)[-1] != self.key:
                table.add(tomlkit.nl())
            servers[SERVER_NAME] = table
        return _dump_toml(document, text, self.key)

    def remove(self, text: str) -> str:
        if not self.existing(text):
            return text
        import tomlkit

        document = tomlkit.parse(text)
        servers = document[self.key]
        assert isinstance(servers, MutableMapping)
        del servers[SERVER_NAME]
        if not servers:
            del document[self.key]
        return _dump_toml(document, text, self.key)

    def check(self, text: str) -> None:
        _parse_toml(text)


def _as_fields(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {"": value}


def _parse_toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigSyntaxError(f"it is not valid TOML: {error}") from None


def _dump_toml(document: "TOMLDocument", before: str, key: str) -> str:
    """Return a document's text with the line ends that it had before."""
    text = document.as_string()
    if "\r\n" in before:
        text = text.replace("\r\n", "\n").replace("\n", "\r\n")
    if _parse_toml(text) != document.unwrap():
        raise ConfigSyntaxError(f"{key} must be changed by hand")
    return text
