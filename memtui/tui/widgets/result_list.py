"""The list of search results: what was found, and a row for each result.

``to_results`` turns hits of all kinds into ``SearchResult``: what a row shows, and what
opens when it is chosen.
"""

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
from memtui.model.events import clean
from memtui.model.hit import (
    NO_SNIPPET,
    Hit,
    HitKind,
    Hits,
    Snippet,
    WindowMessage,
)
from memtui.model.sessions import NO_WORK
from memtui.text import date_format
from memtui.tui import format
from memtui.tui.widgets.panes import ItemList
from memtui.tui.widgets.source_pane import JumpTarget
from memtui.tui.widgets.text_block import GAP, TextBlock, mark_selected, spread

SearchFunction = Callable[[str], Hits]
"""Answers a query in one view; any text is a valid query."""

UNTITLED = "Untitled session"


class SearchView(StrEnum):
    """The parts of the store to search."""

    ALL = "all"
    SUMMARIES = "summaries"
    MESSAGES = "messages"


@dataclass(frozen=True, slots=True)
class ResultSnippet:
    """A part of a message, or of a summary if it has no speaker."""

    speaker: str
    snippet: Snippet


@dataclass(frozen=True, slots=True)
class SearchResult:
    """One result of any search."""

    at: datetime
    level: TocLevel | None
    """The level of a week, month or year; None for a single moment."""
    title: str
    """The name of the session, or the headline of a node."""
    band: str
    """The quality of the match, in a word; "" for a list of recent sessions."""
    kind: str
    match: ResultSnippet | None
    target: JumpTarget
    before: ResultSnippet | None = None
    after: ResultSnippet | None = None
    details: tuple[str, ...] = ()
    is_unsummarized: bool = False
    state: str = ""
    outcome: str = ""
    more: int = 0
    """The number of other matches in the session."""


# Results of the searches


def to_results(hits: Hits) -> tuple[SearchResult, ...]:
    results = map(_to_result, hits.hits)
    if hits.is_recent:
        # Without words in the query nothing can match well or badly.
        return tuple(replace(result, band="") for result in results)
    return tuple(results)


def _to_result(hit: Hit) -> SearchResult:
    session, node = hit.session, hit.node
    work = session.work if session else NO_WORK
    is_message = hit.kind is HitKind.MESSAGE and hit.event is not None
    level = node.level if node and not session and not hit.grip_id else None
    kind: str = hit.kind
    if hit.kind is HitKind.NODE and node:
        kind = node.level
    before, after = _neighbors(hit.window)
    agent = session.agent if session else ""
    match = hit.match
    speaker = (
        format.role_name(hit.event.role, agent) if is_message and hit.event else ""
    )
    also = f"also in its {', '.join(hit.also)}" if hit.also else ""
    project = session.project if session else ", ".join(node.projects) if node else ""
    subagent = hit.event.subagent if is_message and hit.event else ""
    details = (project, agent, f"subagent {subagent}" if subagent else "", also)
    return SearchResult(
        at=hit.at,
        level=None if level is TocLevel.SEGMENT else level,
        title=work.name or hit.title or UNTITLED,
        band=hit.band.value,
        kind="source" if hit.kind is HitKind.GRIP else kind,
        match=ResultSnippet(speaker, hit.snippet),
        target=JumpTarget(
            node_id=hit.opens,
            grip_id=hit.grip_id,
            event_id=hit.event_id,
            snippet=hit.snippet if is_message else NO_SNIPPET,
            agent=agent,
            session_id=session.session_id if session else "",
        ),
        before=_window_snippet(before, agent),
        after=_window_snippet(after, agent),
        details=tuple(filter(None, details)),
        is_unsummarized=hit.is_unsummarized,
        state=work.state,
        outcome="" if match else work.outcome,
        more=hit.more,
    )


