import asyncio
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

import httpx
import pytest

from memtui.summarize.ollama import errors
from memtui.summarize.ollama.client import (
    Address,
    Client,
    ModelReply,
    parse_address,
)
from memtui.summarize.ollama.errors import (
    IncompleteReplyError,
    ModelNotFoundError,
    NotAllowedError,
    OfflineError,
    OllamaError,
    ServerError,
    StalledError,
)
from tests.stub import faults, wire
from tests.stub.faults import Fault as Scripted
from tests.stub.server import Stub, run_stub
from tests.summarize.conftest import PATIENT_S

REQUEST = {
    "model": "qwen3:4b",
    "messages": [{"role": "user", "content": "1|user| Fix the login page."}],
    "format": {"type": "object"},
}
AT = "2026-08-01T12:00:01Z"


def ask(
    url: str,
    question: Callable[[Client], Coroutine[Any, Any, Any]],
    timeout_s: float = PATIENT_S,
    network: httpx.AsyncBaseTransport | None = None,
) -> Any:
    """Return the answer of a server."""

    async def asked() -> Any:
        async with Client(parse_address(url), timeout_s, network) as client:
            return await question(client)

    return asyncio.run(asked())


def chat(url: str, timeout_s: float = PATIENT_S, **more: Any) -> ModelReply:
    def question(client: Client) -> Coroutine[Any, Any, ModelReply]:
        return client.chat(REQUEST, lambda _: None)

    reply = ask(url, question, timeout_s, **more)
    assert isinstance(reply, ModelReply)
    return reply


# Against a server


def test_a_reply_is_read_to_its_end(stub: Stub) -> None:
    reply = chat(stub.url)
    assert reply.text.startswith('{"goals"') and reply.text.endswith("}")
    assert reply.prompt_tokens == stub.chats()[0].tokens
    assert reply.reply_ms == 3000


def test_line_separators_within_a_reply_do_not_end_a_line(stub: Stub) -> None:
    text = '{"a": "one\u0085two\u2028three\u2029four\r five"}'
    stub.script(faults.saying(text))
    assert chat(stub.url).text == text


def test_no_prompt_may_be_truncated(stub: Stub) -> None:
    chat(stub.url)
    assert stub.chats()[0].body["truncate"] is False


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (faults.ended(3), IncompleteReplyError),
        (faults.ended(0), IncompleteReplyError),
        (faults.reset(3), IncompleteReplyError),
        (faults.reset(-1), IncompleteReplyError),
        (faults.NOT_DONE, ServerError),
        (faults.garbled(2), ServerError),
        (faults.broken_off("an error was encountered", 2), ServerError),
        (faults.PROXY, ServerError),
        (faults.CRASHED, ServerError),
        (faults.MISSING, ModelNotFoundError),
        (faults.FORBIDDEN, NotAllowedError),
        (faults.redirect("http://example.org/api/chat"), NotAllowedError),
        (Scripted(remote_host="https://ollama.com:443"), NotAllowedError),
        (faults.stalled(-1), StalledError),
        (faults.stalled(0), StalledError),
        (faults.stalled(3), StalledError),
    ],
    ids=lambda value: repr(value)[:60],
)
def test_faulty_response_is_an_error_of_its_kind(
    stub: Stub, fault: Scripted, kind: type[OllamaError]
) -> None:
    stub.script(fault)
    with pytest.raises(OllamaError) as caught:
        chat(stub.url, 0.3 if kind is StalledError else PATIENT_S)
    assert type(caught.value) is kind
    assert stub.chats()[0].is_ended.wait(5)


def test_a_stream_cut_at_any_byte_is_incomplete(stub: Stub) -> None:
    stub.script(*(faults.cut(at) for at in range(0, 1500, 29)))
    for _ in range(0, 1500, 29):
        with pytest.raises(IncompleteReplyError):
            chat(stub.url)


def test_closed_port_is_offline(stub: Stub) -> None:
    url = stub.url
    stub.stop()
    with pytest.raises(OfflineError, match=url):
        chat(url)


def test_whole_reply_has_a_time_limit() -> None:
    async def dripping() -> AsyncIterator[bytes]:
        for number in range(1000):
            yield line(f"word {number * 7919} ")
            await asyncio.sleep(0.02)

    began_s = time.monotonic()
    with pytest.raises(StalledError):
        chat("http://127.0.0.1:1", 0.2, network=answering(dripping()))
    assert time.monotonic() - began_s < 5


def test_silent_server_does_not_hold_up_a_plain_answer(stub: Stub) -> None:
    stub.script(faults.stalled(-1), path="/api/tags")
    with pytest.raises(StalledError):
        ask(stub.url, lambda client: client.ask("/api/tags"), timeout_s=0.1)


def test_environment_changes_no_address_and_sends_no_key(
    stub: Stub, monkeypatch: pytest.MonkeyPatch, connected: list[tuple[Any, ...]]
) -> None:
    with run_stub() as other:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, other.url)
        monkeypatch.setenv("OLLAMA_HOST", other.url)
        monkeypatch.setenv("OLLAMA_API_KEY", "not-for-anybody")
        chat(stub.url)
        assert other.received == []
    assert "authorization" not in stub.chats()[0].headers
    assert connected and {place[0] for place in connected} == {"127.0.0.1"}


