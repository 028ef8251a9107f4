"""The options of Ollama from the settings, and what the store remembers."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from memtui import workspace
from memtui.model.sessions import Segment
from memtui.paths import in_home
from memtui.settings import Settings
from memtui.workspace import Workspace
from tests.stub.server import Stub


def settings(**more: object) -> Settings:
    """Settings of who summarizes."""
    values: dict[str, Any] = {f"summaries_{name}": one for name, one in more.items()}
    return Settings(**values)


@pytest.fixture
def open_store(tmp_path: Path) -> Iterator[Callable[[], Workspace]]:
    """Opens a store as another process would."""
    opened: list[Workspace] = []

    def open_it() -> Workspace:
        for one in opened:
            one.stop()
        opened.append(Workspace(in_home(tmp_path), Settings(store_time_zone="UTC")))
        return opened[-1]

    yield open_it
    for one in opened:
        one.stop()


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
    workspace.create_ollama(wanted, lambda _: None).summarize_segment(segment)
    assert {one.body["keep_alive"] for one in stub.chats()} == {sent}
    assert [one.body["keep_alive"] for one in stub.requests_for("/api/generate")] == [
        sent or "1m"
    ]
