"""Format counts, scopes, speakers, verdicts and errors for the screens.

A text or a place always says the same as a mark. Dates are in ``date_format``.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import date, tzinfo

from rich.cells import cell_len, set_cell_size

from memtui.errors import StoreDamagedError
from memtui.model import calendar
from memtui.model.calendar import TocLevel
from memtui.model.events import Event, EventRole, EventType
from memtui.model.filters import Scope
from memtui.model.nodes import Bullet, NodeCounts, NodeStatus, TocEntry, TocNode
from memtui.model.quantities import plural
from memtui.model.verdicts import Support
from memtui.text import date_format

SUPPORTED, WEAK, UNSUPPORTED, QUOTED = "✓", "~", "✗", "“"
"""The verdict of a bullet; of a node: all supported, some, none even weakly."""

LIVE = "●"  # Marks an open segment.
STALE = "…"  # Marks a node that is being updated.
PROVISIONAL = "○"  # Marks a provisional node: more may come.
BY_MODEL = "m"  # Marks a node written by a model; all others are extracts.
SPEAKER_CELLS = 8  # The width of the column of speakers; longer names are cut.
_KB = 1000
MAX_LOST = 12  # A text is cut between words if not more characters are lost.


def to_line(text: str) -> str:
    """Replace line breaks and control characters by spaces."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else " " for char in text)


def shorten(text: str, cells: int) -> str:
    """Return a text in one line, cut between words if it is wider than some cells.

    A word is only cut if it is long.
    """
    text = " ".join(to_line(text).split())
    if cells < 1:
        return ""
    if cell_len(text) <= cells:
        return text
    head = set_cell_size(text, cells - 1)
    words, _, part = head.rpartition(" ")
    is_in_word = text[len(head) :][:1].isalnum()
    if is_in_word and len(part) <= min(MAX_LOST, len(words)):
        head = words
    return head.rstrip("…·,;:– ") + "…"


def fit(text: str, cells: int) -> str:
    """Shorten or pad a text to exactly a number of cells."""
    return set_cell_size(shorten(text, cells), cells)


def text_size(characters: int) -> str:
    """Format the approximate size of a text."""
    if characters < _KB:
        return f"{characters} characters"
    if characters < _KB * _KB:
        return f"{characters / _KB:.0f} kB"
    return f"{characters / _KB / _KB:.0f} MB"


def period_name(level: TocLevel, first: date, today: date) -> str:
    """Format the period of a node: "January 2024", "week of 15 Jan", "Thu 18 Jan"."""
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


def shared_label(line: TocEntry, zone: tzinfo, today: date) -> str:
    """Return the label of a row, with those of the nodes that share it."""
    if not line.above:
        return tree_label(line, zone, today)
    labels = (tree_label(entry, zone, today) for entry in (*line.above, line))
    return " › ".join(" ".join(label.split()) for label in labels)


def tree_label(line: TocEntry, zone: tzinfo, today: date) -> str:
    """Return the label of a node; its ancestors say the rest of the date."""
    start = line.start_time.astimezone(zone)
    match line.level:
        case TocLevel.YEAR:
            return line.title
        case TocLevel.MONTH:
            return line.title.partition(" ")[0]
        case TocLevel.WEEK:
            return week_days(line.node_id, line.month_id)
        case TocLevel.DAY:
            near = {0: "Today, ", 1: "Yesterday, "}.get((today - start.date()).days, "")
            return f"{near}{start:%a} {start.day:>2} {start:%b}"
        case _:
            return f"{start:%H:%M}"


def week_days(week_id: str, month_id: str = "") -> str:
    """Format the days of a week, of those in a month if one is given: "29–30 Jun"."""
    week = calendar.period(week_id)
    month = calendar.period(month_id) if month_id else week
    return date_format.days(max(week.first, month.first), min(week.last, month.last))


def node_mark(entry: TocEntry) -> str:
    """Return the mark of a node; a space if a model wrote none of its bullets."""
    if not (entry.is_by_model and entry.bullet_count):
        return " "
    if entry.supported_count == entry.bullet_count:
        return SUPPORTED
    return WEAK if entry.supported_count or entry.weak_count else UNSUPPORTED


