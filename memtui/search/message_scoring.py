"""Relevance: how well messages, what stands around them and their sessions answer.

BM25 (Robertson and Zaragoza, 2009) on three sizes of text: a message, a window of it
with the one before and the two after it, and the whole conversation. A word counts
once a message, however often it is said there: on labelled conversations that is as
good as counting, and needs no more than knowing who holds what.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import accumulate, pairwise
from typing import NamedTuple

from memtui.search.query import Query
from memtui.text import analyzer

K1 = 1.2
"""How soon saying a word again adds nothing."""

B = 0.6
"""How much a text's length counts against it."""

MOST = (K1 + 1) / (1 + K1 * (1 - B))
"""The most that a word adds to a message's relevance, for each unit of its worth."""

BEFORE, AFTER = 1, 2
"""A window: so many messages before the one it is of, and so many after."""

WEIGHED = 1_200
"""How many messages are weighed at most: those that hold the rarest words."""


class Spot(NamedTuple):
    """A message that holds some of the words."""

    number: int
    thread: int
    """Its conversation."""
    place: int
    """Where it stands there: neighbours have neighbouring numbers."""
    size: int
    """How many terms it has."""
    held: int
    """Which words it holds, a bit for each."""
    weight: float = 1.0
    """What a word is worth that stands here."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """What messages are weighed against."""

    counts: Sequence[float]
    """How many messages hold each word."""
    messages: int
    """How many there are."""
    size: int
    """How many terms they have."""
    threads: int
    """How many conversations they are of."""

    def rarities(self) -> list[float]:
        """What each word is worth, by how few messages hold it."""
        return [_rarity(count, self.messages) for count in self.counts]


@dataclass(slots=True)
class Weighed:
    """What is relevant, by the numbers of messages and conversations."""

    messages: dict[int, float] = field(default_factory=dict)
    windows: dict[int, float] = field(default_factory=dict)
    """Of the windows around messages that hold a word."""
    threads: dict[int, float] = field(default_factory=dict)


def likeliest(held: Mapping[int, int], rarities: Sequence[float]) -> list[int]:
    """Of many messages those that hold the rarest words, the newest among equals.

    Args:
        held: Which words each message holds.
        rarities: What each word is worth.
    """
    if len(held) <= WEIGHED:
        return list(held)
    of, alike = worth(rarities), dict[float, list[int]]()
    counts = Counter(held.values())
    for words in counts:
        alike.setdefault(of(words), []).append(words)
    better, last, room = set[int](), set[int](), WEIGHED
    for value in sorted(alike, reverse=True):
        last = set(alike[value])
        if (many := sum(counts[words] for words in last)) >= room:
            break
        better |= last
        room -= many
    best = [number for number, words in held.items() if words in better]
    some = [number for number, words in held.items() if words in last]
    return best + sorted(some, reverse=True)[:room]


def are_enough(
    held: Mapping[int, int], rarities: Sequence[float], least: float
) -> bool:
    """Whether no more are weighed than hold words that are worth more than that."""
    of = worth(rarities)
    better = (n for words, n in Counter(held.values()).items() if of(words) > least)
    return sum(better) >= WEIGHED


def weigh(spots: Sequence[Spot], corpus: Corpus, sizes: Mapping[int, int]) -> Weighed:
    """Weigh messages, windows and conversations.

    Args:
        spots: The messages that hold any of the words.
        corpus: All there is.
        sizes: How many terms each of their conversations has.
    """
    rarities = corpus.rarities()
    of = worth(rarities)
    usual = corpus.size / max(corpus.messages, 1) or 1.0
    weighed = Weighed()
    for spot in spots:
        length = K1 * (1 - B + B * spot.size / usual)
        gain = spot.weight * (K1 + 1) / (spot.weight + length)
        weighed.messages[spot.number] = of(spot.held) * gain
    by_thread: dict[int, list[Spot]] = defaultdict(list)
    for spot in spots:
        by_thread[spot.thread].append(spot)
    for mine in by_thread.values():
        mine.sort(key=lambda spot: spot.place)
        weighed.windows |= _windows(mine, rarities, of, usual)
    weighed.threads = _threads(by_thread, corpus, sizes)
    return weighed


def _windows(
    spots: Sequence[Spot],
    rarities: Sequence[float],
    of: Callable[[int], float],
    usual: float,
) -> dict[int, float]:
    """The windows of a conversation's messages that hold a word, in their order.

    What stands in a window and holds none has the usual length.
    """
    found = {}
    whole = usual * (1 + BEFORE + AFTER)
    if len(spots) == 1:
        (spot,) = spots
        length = K1 * (1 - B + B * (whole + spot.size - usual) / whole)
        gain = spot.weight * (K1 + 1) / (spot.weight + length)
        return {spot.number: of(spot.held) * gain}
    places = [spot.place for spot in spots]
    more = list(accumulate((spot.size - usual for spot in spots), initial=0.0))
    first = end = 0
    for number, _, place, _, held, weight in spots:
        while places[first] < place - BEFORE:
            first += 1
        while end < len(places) and places[end] <= place + AFTER:
            end += 1
        size = whole + more[end] - more[first]
        length = K1 * (1 - B + B * size / whole)
        if end - first == 1:
            found[number] = of(held) * weight * (K1 + 1) / (weight + length)
        else:
            found[number] = _sum(_counts(spots[first:end]), rarities, length)
    return found


def _counts(spots: Iterable[Spot]) -> dict[int, float]:
    """How often these messages hold each word."""
    counts: dict[int, float] = {}
    for _, _, _, _, held, weight in spots:
        for word in _bits(held):
            counts[word] = counts.get(word, 0.0) + weight
    return counts


def _threads(
    by_thread: Mapping[int, Sequence[Spot]], corpus: Corpus, sizes: Mapping[int, int]
) -> dict[int, float]:
    counts = {thread: _counts(spots) for thread, spots in by_thread.items()}
    holding = [0.0] * len(corpus.counts)
    for mine in counts.values():
        for word in mine:
            holding[word] += 1
    rarities = [_rarity(count, corpus.threads) for count in holding]
    usual = corpus.size / max(corpus.threads, 1) or 1.0
    return {
        thread: _sum(mine, rarities, K1 * (1 - B + B * sizes[thread] / usual))
        for thread, mine in counts.items()
    }


def _sum(
    counts: Mapping[int, float], rarities: Sequence[float], length: float
) -> float:
    total = 0.0
    for word, count in counts.items():
        total += rarities[word] * count * (K1 + 1) / (count + length)
    return total


def _rarity(holding: float, of: float) -> float:
    """BM25's weight of a word that so many texts hold, never below zero."""
    return math.log(1 + (max(of - holding, 0.0) + 0.5) / (holding + 0.5))


