"""The line at the bottom of the reader that finds words in a session.

The whole session is searched as one types. One search runs at a time; its result counts
if the input still has the same words, else these are searched next.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import partial
from typing import ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Input, Static

from memtui.model.events import EventPosition
from memtui.tui.messages import FindRequested
from memtui.tui.workers import SLOW_S


class FindInput(Input):
    """An input that leaves enter and escape to the screen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "screen.keep_words", "keep", key_display="enter"),
        Binding("escape", "screen.back", "go back", key_display="esc"),
    ]

    def __init__(self, placeholder: str) -> None:
        super().__init__(placeholder=placeholder, compact=True, id="words")

    def check_consume_key(self, key: str, character: str | None) -> bool:
        """Return whether a key is typed; Textual has no character for "slash"."""
        return key == "slash" or super().check_consume_key(key, character)


class FindLine(Horizontal):
    """An input, the matches of its words, and which of them is shown."""

    _input = getters.query_one("#words", Input)

    def __init__(self) -> None:
        super().__init__(id="finding")
        self.words = ""
        """The words that ``matches`` belong to."""
        self.matches: Sequence[EventPosition] = ()
        self._searching: str | None = None

    def compose(self) -> ComposeResult:
        yield Static("/", id="slash", markup=False)
        yield FindInput("words in this session")
        yield Static(id="matches", markup=False)

    @property
    def text(self) -> str:
        return self._input.value.strip()

    @property
    def has_input_focus(self) -> bool:
        return self._input.has_focus

    @property
    def is_searching(self) -> bool:
        return self._searching is not None

    def focus_input(self) -> None:
        self._input.focus()

    @on(Input.Changed)
    def search(self) -> None:
        if self._searching is None and self.words != self.text:
            words = self._searching = self.text
            self.set_timer(SLOW_S, partial(self._show_searching, words))
            self.post_message(FindRequested(words))

    def _show_searching(self, words: str) -> None:
        if self._searching == words:
            self._show_text("searching…")

    def accept(self, words: str, matches: Sequence[EventPosition]) -> bool:
        """Take over the matches; False if the input has other words by now."""
        self._searching = None
        if words != self.text:
            self.search()
            return False
        self.words, self.matches = words, matches
        return True

    def show_error(self) -> None:
        """Show that the search failed; enter repeats it."""
        self._searching, self.words, self.matches = None, "", ()
        self._show_text("search failed")

    def reset(self) -> None:
        self.words, self.matches = "", ()
        self._input.value = ""
        self._show_text("")

    def first_match(self, here: EventPosition | None) -> EventPosition:
        """Return the first match from a position on, or else the first of all."""
        index = bisect_left(self.matches, here) if here else 0
        return self.matches[index % len(self.matches)]

    def next_match(self, here: EventPosition, by: int) -> EventPosition | None:
        """Return the next (1) or previous (-1) match; None at either end."""
        index = (
            bisect_right(self.matches, here)
            if by > 0
            else bisect_left(self.matches, here) - 1
        )
        return self.matches[index] if 0 <= index < len(self.matches) else None

    def show_position(self, here: EventPosition | None) -> None:
        """Show which of the matches is at a position."""
        if self.is_searching:
            return
        if not self.matches:
            self._show_text("no match" if self.words else "")
            return
        total = f"{len(self.matches):,}"
        index = bisect_left(self.matches, here) if here else len(self.matches)
        is_match = index < len(self.matches) and self.matches[index] == here
        which = f"{index + 1:,} of {total}" if is_match else total
        keys = (
            "enter keep · esc back" if self.has_input_focus else "n next · p previous"
        )
        self._show_text(f"{which} · {keys}")

    def _show_text(self, text: str) -> None:
        self.query_one("#matches", Static).update(Content(text))
