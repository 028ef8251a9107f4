"""The table of tools that agents call, and how a call is checked and answered.

The MCP server, the HTTP server and ``memtui call`` are all made from ``TOOLS``. A tool
is answered by the function of its name in a module beside this one, which takes the
workspace and the tool's parameters, and returns a ``Reply``. These modules are imported
when they are first called, so that a server starts without them.
"""

import importlib
import json
import logging
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from memtui.agents import replies
from memtui.agents.replies import Problem, Reply
from memtui.errors import MemtuiError, UsageError
from memtui.model.bounds import check_number
from memtui.model.citations import CONTEXT_EVENTS
from memtui.model.events import EventType, clean
from memtui.model.jobs import ALL_JOBS, Job
from memtui.text import tokens
from memtui.text.fencing import neutralize_line

if TYPE_CHECKING:
    from memtui.workspace import Workspace

log = logging.getLogger(__name__)
MAX_TEXT_CHARS: Final = 100_000

_TYPES: Final = {
    "string": "text",
    "integer": "a whole number",
    "boolean": "true or false",
    "array": "a list of words",
}


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a tool, with its bounds."""

    name: str
    description: str = ""
    type: str = "string"
    """``string``, ``integer``, ``boolean``, or ``array`` of strings."""
    default: Any = None
    is_required: bool = False
    minimum: int | None = None
    maximum: int | None = None
    choices: tuple[str, ...] = ()
    max_chars: int = MAX_TEXT_CHARS

    def schema(self) -> dict[str, Any]:
        """Return its JSON Schema."""
        schema: dict[str, Any] = {"type": self.type}
        enum = {"enum": list(self.choices)} if self.choices else {}
        if self.type == "array":
            schema["items"] = {"type": "string", **enum}
        else:
            schema |= enum
        if self.description:
            schema["description"] = self.description
        if self.minimum is not None:
            schema["minimum"] = self.minimum
        if self.maximum is not None:
            schema["maximum"] = self.maximum
        if self.max_chars != MAX_TEXT_CHARS:
            schema["maxLength"] = self.max_chars
        if self.default not in (None, "", ()):
            schema["default"] = self.default
        return schema

    def check(self, value: Any) -> Any:
        """Return a value as the tool takes it, or the default for None.

        Raises:
            UsageError: The tool cannot take it.
        """
        if value is None:
            if self.is_required:
                raise UsageError(f"{self.name} is missing")
            empty = {"string": "", "array": ()}
            return empty.get(self.type) if self.default is None else self.default
        checked = self._convert(value)
        for one in checked if isinstance(checked, tuple) else (checked,):
            if self.choices and one not in self.choices:
                raise UsageError(f"{self.name} is one of {', '.join(self.choices)}")
        if isinstance(checked, str) and self.is_required and not value.strip():
            raise UsageError(f"{self.name} is empty")
        return checked

    def _convert(self, value: Any) -> Any:
        if self.type == "string" and isinstance(value, str):
            if len(value) > self.max_chars:
                raise UsageError(
                    f"{self.name} has more than {self.max_chars:,} characters"
                )
            return clean(value)
        if self.type == "boolean":
            value = {"true": True, "false": False}.get(value, value)
            if isinstance(value, bool):
                return value
        if self.type == "array":
            words = [value] if isinstance(value, str) else value
            if isinstance(words, list) and all(isinstance(one, str) for one in words):
                return tuple(words)
        if self.type == "integer":
            try:
                return check_number(value, minimum=self.minimum, maximum=self.maximum)
            except ValueError as error:
                raise UsageError(f"{self.name} is {error}") from None
        raise UsageError(f"{self.name} is {_TYPES[self.type]}")


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool: one row of the table."""

    name: str
    description: str
    """When to choose it, in a line."""
    module: str
    """The module beside this one that has the function."""
    parameters: tuple[Parameter, ...] = ()
    is_writing: bool = False
    """Changes something: offered only where that was allowed."""
    is_idempotent: bool = True
    """A second call with the same arguments changes nothing more."""

    @property
    def parameters_with_budget(self) -> tuple[Parameter, ...]:
        """Its parameters over MCP and HTTP, where what it reads has a budget."""
        return self.parameters if self.is_writing else (*self.parameters, MAX_TOKENS)

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of its arguments."""
        parameters = self.parameters_with_budget
        schema: dict[str, Any] = {
            "type": "object",
            "properties": {one.name: one.schema() for one in parameters},
            "additionalProperties": False,
        }
        if required := [one.name for one in parameters if one.is_required]:
            schema["required"] = required
        return schema

    def check(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return all arguments, checked and with defaults; ``max_tokens`` among them.

        Raises:
            UsageError: The tool cannot take them.
        """
        known = {one.name: one for one in self.parameters_with_budget}
        if unknown := [name for name in arguments if name not in known]:
            takes = ", ".join(known) or "nothing"
            raise UsageError(
                f"there is no {unknown[0]!r} here; {self.name} takes {takes}"
            )
        return {name: one.check(arguments.get(name)) for name, one in known.items()}

    def run(self, workspace: "Workspace", arguments: Mapping[str, Any]) -> Reply:
        """Call its function with checked arguments."""
        module = importlib.import_module(f"{__package__}.{self.module}")
        given = {one.name: arguments[one.name] for one in self.parameters}
        reply: Reply = getattr(module, self.name)(workspace, **given)
        return reply


