"""Additions to settings files: hooks, an MCP server, and files of its own."""

import json
import re
import shlex
from abc import abstractmethod
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any

from memtui.errors import HooksError
from memtui.integrations.config_files import ConfigEntry, ConfigValue, Machine
from memtui.integrations.config_text import JSON, ConfigFormat, Settings

SERVER_NAME = "memtui"

COMMAND_FIELDS = ("command", "bash", "exec")
"""The fields in which a handler names its command."""

MAX_COMMAND_CHARS = 10_000
"""memtui's own commands are shorter; splitting takes quadratic time."""

_SERVER_FIELDS = ("type", "command", "args", "url", "httpUrl")
"""The fields that say how the server is reached; all others belong to the user."""

_PLUGIN_COMMAND = re.compile(r"^const COMMAND = (\[.*\])$", re.MULTILINE)
"""The line of OpenCode's plugin with the command of the hook."""


@dataclass(frozen=True)
class SettingsEntry(ConfigEntry):
    """An entry among other settings."""

    format: ConfigFormat = field(default=JSON, kw_only=True)

    def existing(self, text: str) -> list[ConfigValue]:
        return list(self._find(self.format.parse(text)))

    def add(self, text: str, machine: Machine) -> str:
        settings = self.format.parse(text)
        self._add_to(settings, self.expected(machine, text))
        return self.format.dump(settings, text)

    def remove(self, text: str) -> str:
        settings = self.format.parse(text)
        self._remove_from(settings)
        text = self.format.dump(settings, text)
        return "" if text.strip("\ufeff \t\r\n") == "{}" else text

    @abstractmethod
    def _find(self, settings: Settings) -> Iterator[ConfigValue]:
        """Yield memtui's values."""

    @abstractmethod
    def _add_to(self, settings: Settings, values: Sequence[ConfigValue]) -> None:
        """Put these values in the place of memtui's older ones."""

    @abstractmethod
    def _remove_from(self, settings: Settings) -> None:
        """Remove memtui's values, and what contains nothing else."""


@dataclass(frozen=True)
class JsonHooks(SettingsEntry):
    """Hooks: ``{"hooks": {EVENT: [{"hooks": [HANDLER, …]}, …]}}``."""

    events: tuple[str, ...]
    handler: Callable[[Machine, str], dict[str, object]]
    """Makes the handler of one event."""
    is_grouped: bool = True
    """Handlers are in groups, as above, not directly in the event's list."""
    version: int | None = None
    """The ``version`` that the file must have."""

    def expected(self, machine: Machine, text: str = "") -> list[ConfigValue]:
        return [
            ConfigValue(event, self.handler(machine, event)) for event in self.events
        ]

    def _find(self, settings: Settings) -> Iterator[ConfigValue]:
        for event, elements in _list_events(settings):
            for element in elements:
                for handler in [*_list_handlers(element), element]:
                    if _is_own(handler):
                        yield ConfigValue(event, handler)

    def _add_to(self, settings: Settings, values: Sequence[ConfigValue]) -> None:
        self._remove_from(settings)
        if self.version is not None:
            settings.setdefault("version", self.version)
        hooks = settings.setdefault("hooks", {})
        if not isinstance(hooks, dict):
            raise HooksError("hooks is not an object")
        for item in values:
            elements = hooks.setdefault(item.key, [])
            if not isinstance(elements, list):
                raise HooksError(f"hooks.{item.key} is not a list")
            element = {"hooks": [item.value]} if self.is_grouped else item.value
            elements.append(element)

    def _remove_from(self, settings: Settings) -> None:
        for event, elements in list(_list_events(settings)):
            remaining = [
                other for element in elements for other in _without_own(element)
            ]
            if remaining:
                settings["hooks"][event] = remaining
            elif elements:
                del settings["hooks"][event]
                if not settings["hooks"]:
                    del settings["hooks"]
        if settings.keys() == {"version"} and self.version is not None:
            settings.clear()


