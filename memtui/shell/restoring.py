"""``restore``: a copy made by ``backup`` in the memory's place.

The store may be damaged or missing, so no house is opened before it is replaced.
"""

import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path
from typing import Any

from memtui.errors import MemtuiError, StoreError
from memtui.house import House, settling
from memtui.memory.secrets import RULES_VERSION
from memtui.paths import Paths
from memtui.settings import Settings
from memtui.shell import confirming, copying, curating, output, working
from memtui.stages.claim import Claim
from memtui.store import copies, database
from memtui.store.copies import Outline


@dataclass(frozen=True, slots=True)
class _Swap:
    """What is to be replaced by what."""

    file: Path
    copy: Outline
    now: Outline | None
    """What is in the memory; None if there is none, or it cannot be read."""
    damage: str = ""
    """Why it cannot."""

    @property
    def loses_anything(self) -> bool:
        return bool(self.damage or (self.now and self.now.events))

    def told(self) -> list[str]:
        """What would be replaced by what, in words."""
        told = [f"{self.file}: {copying.outlined(self.copy)}."]
        if self.damage:
            told.append(f"The memory now cannot be read: {self.damage}.")
        elif self.now:
            told.append(f"The memory now: {copying.outlined(self.now)}.")
        return told

    def to_do(self, zone: tzinfo) -> list[str]:
        """The commands that take out again what the copy brought back."""
        back = self.now.forgotten - self.copy.forgotten if self.now else ()
        named = [(s.kind, shlex.quote(curating.named(s, zone))) for s in back]
        commands = [f"memtui forget {kind} {name}" for kind, name in sorted(named)]
        if self.copy.redacted_by < RULES_VERSION:
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
    paths = settling.settled(places, settings)[1]
    if is_tried:
        copies.check(file)
        swap = _swap(file, paths.store)
        _say(swap, swap.told(), None, as_json=as_json)
        return 0
    with _claimed(paths):
        swap = _swap(file, paths.store)
        refused = None if is_agreed else _asked(swap)
        if refused is not None:
            return refused
        copies.put(copies.prepare(file, paths.store), paths.store)
    house = House(places, settings)
    try:
        errors = working.digest(house) or []
    finally:
        house.stop()
    _say_done(swap, swap.to_do(house.zone), [*map(str, errors)], as_json=as_json)
    return 1 if errors else 0


def _asked(swap: _Swap) -> int | None:
    """The exit code if a person does not want it, None if they do."""
    if not swap.loses_anything:
        return None
    warned = [*swap.told(), "It is replaced as a whole; memtui backup keeps it."]
    return confirming.may(warned, "Replace it?")


@contextmanager
def _claimed(paths: Paths) -> Iterator[None]:
    """The right to work the store; nothing that was prepared is left behind."""
    with database.files_said_plainly(paths.store):
        paths.make()
    claim = Claim(paths.claim)
    if not claim.take():
        raise MemtuiError(curating.BUSY)
    try:
        yield
    finally:
        copies.discard(paths.store)
        claim.drop()


def _swap(file: Path, store: Path) -> _Swap:
    copy = copies.outline(file)
    if not store.exists():
        return _Swap(file, copy, None)
    try:
        return _Swap(file, copy, copies.outline(store))
    except StoreError as error:
        return _Swap(file, copy, None, str(error))


def _say_done(
    swap: _Swap, to_do: list[str], errors: list[str], *, as_json: bool
) -> None:
    told = [f"Restored from {swap.file}: {copying.outlined(swap.copy)}."]
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
        output.as_json(said | copying.plain(swap.copy) | (more or {}))
    else:
        output.lines(told)
