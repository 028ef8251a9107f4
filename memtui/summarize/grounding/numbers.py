"""Figures: the numbers of a text, each with what it counts.

A number belongs to the word it counts or its unit, the word right after it ("14 tests",
"500 行"); where none follows, or a label goes before ("port 8080"), to the word right
before. The same number beside another word is another claim.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from memtui.text import analyzer
from memtui.text.stopwords import STOP_WORDS

BESIDE = 2
"""How many telling words on a side are looked at: "14 failing tests" are 14 tests."""

_SPELLED = """
    two zwei twice; three drei; four vier; five fünf; six sechs; seven sieben
    eight acht; nine neun; ten zehn; eleven elf; twelve zwölf
"""

_ORDINALS = """
    third dritte dritter dritten drittes; fourth vierte vierter vierten viertes
    fifth fünfte fünfter fünften fünftes; sixth sechste sechster sechsten sechstes
"""


def _by_word(lines: str, start: int, end: str = "") -> dict[str, str]:
    return {
        word: f"{number}{end}"
        for number, spelled in enumerate(re.split("[;\n]", lines.strip()), start)
        for word in spelled.split()
    }


SPELLED = _by_word(_SPELLED, 2) | _by_word(_ORDINALS, 3, ".")
"""Numbers as people write them out; "one" and "first" are as often no number."""

_UNITS = """
    ms=ms millisecond=ms milliseconds=ms millisekunde=ms millisekunden=ms 毫=ms
    s=s sec=s secs=s second=s seconds=s sekunde=s sekunden=s 秒=s
    min=min mins=min minute=min minutes=min minuten=min 分=min
    h=h hour=h hours=h hr=h hrs=h stunde=h stunden=h 小时=h
    day=d days=d tag=d tage=d tagen=d 天=d week=w weeks=w woche=w wochen=w 周=w
    month=mon months=mon monat=mon monate=mon monaten=mon 月=mon
    year=a years=a jahr=a jahre=a jahren=a 年=a
    percent=% prozent=% kilobytes=kb megabytes=mb gigabytes=gb
