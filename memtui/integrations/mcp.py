"""The agents that can be told of the server: where, and how each says what to run."""

import json
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, time
from pathlib import Path
from typing import Any

from memtui.integrations import config_edit, known_agents
from memtui.integrations.config_edit import NotJson
from memtui.integrations.hooks import ConfigEntry
from memtui.integrations.known_agents import Entry, Machine

SERVER = "memtui"
"""What the server is called in all agents' settings."""


OURS = ("", "type", "command", "args", "url", "httpUrl")
"""What says how a server is reached: of ours that is for us to say, and all else, that
it is switched off say, for whoever set it."""


def with_own(
    server: Mapping[str, object], standing: Sequence[Entry]
) -> dict[str, object]:
    """What should stand for our server, with what a person has set there besides.

    Args:
        server: What should stand there.
        standing: What stands there.
    """
    held = {name: value for one in standing for name, value in one.handler.items()}
    return {**server, **{n: said for n, said in held.items() if n not in OURS}}


@dataclass(frozen=True, slots=True)
class JsonServer:
    """Settings that keep servers in an object of theirs."""

    name: str
    file: Callable[[Machine], Path]
    under: str
    """The object's name: ``mcpServers``."""
    server: dict[str, object]
    """What should stand there."""
    skeleton: str = "{}\n"
    is_own_file: bool = False
    has_comments: bool = False
    """Whether the agent reads comments, and a comma too many, in its settings."""

    def with_own(self, text: str) -> "JsonServer":
        """The same, with what a person has set for our server besides."""
        return replace(self, server=with_own(self.server, self.ours(text)))

    def wanted(self, machine: Machine) -> list[Entry]:
        """What should stand in the settings."""
        return [Entry(self.under, self.server, is_grouped=False)]

    def ours(self, text: str) -> list[Entry]:
        """What stands there of ours.

        Raises:
            NotJson: A name of the path stands there twice.
        """
        plain = self._plain(text)
        found = config_edit.find(plain, self.under, SERVER) if plain else None
        if found is None:
            return []
        said = found.value if isinstance(found.value, dict) else {"": found.value}
        return [Entry(self.under, said, is_grouped=False)]

    def added(self, text: str, machine: Machine) -> str:
        """The settings with the server in them.

        Raises:
            NotJson: They have something else where servers belong.
        """
        text = self.removed(text) or self.skeleton
        if config_edit.find(self._plain(text), self.under) is None:
            root = config_edit.root(self._plain(text))
            text = config_edit.append_jsonc(text, root, {}, self.under)
        held = config_edit.find(self._plain(text), self.under)
        assert held is not None
        if not isinstance(held.value, dict):
            line = text.count("\n", 0, held.start) + 1
            raise NotJson(f"line {line}: {self.under} is not an object")
        return config_edit.append_jsonc(text, held.at, self.server, SERVER)

    def removed(self, text: str) -> str:
        """The settings without the server, and without what held nothing else."""
        plain = self._plain(text)
        held = config_edit.find(plain, self.under) if plain else None
        if held is None or not self.ours(text):
            return text
        root = config_edit.root(plain)
        mine = config_edit.parts(plain, held.at)
        if len(mine) == 1 and config_edit.is_bare(text, held.at):
            return config_edit.cut_jsonc(text, root, _index(plain, root, self.under))
        return config_edit.cut_jsonc(text, held.at, _index(plain, held.at, SERVER))

    def check(self, text: str) -> None:
        """Make sure that a text can be such settings.

        Raises:
            NotJson: It cannot.
        """
        config_edit.check(self._plain(text))

    def _plain(self, text: str) -> str:
        return config_edit.plain(text) if self.has_comments else text


def _index(text: str, at: int, key: str) -> int:
    return [part.key for part in config_edit.parts(text, at)].index(key)


_SOURCE = Path(__file__).with_name("skill.md")


_MARK = "<!-- Written by memtui"
"""What stands in a skill of ours."""