def _neighbors(
    window: Sequence[WindowMessage],
) -> tuple[WindowMessage | None, WindowMessage | None]:
    """Return the messages before and after the match, if they are in the window."""
    index = next((i for i, message in enumerate(window) if message.is_match), None)
    if index is None:
        return None, None
    after = window[index + 1] if index + 1 < len(window) else None
    return window[index - 1] if index else None, after


def _window_snippet(message: WindowMessage | None, agent: str) -> ResultSnippet | None:
    if message is None:
        return None
    speaker = format.role_name(message.event.role, agent)
    return ResultSnippet(speaker, message.snippet)


# Rows

MARKED = "bold $evidence"

SELECTED_MARK, BAR = "▸ ", "┃ "

INDENT = 2
"""The indentation of all but the first line of a row, and the width of its mark."""

MIN_ALIGNED_TITLE = 28  # The narrowest title beside times that form a column, in cells.
OUTCOME = "→ "  # The mark before the outcome of a session.

MIN_NEIGHBORS = 50
"""From this width on, in cells, the messages before and after are shown."""

_MARGIN = Content(" " * INDENT)
_SPACES = re.compile(r"\s{2,}")


@dataclass(eq=False)
class ResultRow(TextBlock):
    """A result as an option of the list."""

    result: SearchResult
    when: str
    when_cells: int
    """The width of the longest time of all rows."""
    lines: int
    """The most lines of the snippet; with one line the messages before and after are
    not shown."""
    is_selected: bool = False

    def compose_lines(self, width: int) -> Content:
        rows = (row.truncate(width) for row in self._rows(width))
        lines = Content("\n").join(rows)
        return mark_selected(lines) if self.is_selected else lines

    def get_height(self, rules: RulesMap, width: int) -> int:
        """Return the number of lines at a width; none of them needs wrapping."""
        return self.lay_out(width).plain.count("\n") + 1

    def _rows(self, width: int) -> list[Content]:
        result, room = self.result, max(width - 2 * INDENT, 1)
        mark = SELECTED_MARK if self.is_selected else " " * INDENT
        rows = [Content.styled(mark, "$accent") + self._head(max(width - INDENT, 1))]
        has_neighbors = self.lines > 1 and room >= MIN_NEIGHBORS
        before, after = (result.before, result.after) if has_neighbors else (None, None)
        bar = Content.styled(BAR, "$evidence") if before or after else _MARGIN
        if before:
            rows += [
                _MARGIN + line for line in _draw_snippet(before, room, 1, "$context")
            ]
        if result.match and result.match.snippet.text and not self._is_title_match:
            lines = _draw_snippet(result.match, room, self.lines)
            rows += [bar + line for line in lines]
        if after:
            rows += [
                _MARGIN + line for line in _draw_snippet(after, room, 1, "$context")
            ]
        if self.lines > 1 and self._is_outcome_new:
            outcome = Content.styled(
                f"{OUTCOME}{format.to_line(result.outcome)}", "$context"
            )
            rows.append(_MARGIN + outcome.truncate(room, ellipsis=True))
        details, facts = self._feet()
        foot = spread(details, facts, details.cell_length + facts.cell_length + GAP)
        room_left = room + INDENT - rows[-1].cell_length
        if len(rows) > 1 and foot.cell_length + GAP <= room_left:
            rows[-1] += " " * (room_left - foot.cell_length) + foot
        elif foot:
            rows.append(_MARGIN + spread(details, facts, room))
        first, *others = rows
        return [first, *(_MARGIN + row for row in others)]

    @property
    def _is_outcome_new(self) -> bool:
        """True if there is an outcome that neither title nor snippet shows."""
        result = self.result
        texts = [result.title, result.match.snippet.text if result.match else ""]
        outcome = " ".join(result.outcome.split())
        return not any(outcome in " ".join(text.split()) for text in texts)

    @property
    def _is_title_match(self) -> bool:
        """True if the match is the title, which need not be repeated."""
        snippet = self.result.match.snippet.text if self.result.match else ""
        return clean(snippet).split() == clean(self.result.title).split() != []

    def _head(self, width: int) -> Content:
        result = self.result
        end = Content.styled(result.state or result.kind, "$context")
        room = width - end.cell_length - GAP
        when = Content.styled(self.when, "$context")
        if room - self.when_cells - GAP >= MIN_ALIGNED_TITLE:
            when = when.pad_right(self.when_cells - when.cell_length)
        title = Content(format.to_line(result.title))
        if self._is_title_match and result.match:
            title = mark_snippet(result.match.snippet)
        head = when + " " * GAP + title.stylize_before("bold")
        if room < self.when_cells + GAP:
            return head.truncate(width, ellipsis=True)
        return spread(head, end, width)

    def _feet(self) -> tuple[Content, Content]:
        result = self.result
        facts = [f"+{result.more} in this session"] if result.more else []
        facts += ["unsummarized"] if result.is_unsummarized else []
        facts += [result.band] if result.band else []
        details = Content.styled(format.to_line(" · ".join(result.details)), "$context")
        return details, Content(" · ".join(facts))


