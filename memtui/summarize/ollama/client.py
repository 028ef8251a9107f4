"""The connection to one Ollama server: Ollama's own client above a checking transport.

Ollama's client sends a key from the environment to any server, and cannot forbid the
server to cut a prompt that is too long. The transport mends both, and raises what the
server reports as the errors of this package.
"""

import asyncio
import ipaddress
import json
import logging
import os
import socket
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Callable,
    Collection,
    Mapping,
)
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx

from memtui.summarize.ollama import errors
from memtui.summarize.ollama.errors import (
    IncompleteReplyError,
    NotAllowedError,
    OfflineError,
    OllamaError,
    ServerError,
    StalledError,
)
from memtui.summarize.ollama.models import NOT_LOCAL

if TYPE_CHECKING:
    from ollama import ChatResponse

# It logs every request otherwise.
logging.getLogger("httpx").setLevel(logging.WARNING)

PORT = 11434
"""Ollama's default port."""

CONNECT_S, ANSWER_S = 2.0, 10.0
"""The timeouts for a connection, and for an answer that needs no model, in seconds;
the latter at most as long as the timeout."""

REPLY_TIMEOUTS = 2
"""The number of timeouts that a whole reply may take."""

MAX_ANSWER_BYTES = 8_000_000
"""The longest answer, or line of a streamed reply, that is read."""


