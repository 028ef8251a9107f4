"""Sort the events of a piece of work: requests, replies and calls of tools.

They show in what state it ended: done, pushed, open, failed, abandoned.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from memtui.model.events import Event, EventRole
from memtui.model.sessions import WorkState
from memtui.summarize import tool_actions
from memtui.summarize.tool_actions import CardLine, TestCounts
from memtui.text import analyzer, cues, orders, titles
from memtui.text.prose import (
    Sentence,
    message_sentences,
    shorten,
)

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
            if tool_actions.is_command(self.events[at])
        ]

    def count_content_words(self, at: int) -> int:
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
        if event.is_tool_call:
            work.calls.append(at)
            if counts := tool_actions.count_tests(event):
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
    known = [
        at for at in work.requests if at < cut and work.count_content_words(at) > 1
    ]
    return known[-1] if len(known) > 1 else -1


def _leads_in(text: str) -> bool:
    """Return whether a sentence only introduces what follows it."""
    words = analyzer.count_content_words(text)
    is_result = RESULT.match(text) and words >= titles.MANY_CONTENT_WORDS
    return text.endswith((":", "：")) and not is_result


def request_line(work: WorkEvents, at: int) -> str:
    """Return the text of a request without roles, small talk and pasted output."""
    is_plan = bool(titles.plan_name(work.events[at].text))
    return " ".join(
        one.text
        for place, one in enumerate(work.sentences[at])
        if not one.is_heading
        and not orders.is_small_talk(one.text)
        and not cues.is_role(one.text)
        and not (place and cues.is_log_line(one.text))
        and not (is_plan and _leads_in(one.text))
    )


_STEP = re.compile(r"\b(?:so|and|before) i(?:'|’)(?:m|ll) (?:now )?\w", re.IGNORECASE)
"""A sentence about the next step of the work: "main is behind, so I'll rebase"."""

RESULT = re.compile(
    r"\W*(?:done\W+)?(?:the (?:fix|change|solution)\b|now\b"
    r"|(?:i(?:'ve| have)? )?(?:successfully )?(?:fixed|added|removed|replaced|created"
    r"|updated|implemented|renamed|moved|extracted|wrote|found|built|changed|converted"
    r"|deleted|disabled|enabled|enhanced|improved|merged|migrated|redesigned|refactored"
    r"|reverted|rewrote|simplified|switched)\b)",
    re.IGNORECASE,
)


def find_reports(work: WorkEvents, since: int, until: int) -> list[int]:
    """Return the agent's messages that report what was done, the last one first.

    They are searched between two events; a later one may be the first. Those that the
    closing message of their turn follows come last.
    """
    found: list[int] = []
    for at in reversed([one for one in work.replies if one < until]):
        if at < since and found:
            break
        lines = [one for one in work.sentences[at] if not is_progress_note(one.text)]
        words = sum(analyzer.count_content_words(one.text) for one in lines)
        is_last = lines and ends_turn(work, at) and not _replies_to_notice(work, at)
        is_result = not found and any(_CHANGED.match(one.text) for one in lines)
        if words >= REPORT_WORDS or is_last or is_result:
            found.append(at)
    return sorted(found, key=lambda at: _is_overtaken(work, at))[:REPORTS_READ]


def _is_overtaken(work: WorkEvents, at: int) -> bool:
    """Return whether the closing message of its turn follows a message."""
    end = min((one for one in work.requests if one > at), default=len(work.events))
    return any(ends_turn(work, one) for one in work.replies if at < one < end)


def find_closing_reports(work: WorkEvents) -> list[int]:
    """Return the reports that follow the last request with content."""
    since = max(find_real_requests(work), default=-1)
    return find_reports(work, since, len(work.events))


def find_real_requests(work: WorkEvents) -> list[int]:
    """Return the requests that say more than "commit" or "continue"."""
    return [
        at
        for at in work.requests
        if work.count_content_words(at) >= titles.MIN_REQUEST_WORDS
    ]


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


def is_given_up(work: WorkEvents, at: int) -> bool:
    """Return whether a message of the user starts by giving the work up."""
    return any(cues.gives_up(one.text) for one in work.sentences[at][:2])


def find_remaining_changes(work: WorkEvents, since: int) -> dict[str, int]:
    """Return the files changed after an event that remain, with their calls."""
    found: dict[str, int] = {}
    for at in (one for one in work.calls if one > since):
        event = work.events[at]
        discarded = tool_actions.find_discarded(event, found)
        for path in discarded | tool_actions.find_removed(event, found):
            del found[path]
        for change in tool_actions.file_changes(event):
            found[tool_actions.find_same_file(change.path, found)] = at
    return found


def find_calls(work: WorkEvents, is_wanted: Callable[[Event], bool]) -> list[int]:
    return [at for at in work.calls if is_wanted(work.events[at])]


def find_pull_requests(work: WorkEvents) -> Iterator[CardLine]:
    for at in work.calls:
        if text := tool_actions.created_pull_request(work.events[at]):
            yield CardLine(text, (at,))


# State


UNDONE = re.compile(
    r"\b(?:revert|roll(?:ed|ing)?\b.{0,40}\bback|undid|undone|discard|abort|cancel"
    r"|abandon|park(?:ed)?\b|give up|closed\b|dropped|back to|verworfen|rückgängig"
    r"|zurückgesetzt|abgebrochen|отмен|откат|откачен|возвра)",
    re.IGNORECASE,
)
"""A sentence about work that was undone or given up."""

_AGENT_GIVES_UP = re.compile(r"\W*(?:i|we) give up\b|let's park (?:this|it)\b", re.I)

_SAYS_COMMITTED = re.compile(r"\bcommitted\b", re.IGNORECASE)
_SAYS_PUSHED = re.compile(
    r"\balready\b.{0,30}\bpushed\b|\beverything(?: is|'s)? up[- ]to[- ]date\b", re.I
)

_BLOCKED = re.compile(
    r"\b(?:fail\w*|error\w*|block\w*|can(?:'t|not) (?:proceed|continue))\b|--no-verify",
    re.IGNORECASE,
)

PROBLEMS = re.compile(
    r"\bstill (?:fails?|failing|broken|not work\w*)|\bnot fixable\b|\bgave up\b"
    r"|\bremaining (?:issues?|errors?|problems?|failures?)\b|\bunable to\b"
    r"|\bcould(?:n't| not) (?:fix|solve|complete|finish|resolve)\b",
    re.IGNORECASE,
)

UNRELATED = re.compile(
    r"\b(?:pre-existing|unrelated|not (?:related|caused|due)|already fail\w*|flaky"
    r"|on main too|already in the working tree|(?:is|that's) expected)\b",
    re.IGNORECASE,
)
"""A sentence about what the work did not cause, or what is as it should be."""

_FAILED_RUN = re.compile(r"\bfailed (?:at|in|because|with)\b|[–—-] failed\b", re.I)


def find_state(work: WorkEvents, commits: Sequence[CardLine]) -> CardLine:
    """Derive how the work ended, with the event that shows it."""
    last, closing = work.last, work.replies[-1] if work.replies else -1
    if (cut := find_interruption(work)) >= 0:
        if before := _find_state_before(work, commits):
            return before
        is_put_off = work.farewell > cut
        return CardLine(WorkState.OPEN if is_put_off else WorkState.ABANDONED, (cut,))
    if last in work.requests:
        if is_given_up(work, last):
            return CardLine(WorkState.ABANDONED, (last,))
        if work.count_content_words(last) or not work.replies:
            return CardLine(WorkState.OPEN, (last,))
    if last in work.replies and _is_agent_error(work, last):
        has_answered = not all(_is_agent_error(work, at) for at in work.replies)
        state = WorkState.OPEN if has_answered else WorkState.FAILED
        return CardLine(state, (last,))
    if (given_up := _given_up(work, commits)) >= 0:
        return CardLine(WorkState.ABANDONED, (given_up,))
    last_commit = commits[-1].refs[-1] if commits else -1
    pushes = find_calls(work, tool_actions.was_pushed)
    if (missing := _missing_step(work, last_commit, pushes)) is not None:
        return CardLine(WorkState.OPEN, (missing,))
    if failed_push := find_failed_push(work):
        return CardLine(WorkState.OPEN, failed_push.refs)
    changes = list(find_remaining_changes(work, -1).values())
    if (complaint := _last_complaint(work, [*changes, *pushes])) >= 0:
        return CardLine(WorkState.OPEN, (complaint,))
    steps = [0, *changes, *work.requests, last_commit]
    is_pushed = max(pushes, default=-1) >= max(steps)
    if _breaks_off(work, is_pushed=is_pushed) or _reports_problems(
        work, closing, is_pushed=bool(pushes)
    ):
        return CardLine(WorkState.OPEN, (max(closing, 0) or last,))
    if merges := find_calls(work, tool_actions.was_merged):
        return CardLine(WorkState.MERGED, (merges[-1],))
    if pushes and pushes[-1] >= last_commit:
        return CardLine(WorkState.PUSHED, (pushes[-1],))
    failed = _failing_run(work, closing)
    if failed > last_commit:
        return CardLine(WorkState.FAILED, (failed,))
    if commits:
        return CardLine(WorkState.DONE, (last_commit,))
    has_effect = any(
        tool_actions.file_changes(work.events[at])
        or tool_actions.has_created(work.events[at])
        or tool_actions.was_deployed(work.events[at])
        for at in work.calls
    )
    if has_effect or _reports_change(work, closing):
        return CardLine(WorkState.DONE, (max(closing, 0),))
    state = WorkState.OPEN if _asks_back(work, closing) else WorkState.ANSWERED
    return CardLine(state, (max(closing, 0),))


def _find_state_before(
    work: WorkEvents, commits: Sequence[CardLine]
) -> CardLine | None:
    """Return how the work ended before the interrupted request, if it was finished."""
    cut = find_interrupted_request(work)
    if cut < 0 or any(at > cut for at in find_remaining_changes(work, -1).values()):
        return None
    before = read_work(work.events[:cut], is_in_repository=work.is_in_repository)
    state = find_state(before, [one for one in commits if one.refs[-1] < cut])
    finished = (WorkState.DONE, WorkState.PUSHED, WorkState.MERGED)
    return state if state.text in finished else None


_COMPLAINT = re.compile(
    r"\bstill (?:an? |the |get|see|show|have|having|happen|fail|not\b|wrong|broken"
    r"|there|error|\w+n['’]t)|\bkeeps? \w+ing\b|\bsame (?:error|issue|problem)\b"
    r"|\b(?:immer noch|noch immer|nadal|wciąż)\b|\btoujours (?:pas|l[ae] même)\b"
    r"|\b(?:sigue|continua) (?:sem|sin|igual|\w+ndo)\b|вс[её] ещ[её]"
    r"|^(?:(?:it|that|this|das|es|ça|eso|isso|to|это) )?(?:(?:is )?not working"
    r"|(?:does|did)(?:n['’]t| not) (?:help|work)|(?:geht|funktioniert|klappt) nicht"
    r"|ne (?:marche|fonctionne) pas|no funciona|não funciona|nie działa|не работает)"
    r"|仍然|还是(?:不|没|有|报)|^不行|没用",
    re.IGNORECASE,
)
"""A sentence of the user that says that a problem remains: "It keeps showing up"."""


def _last_complaint(work: WorkEvents, changes: Sequence[int]) -> int:
    """Return the last request if it says that the changes before it did not help.

    It is -1 if changes or a push followed.
    """
    at = work.requests[-1] if work.requests else -1
    if not changes or max(changes) > at:
        return -1
    lines = [one.text for one in work.sentences[at][:2]]
    return at if any(map(_COMPLAINT.search, lines)) else -1


_CHANGED = re.compile(
    r"(?:done\W+)?(?:i(?:['’]ve| have)? )?(?:successfully )?(?:fixed|added|removed"
    r"|replaced|implemented|renamed|moved|deleted|migrated|refactored|reverted|committed"
    r"|pushed|merged|deployed|published|updated)\b",
    re.IGNORECASE,
)


def _reports_change(work: WorkEvents, closing: int) -> bool:
    """Return whether the closing message begins with what the agent changed."""
    parts = work.sentences.get(closing, [])
    return bool(parts) and _CHANGED.match(parts[0].text) is not None


def _asks_back(work: WorkEvents, closing: int) -> bool:
    """Return whether the reply to an order ends with a question that matters."""
    parts = work.sentences.get(closing, [])
    if not parts or not work.requests or not asks(parts[-1].text):
        return False
    has_asked = asks(work.events[work.requests[-1]].text)
    return not has_asked and not POLITE_QUESTION.search(parts[-1].text)


def _given_up(work: WorkEvents, commits: Sequence[CardLine]) -> int:
    """Return the event that undid or gave up the work, if nothing followed; else -1."""
    undone = _last_undoing(work, commits)
    words = [at for at in work.requests if is_given_up(work, at)]
    if words and words[-1] >= max(find_real_requests(work), default=-1):
        undone = max(undone, words[-1])
    elif any(
        _AGENT_GIVES_UP.match(one.text)
        for one in work.sentences.get(work.last, [])
        if work.last in work.replies
    ):
        undone = work.last
    later = (at for at in work.calls if at > undone)
    is_final = not any(
        tool_actions.file_changes(work.events[at])
        or (
            tool_actions.commit_subjects(work.events[at])
            and not tool_actions.was_reverted(work.events[at])
        )
        or tool_actions.was_merged(work.events[at])
        for at in later
    )
    return undone if is_final else -1


def _last_undoing(work: WorkEvents, commits: Sequence[CardLine]) -> int:
    """Return the last call that left nothing of the work; -1 if there is none."""
    reverts = find_calls(work, tool_actions.was_reverted)
    closed = find_calls(work, tool_actions.was_closed)
    made = [at for at in work.calls if tool_actions.file_changes(work.events[at])]
    if (commits or made) and not any(find_pull_requests(work)):
        closed = []  # A pull request of other work.
    if reverts or closed:
        subjects = [line.text for line in commits]
        remaining = [
            one
            for one in subjects
            if not one.startswith("Revert ") and f'Revert "{one}"' not in subjects
        ]
        if closed or not remaining or len(reverts) >= len(remaining):
            return max((*reverts, *closed))
    if not commits and made and not find_remaining_changes(work, -1):
        paths = {
            change.path
            for at in made
            for change in tool_actions.file_changes(work.events[at])
        }
        found = find_calls(
            work, lambda one: bool(tool_actions.find_discarded(one, paths))
        )
        return max(found, default=-1)
    return -1


def _is_agent_error(work: WorkEvents, at: int) -> bool:
    """Return whether a message of the agent only says that its model failed."""
    found = [one.text for one in work.sentences[at]] or [work.events[at].text.strip()]
    return all(map(cues.is_agent_error, found))


def _failing_run(work: WorkEvents, closing: int) -> int:
    """Return the last test run if it failed and was not dismissed; else -1."""
    runs = work.test_runs
    if not runs or not runs[-1][1].failed:
        return -1
    lines = (one.text for one in work.sentences.get(closing, []))
    return -1 if any(map(UNRELATED.search, lines)) else runs[-1][0]


def find_failed_push(work: WorkEvents) -> CardLine | None:
    """Return the error of the last push; None if it succeeded or there was no push."""
    for at in reversed(work.calls):
        if tool_actions.was_pushed(work.events[at]):
            return None
        if error := tool_actions.push_error(work.events[at]):
            return CardLine(shorten(f"The push failed: {error}", LINE_CHARS), (at,))
    return None


def _missing_step(
    work: WorkEvents, last_commit: int, pushes: Sequence[int]
) -> int | None:
    """Return the request for a commit or push that did not come about."""
    for at in work.requests:
        start = work.events[at].text[:REQUEST_CHARS]
        later = [one for one in work.replies if one > at]
        lines = [one.text for reply in later for one in work.sentences[reply]]
        if WANTS_PUSH.match(start):
            is_missing = not any(one > at for one in pushes)
            says_so = _SAYS_PUSHED
        else:
            is_missing = last_commit < at and WANTS_COMMIT.match(start) is not None
            says_so = _SAYS_COMMITTED
        if is_missing and not any(map(says_so.search, lines)):
            return at
    return None


_ASKS_FOR = re.compile(
    r"(?:(?:please|could you) (?:\w+ )?(?:provide|share|send|specify|paste|add)"
    r"|(?:please )?tell me)\b",
    re.IGNORECASE,
)
"""A request of the agent to the user: "Please provide the log."."""


def _breaks_off(work: WorkEvents, *, is_pushed: bool) -> bool:
    """Return whether the agent was still at work, or asked something, at the end.

    Once all is pushed, it only watches what comes of it.
    """
    event = work.events[work.last]
    if work.last in work.calls:
        return not (is_pushed or _ends_work(event))
    sentences = work.sentences.get(work.last, [])
    if work.last not in work.replies or not sentences:
        return False
    ending = sentences[-1].text
    if _ASKS_FOR.match(ending):
        return True
    if cues.is_announcement(ending) and len(sentences) <= 2 and not is_pushed:
        return True
    if not asks(ending):
        return False
    last_call = work.events[work.calls[-1]] if work.calls else None
    if _BLOCKED.search(event.text):
        return last_call is None or not _ends_work(last_call)
    has_failed = last_call is not None and last_call.is_failed
    return has_failed and not POLITE_QUESTION.search(ending)


def _ends_work(call: Event) -> bool:
    """Return whether a call committed or pushed something, or was Aider's last step."""
    if call.agent == "aider" and tool_actions.file_changes(call):
        return True
    return bool(tool_actions.commit_subjects(call)) or tool_actions.was_pushed(call)


def _reports_problems(work: WorkEvents, closing: int, *, is_pushed: bool) -> bool:
    """Return whether the closing message says what does not work."""
    return any(
        (PROBLEMS.search(one.text) and not NOTHING_LEFT.search(one.text))
        or (is_pushed and _FAILED_RUN.search(one.text))
        for one in work.sentences.get(closing, [])
    )


NOTHING_LEFT = re.compile(
    r"\b(?:no|nothing|none|without(?: any)?|aren't any|isn't any)\b[^.;,]{0,30}"
    r"\b(?:remain\w*|left|missing|pending|to-?dos?|follow-?ups?|needs?|still fail\w*)"
    r"|ничего не остал|не осталось|没有(?:剩余|遗留)",
    re.IGNORECASE,
)
"""A sentence that says that the work is complete."""

POLITE_QUESTION = re.compile(
    r"\b(?:anything else|help (?:you )?with|would you like|want me to"
    r"|does (?:this|that) (?:help|look|work)|souhaitez-vous|voulez-vous|soll ich"
    r"|möchte(?:st du|n sie)|quieres que|te gustaría|хотите|хочешь)\b|需要我|要不要我",
    re.IGNORECASE,
)
