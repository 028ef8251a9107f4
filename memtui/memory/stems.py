"""The stem of an English word: what its forms have in common.

The first steps of Porter's algorithm (M. F. Porter, "An algorithm for suffix
stripping", 1980): plurals, -ed and -ing, a final y, and the commonest derivations.
A stem is compared, never shown.
"""

import re

SHORTEST = 4
"""Words of fewer letters are their own stem."""

_VOWEL = re.compile("[aeiouy]")
_MEASURE = re.compile("[aeiouy]+[^aeiouy]+")
_ENGLISH = re.compile("[a-z]+")

_DERIVED = (
    ("ization", "ize"),
    ("isation", "ize"),
    ("ational", "ate"),
    ("fulness", "ful"),
    ("iveness", "ive"),
    ("ousness", "ous"),
    ("ication", "ic"),
    ("ations", "ate"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("ement", "e"),
    ("ments", ""),
    ("ment", ""),
    ("ness", ""),
    ("tion", "t"),
    ("sion", "s"),
    ("bly", "ble"),
    ("ally", "al"),
    ("ily", "y"),
    ("ly", ""),
    ("ise", "ize"),
)
"""Endings of derived words and what they came from; the first that fits is taken."""

_ENDINGS = tuple(ending for ending, _ in _DERIVED)


def stem(word: str) -> str:
    """The stem of a folded word; anything but plain English letters is its own.

    Args:
        word: One word, lower case.
    """
    if len(word) < SHORTEST or not _ENGLISH.fullmatch(word):
        return word
    word = _without_inflection(_singular(word))
    if word.endswith(_ENDINGS):
        word = _without_derivation(word)
    if word.endswith("y") and _VOWEL.search(word[:-1]):
        return word[:-1] + "i"
    if word.endswith("e") and len(word) > SHORTEST:
        return word[:-1]
    return word


def _singular(word: str) -> str:
    if word.endswith(("sses", "shes", "ches", "xes", "zzes")):
        return word[:-2]
    if word.endswith("ies"):
        return word[:-3] + "y" if len(word) > 4 else word[:-1]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _without_inflection(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for ending in ("ed", "ing"):
        root = word.removesuffix(ending)
        if root != word and len(root) > 1 and _VOWEL.search(root):
            return _restored(root)
    return word


def _without_derivation(word: str) -> str:
    ending, origin = next(pair for pair in _DERIVED if word.endswith(pair[0]))
    root = word.removesuffix(ending)
    return root + origin if _measure(root) > 0 and len(root) > 2 else word


def _restored(root: str) -> str:
    """Give a root cut off from -ed or -ing back the end it had."""
    if root.endswith(("at", "bl", "iz", "is")) and len(root) > 2:
        return root + "e"
    if root[-1] == root[-2] and root[-1] not in "aeioulsz":
        return root[:-1]
    if _measure(root) == 1 and _is_short(root):
        return root + "e"
    return root


def _measure(root: str) -> int:
    return len(_MEASURE.findall(root))


def _is_short(root: str) -> bool:
    """Whether a root ends as "hop" does: consonant, vowel, consonant."""
    return (
        len(root) > 2
        and not _VOWEL.match(root[-1])
        and root[-1] not in "wx"
        and _VOWEL.match(root[-2]) is not None
        and not _VOWEL.match(root[-3])
    )
