"""Extract: a summary out of a segment's own sentences, without a model.

What was asked, what was done, what failed and what was concluded: sentences weigh by
how much they hold of what the segment is about (a centroid of rare words, Radev et
al., 2004), by who said them and where, and by cues; the best are taken one by one, each
as unlike the ones before as it can be (maximal marginal relevance, Carbonell &
Goldstein, 1998).
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from memtui.memory import cues, deeds, keywords, titles, words
from memtui.memory.deeds import Deed
from memtui.memory.events import Event, EventRole
from memtui.memory.prose import Sentence, plain, sentences, shorten
from memtui.memory.summaries import Claim, Summary
from memtui.memory.toc import BULLETS, TocLevel

BULLET_CHARS = 240
"""The most characters of a bullet."""

LAMBDA = 0.7
"""How much worth counts against likeness to what was taken already."""

EACH_MESSAGE = 40
"""How many sentences of one message are looked at: its first and last ones."""

ENOUGH = 0.25
"""A sentence worth less is left out, once there are bullets enough."""

NOTHING = "Nothing was said"
"""What stands for a segment without a word."""

LIKE = 0.6
"""A sentence sharing more of its terms than this with another says nothing new."""

POOL = 60
"""How many of the best sentences are weighed against each other."""

CENTRAL = 0.5
"""What the sentence that holds most of what the segment is about gains by that."""

FIRST_REQUEST, OTHER_REQUEST, FINAL_ANSWER, OTHER_ANSWER = 0.3, 0.25, 0.22, 0.05
"""What a sentence gains by who said it and where."""

LATE = 0.6
"""A request after this share of the segment does not name what came before it."""


@dataclass(frozen=True, slots=True)
class Acts:
    """What tools did in a segment."""

    work: Deed | None
    commits: Sequence[Deed]
    failures: Sequence[Deed]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence that could become a bullet."""

    text: str
    ref: int
    role: EventRole
    prior: float
    order: int
    terms: frozenset[str] = field(default_factory=frozenset)
    worth: float = 0.0


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
    ranked = _weighed(_candidates(events, said))
    acts = Acts(deeds.done(events), deeds.commits(events), deeds.failures(events))
    title = _title(events, said, ranked, acts)
    bullets = _bullets(events, ranked, acts, title)
    return Summary(title, bullets, keywords.of_events(events))


def _candidates(
    events: Sequence[Event], said: Mapping[int, Sequence[Sentence]]
) -> list[Candidate]:
    """Every sentence worth a look, with what its place and its author give it."""
    found: list[Candidate] = []
    asked = next((at for at in said if _asks(events[at], said[at])), -1)
    for at, parts in said.items():
        role = events[at].role
        base = _base(events, said, at, asked)
        last = len(parts) - 1
        for place, part in enumerate(parts):
            if EACH_MESSAGE // 2 <= place <= last - EACH_MESSAGE // 2:
                continue
            prior = base + _standing(part, place, last)
            found.append(Candidate(part.text, at, role, prior, len(found)))
    return found


def _asks(event: Event, parts: Sequence[Sentence]) -> bool:
    return event.role is EventRole.USER and any(
        titles.telling(part.text) >= titles.TELLING for part in parts[:EACH_MESSAGE]
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
        score -= 0.5 if cues.is_dull_heading(part.text) else 0.25
    if len(part.text) > 1.5 * BULLET_CHARS:
        score -= 0.1
    return score


def _weighed(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates with their worth, best first."""
    bags = [Counter(words.needed(candidate.text)) for candidate in candidates]
    holding: Counter[str] = Counter()
    for bag in bags:
        holding.update(bag.keys())
    rarity = {
        term: math.log(1 + len(bags) / count) * (1 + math.log(count))
        for term, count in holding.items()
    }
    about = [
        sum(rarity[term] for term in bag) / math.sqrt(len(bag) + 4) for bag in bags
    ]
    most = max(about, default=0.0) or 1.0
    weighed = []
    for candidate, bag, central in zip(candidates, bags, about, strict=True):
        worth = CENTRAL * central / most + candidate.prior + cues.worth(candidate.text)
        if len(bag) < 4:
            worth -= 0.12 * (4 - len(bag))
        weighed.append(replace(candidate, terms=frozenset(bag), worth=worth))
    return sorted(weighed, key=lambda one: (-one.worth, one.order))


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
    fitting = [titles.tidy(one.text) for one in ranked if one.worth > 0]
    for title in [one for one in fitting if not one.endswith("…")] + fitting:
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
    at = next((at for at, event in enumerate(events) if event.text.strip()), 0)
    return (
        Claim(
            shorten(plain(events[at].text[:BULLET_CHARS]), BULLET_CHARS) or title, (at,)
        ),
    )


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
    while pool and len(taken) < most:
        best = max(
            pool, key=lambda one: LAMBDA * one.worth - (1 - LAMBDA) * near[one.order]
        )
        pool.remove(best)
        if near[best.order] > LIKE or (best.worth < ENOUGH and len(taken) >= least):
            continue
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
