"""What could not be taken, two lines for each; more is asked for at the end."""

from collections.abc import Sequence
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from memtui.text import date_format
from memtui.tui import commands, format
from memtui.tui.messages import MoreRequested
from memtui.tui.widgets.item_list import ItemList

if TYPE_CHECKING:
    from memtui.services.quarantine import Entry, Shown


def row(entry: "Entry", zone: tzinfo) -> Content:
    """An entry in two lines: when and whose, and why."""
    said = [entry.agent or "agent not named", entry.event]
    why = "; ".join(entry.reasons)
    if entry.file:
        said = [entry.agent or "a transcript", entry.file.rpartition("/")[2]]
        why = f"line {entry.line}: {why}" if entry.line else why
        if entry.count > 1:
            why += f", the last of {format.quantity(entry.count, 'record')}"
    about = " · ".join(part for part in said if part)
    return Content.assemble(
        f"{date_format.moment(entry.at, zone)}  ",
        (about, "bold"),
        (f"\n  {why}", "$context"),
    )


def location(entry: "Entry") -> str:
    """The file and line of a transcript's record."""
    return f"{entry.file}:{entry.line}" if entry.line else entry.file


def describe_amount(entry: "Entry") -> str:
    """How long a hook's file is, or how many records of a transcript are meant."""
    if entry.file:
        return format.quantity(entry.count, "record")
    return format.size(entry.size).replace("characters", "bytes")


def describe_entry(shown: "Shown", zone: tzinfo, now: datetime) -> Content:
    """What an entry says, under what is known of it."""
    text = Content(shown.text) if shown.text else Content.styled(shown.note, "$context")
    more = f"\n\nThere is more: memtui quarantine show {shown.entry.name}"
    return Content.assemble(
        _head(shown.entry, zone, now), "\n\n", text, (more if shown.is_cut else "", "")
    )


def _head(entry: "Entry", zone: tzinfo, now: datetime) -> Content:
    agent = entry.agent or "agent not named"
    about = [
        f"{date_format.moment(entry.at, zone)} ({date_format.age(entry.at, now)})",
        agent,
        entry.event,
    ]
    lines = [" · ".join([*filter(None, about), describe_amount(entry)])]
    if entry.file:
        lines.append(location(entry))
    return Content.assemble(
        ("\n".join(lines), "$context"), ("\n" + "\n".join(entry.reasons), "$error")
    )


NEAR = 20
"""How many lines before its end more of the list is asked for."""


class QuarantineList(ItemList, inherit_bindings=False):
    """Moves through the entries."""

    BINDINGS: ClassVar[list[BindingType]] = commands.bindings(
        "first", "last", "cursor_up", "cursor_down", "page_up", "page_down",
        open="Go to what this one says.",
    )  # fmt: skip
    HELP_TITLE = "In the list of what could not be taken"

    def __init__(self, zone: tzinfo) -> None:
        super().__init__(id="entries", markup=False)
        self._zone = zone
        self.entries: list[Entry] = []
        self.total = 0

    @property
    def current(self) -> "Entry | None":
        """The entry the cursor is on."""
        at = self.highlighted
        return None if at is None or at >= len(self.entries) else self.entries[at]

    def show(self, entries: "Sequence[Entry]", total: int, returning: str = "") -> None:
        """List these; the cursor stays on its entry, or at its place.

        Args:
            entries: All there is to list so far.
            total: How much there is in all.
            returning: What the cursor goes back to, where that is listed again.
        """
        self.total = total
        if list(entries) == self.entries:
            return
        before, at = self.current, self.highlighted or 0
        self.entries = list(entries)
        names = [entry.name for entry in entries]
        for name in (returning, before.name if before else ""):
            if name in names:
                at = names.index(name)
                break
        with self.prevent(OptionList.OptionHighlighted):
            self.clear_options()
            self.add_options(map(self._option, entries))
        if names:
            self.highlighted = min(at, len(names) - 1)

    def add(self, entries: "Sequence[Entry]", total: int) -> None:
        """List more at the end; what is listed already stays where it is."""
        self.total = total
        known = {entry.name for entry in self.entries}
        new = [entry for entry in entries if entry.name not in known]
        self.entries += new
        self.add_options(map(self._option, new))

    def watch_highlighted(self, highlighted: int | None) -> None:
        """Ask for more where the end is near."""
        super().watch_highlighted(highlighted)
        listed = len(self.entries)
        if highlighted is not None and listed - NEAR <= highlighted < self.total - NEAR:
            self.post_message(MoreRequested())

    def action_open(self) -> None:
        """Go to what the entry says."""
        self.action_select()

    def _option(self, entry: "Entry") -> Option:
        return Option(row(entry, self._zone))
