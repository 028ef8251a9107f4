"""Languages: whether a reply is in a language that its log is not in.

Said only where both are plain: a summary in the wrong language is asked for once
more, so a wrong suspicion costs a request.
"""

import re
import unicodedata
from collections import Counter
from functools import lru_cache

_WORDS = {
    "en": "the and of is was that with this are be it have not will should when which"
    " from they has been now",
    "de": "der die das und ist nicht mit den ein eine wird von für sich dem werden auch"
    " sind wurde noch nach bei oder",
    "fr": "le les et est dans une que qui avec au aux cette sont sur pas été mais plus"
    " il elle",
    "es": "el los las una por para está como más pero esta fue han cuando también se"
    " del con",
    "pt": "os uma não que por para foi são está com mas esta foram também então na da"
    " dos",
    "it": "il gli che è una per non della sono alla nel questo anche stato dei con più"
    " sul",
    "nl": "het een van niet dat zijn met voor wordt naar ook maar deze werd bij nog",
}
_SETS = {name: frozenset(words.split()) for name, words in _WORDS.items()}
_WORD = re.compile(r"[^\W\d_]+")

CHARS = 20_000
"""How much of a text is looked at."""

LATIN = "latin"

PLAIN_WORDS, KINDS, PLAIN_LETTERS, PLAIN = 5, 3, 20, 0.6
"""How many words, of how many different ones, or how many letters tell a language, and
the share that settles it: commands and errors hold a few words of any."""

PRESENT = 0.08
"""A log that holds so much of another language may be summarised in it."""


def is_foreign(reply: str, log: str) -> bool:
    """Whether a reply is plainly in a language that its log does not speak."""
    scripts, wanted = _scripts(reply), _scripts(log)
    script = _plain(scripts, PLAIN_LETTERS)
    if not script or not sum(wanted.values()):
        return False
    if _share(wanted, script) < PRESENT:
        return True
    if script != LATIN or _plain(wanted, PLAIN_LETTERS) != LATIN:
        return False
    language, spoken = _plain(_spoken(reply), PLAIN_WORDS), _spoken(log)
    return bool(language) and bool(
        _plain(spoken, PLAIN_WORDS) and _share(spoken, language) < 2 * PRESENT
    )


def _plain(counts: Counter[str], least: int) -> str:
    """What most of the counts say, if they say it plainly; else ""."""
    for name, count in counts.most_common(1):
        if count >= least and count >= PLAIN * sum(counts.values()):
            return name
    return ""


def _share(counts: Counter[str], name: str) -> float:
    return counts[name] / (sum(counts.values()) or 1)


def _scripts(text: str) -> Counter[str]:
    return Counter(
        script for char in text[:CHARS] if char.isalpha() and (script := _script(char))
    )


@lru_cache(4096)
def _script(char: str) -> str:
    """The script of a letter; Chinese and Japanese are one, since they share most."""
    if char.isascii():
        return LATIN
    name = unicodedata.name(char, "").partition(" ")[0].lower()
    return "han" if name in ("cjk", "hiragana", "katakana") else name


def _spoken(text: str) -> Counter[str]:
    """How many little words of each language a text has."""
    found = Counter(word.lower() for word in _WORD.findall(text[:CHARS]))
    told = {
        name: [n for word in words if (n := found[word])]
        for name, words in _SETS.items()
    }
    return Counter({name: sum(n) for name, n in told.items() if len(n) >= KINDS})
