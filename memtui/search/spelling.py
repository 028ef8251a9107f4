"""Spelling: how far one word is from another, and which are next to it."""

from collections.abc import Iterator

ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789_"
"""What a slip of the finger may put in."""


def distance(one: str, other: str, most: int) -> int:
    """How many letters are put in, left out, mistaken or exchanged with the next one.

    (F. J. Damerau, "A technique for computer detection and correction of spelling
    errors", 1964; no stretch is edited twice.)

    Args:
        one: A word.
        other: Another.
        most: What is more than this is not counted further.
    """
    if abs(len(one) - len(other)) > most:
        return most + 1
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        above, row = row, [i] + [0] * len(other)
        for j, wanted in enumerate(other, 1):
            cost = above[j - 1] + (letter != wanted)
            best = min(cost, above[j] + 1, row[j - 1] + 1)
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == wanted:
                best = min(best, before[j - 2] + 1)
            row[j] = best
        if min(row) > most:
            return most + 1
        before = above
    return row[-1]


def neighbours(word: str, within: int) -> Iterator[str]:
    """What is one edit away from a word, some of it twice.

    Args:
        word: The word.
        within: Up to which of its letters it is edited.
    """
    cuts = [(word[:at], word[at:]) for at in range(min(within, len(word)) + 1)]
    for start, end in cuts:
        for letter in ALPHABET:
            yield start + letter + end
        if end:
            yield start + end[1:]
            for letter in ALPHABET:
                yield start + letter + end[1:]
        if len(end) > 1:
            yield start + end[1] + end[0] + end[2:]
