"""The list of skipped input, and the description of an entry.

Entries are read in pages; the list asks for more when its end comes near.
"""

from collections.abc import Sequence
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType
from textual.content import Content
from textual.widgets.option_list import Option

from memtui.text import date_format
from memtui.tui import commands, format
from memtui.tui.messages import MoreRequested
from memtui.tui.widgets.item_list import ItemList

if TYPE_CHECKING:
    from memtui.services.quarantine import QuarantineContent, QuarantineEntry

PREFETCH = 20
"""The distance from the end at which the list asks for more, in entries."""

UNKNOWN_AGENT = "unknown agent"


class QuarantineList(ItemList["QuarantineEntry"]):
    """Moves through the entries."""

    BINDINGS: ClassVar[list[BindingType]] = commands.bindings(
        open="Go to the details of this entry."
    )
    HELP_TITLE = "In the list of skipped input"

    def __init__(self, zone: tzinfo) -> None:
        super().__init__(id="entries")
        self._zone = zone
        self.total = 0

    def show(
        self, entries: "Sequence[QuarantineEntry]", total: int, returning: str = ""
    ) -> None:
        """List entries; the cursor stays on its entry, or at its index.

        Args:
            entries: All entries read so far.
            total: How many there are.
            returning: The name of an entry the cursor goes to if it is listed.
        """
        self.total = total
        items = {entry.name: entry for entry in entries}
        if items == self.items:
            return
        if returning not in items:
            returning = self.current.name if self.current else ""
        if entries and returning not in items:
            returning = entries[min(self.highlighted or 0, len(entries) - 1)].name
        self.show_items(items, map(self._option, entries), returning)

    def add(self, entries: "Sequence[QuarantineEntry]", total: int) -> None:
        """Append entries that are not listed yet."""
        self.total = total
        new = [entry for entry in entries if entry.name not in self.items]
        self.items |= {entry.name: entry for entry in new}
        self.add_options(map(self._option, new))

    def watch_highlighted(self, highlighted: int | None) -> None:
        """Ask for more entries near the end of the list."""
        super().watch_highlighted(highlighted)
        if highlighted is None or highlighted >= self.total - PREFETCH:
            return
        if highlighted >= len(self.items) - PREFETCH:
            self.post_message(MoreRequested())

    def _option(self, entry: "QuarantineEntry") -> Option:
        return Option(_draw_entry(entry, self._zone), id=entry.name)


def _draw_entry(entry: "QuarantineEntry", zone: tzinfo) -> Content:
    """Draw an entry in two lines: time and origin, and the reason."""
    parts = [entry.agent or UNKNOWN_AGENT, entry.event]
    reason = "; ".join(entry.reasons)
    if entry.file:
        parts = [entry.agent or UNKNOWN_AGENT, entry.file.rpartition("/")[2]]
        reason = f"line {entry.line}: {reason}" if entry.line else reason
        if entry.count > 1:
            reason += f" (last of {format.quantity(entry.count, 'record')})"
    return Content.assemble(
        f"{date_format.moment(entry.at, zone)}  ",
        (" · ".join(filter(None, parts)), "bold"),
        (f"\n  {reason}", "$context"),
    )


def location(entry: "QuarantineEntry") -> str:
    """Return the file and line of a record of a transcript."""
    return f"{entry.file}:{entry.line}" if entry.line else entry.file


def describe_amount(entry: "QuarantineEntry") -> str:
    """Return the number of records of a transcript, or the size of a hook's file."""
    if entry.file:
        return format.quantity(entry.count, "record")
    return format.size(entry.size).replace("characters", "bytes")


def describe_entry(shown: "QuarantineContent", zone: tzinfo, now: datetime) -> Content:
    """Describe an entry: time, origin and reasons, then its text."""
    entry = shown.entry
    when = f"{date_format.moment(entry.at, zone)} ({date_format.age(entry.at, now)})"
    parts = [when, entry.agent or UNKNOWN_AGENT, entry.event, describe_amount(entry)]
    lines = [" · ".join(filter(None, parts))]
    if entry.file:
        lines.append(location(entry))
    text = Content(shown.text) if shown.text else Content.styled(shown.note, "$context")
    more = f"\n\nThere is more: memtui quarantine show {entry.name}"
    return Content.assemble(
        ("\n".join(lines), "$context"),
        ("\n" + "\n".join(entry.reasons), "$error"),
        "\n\n",
        text,
        more if shown.is_cut else "",
    )
