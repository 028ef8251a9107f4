"""Extract: a summary out of a segment's own sentences, without a model.

What was asked, what was done, what failed and what was concluded: the best sentences
are taken one by one, each as unlike the ones before as it can be (maximal marginal
relevance, Carbonell & Goldstein, 1998).
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
"""A longer sentence would be cut as a bullet, and loses a little."""

LEANING = 0.08
"""What beginning with "This" or "They" costs."""

VAGUENESS = 0.25
"""What a sentence loses that does not name what it is about."""

SHORT = 4
"""A sentence of fewer telling words loses for each it lacks."""

EACH_MESSAGE = 40
"""How many sentences of one message are looked at: its first and last ones."""

CENTRAL = 0.5
"""What the sentence that holds most of what the segment is about gains by that."""

FIRST_REQUEST, OTHER_REQUEST, FINAL_ANSWER, OTHER_ANSWER = 0.3, 0.25, 0.22, 0.05
"""What a sentence gains by who said it and where."""

ASIDE = 0.4
"""What standing under a heading like "Verification" costs a sentence."""

LISTED = 0.15
"""What being a list entry, or far down in a long request, costs what a person wrote."""

PASTED = 10
"""From this sentence on a request is taken for a document."""


@dataclass(frozen=True, slots=True)
class SentenceCandidate:
    """A sentence that could become a bullet."""

    text: str
    ref: int
    role: EventRole
    prior: float
    order: int
    terms: frozenset[str] = field(default_factory=frozenset)
    worth: float = 0.0


def rank_sentences(
    events: Sequence[Event], said: Mapping[int, Sequence[Sentence]]
) -> list[SentenceCandidate]:
    """The sentences of a segment with their worth, best first.

    Args:
        events: The events of the segment.
        said: The sentences of its messages, by the place of the event.
    """
    return _weighed(_candidates(events, said))


def _candidates(
    events: Sequence[Event], said: Mapping[int, Sequence[Sentence]]
) -> list[SentenceCandidate]:
    """Every sentence worth a look, with what its place and its author give it."""
    found: list[SentenceCandidate] = []
    asked = next((at for at in said if _asks(events[at], said[at])), -1)
    for at, parts in said.items():
        role = events[at].role
        base = _base(events, said, at, asked)
        last = len(parts) - 1
        aside = False
        for place, part in enumerate(parts):
            if part.is_heading:
                aside = cues.is_minor_heading(part.text)
            if EACH_MESSAGE // 2 <= place <= last - EACH_MESSAGE // 2:
                continue
            prior = base + _standing(part, place, last) - ASIDE * aside
            if role is EventRole.USER:
                prior -= LISTED * part.is_item + LISTED * (place >= PASTED)
            text = cues.strip_interjection(part.text)
            found.append(SentenceCandidate(text, at, role, prior, len(found)))
    return found


def _asks(event: Event, parts: Sequence[Sentence]) -> bool:
    return event.role is EventRole.USER and any(
        titles.count_content_words(part.text) >= titles.MIN_CONTENT_WORDS
        for part in parts[:EACH_MESSAGE]
    )


def _base(
    events: Sequence[Event], said: Mapping[int, object], at: int, asked: int
) -> float:
    """What a message's author and its place in the talk give its sentences."""
    if events[at].role is EventRole.USER:
        return FIRST_REQUEST if at == asked else OTHER_REQUEST
    following = next((later for later in said if later > at), None)
    is_final = following is None or events[following].role is EventRole.USER
    return FINAL_ANSWER if is_final else OTHER_ANSWER


def _standing(part: Sentence, place: int, last: int) -> float:
    """What a sentence's place in its message and its shape give it."""
    score = 0.12 if place == 0 else 0.06 if place <= 2 else 0.0
    if place == last:
        score += 0.04
    if part.is_heading:
        score -= 0.5 if cues.is_generic_heading(part.text) else 0.25
    if len(part.text) > LONG_CHARS:
        score -= 0.1
    return score


def _weighed(candidates: Sequence[SentenceCandidate]) -> list[SentenceCandidate]:
    """The candidates with their worth, best first."""
    bags = [analyzer.query_terms(candidate.text) for candidate in candidates]
    holding = Counter(chain.from_iterable(bags))
    rare = {
        count: math.log(1 + len(bags) / count) * (1 + math.log(count))
        for count in set(holding.values())
    }
    rarity = {term: rare[count] for term, count in holding.items()}
    about = [
        sum(rarity[term] for term in bag) / math.sqrt(len(bag) + 4) for bag in bags
    ]
    most = max(about, default=0.0) or 1.0
    weighed = []
    for candidate, bag, central in zip(candidates, bags, about, strict=True):
        worth = (
            CENTRAL * central / most
            + candidate.prior
            + cues.wording_score(candidate.text)
        )
        if cues.starts_with_reference(candidate.text):
            worth -= LEANING
        terms = frozenset(bag)
        if len(terms - VAGUE_STEMS) < titles.MIN_CONTENT_WORDS:
            worth -= VAGUENESS
        if len(bag) < SHORT:
            worth -= 0.12 * (SHORT - len(bag))
        weighed.append(replace(candidate, terms=terms, worth=worth))
    return sorted(weighed, key=lambda one: (-one.worth, one.order))


