"""Summarize a segment by quoting it: its card as a title and bullets.

The card says what was asked, what came of it, and what is left open. Nothing is worded
anew: each line quotes a message, or states what tool calls did, with the events it
rests on.

After a change of a rule, raise the version in ``rollup.IDENTITY``.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile, zip_longest

from memtui.model.calendar import TocLevel
from memtui.model.events import Event, EventRole
from memtui.model.nodes import BULLET_COUNTS, BulletKind, DraftBullet, Summary
from memtui.model.sessions import WorkState
from memtui.summarize import tool_actions
from memtui.summarize.left_open import find_left_open, find_open_items
from memtui.summarize.session_work import CONTINUED, MAX_FILES, FileChange, list_files
from memtui.summarize.tool_actions import CardLine
from memtui.summarize.work_events import (
    INTERRUPTED,
    LINE_CHARS,
    REQUEST_CHARS,
    RESULT,
    UNDONE,
    WorkEvents,
    asks,
    ends_turn,
    find_closing_reports,
    find_interrupted_request,
    find_pull_requests,
    find_real_requests,
    find_reports,
    find_state,
    is_overtaken,
    is_progress_note,
    read_work,
    request_line,
)
from memtui.text import analyzer, cues, orders, titles
from memtui.text.orders import TitleKind
from memtui.text.prose import (
    Sentence,
    shorten,
    shorten_to_sentences,
    strip_markup,
)
from memtui.text.titles import TITLE_CHARS

MAX_DECISIONS = 4
"""The maximum number of decisions."""

MAX_COMMANDS, RESULT_CHARS = 3, 90
"""The number of commands that are listed, and the maximum length of a result."""

SMALL_SHARE = 0.33
"""A request with a smaller share of the effort of the largest took little work."""

LONG_SHARE = 0.6
"""An answer with a smaller share of the length of the longest is a small one."""

ANSWER_CHARS = 500
"""So much text of the agent counts as much as an event."""

WISH_CHARS = 600
"""What is wanted is said in so much of the start of a request."""

LATE_SHARE = 0.6
"""A request after this share of the events does not describe those before it."""

MIN_OUTCOME_SCORE = 0.0
"""A sentence with a lower score is no better outcome than the subject of a commit."""

ANSWER_SCORE, MIN_ANSWER_SCORE = 0.5, -0.3
"""The score of the first sentence of an answer, if that of its wording is higher."""

OPENING, COMPLETED_SCORE = 3, 0.45
"""A message says in so many first sentences what was completed, and what that adds."""

CAUSE_SCORE = 0.75
"""Added to the score of a sentence about the cause where it is not the outcome."""


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
    commands: CardLine | None = None
    files: tuple[tuple[FileChange, int], ...] = ()
    """The changed files, most lines first, each with the event of its last change."""


def make_card(
    work: WorkEvents,
    earlier_prompts: Sequence[Event] = (),
    agent_title: str = "",
) -> Card:
    """Make the card of a piece of work.

    Args:
        work: Its events.
        earlier_prompts: The user's last messages before, the latest first: one of them
            names the work if nothing here does.
        agent_title: The title that the agent gave the session, if this is its start.
    """
    commits = tool_actions.find_commits(work.events)
    state = find_state(work, commits)
    left_open = find_left_open(work, commits, state)
    outcome = None
    if state.text == WorkState.ABANDONED:
        outcome = _undoing(work, state.refs[0])
    if outcome is None:
        is_answer = state.text == WorkState.ANSWERED
        known = [line.text for line in left_open]
        outcome = _outcome(work, commits, known, is_answer=is_answer)
    title = (
        _title(work, commits, is_continued=bool(earlier_prompts))
        or (_result_title(outcome) if earlier_prompts else "")
        or _earlier_title(work.events, earlier_prompts)
        or _plain_title(work, outcome)
    )
    return Card(
        title=agent_title or _explain_ticket(title, outcome),
        state=state,
        asked=_asked(work),
        outcome=outcome,
        decisions=tuple(_decisions(work)),
        left_open=tuple(left_open),
        commits=tuple(commits),
        pull_requests=tuple(find_pull_requests(work)),
        tests=_tests(work),
        commands=_commands(work),
        files=tuple(_files(work)),
    )


_ONLY_TICKET = re.compile(
    r"\w+ (?:[\w.-]+ )?(?:(?:issue|pull request|pr|bug|ticket) )?#\d+",
    re.IGNORECASE,
)
_ENSURES = re.compile(
    r"^(?:the|this) (?:fix|change|pr) (?:ensures|makes sure)(?: that)? ", re.IGNORECASE
)


def _explain_ticket(title: str, outcome: CardLine | None) -> str:
    """Add what came of the work to a title that only has the number of an issue."""
    if outcome is None or not _ONLY_TICKET.fullmatch(title):
        return title
    result = _ENSURES.sub("", _BY_AGENT.sub("", outcome.text))
    return titles.shorten_title(f"{title}: {result.rstrip('.')}")


_BY_AGENT = re.compile(r"^i(?:'ve| have)? (?:successfully )?(?=\w{3,}ed\b)", re.I)
"""The beginning of a sentence in which the agent says what it did."""


def _title(work: WorkEvents, commits: Sequence[CardLine], *, is_continued: bool) -> str:
    """Name the work by its first order, else by the subject of a commit.

    A problem or a wish names it if there is no commit. A question, a remark or what
    only prepares the work names it where there is nothing better. A request that took
    little work does not name it, nor does a late one in a segment that goes on with
    earlier work.
    """
    commit = _main_commit(commits)
    subject = titles.tidy_title(commit) if commit else ""
    requests = _find_named_requests(work, is_continued=is_continued)
    least = SMALL_SHARE * max((one.effort for one in requests), default=0.0)
    large = [one for one in requests if one.effort >= least]
    plan = next((one for one in large if one.is_plan), None)
    for one in large:
        is_whole = not one.title.endswith("…")
        if one.kind is TitleKind.ORDER:
            names_work = bool(is_whole or not commit or _CHORE.match(commit))
        else:
            is_problem = one.kind is TitleKind.STATEMENT and is_whole
            names_work = is_problem and bool(not commit or _MERGE.match(commit))
        if names_work:
            return one.title if one.kind is TitleKind.ORDER or not plan else plan.title
    if subject or not large:
        return subject
    return min(large, key=lambda one: (one.kind, -one.effort)).title


@dataclass(slots=True)
class _Request:
    """A request, and the effort that went into it."""

    kind: TitleKind
    title: str
    effort: float
    is_plan: bool


def _find_named_requests(work: WorkEvents, *, is_continued: bool) -> list[_Request]:
    """Return the requests that have a title.

    The effort counts events and the length of answers. That of a remark, of a request
    without a title, and of the approval of a proposal belongs to the request before.
    """
    end = LATE_SHARE * len(work.events) if is_continued else len(work.events)
    found: list[_Request] = []
    has_changed = True
    after = len(work.events)
    for at, following in zip_longest(work.requests, work.requests[1:], fillvalue=after):
        if at > end:
            break
        steps = range(at + 1, following)
        if following < after and _is_dropped(work, at, following):
            continue
        text = work.events[at].text
        replies = [work.events[one].text for one in work.replies if one in steps]
        effort = following - at + sum(map(len, replies)) / ANSWER_CHARS
        title = titles.request_title(text)
        kind = TitleKind.REMARK
        plan = _plan_name(work, steps) or (title if titles.plan_name(text) else "")
        if plan:
            title, kind = plan, TitleKind.ORDER
        elif found and not has_changed and _APPROVES.match(text):
            title = ""
        else:
            if title:
                kind = _find_kind(title, text, is_first=not found)
            restated = titles.restated_title(next(iter(replies), ""), text)
            if restated and not _is_clear(title, kind):
                title, kind = restated, min(kind, TitleKind.STATEMENT)
        if found and kind is TitleKind.REMARK:
            found[-1].effort += effort
        if title:
            found.append(_Request(kind, title, effort, bool(plan)))
        has_changed = _changes_files(work, steps)
    return found


_APPROVES = re.compile(
    r"\W*(?:yes|yep|yeah|yup|sure|ok(?:ay)?|go ahead|do it|sounds good|perfect|great|ja"
    r"|oui|s[ií]|sim|да|好的?|是的)(?!\w)",
    re.IGNORECASE,
)
"""Begins the answer to a proposal."""


def _is_dropped(work: WorkEvents, at: int, following: int) -> bool:
    """Return whether the next request replaces one, or whether the user interrupted the
    agent before it changed a file."""
    text, later = work.events[at].text, work.events[following].text
    is_unfinished = len(later) > len(text) and later.startswith(text.strip())
    if is_unfinished or _REPLACES.match(later):
        return True
    steps = range(at + 1, following)
    is_interrupted = any(
        INTERRUPTED.match(work.events[one].text) for one in work.notices if one in steps
    )
    has_changed = _changes_files(work, steps)
    return is_interrupted and not has_changed and titles.request_title(later) != ""


def _changes_files(work: WorkEvents, steps: range) -> bool:
    calls = (work.events[at] for at in work.calls if at in steps)
    return any(map(tool_actions.file_changes, calls))


def _is_clear(title: str, kind: TitleKind) -> bool:
    """Return whether a title is a whole order or wish."""
    is_wish = kind is TitleKind.STATEMENT and orders.wishes(title)
    return (kind is TitleKind.ORDER or is_wish) and not title.endswith("…")


def _plan_name(work: WorkEvents, steps: range) -> str:
    """Return the name of the last plan that the agent proposed in some events."""
    texts = [
        work.events[at].metadata.get("tool_input", "") or work.events[at].text
        for at in steps
        if at in work.replies
        or work.events[at].metadata.get("tool_name") == "ExitPlanMode"
    ]
    return next(filter(None, map(titles.proposed_plan_name, reversed(texts))), "")


_REPLACES = re.compile(
    r"(?:actually|no|wait|stop|never ?mind|forget (?:it|that|this))\b[,.!]*"
    r" (?:i(?:'m| am) not|i (?:don'?t|do not)|let'?s not|not)\b",
    re.IGNORECASE,
)
"""Begins a request that replaces the one before."""


_ASKS_POLITELY = re.compile(r"\b(?:(?:can|could|would) you|please)\b", re.IGNORECASE)


def _find_kind(title: str, text: str, *, is_first: bool) -> TitleKind:
    """Return the kind of a request; a later statement only answers or remarks.

    The first one is a wish, too, if its title was made from what leads to the wish.
    """
    kind = orders.find_kind(title)
    if not is_first:
        is_remark = kind is TitleKind.STATEMENT and not _ASKS_POLITELY.search(text)
        return TitleKind.REMARK if is_remark else kind
    is_statement = not (
        orders.is_order(title) or orders.has_vague_subject(title) or title[-1] in "?？"
    )
    leads_to_wish = is_statement and orders.wishes(text[:WISH_CHARS])
    return min(kind, TitleKind.STATEMENT) if leads_to_wish else kind


_MERGE = re.compile(r"Merge ")
_CHORE = re.compile(
    r"Merge |v?\d+\.\d+|(?:release|bump) |(?:build|chore|ci|docs|style|tests?)"
    r"(?:\([^)]*\))?!?:",
    re.IGNORECASE,
)


def _main_commit(commits: Sequence[CardLine]) -> str:
    """Return the subject of the commit with the most events since the one before.

    One that is no chore comes first. It is "" without commits.
    """
    places = [0, *(line.refs[-1] for line in commits)]
    steps = [end - start for start, end in pairwise(places)]
    is_work = [not _CHORE.match(line.text) for line in commits]
    ranked = zip(is_work, steps, [line.text for line in commits], strict=True)
    return max(ranked, key=lambda one: one[:2], default=(False, 0, ""))[2]


def _earlier_title(events: Sequence[Event], prompts: Sequence[Event]) -> str:
    """Return the title of the request that the work continues; "" if there is none.

    It is among the earlier messages of the user, or in the agent's recap of them. A
    question or a remark in between is not what the work continues.
    """
    found = [titles.request_title(event.text) for event in prompts]
    found += [
        titles.recap_title(event.text)
        for event in events
        if event.role is EventRole.SYSTEM
    ]
    known = list(filter(None, found))
    if title := min(known, key=_is_question_or_remark, default=""):
        limit = titles.TITLE_CHARS - len(CONTINUED)
        return titles.shorten_title(title, limit) + CONTINUED
    return ""


def _is_question_or_remark(title: str) -> bool:
    return asks(title) or orders.is_remark(title)


_ACHIEVED = re.compile(
    r"(?:i(?:'ve| have)? )?(?:successfully )?(?:fixed(?! by\b)|added|removed|replaced"
    r"|created|updated|implemented|renamed|moved|extracted|wrote|migrated|resolved)\b"
    r"|the fix: ",
    re.IGNORECASE,
)


def _result_title(outcome: CardLine | None) -> str:
    """Return the outcome as a title if it says what was achieved; else ""."""
    if outcome and _ACHIEVED.match(outcome.text):
        return titles.tidy_title(_BY_AGENT.sub("", outcome.text))
    return ""


def _plain_title(work: WorkEvents, outcome: CardLine | None) -> str:
    """Name the work by a short request, by its result, else by what calls did."""
    for event in (work.events[at] for at in work.requests):
        title = titles.plain_title(event.text)
        names_nothing = titles.is_command(event.text) or orders.is_small_talk(title)
        if title and not names_nothing:
            words = analyzer.count_content_words(title)
            is_short = words < titles.MIN_CONTENT_WORDS and not asks(title)
            return (is_short and _result_title(outcome)) or title
    if outcome and analyzer.count_content_words(outcome.text) > 2:
        return titles.tidy_title(_BY_AGENT.sub("", outcome.text))
    found = tool_actions.summarize_calls(work.events) or outcome
    return titles.shorten_title(found.text).rstrip(".") if found else ""


def _asked(work: WorkEvents) -> CardLine | None:
    """Quote the first request with content; a copied terminal only if it is alone."""
    copied: CardLine | None = None
    for at in work.requests:
        text, line = work.events[at].text, request_line(work, at)
        words = analyzer.count_content_words(line)
        if titles.is_command(text) or words < titles.MIN_CONTENT_WORDS:
            continue
        found = CardLine(shorten_to_sentences(line, LINE_CHARS), (at,))
        if not titles.is_terminal_copy(text):
            return found
        copied = copied or found
    return copied


_ASIDE = re.compile(
    r"\b(?:pre-existing|unrelated|(?:is|are) already"
    r"|not (?:related|caused|due) (?:to|by)|already in the"
    r"|still running|was committed"
    r"|both point|(?:committed|pushed) successfully|working tree|git status|line \d+:"
    r"|(?:on|at) lines? ~?\d)"
    r"|^(?:commit )?(?:committed|pushed)\b"
    r"|^all (?:\d+ )?(?:files|changes) committed\b|^已(?:经)?(?:提交|推送|完成)"
    r"|^all\b[^.,]{0,40}\b(?:addressed|resolved|fixed|completed?|implemented)\b"
    r"[^.,]{0,30}$"
    r"|^(?:the )?(?:part|phase|stage|step|task|work|implementation)\b[^.,;:]{0,20}"
    r"\b(?:completed?|done|finished)\W*$",
    re.IGNORECASE,
)
"""A sentence about something else than the result, or one that fits any work."""

_LOOKED_AT = re.compile(
    r"(?:i|we)(?:['’]ve| have)? (?:now |also |\w+ly )*(?:analy[sz]ed|reviewed|examined"
    r"|investigated|explored|checked|looked|read|gone|went) "
    r"|based on (?:my|the|this|what) ",
    re.IGNORECASE,
)
"""How a sentence begins that says what the agent looked at."""

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

_OPTIONS = re.compile(
    r"\b(?:one of|either|options?|possible|could|(?:we|you) can)\b[^.]*:$",
    re.IGNORECASE,
)
"""Introduces a list of what may be so, or may be done."""

_ONLY_FIXED = re.compile(
    r"(?:(?:all|both|now) )*(?:fixed|(?:re)?solved|behoben|исправлено|已?修复了?)\W*",
    re.I,
)
"""An opening after which the cause tells what was fixed."""

_EFFECT = re.compile(
    r"(?:this|that|the (?:fix|changes?)) (?:now )?(?:stops?|fix(?:es)?|prevents?"
    r"|eliminates?|resolves?|ensures?|removes?|makes?|keeps?|lets?|allows?)\b",
    re.IGNORECASE,
)
"""How a sentence on the effect of the changes begins, often after their list."""

_TRIVIAL = re.compile(r"\b(?:imports?|typo|formatting|whitespace)\W*$", re.IGNORECASE)
"""The end of a sentence about a detail."""

_QUOTATION = re.compile(r"[\"“«][^\"”»]*[\"”»]\W*|\([^()]*\)\W*")
"""Words that quote a file or the user, or a remark in brackets."""

_TICKED = re.compile(r"`[^`]+`")

_HASH = re.compile(r"`?[0-9a-f]{7,40}\b")

_NO_STATEMENT = re.compile(
    r"(?:wait|hmm+|ah+|if|falls|wenn|si|если|context limit)\b|如果"
    r"|(?:done\W+)?(?:now )?(?:reads|says) [\"“]"
    r"|wrong \w+(?: \w+)? again\b|(?:in )?lines? \d+\b"
    r"|(?:\w+ )?(?:issue|bug|problem|step|phase|option|finding) #?\d+:|commit: "
    r"|(?:before|previously|file|location|(?:for )?example): "
    r"|the (?:fix|solution) (?:is|would be|will be|should be) to\b"
    r"|you can (?!now\b)|(?:open|visit|try|run|test|click|refresh|reload|go to|type"
    r"|press|select|enter) (?:the|your|it|this|that|an?|on|again|\S*[/.`])",
    re.IGNORECASE,
)
"""How a thought, a condition, advice, a note on a line of code or a heading begins."""

_GUESS = re.compile(
    r"\b(?:likely|probably|perhaps|maybe|might|may be|seems?|appears?"
    r"|i (?:think|suspect)|вероятно|возможно|похоже|vermutlich|wahrscheinlich)\b|可能",
    re.IGNORECASE,
)

_DONE = re.compile(r"^done\W+(?=\w)", re.IGNORECASE)

_LINE_NUMBERS = re.compile(r"\s*\((?:at )?lines? ~?\d[\d\-–, ]*\)")


def _main_reports(work: WorkEvents, *, is_answer: bool) -> list[int]:
    """Return the reports on the last request for which files were changed.

    Changes are often followed by a question about them, whose answer is not the
    outcome. Messages before an interruption are not, either, if earlier requests were
    done. A short last answer to a short question does not replace a long one.
    """
    cut = find_interrupted_request(work)
    end = cut if cut >= 0 else len(work.events)
    starts = [at for at in find_real_requests(work) if at < end]
    for since, until in reversed(list(pairwise((0, *starts, end)))):
        is_change = any(map(_is_change, work.events[since:until]))
        if is_change or (is_answer and _reports_completion(work, since, until)):
            return find_reports(work, since, until)
    turns = list(pairwise((*(at for at in work.requests if at < end), end)))
    if not (is_answer and turns):
        return find_closing_reports(work)
    lengths = [
        sum(len(work.events[at].text) for at in work.replies if since < at < until)
        for since, until in turns
    ]
    least, last = LONG_SHARE * max(lengths), len(turns) - 1
    is_short = len(work.events[turns[last][0]].text) < REQUEST_CHARS
    if is_short and max(work.calls, default=-1) < turns[last][0]:
        last = max(at for at, length in enumerate(lengths) if length >= least)
    return find_reports(work, *turns[last])


def _is_change(event: Event) -> bool:
    return bool(tool_actions.file_changes(event)) or tool_actions.was_merged(event)


def _reports_completion(work: WorkEvents, since: int, until: int) -> bool:
    """Return whether a report begins with what calls completed."""
    opening = [
        one for at in find_reports(work, since, until)[:1] for one in work.sentences[at]
    ]
    has_calls = any(since < at < until for at in work.calls)
    return has_calls and any(_is_completion(one.text) for one in opening[:1])


_FOUND = re.compile(r"(?:i(?:['’]ve| have)? )?found\b", re.IGNORECASE)


def _note_penalty(work: WorkEvents, at: int, text: str) -> float:
    """Return what a note between two calls that is no result loses of its score."""
    is_result = RESULT.match(text) and not _FOUND.match(text)
    if is_result or ends_turn(work, at):
        return 0.0
    return 0.7 if is_overtaken(work, at) else 0.3


def _is_single_word(text: str) -> bool:
    """Return whether a text is a path, a command or another single word."""
    return (text.isascii() and " " not in text) or _TICKED.fullmatch(text) is not None


def _outcome(
    work: WorkEvents,
    commits: Sequence[CardLine],
    left_open: Sequence[str],
    *,
    is_answer: bool,
) -> CardLine | None:
    """Quote the best sentence about the result from the last reports.

    Args:
        work: The events.
        commits: The commits made.
        left_open: Sentences about what remains to be done.
        is_answer: Whether the work only answers a question.
    """
    found = [
        (score - 0.15 * age - _note_penalty(work, at, text), -at, text)
        for age, at in enumerate(_main_reports(work, is_answer=is_answer))
        for text, score in _results(
            work.sentences[at], is_answer=is_answer, is_outcome=True
        )
        if not (age and _is_setback(text))
        and not _DECIDED.match(text)
        and not (work.has_failing_run and _ALL_PASS.search(text))
        and shorten_to_sentences(text, LINE_CHARS) not in left_open
    ]
    score, place, text = max(found, default=(-1.0, 0, ""))
    if text and (score >= MIN_OUTCOME_SCORE or not commits):
        line = _DONE.sub("", _LINE_NUMBERS.sub("", text)).rstrip(":：")
        return CardLine(shorten_to_sentences(line, LINE_CHARS), (-place,))
    if commits:
        return commits[-1]
    last = reversed(work.replies[-2 if is_answer else -1 :])
    lines = [(at, sentence) for at in last for sentence in work.sentences[at]]
    for place, sentence in lines:
        one = sentence.text
        if analyzer.count_content_words(one) and not (
            sentence.is_heading
            or sentence.is_quoted
            or is_progress_note(one)
            or _is_single_word(one)
            or cues.is_agent_error(one)
            or _NO_STATEMENT.match(one)
            or _DECIDED.match(one)
            or (work.has_failing_run and _ALL_PASS.search(one))
            or one in left_open
        ):
            return CardLine(shorten(one, LINE_CHARS), (place,))
    return None


def _undoing(work: WorkEvents, since: int) -> CardLine | None:
    """Quote what the agent says about work that was undone, if it says so."""
    for at in (one for one in work.replies if one >= since):
        for one in work.sentences[at]:
            if UNDONE.search(one.text) and not (
                is_progress_note(one.text) or asks(one.text)
            ):
                return CardLine(shorten_to_sentences(one.text, LINE_CHARS), (at,))
    return None


def best_sentences(work: WorkEvents) -> Iterator[tuple[CardLine, float]]:
    """Yield the sentences of the messages that say most with scores, best first."""
    final = work.replies[-1] if work.replies else -1
    found: list[tuple[float, int, str]] = []
    for at in work.replies or work.requests:
        for text, score in _results(work.sentences[at]):
            if len(text) > 2 * LINE_CHARS or (at < final and _is_setback(text)):
                continue
            if work.has_failing_run and _ALL_PASS.search(text):
                continue
            if _note_penalty(work, at, text):
                score = min(score, 0.0)
            elif _CAUSE.search(text):
                score += CAUSE_SCORE
            found.append((score, -at, text))
    for score, place, text in sorted(found, reverse=True):
        yield CardLine(shorten_to_sentences(text, LINE_CHARS), (-place,)), score


def _results(
    sentences: Sequence[Sentence], *, is_answer: bool = False, is_outcome: bool = False
) -> Iterator[tuple[str, float]]:
    """Yield sentences with a score of how well they say what came of the work.

    An answer begins with what was asked; details follow.
    """
    is_first = True
    is_fixed = bool(sentences) and bool(_ONLY_FIXED.fullmatch(sentences[0].text))
    is_option = False
    listed = find_open_items(sentences)
    for place, (one, is_left) in enumerate(zip(sentences, listed, strict=True)):
        words = analyzer.count_content_words(one.text)
        is_option = bool(_OPTIONS.search(one.text)) or (is_option and one.is_item)
        is_open = is_left or (is_option and one.is_item)
        if words < titles.MIN_CONTENT_WORDS or is_open or not _can_be_result(one):
            continue
        has_no_subject = _NO_SUBJECT.match(one.text) is not None
        if is_answer and is_first and _begins_answer(one):
            is_first = False
            yield one.text, ANSWER_SCORE - 0.3 * has_no_subject
            continue
        is_reply = _REPLIES.match(one.text) is not None
        is_cause = _CAUSE.search(one.text) is not None
        is_aside = is_cause or bool(
            _ASIDE.search(one.text)
            or _LOOKED_AT.match(one.text)
            or cues.is_routine(one.text)
        )
        score = min(cues.wording_score(one.text), 0.4) - 0.02 * place
        is_report = RESULT.match(one.text) is not None
        has_effect = not one.is_item and _EFFECT.match(one.text) is not None
        if not is_aside:
            is_lead = is_first and not is_reply
            score += 0.3 * (is_lead and (is_report or not one.is_item))
            score += 0.25 * is_report
        if is_outcome:
            is_opening = place < OPENING and not is_aside
            score += COMPLETED_SCORE * (is_opening and _is_completion(one.text))
            score -= 0.3 * ((has_no_subject and not has_effect) or is_reply)
        score += 0.5 * has_effect
        score -= 0.5 * (is_aside and not (is_cause and is_fixed))
        score -= 0.3 * one.is_heading + 0.3 * (words < 4)
        score -= 0.3 * (_TRIVIAL.search(one.text) is not None)
        if is_outcome and one.is_item and not (is_report or _WAS_DONE.match(one.text)):
            score -= 0.2 + 0.2 * orders.is_order(_ITEM_NAME.sub("", one.text))
        is_field = one.is_item and _FIELD.match(one.text) is not None
        score -= (0.6 if is_answer else 0.3) * is_field
        score -= 0.3 * (_GUESS.search(one.text) is not None)
        is_first = is_first and (is_aside or is_reply)
        yield one.text, score - 0.1 * cues.needs_context(one.text)


_NO_SUBJECT = re.compile(
    r"(?:it|they|(?:this|that|these|those)(?= (?:also|are|were|will|would|\w+s)\b))\b"
    r"|它|这",
    re.IGNORECASE,
)
"""How a sentence begins that needs the one before it to say what it is about."""

_REPLIES = re.compile(
    r"(?:yes|yep|no|nope|ja|nein|oui|non|sí|sim|não|tak|nie|да|нет|possibly|probably"
    r"|maybe|perhaps)\b|是的|不是|对[，,]",
    re.IGNORECASE,
)
"""How a sentence begins that needs the question it answers."""

_COMPLETED = re.compile(
    r"(?:done\W+)?(?:(?:i|we)(?:['’]ve| have) (?:\w+ly |now |also )*"
    r"(?!analy[sz]ed|examined|investigated|reviewed)"
    r"(?:\w{3,}ed|built|made|put|set|written)\b"
    r"|(?!based|checked|compared|confirmed|expected|need|proposed|related|used|verified)"
    r"(?-i:[A-Z])\w{2,}ed (?!(?:and|as|by|from|in|rather|to|with)\b)"
    r"|(?!if|when|once|what|which|how|there)\w[^.,;:]{2,70}(?:\b(?:is|are)|['’]s|['’]re)"
    r" (?:now |all |fully )*(?:built|complete|deployed|done|fixed|implemented|in place"
    r"|installed|live|merged|published|pushed|ready|scaffolded|set up|up and running"
    r"|working)\b"
    r"|(?:both|all|everything)\b[^.,;]{0,50}\b(?:done|fixed|implemented|pass(?:es)?)\b"
    r"|(?:ich|wir) haben? [^.]*\bge\w+(?:t|en)\b"
    r"|[^.,]{3,80}\bwurden? [^.]*\w{3,}(?:t|en)\b|j['’]ai \w+(?:é|is|it)\b"
    r"|(?:he|hemos|se ha|se han|foi|foram) (?!anali|examin|investig|revis|verific)"
    r"\w+[aid][do]\w*"
    r"|(?:implementad|cread|criad|adicionad|añadid|a[ct]{1,2}ualizad|corr[ie]gid)[oa]s?\b"
    r"|(?:zapisan|dodan|naprawion|utworzon)\w+"
    r"|(?:готово|исправлен|добавлен|создан|обновл[её]н|сделан)\w*)"
    r"|已(?:经)?(?:创建|修复|添加|更新|实现|安装|关联|删除|修改)",
    re.IGNORECASE,
)
"""How a sentence begins that says what was completed."""


def _is_completion(text: str) -> bool:
    """Return whether a sentence says what was completed, with an object."""
    if _TRIVIAL.search(text) or len(analyzer.query_terms(text)) < 3:
        return False
    return _COMPLETED.match(text) is not None


_WAS_DONE = re.compile(
    r"(?:(?!(?:not?|never|to|be|should|if|when|\w+n['’]t)\b)[^\s:—–-]\S* ){1,6}?"
    r"(?:added|created|deleted|deployed|disabled|enabled|fixed|installed|merged|migrated"
    r"|moved|published|pushed|removed|renamed|replaced|updated)\b",
    re.IGNORECASE,
)
"""Matches an item like "213 stale branches deleted"."""


def _begins_answer(one: Sentence) -> bool:
    """Return whether a sentence is no list, title, quotation or polite phrase."""
    if one.is_item or (one.is_heading and not _STATES_END.search(one.text)):
        return False
    if _REPLIES.match(one.text) or _LOOKED_AT.match(one.text):
        return False
    return cues.wording_score(one.text) > MIN_ANSWER_SCORE and one.text[0] not in '"“«'


_ITEM_NAME = re.compile(r"^\S+ [-–—] ")
"""The name of a file before what was or will be done to it."""

_FIELD = re.compile(
    r"[\w `./-]{3,30}(?:: | [-–—→] )"
    r"(?!.*\b(?:is|are|was|were|now|no longer|\w{3,}ed)\b)"
)
"""Matches an item that only names a value, or says what something is for: "Reporting
period: 2 to 4 June", "serve.sh - Start the server"."""

