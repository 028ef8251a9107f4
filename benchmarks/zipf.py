"""Generate words with the frequencies they have in conversations about code.

The cost of an index or a search depends on how often words recur. These words follow
Zipf's law with Mandelbrot's shift over prose and identifiers, always the same ones for
a seed.
"""

import random
from functools import lru_cache
from itertools import accumulate

from benchmarks.generate import COMMON

SEED = 20240115
"""What makes two vocabularies equal."""

WORDS = 150_000
"""How many different words there are."""

IDENTIFIERS = 0.4
"""The share of them that are names of functions, files and variables."""

STEMS = 6000
"""Of how many words identifiers are made."""

SHIFT = 2.7
"""Mandelbrot's: it flattens the very first ranks."""

LENGTH, SPREAD = 30, 0.7
"""How long a text is in words, as a median, and the sigma of its log-normal length."""

SENTENCE = (6, 22)
"""How long a sentence is, in words."""

_STARTS = (*"bcdfghklmnprstvw", "br", "cl", "dr", "fl", "gr", "pl", "qu", "sh", "st")
_ENDS = ("", "", "n", "r", "s", "t", "l", "ck", "m", "nd")


def words(rng: random.Random, count: int) -> list[str]:
    """Words in a row, each as often as it is frequent.

    Args:
        rng: The dice.
        count: How many.
    """
    vocabulary, weights = _vocabulary()
    return rng.choices(vocabulary, cum_weights=weights, k=count)


def text(rng: random.Random, length: int = LENGTH) -> str:
    """Some sentences.

    Args:
        rng: The dice.
        length: The median of such texts, in words.
    """
    count = max(1, round(length * rng.lognormvariate(0, SPREAD)))
    drawn = words(rng, count)
    at = 0
    while at < count:
        end = min(at + rng.randint(*SENTENCE), count)
        drawn[at] = drawn[at][:1].upper() + drawn[at][1:]
        drawn[end - 1] += "."
        at = end
    return " ".join(drawn)


def ranked() -> list[str]:
    """All words there are, the most frequent first."""
    return _vocabulary()[0]


@lru_cache(maxsize=1)
def _vocabulary() -> tuple[list[str], list[float]]:
    """All words, and how their weights add up."""
    dice = random.Random(SEED)
    syllables = [start + v + end for start in _STARTS for v in "aeiou" for end in _ENDS]
    made: dict[str, None] = {}
    prose = round(WORDS * (1 - IDENTIFIERS))
    while len(made) < prose:
        made["".join(dice.choices(syllables, k=dice.choice((1, 2, 2, 2, 3, 3, 4))))] = (
            None
        )
    stems = list(made)[:STEMS]
    while len(made) < WORDS:
        made[_identifier(dice, stems)] = None
    rare = list(made)
    dice.shuffle(rare)
    vocabulary = list(dict.fromkeys([*COMMON.split(), *rare]))
    return vocabulary, list(
        accumulate(1 / (rank + SHIFT) for rank in range(len(vocabulary)))
    )


def _identifier(dice: random.Random, stems: list[str]) -> str:
    parts = dice.choices(stems, k=dice.randint(2, 3))
    snake, camel = "_".join(parts), parts[0] + "".join(map(str.title, parts[1:]))
    number = dice.randint(1, 9999)
    path = f"src/{parts[0]}/{'_'.join(parts[1:])}.py"
    return dice.choice(
        [snake, camel, path, f"{snake}()", f"E{number:04}", f"#{number}"]
    )
