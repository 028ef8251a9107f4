"""Extract: a summary out of a segment's own sentences, without a model.

What was asked, what was done, what failed and what was concluded: the best sentences
are taken one by one, each as unlike the ones before as it can be (maximal marginal
relevance, Carbonell & Goldstein, 1998).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from memtui.memory import cues, deeds, keywords, ranking, titles, words
from memtui.memory.deeds import Deed
from memtui.memory.events import Event, EventRole
from memtui.memory.prose import Sentence, plain, sentences, shorten
from memtui.memory.ranking import Candidate
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

POOL = 60
"""How many of the best sentences are weighed against each other."""

MOST_ASKED = 3
"""How many bullets at most a person's own words make."""

ANNOUNCED_TITLE = 0.7
"""What an announcement gains back as a title: it names the work, if nothing else."""

LATE = 0.6
"""A request after this share of the segment does not name what came before it."""


@dataclass(frozen=True, slots=True)
class Acts:
    """What tools did in a segment."""

    work: Deed | None
    commits: Sequence[Deed]
    failures: Sequence[Deed]


def summarize(events: Sequence[Event]) -> Summary:
    """Summarise a segment in its own words.

    Args:
        events: The events of the segment in their order, the overlap left out.

    Returns:
        A title, one to five bullets and keywords; ``refs`` are places in ``events``.
    """
    said = {
        at: sentences(event.text) for at, event in enumerate(events) if event.is_message
    }
    ranked = ranking.rank(events, said)
    acts = Acts(deeds.done(events), deeds.commits(events), deeds.failures(events))
    title = _title(events, said, ranked, acts)
    bullets = _bullets(events, ranked, acts, title)
    return Summary(title, bullets, keywords.of_events(events))


def _title(
    events: Sequence[Event],
    said: Mapping[int, Sequence[Sentence]],
    ranked: Sequence[Candidate],
    acts: Acts,
) -> str:
    """A line for the table of contents: the request, else what came of it."""
    for at, parts in said.items():
        if events[at].role is EventRole.USER:
            asked = titles.of_request(parts)
            if asked and not (acts.commits and at > LATE * len(events)):
                return asked
    if acts.commits:
        return titles.tidy(acts.commits[0].text)
    for one in sorted(ranked, key=_as_title, reverse=True)[:POOL]:
        title = titles.tidy(one.text)
        if titles.telling(title) >= titles.TELLING:
            return title
    if acts.work is not None:
        return shorten(acts.work.text, titles.TITLE_CHARS)
    least = [part.text for parts in said.values() for part in parts]
    least += [
        line for event in events for line in event.text[:BULLET_CHARS].split("\n")
    ]
    bare = (titles.tidy(plain(line)) for line in least)
    return next(filter(None, bare), NOTHING)


def _as_title(one: Candidate) -> float:
    """How well a sentence would do as a title: short, and standing by itself."""
    score = one.worth - 0.4 * cues.leans(one.text)
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
    first = shorten(plain(events[at].text[:BULLET_CHARS]), BULLET_CHARS)
    return (Claim(first or title, (at,)),)


def _committed(commits: Sequence[Deed], title: str) -> Deed | None:
    fresh = [one for one in commits if titles.tidy(one.text) != title][-2:]
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