_STATES_END = re.compile(
    r"\b(?:(?!relat|detail|advanc|propos|requir|need|unus)\w{2,}ed(?!\s+(?-i:[A-Z]))"
    r"|complete|done"
    r"|works?|working|pass(?:es)?|ready|success\w*"
    r"|is|are|was|were|now|fertig|behoben|готово|исправлен\w*)\b|完成|修复",
    re.IGNORECASE,
)
"""Matches a heading that reports something: "Migration complete"."""

_SETBACK = re.compile(
    r"\b(?:fail(?:s|ed|ing)?|refused|rejected|timed out|crash(?:es|ed)|errors? out"
    r"|does(?:n['’]t| not) work|(?:could|i ca)n['’]t|(?:can|could) ?not|unable to"
    r"|broken)\b",
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
        one.is_quoted
        or is_progress_note(one.text)
        or cues.is_agent_error(one.text)
        or cues.is_log_line(one.text)
        or _is_single_word(one.text)
        or _QUOTATION.fullmatch(one.text)
        or (one.is_heading and not _STATES_END.search(one.text))
        or _HASH.match(one.text)
        or _NO_STATEMENT.match(one.text)
        or cues.is_offer(one.text)
        or asks(one.text)
    )


def _tests(work: WorkEvents) -> CardLine | None:
    """Describe the last test run, and the first one that failed before it.

    If all tests passed, later runs of a few that passed say less.
    """
    runs = work.test_runs
    if not runs:
        return None
    passed = list(takewhile(lambda run: not run[1].failed, reversed(runs)))
    last_at, last = max(passed or runs[-1:], key=lambda run: run[1].passed)
    for at, counts in runs[:-1]:
        if counts.failed and counts != last:
            return CardLine(f"{counts} → {last}", (at, last_at))
    return CardLine(str(last), (last_at,))


