"""With any content of a growing file, the store has each event once."""

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.capture import formats
from memtui.capture.formats.base import (
    InvalidRecord,
    ParsedItem,
    PendingRecord,
    SkippedRecord,
)
from memtui.capture.ingest import SpoolIngester, TranscriptReader, _as_problem
from memtui.capture.policy import CapturePolicy
from memtui.capture.spool import Spool
from memtui.model.events import Event, Thought
from memtui.store import database, events, sources
from memtui.store.sources import ProblemKind
from memtui.store.tombstones import any_exist
from memtui.text.tokens import ESTIMATING_COUNTER
from memtui.workspace import Workspace
from tests.capture import corpora
from tests.capture.conftest import READ_AT
from tests.capture.mutations import damaged, records
from tests.conftest import often
from tests.tables import ProblemRow, ThoughtRow

pytestmark = pytest.mark.fuzz

SOON = corpora.AT + timedelta(seconds=12)

KINDS = {
    InvalidRecord: ProblemKind.DAMAGED,
    SkippedRecord: ProblemKind.SKIPPED,
    PendingRecord: ProblemKind.INCOMPLETE,
}

FILES = count()
"""Counts the examples: each has its own file in the same store."""


def import_file(file: Path, *, is_last: bool) -> TranscriptReader:
    at = READ_AT if is_last else SOON
    files = TranscriptReader(
        agent="own",
        counter=ESTIMATING_COUNTER,
        clock=lambda: at,
        policy=CapturePolicy(),
    )
    for _ in files.read_file(file):
        pass
    return files


def stored_problems(file: Path) -> Counter[tuple[str, ProblemKind]]:
    rows = ProblemRow.select().where(ProblemRow.source == str(file))
    return Counter({(row.reason, ProblemKind(row.kind)): row.count for row in rows})


def reported_problems(items: list[ParsedItem]) -> Counter[tuple[str, ProblemKind]]:
    return Counter(
        (_as_problem(reading).reason, KINDS[type(reading)])
        for reading in items
        if isinstance(reading, InvalidRecord | SkippedRecord | PendingRecord)
    )


@pytest.mark.parametrize("name", list(corpora.MADE))
@often(25)
@given(data=st.data())
def test_store_contains_the_events_of_a_growing_file(
    name: str, workspace: Workspace, tmp_path: Path, data: st.DataObject
) -> None:
    raw = data.draw(damaged(partial(corpora.stretches, name)))
    cuts = data.draw(st.lists(st.integers(0, len(raw)), max_size=3).map(sorted))
    file = corpora.path(name, tmp_path / str(next(FILES)))
    for cut in cuts:
        file.write_bytes(raw[:cut])
        import_file(file, is_last=False)
    file.write_bytes(raw)
    taken = import_file(file, is_last=True)
    with database.connection():
        place = sources.get_cursor(str(file))
        if place is None or not place.source:
            why = [reason for reason, _ in stored_problems(file)]
            assert why in (["has an unknown format"], []), why
            assert bool(why) == bool(raw)
            return
        assert not taken.progress.unreadable, stored_problems(file)
        source = formats.FORMATS_BY_NAME[place.source]
        items = list(source.read(file, None, agent="own", now=READ_AT))
        ids = {r.event_id for r in items if isinstance(r, Event)}
        thoughts = {r.thought_id for r in items if isinstance(r, Thought)}
        assert set(events.get(ids)) == ids
        assert ThoughtRow.select().where(ThoughtRow.id.in_(thoughts)).count() == len(
            thoughts
        )
        assert stored_problems(file) == reported_problems(items)
        assert not any_exist()


@often(40)
@given(data=st.data())
def test_spool_is_emptied_of_any_files(
    workspace: Workspace, data: st.DataObject
) -> None:
    raws = data.draw(
        st.lists(damaged(lambda: [corpora.payloads()]), min_size=1, max_size=3)
        | records(lambda: [corpora.payloads()])
    )
    spool = Spool(workspace.paths.spool)
    spool.create()
    for raw in raws:
        (spool.folder / "new" / f"{next(FILES):06}.json").write_bytes(raw)
    before = len(spool.quarantined())
    ingest = SpoolIngester(spool, ESTIMATING_COUNTER, lambda: READ_AT, CapturePolicy())
    assert ingest.step() == len(raws)
    assert spool.names() == []
    assert 0 <= len(spool.quarantined()) - before <= len(raws)
    assert not [why for why in reasons(spool.folder / "bad") if "Error" in why]


def reasons(bad: Path) -> Iterator[str]:
    for file in bad.glob("*.reason"):
        yield from file.read_text().splitlines()
