import asyncio
import threading
import time
from collections.abc import Iterator

import pytest

from memtui.model.jobs import ModelCondition
from memtui.summarize.ollama.errors import RequestCancelled
from memtui.summarize.ollama.summarizer import Ollama
from tests.stub import faults
from tests.stub.server import Stub, run_stub
from tests.summarize.conftest import Asker, summarize

PROMPT_S = 0.5
"""Far longer than a cancellation takes, and far shorter than a user would wait."""


class Call:
    """A summary that is made on a thread of its own."""

    def __init__(self, ollama: Ollama) -> None:
        self._ollama = ollama
        self.raised: BaseException | None = None
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self) -> None:
        try:
            summarize(self._ollama)
        except BaseException as error:
            self.raised = error

    def cancelled_within_s(self) -> float:
        """Cancel it; return how long it took until the thread ended."""
        began = time.monotonic()
        self._ollama.cancel()
        self.thread.join(10)
        took = time.monotonic() - began
        assert not self.thread.is_alive()
        assert isinstance(self.raised, RequestCancelled)
        return took


@pytest.fixture(scope="module")
def running() -> Iterator[tuple[Stub, Asker]]:
    """A server for many cancelled requests."""
    with run_stub() as stub:
        Asker(stub.url).summarize()
        yield stub, Asker(stub.url)


@pytest.mark.parametrize("line", range(-1, 40))
def test_request_is_cancelled_at_any_line_of_a_reply(
    running: tuple[Stub, Asker], line: int
) -> None:
    stub, asker = running
    before = threading.active_count()
    ollama = asker.ollama()
    seen = len(stub.chats())
    stub.script(faults.stalled(line))
    call = Call(ollama)
    asked = stub.wait_for(seen + 1)
    assert asked.is_stalled.wait(10)
    assert call.cancelled_within_s() < PROMPT_S
    assert asked.is_abandoned.wait(5)
    assert asked.is_ended.wait(5)
    assert threading.active_count() <= before + 1
    assert len(stub.chats()) == seen + 1


@pytest.mark.parametrize("path", ["/api/version", "/api/tags", "/api/ps", "/api/show"])
def test_request_is_cancelled_while_the_model_is_chosen(
    stub: Stub, asker: Asker, path: str
) -> None:
    stub.script(faults.stalled(-1), path=path)
    call = Call(asker.ollama())
    asked = stub.wait_for(1, path)
    assert asked.is_stalled.wait(10)
    assert call.cancelled_within_s() < PROMPT_S
    assert asked.is_abandoned.wait(5)


def test_request_is_cancelled_while_it_waits_for_a_retry(
    stub: Stub, asker: Asker
) -> None:
    waits = threading.Event()

    async def sleep(seconds: float) -> None:
        waits.set()
        await asyncio.sleep(100 * seconds)

    stub.always(faults.BUSY)
    call = Call(asker.ollama(sleep=sleep))
    assert waits.wait(10)
    assert call.cancelled_within_s() < PROMPT_S


def test_nothing_is_asked_after_a_cancellation(stub: Stub, asker: Asker) -> None:
    ollama = asker.ollama()
    ollama.cancel()
    with pytest.raises(RequestCancelled):
        summarize(ollama)
    assert ollama.health().condition is ModelCondition.RESTING
    assert stub.received == []


def test_health_check_is_cancelled(stub: Stub, asker: Asker) -> None:
    stub.script(faults.stalled(-1), path="/api/tags")
    ollama = asker.ollama()
    thread = threading.Thread(target=ollama.health, daemon=True)
    thread.start()
    assert stub.wait_for(1, "/api/tags").is_stalled.wait(10)
    ollama.cancel()
    thread.join(PROMPT_S)
    assert not thread.is_alive()
