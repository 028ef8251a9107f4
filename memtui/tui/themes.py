"""The themes, and where their stylesheets are.

Each has one accent color, one for evidence, and red for errors only. ``$evidence`` is
the bar and the marked words of a source on ``$evidence-back``, ``$context`` is for
secondary text, ``$rule`` for lines between panes. Accent, evidence and error differ in
lightness too, for people who do not see hues.
"""

from pathlib import Path, PurePath

from textual.theme import Theme

DARK = Theme(
    name="memtui-dark",
    primary="#7aa2c8",
    secondary="#7aa2c8",
    accent="#7aa2c8",
    foreground="#d6d8dc",
    background="#16181d",
    surface="#16181d",
    panel="#1d2027",
    success="#8fb58a",
    warning="#d9b25f",
    error="#d9686b",
    dark=True,
    variables={
        "evidence": "#e3bd66",
        "evidence-back": "#3a3220",
        "context": "#868c98",
        "rule": "#3a3f4a",
        "block-cursor-background": "#2c3f55",
        "block-cursor-foreground": "#f2f4f7",
        "block-cursor-text-style": "bold",
        "block-cursor-blurred-background": "#242a34",
        "block-cursor-blurred-foreground": "#d6d8dc",
        "block-hover-background": "#20242c",
        "footer-background": "#1d2027",
        "footer-foreground": "#a2a8b3",
        "footer-description-foreground": "#a2a8b3",
        "footer-key-foreground": "#7aa2c8",
        "input-selection-background": "#7aa2c8 35%",
        "scrollbar": "#2f343e",
        "scrollbar-hover": "#454c59",
        "scrollbar-active": "#7aa2c8",
        "scrollbar-background": "#16181d",
        "scrollbar-background-hover": "#16181d",
        "scrollbar-background-active": "#16181d",
        "scrollbar-corner-color": "#16181d",
    },
)

LIGHT = Theme(
    name="memtui-light",
    primary="#2a5f89",
    secondary="#2a5f89",
    accent="#2a5f89",
    foreground="#25282d",
    background="#faf9f6",
    surface="#faf9f6",
    panel="#efede7",
    success="#3f7340",
    warning="#8f6500",
    error="#8f1d24",
    dark=False,
    variables={
        "evidence": "#8f6500",
        "evidence-back": "#fbf0cd",
        "context": "#62676f",
        "rule": "#cfccc3",
        "block-cursor-background": "#cfdfec",
        "block-cursor-foreground": "#14171b",
        "block-cursor-text-style": "bold",
        "block-cursor-blurred-background": "#e6e8ea",
        "block-cursor-blurred-foreground": "#25282d",
        "block-hover-background": "#eeede8",
        "footer-background": "#efede7",
        "footer-foreground": "#555a63",
        "footer-description-foreground": "#555a63",
        "footer-key-foreground": "#2a5f89",
        "input-selection-background": "#2a5f89 25%",
        "scrollbar": "#d8d5cc",
        "scrollbar-hover": "#bdb9ad",
        "scrollbar-active": "#2a5f89",
        "scrollbar-background": "#faf9f6",
        "scrollbar-background-hover": "#faf9f6",
        "scrollbar-background-active": "#faf9f6",
        "scrollbar-corner-color": "#faf9f6",
    },
)

