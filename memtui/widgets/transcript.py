"""A piece of a conversation laid out for reading, with the evidence marked.

Every line of an event that is evidence begins with a bar, and the words the excerpt
was taken from are marked; the events around are dim and have no bar.
"""

from collections.abc import Iterator
from datetime import date, datetime, tzinfo

from textual.content import Content
from textual.css.styles import RulesMap
from textual.strip import Strip
from textual.style import Style
from textual.visual import RenderOptions, Visual

from memtui.memory.events import Event, EventRole
from memtui.memory.grips import Expansion
from memtui.widgets import excerpts, wording

BAR = "┃"
"""What the lines of evidence begin with."""

MARKED = "bold $evidence on $evidence-back"
"""How the words of the excerpt are shown."""

SIDE_BY_SIDE = 64
"""From this width in cells on, times and speakers stand beside the text."""

GUTTER_CELLS = 2 + 5 + 1 + wording.SPEAKER_CELLS + 1
"""The bar, the time and the speaker, with the spaces after them."""

TOOL_SHOWN, TOOL_LINES = 400, 5
"""How much of a tool's text is shown around the evidence: characters and lines."""


class Transcript(Visual):
    """The events of an expansion, at any width."""

    def __init__(self, expansion: Expansion, zone: tzinfo, now: datetime) -> None:
        self.expansion, self.zone, self.now = expansion, zone, now
        self._laid: tuple[int, Content, int] | None = None

    def lay_out(self, width: int) -> tuple[Content, int]:
        """The lines at a width in cells, and which of them to bring into sight.

        That is the one with the first of the marked words, else the first of the
        evidence.
        """
        if self._laid is None or self._laid[0] != width:
            lines: list[Content] = []
            evidence_at = marked_at = 0
            for is_evidence, chunk in self._chunks(width):
                if is_evidence and not evidence_at:
                    evidence_at = len(lines)
                for number, line in enumerate(chunk):
                    if not marked_at and any(s.style == MARKED for s in line.spans):
                        marked_at = len(lines) + number
                lines += chunk
            at = marked_at or evidence_at
            self._laid = width, Content("\n").join(lines), at
        return self._laid[1], self._laid[2]

    def _chunks(self, width: int) -> Iterator[tuple[bool, list[Content]]]:
        whole = self.expansion
        excerpt = whole.grip.excerpt if whole.grip is not None else ""
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
                marked = excerpt if is_evidence else ""
                yield is_evidence, self._event(event, is_evidence, marked, width)

    def _date(self, on: date, at: datetime, width: int) -> Content:
        words = f"  {wording.day(on)} · {wording.ago(at, self.now)}"
        return Content.styled(words, "$context").truncate(width, ellipsis=True)

    def _event(
        self, event: Event, is_evidence: bool, excerpt: str, width: int
    ) -> list[Content]:
        bar = Content.styled(f"{BAR} ", "$evidence") if is_evidence else Content("  ")
        ink = "" if is_evidence else "$context"
        time = wording.clock(event.timestamp, self.zone)
        who = wording.speaker(event)
        text = _text(event, is_evidence, excerpt)
        if width < SIDE_BY_SIDE:
            head = bar + Content.styled(f"{time} {who}", "$context")
            body = text.stylize_before(ink).wrap(max(1, width - 2))
            return [head, *(bar + line for line in body)]
        head = Content.assemble(
            (f"{time} ", "$context"),
            (f"{who:<{wording.SPEAKER_CELLS}} ", f"{ink} bold" if is_evidence else ink),
        )
        first, *rest = text.stylize_before(ink).wrap(width - GUTTER_CELLS)
        blank = Content(" " * (GUTTER_CELLS - 2))
        return [bar + head + first, *(bar + blank + line for line in rest)]

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


def _text(event: Event, is_evidence: bool, excerpt: str) -> Content:
    said = wording.said(event)
    mark = excerpts.find(said, excerpt) if excerpt else None
    limit = excerpts.SHOWN
    if event.role in (EventRole.TOOL, EventRole.SYSTEM) and not is_evidence:
        limit = len("\n".join(said[:TOOL_SHOWN].split("\n")[:TOOL_LINES]))
    piece = excerpts.piece(said, mark, limit)
    text = Content(piece.text)
    if piece.mark is not None:
        text = text.stylize(MARKED, *piece.mark)
    if piece.left_before:
        text = _left_out(f"… {wording.size(piece.left_before)} before\n") + text
    if piece.left_after:
        text += _left_out(f"\n… {wording.size(piece.left_after)} more")
    return text


def _left_out(words: str) -> Content:
    return Content.styled(words, "italic $context")
