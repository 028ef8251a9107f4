"""The source of a bullet, or a message that was found, between what is around it."""

from collections.abc import Callable
from datetime import datetime, tzinfo
from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static
from textual.worker import Worker, WorkerState

from memtui.model.grips import Expansion
from memtui.model.verdicts import Support, Verdict
from memtui.services import sources
from memtui.tui import commands, format, workers
from memtui.tui.messages import SessionWanted, SourceRead, SourceWanted
from memtui.tui.widgets.detail_pane import DetailPane
from memtui.tui.widgets.pane_title import PaneTitle
from memtui.tui.widgets.results import JumpTarget
from memtui.tui.widgets.transcript import SourceExcerpt

STEP = 3
"""How many more or fewer events one key shows on each side."""


MOST = 60
"""The most events shown on each side."""


NOTHING_CHOSEN = "What a bullet rests on is shown here, word for word."


class SourcePane(Vertical):
    """Shows one grip at a time; reads it off the thread that draws."""

    BINDINGS: ClassVar[list[BindingType]] = commands.bindings(
        open="Read the session this source stands in, from there."
    )
    CALLED = "In the source"

    def __init__(self, zone: tzinfo, now: Callable[[], datetime], *, id: str) -> None:
        super().__init__(id=id)
        self.zone, self.now = zone, now
        self.expansion = Expansion()
        self._wanted: SourceWanted | None = None
        self._awaited: SourceWanted | None = None
        self._around = sources.BEFORE
        self._held: JumpTarget | None = None

    @property
    def shown_target(self) -> JumpTarget | None:
        """The message that was found and is shown; None for a bullet's source."""
        return self._held

    def compose(self) -> ComposeResult:
        """A title and the text under it."""
        yield PaneTitle("Source")
        with DetailPane():
            yield Static(Content.styled(NOTHING_CHOSEN, "$context"), id="transcript")

    def show_target(self, landing: JumpTarget) -> None:
        """Show a message that was found; no bullet's source takes its place unasked."""
        self.release_target()
        verdict = Verdict(Support.SUPPORTED, matched=landing.matched)
        event_id, excerpt = landing.event_id, landing.excerpt
        wanted = SourceWanted("", 0, 0, "", verdict, event_id=event_id, excerpt=excerpt)
        self.request(wanted)
        self._held = landing

    def release_target(self) -> bool:
        """Let any bullet's source take the place of a message that was found.

        Returns:
            Whether there was one.
        """
        was_held, self._held = self._held, None
        return was_held is not None

    def request(self, wanted: SourceWanted) -> None:
        """Show another source, or say why there is none.

        A message that was found stays until it is let go.
        """
        if self._held is not None:
            return
        self._wanted = wanted
        # What is still in sight is no longer what is cited or opened.
        self.expansion = Expansion()
        if wanted.grip_id or wanted.event_id:
            self._awaited = wanted
            self.set_timer(workers.SLOW_S, partial(self._say_slow, wanted))
            self._load()
            return
        self._awaited = None
        self.query_one(PaneTitle).say(_title(wanted))
        self._say(wanted.why_none)

    def _say_slow(self, wanted: SourceWanted) -> None:
        """Show no longer what was wanted before, if this is still to come."""
        if self._awaited is wanted:
            self.query_one(PaneTitle).say(_title(wanted))
            self._say("Reading…")

    def clear(self) -> None:
        """Show no source: no bullet is pointed at."""
        self.request(SourceWanted("", 0, 0, NOTHING_CHOSEN))

    def change_context(self, more: bool) -> None:
        """Show more or fewer events around the source."""
        if not self.expansion.excerpt_events:
            self.notify("There is no source here to show more around.", markup=False)
        elif more and self._all_is_shown():
            self.notify(
                "Nothing more was said within an hour of it in this session.",
                markup=False,
            )
        elif not more and self._around == 0:
            self.notify("Only the source itself is shown.", markup=False)
        else:
            step = STEP if more else -STEP
            self._around = min(MOST, max(0, self._around + step))
            self._load()

    def _all_is_shown(self) -> bool:
        around = len(self.expansion.events_before), len(self.expansion.events_after)
        return max(around) < self._around or self._around == MOST

    def _load(self) -> None:
        if self._wanted is None:
            return
        reading = partial(self._read, self._wanted, self._around)
        workers.ask(self, reading, "source")

    def _read(self, wanted: SourceWanted, context: int) -> None:
        around = {"before": context, "after": context}
        if wanted.event_id:
            found = sources.around(wanted.event_id, wanted.excerpt, **around)
        else:
            found = sources.expand(wanted.grip_id, **around)
        workers.tell(self, SourceRead(wanted, found))

    @on(SourceRead)
    def show(self, message: SourceRead) -> None:
        """Show the events, the evidence a third of the way down."""
        wanted = self._wanted
        if wanted is None or message.wanted is not wanted:
            return
        self._awaited = None
        self.expansion = message.expansion
        if not message.expansion.excerpt_events:
            self.query_one(PaneTitle).say(_title(wanted))
            self._say(
                "This source is no longer kept: the conversation it was taken from"
                " may have been deleted."
            )
            return
        self.query_one(PaneTitle).say(_title(wanted), self._whose())
        self.query_one("#transcript", Static).update(
            SourceExcerpt(message.expansion, self.zone, self.now(), wanted.verdict)
        )
        self.call_after_refresh(self._scroll_to_evidence)

    def _whose(self) -> str:
        session = self.expansion.session
        if session is None:
            return ""
        told = (session.agent, session.project, f"session {session.session_id[:8]}")
        return " · ".join(part for part in told if part)

    def _say(self, words: str) -> None:
        self.query_one("#transcript", Static).update(Content.styled(words, "$context"))
        self.query_one(DetailPane).scroll_home(animate=False)

    def on_resize(self) -> None:
        """Keep the evidence in sight where the lines break otherwise."""
        self.call_after_refresh(self._scroll_to_evidence)

    def _scroll_to_evidence(self) -> None:
        static, reader = (
            self.query_one("#transcript", Static),
            self.query_one(DetailPane),
        )
        if isinstance(static.visual, SourceExcerpt) and static.content_size.width:
            _, line = static.visual.lay_out(static.content_size.width)
            reader.scroll_to(y=line - reader.size.height // 3, animate=False)

    @on(Worker.StateChanged)
    def say_why(self, event: Worker.StateChanged) -> None:
        """Say why a source could not be read."""
        if event.state is WorkerState.ERROR:
            event.stop()
            self.expansion, self._awaited = Expansion(), None
            why = format.why(event.worker.error)
            self._say(f"This source could not be read: {why}\n{workers.TRIED_AGAIN}")
            self.set_timer(workers.AGAIN_S, partial(self._try_again, self._wanted))

    def _try_again(self, wanted: SourceWanted | None) -> None:
        if self._wanted is wanted:
            self._load()

    def action_open(self) -> None:
        """Read the session where the source stands in it."""
        session, own = self.expansion.session, self.expansion.excerpt_events
        if session is None or not own:
            self.notify("There is no source here to go to.", markup=False)
            return
        event, mine = own[0], (session.agent, session.session_id)
        named = {"event_id": event.event_id, "subagent": event.subagent}
        self.post_message(SessionWanted(*mine, **named))

    def citation(self) -> str:
        """The quote, its session, its time and its event; empty for no source."""
        grip, session = self.expansion.grip, self.expansion.session
        if grip is None or session is None:
            return ""
        at = grip.timestamp.astimezone(self.zone)
        where = (session.agent, session.project, f"session {session.session_id}")
        told = ", ".join(part for part in where if part)
        named = f"event {grip.event_id_start}"
        if grip.grip_id:
            named = f"{named}, {grip.grip_id}"
        return f"“{grip.excerpt}” — {told}, {at:%Y-%m-%d %H:%M} ({named})"


def _title(wanted: SourceWanted) -> str:
    """What a source is called: whose bullet's it is, and which of how many."""
    if wanted.event_id:
        return "What was said"
    if not wanted.bullet:
        return "Source"
    whose = f"Bullet {wanted.bullet}"
    if not wanted.among:
        return f"{whose}, no source"
    verdict = wanted.verdict
    is_said = verdict is None or verdict.support is not Support.UNSUPPORTED
    what = "source" if is_said else "closest words"
    return f"{whose}, {what} {wanted.place} of {wanted.among}"
