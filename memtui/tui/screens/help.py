"""The help: the keys of the focused pane, then of the screen, then of the app."""

from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from memtui.tui import commands
from memtui.tui.screens.base import Dialog
from memtui.tui.widgets.text_block import Paragraph, Stack

PANE, SCREEN, EVERYWHERE, MOVING = (
    "In this pane",
    "On this screen",
    "Everywhere",
    "Moving",
)
"""The headings; a pane with a name has its own."""

ELSEWHERE = "On other screens"

KEY_CELLS = 12

MARKS = (
    ("✓", "supported: its wording is in the source, which does not make it true"),
    ("~", "weak: only part of it is, or a name, a number or a “not” differs"),
    ("✗", "unsupported, and withheld: the reason stands below the line"),
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


class HelpScreen(Dialog[None]):
    """Lists the commands that can be used now, the nearest to the focus first."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,question_mark,enter", "dismiss", "back", key_display="esc"),
        Binding("j,down", "scroll(1)", "move", key_display="↑ ↓"),
        Binding("k,up", "scroll(-1)", "up", show=False),
        Binding("ctrl+d", "half_page(1)", "down half a page", show=False),
        Binding("ctrl+u", "half_page(-1)", "up half a page", show=False),
        Binding("G", "last", "last line", show=False),
        Binding("q", "app.quit", "quit"),
    ]

    def __init__(self, screen: Screen[Any]) -> None:
        """Make the help of a screen, which has the focus still."""
        super().__init__()
        self._available = commands.available_commands(screen)
        panes = screen.focused.ancestors_with_self if screen.focused else ()
        titles = (pane.HELP_TITLE for pane in panes if hasattr(pane, "HELP_TITLE"))
        self._pane = next(titles, PANE)
        self._with_marks = getattr(screen, "SHOWS_MARKS", False)

    def compose_dialog(self) -> ComposeResult:
        headings = self._pane, SCREEN, EVERYWHERE, MOVING
        parts: dict[str, list[Paragraph]] = {heading: [] for heading in headings}
        for available in self._available:
            is_move = available.command in commands.MOVING
            row = _hanging(available.command.key_names, available.help)
            parts[MOVING if is_move else headings[available.level]].append(row)
        listed = {available.command for available in self._available}
        for command in commands.COMMANDS:
            if command.where and command not in listed:
                text = command.help or f"{command.label.capitalize()}."
                text = f"{text[:1].lower()}{text[1:]}"
                place = f"{command.where[:1].upper()}{command.where[1:]}"
                row = _hanging(command.key_names, f"{place}: {text}")
                parts.setdefault(ELSEWHERE, []).append(row)
        if self._with_marks:
            parts["Marks"] = [_hanging(mark, meaning) for mark, meaning in MARKS]
        lines: list[Content | Paragraph] = []
        for heading, rows in parts.items():
            if rows:
                lines += [Content(""), Content.styled(heading, "bold"), *rows]
        with VerticalScroll(id="help"):
            yield Static(Stack(*lines[1:]))

    def action_scroll(self, step: int) -> None:
        self.query_one("#help").scroll_relative(y=step, animate=False)

    def action_half_page(self, step: int) -> None:
        self.action_scroll(step * (self.query_one("#help").size.height // 2))

    def action_last(self) -> None:
        self.query_one("#help").scroll_end(animate=False)


def _hanging(key: str, text: str) -> Paragraph:
    return Paragraph(
        Content.styled(f"{key:<{KEY_CELLS}}", "bold $accent"), Content(text)
    )