def bullet_mark(bullet: Bullet) -> str:
    if bullet.judgement:
        return support_mark(bullet.support)
    if bullet.is_quote:
        return QUOTED
    return support_mark(bullet.support) if bullet.is_checked else " "


def support_mark(support: Support) -> str:
    return {
        Support.SUPPORTED: SUPPORTED,
        Support.WEAK: WEAK,
        Support.UNSUPPORTED: UNSUPPORTED,
    }[support]


def support_counts(bullets: Sequence[Bullet]) -> str:
    checked = [bullet.support for bullet in bullets if bullet.is_checked]
    if not checked:
        return ""
    counts = Counter(checked)
    of = plural(len(checked), "bullet")
    text = f"{counts[Support.SUPPORTED]} of {of} supported"
    weak = counts[Support.WEAK]
    return f"{text}, {weak} weak" if weak else text


def author(node: TocNode, *, is_rejected: bool = False) -> str:
    """Say who wrote a summary, or that a model's version of it was rejected."""
    if node.is_by_model:
        return f"written by {node.generation.model}"
    if not node.summarizer:
        return ""
    why = " (a model's version was rejected: v)" if is_rejected else ""
    return f"extract{why}"


def node_size(counts: NodeCounts, level: TocLevel) -> str:
    """Format what a node covers: "3 segments · 42 messages"."""
    parts = [plural(counts.messages, "message")]
    if level is not TocLevel.SEGMENT or counts.segments > 1:
        parts.insert(0, plural(counts.segments, "segment"))
    if counts.subagent_events:
        parts.append(f"{plural(counts.subagent_events, 'event')} of subagents")
    return " · ".join(parts)


def status_text(status: NodeStatus, *, is_pinned: bool = False) -> str:
    """Say what a status means; empty for a current node that is not pinned."""
    if is_pinned:
        is_stale = status is NodeStatus.STALE
        return "pinned, out of date" if is_stale else "pinned"
    return {
        NodeStatus.PENDING: "not summarized yet",
        NodeStatus.PROVISIONAL: "provisional",
        NodeStatus.STALE: "being updated",
        NodeStatus.CURRENT: "",
    }[status]


def scope_text(scope: Scope) -> str:
    """Format a scope: "codex · shop · “retries”"."""
    keyword = f"“{scope.keyword}”" if scope.keyword else ""
    fields = (scope.agent, scope.project, scope.state, keyword)
    parts = [part for part in fields if part]
    return " · ".join(parts) or "all projects · all agents"


def name_list(several: Sequence[str], most: int = 3) -> str:
    """List a few names, and how many more there are."""
    listed = ", ".join(several[:most])
    return listed if len(several) <= most else f"{listed} +{len(several) - most}"


def speaker(event: Event) -> str:
    return role_name(event.role, event.agent)


def role_name(role: EventRole, agent: str) -> str:
    """Return who writes in a role: "you", "claude", "tool" or "note"."""
    if role is EventRole.USER:
        return "you"
    if role is EventRole.ASSISTANT:
        return (agent.partition("-")[0] or "agent")[:SPEAKER_CELLS]
    return "tool" if role is EventRole.TOOL else "note"


def event_text(event: Event) -> str:
    """Return the text of an event, or a sentence for one without text."""
    if event.text.strip():
        return event.text.strip("\n")
    return {
        EventType.SESSION_START: "The session starts.",
        EventType.SESSION_END: "The session ends.",
        EventType.ASSISTANT_STOP: "The agent stops.",
        EventType.SUBAGENT_START: "A subagent starts.",
        EventType.SUBAGENT_STOP: "A subagent ends.",
    }.get(event.event_type, "(no text)")


def error_text(error: BaseException) -> str:
    """Return the message of an error, never empty; with advice for a damaged store."""
    text = str(error).strip() or type(error).__name__
    is_damage = isinstance(error, StoreDamagedError)
    return f"{text} (run memtui doctor)" if is_damage else text