@dataclass(frozen=True, slots=True)
class Skill:
    """A skill that teaches how the memory is asked."""

    name: str
    file: Callable[[Machine], Path]
    skeleton: str = ""
    is_own_file: bool = True

    def with_own(self, text: str) -> "Skill":
        """The same: it is ours in full."""
        return self

    def wanted(self, machine: Machine) -> list[Entry]:
        """The whole of it."""
        return [_entry(_SOURCE.read_text("utf-8"))]

    def ours(self, text: str) -> list[Entry]:
        """What stands there, if we wrote it."""
        return [_entry(text)] if _MARK in text else []

    def added(self, text: str, machine: Machine) -> str:
        """The skill."""
        return _SOURCE.read_text("utf-8")

    def removed(self, text: str) -> str:
        """Nothing, if it is our skill."""
        return "" if _MARK in text else text

    def check(self, text: str) -> None:
        """Make sure that a file in our skill's place is ours.

        Raises:
            NotJson: It is not.
        """
        if text.strip() and _MARK not in text:
            raise NotJson("line 1: it is not a skill that memtui wrote")


def _entry(text: str) -> Entry:
    return Entry("skill", {"text": text}, is_grouped=False)


UNDER = "mcp_servers"


_NAME = rf"(?:{SERVER}|\"{SERVER}\"|'{SERVER}')"


_HEADER = re.compile(rf"^[ \t]*\[[ \t]*{UNDER}[ \t]*\.[ \t]*{_NAME}[ \t]*[\].]")
"""How our table begins, and those within it."""


_TOP = re.compile(rf"^[ \t]*\[[ \t]*{UNDER}[ \t]*\.[ \t]*{_NAME}[ \t]*\]")
"""How our table itself begins."""


_TABLE = re.compile(r"^[ \t]*\[")


_NO_TABLES = f"{UNDER} is not written as tables; change it by hand"


_BARE = re.compile(r"[A-Za-z0-9_-]+")
"""A name that needs no quotes."""


@dataclass(frozen=True, slots=True)
class TomlServer:
    """Settings that keep each server in a table."""

    name: str
    file: Callable[[Machine], Path]
    server: dict[str, object]
    """What should stand there."""
    skeleton: str = ""
    is_own_file: bool = False

    def with_own(self, text: str) -> "TomlServer":
        """The same, with what a person has set for our server besides."""
        return replace(self, server=with_own(self.server, self.ours(text)))

    def wanted(self, machine: Machine) -> list[Entry]:
        """What should stand in the settings."""
        return [Entry(UNDER, self.server, is_grouped=False)]

    def ours(self, text: str) -> list[Entry]:
        """What stands there of ours."""
        servers = _read(text).get(UNDER, {})
        found = servers.get(SERVER) if isinstance(servers, dict) else None
        if found is None:
            return []
        said = found if isinstance(found, dict) else {"": found}
        return [Entry(UNDER, said, is_grouped=False)]

    def added(self, text: str, machine: Machine) -> str:
        """The settings with the server in them.

        Raises:
            NotJson: They keep servers in another manner.
        """
        end = "\r\n" if "\r\n" in text else "\n"
        meaning = _with(_read(text), self.server)
        if renewed := _renewed(text, self.server, end):
            return _proven(renewed, meaning)
        text = self.removed(text)
        lead = "" if not text else end if text.endswith("\n") else end * 2
        rows = [f"[{UNDER}.{SERVER}]", *_rows(self.server)]
        told = text + lead + "".join(f"{row}{end}" for row in rows)
        return _proven(told, meaning)

    def removed(self, text: str) -> str:
        """The settings without the server.

        Raises:
            NotJson: It stands there in another manner than a table of its own.
        """
        if not self.ours(text):
            return text
        return _proven(_cut(text), _with(_read(text), None))

    def check(self, text: str) -> None:
        """Make sure that a text can be such settings.

        Raises:
            NotJson: It cannot.
        """
        _read(text)


def _renewed(text: str, server: Mapping[str, object], end: str) -> str:
    """The text with our table said anew: its place, and what a person wrote, stay.

    Returns:
        "" where there is no such table.
    """
    lines = text.splitlines(keepends=True)
    start = next((n + 1 for n, one in enumerate(lines) if _TOP.match(one)), 0)
    if not start:
        return ""
    told = {name: said for name, said in server.items() if name in OURS}
    kept: list[str] = []
    at = start
    while at < len(lines) and not _TABLE.match(lines[at]):
        after = _statement_end(lines, at)
        statement = "".join(lines[at:after])
        name = next(iter(_read(statement)), "")
        if name in told:
            row = f"{_key(name)} = {_said(told.pop(name))}"
            kept.append(f"{row}{_comment(statement)}{end}")
        elif not name or name not in OURS:
            kept.append(statement)
        at = after
    new = [f"{row}{end}" for row in _rows(told)]
    head = lines[start - 1].rstrip("\r\n") + end
    return "".join([*lines[: start - 1], head, *new, *kept, *lines[at:]])