"""

UNITS: dict[str, str] = dict(re.findall(r"(\S+)=(\S+)", _UNITS))
"""Units and what they are compared as."""

_LABELS = set(
    re.findall(
        r"\w+",
        """
    port version line lines step phase issue pr page chapter day part stage level
    section item point number no seed status code bug ticket option layer week sprint
    round attempt rule figure table row column size width height limit timeout zeile
    schritt seite kapitel tag stufe teil nummer nr punkt
        """,
    )
)
"""Words that name the number after them, whatever follows."""

_LINKS = set(re.findall(r"\w+", "of the these those a an von der die das den des"))
"""Words between a number and what it counts."""

_WAYS = {"from": "from", "von": "from", "to": "to", "auf": "to", "bis": "to"}
"""Words that tell a number that was from one that is to be."""

_ENUMERATED = re.compile(r"^\W{0,6}\d{1,2}[.)]\s")
_GROUPED = re.compile(r"(?<=\d)[,'’](?=\d{3}(?!\d))")

_HYPHENED = re.compile(
    rf"(?<![\w./-])(\d+|{'|'.join(_by_word(_SPELLED, 2))})-(?=[^\W\d]{{2}})", re.I
)

_UNIT_AFTER = re.compile(
    r"(?<![\w./:-])(\d+(?:\.\d+)?)(ms|s|sec|min|h|d|kb|mb|gb|tb|px|k|x)(?![\w/-])", re.I
)

_FIGURE = re.compile(r"\d+(?:[./\-]\d+)*|\d+(?:st|nd|rd|th)")

_RATE = re.compile(
    r"(?:\b(?:per|pro|je|every|each)\s+|/\s?|每)"
    r"((?:ms|sec|second|minute|min|hour|day|week|month|year|sekunde|stunde|tag|woche"
    r"|monat|jahr|[sh])(?![^\W_])|秒|分|小时|天|周|月|年)",
    re.IGNORECASE,
)

_CLOSE = re.compile(r"[\s*_`\"'“”„~–\-]*")
_LOOSE = re.compile(r"[\s*_`\"'“”„~–—\-:()\[\]|]*")
_RATIOS = (":", "/")
_LEADING = re.compile(r"[\s*_`\"'“”„~≈<>≤≥=:#@(\[\-]*")
_SIGN = re.compile(r"\s?([%€$£°])")
_SIGN_BEFORE = re.compile(r"([€$£])\s?$")
_ENDS = re.compile(r"[.!?:;\n]")
_OPENS = re.compile(r"[(\[]")

_DAYPART = re.compile(
    "凌晨|早上|上午|中午|下午|傍晚|晚上|夜里"
    "|nacht|tags(?:ü|u)b|morgen|vormittag|nachmittag|mittag|abend"
)

_CLASSIFIER = re.compile(r"^[个個條条名只次](?=.)")


@dataclass(frozen=True, slots=True)
class Number:
    """A number and the words on its sides, the nearest first."""

    digits: str
    after: tuple[str, ...]
    before: tuple[str, ...]
    label: str = ""
    """The word right before it, if it names the number."""
    qualifier: str = ""
    """Where it is told as what something was or came to, or of which part of a day."""


@lru_cache(maxsize=analyzer.PHRASE_CACHE_SIZE)
def find_numbers(text: str) -> tuple[Number, ...]:
    """The numbers of a text in their order."""
    text = separate_numbers(text)
    row = list(_placed(text))
    return tuple(
        _number(text, row, at) for at, (chunk, *_) in enumerate(row) if to_digits(chunk)
    )


def unsupported_numbers(
    bullet: str, sentences: Sequence[str], shared: Collection[str]
) -> set[str]:
    """The numbers of a bullet that these sentences do not say of the same thing.

    Args:
        bullet: The bullet.
        sentences: Those of the source that it rests on.
        shared: The bullet's terms that these hold: a word before a number that is not
            among them is said otherwise there.
    """
    told = find_numbers(bullet)
    if not told:
        return set()
    held = [number for one in sentences for number in find_numbers(one)]
    if not find_rates(bullet) <= {
        rate for one in sentences for rate in find_rates(one)
    }:
        return {number.digits for number in told}
    return {
        number.digits
        for number in told
        if not any(_is_same(number, one, held, shared) for one in held)
    }


def find_rates(text: str) -> set[str]:
    """What something is told to happen in: "per second", "pro Minute", "每天"."""
    return {_unit(one.lower()) for one in _RATE.findall(text)}


def separate_numbers(text: str) -> str:
    """A text whose numbers stand apart: "1,290" as one, "3s" and "two-phase" as two.

    The number of a list entry at its start is none of its own.
    """
    text = _GROUPED.sub("", _ENUMERATED.sub("", text))
    return _HYPHENED.sub(r"\1 ", _UNIT_AFTER.sub(r"\1 \2", text))


@lru_cache(maxsize=analyzer.WORD_CACHE_SIZE)
def to_digits(chunk: str) -> str:
    """The number a word is, in figures; an empty string for any other word."""
    if _FIGURE.fullmatch(chunk):
        return re.sub(r"(?:st|nd|rd|th)$", ".", chunk)
    return SPELLED.get(analyzer.fold(chunk), "")


def _is_same(
    told: Number, held: Number, every: Sequence[Number], shared: Collection[str]
) -> bool:
    if told.digits != held.digits or (
        told.qualifier and held.qualifier and told.qualifier != held.qualifier
    ):
        return False
    if told.label and told.label == held.label:
        around = [*told.after[:1], *told.before[1:]]
        known = {one for one in around if one in shared or one.isdigit()}
        return not known or not known.isdisjoint((*held.after, *held.before[1:]))
    if told.label and not told.after:
        return told.label in held.after
    right = 2 if analyzer.is_unspaced("".join(told.before[:1])) else 1
    before = {one for one in told.before[:right] if one in shared or one.isdigit()}
    is_before = before.issubset((*held.before, *held.after))
    if told.after and (held.after or not before):
        if not is_before and any(
            one.after[:1] == held.after[:1] != () and one.digits != held.digits
            for one in every
        ):
            return False
        return told.after[0] in (*held.after, held.label) or (
            bool(held.after) and held.after[0] in told.after
        )
    return is_before


def _placed(text: str) -> Iterator[tuple[str, int, int]]:
    """The words of a text with where they stand."""
    at = 0
    for chunk in analyzer.words(text):
        start = text.find(chunk, at)
        if start >= 0:
            at = start + len(chunk)
            yield chunk, start, at


def _number(text: str, row: Sequence[tuple[str, int, int]], at: int) -> Number:
    chunk, start, _ = row[at]
    previous, _, stop = row[at - 1] if at else ("", 0, 0)
    if not _LEADING.fullmatch(text[stop:start]):
        previous = ""
    before, after = tuple(_before(text, row, at)), tuple(_after(text, row, at, _CLOSE))
    is_unit = bool(after) and after[0] in UNITS.values()
    is_label = previous and not is_unit and _names(text, row, at)
    if is_label:
        after = tuple(_after(text, row, at, _LOOSE))
    part = _DAYPART.search(previous[-2:]) or _DAYPART.search(" ".join(before[:1]))
    return Number(
        to_digits(chunk),
        after,
        before,
        label=_root(previous) if is_label else "",
        qualifier=part[0] if part else _WAYS.get(analyzer.fold(previous), ""),
    )


def _names(text: str, row: Sequence[tuple[str, int, int]], at: int) -> bool:
    """Whether the word before a number names it: "port 8080", "Node 18"."""
    word, start, stop = row[at - 1]
    gap = text[stop : row[at][1]]
    if analyzer.fold(word) in _LABELS:
        return not _OPENS.search(gap)
    if gap.strip():
        return False
    begins = at < 2 or _ENDS.search(text[row[at - 2][2] : start])
    return word[:1].isupper() and not begins and analyzer.fold(word) not in STOP_WORDS


def _after(
    text: str, row: Sequence[tuple[str, int, int]], at: int, gap: re.Pattern[str]
) -> Iterator[str]:
    end = row[at][2]
    if sign := _SIGN.match(text, end):
        yield sign[1]
        return
    if sign := _SIGN_BEFORE.search(text[: row[at][1]]):
        yield sign[1]
        return
    found = 0
    for chunk, start, stop in row[at + 1 :]:
        if not gap.fullmatch(text[end:start]) and text[end:start] not in _RATIOS:
            return
        end = stop
        if analyzer.fold(chunk) in _LINKS:
            continue
        if analyzer.fold(chunk) in STOP_WORDS:
            return
        yield to_digits(chunk) or _unit(chunk)
        found += 1
        if found == BESIDE or to_digits(chunk):
            return


def _before(text: str, row: Sequence[tuple[str, int, int]], at: int) -> Iterator[str]:
    start, found = row[at][1], 0
    for chunk, first, end in reversed(row[:at]):
        if not _LEADING.fullmatch(text[end:start]):
            return
        start = first
        if analyzer.fold(chunk) in STOP_WORDS:
            continue
        yield to_digits(chunk) or _root(chunk)
        if analyzer.is_unspaced(chunk):
            yield from _pairs(analyzer.fold(chunk))
            return
        found += 1
        if found == BESIDE:
            return


def _pairs(run: str) -> Iterator[str]:
    """What is said before the last pair of a run of characters, the next pair first."""
    yield run[-4:-2]
    yield from (run[at : at + 2] for at in range(max(0, len(run) - 6), len(run) - 2))


@lru_cache(maxsize=analyzer.WORD_CACHE_SIZE)
def _unit(chunk: str) -> str:
    """What a word is compared as that follows a number."""
    folded = analyzer.fold(chunk)
    if analyzer.is_unspaced(chunk):
        bare = _CLASSIFIER.sub("", folded, count=1)
        return next((UNITS[one] for one in UNITS if bare.startswith(one)), bare[:1])
    return UNITS.get(folded) or _root(chunk)


@lru_cache(maxsize=analyzer.WORD_CACHE_SIZE)
def _root(chunk: str) -> str:
    if analyzer.is_unspaced(chunk):
        return analyzer.fold(chunk[-2:])
    return next(iter(analyzer.query_terms(chunk)), "")
