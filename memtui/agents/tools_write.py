"""The tools that change something, offered only where that was allowed."""

from typing import Final

from memtui.agents.tool import Parameter, Tool, deed
from memtui.model.events import EventType
from memtui.model.jobs import ALL_JOBS, Job

TITLE_CHARS: Final = 200
"""How long a title may be: every answer that names the session tells it."""


SUMMARY_CHARS: Final = 2_000
"""How long a summary may be."""


_TYPES: Final = tuple(
    one.value
    for one in EventType
    if one not in (EventType.SUBAGENT_START, EventType.SUBAGENT_STOP)
)


_SESSION = Parameter("session", says="agent:id", is_required=True)


_TEXT = Parameter("text", is_required=True)


_AT = Parameter("timestamp", says="ISO 8601; now without it")


_BEGAN = Parameter("timestamp", says="ISO 8601; when it began")


_ID = Parameter(
    "message_id",
    says="your own name of it: the same text sent again under it is kept once",
    longest=200,
)


_CWD = Parameter("cwd", longest=4_096)


_TITLE = Parameter("title", longest=TITLE_CHARS)


_NODE = Parameter("node_id", is_required=True)


_JOBS = Parameter("jobs", "array", "all without any", choices=(*Job, ALL_JOBS))


TOOLS = (
    Tool(
        "new_session",
        "Begin a conversation to be kept; gives its id.",
        deed("tool_ingest.new_session"),
        (_TITLE, Parameter("agent", longest=100), _CWD, _BEGAN),
        is_writing=True,
        is_repeatable=False,
    ),
    Tool(
        "append_message",
        "Keep a message in a conversation.",
        deed("tool_ingest.append_message"),
        (
            _SESSION,
            Parameter("role", choices=("user", "assistant"), is_required=True),
            _TEXT,
            _AT,
            _ID,
        ),
        is_writing=True,
        is_repeatable=False,
    ),
    Tool(
        "ingest_event",
        "Keep an event of any type: a tool's result, a start or an end.",
        deed("tool_ingest.ingest_event"),
        (
            _SESSION,
            Parameter("event_type", choices=_TYPES, is_required=True),
            Parameter("text"),
            _AT,
            _ID,
            Parameter("tool_name", longest=200),
            Parameter("tool_use_id", longest=200),
            _CWD,
        ),
        is_writing=True,
        is_repeatable=False,
    ),
    Tool(
        "set_session_title",
        "Say what a conversation is called.",
        deed("tool_ingest.set_title"),
        (_SESSION, Parameter("title", is_required=True, longest=TITLE_CHARS)),
        is_writing=True,
    ),
    Tool(
        "set_session_summary",
        "Say what a conversation was about; searches weigh it most.",
        deed("tool_ingest.set_summary"),
        (_SESSION, Parameter("summary", is_required=True, longest=SUMMARY_CHARS)),
        is_writing=True,
    ),
    Tool(
        "summarise_again",
        "Ask a model for a new summary of a node.",
        deed("tool_versions.summarise_again"),
        (_NODE,),
        is_writing=True,
    ),
    Tool(
        "accept_version",
        "Pin a version of a node's bullets: it is shown whatever comes after it.",
        deed("tool_versions.accept"),
        (
            _NODE,
            Parameter("version", "integer", "the one shown without it", least=1),
            Parameter("even_rejected", "boolean", default=False),
        ),
        is_writing=True,
    ),
    Tool(
        "release_version",
        "Show the newest version of a node's bullets again.",
        deed("tool_versions.release"),
        (_NODE,),
        is_writing=True,
    ),
    Tool(
        "scheduler_pause",
        "Let summary jobs rest.",
        deed("tool_jobs.pause"),
        (_JOBS,),
        is_writing=True,
    ),
    Tool(
        "scheduler_resume",
        "Let summary jobs run again.",
        deed("tool_jobs.resume"),
        (_JOBS,),
        is_writing=True,
    ),
    Tool(
        "scheduler_run_now",
        "Ask for a run of summary jobs now.",
        deed("tool_jobs.run_now"),
        (_JOBS,),
        is_writing=True,
    ),
)
"""What changes something."""
