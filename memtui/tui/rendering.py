"""Filters on the way to the terminal: ASCII in place of marks, and NO_COLOR.

``NO_COLOR`` is read as https://no-color.org says: any non-empty value means no color.
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

BACKGROUNDS = {
    "block-cursor-background": Style(reverse=True),
    "input-selection-background": Style(reverse=True),
    "scrollbar": Style(reverse=True),
    "scrollbar-hover": Style(reverse=True),
    "scrollbar-active": Style(reverse=True),
    "block-cursor-blurred-background": Style(underline=True),
    "evidence-back": Style(underline=True),
}
"""The style that replaces a background color of the theme."""

FOREGROUNDS = {"context": Style(dim=True)}
"""The style that replaces a text color of the theme."""

TOLERANCE = 3
"""The maximum difference of a color from the theme's, because it is rounded on its
way."""


class NoColorFilter(LineFilter):
    """Replaces the colors of a theme by text styles."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        """Make the filter from the variables of a theme."""
        super().__init__()
        self._backgrounds = _parse(BACKGROUNDS, variables)
        self._foregrounds = _parse(FOREGROUNDS, variables)
        self._replace_cached = lru_cache(2048)(self._replace)

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [
            Segment(text, style and self._replace_cached(style), control)
            for text, style, control in segments
        ]

    def _replace(self, style: Style) -> Style:
        plain = style.without_color
        background, foreground = style.bgcolor, style.color
        if style.reverse:
            background, foreground = None, None
        for color, known in (
            (background, self._backgrounds),
            (foreground, self._foregrounds),
        ):
            found = next((style for one, style in known if _is_near(one, color)), None)
            plain = plain + found if found else plain
        return plain


def _parse(
    styles: Mapping[str, Style], variables: Mapping[str, str]
) -> list[tuple[Color, Style]]:
    return [
        (Color.parse(variables[name]), style)
        for name, style in styles.items()
        if variables.get(name, "").startswith("#") and " " not in variables[name]
    ]


def _is_near(one: Color, color: RichColor | None) -> bool:
    if color is None or color.triplet is None:
        return False
    pairs = zip(one.rgb, color.triplet, strict=True)
    return all(abs(a - b) <= TOLERANCE for a, b in pairs)


ASCII_MARKS = {
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
"""The ASCII replacement of each mark, one cell wide like the mark itself."""

UNKNOWN = "?"
"""Replaces a character of stored text that the terminal cannot show."""

_TABLE = str.maketrans(ASCII_MARKS)


def can_show_marks(encoding: str) -> bool:
    """Return True if a terminal with this encoding can show all marks."""
    return _can_encode("".join(ASCII_MARKS), encoding)


def to_ascii(text: str, encoding: str) -> str:
    """Replace all marks, and other characters that the encoding lacks."""
    if not text.isascii():
        text = text.translate(_TABLE)
    if text.isascii():
        return text
    return "".join(
        char if _can_encode(char, encoding) else _question_marks(char) for char in text
    )


def _can_encode(text: str, encoding: str) -> bool:
    try:
        text.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _question_marks(char: str) -> str:
    from rich.cells import cell_len

    return UNKNOWN * cell_len(char)


class AsciiFilter(LineFilter):
    """Replaces marks by ASCII."""

    def __init__(self, encoding: str) -> None:
        super().__init__()
        self._encoding = encoding
        self._to_ascii = lru_cache(4096)(to_ascii)

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [
            segment
            if segment.text.isascii()
            else Segment(
                self._to_ascii(segment.text, self._encoding),
                segment.style,
                segment.control,
            )
            for segment in segments
        ]


AUTO, ALWAYS = "auto", "always"
"""The choices for ASCII marks: if the terminal lacks the others, or always."""


class LineFilters:
    """Chooses the filters for the terminal, the environment and the settings."""

    def __init__(self, ascii: str = AUTO) -> None:
        """Inspect the environment.

        Args:
            ascii: When marks are drawn in ASCII.
        """
        self.is_colorless = bool(os.environ.get("NO_COLOR"))
        # Textual writes to standard error.
        self._encoding = getattr(sys.__stderr__, "encoding", None) or "utf-8"
        self._no_color: tuple[str, NoColorFilter] | None = None
        self.set_ascii(ascii)

    def set_ascii(self, ascii: str) -> None:
        """Change when marks are drawn in ASCII."""
        is_ascii = ascii == ALWAYS
        if ascii == AUTO:
            is_ascii = not can_show_marks(self._encoding)
        self._ascii = [AsciiFilter(self._encoding)] if is_ascii else []

    def apply(
        self, filters: Sequence[LineFilter], theme: str, variables: Mapping[str, str]
    ) -> list[LineFilter]:
        """Add ours to the filters of Textual, and replace its filter for NO_COLOR.

        Args:
            filters: Those of Textual.
            theme: The name of the theme.
            variables: The variables of the theme.
        """
        ours = [one for one in filters if not isinstance(one, Monochrome | NoColor)]
        if self.is_colorless:
            if self._no_color is None or self._no_color[0] != theme:
                self._no_color = theme, NoColorFilter(variables)
            ours.append(self._no_color[1])
        return [*ours, *self._ascii]
