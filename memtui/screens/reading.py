"""Reading a session for its transcript: which says what it lacks, and never waits.

All is read on threads, a stretch at a time; how it is laid out is in ``laying``.
"""

from collections.abc import Callable
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
    NewsRead,
    TurnsRead,
    TurnsWanted,
    Where,
)
from memtui.recall import conversation
from memtui.recall.conversation import (
    About,
    Forgotten,
    Measure,
    Shown,
    Stretch,
    Whose,
)
from memtui.screens.deeds import PLACE, WRITE
from memtui.screens.following import AGAIN
from memtui.screens.laying import Laying
from memtui.widgets import turn_reading, wording
from memtui.widgets.pane_title import PaneTitle
from memtui.widgets.turn_lines import Look
from memtui.widgets.turn_reading import Known
from memtui.widgets.turn_view import Spot
from memtui.widgets.turn_window import MOST

LIVE = timedelta(minutes=30)
"""A session that was heard of since is opened at its end: it may still go on."""

TURNS, MEASURE, NEWS, FIND = "turns", "measure", "news", "find"
"""What threads read; of each the last answer counts."""

EMPTY = "Nothing of this session is kept but its name."

GONE = "This session is no longer kept: it was forgotten meanwhile.\n\nesc goes back."


class Reading(Laying):
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
        self._total = 0
        self._is_jumping = False

    def _open(self) -> None:
        self._is_jumping = True
        self.ask(partial(self._begin, self._look()), TURNS)

    def _begin(self, look: Look) -> None:
        about = conversation.about(self.whose)
        self.tell(AboutRead(about))
        known = conversation.of_event(self._event_id) if self._event_id else None
        is_live = self.now() - about.session.updated_at < LIVE
        where = Where.END if is_live else Where.BEGINNING
        wanted = TurnsWanted(where) if known is None else around(known[1])
        self._load(wanted, look, frozenset())

    @on(TurnsWanted)
    def read(self, message: TurnsWanted) -> None:
        """Read what is lacking; what is jumped to comes before all else."""
        if self._is_jumping and not message.is_jump:
            return
        self._is_jumping = message.is_jump
        args = message, self._look(), frozenset(self._unfolded)
        self.ask(partial(self._load, *args), TURNS)

    def _load(self, wanted: TurnsWanted, look: Look, unfolded: frozenset[str]) -> None:
        stretch = turn_reading.stretch(self.whose, wanted)
        laid = turn_reading.lay(stretch.turns, look, unfolded)
        self.tell(TurnsRead(wanted, stretch, laid, look, unfolded))

    @on(TurnsRead)
    def show(self, message: TurnsRead) -> None:
        """Show what was read, if it still belongs there."""
        view, wanted = self.view, message.wanted
        turns = view.window.turns
        if wanted.is_jump:
            self._is_jumping = False
            is_there = wanted.followed_from in (None, view.cursor)
            if is_there and wanted.number == view.jumps:
                self._show_anew(message)
            else:
                view.missed(is_sought=True)
        elif not turns:
            return  # It is gone meanwhile.
        elif wanted.where is Where.BEFORE and turns[0].place == wanted.place:
            view.put_before(message.stretch, message.laid)
        elif wanted.where is Where.AFTER and turns[-1].place == wanted.place:
            view.put_behind(message.stretch, message.laid)
        self._catch_up(message.look, message.unfolded)
        self.set_class(not view.window.turns, "-empty")
        if not view.window.turns:
            self.say(Content(EMPTY))

    def _show_anew(self, message: TurnsRead) -> None:
        stretch, wanted = message.stretch, message.wanted
        place = wanted.place
        if wanted.where is Where.AROUND and place is None and stretch.turns:
            place = stretch.turns[len(stretch.turns) // 2].place
        guess = Measure(self._total, self._guess(wanted, stretch))
        self.view.show(stretch, message.laid, guess, place)
        if wanted.spot is not None:
            self.view.return_to(wanted.spot)
        self._show_match()
        self._ask_measure()

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

    def _ask_measure(self) -> None:
        turns = self.view.window.turns
        first = turns[0].place if turns else None
        self.ask(partial(self._measure, first), MEASURE)

    def _measure(self, place: Place | None) -> None:
        measure = conversation.measure(self.whose, place)
        self.tell(Measured(place, measure))

    @on(Measured)
    def take_measure(self, message: Measured) -> None:
        """Have the scrollbar say how long it is, and where this is."""
        self._total = message.measure.total
        self.view.measure(message.measure, message.place)

    @on(AboutRead)
    def entitle(self, message: AboutRead) -> None:
        """Say which session this is."""
        before, self.about = self.about, message.about
        self._total = self._total or message.about.session.event_count
        self._entitle(message.about)
        if before is not None and before.helpers != message.about.helpers:
            self._lay_anew()

    def _entitle(self, about: About) -> None:
        one = about.session
        title = one.title or "(without a title)"
        whose = f"subagent {self.whose.subagent}" if self.whose.subagent else ""
        said = wording.counted(one.message_count, "message") if not whose else ""
        hidden = "" if self._with_thoughts else " hidden: t"
        thoughts = wording.counted(about.thoughts, "thought") + hidden
        parts = [one.agent, one.project, said, thoughts if about.thoughts else ""]
        what = f"{whose} of {title}" if whose else title
        measure = " · ".join(part for part in parts if part)
        self.query_one(PaneTitle).say(what, measure)

    @on(Worker.StateChanged)
    def say_why(self, event: Worker.StateChanged) -> None:
        """Say why something could not be read or done."""
        if event.state is not WorkerState.ERROR:
            return
        error, group = event.worker.error, event.worker.group
        if group == TURNS:
            self._is_jumping = False
            self.view.missed()
        if group == FIND:
            self._finding.fail()
            self._lay_anew()
        if group in (PLACE, WRITE):
            self.notify(wording.why(error), severity="error", markup=False)
        elif isinstance(error, Forgotten):
            self.say(Content(GONE))
        elif not self.view.window.turns:
            why = f"✗ This session could not be read: {wording.why(error)}"
            self.say(Content.styled(why, "$error") + f"\n\n{AGAIN}")
            self.look_soon()
        elif group not in (NEWS, MEASURE):
            why = f"✗ Not read: {wording.why(error)}."
            self.notify(why, severity="error", markup=False)

    def say(self, words: Content) -> None:
        """Say why there is no transcript."""
        self.query_one("#nothing", Static).update(words)
        self.set_class(True, "-empty")

    # What is new

    def look_for_news(self) -> None:
        """Read what has come since, wherever it belongs."""
        window, here = self.view.window, self.view.here
        if here is None:
            self._open()
            return
        places = tuple(turn.place for turn in window.turns)
        shown = Shown(places, window.is_first, window.is_last)
        known = {
            turn.event.event_id: (turn, laid)
            for turn, laid in zip(window.turns, window.laid, strict=True)
        }
        args = window.edition, shown, here, known, self.about, self._look()
        self.ask(partial(self._load_news, *args, frozenset(self._unfolded)), NEWS)

    def _load_news(
        self,
        edition: int,
        shown: Shown,
        here: Place,
        known: Known,
        before: About | None,
        look: Look,
        unfolded: frozenset[str],
    ) -> None:
        about = conversation.about(self.whose)
        if about != before:
            self.tell(AboutRead(about))
        news = conversation.news(self.whose, shown, here, MOST)
        turns = news.stretch.turns if news else ()
        laid = turn_reading.lay(turns, look, unfolded, known)
        self.tell(NewsRead(edition, news, laid, look))

    @on(NewsRead)
    def show_news(self, message: NewsRead) -> None:
        """Show it, unless something else is shown meanwhile: then look again."""
        view, news = self.view, message.news
        if message.edition != view.window.edition:
            self.look_again()
        elif news is not None:
            put = view.put_anew if news.is_anew else view.put_behind
            put(news.stretch, message.laid)
            self._catch_up(message.look, frozenset(self._unfolded))
            self._ask_measure()


def around(place: Place, number: int = 0, spot: Spot | None = None) -> TurnsWanted:
    """What is wanted to go to a place, and to see it as it was."""
    return TurnsWanted(Where.AROUND, place, number=number, spot=spot)
