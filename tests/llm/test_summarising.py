"""What a model of Ollama is made of from the settings, and what the store remembers."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memtui import workspace
from memtui.llm.faults import Resting
from memtui.model.model_state import ModelCondition
from memtui.model.segments import Segment
from memtui.paths import in_home
from memtui.settings import Held, Settings
from memtui.store import database, meta
from memtui.workspace import Workspace
from tests.stub.models import Model
from tests.stub.server import Stub, serving


def settings(**more: object) -> Settings:
    """Settings of who summarises."""
    return Settings(
        {f"summaries.{name}": Held(value, "test") for name, value in more.items()}  # type: ignore[arg-type]
    )


@pytest.fixture
def slow() -> Iterator[Stub]:
    """A server whose one model has no graphics card."""
    with serving(Model(on_gpu=False)) as stub:
        yield stub


@pytest.fixture
def open_store(tmp_path: Path) -> Iterator[Callable[[], Workspace]]:
    """Opens a store as another process would."""
    opened: list[Workspace] = []

    def open_it() -> Workspace:
        for house in opened:
            house.stop()
        own = {"store.time_zone": Held("UTC", "test")}
        opened.append(Workspace(in_home(tmp_path), Settings(own)))
        return opened[-1]

    yield open_it
    for house in opened:
        house.stop()


def test_another_process_knows_how_long_a_model_has_worked(
    slow: Stub, segment: Segment, open_store: Callable[[], Workspace]
) -> None:
    wanted = settings(url=slow.url, cpu_minutes=0.0001)
    open_store()
    first = workspace.ollama(wanted, lambda _: None)
    assert first.summarize_segment(segment).bullets
    with database.connection():
        assert sum(seconds for _, seconds in meta.spent()) > 0
    for _ in range(3):
        slow.memory.loaded.clear()
        open_store()
        later = workspace.ollama(wanted, lambda _: None)
        assert later.health().condition is ModelCondition.RESTING
        with pytest.raises(Resting):
            later.summarize_segment(segment)
    assert len(slow.chats()) == 2 and len(slow.memory.loads) == 1


def test_a_model_with_a_graphics_card_spends_nothing(
    stub: Stub, segment: Segment, open_store: Callable[[], Workspace]
) -> None:
    open_store()
    ollama = workspace.ollama(settings(url=stub.url), lambda _: None)
    ollama.summarize_segment(segment)
    with database.connection():
        assert meta.spent() == []


@pytest.mark.parametrize(
    ("set_to", "sent"),
    [("5m", "5m"), ("1h30m", "1h30m"), ("300", 300), ("-1", -1), (" 0 ", 0)],
)
def test_how_long_a_model_is_kept_is_sent_as_the_server_reads_it(
    stub: Stub,
    segment: Segment,
    open_store: Callable[[], Workspace],
    set_to: str,
    sent: object,
) -> None:
    open_store()
    wanted = settings(url=stub.url, keep_alive=set_to)
    workspace.ollama(wanted, lambda _: None).summarize_segment(segment)
    assert {one.body["keep_alive"] for one in stub.chats()} == {sent}
    assert [one.body["keep_alive"] for one in stub.of("/api/generate")] == [
        sent or "1m"
    ]
