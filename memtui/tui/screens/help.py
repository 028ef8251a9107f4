"""The help: the keys of the focused pane, then of the screen, then of the app."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from memtui.tui import commands
from memtui.tui.screens.base import Dialog
from memtui.tui.widgets.text_block import Paragraph, TextBlock

if TYPE_CHECKING:
    from memtui.tui.palette import AvailableCommand

PANE, SCREEN, EVERYWHERE, MOVING = (
    "In this pane",
    "On this screen",
    "Everywhere",
    "Moving",
)
"""The headings; a pane with a name has its own."""

KEY_CELLS = 12
"""The width of the column of keys."""

MARKS = (
    ("✓", "supported: its wording is in the source, which does not make it true"),
    ("~", "weak: only part of it is, or a name, a number or a “not” differs"),
    ("✗", "unsupported: no source says it"),
    ("✓ ~ ✗", "in the contents: all bullets are supported; some; none even weakly"),
    (
        "m … ○",
        "in the contents: written by a model; being updated; provisional, more may"
        " come. Without a mark it is an extract: quotes from the conversations",
    ),
    (
        "▁▄█",
        "activity: the months of a year, the weeks of a month, the days of a week,"
        " every three hours of a day",
    ),
    ("●", "still going on"),
    ("▌", "the quoted source of a bullet; words that both share are bold"),
    ("┃", "part of the same message; lines without a bar are context"),
)


class Page(TextBlock):
    """Headings with rows under them, drawn as one renderable."""

    def __init__(self, parts: Sequence[tuple[str, Sequence[Paragraph]]]) -> None:
        self._parts = [(heading, rows) for heading, rows in parts if rows]

    def compose_lines(self, width: int) -> Content:
        return Content("\n\n").join(
            Content("\n").join(
                [
                    Content.styled(heading, "bold"),
                    *(one.compose_lines(width) for one in rows),
                ]
            )
            for heading, rows in self._parts
        )


class HelpScreen(Dialog[None]):
    """Lists the commands that can be used now, the nearest to the focus first."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,question_mark,enter", "dismiss", "back", key_display="esc"),
        Binding("j,down", "scroll(1)", "move", key_display="↑ ↓"),
        Binding("k,up", "scroll(-1)", "up", show=False),
        Binding("q", "app.quit", "quit"),
    ]

    def __init__(
        self, available: "Sequence[AvailableCommand]", pane: str, *, with_marks: bool
    ) -> None:
        """Make the page.

        Args:
            available: The commands that can be used.
            pane: The name of the focused pane, if it has one.
            with_marks: Whether to explain the marks of bullets.
        """
        super().__init__()
        self._available, self._pane = available, pane or PANE
        self._with_marks = with_marks

    def compose_dialog(self) -> ComposeResult:
        moves = [one for one in self._available if one.command in commands.MOVING]
        rest = [one for one in self._available if one not in moves]
        parts = [
            (heading, [_row(one) for one in rest if one.level == level])
            for level, heading in enumerate((self._pane, SCREEN, EVERYWHERE))
        ]
        parts.append((MOVING, [_row(one) for one in moves]))
        if self._with_marks:
            parts.append(("Marks", [_hanging(*one) for one in MARKS]))
        with VerticalScroll(id="help"):
            yield Static(Page(parts))

    def action_scroll(self, step: int) -> None:
        self.query_one("#help").scroll_relative(y=step, animate=False)


def _row(one: "AvailableCommand") -> Paragraph:
    return _hanging(one.command.shown, one.help)


def _hanging(key: str, text: str) -> Paragraph:
    return Paragraph(
        Content.styled(f"{key:<{KEY_CELLS}}", "bold $accent"), Content(text)
    )
