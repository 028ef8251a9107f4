"""The line at the top of a pane: what it holds, a rule, and how much of it."""

from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

SEPARATOR = " · "
"""What stands between the parts of a measure."""


LEAST_CELLS = 24
"""How much of what a pane holds is said, before its measure is."""


class PaneTitle(Widget):
    """A rule with a name at its left and a measure at its right."""

    what = reactive("")
    """What the pane holds."""

    measure = reactive("")
    """How much of it, or whose; where it is narrow, the last parts are left out."""

    def __init__(self, what: str = "", measure: str = "") -> None:
        super().__init__()
        self.set_reactive(PaneTitle.what, what)
        self.set_reactive(PaneTitle.measure, measure)

    def say(self, what: str, measure: str = "") -> None:
        """Change both ends."""
        self.what, self.measure = what, measure

    def render(self) -> Content:
        """Both ends, with the rule filling what lies between."""
        what, measure = fitting(self.what, self.measure, self.size.width)
        left = Content("─").stylize("$rule") + Content(f" {what} ")
        right = Content(f" {measure} " if measure else "")
        rule = self.size.width - left.cell_length - right.cell_length - 1
        return Content.assemble(
            left,
            ("─" * max(0, rule), "$rule"),
            right.stylize("not bold $context"),
            ("─", "$rule"),
        )


def fitting(what: str, measure: str, room: int) -> tuple[str, str]:
    """As much of both as there is room for: whole words, and whole parts.

    Args:
        what: What the pane holds.
        measure: Its parts, the last of which matter least.
        room: How many cells the line has, its rule and its gaps included.
    """
    left = room - len("─  ─")
    least = min(Content(what).cell_length, LEAST_CELLS)
    parts = measure.split(SEPARATOR) if measure else []
    while parts and least + _cells(parts) > left:
        parts.pop()
    return _cut(what, left - _cells(parts)), SEPARATOR.join(parts)


def _cells(parts: list[str]) -> int:
    """How much room a measure takes, with the gaps around it."""
    return Content(SEPARATOR.join(parts)).cell_length + 2 if parts else 0


def _cut(text: str, room: int) -> str:
    """The text up to the end of a word, if there is not one word alone."""
    if Content(text).cell_length <= room:
        return text
    cut = Content(text).truncate(max(1, room - 1)).plain
    words = cut if text[len(cut) :].startswith(" ") else cut.rpartition(" ")[0]
    is_much = Content(words).cell_length > room // 2
    return (words if is_much else cut).rstrip(" ·,;:–") + "…"
