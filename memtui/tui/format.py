"""How counts, times, speakers and verdicts are put into words and marks.

Every mark is repeated by words or by place, and never says anything by colour alone.
"""

import textwrap
from collections import Counter
from collections.abc import Sequence
from datetime import date, timedelta, tzinfo
from pathlib import Path

from memtui.errors import StoreDamaged
from memtui.model.events import Event, EventRole, EventType
from memtui.model.nodes import (
    Bullet,
    NodeCounts,
    NodeStatus,
    TocEntry,
    TocLevel,
    TocNode,
)
from memtui.model.scope import Scope
from memtui.model.verdicts import Support
from memtui.text import date_format

SUPPORTED, PARTLY, UNSUPPORTED = "✓", "~", "✗"
"""All bullets are supported, some stand, none does; of one bullet: what it is."""


LIVE = "●"
"""A segment that is still open."""


BEHIND = "…"
"""A node that is being brought up to date."""


PASSING = "○"
"""A node that is provisional: more of it may come."""


MODELS = "m"
"""A node that a model wrote; of others the words are those of the conversations."""


SPEAKER_CELLS = 8
"""How wide the column of speakers is; longer names are cut."""


_KB = 1000


GLIMPSE_CHARS = 72
"""How much of a long text a notice shows."""


def count(number: int) -> str:
    """A number with its thousands apart."""
    return f"{number:,}"


def counted(number: int, one: str, many: str = "") -> str:
    """A number with its noun: "1 segment", "3 segments"."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def size(characters: int) -> str:
    """About how long a text is, in bytes of plain text."""
    if characters < _KB:
        return f"{characters} characters"
    if characters < _KB * _KB:
        return f"{characters / _KB:.0f} kB"
    return f"{characters / _KB / _KB:.0f} MB"


def short_path(path: Path) -> str:
    """Return a path with ``~`` for the home folder."""
    home = Path.home()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else f"{path}"


def stretch(level: TocLevel, first: date, today: date) -> str:
    """A stretch of time in short: "January 2024", "week of 15 Jan"."""
    match level:
        case TocLevel.YEAR:
            return f"{first:%Y}"
        case TocLevel.MONTH:
            return f"{first:%B %Y}"
        case TocLevel.WEEK:
            year = "" if first.year == today.year else f" {first:%Y}"
            return f"week of {first.day} {first:%b}{year}"
        case _:
            return date_format.near_day(first, today)


def glimpse(text: str) -> str:
    """The first words of a text, as many as a notice needs."""
    return textwrap.shorten(text, GLIMPSE_CHARS, placeholder="…")


def span(segment: TocNode, zone: tzinfo) -> str:
    """When a segment was: "Thu 18 Jan 2024, 10:00–10:42"."""
    start = segment.start_time.astimezone(zone)
    end = segment.end_time.astimezone(zone)
    return date_format.hours(start, end)


def name_of(line: TocEntry, zone: tzinfo) -> str:
    """What a line of the tree is called under its parent, which says the rest."""
    start = line.start_time.astimezone(zone)
    match line.level:
        case TocLevel.YEAR:
            return line.title
        case TocLevel.MONTH:
            return line.title.partition(" ")[0]
        case TocLevel.WEEK:
            # One not summed up yet ends, by its tally, where it begins.
            return date_format.days(start.date(), start.date() + timedelta(days=6))
        case TocLevel.DAY:
            return f"{start:%a} {start.day:>2}"
        case _:
            return f"{start:%H:%M}"


def verdict(supported: int, weak: int, bullets: int) -> str:
    """The mark of a whole node: nothing where nothing is claimed yet."""
    if not bullets:
        return " "
    if supported == bullets:
        return SUPPORTED
    return PARTLY if supported or weak else UNSUPPORTED


def mark(support: Support) -> str:
    """The mark of a bullet."""
    return {
        Support.SUPPORTED: SUPPORTED,
        Support.WEAK: PARTLY,
        Support.UNSUPPORTED: UNSUPPORTED,
    }[support]


def held(bullets: Sequence[Bullet]) -> str:
    """How many bullets are supported, and how many are weak; empty for no bullets."""
    if not bullets:
        return ""
    found = Counter(bullet.support for bullet in bullets)
    of = counted(len(bullets), "bullet")
    words = f"{found[Support.SUPPORTED]} of {of} supported"
    weak = found[Support.WEAK]
    return f"{words}, {weak} weak" if weak else words


def author(node: TocNode, *, is_refused: bool = False) -> str:
    """Who wrote a summary; empty while nobody has.

    Args:
        node: The node.
        is_refused: Whether a model's version of it was rejected.
    """
    if node.is_by_model:
        return f"written by {node.generation.model}"
    if not node.summarizer:
        return ""
    why = " (a model's version was rejected: v shows it)" if is_refused else ""
    return f"in its own words{why}"


def tally(counts: NodeCounts, level: TocLevel) -> str:
    """How much a node covers."""
    said = [counted(counts.messages, "message")]
    if level is not TocLevel.SEGMENT:
        said.insert(0, counted(counts.segments, "segment"))
    if counts.subagent_events:
        said.append(f"{counted(counts.subagent_events, 'event')} of subagents")
    return " · ".join(said)


def standing(status: NodeStatus, *, is_pinned: bool = False) -> str:
    """What a status means for the reader; empty where there is nothing to say."""
    if is_pinned:
        is_stale = status is NodeStatus.STALE
        return "pinned by you, not up to date" if is_stale else "pinned by you"
    return {
        NodeStatus.PENDING: "not summarised yet",
        NodeStatus.PROVISIONAL: "provisional",
        NodeStatus.STALE: "being brought up to date",
        NodeStatus.CURRENT: "",
    }[status]


def narrowed(scope: Scope) -> str:
    """What part of the memory is shown: "codex · shop · “retries”"."""
    about = f"“{scope.keyword}”" if scope.keyword else ""
    told = [part for part in (scope.agent, scope.project, about) if part]
    return " · ".join(told) or "all projects · all agents"


def names(several: Sequence[str], most: int = 3) -> str:
    """A few names, and how many more there are."""
    shown = ", ".join(several[:most])
    return shown if len(several) <= most else f"{shown} +{len(several) - most}"


def speaker(event: Event) -> str:
    """Who says it, in one short word."""
    return voice(event.role, event.agent)


def voice(role: EventRole, agent: str) -> str:
    """Who speaks in a role, in one short word."""
    if role is EventRole.USER:
        return "you"
    if role is EventRole.ASSISTANT:
        return (agent.partition("-")[0] or "agent")[:SPEAKER_CELLS]
    return "tool" if role is EventRole.TOOL else "note"


def said(event: Event) -> str:
    """What an event says; a boundary without text is put into words."""
    if event.text.strip():
        return event.text.strip("\n")
    return {
        EventType.SESSION_START: "The session starts.",
        EventType.SESSION_END: "The session ends.",
        EventType.ASSISTANT_STOP: "The agent stops here.",
        EventType.SUBAGENT_START: "A subagent starts.",
        EventType.SUBAGENT_STOP: "A subagent ends.",
    }.get(event.event_type, "Nothing was said.")


def why(error: BaseException | None) -> str:
    """An error in words, never empty; with what to do, where that is not plain."""
    if error is None:
        return "it was stopped"
    said = str(error).strip() or type(error).__name__
    is_damage = isinstance(error, StoreDamaged)
    return f"{said} (memtui doctor says what to do)" if is_damage else said