CONTRAST = Theme(
    name="memtui-contrast",
    primary="#5cc0ff",
    secondary="#5cc0ff",
    accent="#5cc0ff",
    foreground="#ffffff",
    background="#000000",
    surface="#000000",
    panel="#141414",
    success="#7fe07f",
    warning="#ffe066",
    error="#ff7f78",
    dark=True,
    variables={
        "evidence": "#ffe066",
        "evidence-back": "#3d3200",
        "context": "#e4e6ea",
        "rule": "#8f949c",
        "block-cursor-background": "#00397a",
        "block-cursor-foreground": "#ffffff",
        "block-cursor-text-style": "bold",
        "block-cursor-blurred-background": "#2a2a2a",
        "block-cursor-blurred-foreground": "#ffffff",
        "block-hover-background": "#1c1c1c",
        "footer-background": "#141414",
        "footer-foreground": "#e4e6ea",
        "footer-description-foreground": "#e4e6ea",
        "footer-key-foreground": "#5cc0ff",
        "input-selection-background": "#5cc0ff 45%",
        "scrollbar": "#5a5f68",
        "scrollbar-hover": "#8f949c",
        "scrollbar-active": "#5cc0ff",
        "scrollbar-background": "#000000",
        "scrollbar-background-hover": "#000000",
        "scrollbar-background-active": "#000000",
        "scrollbar-corner-color": "#000000",
    },
)

DUSK = Theme(
    name="memtui-dusk",
    primary="#b39ce6",
    secondary="#b39ce6",
    accent="#b39ce6",
    foreground="#e2dcef",
    background="#1b1726",
    surface="#1b1726",
    panel="#241f33",
    success="#8ccfae",
    warning="#f2c572",
    error="#e8657f",
    dark=True,
    variables={
        "evidence": "#f2c572",
        "evidence-back": "#4a3524",
        "context": "#9d95b3",
        "rule": "#463e5e",
        "block-cursor-background": "#3d3560",
        "block-cursor-foreground": "#f5f1fc",
        "block-cursor-text-style": "bold",
        "block-cursor-blurred-background": "#2c2640",
        "block-cursor-blurred-foreground": "#e2dcef",
        "block-hover-background": "#231d31",
        "footer-background": "#241f33",
        "footer-foreground": "#b3abc7",
        "footer-description-foreground": "#b3abc7",
        "footer-key-foreground": "#b39ce6",
        "input-selection-background": "#b39ce6 35%",
        "scrollbar": "#3a3350",
        "scrollbar-hover": "#564c73",
        "scrollbar-active": "#b39ce6",
        "scrollbar-background": "#1b1726",
        "scrollbar-background-hover": "#1b1726",
        "scrollbar-background-active": "#1b1726",
        "scrollbar-corner-color": "#1b1726",
    },
)

PAPER = Theme(
    name="memtui-paper",
    primary="#275469",
    secondary="#275469",
    accent="#275469",
    foreground="#33261a",
    background="#fbf1dc",
    surface="#fbf1dc",
    panel="#f3e6c8",
    success="#3d6b3d",
    warning="#855a00",
    error="#7a1518",
    dark=False,
    variables={
        "evidence": "#855a00",
        "evidence-back": "#f5e2b0",
        "context": "#6a5a47",
        "rule": "#cbb88f",
        "block-cursor-background": "#d7cfc4",
        "block-cursor-foreground": "#1e150c",
        "block-cursor-text-style": "bold",
        "block-cursor-blurred-background": "#ece0c6",
        "block-cursor-blurred-foreground": "#33261a",
        "block-hover-background": "#f2e6cc",
        "footer-background": "#f3e6c8",
        "footer-foreground": "#5c4c3a",
        "footer-description-foreground": "#5c4c3a",
        "footer-key-foreground": "#275469",
        "input-selection-background": "#275469 25%",
        "scrollbar": "#dccaa2",
        "scrollbar-hover": "#c2ae83",
        "scrollbar-active": "#275469",
        "scrollbar-background": "#fbf1dc",
        "scrollbar-background-hover": "#fbf1dc",
        "scrollbar-background-active": "#fbf1dc",
        "scrollbar-corner-color": "#fbf1dc",
    },
)

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


def stylesheets() -> list[str | PurePath]:
    """Return all stylesheets in the order they apply, by name; the first is shared."""
    inside, beside = _PACKAGE / "styles", _PACKAGE.parent / "styles"
    folder = inside if inside.is_dir() else beside
    return [*sorted(folder.glob("*.tcss"))]
