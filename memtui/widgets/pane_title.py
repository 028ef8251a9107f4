"""The line at the top of a pane: what it holds, a rule, and how much of it."""

from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget


class PaneTitle(Widget):
    """A rule with a name at its left and a measure at its right."""

    what = reactive("")
    """What the pane holds."""

    measure = reactive("")
    """How much of it, or whose."""

    def __init__(self, what: str = "", measure: str = "") -> None:
        super().__init__()
        self.set_reactive(PaneTitle.what, what)
        self.set_reactive(PaneTitle.measure, measure)

    def say(self, what: str, measure: str = "") -> None:
        """Change both ends."""
        self.what, self.measure = what, measure

    def render(self) -> Content:
        """Both ends, with the rule filling what lies between."""
        width = self.size.width
        what = Content(f" {self.what} ").truncate(max(1, width - 2), ellipsis=True)
        left = Content("─").stylize("$rule") + what
        measure = Content(f" {self.measure} ") if self.measure else Content("")
        if left.cell_length + measure.cell_length + 2 > width:
            measure = measure.truncate(
                max(0, width - left.cell_length - 2), ellipsis=True
            )
        rule = width - left.cell_length - measure.cell_length - 1
        return Content.assemble(
            left,
            ("─" * max(0, rule), "$rule"),
            measure.stylize("not bold $context"),
            ("─", "$rule"),
        )
