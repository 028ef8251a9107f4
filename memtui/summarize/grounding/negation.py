"""Find contradictions: negation on one side only, and opposites.

Only wording is compared: a word that the bullet negates and the source does not, or the
other way round, and words for which the source says only the opposite.
"""

import re
from collections.abc import Iterator, Mapping
from enum import Enum
from functools import lru_cache
from itertools import chain, groupby
from operator import itemgetter

from memtui.text import analyzer
from memtui.text.analyzer import stem
from memtui.text.stopwords import NEGATIONS, STOP_WORDS
from memtui.text.synonyms import SYNONYMS

SCOPE_WORDS = 1
"""Number of content words after a "not" that are surely negated; the rest of the clause
may be."""

HAN_SCOPE = 2
"""The same in pairs of Chinese characters."""

_HAN_NOT = re.compile("(几乎|差点|[不没沒未无無别勿])")

_NEARLY = (
    r"\b(?:(?:almost|nearly)(?= [`'\"]?(?!(?:all|every\w*|each|any\w*|half|twice|no"
    r"|none|nothing|never|always|as|identical|impossible|one|two|three|four|five|ten"
    r"|hundred|the same)\b)[^\W\d])"
    r"|(?:fast|beinahe)(?= (?:ge\w+(?:t|en)|be\w+(?:t|en)|ver\w+(?:t|en)|fertig|\w+iert"
    r"|er\w+t|(?:ab|an|auf|aus|durch|ein|fehl)ge\w+)\b))"
)
"""Words for things that did not quite happen; "nearly all" or "nearly as much" is
different."""

_NEARLY_PATTERN = re.compile(rf"{_NEARLY}|几乎|差点")

_NEARLY_WORDS = ("almost", "nearly", "fast ", "beinahe", "几乎", "差点")
"""A faster test than ``_NEARLY_PATTERN``."""

_TOKEN = re.compile(
    r"(?P<han>[\u3400-\u9fff]+)|(?P<fails>\b(?:fail|refus)\w{0,3} to\b|\bno longer\b"
    r"|\b(?:instead of|rather than|(?:advis\w+|decid\w+|recommend\w*) against)\b"
    rf"|{_NEARLY})"
    r"|(?P<word>[^\W\u3400-\u9fff](?:[^\W\u3400-\u9fff]|['’])*)"
    r"|(?P<end>[,;:.!?()—–](?=\s|$)|[，。；：！？\n])"
)

_DENIAL = re.compile(
    "|".join(
        rf"{letter}(?<!\w{letter})(?:{'|'.join(word[1:] for word in negations)})\b"
        for letter, negations in groupby(sorted(NEGATIONS), key=itemgetter(0))
    )
    + "|n['’]t\\b|不|没|沒|未|无|無|别|勿"
    + r"|f(?<!\wf)ail\w{0,3} to\b|r(?<!\wr)efus\w{0,3} to\b"
)
r"""Negation in a lower-case text: most bullets and sources have none.

Since each alternative starts with a letter of its own, this is four times as fast as a
pattern with one ``\\b`` before all of them.
"""

_STILL_OPEN = re.compile(
    r"\b(?:still (?:ha(?:s|ve)|need\w*) to|yet to|remains? to|has to wait|not yet"
    r"|so far)\b"
)
_NOT_YET = re.compile(
    r"\b(?:not (?:\w+ ){0,4}yet|not yet|n['’]t (?:\w+ ){0,4}yet|until)\b"
)
"""A source that says so, and a bullet that may say it."""

_INSTEAD = re.compile(r"\b(?:instead of|rather than)\b")
"""Negations of what follows that a source may word otherwise."""

_IMPLICIT = re.compile(
    r"\b(?:remov\w*|delet\w*|dropp\w*|gone|stop(?:s|ped)?|prevent\w*|avoid\w*"
    r"|eliminat\w*|lack\w*|missing|absent"
    r"|unrecogni[sz]ed|unknown|unsupported|leav\w+|left|alone|zero|clean|still|stay\w*|remain\w*"
    r"|un[a-z]+ed|instead of|rather than)\b|(?<![\w.])0(?= )"
)
"""Words in a lower-case source that a bullet may express with a "not"."""

