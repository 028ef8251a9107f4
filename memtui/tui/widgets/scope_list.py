"""The list of agents, projects and keywords to filter the app by."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from textual.content import Content
from textual.widgets.option_list import Option

from memtui.model.scope import ALL, Scope
from memtui.services.browse import ScopeChoices
from memtui.tui import format
from memtui.tui.widgets.item_list import ItemList
from memtui.tui.widgets.text_block import Paragraph

MAX_CHOICES = {"agent": 50, "project": 200, "keyword": 200}
"""The most rows of a kind; typing brings up the others."""

HEADINGS = {"agent": "Agents", "project": "Projects", "keyword": "Keywords"}

UNITS = {"agent": "session", "project": "session", "keyword": "day"}
"""The unit of the number beside each kind."""


@dataclass(frozen=True, slots=True)
class ScopeChoice:
    """A row of the list."""

    scope: Scope
    """The scope after choosing it."""
    label: str
    kind: str = ""
    """"agent", "project" or "keyword"; "" for a row about the current choice."""
    end: str = ""
    """Text at the right end."""
    is_chosen: bool = False


def list_choices(
    parts: ScopeChoices, typed: str, draft: Scope, current: Scope
) -> list[ScopeChoice]:
    """Return the rows to show.

    Args:
        parts: The agents, projects and keywords in the store.
        typed: A part of a name.
        draft: The scope chosen so far.
        current: The scope the app shows.
    """
    wanted = typed.strip().casefold()
    choices: list[ScopeChoice] = []
    if not wanted and draft != current:
        name = draft if draft.is_narrow else "everything"
        choices.append(ScopeChoice(draft, f"Show {name}"))
    if not wanted and draft.is_narrow:
        choices.append(ScopeChoice(ALL, "Show everything", end="F"))
    choices += _choices_of("agent", parts.agents, wanted, draft)
    choices += _choices_of("project", parts.projects, wanted, draft)
    choices += _choices_of("keyword", parts.keywords, wanted, draft)
    known = {one.label.casefold() for one in choices if one.kind == "keyword"}
    if wanted and wanted not in known:
        scope = replace(draft, keyword=typed.strip())
        choices.append(ScopeChoice(scope, typed.strip(), "keyword", "as a keyword"))
    return choices


def _choices_of(
    kind: str, counted: Sequence[tuple[str, int]], wanted: str, draft: Scope
) -> Iterator[ScopeChoice]:
    """Yield the names of a kind that match, those with the wanted beginning first."""
    chosen = getattr(draft, kind)
    matches = [(name, count) for name, count in counted if wanted in name.casefold()]
    if wanted:
        matches.sort(key=lambda match: not match[0].casefold().startswith(wanted))
    for name, count in matches[: MAX_CHOICES[kind]]:
        is_chosen = name.casefold() == chosen.casefold()
        scope = replace(draft, **{kind: "" if is_chosen else name})
        size = format.quantity(count, UNITS[kind])
        yield ScopeChoice(scope, name, kind, size, is_chosen)


class ScopeList(ItemList[ScopeChoice], can_focus=False):
    """Shows the choices under headings; the keys stay in the input above."""

    def __init__(self) -> None:
        super().__init__(id="parts")

    def show(self, choices: Sequence[ScopeChoice]) -> None:
        """Show choices, with the cursor on the first one."""
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
            options.append(Option(row, id=name))
            items[name] = choice
        self.show_items(items, options, "0")
