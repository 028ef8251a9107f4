"""How long ago something was, in the words a person would use; never ahead of now.

What is called last week, last month or last year is the calendar's, as it is where a
question names it; a number of units is the nearest one.
"""

from datetime import date, datetime, timedelta, tzinfo

from memtui.memory.times import units

_MINUTE_S, _HOUR_S = 60, 3_600


_WEEK, _MONTH, _YEAR = 7, 30.44, 365.25
"""How many days each has, one with another."""


_DAY_S = 86_400


_UNITS = (
    (_YEAR * _DAY_S, "year"),
    (_MONTH * _DAY_S, "month"),
    (_WEEK * _DAY_S, "week"),
    (_DAY_S, "day"),
    (_HOUR_S, "hour"),
    (_MINUTE_S, "minute"),
)


_WEEKS_FROM, _MONTHS_FROM, _YEARS_FROM = 11, 46, 346
"""From how many days on something is told in a unit: from a week and a half, from a
month and a half, from what is nearest to twelve months."""


_LAST_MONTH_FROM = 28
"""From how many days on it is told as last month, if it was: weeks say more before."""


def ago(at: datetime, now: datetime, zone: tzinfo) -> str:
    """When something was, seen from now: ``2 days ago``, ``yesterday``, ``last week``.

    Args:
        at: When it was, aware; a clock that is ahead of ours gives "just now".
        now: The time.
        zone: The calendar's, whose midnights tell yesterday from today.
    """
    day, today = at.astimezone(zone).date(), now.astimezone(zone).date()
    seconds = (now - at).total_seconds()
    if seconds < _MINUTE_S:
        return "just now"
    if day >= today or seconds < _HOUR_S:
        if seconds < _HOUR_S:
            return _so_many(int(seconds // _MINUTE_S), "minute")
        return _so_many(int(seconds // _HOUR_S), "hour")
    return _days_ago(day, today)


def elapsed(at: datetime, now: datetime) -> str:
    """How long ago something was by the clock alone, in one whole unit."""
    return _whole((now - at).total_seconds())


def in_days(days: int) -> str:
    """How long ago a day was that is so many days back, in one whole unit."""
    return _whole(days * _DAY_S)


def _whole(seconds: float) -> str:
    for length_s, unit in _UNITS:
        if seconds >= length_s:
            return _so_many(int(seconds // length_s), unit)
    return "just now"


def _days_ago(day: date, today: date) -> str:
    days = (today - day).days
    if days == 1:
        return "yesterday"
    if days >= _WEEK and _is_in(units.week(today - timedelta(_WEEK)), day):
        return "last week"
    if days < _WEEKS_FROM:
        return _so_many(days, "day")
    last_month = units.months(today.year, today.month - 1)
    if days >= _LAST_MONTH_FROM and _is_in(last_month, day):
        return "last month"
    if days < _MONTHS_FROM:
        return _so_many(round(days / _WEEK), "week")
    if days >= _YEARS_FROM and day.year == today.year - 1:
        return "last year"
    years = round(days / _YEAR)
    if days < _YEARS_FROM or years < 2:
        return _so_many(round(days / _MONTH), "month")
    return _so_many(years, "year")


def _is_in(days: units.Days, day: date) -> bool:
    return days.first <= day < days.after


def _so_many(count: int, unit: str) -> str:
    return f"{count} {unit}{'' if count == 1 else 's'} ago"
