"""Themes are complete, legible, and distinguishable without hues."""

import re
from itertools import combinations

import pytest
from rich.color import Color as RichColor
from rich.color import ColorSystem
from textual.color import Color
from textual.theme import Theme

from memtui import settings
from memtui.tui import themes
from memtui.tui.themes import CONTRAST, DARK, LIGHT, THEMES, THEMES_256

LEGIBLE, VERY_LEGIBLE, FAINT = 4.5, 7.0, 3.0
"""The least contrast of text (WCAG 2.2, AA and AAA), and of what stands beside the
text of a line that the cursor marks already."""

APART = 6.0
"""How far colours that mean something lie apart in lightness (CIE L*); an eye tells 2
from each other."""

PLAIN = re.compile(r"#[0-9A-Fa-f]{6}")

every_theme = pytest.mark.parametrize(
    "theme",
    [
        *(pytest.param(theme, id=theme.name) for theme in THEMES),
        *(pytest.param(theme, id=f"{theme.name}-256") for theme in THEMES_256),
    ],
)


def colours(theme: Theme) -> dict[str, Color]:
    said = theme.to_color_system().generate() | theme.variables
    return {
        name: Color.parse(said[name]) for name in said if PLAIN.fullmatch(said[name])
    }


def luminance(colour: Color) -> float:
    """As WCAG 2.2 defines it."""
    parts = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in colour.normalized
    )
    return sum(weight * part for weight, part in zip(
        (0.2126, 0.7152, 0.0722), parts, strict=True
    ))  # fmt: skip


def contrast(first: Color, second: Color) -> float:
    dark, light = sorted((luminance(first), luminance(second)))
    return (light + 0.05) / (dark + 0.05)


def lightness(colour: Color) -> float:
    return 116 * luminance(colour) ** (1 / 3) - 16  # type: ignore[no-any-return]


def test_contrast_of_black_on_white() -> None:
    black, white = Color.parse("#000000"), Color.parse("#ffffff")
    assert round(contrast(black, white), 2) == 21
    assert round(lightness(white)) == 100


@every_theme
def test_themes_have_the_same_colors(theme: Theme) -> None:
    assert theme.variables.keys() == DARK.variables.keys()


@every_theme
def test_text_is_legible_on_every_background(theme: Theme) -> None:
    of, is_contrast = colours(theme), theme.name == CONTRAST.name
    least = VERY_LEGIBLE if is_contrast else LEGIBLE
    for text, grounds in {
        "foreground": "background panel evidence-back block-cursor-blurred-background",
        "context": "background panel",
        "evidence": "background evidence-back",
        "accent": "background panel",
        "error": "background panel",
        "success": "background",
        "block-cursor-foreground": "block-cursor-background",
        "footer-foreground": "footer-background",
        "footer-key-foreground": "footer-background",
    }.items():
        for ground in grounds.split():
            ratio = contrast(of[text], of[ground])
            assert ratio >= least, f"{text} on {ground}: {ratio:.2f}"
    for text in ("context", "evidence", "accent"):
        assert contrast(of[text], of["block-cursor-background"]) >= FAINT, text


@every_theme
def test_meaningful_colors_differ_in_lightness(theme: Theme) -> None:
    of = colours(theme)
    for first, second in combinations(("accent", "evidence", "error"), 2):
        apart = abs(lightness(of[first]) - lightness(of[second]))
        assert apart >= APART, f"{first} and {second}: {apart:.1f}"


@pytest.mark.parametrize("theme", THEMES_256, ids=lambda theme: theme.name)
def test_terminal_with_256_colors_shows_the_chosen_ones(theme: Theme) -> None:
    """Rich takes one gray for the next; all other colors stay as they are."""
    for name, color in theme.variables.items():
        if not PLAIN.fullmatch(color):
            continue
        number = RichColor.parse(color).downgrade(ColorSystem.EIGHT_BIT).number
        assert number is not None, name
        displayed, chosen = (
            RichColor.from_ansi(number).get_truecolor(),
            Color.parse(color),
        )
        differences = {a - b for a, b in zip(displayed, chosen.rgb, strict=True)}
        assert len(differences) == 1, f"{name}: {color} is shown as {displayed.hex}"
        assert differences <= {0, -10} or number in (16, 231), name


def test_every_theme_can_be_set() -> None:
    named = tuple(theme.name for theme in THEMES)
    assert settings.SETTINGS["screen.theme"].choices == named
    assert [themes.short_name(name) for name in named[:3]] == [
        "dark",
        "light",
        "contrast",
    ]


def test_next_theme_goes_around() -> None:
    seen = [DARK.name]
    for _ in THEMES:
        seen.append(themes.next_theme(seen[-1]).name)
    assert seen == [*(theme.name for theme in THEMES), DARK.name]
    assert themes.next_theme("of another program") is DARK
    assert themes.next_theme(DARK.name) is LIGHT
