"""A summarizer that quotes the beginnings of messages and weighs no words.

It is used for large stores, which it makes in less than half the time: as many nodes,
bullets and grips of the same length as by the real summarizer. Measurements of screens
need no more.
"""

from memtui.model.calendar import TocLevel
from memtui.model.citations import Grip, grip_id
from memtui.model.events import Event
from memtui.model.nodes import Bullet, Keyword, NodeCounts, NodeStatus, TocNode
from memtui.model.verdicts import (
    EventQuote,
    Support,
    Verdict,
    VerdictFeatures,
    hash_quote,
)
from memtui.model.work import Facts
from memtui.pipeline.summarization import SummaryStage
from memtui.pipeline.versions import SOURCE, NewVersion, SegmentInput
from memtui.summarize.summarizer import ExtractiveSummarizer
from memtui.text import analyzer
from memtui.text.sentences import truncate

BULLETS = 5
"""How many bullets a segment has at most, each from a message of its own."""

CHARS = 110
"""About how long a bullet is, in characters."""

KEYWORDS = 8

IDENTITY = ExtractiveSummarizer().identity
"""The name of the real one: otherwise the app would make all summaries again."""


def use() -> None:
    """Let the stage make its summaries so."""
    # As the stage calls it, so that it need not know.
    SummaryStage._make = _make  # type: ignore[method-assign,assignment]


def _make(_: SummaryStage, work: SegmentInput) -> tuple[NewVersion, Facts]:
    messages = [event for event in work.events if event.is_message]
    step = max(len(messages) // BULLETS, 1)
    quoted = [_quoted(work.name, event) for event in messages[::step][:BULLETS]]
    bullets = tuple(bullet for bullet, _ in quoted)
    terms = analyzer.terms(bullets[0].text)[:KEYWORDS] if bullets else []
    node = TocNode(
        node_id=work.name,
        level=TocLevel.SEGMENT,
        title=truncate(bullets[0].text, 60) if bullets else "Nothing was said",
        headline=truncate(bullets[0].text, 60) if bullets else "Nothing was said",
        start_time=work.events[0].timestamp,
        end_time=work.events[-1].timestamp,
        bullets=bullets,
        keywords=tuple(Keyword(word, 1.0) for word in terms),
        status=NodeStatus.PROVISIONAL if work.range.is_open else NodeStatus.CURRENT,
        counts=NodeCounts(1, work.range.events, work.range.messages),
        agents=(work.session.agent,),
        projects=(work.session.project,),
        summarizer=IDENTITY,
        input_hash=work.input_hash(IDENTITY, Facts()),
    )
    return NewVersion(node, tuple(grip for _, grip in quoted)), Facts()


def _quoted(name: str, event: Event) -> tuple[Bullet, Grip]:
    text = truncate(event.text, CHARS)
    grip = Grip(
        grip_id=grip_id(name, text, event),
        excerpt=text,
        event_id_start=event.event_id,
        event_id_end=event.event_id,
        timestamp=event.timestamp,
        source=SOURCE,
        toc_node_id=name,
    )
    terms = tuple(analyzer.query_terms(text))
    span = EventQuote(event.event_id, 0, len(text), hash_quote(text))
    features = VerdictFeatures(covered=1.0, terms=len(terms))
    verdict = Verdict(Support.SUPPORTED, features, terms, spans=(span,))
    return Bullet(text, (grip.grip_id,), verdict), grip
