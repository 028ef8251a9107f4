"""Summarize a segment in its own sentences, without a model.

Sentences are scored by author, position, content and wording; the best ones are
selected one by one, each as different as possible from those before (maximal marginal
relevance, Carbonell & Goldstein, 1998). A line of what tools did is added.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from memtui.model.events import Event, EventRole
from memtui.model.nodes import BULLET_COUNTS, TocLevel
from memtui.model.summaries import DraftBullet, Summary
from memtui.summarize import tool_actions
from memtui.summarize.tool_actions import ActionLine
from memtui.text import analyzer, cues, titles
from memtui.text.prose import Sentence, message_sentences, shorten, strip_markup
from memtui.text.stopwords import VAGUE_STEMS

LONG_CHARS = 360
"""A longer sentence would be cut, and gets a small penalty."""

REFERENCE_PENALTY = 0.08
"""The penalty for starting with "This" or "They"."""

VAGUE_PENALTY = 0.25
"""The penalty for a sentence that does not name its subject."""

MIN_SENTENCE_TERMS = 4
"""A sentence with fewer terms gets a penalty for each one it is short of."""

SENTENCES_PER_MESSAGE = 40
"""How many sentences of a message are considered: the first and the last ones."""

CENTRALITY_BONUS = 0.5
"""The bonus of the most central sentence; others get a share of it."""

FIRST_REQUEST_SCORE, OTHER_REQUEST_SCORE, FINAL_ANSWER_SCORE, OTHER_ANSWER_SCORE = (
    0.3,
    0.25,
    0.22,
    0.05,
)
"""Base scores by author and position of the message."""

MINOR_SECTION_PENALTY = 0.4
"""The penalty for standing under a heading like "Verification"."""

LIST_PENALTY = 0.15
"""The penalty for list items, and for sentences far down, in a user's message."""

DOCUMENT_SENTENCES = 10
"""From this sentence on a user's message is taken for a pasted document."""


@dataclass(frozen=True, slots=True)
class SentenceCandidate:
    """A sentence that may become a bullet."""

    text: str
    event_index: int
    """The index of its message in the events of the segment."""
    role: EventRole
    base_score: float
    order: int
    terms: frozenset[str] = field(default_factory=frozenset)
    score: float = 0.0


def rank_sentences(
    events: Sequence[Event], messages: Mapping[int, Sequence[Sentence]]
) -> list[SentenceCandidate]:
    """Return the sentences of a segment with scores, best first.

    Args:
        events: The events of the segment.
        messages: The sentences of its messages, by index of the event.
    """
    return _score_candidates(_candidates(events, messages))


def _candidates(
    events: Sequence[Event], messages: Mapping[int, Sequence[Sentence]]
) -> list[SentenceCandidate]:
    """Return all sentences with their base scores."""
    found: list[SentenceCandidate] = []
    # The index of the first request, or -1.
    first_request = next(
        (index for index in messages if _is_request(events[index], messages[index])), -1
    )
    for index, parts in messages.items():
        role = events[index].role
        base = _role_score(events, messages, index, first_request)
        last = len(parts) - 1
        is_minor = False
        for position, part in enumerate(parts):
            if part.is_heading:
                is_minor = bool(cues.is_minor_heading(part.text))
            half = SENTENCES_PER_MESSAGE // 2
            if half <= position <= last - half:
                continue
            score = (
                base
                + _position_score(part, position, last)
                - MINOR_SECTION_PENALTY * is_minor
            )
            if role is EventRole.USER:
                score -= LIST_PENALTY * part.is_item + LIST_PENALTY * (
                    position >= DOCUMENT_SENTENCES
                )
            text = cues.strip_interjection(part.text)
            found.append(SentenceCandidate(text, index, role, score, len(found)))
    return found


def _is_request(event: Event, parts: Sequence[Sentence]) -> bool:
    return event.role is EventRole.USER and any(
        titles.count_content_words(part.text) >= titles.MIN_CONTENT_WORDS
        for part in parts[:SENTENCES_PER_MESSAGE]
    )


def _role_score(
    events: Sequence[Event],
    messages: Mapping[int, object],
    index: int,
    first_request: int,
) -> float:
    """Return the base score of a message's sentences by author and position."""
    if events[index].role is EventRole.USER:
        return FIRST_REQUEST_SCORE if index == first_request else OTHER_REQUEST_SCORE
    following = next((later for later in messages if later > index), None)
    is_final = following is None or events[following].role is EventRole.USER
    return FINAL_ANSWER_SCORE if is_final else OTHER_ANSWER_SCORE


