"""The script of a text: Latin, Cyrillic, Chinese and others."""

import re
import unicodedata
from collections import Counter
from functools import lru_cache

MAX_CHARS = 20_000
"""The number of characters of a text that are read."""

MIN_LETTERS = 10
"""A text with fewer letters is in no script in particular."""

MIN_SHARE = 0.35
"""The share of a text's weight from which on a script other than Latin is its main
one: commands, names and paths are in Latin letters in every language."""

SYLLABLE_WEIGHT = 3
"""A character of a script without an alphabet counts as so many letters."""

_SYLLABIC = frozenset(("cjk", "kana", "hangul"))

_CODE = re.compile(
    r"```.*?(?:```|\Z)|`[^`]*`|(?<!\w)-+\w[\w=-]*"
    r"|[\w./\\-]*[./_\\][\w./\\-]+|\w*\d\w*|[A-Za-z]+[a-z][A-Z]\w*",
    re.DOTALL | re.ASCII,
)
"""Code, paths, options and identifiers, which are in no language."""


def main_script(text: str) -> str:
    """Return the script that a text is mainly written in; "" if it is not clear."""
    words = {*_CODE.sub(" ", text[:MAX_CHARS]).split()}
    found = _count_letters(" ".join(words))
    if found.total() < MIN_LETTERS:
        return ""
    others = Counter({name: n for name, n in found.items() if name != "latin"})
    for name, count in others.most_common(1):
        if count >= MIN_SHARE * found.total():
            return "kana" if name == "cjk" and found["kana"] else name
    return "latin" if found["latin"] else ""


def is_in_other_script(text: str, source: str) -> bool:
    """Return True if a text is plainly in another script than its source.

    Languages of the same script are not distinguished.
    """
    found, expected = main_script(text), main_script(source)
    if (found, expected) == ("cjk", "kana"):
        return False
    return bool(found and expected) and found != expected


def _count_letters(text: str) -> Counter[str]:
    """Count the letters of a text by their script, each as long as a Latin one."""
    found: Counter[str] = Counter()
    for char in text:
        if char.isalpha() and (script := _script(char)):
            found[script] += SYLLABLE_WEIGHT if script in _SYLLABIC else 1
    return found


@lru_cache(4096)
def _script(char: str) -> str:
    """Return the first word of a letter's Unicode name, which names its script."""
    if char.isascii():
        return "latin"
    name = unicodedata.name(char, "").split(" ")[0].split("-")[0].lower()
    return "kana" if name in ("hiragana", "katakana") else name
