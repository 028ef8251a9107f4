"""A piece of a conversation laid out for reading, with the evidence marked.

Every line of an event that is evidence begins with a bar, a broad one where the words
are that the bullet rests on; the events around are dim and have no bar.
"""

from collections.abc import Iterator
from datetime import date, datetime, tzinfo

from textual.content import Content
from textual.css.styles import RulesMap
from textual.strip import Strip
from textual.style import Style
from textual.visual import RenderOptions, Visual

from memtui.model.events import Event, EventRole
from memtui.model.grips import Expansion
from memtui.model.verdicts import Verdict
from memtui.tui import format
from memtui.tui.widgets import quotes, turn_rendering
from memtui.tui.widgets.quotes import Marks, Quotes
from memtui.tui.widgets.turn_rendering import MARKED, SIDE_BY_SIDE

BAR, BROAD_BAR = "┃", "▌"
"""What the lines of evidence begin with, and those among them that are quoted."""


MATCHED = "bold"
"""How those of them are shown that are the bullet's own."""


GUTTER_CELLS = 2 + 5 + 1 + format.SPEAKER_CELLS + 1
"""The bar, the time and the speaker, with the spaces after them."""


TOOL_SHOWN, TOOL_LINES = 400, 5
"""How much of a tool's text is shown around the evidence: characters and lines."""


class SourceExcerpt(Visual):
    """The events of an expansion, at any width."""

    def __init__(
        self,
        expansion: Expansion,
        zone: tzinfo,
        now: datetime,
        verdict: Verdict | None = None,
    ) -> None:
        """Find what is to be marked.

        Args:
            expansion: The events.
            zone: The store's time zone.
            now: The time.
            verdict: What the audit found of the bullet they belong to, if it is known.
        """
        self.expansion, self.zone, self.now = expansion, zone, now
        own = expansion.excerpt_events
        excerpt = expansion.grip.excerpt if expansion.grip is not None else ""
        found = Quotes(own, verdict, excerpt)
        self._marks = {event.event_id: found.of(event) for event in own}
        self._laid: tuple[int, Content, int] | None = None

    def lay_out(self, width: int) -> tuple[Content, int]:
        """The lines at a width in cells, and which of them to bring into sight.

        That is the first that is quoted, else the first of the evidence.
        """
        if self._laid is None or self._laid[0] != width:
            lines: list[Content] = []
            evidence_at = marked_at = 0
            for is_evidence, chunk in self._chunks(width):
                if is_evidence and not evidence_at:
                    evidence_at = len(lines)
                for number, line in enumerate(chunk):
                    if not marked_at and _is_quoted(line):
                        marked_at = len(lines) + number
                lines += chunk
            at = marked_at or evidence_at
            self._laid = width, Content("\n").join(lines), at
        return self._laid[1], self._laid[2]

    def _chunks(self, width: int) -> Iterator[tuple[bool, list[Content]]]:
        whole = self.expansion
        day: date | None = None
        parts = (
            (False, whole.events_before),
            (True, whole.excerpt_events),
            (False, whole.events_after),
        )
        for is_evidence, events in parts:
            for event in events:
                on = event.timestamp.astimezone(self.zone).date()
                if on != day:
                    yield False, [self._date(on, event.timestamp, width)]
                day = on
                yield is_evidence, self._event(event, is_evidence, width)

    def _date(self, on: date, at: datetime, width: int) -> Content:
        words = f"  {format.day(on)} · {format.ago(at, self.now)}"
        return Content.styled(words, "$context").truncate(width, ellipsis=True)

    def _event(self, event: Event, is_evidence: bool, width: int) -> list[Content]:
        bar = Content.styled(f"{BAR} ", "$evidence") if is_evidence else Content("  ")
        marks = self._marks[event.event_id] if is_evidence else None
        ink = "" if is_evidence else "$context"
        time = format.clock(event.timestamp, self.zone)
        who = format.speaker(event)
        text = _text(event, marks)
        if width < SIDE_BY_SIDE:
            head = bar + Content.styled(f"{time} {who}", "$context")
            body = text.stylize_before(ink).wrap(max(1, width - 2))
            return [head, *(_barred(bar, line) + line for line in body)]
        head = Content.assemble(
            (f"{time} ", "$context"),
            (f"{who:<{format.SPEAKER_CELLS}} ", f"{ink} bold" if is_evidence else ink),
        )
        first, *rest = text.stylize_before(ink).wrap(width - GUTTER_CELLS)
        blank = Content(" " * (GUTTER_CELLS - 2))
        return [
            _barred(bar, first) + head + first,
            *(_barred(bar, line) + blank + line for line in rest),
        ]

    def render_strips(
        self, width: int, height: int | None, style: Style, options: RenderOptions
    ) -> list[Strip]:
        """Draw the lines."""
        return self.lay_out(width)[0].render_strips(width, height, style, options)

    def get_optimal_width(self, rules: RulesMap, container_width: int) -> int:
        """All there is."""
        return container_width

    def get_height(self, rules: RulesMap, width: int) -> int:
        """How many lines there are at a width."""
        return self.lay_out(width)[0].get_height(rules, width)


def _is_quoted(line: Content) -> bool:
    return any(span.style == MARKED for span in line.spans)


def _barred(bar: Content, line: Content) -> Content:
    """The bar before a line: a broad one if the line is quoted."""
    return Content.styled(f"{BROAD_BAR} ", "$evidence") if _is_quoted(line) else bar


def _text(event: Event, marks: Marks | None) -> Content:
    """What an event says, as much of it as is shown; marks make it evidence."""
    said = format.said(event)
    limit = quotes.SHOWN
    if marks is None and event.role in (EventRole.TOOL, EventRole.SYSTEM):
        limit = len("\n".join(said[:TOOL_SHOWN].split("\n")[:TOOL_LINES]))
    known = marks or quotes.NONE
    piece = quotes.piece(said, next(iter(known.quoted), None), limit)
    text = _formed(piece.text) if event.is_message else Content(piece.text)
    for style, spans in ((MARKED, known.quoted), (MATCHED, known.matched)):
        for start, end in spans:
            start, end = start - piece.left_before, end - piece.left_before
            if end > 0 and start < len(piece.text):
                text = text.stylize(style, max(start, 0), end)
    if piece.left_before:
        text = _left_out(f"… {format.size(piece.left_before)} before\n") + text
    if piece.left_after:
        text += _left_out(f"\n… {format.size(piece.left_after)} more")
    return _left_out(f"{quotes.TEXT_CHANGED}\n") + text if known.has_changed else text


def _formed(said: str) -> Content:
    """A message with its code and headings told apart, character for character.

    What is marked in it is known by its place, so that no place may move.
    """
    formed = turn_rendering.render_markdown(said)
    return formed if formed.plain == said else Content(said)


def _left_out(words: str) -> Content:
    return Content.styled(words, "italic $context")
