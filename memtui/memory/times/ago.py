"""Times that are told from now: "last week", "two days ago", "recently", 昨天.

"N units ago" means half a unit on each side; "the last N days" begins with a midnight
and goes up to now.
"""

import re
from datetime import date, timedelta

from memtui.memory.times import units
from memtui.memory.times.forms import Forms, Here, Hours, Spoken, of_days
from memtui.memory.times.units import (
    BLANK,
    COUNT,
    DAY,
    FOREIGN_COUNT,
    HOUR,
    MINUTE,
    MONTH,
    MONTHS,
    PARTS,
    SEASONS,
    SHORT,
    SHORT_WEEKDAYS,
    UNITS,
    VERBS,
    WEEK,
    WEEKDAYS,
    Days,
    Name,
    Weekday,
    either,
)

LEAST_AROUND = timedelta(minutes=5)
"""A time told in minutes ago means at least so much on each side."""


RECENT = timedelta(days=14)
"""How far back "recently" goes."""


AROUND_CHARS = 60
"""How much on each side of a word is looked at for its language."""


_WORDS = {
    "the other": "the other day|the other night|the other evening|the other week",
    "recently": "recently|lately|kürzlich|neulich|récemment|recientemente|最近",
    "tonight": "tonight|今晚",
    "last night": "昨晚",
    "0": "today|heute|aujourd'hui|hoy|今天",
    "1": "yesterday|gestern|hier|ayer|昨天",
    "2": "the day before yesterday|day before yesterday|vorgestern|avant-hier|anteayer"
    "|前天",
    "0 week": "diese woche|dieser woche|cette semaine|esta semana|这周|本周|这个星期",
    "1 week": "letzte woche|letzten woche|letzter woche|vorige woche|voriger woche"
    "|la semaine dernière|la semana pasada|上周|上星期|上个星期",
    "2 week": "the week before last|vorletzte woche|上上周",
    "0 month": "diesen monat|diesem monat|ce mois-ci|este mes|这个月|本月",
    "1 month": "letzten monat|vorigen monat|le mois dernier|el mes pasado|上个月",
    "2 month": "the month before last",
    "0 year": "dieses jahr|diesem jahr|cette année|este año|今年",
    "1 year": "letztes jahr|letzten jahr|voriges jahr|l'année dernière|l'an dernier"
    "|el año pasado|去年",
    "2 year": "the year before last|前年",
}


_MEANT = {word: meant for meant, row in _WORDS.items() for word in row.split("|")}


_HAN = {word for word in _MEANT if word > "\u3000"}


_FRENCH = re.compile(
    r"\b(?:nous|avons|avez|est-ce|les|pourquoi|comment|fait|ont|quoi|était|depuis)\b"
    r"|\b(?:qu|j|d)'"
)


_GERMAN = re.compile(r"\b(?:wir|ist|und|nicht|das|der|die|wird|man|ich|wurde|haben)\b")


_GOES_ON = (
    rf"(?=(?:{BLANK})?(?:$|[?.!,;:)]|(?:we|i|did|about|when|where|was|were|the|in|on|that"
    r"|with|for|and|by|to|of)\b))"
)
"""What follows "last fall" and "this spring", which other things are called as well."""


