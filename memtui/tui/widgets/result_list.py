"""The list under the search bar: rows that are chosen while the focus stays above."""

import re
from dataclasses import replace
from datetime import datetime, tzinfo

from textual import on
from textual.content import Content, Span
from textual.css.styles import RulesMap
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from memtui.model.events import clean
from memtui.model.hits import Snippet
from memtui.text import date_format
from memtui.tui import format
from memtui.tui.widgets.item_list import ItemList
from memtui.tui.widgets.results import ResultSnippet, SearchResult, SearchResults
from memtui.tui.widgets.text_block import TextBlock

DIM, MARKED = "$context", "bold $evidence"


DIM_CHOSEN = "$footer-foreground"
"""What is dim where the cursor is: its background is brighter."""


CHOSEN, BAR = "▸ ", "┃ "
"""What stands before the row that is chosen, and before a match among neighbours."""


INDENT = 2
"""How far all but the first line of a row is moved in, in cells; the mark's room."""


APART = 2
"""The least space between two parts of a line, in cells."""


ALIGNED_TITLE = 28
"""The narrowest title beside times that stand in a column, in cells."""


WITH_NEIGHBOURS = 60
"""From this width in cells on, what was said before and after is shown, too."""


WITH_LAYERS = 60
"""From this width in cells on, it is said what led to a line."""


UNSUMMARISED = "not in any summary"


_MARGIN = Content(" " * INDENT)


_GAP = re.compile(r"\s{2,}")


class FoundRow(TextBlock):
    """One line of what was found, laid out at any width."""

    def __init__(
        self, line: SearchResult, when: str, when_cells: int, *, lines: int
    ) -> None:
        """Put it together.

        Args:
            line: What was found.
            when: Its time.
            when_cells: How wide the times of all rows are, so that titles stand in a
                column where there is room.
            lines: The most lines that the words that answer may take; neighbours are
                only shown where it is more than one.
        """
        self.line, self.when = line, when
        self._when_cells, self._lines = when_cells, lines
        self._mark = " " * INDENT
        self._laid: tuple[int, Content] | None = None

    def chosen(self) -> "FoundRow":
        """The same row with the mark of the one that is chosen."""
        row = FoundRow(self.line, self.when, self._when_cells, lines=self._lines)
        row._mark = CHOSEN
        return row

    def lay_out(self, width: int) -> Content:
        """The lines at a width, in cells."""
        if self._laid is None or self._laid[0] != width:
            rows = (row.truncate(width) for row in self._rows(width))
            laid = Content("\n").join(rows)
            if self._mark == CHOSEN:
                laid = _brightened(laid)
            self._laid = width, laid
        return self._laid[1]

    def _rows(self, width: int) -> list[Content]:
        line, room = self.line, max(width - 2 * INDENT, 1)
        rows = [
            Content.styled(self._mark, "$accent") + self._first(max(width - INDENT, 1))
        ]
        is_whole = self._lines > 1 and room >= WITH_NEIGHBOURS
        before, after = (line.before, line.after) if is_whole else (None, None)
        bar = Content.styled(BAR, "$evidence") if before or after else _MARGIN
        if before:
            rows += [_MARGIN + one for one in _said(before, room, 1, DIM)]
        if line.match and line.match.snippet.text and not self._is_in_title:
            rows += [bar + one for one in _said(line.match, room, self._lines)]
        if after:
            rows += [_MARGIN + one for one in _said(after, room, 1, DIM)]
        foot = self._foot(room)
        if foot:
            rest = room + INDENT - rows[-1].cell_length - foot.cell_length
            if len(rows) > 1 and rest >= APART:
                rows[-1] += " " * rest + foot
            else:
                rows.append(_MARGIN + foot)
        first, *others = rows
        return [first, *(_MARGIN + row for row in others)]

    @property
    def _is_in_title(self) -> bool:
        """Whether the title is what answers, so that it need not be said again."""
        turn = self.line.match
        return turn is not None and _same(turn.snippet.text, self.line.title)

    def _first(self, width: int) -> Content:
        line = self.line
        told = " · ".join(part for part in (line.band, line.kind) if part)
        end = Content.styled(told, DIM)
        room = width - end.cell_length - APART
        when = Content.styled(self.when, DIM)
        if room - self._when_cells - APART >= ALIGNED_TITLE:
            when = when.pad_right(self._when_cells - when.cell_length)
        title = Content(flat(line.title))
        if self._is_in_title and line.match:
            title = marked(line.match.snippet)
        head = when + " " * APART + title.stylize_before("bold")
        if room < self._when_cells + APART:
            return head.truncate(width, ellipsis=True)
        head = head.truncate(room, ellipsis=True)
        return head + " " * (room - head.cell_length + APART) + end

    def _foot(self, room: int) -> Content:
        line = self.line
        parts = [Content.styled(flat(" · ".join(line.details)), DIM)]
        if line.is_unsummarized:
            parts.append(Content(UNSUMMARISED))
        elif line.layers and room >= WITH_LAYERS:
            parts.append(Content.styled("by " + ", ".join(line.layers), DIM))
        told = [part for part in parts if part]
        return Content.styled(" · ", DIM).join(told).truncate(room, ellipsis=True)

    def get_height(self, rules: RulesMap, width: int) -> int:
        """How many lines it takes at a width."""
        return self.lay_out(width).plain.count("\n") + 1


def when(line: SearchResult, now: datetime, zone: tzinfo) -> str:
    """When something was, as briefly as the present allows."""
    if line.level is None:
        return date_format.near_moment(line.at, now, zone)
    today = now.astimezone(zone).date()
    return format.stretch(line.level, line.at.astimezone(zone).date(), today)


