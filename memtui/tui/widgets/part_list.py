"""The agents, projects and keywords one can narrow the app to, as a list."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from textual.content import Content
from textual.widgets.option_list import Option

from memtui.model.scope import ALL, Scope
from memtui.services.browse import Parts
from memtui.tui import format
from memtui.tui.widgets.item_list import ItemList
from memtui.tui.widgets.text_block import Paragraph

CHOSEN, BLANK = "✓ ", "  "
"""What stands before what is chosen, and before all else."""


MOST = {"agent": 50, "project": 200, "keyword": 200}
"""How many lines of a kind are shown at most; typing brings up the others."""


HEADINGS = {"agent": "Agents", "project": "Projects", "keyword": "Keywords"}


COUNTED = {"agent": "session", "project": "session", "keyword": "day"}
"""What is counted of each kind."""


@dataclass(frozen=True, slots=True)
class ScopeChoice:
    """A line: what the app would be narrowed to."""

    scope: Scope
    """What is shown once it is chosen."""
    label: str
    kind: str = ""
    """An agent, a project or a keyword; "" for a line about what is chosen already."""
    end: str = ""
    """What stands at its right end."""
    is_chosen: bool = False


def list_choices(
    parts: Parts, typed: str, draft: Scope, current: Scope
) -> list[ScopeChoice]:
    """What can be chosen, in the order of its lines.

    Args:
        parts: What there is.
        typed: What of their names is typed, in whatever case.
        draft: What has been chosen so far.
        current: What the app shows now.
    """
    wanted = typed.strip().casefold()
    found: list[ScopeChoice] = []
    if not wanted and draft != current:
        found.append(
            ScopeChoice(draft, f"Show {draft if draft.is_narrow else 'everything'}")
        )
    if not wanted and draft.is_narrow:
        found.append(ScopeChoice(ALL, "Show everything", end="F"))
    kinds = {"agent": parts.agents, "project": parts.projects}
    for kind, there in (kinds | {"keyword": parts.keywords}).items():
        found += _of(kind, there, wanted, draft)
    known = {one.label.casefold() for one in found if one.kind == "keyword"}
    if wanted and wanted not in known:
        scope = replace(draft, keyword=typed.strip())
        told = "as a keyword, if any page has it"
        found.append(ScopeChoice(scope, typed.strip(), "keyword", told))
    return found


def _of(
    kind: str, there: Sequence[tuple[str, int]], wanted: str, draft: Scope
) -> Iterator[ScopeChoice]:
    """Those of a kind that hold what is typed, first what begins with it."""
    chosen = getattr(draft, kind)
    held = [(name, n) for name, n in there if wanted in name.casefold()]
    if wanted:
        held.sort(key=lambda one: not one[0].casefold().startswith(wanted))
    for name, number in held[: MOST[kind]]:
        is_chosen = name.casefold() == chosen.casefold()
        scope = replace(draft, **{kind: "" if is_chosen else name})
        counted = format.quantity(number, COUNTED[kind])
        yield ScopeChoice(scope, name, kind, counted, is_chosen)


class ScopeList(ItemList, can_focus=False):
    """Shows what can be chosen under headings; the cursor stands on a line of these."""

    def __init__(self) -> None:
        super().__init__(id="parts", markup=False)
        self._choices: list[ScopeChoice | None] = []

    @property
    def current(self) -> ScopeChoice | None:
        """What the cursor is on."""
        at = self.highlighted
        return self._choices[at] if at is not None else None

    def show(self, found: Sequence[ScopeChoice]) -> None:
        """Show these, with the cursor on the first."""
        options: list[Option] = []
        self._choices, before = [], ""
        for one in found:
            if one.kind and one.kind != before:
                heading = Content.styled(HEADINGS[one.kind], "bold $context")
                options.append(Option(heading, disabled=True))
                self._choices.append(None)
            before = one.kind
            mark = Content(CHOSEN if one.is_chosen else BLANK)
            end = Content.styled(one.end, "$context")
            options.append(Option(Paragraph(mark, Content(one.label), end)))
            self._choices.append(one)
        self.set_options(options)
        if any(self._choices):
            self.highlighted = next(at for at, one in enumerate(self._choices) if one)

    def move(self, step: int) -> None:
        """Move the cursor, round the ends."""
        if self._choices and self.highlighted is not None:
            at = self.highlighted
            while True:
                at = (at + step) % len(self._choices)
                if self._choices[at]:
                    break
            self.highlighted = at
