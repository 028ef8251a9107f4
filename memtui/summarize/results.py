"""Choose the sentences of an agent that say what came of the work.

The score of a sentence is a weighted sum of what it says and where it stands. Its
weights are those of a conditional logit model, fitted to sentences of public
conversations that readers had labelled as good or bad outcomes.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

from memtui.model.events import Event
from memtui.summarize import tool_actions
from memtui.summarize.left_open import find_open_items
from memtui.summarize.tool_actions import CardLine
from memtui.summarize.work_events import (
    LINE_CHARS,
    REQUEST_CHARS,
    RESULT,
    UNDONE,
    WorkEvents,
    asks,
    ends_turn,
    find_closing_reports,
    find_interrupted_request,
    find_real_requests,
    find_reports,
    is_progress_note,
)
from memtui.text import analyzer, cues, titles
from memtui.text.prose import Sentence, shorten_to_sentences

LONG_SHARE = 0.6
"""An answer with a smaller share of the length of the longest is a small one."""

MIN_OUTCOME_SCORE = 1.0
"""A sentence with a lower score is no better outcome than the subject of a commit."""

SHORT_WORDS = 6
"""A sentence with fewer content words is short."""

MAX_PLACE, MAX_AGE, MAX_ITEMS = 20, 4, 8
"""The highest place in a message, number of later messages and number of items of a
list that change the score of a sentence."""

STEP_NOTE_PENALTY = 100.0
"""Subtracted from the score of a note between two calls that is no result, so that it
is only quoted if there is nothing else."""


def find_outcome(
    work: WorkEvents,
    commits: Sequence[CardLine],
    left_open: Sequence[str],
    title: str,
    *,
    is_answer: bool,
) -> CardLine | None:
    """Quote the best sentence about the result from the last reports.

    Args:
        work: The events.
        commits: The commits made.
        left_open: Sentences about what remains to be done.
        title: The title of the work, as far as it is known.
        is_answer: Whether the work only answers a question.
    """
    reports = _main_reports(work, is_answer=is_answer) or work.replies[-1:]
    found = [
        (score, -at, text)
        for at, text, score in _score_sentences(work, reports, title)
        if not (at != reports[0] and _is_setback(text))
        and not _DECIDED.match(text)
        and not (work.has_failing_run and _ALL_PASS.search(text))
        and shorten_to_sentences(text, LINE_CHARS) not in left_open
    ]
    score, place, text = max(found, default=(-math.inf, 0, ""))
    if text and (score >= MIN_OUTCOME_SCORE or not commits):
        line = _DONE.sub("", _LINE_NUMBERS.sub("", text)).rstrip(":：")
        return CardLine(shorten_to_sentences(line, LINE_CHARS), (-place,))
    return commits[-1] if commits else None


def find_statements(work: WorkEvents, title: str) -> Iterator[tuple[CardLine, float]]:
    """Yield the sentences that say most, with their scores, best first."""
    messages = [*reversed(work.replies or work.requests)]
    found: list[tuple[float, int, str]] = []
    for at, text, score in _score_sentences(work, messages, title):
        if len(text) > 2 * LINE_CHARS or (at != messages[0] and _is_setback(text)):
            continue
        if work.has_failing_run and _ALL_PASS.search(text):
            continue
        if _is_step_note(work, at, text):
            score -= STEP_NOTE_PENALTY
        found.append((score, -at, text))
    for score, place, text in sorted(found, reverse=True):
        yield CardLine(shorten_to_sentences(text, LINE_CHARS), (-place,)), score


def find_undoing(work: WorkEvents, since: int) -> CardLine | None:
    """Quote what the agent says about work that was undone, if it says so."""
    for at in (one for one in work.replies if one >= since):
        for one in work.sentences[at]:
            if UNDONE.search(one.text) and not (
                is_progress_note(one.text) or asks(one.text)
            ):
                return CardLine(shorten_to_sentences(one.text, LINE_CHARS), (at,))
    return None


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


def _score_sentences(
    work: WorkEvents, messages: Sequence[int], title: str
) -> Iterator[tuple[int, str, float]]:
    """Yield the sentences of messages that can be results: message, text and score.

    Args:
        work: The events.
        messages: The messages, the most important first.
        title: The title of the work, whose words its result repeats.
    """
    wanted = _terms(title)
    asked = _terms(" ".join(work.events[at].text for at in work.requests))
    for age, at in enumerate(messages):
        sentences = work.sentences[at]
        terms = [_terms(one.text) for one in sentences]
        similarities = _similarities(terms)
        items = _count_items(sentences)
        listed = [*find_open_items(sentences)]
        is_lead, is_option = True, False
        for place, one in enumerate(sentences):
            is_option = bool(_OPTIONS.search(one.text)) or (is_option and one.is_item)
            words = analyzer.count_content_words(one.text)
            if (
                not words
                or listed[place]
                or (is_option and one.is_item)
                or not can_be_result(one)
            ):
                continue
            own = terms[place]
            text = shorten_to_sentences(one.text, LINE_CHARS)
            score = (
                _score_wording(text, words)
                + 1.8 * is_lead
                - 1.9 * min(place, MAX_PLACE) / MAX_PLACE
                - 1.4 * min(age, MAX_AGE) / MAX_AGE
                - 0.9 * min(items[place], MAX_ITEMS) / MAX_ITEMS
                + 1.3 * len(own & wanted) / max(1, len(own))
                + 2.5 * len(own & wanted) / max(1, len(wanted))
                + 0.5 * len(own & asked) / max(1, len(own))
                - 3.9 * similarities[place]
            )
            yield at, one.text, score
            is_lead = is_lead and words < titles.MIN_CONTENT_WORDS


def _score_wording(text: str, words: int) -> float:
    """Return how well the wording of a sentence states a result.

    Args:
        text: The sentence.
        words: The number of its content words.
    """
    return (
        2.8 * len(text) / LINE_CHARS
        + 4.7 * cues.wording_score(text.rstrip(":："))
        + 3.1 * _is_report(text)
        + 2.2 * _is_completion(text)
        + 1.2 * (_WAS_DONE.match(text) is not None)
        + 1.0 * (_NOW.search(text) is not None)
        - 1.0 * (words < SHORT_WORDS)
        - 9.0 * (words < titles.MIN_CONTENT_WORDS)
        - 3.3 * _only_looked(text)
    )


def _terms(text: str) -> set[str]:
    return set(analyzer.query_terms(text))


def _count_items(sentences: Sequence[Sentence]) -> list[int]:
    """Return the number of items of the list that each sentence is in."""
    found: list[int] = []
    for is_item, run in groupby(sentences, key=lambda one: one.is_item):
        count = len([*run])
        found += [count if is_item else 0] * count
    return found


def _similarities(terms: Sequence[set[str]]) -> list[float]:
    """Return the mean cosine similarity of each sentence to those of its message.

    Each counts itself, so that the mean is high in short messages.
    """
    weights: defaultdict[str, float] = defaultdict(float)
    for own in terms:
        for term in own:
            weights[term] += 1 / math.sqrt(len(own))
    return [
        math.fsum(map(weights.__getitem__, own))
        / math.sqrt(max(1, len(own)))
        / len(terms)
        for own in terms
    ]


_OPTIONS = re.compile(
    r"\b(?:one of|either|options?|possible|could|(?:we|you) can)\b[^.]*:$",
    re.IGNORECASE,
)
"""Introduces a list of what may be so, or may be done."""

_NOW = re.compile(r"\bnow\b|已|jetzt|теперь|ahora", re.IGNORECASE)

_LOOKED_AT = re.compile(
    r"(?:(?:i|we)(?:['’]ve| have)? )?(?:now |also |\w+ly )*(?:analy[sz]ed|reviewed"
    r"|examined|investigated|explored|checked|looked|read|gone|went) "
    r"|based on (?:my|the|this|what) ",
    re.IGNORECASE,
)
"""How a sentence begins that says what the agent looked at."""

_STATES_FINDING = re.compile(
    r"[:—] |\b(?:and|then) (?:have |i )*(?:added|built|completed|confirmed|created"
    r"|fixed|found|identified|made|updated|wrote)\b",
    re.IGNORECASE,
)


def _only_looked(text: str) -> bool:
    """Return whether a sentence says what was looked at, and not what came of it."""
    return _LOOKED_AT.match(text) is not None and not _STATES_FINDING.search(text)


_FOUND = re.compile(r"(?:i(?:['’]ve| have)? )?found\b", re.IGNORECASE)


def _is_step_note(work: WorkEvents, at: int, text: str) -> bool:
    """Return whether a sentence is a note between two calls that is no result."""
    is_result = RESULT.match(text) and not _FOUND.match(text)
    return not (is_result or ends_turn(work, at))


def _is_single_word(text: str) -> bool:
    """Return whether a text is a path, a command or another single word."""
    return (text.isascii() and " " not in text) or _TICKED.fullmatch(text) is not None


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
    return _COMPLETED.match(text) is not None and _has_object(text)


def _has_object(text: str) -> bool:
    return not _TRIVIAL.search(text) and len(analyzer.query_terms(text)) > 2


def _is_report(text: str) -> bool:
    """Return whether a sentence begins with what was done, and to what."""
    return RESULT.match(text) is not None and _has_object(text)


_WAS_DONE = re.compile(
    r"(?:(?!(?:not?|never|to|be|should|if|when|\w+n['’]t)\b)[^\s:—–-]\S* ){1,6}?"
    r"(?:added|created|deleted|deployed|disabled|enabled|fixed|installed|merged|migrated"
    r"|moved|published|pushed|removed|renamed|replaced|updated)\b",
    re.IGNORECASE,
)
"""Matches an item like "213 stale branches deleted"."""

_ALL_PASS = re.compile(
    r"\b(?:all|every)\b[^.;]{0,30}\btests?\b[^.;]{0,20}\b(?:pass|green|succe)"
    r"|\btests? (?:now )?(?:all )?(?:pass\b|are (?:all )?(?:green|passing))"
    r"|\balle\b[^.;]{0,20}\btests?\b[^.;]{0,30}\b(?:durch|grün|bestanden|erfolgreich)"
    r"|\bвсе\b[^.;]{0,20}\bтест\w*[^.;]{0,20}\b(?:проход|прошл|зел[её]н)",
    re.IGNORECASE,
)
"""A claim that all tests pass."""

_TRIVIAL = re.compile(r"\b(?:imports?|typo|formatting|whitespace)\W*$", re.IGNORECASE)
"""The end of a sentence about a detail."""

_QUOTATION = re.compile(r"[\"“«][^\"”»]*[\"”»]\W*|\([^)]*(?:\)\W*)?")
"""Words that quote a file or the user, or a remark in brackets."""

_TICKED = re.compile(r"`[^`]+`")

_HASH = re.compile(r"`?[0-9a-f]{7,40}\b")

_NO_STATEMENT = re.compile(
    r"(?:wait|hmm+|ah+|if|falls|wenn|si|если)\b|如果"
    r"|(?:done\W+)?(?:now )?(?:reads|says) [\"“]"
    r"|wrong \w+(?: \w+)? again\b|(?:in )?lines? \d+\b"
    r"|(?:\w+ )?(?:issue|bug|problem|step|phase|option|finding) #?\d+:|commit: "
    r"|(?:before|previously|file|location|(?:for )?example): "
    r"|the (?:fix|solution) (?:is|would be|will be|should be) to\b"
    r"|you can (?!now\b)|(?:open|visit|try|run|test|click|refresh|reload|restart with"
    r"|go to|type|press|select|enter) (?:the|your|it|this|that|an?|on|again|\S*[/.`])",
    re.IGNORECASE,
)
"""How a thought, a condition, advice, a note on a line of code or a heading begins."""

_NEXT_STEP = re.compile(r"[,;.] (?:now |next |then )?i['’]ll\b", re.IGNORECASE)
"""Matches a sentence that ends with what the agent does next."""

_DONE = re.compile(r"^done\W+(?=\w)", re.IGNORECASE)

_LINE_NUMBERS = re.compile(r"\s*\((?:at )?lines? ~?\d[\d\-–, ]*\)")

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


def can_be_result(one: Sentence) -> bool:
    """Return whether a sentence states something, and is no question, offer or note."""
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
        or _NEXT_STEP.search(one.text)
        or cues.is_offer(one.text)
        or asks(one.text)
    )


_DECIDED = re.compile(
    r"\W*(?:(?:we|i)(?:'ve| have)? (?:decided|chose|opted|agreed|went with)\b|decision:"
    r"|(?:wir|ich) haben? (?:uns|mich) .*\bentschieden|(?:мы |я )?решил[аи]?\b)",
    re.IGNORECASE,
)
"""The beginning of a sentence that states a decision, and no result."""
