"""The work of a session: what its calls and messages show.

``Facts`` are read from the events of a segment, and stored with it. Those of a session
are the facts of its segments in a row, so that a new message changes one segment.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text, and the event it is from."""

    text: str
    event_id: str


@dataclass(frozen=True, slots=True)
class Task:
    """An unfinished item of the agent's to-do list."""

    text: str
    event_id: str
    number: str = ""
    """Its number, if calls change one item; "" if they write the whole list."""


@dataclass(frozen=True, slots=True)
class Request:
    """A message of the user, and the number of events up to the next one."""

    text: str
    event_id: str
    events: int


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit that a call made."""

    subject: str
    event_id: str
    hash: str = ""
    branch: str = ""
    lines: int = 0
    """The lines added and removed, as Git printed them; 0 if unknown."""
    is_amended: bool = False
    """True if it replaces the commit before it."""


@dataclass(frozen=True, slots=True)
class PullRequest:
    """A pull request that a call opened."""

    title: str
    event_id: str
    number: int = 0


@dataclass(frozen=True, slots=True)
class TestRun:
    """A run of tests, and how many passed and failed."""

    passed: int
    failed: int
    event_id: str
    command: str = ""


@dataclass(frozen=True, slots=True)
class FileChange:
    """A change of a file by a call."""

    path: str
    added: int
    removed: int
    event_id: str


class EndKind(StrEnum):
    """The last thing that happened in a session, or in a part of it."""

    NOTHING = "nothing"
    """There was neither a message nor a call."""
    REPLY = "reply"
    """The agent's last message."""
    QUESTION = "question"
    """The agent's last message, which ends with a question."""
    REQUEST = "request"
    """A message of the user that nobody answered."""
    CALL = "call"
    """A call, after which the agent said nothing."""
    INTERRUPTED = "interrupted"
    """The user stopped the agent."""
    ERROR = "error"
    """The agent's model failed."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What the events of a segment or a session show, oldest first.

    Only calls that ran and succeeded count, except for ``failed_commands`` and failed
    test runs.
    """

    requests: tuple[Request, ...] = ()
    events_before: int = 0
    """The number of events before the first request."""
    reply: Line | None = None
    """The beginning of the agent's last message."""
    commits: tuple[Commit, ...] = ()
    pull_requests: tuple[PullRequest, ...] = ()
    pushes: tuple[Line, ...] = ()
    merges: tuple[Line, ...] = ()
    test_runs: tuple[TestRun, ...] = ()
    files: tuple[FileChange, ...] = ()
    failed_commands: tuple[Line, ...] = ()
    open_tasks: tuple[Task, ...] | None = None
    """The unfinished items of the agent's last to-do list; None if it made none."""
    closed_tasks: tuple[str, ...] = ()
    """The numbers of finished items; earlier parts may have added them to the list."""
    end: EndKind = EndKind.NOTHING
    end_event_id: str = ""
    """The event that ``end`` describes."""
    end_text: str = ""
    """The closing question, or the beginning of the message that nobody answered."""


def join_facts(parts: Iterable[Facts]) -> Facts:
    """Return the facts of consecutive parts as those of the whole."""
    whole = Facts()
    for part in parts:
        requests = whole.requests
        before = whole.events_before
        if requests:
            last = requests[-1]
            continued = Request(
                last.text, last.event_id, last.events + part.events_before
            )
            requests = (*requests[:-1], continued)
        else:
            before += part.events_before
        has_end = part.end is not EndKind.NOTHING
        whole = Facts(
            requests=(*requests, *part.requests),
            events_before=before,
            reply=part.reply or whole.reply,
            commits=_join_commits(whole.commits, part.commits),
            pull_requests=(*whole.pull_requests, *part.pull_requests),
            pushes=(*whole.pushes, *part.pushes),
            merges=(*whole.merges, *part.merges),
            test_runs=(*whole.test_runs, *part.test_runs),
            files=(*whole.files, *part.files),
            failed_commands=(*whole.failed_commands, *part.failed_commands),
            open_tasks=_join_tasks(whole.open_tasks, part),
            closed_tasks=(*whole.closed_tasks, *part.closed_tasks),
            end=part.end if has_end else whole.end,
            end_event_id=part.end_event_id if has_end else whole.end_event_id,
            end_text=part.end_text if has_end else whole.end_text,
        )
    return whole


def _join_commits(
    before: tuple[Commit, ...], after: tuple[Commit, ...]
) -> tuple[Commit, ...]:
    """Join commits; an amended one replaces the last one."""
    commits = list(before)
    for commit in after:
        if commit.is_amended and commits:
            commit = replace(commit, is_amended=commits.pop().is_amended)
        commits.append(commit)
    return tuple(commits)


def _join_tasks(
    before: tuple[Task, ...] | None, part: Facts
) -> tuple[Task, ...] | None:
    """Join lists of open tasks: a list that is written whole replaces the last one."""
    after = part.open_tasks
    has_numbers = part.closed_tasks or any(task.number for task in after or ())
    if before is None or not has_numbers:
        return before if after is None else after
    closed = set(part.closed_tasks)
    remaining = (task for task in before if task.number and task.number not in closed)
    return (*remaining, *(after or ()))
