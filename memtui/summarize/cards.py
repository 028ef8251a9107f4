"""Make the card of a run of events: what was asked, what came of it, what is left open.

Nothing is worded anew: each line quotes a message, or states what tool calls did, with
the events it rests on.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import islice, pairwise

from memtui.model.events import Event, EventRole, EventType
from memtui.model.quantities import plural
from memtui.summarize import tool_actions, tool_results
from memtui.summarize.session_work import CONTINUED, FileChange, file_name
from memtui.summarize.tool_actions import CardLine
from memtui.summarize.tool_results import TestCounts
from memtui.text import analyzer, cues, titles
from memtui.text.prose import (
    Sentence,
    message_sentences,
    shorten,
    shorten_to_sentences,
    strip_markup,
)

LINE_CHARS = 240
"""The maximum length of a line."""

MAX_DECISIONS, MAX_LEFT_OPEN = 4, 5
"""The maximum number of lines of each kind."""

MAX_FILES_NAMED = 4
"""The maximum number of files in a line about what was not committed."""

LATE_SHARE = 0.6
"""A request after this share of the events does not describe those before it."""

REPORT_WORDS = 12
"""A message of the agent with at least this many content words can be a report."""

REPORTS_READ = 3
"""The number of last reports that are searched for the outcome and for what is open."""

MIN_OUTCOME_SCORE = 0.0
"""A sentence with a lower score is no better outcome than the subject of a commit."""

CAUSE_SCORE = 0.75
"""What a sentence about the cause is worth more as a note than as an outcome."""

REQUEST_CHARS = 200
"""The start of a request shows whether it asks for a commit or a push."""


class WorkState(StrEnum):
    """The outcome of a piece of work."""

    DONE = "done"
    PUSHED = "pushed"
    MERGED = "merged"
    ANSWERED = "answered"
    OPEN = "open"
    FAILED = "failed"
    ABANDONED = "abandoned"


@dataclass(frozen=True, slots=True)
class Card:
    """The facts about a piece of work that a colleague would want to know."""

    title: str
    state: CardLine
    asked: CardLine | None = None
    outcome: CardLine | None = None
    decisions: tuple[CardLine, ...] = ()
    left_open: tuple[CardLine, ...] = ()
    commits: tuple[CardLine, ...] = ()
    pull_requests: tuple[CardLine, ...] = ()
    tests: CardLine | None = None
    files: tuple[tuple[FileChange, int], ...] = ()
    """The changed files, most lines first, each with the event of its last change."""


@dataclass(slots=True)
class _Work:
    """The events of a run, sorted by what they are."""

    events: Sequence[Event]
    is_in_repository: bool = False
    """True if a Git branch was recorded."""
    requests: list[int] = field(default_factory=list)
    """The messages of the user."""
    replies: list[int] = field(default_factory=list)
    """The messages of the agent."""
    calls: list[int] = field(default_factory=list)
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


def make_card(
    events: Sequence[Event],
    earlier_prompts: Sequence[Event] = (),
    agent_title: str = "",
    *,
    is_in_repository: bool = False,
) -> Card:
    """Make the card of a run of events.

    Args:
        events: The events in order.
        earlier_prompts: The user's last messages before, the latest first: one of them
            names the work if nothing here does.
        agent_title: The title that the agent gave the session, if this is its start.
        is_in_repository: Whether the session recorded a Git branch.
    """
    work = _read(events, is_in_repository=is_in_repository)
    commits = tool_actions.find_commits(events)
    state = _state(work, commits)
    left_open = _left_open(work, commits, state)
    outcome = None
    if state.text == WorkState.ABANDONED:
        outcome = _undoing(work, state.refs[0])
    outcome = outcome or _outcome(work, commits, [line.text for line in left_open])
    return Card(
        title=agent_title
        or _title(work, commits, is_continued=bool(earlier_prompts))
        or _earlier_title(earlier_prompts)
        or _plain_title(work, outcome),
        state=state,
        asked=_asked(work),
        outcome=outcome,
        decisions=tuple(_decisions(work)),
        left_open=tuple(left_open),
        commits=tuple(commits),
        pull_requests=tuple(_pull_requests(work)),
        tests=_tests(work),
        files=tuple(_files(work)),
    )


def _read(events: Sequence[Event], *, is_in_repository: bool = False) -> _Work:
    work = _Work(events, is_in_repository)
    for at, event in enumerate(events):
        if event.subagent:
            continue
        if event.event_type is EventType.TOOL_RESULT:
            work.calls.append(at)
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


def _interruption(work: _Work) -> int:
    """Return the interruption of the last request, if nothing followed; else -1."""
    for at in sorted((*work.requests, *work.notices), reverse=True):
        if _INTERRUPTED.match(work.events[at].text):
            later = (*work.requests, *work.replies, *work.calls)
            return at if at >= max(later, default=-1) else -1
    return -1


def _interrupted_request(work: _Work) -> int:
    """Return the last request if it was interrupted and followed others; else -1."""
    cut = _interruption(work)
    known = [at for at in work.requests if at < cut and work.content(at) > 1]
    return known[-1] if len(known) > 1 else -1


# Title and request


_BY_AGENT = re.compile(r"i(?:'ve| have)? (?:successfully )?(?=\w{3,}ed\b)", re.I)


def _title(work: _Work, commits: Sequence[CardLine], *, is_continued: bool) -> str:
    """Name the work by its first real request, else by the subject of a commit.

    In a segment that goes on with earlier work, a late request does not name it.
    """
    end = LATE_SHARE * len(work.events) if is_continued else len(work.events)
    for at in (one for one in work.requests if one <= end):
        if title := titles.request_title(work.events[at].text):
            return title
    return titles.tidy_title(commits[-1].text) if commits else ""


def _earlier_title(prompts: Sequence[Event]) -> str:
    """Return the title of the request that the work continues; "" if there is none."""
    for event in prompts:
        if title := titles.request_title(event.text):
            limit = titles.TITLE_CHARS - len(CONTINUED)
            return titles.shorten_title(title, limit) + CONTINUED
    return ""


def _plain_title(work: _Work, outcome: CardLine | None) -> str:
    """Name the work by a short request, by its result, else by what calls did."""
    for at in work.requests:
        if title := titles.plain_title(work.events[at].text):
            return title
    if outcome and _RESULT.match(outcome.text):
        return titles.tidy_title(_BY_AGENT.sub("", outcome.text))
    found = tool_actions.summarize_calls(work.events) or outcome
    return titles.shorten_title(found.text) if found else ""


def _leads_in(text: str) -> bool:
    """Return whether a sentence only introduces what follows it."""
    return text.endswith((":", "："))


_COMMAND_OF_AGENT = re.compile(r"\s*/[\w:-]+(?:\s+\S*[./]\S*)*\s*")
"""A command of the agent, which may have files or a model: "/add src/app.py"."""


def _asked(work: _Work) -> CardLine | None:
    for at in work.requests:
        if _COMMAND_OF_AGENT.fullmatch(work.events[at].text):
            continue
        line = _request_line(work, at)
        if analyzer.count_content_words(line) >= titles.MIN_CONTENT_WORDS:
            return CardLine(shorten_to_sentences(line, LINE_CHARS), (at,))
    return None


def _request_line(work: _Work, at: int) -> str:
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


# Outcome

_ASIDE = re.compile(
    r"\b(?:pre-existing|unrelated|not (?:related|caused|due) (?:to|by)|already in the"
    r"|still running|was committed"
    r"|both point|(?:committed|pushed) successfully|working tree|line \d+:"
    r"|(?:on|at) lines? ~?\d)"
    r"|^(?:commit )?(?:committed|pushed)\b"
    r"|^all\b[^.,]{0,40}\b(?:addressed|resolved|fixed|completed?|implemented)\b",
    re.IGNORECASE,
)
"""A sentence about something else than the result, or one that fits any work."""

_ALL_PASS = re.compile(
    r"\b(?:all|every)\b[^.;]{0,30}\btests?\b[^.;]{0,20}\b(?:pass|green|succe)"
    r"|\btests? (?:now )?(?:all )?(?:pass\b|are (?:all )?(?:green|passing))"
    r"|\balle\b[^.;]{0,20}\btests?\b[^.;]{0,30}\b(?:durch|grün|bestanden|erfolgreich)"
    r"|\bвсе\b[^.;]{0,20}\bтест\w*[^.;]{0,20}\b(?:проход|прошл|зел[её]н)",
    re.IGNORECASE,
)
"""A claim that all tests pass."""

_CAUSE = re.compile(
    r"\broot cause\b|\bthe (?:issue|problem|failure|bug) (?:is|was)\b", re.IGNORECASE
)
"""A sentence about the cause: worth a line, but not the result."""

_STEP = re.compile(r"\b(?:so|and|before) i(?:'|’)(?:m|ll) (?:now )?\w", re.IGNORECASE)
"""A sentence about the next step of the work: "main is behind, so I'll rebase"."""

_QUOTATION = re.compile(r"[\"“«][^\"”»]*[\"”»]\W*")
"""The words of somebody else: what a file or the user says."""

_HASH = re.compile(r"`?[0-9a-f]{7,40}\b")

_NO_STATEMENT = re.compile(
    r"(?:wait|hmm+|ah+)\b|wrong \w+(?: \w+)? again\b|(?:in )?lines? \d+\b"
    r"|(?:\w+ )?(?:issue|bug|problem|step|phase|option|finding) #?\d+:",
    re.IGNORECASE,
)
"""The beginning of a thought, of a note on a line of code or of a heading."""

_RESULT = re.compile(
    r"\W*(?:the (?:fix|change|solution)\b|now\b"
    r"|(?:i(?:'ve| have)? )?(?:successfully )?(?:fixed|added|removed|replaced|created"
    r"|updated|implemented|renamed|moved|extracted|wrote|found)\b)",
    re.IGNORECASE,
)

_LINE_NUMBERS = re.compile(r"\s*\((?:at )?lines? ~?\d[\d\-–, ]*\)")


def _reports(work: _Work, since: int, until: int) -> list[int]:
    """Return the agent's messages that report what was done, the last one first.

    They are searched between two events; a later one may be the first.
    """
    found: list[int] = []
    for at in reversed([one for one in work.replies if one < until]):
        if at < since and found:
            break
        lines = [one for one in work.sentences[at] if not _is_progress_note(one.text)]
        words = sum(analyzer.count_content_words(one.text) for one in lines)
        is_last = lines and _ends_turn(work, at) and not _replies_to_notice(work, at)
        if words >= REPORT_WORDS or is_last:
            found.append(at)
    return found[:REPORTS_READ]


def _closing_reports(work: _Work) -> list[int]:
    """Return the reports that follow the last request with content."""
    return _reports(work, max(_real_requests(work), default=-1), len(work.events))


def _main_reports(work: _Work) -> list[int]:
    """Return the reports on the last request for which files were changed.

    A question about the work follows many a change; its answer is not the outcome,
    nor is what was said before an interruption, if earlier requests were done.
    """
    cut = _interrupted_request(work)
    end = cut if cut >= 0 else len(work.events)
    starts = [at for at in _real_requests(work) if at < end]
    for since, until in reversed(list(pairwise((*starts, end)))):
        if any(tool_results.file_changes(one) for one in work.events[since:until]):
            return _reports(work, since, until)
    return _closing_reports(work)


def _real_requests(work: _Work) -> list[int]:
    """Return the requests that say more than "commit" or "continue"."""
    return [at for at in work.requests if work.content(at) >= titles.MIN_REQUEST_WORDS]


def _ends_turn(work: _Work, at: int) -> bool:
    """Return whether the user, a program or nothing follows a message."""
    later = min((one for one in work.places if one > at), default=-1)
    return later < 0 or later in work.requests or later in work.notices


def _is_working_note(work: _Work, at: int, text: str) -> bool:
    """Return whether the agent notes something between two calls, but no result."""
    return not (_ends_turn(work, at) or _RESULT.match(text))


def _replies_to_notice(work: _Work, at: int) -> bool:
    """Return whether a message only responds to one of a program."""
    return max((one for one in work.places if one < at), default=-1) in work.notices


def _is_progress_note(text: str) -> bool:
    return (
        cues.is_announcement(text) is not None
        or cues.is_pleasantry(text) is not None
        or _STEP.search(text) is not None
        or _leads_in(text)
    )


def _is_single_word(text: str) -> bool:
    """Return whether a text is a path or another single word."""
    return text.isascii() and " " not in text


def _asks(sentence: str) -> bool:
    return sentence.rstrip().endswith(("?", "？"))


def _outcome(
    work: _Work, commits: Sequence[CardLine], left_open: Sequence[str]
) -> CardLine | None:
    """Quote the best sentence about the result from the last reports.

    Args:
        work: The events.
        commits: The commits made.
        left_open: Sentences about what remains to be done.
    """
    has_failing_run = _has_failing_run(work)
    found = [
        (score - 0.15 * age - 0.3 * _is_working_note(work, at, text), -at, text)
        for age, at in enumerate(_main_reports(work))
        for text, score in _results(work.sentences[at])
        if not (age and _is_setback(text))
        and not _DECIDED.match(text)
        and not (has_failing_run and _ALL_PASS.search(text))
        and shorten_to_sentences(text, LINE_CHARS) not in left_open
    ]
    score, place, text = max(found, default=(-1.0, 0, ""))
    if text and (score >= MIN_OUTCOME_SCORE or not commits):
        line = _LINE_NUMBERS.sub("", text)
        return CardLine(shorten_to_sentences(line, LINE_CHARS), (-place,))
    if commits:
        return commits[-1]
    last = work.replies[-1:]
    for one in (one.text for at in last for one in work.sentences[at]):
        if analyzer.count_content_words(one) and not (
            _is_progress_note(one)
            or _is_single_word(one)
            or cues.is_agent_error(one)
            or _DECIDED.match(one)
            or (has_failing_run and _ALL_PASS.search(one))
            or one in left_open
        ):
            return CardLine(shorten(one, LINE_CHARS), tuple(last))
    return None


def _undoing(work: _Work, since: int) -> CardLine | None:
    """Quote what the agent says about work that was undone, if it says so."""
    for at in (one for one in work.replies if one >= since):
        for one in work.sentences[at]:
            if _UNDONE.search(one.text) and not (
                _is_progress_note(one.text) or _asks(one.text)
            ):
                return CardLine(shorten_to_sentences(one.text, LINE_CHARS), (at,))
    return None


def best_sentences(events: Sequence[Event]) -> Iterator[tuple[CardLine, float]]:
    """Yield the sentences of the messages that say most with scores, best first."""
    work = _read(events)
    final = work.replies[-1] if work.replies else -1
    has_failing_run = _has_failing_run(work)
    found: list[tuple[float, int, str]] = []
    for at in work.replies or work.requests:
        for text, score in _results(work.sentences[at]):
            if len(text) > 2 * LINE_CHARS or (at < final and _is_setback(text)):
                continue
            if has_failing_run and _ALL_PASS.search(text):
                continue
            if _is_working_note(work, at, text):
                score = min(score, 0.0)
            elif _CAUSE.search(text):
                score += CAUSE_SCORE
            found.append((score, -at, text))
    for score, place, text in sorted(found, reverse=True):
        yield CardLine(shorten_to_sentences(text, LINE_CHARS), (-place,)), score


def _results(sentences: Sequence[Sentence]) -> Iterator[tuple[str, float]]:
    """Yield sentences with a score of how well they say what came of the work."""
    is_first = True
    for place, one in enumerate(sentences):
        words = analyzer.count_content_words(one.text)
        if words < titles.MIN_CONTENT_WORDS or not _can_be_result(one):
            continue
        is_aside = cues.is_routine(one.text) or any(
            cue.search(one.text) for cue in (_ASIDE, _CAUSE)
        )
        score = min(cues.wording_score(one.text), 0.4) - 0.02 * place
        if not is_aside:
            score += 0.3 * is_first + 0.25 * (_RESULT.match(one.text) is not None)
        score -= 0.5 * is_aside + 0.3 * one.is_heading + 0.3 * (words < 4)
        is_first = is_first and is_aside
        yield one.text, score - 0.1 * cues.needs_context(one.text)


_SETBACK = re.compile(
    r"\b(?:fail(?:s|ed|ing)?|refused|rejected|timed out|crash(?:es|ed)|does(?:n't| not)"
    r" work|(?:could|can)(?:n't|not| not)|unable to|broken|errors? out)\b",
    re.IGNORECASE,
)


def _is_setback(text: str) -> bool:
    """Return whether a sentence says that a step failed, without a cause or remedy."""
    return _SETBACK.search(text) is not None and not _REASON_OR_FIX.search(text)


_REASON_OR_FIX = re.compile(
    r"\b(?:fix\w*|root cause|the (?:cause|reason)|turned out|was that|solved|resolved"
    r"|no longer|now)\b",
    re.IGNORECASE,
)


def _can_be_result(one: Sentence) -> bool:
    return not (
        _is_progress_note(one.text)
        or cues.is_agent_error(one.text)
        or cues.is_log_line(one.text)
        or _is_single_word(one.text)
        or _QUOTATION.fullmatch(one.text)
        or _HASH.match(one.text)
        or _NO_STATEMENT.match(one.text)
        or cues.is_offer(one.text)
        or _asks(one.text)
    )


# State

_INTERRUPTED = re.compile(r"\s*\[Request interrupted")
_UNDONE = re.compile(
    r"\b(?:revert|roll(?:ed|ing)?\b.{0,40}\bback|undid|undone|discard|abort|cancel"
    r"|abandon|park(?:ed)?\b|give up|closed\b|dropped|back to|verworfen|rückgängig"
    r"|zurückgesetzt|abgebrochen|отмен|откат|откачен|возвра)",
    re.IGNORECASE,
)
"""A sentence about work that was undone or given up."""

_AGENT_GIVES_UP = re.compile(r"\W*(?:i|we) give up\b|let's park (?:this|it)\b", re.I)
_GO_ON = r"\W*(?:please |ok(?:ay)?,? |now |then |and |yes,? )*"
_WANTS_COMMIT = re.compile(rf"{_GO_ON}commit\b", re.IGNORECASE)
_WANTS_PUSH = re.compile(rf"{_GO_ON}(?:commit and )?push\b", re.IGNORECASE)
_SAYS_COMMITTED = re.compile(r"\bcommitted\b", re.IGNORECASE)
_BLOCKED = re.compile(
    r"\b(?:fail\w*|error\w*|block\w*|can(?:'t|not) (?:proceed|continue))\b|--no-verify",
    re.IGNORECASE,
)
_PROBLEMS = re.compile(
    r"\bstill (?:fails?|failing|broken|not work\w*)|\bnot fixable\b|\bgave up\b"
    r"|\bremaining (?:issues?|errors?|problems?|failures?)\b|\bunable to\b"
    r"|\bcould(?:n't| not) (?:fix|solve|complete|finish|resolve)\b",
    re.IGNORECASE,
)
_UNRELATED = re.compile(
    r"\b(?:pre-existing|unrelated|not (?:related|caused|due)|already fail\w*|flaky"
    r"|on main too|already in the working tree|(?:is|that's) expected)\b",
    re.IGNORECASE,
)
"""A sentence about what the work did not cause, or what is as it should be."""

_CONDITION = re.compile(r"\W*(?:if|unless|in case|falls|si|если)\b|如果", re.I)

_FAILED_RUN = re.compile(r"\bfailed (?:at|in|because|with)\b|[–—-] failed\b", re.I)


def _state(work: _Work, commits: Sequence[CardLine]) -> CardLine:
    """Derive how the work ended, with the event that shows it."""
    last, closing = work.last, work.replies[-1] if work.replies else -1
    if (cut := _interruption(work)) >= 0:
        is_put_off = work.farewell > cut
        return CardLine(WorkState.OPEN if is_put_off else WorkState.ABANDONED, (cut,))
    if last in work.requests:
        if _gives_up(work, last):
            return CardLine(WorkState.ABANDONED, (last,))
        if work.content(last) or not work.replies:
            return CardLine(WorkState.OPEN, (last,))
    if last in work.replies and _is_agent_error(work, last):
        has_answered = not all(_is_agent_error(work, at) for at in work.replies)
        state = WorkState.OPEN if has_answered else WorkState.FAILED
        return CardLine(state, (last,))
    if (given_up := _given_up(work, commits)) >= 0:
        return CardLine(WorkState.ABANDONED, (given_up,))
    last_commit = commits[-1].refs[-1] if commits else -1
    pushes = _find_calls(work, tool_results.was_pushed)
    if (missing := _missing_step(work, last_commit, pushes)) is not None:
        return CardLine(WorkState.OPEN, (missing,))
    if failed_push := _failed_push(work):
        return CardLine(WorkState.OPEN, failed_push.refs)
    if _breaks_off(work) or _reports_problems(work, closing, is_pushed=bool(pushes)):
        return CardLine(WorkState.OPEN, (max(closing, 0) or last,))
    if merges := _find_calls(work, tool_results.was_merged):
        return CardLine(WorkState.MERGED, (merges[-1],))
    if pushes and pushes[-1] >= last_commit:
        return CardLine(WorkState.PUSHED, (pushes[-1],))
    failed = _failing_run(work, closing)
    if failed > last_commit:
        return CardLine(WorkState.FAILED, (failed,))
    if commits:
        return CardLine(WorkState.DONE, (last_commit,))
    has_effect = any(
        tool_results.file_changes(work.events[at])
        or tool_results.has_created(work.events[at])
        or tool_results.was_deployed(work.events[at])
        for at in work.calls
    )
    state = WorkState.DONE if has_effect else WorkState.ANSWERED
    return CardLine(state, (max(closing, 0),))


def _gives_up(work: _Work, at: int) -> bool:
    """Return whether a message of the user starts by giving the work up."""
    return any(cues.gives_up(one.text) for one in work.sentences[at][:2])


def _given_up(work: _Work, commits: Sequence[CardLine]) -> int:
    """Return the event that undid or gave up the work, if nothing followed; else -1."""
    undone = _last_undoing(work, commits)
    words = [at for at in work.requests if _gives_up(work, at)]
    if words and words[-1] >= max(_real_requests(work), default=-1):
        undone = max(undone, words[-1])
    elif any(
        _AGENT_GIVES_UP.match(one.text)
        for one in work.sentences.get(work.last, [])
        if work.last in work.replies
    ):
        undone = work.last
    later = (at for at in work.calls if at > undone)
    is_final = not any(
        tool_results.file_changes(work.events[at])
        or (
            tool_actions.commit_subjects(work.events[at])
            and not tool_results.was_reverted(work.events[at])
        )
        or tool_results.was_merged(work.events[at])
        for at in later
    )
    return undone if is_final else -1


def _last_undoing(work: _Work, commits: Sequence[CardLine]) -> int:
    """Return the last call that left nothing of the work; -1 if there is none."""
    reverts = _find_calls(work, tool_results.was_reverted)
    closed = _find_calls(work, tool_results.was_closed)
    made = [at for at in work.calls if tool_results.file_changes(work.events[at])]
    if (commits or made) and not any(_pull_requests(work)):
        closed = []  # A pull request of other work.
    if reverts or closed:
        subjects = [line.text for line in commits]
        kept = [
            one
            for one in subjects
            if not one.startswith("Revert ") and f'Revert "{one}"' not in subjects
        ]
        if closed or not kept or len(reverts) >= len(kept):
            return max((*reverts, *closed))
    if not commits and made and not _kept_changes(work, -1):
        discards = (at for at in work.calls if at > made[0])
        return max(
            at
            for at in discards
            if any(
                tool_results.is_discarded(one.path, work.events[at])
                for change in made
                for one in tool_results.file_changes(work.events[change])
            )
        )
    return -1


def _kept_changes(work: _Work, since: int) -> dict[str, int]:
    """Return the files changed after an event and not discarded, with their calls."""
    found: dict[str, int] = {}
    for at in (one for one in work.calls if one > since):
        event = work.events[at]
        kept = {
            path: place
            for path, place in found.items()
            if not tool_results.is_discarded(path, event)
        }
        new = dict.fromkeys((one.path for one in tool_results.file_changes(event)), at)
        found = kept | new
    return found


def _is_agent_error(work: _Work, at: int) -> bool:
    """Return whether a message of the agent only says that its model failed."""
    found = [one.text for one in work.sentences[at]] or [work.events[at].text.strip()]
    return all(map(cues.is_agent_error, found))


def _failing_run(work: _Work, closing: int) -> int:
    """Return the last test run if it failed and nobody dismissed that; else -1."""
    runs = _test_runs(work)
    if not runs or not runs[-1][1].failed:
        return -1
    lines = (one.text for one in work.sentences.get(closing, []))
    return -1 if any(map(_UNRELATED.search, lines)) else runs[-1][0]


def _find_calls(work: _Work, is_wanted: Callable[[Event], bool]) -> list[int]:
    return [at for at in work.calls if is_wanted(work.events[at])]


def _failed_push(work: _Work) -> CardLine | None:
    """Return the error of the last push; None if it succeeded or nobody pushed."""
    for at in reversed(work.calls):
        if tool_results.was_pushed(work.events[at]):
            return None
        if error := tool_results.push_error(work.events[at]):
            return CardLine(shorten(f"The push failed: {error}", LINE_CHARS), (at,))
    return None


def _missing_step(work: _Work, last_commit: int, pushes: Sequence[int]) -> int | None:
    """Return the request for a commit or push that did not come about."""
    for at in work.requests:
        start = work.events[at].text[:REQUEST_CHARS]
        if _WANTS_PUSH.match(start) and not any(one > at for one in pushes):
            return at
        if _WANTS_COMMIT.match(start) and last_commit < at:
            later = (one for one in work.replies if one > at)
            lines = (one.text for reply in later for one in work.sentences[reply])
            if not any(map(_SAYS_COMMITTED.search, lines)):
                return at
    return None


def _breaks_off(work: _Work) -> bool:
    """Return whether the agent was still at work, or asked something, at the end."""
    event = work.events[work.last]
    if work.last in work.calls:
        is_end = tool_actions.commit_subjects(event) or tool_results.was_pushed(event)
        return not is_end
    sentences = work.sentences.get(work.last, [])
    if work.last not in work.replies or not sentences:
        return False
    ending = sentences[-1].text
    if cues.is_announcement(ending) and len(sentences) <= 2:
        return True
    if not _asks(ending):
        return False
    if _BLOCKED.search(event.text):
        return True
    has_failed = bool(work.calls) and work.events[work.calls[-1]].is_failed
    return has_failed and not _POLITE_QUESTION.search(ending)


def _reports_problems(work: _Work, closing: int, *, is_pushed: bool) -> bool:
    """Return whether the closing message says what does not work."""
    return any(
        (_PROBLEMS.search(one.text) and not _NOTHING_LEFT.search(one.text))
        or (is_pushed and _FAILED_RUN.search(one.text))
        for one in work.sentences.get(closing, [])
    )


# Facts


def _pull_requests(work: _Work) -> Iterator[CardLine]:
    for at in work.calls:
        if text := tool_results.created_pull_request(work.events[at]):
            yield CardLine(text, (at,))


def _has_failing_run(work: _Work) -> bool:
    """Return whether tests failed in the last run."""
    runs = _test_runs(work)
    return bool(runs) and runs[-1][1].failed > 0


def _test_runs(work: _Work) -> list[tuple[int, TestCounts]]:
    return [
        (at, counts)
        for at in work.calls
        if (counts := tool_results.count_tests(work.events[at]))
    ]


def _tests(work: _Work) -> CardLine | None:
    """Describe the last test run, and the first one that failed before it."""
    runs = _test_runs(work)
    if not runs:
        return None
    last_at, last = runs[-1]
    for at, counts in runs[:-1]:
        if counts.failed and counts != last:
            return CardLine(f"{counts} → {last}", (at, last_at))
    return CardLine(str(last), (last_at,))


def _files(work: _Work) -> list[tuple[FileChange, int]]:
    found: dict[str, tuple[FileChange, int]] = {}
    for at in work.calls:
        for one in tool_results.file_changes(work.events[at]):
            change = found[one.path][0] + one if one.path in found else one
            found[one.path] = change, at
    return sorted(found.values(), key=lambda one: -(one[0].added + one[0].removed))


# Decisions

_REASON = re.compile(
    r"\b(?:because|so that|since|to avoid|in order to|otherwise|потому|чтобы|weil"
    r"|damit|porque|parce que)\b|因为",
    re.IGNORECASE,
)

_CHOICE = re.compile(
    r"\b(?:instead of|rather than|prefer|keep|use\b|using|go with|left out|dropped"
    r"|switch(?:ed|ing)? to|вместо|statt)|采用|而不是",
    re.IGNORECASE,
)

_LETS = re.compile(r"(?:(?:ok(?:ay)?|so|then|yes|now),? )*let(?:'|’)?s ", re.IGNORECASE)
"""The beginning of a proposal, which is a decision if it gives its reason."""

_DECISION = re.compile(
    r"\b(?:decid(?:ed|e to)|chose|opted|went with|agreed|решил|entschied)|^decision:"
    r"|决定|选择",
    re.IGNORECASE,
)
"""A sentence with one of these is a decision even without its reason."""


_DECIDED = re.compile(
    r"\W*(?:(?:we|i)(?:'ve| have)? (?:decided|chose|opted|agreed|went with)\b|decision:"
    r"|(?:wir|ich) haben? (?:uns|mich) .*\bentschieden|(?:мы |я )?решил[аи]?\b)",
    re.IGNORECASE,
)
"""The beginning of a sentence that states a decision, and no result."""

_USER_CHOICE = re.compile(
    r"\W*(?:(?:ok(?:ay)?|so|then|hm+|no|actually|please|good|yes|gut|ja|nein|also|dann"
    r"|хорошо|нет|тогда)\b\W*)*"
    r"(?:(?:let's )?(?:switch|change|move) to\b|.{0,60}(?:\binstead\b|\brather than\b"
    r"|\bstatt\b|\bвместо\b)|переходим на\b|wir wechseln (?:zu|auf)\b)",
    re.IGNORECASE,
)
"""A choice of the user in reply to earlier work: "Then SQLite instead of files."."""


def _is_decision(work: _Work, at: int, text: str) -> bool:
    """Return whether a sentence decides something."""
    if _DECISION.search(text) or (_REASON.search(text) and _CHOICE.search(text)):
        return True
    is_reply = at in work.requests[1:]
    return is_reply and not _asks(text) and _USER_CHOICE.match(text) is not None


def _decisions(work: _Work) -> list[CardLine]:
    """Quote the sentences that decide something, in order.

    One that a later sentence revokes is left out.
    """
    found: list[tuple[float, int, int, str]] = []
    later: list[str] = []
    for at in sorted((*work.replies, *work.requests), reverse=True):
        known, later = later, [*later, *(one.text for one in work.sentences[at])]
        for place, one in enumerate(work.sentences[at]):
            proposed = replace(one, text=_LETS.sub("", one.text, count=1))
            if one.is_heading or not _can_be_result(proposed):
                continue
            if len(one.text) > LINE_CHARS:
                continue
            if not _is_decision(work, at, one.text):
                continue
            if any(cues.revokes(text, one.text) for text in known):
                continue
            words = analyzer.count_content_words(one.text)
            is_short = words <= titles.MIN_REQUEST_WORDS
            if not is_short or (words > 1 and at in work.requests):
                score = cues.wording_score(proposed.text)
                found.append((-score, at, place, one.text))
    best = sorted(found)[:MAX_DECISIONS]
    ordered = sorted(best, key=lambda one: one[1:3])
    return [CardLine(text, (at,)) for _, at, _, text in ordered]


# What is left open

_LEFT = re.compile(
    r"\b(?:still (?:needs?|needed|to|has to|have to|must|open|remain\w*|un\w+ed)"
    r"|remain(?:s|ing)? (?:to|un\w+ed|open|incomplete|missing)|remains?(?=\W*$)"
    r"|remaining (?:work|steps?|tasks?|issues?|items?|problems?)"
    r"|not yet|(?:not|n't)\b[^.;]{1,60}\byet|yet to|to-?do|next steps?|follow-?ups?"
    r"|needs? (?:to be|another|more|a (?:follow-?up|decision|review))|out of scope"
    r"|for later|left for (?:you|another|the next)"
    r"|you(?:'ll| will)? (?:still )?(?:need|have) to|later on|pending|only queued"
    r"|(?:don't|do not) forget to|remember to"
    r"|must (?:still |first )?be (?:added|set|done|configured|updated|migrated|created"
    r"|installed|enabled|approved|granted|renewed)"
    r"|still missing|(?:but|and) not (?:yet )?(?:pushed|committed|tested|deployed)"
    r"|please \w+ .{1,60}\b(?:yourself|by hand|manually)"
    r"|stays? (?:modified|uncommitted)"
    r"|(?:is|are|was|were|been) (?:still )?not (?:pushed|committed|tested|run|done"
    r"|verified|checked|covered|included|fixed|published|updated|deployed|migrated)"
    r"|(?:is|are|was|were|remains?) (?:still )?(?:untested|unverified|uncommitted"
    r"|unfinished|unresolved|incomplete|missing|stale)"
    r"|(?:did|have|has|could)(?:n't| not) (?:\w+ )?(?:test|run|push|commit|verif"
    r"|check|fix|reproduc|confirm|publish|try|tried|deploy|updat|migrat|finish|complet|appl|merg)"
    r"\w*|can(?:'t|not) (?:test|verify|confirm)"
    r"|left (?:open|alone|untouched|as is)|what(?:'s| is) left|will need"
    r"|i (?:have )?skipped|needs? (?:a )?manual|you should (?:also|still)"
    r"|остал(?:ось|ись|ся)|оста[её]тся \w+ть(?:ся)?|ещ[её] не|предстоит|не успел\w*"
    r"|пока не \w+н[аоы]?"
    r"|нужно (?:ещ[её]|будет)|не (?:проверен|протестирован|обновл)\w*"
    r"|не (?:удалось|смогл?[аи]?) (?:про\w+|тест\w+|зап\w+|обнов\w+|исправ\w+)ть"
    r"|nicht (?:getestet|geprüft|aktualisiert)|noch (?:nicht|offen|zu \w+en)"
    r"|(?:wird|werden|ist|sind) noch (?!einmal\b|mal\b|immer\b)\w+"
    r"|fehl(?:t|en)(?=\W*$)|nicht (?:committet|gepusht|eingecheckt)"
    r"|ich brauche (?:von dir|noch)|пока нет|ещ[её] нет"
    r"|fehlt noch|steht noch aus|muss noch|müssen noch"
    r"|reste(?:nt)? à|pas encore|il faut encore|falta\w* (?:por )?\w+[aei]r|pendientes?"
    r"|no (?:he|hemos|pude|pudimos) (?:podido )?(?:prob|verific|actualiz|ejecut)\w+"
    r"|todavía no|aún no|ainda não|não (?:\w+ )?(?:test|verifi|atualiz)\w+"
    r"|pozostało|nie \w+no jeszcze|jeszcze nie)\b"
    r"|^(?:remaining|left to do|tomorrow|known (?:issues?|limitations?)|not done"
    r"|missing|(?:noch )?offen|nächste schritte|morgen|не сделано"
    r"|осталось|завтра|дальше)\s*:"
    r"|^not (?:tested|verified|checked|covered|implemented|deployed|run|pushed)\b"
    r"|待办|待完成|尚未|还没|还需要?|仍需|仍然需要|(?:没有|未)(?:测试|验证|完成|提交|更新)|需要手动"
    r"|まだ|未(?:実装|対応|テスト|確認)|아직|남아 있",
    re.IGNORECASE,
)

_OPEN_HEADING = re.compile(
    r"\b(?:next steps?|remaining|left|to-?do|open|follow-?ups?|still"
    r"|not (?:done|covered)|what you need|tomorrow|missing"
    r"|known (?:issues?|limitations?)|nächste schritte|(?:noch )?offen\w*|zu tun"
    r"|es fehlt"
    r"|не сделано|осталось|следующие шаги|дальше|prochaines étapes|próximos pasos)\b",
    re.IGNORECASE,
)

_PUT_OFF = re.compile(
    r"\b(?:(?:we|i|let's)\b.{0,40}\b(?:tomorrow|next (?:week|time|month|sprint)|later"
    r"|another day|on \w+day)|(?:wir|ich)\b.{0,40}\b(?:nächste\w* (?:woche|mal)|morgen"
    r"|später)"
    r"|(?:завтра|потом|позже|на следующей неделе) (?:мы |я )?\w+(?:ем|им|ю|у))\b",
    re.IGNORECASE,
)
"""A sentence of the user that puts something off."""

_FINISHED = re.compile(
    r"\b(?:all|now|already)\b.*\b(?:completed?|done|resolved|fixed)\W*$", re.IGNORECASE
)

_NOTHING_LEFT = re.compile(
    r"\b(?:no|nothing|none|without(?: any)?|aren't any|isn't any)\b[^.;,]{0,30}"
    r"\b(?:remain\w*|left|missing|pending|to-?dos?|follow-?ups?|needs?|still fail\w*)"
    r"|ничего не остал|не осталось|没有(?:剩余|遗留)",
    re.IGNORECASE,
)
"""A sentence that says that the work is complete."""

_POLITE_QUESTION = re.compile(
    r"\b(?:anything else|help (?:you )?with|would you like|want me to"
    r"|does (?:this|that) (?:help|look|work)|souhaitez-vous|voulez-vous|soll ich"
    r"|möchte(?:st du|n sie)|quieres que|te gustaría|хотите|хочешь)\b|需要我",
    re.IGNORECASE,
)

_CHECKS_HEADING = re.compile(
    r"^#+ *(?:\d+[.)] *)?(?:verif\w*|test(?:ing| plan)?|how to test|validation|checks?)"
    r"\b.*$",
    re.IGNORECASE | re.MULTILINE,
)
_NEXT_HEADING = re.compile(r"^#+ ", re.MULTILINE)
_CHECK_BY_HAND = re.compile(r"\s*(manual(?:ly)?\b.+)", re.IGNORECASE)
_CHECK = re.compile(r"\s*(?:[-*]|\d+[.)])\s+(?:\[ \]\s*)?(.+)")
_COMMENTED_COMMAND = re.compile(r"([\w./-]+ [^#]*?)\s+#\s*(.+)")
_TICKED = re.compile(r"`([^`]+ [^`]+)`")
_BY_HAND = re.compile(
    r"\b(?:manual(?:ly)?|visual(?:ly)?|in the browser|by hand|open the app|network tab"
    r"|inspect|confirm in|real repo\w*)\b",
    re.IGNORECASE,
)


def _left_open(
    work: _Work, commits: Sequence[CardLine], state: CardLine
) -> list[CardLine]:
    """Return what remains to be done, as far as messages or calls show it."""
    lines = (
        *_unanswered(work),
        *filter(None, [_failed_push(work)]),
        *_put_off(work),
        *_said_to_be_open(work),
        *_not_committed(work, commits, state),
        *_not_checked(work),
    )
    distinct = {line.text: line for line in reversed(lines)}
    return [one for one in lines if distinct.pop(one.text, None)][:MAX_LEFT_OPEN]


def _unanswered(work: _Work) -> Iterator[CardLine]:
    """Yield the last request or question, if nobody answered it."""
    if (cut := _interrupted_request(work)) >= 0:
        line = f"Interrupted: {_request_line(work, cut)}"
        yield CardLine(shorten_to_sentences(line, LINE_CHARS), (cut,))
    if work.last in work.requests and work.content(work.last):
        text = work.events[work.last].text
        if not (_INTERRUPTED.match(text) or _gives_up(work, work.last)):
            line = f"Not answered: {_request_line(work, work.last)}"
            yield CardLine(shorten_to_sentences(line, LINE_CHARS), (work.last,))
    parts = work.sentences.get(work.last, [])
    if work.last in work.replies and parts and _asks(parts[-1].text):
        question = parts[-1].text
        if not _POLITE_QUESTION.search(question):
            line = shorten(f"Not answered: {question}", LINE_CHARS)
            yield CardLine(line, (work.last,))


_GIT = re.compile(r"(?:cd \S+ && )?git ")


def _not_committed(
    work: _Work, commits: Sequence[CardLine], state: CardLine
) -> Iterator[CardLine]:
    """Yield a commit or push that was asked for in vain, and changes left out."""
    (shown,) = state.refs
    if state.text == WorkState.OPEN and shown in work.requests:
        start = work.events[shown].text[:REQUEST_CHARS]
        if _WANTS_PUSH.match(start):
            yield CardLine("The push that was asked for was not made", state.refs)
        elif _WANTS_COMMIT.match(start):
            yield CardLine("The commit that was asked for was not made", state.refs)
    last_commit = commits[-1].refs[-1] if commits else -1
    later = {
        file_name(path): at
        for path, at in _kept_changes(work, last_commit).items()
        if not path.startswith("/tmp/")
    }
    uses_git = work.is_in_repository or any(map(_GIT.match, work.commands))
    if later and (commits or (state.text == WorkState.DONE and uses_git)):
        names = ", ".join(islice(later, MAX_FILES_NAMED))
        refs = tuple(sorted(set(later.values())))
        count = plural(len(later), "changed file")
        verb = "is" if len(later) == 1 else "are"
        yield CardLine(f"{count} {verb} not committed: {names}", refs)
        return
    latest = [at for at in reversed(work.calls) if commits and at >= last_commit]
    for at in latest:
        if left := tool_results.modified_files(work.events[at].text):
            names = ", ".join(islice(dict.fromkeys(left), MAX_FILES_NAMED))
            yield CardLine(f"Left out of the commit: {names}", (at,))
            break
    for at in latest:
        if tool_results.was_pushed(work.events[at]):
            return
        if ahead := tool_results.commits_ahead(work.events[at].text):
            yield CardLine(f"Not pushed: {ahead}", (at,))
            return


def _said_to_be_open(work: _Work) -> Iterator[CardLine]:
    """Yield what the closing messages say remains to be done."""
    for at in sorted(_closing_reports(work)):
        if _is_worked_on_after(work, at):
            continue
        is_open_section = False
        for one in work.sentences[at]:
            if one.is_heading or (one.text.endswith(":") and len(one.text) < 60):
                is_open_section = _OPEN_HEADING.search(one.text) is not None
                continue
            if (
                cues.is_offer(one.text)
                or _asks(one.text)
                or _UNRELATED.search(one.text)
                or _CONDITION.match(one.text)
                or _FINISHED.search(one.text)
                or _NOTHING_LEFT.search(one.text)
                or cues.is_pleasantry(one.text)
                or cues.is_announcement(one.text)
            ):
                continue
            is_open = _LEFT.search(one.text) or _PROBLEMS.search(one.text)
            is_open_item = is_open_section and one.is_item
            if is_open or (is_open_item and not _RESULT.match(one.text)):
                line = shorten_to_sentences(one.text.rstrip(":"), LINE_CHARS)
                if analyzer.count_content_words(line):
                    yield CardLine(line, (at,))


def _is_worked_on_after(work: _Work, reply: int) -> bool:
    """Return whether calls follow a later request that is more than "commit"."""
    for at in (one for one in work.requests if one > reply):
        text = work.events[at].text[:REQUEST_CHARS]
        if _WANTS_COMMIT.match(text) or _WANTS_PUSH.match(text):
            continue
        if any(one > at for one in work.calls):
            return True
    return False


def _put_off(work: _Work) -> Iterator[CardLine]:
    """Yield what the user's last message puts off, if no work followed."""
    at = max(_real_requests(work), default=-1)
    if at < 0 or any(one > at for one in work.calls) or work.last == at:
        return
    if any(work.content(one) >= REPORT_WORDS for one in work.replies if one > at):
        return  # The agent answered a question.
    for text in (one.text for one in work.sentences[at]):
        words = analyzer.count_content_words(text)
        if (
            _PUT_OFF.search(text)
            and not _asks(text)
            and words >= titles.MIN_REQUEST_WORDS
        ):
            yield CardLine(shorten_to_sentences(text, LINE_CHARS), (at,))