def test_a_redirect_is_not_followed(stub: Stub) -> None:
    with run_stub() as other:
        stub.script(faults.redirect(f"{other.url}/api/chat"))
        with pytest.raises(NotAllowedError):
            chat(stub.url)
        assert other.received == []


def test_allowed_host_is_asked_by_its_name(stub: Stub) -> None:
    named = Address("http", "localhost", int(stub.url.rpartition(":")[2]), False)

    async def asked() -> None:
        async with Client(named, PATIENT_S) as client:
            await client.ask("/api/version")

    asyncio.run(asked())
    assert stub.received[0].headers["host"] == stub.url[7:].replace(
        "127.0.0.1", "localhost"
    )


def test_unknown_host_is_offline() -> None:
    unknown = Address("http", "no..body", 11434, False)

    async def asked() -> None:
        async with Client(unknown, PATIENT_S):
            raise AssertionError("it was found")

    with pytest.raises(OfflineError, match=r"no\.\.body cannot be found"):
        asyncio.run(asked())


# From given bytes


def answering(chunks: AsyncIterator[bytes]) -> httpx.MockTransport:
    """Return a network that answers every request with these bytes."""
    return httpx.MockTransport(lambda _: httpx.Response(200, content=chunks))


def line(text: str) -> bytes:
    """Return a line of a reply."""
    message = {"role": "assistant", "content": text}
    return wire.line({"created_at": AT, "message": message, "done": False})


def lines(*texts: str, **last: object) -> bytes:
    """Return a stream with these texts."""
    done = {"done": True, "done_reason": "stop", "prompt_eval_count": 9, **last}
    message = {"role": "assistant", "content": ""}
    return b"".join([*map(line, texts), wire.line({"message": message, **done})])


def read(*pieces: bytes) -> ModelReply:
    async def chunks() -> AsyncIterator[bytes]:
        for piece in pieces:
            yield piece

    return chat("http://127.0.0.1:1", network=answering(chunks()))


WHOLE = lines('{"a": "<é 日本 & \u0085 \u2028 x>"}', "\n🎉", "}")


def test_reply_joins_the_texts_of_its_lines() -> None:
    reply = read(WHOLE)
    assert reply.text == '{"a": "<é 日本 & \u0085 \u2028 x>"}\n🎉}'
    assert (reply.prompt_tokens, reply.reply_tokens) == (9, 0)


def test_reply_does_not_depend_on_how_bytes_are_chunked() -> None:
    for at in range(0, len(WHOLE), 5):
        assert read(WHOLE[:at], WHOLE[at:]) == read(WHOLE)
    assert read(*(WHOLE[n : n + 1] for n in range(len(WHOLE)))) == read(WHOLE)


def test_a_stream_without_its_last_line_feed_is_incomplete() -> None:
    with pytest.raises(IncompleteReplyError):
        read(WHOLE[:-1])


def test_what_follows_a_reply_is_not_read() -> None:
    assert read(WHOLE, b'{"error":"late"}\n\xff\n') == read(WHOLE)


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (lines("x", done_reason="load"), ServerError),
        (lines("x", done_reason=None), ServerError),
        (lines("x", remote_host="https://ollama.com"), NotAllowedError),
        (lines("x", done=False), IncompleteReplyError),
        (b'{"error":"CUDA error: out of memory"}\n', errors.OutOfMemoryError),
        (b'{"error":{"code":500,"message":"oops"}}\n', ServerError),
        (b'{"message":{"content":"\xff\xfe"}}\n', ServerError),
        (b"<html>\n", ServerError),
        (b"[1]\n", ServerError),
        (b"[" * 5000 + b"\n", ServerError),
        (b'{"message": 3}\n', ServerError),
        (b"x" * 8_000_001, ServerError),
        (b"", IncompleteReplyError),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_unreadable_stream_is_an_error_of_its_kind(
    raw: bytes, kind: type[OllamaError]
) -> None:
    with pytest.raises(OllamaError) as caught:
        read(raw)
    assert type(caught.value) is kind


def test_reply_cut_for_its_length_is_returned() -> None:
    assert read(WHOLE).is_whole
    reply = read(lines('{"goals"', ": [", done_reason="length"))
    assert (reply.text, reply.is_whole) == ('{"goals": [', False)


@pytest.mark.parametrize(
    "environment",
    [
        {"OLLAMA_HOST": "http://[bad"},
        {"ALL_PROXY": "socks5://127.0.0.1:9"},
        {"OLLAMA_HOST": "host:port"},
    ],
    ids=str,
)
def test_environment_for_ollamas_own_client_is_ignored(
    stub: Stub, environment: dict[str, str]
) -> None:
    code = (
        "import asyncio, sys\n"
        "from memtui.summarize.ollama.client import Client, parse_address\n"
        "async def ask():\n"
        "    async with Client(parse_address(sys.argv[1]), 10.0) as client:\n"
        "        print(await client.ask('/api/version'))\n"
        "asyncio.run(ask())\n"
    )
    finished = subprocess.run(
        [sys.executable, "-c", code, stub.url],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert finished.stdout == "{'version': '0.33.0'}\n", finished.stderr
