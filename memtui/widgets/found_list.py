"""The list under the search bar: rows that are chosen while the focus stays above."""

from datetime import datetime, tzinfo

from textual import on
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from memtui.widgets import found_rows
from memtui.widgets.found_lines import Line, Sheet
from memtui.widgets.found_rows import FoundRow
from memtui.widgets.options import Options

ROOMY = (100, 30)
"""From this size of the terminal on, in columns and lines, what answers takes two lines
of a row, and what was said around it is shown."""


class FoundList(Options, can_focus=False):
    """Shows what was found, with the cursor on the best."""

    def __init__(self, zone: tzinfo) -> None:
        super().__init__(id="hits", markup=False)
        self._zone = zone
        self.lines: tuple[Line, ...] = ()
        self._rows: list[FoundRow] = []
        self._chosen = 0

    def show(self, sheet: Sheet, now: datetime) -> None:
        """Show what was found."""
        self.lines = sheet.lines
        times = [found_rows.when(line, now, self._zone) for line in self.lines]
        widest = max(map(len, times), default=0)
        columns, lines = self.app.size
        most = 2 if columns >= ROOMY[0] and lines >= ROOMY[1] else 1
        self._rows = [
            FoundRow(line, time, widest, lines=most)
            for line, time in zip(self.lines, times, strict=True)
        ]
        self._chosen = 0
        self.set_options(
            Option(row.chosen() if at == self._chosen else row)
            for at, row in enumerate(self._rows)
        )
        if self.lines:
            self.highlighted = 0

    @on(OptionList.OptionHighlighted)
    def mark(self, event: OptionList.OptionHighlighted) -> None:
        """Put the mark where the cursor is."""
        event.stop()
        here, before = self.highlighted, self._chosen
        if here is None or here == before:
            return
        self._chosen = here
        self.replace_option_prompt_at_index(before, self._rows[before])
        self.replace_option_prompt_at_index(here, self._rows[here].chosen())

    def choose(self, step: int) -> None:
        """Move the cursor, round the ends."""
        if self.lines:
            self.highlighted = ((self.highlighted or 0) + step) % len(self.lines)

    def turn_page(self, step: int) -> None:
        """Move the cursor by a page."""
        if self.lines:
            self.call_later(self.run_action, "page_down" if step > 0 else "page_up")
