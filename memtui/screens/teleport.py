"""The search bar: a few words, and the moments they belong to as they are typed.

One question is asked at a time, on a thread; what is typed meanwhile is asked next.
An answer is shown only while its own words stand there, in the view it belongs to.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, tzinfo
from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.timer import Timer
from textual.widgets import Input, OptionList, Static
from textual.worker import Worker, WorkerState

from memtui.messages.found import Answered, LandingFound
from memtui.messages.narrowing import PartsRead
from memtui.recall import landing as landings
from memtui.recall import parts
from memtui.screens.asked import Asked
from memtui.screens.layouts import HEIGHTS, LAYOUTS
from memtui.widgets import found_lines, found_words, wording
from memtui.widgets.found_head import FoundHead
from memtui.widgets.found_lines import Finder, Landing, Line, Sheet, View
from memtui.widgets.found_list import FoundList
from memtui.widgets.threads import SLOW_S

PAUSE_S = 0.03
"""How long typing must rest before the question is asked, in seconds."""

AGAIN_S = 2.0
"""How soon it is asked again what was not answered, or without an index, in seconds."""

NOTHING = (
    "Nothing is kept yet: there is nothing to find.\n\n"
    "Press esc and then i to import what agents keep on this machine."
)

ASKED, LANDING = "teleport", "landing"
"""The groups of the workers that answer, and that look where a line leads."""


class TeleportScreen(ModalScreen[Landing | None]):
    """Lies over the screen below, which stays as it was unless a line is chosen.

    Answers with where that leads.
    """

    HORIZONTAL_BREAKPOINTS, VERTICAL_BREAKPOINTS = LAYOUTS, HEIGHTS
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "back", show=False),
        Binding("down", "choose(1)", "next hit", show=False),
        Binding("up", "choose(-1)", "hit before", show=False),
        Binding("pagedown", "page(1)", "page down", show=False),
        Binding("pageup", "page(-1)", "page up", show=False),
        Binding("tab", "turn(1)", "next view", show=False),
        Binding("shift+tab", "turn(-1)", "view before", show=False),
        Binding("alt+up,ctrl+up", "recall(-1)", "asked before", show=False),
        Binding("alt+down,ctrl+down", "recall(1)", "asked after", show=False),
        Binding("ctrl+o", "turn_hits", "one or many of a session", show=False),
        Binding("ctrl+s", "take_suggestion", "take the suggestion", show=False),
    ]

    def __init__(
        self,
        finders: Mapping[View, Finder],
        zone: tzinfo,
        now: Callable[[], datetime],
        asked: Asked,
    ) -> None:
        """Take who answers.

        Args:
            finders: By view, at least one.
            zone: The store's time zone.
            now: The clock.
            asked: What was asked before; what is asked here is added to it.
        """
        super().__init__()
        self._finders, self._zone, self._now = finders, zone, now
        self._asked = asked
        known = [view for view in View if view in finders]
        self.view = asked.view if asked.view in known else known[0]
        self._views = known
        self.sheet = Sheet()
        self._pause: Timer | None = None
        self._asking: tuple[View, str] | None = None
        self._goes_on_answer = False
        self._wanted: Landing | None = None

    @property
    def lines(self) -> tuple[Line, ...]:
        """What is shown as found, the best first."""
        return self.sheet.lines

    @property
    def is_waiting(self) -> bool:
        """Whether what is shown is not yet the answer to what is typed."""
        return self._pause is not None or self._asking is not None

    def compose(self) -> ComposeResult:
        """A line to type in, and what is found under it."""
        with Vertical(id="teleport", classes="" if self._asked.last else "-unasked"):
            yield FoundHead(self._asked.last, self._views)
            yield FoundList(self._zone)
            yield Static(found_words.HowToAsk(), id="how")
            yield Static("", id="note", markup=False)
        yield Static(id="keys", markup=False)

    def on_mount(self) -> None:
        """Have the focus where one types."""
        self.query_one(Input).focus()
        self._say_view()
        self.run_worker(self._warm_up, thread=True, exit_on_error=False)
        self.run_worker(self._read_parts, thread=True, exit_on_error=False)

    def _warm_up(self) -> None:
        """Have the index opened while the first letters are typed."""
        self._finders[self.view]("memtui ")

    def _read_parts(self) -> None:
        self.post_message(PartsRead(parts.known()))

    @on(PartsRead)
    def complete_with(self, message: PartsRead) -> None:
        """Complete the names of what there is; where nothing is, say what to do."""
        self._head.suggester.know(message.parts)
        if not message.parts.agents:
            self.query_one("#how", Static).update(NOTHING)

    def _say_view(self) -> None:
        self._head.say_view(self.view)
        keys = found_words.keys(self.view, is_one_each=self._asked.is_one_each)
        self.query_one("#keys", Static).update(keys)

    @property
    def _list(self) -> FoundList:
        return self.query_one(FoundList)

    @property
    def _head(self) -> FoundHead:
        return self.query_one(FoundHead)

    @property
    def _typed(self) -> str:
        return self._head.typed

    # Asking

    @on(Input.Changed)
    def wait(self) -> None:
        """Ask when typing rests for a moment."""
        self._goes_on_answer = False
        self._stop_waiting()
        self._pause = self.set_timer(PAUSE_S, self._ask)

    def _stop_waiting(self) -> None:
        if self._pause is not None:
            self._pause.stop()
            self._pause = None

    def _ask(self) -> None:
        """Ask what is typed, unless something is being asked: that asks again."""
        self._stop_waiting()
        if not self._typed.strip():
            self._show(Sheet(), [])
        elif self._asking is None:
            asking = self._asking = self.view, self._typed
            self.set_timer(SLOW_S, partial(self._say_slow, asking))
            self.run_worker(
                partial(self._find, *asking),
                group=ASKED,
                thread=True,
                exit_on_error=False,
            )

    def _say_slow(self, asking: tuple[View, str]) -> None:
        """Say that the answer is still to come, if it is."""
        if self._asking is asking:
            self._head.say_measure("looking…")

    def _find(self, view: View, asked: str) -> None:
        sheet = found_lines.of(self._finders[view](asked))
        self.post_message(Answered(view, asked, sheet))

    @on(Answered)
    def show_answer(self, message: Answered) -> None:
        """Show what was found, unless something else has been asked since."""
        if self._is_answered(message.view, message.asked):
            asked, sheet = message.asked, message.sheet
            notes = found_words.notes(sheet, asked, message.view, self._zone)
            self._show(sheet, notes)

    def _is_answered(self, view: View, asked: str) -> bool:
        """Whether that is what stands there; what has been typed since is asked."""
        if (view, asked) == self._asking:
            self._asking = None
        if (view, asked) == (self.view, self._typed):
            return True
        if self._asking is None and self._pause is None:
            self._ask()
        return False

    def _show(self, sheet: Sheet, notes: list[str]) -> None:
        self.sheet = sheet
        self._list.show(sheet, self._now())
        is_unasked = not self._typed.strip()
        whole = self.query_one("#teleport")
        whole.set_class(bool(sheet.lines), "-found").set_class(is_unasked, "-unasked")
        self._head.say_measure("" if is_unasked else found_words.measure(sheet))
        self._note(notes)
        if sheet.is_passing:
            self.set_timer(AGAIN_S, partial(self._ask_again, sheet))
        if self._goes_on_answer:
            self._goes_on_answer = False
            self._go_to(0)

    def _ask_again(self, sheet: Sheet) -> None:
        """Ask once more, unless the reader has gone on since."""
        if self.sheet is sheet and not self.is_waiting and not self._list.highlighted:
            self._ask()

    def _note(self, sentences: list[str]) -> None:
        note = self.query_one("#note", Static)
        most = found_words.MOST_NOTES if self.lines else found_words.MOST_ALONE
        note.update(found_words.Notes(sentences, most))
        note.display = bool(sentences)

    @on(Worker.StateChanged)
    def say_why(self, event: Worker.StateChanged) -> None:
        """Say why the question could not be answered."""
        if event.state is not WorkerState.ERROR:
            return
        reason = wording.why(event.worker.error)
        if event.worker.group == ASKED and self._asking is not None:
            if self._is_answered(*self._asking):
                failed = f"The search failed: {reason}."
                self._show(Sheet(), [f"{failed} The contents are still there: esc."])
                self._head.say_measure("")  # Nothing is known of hits.
                self.set_timer(AGAIN_S, partial(self._ask_again, self.sheet))
        elif event.worker.group == LANDING:
            self._note([f"This could not be opened: {reason}"])

    # From view to view, and to what was asked before

    def action_turn(self, step: int) -> None:
        """Look through something else for the same words."""
        place = self._views.index(self.view) + step
        self.view = self._asked.view = self._views[place % len(self._views)]
        self._goes_on_answer = False
        self._say_view()
        self._ask()

    def action_turn_hits(self) -> None:
        """Show the best message of each session alone, or all that answer."""
        if self.view is not View.MESSAGES:
            self._note([found_words.OF_MESSAGES])
            return
        self._asked.is_one_each = not self._asked.is_one_each
        self._asking = None  # What is on its way answers another question.
        self._say_view()
        self._ask()

    def action_recall(self, step: int) -> None:
        """Type what was asked before, or after."""
        self._head.type(self._asked.step(step, self._typed))

    def action_take_suggestion(self) -> None:
        """Type what was probably meant."""
        if self.sheet.suggestion:
            self._head.type(self.sheet.suggestion)

    # Choosing

    def action_choose(self, step: int) -> None:
        """Move among the lines."""
        self._list.choose(step)

    def action_page(self, step: int) -> None:
        """Move a page among the lines."""
        self._list.turn_page(step)

    @on(Input.Submitted)
    def go(self, event: Input.Submitted) -> None:
        """Go where the cursor is, or to the best as soon as it is found."""
        event.stop()
        if self.is_waiting:
            self._goes_on_answer = True
        else:
            self._go_to(self._list.highlighted or 0)

    @on(OptionList.OptionSelected)
    def go_to_clicked(self, event: OptionList.OptionSelected) -> None:
        """Go to the line that is clicked."""
        event.stop()
        self._go_to(event.option_index)

    def _go_to(self, place: int) -> None:
        if place >= len(self.lines):
            return
        landing = self._wanted = self.lines[place].landing
        if landing.node_id:
            self._leave(landing)
            return
        self.run_worker(
            partial(self._look_up, landing),
            group=LANDING,
            thread=True,
            exclusive=True,
            exit_on_error=False,
        )

    def _look_up(self, landing: Landing) -> None:
        place = landing.agent, landing.session_id, landing.at
        self.post_message(LandingFound(landing, landings.node_at(*place)))

    @on(LandingFound)
    def arrive(self, message: LandingFound) -> None:
        """Go there, or say that the contents do not reach so far yet."""
        if message.landing is not self._wanted:
            return  # Another line was chosen meanwhile.
        if message.node_id:
            self._leave(replace(message.landing, node_id=message.node_id))
        else:
            self._note([found_words.NOT_THERE_YET])

    def action_leave(self) -> None:
        """Go back to where the reader was."""
        self._leave(None)

    def _leave(self, landing: Landing | None) -> None:
        self._asked.keep(self._typed)
        self.dismiss(landing)