_UNIVERSAL = re.compile(
    r"a(?<!\wa)ll\b(?! in all| right| of a sudden|(?: of)?(?: the| these)? \d)"
    r"(?<!(?:at|of) all)(?<!after all)|a(?<!\wa)lle[nr]?\b(?! \d)"
    r"|e(?<!\we)very(?:one|thing|body)?\b|j(?<!\wj)ede[mnrs]?\b"
    r"|s(?<!\ws)ämtliche\w?\b|全部|所有"
)
"""Words for all there is; as above each alternative starts with a letter."""

_UNIVERSAL_WORDS = ("all", "every", "jede", "sämtlich", "全部", "所有")
"""A faster test than ``_UNIVERSAL``."""

_EXCEPT = re.compile(
    r"\b(?:all|every\w*|each|any\w*|none|nothing|no)\b[^.;:!?]{0,40}\b"
    r"(?:but|except|apart from|other than|save for)\b|\ball but\b"
)
"""An exception from all there is."""

_EXCEPTION = re.compile(
    r"\b(?:but|except\w*|apart|other|others|only|just|beyond|besides|not?|without|still"
    r"|remain\w*|save|one|yet)\b|n['’]t\b"
)
"""Words with which a source may express one."""

_EXCEPTED = re.compile(
    r"\b(?:except(?: for)?|apart from|other than|save for|all but)(?: the)?"
    r" ([\w./-]*\w)"
)
"""The first word of an exception."""

_SAYS_EXCEPTION = re.compile(r"\b(?:fail\w*|crash\w*|broken|miss\w*)\b")
"""Words that say that the exception failed."""

_ALL_OF = re.compile(r"\b(?:all|every|each)(?: of)?(?: the| these| those)? ([a-z]+)")

_SOURCE_UNIVERSAL = re.compile(
    r"\b(?:all|alle[mnrs]?|every\w*|each|both|any\w*|entire\w*|whole|full\w*|always"
    r"|complete\w*|100|jede[mnrs]?|sämtliche\w?|ganz\w*|beide\w?|immer|no|none|kein\w*)\b"
    r"|全部|所有|每|都|整|任何"
)
"""Words with which a source may say the same."""

_HAN_OPPOSITES = (
    ("要求", "拒绝"),
    ("同意", "拒绝"),
    ("接受", "拒绝"),
    ("凌晨", "下午"),
    ("上午", "下午"),
    ("白天", "晚上"),
    ("之前", "之后"),
    ("以前", "以后"),
    ("新的", "旧的"),
    ("添加", "删除"),
    ("增加", "减少"),
    ("启用", "禁用"),
    ("成功", "失败"),
    ("允许", "禁止"),
    ("通过", "失败"),
    ("打开", "关闭"),
    ("开始", "停止"),
)

_PAIRS = """
    add remove; add delete; add drop; create delete; create remove; enable disable
    added removed; added deleted; added dropped
    enabled disabled; pass fail; succeed fail; success failure; increase decrease
    increase reduce; raise lower; grow shrink; allow deny; allow block; allow forbid
    include exclude; show hide; upgrade downgrade; accept reject; install uninstall
    connect disconnect; open close; start stop; begin end; lock unlock; push pull
    valid invalid; true false; always never; more less; more fewer; faster slower
    higher lower; better worse; before after; first last; large small; big small
    top bottom; detailed minimal; detailed short
    changed left; changed unchanged; changed stay; changed untouched; updated untouched
    shortened unchanged; maximum minimum; max min
    up down; above below
    sync async; synchronous asynchronous; mutable immutable; public private; safe unsafe
    encrypt decrypt; compress decompress; load unload; mount unmount; import export
    read write; encode decode; required optional; possible impossible; success error
    complete incomplete; present absent; online offline; visible hidden; merge revert
    apply revert; keep remove; keep drop; local remote; input output; client server
    stale date; outdated date; muted unmuted; clean dirty; include skip
    correct incorrect; correct wrong; known unknown; stable unstable; works broken
    hinzugefügt entfernt; aktiviert deaktiviert; erfolgreich fehlgeschlagen
    mehr weniger; vor nach; richtig falsch; schneller langsamer; immer nie
    bevor nachdem; vorher nachher; davor danach; zuvor danach; tagsüber nachts
    grün rot; grüne rote; grünen roten; green red; hell dunkel; oben unten
    eingeschaltet ausgeschaltet; einschalten ausschalten; alten neuen; alte neue
    old new
"""