BULLET_CHARS = 240
"""The most characters of a bullet."""

LAMBDA = 0.7
"""How much worth counts against likeness to what was taken already."""

ENOUGH = 0.25
"""A sentence worth less is left out, once there are bullets enough."""

NOTHING = "Nothing was said"
"""What stands for a segment without a word."""

LIKE = 0.6
"""A sentence sharing more of its terms than this with another says nothing new."""

SAME = 0.8
"""A commit's subject sharing so much of its terms with the title only says it again."""

POOL = 60
"""How many of the best sentences are weighed against each other."""

MOST_ASKED = 3
"""How many bullets at most a person's own words make."""

ANNOUNCED_TITLE = 0.7
"""What an announcement gains back as a title: it names the work, if nothing else."""

LATE = 0.6
"""A request after this share of the segment does not name what came before it."""

LATER, BELATED = 0.2, 0.4
"""What a request loses as a title by not being the first, and by coming late."""

COMMITTED, HEADED, TRIED, PASSING, CONTINUED = 0.8, 0.62, 0.62, 0.5, 0.4
"""How good a title a commit's subject is, a heading of the last answer, a commit that
failed, a heading on the way, and the request that the segment goes on with; a request
of its own can have 1."""

CONCLUDED, BY_WORTH, MOST_CONCLUDED = 0.3, 0.2, 0.6
"""How good a title a sentence is, what its worth adds, and the most of both."""


@dataclass(frozen=True, slots=True)
class SegmentActions:
    """What tools did in a segment."""

    work: ActionLine | None
    commits: Sequence[ActionLine]
    failures: Sequence[ActionLine]


@dataclass(frozen=True, slots=True)
class TitleCandidate:
    """A line that could be the title, and how good a title it is."""

    title: str
    worth: float


def summarize_segment(
    events: Sequence[Event], context: Sequence[Event] = ()
) -> Summary:
    """Summarise a segment in its own words.

    Args:
        events: The events of the segment in their order, the overlap left out.
        context: The overlap: what was asked there names a segment that says nothing.

    Returns:
        A title and one to five bullets; ``refs`` are places in ``events``.
    """
    said = _said(events)
    ranked = rank_sentences(events, said)
    acts = SegmentActions(
        tool_actions.summarize_calls(events),
        tool_actions.find_commits(events),
        tool_actions.find_failures(events),
    )
    proposals = [
        *_requested(events, said),
        *_committed_titles(acts.commits, COMMITTED),
        *_committed_titles(tool_actions.find_commits(events, are_made=False), TRIED),
        *_headed(events, said),
        *_concluded(ranked),
        *_continued(context),
    ]
    title = max(
        proposals, key=lambda one: one.worth, default=TitleCandidate("", 0.0)
    ).title
    title = title or _least_title(events, said, acts)
    bullets = _bullets(events, ranked, acts, title)
    return Summary(title, bullets)


def _said(events: Sequence[Event]) -> dict[int, list[Sentence]]:
    return {
        at: message_sentences(event.text)
        for at, event in enumerate(events)
        if event.is_message
    }


def _requested(
    events: Sequence[Event], said: Mapping[int, Sequence[Sentence]]
) -> Iterator[TitleCandidate]:
    """The titles of the requests; the first one is what a segment is about."""
    lost = 0.0
    for at, parts in said.items():
        request = None
        if events[at].role is EventRole.USER:
            request = titles.title_from_request(parts)
        if request:
            late = BELATED if at > LATE * len(events) else lost
            yield TitleCandidate(request.title, request.worth - late)
            lost = LATER


def _committed_titles(
    commits: Sequence[ActionLine], worth: float
) -> Iterator[TitleCandidate]:
    for at, commit in enumerate(commits):
        title = titles.tidy_title(commit.text)
        if titles.count_content_words(title) >= titles.MIN_CONTENT_WORDS:
            yield TitleCandidate(title, worth - at / 100)


def _headed(
    events: Sequence[Event], said: Mapping[int, Sequence[Sentence]]
) -> Iterator[TitleCandidate]:
    """The headings an assistant gave its work, those of the end first."""
    answers = [at for at in said if events[at].role is not EventRole.USER]
    for at in answers:
        worth = HEADED if at == answers[-1] else PASSING
        for part in said[at]:
            if part.is_heading and not cues.is_generic_heading(
                titles.strip_label(part.text)
            ):
                title = titles.tidy_title(part.text)
                if titles.count_content_words(title) > titles.MIN_CONTENT_WORDS:
                    yield TitleCandidate(title, worth)


def _concluded(ranked: Sequence[SentenceCandidate]) -> Iterator[TitleCandidate]:
    for one in sorted(ranked, key=_as_title, reverse=True)[:POOL]:
        if one.role is EventRole.USER:
            continue
        title = titles.tidy_title(one.text)
        if titles.count_content_words(title) >= titles.MIN_CONTENT_WORDS:
            worth = CONCLUDED + BY_WORTH * _as_title(one)
            yield TitleCandidate(title, min(worth, MOST_CONCLUDED))


