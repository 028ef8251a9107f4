"""The connection to one Ollama server, by its HTTP interface.

What the server reports is raised as the errors of this package. Ollama's own client
would send a key from the environment to any server, and could not forbid the server to
cut a prompt that is too long.
"""

import asyncio
import ipaddress
import json
import logging
import socket
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar
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
        self._http = httpx.AsyncClient(
            base_url=_url(address.scheme, host, address.port),
            headers={
                "host": address.url.partition("://")[2],
                "accept-encoding": "identity",
            },
            timeout=httpx.Timeout(self._timeout_s, connect=CONNECT_S),
            transport=self._network,
            verify=address.scheme == "https",  # else certificates are not loaded
            trust_env=False,  # no proxies
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close all connections."""
        await self._http.aclose()

    async def ask(
        self, path: str, body: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Return an answer that needs no model."""
        async with (
            self._limit(self._answer_s),
            self._send("POST" if body else "GET", path, body) as response,
        ):
            return _parse_object(await _read(response))

    async def chat(
        self, request: Mapping[str, Any], on_token: Callable[[int], None]
    ) -> ModelReply:
        """Return a reply, streamed.

        Args:
            request: The fields of a request to ``/api/chat``.
            on_token: Called with the number of tokens, as they come.
        """
        texts: list[str] = []
        tokens = 0
        body = {**request, "stream": True, "truncate": False}
        async with (
            self._limit(self._timeout_s * REPLY_TIMEOUTS),
            self._send("POST", "/api/chat", body) as response,
        ):
            async for part in _parts(response):
                message = part.get("message")
                if not isinstance(message, dict):
                    raise ServerError("the server's reply has no message")
                texts.append(_field(message, "content", ""))
                if texts[-1] or message.get("thinking"):
                    tokens += 1
                    on_token(tokens)
                if part.get("done"):
                    return _make_reply(part, "".join(texts))
        raise IncompleteReplyError("the reply ended before it was done")

    @asynccontextmanager
    async def _send(
        self, method: str, path: str, body: Mapping[str, Any] | None
    ) -> AsyncIterator[httpx.Response]:
        """Send a request; an error status is raised."""
        # The certificate is that of the name, not of the resolved address.
        extensions = {"sni_hostname": self._address.host}
        async with self._http.stream(
            method, path, json=body, extensions=extensions
        ) as response:
            if response.status_code != 200:
                body_of_error = await _read(response)
                raise errors.from_response(response.status_code, body_of_error)
            yield response

    @asynccontextmanager
    async def _limit(self, timeout_s: float) -> AsyncIterator[None]:
        """Limit the time, and convert what httpx raises."""
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


async def _parts(response: httpx.Response) -> AsyncIterator[dict[str, Any]]:
    """Yield the parts of a streamed reply, one a line.

    Lines end with a line feed only: a model may write other separators, such as U+2028.
    """
    begun = b""
    async for chunk in response.aiter_bytes():
        *lines, begun = (begun + chunk).split(b"\n")
        if len(begun) > MAX_ANSWER_BYTES:
            raise ServerError("the server's reply has no lines")
        for line in filter(bytes.strip, lines):
            yield _parse_object(line)


async def _read(response: httpx.Response) -> bytes:
    """Return the whole body, up to a limit."""
    body = b""
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > MAX_ANSWER_BYTES:
            raise ServerError("the server's answer has no end")
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


_Value = TypeVar("_Value", str, int)


def _field(fields: Mapping[str, Any], name: str, default: _Value) -> _Value:
    """Return a field of the default's type; the default if there is none."""
    value = fields.get(name)
    if value is None:
        return default
    if not isinstance(value, type(default)):
        raise ServerError(f"{name} in the server's reply cannot be read")
    return value


def _make_reply(part: Mapping[str, Any], text: str) -> ModelReply:
    """Return a reply from the last part of its stream."""
    done_reason = part.get("done_reason")
    if done_reason not in ("stop", "length"):
        reason = repr(done_reason)
        raise ServerError(f"the reply ended for another reason: {reason}"[:200])
    return ModelReply(
        text,
        is_whole=done_reason == "stop",
        prompt_tokens=_field(part, "prompt_eval_count", 0),
        reply_tokens=_field(part, "eval_count", 0),
        load_ms=_field(part, "load_duration", 0) // 1_000_000,
        prompt_ms=_field(part, "prompt_eval_duration", 0) // 1_000_000,
        reply_ms=_field(part, "eval_duration", 0) // 1_000_000,
    )