def _position_score(part: Sentence, position: int, last: int) -> float:
    """Return the score of a sentence by its position in the message and its shape."""
    score = 0.12 if position == 0 else 0.06 if position <= 2 else 0.0
    if position == last:
        score += 0.04
    if part.is_heading:
        score -= 0.5 if cues.is_generic_heading(part.text) else 0.25
    if len(part.text) > LONG_CHARS:
        score -= 0.1
    return score


def _score_candidates(
    candidates: Sequence[SentenceCandidate],
) -> list[SentenceCandidate]:
    """Return the candidates with scores, best first."""
    term_sets = [analyzer.query_terms(candidate.text) for candidate in candidates]
    frequency = Counter(chain.from_iterable(term_sets))
    # Like TF-IDF within the segment: terms of several sentences weigh more than those
    # of one (1 + log count), but terms of most sentences less (log(1 + n / count)).
    weight_by_count = {
        count: math.log(1 + len(term_sets) / count) * (1 + math.log(count))
        for count in set(frequency.values())
    }
    term_weights = {term: weight_by_count[count] for term, count in frequency.items()}
    # The square root keeps long sentences from winning by length alone, and the
    # constant very short ones by brevity.
    centralities = [
        sum(term_weights[term] for term in terms) / math.sqrt(len(terms) + 4)
        for terms in term_sets
    ]
    max_centrality = max(centralities, default=0.0) or 1.0
    scored = []
    for candidate, terms, centrality in zip(
        candidates, term_sets, centralities, strict=True
    ):
        score = (
            CENTRALITY_BONUS * centrality / max_centrality
            + candidate.base_score
            + cues.wording_score(candidate.text)
        )
        if cues.starts_with_reference(candidate.text):
            score -= REFERENCE_PENALTY
        term_set = frozenset(terms)
        if len(term_set - VAGUE_STEMS) < titles.MIN_CONTENT_WORDS:
            score -= VAGUE_PENALTY
        if len(terms) < MIN_SENTENCE_TERMS:
            score -= 0.12 * (MIN_SENTENCE_TERMS - len(terms))
        scored.append(replace(candidate, terms=term_set, score=score))
    return sorted(scored, key=lambda one: (-one.score, one.order))


BULLET_CHARS = 240
"""The maximum length of a bullet."""

MMR_LAMBDA = 0.7
"""The weight of a sentence's score against similarity to selected ones."""

MIN_SCORE = 0.25
"""Sentences with a lower score are left out once there are enough bullets."""

EMPTY_TITLE = "Nothing was said"
"""The title of a segment without any text."""

MAX_OVERLAP = 0.6
"""A sentence that shares more of its terms with another adds nothing new."""

MAX_TITLE_OVERLAP = 0.8
"""A commit's subject that shares this much with the title only repeats it."""

POOL_SIZE = 60
"""Number of best sentences that are compared with each other."""

MAX_REQUEST_BULLETS = 3
"""Number of bullets that may quote the user."""

ANNOUNCEMENT_TITLE_BONUS = 0.7
"""The bonus as a title for a sentence that says what the agent will do ("Let me fix
…"): it names the work."""

LATE_SHARE = 0.6
"""A request after this share of the events does not describe those before it."""

LATER_PENALTY, LATE_PENALTY = 0.2, 0.4
"""The penalties as a title for a request that is not the first, and for a late one."""

(
    COMMIT_TITLE_SCORE,
    FINAL_HEADING_TITLE_SCORE,
    FAILED_COMMIT_TITLE_SCORE,
    HEADING_TITLE_SCORE,
    OVERLAP_TITLE_SCORE,
) = (
    0.8,
    0.62,
    0.62,
    0.5,
    0.4,
)
"""Scores of titles from a commit's subject, a heading of the last answer, a failed
commit, an earlier heading, and the request that the segment continues; a request of the
segment itself scores up to 1."""

ANSWER_TITLE_SCORE, ANSWER_TITLE_WEIGHT, MAX_ANSWER_TITLE_SCORE = 0.3, 0.2, 0.6
"""The score of a sentence as a title, the weight of its own score, and the maximum."""


@dataclass(frozen=True, slots=True)
class SegmentActions:
    """Tool calls, commits and failures of a segment."""

    calls: ActionLine | None
    commits: Sequence[ActionLine]
    failures: Sequence[ActionLine]


@dataclass(frozen=True, slots=True)
class TitleCandidate:
    """A possible title with its score."""

    title: str
    score: float


