"""Strange answers of a server cause only the known errors."""

import asyncio
import json
from contextlib import suppress

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.summarize.ollama.client import Client, parse_address
from memtui.summarize.ollama.errors import NotAllowedError, OllamaError
from tests.conftest import often
from tests.stub.faults import Fault as Scripted
from tests.stub.server import run_stub
from tests.summarize.conftest import PATIENT_S, Asker, summarize

pytestmark = pytest.mark.fuzz

NAMES = st.sampled_from(
    [
        "models",
        "name",
        "model",
        "details",
        "parameter_size",
        "size",
        "size_vram",
        "digest",
        "context_length",
        "capabilities",
        "model_info",
        "general.architecture",
        "qwen3.context_length",
        "version",
        "error",
        "remote_host",
        "message",
        "content",
        "thinking",
        "done",
        "done_reason",
        "prompt_eval_count",
    ]
)
PLAIN = (
    st.none()
    | st.booleans()
    | st.integers(-5, 10**12)
    | st.floats()
    | st.sampled_from(["qwen3:4b", "4.0B", "completion", "stop", "length", "qwen3", ""])
    | st.text(max_size=8)
)
VALUES = st.recursive(
    PLAIN,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=6)
    ),
    max_leaves=24,
)
OBJECTS = st.dictionaries(NAMES, VALUES, max_size=6)
NAMED = st.fixed_dictionaries(
    {"model": PLAIN, "size": PLAIN}, optional={"details": VALUES, "size_vram": PLAIN}
)
LISTS = st.fixed_dictionaries(
    {"models": st.lists(NAMED | OBJECTS, max_size=3) | VALUES}
)
SHOWN = st.fixed_dictionaries(
    {}, optional={"capabilities": VALUES, "model_info": VALUES, "remote_host": PLAIN}
)


@given(st.lists(OBJECTS.map(json.dumps).map(str.encode) | st.binary(max_size=30)))
def test_any_stream_is_a_reply_or_an_error(lines: list[bytes]) -> None:
    async def ask() -> None:
        content = b"".join(line + b"\n" for line in lines)
        network = httpx.MockTransport(lambda _: httpx.Response(200, content=content))
        address = parse_address("http://127.0.0.1:1")
        async with Client(address, PATIENT_S, network) as client:
            reply = await client.chat({"model": "m"}, lambda _: None)
            assert reply.text is not None

    with suppress(OllamaError):
        asyncio.run(ask())


@given(
    st.text(max_size=30) | st.from_regex(r"[a-z]{0,5}:?/{0,2}[\[\]:@.0-9a-z/]{0,12}")
)
def test_any_address_is_local_or_refused(url: str) -> None:
    with suppress(NotAllowedError):
        assert parse_address(url).is_loopback


@often(30)
@given(
    st.sampled_from(["/api/version", "/api/tags", "/api/ps", "/api/show", "/api/chat"]),
    st.lists(
        (LISTS | SHOWN | VALUES).map(json.dumps).map(str.encode), min_size=1, max_size=4
    ),
    st.sampled_from([200, 200, 200, 400, 404, 500]),
)
def test_any_answers_end_with_a_summary_or_an_error(
    path: str, answers: list[bytes], status: int
) -> None:
    with run_stub() as stub:
        stub.script(*(Scripted(status, answer) for answer in answers), path=path)
        ollama = Asker(stub.url).ollama()
        assert isinstance(ollama.health().message, str)
        with suppress(OllamaError):
            assert summarize(ollama).title
