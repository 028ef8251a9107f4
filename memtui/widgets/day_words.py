"""How a day of the year is put into words."""

from datetime import date

from textual.content import Content

from memtui.memory.days import Day
from memtui.memory.times import since
from memtui.widgets import wording
from memtui.widgets.shades import GLYPHS, Shades

GAP = "   "


def away(day: date, today: date) -> str:
    """How far a day is from today: "today", "3 days ago", "5 weeks ago"."""
    days = (today - day).days
    if days in (0, 1):
        return "yesterday" if days else "today"
    if days < 0:
        return "tomorrow" if days == -1 else f"in {-days} days"
    return since.in_days(days)


def dated(day: date, today: date) -> str:
    """A date in full and how far it is: "Tue 10 March 2026, yesterday"."""
    return f"{wording.day(day)}, {away(day, today)}"


def told(day: date, found: Day | None, today: date) -> Content:
    """What is known of a day, in lines.

    Args:
        day: The day.
        found: What is kept of it; None for nothing.
        today: The local date.
    """
    name = Content.styled(dated(day, today), "bold")
    if found is None:
        return name + Content.styled(" · nothing is kept", "$context")
    waiting = ["not summarised yet"] if found.is_pending else []
    if not found.segments and found.is_pending:
        return Content(" · ").join([name, *map(Content, waiting)])
    counts = [
        wording.counted(found.segments, "segment"),
        wording.counted(found.messages, "message"),
        *waiting,
    ]
    if found.is_live:
        counts.append(f"{wording.LIVE} still going on")
    who = [wording.names(some) for some in (found.agents, found.projects) if some]
    lines = [
        Content(" · ").join([name, *map(Content, counts)]),
        Content(found.headline),
        Content.styled(" · ".join(who), "$context"),
    ]
    return Content("\n").join(line for line in lines if line)


def legend(shades: Shades) -> Content:
    """What the glyphs stand for, in messages a day."""
    parts = [f"{GLYPHS[step]} {said}" for step, said in shades.ranges()]
    of = " messages a day, in any year"
    return Content(GAP.join(parts)) + Content.styled(of, "$context")
