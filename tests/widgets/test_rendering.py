"""Marks in ASCII, and screens without color."""

import unicodedata

import pytest
from rich.cells import cell_len
from rich.segment import Segment
from textual.widgets import Static

from memtui.tui import themes
from memtui.tui.app import MemtuiApp
from memtui.tui.themes import ASCII_MARKS, DARK, AsciiFilter, LineFilters
from memtui.tui.widgets.node_page import NodePage
from memtui.workspace import Workspace
from tests.pilots import AppOf, Settle

MEANT = ("✓~✗", "▸▾", "┃▌", "·░▒▓█", "▁▂▃▄▅▆▇█", "✓✗●…▸")
"""Marks of which none may be taken for another beside it."""


def segments(app: MemtuiApp) -> list[Segment]:
    """All that is on the screen."""
    return [s for line in app.screen._compositor.render_strips() for s in line]


def screen_text(app: MemtuiApp) -> str:
    return "".join(segment.text for segment in segments(app))


def test_replacements_are_ascii_and_one_cell_wide() -> None:
    for mark, twin in ASCII_MARKS.items():
        assert twin.isascii() and twin.isprintable(), mark
        assert cell_len(twin) == cell_len(mark) == 1, mark


@pytest.mark.parametrize("together", MEANT)
def test_marks_used_together_stay_distinct(together: str) -> None:
    twins = themes.to_ascii(together, "ascii")
    assert len({*twins}) == len(together)


def test_only_unencodable_characters_are_replaced() -> None:
    assert themes.to_ascii("✓ Größe: 48 µs…", "latin-1") == "+ Größe: 48 µs."
    assert themes.to_ascii("✓ Größe 漢字", "ascii") == "+ Gr??e ????"
    assert themes.to_ascii("✓ 漢字", "utf-8") == "+ 漢字"
    assert themes.can_show_marks("utf-8")
    for encoding in ("latin-1", "koi8-r", "?"):
        assert not themes.can_show_marks(encoding)


def test_setting_chooses_ascii() -> None:
    for wish, is_plain in {"auto": False, "never": False, "always": True}.items():
        filters = LineFilters(wish).apply((), DARK.name, DARK.variables)
        assert any(isinstance(each, AsciiFilter) for each in filters) is is_plain


async def test_hidden_text_is_not_drawn_or_copied(
    app: MemtuiApp, settle: Settle
) -> None:
    text = "zebra" + "".join(chr(0xE0000 + code) for code in b"do this\x7f")
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await app.screen.mount(Static(f"{text}…", classes="shown"))
        await settle(pilot)
        assert "zebra…" in screen_text(app)
        assert not any(
            "\U000e0000" <= letter < "\U000e0080" for letter in screen_text(app)
        )
        app.copy_to_clipboard(text)
        assert app.clipboard == "zebra"


async def test_screen_in_ascii(app: MemtuiApp, settle: Settle) -> None:
    app._line_filters.set_ascii("always")
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await pilot.press(*["right"] * 2, "enter", "space")
        await settle(pilot)
        foreign = {letter for letter in screen_text(app) if not letter.isascii()}
        signs = {letter for letter in foreign if unicodedata.category(letter)[0] == "S"}
        assert not foreign & ASCII_MARKS.keys() and not signs
        bullets = app.screen.query_one(NodePage).bullets.bullets
        count = len(bullets[0].grip_ids)
        assert f" {count} v " in screen_text(app)
        app._line_filters.set_ascii("never")
        app.refresh_css(animate=False)
        await settle(pilot)
        assert f" {count} ▾ " in screen_text(app)


@pytest.mark.parametrize(("value", "is_colourless"), [("1", True), ("", False)])
async def test_no_color_keeps_every_mark(
    full_workspace: Workspace,
    app_of: AppOf,
    settle: Settle,
    monkeypatch: pytest.MonkeyPatch,
    value: str,
    is_colourless: bool,
) -> None:
    monkeypatch.setenv("NO_COLOR", value)
    app = app_of(full_workspace)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await pilot.press("right")
        await settle(pilot)
        styles = [(s.text, s.style) for s in segments(app) if s.style]
        coloured = [text for text, style in styles if style.color or style.bgcolor]
        assert bool(coloured) is not is_colourless
        if is_colourless:
            reversed_ = "".join(text for text, style in styles if style.reverse)
            underlined = "".join(text for text, style in styles if style.underline)
            dim = "".join(text for text, style in styles if style.dim)
            assert "asked: We decided on Postgres" in reversed_
            quote = (
                "We decided on Postgres for orders. Write the migration for the orders"
                " table, amounts in cents."
            )
            assert "".join(quote.split()) in "".join(underlined.split())
            assert "File created successfully" in dim
