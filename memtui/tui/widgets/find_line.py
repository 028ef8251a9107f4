"""The line to find words in a session with, and which of the matches is shown.

Words are looked for as they are typed, in all of the session. One question is asked at
a time; an answer counts while its own words stand here, else these are asked next.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Input, Static

from memtui.model.events import EventPosition
from memtui.tui import format
from memtui.tui.messages import FindRequested
from memtui.tui.workers import SLOW_S


class FindInput(Input):
    """Leaves enter and escape to the screen, at once: the next key finds it done."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "screen.keep_words", "stay", key_display="enter"),
        Binding("escape", "screen.back", "go back", key_display="esc"),
    ]

    def __init__(self, placeholder: str) -> None:
        super().__init__(placeholder=placeholder, compact=True, id="words")

    def check_consume_key(self, key: str, character: str | None) -> bool:
        """Whether the key is typed here; Textual knows no character of "slash"."""
        return key == "slash" or super().check_consume_key(key, character)


class FindLine(Horizontal):
    """Knows what was found, and where."""

    def __init__(self) -> None:
        super().__init__(id="finding")
        self.words = ""
        self.matches: Sequence[EventPosition] = ()
        self._asking: str | None = None

    def compose(self) -> ComposeResult:
        """A line to type in, and what was found at its end."""
        yield Static("/", id="slash", markup=False)
        yield FindInput("words in this session")
        yield Static(id="told", markup=False)

    @property
    def _input(self) -> Input:
        return self.query_one("#words", Input)

    @property
    def text(self) -> str:
        """The words that stand here."""
        return self._input.value.strip()

    @property
    def has_input_focus(self) -> bool:
        """Whether the keys go here."""
        return self._input.has_focus

    @property
    def is_searching(self) -> bool:
        """Whether words are looked for just now."""
        return self._asking is not None

    def focus_input(self) -> None:
        """Have words typed."""
        self._input.focus()

    @on(Input.Changed)
    def search(self) -> None:
        """Have them looked for, unless others are: then they are next."""
        if self._asking is None and self.words != self.text:
            words = self._asking = self.text
            self.set_timer(SLOW_S, partial(self._say_slow, words))
            self.post_message(FindRequested(words))

    def _say_slow(self, words: str) -> None:
        if self._asking == words:
            self._say("looking…")

    def reset(self) -> None:
        """Look for nothing any more."""
        self.words, self.matches = "", ()
        self._input.value = ""
        self._say("")

    def accept(self, words: str, found: Sequence[EventPosition]) -> bool:
        """Take what was found, unless other words stand here by now."""
        self._asking = None
        if words != self.text:
            self.search()
            return False
        self.words, self.matches = words, found
        return True

    def show_error(self) -> None:
        """Nothing is known of these words: enter asks once more."""
        self._asking, self.words, self.matches = None, "", ()
        self._say("not looked through")

    def first_match(self, here: EventPosition | None) -> EventPosition:
        """The first match from here on, or the first of all."""
        at = bisect_left(self.matches, here) if here else 0
        return self.matches[at % len(self.matches)]

    def next_match(self, here: EventPosition, by: int) -> EventPosition | None:
        """The next match after here, or the one before; None at either end."""
        at = (
            bisect_right(self.matches, here)
            if by > 0
            else bisect_left(self.matches, here) - 1
        )
        return self.matches[at] if 0 <= at < len(self.matches) else None

    def show_position(self, here: EventPosition | None) -> None:
        """Say which of the matches this is, once it is known."""
        if self.is_searching:
            return
        if not self.matches:
            self._say("nowhere in this session" if self.words else "")
            return
        total = format.number(len(self.matches))
        at = bisect_left(self.matches, here) if here else len(self.matches)
        is_one = at < len(self.matches) and self.matches[at] == here
        which = f"{format.number(at + 1)} of {total}" if is_one else f"in {total}"
        typing, moving = "enter stays · esc goes back", "n next · p previous"
        self._say(f"{which} · {typing if self.has_input_focus else moving}")

    def _say(self, words: str) -> None:
        self.query_one("#told", Static).update(Content(words))
