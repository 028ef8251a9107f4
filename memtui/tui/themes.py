"""The themes, and filters for terminals without colors or without all characters.

Each has one accent color, one for evidence, and red for errors only. ``$evidence`` is
the bar and the marked words of a source on ``$evidence-back``, ``$context`` is for
secondary text, ``$rule`` for lines between panes. Accent, evidence and error differ in
lightness too, for people who do not see hues.
"""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path, PurePath

from rich.color import Color as RichColor
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter, Monochrome, NoColor
from textual.theme import Theme

from memtui.model.events import remove_tag_characters

NAMES = ("dark", "light", "contrast", "dusk", "paper")

COLORS = {
    "accent": ("#7aa2c8", "#2a5f89", "#5cc0ff", "#b39ce6", "#275469"),
    "text": ("#d6d8dc", "#25282d", "#ffffff", "#e2dcef", "#33261a"),
    "background": ("#16181d", "#faf9f6", "#000000", "#1b1726", "#fbf1dc"),
    "panel": ("#1d2027", "#efede7", "#141414", "#241f33", "#f3e6c8"),
    "rule": ("#3a3f4a", "#cfccc3", "#8f949c", "#463e5e", "#cbb88f"),
    "context": ("#868c98", "#62676f", "#e4e6ea", "#9d95b3", "#6a5a47"),
    "footer": ("#a2a8b3", "#555a63", "#e4e6ea", "#b3abc7", "#5c4c3a"),
    "evidence": ("#e3bd66", "#8f6500", "#ffe066", "#f2c572", "#855a00"),
    "evidence-back": ("#3a3220", "#fbf0cd", "#3d3200", "#4a3524", "#f5e2b0"),
    "success": ("#8fb58a", "#3f7340", "#7fe07f", "#8ccfae", "#3d6b3d"),
    "error": ("#d9686b", "#8f1d24", "#ff7f78", "#e8657f", "#7a1518"),
    "hover": ("#20242c", "#eeede8", "#1c1c1c", "#231d31", "#f2e6cc"),
    "cursor": ("#2c3f55", "#cfdfec", "#00397a", "#3d3560", "#d7cfc4"),
    "cursor-text": ("#f2f4f7", "#14171b", "#ffffff", "#f5f1fc", "#1e150c"),
    "cursor-blurred": ("#242a34", "#e6e8ea", "#2a2a2a", "#2c2640", "#ece0c6"),
    "scrollbar": ("#2f343e", "#d8d5cc", "#5a5f68", "#3a3350", "#dccaa2"),
    "scrollbar-hover": ("#454c59", "#bdb9ad", "#8f949c", "#564c73", "#c2ae83"),
}
"""The colors of the themes, in the order of their names."""

COLORS_256 = {
    "accent": ("#87afd7", "#005f87", "#5fd7ff", "#d7afff", "#005f5f"),
    "text": ("#d0d0d0", "#262626", "#ffffff", "#dadada", "#303030"),
    "background": ("#121212", "#ffffff", "#000000", "#1c1c1c", "#ffffd7"),
    "panel": ("#1c1c1c", "#eeeeee", "#121212", "#262626", "#eeeeee"),
    "rule": ("#444444", "#c6c6c6", "#949494", "#4e4e4e", "#bcbcbc"),
    "context": ("#8a8a8a", "#626262", "#e4e4e4", "#a8a8a8", "#626262"),
    "footer": ("#a8a8a8", "#585858", "#e4e4e4", "#b2b2b2", "#585858"),
    "evidence": ("#ffd787", "#af5f00", "#ffd75f", "#ffd787", "#875f00"),
    "evidence-back": ("#303030", "#ffffaf", "#303030", "#3a3a3a", "#ffffaf"),
    "success": ("#87af87", "#005f00", "#87d787", "#87d7af", "#005f00"),
    "error": ("#d75f5f", "#870000", "#ff8787", "#ff5f87", "#870000"),
    "hover": ("#262626", "#eeeeee", "#1c1c1c", "#262626", "#eeeeee"),
    "cursor": ("#3a3a3a", "#d7d7ff", "#444444", "#444444", "#d7d7af"),
    "cursor-text": ("#ffffff", "#121212", "#ffffff", "#ffffff", "#121212"),
    "cursor-blurred": ("#262626", "#e4e4e4", "#262626", "#303030", "#e4e4e4"),
    "scrollbar": ("#3a3a3a", "#d0d0d0", "#626262", "#444444", "#d0d0d0"),
    "scrollbar-hover": ("#585858", "#b2b2b2", "#949494", "#626262", "#b2b2b2"),
}
"""The colors for terminals with 256, each of them one of these: others would become the
nearest of them, which for the darkest is teal, navy or olive."""


