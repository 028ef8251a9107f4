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
    " del con la qué sin ahora ya porque",
    "pt": "os uma não que por para foi são está com mas esta foram também então na da"
    " dos em ao ainda já agora porque",
    "it": "il gli che è una per non della sono alla nel questo anche stato dei con più"
    " sul",
    "nl": "het een van niet dat zijn met voor wordt naar ook maar deze werd bij nog de"
    " nu weer te",
    "pl": "nie się że został została zostały na ale oraz dla przez po już tylko teraz"
    " jak przy są",
    "tr": "ve bir bu için ile değil olarak da de ama artık sonra çok daha yok gibi",
}


_SETS = {name: frozenset(words.split()) for name, words in _WORDS.items()}


_WORD = re.compile(r"[^\W\d_]+")


CHARS = 20_000
"""How much of a text is looked at."""


LATIN, HAN = "latin", "han"


PLAIN_WORDS, KINDS, PLAIN_LETTERS, PLAIN = 5, 3, 20, 0.6
"""How many words, of how many different ones, or how many Latin letters tell a
language, and the share that settles it: commands and errors hold a few words of any."""


FEW_WORDS = 3
"""How many words tell it of a reply that has none of its log's language."""


SIGNS, KANA = 10, 0.3
"""How many letters tell another script, and the share of kana that tells Japanese from
Chinese: it has so much at the least, and Chinese has none."""


PRESENT = 0.08
"""A log that holds so much of another language may be summarised in it."""


def is_foreign(reply: str, log: str) -> bool:
    """Whether a reply is plainly in a language that its log does not speak."""
    scripts, wanted = _scripts(reply), _scripts(log)
    if _is_other_east(reply, log):
        return True
    script = _plain(scripts, SIGNS)
    if script == LATIN and scripts[LATIN] < PLAIN_LETTERS:
        return False
    if not script or not sum(wanted.values()):
        return False
    if _share(wanted, script) < PRESENT:
        return True
    if script != LATIN or _plain(wanted, PLAIN_LETTERS) != LATIN:
        return False
    said, spoken = _spoken(reply), _spoken(log)
    usual = _plain(spoken, PLAIN_WORDS)
    language = _plain(said, PLAIN_WORDS if said[usual] else FEW_WORDS)
    return bool(language and usual) and _share(spoken, language) < 2 * PRESENT


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


def _is_other_east(reply: str, log: str) -> bool:
    """Whether a reply is Chinese to a Japanese log, or the other way round."""
    if _scripts(reply)[HAN] < SIGNS or _scripts(log)[HAN] < SIGNS:
        return False
    said, wanted = _kana(reply), _kana(log)
    return (said == 0 and wanted >= KANA) or (said >= KANA and wanted == 0)


def _kana(text: str) -> float:
    """The share of the signs that only Japanese has among all that it is written in."""
    shared = _scripts(text)[HAN]
    return sum("\u3041" <= char <= "\u30ff" for char in text[:CHARS]) / (shared or 1)


@lru_cache(4096)
def _script(char: str) -> str:
    """The script of a letter; Chinese and Japanese are one, since they share most."""
    if char.isascii():
        return LATIN
    name = unicodedata.name(char, "").partition(" ")[0].lower()
    return HAN if name in ("cjk", "hiragana", "katakana") else name


def _spoken(text: str) -> Counter[str]:
    """How many little words of each language a text has."""
    found = Counter(word.lower() for word in _WORD.findall(text[:CHARS]))
    told = {
        name: [n for word in words if (n := found[word])]
        for name, words in _SETS.items()
    }
    return Counter({name: sum(n) for name, n in told.items() if len(n) >= KINDS})
