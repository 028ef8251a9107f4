"""The server in settings that are TOML, as Codex has them: a table of its own.

The table is put behind all others, said anew where it stands, and cut out as lines.
Whatever is done is read back: if the rest of the settings would not mean what it meant,
nothing is done.
"""

import json
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, time
from pathlib import Path
from typing import Any

from memtui.agents.entries import Entry
from memtui.agents.json_text import NotJson
from memtui.agents.machine import Machine
from memtui.agents.registering.json_server import OURS, SERVER, with_own

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
