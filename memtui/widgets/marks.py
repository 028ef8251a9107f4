"""Every mark and its twin in plain letters, for terminals that cannot draw the mark.

Lines are translated as they go to the terminal, so whoever draws one needs to know
nothing of it. A twin is as wide as its mark: nothing moves.
"""

from functools import lru_cache

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

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
    from rich.cells import cell_len  # noqa: PLC0415 - seldom needed

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
