"""The stub behaves as the real server was observed to."""

import json
import subprocess
import sys
import time
import urllib.error
import urllib.request
from typing import Any

import pytest

from memtui.summarize.ollama.models import ModelOptions
from memtui.summarize.ollama.summarizer import Ollama
from tests.stub import personas, wire
from tests.stub.handler import OVERHEAD
from tests.stub.models import Model
from tests.stub.server import Pace, Stub, run_stub
from tests.summarize.conftest import summarize


def post(stub: Stub, path: str, **body: Any) -> list[dict[str, Any]]:
    """Return the objects of an answer."""
    raw = json.dumps({"model": "qwen3:4b", **body}).encode()
    with urllib.request.urlopen(
        urllib.request.Request(f"{stub.url}{path}", raw)
    ) as reply:
        return [json.loads(line) for line in reply.read().split(b"\n") if line]


def chat(stub: Stub, text: str, window: int = 100, **body: Any) -> dict[str, Any]:
    """Return the last line of a reply."""
    said = [{"role": "user", "content": text}]
    options = {"num_ctx": window, "num_predict": 300}
    return post(stub, "/api/chat", messages=said, options=options, **body)[-1]


def test_stub_cuts_long_prompts_to_half_the_window(
    stub: Stub,
) -> None:
    last = chat(stub, "1|user| " + "word " * 200)
    assert last["prompt_eval_count"] == 100 // 2 + 2
    assert stub.chats()[0].tokens == wire.tokens("1|user| " + "word " * 200) + OVERHEAD


def test_stub_refuses_long_prompts_without_truncation(stub: Stub) -> None:
    with pytest.raises(urllib.error.HTTPError) as caught:
        chat(stub, "word " * 200, truncate=False)
    assert caught.value.code == 400
    inner = json.loads(json.loads(caught.value.read())["error"])["error"]
    assert inner["n_prompt_tokens"] > inner["n_ctx"] == 100


def test_stub_reloads_a_model_for_another_window(stub: Stub) -> None:
    for window in (100, 100, 200, 100):
        chat(stub, "1|user| hello", window)
    assert [window for _, window in stub.memory.loads] == [100, 200, 100]


def test_the_stub_thinks_unless_switched_off() -> None:
    with run_stub(Model(capabilities=("completion", "thinking"))) as stub:
        for think, thinks in ((None, True), (False, False), (True, True)):
            more = {} if think is None else {"think": think}
            said = [{"role": "user", "content": "1|user| hello"}]
            lines = post(stub, "/api/chat", messages=said, **more)
            assert any(line["message"].get("thinking") for line in lines) is thinks


def test_stub_writes_json_like_go(stub: Stub) -> None:
    assert wire.dump_json({"a": "<&>\u2028\u0085é"}) == (
        b'{"a":"\\u003c\\u0026\\u003e\\u2028\xc2\x85\xc3\xa9"}'
    )
    stub.models[0].persona = personas.empty
    assert "eval_count" not in chat(stub, "hello")


def test_stub_ends_replies_at_their_limit(stub: Stub) -> None:
    last = chat(stub, "1|user| " + "hello " * 60, window=400)
    assert (last["done"], last["done_reason"]) == (True, "stop")
    said = [{"role": "user", "content": "1|user| " + "hello " * 60}]
    lines = post(stub, "/api/chat", messages=said, options={"num_predict": 3})
    assert lines[-1]["done_reason"] == "length" and lines[-1]["eval_count"] == 3


def test_the_stub_delays_on_request(stub: Stub) -> None:
    stub.pace = Pace(load_s=0.05, word_s=0.001)
    began = time.monotonic()
    ollama = Ollama(ModelOptions(stub.url))
    summarize(ollama)
    assert time.monotonic() - began >= 0.05
    assert len(stub.memory.loads) == 1


def test_the_stub_serves_as_a_process_of_its_own() -> None:
    command = [
        sys.executable,
        "-m",
        "tests.stub",
        "--port",
        "0",
        "--model",
        "gemma3:4b",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            name, url = process.stdout.readline().split(" at ")
            health = Ollama(ModelOptions(url.strip())).health()
        finally:
            process.terminate()
    assert (name, health.model) == ("gemma3:4b", "gemma3:4b")
