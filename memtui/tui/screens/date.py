"""A dialog that asks for a year, month, week or day, and goes to it or the nearest."""

from datetime import datetime
from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Static

from memtui.services import browse
from memtui.text import dates
from memtui.tui import format
from memtui.tui.screens.base import Dialog

EXAMPLES = (
    "today · last tuesday · two weeks ago · in March · Q1\n"
    "2024 · 2024-01 · 2024-W03 · 2024-01-18"
)

NOTHING = "No conversations yet: there is no day to go to."


class DateScreen(Dialog[str]):
    """Returns the id of an existing node, or an empty string."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "submit", "go there", key_display="enter", priority=True),
        Binding("escape", "leave", "back"),
    ]

    def __init__(self, now: datetime) -> None:
        """Make the dialog.

        Args:
            now: The time in the store's time zone.
        """
        super().__init__()
        self._now = now

    def compose_dialog(self) -> ComposeResult:
        with Vertical(id="date"):
            yield Input(
                placeholder=self._now.date().isoformat(), compact=True, id="day"
            )
            yield Static(id="parsed", markup=False)
            yield Static(EXAMPLES, id="examples", markup=False)

    @on(Input.Changed)
    def show_parsed(self, event: Input.Changed) -> None:
        date = dates.read_node(event.value, self._now)
        self._say(f"→ {date.label}" if date else "")

    def _say(self, text: str, style: str = "$foreground") -> None:
        self.query_one("#parsed", Static).update(Content.styled(text, style))

    @on(Input.Submitted)
    def go(self, event: Input.Submitted) -> None:
        """Look for the node, or show that the date is not understood."""
        date = dates.read_node(event.value, self._now)
        if date is None:
            self._say(f"“{event.value}” is not a past date. Examples:", "$error")
            return
        zone = self._now.tzinfo
        assert zone is not None
        find = partial(browse.find_nearest, date.node_id, zone)
        self.load(find, partial(self._leave_to, date.node_id), "nearest")

    def _leave_to(self, wanted: str, found: str) -> None:
        if not found:
            self._say(NOTHING, "$error")
            return
        if found != wanted:
            self.notify(
                f"{dates.node_label(wanted)} has no conversations."
                f" Nearest: {dates.node_label(found)}.",
                markup=False,
            )
        self.dismiss(found)

    def show_error(self, error: BaseException, group: str) -> None:
        self._say(f"✗ {format.error_text(error)}", "$error")

    def action_leave(self) -> None:
        self.dismiss("")
