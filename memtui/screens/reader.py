"""The reader: one session, of any length, opened anywhere in it.

All is read and laid out on threads, a stretch at a time; the transcript says what it
lacks. What is done with a session, beside reading it, is in ``deeds``.
"""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta, tzinfo
from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.widgets import Footer, Static
from textual.worker import Worker, WorkerState

from memtui import commands
from memtui.memory.events import Place
from memtui.messages.house import WorkReported
from memtui.messages.reader import (
    AboutRead,
    CursorMoved,
    Measured,
    QuestionFound,
    TurnOpened,
    TurnsLaid,
    TurnsRead,
    TurnsWanted,
    ViewResized,
    Where,
    WordsAsked,
    WordsFound,
)
from memtui.messages.sessions import SessionWanted
from memtui.recall import conversation
from memtui.recall.conversation import About, Forgotten, Measure, Stretch, Turn, Whose
from memtui.screens.deeds import Deeds
from memtui.screens.layouts import LAYOUTS
from memtui.widgets import turn_lines, turn_reading, wording
from memtui.widgets.find_line import FindLine
from memtui.widgets.pane_title import PaneTitle
from memtui.widgets.status_line import StatusLine
from memtui.widgets.turn_lines import Look
from memtui.widgets.turn_view import TurnView

LIVE = timedelta(minutes=30)
"""A session that was heard of since is opened at its end: it may still go on."""

REST_S = 1.0
"""How long the transcript rests before new messages are looked for, in seconds."""

EMPTY = "Nothing of this session is kept but its name."

GONE = "This session is no longer kept: it was forgotten meanwhile.\n\nesc goes back."


