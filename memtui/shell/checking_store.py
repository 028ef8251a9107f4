"""What ``doctor`` looks at of the store's file: is it there, ours, and whole?

Nothing here takes the right to work, makes a file or changes the store.
"""

import os
import sys
from pathlib import Path

from memtui.errors import StoreBusy, StoreError
from memtui.recall import checkups
from memtui.recall.checkups import Opened
from memtui.search.index import Index
from memtui.shell import output
from memtui.shell.diagnosing import Finding, Patient, size

SLOW_BYTES = 50_000_000
"""A store larger than this takes a moment to be checked, and that is said."""

UNDAMAGED = "memtui restore FILE from a backup; without one move it away: memtui import"
"""What to do with a store that cannot be used."""


def look(patient: Patient) -> tuple[Finding, bool]:
    """How the store is, and whether it can be asked further."""
    file = patient.places.store
    if not file.exists():
        there = next(place for place in file.parents if place.exists())
        if not (there.is_dir() and os.access(there, os.W_OK | os.X_OK)):
            says = f"there is none, and {there} cannot be written"
            cure = f"chmod u+rwx {there}, or name another place: --home DIR"
            return _of_store(file, False, says, cure), False
        return _of_store(file, True, "nothing is kept yet", "memtui import"), False
    if file.is_dir():
        says, cure = f"{file} is a folder, not a file", f"mv {file} {file}.away"
        return _of_store(file, False, says, cure), False
    try:
        opened = checkups.look_at(file)
        return _opened(patient, opened)
    except StoreBusy as error:
        cure = f"end the program that holds it: fuser {file}"
        return _of_store(file, False, str(error), cure), False
    except StoreError as error:
        cure = UNDAMAGED if "damaged" in str(error) else f"chmod u+rw {file}"
        return _of_store(file, False, str(error), cure), False


def _opened(patient: Patient, opened: Opened) -> tuple[Finding, bool]:
    file = patient.places.store
    if opened.schema > opened.latest:
        says = (
            f"{file} was made by a newer memtui (schema {opened.schema};"
            f" this one knows {opened.latest})"
        )
        return _of_store(file, False, says, "upgrade memtui"), False
    if not opened.schema:
        return _bare(patient), False
    if opened.schema < opened.latest:
        says = f"{file} is of an older schema ({opened.schema} of {opened.latest})"
        cure = "memtui work --until-idle brings it up to date"
        return _of_store(file, True, says, cure), False
    if damages := _damages(file):
        return _of_store(file, False, "; ".join(damages), UNDAMAGED), True
    events, sessions = checkups.kept()
    told = f"{events:,} events in {output.number_of(sessions, 'session')}"
    says = f"{told}, {size(file.stat().st_size)}, undamaged"
    for place in (file, file.parent):
        if not os.access(place, os.W_OK):
            says += f", but {place} cannot be written: nothing new is kept"
            cure = f"make it writable: chmod u+rwX {place}, or mount the disk for it"
            return _of_store(file, False, says, cure), True
    return _of_store(file, True, says), True


def _bare(patient: Patient) -> Finding:
    """What a file is that no memtui has put its tables in."""
    file = patient.places.store
    if file.stat().st_size:
        says = f"{file} is the database of another program"
        cure = "name another place for the memory: store.path in the settings"
        return _of_store(file, False, says, cure)
    if not Index(patient.places.index).name():
        return _of_store(file, True, "nothing is kept yet", "memtui import")
    says = f"{file} is empty, though there was something in it"
    return _of_store(file, False, says, UNDAMAGED)


def _of_store(file: Path, is_well: bool, says: str, cure: str = "") -> Finding:
    return Finding("store", is_well, says, cure, str(file))


def _damages(file: Path) -> list[str]:
    length = file.stat().st_size
    if length > SLOW_BYTES and sys.stderr.isatty():
        print(f"memtui: checking the store ({size(length)}) …", file=sys.stderr)
    return checkups.damages()
