"""All keys, those that work where the reader is first."""

from collections.abc import Collection
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from memtui.commands import COMMANDS, Command, Group
from memtui.widgets.hanging import Hanging

KEY_CELLS = 12
"""How wide the column of keys is."""

MARKS = (
    ("✓", "supported: its wording stands in the source; that does not make it true"),
    ("~", "weak: only a part of it does, or a name, a number or a “not” differs"),
    ("✗", "unsupported: no source says it"),
    ("✓ ~ ✗", "in the contents: all bullets are supported; not all; none even weakly"),
    (
        "m … ○",
        "in the contents: a model wrote it; it is being brought up to date; more of"
        " it may come. Without a mark it is in the words of the conversations",
    ),
    (
        "▁▄█",
        "how much was said: in the months of a year, the weeks of a month, the days"
        " of a week, every three hours of a day",
    ),
    ("●", "still going on"),
    ("▌", "the words a bullet rests on; those the two share are bold"),
    ("┃", "what was said with them; what has no bar stands around it"),
)
"""What the marks mean."""


class HelpScreen(ModalScreen[None]):
    """Written from the table of commands alone."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,question_mark,enter", "dismiss", "close", show=False),
        Binding("q", "app.quit", "quit", show=False),
        Binding("j,down", "scroll(1)", "down", show=False),
        Binding("k,up", "scroll(-1)", "up", show=False),
    ]

    def __init__(self, active: Collection[str]) -> None:
        """Make the page.

        Args:
            active: The names of the commands that work where the focus is.
        """
        super().__init__()
        self._active = active

    def compose(self) -> ComposeResult:
        """One part for each group of commands, and one for the marks."""
        with VerticalScroll(id="help"):
            for group in Group:
                rows = [row for row in COMMANDS if row.group is group and row.keys]
                rows = [row for row in rows if row.name in self._active]
                if rows:
                    yield Static(group.value, classes="heading", markup=False)
                for row in rows:
                    yield Static(_row(row))
            yield Static("Marks", classes="heading", markup=False)
            for mark, meaning in MARKS:
                yield Static(Hanging(_key(mark), Content(meaning)))

    def action_scroll(self, step: int) -> None:
        """Scroll a line."""
        self.query_one("#help").scroll_relative(y=step, animate=False)


def _row(command: Command) -> Hanging:
    return Hanging(_key(command.shown), Content(command.help))


def _key(shown: str) -> Content:
    return Content.styled(f"{shown:<{KEY_CELLS}}", "bold $accent")
