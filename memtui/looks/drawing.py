"""How lines go to the terminal: with marks or their twins, and without colour if asked.

``NO_COLOR`` is read here, at the edge: any text in it means no colour, an empty one
means nothing (https://no-color.org).
"""

import os
import sys
from collections.abc import Mapping, Sequence

from textual.filter import LineFilter, Monochrome, NoColor

from memtui.widgets.colourless import NoColours
from memtui.widgets.marks import PlainMarks, can_show

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