def _commands(work: WorkEvents) -> CardLine | None:
    """List the last builds, checks and deployments, each with its last result."""
    found: dict[str, tuple[str, int]] = {}
    last_run = work.test_runs[-1][0] if work.test_runs else -1
    for at in work.calls:
        for command, result in tool_actions.command_results(work.events[at]):
            found.pop(command, None)
            if at > last_run or not tool_actions.is_test(command):
                found[command] = shorten(result, RESULT_CHARS), at
    last = list(found.items())[-MAX_COMMANDS:]
    if not last:
        return None
    text = "; ".join(f"{command} ({result})" for command, (result, _) in last)
    return CardLine(text, tuple(at for _, (_, at) in last))


def _files(work: WorkEvents) -> list[tuple[FileChange, int]]:
    """Add up the changes of each file; writing all of it again replaces them.

    The plans that Claude Code keeps outside of the project are left out, and files
    that were removed later.
    """
    found: dict[str, tuple[FileChange, int]] = {}
    for at in work.calls:
        is_whole = tool_actions.writes_whole_file(work.events[at])
        for path in tool_actions.find_removed(work.events[at], found):
            del found[path]
        for one in tool_actions.file_changes(work.events[at]):
            if "/.claude/plans/" in one.path:
                continue
            is_further = one.path in found and not is_whole
            change = found[one.path][0] + one if is_further else one
            found[one.path] = change, at
    return sorted(found.values(), key=lambda one: -(one[0].added + one[0].removed))