class ReaderScreen(Deeds):
    """Shows a conversation; its transcript moves, and this reads for it."""

    AUTO_FOCUS = ""
    HORIZONTAL_BREAKPOINTS = LAYOUTS
    BINDINGS: ClassVar[list[BindingType]] = commands.bindings(
        "find_here", "next_match", "previous_match", "next_question",
        "previous_question", "fold", "show_thinking", "see_place", "copy_citation",
        "resume", "export", "edit", "back",
    )  # fmt: skip

    def __init__(
        self,
        whose: Whose,
        zone: tzinfo,
        now: Callable[[], datetime],
        *,
        event_id: str = "",
        is_demo: bool = False,
    ) -> None:
        """Make the screen.

        Args:
            whose: Which conversation.
            zone: The store's time zone.
            now: The time, aware.
            event_id: At which event it is opened; at its beginning if empty, or at
                its end while it goes on.
            is_demo: Whether this is the made-up memory.
        """
        super().__init__(whose, zone, now, is_demo=is_demo)
        self._event_id = event_id
        self._with_thoughts = False
        self._unfolded: set[str] = set()
        self._total = 0
        self._is_due = self._rests = False

    def compose(self) -> ComposeResult:
        """The transcript, and under it the line to type in."""
        yield StatusLine(is_demo=self.is_demo)
        yield PaneTitle("Session")
        yield TurnView()
        yield Static(id="nothing", markup=False)
        yield FindLine()
        yield Footer(show_command_palette=False, compact=True)

    @property
    def _finding(self) -> FindLine:
        return self.query_one(FindLine)

    def on_mount(self) -> None:
        """Read what is known of the session, and its first stretch."""
        self.view.focus()
        # Not before it is known how wide the lines are.
        self.call_after_refresh(self._open)

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
        wanted = TurnsWanted(where) if known is None else _around(known[1])
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

    def action_fold(self) -> None:
        """Fold or unfold what the cursor is on."""
        turn = self.view.pointed_at
        if turn is None or not turn_lines.is_foldable(turn.event):
            self.notify("Tool calls and notes can be folded, not this.", markup=False)
            return
        self._unfolded ^= {turn.event.event_id}
        self._lay_anew([turn.event.event_id])

    @on(TurnOpened)
    def open_turn(self) -> None:
        """Go to the subagent that was started here, or unfold."""
        turn = self.view.pointed_at
        calls = dict(self._look().subagents)
        name = turn and calls.get(turn.event.metadata.get("tool_use_id", ""))
        if name:
            mine = self.whose
            wanted = SessionWanted(mine.agent, mine.session_id, subagent=name)
            self.post_message(wanted)
        else:
            self.action_fold()

    def action_show_thinking(self) -> None:
        """Show what the model thought, or hide it again."""
        if self.about is None or not self.about.thoughts:
            self.notify("No thinking of this session is kept.", markup=False)
            return
        self._with_thoughts = not self._with_thoughts
        self._entitle(self.about)
        self._lay_anew()

    # From question to question

    def action_next_question(self) -> None:
        """Go to the next thing you said."""
        self._seek(1)

    def action_previous_question(self) -> None:
        """Go to what you said before."""
        self._seek(-1)

    def _seek(self, step: int) -> None:
        if self.view.cursor is not None:
            self.ask(partial(self._find_question, self.view.cursor, step), "question")

    def _find_question(self, place: Place, step: int) -> None:
        found = conversation.question(self.whose, place, step)
        self.post_message(QuestionFound(found, step))

    @on(QuestionFound)
    def go_to_question(self, message: QuestionFound) -> None:
        """Go there."""
        if message.place is not None:
            self._go_to(message.place)
        else:
            which = "last" if message.step > 0 else "first"
            self.notify(f"This is the {which} thing you said here.", markup=False)

    def _go_to(self, place: Place) -> None:
        if not self.view.go_to(place):
            self.post_message(_around(place))

    # Finding

    def action_find_here(self) -> None:
        """Type words to find in this session."""
        self.set_class(True, "-finding")
        self._finding.ask()

    @on(WordsAsked)
    def find(self, message: WordsAsked) -> None:
        """Look for them in the whole session."""
        self.view.focus()
        if message.words:
            self.ask(partial(self._find, message.words), "find")
        else:
            self._let_go()

    def _find(self, words: str) -> None:
        self.post_message(WordsFound(words, conversation.holding(self.whose, words)))

    @on(WordsFound)
    def show_found(self, message: WordsFound) -> None:
        """Mark them, and go to the first from here on."""
        finding = self._finding
        finding.show(message.words, message.places)
        self._lay_anew()
        if finding.found:
            self._go_to(finding.first(self.view.cursor))
            self.number()

    def action_next_match(self) -> None:
        """Go to the next match."""
        self._step_match(1)

    def action_previous_match(self) -> None:
        """Go to the match before."""
        self._step_match(-1)

    def _step_match(self, by: int) -> None:
        here, finding = self.view.cursor, self._finding
        if not finding.found or here is None:
            self.notify("Look for something first: press /.", markup=False)
        elif place := finding.beyond(here, by):
            self._go_to(place)
            self._show_match()
        else:
            which = "last" if by > 0 else "first"
            self.notify(f"This is the {which} match.", markup=False)

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

    @on(CursorMoved)
    def number(self) -> None:
        """Say which of the matches the cursor is on."""
        self._finding.number(self.view.cursor)

    def _let_go(self) -> None:
        """Look for nothing any more."""
        self.set_class(False, "-finding")
        self._finding.let_go()
        self._lay_anew()
        self.view.focus()

    # What changes by itself

    @on(WorkReported)
    def follow_work(self, message: WorkReported) -> None:
        """Say what the workers do, and look for what was said since."""
        self.query_one(StatusLine).say(message.progress)
        self._is_due = True
        self._look_again()

    def _look_again(self) -> None:
        if self._is_due and not self._rests:
            self._is_due, self._rests = False, True
            window = self.view.window
            if window.turns and window.is_last:
                self.post_message(TurnsWanted(Where.AFTER, window.turns[-1].place))
            self.set_timer(REST_S, self._rested)

    def _rested(self) -> None:
        self._rests = False
        self._look_again()

    def action_back(self) -> None:
        """Stop finding, or leave."""
        if self.has_class("-finding"):
            self._let_go()
        else:
            self.dismiss(None)


def _around(place: Place) -> TurnsWanted:
    return TurnsWanted(Where.AROUND, place)
