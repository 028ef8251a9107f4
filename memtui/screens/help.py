"""All keys that work where the reader is: the pane's first, then the screen's."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from memtui.commands import Group
from memtui.widgets.hanging import Hanging

if TYPE_CHECKING:
    from memtui.palette import Able

PANE, SCREEN = "In this pane", "On this screen"
EVERYWHERE, MOVING = "Everywhere", "Moving"
"""The headings; a pane that has a name goes by it."""

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
    """Written from what can be done where the reader is, the nearest first."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,question_mark,enter", "dismiss", "close", show=False),
        Binding("q", "app.quit", "quit", show=False),
        Binding("j,down", "scroll(1)", "down", show=False),
        Binding("k,up", "scroll(-1)", "up", show=False),
    ]

    def __init__(self, able: "Sequence[Able]", pane: str, *, with_marks: bool) -> None:
        """Make the page.

        Args:
            able: What can be done there.
            pane: What the part that has the focus is called; it may have no name.
            with_marks: Whether the marks of bullets are explained.
        """
        super().__init__()
        self._able, self._pane = able, pane or PANE
        self._with_marks = with_marks

    def compose(self) -> ComposeResult:
        """What the pane does, what the screen, what all do; then the marks."""
        moves = [one for one in self._able if one.command.group is Group.MOVE]
        with VerticalScroll(id="help"):
            for near, heading in enumerate((self._pane, SCREEN, EVERYWHERE)):
                some = [one for one in self._able if one.near == near]
                yield from _part(heading, [one for one in some if one not in moves])
            yield from _part(MOVING, moves)
            if self._with_marks:
                yield Static("Marks", classes="heading", markup=False)
                for mark, meaning in MARKS:
                    yield Static(Hanging(_key(mark), Content(meaning)))

    def action_scroll(self, step: int) -> None:
        """Scroll a line."""
        self.query_one("#help").scroll_relative(y=step, animate=False)


def _part(heading: str, some: "Sequence[Able]") -> ComposeResult:
    if some:
        yield Static(heading, classes="heading", markup=False)
    for one in some:
        yield Static(Hanging(_key(one.command.shown), Content(one.says)))


def _key(shown: str) -> Content:
    return Content.styled(f"{shown:<{KEY_CELLS}}", "bold $accent")
