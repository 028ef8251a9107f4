"""The title line of a pane: its content at the left, a rule, and its size."""

from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

SEPARATOR = " · "
"""Between the parts of the info."""

MIN_TITLE = 24
"""The cells that a title keeps before the info gets any."""


class PaneTitle(Widget):
    """A rule with a title at its left and an info at its right.

    The info consists of parts with ``SEPARATOR`` between them, the most important
    first; the last ones are left out where the pane is narrow.
    """

    title = reactive("")
    info = reactive("")

    def __init__(self, title: str = "", info: str = "") -> None:
        super().__init__()
        self.set_reactive(PaneTitle.title, title)
        self.set_reactive(PaneTitle.info, info)

    def show(self, title: str, info: str = "") -> None:
        self.title, self.info = title, info

    def render(self) -> Content:
        title, info = fit_title(self.title, self.info, self.size.width)
        left = Content("─").stylize("$rule") + Content(f" {title} ")
        right = Content(f" {info} " if info else "")
        rule = self.size.width - left.cell_length - right.cell_length - 1
        return Content.assemble(
            left,
            ("─" * max(0, rule), "$rule"),
            right.stylize("not bold $context"),
            ("─", "$rule"),
        )


def fit_title(title: str, info: str, width: int) -> tuple[str, str]:
    """Shorten title and info to a width in cells, by whole words and parts."""
    room = width - len("─  ─")
    needed = min(Content(title).cell_length, MIN_TITLE)
    parts = info.split(SEPARATOR) if info else []
    while parts and needed + _cells(parts) > room:
        parts.pop()
    return _truncate(title, room - _cells(parts)), SEPARATOR.join(parts)


def _cells(parts: list[str]) -> int:
    """Return the width of an info with the spaces around it."""
    return Content(SEPARATOR.join(parts)).cell_length + 2 if parts else 0


def _truncate(text: str, room: int) -> str:
    """Truncate after a whole word, or within one that would leave too little."""
    if Content(text).cell_length <= room:
        return text
    cut = Content(text).truncate(max(1, room - 1)).plain
    words = cut if text[len(cut) :].startswith(" ") else cut.rpartition(" ")[0]
    is_enough = Content(words).cell_length > room // 2
    return (words if is_enough else cut).rstrip(" ·,;:–") + "…"
