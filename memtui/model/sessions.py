"""A session: one conversation with one agent."""

import re
import shlex
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path

_ABSOLUTE = re.compile(r"/.|[A-Za-z]:/.")
"""How the full path of a folder begins."""


def project_folder(root: str, cwd: str = "") -> str:
    """The folder by which a session's project is told from others of its name.

    Args:
        root: The repository's folder, where it is known.
        cwd: The folder the session was held in.

    Returns:
        Its full path; "" if none is known.
    """
    folder = (root or cwd).replace("\\", "/").rstrip("/")
    return folder if _ABSOLUTE.match(folder) else ""


@dataclass(frozen=True, slots=True)
class SessionMetadata:
    """What a source tells of a session beside its events; empty where it is silent."""

    agent: str
    session_id: str
    cwd: str = ""
    project: str = ""
    branch: str = ""
    title: str = ""
    model: str = ""
    at: datetime | None = None
    """When it was said; the earliest word on a session's folder and project counts."""
    root: str = ""
    """The folder of the repository the work was in, where the source knows it."""
    created_by: str = ""
    """What started the session: a terminal, an editor, a library."""
    forked_from: str = ""
    """The session of the same agent that this one goes on from with a copy of it."""
    summary: str = ""
    """What it was about, in the words of whoever summed it up."""


@dataclass(frozen=True, slots=True)
class SubagentMetadata:
    """A subagent of a session: a helper that the agent started."""

    agent: str
    session_id: str
    subagent: str
    """Its name within the session; its events carry it."""
    kind: str = ""
    """What sort of helper: ``Explore``, ``reviewer``…"""
    tool_use_id: str = ""
    """The ``tool_use_id`` of the call that started it, where the source tells it."""
    task: str = ""
    """What it was asked to do, in a line."""


@dataclass(frozen=True, slots=True)
class Session:
    """What is known of a session."""

    agent: str
    session_id: str
    project: str
    cwd: str
    branch: str
    title: str
    """The agent's own title, else what the person asked for (see ``openings``)."""
    model: str
    created_at: datetime
    updated_at: datetime
    message_count: int
    event_count: int
    root: str = ""
    """The folder of the repository the work was in."""
    created_by: str = ""
    """What started it."""
    forked_from: str = ""
    """The session it goes on from, whose beginning it shares."""
    summary: str = ""
    """What it was about, if its client summed it up."""


@dataclass(frozen=True, slots=True)
class AgentHistory:
    """Past sessions of an agent, found on this machine."""

    agent: str
    folder: Path
    """Where they lie: a folder, or a file that holds them all."""
    sessions: int


class SessionOrder(StrEnum):
    """What the list of sessions goes by."""

    NEWEST = "newest first"
    OLDEST = "oldest first"
    LONGEST = "longest first"
    MESSAGES = "most messages first"
    TITLE = "by title"

    @property
    def next(self) -> "SessionOrder":
        """The one after this, and after the last the first."""
        every = list(SessionOrder)
        return every[(every.index(self) + 1) % len(every)]


_COMMANDS = {
    "claude-code": ("claude", "--resume"),
    "codex": ("codex", "resume"),
    "gemini-cli": ("gemini", "--resume"),
    "opencode": ("opencode", "--session"),
    "copilot-cli": ("copilot", "--resume"),
}
"""What each agent is called and told, before the session's id."""

_NOT_BY_NAME = {
    "aider": "Aider keeps one history for a folder and no sessions to go back to:"
    " aider --restore-chat-history, run there, reads it in again."
}


@dataclass(frozen=True, slots=True)
class ResumeCommand:
    """How a session is taken up again."""

    argv: tuple[str, ...] = ()
    """The program and what it is told; empty where that cannot be done."""
    folder: str = ""
    """Where it is run; "" where the session's folder is not known."""
    reason: str = ""

    @property
    def program(self) -> str:
        """The program that does it."""
        return self.argv[0] if self.argv else ""

    def __str__(self) -> str:
        """The whole command as a shell takes it."""
        said = shlex.join(self.argv)
        return f"cd {shlex.quote(self.folder)} && {said}" if self.folder else said


def resume_command(session: Session) -> ResumeCommand:
    """How a session is taken up again in its agent."""
    told = _COMMANDS.get(session.agent)
    if told is None:
        why = _NOT_BY_NAME.get(
            session.agent,
            f"It is not known how {session.agent} goes back to a session.",
        )
        return ResumeCommand(reason=why)
    # What begins with a dash would be taken for an option.
    if session.session_id.startswith("-"):
        return ResumeCommand(reason="Its id cannot be told to a program.")
    return ResumeCommand((*told, session.session_id), session.cwd)
