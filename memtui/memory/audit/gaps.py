"""Gaps: what a bullet adds in a stretch of its own to what its source says.

A word said otherwise here and there is honest wording; a clause or a long run of words
of which the source holds none is a claim of its own, however well the rest is covered.
"""

import re
from collections.abc import Collection
from functools import lru_cache
from itertools import groupby

from memtui.memory import words
from memtui.memory.audit import particulars
from memtui.memory.words import chunks
from memtui.memory.words.vocabulary import NARRATION, STOP_WORDS

RUN = 3
"""So many telling words in a row that the source lacks are a claim of their own."""

CLAUSE = 2
"""So many are one in a clause of which the source holds none."""

LEAST_TOLD = 2
"""A bullet of fewer telling words, none of them a name, says nothing to look for."""

_CLAUSES = re.compile(
    r"[;:,，；—–(]\s*|\s(?:and|but|because|since|so that|in order to|due to|thanks to"
    r"|after|before|while|although|though|which|und|aber|weil|damit|denn|nachdem)\s"
    r"|因为|所以|但是|而且|以便"
)


def unsaid(text: str, held: Collection[str]) -> tuple[str, ...]:
    """The words of the largest stretch of a text that its source does not say.

    Args:
        text: A bullet, or a clause of one.
        held: Its terms that the source holds.

    Returns:
        The stretch's telling words as they are written; none if it is too short to be
        a claim of its own.
    """
    if sum(term not in held for term in words.needed(text)) < CLAUSE:
        return ()
    found: list[tuple[str, ...]] = []
    whole: list[tuple[str, bool]] = []
    for clause in _CLAUSES.split(text):
        told = [(one, _is_held(one, held)) for one in chunks.of(clause)]
        told = [one for one in told if _terms(one[0])]
        whole += told
        if told and not any(is_held for _, is_held in told):
            found.append(tuple(word for word, _ in told))
    found = [one for one in found if _size(one) >= CLAUSE]
    for is_held, run in groupby(whole, key=lambda one: one[1]):
        stretch = tuple(word for word, _ in run)
        if not is_held and _size(stretch) >= RUN:
            found.append(stretch)
    return max(found, key=len, default=())


def is_vacuous(text: str) -> bool:
    """Whether a text says too little for a source to say it or not."""
    told = sum(len(_terms(one)) > 0 for one in chunks.of(text))
    if told >= LEAST_TOLD or particulars.of(text):
        return False
    return not any(chunks.is_unspaced(one) and len(one) > 3 for one in chunks.of(text))


def _size(stretch: Collection[str]) -> float:
    """How many words a stretch has; of a script without blanks every second sign."""
    return sum(len(one) / 2 if chunks.is_unspaced(one) else 1 for one in stretch)


def _is_held(word: str, held: Collection[str]) -> bool:
    own = _terms(word)
    return 2 * sum(term in held for term in own) >= len(own)


@lru_cache(maxsize=words.CACHED)
def _terms(word: str) -> tuple[str, ...]:
    """The loosest forms of a word; none of one that tells nothing."""
    if chunks.fold(word) in STOP_WORDS:
        return ()
    found = words.needed(word)
    return () if NARRATION.issuperset(found) else tuple(found)