def _opposites() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for pair in re.split(r"[;\n]", _PAIRS.strip()):
        one, other = map(stem, pair.split())
        found.setdefault(one, set()).add(other)
        found.setdefault(other, set()).add(one)
    return {word: frozenset(others) for word, others in found.items()}


OPPOSITES = _opposites()
"""Stems and their opposites."""


def has_negation(text: str) -> bool:
    lower = text.lower()
    if _DENIAL.search(lower):
        return True
    return any(word in lower for word in _NEARLY_WORDS) and bool(
        _NEARLY_PATTERN.search(lower)
    )


def negation_differs(bullet: str, source: str) -> bool:
    """Return whether one of the two negates a word that the other says plainly.

    Also if the bullet says of one what the source says of all but that one, or contains
    more negations than the source, which may say what they negate in other words.
    """
    lower = bullet.lower()
    if excepted := _EXCEPTED.findall(source.lower()):
        says_so = _EXCEPTION.search(lower) or _SAYS_EXCEPTION.search(lower)
        words = re.findall(r"[\w./-]*\w", lower)
        if not says_so and not set(words).isdisjoint(excepted):
            return True
    is_choice = _INSTEAD.search(lower) is not None
    if not is_choice and not has_negation(bullet) and not has_negation(source):
        return False
    if _STILL_OPEN.search(lower) and _NOT_YET.search(source.lower()):
        return False
    (bullet_count, in_bullet), (source_count, in_source) = (
        _count_and_polarities(bullet),
        _count_and_polarities(source),
    )
    if bullet_count > source_count + len(_IMPLICIT.findall(source.lower())):
        return True
    removed = _removed_words(source)
    return any(
        {polarity, _polarity_of(word, in_source)}
        == {_Polarity.DENIED, _Polarity.PLAINLY}
        and not (polarity is _Polarity.DENIED and word in removed)
        for word, polarity in in_bullet.items()
    )


def _removed_words(source: str) -> set[str | None]:
    """Return the words of a source beside which it says that something was removed."""
    found: set[str | None] = set()
    for clause in _clauses(source):
        if None not in clause and not _REMOVALS.isdisjoint(clause):
            found.update(clause)
    return found - _REMOVALS


def denied_stems(text: str) -> set[str]:
    """Return the stems of the words of a text that are, or may be, negated."""
    _, found = _count_and_polarities(text)
    return {word for word, one in found.items() if one is not _Polarity.PLAINLY}


def _polarity_of(word: str, in_source: Mapping[str, "_Polarity"]) -> "_Polarity | None":
    """Return the polarity of a word in the source, or of the words that may stand for
    it."""
    if word in in_source:
        return in_source[word]
    found = {in_source[same] for same in SYNONYMS.get(word, ()) if same in in_source}
    return found.pop() if len(found) == 1 else None


def overstated_words(bullet: str, source: str) -> tuple[str, ...]:
    """Return the words with which a bullet says of all what the source says of some.

    "All 14 tests" says no more than its number, which is compared by itself.
    """
    lower = bullet.lower()
    if not any(word in lower for word in _UNIVERSAL_WORDS):
        return ()
    claimed = tuple(dict.fromkeys(_UNIVERSAL.findall(lower)))
    excepted = _EXCEPT.search(lower)
    if excepted and not _EXCEPTION.search(source.lower()):
        return tuple(excepted[0].split())
    if claimed and _EXCEPT.search(source.lower()) and not _EXCEPT.search(lower):
        return claimed
    if not claimed or not _SOURCE_UNIVERSAL.search(source.lower()):
        return claimed
    nouns = [stem(one) for one in _ALL_OF.findall(lower) if one not in STOP_WORDS]
    found = [_stem_of(one) for one in analyzer.words(source.lower())]
    stems = [one[0] if one else "" for one in found]
    words = [analyzer.fold(one) for one in analyzer.words(source)]
    for noun in nouns:
        places = [at for at, one in enumerate(stems) if one == noun]
        if places and not any(
            words[at - 1] != "this"
            and _SOURCE_UNIVERSAL.search(" ".join(words[max(at - 4, 0) : at + 5]))
            for at in places
        ):
            return claimed
    return ()


