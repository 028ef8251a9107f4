"""The server in settings that are JSON: one member of one object, by our name."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from memtui.agents import json_text, jsonc_text
from memtui.agents.entries import Entry
from memtui.agents.json_text import NotJson
from memtui.agents.machine import Machine

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
        found = json_text.find(plain, self.under, SERVER) if plain else None
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
        if json_text.find(self._plain(text), self.under) is None:
            root = json_text.root(self._plain(text))
            text = jsonc_text.append(text, root, {}, self.under)
        held = json_text.find(self._plain(text), self.under)
        assert held is not None
        if not isinstance(held.value, dict):
            line = text.count("\n", 0, held.start) + 1
            raise NotJson(f"line {line}: {self.under} is not an object")
        return jsonc_text.append(text, held.at, self.server, SERVER)

    def removed(self, text: str) -> str:
        """The settings without the server, and without what held nothing else."""
        plain = self._plain(text)
        held = json_text.find(plain, self.under) if plain else None
        if held is None or not self.ours(text):
            return text
        root = json_text.root(plain)
        mine = json_text.parts(plain, held.at)
        if len(mine) == 1 and jsonc_text.is_bare(text, held.at):
            return jsonc_text.cut(text, root, _index(plain, root, self.under))
        return jsonc_text.cut(text, held.at, _index(plain, held.at, SERVER))

    def check(self, text: str) -> None:
        """Make sure that a text can be such settings.

        Raises:
            NotJson: It cannot.
        """
        json_text.check(self._plain(text))

    def _plain(self, text: str) -> str:
        return jsonc_text.plain(text) if self.has_comments else text


def _index(text: str, at: int, key: str) -> int:
    return [part.key for part in json_text.parts(text, at)].index(key)