def format_when(result: SearchResult, now: datetime, zone: tzinfo) -> str:
    if result.level is None:
        return date_format.near_moment(result.at, now, zone)
    day, today = calendar.local_day(result.at, zone), calendar.local_day(now, zone)
    return format.period_name(result.level, day, today)


def mark_snippet(snippet: Snippet, style: str = "") -> Content:
    """Return a snippet in one line with its matches marked."""
    line = _to_one_line(snippet)
    content = Content.styled(line.text, style) if style else Content(line.text)
    for start, end in line.marks:
        content = content.stylize(MARKED, start, end)
    return content


def _draw_snippet(
    match: ResultSnippet, room: int, lines: int, style: str = ""
) -> list[Content]:
    """Draw a snippet around its matches, in a maximum number of lines."""
    opening, closing, speaker = "“", "”", ""
    if match.speaker:
        opening = closing = ""
        speaker = f"{match.speaker:<{format.SPEAKER_CELLS}} "
    width = max(room - len(speaker) - 2 * len(opening), 1)
    excerpt = _cut_around_marks(match.snippet, width * lines - (lines - 1) * 12)
    wrapped = mark_snippet(excerpt, style).wrap(width)
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


class ResultList(ItemList[SearchResult], can_focus=False):
    """Shows the results; the keys stay in the search bar."""

    def __init__(self, zone: tzinfo) -> None:
        super().__init__(id="hits")
        self._zone = zone
        self._rows: list[ResultRow] = []
        self._selected = 0

    def show(self, results: Sequence[SearchResult], now: datetime) -> None:
        times = [format_when(result, now, self._zone) for result in results]
        widest = max(map(len, times), default=0)
        columns, height = self.app.size
        lines = 2 if columns >= ROOMY_SIZE[0] and height >= ROOMY_SIZE[1] else 1
        self._rows = [
            ResultRow(result, time, widest, lines)
            for result, time in zip(results, times, strict=True)
        ]
        self._selected = 0
        self.set_options(
            Option(row if index else replace(row, is_selected=True))
            for index, row in enumerate(self._rows)
        )
        if self._rows:
            self.highlighted = 0

    @on(OptionList.OptionHighlighted)
    def mark_selected(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        here, before = self.highlighted, self._selected
        if here is None or here == before:
            return
        self._selected = here
        self.replace_option_prompt_at_index(before, self._rows[before])
        row = replace(self._rows[here], is_selected=True)
        self.replace_option_prompt_at_index(here, row)

    def move(self, step: int) -> None:
        if self._rows:
            self.highlighted = ((self.highlighted or 0) + step) % len(self._rows)

    def move_page(self, step: int) -> None:
        if self._rows:
            self.call_later(self.run_action, "page_down" if step > 0 else "page_up")
