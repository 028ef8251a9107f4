"""A dialog that sets the scope: the agent, project, state and keyword on screen."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from memtui.model.filters import ALL, Scope
from memtui.model.quantities import plural
from memtui.services import browse
from memtui.services.browse import ScopeChoices
from memtui.tui import format, workers
from memtui.tui.screens.base import Dialog
from memtui.tui.widgets.panes import ItemList
from memtui.tui.widgets.text_block import Paragraph

MAX_CHOICES = 200  # The most rows of a kind; typing brings up the others.

HEADINGS = {
    "agent": "Agents",
    "project": "Projects",
    "state": "States",
    "keyword": "Keywords",
}


@dataclass(frozen=True, slots=True)
class ScopeChoice:
    """A row of the list."""

    scope: Scope
    """The scope after choosing it."""
    label: str
    kind: str = ""
    """"agent", "project", "state" or "keyword"; "" for a row about the current choice.
    """
    end: str = ""
    is_chosen: bool = False
    is_note: bool = False
    """True if it only says that there are more."""


def list_choices(
    parts: ScopeChoices, typed: str, draft: Scope, current: Scope
) -> list[ScopeChoice]:
    """Return the rows to show.

    Args:
        parts: The agents, projects and keywords in the store.
        typed: A part of a name, perhaps behind its kind: ``state:open``.
        draft: The scope chosen so far.
        current: The scope the app shows.
    """
    prefix, colon, value = typed.strip().partition(":")
    only = prefix.lower() if colon and prefix.lower() in HEADINGS else ""
    name = value.strip() if only else typed.strip()
    part = name.casefold()
    choices: list[ScopeChoice] = []
    if not typed.strip() and draft != current:
        scope_name = draft if draft.is_narrow else "everything"
        choices.append(ScopeChoice(draft, f"Show {scope_name}"))
    if not typed.strip() and draft.is_narrow:
        choices.append(ScopeChoice(ALL, "Show everything", end="F"))
    groups = [
        list(_choices_of(kind, parts, part, draft))
        for kind in HEADINGS
        if only in ("", kind)
    ]
    matches = list(chain.from_iterable(groups))
    if part:
        # Names that are typed in full are first. Then comes the kind with the best
        # match, but keywords are last: there may be hundreds.
        best = {group[0].kind: _rank(group[0].label, part) for group in groups if group}
        matches.sort(
            key=lambda choice: (
                choice.label.casefold() != part,
                choice.kind == "keyword",
                best[choice.kind],
            )
        )
    choices += matches
    keywords = {
        choice.label.casefold() for choice in choices if choice.kind == "keyword"
    }
    if part and part not in keywords and only in ("", "keyword"):
        scope = replace(draft, keyword=name)
        choices.append(ScopeChoice(scope, name, "keyword", "as a keyword"))
    return choices


def _choices_of(
    kind: str, parts: ScopeChoices, part: str, draft: Scope
) -> Iterator[ScopeChoice]:
    """Yield the names of a kind that match, the best matches first."""
    chosen = getattr(draft, kind)
    counted: Sequence[tuple[str, int]] = getattr(parts, f"{kind}s")
    matches = [(name, count) for name, count in counted if part in name.casefold()]
    if part:
        matches.sort(key=lambda match: _rank(match[0], part))
    for name, count in matches[:MAX_CHOICES]:
        is_chosen = name.casefold() == chosen.casefold()
        scope = replace(draft, **{kind: "" if is_chosen else name})
        size = plural(count, "day" if kind == "keyword" else "session")
        yield ScopeChoice(scope, name, kind, size, is_chosen)
    if left_out := len(matches[MAX_CHOICES:]):
        text = f"… and {left_out:,} more: type a part of the name"
        yield ScopeChoice(draft, text, kind, is_note=True)


def _rank(name: str, part: str) -> int:
    """Return 0 for the name itself, 1 for its beginning, 2 for another part."""
    folded = name.casefold()
    return 0 if folded == part else 1 if folded.startswith(part) else 2


class ScopeList(ItemList[ScopeChoice], can_focus=False):
    """Shows the choices under headings; the keys stay in the input above."""

    def __init__(self) -> None:
        super().__init__(id="parts")

    def show(self, choices: Sequence[ScopeChoice]) -> None:
        options: list[Option] = []
        items: dict[str, ScopeChoice] = {}
        kind = ""
        for choice in choices:
            if choice.kind and choice.kind != kind:
                heading = Content.styled(HEADINGS[choice.kind], "bold $context")
                options.append(Option(heading, disabled=True))
            kind, name = choice.kind, str(len(items))
            mark = Content("✓ " if choice.is_chosen else "  ")
            end = Content.styled(choice.end, "$context")
            row = Paragraph(mark, Content(choice.label), end)
            if choice.is_note:
                options.append(Option(row, disabled=True))
                continue
            options.append(Option(row, id=name))
            items[name] = choice
        self.show_items(items, options, "0")


CLEAR = "F"  # Shows everything, while nothing is typed.
NOTHING = "No conversations yet: there is nothing to filter."


class FilterInput(Input):
    """An input in which the key that opened it is not a letter, if pressed first."""

    def check_consume_key(self, key: str, character: str | None) -> bool:
        is_first = key == CLEAR and not self.value
        return not is_first and super().check_consume_key(key, character)


class FilterScreen(Dialog[Scope]):
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
            yield FilterInput(
                placeholder="agent, project, state or keyword", compact=True
            )
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
        self._note(f"The list could not be read: {format.error_text(error)}")

    def _note(self, text: str) -> None:
        note = self.query_one("#note", Static)
        note.update(Content(text))
        note.display = bool(text)

    def _show_draft(self) -> None:
        scope = format.scope_text(self._draft)
        lead = "Show only  " if self._draft.is_narrow else "Show  "
        content = Content.assemble((lead, "bold"), (scope, "$accent"))
        self.query_one("#chosen", Static).update(content)

    def _update_list(self) -> None:
        typed = self.query_one(Input).value
        choices = list_choices(self._parts, typed, self._draft, self._current)
        self.query_one(ScopeList).show(choices)

    @on(Input.Changed)
    def filter_list(self) -> None:
        self.refresh_bindings()
        self._update_list()

    @on(Input.Submitted)
    @on(OptionList.OptionSelected)
    def apply(self, event: Input.Submitted | OptionList.OptionSelected) -> None:
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
