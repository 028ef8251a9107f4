"""What was understood of a time, said back: "9–15 November 2026"."""

from datetime import date, datetime, time, timedelta

from memtui.memory.times.units import DAY


def said(start: datetime | None, end: datetime | None) -> str:
    """Local bounds in words; whole days are told without hours, the last included."""
    if start is None or end is None:
        return f"from {_told(start)} on" if start else f"up to {_told(end, -DAY)}"
    if start.time() == end.time() == time():
        first, last = start.date(), end.date() - DAY
        if first == last:
            return f"{first:%A} {_day(first)}"
        if first.year != last.year:
            return f"{_day(first)} – {_day(last)}"
        if first.month != last.month:
            return f"{first.day} {first:%B} – {_day(last)}"
        return f"{first.day}–{_day(last)}"
    if start.date() == end.date():
        return f"{_day(start)}, {start:%H:%M}–{end:%H:%M}"
    if end.time() == time() and end.date() == start.date() + DAY:
        return f"{_day(start)}, {start:%H:%M}–24:00"
    return f"{_day(start)} {start:%H:%M} – {_day(end)} {end:%H:%M}"


def _told(at: datetime | None, moved: timedelta = timedelta()) -> str:
    if at is None:
        return ""
    return _day(at + moved) if at.time() == time() else f"{_day(at)} {at:%H:%M}"


def _day(day: date) -> str:
    return f"{day.day} {day:%B} {day.year}"