def worth(rarities: Sequence[float]) -> Callable[[int], float]:
    """What the words are worth together that a message holds."""

    @cache
    def of(held: int) -> float:
        return sum(rarities[word] for word in _bits(held))

    return of


@lru_cache(maxsize=4096)
def _bits(held: int) -> tuple[int, ...]:
    return tuple(at for at in range(held.bit_length()) if held >> at & 1)


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
    wholes = {word.exact for word in query.words if word.exact}
    told = _Told(frozenset([*rarities, *wholes]))

    def bonus_of(text: str) -> float:
        stands: dict[str, list[int]] = {}
        for at, chunk in enumerate(analyzer.words(text[:READ_CHARS])):
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
            if word.exact in stands:
                added += EXACT * max(rarities.get(term, 0.0) for term in word.terms)
        return added + _verbatim(text, query, rarities)

    return bonus_of


class _Told(dict[str, tuple[str, ...]]):
    """Which of some terms a chunk gives: each is looked at once."""

    def __init__(self, wanted: frozenset[str]) -> None:
        self._wanted, self._likely = wanted, analyzer.term_prefilter(wanted)

    def __missing__(self, chunk: str) -> tuple[str, ...]:
        found: tuple[str, ...] = ()
        if self._likely(chunk):
            terms = analyzer.word_terms(chunk)
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
