"""The clock is set back: order and ids stay right, and nothing is lost."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from memtui.capture.spool import Spool
from memtui.model.events import Event, is_event_id
from memtui.model.nodes import Summary
from memtui.model.work import Facts
from memtui.paths import in_home
from memtui.pipeline.config import PipelineConfig
from memtui.pipeline.pipeline import Pipeline
from memtui.services import status
from memtui.settings import Settings
from memtui.store import database, sources
from memtui.summarize.segmenter import SegmentRules
from memtui.summarize.summarizer import ExtractiveSummarizer
from memtui.text.tokens import ESTIMATING_COUNTER
from memtui.workspace import Workspace
from tests.deduplication.deliveries import (
    START,
    TreeOf,
    hook,
    import_paths,
    session_records,
    write_hook_files,
)
from tests.tables import EventRow

HOUR = timedelta(hours=1)


class Moody(ExtractiveSummarizer):
    """A summarizer that fails while it is told to."""

    fails = False

    def summarize_events(
        self, events: Sequence[Event], facts: Facts, **others: Any
    ) -> Summary:
        if self.fails:
            raise ValueError("not now")
        return super().summarize_events(events, facts, **others)


class At:
    """The works of a home, and a clock that can be set."""

    def __init__(self, home: Path, settings: Settings) -> None:
        self.now = START + HOUR
        self.workspace = Workspace(in_home(home), settings)
        self.summarizer = Moody()
        paths = self.workspace.paths
        self.works = Pipeline(
            PipelineConfig(
                spool=paths.spool,
                node_index=paths.index,
                message_index=paths.message_index,
                lock_file=paths.worker_lock,
                zone=self.workspace.zone,
                rules=SegmentRules(),
                counter=ESTIMATING_COUNTER,
                summarizer=self.summarizer,
                clock=lambda: self.now,
                agent="agent",
            )
        )

    def settle_later(self, after_start: timedelta) -> None:
        """Settle at another time, when all that is checked now and then is due."""
        self.now = START + after_start
        self.works._ingester._next_drafts_s = 0.0
        self.works._tail._next_quick_check_s = 0.0
        self.settle()

    def settle(self) -> None:
        assert self.works.run_until_idle(lambda _: None) == []


@pytest.fixture
def at(tmp_path: Path, settings: Settings) -> Iterator[At]:
    at = At(tmp_path / "home", settings)
    yield at
    at.workspace.stop()


def texts() -> list[str]:
    with database.connection():
        rows = EventRow.select().order_by(EventRow.at_ms, EventRow.ordinal, EventRow.id)
        stored = [(row.id, row.text) for row in rows]
    assert all(is_event_id(name) for name, _ in stored)
    assert [name for name, _ in stored] == sorted(name for name, _ in stored)
    return [text for _, text in stored]


def prompts(*numbers: int) -> str:
    return "".join(
        hook(n, "UserPromptSubmit", prompt=f"Why does parquet {n} time out?")
        for n in numbers
    )


def test_hook_files_are_read_by_their_time_after_a_clock_is_set_back(
    at: At,
) -> None:
    new = at.workspace.paths.spool / "new"
    write_hook_files(new, 9, prompts(1, 2))
    write_hook_files(new, 1, prompts(3, 4))
    at.settle()
    assert texts() == [f"Why does parquet {n} time out?" for n in (1, 2, 3, 4)]


def test_hook_files_from_the_future_wait_in_the_quarantine(
    at: At,
) -> None:
    write_hook_files(at.workspace.paths.spool / "new", 1, prompts(1, 30))
    at.now = START + timedelta(minutes=3)
    at.settle()
    assert len(texts()) == 1
    assert status.read_stats().skipped == 1
    box = Spool(at.workspace.paths.spool)
    (file,) = box.quarantined()
    reasons = box.reason_lines("bad", file.name)
    assert reasons == ["line 1: a timestamp in the future"]
    at.settle_later(timedelta(minutes=20))
    assert len(texts()) == 1
    at.settle_later(timedelta(minutes=31))
    assert len(texts()) == 2
    assert status.read_stats().skipped == 0
    assert list((at.workspace.paths.spool / "new").iterdir()) == []


def test_retry_of_a_wrong_file_waits_for_no_time(at: At) -> None:
    new = at.workspace.paths.spool / "new"
    write_hook_files(new, 1, hook(1, "Novelty", prompt="nobody knows this"))
    at.settle()
    at.settle_later(timedelta(days=400))
    assert len(Spool(at.workspace.paths.spool).quarantined()) == 1


def test_records_from_the_future_are_stored_once_their_time_has_come(
    at: At, tmp_path: Path
) -> None:
    file = tmp_path / "s1.jsonl"
    file.write_text(session_records("s1", 1, 2, 30))
    at.now = START + timedelta(minutes=10)
    import_paths(at.works, file)
    assert len(texts()) == 2
    with database.connection():
        (problem,) = sources.list_damaged()
    assert problem.source == str(file)
    assert problem.reason == "a timestamp in the future"
    with file.open("a") as grown:
        grown.write(session_records("s1", 9))
    import_paths(at.works, file)
    assert len(texts()) == 3
    assert status.read_stats().skipped == 1
    at.settle_later(timedelta(minutes=20))
    assert len(texts()) == 3
    at.settle_later(timedelta(minutes=31))
    assert len(texts()) == 4
    assert status.read_stats().skipped == 0


def test_a_clock_set_back_between_stages_changes_no_result(
    at: At, tmp_path: Path, tree_of: TreeOf, settings: Settings
) -> None:
    file = tmp_path / "s1.jsonl"
    file.write_text(session_records("s1", 1, 2, 50, 51))
    for _ in at.works.importer().run([file]):
        at.now -= timedelta(minutes=2)
    for _, step in at.works._stages():
        at.now -= timedelta(minutes=1)
        step()
    at.now = START + 2 * HOUR
    at.settle()
    other = At(tmp_path / "undisturbed", settings)
    other.now = at.now
    import_paths(other.works, file)
    other.workspace.stop()
    expected, kept = tree_of(tmp_path / "undisturbed"), tree_of(tmp_path / "home")
    for node in (*expected["nodes"].values(), *kept["nodes"].values()):
        del node["version"]
    assert kept == expected


def test_a_retry_does_not_wait_for_a_time_of_a_wrong_clock(
    at: At, tmp_path: Path
) -> None:
    file = tmp_path / "s1.jsonl"
    file.write_text(session_records("s1", 1, 2))
    at.now, at.summarizer.fails = START + timedelta(days=3650), True
    for _ in at.works.importer().run([file]):
        pass
    errors = at.works.run_until_idle(lambda _: None)
    assert errors and all("cannot be summarized" in str(error) for error in errors)
    assert status.read_stats().pending > 0
    at.now, at.summarizer.fails = START + HOUR, False
    at.settle()
    assert status.read_stats().pending == 0
    assert status.read_stats().nodes > 1


def test_an_unfinished_file_does_not_wait_for_a_time_of_a_wrong_clock(at: At) -> None:
    del at
    stamp = sources.FileStamp(10, 1)
    cursor = sources.FileCursor("codex", stamp, 10, 1, "f", has_pending=True)
    with database.transaction():
        for path, read_ms in ("now", 1_000), ("long ago", 10), ("future", 10**12):
            sources.save_cursor(path, cursor, read_ms)
        assert sources.list_pending_files(500, 1_010) == ["future", "long ago"]


def test_equal_messages_before_and_after_a_clock_change_are_two(at: At) -> None:
    new = at.workspace.paths.spool / "new"
    write_hook_files(new, 1, hook(5, "UserPromptSubmit", prompt="yes"))
    at.settle()
    write_hook_files(new, 2, hook(2, "UserPromptSubmit", prompt="yes"))
    at.settle()
    assert texts() == ["yes", "yes"]


def test_hook_files_from_the_far_future_are_quarantined(at: At) -> None:
    write_hook_files(at.workspace.paths.spool / "new", 1, prompts(60 * 24 * 365))
    at.settle()
    assert texts() == []
    assert status.read_stats().skipped == 1
    (name,) = (at.workspace.paths.spool / "bad").glob("*.json")
    assert datetime.fromtimestamp(name.stat().st_mtime).year == 2026
