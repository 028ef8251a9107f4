"""The themes, and where their stylesheets are.

Each has one accent color, one for evidence, and red for errors only. ``$evidence`` is
the bar and the marked words of a source on ``$evidence-back``, ``$context`` is for
secondary text, ``$rule`` for lines between panes. Accent, evidence and error differ in
lightness too, for people who do not see hues.
"""

from pathlib import Path, PurePath

from textual.theme import Theme

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


def _theme(name: str, *, is_dark: bool, selection: int) -> Theme:
    """Make a theme from its colors; the selection is the accent at some percent."""
    color = {role: values[NAMES.index(name)] for role, values in COLORS.items()}
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
            "input-selection-background": f"{accent} {selection}%",
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

THEMES = (DARK, LIGHT, CONTRAST, DUSK, PAPER)
"""All themes, the default first."""


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
