"""The requests to a server over the whole life of a store."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from memtui.model.calendar import TocLevel
from memtui.summarize.ollama.models import ModelOptions
from memtui.workspace import Workspace
from tests.conftest import HISTORY
from tests.pipeline.model_bench import NOW, PATIENT_S, Bench, make_records
from tests.stub.handler import OVERHEAD
from tests.stub.models import Model
from tests.stub.server import Stub, run_stub

LONG = " ".join(
    f"Ferry {n} left quay {n % 7} at {n % 24}:{n % 60:02}." for n in range(900)
)
"""A message of 5,000 words and more."""


@pytest.fixture(params=[4, 2], ids=["usual tokens", "short tokens"])
def stub(request: pytest.FixtureRequest) -> Iterator[Stub]:
    """A server whose model has tokens of the usual or of half the length."""
    with run_stub(Model(token_bytes=request.param)) as stub:
        yield stub


@pytest.fixture
def finished_bench(
    workspace: Workspace, stub: Stub, tmp_path: Any, connected: Any, monkeypatch: Any
) -> Bench:
    """A store whose history a model has written, with two starts, and more after it."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://10.11.12.13:3128")
    monkeypatch.setenv("OLLAMA_API_KEY", "a-key-of-somebody")
    monkeypatch.setenv("OLLAMA_HOST", "http://10.11.12.14:11434")
    options = ModelOptions(stub.url, timeout_s=PATIENT_S)
    bench = Bench(workspace, stub, tmp_path, options)
    for _ in bench.pipeline.importer().run([HISTORY]):
        pass
    bench.run_stages()
    bench.run_model()
    bench.start()
    bench.import_records(
        make_records(NOW.replace(month=2), ("user", LONG), ("assistant", "Noted."))
    )
    bench.run_model()
    return bench


@pytest.mark.full
def test_requests_of_a_whole_run_are_local_and_fit_the_window(
    finished_bench: Bench, stub: Stub, connected: list[tuple[Any, ...]]
) -> None:
    chats = stub.chats()
    assert len(chats) == 7 + 4, "one for each session, and for each period of several"
    assert finished_bench.count_pending()[TocLevel.SEGMENT] == 0
    for asked in chats:
        body = asked.body
        assert body["truncate"] is False and body["stream"] is True
        assert body["options"].keys() == {
            "num_ctx",
            "num_predict",
            "temperature",
            "seed",
        }
        assert "shift" not in body
        assert asked.tokens + body["options"]["num_predict"] <= asked.window
        assert asked.tokens - OVERHEAD > 100
    windows = {request.body["options"]["num_ctx"] for request in chats}
    assert windows == {8192}
    assert stub.memory.loads == [("qwen3:4b", 8192)]
    assert {request.path for request in stub.received} == {
        "/api/version",
        "/api/tags",
        "/api/ps",
        "/api/show",
        "/api/chat",
    }
    assert {request.body["keep_alive"] for request in chats} == {"5m"}
    for asked in stub.received:
        assert "authorization" not in asked.headers
        assert asked.peer == "127.0.0.1"
        assert "a-key-of-somebody" not in json.dumps(asked.headers)
    places = [place for place in connected if isinstance(place, tuple)]
    assert {place[0] for place in places} == {"127.0.0.1"}
    assert {f"http://127.0.0.1:{place[1]}" for place in places} == {stub.url}
    asks_nothing_twice(finished_bench, stub)


def asks_nothing_twice(finished_bench: Bench, stub: Stub) -> None:
    """Check that no prompt was sent twice, and that nothing is pending."""
    bodies = [json.dumps(request.body, sort_keys=True) for request in stub.chats()]
    assert len(bodies) == len(set(bodies))
    before = len(stub.chats())
    finished_bench.start()
    assert finished_bench.run_model() == []
    assert len(stub.chats()) == before
    finished_bench.check_invariants()
