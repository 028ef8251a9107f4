"""The teleport: a few words, and the moments they belong to as they are typed."""

from collections.abc import Sequence
from datetime import tzinfo
from functools import partial
from typing import ClassVar, Protocol

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.timer import Timer
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option
from textual.worker import Worker, WorkerState

from memtui.memory.hits import Answer, Hit, HitKind
from memtui.memory.toc import TocLevel
from memtui.messages import Answered
from memtui.screens.layouts import LAYOUTS
from memtui.widgets import wording
from memtui.widgets.hanging import Hanging

PAUSE_S = 0.03
"""How long typing must rest before the question is asked, in seconds."""

HOW_TO_ASK = 'Words, "a phrase", or the beginning of a word: refr*'
ASKED = "teleport"
"""The group of the workers that answer."""

DIM = "$context"
KEYS = "↓ ↑ choose   enter go there   esc back"


class Finder(Protocol):
    """Who answers: ``recall.teleport.Teleport``."""

    def find(self, query: str) -> Answer:
        """The best hits of a query."""
        ...


class TeleportScreen(ModalScreen[tuple[str, Hit | None]]):
    """Lies over the screen below, which stays as it was unless a hit is chosen.

    Answers with what was typed, and the hit if one was chosen.
    """

    HORIZONTAL_BREAKPOINTS = LAYOUTS
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "back", show=False),
        Binding("down", "choose(1)", "next hit", show=False),
        Binding("up", "choose(-1)", "hit before", show=False),
        Binding("pagedown", "page(1)", "page down", show=False),
        Binding("pageup", "page(-1)", "page up", show=False),
    ]

    def __init__(self, finder: Finder, zone: tzinfo, query: str) -> None:
        super().__init__()
        self._finder, self._zone, self._first_query = finder, zone, query
        self.hits: tuple[Hit, ...] = ()
        self.is_waiting = False
        self._pause: Timer | None = None

    def compose(self) -> ComposeResult:
        """A line to type in, and the hits under it."""
        with Vertical(id="teleport"):
            with Horizontal(id="asking"):
                yield Static("/", id="slash")
                yield Input(
                    self._first_query,
                    placeholder="teleport",
                    compact=True,
                    select_on_focus=True,
                    id="query",
                )
                yield Static("", id="measure", markup=False)
            yield OptionList(id="hits", markup=False)
            yield Static(HOW_TO_ASK, id="note", markup=False)
            yield Static(KEYS, id="keys", markup=False)

    def on_mount(self) -> None:
        """Leave the focus where one types, whatever is clicked."""
        self._list.can_focus = False
        self.query_one(Input).focus()
        self.run_worker(self._warm_up, thread=True, exit_on_error=False)

    def _warm_up(self) -> None:
        """Have the index opened while the first letters are typed."""
        self._finder.find("a")

    @property
    def _list(self) -> OptionList:
        return self.query_one("#hits", OptionList)

    @property
    def _typed(self) -> str:
        return self.query_one(Input).value

    # Asking

    @on(Input.Changed)
    def wait(self) -> None:
        """Ask when typing rests for a moment."""
        if self._pause is not None:
            self._pause.stop()
        self.is_waiting = True
        self._pause = self.set_timer(PAUSE_S, self._ask)

    def _ask(self) -> None:
        self.is_waiting = False
        asked = self._typed
        if not asked.strip():
            self._show((), "", HOW_TO_ASK)
            return
        self.run_worker(
            partial(self._find, asked),
            group=ASKED,
            thread=True,
            exclusive=True,
            exit_on_error=False,
        )

    def _find(self, asked: str) -> None:
        self.post_message(Answered(asked, self._finder.find(asked)))

    @on(Answered)
    def show_answer(self, message: Answered) -> None:
        """Show the hits, unless something else has been typed since."""
        if message.asked != self._typed:
            return
        answer = message.answer
        measure = (
            f"{wording.counted(len(answer.hits), 'hit')} · {answer.took_ms:.0f} ms"
        )
        note = answer.note
        if not answer.hits and not note:
            note = (
                f"Nothing found for “{message.asked.strip()}”."
                " Try fewer words, or the beginning of one: refr*"
            )
        self._show(answer.hits, measure, note)

    def _show(self, hits: tuple[Hit, ...], measure: str, note: str) -> None:
        self.hits = hits
        self._list.set_options([Option(_row(hit, self._zone)) for hit in hits])
        self.query_one("#teleport").set_class(bool(hits), "-found")
        if hits:
            self._list.highlighted = 0
        self.query_one("#measure", Static).update(Content(measure))
        self.query_one("#note", Static).update(Content(note))
        self.query_one("#note", Static).display = bool(note)

    @on(Worker.StateChanged)
    def say_why(self, event: Worker.StateChanged) -> None:
        """Say why the question could not be answered."""
        asked = event.worker.group == ASKED
        if event.state is WorkerState.ERROR and asked:
            reason = wording.why(event.worker.error)
            self._show(
                (),
                "",
                f"The search failed: {reason}. The contents are still there: esc.",
            )

    # Choosing

    def action_choose(self, step: int) -> None:
        """Move among the hits."""
        if self.hits:
            here = self._list.highlighted or 0
            self._list.highlighted = (here + step) % len(self.hits)

    def action_page(self, step: int) -> None:
        """Move a page among the hits."""
        self.call_later(self._list.run_action, "page_down" if step > 0 else "page_up")

    @on(Input.Submitted)
    @on(OptionList.OptionSelected)
    def go(self, event: Input.Submitted | OptionList.OptionSelected) -> None:
        """Go to the hit the cursor is on, or the one clicked."""
        event.stop()
        place = self._list.highlighted
        if isinstance(event, OptionList.OptionSelected):
            place = event.option_index
        if place is not None and place < len(self.hits):
            self.dismiss((self._typed, self.hits[place]))

    def action_leave(self) -> None:
        """Go back to where the reader was."""
        self.dismiss((self._typed, None))


def _row(hit: Hit, zone: tzinfo) -> Hanging:
    at = hit.at.astimezone(zone)
    when = wording.short_day(at.date())
    if hit.level is TocLevel.SEGMENT:
        when = f"{when} {at:%H:%M}"
    kind = "source" if hit.kind is HitKind.GRIP else hit.level.value
    title, snippet = _flat(hit.title), _flat(hit.snippet.text)
    said = Content.styled(title, "bold")
    place = " · ".join(filter(None, (when, hit.project)))
    under = [Content.styled(place, DIM)]
    if snippet == title:
        said = _marked(title, hit.snippet.marks).stylize_before("bold")
    elif snippet:
        under.append(Content("“") + _marked(snippet, hit.snippet.marks) + Content("”"))
    end = Content.styled(f"{wording.fit(hit.score)} · {kind}", DIM)
    return Hanging(Content(""), said, end, under)


def _flat(text: str) -> str:
    return text.replace("\n", " ").replace("\t", " ")


def _marked(text: str, marks: Sequence[tuple[int, int]]) -> Content:
    marked = Content(text)
    for start, end in marks:
        marked = marked.stylize("bold $evidence", start, end)
    return marked
