"""Sort the events of a piece of work: requests, replies and calls of tools."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from memtui.model.events import Event, EventRole, EventType
from memtui.summarize import tool_actions, tool_results
from memtui.summarize.tool_actions import CardLine
from memtui.summarize.tool_results import TestCounts
from memtui.text import analyzer, cues, titles
from memtui.text.prose import Sentence, message_sentences

LINE_CHARS = 240
"""The maximum length of a line."""

REPORT_WORDS = 12
"""A message of the agent with at least this many content words can be a report."""

REPORTS_READ = 3
"""The number of last reports that are searched for the outcome and for what is open."""

REQUEST_CHARS = 200
"""The start of a request shows whether it asks for a commit or a push."""


@dataclass(slots=True)
class WorkEvents:
    """The events of a run, sorted by what they are."""

    events: Sequence[Event]
    is_in_repository: bool = False
    """True if a Git branch was recorded."""
    requests: list[int] = field(default_factory=list)
    """The messages of the user."""
    replies: list[int] = field(default_factory=list)
    """The messages of the agent."""
    calls: list[int] = field(default_factory=list)
    test_runs: list[tuple[int, TestCounts]] = field(default_factory=list)
    """The calls that ran tests, with the numbers of tests."""
    notices: list[int] = field(default_factory=list)
    """Messages of programs: "[Request interrupted by user]"."""
    farewell: int = -1
    """The message in which the user only ends the conversation for now."""
    sentences: dict[int, list[Sentence]] = field(default_factory=dict)
    """The sentences of each message."""

    @property
    def places(self) -> Sequence[int]:
        return (*self.requests, *self.replies, *self.calls, *self.notices)

    @property
    def last(self) -> int:
        return max((*self.requests, *self.replies, *self.calls), default=0)

    @property
    def has_failing_run(self) -> bool:
        """True if tests failed in the last run."""
        return bool(self.test_runs) and self.test_runs[-1][1].failed > 0

    @property
    def commands(self) -> list[str]:
        """Return the commands that were run in a shell."""
        return [
            tool_actions.whole_command(self.events[at])
            for at in self.calls
            if tool_results.is_command(self.events[at])
        ]

    def content(self, at: int) -> int:
        """Return how many content words the first sentences of a message have."""
        parts = islice(self.sentences[at], 6)
        return analyzer.count_content_words(" ".join(one.text for one in parts))


def read_work(events: Sequence[Event], *, is_in_repository: bool = False) -> WorkEvents:
    """Sort the events of a run; those of subagents are left out.

    Args:
        events: The events in order.
        is_in_repository: Whether the session recorded a Git branch.
    """
    work = WorkEvents(events, is_in_repository)
    for at, event in enumerate(events):
        if event.subagent:
            continue
        if event.event_type is EventType.TOOL_RESULT:
            work.calls.append(at)
            if counts := tool_results.count_tests(event):
                work.test_runs.append((at, counts))
        elif event.is_message:
            work.sentences[at] = message_sentences(event.text)
            is_request = event.role is EventRole.USER
            if is_request and _is_farewell(work.sentences[at]):
                work.farewell = at
                continue
            (work.requests if is_request else work.replies).append(at)
        elif event.role is EventRole.SYSTEM:
            work.notices.append(at)
    return work


def _is_farewell(sentences: Sequence[Sentence]) -> bool:
    return 0 < len(sentences) <= 3 and bool(cues.is_farewell(sentences[0].text))


def find_interruption(work: WorkEvents) -> int:
    """Return the interruption of the last request, if nothing followed; else -1."""
    for at in sorted((*work.requests, *work.notices), reverse=True):
        if INTERRUPTED.match(work.events[at].text):
            later = (*work.requests, *work.replies, *work.calls)
            return at if at >= max(later, default=-1) else -1
    return -1


def find_interrupted_request(work: WorkEvents) -> int:
    """Return the last request if it was interrupted and followed others; else -1."""
    cut = find_interruption(work)
    known = [at for at in work.requests if at < cut and work.content(at) > 1]
    return known[-1] if len(known) > 1 else -1


def _leads_in(text: str) -> bool:
    """Return whether a sentence only introduces what follows it."""
    return text.endswith((":", "："))


def request_line(work: WorkEvents, at: int) -> str:
    """Return the text of a request without roles, small talk and pasted output."""
    is_plan = bool(titles.plan_name(work.events[at].text))
    return " ".join(
        one.text
        for place, one in enumerate(work.sentences[at])
        if not one.is_heading
        and not cues.is_small_talk(one.text)
        and not cues.is_role(one.text)
        and not (place and cues.is_log_line(one.text))
        and not (is_plan and _leads_in(one.text))
    )


_STEP = re.compile(r"\b(?:so|and|before) i(?:'|’)(?:m|ll) (?:now )?\w", re.IGNORECASE)
"""A sentence about the next step of the work: "main is behind, so I'll rebase"."""

RESULT = re.compile(
    r"\W*(?:the (?:fix|change|solution)\b|now\b"
    r"|(?:i(?:'ve| have)? )?(?:successfully )?(?:fixed|added|removed|replaced|created"
    r"|updated|implemented|renamed|moved|extracted|wrote|found)\b)",
    re.IGNORECASE,
)


def find_reports(work: WorkEvents, since: int, until: int) -> list[int]:
    """Return the agent's messages that report what was done, the last one first.

    They are searched between two events; a later one may be the first.
    """
    found: list[int] = []
    for at in reversed([one for one in work.replies if one < until]):
        if at < since and found:
            break
        lines = [one for one in work.sentences[at] if not is_progress_note(one.text)]
        words = sum(analyzer.count_content_words(one.text) for one in lines)
        is_last = lines and ends_turn(work, at) and not _replies_to_notice(work, at)
        if words >= REPORT_WORDS or is_last:
            found.append(at)
    return found[:REPORTS_READ]


def find_closing_reports(work: WorkEvents) -> list[int]:
    """Return the reports that follow the last request with content."""
    since = max(find_real_requests(work), default=-1)
    return find_reports(work, since, len(work.events))


def find_real_requests(work: WorkEvents) -> list[int]:
    """Return the requests that say more than "commit" or "continue"."""
    return [at for at in work.requests if work.content(at) >= titles.MIN_REQUEST_WORDS]


def ends_turn(work: WorkEvents, at: int) -> bool:
    """Return whether the user, a program or nothing follows a message."""
    later = min((one for one in work.places if one > at), default=-1)
    return later < 0 or later in work.requests or later in work.notices


def _replies_to_notice(work: WorkEvents, at: int) -> bool:
    """Return whether a message only responds to one of a program."""
    return max((one for one in work.places if one < at), default=-1) in work.notices


def is_progress_note(text: str) -> bool:
    return (
        cues.is_announcement(text) is not None
        or cues.is_pleasantry(text) is not None
        or _STEP.search(text) is not None
        or _leads_in(text)
    )


def asks(sentence: str) -> bool:
    return sentence.rstrip().endswith(("?", "？"))


INTERRUPTED = re.compile(r"\s*\[Request interrupted")

_GO_ON = r"\W*(?:please |ok(?:ay)?,? |now |then |and |yes,? )*"

WANTS_COMMIT = re.compile(rf"{_GO_ON}commit\b", re.IGNORECASE)

WANTS_PUSH = re.compile(rf"{_GO_ON}(?:commit and )?push\b", re.IGNORECASE)


def gives_up(work: WorkEvents, at: int) -> bool:
    """Return whether a message of the user starts by giving the work up."""
    return any(cues.gives_up(one.text) for one in work.sentences[at][:2])


def find_remaining_changes(work: WorkEvents, since: int) -> dict[str, int]:
    """Return the files changed after an event and not discarded, with their calls."""
    found: dict[str, int] = {}
    for at in (one for one in work.calls if one > since):
        event = work.events[at]
        for path in tool_results.find_discarded(event, found):
            del found[path]
        for change in tool_results.file_changes(event):
            found[change.path] = at
    return found


def find_calls(work: WorkEvents, is_wanted: Callable[[Event], bool]) -> list[int]:
    return [at for at in work.calls if is_wanted(work.events[at])]


def find_pull_requests(work: WorkEvents) -> Iterator[CardLine]:
    for at in work.calls:
        if text := tool_results.created_pull_request(work.events[at]):
            yield CardLine(text, (at,))