def _without_own(element: object) -> Iterator[object]:
    """Yield an element of an event's list without memtui's handlers, if any is left."""
    handlers = _list_handlers(element)
    others = [handler for handler in handlers if not _is_own(handler)]
    if isinstance(element, dict) and len(others) < len(handlers):
        if others:
            yield {**element, "hooks": others}
    elif not _is_own(element):
        yield element


def _list_events(settings: Settings) -> Iterator[tuple[str, list[Any]]]:
    """Yield the events that have hooks, with what is in their lists."""
    hooks = settings.get("hooks")
    for event, elements in hooks.items() if isinstance(hooks, dict) else ():
        if isinstance(elements, list):
            yield event, elements


def _list_handlers(element: object) -> list[Any]:
    handlers = element.get("hooks") if isinstance(element, dict) else None
    return handlers if isinstance(handlers, list) else []


def _is_own(handler: object) -> bool:
    """Return whether a handler runs memtui's hook and nothing else.

    It is ``memtui-hook …``, or ``python3 -I -S /…/memtui/hook.py …``.
    """
    program, *arguments = _words(handler) or [""]
    if PurePath(program).name in ("memtui-hook", "memtui-hook.sh"):
        return True
    script = next((word for word in arguments if not word.startswith("-")), "")
    is_hook = PurePath(script).parts[-2:] == ("memtui", "hook.py")
    is_hook |= script == "memtui.hook"
    return is_hook and PurePath(program).name.startswith("python")


def _words(handler: object) -> list[str]:
    """Return the words of a command; [] if it does more than run one program."""
    if not isinstance(handler, dict):
        return []
    line = next((handler[name] for name in COMMAND_FIELDS if handler.get(name)), "")
    if not isinstance(line, str) or len(line) > MAX_COMMAND_CHARS:
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
class Server(SettingsEntry):
    """The MCP server among others: ``{KEY: {"memtui": {…}, …}}``."""

    key: str
    """The object that contains the servers."""
    fields: Callable[[Sequence[str]], dict[str, object]]
    """Returns the fields of a server that is run by a command."""

    def expected(self, machine: Machine, text: str = "") -> list[ConfigValue]:
        """Return the server, with the fields that the user has added to it."""
        added = {
            name: value
            for item in self.existing(text)
            for name, value in item.value.items()
            if name not in _SERVER_FIELDS
        }
        return [ConfigValue(self.key, {**self.fields(machine.server), **added})]

    def _find(self, settings: Settings) -> Iterator[ConfigValue]:
        servers = settings.get(self.key)
        if isinstance(servers, MutableMapping) and SERVER_NAME in servers:
            server = servers[SERVER_NAME]
            is_object = isinstance(server, MutableMapping)
            yield ConfigValue(self.key, dict(server) if is_object else {})

    def _add_to(self, settings: Settings, values: Sequence[ConfigValue]) -> None:
        servers = settings.setdefault(self.key, {})
        if not isinstance(servers, MutableMapping):
            raise HooksError(f"{self.key} does not contain named servers")
        fields, server = values[0].value, servers.get(SERVER_NAME)
        if not isinstance(server, MutableMapping):
            servers[SERVER_NAME] = fields
            return
        # One by one: comments beside the others stay.
        for name in [name for name in server if name not in fields]:
            del server[name]
        for name, value in fields.items():
            if server.get(name) != value:
                server[name] = value

    def _remove_from(self, settings: Settings) -> None:
        del settings[self.key][SERVER_NAME]
        if not settings[self.key]:
            del settings[self.key]


@dataclass(frozen=True)
class OwnFile(ConfigEntry):
    """A file of memtui's own: OpenCode's plugin with the hooks, or a skill."""

    source: Path
    mark: str
    """A text that only memtui's file has."""
    events: tuple[str, ...] = ("plugin",)
    """The key of its only value."""

    def expected(self, machine: Machine, text: str = "") -> list[ConfigValue]:
        return self.existing(self.add("", machine))

    def existing(self, text: str) -> list[ConfigValue]:
        if not text.strip():
            return []
        if self.mark not in text:
            raise HooksError("line 1: it is not a file that memtui wrote")
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
        return ""