_REASON = re.compile(
    r"\b(?:because|so that|since|to avoid|in order to|otherwise|потому|чтобы|weil"
    r"|damit|porque|parce que)\b|因为",
    re.IGNORECASE,
)

_CHOICE = re.compile(
    r"(?:we(?:'ll| will)? |i(?:'ll| will)? )?use\b"
    r"|.*?(?:\b(?:instead of|rather than|prefer|keep|go with|left out|dropped"
    r"|switch(?:ed|ing)? to|вместо|statt)|采用|而不是)",
    re.IGNORECASE,
)
"""Matches the choice that a sentence makes before it gives the reason."""

_PREFERS = re.compile(r"\b(?:instead of|rather than)\b", re.IGNORECASE)

_LETS = re.compile(
    r"^(?:(?:ok(?:ay)?|so|then|yes|now),? )*let(?:'|’)?s ", re.IGNORECASE
)
"""The beginning of a proposal, which is a decision if it gives its reason."""

_DECISION = re.compile(
    r"\b(?:(?:we|i|you)(?:'ve| have)? (?:\w+ )?(?:decided|chose|opted|agreed|went with)"
    r"|(?:was|is|been) (?:decided|agreed))\b|\b(?:решил|entschied)|^decision:"
    r"|(?<!再)决定|选择",
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
    r"(?:(?:let's )?(?:switch|change|move) to\b"
    r"|(?!(?:when|whenever|while|if|it|there|why)\b).{0,60}"
    r"(?:\binstead\b|\brather than\b|\bstatt\b|\bвместо\b)"
    r"|переходим на\b|wir wechseln (?:zu|auf)\b)",
    re.IGNORECASE,
)
"""A choice of the user in reply to earlier work: "Then SQLite instead of files."."""


