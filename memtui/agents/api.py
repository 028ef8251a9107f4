"""All tools, in the order agents are shown them."""

import json
import logging
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from memtui.agents import replies, tools_read, tools_write
from memtui.agents import tool as agents_tool
from memtui.agents.replies import Reply
from memtui.agents.tool import MAX_TOKENS, BadArguments, Memory, Tool
from memtui.errors import MemtuiError
from memtui.text import tokens
from memtui.text.fencing import line
from memtui.text.tokens import Counter

TOOLS: tuple[Tool, ...] = (
    *tools_read.FINDING,
    *tools_read.WALKING,
    *tools_read.CONVERSATIONS,
    *tools_read.JOBS,
    *tools_write.TOOLS,
)
"""Every tool, whether it only reads or writes too."""


def offered(*, with_writing: bool) -> tuple[Tool, ...]:
    """The tools that are offered.

    Args:
        with_writing: Whether those that change something are among them.
    """
    return tuple(one for one in TOOLS if with_writing or not one.is_writing)


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


SCHEME = "memtui://"


ROOT = f"{SCHEME}toc"
"""The years."""


MIME = "text/markdown"


TEMPLATES = (
    (
        "node",
        f"{SCHEME}toc/{{level}}/{{name}}",
        "A year (2025), month (2025-03), week (2025-W11) or day (2025-03-14).",
    ),
    (
        "segment",
        f"{SCHEME}toc/segment/{{day}}/{{ulid}}",
        "A stretch of one session.",
    ),
    ("grip", f"{SCHEME}grip/{{ms}}/{{hash}}", "The words behind a citation."),
)
"""Each: a name, a template, what it is."""


MOST_TOKENS = 2_000
"""The budget of a resource: who reads one cannot give any."""


_NAME_CHARS = 80
"""How much of an unknown name is given back, in characters."""


class NoResource(MemtuiError):
    """There is no resource of a name."""


def uri_of(name: str) -> str:
    """Where a node or grip is found, by its id."""
    return SCHEME + name.replace(":", "/")


def read(memory: Memory, uri: str) -> Reply:
    """What a resource says.

    Raises:
        NoResource: There is none of that name.
    """
    name = uri.removeprefix(SCHEME).strip("/").replace("/", ":")
    kind = name.partition(":")[0] if uri.startswith(SCHEME) else ""
    if name == "toc" and kind:
        return memory.asking.get_toc_root()
    found = None
    if kind == "toc":
        found = memory.asking.get_node(name)
    elif kind == "grip":
        found = memory.asking.expand_grip(name)
    if found is None or not (found.items or found.lead):
        said = line(uri)[:_NAME_CHARS]
        raise NoResource(f"there is no resource {said!r}; {ROOT} lists the years")
    return found


def roots() -> list[tuple[str, str]]:
    """The years as (URI, title)."""
    from memtui.services import browse

    return [(uri_of(one.node_id), one.title) for one in browse.years()]


log = logging.getLogger(__name__)


BAD_ARGUMENTS: Final = "bad_arguments"


INTERNAL: Final = "internal"


_LONGEST: Final = 600
"""How much of an error's own words is told, in characters."""


@dataclass(frozen=True, slots=True)
class Told:
    """An answer as it is sent."""

    text: str
    data: dict[str, Any] | None = None
    """The same for programs, where it was wanted."""


@dataclass(frozen=True, slots=True)
class Failed:
    """Why a call has no answer."""

    code: str
    message: str
    hint: str

    @property
    def text(self) -> str:
        """All of it in a line."""
        hint = f" Hint: {self.hint}." if self.hint else ""
        return f"error {self.code}: {self.message}.{hint}"


class Calls:
    """Answers calls from any thread."""

    def __init__(
        self,
        opened: Callable[[], Memory],
        *,
        is_there: Callable[[], bool] = lambda: True,
        is_structured: bool = False,
    ) -> None:
        """Remember how the memory is opened.

        Args:
            opened: Opens it, and makes it where there is none.
            is_there: Whether there is one: a question makes none.
            is_structured: Whether answers are told as data too.
        """
        self._opened, self._is_there = opened, is_there
        self._is_structured = is_structured
        self._memory: Memory | None = None
        self._opening = threading.Lock()

    def call(self, tool: Tool, told: Mapping[str, Any]) -> Told | Failed:
        """Ask a tool."""
        try:
            given = agents_tool.read(tool.parameters, told)
            most = given.get(MAX_TOKENS.name, MAX_TOKENS.default)
            if not tool.is_writing and not self._is_kept():
                return self._told(replies.none_kept(), tokens.ESTIMATED, most)
            memory = self._open()
            return self._told(tool.run(memory, given), memory.counter, most)
        except MemtuiError as error:
            return failed(error)
        except Exception as error:  # the edge: nobody else would hear of it
            log.exception("%s failed", tool.name)
            return Failed(
                INTERNAL,
                type(error).__name__,
                "ask the person to look into memtui's log",
            )

    def read(self, uri: str) -> Told:
        """Read a resource.

        Raises:
            MemtuiError: There is none, or the memory cannot be read.
        """
        if not self._is_kept():
            return Told(replies.NOTHING_KEPT)
        memory = self._open()
        reply = read(memory, uri)
        return Told(replies.fitted(reply, MOST_TOKENS, memory.counter).text)

    def roots(self) -> list[tuple[str, str]]:
        """The resources to begin with.

        Raises:
            MemtuiError: The memory cannot be read.
        """
        if not self._is_kept():
            return []
        self._open()
        return roots()

    def _is_kept(self) -> bool:
        return self._memory is not None or self._is_there()

    def _open(self) -> Memory:
        with self._opening:
            if self._memory is None:
                self._memory = self._opened()
            return self._memory

    def _told(self, reply: Reply, counter: Counter, most: int) -> Told:
        if not self._is_structured:
            return Told(replies.fitted(reply, most, counter).text)
        told = replies.fitted(reply, most // 2, counter)
        room = most - told.tokens
        if room < replies.LEAST:
            return Told(told.text)
        data = replies.fitted_json(reply, room, counter, lambda plain: plain)
        return Told(told.text, json.loads(data.text))


def failed(error: MemtuiError) -> Failed:
    """An error as an agent is told it."""
    found = replies.problem(error)
    code = BAD_ARGUMENTS if isinstance(error, BadArguments) else found.code
    said = for_agents(found.message)
    return Failed(code, _said(said), _said(hint(found.hint)))


def _said(text: str) -> str:
    return line(text)[:_LONGEST].rstrip(".")
