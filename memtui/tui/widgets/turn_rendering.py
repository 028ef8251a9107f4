"""Turns of a conversation as lines: the day, the time, the speaker and the text.

Tool calls and the agent's own notes take one line until they are expanded; edits are
shown as a diff, code in colors. The cursor and the bars of matches are drawn by the
transcript view, in the margin. Stored text is ``Content`` throughout, so that nothing
in it is read as markup.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from textual.content import Content, Span

from memtui.model import calendar, tool_calls
from memtui.model.events import BOUNDARIES, Event, EventRole
from memtui.text import date_format
from memtui.tui import format
from memtui.tui.messages import SourceMarks, TextSpan
from memtui.tui.widgets import markdown
from memtui.tui.widgets.markdown import TAB

if TYPE_CHECKING:
    from memtui.services.conversation import Turn

MARGIN = 2  # The cells at the left for the cursor and the bars of matches.

GUTTER = 5 + 1 + format.SPEAKER_CELLS + 1
"""The width of time and speaker with the spaces after them, in cells."""

MAX_WIDTH = 100  # The widest text, in cells: longer lines are tiring to read.

SIDE_BY_SIDE = 64
"""From this width on, in cells, time and speaker are beside the text, not above it."""

MAX_CHARS = 20_000
"""The length of a message, and of thinking, that is shown before it is expanded."""

MAX_EXPANDED = 400_000
"""The length of an expanded message or tool output, which takes a second to lay out."""

EXPAND_HINT, EXPORT_HINT = " (space shows all)", " (e exports all)"
COLLAPSED, EXPANDED = "▸ ", "▾ "
MARKED = "$evidence on $evidence-back"  # The style of quoted text.

FOUND = f"{MARKED} bold"
"""The style of the words that the user is finding, and of those that a quote shares
with its bullet."""

NO_MARKS = SourceMarks()


@dataclass(frozen=True, slots=True)
class TurnLayout:
    """The options for rendering turns."""

    width: int
    """In cells, with the margin."""
    zone: tzinfo
    now: datetime = field(compare=False)
    with_thoughts: bool = False
    is_raw: bool = False
    """True to show the Markdown of messages as it is written."""
    words: str = ""
    quotes: Mapping[str, SourceMarks] = field(default_factory=dict, compare=False)
    """The quotes from events, by their ids; not marked while there are words."""

    def marks(self, event: Event) -> SourceMarks:
        return NO_MARKS if self.words else self.quotes.get(event.event_id, NO_MARKS)


@dataclass(frozen=True, slots=True, eq=False)
class RenderedTurn:
    """The lines of a turn; compared by identity, so that it can be a cache key."""

    lines: tuple[Content, ...]
    body: int
    """The index of the first line of the turn itself, after day and thinking."""
    found_lines: frozenset[int] = frozenset()
    """The indexes of the lines that hold the words to find, or else the quote."""
    has_match: bool = False
    """True if the turn holds these words or a quote, shown or collapsed."""


RenderedTurns = Mapping[str, tuple["Turn", RenderedTurn]]
"""Turns that are rendered already, by their event ids."""


def render_turns(
    turns: "Sequence[Turn]",
    layout: TurnLayout,
    expanded: frozenset[str],
    rendered_before: RenderedTurns | None = None,
) -> list[RenderedTurn]:
    """Render turns, the events with some ids expanded.

    Turns known from before were rendered in the same way, and are reused.
    """
    rendered = []
    for turn in turns:
        event_id = turn.event.event_id
        before, lines = (rendered_before or {}).get(event_id, (None, None))
        if lines is None or before != turn:
            lines = render_turn(turn, layout, is_expanded=event_id in expanded)
        rendered.append(lines)
    return rendered


def render_turn(turn: "Turn", layout: TurnLayout, *, is_expanded: bool) -> RenderedTurn:
    lines = [*_lead(turn, layout)]
    body = len(lines)
    event = turn.event
    if is_collapsible(event):
        lines += _tool_lines(turn, layout, is_expanded)
    else:
        text = _draw_text(
            format.event_text(event),
            layout,
            layout.marks(event),
            is_expanded,
        )
        time = date_format.clock(event.timestamp, layout.zone)
        lines += beside(time, format.speaker(event), text, layout.width)
    words = layout.words.casefold()
    matches = frozenset(
        at for at, line in enumerate(lines) if has_style(line, FOUND, MARKED)
    )
    has_match = bool(layout.marks(event).quoted)
    if words:
        has_match = words in event.text.casefold()
    return RenderedTurn(tuple(lines), body, matches, has_match)


def is_collapsible(event: Event) -> bool:
    return event.role in (EventRole.TOOL, EventRole.SYSTEM)


def can_expand(event: Event) -> bool:
    """Return whether more of an event can be shown in place."""
    return is_collapsible(event) or len(format.event_text(event)) > MAX_CHARS


def has_style(line: Content, *styles: str) -> bool:
    return any(span.style in styles for span in line.spans)


def _lead(turn: "Turn", layout: TurnLayout) -> Iterator[Content]:
    """Yield the lines before the turn itself: a new day, and the thinking."""
    at = turn.event.timestamp
    day = calendar.local_day(at, layout.zone)
    before = turn.previous_at and calendar.local_day(turn.previous_at, layout.zone)
    blank = Content("")
    if before != day:
        if before is not None:
            yield blank
        room = max(1, layout.width - MARGIN)
        age = date_format.near_age(at, layout.now, layout.zone)
        text = f"── {date_format.day(day)} · {age} "
        rule = "─" * max(0, min(MAX_WIDTH + GUTTER, room) - len(text))
        yield Content.styled(text + rule, "$context").truncate(room, ellipsis=True)
    if layout.with_thoughts:
        for thought in turn.thoughts:
            yield blank
            thinking = Content.styled(
                thought.text.strip()[:MAX_CHARS], "italic $context"
            )
            time = date_format.clock(thought.at, layout.zone)
            yield from beside(time, "thinking", thinking, layout.width, "$context")
    if not is_collapsible(turn.event):
        yield blank


def text_width(width: int) -> int:
    """Return the width of a text that is beside its speaker, or below it."""
    room = max(1, width - MARGIN)
    return room if width < SIDE_BY_SIDE else min(MAX_WIDTH, room - GUTTER)


def beside(
    time: str, speaker: str, text: Content, width: int, speaker_style: str = "bold"
) -> list[Content]:
    """Return the lines of a text with time and speaker beside it.

    They are above it where it is narrow. The lines leave the margin free.
    """
    head = Content.styled(f"{time} ", "$context")
    lines = text.wrap(text_width(width)) or [Content("")]
    if width < SIDE_BY_SIDE:
        return [head + Content.styled(speaker, speaker_style), *lines]
    name = f"{speaker:<{format.SPEAKER_CELLS}} "
    indent = Content(" " * GUTTER)
    return [
        head + Content.styled(name, speaker_style) + lines[0],
        *(indent + line for line in lines[1:]),
    ]


def _tool_lines(turn: "Turn", layout: TurnLayout, is_expanded: bool) -> list[Content]:
    event = turn.event
    call, output, _ = _call_and_output(event)
    mark = "  "
    if output or _edits(event):
        mark = EXPANDED if is_expanded else COLLAPSED
    time = date_format.clock(event.timestamp, layout.zone)
    speaker = format.speaker(event)
    room = max(1, layout.width - MARGIN)
    is_wide = layout.width >= SIDE_BY_SIDE
    name = f"{speaker:<{format.SPEAKER_CELLS}} " if is_wide else ""
    head = Content.styled(f"{time} {name}{mark}", "$context")
    style = "" if event.role is EventRole.TOOL else "italic $context"
    if event.event_type in BOUNDARIES:
        style = "$context"
    end = _tool_end(turn, output, layout, is_expanded)
    left = min(room, MAX_WIDTH + GUTTER) - head.cell_length - end.cell_length
    line = Content.styled(call.expandtabs(TAB), style)
    line = add_marks(mark_words(line, layout.words, FOUND), layout.marks(event))
    lines = [head + line.truncate(max(8, left), ellipsis=True) + end]
    if is_expanded:
        lines += _details(event, layout)
    return lines


def _tool_end(
    turn: "Turn", output: str, layout: TurnLayout, is_expanded: bool
) -> Content:
    event = turn.event
    words = layout.words.casefold()
    parts = []
    if changes := count_changes(event):
        parts.append(Content.styled(changes, "$context"))
    if event.is_failed or event.metadata.get("is_error"):
        parts.append(Content.styled("✗ failed", "$error"))
    elif event.ending:
        parts.append(Content.styled(event.ending, "$warning"))
    if turn.subagent:
        parts.append(Content.styled("enter: open subagent", "$accent"))
    if not is_expanded and words and words in output.casefold():
        parts.append(Content.styled("match inside", "bold $evidence"))
    return Content("").join([Content("  ") + part for part in parts])


def _details(event: Event, layout: TurnLayout) -> list[Content]:
    indent = (GUTTER if layout.width >= SIDE_BY_SIDE else 6) + len(EXPANDED)
    room = max(8, min(MAX_WIDTH, layout.width - MARGIN - indent))
    call, output, start = _call_and_output(event)
    marks, parts = layout.marks(event), []
    if len(call) > room:
        parts.append(_draw_text(call, layout, marks, is_markdown=False))
    if (diff := render_diff(event)) is not None:
        parts.append(diff)
    if output:
        text = _draw_text(
            output, layout, marks, is_expanded=True, is_markdown=False, start=start
        )
        parts.append(text.stylize_before("$context"))
    return [Content(" " * indent) + line for part in parts for line in part.wrap(room)]


def _call_and_output(event: Event) -> tuple[str, str, int]:
    """Return the first line of a tool event or note, all that comes after it, and where
    that begins."""
    text = format.event_text(event)
    call, _, output = text.partition("\n")
    output = output.lstrip("\n")
    return call.strip(), output.rstrip("\n"), len(text) - len(output)


def _draw_text(
    text: str,
    layout: TurnLayout,
    marks: SourceMarks,
    is_expanded: bool = False,
    *,
    is_markdown: bool = True,
    start: int = 0,
) -> Content:
    """Draw a text with the words to find or the quoted spans marked.

    Args:
        is_expanded: Show all of it, as far as that can be shown in time.
        start: Where the text begins in that of its event.
    """
    at = text.casefold().find(layout.words.casefold()) if layout.words else -1
    span = (at, at + len(layout.words)) if at >= 0 else None
    if marks.quoted:
        span = marks.quoted[0][0] - start, marks.quoted[0][1] - start
    excerpt = cut_excerpt(text, span, MAX_EXPANDED if is_expanded else MAX_CHARS)
    drawn = draw_excerpt(excerpt, marks, is_markdown=is_markdown, start=start)
    drawn = mark_words(drawn, layout.words, FOUND)
    if is_markdown and not layout.is_raw and _are_marks_drawn(drawn):
        lines = markdown.lay_out(drawn, text_width(layout.width))
        drawn = Content("\n").join(lines)
    return add_omissions(drawn, excerpt, EXPORT_HINT if is_expanded else EXPAND_HINT)


def _are_marks_drawn(text: Content) -> bool:
    """Return whether all marks will be visible: drawing removes no letter or digit."""
    return all(
        any(map(str.isalnum, text.plain[start:end]))
        for start, end, style in text.spans
        if style in (MARKED, FOUND)
    )


def mark_words(content: Content, words: str, style: str) -> Content:
    """Style every occurrence of some words, whatever their case."""
    if not words:
        return content
    matches = re.finditer(re.escape(words), content.plain, re.IGNORECASE)
    return content.add_spans([Span(*match.span(), style) for match in matches])


# Excerpts of long texts

EXCERPT_CHARS = 4000  # The usual length of an excerpt, in characters.
LEAD_CHARS = 400  # The length shown before a span deep in a long text, in characters.


@dataclass(frozen=True, slots=True)
class TextExcerpt:
    """A part of a text, and how many characters are left out on each side."""

    text: str
    left_before: int = 0
    left_after: int = 0


def cut_excerpt(
    text: str, span: TextSpan | None, limit: int = EXCERPT_CHARS
) -> TextExcerpt:
    """Cut the part of a text to show: its beginning, or what surrounds a span.

    It has at most `limit` characters, unless the span is longer.
    """
    if len(text) <= limit:
        return TextExcerpt(text)
    start = 0
    if span is not None and span[1] > limit:
        start = max(0, span[0] - LEAD_CHARS)
    end = min(len(text), max(start + limit, span[1] if span else 0))
    return TextExcerpt(text[start:end], start, len(text) - end)


def draw_excerpt(
    excerpt: TextExcerpt, marks: SourceMarks, *, is_markdown: bool, start: int = 0
) -> Content:
    """Draw an excerpt of a text that begins at `start` in that of its event."""
    text = excerpt.text
    drawn = markdown.style(text) if is_markdown else Content(text)
    return add_marks(drawn, marks, start + excerpt.left_before).expand_tabs(TAB)


def add_marks(text: Content, marks: SourceMarks, start: int = 0) -> Content:
    """Mark what is quoted in a text that begins at `start` in that of its event."""
    end = len(text.plain)
    return text.add_spans(
        [
            Span(max(first - start, 0), min(last - start, end), style)
            for style, spans in ((MARKED, marks.quoted), (FOUND, marks.matched))
            for first, last in spans
            if last > start and first - start < end
        ]
    )


def add_omissions(text: Content, excerpt: TextExcerpt, hint: str = "") -> Content:
    """Add how much of a text is left out on each side of an excerpt, and a hint."""
    style = "italic $context"
    if excerpt.left_before:
        omitted = f"… {format.text_size(excerpt.left_before)} before\n"
        text = Content.styled(omitted, style) + text
    if excerpt.left_after:
        omitted = f"\n… {format.text_size(excerpt.left_after)} more{hint}"
        text += Content.styled(omitted, style)
    return text


# Edits

MAX_COMPARED = 250_000  # The most pairs of old and new lines that are compared.

DIFF_STYLES = {"+ ": "$success", "− ": "$error", "  ": "$context"}
"""The styles of the lines of a diff, by their signs."""


def render_diff(event: Event) -> Content | None:
    """Return the diff of an edit, None for an event that is no edit."""
    lines = [
        Content.styled(f"{sign}{line.expandtabs(TAB)}", DIFF_STYLES[sign])
        for edit in _edits(event)
        for sign, line in _compare(*edit)
    ]
    return Content("\n").join(lines) if lines else None


def count_changes(event: Event) -> str:
    """Return how many lines an edit added and removed, as "+18 −3"; "" for none."""
    signs = Counter(sign for edit in _edits(event) for sign, _ in _compare(*edit))
    added, removed = signs["+ "], signs["− "]
    return f"+{added} −{removed}" if added or removed else ""


def _edits(event: Event) -> Iterator[tuple[list[str], list[str]]]:
    """Yield the lines before and after each edit."""
    for edit in tool_calls.parse_edits(
        event.metadata.get("tool_name", ""), event.metadata.get("tool_input", "")
    ):
        yield (
            edit.old.split("\n") if edit.old else [],
            edit.new.split("\n") if edit.new else [],
        )


def _compare(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the lines of a diff with their signs; very long texts are not compared."""
    if len(old) * len(new) > MAX_COMPARED:
        yield from (("− ", line) for line in old)
        yield from (("+ ", line) for line in new)
        return
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for _, start, end, first, last in matcher.get_opcodes():
        if old[start:end] == new[first:last]:
            yield from (("  ", line) for line in old[start:end])
            continue
        yield from (("− ", line) for line in old[start:end])
        yield from (("+ ", line) for line in new[first:last])