def summarize_segment(
    events: Sequence[Event], overlap: Sequence[Event] = ()
) -> Summary:
    """Summarize a segment in its own words.

    Args:
        events: The events of the segment in order.
        overlap: The events just before the segment; their requests are possible
            titles.

    Returns:
        A title and one to five bullets; ``refs`` are indexes into ``events``.
    """
    messages = _read_messages(events)
    ranked = rank_sentences(events, messages)
    actions = SegmentActions(
        tool_actions.summarize_calls(events),
        tool_actions.find_commits(events),
        tool_actions.find_failures(events),
    )
    proposals = [
        *_request_titles(events, messages),
        *_commit_titles(actions.commits, COMMIT_TITLE_SCORE),
        *_commit_titles(
            tool_actions.find_commits(events, are_made=False), FAILED_COMMIT_TITLE_SCORE
        ),
        *_heading_titles(events, messages),
        *_answer_titles(ranked),
        *_overlap_titles(overlap),
    ]
    title = max(
        proposals, key=lambda one: one.score, default=TitleCandidate("", 0.0)
    ).title
    title = title or _fallback_title(events, messages, actions)
    bullets = _compose_bullets(events, ranked, actions, title)
    return Summary(title, bullets)


def _read_messages(events: Sequence[Event]) -> dict[int, list[Sentence]]:
    return {
        index: message_sentences(event.text)
        for index, event in enumerate(events)
        if event.is_message
    }


def _request_titles(
    events: Sequence[Event], messages: Mapping[int, Sequence[Sentence]]
) -> Iterator[TitleCandidate]:
    """Yield the titles of the requests; the first one scores best."""
    later_penalty = 0.0
    for index, parts in messages.items():
        request = None
        if events[index].role is EventRole.USER:
            request = titles.title_from_request(parts)
        if request:
            is_late = index > LATE_SHARE * len(events)
            penalty = LATE_PENALTY if is_late else later_penalty
            yield TitleCandidate(request.title, request.score - penalty)
            later_penalty = LATER_PENALTY


def _commit_titles(
    commits: Sequence[ActionLine], score: float
) -> Iterator[TitleCandidate]:
    for index, commit in enumerate(commits):
        title = titles.tidy_title(commit.text)
        if titles.count_content_words(title) >= titles.MIN_CONTENT_WORDS:
            yield TitleCandidate(title, score - index / 100)


def _heading_titles(
    events: Sequence[Event], messages: Mapping[int, Sequence[Sentence]]
) -> Iterator[TitleCandidate]:
    """Yield the headings of the answers."""
    answers = [index for index in messages if events[index].role is not EventRole.USER]
    for index in answers:
        score = (
            FINAL_HEADING_TITLE_SCORE if index == answers[-1] else HEADING_TITLE_SCORE
        )
        for part in messages[index]:
            if part.is_heading and not cues.is_generic_heading(
                titles.strip_label(part.text)
            ):
                title = titles.tidy_title(part.text)
                if titles.count_content_words(title) > titles.MIN_CONTENT_WORDS:
                    yield TitleCandidate(title, score)


def _answer_titles(ranked: Sequence[SentenceCandidate]) -> Iterator[TitleCandidate]:
    for one in sorted(ranked, key=_title_score, reverse=True)[:POOL_SIZE]:
        if one.role is EventRole.USER:
            continue
        title = titles.tidy_title(one.text)
        if titles.count_content_words(title) >= titles.MIN_CONTENT_WORDS:
            score = ANSWER_TITLE_SCORE + ANSWER_TITLE_WEIGHT * _title_score(one)
            yield TitleCandidate(title, min(score, MAX_ANSWER_TITLE_SCORE))


def _overlap_titles(overlap: Sequence[Event]) -> Iterator[TitleCandidate]:
    for event in reversed(overlap):
        if event.is_message and event.role is EventRole.USER:
            request = titles.title_from_request(message_sentences(event.text))
            if request and request.score > titles.SLIGHT:
                yield TitleCandidate(request.title, request.score * OVERLAP_TITLE_SCORE)


def _fallback_title(
    events: Sequence[Event],
    messages: Mapping[int, Sequence[Sentence]],
    actions: SegmentActions,
) -> str:
    """Return a title for a segment without sentences that could be one."""
    if actions.calls is not None:
        return titles.shorten_title(actions.calls.text)
    lines = [part.text for parts in messages.values() for part in parts]
    lines += [
        line for event in events for line in event.text[:BULLET_CHARS].split("\n")
    ]
    title = next(
        filter(None, (titles.tidy_title(strip_markup(line)) for line in lines)),
        EMPTY_TITLE,
    )
    is_only_word = (
        sum(event.is_message for event in events) == 1
        and title.isalpha()
        and title.isascii()
    )
    return f"“{title}”" if is_only_word else title


