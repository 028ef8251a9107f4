"""A session: one conversation with one agent."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path


@dataclass(frozen=True, slots=True)
class SessionFacts:
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


@dataclass(frozen=True, slots=True)
class Session:
    """What is known of a session."""

    agent: str
    session_id: str
    project: str
    cwd: str
    branch: str
    title: str
    """The agent's own title, else the first thing the person asked."""
    model: str
    created_at: datetime
    updated_at: datetime
    message_count: int
    event_count: int


@dataclass(frozen=True, slots=True)
class History:
    """Past sessions of an agent, found on this machine."""

    agent: str
    folder: Path
    sessions: int


def project_of(cwd: str) -> str:
    """The name a working directory gives to its project: its last folder."""
    return cwd.replace("\\", "/").rstrip("/").rpartition("/")[2]