def _limit(default: int, maximum: int) -> Parameter:
    return Parameter(
        "limit", type="integer", default=default, minimum=1, maximum=maximum
    )


def _around(name: str, default: int, maximum: int) -> Parameter:
    return Parameter(name, type="integer", default=default, minimum=0, maximum=maximum)


MAX_TOKENS: Final = Parameter(
    "max_tokens",
    type="integer",
    default=replies.DEFAULT_TOKENS,
    minimum=replies.MIN_TOKENS,
    maximum=20_000,  # clients cut what is longer
)

_TIMES = '"last week", "in March", "2025-03-14"'
_SESSION_ID = "agent:id, or how that id begins"
_NODE = Parameter("node_id", "as in toc:day:2025-03-14", is_required=True)
_PARENT = Parameter("node_id", "default: the years")
_QUERY = Parameter(
    "query",
    'words, "a phrase", project:name, agent:codex, after:2025-03, last week',
    is_required=True,
)
_WORDS = Parameter("query", is_required=True)
_SESSION = Parameter("session", _SESSION_ID, is_required=True)
_AGENT = Parameter("agent")
_PROJECT = Parameter("project")
_TOKEN = Parameter("token", "where the page before ended")
_OFFSET = Parameter("offset", type="integer", default=0, minimum=0, maximum=10_000_000)
_WHOLE_SESSION = Parameter("session", "agent:id", is_required=True)
_AT = Parameter("timestamp", "ISO 8601; now without it")
_MESSAGE_ID = Parameter(
    "message_id",
    "your own id of it: the same text sent again with it is stored once",
    max_chars=200,
)
_CWD = Parameter("cwd", max_chars=4_096)
_JOBS = Parameter("jobs", "all without any", "array", choices=(*Job, ALL_JOBS))

