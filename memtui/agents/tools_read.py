"""The tools that read: each is a question that ``recall.asking`` answers."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from memtui.agents.replies import Reply
from memtui.agents.tool import (
    OFFSET,
    TOKEN,
    BadArguments,
    Given,
    Memory,
    Parameter,
    Tool,
    deed,
    limit,
)
from memtui.model.citations import CONTEXT_EVENTS
from memtui.model.scope import Scope

if TYPE_CHECKING:
    from memtui.agents.questions import AgentQuestions


_NODE = Parameter("node_id", says="as in toc:day:2025-03-14", is_required=True)


_UNDER = Parameter("node_id", says="the years without one")


_QUERY = Parameter(
    "query",
    says='words, "a phrase", project:name, agent:codex, after:2025-03, last week',
    is_required=True,
)


_WORDS = Parameter("query", is_required=True)


_TIMES = '"last week", "in March", "2025-03-14"'


_WHEN = Parameter("when", says=_TIMES, is_required=True)


_ANY_TIME = Parameter("when", says=f"{_TIMES}; all of a session without one")


_NAMED = "agent:id, or how that id begins"


_SESSION = Parameter("session", says=_NAMED, is_required=True)


_PROJECT = Parameter("project")


def _events(memory: Memory, given: Given) -> Reply:
    if not (given["when"].strip() or given["session"].strip()):
        raise BadArguments("when is missing; say it, or a session")
    return memory.asking.events_when(
        given["when"],
        limit=given["limit"],
        token=given["token"] or None,
        of=Scope("", given["project"]),
        session=given["session"],
    )


def _around(name: str, usual: int, most: int) -> Parameter:
    return Parameter(name, "integer", default=usual, least=0, most=most)


def _looking(
    name: str,
    says: str,
    ask: "Callable[[AgentQuestions], Callable[..., Reply]]",
    usual: int,
) -> Tool:
    """A tool that takes words and a limit, and nothing else."""

    def run(memory: Memory, given: Given) -> Reply:
        return ask(memory.asking)(given["query"], limit=given["limit"])

    return Tool(name, says, run, (_QUERY, limit(usual, 50)))


FINDING = (
    Tool(
        "route",
        "Ask anything: picks the way (time, words or the top), says why and how sure.",
        lambda memory, given: memory.asking.ask_route(
            given["question"], limit=given["limit"]
        ),
        (Parameter("question", is_required=True), limit(8, 50)),
    ),
    Tool(
        "retrieve_memory",
        "The few memories that answer, as Markdown; key moments with their messages.",
        lambda memory, given: memory.asking.retrieve_memory(
            given["query"], limit=given["limit"], detail_limit=given["detail_limit"]
        ),
        (
            _QUERY,
            limit(5, 20),
            Parameter(
                "detail_limit",
                "integer",
                "how many with their messages",
                least=0,
                most=20,
            ),
        ),
    ),
    _looking(
        "teleport",
        "Jump by specific words to summaries and citations, each with its score.",
        lambda asking: asking.teleport,
        8,
    ),
    _looking(
        "search_memory",
        "Many short quotes that answer, from everything kept: most evidence a token.",
        lambda asking: asking.search_memory,
        20,
    ),
    Tool(
        "search_sessions",
        "Messages as they were said (words, commands, errors), with a few around each.",
        lambda memory, given: memory.asking.search_sessions(
            given["query"],
            limit=given["limit"],
            before=given["before"],
            after=given["after"],
        ),
        (_QUERY, limit(5, 20), _around("before", 1, 15), _around("after", 1, 15)),
    ),
)
"""What finds."""


WALKING = (
    Tool(
        "get_toc_root",
        "The years that are kept, newest first.",
        lambda memory, given: memory.asking.get_toc_root(),
    ),
    Tool(
        "get_node",
        "A year, month, week, day or segment: bullets with citations, its children.",
        lambda memory, given: (
            memory.asking.get_version(given["node_id"], given["version"])
            if given["version"]
            else memory.asking.get_node(given["node_id"])
        ),
        (_NODE, Parameter("version", "integer", "the one shown without it", least=1)),
    ),
    Tool(
        "list_versions",
        "The versions there are of a node's bullets, and which is shown.",
        lambda memory, given: memory.asking.list_versions(given["node_id"]),
        (_NODE,),
    ),
    Tool(
        "browse_toc",
        "Page through the children of a node, newest first.",
        lambda memory, given: memory.asking.browse_toc(
            given["node_id"] or None,
            limit=given["limit"],
            token=given["token"] or None,
            of=Scope("", given["project"]),
        ),
        (_UNDER, limit(10, 100), TOKEN, _PROJECT),
    ),
    Tool(
        "browse_time",
        "The nodes that cover a time in words, the widest that fit.",
        lambda memory, given: memory.asking.in_time(
            given["when"], of=Scope("", given["project"])
        ),
        (_WHEN, _PROJECT),
    ),
    Tool(
        "browse_keyword",
        "The segments whose keywords hold a word, newest first.",
        lambda memory, given: memory.asking.by_keyword(
            given["keyword"], under=given["node_id"] or None, limit=given["limit"]
        ),
        (Parameter("keyword", is_required=True), _UNDER, limit(10, 100)),
    ),
    Tool(
        "search_node",
        "The parts of one node that answer, best first.",
        lambda memory, given: memory.asking.search_node(
            given["node_id"], given["query"], limit=given["limit"]
        ),
        (_NODE, _WORDS, limit(5, 50)),
    ),
    Tool(
        "search_children",
        "The children of one node that answer, best first.",
        lambda memory, given: memory.asking.search_children(
            given["node_id"] or None, given["query"], limit=given["limit"]
        ),
        (_UNDER, _WORDS, limit(5, 50)),
    ),
    Tool(
        "expand_grip",
        "The very words behind a citation (grip:… or evt:…), with those around them.",
        lambda memory, given: memory.asking.expand_grip(
            given["grip_id"], before=given["before"], after=given["after"]
        ),
        (
            Parameter("grip_id", is_required=True),
            _around("before", CONTEXT_EVENTS, 20),
            _around("after", CONTEXT_EVENTS, 20),
        ),
    ),
)
"""What walks the contents, down to the words a bullet rests on."""


CONVERSATIONS = (
    Tool(
        "get_events",
        "All that was said in a time or a session, oldest first.",
        _events,
        (_ANY_TIME, limit(20, 200), TOKEN, _PROJECT, Parameter("session", says=_NAMED)),
    ),
    Tool(
        "list_sessions",
        "Past conversations, the latest first: what was worked on last.",
        lambda memory, given: memory.asking.list_sessions(
            offset=given["offset"],
            limit=given["limit"],
            of=Scope(given["agent"], given["project"]),
        ),
        (Parameter("agent"), _PROJECT, OFFSET, limit(10, 100)),
    ),
    Tool(
        "get_session_meta",
        "What is known of one conversation: title, project, times, what it was about.",
        lambda memory, given: memory.asking.get_session_meta(given["session"]),
        (_SESSION,),
    ),
    Tool(
        "list_messages",
        "Read one conversation, a page at a time.",
        lambda memory, given: memory.asking.list_messages(
            given["session"],
            offset=given["offset"],
            limit=given["limit"],
            subagent=given["subagent"],
        ),
        (_SESSION, OFFSET, limit(10, 100), Parameter("subagent")),
    ),
)
"""What reads conversations."""


JOBS = (
    Tool(
        "scheduler_status",
        "When summaries are made, and whether a memtui is at work.",
        deed("tool_jobs.status"),
    ),
)
"""What tells of the jobs."""
