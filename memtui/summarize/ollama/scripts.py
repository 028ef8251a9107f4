"""Tell the script of a text: Latin, Cyrillic, Chinese and others."""

import re
import unicodedata
from collections import Counter
from functools import lru_cache

SCRIPT_CHARS = 20_000
"""The number of characters of a text that are read."""

MIN_SCRIPT_LETTERS = 10
"""A text with fewer letters is in no script in particular."""

MIN_SCRIPT_SHARE = 0.35
"""The share of a text's weight from which on a script other than Latin is its main
one: commands, names and paths are in Latin letters in every language."""

SYLLABLE_WEIGHT = 3
"""A character of a script without an alphabet counts as so many letters."""

_SYLLABIC = frozenset(("cjk", "kana", "hangul"))

_NO_LANGUAGE = re.compile(
    r"```.*?(?:```|\Z)|`[^`]*`|(?<!\w)-+\w[\w=-]*"
    r"|[\w./\\-]*[./_\\][\w./\\-]+|\w*\d\w*|[A-Za-z]+[a-z][A-Z]\w*",
    re.DOTALL | re.ASCII,
)
"""Code, paths, options and identifiers, which are in no language."""


def main_script(text: str) -> str:
    """Return the script that a text is mainly written in; "" if it is not clear."""
    words = {*_NO_LANGUAGE.sub(" ", text[:SCRIPT_CHARS]).split()}
    letters = _count_letters(" ".join(words))
    if letters.total() < MIN_SCRIPT_LETTERS:
        return ""
    others = Counter({name: n for name, n in letters.items() if name != "latin"})
    for name, count in others.most_common(1):
        if count >= MIN_SCRIPT_SHARE * letters.total():
            return "kana" if name == "cjk" and letters["kana"] else name
    return "latin" if letters["latin"] else ""


def _count_letters(text: str) -> Counter[str]:
    """Count the letters of a text by their script, each as long as a Latin one."""
    letters: Counter[str] = Counter()
    for char in text:
        if char.isalpha() and (script := _script(char)):
            letters[script] += SYLLABLE_WEIGHT if script in _SYLLABIC else 1
    return letters


@lru_cache(4096)
def _script(char: str) -> str:
    """Return the first word of a letter's Unicode name, which names its script."""
    if char.isascii():
        return "latin"
    name = unicodedata.name(char, "").split(" ")[0].split("-")[0].lower()
    return "kana" if name in ("hiragana", "katakana") else name
