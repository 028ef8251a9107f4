"""A slow model does not delay other work; with real threads."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from memtui.model.calendar import TocLevel
from memtui.model.jobs import ModelPhase
from memtui.paths import in_home
from memtui.pipeline.progress import PipelineProgress
from memtui.services import browse, status
from memtui.settings import Settings
from memtui.store import database, queues
from memtui.workspace import Workspace
from tests.pipeline.model_bench import DAY, MONDAY, make_conversation, make_records
from tests.stub import faults
from tests.stub.server import Stub, run_stub

DEADLINE_S = 30.0


@dataclass
class Watched:
    """The reports of the workers, which a test can wait for."""

    news: threading.Condition = field(default_factory=threading.Condition)
    reports: list[PipelineProgress] = field(default_factory=list)

    def __call__(self, progress: PipelineProgress) -> None:
        with self.news:
            self.reports.append(progress)
            self.news.notify_all()

    def until(self, holds: Callable[[], bool]) -> None:
        """Wait until a condition holds, checking it after each report."""
        end_s = time.monotonic() + DEADLINE_S
        with self.news:
            while not holds():
                assert time.monotonic() < end_s, self.reports[-3:]
                self.news.wait(0.1)


@pytest.fixture
def stub() -> Iterator[Stub]:
    with run_stub() as stub:
        yield stub


def house_of(folder: Path, stub: Stub) -> Workspace:
    """A workspace that uses this server."""
    settings = Settings(store_time_zone="UTC", summaries_url=stub.url)
    return Workspace(in_home(folder / "home"), settings)


@contextmanager
def at_work(workspace: Workspace) -> Iterator[Watched]:
    watched = Watched()
    workspace.start(watched)
    try:
        yield watched
    finally:
        workspace.stop()


def import_conversation(
    workspace: Workspace, folder: Path, number: int, at: datetime
) -> None:
    file = folder / f"{number}.jsonl"
    lines = [
        json.dumps(record) for record in make_records(at, *make_conversation(number))
    ]
    file.write_text("\n".join(lines) + "\n")
    for _ in workspace.pipeline.importer().run([file]):
        pass


def waiting(level: TocLevel = TocLevel.SEGMENT) -> int:
    with database.connection():
        return queues.count_rewrites(level)


def is_a_models(name: str) -> bool:
    node = browse.get_node(name)
    return node is not None and node.is_by_model


def test_new_events_are_displayed_while_a_model_writes(
    stub: Stub, tmp_path: Path
) -> None:
    workspace = house_of(tmp_path, stub)
    stub.script(faults.stalled(4))
    import_conversation(workspace, tmp_path, 1, MONDAY)
    with at_work(workspace) as watched:
        assert stub.wait_for(1).is_stalled.wait(DEADLINE_S)
        import_conversation(workspace, tmp_path, 2, MONDAY + timedelta(hours=1))
        watched.until(lambda: len(browse.list_children(DAY)) == 2)
        watched.until(lambda: status.read_stats().pending == 0)
        watched.until(lambda: bool(workspace.teleport.find("harbour.py").hits))
        model = workspace.pipeline.model
        assert model.progress is not None and model.progress.phase is ModelPhase.WRITING
        assert 0 < model.progress.written <= 4 < model.progress.limit
        assert model.node_id in {line.node_id for line in browse.list_children(DAY)}
        assert waiting() == 2
        began = time.monotonic()
    assert time.monotonic() - began < 5
    assert waiting() == 2


@pytest.mark.full
def test_model_writes_from_the_segments_up_beside_the_stages(
    stub: Stub, tmp_path: Path
) -> None:
    workspace = house_of(tmp_path, stub)
    with at_work(workspace) as watched:
        for number in range(3):
            import_conversation(
                workspace, tmp_path, number, MONDAY + timedelta(hours=number)
            )
        watched.until(lambda: bool(browse.list_children(DAY)) and is_a_models(DAY))
        watched.until(lambda: waiting() == waiting(TocLevel.DAY) == 0)
        assert all(line.is_by_model for line in browse.list_children(DAY))
    assert not [report.error for report in watched.reports if report.error]
    changed = frozenset[str]().union(*(report.changed for report in watched.reports))
    assert {DAY, *(line.node_id for line in browse.list_children(DAY))} <= changed


@pytest.mark.full
def test_only_the_process_with_the_lock_asks_the_model(
    stub: Stub, tmp_path: Path
) -> None:
    owner, other = house_of(tmp_path, stub), house_of(tmp_path, stub)
    import_conversation(owner, tmp_path, 1, MONDAY)
    assert owner.pipeline.lock.acquire()
    assert owner.pipeline.run_until_idle(lambda _: None) == []
    with at_work(other) as watched:
        watched.until(lambda: any(not report.is_active for report in watched.reports))
        watched.until(lambda: len(watched.reports) > 1)
        assert stub.received == [] and waiting() == 1
        owner.pipeline.lock.release()
        watched.until(lambda: waiting() == 0)
    assert stub.chats()
    owner.stop()
