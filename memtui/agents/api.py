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
from contextlib import suppress
from dataclasses import dataclass, replace
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

STEP_TOKENS: Final = 300
"""The budget of one step from the years down to the words: there are about five."""

MAX_FIELDS: Final = 50
"""How many fields a map may have."""

_TYPES: Final = {
    "string": "text",
    "integer": "a whole number",
    "boolean": "true or false",
    "array": "a list of words",
    "object": "an object of texts",
}


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a tool, with its bounds."""

    name: str
    description: str = ""
    type: str = "string"
    """``string``, ``integer``, ``boolean``, or ``array`` or ``object`` of strings."""
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
        if self.type == "object":
            schema["additionalProperties"] = {"type": "string"}
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
            empty = {"string": "", "array": (), "object": {}}
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
        if self.type == "object":
            with suppress(ValueError, TypeError):
                value = value if isinstance(value, Mapping) else json.loads(value)
            if isinstance(value, Mapping) and len(value) <= MAX_FIELDS:
                fields = {clean(str(key)): one for key, one in value.items()}
                if all(isinstance(one, str | int | float) for one in fields.values()):
                    return {key: clean(str(one)) for key, one in fields.items()}
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
    """When to choose it."""
    module: str
    """The module beside this one that has the function."""
    parameters: tuple[Parameter, ...] = ()
    is_core: bool = False
    """Offered over MCP unless all tools are asked for."""
    default_tokens: int = replies.DEFAULT_TOKENS
    """The budget of its answers unless the caller gives one."""
    is_writing: bool = False
    """Changes something: offered only where that was allowed."""
    is_idempotent: bool = True
    """A second call with the same arguments changes nothing more."""

    @property
    def parameters_with_budget(self) -> tuple[Parameter, ...]:
        """Its parameters over MCP and HTTP, where what it reads has a budget."""
        budget = replace(MAX_TOKENS, default=self.default_tokens)
        return self.parameters if self.is_writing else (*self.parameters, budget)

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


def _limit(default: int, maximum: int, what: str) -> Parameter:
    return Parameter("limit", f"how many {what}", "integer", default, False, 1, maximum)


def _around(side: str, default: int, maximum: int, what: str) -> Parameter:
    text = f"how many {what} {side} it"
    return Parameter(side, text, "integer", default, False, 0, maximum)


MAX_TOKENS: Final = Parameter(
    "max_tokens",
    "the size of the answer",
    "integer",
    replies.DEFAULT_TOKENS,
    minimum=replies.MIN_TOKENS,
    maximum=20_000,  # clients cut what is longer
)

_TIMES = '"last week", "in March", "2025-03-14"'
_NODE_ID = "an id from an answer, such as toc:day:2025-03-14"
_NODE = Parameter("node_id", _NODE_ID, is_required=True)
_PARENT = Parameter("node_id", f"{_NODE_ID}; without it, all years")
_QUERY = Parameter(
    "query",
    'words to find; also "an exact phrase", -without, project:NAME, agent:codex,'
    " after:2025-03, last week",
    is_required=True,
)
_WORDS = Parameter("query", "words to find", is_required=True)
_SESSION = Parameter(
    "session", "agent:id, or the beginning of the id", is_required=True
)
_AGENT = Parameter("agent", "only sessions of this agent, such as codex")
_PROJECT = Parameter("project", "only sessions of this project")
_TOKEN = Parameter("token", "continue where the previous page ended")
_OFFSET = Parameter(
    "offset", "how many to skip", "integer", 0, minimum=0, maximum=10_000_000
)
_TEXT_OFFSET = Parameter(
    "text_offset",
    "continue a text that was cut, from this character on",
    "integer",
    0,
    minimum=0,
    maximum=10_000_000,
)
_WHOLE_SESSION = Parameter("session", "the whole id, agent:id", is_required=True)
_AT = Parameter("timestamp", "ISO 8601; default: now")
_MESSAGE_ID = Parameter(
    "message_id",
    "an id of your own; text sent again with the same id is stored once",
    max_chars=200,
)
_CWD = Parameter("cwd", "the working folder", max_chars=4_096)
_JOBS = Parameter("jobs", "default: all", "array", choices=(*Job, ALL_JOBS))

# A new tool may also have to be named in INSTRUCTIONS and PROMPT_TEXT of mcp_server,
# and in COMMANDS of cli.output if a command does the same.
TOOLS: Final = (
    Tool(
        "route",
        "Answer any question about past work; start here if unsure. Searches by the"
        " times and words of the question. Says how certain the result is, and which"
        " words occur nowhere.",
        "routing",
        (
            Parameter("question", "the whole question", is_required=True),
            _limit(8, 50, "summaries"),
        ),
        is_core=True,
    ),
    Tool(
        "search_memory",
        "Find specific words (a name, a command, a decision) in all messages and"
        " summaries. Returns short quotes with citations, and later messages that take"
        " a quote back.",
        "search",
        (_QUERY, _limit(20, 50, "quotes")),
        is_core=True,
    ),
    Tool(
        "search_file",
        "What was done to a file and why: each change, newest first, with the request"
        " that led to it and its outcome. Use it before you change a file.",
        "history",
        (
            Parameter("path", "the path, or the end of it", is_required=True),
            _limit(10, 50, "requests"),
        ),
        is_core=True,
    ),
    Tool(
        "search_error",
        "Where an error occurred before and what fixed it. Paths and numbers in the"
        " error may differ.",
        "history",
        (
            Parameter("error", "the message, or the whole output", is_required=True),
            _limit(5, 20, "sessions"),
        ),
        is_core=True,
    ),
    Tool(
        "get_node",
        "Open a summary of a year, month, week, day or segment (toc:...): its bullets"
        " with citations and verdicts, and its children.",
        "toc",
        (_PARENT,),
        is_core=True,
        default_tokens=STEP_TOKENS,
    ),
    Tool(
        "expand_grip",
        "Read the original messages behind a citation (grip:... or evt:...), with those"
        " before and after. Use it before you rely on a claim, and to read a long text"
        " in full.",
        "sessions",
        (
            Parameter("grip_id", "grip:... or evt:...", is_required=True),
            _around("before", CONTEXT_EVENTS, 20, "events"),
            _around("after", CONTEXT_EVENTS, 20, "events"),
            _TEXT_OFFSET,
        ),
        is_core=True,
        default_tokens=STEP_TOKENS,
    ),
    Tool(
        "list_sessions",
        "List past sessions, latest first.",
        "sessions",
        (_AGENT, _PROJECT, _OFFSET, _limit(10, 100, "sessions")),
        is_core=True,
    ),
    Tool(
        "list_messages",
        "Read a session page by page, oldest message first.",
        "sessions",
        (
            _SESSION,
            _OFFSET,
            _limit(10, 100, "messages"),
            Parameter("subagent", "the messages of this subagent"),
            _TEXT_OFFSET,
        ),
        is_core=True,
    ),
    Tool(
        "retrieve_memory",
        "Get the few memories that match best, as Markdown: summaries, and for key"
        " moments the messages.",
        "memories",
        (
            _QUERY,
            _limit(5, 20, "memories"),
            Parameter(
                "detail_limit",
                "how many memories may include messages",
                "integer",
                minimum=0,
                maximum=20,
            ),
        ),
    ),
    Tool(
        "teleport",
        "Find summaries and citations by specific words, each with its score.",
        "search",
        (_QUERY, _limit(8, 50, "hits")),
    ),
    Tool(
        "search_sessions",
        "Find messages by their words, each with the messages around it.",
        "search",
        (
            _QUERY,
            _limit(5, 20, "hits"),
            _around("before", 4, 15, "messages"),
            _around("after", 4, 15, "messages"),
        ),
    ),
    Tool("get_toc_root", "List the years that have sessions, newest first.", "toc"),
    Tool(
        "browse_toc",
        "List the children of a node page by page, newest first.",
        "toc",
        (_PARENT, _limit(10, 100, "children"), _TOKEN, _PROJECT),
    ),
    Tool(
        "browse_time",
        "Find the summaries of a time given in words.",
        "toc",
        (Parameter("when", _TIMES, is_required=True), _PROJECT),
    ),
    Tool(
        "browse_keyword",
        "List the segments with a keyword, newest first.",
        "toc",
        (
            Parameter("keyword", "one or several words", is_required=True),
            _PARENT,
            _limit(10, 100, "segments"),
        ),
    ),
    Tool(
        "search_node",
        "Search the summaries of one node and all below it.",
        "toc",
        (_NODE, _WORDS, _limit(5, 50, "matches")),
    ),
    Tool(
        "search_children",
        "Find which children of a node match, by their summaries and all below them.",
        "toc",
        (_PARENT, _WORDS, _limit(5, 50, "children")),
    ),
    Tool(
        "get_events",
        "Read everything that was said in a time or in a session, oldest first.",
        "sessions",
        (
            Parameter("when", f"{_TIMES}; default: all of the session"),
            _limit(20, 200, "events"),
            _TOKEN,
            _PROJECT,
            Parameter("session", _SESSION.description),
        ),
    ),
    Tool(
        "get_session_meta",
        "Get the title, project, times, sender and summary of one session.",
        "sessions",
        (_SESSION,),
    ),
    Tool(
        "scheduler_status",
        "See when summaries are made, and whether memtui is running.",
        "changes",
    ),
    Tool(
        "new_session",
        "Start a session to add messages to; returns its id.",
        "changes",
        (
            Parameter("title", max_chars=200),
            Parameter("agent", "the program that is speaking", max_chars=100),
            Parameter("sender", "who started the session", max_chars=100),
            _CWD,
            _AT,
        ),
        is_writing=True,
        is_idempotent=False,
    ),
    Tool(
        "append_message",
        "Add a message to a session; returns its event_id.",
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
        "Add an event of any type to a session, such as a tool's result; returns its"
        " event_id and whether it was created.",
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
            Parameter("metadata", "further fields, kept with the event", "object"),
        ),
        is_writing=True,
        is_idempotent=False,
    ),
    Tool(
        "set_session_title",
        "Set the title of a session.",
        "changes",
        (_WHOLE_SESSION, Parameter("title", is_required=True, max_chars=200)),
        is_writing=True,
    ),
    Tool(
        "set_session_summary",
        "Set the summary of a session; searches use it.",
        "changes",
        (_WHOLE_SESSION, Parameter("summary", is_required=True, max_chars=2_000)),
        is_writing=True,
    ),
    *(
        Tool(f"scheduler_{name}", text, "changes", (_JOBS,), is_writing=True)
        for name, text in (
            ("pause", "Pause jobs that make summaries."),
            ("resume", "Resume paused jobs."),
            ("run_now", "Run jobs that make summaries now."),
        )
    ),
)
"""All tools, in the order agents are shown them: the core tools first."""


def available_tools(*, with_writing: bool, only_core: bool = False) -> dict[str, Tool]:
    """Return the tools by name, those that change something only if allowed."""
    return {
        one.name: one
        for one in TOOLS
        if (with_writing if one.is_writing else one.is_core or not only_core)
    }


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