# A new tool may also have to be named in INSTRUCTIONS and PROMPT_TEXT of mcp_server,
# and in COMMANDS of cli.output if a command does the same.
TOOLS: Final = (
    Tool(
        "route",
        "Ask anything: picks the way (time, words or the top), says why and how sure.",
        "routing",
        (Parameter("question", is_required=True), _limit(8, 50)),
    ),
    Tool(
        "retrieve_memory",
        "The few memories that answer, as Markdown; key moments with their messages.",
        "memories",
        (
            _QUERY,
            _limit(5, 20),
            Parameter(
                "detail_limit",
                "how many with their messages",
                "integer",
                minimum=0,
                maximum=20,
            ),
        ),
    ),
    Tool(
        "teleport",
        "Jump by specific words to summaries and citations, each with its score.",
        "search",
        (_QUERY, _limit(8, 50)),
    ),
    Tool(
        "search_memory",
        "Many short quotes that answer, from everything: the most evidence per token.",
        "search",
        (_QUERY, _limit(20, 50)),
    ),
    Tool(
        "search_sessions",
        "Messages as they were said (words, commands, errors), with a few around each.",
        "search",
        (_QUERY, _limit(5, 20), _around("before", 4, 15), _around("after", 4, 15)),
    ),
    Tool("get_toc_root", "The years with conversations, newest first.", "toc"),
    Tool(
        "get_node",
        "A year, month, week, day or segment: bullets with citations, its children.",
        "toc",
        (_NODE,),
    ),
    Tool(
        "browse_toc",
        "Page through the children of a node, newest first.",
        "toc",
        (_PARENT, _limit(10, 100), _TOKEN, _PROJECT),
    ),
    Tool(
        "browse_time",
        "The nodes that cover a time in words, the widest that fit.",
        "toc",
        (Parameter("when", _TIMES, is_required=True), _PROJECT),
    ),
    Tool(
        "browse_keyword",
        "The segments whose keywords hold a word, newest first.",
        "toc",
        (Parameter("keyword", is_required=True), _PARENT, _limit(10, 100)),
    ),
    Tool(
        "search_node",
        "The parts of one node that answer, best first.",
        "toc",
        (_NODE, _WORDS, _limit(5, 50)),
    ),
    Tool(
        "search_children",
        "The children of one node that answer, best first.",
        "toc",
        (_PARENT, _WORDS, _limit(5, 50)),
    ),
    Tool(
        "expand_grip",
        "The very words behind a citation (grip:… or evt:…), with those around them.",
        "sessions",
        (
            Parameter("grip_id", is_required=True),
            _around("before", CONTEXT_EVENTS, 20),
            _around("after", CONTEXT_EVENTS, 20),
        ),
    ),
    Tool(
        "get_events",
        "All that was said in a time or a session, oldest first.",
        "sessions",
        (
            Parameter("when", f"{_TIMES}; all of a session without one"),
            _limit(20, 200),
            _TOKEN,
            _PROJECT,
            Parameter("session", _SESSION_ID),
        ),
    ),
    Tool(
        "list_sessions",
        "Past conversations, the latest first: what was worked on last.",
        "sessions",
        (_AGENT, _PROJECT, _OFFSET, _limit(10, 100)),
    ),
    Tool(
        "get_session_meta",
        "Details of one conversation: title, project, times, what it was about.",
        "sessions",
        (_SESSION,),
    ),
    Tool(
        "list_messages",
        "Read one conversation, a page at a time; with limit 1 a whole message.",
        "sessions",
        (_SESSION, _OFFSET, _limit(10, 100), Parameter("subagent")),
    ),
    Tool(
        "scheduler_status",
        "When summaries are made, and whether a memtui is at work.",
        "changes",
    ),
    Tool(
        "new_session",
        "Begin a conversation to be kept; gives its id.",
        "changes",
        (
            Parameter("title", max_chars=200),
            Parameter("agent", max_chars=100),
            Parameter("sender", "who begins it", max_chars=100),
            _CWD,
            Parameter("timestamp", "ISO 8601; when it began"),
        ),
        is_writing=True,
        is_idempotent=False,
    ),
    Tool(
        "append_message",
        "Keep a message in a conversation.",
        "changes",
        (
            _WHOLE_SESSION,
            Parameter("role", choices=("user", "assistant"), is_required=True),
            Parameter("text", is_required=True),
            _AT,
            _MESSAGE_ID,
        ),
        is_writing=True,
        is_idempotent=False,
    ),
    Tool(
        "ingest_event",
        "Keep an event of any type: a tool's result, a start or an end.",
        "changes",
        (
            _WHOLE_SESSION,
            Parameter(
                "event_type",
                choices=tuple(
                    one.value
                    for one in EventType
                    if one not in (EventType.SUBAGENT_START, EventType.SUBAGENT_STOP)
                ),
                is_required=True,
            ),
            Parameter("text"),
            _AT,
            _MESSAGE_ID,
            Parameter("tool_name", max_chars=200),
            Parameter("tool_use_id", max_chars=200),
            _CWD,
        ),
        is_writing=True,
        is_idempotent=False,
    ),
    Tool(
        "set_session_title",
        "Say what a conversation is called.",
        "changes",
        (_WHOLE_SESSION, Parameter("title", is_required=True, max_chars=200)),
        is_writing=True,
    ),
    Tool(
        "set_session_summary",
        "Say what a conversation was about; searches use it too.",
        "changes",
        (_WHOLE_SESSION, Parameter("summary", is_required=True, max_chars=2_000)),
        is_writing=True,
    ),
    Tool(
        "scheduler_pause", "Pause summary jobs.", "changes", (_JOBS,), is_writing=True
    ),
    Tool(
        "scheduler_resume", "Resume summary jobs.", "changes", (_JOBS,), is_writing=True
    ),
    Tool(
        "scheduler_run_now",
        "Ask for a run of summary jobs now.",
        "changes",
        (_JOBS,),
        is_writing=True,
    ),
)
"""All tools, in the order agents are shown them."""


