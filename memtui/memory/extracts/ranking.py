"""Ranking: what each sentence of a segment is worth to its summary.

A sentence weighs by how much it holds of what the segment is about (a centroid of
rare words, Radev et al., 2004), by who said it and where, and by its wording.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from memtui.memory import words
from memtui.memory.events import Event, EventRole
from memtui.memory.extracts import cues, titles
from memtui.memory.extracts.prose import Sentence
from memtui.memory.words.vocabulary import VAGUE

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
class Candidate:
    """A sentence that could become a bullet."""

    text: str
    ref: int
    role: EventRole
    prior: float
    order: int
    terms: frozenset[str] = field(default_factory=frozenset)
    worth: float = 0.0


def rank(
    events: Sequence[Event], said: Mapping[int, Sequence[Sentence]]
) -> list[Candidate]:
    """The sentences of a segment with their worth, best first.

    Args:
        events: The events of the segment.
        said: The sentences of its messages, by the place of the event.
    """
    return _weighed(_candidates(events, said))


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
        aside = False
        for place, part in enumerate(parts):
            if part.is_heading:
                aside = cues.is_side_section(part.text)
            if EACH_MESSAGE // 2 <= place <= last - EACH_MESSAGE // 2:
                continue
            prior = base + _standing(part, place, last) - ASIDE * aside
            if role is EventRole.USER:
                prior -= LISTED * part.is_item + LISTED * (place >= PASTED)
            text = cues.without_interjection(part.text)
            found.append(Candidate(text, at, role, prior, len(found)))
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
    if len(part.text) > LONG_CHARS:
        score -= 0.1
    return score


def _weighed(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates with their worth, best first."""
    bags = [words.needed(candidate.text) for candidate in candidates]
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
        worth = CENTRAL * central / most + candidate.prior + cues.worth(candidate.text)
        if cues.leans(candidate.text):
            worth -= LEANING
        terms = frozenset(bag)
        if len(terms - VAGUE) < titles.TELLING:
            worth -= VAGUENESS
        if len(bag) < SHORT:
            worth -= 0.12 * (SHORT - len(bag))
        weighed.append(replace(candidate, terms=terms, worth=worth))
    return sorted(weighed, key=lambda one: (-one.worth, one.order))
