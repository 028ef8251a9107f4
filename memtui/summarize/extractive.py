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
from memtui.summarize import results, tool_actions
from memtui.summarize.left_open import find_left_open
from memtui.summarize.results import can_be_result
from memtui.summarize.session_work import CONTINUED, MAX_FILES, FileChange, list_files
from memtui.summarize.tool_actions import CardLine
from memtui.summarize.work_events import (
    INTERRUPTED,
    LINE_CHARS,
    WorkEvents,
    asks,
    find_pull_requests,
    find_state,
    read_work,
    request_line,
)
from memtui.text import analyzer, cues, orders, titles
from memtui.text.orders import TitleKind
from memtui.text.prose import (
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

ANSWER_CHARS = 500
"""So much text of the agent counts as much as an event."""

WISH_CHARS = 600
"""What is wanted is said in so much of the start of a request."""

LATE_SHARE = 0.6
"""A request after this share of the events does not describe those before it."""


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
        outcome = results.find_undoing(work, state.refs[0])
    title = _title(work, commits, is_continued=bool(earlier_prompts))
    earlier_title = _earlier_title(work.events, earlier_prompts)
    if outcome is None:
        is_answer = state.text == WorkState.ANSWERED
        known = [line.text for line in left_open]
        name = title or earlier_title
        outcome = results.find_outcome(work, commits, known, name, is_answer=is_answer)
    title = (
        title
        or (_result_title(outcome) if earlier_prompts else "")
        or earlier_title
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
            path = tool_actions.find_same_file(one.path, found)
            is_further = path in found and not is_whole
            change = found[path][0] + one if is_further else one
            found[path] = change, at
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
            if one.is_heading or not can_be_result(proposed):
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

MIN_NOTE_SCORE = 2.0
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
    statements += _notes(work, card.title, statements, most)
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
    work: WorkEvents, title: str, statements: Sequence[DraftBullet], most: int
) -> list[DraftBullet]:
    """Return good sentences that say something new; a poor one if there is no other."""
    seen = [set(analyzer.query_terms(one.text)) for one in statements]
    found: list[DraftBullet] = []
    for line, score in results.find_statements(work, title):
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
