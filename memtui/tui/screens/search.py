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

from memtui.search import combined
from memtui.services import browse
from memtui.tui import format
from memtui.tui.messages import Answered, LandingFound, PartsRead
from memtui.tui.screens.base import HEIGHTS, LAYOUTS
from memtui.tui.widgets import results, search_head
from memtui.tui.widgets.result_list import FoundList
from memtui.tui.widgets.results import Finder, Landing, Line, ResultSheet, View
from memtui.tui.widgets.search_head import FoundHead
from memtui.tui.workers import SLOW_S

KEPT = 100
"""How many questions are remembered."""


class SearchHistory:
    """The questions in their order, and which of the views was looked at last."""

    def __init__(self) -> None:
        self.view = View.ALL
        self.is_one_each = False
        """Whether of each session the best message alone is shown."""
        self._texts: list[str] = []
        self._at = 0
        self._draft = ""

    @property
    def last(self) -> str:
        """What was asked last; "" when nothing was."""
        return self._texts[-1] if self._texts else ""

    def keep(self, text: str) -> None:
        """Remember a question; one that is asked again moves to the end."""
        if text.strip():
            self._texts = [one for one in self._texts if one != text][1 - KEPT :]
            self._texts.append(text)
        self._at = len(self._texts)

    def step(self, by: int, typed: str) -> str:
        """The question before what is typed, or after it; what is typed at the ends.

        Args:
            by: -1 for the one before, 1 for the one after.
            typed: What stands there; it is there again after the last question.
        """
        if not 0 <= self._at < len(self._texts) or self._texts[self._at] != typed:
            known = typed in self._texts
            self._at = self._texts.index(typed) if known else len(self._texts)
            self._draft = "" if known else typed
        self._at = min(max(self._at + by, 0), len(self._texts))
        ahead = [*self._texts, self._draft]
        return ahead[self._at]


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
        asked: SearchHistory,
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
        self.sheet = ResultSheet()
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
            yield Static(search_head.HowToAsk(), id="how")
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
        self.post_message(PartsRead(browse.known()))

    @on(PartsRead)
    def complete_with(self, message: PartsRead) -> None:
        """Complete the names of what there is; where nothing is, say what to do."""
        self._head.suggester.know(message.parts)
        if not message.parts.agents:
            self.query_one("#how", Static).update(NOTHING)

    def _say_view(self) -> None:
        self._head.say_view(self.view)
        keys = search_head.keys(self.view, is_one_each=self._asked.is_one_each)
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
            self._show(ResultSheet(), [])
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
        sheet = results.of(self._finders[view](asked))
        self.post_message(Answered(view, asked, sheet))

    @on(Answered)
    def show_answer(self, message: Answered) -> None:
        """Show what was found, unless something else has been asked since."""
        if self._is_answered(message.view, message.asked):
            asked, sheet = message.asked, message.sheet
            notes = search_head.notes(sheet, asked, message.view, self._zone)
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

    def _show(self, sheet: ResultSheet, notes: list[str]) -> None:
        self.sheet = sheet
        self._list.show(sheet, self._now())
        is_unasked = not self._typed.strip()
        whole = self.query_one("#teleport")
        whole.set_class(bool(sheet.lines), "-found").set_class(is_unasked, "-unasked")
        self._head.say_measure("" if is_unasked else search_head.measure(sheet))
        self._note(notes)
        if sheet.is_passing:
            self.set_timer(AGAIN_S, partial(self._ask_again, sheet))
        if self._goes_on_answer:
            self._goes_on_answer = False
            self._go_to(0)

    def _ask_again(self, sheet: ResultSheet) -> None:
        """Ask once more, unless the reader has gone on since."""
        if self.sheet is sheet and not self.is_waiting and not self._list.highlighted:
            self._ask()

    def _note(self, sentences: list[str]) -> None:
        note = self.query_one("#note", Static)
        most = search_head.MOST_NOTES if self.lines else search_head.MOST_ALONE
        note.update(search_head.Notes(sentences, most))
        note.display = bool(sentences)

    @on(Worker.StateChanged)
    def say_why(self, event: Worker.StateChanged) -> None:
        """Say why the question could not be answered."""
        if event.state is not WorkerState.ERROR:
            return
        reason = format.why(event.worker.error)
        if event.worker.group == ASKED and self._asking is not None:
            if self._is_answered(*self._asking):
                failed = f"The search failed: {reason}."
                self._show(
                    ResultSheet(), [f"{failed} The contents are still there: esc."]
                )
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
            self._note([search_head.OF_MESSAGES])
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
        self.post_message(LandingFound(landing, combined.node_at(*place)))

    @on(LandingFound)
    def arrive(self, message: LandingFound) -> None:
        """Go there, or say that the contents do not reach so far yet."""
        if message.landing is not self._wanted:
            return  # Another line was chosen meanwhile.
        if message.node_id:
            self._leave(replace(message.landing, node_id=message.node_id))
        else:
            self._note([search_head.NOT_THERE_YET])

    def action_leave(self) -> None:
        """Go back to where the reader was."""
        self._leave(None)

    def _leave(self, landing: Landing | None) -> None:
        self._asked.keep(self._typed)
        self.dismiss(landing)
