"""Turns of a conversation as lines: the day, the time, the speaker and the text.

Tool calls and the agent's own notes take one line until they are expanded; edits are
shown as a diff, code in colors. The cursor and the bars of matches are drawn by the
transcript view, in the margin. Stored text is ``Content`` throughout, so that nothing
in it is read as markup.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from difflib import SequenceMatcher
from functools import lru_cache
from typing import TYPE_CHECKING

from textual.content import Content, Span

from memtui.model import calendar, tool_calls
from memtui.model.events import BOUNDARIES, Event, EventRole
from memtui.text import date_format
from memtui.tui import format
from memtui.tui.messages import SourceMarks, TextSpan

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
    words: str = ""
    quotes: Mapping[str, SourceMarks] = field(default_factory=dict, compare=False)
    """What is quoted of events, by their ids; not marked while there are words."""

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
            format.event_text(event), layout, layout.marks(event), is_expanded
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


def beside(
    time: str, speaker: str, text: Content, width: int, speaker_style: str = "bold"
) -> list[Content]:
    """Return the lines of a text with time and speaker beside it.

    They are above it where it is narrow. The lines leave the margin free.
    """
    room = max(1, width - MARGIN)
    head = Content.styled(f"{time} ", "$context")
    if width < SIDE_BY_SIDE:
        return [head + Content.styled(speaker, speaker_style), *text.wrap(room)]
    name = f"{speaker:<{format.SPEAKER_CELLS}} "
    lines = text.wrap(min(MAX_WIDTH, room - GUTTER)) or [Content("")]
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
    return add_omissions(drawn, excerpt, EXPORT_HINT if is_expanded else EXPAND_HINT)


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
    if not marks.quoted:  # Tabs that become spaces would move the marks.
        text = text.expandtabs(TAB)
    is_styled = is_markdown and "\t" not in text
    drawn = render_markdown(text) if is_styled else Content(text)
    return add_marks(drawn, marks, start + excerpt.left_before)


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


# Markdown

FENCE = re.compile(r" {0,3}(```+|~~~+)\s*([\w+#.-]*)")
"""A line that opens or closes a code block."""

HEADING = re.compile(r"#{1,6} \S")
INLINE_CODE = re.compile(r"`[^`\n]+`")
BOLD = re.compile(r"\*\*(?=\S)[^*\n]+(?<=\S)\*\*")

MAX_HIGHLIGHTED = 20_000  # The longest code block that is highlighted, in characters.
TAB = 4  # The distance of tab stops, in cells.


def render_markdown(text: str) -> Content:
    """Style code, headings and bold text; every character but tabs stays as it is."""
    return Content("\n").join(_blocks(text.expandtabs(TAB)))


def list_code(text: str) -> list[str]:
    """Return the blocks of code of a text."""
    return [
        "\n".join(lines) for is_code, _, lines in _split_code(text) if is_code and lines
    ]


def _split_code(text: str) -> Iterator[tuple[bool, str, list[str]]]:
    """Yield the blocks of code and the text around them, its fences included.

    Each is given as whether it is code, its language, and its lines.
    """
    lines: list[str] = []
    fence = language = ""
    for line in text.split("\n"):
        match = FENCE.match(line)
        if not fence and match:
            yield False, "", [*lines, line]
            fence, language, lines = match[1], match[2], []
        elif fence and match and match[1].startswith(fence) and not match[2]:
            yield True, language, lines
            fence, lines = "", [line]
        else:
            lines.append(line)
    yield bool(fence), language, lines


def _blocks(text: str) -> Iterator[Content]:
    for is_code, language, lines in _split_code(text):
        if is_code:
            yield from _code_block(lines, language)
            continue
        for line in lines:
            is_fence = FENCE.match(line)
            yield Content.styled(line, "$context") if is_fence else _text_line(line)


def _text_line(line: str) -> Content:
    content = Content(line)
    if heading := HEADING.match(line):
        return content.stylize("bold").stylize("$context", 0, heading.end() - 1)
    code = [match.span() for match in INLINE_CODE.finditer(line)]
    spans: list[Span] = []
    for match in BOLD.finditer(line):
        start, end = match.span()
        if _is_inside(start, code) or _is_inside(end, code):
            continue  # Two arguments in code: `**one` and `**other`.
        # The asterisks are part of the text and stay, but dim.
        spans.append(Span(start, end, "bold"))
        for sign in (start, end - 2):
            spans.append(Span(sign, sign + 2, "not bold $context"))
    spans += [Span(first, last, "$accent") for first, last in code]
    return content.add_spans(spans)


def _is_inside(position: int, spans: Sequence[tuple[int, int]]) -> bool:
    """Return whether a position is within one of some spans, which are in order."""
    place = bisect_left(spans, (position, 0)) - 1
    return place >= 0 and position < spans[place][1]


def _code_block(lines: list[str], language: str) -> Iterator[Content]:
    if lines:
        text = "\n".join(lines)
        is_known = language and len(text) <= MAX_HIGHLIGHTED
        yield _highlight(text, language.lower()) if is_known else Content(text)


@lru_cache(maxsize=256)
def _highlight(code: str, language: str) -> Content:
    from textual.highlight import highlight  # Pygments takes 10 ms

    # The highlighter takes carriage returns and form feeds for ends of lines.
    if code.splitlines() != code.split("\n"):
        return Content(code)
    return highlight(code, language=language)


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