def available_tools(*, with_writing: bool) -> dict[str, Tool]:
    """Return the tools by name, those that change something only if allowed."""
    return {one.name: one for one in TOOLS if with_writing or not one.is_writing}


# Resources of MCP


SCHEME = "memtui://"
ROOT_URI = f"{SCHEME}toc"
MIME_TYPE = "text/markdown"
RESOURCE_TOKENS = 2_000
"""The budget of a resource: its reader cannot give one."""

TEMPLATES = (
    (
        "node",
        f"{SCHEME}toc/{{level}}/{{name}}",
        "A year (2025), month (2025-03), week (2025-W11) or day (2025-03-14).",
    ),
    (
        "segment",
        f"{SCHEME}toc/segment/{{day}}/{{ulid}}",
        "A part of one session.",
    ),
    ("grip", f"{SCHEME}grip/{{ms}}/{{hash}}", "The words behind a citation."),
)
"""A name, a URI template and a description each."""


class ResourceNotFoundError(MemtuiError):
    """There is no resource of a URI."""


def read_resource(workspace: "Workspace", uri: str) -> Reply:
    """Return what a resource holds.

    Raises:
        ResourceNotFoundError: There is none of that URI.
    """
    from memtui.agents import sessions, toc

    name = uri.removeprefix(SCHEME).strip("/").replace("/", ":")
    kind = name.partition(":")[0] if uri.startswith(SCHEME) else ""
    found = None
    if kind == "toc":
        found = (
            toc.get_toc_root(workspace)
            if name == "toc"
            else toc.get_node(workspace, name)
        )
    elif kind == "grip":
        found = sessions.expand_grip(workspace, name)
    if found is None or not (found.items or found.lead or name == "toc"):
        shown = neutralize_line(uri)[:80]
        raise ResourceNotFoundError(
            f"there is no resource {shown!r}; {ROOT_URI} lists the years"
        )
    return found


