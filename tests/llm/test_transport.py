import asyncio
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

import pytest

from memtui.llm import hosts
from memtui.llm.faults import (
    CutOff,
    Fault,
    ModelMissing,
    Offline,
    Refused,
    ServerFault,
    Stalled,
)
from memtui.llm.streams import Written
from memtui.llm.transport import Transport
from tests.llm.conftest import PATIENT
from tests.stub import faults
from tests.stub.faults import Fault as Scripted
from tests.stub.server import Stub, serving

BODY = {
    "model": "qwen3:4b",
    "messages": [{"role": "user", "content": "1|user| Fix the login page."}],
    "stream": True,
    "truncate": False,
    "format": {"type": "object"},
}


def within(
    stub: Stub, ask: Callable[[Transport], Coroutine[Any, Any, Any]], **deadlines: float
) -> Any:
    """What a connection to the stub answers."""

    async def asked() -> Any:
        quick = replace(PATIENT, **deadlines)
        async with Transport(hosts.address(stub.url), quick) as transport:
            return await ask(transport)

    return asyncio.run(asked())


def chat(stub: Stub, first_s: float = 10.0, **deadlines: float) -> Written:
    async def ask(transport: Transport) -> Written:
        return await transport.chat(BODY, first_s, lambda _: None)

    written = within(stub, ask, **deadlines)
    assert isinstance(written, Written)
    return written


def test_a_reply_is_read_to_its_end(stub: Stub) -> None:
    written = chat(stub)
    assert written.text.startswith('{"bullets"') and written.text.endswith("}")
    assert written.prompt_tokens == stub.chats()[0].tokens
    assert written.reply_ms == 3000


def test_a_line_separator_within_a_reply_does_not_part_it(stub: Stub) -> None:
    said = '{"a": "one\u0085two\u2028three\u2029four\r five"}'
    stub.script(faults.saying(said))
    assert chat(stub).text == said


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (faults.ended(3), CutOff),
        (faults.ended(0), CutOff),
        (faults.reset(3), CutOff),
        (faults.reset(-1), CutOff),
        (faults.NOT_DONE, CutOff),
        (faults.garbled(2), ServerFault),
        (faults.broken_off("an error was encountered", 2), ServerFault),
        (faults.PROXY, ServerFault),
        (faults.CRASHED, ServerFault),
        (faults.MISSING, ModelMissing),
        (faults.FORBIDDEN, Refused),
        (faults.redirect("http://example.org/api/chat"), Refused),
        (Scripted(remote_host="https://ollama.com:443"), Refused),
        (faults.stalled(-1), Stalled),
        (faults.stalled(0), Stalled),
        (faults.stalled(3), Stalled),
    ],
    ids=lambda value: repr(value)[:60],
)
def test_what_is_no_reply_is_a_fault(
    stub: Stub, fault: Scripted, kind: type[Fault]
) -> None:
    stub.script(fault)
    with pytest.raises(Fault) as caught:
        hasty = kind is Stalled
        chat(stub, 0.3 if hasty else 10.0, idle_s=0.3 if hasty else 10.0)
    assert type(caught.value) is kind
    assert stub.chats()[0].ended.wait(5)


def test_a_stream_cut_at_any_byte_is_cut_off(stub: Stub) -> None:
    stub.script(*(faults.cut(at) for at in range(0, 1500, 29)))
    for _ in range(0, 1500, 29):
        with pytest.raises(CutOff):
            chat(stub)


def test_nobody_at_the_port_is_offline(stub: Stub) -> None:
    stub.stop()
    with pytest.raises(Offline, match=stub.url):
        chat(stub)


def test_a_reply_that_goes_on_for_too_long_is_given_up(stub: Stub) -> None:
    stub.script(faults.stalled(5))
    began = time.monotonic()
    with pytest.raises(Stalled):
        chat(stub, idle_s=60.0, total_s=0.3)
    assert time.monotonic() - began < 2


def test_a_silent_server_does_not_hold_up_a_plain_question(stub: Stub) -> None:
    stub.script(faults.stalled(-1), path="/api/tags")
    with pytest.raises(Stalled):
        within(stub, lambda transport: transport.get("/api/tags"), answer_s=0.1)


def test_the_environment_leads_nowhere(
    stub: Stub, monkeypatch: pytest.MonkeyPatch, connected: list[tuple[Any, ...]]
) -> None:
    with serving() as other:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, other.url)
        monkeypatch.setenv("OLLAMA_HOST", other.url)
        monkeypatch.setenv("OLLAMA_API_KEY", "not-for-anybody")
        chat(stub)
        assert other.received == []
    assert "authorization" not in stub.chats()[0].headers
    assert connected and {place[0] for place in connected} == {"127.0.0.1"}


def test_a_redirect_is_not_followed(stub: Stub) -> None:
    with serving() as other:
        stub.script(faults.redirect(f"{other.url}/api/chat"))
        with pytest.raises(Refused):
            chat(stub)
        assert other.received == []


@pytest.mark.parametrize(
    "surroundings",
    [
        {"OLLAMA_HOST": "http://[bad"},
        {"ALL_PROXY": "socks5://127.0.0.1:9"},
        {"OLLAMA_HOST": "host:port"},
    ],
    ids=str,
)
def test_surroundings_that_break_ollamas_own_client_do_no_harm(
    stub: Stub, surroundings: dict[str, str]
) -> None:
    code = (
        "import asyncio, sys\n"
        "from memtui.llm import hosts\n"
        "from memtui.llm.transport import Deadlines, Transport\n"
        "async def ask():\n"
        "    async with Transport(hosts.address(sys.argv[1]), Deadlines()) as t:\n"
        "        print((await t.get('/api/version'))['version'])\n"
        "asyncio.run(ask())\n"
    )
    told = subprocess.run(
        [sys.executable, "-c", code, stub.url],
        capture_output=True,
        text=True,
        env=surroundings,
        check=False,
    )
    assert told.stdout == "0.33.0\n", told.stderr


def test_a_machine_that_is_allowed_is_asked_by_its_name(stub: Stub) -> None:
    named = hosts.Address("http", "localhost", int(stub.url.rpartition(":")[2]), False)

    async def asked() -> None:
        async with Transport(named, PATIENT) as transport:
            await transport.get("/api/version")

    asyncio.run(asked())
    assert stub.received[0].headers["host"] == stub.url[7:].replace(
        "127.0.0.1", "localhost"
    )


def test_a_name_that_leads_nowhere_is_offline() -> None:
    unknown = hosts.Address("http", "no..body", 11434, False)

    async def asked() -> None:
        async with Transport(unknown, PATIENT):
            raise AssertionError("it was found")

    with pytest.raises(Offline):
        asyncio.run(asked())
