"""The dialog that hands something over to another agent, as a context pack."""

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Input, OptionList, Static

from memtui.tools import handover, replies
from memtui.tui.screens.base import Dialog

CLIPBOARD, FILE = "to the clipboard", "to a file"


class Handover(NamedTuple):
    place: str
    """``CLIPBOARD``, ``FILE``, or the agent that is started."""
    tokens: int


class HandoverScreen(Dialog[Handover]):
    """Asks where to, and for how many tokens."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "submit", "hand over", key_display="enter", priority=True),
        Binding("down", "choose(1)", "choose", key_display="↑ ↓", priority=True),
        Binding("up", "choose(-1)", "previous", show=False, priority=True),
        Binding("escape", "leave", "back"),
    ]

    def __init__(self, places: Sequence[str]) -> None:
        super().__init__()
        self._places = places

    def compose_dialog(self) -> ComposeResult:
        with Vertical(id="handover"):
            yield Static("Hand over a context pack of at most so many tokens:")
            tokens = str(handover.TOKENS)
            yield Input(tokens, restrict="[0-9]*", max_length=6, compact=True)
            names = [
                name if name in (CLIPBOARD, FILE) else f"to a new session of {name}"
                for name in self._places
            ]
            yield OptionList(*names, markup=False)

    def on_mount(self) -> None:
        self.query_one(OptionList).can_focus = False

    def action_choose(self, step: int) -> None:
        places = self.query_one(OptionList)
        (places.action_cursor_down if step > 0 else places.action_cursor_up)()

    @on(Input.Submitted)
    @on(OptionList.OptionSelected)
    def give(self) -> None:
        typed = self.query_one(Input).value
        tokens = min(max(int(typed or 0), replies.MIN_TOKENS), replies.MAX_TOKENS)
        place = self.query_one(OptionList).highlighted or 0
        self.dismiss(Handover(self._places[place], tokens))