def _back(here: Here, unit: int, most: int, least: int) -> Days:
    """From so many units ago up to so many units ago, half a unit on each side."""
    if unit >= MONTH:
        size = 1 if unit == MONTH else 12
        half = timedelta(days=15 if unit == MONTH else 182)
        first = units.moved(here.today, -most * size)
        last = units.moved(here.today, -least * size)
    else:
        size = 7 if unit == WEEK else 1
        half = timedelta(days=size // 2)
        first = here.today - most * size * DAY
        last = here.today - least * size * DAY
    return Days(first - half, min(last + half, here.today) + DAY)


def _ago(match: "re.Match[str]", here: Here) -> Spoken | None:
    least, most = units.count(match[1])
    return so_long(match, here, least, most, UNITS[match[2]])


def so_long(
    match: "re.Match[str]", here: Here, least: int, most: int, unit: int
) -> Spoken | None:
    """So many units ago, half a unit on each side."""
    if unit > HOUR:
        return of_days(match, _back(here, unit, most, least))
    size = timedelta(minutes=1) if unit == MINUTE else timedelta(hours=1)
    half = max(size / 2, LEAST_AROUND)
    until = min(here.now - least * size + half, here.now)
    bounds = here.now - most * size - half, until
    return Spoken(*match.span(), exact=bounds, is_full=True)


def _half_hour(match: "re.Match[str]", here: Here) -> Spoken | None:
    at, half = here.now - timedelta(minutes=30), timedelta(minutes=15)
    return Spoken(*match.span(), exact=(at - half, at + half), is_full=True)


def _half_year(match: "re.Match[str]", here: Here) -> Spoken | None:
    return of_days(match, _back(here, MONTH, 6, 6))


def _fortnight(match: "re.Match[str]", here: Here) -> Spoken | None:
    return of_days(match, _back(here, WEEK, 2, 2))


def _rolling(match: "re.Match[str]", here: Here) -> Spoken | None:
    most = units.count(match[1])[1]
    return last(match, here, most, match[2])


def _whole(match: "re.Match[str]", here: Here) -> Spoken | None:
    word = match[1] or match[2] or match[3]
    if word == "fortnight":
        return last(match, here, 2, "week")
    return last(match, here, 1, word)


def last(match: "re.Match[str]", here: Here, most: int, word: str) -> Spoken | None:
    """So many units up to now."""
    unit = MONTH if word.startswith("quarter") else UNITS[word]
    if unit <= HOUR:
        back = timedelta(minutes=most) if unit == MINUTE else timedelta(hours=most)
        bounds = here.now - back, here.now
        return Spoken(*match.span(), exact=bounds, is_full=True)
    if unit >= MONTH:
        size = 3 if word.startswith("quarter") else 1 if unit == MONTH else 12
        first = units.moved(here.today, -most * size)
    else:
        first = here.today - most * (7 if unit == WEEK else 1) * DAY
    return of_days(match, Days(first, here.today + DAY))


def unit(today: date, word: str, back: int) -> Days:
    """The calendar's week, month, quarter or year that lies so many back."""
    if word == "week":
        return units.week(today - back * 7 * DAY)
    if word == "month":
        return units.months(today.year, today.month - back)
    if word == "quarter":
        first = (today.month - 1) // 3 * 3 + 1
        return units.months(today.year, first - 3 * back, 3)
    return units.months(today.year - back, 1, 12)


def _begun(match: "re.Match[str]", here: Here) -> Spoken | None:
    return of_days(match, unit(here.today, match[1], 0).part(0, 1, 3))


def _near(match: "re.Match[str]", here: Here) -> Spoken | None:
    """This one, or the last one that is over."""
    word, is_this = match[2], match[1] == "this"
    if word in PARTS:
        return _part(match, here, word, 0 if is_this else 1)
    if word in ("week", "month", "quarter", "year"):
        return of_days(match, unit(here.today, word, 0 if is_this else 1))
    if word in VERBS | SHORT and not here.is_capital(match.start(2)):
        return None
    return _near_name(match, here, named(word), is_this)


def _near_name(
    match: "re.Match[str]", here: Here, name: Name, is_this: bool
) -> Spoken | None:
    found = name.latest(here.today)
    if found and is_this:
        around = "week" if isinstance(name, Weekday) else "year"
        if found != name.inside(unit(here.today, around, 0)):
            return None
    elif found and found.after > here.today:
        found = name.latest(found.first - DAY)
    if found is None:
        return None
    return Spoken(*match.span(), days=found, name=name, is_full=True)


def _part(match: "re.Match[str]", here: Here, word: str, back: int) -> Spoken:
    days = units.day(here.today - back * DAY)
    return Spoken(*match.span(), days=days, hours=Hours(*PARTS[word]), is_full=True)


def named(word: str) -> Name:
    """The weekday, month or season of a name."""
    if word in WEEKDAYS or word in SHORT_WEEKDAYS:
        return Weekday((WEEKDAYS | SHORT_WEEKDAYS)[word])
    if word in SEASONS:
        return units.months_of(SEASONS[word], 3)
    return units.months_of(MONTHS[word], 1)


def _weekend(match: "re.Match[str]", here: Here) -> Spoken | None:
    """Saturday and Sunday: this week's, the last that is over, or the latest."""
    monday = units.week(here.today).first
    days = Days(monday + 5 * DAY, monday + 7 * DAY)
    is_over = match[1] not in ("this", "the")
    if match[1] != "this" and (is_over or days.first > here.today):
        days = Days(days.first - 7 * DAY, days.after - 7 * DAY)
    return of_days(match, days)


def _word(match: "re.Match[str]", here: Here) -> Spoken | None:
    """A word that is a time by itself."""
    said = " ".join(match[0].removesuffix("'s").split())
    if said == "hier" and not _is_french(match, here):
        return None
    meant = _MEANT[said]
    if meant in ("recently", "the other"):
        days = Days(here.today - RECENT, here.today + DAY)
        return of_days(match, days, is_soft=meant == "recently")
    if meant.endswith("night"):
        return _part(match, here, "night", 0 if meant == "tonight" else 1)
    back, _, size = meant.partition(" ")
    if size:
        return of_days(match, unit(here.today, size, int(back)))
    return of_days(match, units.day(here.today - int(back) * DAY))


def _is_french(match: "re.Match[str]", here: Here) -> bool:
    """Whether "hier" is yesterday here: in German it means "here"."""
    start, end = match.span()
    around = here.text[max(0, start - AROUND_CHARS) : end + AROUND_CHARS]
    low = units.lowered(around)
    return bool(_FRENCH.search(low)) and not _GERMAN.search(low)


_UNIT = "week|month|quarter|year"


_CLEAR = either({*WEEKDAYS, *SHORT_WEEKDAYS, *MONTHS, *PARTS, "summer", "winter"})


_UNCLEAR = "spring|autumn|fall"


_ENGLISH = "minute|hour|day|week|month|year"


_OTHERS = either(unit for unit in UNITS if len(unit) > 1)


_SPACED = either(set(_MEANT) - _HAN).replace(r"\ ", BLANK)


FORMS: Forms = {
    "ago": (
        rf"(?<!half )(?<!than )(?:(?:about|around|roughly){BLANK})?({COUNT}){BLANK}"
        rf"((?:{_ENGLISH})s?){BLANK}(?:ago|back)",
        _ago,
    ),
    "half_hour": (rf"half{BLANK}an{BLANK}hour{BLANK}ago", _half_hour),
    "half_year": (rf"half{BLANK}a{BLANK}year{BLANK}ago", _half_year),
    "fortnight": (rf"(?:(?:a|one){BLANK})?fortnight{BLANK}ago", _fortnight),
    "vor": (rf"(?:vor|il y a|hace){BLANK}({FOREIGN_COUNT}){BLANK}({_OTHERS})", _ago),
    "rolling": (
        rf"(?:the{BLANK}|these{BLANK})?(?:last|past|previous){BLANK}"
        rf"({COUNT}){BLANK}((?:{_ENGLISH}|quarter)s?)",
        _rolling,
    ),
    "whole": (
        rf"(?:the{BLANK}|this{BLANK})?past{BLANK}({_UNIT}|hour|fortnight)"
        rf"|(?:in|over|during|within){BLANK}the{BLANK}last{BLANK}({_UNIT}|hour)"
        rf"|(?:the{BLANK})?last{BLANK}(fortnight)"
        rf"(?!{BLANK}of\b)",
        _whole,
    ),
    "begun": (
        rf"(?:(?:beginning|start){BLANK}of|early{BLANK}(?:in|on)){BLANK}the{BLANK}"
        rf"({_UNIT})(?!{BLANK}of\b)",
        _begun,
    ),
    "weekend": (rf"(last|past|previous|this|the){BLANK}weekend", _weekend),
    "near": (
        rf"(last|this|previous|preceding|past){BLANK}"
        rf"({_UNIT}|{_CLEAR}|(?:{_UNCLEAR}){_GOES_ON})(?!{BLANK}of\b)",
        _near,
    ),
    "word": (_SPACED, _word),
}
"""The forms with blanks between their words."""


HAN_FORMS: Forms = {
    "han_word": (either(_HAN), _word),
    "han_ago": (r"([0-9]{1,3}|[一两三四])(?:个)?(天|周|月|年)前", _ago),
}
"""Those of a script that is written without blanks."""
