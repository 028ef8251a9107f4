"""The reader: one session, of any length, opened anywhere in it.

How it is read is in ``reading``, how it is laid out in ``laying``, and what is done
with a session beside that in ``deeds``.
"""

from collections.abc import Callable
from datetime import datetime, tzinfo
from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.events import DescendantFocus
from textual.widgets import Static

from memtui import commands
from memtui.memory.events import Place
from memtui.messages.house import WorkReported
from memtui.messages.reader import (
    CursorMoved,
    QuestionFound,
    TurnOpened,
    WordsAsked,
    WordsFound,
)
from memtui.messages.sessions import SessionWanted
from memtui.recall import conversation
from memtui.recall.conversation import Whose
from memtui.screens.layouts import LAYOUTS
from memtui.screens.reading import FIND, Reading, around
from memtui.widgets import threads, turn_lines
from memtui.widgets.find_line import FindLine
from memtui.widgets.key_line import KeyLine
from memtui.widgets.pane_title import PaneTitle
from memtui.widgets.status_line import StatusLine
from memtui.widgets.turn_view import Spot, TurnView


class ReaderScreen(Reading):
    """Shows a conversation; its transcript moves, and this reads for it."""

    AUTO_FOCUS = ""
    LEADS_BACK = True
    HORIZONTAL_BREAKPOINTS = LAYOUTS
    BINDINGS: ClassVar[list[BindingType]] = [
        *commands.bindings(
            "next_match", "previous_match", "next_question", "previous_question",
            "show_thinking", "see_place", "resume", "export", "edit",
            copy_citation="Copy what is said here, and where, to the clipboard.",
            fold="Fold or unfold this tool call or note.",
        ),
        *commands.bindings(
            in_footer=True,
            find_here="Find words in this session.",
            back="Stop finding, or leave the session.",
        ),
    ]  # fmt: skip

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
        super().__init__(whose, zone, now, event_id=event_id, is_demo=is_demo)
        self._left: tuple[Spot | None, frozenset[str]] = None, frozenset()

    def compose(self) -> ComposeResult:
        """The transcript, and under it the line to type in."""
        yield StatusLine(is_demo=self.is_demo)
        yield PaneTitle("Session")
        yield TurnView()
        yield Static(id="nothing", markup=False)
        yield FindLine()
        yield KeyLine()

    @property
    def here(self) -> SessionWanted:
        """What would open this conversation again at the message the cursor is on."""
        mine, turn = self.whose, self.view.pointed_at
        event_id = turn.event.event_id if turn else ""
        return SessionWanted(
            mine.agent, mine.session_id, event_id, subagent=mine.subagent
        )

    def on_mount(self) -> None:
        """Read what is known of the session, and its first stretch."""
        self.view.focus()
        # Not before it is known how wide the lines are.
        self.call_after_refresh(self._open)
        self.set_timer(threads.SLOW_S, self._say_slow)

    def _say_slow(self) -> None:
        if self.about is None and not self.has_class("-empty"):
            self.query_one(PaneTitle).measure = threads.READING

    # Folding and thinking

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
        self.tell(QuestionFound(found, step))

    @on(QuestionFound)
    def go_to_question(self, message: QuestionFound) -> None:
        """Go there."""
        if message.place is not None:
            self._go_to(message.place)
        else:
            which = "last" if message.step > 0 else "first"
            self.notify(f"This is the {which} thing you said here.", markup=False)

    def _go_to(self, place: Place) -> None:
        number = self.view.set_out()
        if not self.view.go_to(place):
            self.post_message(around(place, number))

    # Finding

    def action_find_here(self) -> None:
        """Type words to find in this session."""
        self._left = self.view.spot, frozenset(self._unfolded)
        self.app.clear_notifications()  # They would lie over what is found.
        self.set_class(True, "-finding")
        self._finding.ask()

    @on(WordsAsked)
    def find(self, message: WordsAsked) -> None:
        """Look for them in the whole session."""
        self.ask(partial(self._find, message.words), FIND)

    def _find(self, words: str) -> None:
        found = conversation.holding(self.whose, words) if words else ()
        self.tell(WordsFound(words, found))

    @on(WordsFound)
    def show_found(self, message: WordsFound) -> None:
        """Mark them, and go to the first from where one was."""
        finding = self._finding
        if not finding.takes(message.words, message.places):
            return
        spot, _ = self._left
        here = spot.cursor if spot else None
        self._return(finding.first(here) if finding.found else None)
        self.number()

    def _return(self, place: Place | None = None) -> None:
        """See all as it was when finding began, or a place from there."""
        spot, unfolded = self._left
        self._unfolded = {*unfolded}
        self._lay_anew()
        number = self.view.set_out()
        is_seen = spot is None or self.view.return_to(spot)
        if place is not None:
            self._go_to(place)
        elif spot is not None and not is_seen:
            self.post_message(around(spot.anchor[0], number, spot))

    def action_keep_words(self) -> None:
        """Go on from what is found; without words, look for nothing any more."""
        self._finding.look()
        if self._finding.typed:
            self.set_focus(self.view)
        else:
            self._let_go()

    def action_next_match(self) -> None:
        """Go to the next match."""
        self._step_match(1)

    def action_previous_match(self) -> None:
        """Go to the match before."""
        self._step_match(-1)

    def _step_match(self, by: int) -> None:
        here, finding = self.view.cursor, self._finding
        if finding.is_looking:
            self.notify("One moment: these words are being looked for.", markup=False)
        elif finding.words and not finding.found:
            self.notify("These words are nowhere in this session.", markup=False)
        elif not finding.found or here is None:
            self.notify("Look for something first: press /.", markup=False)
        elif place := finding.beyond(here, by):
            self._go_to(place)
            self._show_match()
        else:
            which = "last" if by > 0 else "first"
            self.notify(f"This is the {which} match.", markup=False)

    @on(CursorMoved)
    @on(DescendantFocus)
    def number(self) -> None:
        """Say which of the matches the cursor is on."""
        self._finding.number(self.view.cursor)

    def _let_go(self) -> None:
        """Look for nothing any more."""
        self.set_class(False, "-finding")
        self._finding.let_go()
        self._lay_anew()
        self.set_focus(self.view)

    # What changes by itself

    @on(WorkReported)
    def follow_work(self, message: WorkReported) -> None:
        """Say what the workers do, and look for what was said since."""
        self.query_one(StatusLine).say(message.progress)
        self.look_again()

    def read_anew(self) -> None:
        """Read what is new; what is jumped to comes first."""
        if self._is_jumping:
            self._is_due = True
        else:
            self.look_for_news()

    def action_back(self) -> None:
        """Stop finding, and be again where one was while typing; or leave."""
        if self.has_class("-finding"):
            if self._finding.is_typed_in:
                self._return()
            self._let_go()
        else:
            self.dismiss(None)
