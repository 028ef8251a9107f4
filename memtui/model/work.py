"""The work of a session: what its calls and messages show.

``Facts`` are read from the events of a segment, and stored with it. Those of a session
are the facts of its segments in a row, so that a new message changes one segment.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import chain
from typing import TypeVar


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text, and the event it is from."""

    text: str
    event_id: str


@dataclass(frozen=True, slots=True)
class Task:
    """An item of the agent's to-do list."""

    text: str
    event_id: str
    number: str = ""
    """Its number, if calls change one item; "" if they write the whole list."""


@dataclass(frozen=True, slots=True)
class OpenEnd(Line):
    """A thing that was left to do at the end of a session."""

    kind: str = ""
    """The facts of a later session that would settle it: ``requests``, ``test_runs`` or
    ``done_tasks``."""
    subject: str = ""
    """The prompt, the command of the tests, or the task, by which they are compared; ""
    if they cannot be."""


@dataclass(frozen=True, slots=True)
class UserAnswer(Line):
    """The answer of the user to a question that the agent asked by a call."""

    question: str = ""


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
    """The facts that the events of a segment or a session show, oldest first.

    Only calls that ran and succeeded count, except for ``failed_commands`` and failed
    test runs.
    """

    requests: tuple[Request, ...] = ()
    events_before: int = 0
    """The number of events before the first request."""
    reply: Line | None = None
    """The beginning of the agent's last message."""
    answers: tuple[UserAnswer, ...] = ()
    commits: tuple[Commit, ...] = ()
    pull_requests: tuple[PullRequest, ...] = ()
    pushes: tuple[Line, ...] = ()
    merges: tuple[Line, ...] = ()
    test_runs: tuple[TestRun, ...] = ()
    files: tuple[FileChange, ...] = ()
    failed_commands: tuple[Line, ...] = ()
    open_tasks: tuple[Task, ...] | None = None
    """The unfinished items of the agent's last to-do list; None if it made none."""
    done_tasks: tuple[Task, ...] = ()
    """The items that were finished, each with the call that first says so. Those of
    which only an earlier part has the text have a number alone."""
    end: EndKind = EndKind.NOTHING
    end_event_id: str = ""
    """The event that ``end`` describes."""
    end_text: str = ""
    """The beginning of the message that nobody answered, or of the unfinished call."""


def join_facts(parts: Iterable[Facts]) -> Facts:
    """Return the facts of consecutive parts as those of the whole."""
    parts = list(parts)
    requests: list[Request] = []
    events_before = 0
    commits: list[Commit] = []
    open_tasks: tuple[Task, ...] | None = None
    for part in parts:
        if requests:
            last = requests[-1]
            events = last.events + part.events_before
            requests[-1] = Request(last.text, last.event_id, events)
        else:
            events_before += part.events_before
        requests += part.requests
        for commit in part.commits:
            if commit.is_amended and commits:
                commit = replace(commit, is_amended=commits.pop().is_amended)
            commits.append(commit)
        open_tasks = _join_tasks(open_tasks, part)
    replies = (part.reply for part in reversed(parts) if part.reply)
    ends = (part for part in reversed(parts) if part.end is not EndKind.NOTHING)
    end = next(ends, Facts())
    return Facts(
        requests=tuple(requests),
        events_before=events_before,
        reply=next(replies, None),
        answers=_join(part.answers for part in parts),
        commits=tuple(commits),
        pull_requests=_join(part.pull_requests for part in parts),
        pushes=_join(part.pushes for part in parts),
        merges=_join(part.merges for part in parts),
        test_runs=_join(part.test_runs for part in parts),
        files=_join(part.files for part in parts),
        failed_commands=_join(part.failed_commands for part in parts),
        open_tasks=open_tasks,
        done_tasks=_join(part.done_tasks for part in parts),
        end=end.end,
        end_event_id=end.end_event_id,
        end_text=end.end_text,
    )


_Item = TypeVar("_Item")


def _join(of_parts: Iterable[tuple[_Item, ...]]) -> tuple[_Item, ...]:
    return tuple(chain.from_iterable(of_parts))


def _join_tasks(
    before: tuple[Task, ...] | None, part: Facts
) -> tuple[Task, ...] | None:
    """Join lists of open tasks: a list that is written whole replaces the last one."""
    after = part.open_tasks
    closed = {task.number for task in part.done_tasks if task.number}
    has_numbers = closed or any(task.number for task in after or ())
    if before is None or not has_numbers:
        return before if after is None else after
    remaining = (task for task in before if task.number and task.number not in closed)
    return (*remaining, *(after or ()))
