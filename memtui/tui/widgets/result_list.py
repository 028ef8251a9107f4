"""The list of search results, with a row for each hit."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from enum import StrEnum

from textual import on
from textual.content import Content
from textual.css.styles import RulesMap
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from memtui.model import calendar
from memtui.model.calendar import TocLevel
from memtui.model.events import Event, clean
from memtui.model.hit import (
    NO_SNIPPET,
    Hit,
    HitKind,
    Hits,
    Snippet,
    WindowMessage,
)
from memtui.text import date_format
from memtui.tui import format
from memtui.tui.widgets.panes import ItemList
from memtui.tui.widgets.source_pane import JumpTarget
from memtui.tui.widgets.text_block import GAP, TextBlock, mark_selected, spread

SearchFunction = Callable[[str], Hits]
"""Answers a query in one view; any text is a valid query."""


class SearchView(StrEnum):
    """The parts of the store to search."""

    ALL = "all"
    SUMMARIES = "summaries"
    MESSAGES = "messages"
    TOOLS = "tools"


# What a row shows of a hit


def hit_title(hit: Hit) -> str:
    """Return the name of the session, or the headline of a node."""
    name = hit.session.work.name if hit.session else ""
    return name or hit.title


def hit_kind(hit: Hit) -> str:
    if hit.kind is HitKind.GRIP:
        return "source"
    return hit.node.level if hit.kind is HitKind.NODE and hit.node else hit.kind


def hit_details(hit: Hit) -> list[str]:
    """Return project, agent and subagent, and the nodes that repeat the hit."""
    session, event = hit.session, _message(hit)
    details = [", ".join(hit.node.projects)] if hit.node and not session else []
    if session:
        details = [session.project, session.agent]
    if event and event.subagent:
        details.append(f"subagent {event.subagent}")
    if hit.also:
        details.append(f"also in its {', '.join(hit.also)}")
    return list(filter(None, details))


def jump_target(hit: Hit) -> JumpTarget:
    """Return what opens when a hit is chosen."""
    agent, session_id = hit.session_key
    return JumpTarget(
        node_id=hit.opens,
        grip_id=hit.grip_id,
        bullet="" if hit.session else hit.snippet.text,
        event_id=hit.event_id,
        snippet=hit.snippet if _message(hit) else NO_SNIPPET,
        agent=agent,
        session_id=session_id,
    )


def format_when(hit: Hit, now: datetime, zone: tzinfo) -> str:
    """Format the period of a week, month or year, or the time of all other hits."""
    is_period = not hit.session and not hit.grip_id
    if hit.level is None or hit.level is TocLevel.SEGMENT or not is_period:
        return date_format.near_moment(hit.at, now, zone)
    day, today = calendar.local_day(hit.at, zone), calendar.local_day(now, zone)
    return format.period_name(hit.level, day, today)


def _message(hit: Hit) -> Event | None:
    """Return the message that matches, None if something else does."""
    return hit.event if hit.kind is HitKind.MESSAGE else None


def _neighbors(
    window: Sequence[WindowMessage],
) -> tuple[WindowMessage | None, WindowMessage | None]:
    """Return the messages before and after the match, if they are in the window."""
    index = next((i for i, message in enumerate(window) if message.is_match), None)
    if index is None:
        return None, None
    after = window[index + 1] if index + 1 < len(window) else None
    return window[index - 1] if index else None, after


# Rows

MARKED = "bold $evidence"

SELECTED_MARK, BAR = "▸ ", "┃ "

INDENT = 2
"""The indentation of all but the first line of a row, and the width of its mark."""

MIN_ALIGNED_TITLE = 28  # The narrowest title beside times that form a column, in cells.
OUTCOME = "→ "  # The mark before the outcome of a session.

MIN_NEIGHBORS = 46
"""From this width on, in cells, the messages before and after are shown."""

_MARGIN = Content(" " * INDENT)
_SPACES = re.compile(r"\s{2,}")


@dataclass(eq=False)
class ResultRow(TextBlock):
    """A hit as an option of the list."""

    hit: Hit
    when: str
    when_cells: int
    """The width of the longest time of all rows."""
    lines: int
    """The most lines of the snippet; with one line the messages before and after are
    not shown."""
    has_score: bool = True
    """False without words in the query: nothing can match well or badly."""
    is_selected: bool = False

    def compose_lines(self, width: int) -> Content:
        rows = (row.truncate(width) for row in self._rows(width))
        lines = Content("\n").join(rows)
        return mark_selected(lines) if self.is_selected else lines

    def get_height(self, rules: RulesMap, width: int) -> int:
        """Return the number of lines at a width; none of them needs wrapping."""
        return self.lay_out(width).plain.count("\n") + 1

    def _rows(self, width: int) -> list[Content]:
        hit, room = self.hit, max(width - 2 * INDENT, 1)
        mark = SELECTED_MARK if self.is_selected else " " * INDENT
        rows = [Content.styled(mark, "$accent") + self._head(max(width - INDENT, 1))]
        before, after = _neighbors(hit.window)
        if self.lines == 1 or room < MIN_NEIGHBORS:
            before = after = None
        bar = Content.styled(BAR, "$evidence") if before or after else _MARGIN
        if before:
            rows += self._draw(_MARGIN, before.event, before.snippet, room)
        if hit.snippet.text and not self._is_title_match:
            rows += self._draw(bar, _message(hit), hit.snippet, room)
        if after:
            rows += self._draw(_MARGIN, after.event, after.snippet, room)
        if self.lines > 1 and (outcome := self._new_outcome):
            text = Content.styled(f"{OUTCOME}{format.to_line(outcome)}", "$context")
            rows.append(_MARGIN + text.truncate(room, ellipsis=True))
        details, facts = self._feet()
        foot = spread(details, facts, details.cell_length + facts.cell_length + GAP)
        room_left = room + INDENT - rows[-1].cell_length
        if len(rows) > 1 and foot.cell_length + GAP <= room_left:
            rows[-1] += " " * (room_left - foot.cell_length) + foot
        elif foot:
            rows.append(_MARGIN + spread(details, facts, room))
        first, *others = rows
        return [first, *(_MARGIN + row for row in others)]

    def _draw(
        self, margin: Content, event: Event | None, snippet: Snippet, room: int
    ) -> list[Content]:
        """Draw the match, or a message before or after it on one dim line."""
        is_match = snippet is self.hit.snippet
        speaker = format.speaker(event) if event else ""
        lines, style = (self.lines, "") if is_match else (1, "$context")
        drawn = _draw_snippet(speaker, snippet, room, lines, style)
        return [margin + line for line in drawn]

    @property
    def _new_outcome(self) -> str:
        """The outcome of the session if neither title nor snippet shows it."""
        hit = self.hit
        if hit.session is None or hit.match:
            return ""
        outcome = " ".join(hit.session.work.outcome.split())
        texts = (hit_title(hit), hit.snippet.text)
        is_shown = any(outcome in " ".join(text.split()) for text in texts)
        return "" if is_shown else outcome

    @property
    def _is_title_match(self) -> bool:
        """True if the match is the title, which need not be repeated."""
        title = clean(hit_title(self.hit)).split()
        return clean(self.hit.snippet.text).split() == title != []

    def _head(self, width: int) -> Content:
        hit = self.hit
        state = hit.session.work.state if hit.session else ""
        end = Content.styled(state or hit_kind(hit), "$context")
        room = width - end.cell_length - GAP
        when = Content.styled(self.when, "$context")
        if room - self.when_cells - GAP >= MIN_ALIGNED_TITLE:
            when = when.pad_right(self.when_cells - when.cell_length)
        title = Content(format.to_line(hit_title(hit)))
        if self._is_title_match:
            title = _mark_snippet(hit.snippet)
        head = when + " " * GAP + title.stylize_before("bold")
        if room < self.when_cells + GAP:
            return head.truncate(width, ellipsis=True)
        return spread(head, end, width)

    def _feet(self) -> tuple[Content, Content]:
        hit = self.hit
        facts = [f"+{hit.more} in this session"] if hit.more else []
        facts += [hit.band] if self.has_score else []
        details = format.to_line(" · ".join(hit_details(hit)))
        return Content.styled(details, "$context"), Content(" · ".join(facts))


def _mark_snippet(snippet: Snippet, style: str = "") -> Content:
    """Return a snippet in one line with its matches marked."""
    line = _to_one_line(snippet)
    content = Content.styled(line.text, style) if style else Content(line.text)
    for start, end in line.marks:
        content = content.stylize(MARKED, start, end)
    return content


def _draw_snippet(
    speaker: str, snippet: Snippet, room: int, lines: int, style: str
) -> list[Content]:
    """Draw a snippet around its matches, in a maximum number of lines.

    Without a speaker it is quoted.
    """
    opening, closing = ("", "") if speaker else ("“", "”")
    speaker = f"{speaker:<{format.SPEAKER_CELLS}} " if speaker else ""
    width = max(room - len(speaker) - 2 * len(opening), 1)
    excerpt = _cut_around_marks(snippet, width * lines - (lines - 1) * 12)
    wrapped = _mark_snippet(excerpt, style).wrap(width)
    if len(wrapped) > lines:
        cut_off = Content(" ").join(wrapped[lines - 1 :])
        wrapped = [*wrapped[: lines - 1], cut_off.truncate(width, ellipsis=True)]
    first, *others = wrapped or [Content("")]
    indent = Content(" " * (len(speaker) + len(opening)))
    drawn = [
        Content.styled(speaker, "$context") + opening + first,
        *(indent + line for line in others),
    ]
    drawn[-1] += closing
    return drawn


def _cut_around_marks(snippet: Snippet, cells: int) -> Snippet:
    """Cut so much of a snippet as fits, around the part with the most matches."""
    line = _to_one_line(snippet)
    if Content(line.text).cell_length <= cells:
        return line
    starts = [start for start, _ in line.marks]
    # Only half as many characters fit where a character takes two cells.
    cells_per_char = Content(line.text).cell_length / len(line.text)
    visible = max(int(cells / cells_per_char), 1)
    best = max(
        starts,
        key=lambda at: sum(at <= start < at + visible * 2 // 3 for start in starts),
        default=0,
    )
    start = 0
    if best >= visible * 2 // 3:
        start = max(best - visible // 4, 0)
        start = min(line.text.find(" ", start, best) + 1 or start, best)
    lead = "…" if start else ""
    # A little more than fits, so that the drawn text ends with an ellipsis.
    text = line.text[start : start + 2 * visible]
    by, end = start - len(lead), start + len(text)
    marks = tuple((s - by, min(e, end) - by) for s, e in line.marks if start <= s < end)
    return Snippet(lead + text, marks)


def _to_one_line(snippet: Snippet) -> Snippet:
    """Collapse line breaks and runs of spaces; the marks move along."""
    text = format.to_line(snippet.text)
    gaps = [gap.span() for gap in _SPACES.finditer(text)]
    if not gaps:
        return replace(snippet, text=text)

    def move(at: int) -> int:
        return at - sum(min(end, at) - start - 1 for start, end in gaps if start < at)

    marks = tuple((move(start), move(end)) for start, end in snippet.marks)
    return Snippet(_SPACES.sub(" ", text), marks)


# The list

ROOMY_SIZE = (100, 30)
"""From this size of the terminal on, in columns and lines, snippets take two lines."""


class ResultList(ItemList[Hit], can_focus=False):
    """Shows the hits; the keys stay in the search bar."""

    def __init__(self, zone: tzinfo) -> None:
        super().__init__(id="hits")
        self._zone = zone
        self._rows: list[ResultRow] = []
        self._link = ""  # The text of the last row, if that leads to further hits.
        self._selected = 0

    def add_link(self, text: str) -> None:
        """Add a row that leads to further hits."""
        self._link = text
        place = len(self._rows)
        self.add_option(Option(self._draw(place, is_selected=not place)))
        if self.highlighted is None:
            self.highlighted = 0

    def show(self, hits: Hits, now: datetime) -> None:
        times = [format_when(hit, now, self._zone) for hit in hits.hits]
        widest = max(map(len, times), default=0)
        columns, height = self.app.size
        lines = 2 if columns >= ROOMY_SIZE[0] and height >= ROOMY_SIZE[1] else 1
        self._rows = [
            ResultRow(hit, time, widest, lines, has_score=not hits.is_recent)
            for hit, time in zip(hits.hits, times, strict=True)
        ]
        self._selected = 0
        self.set_options(
            Option(self._draw(index, is_selected=not index))
            for index in range(len(self._rows))
        )
        if self._rows:
            self.highlighted = 0

    @on(OptionList.OptionHighlighted)
    def mark_selected(self) -> None:
        here, before = self.highlighted, self._selected
        if here is None or here == before:
            return
        self._selected = here
        for place in (before, here):
            row = self._draw(place, is_selected=place == here)
            self.replace_option_prompt_at_index(place, row)

    def _draw(self, place: int, *, is_selected: bool) -> ResultRow | Content:
        if place < len(self._rows):
            return replace(self._rows[place], is_selected=is_selected)
        mark = SELECTED_MARK if is_selected else " " * INDENT
        link = Content.styled(f"{mark}{self._link}", "$accent")
        return mark_selected(link) if is_selected else link

    def move(self, step: int) -> None:
        if self.option_count:
            self.highlighted = ((self.highlighted or 0) + step) % self.option_count

    def move_page(self, step: int) -> None:
        if self.option_count:
            self.call_later(self.run_action, "page_down" if step > 0 else "page_up")
