"""Find the numbers of a text, each with what it counts.

A number belongs to the word or unit after it ("14 tests", "500 Zeilen"); if none
follows, or a label precedes it ("port 8080"), to the word before it. The same number
with another word is another claim.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from memtui.text import analyzer
from memtui.text.stopwords import STOP_WORDS
from memtui.text.synonyms import SYNONYMS

CONTEXT_WORDS = 2
"""Number of content words compared on each side: "14 failing tests" are 14 tests."""

_SPELLED = """
    two zwei twice; three drei; four vier; five fünf; six sechs; seven sieben
    eight acht; nine neun; ten zehn; eleven elf; twelve zwölf
"""

_ORDINALS = """
    third dritte dritter dritten drittes; fourth vierte vierter vierten viertes
    fifth fünfte fünfter fünften fünftes; sixth sechste sechster sechsten sechstes
"""


def _number_words(lines: str, start: int, end: str = "") -> dict[str, str]:
    return {
        word: f"{number}{end}"
        for number, spelled in enumerate(re.split("[;\n]", lines.strip()), start)
        for word in spelled.split()
    }


SPELLED = _number_words(_SPELLED, 2) | _number_words(_ORDINALS, 3, ".")
"""Numbers as words; "one" and "first" often are no numbers."""

_TENS_WORDS = "twenty thirty forty fifty sixty seventy eighty ninety"
_TEENS_WORDS = "thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
_TENS = {
    word: 10 * tens for tens, word in enumerate(re.findall(r"\w+", _TENS_WORDS), 2)
}
_TEENS = {
    word: number for number, word in enumerate(re.findall(r"\w+", _TEENS_WORDS), 13)
}
SPELLED |= {word: str(value) for word, value in (_TENS | _TEENS).items()}

_DIGIT = "one|two|three|four|five|six|seven|eight|nine"
_BELOW_100 = (
    rf"(?:(?:{'|'.join(_TENS)})(?:[- ](?:{_DIGIT}))?"
    rf"|{'|'.join(_TEENS)}|ten|eleven|twelve|{_DIGIT})"
)
_LONG_NUMBER = re.compile(
    rf"\b(?:(?:(?P<thousands>{_BELOW_100}) thousand[ ,]*)?"
    rf"(?:(?P<hundreds>{_DIGIT}|a) hundred(?: and)?[ ]*)?"
    rf"(?P<rest>{_BELOW_100})?)(?<=\w)\b(?! hundred| thousand)",
    re.IGNORECASE,
)
_SPELLINGS = {
    digits: tuple(word for word, value in SPELLED.items() if value == digits)
    for digits in SPELLED.values()
}
_SPELLED_WORD = re.compile(
    rf"\b(?:{'|'.join(one for one, value in SPELLED.items() if value.isdigit())})\b",
    re.IGNORECASE,
)
_HAS_LONG_NUMBER = re.compile(rf"(?:{'|'.join(_TENS)})|hundred|thousand", re.IGNORECASE)


def _value(words: str | None) -> int:
    parts = re.split(r"[- ]", words.lower()) if words else []
    single = {"one": 1, "a": 1}
    return sum(
        _TENS.get(one) or _TEENS.get(one) or single.get(one) or int(SPELLED[one])
        for one in parts
    )


def _long_number_to_digits(match: re.Match[str]) -> str:
    """Write "one hundred and five" in digits; a single word is left as it is."""
    if not re.search(r"[- ]", match[0].strip()):
        return match[0]
    thousands, hundreds = _value(match["thousands"]), _value(match["hundreds"])
    value = 1000 * thousands + 100 * hundreds + _value(match["rest"])
    trailing = " " * (len(match[0]) - len(match[0].rstrip()))
    return f"{value}{trailing}"


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
"""Units, and the form in which they are compared."""

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

_QUALIFIERS = {"from": "from", "von": "from", "to": "to", "auf": "to", "bis": "to"}
"""Words that distinguish the old value from the new one."""

_ENUMERATED = re.compile(r"^\W{0,6}\d{1,2}[.)]\s")
_GROUPED = re.compile(r"(?<=\d)[,'’](?=\d{3}(?!\d))")

_ALL_OF_THEM = re.compile(r"(?<![\w./-])(\d+)/\1(?![\w./-])")
"""All there are: "12/12 tests"."""

_RANGE = re.compile(r"(?<=\blines )(\d+)[-–](\d+)(?![\w./-])")

_HYPHENED = re.compile(
    rf"(?<![\w./-])(\d+|{'|'.join(_number_words(_SPELLED, 2))})-(?=[^\W\d]{{2}})", re.I
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

_A_UNIT = re.compile(r"\ban? (?=(?:second|minute|hour|day|week|month|year)\b)")
"""A source may say "a minute" for "per minute"."""

_CLOSE = re.compile(r"[\s*_`\"'“”„~–\-]*")
_LOOSE = re.compile(r"[\s*_`\"'“”„~–—\-:()\[\]|]*")
_RATIOS = (":", "/")
_LEADING = re.compile(r"[\s*_`\"'“”„~≈<>≤≥=:#@(\[\-]*")
_SIGN = re.compile(r"\s?([%€$£°])")
_SIGN_BEFORE = re.compile(r"([€$£])\s?$")
_ENDS = re.compile(r"[.!?:;\n]")
_OPENS = re.compile(r"[(\[]")
_ONE_UNIT = re.compile(
    r"\bone(?= (?:second|minute|hour|day|week|month|year|percent)\b)", re.IGNORECASE
)
_ONE = re.compile(r"\bone\b", re.IGNORECASE)

_DAYPART = re.compile(
    "凌晨|早上|上午|中午|下午|傍晚|晚上|夜里"
    "|nacht|tags(?:ü|u)b|morgen|vormittag|nachmittag|mittag|abend"
)

_CLASSIFIER = re.compile(r"^[个個條条名只次](?=.)")


@dataclass(frozen=True, slots=True)
class Number:
    """A number and the words around it, the nearest first."""

    digits: str
    after: tuple[str, ...]
    before: tuple[str, ...]
    label: str = ""
    """The word right before it if it names the number."""
    qualifier: str = ""
    """"from" or "to", or the part of the day, if given."""


@lru_cache(maxsize=analyzer.PHRASE_CACHE_SIZE)
def find_numbers(text: str) -> tuple[Number, ...]:
    text = separate_numbers(text)
    spans = list(_word_spans(text))
    return tuple(
        _number(text, spans, at)
        for at, (word, *_) in enumerate(spans)
        if to_digits(word)
    )


def unsupported_numbers(
    bullet: str, sentences: Sequence[str], shared: Collection[str]
) -> set[str]:
    """Return the numbers of a bullet that the source does not say of the same thing.

    Args:
        bullet: The bullet.
        sentences: The sentences of the passage it rests on.
        shared: The bullet's terms that these contain: a word before a number that is
            not among them is expressed differently there.
    """
    claimed = find_numbers(bullet)
    if not claimed:
        return set()
    found = [number for one in sentences for number in find_numbers(one)]
    if not find_rates(bullet) <= {
        rate for one in sentences for rate in find_rates(_A_UNIT.sub("per ", one))
    }:
        return {number.digits for number in claimed}
    return {
        number.digits
        for number in claimed
        if not any(_is_supported(number, one, found, shared) for one in found)
        and not (number.digits == "1" and any(_ONE.search(one) for one in sentences))
    }


def find_rates(text: str) -> set[str]:
    """Return the units of rates: "per second", "pro Minute", "每天"."""
    return {_unit(one.lower()) for one in _RATE.findall(text)}


def separate_numbers(text: str) -> str:
    """Separate numbers from words: "1,290" as one, "3s" and "two-phase" as two words.

    The number of a list item at the start is removed.
    """
    text = _GROUPED.sub("", _ONE_UNIT.sub("1", _ENUMERATED.sub("", text)))
    if _HAS_LONG_NUMBER.search(text):
        text = _LONG_NUMBER.sub(_long_number_to_digits, text)
    text = _ALL_OF_THEM.sub(r"\1", _RANGE.sub(r"\1 to \2", text))
    return _HYPHENED.sub(r"\1 ", _UNIT_AFTER.sub(r"\1 \2", text))


@lru_cache(maxsize=analyzer.WORD_CACHE_SIZE)
def to_digits(word: str) -> str:
    """Return a number word in digits; "" for any other word."""
    if _FIGURE.fullmatch(word):
        return re.sub(r"(?:st|nd|rd|th)$", ".", word)
    return SPELLED.get(analyzer.fold(word), "")


def _is_supported(
    claimed: Number,
    found: Number,
    all_numbers: Sequence[Number],
    shared: Collection[str],
) -> bool:
    if claimed.digits != found.digits or (
        claimed.qualifier and found.qualifier and claimed.qualifier != found.qualifier
    ):
        return False
    rivals = [one for one in all_numbers if one.digits != claimed.digits]
    is_same = claimed.qualifier != "" and claimed.qualifier == found.qualifier
    if is_same and all(one.qualifier != claimed.qualifier for one in rivals):
        return True
    if claimed.label and claimed.label == found.label:
        around = [*claimed.after[:1], *claimed.before[1:]]
        known = {one for one in around if one in shared or one.isdigit()}
        return (
            not known
            or not known.isdisjoint((*found.after, *found.before[1:]))
            or all(one.label != found.label for one in rivals)
        )
    if claimed.label and not claimed.after:
        return claimed.label in found.after
    if claimed.after[:1] and claimed.after[0].isdigit():
        whole = claimed.after[0]
        is_part = claimed.digits.isdigit() and int(claimed.digits) < int(whole)
        if is_part and any(one.digits == whole for one in all_numbers):
            return True
    right = 2 if analyzer.is_unspaced("".join(claimed.before[:1])) else 1
    before = {one for one in claimed.before[:right] if one in shared or one.isdigit()}
    is_before = before.issubset((*found.before, *found.after))
    if claimed.after and (found.after or rivals or not before):
        if not is_before and any(
            one.after[:1] == found.after[:1] != () and before.intersection(one.before)
            for one in rivals
        ):
            return False
        if is_before and any(one.isdigit() for one in before):
            return True
        wanted = {claimed.after[0], *SYNONYMS.get(claimed.after[0], ())}
        if not found.after:
            return any(one.after[:1] == claimed.after[:1] for one in rivals)
        return not wanted.isdisjoint((*found.after, found.label)) or (
            found.after[0] in claimed.after
        )
    return is_before


def spellings(digits: str) -> tuple[str, ...]:
    """Return the words for a number."""
    return _SPELLINGS.get(digits, ())


def to_figures(text: str) -> str:
    """Write the numbers of a text in figures: "1,290" and "twelve hundred"."""
    text = _GROUPED.sub("", text)
    if _HAS_LONG_NUMBER.search(text):
        text = _LONG_NUMBER.sub(_long_number_to_digits, text)
    return _SPELLED_WORD.sub(lambda word: SPELLED[word[0].lower()], text)


def _word_spans(text: str) -> Iterator[tuple[str, int, int]]:
    at = 0
    for word in analyzer.words(text):
        start = text.find(word, at)
        if start >= 0:
            at = start + len(word)
            yield word, start, at


def _number(text: str, spans: Sequence[tuple[str, int, int]], at: int) -> Number:
    word, start, _ = spans[at]
    previous, _, stop = spans[at - 1] if at else ("", 0, 0)
    if not _LEADING.fullmatch(text[stop:start]):
        previous = ""
    before, after = (
        tuple(_before(text, spans, at)),
        tuple(_after(text, spans, at, _CLOSE)),
    )
    is_unit = bool(after) and after[0] in UNITS.values()
    is_label = previous and not is_unit and _is_label(text, spans, at)
    if is_label:
        after = tuple(_after(text, spans, at, _LOOSE))
    part = _DAYPART.search(previous[-2:]) or _DAYPART.search(" ".join(before[:1]))
    return Number(
        to_digits(word),
        after,
        before,
        label=_root(previous) if is_label else "",
        qualifier=part[0] if part else _QUALIFIERS.get(analyzer.fold(previous), ""),
    )


def _is_label(text: str, spans: Sequence[tuple[str, int, int]], at: int) -> bool:
    """Return whether the word before a number names it: "port 8080", "Node 18"."""
    word, start, stop = spans[at - 1]
    gap = text[stop : spans[at][1]]
    if analyzer.fold(word) in _LABELS:
        return not _OPENS.search(gap)
    if gap.strip():
        return False
    begins = at < 2 or _ENDS.search(text[spans[at - 2][2] : start])
    return word[:1].isupper() and not begins and analyzer.fold(word) not in STOP_WORDS


def _after(
    text: str, spans: Sequence[tuple[str, int, int]], at: int, gap: re.Pattern[str]
) -> Iterator[str]:
    end = spans[at][2]
    if sign := _SIGN.match(text, end):
        yield sign[1]
        return
    if sign := _SIGN_BEFORE.search(text[: spans[at][1]]):
        yield sign[1]
        return
    found = 0
    for word, start, stop in spans[at + 1 :]:
        if not gap.fullmatch(text[end:start]) and text[end:start] not in _RATIOS:
            return
        end = stop
        if analyzer.fold(word) in _LINKS:
            continue
        if analyzer.fold(word) in STOP_WORDS:
            return
        yield to_digits(word) or _unit(word)
        found += 1
        if found == CONTEXT_WORDS or to_digits(word):
            return


def _before(text: str, spans: Sequence[tuple[str, int, int]], at: int) -> Iterator[str]:
    start, found = spans[at][1], 0
    for word, first, end in reversed(spans[:at]):
        if not _LEADING.fullmatch(text[end:start]):
            return
        start = first
        if analyzer.fold(word) in STOP_WORDS:
            continue
        yield to_digits(word) or _root(word)
        if analyzer.is_unspaced(word):
            yield from _previous_bigrams(analyzer.fold(word))
            return
        found += 1
        if found == CONTEXT_WORDS:
            return


def _previous_bigrams(run: str) -> Iterator[str]:
    """Yield the bigrams before the last one of a run, the nearest first."""
    yield run[-4:-2]
    yield from (run[at : at + 2] for at in range(max(0, len(run) - 6), len(run) - 2))


@lru_cache(maxsize=analyzer.WORD_CACHE_SIZE)
def _unit(word: str) -> str:
    """Return the form in which a word after a number is compared."""
    folded = analyzer.fold(word)
    if analyzer.is_unspaced(word):
        bare = _CLASSIFIER.sub("", folded, count=1)
        return next((UNITS[one] for one in UNITS if bare.startswith(one)), bare[:1])
    return UNITS.get(folded) or _root(word)


@lru_cache(maxsize=analyzer.WORD_CACHE_SIZE)
def _root(word: str) -> str:
    if analyzer.is_unspaced(word):
        return analyzer.fold(word[-2:])
    return next(iter(analyzer.query_terms(word)), "")
