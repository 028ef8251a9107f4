"""Which words of an event are marked: those a bullet rests on, and those they share."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from memtui.model.events import Event
from memtui.model.verdicts import SAID, Span, Verdict
from memtui.text import analyzer
from memtui.tui import format

SHOWN = 4000
"""How much of a text is shown at most, in characters."""


LEAD = 400
"""How much is shown before an excerpt that lies deep in a long text, in characters."""


TextSpan = tuple[int, int]
"""A start and an end in a text, in characters."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a text: how much is left out on both sides, and the span marked."""

    text: str
    left_before: int = 0
    left_after: int = 0
    mark: TextSpan | None = None


def find(text: str, excerpt: str) -> TextSpan | None:
    """Where the excerpt stands, even if the text breaks its lines elsewhere."""
    wanted = excerpt.strip().strip("…").strip()
    if not wanted:
        return None
    start = text.find(wanted)
    if start >= 0:
        return start, start + len(wanted)
    loose = r"\s+".join(re.escape(word) for word in wanted.split())
    found = re.search(loose, text)
    return found.span() if found else None


def piece(text: str, mark: TextSpan | None, limit: int = SHOWN) -> Piece:
    """The part of a text to show: its beginning, or the surroundings of a mark.

    Args:
        text: All of it.
        mark: The span that must be seen, if any.
        limit: How much to show at most, in characters.
    """
    if len(text) <= limit:
        return Piece(text, mark=mark)
    start = 0
    if mark is not None and mark[1] > limit:
        start = max(0, mark[0] - LEAD)
    end = min(len(text), max(start + limit, mark[1] if mark else 0))
    moved = (mark[0] - start, mark[1] - start) if mark else None
    return Piece(text[start:end], start, len(text) - end, moved)


MATCHED_CHARS = 4_000
"""How much of a quoted stretch is searched for the bullet's words, in characters."""


TEXT_CHANGED = "This text has changed since it was checked: nothing is marked."
"""What is said of an event that no longer says what was quoted of it."""


@dataclass(frozen=True, slots=True)
class Marks:
    """What to mark in the text that is shown of an event, by offsets in it."""

    quoted: tuple[TextSpan, ...] = ()
    """The stretches the bullet rests on."""
    matched: tuple[TextSpan, ...] = ()
    """The words of the bullet in them."""
    has_changed: bool = False
    """Whether the text no longer says what was quoted of it."""


NONE = Marks()


class Quotes:
    """The marks in each of the events that a grip names."""

    def __init__(
        self, events: Sequence[Event], verdict: Verdict | None, excerpt: str
    ) -> None:
        """Find out whether the audit quoted one of the events.

        Args:
            events: Those that the grip names.
            verdict: What the audit found of the bullet, if that is known.
            excerpt: The grip's own, which is marked where the audit quoted none.
        """
        found = verdict or SAID
        self._matched, self._excerpt = found.matched, excerpt
        names = {event.event_id for event in events}
        self._spans = [span for span in found.spans if span.event_id in names]

    def of(self, event: Event) -> Marks:
        """What to mark in what ``wording.said`` tells of an event."""
        said = format.said(event)
        if not self._spans:
            mark = find(said, self._excerpt) if self._excerpt else None
            return _marks(said, [mark] if mark else [], self._matched)
        spans = [span for span in self._spans if span.event_id == event.event_id]
        if not all(span.stands_in(event.text) for span in spans):
            return Marks(has_changed=True)
        return _marks(said, _moved(spans, event.text, len(said)), self._matched)


def _moved(spans: Sequence[Span], text: str, size: int) -> list[TextSpan]:
    """Spans of an event's text in what is shown of it, without its first line ends."""
    by = len(text) - len(text.lstrip("\n"))
    return [(max(s.start - by, 0), min(s.end - by, size)) for s in spans]


def _marks(said: str, quoted: Sequence[TextSpan], matched: Collection[str]) -> Marks:
    shared = []
    for start, end in quoted:
        piece = said[start : min(end, start + MATCHED_CHARS)]
        shared += [
            (start + at, start + to) for at, to in analyzer.spans(piece, matched)
        ]
    return Marks(tuple(sorted(quoted)), tuple(shared))
