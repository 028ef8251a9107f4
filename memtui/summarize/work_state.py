"""Derive how a piece of work ended: done, pushed, open, failed, abandoned."""

import re
from collections.abc import Sequence
from enum import StrEnum

from memtui.summarize import tool_actions, tool_results
from memtui.summarize.tool_actions import CardLine
from memtui.summarize.work_events import (
    LINE_CHARS,
    REQUEST_CHARS,
    WANTS_COMMIT,
    WANTS_PUSH,
    WorkEvents,
    asks,
    find_calls,
    find_interruption,
    find_pull_requests,
    find_real_requests,
    find_remaining_changes,
    gives_up,
)
from memtui.text import cues
from memtui.text.prose import (
    shorten,
)


class WorkState(StrEnum):
    """The outcome of a piece of work."""

    DONE = "done"
    PUSHED = "pushed"
    MERGED = "merged"
    ANSWERED = "answered"
    OPEN = "open"
    FAILED = "failed"
    ABANDONED = "abandoned"


UNDONE = re.compile(
    r"\b(?:revert|roll(?:ed|ing)?\b.{0,40}\bback|undid|undone|discard|abort|cancel"
    r"|abandon|park(?:ed)?\b|give up|closed\b|dropped|back to|verworfen|rückgängig"
    r"|zurückgesetzt|abgebrochen|отмен|откат|откачен|возвра)",
    re.IGNORECASE,
)
"""A sentence about work that was undone or given up."""

_AGENT_GIVES_UP = re.compile(r"\W*(?:i|we) give up\b|let's park (?:this|it)\b", re.I)

_SAYS_COMMITTED = re.compile(r"\bcommitted\b", re.IGNORECASE)

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
        is_put_off = work.farewell > cut
        return CardLine(WorkState.OPEN if is_put_off else WorkState.ABANDONED, (cut,))
    if last in work.requests:
        if gives_up(work, last):
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
    pushes = find_calls(work, tool_results.was_pushed)
    if (missing := _missing_step(work, last_commit, pushes)) is not None:
        return CardLine(WorkState.OPEN, (missing,))
    if failed_push := find_failed_push(work):
        return CardLine(WorkState.OPEN, failed_push.refs)
    if _breaks_off(work) or _reports_problems(work, closing, is_pushed=bool(pushes)):
        return CardLine(WorkState.OPEN, (max(closing, 0) or last,))
    if merges := find_calls(work, tool_results.was_merged):
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


def _given_up(work: WorkEvents, commits: Sequence[CardLine]) -> int:
    """Return the event that undid or gave up the work, if nothing followed; else -1."""
    undone = _last_undoing(work, commits)
    words = [at for at in work.requests if gives_up(work, at)]
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
        tool_results.file_changes(work.events[at])
        or (
            tool_actions.commit_subjects(work.events[at])
            and not tool_results.was_reverted(work.events[at])
        )
        or tool_results.was_merged(work.events[at])
        for at in later
    )
    return undone if is_final else -1


def _last_undoing(work: WorkEvents, commits: Sequence[CardLine]) -> int:
    """Return the last call that left nothing of the work; -1 if there is none."""
    reverts = find_calls(work, tool_results.was_reverted)
    closed = find_calls(work, tool_results.was_closed)
    made = [at for at in work.calls if tool_results.file_changes(work.events[at])]
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
            for change in tool_results.file_changes(work.events[at])
        }
        return max(
            at
            for at in work.calls
            if tool_results.find_discarded(work.events[at], paths)
        )
    return -1


def _is_agent_error(work: WorkEvents, at: int) -> bool:
    """Return whether a message of the agent only says that its model failed."""
    found = [one.text for one in work.sentences[at]] or [work.events[at].text.strip()]
    return all(map(cues.is_agent_error, found))


def _failing_run(work: WorkEvents, closing: int) -> int:
    """Return the last test run if it failed and nobody dismissed that; else -1."""
    runs = work.test_runs
    if not runs or not runs[-1][1].failed:
        return -1
    lines = (one.text for one in work.sentences.get(closing, []))
    return -1 if any(map(UNRELATED.search, lines)) else runs[-1][0]


def find_failed_push(work: WorkEvents) -> CardLine | None:
    """Return the error of the last push; None if it succeeded or nobody pushed."""
    for at in reversed(work.calls):
        if tool_results.was_pushed(work.events[at]):
            return None
        if error := tool_results.push_error(work.events[at]):
            return CardLine(shorten(f"The push failed: {error}", LINE_CHARS), (at,))
    return None


def _missing_step(
    work: WorkEvents, last_commit: int, pushes: Sequence[int]
) -> int | None:
    """Return the request for a commit or push that did not come about."""
    for at in work.requests:
        start = work.events[at].text[:REQUEST_CHARS]
        if WANTS_PUSH.match(start) and not any(one > at for one in pushes):
            return at
        if WANTS_COMMIT.match(start) and last_commit < at:
            later = (one for one in work.replies if one > at)
            lines = (one.text for reply in later for one in work.sentences[reply])
            if not any(map(_SAYS_COMMITTED.search, lines)):
                return at
    return None


def _breaks_off(work: WorkEvents) -> bool:
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
    if not asks(ending):
        return False
    if _BLOCKED.search(event.text):
        return True
    has_failed = bool(work.calls) and work.events[work.calls[-1]].is_failed
    return has_failed and not POLITE_QUESTION.search(ending)


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
    r"|möchte(?:st du|n sie)|quieres que|te gustaría|хотите|хочешь)\b|需要我",
    re.IGNORECASE,
)
