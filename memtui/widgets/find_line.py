"""The line to find words in a session with, and which of the matches is shown.

Words are looked for when enter is pressed, in all of the session.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Input, Static

from memtui.memory.events import Place
from memtui.messages.reader import WordsAsked
from memtui.widgets import wording


class FindLine(Horizontal):
    """Knows what was found, and where."""

    def __init__(self) -> None:
        super().__init__(id="finding")
        self.words = ""
        self.found: Sequence[Place] = ()

    def compose(self) -> ComposeResult:
        """A line to type in, and what was found at its end."""
        yield Static("/", id="slash", markup=False)
        yield Input(placeholder="words in this session", compact=True, id="words")
        yield Static(id="told", markup=False)

    @property
    def _input(self) -> Input:
        return self.query_one("#words", Input)

    def ask(self) -> None:
        """Have words typed."""
        self._input.focus()

    @on(Input.Submitted)
    def look(self, event: Input.Submitted) -> None:
        """Have them looked for."""
        event.stop()
        words = event.value.strip()
        if words:
            self._say("looking…")
        self.post_message(WordsAsked(words))

    def let_go(self) -> None:
        """Look for nothing any more."""
        self.words, self.found = "", ()
        self._input.value = ""
        self._say("")

    def show(self, words: str, found: Sequence[Place]) -> None:
        """Take what was found."""
        self.words, self.found = words, found
        if not found:
            self._say("nowhere in this session")

    def first(self, here: Place | None) -> Place:
        """The first match from here on, or the first of all."""
        at = bisect_left(self.found, here) if here else 0
        return self.found[at % len(self.found)]

    def beyond(self, here: Place, by: int) -> Place | None:
        """The next match after here, or the one before; None at either end."""
        at = (
            bisect_right(self.found, here)
            if by > 0
            else bisect_left(self.found, here) - 1
        )
        return self.found[at] if 0 <= at < len(self.found) else None

    def number(self, here: Place | None) -> None:
        """Say which of the matches this is."""
        if not self.found:
            return
        total = wording.count(len(self.found))
        at = bisect_left(self.found, here) if here else len(self.found)
        is_one = at < len(self.found) and self.found[at] == here
        which = f"{wording.count(at + 1)} of {total}" if is_one else f"in {total}"
        self._say(f"{which} · n next · p previous")

    def _say(self, words: str) -> None:
        self.query_one("#told", Static).update(Content(words))
