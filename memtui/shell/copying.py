"""``backup``, ``restore`` and ``export``: the memory as one file, and back."""

import argparse
import os
import shlex
import sys
from collections import Counter
from datetime import tzinfo
from pathlib import Path
from typing import Any, TextIO

from memtui.errors import MemtuiError, StoreError
from memtui.house import House, settled
from memtui.memory.events import Event, from_ms
from memtui.memory.secrets import RULES_VERSION
from memtui.memory.sessions import Helper, SessionFacts
from memtui.memory.thoughts import Thought
from memtui.paths import Paths
from memtui.settings import Settings
from memtui.shell import asking, output, working
from memtui.shell.curating import BUSY
from memtui.shell.curating_grammar import STANDARD_OUTPUT
from memtui.sources import plain_lines
from memtui.stages.claim import Claim
from memtui.store import copies, database, everything
from memtui.store.copies import Outline
from memtui.store.tombstones import Kind

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
        output.as_json({"file": file.absolute(), "bytes": size} | _plain(found))
    else:
        held = f"{_told(found)}, {size / 1e6:,.1f} MB"
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
        opened.write(plain_lines.line(told))
        counted[NAMES[type(told)]] += 1
    opened.flush()
    return counted


def restore(
    file: Path, places: Paths, settings: Settings, *, is_agreed: bool, as_json: bool
) -> int:
    """Put a copy in the memory's place.

    The store may be damaged or missing, so no house is opened before it is replaced.
    """
    os.umask(0o077)
    paths = settled(places, settings)[1]
    with database.files_said_plainly(paths.store):
        paths.make()
    claim = Claim(paths.claim)
    if not claim.take():
        raise MemtuiError(BUSY)
    try:
        found, before = copies.outline(file), _there(paths.store)
        if not is_agreed and not _is_empty(before):
            refused = asking.may(_question(file, found, before), "Replace it?")
            if refused is not None:
                return refused
        copies.put(copies.prepare(file, paths.store), paths.store)
    finally:
        copies.discard(paths.store)
        claim.drop()
    return _digested(file, places, settings, found, before, as_json=as_json)


def _there(store: Path) -> Outline | str:
    """What is in the memory now, or why nobody can tell."""
    try:
        return copies.outline(store)
    except StoreError as error:
        return "" if not store.exists() else str(error)


def _is_empty(before: Outline | str) -> bool:
    return not before if isinstance(before, str) else not before.events


def _question(file: Path, found: Outline, before: Outline | str) -> list[str]:
    now = f"cannot be read ({before})" if isinstance(before, str) else _told(before)
    return [
        f"{file}: {_told(found)}.",
        f"The memory now: {now}.",
        "It is replaced by the copy as a whole; memtui backup keeps it.",
    ]


def _digested(
    file: Path,
    places: Paths,
    settings: Settings,
    found: Outline,
    before: Outline | str,
    *,
    as_json: bool,
) -> int:
    """Make the index of what was restored, and say what it is."""
    house = House(places, settings)
    try:
        errors = [str(error) for error in working.digest(house) or ()]
    finally:
        house.stop()
    to_do = _to_do(found, before, house.zone)
    if as_json:
        said = {"file": file.absolute(), "to_do": to_do, "errors": errors}
        output.as_json(said | _plain(found))
    else:
        output.lines([f"Restored from {file}: {_told(found)}.", *to_do])
        output.lines(f"error: {error}" for error in errors)
    return 1 if errors else 0


def _to_do(found: Outline, before: Outline | str, zone: tzinfo) -> list[str]:
    """What was taken out since the copy was made, and is back."""
    told: list[str] = []
    if isinstance(before, Outline) and (back := before.forgotten - found.forgotten):
        count = output.number_of(len(back), "thing")
        told.append(f"Forgotten since the copy was made and back with it: {count}.")
        told += [f"    memtui forget {_named(*stone, zone)}" for stone in sorted(back)]
    if found.redacted_by < RULES_VERSION:
        told.append("It may hold secrets that today's rules know: memtui redact")
    return told


def _named(kind: str, agent: str, subject: str, at_ms: int, zone: tzinfo) -> str:
    """What was forgotten, in the words of ``memtui forget``."""
    if kind == Kind.BEFORE:
        return f"{kind} {from_ms(at_ms).astimezone(zone):%Y-%m-%d}"
    return f"{kind} {shlex.quote(f'{agent}:{subject}' if agent else subject)}"


def _told(found: Outline) -> str:
    sessions = output.number_of(found.sessions, "session")
    events = output.number_of(found.events, "event")
    last = f", the last of {found.last_at:%Y-%m-%d %H:%M} UTC" if found.last_at else ""
    return f"{events} in {sessions}{last}"


def _plain(found: Outline) -> dict[str, Any]:
    return {
        "sessions": found.sessions,
        "events": found.events,
        "last_at": found.last_at,
    }
