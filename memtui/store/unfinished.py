"""A forgetting that is noted and not done yet: whoever goes on with it finds it here.

It holds what tombstones hold, and no text; it is gone with what it is about.
"""

import json
from collections.abc import Sequence

from memtui.store.tables.keeping import MetaRow
from memtui.store.tombstones import Kind, Tombstone

_FORGETTING = "forgetting"


def note(kind: Kind, stones: Sequence[Tombstone]) -> None:
    """Note what is to go; inside the transaction that notes its tombstones."""
    told = [[s.kind.value, s.subject, s.agent, s.at_ms] for s in stones]
    said = json.dumps({"kind": kind.value, "stones": told})
    MetaRow.insert(name=_FORGETTING, value=said).on_conflict_replace().execute()


def noted() -> tuple[Kind, list[Tombstone]] | None:
    """What is still to go, of which kind; None if all of it is gone."""
    row = MetaRow.get_or_none(MetaRow.name == _FORGETTING)
    if row is None:
        return None
    said = json.loads(row.value)
    stones = [Tombstone(Kind(kind), *rest) for kind, *rest in said["stones"]]
    return Kind(said["kind"]), stones


def done() -> None:
    """Note that nothing is left to go; inside the transaction that deletes it."""
    MetaRow.delete().where(MetaRow.name == _FORGETTING).execute()


def spare(stones: Sequence[Tombstone]) -> None:
    """Leave out what may come back after all."""
    left = noted()
    if left is None:
        return
    kind, before = left
    after = [stone for stone in before if stone not in stones]
    if after:
        note(kind, after)
    else:
        done()