def flat(text: str) -> str:
    """A text in one line: what would break it, or the terminal, is a space."""
    if text.isprintable():
        return text
    shown = (one if one.isprintable() else " " for one in text)
    return "".join(shown)


def marked(snippet: Snippet, ink: str = "") -> Content:
    """A snippet in one line, with the words that matched marked."""
    told = _squeezed(snippet)
    content = Content.styled(told.text, ink) if ink else Content(told.text)
    for start, end in told.marks:
        content = content.stylize(MARKED, start, end)
    return content


def _brightened(laid: Content) -> Content:
    """Dim words that can be read where the cursor is."""
    spans = [
        Span(one.start, one.end, DIM_CHOSEN) if one.style == DIM else one
        for one in laid.spans
    ]
    return Content(laid.plain, spans)


def _said(turn: ResultSnippet, room: int, lines: int, ink: str = "") -> list[Content]:
    """What somebody said, in so many lines, around the words that matched."""
    quote = ("", "") if turn.speaker else ("“", "”")
    who = ""
    if turn.speaker:
        who = f"{turn.speaker:<{format.SPEAKER_CELLS}} "
    width = max(room - len(who) - 2 * len(quote[0]), 1)
    piece = _around_marks(turn.snippet, width * lines - (lines - 1) * 12)
    wrapped = marked(piece, ink).wrap(width)
    if len(wrapped) > lines:
        rest = Content(" ").join(wrapped[lines - 1 :])
        wrapped = [*wrapped[: lines - 1], rest.truncate(width, ellipsis=True)]
    first, *others = wrapped or [Content("")]
    whole = [
        Content.styled(who, DIM) + quote[0] + first,
        *(Content(" " * (len(who) + len(quote[0]))) + one for one in others),
    ]
    whole[-1] += quote[1]
    return whole


def _around_marks(snippet: Snippet, cells: int) -> Snippet:
    """As much of a snippet as so many cells hold, around most of what matched."""
    told = _squeezed(snippet)
    if Content(told.text).cell_length <= cells:
        return told
    starts = [start for start, _ in told.marks]
    # Where a character takes two cells, half as many are in sight.
    wide = Content(told.text).cell_length / len(told.text)
    sight = max(int(cells / wide), 1)
    best = max(
        starts,
        key=lambda at: sum(at <= start < at + sight * 2 // 3 for start in starts),
        default=0,
    )
    start = 0
    if best >= sight * 2 // 3:
        start = max(best - sight // 4, 0)
        start = min(told.text.find(" ", start, best) + 1 or start, best)
    lead = "…" if start else ""
    # A little more than is in sight, so that what is left out is seen to be.
    text = told.text[start : start + 2 * sight]
    by, end = start - len(lead), start + len(text)
    moved = tuple((s - by, min(e, end) - by) for s, e in told.marks if start <= s < end)
    return Snippet(lead + text, moved)


def _squeezed(snippet: Snippet) -> Snippet:
    """A snippet without line ends and without runs of spaces."""
    text = flat(snippet.text)
    gaps = [gap.span() for gap in _GAP.finditer(text)]
    if not gaps:
        return replace(snippet, text=text)

    def moved(at: int) -> int:
        return at - sum(min(end, at) - start - 1 for start, end in gaps if start < at)

    marks = tuple((moved(start), moved(end)) for start, end in snippet.marks)
    return Snippet(_GAP.sub(" ", text), marks)


def _same(snippet: str, title: str) -> bool:
    return clean(snippet).split() == clean(title).split()


ROOMY = (100, 30)
"""From this size of the terminal on, in columns and lines, what answers takes two lines
of a row, and what was said around it is shown."""


class ResultList(ItemList, can_focus=False):
    """Shows what was found, with the cursor on the best."""

    def __init__(self, zone: tzinfo) -> None:
        super().__init__(id="hits", markup=False)
        self._zone = zone
        self.results: tuple[SearchResult, ...] = ()
        self._rows: list[FoundRow] = []
        self._chosen = 0

    def show(self, sheet: SearchResults, now: datetime) -> None:
        """Show what was found."""
        self.results = sheet.results
        times = [when(line, now, self._zone) for line in self.results]
        widest = max(map(len, times), default=0)
        columns, lines = self.app.size
        most = 2 if columns >= ROOMY[0] and lines >= ROOMY[1] else 1
        self._rows = [
            FoundRow(line, time, widest, lines=most)
            for line, time in zip(self.results, times, strict=True)
        ]
        self._chosen = 0
        self.set_options(
            Option(row.chosen() if at == self._chosen else row)
            for at, row in enumerate(self._rows)
        )
        if self.results:
            self.highlighted = 0

    @on(OptionList.OptionHighlighted)
    def mark(self, event: OptionList.OptionHighlighted) -> None:
        """Put the mark where the cursor is."""
        event.stop()
        here, before = self.highlighted, self._chosen
        if here is None or here == before:
            return
        self._chosen = here
        self.replace_option_prompt_at_index(before, self._rows[before])
        self.replace_option_prompt_at_index(here, self._rows[here].chosen())

    def move(self, step: int) -> None:
        """Move the cursor, round the ends."""
        if self.results:
            self.highlighted = ((self.highlighted or 0) + step) % len(self.results)

    def move_page(self, step: int) -> None:
        """Move the cursor by a page."""
        if self.results:
            self.call_later(self.run_action, "page_down" if step > 0 else "page_up")
