"""How what could not be taken is put into words: its line in a list, and all of it."""

from datetime import datetime, tzinfo
from typing import TYPE_CHECKING

from textual.content import Content

from memtui.widgets import wording

if TYPE_CHECKING:
    from memtui.curate.refusals import Entry, Shown


def row(entry: "Entry", zone: tzinfo) -> Content:
    """An entry in two lines: when and whose, and why."""
    said = [entry.agent or "agent not named", entry.event]
    why = "; ".join(entry.reasons)
    if entry.file:
        said = [entry.agent or "a transcript", entry.file.rpartition("/")[2]]
        why = f"line {entry.line}: {why}" if entry.line else why
        if entry.count > 1:
            why += f", the last of {wording.counted(entry.count, 'record')}"
    about = " · ".join(part for part in said if part)
    at = entry.at.astimezone(zone)
    return Content.assemble(
        f"{at:%Y-%m-%d %H:%M}  ", (about, "bold"), (f"\n  {why}", "$context")
    )


def place(entry: "Entry") -> str:
    """The file and line of a transcript's record."""
    return f"{entry.file}:{entry.line}" if entry.line else entry.file


def how_much(entry: "Entry") -> str:
    """How long a hook's file is, or how many records of a transcript are meant."""
    if entry.file:
        return wording.counted(entry.count, "record")
    return wording.size(entry.size).replace("characters", "bytes")


def told(shown: "Shown", zone: tzinfo, now: datetime) -> Content:
    """What an entry says, under what is known of it."""
    text = Content(shown.text) if shown.text else Content.styled(shown.note, "$context")
    more = f"\n\nThere is more: memtui quarantine show {shown.entry.name}"
    return Content.assemble(
        _head(shown.entry, zone, now), "\n\n", text, (more if shown.is_cut else "", "")
    )


def _head(entry: "Entry", zone: tzinfo, now: datetime) -> Content:
    at = entry.at.astimezone(zone)
    agent = entry.agent or "agent not named"
    about = [f"{at:%Y-%m-%d %H:%M} ({wording.ago(entry.at, now)})", agent, entry.event]
    lines = [" · ".join([*filter(None, about), how_much(entry)])]
    if entry.file:
        lines.append(place(entry))
    return Content.assemble(
        ("\n".join(lines), "$context"), ("\n" + "\n".join(entry.reasons), "$error")
    )
