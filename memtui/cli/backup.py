"""``backup`` and ``export``: the memory as one file."""

import argparse
import os
import shlex
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, tzinfo
from pathlib import Path
from typing import Any, TextIO

from memtui import workspace
from memtui.capture.formats import plain as formats_plain
from memtui.cli import forget, output, work
from memtui.cli.grammar import STANDARD_OUTPUT
from memtui.errors import MemtuiError, StoreError
from memtui.model.events import Event, Thought
from memtui.model.sessions import SessionMetadata, SubagentMetadata
from memtui.paths import Paths
from memtui.pipeline.worker_lock import WorkerLock
from memtui.settings import Settings
from memtui.store import archive, database
from memtui.store import backup as store_backup
from memtui.store.backup import StoreInfo
from memtui.text import date_format
from memtui.text.secrets import RULES_VERSION
from memtui.workspace import Workspace

NAMES = {
    SessionMetadata: "session",
    Event: "event",
    SubagentMetadata: "subagent",
    Thought: "thought",
}
"""What the lines of an export are called."""


def run(house: Workspace, given: argparse.Namespace) -> int:
    """Run one of the commands that copy what is kept."""
    wish = {"may_replace": given.force, "as_json": given.json}
    if given.command == "backup":
        return backup(given.file, **wish)
    if given.events == STANDARD_OUTPUT:
        with database.connection():
            _write(sys.stdout)
        return 0
    return export(given.events, **wish)


def backup(file: Path, *, may_replace: bool, as_json: bool) -> int:
    """Copy the memory into a file."""
    found = store_backup.create(file, may_replace=may_replace)
    size = file.stat().st_size
    if as_json:
        output.as_json({"file": file.absolute(), "bytes": size} | plain(found))
    else:
        held = f"{outlined(found)}, {size / 1e6:,.1f} MB"
        output.print_lines([f"Copied to {file}: {held}."])
    return 0


def export(file: Path, *, may_replace: bool, as_json: bool) -> int:
    """Write what was said into a file, in lines that can be imported."""
    with (
        database.connection(),
        store_backup.replacement(file, may_replace=may_replace) as draft,
        draft.open("w", encoding="utf-8", errors="replace") as opened,
    ):
        counted = _write(opened)
    size = file.stat().st_size
    if as_json:
        output.as_json({"file": file.absolute(), "bytes": size, "records": counted})
    else:
        held = ", ".join(output.plural(n, name) for name, n in counted.items())
        output.print_lines(
            [f"Written to {file}: {held or 'nothing'}, {size / 1e6:,.1f} MB."]
        )
    return 0


def _write(opened: TextIO) -> Counter[str]:
    counted: Counter[str] = Counter()
    for told in archive.read_all():
        opened.write(formats_plain.to_line(told))
        counted[NAMES[type(told)]] += 1
    opened.flush()
    return counted


def outlined(found: StoreInfo) -> str:
    """What is in a store, in a line."""
    sessions = output.plural(found.sessions, "session")
    events = output.plural(found.events, "event")
    last = (
        f", the last of {date_format.moment(found.last_at, UTC)} UTC"
        if found.last_at
        else ""
    )
    return f"{events} in {sessions}{last}"


def plain(found: StoreInfo) -> dict[str, Any]:
    """The same for programs."""
    return {
        "sessions": found.sessions,
        "events": found.events,
        "last_at": found.last_at,
    }


@dataclass(frozen=True, slots=True)
class _Swap:
    """What is to be replaced by what."""

    file: Path
    copy: StoreInfo
    now: StoreInfo | None
    """What is in the memory; None if there is none, or it cannot be read."""
    damage: str = ""
    """Why it cannot."""

    @property
    def loses_anything(self) -> bool:
        return bool(self.damage or (self.now and self.now.events))

    def told(self) -> list[str]:
        """What would be replaced by what, in words."""
        told = [f"{self.file}: {outlined(self.copy)}."]
        if self.damage:
            told.append(f"The memory now cannot be read: {self.damage}.")
        elif self.now:
            told.append(f"The memory now: {outlined(self.now)}.")
        return told

    def to_do(self, zone: tzinfo) -> list[str]:
        """The commands that take out again what the copy brought back."""
        back = self.now.forgotten - self.copy.forgotten if self.now else ()
        named = [(s.kind, shlex.quote(forget.named(s, zone))) for s in back]
        commands = [f"memtui forget {kind} {name}" for kind, name in sorted(named)]
        if self.copy.redaction_version < RULES_VERSION:
            commands.append("memtui redact")
        return commands


def restore(
    file: Path,
    places: Paths,
    settings: Settings,
    *,
    is_tried: bool,
    is_agreed: bool,
    as_json: bool,
) -> int:
    """Put a copy in the memory's place.

    Args:
        file: The copy.
        places: Where everything lies.
        settings: The settings.
        is_tried: Only see whether the copy is whole, and say what it would replace.
        is_agreed: Whether the person need not be asked.
        as_json: Whether to answer in JSON.
    """
    os.umask(0o077)
    paths = workspace.resolve_paths(places, settings)[1]
    if is_tried:
        store_backup.check(file)
        swap = _swap(file, paths.store)
        _say(swap, swap.told(), None, as_json=as_json)
        return 0
    with _claimed(paths):
        swap = _swap(file, paths.store)
        refused = None if is_agreed else _asked(swap)
        if refused is not None:
            return refused
        store_backup.restore(
            store_backup.prepare_restore(file, paths.store), paths.store
        )
    house = Workspace(places, settings)
    try:
        errors = work.digest(house) or []
    finally:
        house.stop()
    _say_done(swap, swap.to_do(house.zone), [*map(str, errors)], as_json=as_json)
    return 1 if errors else 0


def _asked(swap: _Swap) -> int | None:
    """The exit code if a person does not want it, None if they do."""
    if not swap.loses_anything:
        return None
    warned = [*swap.told(), "It is replaced as a whole; memtui backup keeps it."]
    return output.may(warned, "Replace it?")


@contextmanager
def _claimed(paths: Paths) -> Iterator[None]:
    """The right to work the store; nothing that was prepared is left behind."""
    with database.translate_file_errors(paths.store):
        paths.make_folders()
    claim = WorkerLock(paths.worker_lock)
    if not claim.acquire():
        raise MemtuiError(forget.BUSY)
    try:
        yield
    finally:
        store_backup.discard_restore(paths.store)
        claim.release()


def _swap(file: Path, store: Path) -> _Swap:
    copy = store_backup.read_info(file)
    if not store.exists():
        return _Swap(file, copy, None)
    try:
        return _Swap(file, copy, store_backup.read_info(store))
    except StoreError as error:
        return _Swap(file, copy, None, str(error))


def _say_done(
    swap: _Swap, to_do: list[str], errors: list[str], *, as_json: bool
) -> None:
    told = [f"Restored from {swap.file}: {outlined(swap.copy)}."]
    if to_do:
        told.append("To take out again what the copy brought back:")
    told += [f"    {command}" for command in to_do]
    told += [f"error: {error}" for error in errors]
    _say(swap, told, {"to_do": to_do, "errors": errors}, as_json=as_json)


def _say(
    swap: _Swap, told: list[str], more: dict[str, Any] | None, *, as_json: bool
) -> None:
    """Say what was done, with more for programs; None if nothing was."""
    if as_json:
        said = {"file": swap.file.absolute(), "is_done": more is not None}
        output.as_json(said | plain(swap.copy) | (more or {}))
    else:
        output.print_lines(told)
