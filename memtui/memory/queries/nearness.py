"""Nearness: what the text of a message adds to which words it holds.

Words of a query that follow one another there say more where they stand near one
another (after Metzler and Croft, "A Markov random field model for term dependencies",
2005), and a word in the very form that was asked for says more than another form.
"""

from collections.abc import Callable, Mapping
from itertools import pairwise

from memtui.memory import words
from memtui.memory.queries import Query
from memtui.memory.words import chunks

NEAR = 8
"""So many words apart, two words are still near."""

READ_CHARS = 4_000
"""How much of a message is read, in characters."""

EXACT = 0.3
"""What the form that was asked for adds, against the word itself."""


VERBATIM = 0.5
"""What a text adds that holds the whole query as it was typed, against its words."""


def bonus(text: str, query: Query, rarities: Mapping[str, float]) -> float:
    """What a text's wording adds to its relevance, in the units of the rarities.

    Args:
        text: What was said.
        query: What is asked for.
        rarities: What each term of the query is worth.
    """
    return bonuses(query, rarities)(text)


def bonuses(query: Query, rarities: Mapping[str, float]) -> Callable[[str], float]:
    """The same for many texts."""
    wholes = {word.whole for word in query.words if word.whole}
    told = _Told(frozenset([*rarities, *wholes]))

    def bonus_of(text: str) -> float:
        stands: dict[str, list[int]] = {}
        for at, chunk in enumerate(chunks.of(text[:READ_CHARS])):
            for term in told[chunk]:
                stands.setdefault(term, []).append(at)
        added = 0.0
        for one, other in pairwise(query.terms):
            if one in stands and other in stands:
                # Of a query's terms only the first ones have a worth.
                worth = min(rarities.get(one, 0.0), rarities.get(other, 0.0))
                if worth and _are_near(stands[one], stands[other]):
                    added += worth
        for word in query.words:
            if word.whole in stands:
                added += EXACT * max(rarities.get(term, 0.0) for term in word.terms)
        return added + _verbatim(text, query, rarities)

    return bonus_of


class _Told(dict[str, tuple[str, ...]]):
    """Which of some terms a chunk gives: each is looked at once."""

    def __init__(self, wanted: frozenset[str]) -> None:
        self._wanted, self._likely = wanted, words.may_give(wanted)

    def __missing__(self, chunk: str) -> tuple[str, ...]:
        found: tuple[str, ...] = ()
        if self._likely(chunk):
            terms = words.terms_of(chunk)
            found = tuple(term for term in terms if term in self._wanted)
        self[chunk] = found
        return found


def _verbatim(text: str, query: Query, rarities: Mapping[str, float]) -> float:
    """What it adds that the query, or an identifier of it, stands there as typed."""
    folded = text.casefold()
    added = 0.0
    for word in query.words:
        if len(word.terms) > 1 and word.text.casefold() in folded:
            added += sum(rarities.get(term, 0.0) for term in word.terms)
    typed = query.text.strip().casefold()
    if not typed.isalnum() and typed in folded:
        added += VERBATIM * sum(rarities.values())
    return added


def _are_near(some: list[int], others: list[int]) -> bool:
    """Whether two words are ever near; both lists are in their order."""
    one = other = 0
    while one < len(some) and other < len(others):
        apart = others[other] - some[one]
        if abs(apart) <= NEAR:
            return True
        one, other = (one + 1, other) if apart > 0 else (one, other + 1)
    return False
