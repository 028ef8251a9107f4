"""Reading a session for its transcript: which says what it lacks, and never waits.

All is read and laid out on threads, a stretch at a time.
"""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta, tzinfo
from functools import partial

from textual import on
from textual.content import Content
from textual.widgets import Static
from textual.worker import Worker, WorkerState

from memtui.memory.events import Place
from memtui.messages.reader import (
    AboutRead,
    Measured,
    TurnsLaid,
    TurnsRead,
    TurnsWanted,
    ViewResized,
    Where,
)
from memtui.recall import conversation
from memtui.recall.conversation import About, Forgotten, Measure, Stretch, Turn, Whose
from memtui.screens.deeds import Deeds
from memtui.widgets import turn_lines, turn_reading, wording
from memtui.widgets.find_line import FindLine
from memtui.widgets.pane_title import PaneTitle
from memtui.widgets.turn_lines import Look

LIVE = timedelta(minutes=30)
"""A session that was heard of since is opened at its end: it may still go on."""

EMPTY = "Nothing of this session is kept but its name."

GONE = "This session is no longer kept: it was forgotten meanwhile.\n\nesc goes back."


class Reading(Deeds):
    """A screen that reads a session."""

    def __init__(
        self,
        whose: Whose,
        zone: tzinfo,
        now: Callable[[], datetime],
        *,
        event_id: str,
        is_demo: bool,
    ) -> None:
        super().__init__(whose, zone, now, is_demo=is_demo)
        self._event_id = event_id
        self._with_thoughts = False
        self._unfolded: set[str] = set()
        self._total = 0

    @property
    def _finding(self) -> FindLine:
        return self.query_one(FindLine)

    def _open(self) -> None:
        self.ask(partial(self._begin, self._look()), "turns")

    @on(ViewResized)
    def lay_out(self) -> None:
        """Lay out anew what is shown, at the new width."""
        if self.view.window.turns:
            self._lay_anew()

    # Reading

    def _look(self) -> Look:
        calls = tuple(
            (one.started_by, one.subagent)
            for one in (self.about.helpers if self.about else ())
            if one.started_by
        )
        width = self.view.width
        words = self._finding.words
        return Look(width, self.zone, self.now(), self._with_thoughts, words, calls)

    def _begin(self, look: Look) -> None:
        about = conversation.about(self.whose)
        self.post_message(AboutRead(about))
        known = conversation.of_event(self._event_id) if self._event_id else None
        is_live = self.now() - about.session.updated_at < LIVE
        where = Where.END if is_live else Where.BEGINNING
        wanted = TurnsWanted(where) if known is None else around(known[1])
        self._load(wanted, look, frozenset())

    @on(TurnsWanted)
    def read(self, message: TurnsWanted) -> None:
        """Read what is lacking."""
        args = message, self._look(), frozenset(self._unfolded)
        self.ask(partial(self._load, *args), "turns")

    def _load(self, wanted: TurnsWanted, look: Look, unfolded: frozenset[str]) -> None:
        stretch = turn_reading.stretch(self.whose, wanted)
        laid = turn_reading.lay(stretch.turns, look, unfolded)
        self.post_message(TurnsRead(wanted, stretch, laid, look))

    @on(TurnsRead)
    def show(self, message: TurnsRead) -> None:
        """Show what was read."""
        view, wanted = self.view, message.wanted
        turns = view.window.turns
        if wanted.where is Where.BEFORE:
            # Something else may be shown by now.
            if turns and turns[0].place == wanted.place:
                view.put_before(message.stretch, message.laid)
        elif wanted.where is Where.AFTER:
            if turns and turns[-1].place == wanted.place:
                view.put_behind(message.stretch, message.laid)
        else:
            self._show_anew(message)
        if message.look != self._look():
            self._lay_anew()
        if not view.window.turns:
            self.say(Content(EMPTY))

    def _show_anew(self, message: TurnsRead) -> None:
        stretch, wanted = message.stretch, message.wanted
        first = stretch.turns[0].place if stretch.turns else None
        place = wanted.place
        if wanted.where is Where.AROUND and place is None and stretch.turns:
            place = stretch.turns[len(stretch.turns) // 2].place
        guess = Measure(self._total, self._guess(wanted, stretch))
        self.view.show(stretch, message.laid, guess, place)
        self._show_match()
        self.ask(partial(self._measure, first), "measure")

    def _guess(self, wanted: TurnsWanted, stretch: Stretch) -> int:
        """About how many turns stand before a stretch, until they are counted."""
        if wanted.where is Where.END:
            return self._total - len(stretch.turns)
        if wanted.rank:
            return max(0, wanted.rank - len(stretch.turns) // 2)
        if self.about is None or not stretch.turns:
            return 0
        one = self.about.session
        lasted = one.updated_at - one.created_at
        since = stretch.turns[0].event.timestamp - one.created_at
        return round(self._total * (since / lasted)) if lasted else 0

    def _measure(self, place: Place | None) -> None:
        measure = conversation.measure(self.whose, place)
        self.post_message(Measured(place, measure))

    @on(Measured)
    def take_measure(self, message: Measured) -> None:
        """Have the scrollbar say how long it is, and where this is."""
        self._total = message.measure.total
        self.view.measure(message.measure, message.place)

    @on(AboutRead)
    def entitle(self, message: AboutRead) -> None:
        """Say which session this is."""
        self.about = message.about
        self._total = self._total or message.about.session.event_count
        self._entitle(message.about)

    def _entitle(self, about: About) -> None:
        one = about.session
        title = one.title or "(without a title)"
        whose = f"subagent {self.whose.subagent}" if self.whose.subagent else ""
        said = wording.counted(one.message_count, "message") if not whose else ""
        hidden = "" if self._with_thoughts else " hidden: t"
        thoughts = wording.counted(about.thoughts, "thought") + hidden
        parts = [one.agent, one.project, said, thoughts if about.thoughts else ""]
        what = f"{whose} of {title}" if whose else title
        room = max(20, self.size.width // 2)
        cut = Content(what).truncate(room, ellipsis=True).plain
        measure = " · ".join(part for part in parts if part)
        self.query_one(PaneTitle).say(cut, measure)

    @on(Worker.StateChanged)
    def say_why(self, event: Worker.StateChanged) -> None:
        """Say why something could not be read or done."""
        if event.state is not WorkerState.ERROR:
            return
        self.view.missed()
        error = event.worker.error
        if event.worker.group == "deed":
            self.notify(wording.why(error), severity="error", markup=False)
        elif isinstance(error, Forgotten):
            self.say(Content(GONE))
        else:
            why = f"✗ This session could not be read: {wording.why(error)}"
            then = "\n\nesc goes back; open it again to try once more."
            self.say(Content.styled(why, "$error") + then)

    def say(self, words: Content) -> None:
        """Say why there is no transcript."""
        self.query_one("#nothing", Static).update(words)
        self.set_class(True, "-empty")

    # How it is laid out

    def _lay_anew(self, event_ids: Sequence[str] = ()) -> None:
        """Lay out anew what is shown, or some of it."""
        turns = [
            turn
            for turn in self.view.window.turns
            if not event_ids or turn.event.event_id in event_ids
        ]
        args = turns, self._look(), frozenset(self._unfolded)
        group = "lay some" if event_ids else "lay"
        self.ask(partial(self._lay, *args), group)

    def _lay(self, turns: Sequence[Turn], look: Look, unfolded: frozenset[str]) -> None:
        names = [turn.event.event_id for turn in turns]
        laid = dict(zip(names, turn_reading.lay(turns, look, unfolded), strict=True))
        self.post_message(TurnsLaid(laid, look))

    @on(TurnsLaid)
    def show_laid(self, message: TurnsLaid) -> None:
        """Show it, unless it is to look otherwise by now."""
        if message.look == self._look():
            self.view.lay(message.laid)
            self._show_match()

    def _show_match(self) -> None:
        """Bring the words that were found on the cursor's turn into sight."""
        at = self.view.at
        if at is None:
            return
        turn, laid = self.view.window.turns[at], self.view.window.laid[at]
        if laid.found:
            self.view.go_to(turn.place, line=min(laid.found))
            return
        name = turn.event.event_id
        can_open = turn_lines.is_foldable(turn.event) and name not in self._unfolded
        if laid.is_found and can_open:
            self._unfolded.add(name)
            self._lay_anew([name])


def around(place: Place) -> TurnsWanted:
    """What is wanted to go to a place."""
    return TurnsWanted(Where.AROUND, place)
