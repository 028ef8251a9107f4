"""The commands by which agents resume their sessions, or start with a context pack."""

import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from memtui.model.sessions import Session

_COMMANDS = {
    "claude-code": ("claude", "--resume"),
    "codex": ("codex", "resume"),
    "gemini-cli": ("gemini", "--resume"),
    "antigravity-cli": ("agy", "--conversation"),
    "opencode": ("opencode", "--session"),
    "copilot-cli": ("copilot", "--resume"),
}
"""The command of each agent that resumes a session, without the session's id."""

_START_COMMANDS = (
    ("claude",),  # code.claude.com/docs/en/cli-reference
    ("codex",),  # developers.openai.com/codex/cli/features
    ("gemini", "--prompt-interactive"),  # geminicli.com/docs/cli/cli-reference
    ("opencode", "--prompt"),  # opencode.ai/docs/cli; the user submits it
    ("copilot", "--interactive"),  # docs.github.com/en/copilot/reference
)
"""The commands of agents that start a session, without the first prompt, and where they
are documented."""

_FIRST_PROMPT = "Read {}: quotations from past work. Say where it stands, and wait."

_NOT_BY_NAME = {
    "aider": "Aider keeps one history for a folder and no sessions to go back to:"
    " aider --restore-chat-history, run there, reads it in again."
}


@dataclass(frozen=True, slots=True)
class ResumeCommand:
    """The command that resumes a session."""

    argv: tuple[str, ...] = ()
    """The program and its arguments; empty if it cannot be resumed."""
    folder: str = ""
    """The folder to run it in; "" if not known."""
    problem: str = ""
    """The reason why it cannot be run here; "" if it can."""

    @property
    def program(self) -> str:
        return self.argv[0] if self.argv else ""

    def __str__(self) -> str:
        """Return the command line for a shell."""
        command = shlex.join(self.argv)
        return f"cd {shlex.quote(self.folder)} && {command}" if self.folder else command


def resume_command(session: Session) -> ResumeCommand:
    """Return the command that resumes a session in its agent."""
    command = _COMMANDS.get(session.agent)
    if command is None:
        why = _NOT_BY_NAME.get(
            session.agent,
            f"memtui cannot resume sessions of {session.agent}.",
        )
        return ResumeCommand(problem=why)
    if session.session_id.startswith("-"):
        return ResumeCommand(problem="Its id would be taken for an option.")
    return ResumeCommand((*command, session.session_id), session.cwd)


def check(resume: ResumeCommand) -> ResumeCommand:
    """Return a command, and whether it can be run here; the disk may be slow."""
    if resume.problem:
        return resume
    if shutil.which(resume.program) is None:
        problem = f"{resume.program} is not installed on this machine."
        return replace(resume, problem=problem)
    if resume.folder and not Path(resume.folder).is_dir():
        problem = (
            f"The folder {resume.folder} does not exist any more."
            f" Run elsewhere, {resume.program} may not find the session."
        )
        return replace(resume, folder="", problem=problem)
    return resume


def list_start_commands(file: Path) -> dict[str, Sequence[str]]:
    """Return the commands that start sessions with a context pack, by the programs that
    are installed here."""
    prompt = _FIRST_PROMPT.format(file)
    return {
        argv[0]: (*argv, prompt) for argv in _START_COMMANDS if shutil.which(argv[0])
    }