def _is_decision(work: WorkEvents, at: int, text: str) -> bool:
    """Return whether a sentence decides something."""
    if _DECISION.search(text):
        return True
    reason, choice = _REASON.search(text), _CHOICE.match(_LETS.sub("", text, count=1))
    if reason and choice and choice.end() <= reason.start():
        # An order of the agent is advice.
        return (
            at in work.requests
            or not orders.is_order(text)
            or _PREFERS.search(text) is not None
        )
    is_reply = at in work.requests[1:]
    return is_reply and not asks(text) and _USER_CHOICE.match(text) is not None


def _decisions(work: WorkEvents) -> list[CardLine]:
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


# The summary

MAX_COMMITS = 6
"""The number of commits of a segment that are listed."""

MAX_OVERLAP = 0.6
"""A sentence that shares more of its terms with another line adds nothing new."""

MIN_NOTE_SCORE = 0.2
"""A sentence with a lower score is only quoted where there are too few lines."""

EMPTY_TITLE = "Nothing was said"
"""The title of a segment without any text."""


def summarize_segment(
    events: Sequence[Event],
    earlier_prompts: Sequence[Event] = (),
    session_title: str = "",
    *,
    is_in_repository: bool = False,
) -> Summary:
    """Summarize a segment by quoting it.

    Args:
        events: The events of the segment in order.
        earlier_prompts: The user's last messages before, the latest first.
        session_title: The agent's own title of the session, at its first segment.
        is_in_repository: Whether the session recorded a Git branch.

    Returns:
        A title and bullets; ``refs`` are indexes into ``events``.
    """
    work = read_work(events, is_in_repository=is_in_repository)
    card = make_card(work, earlier_prompts, session_title)
    statements = list(_statements(card))
    most = BULLET_COUNTS[TocLevel.SEGMENT][1]
    statements += _notes(work, statements, most)
    bullets = (*statements[:most], *_facts(card))
    return Summary(card.title or _first_line(events) or EMPTY_TITLE, bullets)


