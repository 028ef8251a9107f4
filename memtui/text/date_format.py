"""Show dates, times and durations in the one style of all screens and commands.

A day is "Sat 1 Aug 2026", a time "09:30", a range "27 Jul – 2 Aug", a duration "3h 56m"
and an age "3 days ago". Replies to agents have dates as "2026-08-01 09:30".
"""

from datetime import UTC, date, datetime, time, timedelta, tzinfo

DAY = timedelta(days=1)

WEEKS_FROM, MONTHS_FROM, YEARS_FROM = 11, 46, 346
"""The ages in days from which an age is given in weeks, months or years."""


def clock(at: datetime, zone: tzinfo) -> str:
    """Format a time of day: "09:30"."""
    return f"{at.astimezone(zone):%H:%M}"


def day(on: date) -> str:
    """Format a day: "Sat 1 Aug 2026"."""
    return f"{on:%a} {on.day} {on:%b} {on.year}"


def moment(at: datetime, zone: tzinfo) -> str:
    """Format a day and a time: "Sat 1 Aug 2026 09:30"."""
    return f"{day(at.astimezone(zone).date())} {clock(at, zone)}"


def iso_minute(at: datetime, zone: tzinfo) -> str:
    """Format a day and a time for agents: "2026-08-01 09:30"."""
    return f"{at.astimezone(zone):%Y-%m-%d %H:%M}"


def iso_utc(at: datetime) -> str:
    """Format an exact time for programs: "2026-08-01T07:30:00.000Z"."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def near_day(on: date, today: date) -> str:
    """Format a day as shortly as possible: "yesterday", "Sat 1 Aug", "1 Aug 2025"."""
    near = {0: "today", 1: "yesterday"}.get((today - on).days)
    if near:
        return near
    this_year = f"{on:%a} {on.day} {on:%b}"
    return this_year if on.year == today.year else f"{on.day} {on:%b} {on.year}"


def near_moment(at: datetime, now: datetime, zone: tzinfo) -> str:
    """Format a day and a time as shortly as possible: "yesterday 09:30"."""
    on, today = at.astimezone(zone).date(), now.astimezone(zone).date()
    return f"{near_day(on, today)} {clock(at, zone)}"


def days(first: date, last: date) -> str:
    """Format a range of days without its year: "15–21 Jan", "27 Jul – 2 Aug"."""
    if first == last:
        return f"{first.day} {first:%b}"
    if (first.year, first.month) == (last.year, last.month):
        return f"{first.day}–{last.day} {last:%b}"
    return f"{first.day} {first:%b} – {last.day} {last:%b}"


def hours(start: datetime, end: datetime) -> str:
    """Format local times: "Sat 1 Aug 2026, 09:30–10:00"; one minute as one time."""
    if f"{start:%H:%M}" == f"{end:%H:%M}" and start.date() == end.date():
        return f"{day(start.date())}, {start:%H:%M}"
    if start.date() == end.date():
        return f"{day(start.date())}, {start:%H:%M}–{end:%H:%M}"
    if end.time() == time() and end.date() == start.date() + DAY:
        return f"{day(start.date())}, {start:%H:%M}–24:00"
    return f"{day(start.date())} {start:%H:%M} – {day(end.date())} {end:%H:%M}"


def hours_in(zone: tzinfo, start: datetime, end: datetime) -> str:
    """Format times in a zone like ``hours``."""
    return hours(start.astimezone(zone), end.astimezone(zone))


def period(start: datetime | None, end: datetime | None) -> str:
    """Format local bounds, the end excluded: "9–15 Nov 2026", "from Mon 2 Mar 2026"."""
    if start is None or end is None:
        if start:
            return f"from {_bound(start)}"
        return f"until {_bound(end, -DAY)}" if end else ""
    if start.time() != time() or end.time() != time():
        return hours(start, end)
    first, last = start.date(), end.date() - DAY
    if first == last:
        return day(first)
    begin = f"{first.day} {first:%b} {first.year} – {last.day} {last:%b}"
    range_ = days(first, last) if first.year == last.year else begin
    return f"{range_} {last.year}"


def _bound(at: datetime, moved: timedelta = timedelta()) -> str:
    if at.time() == time():
        return day(at.date() + moved)
    return f"{day(at.date())} {at:%H:%M}"


def duration(length: timedelta) -> str:
    """Format a duration in at most two units: "2d 4h", "3h 56m", "12m", "<1m"."""
    minutes = int(length.total_seconds() // 60)
    if minutes < 1:
        return "<1m"
    if minutes < 60:
        return f"{minutes}m"
    if minutes < 24 * 60:
        return f"{minutes // 60}h {minutes % 60}m"
    full_days, remaining = divmod(minutes, 24 * 60)
    return f"{full_days}d {remaining // 60}h" if full_days < 10 else f"{full_days}d"


def age(at: datetime, now: datetime) -> str:
    """Format how long ago a time was by the clock, in one unit: "3 days ago"."""
    return "in the future" if at > now else _seconds_ago((now - at).total_seconds())


def day_age(on: date, today: date) -> str:
    """Format how far a day is from today: "today", "3 days ago", "in 2 days"."""
    count = (today - on).days
    near = {0: "today", 1: "yesterday", -1: "tomorrow"}.get(count)
    if near:
        return near
    return f"in {-count} days" if count < 0 else _seconds_ago(count * 86_400)


def near_age(at: datetime, now: datetime, zone: tzinfo) -> str:
    """Format how long ago a time was: by the clock today, else in calendar days."""
    on, today = at.astimezone(zone).date(), now.astimezone(zone).date()
    return age(at, now) if on >= today else day_age(on, today)


def _seconds_ago(seconds: float) -> str:
    if seconds >= 86_400:
        return _days_ago(int(seconds // 86_400))
    for length, unit in ((3_600, "hour"), (60, "minute")):
        if seconds >= length:
            return _count_ago(int(seconds // length), unit)
    return "just now"


def _days_ago(count: int) -> str:
    """Format an age in days, in the nearest number of a unit."""
    years = round(count / 365.25)
    if count < WEEKS_FROM:
        return _count_ago(count, "day")
    if count < MONTHS_FROM:
        return _count_ago(round(count / 7), "week")
    if count < YEARS_FROM or years < 2:
        return _count_ago(round(count / 30.44), "month")
    return _count_ago(years, "year")


def calendar_age(at: datetime, now: datetime, zone: tzinfo) -> str:
    """Format how long ago a time was in the words that a question uses.

    "yesterday", "last week", "last month" and "last year" are those of the calendar,
    as ``dates.read`` reads them. A time ahead of ``now`` is "just now".
    """
    on, today = at.astimezone(zone).date(), now.astimezone(zone).date()
    seconds = (now - at).total_seconds()
    count = (today - on).days
    if count <= 0 or seconds < 3_600:
        return _seconds_ago(seconds)
    if count == 1:
        return "yesterday"
    monday = today - timedelta(days=today.weekday())
    if monday - timedelta(days=7) <= on < monday and count >= 7:
        return "last week"
    last_month = today.replace(day=1) - DAY
    is_last_month = (on.year, on.month) == (last_month.year, last_month.month)
    if count >= 28 and is_last_month:
        return "last month"
    if count >= YEARS_FROM and on.year == today.year - 1:
        return "last year"
    return _days_ago(count)


def _count_ago(count: int, unit: str) -> str:
    return f"{count} {unit}{'' if count == 1 else 's'} ago"
