"""Filtering: the agent, the project and the keyword that the whole app shows alone."""

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, OptionList, Static
from textual.worker import Worker, WorkerState

from memtui.model.scope import ALL, Scope
from memtui.services import browse
from memtui.services.browse import Parts
from memtui.tui import format
from memtui.tui.messages import PartsRead
from memtui.tui.screens.base import Dialog
from memtui.tui.widgets import part_list
from memtui.tui.widgets.part_list import PartList

CLEAR = "F"
"""The key that shows everything, while nothing is typed."""


READING = "Looking what there is…"


NOTHING = "Nothing is kept yet: there is nothing to choose."


class FilterInput(Input):
    """A line to type in; the key that opened it, pressed first, is no letter."""

    def check_consume_key(self, key: str, character: str | None) -> bool:
        """Whether a key is typed."""
        is_first = key == CLEAR and not self.value
        return not is_first and super().check_consume_key(key, character)


class FilterScreen(Dialog[Scope | None]):
    """Answers with what is to be shown, or nothing if that stays as it is."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "submit", "show it", key_display="enter", priority=True),
        Binding("tab", "add", "add it", priority=True),
        Binding("down", "choose(1)", "choose", key_display="↑ ↓", priority=True),
        Binding(CLEAR, "clear", "show all", key_display=CLEAR, priority=True),
        Binding("up", "choose(-1)", "before", show=False),
        Binding("escape", "leave", "back"),
    ]

    def __init__(self, scope: Scope) -> None:
        """Make the screen.

        Args:
            scope: What the app shows now.
        """
        super().__init__()
        self._current = self._draft = scope
        self._parts = Parts()

    def ask(self) -> ComposeResult:
        """What is chosen, a line to type in, and what can be chosen."""
        with Vertical(id="filter"):
            yield Static(id="chosen")
            yield FilterInput(
                placeholder="an agent, a project or a keyword", compact=True
            )
            yield PartList()
            yield Static(Content(READING), id="note")

    def on_mount(self) -> None:
        """Read what there is."""
        self.query_one(Input).focus()
        self._say_chosen()
        self.run_worker(self._read, thread=True, exit_on_error=False)

    def _read(self) -> None:
        self.post_message(PartsRead(browse.known()))

    @on(PartsRead)
    def show(self, message: PartsRead) -> None:
        """Show what there is."""
        self._parts = message.parts
        is_empty = not (message.parts.agents or message.parts.projects)
        self._note(NOTHING if is_empty else "")
        self._draw()

    @on(Worker.StateChanged)
    def say_why(self, event: Worker.StateChanged) -> None:
        """Say why that could not be read; what is typed can be chosen all the same."""
        if event.state is WorkerState.ERROR:
            reason = format.why(event.worker.error)
            self._note(f"What there is could not be read: {reason}")

    def _note(self, words: str) -> None:
        note = self.query_one("#note", Static)
        note.update(Content(words))
        note.display = bool(words)

    def _say_chosen(self) -> None:
        told = format.narrowed(self._draft)
        words = Content.assemble(("Show only  ", "bold"), (told, "$accent"))
        self.query_one("#chosen", Static).update(words)

    @property
    def _typed(self) -> str:
        return self.query_one(Input).value

    def _draw(self) -> None:
        found = part_list.choices(self._parts, self._typed, self._draft, self._current)
        self.query_one(PartList).show(found)

    @on(Input.Changed)
    def narrow_list(self) -> None:
        """Show what holds what is typed."""
        self.refresh_bindings()
        self._draw()

    @on(Input.Submitted)
    @on(OptionList.OptionSelected)
    def take(self, event: Input.Submitted | OptionList.OptionSelected) -> None:
        """Show what the cursor is on."""
        event.stop()
        chosen = self.query_one(PartList).chosen
        if chosen is not None:
            self.dismiss(chosen.scope)

    def action_add(self) -> None:
        """Choose what the cursor is on, and go on choosing."""
        chosen = self.query_one(PartList).chosen
        if chosen is None:
            return
        self._draft = chosen.scope
        self._say_chosen()
        with self.prevent(Input.Changed):
            self.query_one(Input).value = ""
        self._draw()

    def action_clear(self) -> None:
        """Show everything; where that is so already, there was nothing to clear."""
        if self._current.is_narrow:
            self.dismiss(ALL)

    def action_choose(self, step: int) -> None:
        """Move among the lines."""
        self.query_one(PartList).choose(step)

    def action_leave(self) -> None:
        """Leave it as it is."""
        self.dismiss(None)