def _statements(card: Card) -> Iterator[DraftBullet]:
    """Yield what was asked, what came of it, what was decided and what is left."""
    if card.asked:
        yield _bullet(card.asked, BulletKind.ASKED)
    if card.outcome and card.outcome not in card.commits:
        yield _bullet(card.outcome, BulletKind.OUTCOME)
    room = max(3 - len(card.left_open), 1)
    new = [line for line in card.decisions if line != card.outcome]
    for line in new[:room]:
        yield _bullet(line, BulletKind.DECISION)
    for line in card.left_open:
        yield _bullet(line, BulletKind.LEFT_OPEN)


def _facts(card: Card) -> Iterator[DraftBullet]:
    """Yield what calls show: commits, tests, files and the state of the work."""
    for line in card.commits[-MAX_COMMITS:]:
        yield _bullet(line, BulletKind.COMMIT)
    for line in card.pull_requests:
        yield _bullet(line, BulletKind.PULL_REQUEST)
    if card.tests:
        yield _bullet(card.tests, BulletKind.TESTS)
    if card.commands:
        yield _bullet(card.commands, BulletKind.COMMANDS)
    if card.files:
        yield _bullet(_file_line(card.files), BulletKind.FILES)
    yield _bullet(card.state, BulletKind.STATE)


