"""The table of tools that agents call, and how a call is checked and answered.

The MCP server, the HTTP server and ``memtui call`` are all made from ``TOOLS``. A tool
is answered by the function of its name in a module beside this one, which takes the
workspace and the tool's parameters (``project`` and ``agent`` together as ``scope``),
and returns a ``Reply``. These modules are imported
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

from memtui.errors import MemtuiError, UsageError
from memtui.model.events import EventType, clean
from memtui.model.filters import Scope
from memtui.model.jobs import ALL_JOBS, Job
from memtui.model.quantities import check_number
from memtui.text import tokens
from memtui.text.fencing import neutralize_line
from memtui.tools import replies
from memtui.tools.envelope import USAGE, ErrorInfo, error_info
from memtui.tools.replies import Reply

if TYPE_CHECKING:
    from memtui.workspace import Workspace

log = logging.getLogger(__name__)
MAX_TEXT_CHARS: Final = 100_000

STEP_TOKENS: Final = 300
"""The budget of a tool that opens a node or a citation: agents open about
five in a row, from a year down to the messages."""

POINTER_TOKENS: Final = 400
"""The budget of a tool that shows where to look, without the conversation."""

MAX_FIELDS: Final = 50

_TYPES: Final = {
    "string": "text",
    "integer": "a whole number",
    "array": "a list of words",
    "object": "an object of texts",
}


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    description: str = ""
    type: str = "string"
    """``string``, ``integer``, or ``array`` or ``object`` of strings."""
    default: Any = None
    is_required: bool = False
    minimum: int | None = None
    maximum: int | None = None
    choices: tuple[str, ...] = ()
    max_chars: int = MAX_TEXT_CHARS

    def schema(self) -> dict[str, Any]:
        """Return its JSON schema. Bounds are left out, as each agent reads all schemas
        at each start: the error of a value out of bounds states them."""
        choices = {"enum": list(self.choices)} if self.choices else {}
        texts = {"type": "string"} | choices
        fields = {
            "type": self.type,
            "items": texts if self.type == "array" else None,
            "additionalProperties": texts if self.type == "object" else None,
            "description": self.description,
            "default": self.default,
        } | (choices if self.type != "array" else {})
        return {key: value for key, value in fields.items() if value not in (None, "")}

    def check(self, value: Any) -> Any:
        """Return a value as the tool takes it, or the default for None."""
        if value is None:
            if self.is_required:
                raise UsageError(f"{self.name} is missing")
            empty = {"string": "", "array": (), "object": {}}
            return empty.get(self.type) if self.default is None else self.default
        checked = self._convert(value)
        values = checked if isinstance(checked, tuple) else (checked,)
        if self.choices and not set(self.choices).issuperset(values):
            raise UsageError(f"{self.name} must be one of {', '.join(self.choices)}")
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
        if self.type == "object":
            with suppress(ValueError, TypeError):
                value = value if isinstance(value, Mapping) else json.loads(value)
            if isinstance(value, Mapping) and len(value) <= MAX_FIELDS:
                fields = {clean(str(key)): field for key, field in value.items()}
                if all(isinstance(f, str | int | float) for f in fields.values()):
                    return {key: clean(str(field)) for key, field in fields.items()}
        if self.type == "array":
            words = [value] if isinstance(value, str) else value
            if isinstance(words, list) and all(isinstance(word, str) for word in words):
                return tuple(words)
        if self.type == "integer":
            try:
                return check_number(value, minimum=self.minimum, maximum=self.maximum)
            except ValueError as error:
                raise UsageError(f"{self.name} must be {error}") from None
        raise UsageError(f"{self.name} must be {_TYPES[self.type]}")


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool: one row of the table."""

    name: str
    description: str
    module: str
    """The module beside this one that has the function."""
    parameters: tuple[Parameter, ...] = ()
    is_core: bool = False
    """Offered over MCP unless all tools are asked for."""
    default_tokens: int = replies.DEFAULT_TOKENS
    """The budget of its answers unless the caller gives one; a reply may take less."""
    is_writing: bool = False
    """Changes something: offered only where that was allowed."""
    is_idempotent: bool = True
    """A second call with the same arguments changes nothing more."""

    @property
    def parameters_with_budget(self) -> tuple[Parameter, ...]:
        """Its parameters over MCP and HTTP, where what it reads has a budget."""
        budget = replace(PARAMETERS["max_tokens"], default=self.default_tokens)
        return self.parameters if self.is_writing else (*self.parameters, budget)

    def schema(self) -> dict[str, Any]:
        parameters = self.parameters_with_budget
        schema: dict[str, Any] = {
            "type": "object",
            "properties": {
                parameter.name: parameter.schema() for parameter in parameters
            },
            "additionalProperties": False,
        }
        if required := [p.name for p in parameters if p.is_required]:
            schema["required"] = required
        return schema

    def check(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return all arguments, checked and with defaults, and ``max_tokens``."""
        parameters = {p.name: p for p in self.parameters_with_budget}
        if unknown := [name for name in arguments if name not in parameters]:
            takes = ", ".join(parameters) or "nothing"
            raise UsageError(
                f"there is no {unknown[0]!r} here; {self.name} takes {takes}"
            )
        return {
            name: parameter.check(arguments.get(name))
            for name, parameter in parameters.items()
        }

    def run(self, workspace: "Workspace", arguments: Mapping[str, Any]) -> Reply:
        module = importlib.import_module(f"{__package__}.{self.module}")
        given = {p.name: arguments[p.name] for p in self.parameters}
        if "project" in given:
            given["scope"] = Scope(given.pop("agent", ""), given.pop("project"))
        reply: Reply = getattr(module, self.name)(workspace, **given)
        return reply


def _number(name: str, description: str = "", maximum: int = 10_000_000) -> Parameter:
    least = 1 if name == "limit" else 0
    return Parameter(name, description, "integer", minimum=least, maximum=maximum)


PARAMETERS: Final = {
    parameter.name: parameter
    for parameter in (
        Parameter(
            "query",
            'also "exact phrase", -without, project:NAME, agent:codex, after:2025-03,'
            " last week",
        ),
        Parameter("question", "the whole question"),
        Parameter("path", "or the end of it"),
        Parameter("error", "the message, or all output"),
        Parameter("keyword", "one or several words"),
        Parameter("when", '"last week", "in March", "2025-03-14"'),
        Parameter(
            "node_id",
            "such as toc:day:2025-03-14; without it, the years",
        ),
        Parameter("grip_id", "grip:... or evt:..."),
        Parameter("session", "agent:id; to read, the beginning of the id is enough"),
        Parameter("subagent", "its messages"),
        Parameter("agent", "such as codex", max_chars=100),
        Parameter("project"),
        Parameter("token", "continue where the previous page ended"),
        _number("limit", maximum=200),
        _number("offset"),
        _number("before", maximum=20),
        _number("after", maximum=20),
        _number("text_offset", "read a cut text on from this character"),
        _number("detail_limit", "how many memories may include messages", 20),
        Parameter("sender", "who started the session", max_chars=100),
        Parameter("title", max_chars=200),
        Parameter("summary", max_chars=2_000),
        Parameter("role", choices=("user", "assistant")),
        Parameter("text"),
        Parameter("timestamp", "ISO 8601; default: now"),
        Parameter(
            "message_id",
            "an id of your own; text sent again with the same id is stored once",
            max_chars=200,
        ),
        Parameter(
            "event_type",
            choices=tuple(
                event_type.value
                for event_type in EventType
                if event_type not in (EventType.SUBAGENT_START, EventType.SUBAGENT_STOP)
            ),
        ),
        Parameter("tool_name", max_chars=200),
        Parameter("tool_use_id", max_chars=200),
        Parameter("cwd", "the working folder", max_chars=4_096),
        Parameter("metadata", "further fields, stored with the event", "object"),
        Parameter("line", "how the line begins", max_chars=1_000),
        Parameter("ruling", choices=("accepted", "rejected", "corrected", "undone")),
        Parameter("words", "what the line should say", max_chars=1_000),
        Parameter("reason", "why", max_chars=1_000),
        Parameter("kind", "default: open", choices=("open", "decided")),
        Parameter("jobs", "default: all", "array", choices=(*Job, ALL_JOBS)),
        Parameter(
            "max_tokens",
            type="integer",
            minimum=replies.MIN_TOKENS,
            maximum=20_000,  # clients cut what is longer
        ),
    )
}
"""All parameters by name; each means the same to every tool."""


_SIGNATURE = re.compile(r"(\w+)\.(\w+)\((.*)\)")


def _tool(signature: str, text: str, **details: Any) -> Tool:
    """Make a tool from the module and the name of its function, and its parameters.

    ``"search.teleport(query! limit=8)"`` has a required parameter and one with 8 as its
    default.
    """
    match = _SIGNATURE.fullmatch(signature)
    assert match
    module, name, words = match.groups()
    parameters = []
    for word in words.split():
        key, _, default = word.rstrip("!").partition("=")
        parameters.append(
            replace(
                PARAMETERS[key],
                default=int(default) if default else None,
                is_required=word.endswith("!"),
            )
        )
    return Tool(name, text, module, tuple(parameters), **details)


def _writing_tool(signature: str, text: str, **details: Any) -> Tool:
    return _tool(f"changes.{signature}", text, is_writing=True, **details)


# docs/architecture.md says how to add one.
TOOLS: Final = (
    _tool(
        "routing.route(question! limit=16)",
        "Answer any question about past work by its times and words; start here if"
        " unsure. Says how certain it is, and which words occur nowhere.",
        is_core=True,
    ),
    _tool(
        "search.search_memory(query! limit=20)",
        "Find words (a name, a command, a decision) in all messages and summaries:"
        " short quotes with citations.",
        is_core=True,
    ),
    _tool(
        "history.search_file(path! limit=10)",
        "What was done to a file and why: each change, newest first, with its request"
        " and outcome. Use it before you change a file.",
        is_core=True,
    ),
    _tool(
        "history.search_error(error! limit=5)",
        "Where an error occurred before, and the next success of the call that failed;"
        " paths and numbers may differ.",
        is_core=True,
    ),
    _tool(
        "toc.get_node(node_id)",
        "Open a year, month, week, day or segment: its summary with citations and"
        " verdicts, and its children.",
        is_core=True,
        default_tokens=STEP_TOKENS,
    ),
    _tool(
        "sessions.expand_grip(grip_id! before=3 after=3 text_offset=0)",
        "Read the messages behind a citation, with those before and after. Use it"
        " before you rely on a claim, and to read a long text in full.",
        is_core=True,
        default_tokens=STEP_TOKENS,
    ),
    _tool(
        "sessions.list_sessions(agent project offset=0 limit=10)",
        "List past sessions with state and outcome, latest first.",
        is_core=True,
    ),
    _tool(
        "sessions.list_messages(session! offset=0 limit=10 subagent text_offset=0)",
        "Read a session page by page, oldest message first.",
        is_core=True,
    ),
    _tool(
        "search.retrieve_memory(query! limit=5 detail_limit)",
        "Get the few memories that match best, as Markdown: summaries, and for key"
        " moments the messages.",
    ),
    _tool(
        "search.teleport(query! limit=8)",
        "Find summaries and citations by specific words, each with its score.",
        default_tokens=POINTER_TOKENS,
    ),
    _tool(
        "search.search_sessions(query! limit=5 before=4 after=4)",
        "Find messages by their words, each with the messages around it.",
    ),
    _tool("toc.get_toc_root()", "List the years that have sessions, newest first."),
    _tool(
        "toc.browse_toc(node_id when keyword limit=10 token project)",
        "List nodes page by page, newest first: the children of a node, the nodes of a"
        " time given in words, or the segments with a keyword.",
    ),
    _tool(
        "sessions.get_events(when limit=20 token project session)",
        "Read everything that was said in a time or in a session, oldest first.",
    ),
    _tool(
        "sessions.get_session_meta(session!)",
        "Get what was asked, decided, done and left open in one session.",
    ),
    _tool(
        "points.list_points(kind project agent offset=0 limit=20)",
        "List what past sessions left open and no later one finished, or what was"
        " decided, latest first.",
    ),
    _tool(
        "changes.scheduler_status()",
        "See when summaries are made, and whether memtui is running.",
    ),
    _writing_tool(
        "new_session(title agent sender cwd timestamp)",
        "Start a session to add messages to; returns its id.",
        is_idempotent=False,
    ),
    _writing_tool(
        "append_message(session! role! text! timestamp message_id)",
        "Add a message to a session; returns its event_id.",
        is_idempotent=False,
    ),
    _writing_tool(
        "ingest_event(session! event_type! text timestamp message_id tool_name"
        " tool_use_id cwd metadata)",
        "Add an event of any type to a session, such as a tool's result; returns its"
        " event_id and whether it was created.",
        is_idempotent=False,
    ),
    _writing_tool("set_session_title(session! title!)", "Set the title of a session."),
    _writing_tool(
        "set_session_summary(session! summary!)",
        "Set the summary of a session; searches use it.",
    ),
    _writing_tool(
        "judge_line(node_id! line! ruling! words reason)",
        "Say that a line of a summary is right or wrong, or what it should say. A"
        " rejected line is shown nowhere any more.",
    ),
    _writing_tool("scheduler_pause(jobs)", "Pause jobs that make summaries."),
    _writing_tool("scheduler_resume(jobs)", "Resume paused jobs."),
    _writing_tool("scheduler_run_now(jobs)", "Run jobs that make summaries now."),
)
"""All tools, in the order agents are shown them: the core tools first."""


def available_tools(*, with_writing: bool, only_core: bool = False) -> dict[str, Tool]:
    """Return the tools by name, those that change something only if allowed."""
    return {
        tool.name: tool
        for tool in TOOLS
        if (with_writing if tool.is_writing else tool.is_core or not only_core)
    }


# Resources of MCP


SCHEME = "memtui://"
ROOT_URI = f"{SCHEME}toc"
MIME_TYPE = "text/markdown"
RESOURCE_TOKENS = 2_000
"""The budget of a resource: its reader cannot give one."""

TEMPLATES = (
    ("node", f"{SCHEME}toc/{{level}}/{{name}}", "A year, month, week or day."),
    ("segment", f"{SCHEME}toc/segment/{{day}}/{{ulid}}", "A part of one session."),
    ("grip", f"{SCHEME}grip/{{ms}}/{{hash}}", "The words behind a citation."),
)
"""A name, a URI template and a description each."""

# Calls


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a tool, within its budget."""

    text: str
    error: ErrorInfo | None = None


MAX_ERROR_CHARS: Final = 600


class ToolRunner:
    """Answers calls of tools from any thread, opening the workspace when needed."""

    def __init__(
        self,
        open_workspace: "Callable[[], Workspace]",
        *,
        has_store: Callable[[], bool] = lambda: True,
    ) -> None:
        """Make a runner; nothing is opened yet.

        While ``has_store`` returns False no question opens the workspace, which would
        make a store.
        """
        self._open, self._has_store = open_workspace, has_store
        self._workspace: Workspace | None = None
        self._lock = threading.Lock()

    def call(self, tool: Tool, arguments: Mapping[str, Any]) -> Answer:
        """Call a tool; an error is an answer too."""
        try:
            checked = tool.check(arguments)
            limit = checked.get("max_tokens", tool.default_tokens)
            is_given = arguments.get("max_tokens") is not None
            if not tool.is_writing and self._is_empty():
                reply, counter = replies.empty_store(), tokens.ESTIMATING_COUNTER
            else:
                workspace = self.workspace()
                reply = replies.note_damage(tool.run(workspace, checked))
                counter = workspace.counter
            limit = limit if is_given else reply.tokens or limit
            return Answer(replies.fit_text(reply, limit, counter).text)
        except MemtuiError as error:
            return describe_error(error)
        except (
            Exception
        ) as error:  # the client gets a short error; the log has the rest
            log.exception("%s failed", tool.name)
            hint = "ask the person to look into memtui's log"
            return _error_answer("internal", type(error).__name__, hint)

    def read_resource(self, uri: str) -> str:
        if self._is_empty():
            return replies.NOTHING_KEPT
        reply = None
        name = uri.removeprefix(SCHEME).strip("/").replace("/", ":")
        if uri.startswith(SCHEME) and name.partition(":")[0] == "toc":
            reply = self._read("get_node", node_id="" if name == "toc" else name)
        elif uri.startswith(SCHEME) and name.startswith("grip:"):
            reply = self._read("expand_grip", grip_id=name)
        if reply is None or not (reply.items or reply.head_lines or name == "toc"):
            quoted = repr(neutralize_line(uri)[:80])
            raise MemtuiError(
                f"there is no resource {quoted}; {ROOT_URI} lists the years"
            )
        return replies.fit_text(reply, RESOURCE_TOKENS, self.workspace().counter).text

    def list_resources(self) -> list[tuple[str, str]]:
        """Return the URIs and titles of the years."""
        years = () if self._is_empty() else self._read("get_toc_root").items
        return [
            (SCHEME + year["node_id"].replace(":", "/"), year["title"])
            for year in years
        ]

    def _read(self, name: str, **arguments: Any) -> Reply:
        tool = available_tools(with_writing=False)[name]
        return tool.run(self.workspace(), tool.check(arguments))

    def workspace(self) -> "Workspace":
        """Return the workspace, opened the first time."""
        with self._lock:
            if self._workspace is None:
                self._workspace = self._open()
            return self._workspace

    def close(self) -> None:
        if self._workspace is not None:
            self._workspace.stop()

    def _is_empty(self) -> bool:
        return self._workspace is None and not self._has_store()


def describe_error(error: MemtuiError) -> Answer:
    """Return an error for agents: its hints name tools instead of commands."""
    info = error_info(error)
    hint = info.hint or ("see the tool's schema" * (info.code == USAGE))
    # Commands that no tool replaces are for people.
    if re.search(r"\bmemtui (?:config|doctor|hooks|quarantine|reindex)\b", hint):
        hint = f"ask the person to do this: {hint}"
    return _error_answer(info.code, info.message, hint)


def _error_answer(code: str, message: str, hint: str) -> Answer:
    texts = []
    for text in (message, hint):
        text = re.sub(r"memtui sessions\b", "list_sessions()", text)
        text = re.sub(r"memtui show\b", "get_node()", text)
        text = text.replace("see the commands: memtui --help", "see the tool's schema")
        texts.append(neutralize_line(text)[:MAX_ERROR_CHARS].rstrip("."))
    problem = ErrorInfo(code, *texts)
    hint = f" Hint: {problem.hint}." if hint else ""
    return Answer(f"error {code}: {problem.message}.{hint}", problem)
