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
from functools import lru_cache
from typing import TYPE_CHECKING

from textual.content import Content, Span

from memtui.model import calendar, tool_calls
from memtui.model.events import BOUNDARIES, Event, EventRole
from memtui.text import date_format
from memtui.tui import format

if TYPE_CHECKING:
    from memtui.services.conversation import Turn

MARGIN = 2  # The cells at the left for the cursor and the bars of matches.

GUTTER = 5 + 1 + format.SPEAKER_CELLS + 1
"""The width of time and speaker with the spaces after them, in cells."""

MAX_WIDTH = 100  # The widest text, in cells: longer lines are tiring to read.

SIDE_BY_SIDE = 64
"""From this width on, in cells, time and speaker are beside the text, not above it."""

MAX_CHARS = 20_000

EXPORT_HINT = " (e exports all)"
COLLAPSED, EXPANDED = "▸ ", "▾ "
MARKED = "$evidence on $evidence-back"  # The style of quoted text.

FOUND = f"{MARKED} bold"
"""The style of the words that the user is finding."""


@dataclass(frozen=True, slots=True)
class TurnLayout:
    """The options for rendering turns."""

    width: int
    """In cells, with the margin."""
    zone: tzinfo
    now: datetime = field(compare=False)
    with_thoughts: bool = False
    words: str = ""
    subagents: tuple[tuple[str, str], ...] = ()
    """The tool calls that started a subagent: id of the call, name of the subagent."""


@dataclass(frozen=True, slots=True, eq=False)
class RenderedTurn:
    """The lines of a turn; compared by identity, so that it can be a cache key."""

    lines: tuple[Content, ...]
    body: int
    """The index of the first line of the turn itself, after day and thinking."""
    found_lines: frozenset[int] = frozenset()
    """The indexes of the lines that hold the words to find."""
    has_match: bool = False
    """True if the turn holds these words, shown or collapsed."""


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
        lines += _tool_lines(event, layout, is_expanded)
    else:
        excerpt = _excerpt(format.event_text(event), layout.words)
        text = mark_words(render_markdown(excerpt.text), layout.words, FOUND)
        text = add_omissions(text, excerpt, EXPORT_HINT)
        time = date_format.clock(event.timestamp, layout.zone)
        lines += beside(time, format.speaker(event), text, layout.width)
    words = layout.words.casefold()
    matches = frozenset(at for at, line in enumerate(lines) if has_style(line, FOUND))
    has_match = bool(words) and words in event.text.casefold()
    return RenderedTurn(tuple(lines), body, matches, has_match)


def is_collapsible(event: Event) -> bool:
    return event.role in (EventRole.TOOL, EventRole.SYSTEM)


def has_style(line: Content, style: str) -> bool:
    return any(span.style == style for span in line.spans)


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


def _tool_lines(event: Event, layout: TurnLayout, is_expanded: bool) -> list[Content]:
    call, output = _call_and_output(event)
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
    end = _tool_end(event, output, layout, is_expanded)
    left = min(room, MAX_WIDTH + GUTTER) - head.cell_length - end.cell_length
    line = mark_words(Content.styled(call, style), layout.words, FOUND)
    lines = [head + line.truncate(max(8, left), ellipsis=True) + end]
    if is_expanded:
        lines += _details(event, layout)
    return lines


def _tool_end(
    event: Event, output: str, layout: TurnLayout, is_expanded: bool
) -> Content:
    words = layout.words.casefold()
    parts = []
    if changes := count_changes(event):
        parts.append(Content.styled(changes, "$context"))
    if event.metadata.get("is_error"):
        parts.append(Content.styled("✗ failed", "$error"))
    if event.metadata.get("tool_use_id", "") in dict(layout.subagents):
        parts.append(Content.styled("enter: open subagent", "$accent"))
    if not is_expanded and words and words in output.casefold():
        parts.append(Content.styled("match inside", "bold $evidence"))
    return Content("").join([Content("  ") + part for part in parts])


def _details(event: Event, layout: TurnLayout) -> list[Content]:
    indent = (GUTTER if layout.width >= SIDE_BY_SIDE else 6) + len(EXPANDED)
    room = max(8, min(MAX_WIDTH, layout.width - MARGIN - indent))
    call, output = _call_and_output(event)
    parts = []
    if len(call) > room:
        parts.append(mark_words(Content(call), layout.words, FOUND))
    if (diff := render_diff(event)) is not None:
        parts.append(diff)
    if output:
        excerpt = _excerpt(output, layout.words)
        text = mark_words(Content.styled(excerpt.text, "$context"), layout.words, FOUND)
        parts.append(add_omissions(text, excerpt, EXPORT_HINT))
    return [Content(" " * indent) + line for part in parts for line in part.wrap(room)]


def _call_and_output(event: Event) -> tuple[str, str]:
    """Return the first line of a tool event or note, and all that comes after it."""
    call, _, output = format.event_text(event).expandtabs(TAB).partition("\n")
    return call.strip(), output.strip("\n")


def mark_words(content: Content, words: str, style: str) -> Content:
    """Style every occurrence of some words, whatever their case."""
    if not words:
        return content
    matches = re.finditer(re.escape(words), content.plain, re.IGNORECASE)
    return content.add_spans([Span(*match.span(), style) for match in matches])


# Excerpts of long texts

EXCERPT_CHARS = 4000  # The usual length of an excerpt, in characters.
LEAD_CHARS = 400  # The length shown before a span deep in a long text, in characters.

TextSpan = tuple[int, int]


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


def _excerpt(text: str, words: str) -> TextExcerpt:
    at = text.casefold().find(words.casefold()) if words else -1
    return cut_excerpt(text, (at, at + len(words)) if at >= 0 else None, MAX_CHARS)


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


def _blocks(text: str) -> Iterator[Content]:
    code: list[str] = []
    fence = language = ""
    for line in text.split("\n"):
        match = FENCE.match(line)
        if not fence and match:
            fence, language = match[1], match[2]
            yield Content.styled(line, "$context")
        elif fence and match and match[1].startswith(fence) and not match[2]:
            yield from _code_block(code, language)
            yield Content.styled(line, "$context")
            fence, code = "", []
        elif fence:
            code.append(line)
        else:
            yield _text_line(line)
    yield from _code_block(code, language)


def _text_line(line: str) -> Content:
    content = Content(line)
    if heading := HEADING.match(line):
        return content.stylize("bold").stylize("$context", 0, heading.end() - 1)
    code = [match.span() for match in INLINE_CODE.finditer(line)]
    for match in BOLD.finditer(line):
        start, end = match.span()
        if any(first < sign < last for first, last in code for sign in (start, end)):
            continue  # Two arguments in code: `**one` and `**other`.
        # The asterisks are part of the text and stay, but dim.
        content = content.stylize("bold", start, end)
        for sign in (start, end - 2):
            content = content.stylize("not bold $context", sign, sign + 2)
    for first, last in code:
        content = content.stylize("$accent", first, last)
    return content


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