# Calls


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool answers, within its budget."""

    text: str
    data: dict[str, Any] | None = None
    """The same for programs, where it was asked for."""
    problem: Problem | None = None
    """Why there is no answer."""


INTERNAL: Final = "internal"
"""The code of an error nobody expected."""

MAX_ERROR_CHARS: Final = 600


class ToolRunner:
    """Answers calls of tools from any thread, opening the workspace when needed."""

    def __init__(
        self,
        open_workspace: "Callable[[], Workspace]",
        *,
        has_store: Callable[[], bool] = lambda: True,
        with_data: bool = False,
    ) -> None:
        """Make a runner; nothing is opened yet.

        Args:
            open_workspace: Opens it, making a store where there is none.
            has_store: Tells whether there is a store: a question makes none.
            with_data: Answer with data besides text.
        """
        self._open, self._has_store = open_workspace, has_store
        self._with_data = with_data
        self._workspace: Workspace | None = None
        self._lock = threading.Lock()

    def call(self, tool: Tool, arguments: Mapping[str, Any]) -> Answer:
        """Call a tool; an error is an answer too."""
        try:
            checked = tool.check(arguments)
            limit = checked.get(MAX_TOKENS.name, MAX_TOKENS.default)
            if not tool.is_writing and self._is_empty():
                return self._answer(
                    replies.empty_store(), limit, tokens.ESTIMATING_COUNTER
                )
            workspace = self.workspace()
            reply = tool.run(workspace, checked)
            return self._answer(reply, limit, workspace.counter)
        except MemtuiError as error:
            return failed(error)
        except Exception as error:  # nobody else would learn of it
            log.exception("%s failed", tool.name)
            hint = "ask the person to look into memtui's log"
            return _failure(Problem(INTERNAL, type(error).__name__, hint))

    def read_resource(self, uri: str) -> str:
        """Return the text of a resource.

        Raises:
            MemtuiError: There is none of that URI, or the store cannot be read.
        """
        if self._is_empty():
            return replies.NOTHING_KEPT
        workspace = self.workspace()
        reply = read_resource(workspace, uri)
        return replies.fit_text(reply, RESOURCE_TOKENS, workspace.counter).text

    def list_resources(self) -> list[tuple[str, str]]:
        """Return the URIs and titles of the years.

        Raises:
            MemtuiError: The store cannot be read.
        """
        from memtui.services import browse

        if self._is_empty():
            return []
        self.workspace()
        return [
            (SCHEME + year.node_id.replace(":", "/"), year.title)
            for year in browse.list_children()
        ]

    def workspace(self) -> "Workspace":
        """Return the workspace, opened the first time.

        Raises:
            MemtuiError: It cannot be opened.
        """
        with self._lock:
            if self._workspace is None:
                self._workspace = self._open()
            return self._workspace

    def close(self) -> None:
        """Close the workspace if it was opened."""
        if self._workspace is not None:
            self._workspace.stop()

    def _is_empty(self) -> bool:
        return self._workspace is None and not self._has_store()

    def _answer(self, reply: Reply, limit: int, counter: tokens.TokenCounter) -> Answer:
        if not self._with_data:
            return Answer(replies.fit_text(reply, limit, counter).text)
        text = replies.fit_text(reply, limit // 2, counter)
        rest = limit - text.tokens
        if rest < replies.MIN_TOKENS:
            return Answer(text.text)
        data = replies.fit_json(reply, rest, counter, lambda data: data)
        return Answer(text.text, json.loads(data.text))


def failed(error: MemtuiError) -> Answer:
    """Return an error for agents: its hints name tools instead of commands."""
    found = replies.problem(error)
    hint = found.hint or (
        "see the tool's schema" if found.code == replies.USAGE else ""
    )
    hint = _name_tools(hint)
    if _COMMANDS_FOR_PEOPLE.search(hint):
        hint = f"ask the person to do this: {hint}"
    message = _name_tools(found.message)
    return _failure(Problem(found.code, _short(message), _short(hint)))


def _failure(problem: Problem) -> Answer:
    hint = f" Hint: {problem.hint}." if problem.hint else ""
    return Answer(f"error {problem.code}: {problem.message}.{hint}", problem=problem)


_COMMANDS_FOR_PEOPLE: Final = re.compile(
    r"\bmemtui (?:config|doctor|hooks|quarantine|reindex)\b"
)
"""Commands that no tool replaces."""


def _name_tools(text: str) -> str:
    text = re.sub(r"memtui sessions\b", "list_sessions()", text)
    text = re.sub(r"memtui show\b", "get_toc_root()", text)
    return text.replace("see the commands: memtui --help", "see the tool's schema")


def _short(text: str) -> str:
    return neutralize_line(text)[:MAX_ERROR_CHARS].rstrip(".")
