"""``backup`` and ``export``: the memory as one file."""

import argparse
import sys
from collections import Counter
from pathlib import Path
from typing import Any, TextIO

from memtui.house import House
from memtui.memory.events import Event
from memtui.memory.sessions import Helper, SessionFacts
from memtui.memory.thoughts import Thought
from memtui.shell import output
from memtui.shell.curating_grammar import STANDARD_OUTPUT
from memtui.sources.plain import writing
from memtui.store import copies, database, everything
from memtui.store.copies import Outline

NAMES = {
    SessionFacts: "session",
    Event: "event",
    Helper: "subagent",
    Thought: "thought",
}
"""What the lines of an export are called."""


def run(house: House, given: argparse.Namespace) -> int:
    """Run one of the commands that copy what is kept."""
    wish = {"may_replace": given.force, "as_json": given.json}
    if given.command == "backup":
        return backup(given.file, **wish)
    if given.events == STANDARD_OUTPUT:
        with database.connected():
            _write(sys.stdout)
        return 0
    return export(given.events, **wish)


def backup(file: Path, *, may_replace: bool, as_json: bool) -> int:
    """Copy the memory into a file."""
    found = copies.make(file, may_replace=may_replace)
    size = file.stat().st_size
    if as_json:
        output.as_json({"file": file.absolute(), "bytes": size} | plain(found))
    else:
        held = f"{outlined(found)}, {size / 1e6:,.1f} MB"
        output.lines([f"Copied to {file}: {held}."])
    return 0


def export(file: Path, *, may_replace: bool, as_json: bool) -> int:
    """Write what was said into a file, in lines that can be imported."""
    with (
        database.connected(),
        copies.written(file, may_replace=may_replace) as draft,
        draft.open("w", encoding="utf-8", errors="replace") as opened,
    ):
        counted = _write(opened)
    size = file.stat().st_size
    if as_json:
        output.as_json({"file": file.absolute(), "bytes": size, "records": counted})
    else:
        held = ", ".join(output.number_of(n, name) for name, n in counted.items())
        output.lines([f"Written to {file}: {held or 'nothing'}, {size / 1e6:,.1f} MB."])
    return 0


def _write(opened: TextIO) -> Counter[str]:
    counted: Counter[str] = Counter()
    for told in everything.told():
        opened.write(writing.line(told))
        counted[NAMES[type(told)]] += 1
    opened.flush()
    return counted


def outlined(found: Outline) -> str:
    """What is in a store, in a line."""
    sessions = output.number_of(found.sessions, "session")
    events = output.number_of(found.events, "event")
    last = f", the last of {found.last_at:%Y-%m-%d %H:%M} UTC" if found.last_at else ""
    return f"{events} in {sessions}{last}"


def plain(found: Outline) -> dict[str, Any]:
    """The same for programs."""
    return {
        "sessions": found.sessions,
        "events": found.events,
        "last_at": found.last_at,
    }
