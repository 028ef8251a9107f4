"""A dialog that sets the scope: the agent, project and keyword all screens show."""

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, OptionList, Static

from memtui.model.scope import ALL, Scope
from memtui.services import browse
from memtui.services.browse import ScopeChoices
from memtui.tui import format, workers
from memtui.tui.screens.base import Dialog
from memtui.tui.widgets import scope_list
from memtui.tui.widgets.scope_list import ScopeList

CLEAR = "F"
"""Shows everything, while nothing is typed."""

NOTHING = "No conversations yet: there is nothing to filter."


class FilterInput(Input):
    """An input in which the key that opened it is not a letter, if pressed first."""

    def check_consume_key(self, key: str, character: str | None) -> bool:
        is_first = key == CLEAR and not self.value
        return not is_first and super().check_consume_key(key, character)


class FilterScreen(Dialog[Scope | None]):
    """Returns the new scope, or None if it stays the same."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "submit", "show it", key_display="enter", priority=True),
        Binding("tab", "add", "add it", priority=True),
        Binding("down", "choose(1)", "choose", key_display="↑ ↓", priority=True),
        Binding(CLEAR, "clear", "show all", key_display=CLEAR, priority=True),
        Binding("up", "choose(-1)", "previous", show=False),
        Binding("escape", "leave", "back"),
    ]

    def __init__(self, scope: Scope) -> None:
        super().__init__()
        self._current = self._draft = scope
        self._parts = ScopeChoices()

    def compose_dialog(self) -> ComposeResult:
        with Vertical(id="filter"):
            yield Static(id="chosen")
            yield FilterInput(placeholder="agent, project or keyword", compact=True)
            yield ScopeList()
            yield Static(Content(workers.LOADING), id="note")

    def on_mount(self) -> None:
        self.query_one(Input).focus()
        self._show_draft()
        self.load(browse.list_scopes, self._show_parts, "parts")

    def _show_parts(self, parts: ScopeChoices) -> None:
        self._parts = parts
        self._note("" if parts.agents or parts.projects else NOTHING)
        self._update_list()

    def show_error(self, error: BaseException, group: str) -> None:
        """Show why the list is missing; a typed keyword works all the same."""
        self._note(f"The list could not be read: {format.error_text(error)}")

    def _note(self, text: str) -> None:
        note = self.query_one("#note", Static)
        note.update(Content(text))
        note.display = bool(text)

    def _show_draft(self) -> None:
        scope = format.scope_text(self._draft)
        content = Content.assemble(("Show only  ", "bold"), (scope, "$accent"))
        self.query_one("#chosen", Static).update(content)

    def _update_list(self) -> None:
        typed = self.query_one(Input).value
        choices = scope_list.list_choices(
            self._parts, typed, self._draft, self._current
        )
        self.query_one(ScopeList).show(choices)

    @on(Input.Changed)
    def filter_list(self) -> None:
        self.refresh_bindings()
        self._update_list()

    @on(Input.Submitted)
    @on(OptionList.OptionSelected)
    def apply(self, event: Input.Submitted | OptionList.OptionSelected) -> None:
        """Return the scope of the highlighted choice."""
        event.stop()
        choice = self.query_one(ScopeList).current
        if choice is not None:
            self.dismiss(choice.scope)

    def action_add(self) -> None:
        """Add the highlighted choice, to be combined with another one."""
        choice = self.query_one(ScopeList).current
        if choice is None:
            return
        self._draft = choice.scope
        self._show_draft()
        with self.prevent(Input.Changed):
            self.query_one(Input).value = ""
        self._update_list()

    def action_clear(self) -> None:
        if self._current.is_narrow:
            self.dismiss(ALL)

    def action_choose(self, step: int) -> None:
        choices = self.query_one(ScopeList)
        if step > 0:
            choices.action_cursor_down()
        else:
            choices.action_cursor_up()