def _not_checked(work: _Work) -> Iterator[CardLine]:
    """Yield the checks that a plan asks for and that no call did."""
    commands = work.commands
    for at in work.requests:
        for check in _planned_checks(work.events[at].text):
            line = strip_markup(check)
            named = _TICKED.findall(check)
            if _BY_HAND.search(line):
                yield CardLine(shorten(f"Not checked: {line}", LINE_CHARS), (at,))
            elif named and not any(_was_run(one, commands) for one in named):
                yield CardLine(shorten(f"Not run: {line}", LINE_CHARS), (at,))


def _planned_checks(plan: str) -> Iterator[str]:
    """Yield the steps of the last section of a plan about its verification."""
    headings = list(_CHECKS_HEADING.finditer(plan))
    if not headings:
        return
    section = _NEXT_HEADING.split(plan[headings[-1].end() :], maxsplit=1)[0]
    for row in section.splitlines():
        if item := _CHECK.match(row) or _CHECK_BY_HAND.match(row):
            yield item[1]
        elif step := _COMMENTED_COMMAND.match(row):
            yield f"{step[2]} (`{step[1].strip()}`)"


def _was_run(command: str, run: Sequence[str]) -> bool:
    """Return whether a command was run, perhaps with other options or in a folder."""
    words = command.split()
    parts = (command, " ".join(words[:3]), " ".join(words[-2:]))
    return any(part in line for line in run for part in parts)
