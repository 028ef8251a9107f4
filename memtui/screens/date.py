"""Going to a date: a year, a month, a week or a day, typed as one likes."""

import re
from datetime import date, datetime, timedelta
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from memtui.memory import calendar

FORMS = "2024 · 2024-01 · 2024-W03 · 2024-01-18 · today · yesterday"
"""What can be typed."""

_FORMS = (
    (re.compile(r"\d{4}"), "year"),
    (re.compile(r"\d{4}-\d{2}"), "month"),
    (re.compile(r"\d{4}-[Ww]\d{1,2}"), "week"),
    (re.compile(r"\d{4}-\d{2}-\d{2}"), "day"),
)


def node_at(typed: str, today: date) -> str:
    """The id of the node a date names; empty when it is not a date.

    Args:
        typed: One of the forms above.
        today: The local date, for the words that are relative to it.
    """
    words = typed.strip().lower()
    near = {"today": 0, "yesterday": 1}.get(words)
    if near is not None:
        return calendar.day_id(today - timedelta(days=near))
    for form, level in _FORMS:
        if form.fullmatch(words):
            try:
                return calendar.canonical(f"toc:{level}:{words.upper()}")
            except ValueError:
                return ""
    return ""


class DateScreen(ModalScreen[str]):
    """Asks for a date; answers with the id of its node, or nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "back", show=False),
    ]

    def __init__(self, now: datetime) -> None:
        super().__init__()
        self._today = now.date()

    def compose(self) -> ComposeResult:
        """A line to type in, and what can be typed."""
        with Vertical(id="date"):
            yield Input(placeholder=f"{self._today}", compact=True, id="day")
            yield Static(FORMS, id="forms", markup=False)

    @on(Input.Submitted)
    def go(self, event: Input.Submitted) -> None:
        """Go there, or say what is not understood."""
        node_id = node_at(event.value, self._today)
        if node_id:
            self.dismiss(node_id)
        else:
            words = f"“{event.value}” is not a date. Try: {FORMS}"
            self.query_one("#forms", Static).update(Content(words))

    def action_leave(self) -> None:
        """Go nowhere."""
        self.dismiss("")
