"""The source of a bullet, or a message that was found, with the events around it.

The events that a bullet rests on have a bar at their left, a broad one beside quoted
lines. The quoted text is marked, and within it the words it shares with the bullet; the
events around are dim.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from functools import partial
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from memtui.model import calendar
from memtui.model.citations import CONTEXT_EVENTS, Expansion
from memtui.model.events import Event, EventRole
from memtui.model.hit import NO_SNIPPET, Snippet
from memtui.model.verdicts import SUPPORTED, Support, Verdict
from memtui.text import date_format
from memtui.text.markdown import quotation
from memtui.tui import commands, format, workers
from memtui.tui.messages import SessionRequested, SourceMarks, SourceRequested, TextSpan
from memtui.tui.widgets.panes import SEPARATOR, DetailPane, PaneTitle
from memtui.tui.widgets.text_block import TextBlock
from memtui.tui.widgets.turn_rendering import (
    EXCERPT_CHARS,
    MARKED,
    NO_MARKS,
    add_omissions,
    beside,
    cut_excerpt,
    draw_excerpt,
    has_style,
)

STEP = 3  # The events that one key adds or removes on each side.

MAX_HEAD_SHARE = 0.8
"""The share of the pane that may be above a quoted line so that its event's time and
speaker are visible; they are also in the title."""

MAX_CONTEXT = 60  # The most events shown on each side.
EXCERPT_LEAD = 80  # The length of the marked line of a message before its first match.
PLACEHOLDER = "The source of the selected bullet is shown here, word for word."
NOT_FOUND = "This source no longer exists: its conversation may have been deleted."
NO_SOURCE = "There is no source here."
UNREADABLE = "This source cannot be read: memtui doctor says more."
TEXT_CHANGED = "This text has changed since it was checked: nothing is marked."


@dataclass(frozen=True, slots=True)
class JumpTarget:
    """A destination in the contents, or in a session that is open over them."""

    node_id: str
    """"" while it is not known."""
    grip_id: str = ""
    """The source to show beside the node."""
    bullet: str = ""
    """The text of the bullet to select."""
    event_id: str = ""
    """The message to show instead."""
    snippet: Snippet = NO_SNIPPET
    """The part of the message that was found."""
    agent: str = ""
    session_id: str = ""
    pane: str = ""
    """The pane to focus; empty for the one that shows the source or message."""
    session: SessionRequested | None = None
    """The session to open, at a message."""

    @property
    def matched(self) -> tuple[str, ...]:
        """The terms that were marked, for ``analyzer.spans`` to mark again."""
        from memtui.text import analyzer  # not needed at the start

        marked = (self.snippet.text[start:end] for start, end in self.snippet.marks)
        terms = (term for text in marked for term in analyzer.terms(text))
        return tuple(dict.fromkeys(terms))

    @property
    def excerpt(self) -> str:
        """The line of the message with the first match, "" if there is none."""
        text, marks = self.snippet.text, self.snippet.marks
        if not marks:
            return ""
        first = marks[0][0]
        start = max(text.rfind("\n", 0, first) + 1, first - EXCERPT_LEAD)
        return text[start:].partition("\n")[0][: 3 * EXCERPT_LEAD]

    @property
    def source(self) -> SourceRequested:
        """Its message, or else its grip, with the terms to mark."""
        return SourceRequested(
            grip_id="" if self.event_id else self.grip_id,
            verdict=Verdict(Support.SUPPORTED, matched=self.matched),
            event_id=self.event_id,
            excerpt=self.excerpt,
        )


class SourcePane(Vertical, workers.AppNode):
    """Reads a source on a worker thread and shows it."""

    BINDINGS: ClassVar[list[BindingType]] = commands.bindings(
        open="Open the session at this source."
    )
    HELP_TITLE = "In the source"

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.expansion = Expansion()
        # The search result that is shown; None for the source of a bullet.
        self.shown_target: JumpTarget | None = None
        self._requested = SourceRequested(PLACEHOLDER)
        self._context_size = CONTEXT_EVENTS
        self._excerpt: SourceExcerpt | None = None  # The last one that was shown.

    def compose(self) -> ComposeResult:
        yield PaneTitle("Source")
        with DetailPane():
            yield Static(Content.styled(PLACEHOLDER, "$context"), id="transcript")

    # What is shown

    def request(self, request: SourceRequested) -> None:
        """Show the source of a bullet, or why it has none.

        A search result stays until it is released.
        """
        if self.shown_target is not None:
            return
        self._requested = request
        # The text still on screen must no longer be copied or opened.
        self.expansion = Expansion()
        self._load()

    def show_target(self, target: JumpTarget) -> None:
        self.release_target()
        self.request(target.source)
        self.shown_target = target

    def release_target(self) -> bool:
        """Let sources of bullets replace a search result; False if there is none."""
        had_target, self.shown_target = self.shown_target is not None, None
        return had_target

    def show_nothing(self) -> None:
        """Show no source, until that of another node is requested."""
        if self.shown_target is None:
            self.request(SourceRequested())

    def clear(self) -> None:
        self.request(SourceRequested(PLACEHOLDER))

    def change_context(self, more: bool) -> None:
        expansion, size = self.expansion, self._context_size
        context = max(len(expansion.events_before), len(expansion.events_after))
        if not expansion.excerpt_events:
            self.notify(NO_SOURCE)
        elif more and (context < size or size == MAX_CONTEXT):
            self.notify("There is nothing more within an hour of it.")
        elif not more and size == 0:
            self.notify("Only the source itself is shown.")
        else:
            step = STEP if more else -STEP
            self._context_size = min(MAX_CONTEXT, max(0, size + step))
            self._load()

    # Reading

    def _load(self) -> None:
        request = self._requested
        if not (request.grip_id or request.event_id):
            self._show_text(_title(request), request.why_none)
            return
        read = partial(read_source, request, self._context_size)
        slow = None if self.expansion.excerpt_events else self._show_loading
        self.load(read, partial(self._show, request), "source", slow)

    def _show(self, request: SourceRequested, expansion: Expansion) -> None:
        """Show the events, the quoted ones a third of the way down."""
        if request is not self._requested:
            return
        self.expansion = expansion
        if expansion.session is None:
            self._show_text(_title(request), NOT_FOUND)
            return
        said = [
            f"{date_format.clock(event.timestamp, self.zone)} {format.speaker(event)}"
            for event in expansion.excerpt_events[:1]
        ]
        session = expansion.session
        place = [session.agent, session.project, f"session {session.session_id[:8]}"]
        info = SEPARATOR.join(filter(None, [*said, *place]))
        self.query_one(PaneTitle).show(_title(request), info)
        verdict = request.verdict
        self._excerpt = SourceExcerpt(expansion, self.zone, self.now(), verdict)
        self.query_one("#transcript", Static).update(self._excerpt)
        self._scroll_to_evidence()

    def _show_loading(self) -> None:
        self._show_text(_title(self._requested), "Reading…")

    def show_error(self, error: BaseException, group: str) -> None:
        self.expansion = Expansion()
        why = format.error_text(error)
        text = f"This source could not be read: {why}\n{workers.WILL_RETRY}"
        self._show_text(_title(self._requested), text)
        self.set_timer(workers.RETRY_S, self._load)

    def _show_text(self, title: str, text: str) -> None:
        self.query_one(PaneTitle).show(title)
        self.query_one("#transcript", Static).update(Content.styled(text, "$context"))
        self.query_one(DetailPane).scroll_home(animate=False)

    def on_resize(self) -> None:
        self._scroll_to_evidence()

    def _scroll_to_evidence(self) -> None:
        self.call_after_refresh(scroll_to_evidence, self.query_one(DetailPane))

    # Opening and copying

    def action_open(self) -> None:
        session, own = self.expansion.session, self.expansion.excerpt_events
        if session is None or not own:
            self.notify(NO_SOURCE)
            return
        quotes = self._excerpt.marks if self._excerpt else {}
        quoted = (event for event in own if quotes[event.event_id].quoted)
        event = next(quoted, own[0])
        self.post_message(
            SessionRequested(
                session.agent,
                session.session_id,
                event.event_id,
                subagent=event.subagent,
                quotes=quotes,
            )
        )

    def citation(self) -> str:
        """Return the quote with session, time and event; "" without a source."""
        grip, session = self.expansion.grip, self.expansion.session
        if grip is None or session is None:
            return ""
        source_id = grip.grip_id or grip.event_id_start
        return quotation(grip.excerpt, session, grip.timestamp, source_id, self.zone)


def read_source(request: SourceRequested, size: int = CONTEXT_EVENTS) -> Expansion:
    """Return a message or grip with at most `size` events before and after it."""
    from memtui.services import conversation  # not needed at the start

    if request.event_id:
        event_id, excerpt = request.event_id, request.excerpt
        return conversation.expand_event(event_id, excerpt, before=size, after=size)
    return conversation.expand(request.grip_id, before=size, after=size)


def _title(request: SourceRequested) -> str:
    if request.event_id:
        return "Message"
    if not request.bullet:
        return "Source"
    bullet = f"Bullet {request.bullet}"
    if not request.total:
        return f"{bullet}, no source"
    verdict = request.verdict
    is_source = verdict is None or verdict.support is not Support.UNSUPPORTED
    kind = "source" if is_source else "closest words"
    return f"{bullet}, {kind} {request.number} of {request.total}"


# Marks

MATCHED_CHARS = 4_000
"""The length of a quoted span that is searched for matching words, in characters."""


def find_marks(
    events: Sequence[Event], verdict: Verdict | None, excerpt: str
) -> dict[str, SourceMarks]:
    """Return the marks of the events of a grip, by event id.

    Its excerpt is marked where the verdict quotes no event.
    """
    from memtui.text import analyzer  # not needed at the start

    verdict = verdict or SUPPORTED
    event_ids = {event.event_id for event in events}
    spans = [span for span in verdict.spans if span.event_id in event_ids]
    marks = {}
    for event in events:
        text = format.event_text(event)
        own = [span for span in spans if span.event_id == event.event_id]
        if not spans:
            span_found = find_excerpt(text, excerpt)
            quoted = [span_found] if span_found else []
        elif all(span.matches(event.text) for span in own):
            # The shown text lacks the newlines that the event's text begins with.
            by = len(event.text) - len(event.text.lstrip("\n"))
            ends = len(text)
            quoted = [(max(s.start - by, 0), min(s.end - by, ends)) for s in own]
        else:
            marks[event.event_id] = SourceMarks(has_changed=True)
            continue
        matched = [
            (start + first, start + last)
            for start, end in quoted
            for first, last in analyzer.find_spans(
                text[start : min(end, start + MATCHED_CHARS)], verdict.matched
            )
        ]
        marks[event.event_id] = SourceMarks(tuple(sorted(quoted)), tuple(matched))
    return marks


def find_excerpt(text: str, excerpt: str) -> TextSpan | None:
    """Return where an excerpt is in a text, even with other line breaks."""
    quote = excerpt.strip().strip("…").strip()
    if not quote:
        return None
    start = text.find(quote)
    if start >= 0:
        return start, start + len(quote)
    pattern = r"\s+".join(re.escape(word) for word in quote.split())
    match = re.search(pattern, text)
    return match.span() if match else None


# Drawing

BAR, QUOTE_BAR = "┃ ", "▌ "  # Before the lines of the source, and before quoted lines.

TOOL_CHARS, TOOL_LINES = 400, 5
"""The length of a tool's output around the source, in characters and lines."""