def find_opposites(bullet: str, source: str) -> tuple[tuple[str, str], ...]:
    """Return the words of a bullet for which the source says only the opposite."""
    in_bullet = _words_with_opposite(bullet)
    in_source = _words_with_opposite(source) if in_bullet else set()
    found = [
        (word, other)
        for word in in_bullet - in_source
        for other in OPPOSITES[word] & in_source - in_bullet
    ]
    for pair in () if bullet.isascii() else _HAN_OPPOSITES:
        for word, opposite in (pair, pair[::-1]):
            if word in bullet and word not in source and opposite in source:
                found.append((word, opposite))
    return tuple(sorted(found))


def _words_with_opposite(text: str) -> set[str]:
    """Return the stems of a text's words that have an opposite, including stop
    words."""
    return set(chain.from_iterable(map(_stems_with_opposite, analyzer.words(text))))


@lru_cache(maxsize=analyzer.WORD_CACHE_SIZE)
def _stems_with_opposite(word: str) -> frozenset[str]:
    stems = {*analyzer.terms(word), stem(analyzer.fold(word))}
    return frozenset(stems & OPPOSITES.keys())


_Clause = list[str | None]

_CODES = frozenset({"code", "exit", "status", "version"})
"""Words before a 0 that does not mean "none"."""

_NOTHING = frozenset({"nothing", "nobody", "none"})
"""Negations of the verb before them: "I booked nothing"."""


_REMOVALS = frozenset(map(stem, ("removed", "deleted", "dropped", "gone", "missing")))
"""Verbs that deny the words around them: what was removed no longer exists."""


class _Polarity(Enum):
    PLAINLY = "plainly"
    DENIED = "denied"
    EITHER = "either"


@lru_cache(maxsize=analyzer.PHRASE_CACHE_SIZE)
def _count_and_polarities(text: str) -> tuple[int, dict[str, _Polarity]]:
    """Return the number of negations, and the polarity of each stem."""
    clauses = _clauses(text)
    count = sum(clause.count(None) for clause in clauses)
    return count - len(_INSTEAD.findall(text.lower())), _polarities(clauses)


def _polarities(clauses: list[_Clause]) -> dict[str, _Polarity]:
    """Return the polarity of each stem."""
    found: dict[str, _Polarity] = {}
    for clause in clauses:
        for word, polarity in _clause_polarities(clause):
            before = found.setdefault(word, polarity)
            if before is not polarity:
                found[word] = _Polarity.EITHER
    return found


def _clause_polarities(clause: _Clause) -> Iterator[tuple[str, _Polarity]]:
    """Yield the polarity of each word; a "not" at the end negates what precedes it."""
    negations = [at for at, word in enumerate(clause) if word is None]
    looks_back = bool(negations) and negations[0] == len(clause) - 1
    for at, word in enumerate(clause):
        if word is None:
            continue
        scope = HAN_SCOPE if analyzer.is_unspaced(word) else SCOPE_WORDS
        is_denied = any(0 < at - place <= scope for place in negations)
        if is_denied or (looks_back and negations[0] - at <= scope):
            yield word, _Polarity.DENIED
        else:
            is_before = not negations or at < negations[0]
            yield word, _Polarity.PLAINLY if is_before else _Polarity.EITHER


def _clauses(text: str) -> list[_Clause]:
    """Return the stems of the content words of each clause; None for a "not"."""
    found: list[_Clause] = [[]]
    word: str | None = None
    for match in _TOKEN.finditer(text.lower()):
        previous, word = word, match["word"]
        if match["end"]:
            found.append([])
        elif match["han"]:
            for part in filter(None, _HAN_NOT.split(match["han"])):
                is_not = _HAN_NOT.match(part)
                found[-1].extend([None] if is_not else analyzer.query_terms(part))
        elif (
            match["fails"]
            or _is_negation(word)
            or (word == "0" and previous not in _CODES)
        ):
            follows_verb = found[-1] and found[-1][-1] and previous not in STOP_WORDS
            place = len(found[-1]) - (1 if word in _NOTHING and follows_verb else 0)
            found[-1].insert(place, None)
        elif word not in STOP_WORDS:
            found[-1].extend(_stem_of(word))
    return found


def _is_negation(word: str) -> bool:
    return word in NEGATIONS or word.endswith(("n't", "n’t"))


@lru_cache(maxsize=analyzer.WORD_CACHE_SIZE)
def _stem_of(word: str) -> list[str]:
    return analyzer.query_terms(word)[:1]
