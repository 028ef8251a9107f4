"""Extract: a summary out of a segment's own sentences, without a model.

What was asked, what was done, what failed and what was concluded: the best sentences
are taken one by one, each as unlike the ones before as it can be (maximal marginal
relevance, Carbonell & Goldstein, 1998).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from memtui.memory import deeds, words
from memtui.memory.deeds import Deed
from memtui.memory.events import Event, EventRole
from memtui.memory.extracts import cues, ranking, titles
from memtui.memory.extracts.prose import Sentence, plain, sentences, shorten
from memtui.memory.extracts.ranking import Candidate
from memtui.memory.summaries import Claim, Summary
from memtui.memory.toc import BULLETS, TocLevel

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
class Acts:
    """What tools did in a segment."""

    work: Deed | None
    commits: Sequence[Deed]
    failures: Sequence[Deed]


@dataclass(frozen=True, slots=True)
class Proposal:
    """A line that could be the title, and how good a title it is."""

    title: str
    worth: float


def summarize(events: Sequence[Event], context: Sequence[Event] = ()) -> Summary:
    """Summarise a segment in its own words.

    Args:
        events: The events of the segment in their order, the overlap left out.
        context: The overlap: what was asked there names a segment that says nothing.

    Returns:
        A title and one to five bullets; ``refs`` are places in ``events``.
    """
    said = _said(events)
    ranked = ranking.rank(events, said)
    acts = Acts(deeds.done(events), deeds.commits(events), deeds.failures(events))
    proposals = [
        *_requested(events, said),
        *_committed_titles(acts.commits, COMMITTED),
        *_committed_titles(deeds.commits(events, are_made=False), TRIED),
        *_headed(events, said),
        *_concluded(ranked),
        *_continued(context),
    ]
    title = max(proposals, key=lambda one: one.worth, default=Proposal("", 0.0)).title
    title = title or _least_title(events, said, acts)
    bullets = _bullets(events, ranked, acts, title)
    return Summary(title, bullets)


def _said(events: Sequence[Event]) -> dict[int, list[Sentence]]:
    return {
        at: sentences(event.text) for at, event in enumerate(events) if event.is_message
    }


def _requested(
    events: Sequence[Event], said: Mapping[int, Sequence[Sentence]]
) -> Iterator[Proposal]:
    """The titles of the requests; the first one is what a segment is about."""
    lost = 0.0
    for at, parts in said.items():
        request = None
        if events[at].role is EventRole.USER:
            request = titles.of_request(parts)
        if request:
            late = BELATED if at > LATE * len(events) else lost
            yield Proposal(request.title, request.worth - late)
            lost = LATER


def _committed_titles(commits: Sequence[Deed], worth: float) -> Iterator[Proposal]:
    for at, commit in enumerate(commits):
        title = titles.tidy(commit.text)
        if titles.telling(title) >= titles.TELLING:
            yield Proposal(title, worth - at / 100)


def _headed(
    events: Sequence[Event], said: Mapping[int, Sequence[Sentence]]
) -> Iterator[Proposal]:
    """The headings an assistant gave its work, those of the end first."""
    answers = [at for at in said if events[at].role is not EventRole.USER]
    for at in answers:
        worth = HEADED if at == answers[-1] else PASSING
        for part in said[at]:
            if part.is_heading and not cues.is_dull_heading(
                titles.unlabelled(part.text)
            ):
                title = titles.tidy(part.text)
                if titles.telling(title) > titles.TELLING:
                    yield Proposal(title, worth)


def _concluded(ranked: Sequence[Candidate]) -> Iterator[Proposal]:
    for one in sorted(ranked, key=_as_title, reverse=True)[:POOL]:
        if one.role is EventRole.USER:
            continue
        title = titles.tidy(one.text)
        if titles.telling(title) >= titles.TELLING:
            worth = CONCLUDED + BY_WORTH * _as_title(one)
            yield Proposal(title, min(worth, MOST_CONCLUDED))


def _continued(context: Sequence[Event]) -> Iterator[Proposal]:
    for event in reversed(context):
        if event.is_message and event.role is EventRole.USER:
            request = titles.of_request(sentences(event.text))
            if request and request.worth > titles.SLIGHT:
                yield Proposal(request.title, request.worth * CONTINUED)


def _least_title(
    events: Sequence[Event], said: Mapping[int, Sequence[Sentence]], acts: Acts
) -> str:
    """A title for a segment in which nothing tells what it was about."""
    if acts.work is not None:
        return titles.fit(acts.work.text)
    least = [part.text for parts in said.values() for part in parts]
    least += [
        line for event in events for line in event.text[:BULLET_CHARS].split("\n")
    ]
    bare = next(filter(None, (titles.tidy(plain(line)) for line in least)), NOTHING)
    alone = (
        sum(event.is_message for event in events) == 1
        and bare.isalpha()
        and bare.isascii()
    )
    return f"“{bare}”" if alone else bare


def _as_title(one: Candidate) -> float:
    """How well a sentence would do as a title: short, and standing by itself."""
    score = one.worth - 0.4 * cues.dangles(one.text) - 0.5 * cues.is_routine(one.text)
    if cues.announces(one.text):
        score += ANNOUNCED_TITLE
    return score - 0.25 * (len(one.text) > titles.TITLE_CHARS)


def _bullets(
    events: Sequence[Event],
    ranked: Sequence[Candidate],
    acts: Acts,
    title: str,
) -> tuple[Claim, ...]:
    """What was asked, done, went wrong and was concluded, in this order."""
    least, most = BULLETS[TocLevel.SEGMENT]
    composed = [acts.work, _committed(acts.commits, title), *acts.failures[-1:]]
    acted = [
        Claim(shorten(deed.text, BULLET_CHARS), deed.refs) for deed in composed if deed
    ]
    seen = [frozenset(words.needed(title)), *_bags(acted)]
    taken = _diverse(ranked, most - len(acted), least - len(acted), seen)
    asked = [one for one in taken if one.role is EventRole.USER]
    told = [one for one in taken if one.role is not EventRole.USER]
    claims = (*_claims(asked), *acted, *_claims(told))
    if claims:
        return claims
    if ranked:
        return (Claim(shorten(ranked[0].text, BULLET_CHARS), (ranked[0].ref,)),)
    at = next((at for at, event in enumerate(events) if event.text.strip()), 0)
    first = shorten(plain(events[at].text[: 4 * BULLET_CHARS]), BULLET_CHARS)
    return (Claim(first or title, (at,)),)


def _committed(commits: Sequence[Deed], title: str) -> Deed | None:
    named = [frozenset(words.needed(title))]
    fresh = [
        one
        for one in commits
        if titles.telling(one.text)
        and _likeness(frozenset(words.needed(one.text)), named) < SAME
    ][-2:]
    if not fresh:
        return None
    quoted = "; ".join(f"“{one.text}”" for one in fresh)
    return Deed(f"Committed {quoted}", tuple(ref for one in fresh for ref in one.refs))


def _bags(claims: Iterable[Claim]) -> list[frozenset[str]]:
    return [frozenset(words.needed(claim.text)) for claim in claims]


def _claims(taken: Iterable[Candidate]) -> list[Claim]:
    return [
        Claim(shorten(one.text, BULLET_CHARS), (one.ref,))
        for one in sorted(taken, key=lambda one: one.order)
    ]


def _diverse(
    ranked: Sequence[Candidate],
    most: int,
    least: int,
    seen: Iterable[frozenset[str]],
) -> list[Candidate]:
    """Take the best, each unlike those before it (maximal marginal relevance)."""
    pool = list(ranked[:POOL])
    near = {one.order: _likeness(one.terms, seen) for one in pool}
    taken: list[Candidate] = []
    asked = 0
    while pool and len(taken) < most:
        best = max(
            pool, key=lambda one: LAMBDA * one.worth - (1 - LAMBDA) * near[one.order]
        )
        pool.remove(best)
        if near[best.order] > LIKE or (best.worth < ENOUGH and len(taken) >= least):
            continue
        if best.worth < 0 and (taken or least < BULLETS[TocLevel.SEGMENT][0]):
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
