"""Make messages for tests, store them, and index them."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from memtui.model import events
from memtui.model.events import Event, EventRole, EventType
from memtui.model.sessions import SessionMetadata
from memtui.pipeline.pipeline import MessageIndexer
from memtui.search.message_index import MessageIndex
from memtui.store import database, sessions
from memtui.store import events as store_events
from memtui.workspace import Workspace

AT = datetime(2025, 3, 14, 10, tzinfo=UTC)

_TYPES = {
    EventRole.USER: EventType.USER_MESSAGE,
    EventRole.ASSISTANT: EventType.ASSISTANT_MESSAGE,
    EventRole.SYSTEM: EventType.USER_MESSAGE,
    EventRole.TOOL: EventType.TOOL_RESULT,
}


def make_message(
    text: str,
    at_s: float = 0,
    *,
    role: EventRole = EventRole.USER,
    session: str = "s1",
    agent: str = "claude-code",
    subagent: str = "",
    tool: str = "",
) -> Event:
    """Make a message, so many seconds after ``AT``."""
    return events.make(
        agent=agent,
        session_id=session,
        timestamp=AT + timedelta(seconds=at_s),
        event_type=_TYPES[role],
        role=role,
        text=text,
        source_key=f"{subagent}{at_s}{text}",
        subagent=subagent,
        metadata={"tool_name": tool} if tool else {},
    )


def make_call(
    tool: str,
    given: dict[str, str],
    output: str,
    at_s: float = 0,
    *,
    session: str = "s1",
) -> Event:
    """Make a call with its input; it failed if its output begins with "Error"."""
    text = f"{tool}: {next(iter(given.values()))}\n{output}"
    event = make_message(text, at_s, role=EventRole.TOOL, tool=tool, session=session)
    end = "failed" if output.startswith("Error") else "ok"
    metadata = {"tool_input": json.dumps(given), "call_end": end}
    return replace(event, metadata={**event.metadata, **metadata})


def make_run(command: str, output: str, at_s: float, session: str = "s1") -> Event:
    return make_call("Bash", {"command": command}, output, at_s, session=session)


def make_edit(path: str, lines: int, at_s: float, session: str = "s1") -> Event:
    change = {"file_path": path, "old_string": "", "new_string": "new\n" * lines}
    return make_call("Edit", change, "done", at_s, session=session)


def make_commit(subject: str, at_s: float, session: str = "s1") -> Event:
    output = f"[main {int(at_s):07x}] {subject}\n 1 file changed, 1 insertion(+)"
    return make_run(f"git commit -m '{subject}'", output, at_s, session)


def store_messages(*said: Event, route: str = "transcript") -> None:
    """Store messages."""
    with database.transaction():
        store_events.add(said, route=route)


def name_session(
    session: str, *, agent: str = "claude-code", title: str = "", project: str = ""
) -> None:
    """Set the title and the project of a session."""
    facts = SessionMetadata(agent, session, title=title, project=project)
    with database.transaction():
        sessions.update_metadata(facts)


def index_messages(workspace: Workspace, *, with_tools: bool = False) -> int:
    """Index all pending messages; return the number of steps."""
    stage = MessageIndexer(
        MessageIndex(workspace.paths.message_index, with_tools=with_tools)
    )
    steps = 0
    while stage.step():
        steps += 1
    return steps


def clock() -> datetime:
    """Return the time of queries: a day after ``AT``."""
    return AT + timedelta(days=1)