def _title_score(one: SentenceCandidate) -> float:
    """Return how well a sentence serves as a title: short, and clear by itself."""
    score = (
        one.score - 0.4 * cues.needs_context(one.text) - 0.5 * cues.is_routine(one.text)
    )
    if cues.is_announcement(one.text):
        score += ANNOUNCEMENT_TITLE_BONUS
    return score - 0.25 * (len(one.text) > titles.TITLE_CHARS)


def _compose_bullets(
    events: Sequence[Event],
    ranked: Sequence[SentenceCandidate],
    actions: SegmentActions,
    title: str,
) -> tuple[DraftBullet, ...]:
    """Return the bullets: requests, then actions, then sentences of the answers."""
    min_count, max_count = BULLET_COUNTS[TocLevel.SEGMENT]
    action_lines = [
        actions.calls,
        _commit_line(actions.commits, title),
        *actions.failures[-1:],
    ]
    action_bullets = [
        DraftBullet(shorten(action.text, BULLET_CHARS), action.refs)
        for action in action_lines
        if action
    ]
    seen = [frozenset(analyzer.query_terms(title)), *_term_sets(action_bullets)]
    selected = _select_diverse(
        ranked,
        max_count - len(action_bullets),
        min_count - len(action_bullets),
        seen,
    )
    requests = [one for one in selected if one.role is EventRole.USER]
    answers = [one for one in selected if one.role is not EventRole.USER]
    bullets = (*_draft_bullets(requests), *action_bullets, *_draft_bullets(answers))
    if bullets:
        return bullets
    if ranked:
        return (
            DraftBullet(
                shorten(ranked[0].text, BULLET_CHARS), (ranked[0].event_index,)
            ),
        )
    index = next((i for i, event in enumerate(events) if event.text.strip()), 0)
    text = shorten(strip_markup(events[index].text[: 4 * BULLET_CHARS]), BULLET_CHARS)
    return (DraftBullet(text or title, (index,)),)


def _commit_line(commits: Sequence[ActionLine], title: str) -> ActionLine | None:
    """Return a line of the last commits whose subjects the title does not repeat."""
    title_terms = [frozenset(analyzer.query_terms(title))]
    new_commits = [
        one
        for one in commits
        if titles.count_content_words(one.text)
        and _overlap(frozenset(analyzer.query_terms(one.text)), title_terms)
        < MAX_TITLE_OVERLAP
    ][-2:]
    if not new_commits:
        return None
    quoted = "; ".join(f"“{one.text}”" for one in new_commits)
    return ActionLine(
        f"Committed {quoted}", tuple(ref for one in new_commits for ref in one.refs)
    )


def _term_sets(bullets: Iterable[DraftBullet]) -> list[frozenset[str]]:
    return [frozenset(analyzer.query_terms(bullet.text)) for bullet in bullets]


def _draft_bullets(sentences: Iterable[SentenceCandidate]) -> list[DraftBullet]:
    return [
        DraftBullet(shorten(one.text, BULLET_CHARS), (one.event_index,))
        for one in sorted(sentences, key=lambda one: one.order)
    ]


def _select_diverse(
    ranked: Sequence[SentenceCandidate],
    max_count: int,
    min_count: int,
    seen: Iterable[frozenset[str]],
) -> list[SentenceCandidate]:
    """Select the best sentences by maximal marginal relevance.

    Args:
        ranked: The sentences, best first.
        max_count: The maximum number to select.
        min_count: Below this number, poor sentences are selected too.
        seen: The terms of the title and of each bullet there is already.
    """
    pool = list(ranked[:POOL_SIZE])
    overlaps = {one.order: _overlap(one.terms, seen) for one in pool}
    selected: list[SentenceCandidate] = []
    requests = 0
    while pool and len(selected) < max_count:
        best = max(
            pool,
            key=lambda one: (
                MMR_LAMBDA * one.score - (1 - MMR_LAMBDA) * overlaps[one.order]
            ),
        )
        pool.remove(best)
        if overlaps[best.order] > MAX_OVERLAP or (
            best.score < MIN_SCORE and len(selected) >= min_count
        ):
            continue
        if best.score < 0 and (
            selected or min_count < BULLET_COUNTS[TocLevel.SEGMENT][0]
        ):
            continue
        if best.role is EventRole.USER and requests == MAX_REQUEST_BULLETS:
            continue
        requests += best.role is EventRole.USER
        selected.append(best)
        for one in pool:
            similarity = _overlap(one.terms, [best.terms])
            overlaps[one.order] = max(overlaps[one.order], similarity)
    return selected


def _overlap(terms: frozenset[str], others: Iterable[frozenset[str]]) -> float:
    """Return the largest share of these terms that one of the others contains."""
    return max(
        (len(terms & other) / len(terms) for other in others if terms), default=0.0
    )