# Addresses


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a server."""

    scheme: str
    host: str
    port: int
    is_loopback: bool

    @property
    def url(self) -> str:
        """The address as a URL without a path."""
        return _url(self.scheme, self.host, self.port)


def _url(scheme: str, host: str, port: int) -> str:
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"


def parse_address(url: str, allowed_hosts: Collection[str] = ()) -> Address:
    """Return the address of a URL, if it may be asked.

    Args:
        url: The URL in the settings; scheme and port may be left out.
        allowed_hosts: Names and addresses of other machines that may be asked.

    Raises:
        NotAllowedError: It is no such URL, or names a machine that is not allowed.
    """
    whole = url.strip() if "://" in url else f"http://{url.strip()}"
    try:
        parts = urlsplit(whole)
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError as error:
        raise NotAllowedError(f"{url} is not an address: {error}") from error
    if parts.scheme not in ("http", "https") or not host:
        raise NotAllowedError(f"{url} is not an address of Ollama")
    if parts.username or parts.path.strip("/") or parts.query or parts.fragment:
        raise NotAllowedError(f"{url}: only a host and a port can be named")
    local = _loopback(host)
    if not local and host not in {name.lower() for name in allowed_hosts}:
        raise NotAllowedError(
            f"{host} is another machine; nothing is sent there unless it is allowed"
        )
    default = PORT if parts.scheme == "http" else 443
    return Address(parts.scheme, local or host, port or default, bool(local))


def _loopback(host: str) -> str:
    """Return the loopback address of a host; "" if it is another machine.

    ``localhost`` is not looked up: others can change what a name resolves to.
    """
    if host == "localhost" or host.endswith(".localhost"):
        return "127.0.0.1"
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return ""
    if address.is_unspecified:
        return "127.0.0.1" if address.version == 4 else "::1"
    return str(address) if address.is_loopback else ""


def _resolve(host: str, port: int) -> str:
    """Return the IP address of a host.

    It is looked up on this thread. The event loop would do so on one that is joined
    when the program ends, so that a silent name server would hold up everybody who
    quits.
    """
    try:
        rows = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise OfflineError(f"{host} cannot be found") from error
    return str(rows[0][4][0])


# The client


@dataclass(frozen=True, slots=True)
class ModelReply:
    """The text of a model and the measurements of the server."""

    text: str
    is_whole: bool = True
    """True if the model finished, rather than reached the limit of tokens."""
    prompt_tokens: int = 0
    reply_tokens: int = 0
    load_ms: int = 0
    prompt_ms: int = 0
    reply_ms: int = 0


class Client:
    """A connection to one server, used within ``async with``.

    Every method raises an ``OllamaError`` if there is no answer.
    """

    def __init__(
        self,
        address: Address,
        timeout_s: float,
        network: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """Store whom to ask; nothing is opened yet.

        Args:
            address: The server.
            timeout_s: For how long it may be silent, in seconds.
            network: Sends requests; httpx's own transport by default.
        """
        self._address, self._timeout_s, self._network = address, timeout_s, network
        self._answer_s = min(ANSWER_S, timeout_s)

    @property
    def is_local(self) -> bool:
        """True if the server runs on this machine."""
        return self._address.is_loopback

    async def __aenter__(self) -> "Client":
        """Resolve the host; connections are opened by the first requests."""
        address = self._address
        host = address.host
        if not address.is_loopback:
            host = _resolve(host, address.port)
        url = _url(address.scheme, host, address.port)
        options: dict[str, Any] = {
            "headers": {
                "host": address.url.partition("://")[2],
                "accept-encoding": "identity",
            },
            "timeout": httpx.Timeout(self._timeout_s, connect=CONNECT_S),
            "transport": _Transport(address, self._network),
            "follow_redirects": False,
            "trust_env": False,  # no proxies
        }
        self._http = httpx.AsyncClient(base_url=url, **options)
        self._ollama = _import_ollama().AsyncClient(url, **options)
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close all connections."""
        await self._ollama.close()
        await self._http.aclose()

    async def ask(
        self, path: str, body: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Return an answer that needs no model."""
        async with self._limit(self._answer_s):
            method = "POST" if body else "GET"
            response = await self._http.request(method, path, json=body)
            return _parse_object(response.content)

    async def chat(
        self, request: Mapping[str, Any], on_token: Callable[[int], None]
    ) -> ModelReply:
        """Return a reply, streamed.

        Args:
            request: The arguments of ``ollama.AsyncClient.chat``.
            on_token: Called with the number of tokens, as they come.
        """
        texts: list[str] = []
        tokens = 0
        async with (
            self._limit(self._timeout_s * REPLY_TIMEOUTS),
            aclosing(await self._ollama.chat(**request, stream=True)) as parts,
        ):
            async for part in parts:
                texts.append(part.message.content or "")
                if texts[-1] or part.message.thinking:
                    tokens += 1
                    on_token(tokens)
                if part.done:
                    return _make_reply(part, "".join(texts))
        raise IncompleteReplyError("the reply ended before it was done")

    @asynccontextmanager
    async def _limit(self, timeout_s: float) -> AsyncIterator[None]:
        """Limit the time, and convert what httpx and Ollama's client raise."""
        try:
            async with asyncio.timeout(timeout_s):
                yield
        except OllamaError:
            raise
        except (httpx.ConnectError, httpx.ConnectTimeout, ConnectionError) as error:
            raise OfflineError(
                f"Ollama does not answer at {self._address.url}"
            ) from error
        except (httpx.TimeoutException, TimeoutError) as error:
            raise StalledError("the server fell silent") from error
        except (httpx.TransportError, OSError) as error:
            raise IncompleteReplyError(f"the connection broke off: {error}") from error
        except (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL) as error:
            raise ServerError(f"the server's answer cannot be read: {error}") from error
        except ValueError as error:  # A field is not of the type that the client reads.
            raise ServerError("the server's answer cannot be read") from error


_ENVIRONMENT = ("OLLAMA_HOST", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")


def _import_ollama() -> Any:
    """Import Ollama's package.

    It takes 190 ms, and makes a client from these variables, which fails if one has no
    valid address.
    """
    names = [name for name in os.environ if name.upper() in _ENVIRONMENT]
    removed = {name: os.environ.pop(name) for name in names}
    try:
        import ollama
    finally:
        os.environ.update(removed)
    return ollama


# The transport


class _Transport(httpx.AsyncBaseTransport):
    """Send requests to one server, and raise everything but a good answer."""

    def __init__(
        self, address: Address, network: httpx.AsyncBaseTransport | None
    ) -> None:
        self._host = address.host
        self._network = network or httpx.AsyncHTTPTransport(
            verify=address.scheme == "https",  # else certificates are not loaded
            trust_env=False,
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        is_chat = request.url.path == "/api/chat"
        content = request.content
        if is_chat:
            content = json.dumps({**json.loads(content), "truncate": False}).encode()
        headers = request.headers.copy()
        for name in ("authorization", "content-length"):
            headers.pop(name, None)
        response = await self._network.handle_async_request(
            httpx.Request(
                request.method,
                request.url,
                headers=headers,
                content=content,
                # The certificate is that of the name, not of the resolved address.
                extensions={**request.extensions, "sni_hostname": self._host},
            )
        )
        if is_chat and response.status_code == 200:
            return httpx.Response(200, stream=_Parts(response))
        body = await _read(response)
        if response.status_code != 200:
            raise errors.from_response(response.status_code, body)
        return httpx.Response(200, content=body)

    async def aclose(self) -> None:
        await self._network.aclose()


class _Parts(httpx.AsyncByteStream):
    """The parts of a streamed reply, one a line, checked and written in ASCII.

    Ollama's client would also split lines at U+0085 and U+2028, which a model may
    write.
    """

    def __init__(self, response: httpx.Response) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncGenerator[bytes]:
        begun = b""
        async for chunk in self._response.aiter_bytes():
            *lines, begun = (begun + chunk).split(b"\n")
            if len(begun) > MAX_ANSWER_BYTES:
                raise ServerError("the server's reply has no lines")
            for line in filter(bytes.strip, lines):
                yield json.dumps(_parse_object(line)).encode() + b"\n"

    async def aclose(self) -> None:
        await self._response.aclose()


async def _read(response: httpx.Response) -> bytes:
    """Return the whole body, up to a limit."""
    body = b""
    try:
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) > MAX_ANSWER_BYTES:
                raise ServerError("the server's answer has no end")
    finally:
        await response.aclose()
    return body


def _parse_object(body: bytes) -> dict[str, Any]:
    """Return a JSON object of the server.

    Raises:
        ServerError: It is not an object.
        NotAllowedError: It says that another machine wrote it.
        OllamaError: It reports an error.
    """
    try:
        value = json.loads(body.decode())
    except (ValueError, RecursionError) as error:
        raise ServerError("the server's answer cannot be read") from error
    if not isinstance(value, dict):
        raise ServerError("the server's answer is not an object")
    if value.get("error"):
        raise errors.from_stream(value["error"])
    if value.get("remote_host"):
        raise NotAllowedError(f"the model cannot be used: {NOT_LOCAL}")
    return value


def _make_reply(part: "ChatResponse", text: str) -> ModelReply:
    """Return a reply from the last part of its stream."""
    if part.done_reason not in ("stop", "length"):
        reason = repr(part.done_reason)
        raise ServerError(f"the reply ended for another reason: {reason}"[:200])
    return ModelReply(
        text,
        is_whole=part.done_reason == "stop",
        prompt_tokens=part.prompt_eval_count or 0,
        reply_tokens=part.eval_count or 0,
        load_ms=(part.load_duration or 0) // 1_000_000,
        prompt_ms=(part.prompt_eval_duration or 0) // 1_000_000,
        reply_ms=(part.eval_duration or 0) // 1_000_000,
    )
