"""No colour at all, where NO_COLOR asks for that: see https://no-color.org.

What a colour behind a text says is said otherwise: the cursor is reversed, the cursor
of a pane without the focus is underlined, and so are the words that are evidence; what
stands around is dim. The marks are what they always are.
"""

from collections.abc import Mapping
from functools import lru_cache

from rich.color import Color as RichColor
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter

BEHIND = {
    "block-cursor-background": Style(reverse=True),
    "input-selection-background": Style(reverse=True),
    "scrollbar": Style(reverse=True),
    "scrollbar-hover": Style(reverse=True),
    "scrollbar-active": Style(reverse=True),
    "block-cursor-blurred-background": Style(underline=True),
    "evidence-back": Style(underline=True),
}
"""What is said instead of a theme's colour behind a text."""

BEFORE = {"context": Style(dim=True)}
"""What is said instead of a colour of the text itself."""

NEAR = 3
"""How far a colour may lie from the theme's, which is rounded on its way."""


class NoColours(LineFilter):
    """Takes all colours out of the lines of a theme."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        """Take the theme's colours by their names."""
        super().__init__()
        self._behind = _known(BEHIND, variables)
        self._before = _known(BEFORE, variables)
        self._styled = lru_cache(2048)(self._without)

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Take the colours out of a line."""
        return [
            Segment(text, style and self._styled(style), control)
            for text, style, control in segments
        ]

    def _without(self, style: Style) -> Style:
        plain = style.without_color
        behind, before = style.bgcolor, style.color
        if style.reverse:
            behind, before = None, None
        for colour, known in ((behind, self._behind), (before, self._before)):
            said = next((says for of, says in known if _is_near(of, colour)), None)
            plain = plain + said if said else plain
        return plain


def _known(
    said: Mapping[str, Style], variables: Mapping[str, str]
) -> list[tuple[Color, Style]]:
    return [
        (Color.parse(variables[name]), says)
        for name, says in said.items()
        if variables.get(name, "").startswith("#") and " " not in variables[name]
    ]


def _is_near(of: Color, colour: RichColor | None) -> bool:
    if colour is None or colour.triplet is None:
        return False
    pairs = zip(of.rgb, colour.triplet, strict=True)
    return all(abs(one - other) <= NEAR for one, other in pairs)
