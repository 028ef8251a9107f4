"""Generate queries of all kinds for generated conversations.

Each kind has the same number of queries, always the same ones. Kinds differ in the
frequency of their words: each of the most frequent ones is in many messages, each of
the rarest ones in hardly any.
"""

import random
from collections.abc import Callable, Sequence

from benchmarks import zipf
from memtui.text import analyzer

SEED = 7
"""What makes two lists equal."""

EACH = 30
"""How many questions of each kind are asked."""

RARE, MIDDLING, COMMON = (30_000, 120_000), (600, 12_000), (0, 160)
"""From which rank of the vocabulary to which."""

NAMES = (300, 40_000)
"""The ranks of which identifiers are asked for."""

ASKED = (
    "what did we decide about {} and {} last time",
    "why does {} fail when {} is called with {}",
    "how did we fix the {} error in {}",
    "where is the {} of the {} kept",
    "which of {} and {} was faster, and did we change the {} for it",
    "that thing about {} where the {} returned no {}",
)
"""What people ask, with words of the talk in it."""

FILTERS = (
    "agent:codex", "agent:opencode", "project:harbour", "project:quarry", "role:user",
    "role:assistant", "after:2025-06", "before:2024-06", "after:2024-03 before:2024-04",
    "project:ferry agent:claude-code", "role:user project:lantern", "agent:gemini-cli",
)  # fmt: skip

UNANSWERABLE = (
    "", "the a of", "xyzzyqwv", "xyzzyqwv plughplugh", "?!", '"never heard this"',
    "评审会议", "agent:nobody test", "zzzz*", "#0000000", "after:2031 test",
)  # fmt: skip

Made = Callable[[random.Random, Sequence[str]], str]


def of(texts: Sequence[str], each: int = EACH) -> dict[str, list[str]]:
    """Questions by their kind.

    Args:
        texts: Some of what was said: phrases come from it.
        each: How many of a kind.
    """
    dice = random.Random(SEED)
    return {
        kind: [made(dice, texts) for _ in range(each)] for kind, made in _KINDS.items()
    }


def _drawn(dice: random.Random, ranks: tuple[int, int], count: int) -> list[str]:
    """Words of these ranks that are looked up."""
    ranked = zipf.ranked()
    words: list[str] = []
    while len(words) < count:
        word = ranked[dice.randrange(*ranks)]
        if analyzer.is_indexed(word):
            words.append(word)
    return words


def _rare(dice: random.Random, _: Sequence[str]) -> str:
    return " ".join(_drawn(dice, RARE, dice.randint(1, 3)))


def _middling(dice: random.Random, _: Sequence[str]) -> str:
    return " ".join(_drawn(dice, MIDDLING, dice.randint(1, 4)))


def _common(dice: random.Random, _: Sequence[str]) -> str:
    return " ".join(_drawn(dice, COMMON, dice.randint(1, 6)))


def _mixed(dice: random.Random, _: Sequence[str]) -> str:
    ranks = dice.choices([RARE, MIDDLING, COMMON], [1, 2, 2], k=dice.randint(2, 6))
    return " ".join(word for rank in ranks for word in _drawn(dice, rank, 1))


def _name(dice: random.Random, _: Sequence[str]) -> str:
    """An identifier as it stands, or a part of one."""
    while True:
        (word,) = _drawn(dice, NAMES, 1)
        parts = analyzer.query_terms(word)
        if len(parts) > 1:
            return dice.choice([word, word, parts[0], " ".join(parts)])


def _phrase(dice: random.Random, texts: Sequence[str]) -> str:
    said = dice.choice(texts).split()
    size = dice.randint(2, 4)
    start = dice.randrange(max(1, len(said) - size))
    phrase = " ".join(said[start : start + size]).replace('"', "")
    other = _drawn(dice, COMMON, 1) if dice.random() < 1 / 2 else []
    return " ".join([f'"{phrase}"', *other])


def _typed(dice: random.Random, _: Sequence[str]) -> str:
    """The first letters of a word, with one before it or without."""
    before = _drawn(dice, dice.choice([COMMON, MIDDLING]), dice.randint(0, 1))
    (word,) = _drawn(dice, dice.choice([COMMON, MIDDLING]), 1)
    return " ".join([*before, word[: dice.randint(1, 4)]])


def _filtered(dice: random.Random, _: Sequence[str]) -> str:
    words = _drawn(dice, dice.choice([COMMON, MIDDLING]), dice.randint(1, 3))
    return " ".join([*words, dice.choice(FILTERS)])


def _natural(dice: random.Random, _: Sequence[str]) -> str:
    asked = dice.choice(ASKED)
    blanks = asked.count("{}")
    ranks = dice.choices([MIDDLING, COMMON], k=blanks)
    return asked.format(*(word for rank in ranks for word in _drawn(dice, rank, 1)))


def _unanswerable(dice: random.Random, _: Sequence[str]) -> str:
    return dice.choice(UNANSWERABLE)


_KINDS: dict[str, Made] = {
    "rare words": _rare,
    "middling words": _middling,
    "very common words": _common,
    "of all kinds": _mixed,
    "identifiers": _name,
    "phrases": _phrase,
    "being typed": _typed,
    "filtered": _filtered,
    "questions": _natural,
    "without a match": _unanswerable,
}
