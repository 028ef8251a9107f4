"""Transport: requests to one server, each with its deadlines, none beyond it.

Ollama's own client makes the connections. What it cannot do is done here: it sends no
``truncate``, cuts lines where a model may write them, waits for ever, and follows the
environment to proxies, redirects and keys.
"""

import asyncio
import json
import logging
import os
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memtui.llm import faults, streams
from memtui.llm.faults import CutOff, Fault, Offline, ServerFault, Stalled
from memtui.llm.hosts import Address
from memtui.llm.streams import Stream, Written

if TYPE_CHECKING:
    import httpx


# It tells the log of every request otherwise.
logging.getLogger("httpx").setLevel(logging.WARNING)


ANSWER_BYTES = 8_000_000
"""The most of a plain answer that is read."""


@dataclass(frozen=True, slots=True)
class Deadlines:
    """How long to wait for what, in seconds."""

    connect_s: float = 2.0
    answer_s: float = 10.0
    """For what a server can say at once."""
    load_s: float = 300.0
    """For a model to be loaded."""
    first_s: float = 20.0
    """For the first token, beside the time to read the prompt."""
    token_s: float = 0.04
    """For each token of the prompt: a slow machine reads 25 a second."""
    idle_s: float = 60.0
    """Between two tokens."""
    total_s: float = 600.0
    """For a whole reply."""


Connect = Callable[[str, Mapping[str, Any]], "httpx.AsyncClient"]
"""Makes the HTTP client for a URL with httpx's own options."""


def through_ollama(url: str, options: Mapping[str, Any]) -> "httpx.AsyncClient":
    """The HTTP client within Ollama's own."""
    ollama = _imported()
    client: httpx.AsyncClient = ollama.AsyncClient(host=url, **options)._client
    return client


_AMBIENT = ("OLLAMA_HOST", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")


def _imported() -> Any:
    """Ollama's package; the environment can make its import fail, so then without."""
    try:
        import ollama
    except (ImportError, ValueError):
        names = [name for name in os.environ if name.upper() in _AMBIENT]
        kept = {name: os.environ.pop(name) for name in names}
        try:
            import ollama
        except ImportError as error:
            raise ServerFault(f"the ollama package cannot be used: {error}") from error
        finally:
            os.environ.update(kept)
    return ollama


class Transport:
    """A connection to one server; used within ``async with``."""

    def __init__(
        self,
        address: Address,
        deadlines: Deadlines,
        connect: Connect = through_ollama,
    ) -> None:
        """Remember whom to ask; nothing is opened yet."""
        self._address, self.deadlines, self._connect = address, deadlines, connect

    async def __aenter__(self) -> "Transport":
        import httpx

        self._httpx = httpx
        place = self._address
        host = place.host
        if not place.is_loopback:
            host = await _found(host, place.port, self.deadlines.connect_s)
        url = Address(place.scheme, host, place.port, place.is_loopback).url
        options = {
            "trust_env": False,
            "follow_redirects": False,
            "verify": place.scheme == "https",
            "timeout": httpx.Timeout(None, connect=self.deadlines.connect_s),
            "headers": {"accept-encoding": "identity"},
        }
        self._http = self._connect(url, options)
        self._http.headers.pop("authorization", None)
        if host != place.host:
            self._http.headers["host"] = f"{place.host}:{place.port}"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    async def get(self, path: str) -> dict[str, Any]:
        """A plain answer.

        Raises:
            Fault: There is none.
        """
        return await self._answer("GET", path, None, self.deadlines.answer_s)

    async def post(
        self, path: str, body: Mapping[str, Any], within_s: float
    ) -> dict[str, Any]:
        """The answer to a question that is not streamed.

        Raises:
            Fault: There is none.
        """
        return await self._answer("POST", path, body, within_s)

    async def _answer(
        self, method: str, path: str, body: Mapping[str, Any] | None, within_s: float
    ) -> dict[str, Any]:
        with self._known():
            async with asyncio.timeout(within_s):
                async with self._sent(method, path, body) as response:
                    return streams.read(await _all(response))

    async def chat(
        self,
        body: Mapping[str, Any],
        first_s: float,
        told: Callable[[int], None],
    ) -> Written:
        """A reply that is streamed.

        Args:
            body: The request; it must ask for a stream.
            first_s: How long the first token may take, in seconds.
            told: Told how many tokens there are, as they come.

        Raises:
            Fault: There is no whole reply, or none in time.
        """
        clock = asyncio.get_running_loop().time
        end, stream = clock() + self.deadlines.total_s, Stream()
        with self._known():
            async with asyncio.timeout_at(min(clock() + first_s, end)) as patience:
                async with self._sent("POST", "/api/chat", body) as response:
                    async for raw in response.aiter_bytes():
                        before = stream.tokens
                        stream.feed(raw)
                        if stream.written:
                            return stream.written
                        if stream.tokens > before:
                            told(stream.tokens)
                            later = clock() + self.deadlines.idle_s
                            patience.reschedule(min(later, end))
                    return stream.end()

    @asynccontextmanager
    async def _sent(
        self, method: str, path: str, body: Mapping[str, Any] | None
    ) -> AsyncIterator["httpx.Response"]:
        """The response to a request, its body still to be read."""
        content = None if body is None else json.dumps(body, ensure_ascii=False)
        request = self._http.build_request(
            method,
            path,
            content=content and content.encode(errors="replace"),
            extensions={"sni_hostname": self._address.host},
        )
        response = await self._http.send(request, stream=True)
        try:
            status: int = response.status_code
            if status != 200:
                raise faults.of_reply(status, await _all(response))
            yield response
        finally:
            await response.aclose()

    @contextmanager
    def _known(self) -> Iterator[None]:
        """Turns what the connection's library raises into faults."""
        httpx = self._httpx
        try:
            yield
        except Fault:
            raise
        except TimeoutError as error:
            raise Stalled("the server fell silent") from error
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise Offline(f"nobody answers at {self._address.url}") from error
        except (httpx.TransportError, OSError) as error:
            raise CutOff(f"the connection broke off: {error}") from error
        except (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL) as error:
            raise ServerFault(f"the server's answer cannot be read: {error}") from error


async def _all(response: "httpx.Response") -> bytes:
    """The whole body, as far as anybody would read it."""
    raw = b""
    async for piece in response.aiter_bytes():
        raw += piece
        if len(raw) > ANSWER_BYTES:
            raise ServerFault("the server's answer has no end")
    return raw


async def _found(host: str, port: int, within_s: float) -> str:
    """The address of a machine's name, looked up where nobody has to wait for it.

    The event loop's own threads are waited for when it ends, and a name server that is
    silent would hold up everybody who wants to quit.
    """
    loop = asyncio.get_running_loop()
    found: asyncio.Future[str] = loop.create_future()

    def tell(address: str) -> None:
        if not found.done():
            found.set_result(address)

    def look() -> None:
        try:
            rows = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            address = str(rows[0][4][0])
        except (OSError, UnicodeError):
            address = ""
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(tell, address)

    threading.Thread(target=look, name="look up", daemon=True).start()
    with suppress(TimeoutError):
        async with asyncio.timeout(within_s):
            if address := await found:
                return address
    raise Offline(f"{host} cannot be found")
