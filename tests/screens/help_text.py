"""Read the text of the help."""

from collections.abc import Sequence
from itertools import pairwise

from textual.app import App
from textual.widgets import Static

from memtui.errors import MemtuiError
from memtui.tui.screens.help import ELSEWHERE, KEY_CELLS, HelpScreen
from memtui.tui.widgets.text_block import Stack


def _parts(app: App[str | MemtuiError]) -> Sequence[str]:
    """Return the parts of the help, as wide as needed."""
    assert isinstance(app.screen, HelpScreen)
    page = app.screen.query_one("#help Static", Static).visual
    assert isinstance(page, Stack)
    return page.lay_out(300).plain.split("\n\n")


def lines(app: App[str | MemtuiError]) -> Sequence[str]:
    """Return the lines of the help, without those on other screens."""
    parts = [part for part in _parts(app) if not part.startswith(ELSEWHERE)]
    return "\n\n".join(parts).splitlines()


def elsewhere(app: App[str | MemtuiError]) -> Sequence[str]:
    """Return the lines about keys of other screens."""
    parts = [part for part in _parts(app) if part.startswith(ELSEWHERE)]
    return [line for part in parts for line in part.splitlines()[1:]]


def headings(app: App[str | MemtuiError]) -> Sequence[str]:
    """Return the headings of its parts."""
    return [line for before, line in pairwise(["", *lines(app)]) if not before]


def keys(app: App[str | MemtuiError]) -> Sequence[str]:
    """Return the keys and the marks."""
    parts = headings(app)
    rows = [line for line in lines(app) if line and line not in parts]
    return [line[:KEY_CELLS].strip() for line in rows]


def help_texts(app: App[str | MemtuiError]) -> Sequence[str]:
    """Return the sentences behind the keys."""
    return [line[KEY_CELLS:] for line in lines(app) if line.endswith(".")]