def _theme(name: str, *, is_dark: bool, selection: int = 0) -> Theme:
    """Make a theme from its colors.

    Args:
        selection: The percentage of the accent behind what is selected; 0 for a theme
            of a terminal with 256 colors, where that would be another color.
    """
    colors = COLORS if selection else COLORS_256
    color = {role: values[NAMES.index(name)] for role, values in colors.items()}
    accent, background = color["accent"], color["background"]
    return Theme(
        name=f"memtui-{name}",
        primary=accent,
        secondary=accent,
        accent=accent,
        foreground=color["text"],
        background=background,
        surface=background,
        panel=color["panel"],
        success=color["success"],
        warning=color["evidence"],
        error=color["error"],
        dark=is_dark,
        variables={
            "evidence": color["evidence"],
            "evidence-back": color["evidence-back"],
            "context": color["context"],
            "rule": color["rule"],
            "block-cursor-background": color["cursor"],
            "block-cursor-foreground": color["cursor-text"],
            "block-cursor-text-style": "bold",
            "block-cursor-blurred-background": color["cursor-blurred"],
            "block-cursor-blurred-foreground": color["text"],
            "block-hover-background": color["hover"],
            "footer-background": color["panel"],
            "footer-foreground": color["footer"],
            "footer-description-foreground": color["footer"],
            "footer-key-foreground": accent,
            "input-selection-background": (
                f"{accent} {selection}%" if selection else color["cursor"]
            ),
            "backdrop": f"{background} 60%" if selection else background,
            "scrollbar": color["scrollbar"],
            "scrollbar-hover": color["scrollbar-hover"],
            "scrollbar-active": accent,
            "scrollbar-background": background,
            "scrollbar-background-hover": background,
            "scrollbar-background-active": background,
            "scrollbar-corner-color": background,
        },
    )


DARK = _theme("dark", is_dark=True, selection=35)
LIGHT = _theme("light", is_dark=False, selection=25)
CONTRAST = _theme("contrast", is_dark=True, selection=45)
DUSK = _theme("dusk", is_dark=True, selection=35)
PAPER = _theme("paper", is_dark=False, selection=25)

THEMES = (DARK, LIGHT, CONTRAST, DUSK, PAPER)  # All themes, the default first.

THEMES_256 = tuple(
    _theme(name, is_dark=theme.dark) for name, theme in zip(NAMES, THEMES, strict=True)
)
"""The same themes for terminals with 256 colors or fewer."""


def short_name(name: str) -> str:
    """Return the name shown to users: "dark", "light", …"""
    return name.removeprefix("memtui-")


def next_theme(name: str) -> Theme:
    """Return the theme after this one, the first after the last."""
    names = [theme.name for theme in THEMES]
    place = names.index(name) + 1 if name in names else 0
    return THEMES[place % len(THEMES)]


_PACKAGE = Path(__file__).parents[1]


def stylesheets(*names: str) -> list[str | PurePath]:
    """Return stylesheets by name; without names all, the shared ones first."""
    inside, beside = _PACKAGE / "styles", _PACKAGE.parent / "styles"
    folder = inside if inside.is_dir() else beside
    if names:
        return [folder / f"{name}.tcss" for name in names]
    return [*sorted(folder.glob("*.tcss"))]


# NO_COLOR is read as https://no-color.org says: any non-empty value means no color.

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
        for color, replacements in (
            (background, self._backgrounds),
            (foreground, self._foregrounds),
        ):
            for theme_color, replacement in replacements:
                if _is_near(theme_color, color):
                    plain += replacement
                    break
        return plain


def _parse(
    styles: Mapping[str, Style], variables: Mapping[str, str]
) -> list[tuple[Color, Style]]:
    return [
        (Color.parse(variables[name]), style)
        for name, style in styles.items()
        if variables.get(name, "").startswith("#") and " " not in variables[name]
    ]


def _is_near(theme_color: Color, color: RichColor | None) -> bool:
    if color is None or color.triplet is None:
        return False
    pairs = zip(theme_color.rgb, color.triplet, strict=True)
    return all(abs(a - b) <= TOLERANCE for a, b in pairs)


# Terminals without all characters

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

UNKNOWN = "?"  # Replaces a character of stored text that the terminal cannot show.

_TABLE = str.maketrans(ASCII_MARKS)


def can_show_marks(encoding: str) -> bool:
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


class TextFilter(LineFilter):
    """Changes texts that are not ASCII."""

    def __init__(self, change: Callable[[str], str]) -> None:
        super().__init__()
        self._change = lru_cache(4096)(change)

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [
            segment
            if segment.text.isascii()
            else Segment(self._change(segment.text), segment.style, segment.control)
            for segment in segments
        ]


class HiddenTextFilter(TextFilter):
    """Removes characters that no terminal shows, but that a model reads."""

    def __init__(self) -> None:
        super().__init__(remove_tag_characters)


class AsciiFilter(TextFilter):
    """Replaces marks by ASCII."""

    def __init__(self, encoding: str) -> None:
        super().__init__(partial(to_ascii, encoding=encoding))


AUTO, ALWAYS = "auto", "always"
"""The choices for ASCII marks: if the terminal lacks the others, or always."""


class LineFilters:
    """Chooses the filters for the terminal, the environment and the settings."""

    def __init__(self, ascii: str = AUTO) -> None:
        self.is_colorless = bool(os.environ.get("NO_COLOR"))
        # Textual writes to standard error.
        self._encoding = getattr(sys.__stderr__, "encoding", None) or "utf-8"
        self._no_color: tuple[str, NoColorFilter] | None = None
        self._hidden_text = HiddenTextFilter()
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
        """Add ours to the filters of Textual, and replace its filter for NO_COLOR."""
        ours = [f for f in filters if not isinstance(f, Monochrome | NoColor)]
        if self.is_colorless:
            if self._no_color is None or self._no_color[0] != theme:
                self._no_color = theme, NoColorFilter(variables)
            ours.append(self._no_color[1])
        return [*ours, self._hidden_text, *self._ascii]