def _continued(context: Sequence[Event]) -> Iterator[TitleCandidate]:
    for event in reversed(context):
        if event.is_message and event.role is EventRole.USER:
            request = titles.title_from_request(message_sentences(event.text))
            if request and request.worth > titles.SLIGHT:
                yield TitleCandidate(request.title, request.worth * CONTINUED)


def _least_title(
    events: Sequence[Event],
    said: Mapping[int, Sequence[Sentence]],
    acts: SegmentActions,
) -> str:
    """A title for a segment in which nothing tells what it was about."""
    if acts.work is not None:
        return titles.shorten_title(acts.work.text)
    least = [part.text for parts in said.values() for part in parts]
    least += [
        line for event in events for line in event.text[:BULLET_CHARS].split("\n")
    ]
    bare = next(
        filter(None, (titles.tidy_title(strip_markup(line)) for line in least)), NOTHING
    )
    alone = (
        sum(event.is_message for event in events) == 1
        and bare.isalpha()
        and bare.isascii()
    )
    return f"“{bare}”" if alone else bare


def _as_title(one: SentenceCandidate) -> float:
    """How well a sentence would do as a title: short, and standing by itself."""
    score = (
        one.worth - 0.4 * cues.needs_context(one.text) - 0.5 * cues.is_routine(one.text)
    )
    if cues.is_announcement(one.text):
        score += ANNOUNCED_TITLE
    return score - 0.25 * (len(one.text) > titles.TITLE_CHARS)


def _bullets(
    events: Sequence[Event],
    ranked: Sequence[SentenceCandidate],
    acts: SegmentActions,
    title: str,
) -> tuple[DraftBullet, ...]:
    """What was asked, done, went wrong and was concluded, in this order."""
    least, most = BULLET_COUNTS[TocLevel.SEGMENT]
    composed = [acts.work, _committed(acts.commits, title), *acts.failures[-1:]]
    acted = [
        DraftBullet(shorten(deed.text, BULLET_CHARS), deed.refs)
        for deed in composed
        if deed
    ]
    seen = [frozenset(analyzer.query_terms(title)), *_bags(acted)]
    taken = _diverse(ranked, most - len(acted), least - len(acted), seen)
    asked = [one for one in taken if one.role is EventRole.USER]
    told = [one for one in taken if one.role is not EventRole.USER]
    claims = (*_claims(asked), *acted, *_claims(told))
    if claims:
        return claims
    if ranked:
        return (DraftBullet(shorten(ranked[0].text, BULLET_CHARS), (ranked[0].ref,)),)
    at = next((at for at, event in enumerate(events) if event.text.strip()), 0)
    first = shorten(strip_markup(events[at].text[: 4 * BULLET_CHARS]), BULLET_CHARS)
    return (DraftBullet(first or title, (at,)),)


def _committed(commits: Sequence[ActionLine], title: str) -> ActionLine | None:
    named = [frozenset(analyzer.query_terms(title))]
    fresh = [
        one
        for one in commits
        if titles.count_content_words(one.text)
        and _likeness(frozenset(analyzer.query_terms(one.text)), named) < SAME
    ][-2:]
    if not fresh:
        return None
    quoted = "; ".join(f"“{one.text}”" for one in fresh)
    return ActionLine(
        f"Committed {quoted}", tuple(ref for one in fresh for ref in one.refs)
    )


def _bags(claims: Iterable[DraftBullet]) -> list[frozenset[str]]:
    return [frozenset(analyzer.query_terms(claim.text)) for claim in claims]


def _claims(taken: Iterable[SentenceCandidate]) -> list[DraftBullet]:
    return [
        DraftBullet(shorten(one.text, BULLET_CHARS), (one.ref,))
        for one in sorted(taken, key=lambda one: one.order)
    ]


def _diverse(
    ranked: Sequence[SentenceCandidate],
    most: int,
    least: int,
    seen: Iterable[frozenset[str]],
) -> list[SentenceCandidate]:
    """Take the best, each unlike those before it (maximal marginal relevance)."""
    pool = list(ranked[:POOL])
    near = {one.order: _likeness(one.terms, seen) for one in pool}
    taken: list[SentenceCandidate] = []
    asked = 0
    while pool and len(taken) < most:
        best = max(
            pool, key=lambda one: LAMBDA * one.worth - (1 - LAMBDA) * near[one.order]
        )
        pool.remove(best)
        if near[best.order] > LIKE or (best.worth < ENOUGH and len(taken) >= least):
            continue
        if best.worth < 0 and (taken or least < BULLET_COUNTS[TocLevel.SEGMENT][0]):
            continue
        if best.role is EventRole.USER and asked == MOST_ASKED:
            continue
        asked += best.role is EventRole.USER
        taken.append(best)
        for one in pool:
            likeness = _likeness(one.terms, [best.terms])
            near[one.order] = max(near[one.order], likeness)
    return taken


def _likeness(terms: frozenset[str], others: Iterable[frozenset[str]]) -> float:
    """The largest share of these terms that another sentence has too."""
    return max(
        (len(terms & other) / len(terms) for other in others if terms), default=0.0
    )
