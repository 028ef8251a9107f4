"""How lines go to the terminal: with marks or their twins, and without colour if asked.

``NO_COLOR`` is read here, at the edge: any text in it means no colour, an empty one
means nothing (https://no-color.org).
"""

import os
import sys
from collections.abc import Mapping, Sequence
from functools import lru_cache

from rich.color import Color as RichColor
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter, Monochrome, NoColor

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


TWINS = {
    "✓": "+", "✗": "x", "●": "*", "•": "*", "○": "o", "…": ".",
    "▸": ">", "▶": ">", "▾": "v", "▼": "v", "◂": "<", "◀": "<", "▴": "^", "▲": "^",
    "→": ">", "←": "<", "↑": "^", "↓": "v",
    "┃": "|", "│": "|", "║": "|", "▌": "#", "▐": "#", "▎": "|", "▏": "|", "▕": "|",
    "▊": "#", "▉": "#", "▋": "#", "▍": "|",
    "─": "-", "━": "-", "═": "=", "▔": "-", "▀": "-",
    "▁": "_", "▂": ".", "▃": ":", "▄": "-", "▅": "=", "▆": "+", "▇": "*", "█": "#",
    "░": ":", "▒": "+", "▓": "*", "■": "#", "□": "o", "▪": "#", "▫": "o",
    "┌": "+", "┐": "+", "└": "+", "┘": "+", "├": "+", "┤": "+", "┬": "+", "┴": "+",
    "┼": "+", "╭": "+", "╮": "+", "╰": "+", "╯": "+",
    "▛": "#", "▜": "#", "▙": "#", "▟": "#",
    "·": "-", "–": "-", "—": "-", "−": "-", "×": "x",
    "“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "›": ">",
    "\N{NO-BREAK SPACE}": " ",
}  # fmt: skip
"""By mark; each is one cell wide."""


UNKNOWN = "?"
"""Stands for a letter of a text that the terminal cannot show."""


_TABLE = str.maketrans(TWINS)


def can_show(encoding: str) -> bool:
    """Whether a terminal of this encoding can show the marks."""
    try:
        "".join(TWINS).encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def plain(text: str, encoding: str) -> str:
    """A text with the twins of its marks, and of letters what the encoding can show."""
    if text.isascii():
        return text
    text = text.translate(_TABLE)
    if text.isascii():
        return text
    return "".join(letter if _is_shown(letter, encoding) else _blot(letter)
                   for letter in text)  # fmt: skip


def _is_shown(letter: str, encoding: str) -> bool:
    try:
        letter.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _blot(letter: str) -> str:
    """As many question marks as the letter takes cells."""
    from rich.cells import cell_len

    return UNKNOWN * cell_len(letter)


class PlainMarks(LineFilter):
    """Translates the lines of a whole screen."""

    def __init__(self, encoding: str) -> None:
        """Take the encoding of the terminal."""
        super().__init__()
        self._encoding = encoding
        self._plain = lru_cache(4096)(plain)

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Translate a line."""
        encoding = self._encoding
        return [
            segment
            if segment.text.isascii()
            else Segment(
                self._plain(segment.text, encoding), segment.style, segment.control
            )
            for segment in segments
        ]


AUTO, ALWAYS = "auto", "always"
"""When twins are drawn: where marks cannot be shown, or whatever can be."""


class Drawing:
    """What is done to each line on its way."""

    def __init__(self, ascii: str = AUTO) -> None:
        """Look at the terminal.

        Args:
            ascii: When marks are drawn with plain letters.
        """
        self.is_colourless = bool(os.environ.get("NO_COLOR"))
        # It is standard error that is drawn on.
        self._encoding = getattr(sys.__stderr__, "encoding", None) or "utf-8"
        self._colourless: tuple[str, NoColours] | None = None
        self.take(ascii)

    def take(self, ascii: str) -> None:
        """Draw marks with plain letters, or not, from now on."""
        is_plain = ascii == ALWAYS
        if ascii == AUTO:
            is_plain = not can_show(self._encoding)
        self._marks = [PlainMarks(self._encoding)] if is_plain else []

    def filters(
        self, given: Sequence[LineFilter], theme: str, colours: Mapping[str, str]
    ) -> list[LineFilter]:
        """All that is done to a line.

        Args:
            given: What Textual does; where it would draw in greys, we say more.
            theme: The name of the theme.
            colours: The theme's colours by their names.
        """
        ours = [one for one in given if not isinstance(one, Monochrome | NoColor)]
        if self.is_colourless:
            if self._colourless is None or self._colourless[0] != theme:
                self._colourless = theme, NoColours(colours)
            ours.append(self._colourless[1])
        return [*ours, *self._marks]
