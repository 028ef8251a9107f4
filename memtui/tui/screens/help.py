"""All keys that work where the reader is: the pane's first, then the screen's."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from memtui.tui.commands import Group
from memtui.tui.screens.base import Dialog
from memtui.tui.widgets.text_block import Hanging, Reflowing

if TYPE_CHECKING:
    from memtui.tui.palette import Able


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


class Page(Reflowing):
    """Headings, and under each what is said of its keys or marks; drawn as one."""

    def __init__(self, parts: Sequence[tuple[str, Sequence[Hanging]]]) -> None:
        self._parts = [(heading, rows) for heading, rows in parts if rows]

    def compose_lines(self, width: int) -> Content:
        """The parts under each other."""
        return Content("\n\n").join(
            Content("\n").join(
                [Content.styled(heading, "bold"), *(one.lay_out(width) for one in rows)]
            )
            for heading, rows in self._parts
        )


class HelpScreen(Dialog[None]):
    """Written from what can be done where the reader is, the nearest first."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,question_mark,enter", "dismiss", "back", key_display="esc"),
        Binding("j,down", "scroll(1)", "move", key_display="↑ ↓"),
        Binding("k,up", "scroll(-1)", "up", show=False),
        Binding("q", "app.quit", "quit"),
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

    def ask(self) -> ComposeResult:
        """What the pane does, what the screen, what all do; then the marks."""
        moves = [one for one in self._able if one.command.group is Group.MOVE]
        rest = [one for one in self._able if one not in moves]
        parts = [
            (heading, [_row(one) for one in rest if one.near == near])
            for near, heading in enumerate((self._pane, SCREEN, EVERYWHERE))
        ]
        parts.append((MOVING, [_row(one) for one in moves]))
        if self._with_marks:
            parts.append(("Marks", [_hanging(*one) for one in MARKS]))
        with VerticalScroll(id="help"):
            yield Static(Page(parts))

    def action_scroll(self, step: int) -> None:
        """Scroll a line."""
        self.query_one("#help").scroll_relative(y=step, animate=False)


def _row(one: "Able") -> Hanging:
    return _hanging(one.command.shown, one.says)


def _hanging(key: str, says: str) -> Hanging:
    shown = Content.styled(f"{key:<{KEY_CELLS}}", "bold $accent")
    return Hanging(shown, Content(says))
