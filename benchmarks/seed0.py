"""Seed 0's way of anchoring a bullet, to compare with.

It scores each event by the words in common and takes the run of events that has most;
what a key term is, and when a run ends, it leaves open.
"""

import re
from collections.abc import Sequence

from memtui.model.summaries import DraftBullet

SHORT = 3
"""Words of no more letters are no key terms: seed 0 names no other rule."""

_WORD = re.compile(r"\w+")

Found = tuple[int, int] | None
"""Where a way of anchoring puts a bullet: its start, and the place it would show."""


def ranges(
    claims: Sequence[DraftBullet], turns: Sequence[str], bridged: int = 0
) -> list[Found]:
    """The run of turns with words in common that has most.

    Args:
        claims: The bullets.
        turns: What they are taken from.
        bridged: How many turns without a word in common do not end a run.
    """
    held = [_key_terms(turn) for turn in turns]
    return [_seed(_key_terms(claim.text), held, bridged) for claim in claims]


def _key_terms(text: str) -> frozenset[str]:
    found: list[str] = _WORD.findall(text.lower())
    return frozenset(word for word in found if len(word) > SHORT)


def _seed(
    wanted: frozenset[str], held: Sequence[frozenset[str]], bridged: int
) -> Found:
    best, most, start, score, last = None, 0, 0, 0, -1
    for at, terms in enumerate(held):
        shared = len(wanted & terms)
        if not shared:
            continue
        if at - last > bridged + 1 or not score:
            start, score = at, 0
        score, last = score + shared, at
        if score > most:
            best, most = (start, at), score
    return best


def starts(claims: Sequence[DraftBullet], turns: Sequence[str]) -> list[Found]:
    """The first turn of each range."""
    return [(found[0], found[0]) if found else None for found in ranges(claims, turns)]