def _statement_end(lines: Sequence[str], start: int) -> int:
    """Behind which line a statement ends that may take several."""
    for end in range(start + 1, len(lines) + 1):
        with suppress(tomllib.TOMLDecodeError):
            tomllib.loads("".join(lines[start:end]))
            return end
    raise NotJson(_NO_TABLES)


def _comment(statement: str) -> str:
    """What a person noted behind a value, with the blanks before it; "" for nothing."""
    meaning = _read(statement)
    for found in re.finditer(r"[ \t]*#[^\n]*\s*$", statement):
        with suppress(tomllib.TOMLDecodeError):
            if tomllib.loads(statement[: found.start()]) == meaning:
                return found[0].rstrip("\r\n")
    return ""


def _rows(server: Mapping[str, object]) -> list[str]:
    return [f"{_key(name)} = {_said(value)}" for name, value in server.items()]


def _cut(text: str) -> str:
    """The text without our tables, and without the blank line before them."""
    kept: list[str] = []
    behind: list[str] = []
    is_ours = False
    for line in text.splitlines(keepends=True):
        if _TABLE.match(line):
            was_ours, is_ours = is_ours, bool(_HEADER.match(line))
            if is_ours and not was_ours and kept and not kept[-1].strip():
                kept.pop()
            if was_ours and not is_ours:
                kept += behind
        if not is_ours:
            kept.append(line)
        # What stands behind our last line belongs to what follows.
        is_said = line.strip() and not line.lstrip().startswith("#")
        behind = [] if is_said else [*behind, line]
    return "".join([*kept, *behind] if is_ours else kept)


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else json.dumps(name, ensure_ascii=False)


def _said(value: object) -> str:
    """A value as TOML, on one line."""
    if isinstance(value, dict):
        held = ", ".join(f"{_key(name)} = {_said(one)}" for name, one in value.items())
        return f"{{ {held} }}" if held else "{}"
    if isinstance(value, list):
        return f"[{', '.join(map(_said, value))}]"
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, float):
        return repr(value)
    return json.dumps(value, ensure_ascii=False)


def _read(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as error:
        raise NotJson(f"it is no TOML: {error}") from None


def _with(settings: dict[str, Any], server: dict[str, object] | None) -> dict[str, Any]:
    """What settings mean with a server of ours, or without one."""
    held = settings.get(UNDER, {})
    if not isinstance(held, dict):
        raise NotJson(f"{UNDER} is no table of TOML")
    servers = dict(held)
    servers.pop(SERVER, None)
    if server is not None:
        servers[SERVER] = server
    rest = {key: value for key, value in settings.items() if key != UNDER}
    return {**rest, UNDER: servers} if servers else rest


def _proven(text: str, meaning: dict[str, Any]) -> str:
    """A text that means what it should.

    Raises:
        NotJson: It does not.
    """
    try:
        read = _read(text)
    except NotJson:
        # A table was put behind what is written in another manner.
        raise NotJson(_NO_TABLES) from None
    if not read.get(UNDER, True):
        del read[UNDER]
    if read != meaning:
        raise NotJson(_NO_TABLES)
    return text


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
    server: ConfigEntry
    skill: ConfigEntry
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


def _servers(command: Sequence[str]) -> dict[str, ConfigEntry]:
    """How each is told of the server, by its name."""
    program, *rest = command
    plain: dict[str, object] = {"command": program, "args": rest}
    local = {"type": "local", "command": [*command], "enabled": True}
    key = "mcpServers"
    said: tuple[ConfigEntry, ...] = (
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
            _in(known_agents.folder, "opencode.json", "opencode.json"),
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
    ("opencode", "OpenCode", "opencode", known_agents.folder, ".opencode"),
    ("copilot-cli", "Copilot CLI", "copilot", _copilot, ".github"),
)
"""Each agent's name, title and program, its own folder and that in a project."""