class SourceExcerpt(TextBlock):
    """The events of a source and those around them."""

    def __init__(
        self,
        expansion: Expansion,
        zone: tzinfo,
        now: datetime,
        verdict: Verdict | None = None,
    ) -> None:
        self.expansion, self.zone, self.now = expansion, zone, now
        excerpt = expansion.grip.excerpt if expansion.grip is not None else ""
        self.marks = find_marks(expansion.excerpt_events, verdict, excerpt)
        self._evidence_lines = 0, 0

    def evidence_lines(self, width: int) -> tuple[int, int]:
        """Return the first line of the event that is quoted, and its first quoted line.

        They are the same where nothing is quoted.
        """
        self.lay_out(width)
        return self._evidence_lines

    def compose_lines(self, width: int) -> Content:
        lines: list[Content] = []
        first_evidence = head = first_quoted = 0
        for is_evidence, chunk in self._chunks(width):
            if is_evidence and not first_evidence:
                first_evidence = len(lines)
            for number, line in enumerate(chunk):
                if not first_quoted and has_style(line, MARKED):
                    head, first_quoted = len(lines), len(lines) + number
            lines += chunk
        evidence = (head, first_quoted) if first_quoted else (first_evidence,) * 2
        self._evidence_lines = evidence[0], evidence[1]
        return Content("\n").join(lines)

    def _chunks(self, width: int) -> Iterator[tuple[bool, list[Content]]]:
        expansion = self.expansion
        previous: date | None = None
        parts = (
            (False, expansion.events_before),
            (True, expansion.excerpt_events),
            (False, expansion.events_after),
        )
        for is_evidence, events in parts:
            if is_evidence and not events:
                line = Content.styled(f"  {UNREADABLE}", "italic $context")
                yield True, [line.truncate(width, ellipsis=True)]
            for event in events:
                day = calendar.local_day(event.timestamp, self.zone)
                if day != previous:
                    yield False, [self._day_line(day, event.timestamp, width)]
                previous = day
                yield is_evidence, self._event_lines(event, is_evidence, width)

    def _day_line(self, day: date, at: datetime, width: int) -> Content:
        age = date_format.near_age(at, self.now, self.zone)
        text = f"  {date_format.day(day)} · {age}"
        return Content.styled(text, "$context").truncate(width, ellipsis=True)

    def _event_lines(
        self, event: Event, is_evidence: bool, width: int
    ) -> list[Content]:
        bar = Content.styled(BAR, "$evidence") if is_evidence else Content("  ")
        time = date_format.clock(event.timestamp, self.zone)
        marks = self.marks[event.event_id] if is_evidence else None
        text = _event_text(event, marks)
        if not is_evidence:
            text = text.stylize_before("$context")
        style = "bold" if is_evidence else "$context"
        lines = beside(time, format.speaker(event), text, width, style)
        quote_bar = Content.styled(QUOTE_BAR, "$evidence")
        return [
            (quote_bar if has_style(line, MARKED) else bar) + line for line in lines
        ]


def scroll_to_evidence(pane: VerticalScroll) -> None:
    """Scroll the excerpt in a pane, if it has one, to what is quoted."""
    static = pane.query_one(Static)
    if isinstance(static.visual, SourceExcerpt) and static.content_size.width:
        head, line = static.visual.evidence_lines(static.content_size.width)
        top = line - pane.size.height // 3
        if line - head < pane.size.height * MAX_HEAD_SHARE:
            top = min(top, head)
        pane.scroll_to(y=top, animate=False)


def _event_text(event: Event, marks: SourceMarks | None) -> Content:
    whole = format.event_text(event)
    limit = EXCERPT_CHARS
    if marks is None and event.role in (EventRole.TOOL, EventRole.SYSTEM):
        limit = len("\n".join(whole[:TOOL_CHARS].split("\n")[:TOOL_LINES]))
    marks = marks or NO_MARKS
    excerpt = cut_excerpt(whole, next(iter(marks.quoted), None), limit)
    text = draw_excerpt(excerpt, marks, is_markdown=event.is_message)
    text = add_omissions(text, excerpt)
    if marks.has_changed:
        text = Content.styled(f"{TEXT_CHANGED}\n", "italic $context") + text
    return text
