"""Dates in other tongues: "am 3. Juni 2025", "le 3 juin", "el 3 de junio".

A month that is a word of another language too is one only with a day or a year beside
it, or behind the word that says "in".
"""

import re
from collections.abc import Callable
from datetime import date

from memtui.memory.times import units
from memtui.memory.times.forms import Forms, Here, Spoken, latest, of_days, yearly
from memtui.memory.times.units import BLANK, DAY, YEAR, Days, Weekday, either, numbered

_MONTHS = numbered("""
    januar jänner janvier enero
    februar février febrero
    märz mars marzo
    april avril abril
    mai mayo
    juni juin junio
    juli juillet julio
    august août agosto
    september septembre septiembre
    oktober octobre octubre
    november novembre noviembre
    dezember décembre diciembre
""")


_WEEKDAYS = numbered(
    """
    montag lundi lunes
    dienstag mardi martes
    mittwoch mercredi miércoles
    donnerstag jeudi jueves
    freitag vendredi viernes
    samstag sonnabend samedi sábado
    sonntag dimanche domingo
""",
    0,
)


def _date(match: "re.Match[str]", here: Here) -> Spoken | None:
    day, month = int(match[2]), _MONTHS[match[4]]
    needs = "" if match[1] or match[3] or match[5] else "day"
    return yearly(match, here, _days(month, day), match[5], needs)


def _month(match: "re.Match[str]", here: Here) -> Spoken | None:
    of = units.months_of(_MONTHS[match[1] or match[3]]).of
    return yearly(match, here, of, match[2] or match[4])


def _dotted(match: "re.Match[str]", here: Here) -> Spoken | None:
    day, month, year = int(match[1]), int(match[2]), match[3]
    year = f"20{year}" if year and len(year) == 2 else year
    return yearly(match, here, _days(month, day), year)


def _days(month: int, day: int) -> Callable[[int], Days]:
    return lambda year: units.day(date(year, month, day))


def _weekday(match: "re.Match[str]", here: Here) -> Spoken | None:
    name = Weekday(_WEEKDAYS[match[2] or match[3]])
    if match[1] == "am":
        return latest(match, here, name)
    return of_days(match, name.latest(here.today - DAY))


_MONTH = either(_MONTHS)


_WEEKDAY = either(_WEEKDAYS)


FORMS: Forms = {
    "other_date": (
        rf"(?:(am|vom|den|le|el){BLANK})?([0-9]{{1,2}})(\.|er)?{BLANK}(?:de{BLANK})?"
        rf"({_MONTH})(?:{BLANK}(?:del?{BLANK})?({YEAR}))?",
        _date,
    ),
    "other_month": (
        rf"(?:im|en){BLANK}({_MONTH})(?:{BLANK}(?:de{BLANK})?({YEAR}))?"
        rf"|({_MONTH}){BLANK}(?:de{BLANK})?({YEAR})",
        _month,
    ),
    "other_dots": (
        rf"(?:am|vom|den){BLANK}([0-9]{{1,2}})\.([0-9]{{1,2}})\."
        rf"({YEAR}|[0-9]{{2}}(?![0-9]))?",
        _dotted,
    ),
    "other_weekday": (
        rf"(am|letzten|vorigen|vergangenen){BLANK}({_WEEKDAY})"
        rf"|(?:el{BLANK})?({_WEEKDAY}){BLANK}(?:dernier|pasado)",
        _weekday,
    ),
}
"""The forms; they are tried behind those of English."""
