"""Going to a date: a year, a month, a week or a day, typed as one likes.

What is understood is shown while it is typed; where nothing is kept of it, the nearest
that is there is gone to, and said.
"""

from datetime import datetime
from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Static
from textual.worker import Worker, WorkerState

from memtui.memory import dates
from memtui.services import browse
from memtui.tui import format
from memtui.tui.messages import NearestFound
from memtui.tui.screens.base import Dialog

FORMS = (
    "today · last tuesday · two weeks ago · in March · Q1\n"
    "2024 · 2024-01 · 2024-W03 · 2024-01-18"
)
"""What can be typed."""


NOTHING = "Nothing is kept yet: there is no day to go to."


class DateScreen(Dialog[str]):
    """Asks for a date; answers with the id of a node that is there, or nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "submit", "go there", key_display="enter", priority=True),
        Binding("escape", "leave", "back"),
    ]

    def __init__(self, now: datetime) -> None:
        """Make the screen.

        Args:
            now: The time in the store's time zone.
        """
        super().__init__()
        self._now = now

    def ask(self) -> ComposeResult:
        """A line to type in, what is understood of it, and what can be typed."""
        with Vertical(id="date"):
            yield Input(placeholder=f"{self._now:%Y-%m-%d}", compact=True, id="day")
            yield Static(id="meant", markup=False)
            yield Static(FORMS, id="forms", markup=False)

    @on(Input.Changed)
    def understand(self, event: Input.Changed) -> None:
        """Show what is understood so far."""
        meant = dates.read(event.value, self._now)
        self._say(f"→ {meant.said}" if meant else "")

    def _say(self, words: str, style: str = "$foreground") -> None:
        self.query_one("#meant", Static).update(Content.styled(words, style))

    @on(Input.Submitted)
    def go(self, event: Input.Submitted) -> None:
        """Go there, or say what is not understood."""
        meant = dates.read(event.value, self._now)
        if meant is None:
            words = f"“{event.value}” is no date that has begun. Try one like these:"
            self._say(words, "$error")
            return
        self.run_worker(
            partial(self._find, meant.node_id),
            thread=True,
            exclusive=True,
            exit_on_error=False,
        )

    def _find(self, wanted: str) -> None:
        zone = self._now.tzinfo
        assert zone is not None
        self.post_message(NearestFound(wanted, browse.nearest(wanted, zone)))

    @on(NearestFound)
    def arrive(self, message: NearestFound) -> None:
        """Answer with what is there; say so if it is not what was asked for."""
        wanted, found = message.wanted, message.found
        if not found:
            self._say(NOTHING, "$error")
            return
        if found != wanted:
            self.notify(
                f"Nothing is kept of {dates.named(wanted)}."
                f" This is the nearest: {dates.named(found)}.",
                markup=False,
            )
        self.dismiss(found)

    @on(Worker.StateChanged)
    def say_why(self, event: Worker.StateChanged) -> None:
        """Say why it could not be looked for."""
        if event.state is WorkerState.ERROR:
            self._say(f"✗ {format.why(event.worker.error)}", "$error")

    def action_leave(self) -> None:
        """Go nowhere."""
        self.dismiss("")
