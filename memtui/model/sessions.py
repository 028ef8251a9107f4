"""Sessions, their subagents and their segments."""

import hashlib
import re
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from memtui.model.work import Line, OpenEnd

_ABSOLUTE = re.compile(r"/.|[A-Za-z]:/.")
"""The beginning of an absolute path."""


UNTITLED = "Untitled session"
"""The title of a session without a name, a title and a prompt."""


def project_folder(root: str, cwd: str = "") -> str:
    """Return the folder that distinguishes a project from others of the same name.

    Returns:
        Its absolute path; "" if none is known.
    """
    folder = (root or cwd).replace("\\", "/").rstrip("/")
    return folder if _ABSOLUTE.match(folder) else ""


def hash_folder(path: str) -> str:
    """Return the hash of a folder's path that Gemini CLI calls its project by."""
    return hashlib.sha256(path.encode("utf-8", "replace")).hexdigest()


@dataclass(frozen=True, slots=True)
class SessionMetadata:
    """Facts that a source gives about a session besides its events; unknown ones are
    empty."""

    agent: str
    session_id: str
    cwd: str = ""
    project: str = ""
    branch: str = ""
    title: str = ""
    model: str = ""
    at: datetime | None = None
    """The time of the record: the earliest one decides on folder and project."""
    root: str = ""
    """The folder of the repository, if the source knows it."""
    created_by: str = ""
    """The program that started the session: a terminal, an editor, a library."""
    forked_from: str = ""
    """The session of the same agent whose copy this one begins with."""
    summary: str = ""
    own_name: str = ""
    """The name that the user gave it, in an export of memtui."""
    facts_at: datetime | None = None
    """The time at which branch, model, title and summary were so: the latest decides.
    None for now."""
    title_at: datetime | None = None
    """That of the title, if the source has another one."""
    is_title_given: bool = False
    """The user gave it the title, in the agent: one that a program made neither
    replaces it nor counts more. Without a title, the user took it away."""
    cwd_hash: str = ""
    """The hash of its folder, by ``hash_folder``, for sources that name no other."""


@dataclass(frozen=True, slots=True)
class SubagentMetadata:
    """Facts that a source gives about a subagent of a session."""

    agent: str
    session_id: str
    subagent: str
    """Its name within the session, as in its events."""
    kind: str = ""
    """Its type: ``Explore``, ``reviewer``…"""
    tool_use_id: str = ""
    """The id of the tool call that started it, if the source has it."""
    task: str = ""
    """Its task, in one line."""


class WorkState(StrEnum):
    """The state in which a piece of work ended."""

    DONE = "done"
    PUSHED = "pushed"
    MERGED = "merged"
    ANSWERED = "answered"
    """It only answered questions."""
    OPEN = "open"
    FAILED = "failed"
    ABANDONED = "abandoned"


@dataclass(frozen=True, slots=True)
class SessionWork:
    """The name, state and outcome of a session; ``summarize.card`` decides on them.

    Empty until the session's first segment is summarized or the user names it.
    """

    name: str = ""
    state: WorkState | None = None
    outcome: str = ""
    left_open: tuple[OpenEnd, ...] = ()
    name_event_id: str = ""
    """The event that the name was taken from; "" if a model or a person gave it."""
    outcome_event_id: str = ""
    state_event_id: str = ""
    """The event that shows the state: the call that pushed, the unanswered message."""

    @property
    def event_ids(self) -> tuple[str, ...]:
        """The events of outcome and name; if neither has one, that of the state."""
        event_ids = (self.outcome_event_id, self.name_event_id)
        sources = tuple(dict.fromkeys(filter(None, event_ids)))
        return sources or tuple(filter(None, [self.state_event_id]))


NO_WORK = SessionWork()


COMMIT_MESSAGES = 15
"""A commit counts as much as this number of messages."""


@dataclass(frozen=True, slots=True)
class PeriodWork:
    """The work of a session in a period."""

    agent: str
    session_id: str
    project: str
    work: SessionWork
    messages: int
    """The messages in the period alone, and so are commits and days."""
    commits: int = 0
    days: tuple[str, ...] = ()
    """The ids of the days on which its segments begin."""
    start_ms: int = 0
    replies: tuple[Line, ...] = ()
    """In a period of one day: how its segments on that day ended, if by a reply."""
    # It stands in for other sources, and is no part of what a period is made from.
    first_event_id: str = field(default="", repr=False)

    @property
    def event_ids(self) -> tuple[str, ...]:
        """The events of its work; the first one of the period if that has none."""
        return self.work.event_ids or tuple(filter(None, [self.first_event_id]))

    @property
    def weight(self) -> int:
        """The amount of work, in messages."""
        return self.messages + COMMIT_MESSAGES * self.commits


@dataclass(frozen=True, slots=True)
class Session:
    """A session as it is stored."""

    agent: str
    session_id: str
    project: str
    cwd: str
    branch: str
    title: str
    """The name of its work, else the agent's title, else the beginning of the first
    prompt, else ``UNTITLED``."""
    model: str
    created_at: datetime
    updated_at: datetime
    message_count: int
    event_count: int
    root: str = ""
    """The folder of the repository."""
    created_by: str = ""
    forked_from: str = ""
    """The session whose beginning it shares."""
    summary: str = ""
    agent_title: str = ""
    """The agent's own title, if there is one."""
    is_title_given: bool = False
    """The user gave it this title, in the agent."""
    own_name: str = ""
    """The name that the user gave it; it is the name of its work, too."""
    work: SessionWork = NO_WORK
    """Its name, state and outcome, once it is summarized."""

    @property
    def full_name(self) -> str:
        """Its id behind that of its agent: ``codex:4f2a``."""
        return f"{self.agent}:{self.session_id}"


@dataclass(frozen=True, slots=True)
class AgentHistory:
    """Past sessions of an agent, found on this machine."""

    agent: str
    folder: Path
    """Their folder, or the file with all of them."""
    sessions: int
    ignored: str = ""
    """The other files there, of which nothing is kept."""


class SessionOrder(StrEnum):
    """The orders of the session list."""

    NEWEST = "newest first"
    OLDEST = "oldest first"
    LONGEST = "longest first"
    MESSAGES = "most messages first"
    TITLE = "by title"

    @property
    def next(self) -> "SessionOrder":
        every = list(SessionOrder)
        return every[(every.index(self) + 1) % len(every)]
