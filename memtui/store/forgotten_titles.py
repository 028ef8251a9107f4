"""Titles that say what was forgotten: known by their hashes, and not taken again."""

import hashlib
from typing import Any

from memtui.memory.events import clean
from memtui.store import tombstones
from memtui.store.tables.keeping import TombstoneRow
from memtui.store.tombstones import Kind, Tombstone


def stone(title: str) -> Tombstone:
    """The echo of a title."""
    return Tombstone(Kind.TITLE, _hash(title))


def is_covered(title: str) -> bool:
    """Whether a title says what was forgotten."""
    return bool(title) and tombstones.has(stone(title))


def without(state: object) -> Any:
    """A value of JSON's types without the titles that say what was forgotten."""
    rows = TombstoneRow.select(TombstoneRow.subject).where(
        TombstoneRow.kind == Kind.TITLE.value
    )
    hashes = {subject for (subject,) in rows.tuples()}
    return _blanked(state, hashes) if hashes else state


def _blanked(value: object, hashes: set[str]) -> object:
    if isinstance(value, str):
        return "" if value and _hash(value) in hashes else value
    if isinstance(value, dict):
        return {name: _blanked(held, hashes) for name, held in value.items()}
    if isinstance(value, list | tuple):
        return [_blanked(held, hashes) for held in value]
    return value


def _hash(title: str) -> str:
    plain = " ".join(clean(title).split()).encode("utf-8", "replace")
    return hashlib.blake2b(plain, digest_size=12).hexdigest()
