"""Resuming: the command by which an agent takes up a session where it was left.

Each looks for the session among those of the folder it was held in, so that the command
is run there.
"""

import shlex
from dataclasses import dataclass

from memtui.memory.sessions import Session

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
class Resume:
    """How a session is taken up again."""

    argv: tuple[str, ...] = ()
    """The program and what it is told; empty where that cannot be done."""
    folder: str = ""
    """Where it is run; "" where the session's folder is not known."""
    why_not: str = ""

    @property
    def program(self) -> str:
        """The program that does it."""
        return self.argv[0] if self.argv else ""

    def __str__(self) -> str:
        """The whole command as a shell takes it."""
        said = shlex.join(self.argv)
        return f"cd {shlex.quote(self.folder)} && {said}" if self.folder else said


def of(session: Session) -> Resume:
    """How a session is taken up again in its agent."""
    told = _COMMANDS.get(session.agent)
    if told is None:
        why = _NOT_BY_NAME.get(
            session.agent,
            f"It is not known how {session.agent} goes back to a session.",
        )
        return Resume(why_not=why)
    # What begins with a dash would be taken for an option.
    if session.session_id.startswith("-"):
        return Resume(why_not="Its id cannot be told to a program.")
    return Resume((*told, session.session_id), session.cwd)
