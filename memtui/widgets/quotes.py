"""Which words of an event are marked: those a bullet rests on, and those they share."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from memtui.memory import words
from memtui.memory.events import Event
from memtui.memory.verdicts import SAID, Span, Verdict
from memtui.widgets import excerpts, wording

MATCHED_CHARS = 4_000
"""How much of a quoted stretch is searched for the bullet's words, in characters."""

CHANGED = "This text has changed since it was checked: nothing is marked."
"""What is said of an event that no longer says what was quoted of it."""


@dataclass(frozen=True, slots=True)
class Marks:
    """What to mark in the text that is shown of an event, by offsets in it."""

    quoted: tuple[excerpts.Span, ...] = ()
    """The stretches the bullet rests on."""
    matched: tuple[excerpts.Span, ...] = ()
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
        said = wording.said(event)
        if not self._spans:
            mark = excerpts.find(said, self._excerpt) if self._excerpt else None
            return _marks(said, [mark] if mark else [], self._matched)
        spans = [span for span in self._spans if span.event_id == event.event_id]
        if not all(span.stands_in(event.text) for span in spans):
            return Marks(has_changed=True)
        return _marks(said, _moved(spans, event.text, len(said)), self._matched)


def _moved(spans: Sequence[Span], text: str, size: int) -> list[excerpts.Span]:
    """Spans of an event's text in what is shown of it, without its first line ends."""
    by = len(text) - len(text.lstrip("\n"))
    return [(max(s.start - by, 0), min(s.end - by, size)) for s in spans]


def _marks(
    said: str, quoted: Sequence[excerpts.Span], matched: Collection[str]
) -> Marks:
    shared = []
    for start, end in quoted:
        piece = said[start : min(end, start + MATCHED_CHARS)]
        shared += [(start + at, start + to) for at, to in words.spans(piece, matched)]
    return Marks(tuple(sorted(quoted)), tuple(shared))
