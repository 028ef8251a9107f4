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

from memtui.errors import MemtuiError, StoreError
from memtui.house import House, settled
from memtui.memory.secrets import RULES_VERSION
from memtui.paths import Paths
from memtui.settings import Settings
from memtui.shell import asking, copying, curating, output, working
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
        """What was taken out since the copy was made, and is back with it."""
        told: list[str] = []
        if self.now and (back := self.now.forgotten - self.copy.forgotten):
            told.append("What was forgotten since is back; to forget it again:")
            for stone in back:
                named = shlex.quote(curating.named(stone, zone))
                told.append(f"    memtui forget {stone.kind} {named}")
            told[1:] = sorted(told[1:])
        if self.copy.redacted_by < RULES_VERSION:
            told.append("It may hold secrets that today's rules know: memtui redact")
        return told


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
    paths = settled(places, settings)[1]
    if is_tried:
        copies.check(file)
        swap = _swap(file, paths.store)
        _say(swap, swap.told(), is_done=False, as_json=as_json)
        return 0
    with _claimed(paths):
        swap = _swap(file, paths.store)
        if swap.loses_anything and not is_agreed:
            warned = [
                *swap.told(),
                "It is replaced as a whole; memtui backup keeps it.",
            ]
            refused = asking.may(warned, "Replace it?")
            if refused is not None:
                return refused
        copies.put(copies.prepare(file, paths.store), paths.store)
    house = House(places, settings)
    try:
        errors = working.digest(house) or []
    finally:
        house.stop()
    to_do = swap.to_do(house.zone) + [f"error: {error}" for error in errors]
    told = [f"Restored from {file}: {copying.outlined(swap.copy)}.", *to_do]
    _say(swap, told, is_done=True, as_json=as_json)
    return 1 if errors else 0


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


def _say(swap: _Swap, told: list[str], *, is_done: bool, as_json: bool) -> None:
    if as_json:
        said = {"file": swap.file.absolute(), "is_done": is_done}
        output.as_json(said | copying.plain(swap.copy) | {"to_do": told[1:]})
    else:
        output.lines(told)
