"""The two themes: one accent, one colour for evidence, red for what is wrong alone.

``$evidence`` is the bar and the marked words of a source, ``$evidence-back`` lies
behind them, ``$context`` is for what stands around, ``$rule`` for lines between panes.
"""

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
    error="#e0787b",
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
    primary="#2f6690",
    secondary="#2f6690",
    accent="#2f6690",
    foreground="#25282d",
    background="#faf9f6",
    surface="#faf9f6",
    panel="#efede7",
    success="#3f7340",
    warning="#8a6200",
    error="#ae3034",
    dark=False,
    variables={
        "evidence": "#8a6200",
        "evidence-back": "#f7e9be",
        "context": "#6a6f78",
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
        "footer-key-foreground": "#2f6690",
        "input-selection-background": "#2f6690 25%",
        "scrollbar": "#d8d5cc",
        "scrollbar-hover": "#bdb9ad",
        "scrollbar-active": "#2f6690",
        "scrollbar-background": "#faf9f6",
        "scrollbar-background-hover": "#faf9f6",
        "scrollbar-background-active": "#faf9f6",
        "scrollbar-corner-color": "#faf9f6",
    },
)

THEMES = (DARK, LIGHT)
"""All of them; the first is the one memtui starts in."""