def _bullet(line: CardLine, kind: BulletKind) -> DraftBullet:
    return DraftBullet(line.text, line.refs, kind)


def _file_line(files: Sequence[tuple[FileChange, int]]) -> CardLine:
    refs = tuple(sorted({at for _, at in files[:MAX_FILES]}))
    return CardLine(list_files([change for change, _ in files]), refs)


def _notes(
    work: WorkEvents, statements: Sequence[DraftBullet], most: int
) -> list[DraftBullet]:
    """Return good sentences that say something new; a poor one if there is no other."""
    seen = [set(analyzer.query_terms(one.text)) for one in statements]
    found: list[DraftBullet] = []
    for line, score in best_sentences(work):
        count = len(seen)
        if count >= most or (count and score < MIN_NOTE_SCORE):
            break
        terms = set(analyzer.query_terms(line.text))
        if all(len(terms & other) <= MAX_OVERLAP * len(terms) for other in seen):
            found.append(_bullet(line, BulletKind.QUOTE))
            seen.append(terms)
    return found


def _first_line(events: Sequence[Event]) -> str:
    lines = (
        line
        for event in events
        if event.is_message
        for line in event.text[:400].split("\n")
    )
    named = [line for line in lines if not line.startswith("[[")]
    # A line of emoji alone is markup as a whole.
    found = [*map(strip_markup, named), *map(str.strip, named)]
    return shorten(next(filter(None, found), ""), TITLE_CHARS)
