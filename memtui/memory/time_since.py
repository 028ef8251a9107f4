"""How long ago something was, in the words a person would use; never ahead of now."""

from datetime import datetime, tzinfo

_MINUTE_S, _HOUR_S = 60, 3_600
_WEEK, _MONTH, _YEAR = 7, 30, 365
"""How many days each is, roughly: nobody counts them."""


def ago(at: datetime, now: datetime, zone: tzinfo) -> str:
    """When something was, seen from now: ``2 days ago``, ``yesterday``, ``last week``.

    Args:
        at: When it was, aware; a clock that is ahead of ours gives "just now".
        now: The time.
        zone: The calendar's, whose midnights tell yesterday from today.
    """
    days = (now.astimezone(zone).date() - at.astimezone(zone).date()).days
    seconds = (now - at).total_seconds()
    if seconds < _MINUTE_S:
        return "just now"
    if days < 1 or seconds < _HOUR_S:
        if seconds < _HOUR_S:
            return _so_many(int(seconds // _MINUTE_S), "minute")
        return _so_many(int(seconds // _HOUR_S), "hour")
    if days == 1:
        return "yesterday"
    for length, unit in ((_YEAR, "year"), (_MONTH, "month"), (_WEEK, "week")):
        if days >= length:
            count = days // length
            return f"last {unit}" if count == 1 else _so_many(count, unit)
    return _so_many(days, "day")


def _so_many(count: int, unit: str) -> str:
    return f"{count} {unit}{'' if count == 1 else 's'} ago"
