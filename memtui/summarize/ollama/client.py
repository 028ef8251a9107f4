"""The connection to one Ollama server: Ollama's own client, and what it cannot do.

``ollama.AsyncClient`` makes the requests and reads the answers. Below it is an HTTP
transport that asks for no truncation, sends no key, raises what the server reports as
the errors of this package, and ends any answer that another machine wrote.
"""

import asyncio
import ipaddress
import json
import logging
import os
import socket
import threading
import zlib
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Callable,
    Collection,
    Mapping,
    Sequence,
)
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

import httpx

from memtui.summarize.ollama import errors
from memtui.summarize.ollama.errors import (
    IncompleteReplyError,
    InvalidReplyError,
    NotAllowedError,
    OfflineError,
    OllamaError,
    RemoteModelError,
    ServerError,
    StalledError,
)

if TYPE_CHECKING:
    from ollama import (
        AsyncClient,
        ChatResponse,
        ListResponse,
        ProcessResponse,
        ShowResponse,
    )


# It logs every request otherwise.
logging.getLogger("httpx").setLevel(logging.WARNING)

PORT = 11434
"""Ollama's default port."""

CONNECT_S, ANSWER_S = 2.0, 10.0
"""The timeouts for a connection, and for an answer that needs no model, in seconds;
the latter at most as long as the timeout."""

REPLY_TIMEOUTS = 2
"""The number of timeouts that a whole reply may take."""

ANSWER_BYTES = 8_000_000
"""The longest plain answer that is read."""

LINE_BYTES = 1_000_000
"""The longest line of a streamed reply."""

BLANKS = 64
"""A reply that ends with more white space than this is endless."""

LAST_CHARS, RATIO = 600, 0.12
"""The number of last characters checked for repetition, and the compression ratio
below which they only repeat."""

EVERY_CHARS = 100
"""After how many new characters the end of a reply is checked again."""


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
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"


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


async def _resolve(host: str, port: int) -> str:
    """Return the IP address of a host, looked up on a daemon thread.

    The event loop's own threads are joined when it ends, so that a silent name server
    would hold up everybody who wants to quit.
    """
    loop = asyncio.get_running_loop()
    result: asyncio.Future[str] = loop.create_future()

    def finish(address: str) -> None:
        if not result.done():
            result.set_result(address)

    def look_up() -> None:
        try:
            rows = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            address = str(rows[0][4][0])
        except (OSError, UnicodeError):
            address = ""
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(finish, address)

    threading.Thread(target=look_up, name="look up", daemon=True).start()
    with suppress(TimeoutError):
        async with asyncio.timeout(CONNECT_S):
            if address := await result:
                return address
    raise OfflineError(f"{host} cannot be found")


# The transport below Ollama's client


class _Transport(httpx.AsyncBaseTransport):
    """Sends requests to one server; anything but an answer is raised as an error."""

    def __init__(
        self, address: Address, host: str, network: httpx.AsyncBaseTransport | None
    ) -> None:
        self._name, self._host = address.host, host
        self._network = network or httpx.AsyncHTTPTransport(
            verify=address.scheme == "https", trust_env=False
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request, and check the answer."""
        response = await self._network.handle_async_request(self._prepared(request))
        if response.status_code != 200:
            raise errors.from_response(response.status_code, await _read(response))
        if request.url.path == "/api/chat":
            return httpx.Response(200, stream=_LineStream(response))
        body = await _read(response)
        parse_object(body)
        return httpx.Response(200, content=body)

    async def aclose(self) -> None:
        await self._network.aclose()

    def _prepared(self, request: httpx.Request) -> httpx.Request:
        """Return the request without a key, and without leave to truncate the prompt.

        Ollama's client takes the key from the environment and sends it to any server,
        and cannot send ``truncate``. Without that, a prompt that does not fit would be
        cut from the front without a word.
        """
        content = request.content
        if request.url.path == "/api/chat":
            body = {**json.loads(content), "truncate": False}
            content = json.dumps(body, ensure_ascii=False).encode()
        headers = request.headers.copy()
        for name in ("authorization", "content-length"):
            headers.pop(name, None)
        return httpx.Request(
            request.method,
            request.url.copy_with(host=self._host),
            headers=headers,
            content=content,
            extensions={**request.extensions, "sni_hostname": self._name},
        )


class _LineStream(httpx.AsyncByteStream):
    """A streamed reply, line by line, each checked and written in ASCII.

    Lines end only at a line feed: a model may write U+0085 or U+2028, at which httpx
    would split them.
    """

    def __init__(self, response: httpx.Response) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        begun = b""
        async for chunk in self._response.aiter_bytes():
            *lines, begun = (begun + chunk).split(b"\n")
            if len(begun) > LINE_BYTES:
                raise ServerError("the server's reply has no lines")
            for line in filter(bytes.strip, lines):
                part = parse_object(line)
                yield json.dumps(part).encode() + b"\n"
                if part.get("done") is True:
                    return
        if begun.strip():
            try:
                json.loads(begun)
            except (ValueError, RecursionError):
                raise IncompleteReplyError(BROKE_OFF) from None
            yield json.dumps(parse_object(begun)).encode() + b"\n"

    async def aclose(self) -> None:
        await self._response.aclose()


BROKE_OFF = "the reply ended before it was done"


async def _read(response: httpx.Response) -> bytes:
    """Return the whole body, up to a limit."""
    body = b""
    try:
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) > ANSWER_BYTES:
                raise ServerError("the server's answer has no end")
    finally:
        await response.aclose()
    return body


def parse_object(body: bytes) -> dict[str, Any]:
    """Return a JSON object of the server.

    Raises:
        ServerError: It is not an object.
        RemoteModelError: It says that another machine wrote it.
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
        raise RemoteModelError("the model does not run on this machine")
    return value


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
            host = await _resolve(host, address.port)
        options: dict[str, Any] = {
            "transport": _Transport(address, host, self._network),
            "timeout": httpx.Timeout(self._timeout_s, connect=CONNECT_S),
            "headers": {"accept-encoding": "identity"},
            "follow_redirects": False,
            "trust_env": False,
        }
        self._ollama: AsyncClient = _import_ollama().AsyncClient(address.url, **options)
        self._http = httpx.AsyncClient(base_url=address.url, **options)
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close all connections."""
        await self._ollama.close()  # type: ignore[no-untyped-call]
        await self._http.aclose()

    async def version(self) -> str:
        """Return the server's version, which Ollama's client does not offer."""
        async with self._request(self._answer_s):
            answer = (await self._http.get("/api/version")).json()
            return str(answer.get("version", ""))

    async def models(self) -> "ListResponse":
        async with self._request(self._answer_s):
            return await self._ollama.list()

    async def running(self) -> "ProcessResponse":
        """Return the loaded models."""
        async with self._request(self._answer_s):
            return await self._ollama.ps()

    async def show(self, model: str) -> "ShowResponse":
        """Return what a model is and can do."""
        async with self._request(self._answer_s):
            return await self._ollama.show(model)

    async def load(self, model: str, window: int, keep_alive: str | int) -> None:
        async with self._request(self._timeout_s):
            await self._ollama.generate(
                model, options={"num_ctx": window}, keep_alive=keep_alive
            )

    async def chat(
        self,
        model: str,
        messages: Sequence[Mapping[str, str]],
        on_token: Callable[[int], None],
        **options: Any,
    ) -> ModelReply:
        """Return a reply, streamed.

        Args:
            model: The model's name.
            messages: The prompt.
            on_token: Called with the number of tokens, as they come.
            options: More arguments of ``ollama.AsyncClient.chat``.
        """
        text, length, checked, tokens = list[str](), 0, 0, 0
        async with self._request(self._timeout_s * REPLY_TIMEOUTS):
            stream = await self._ollama.chat(model, messages, stream=True, **options)
            parts = cast("AsyncGenerator[ChatResponse, None]", stream)
            async with aclosing(parts):
                async for part in parts:
                    content = part.message.content
                    if content:
                        text.append(content)
                        length += len(content)
                    if content or part.message.thinking:
                        tokens += 1
                        on_token(tokens)
                    if part.done:
                        return _reply(part, "".join(text))
                    if length - checked >= EVERY_CHARS:
                        checked = length
                        if is_endless("".join(text)):
                            raise InvalidReplyError("the reply goes on without an end")
        raise IncompleteReplyError(BROKE_OFF)

    @asynccontextmanager
    async def _request(self, timeout_s: float) -> AsyncIterator[None]:
        """Limit the time, and convert what Ollama's client and httpx raise."""
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
        except (ValueError, TypeError, AttributeError, RecursionError) as error:
            # Ollama's models of answers raise these for a field of another type.
            raise ServerError("the server's answer cannot be read") from error


def _reply(part: "ChatResponse", text: str) -> ModelReply:
    """Return a reply from the last part of its stream."""
    reason = part.done_reason
    if reason not in ("stop", "length"):
        raise ServerError(f"the reply ended for another reason: {reason!r}"[:200])
    return ModelReply(
        text,
        is_whole=reason == "stop",
        prompt_tokens=part.prompt_eval_count or 0,
        reply_tokens=part.eval_count or 0,
        load_ms=(part.load_duration or 0) // 1_000_000,
        prompt_ms=(part.prompt_eval_duration or 0) // 1_000_000,
        reply_ms=(part.eval_duration or 0) // 1_000_000,
    )


def is_endless(text: str) -> bool:
    """Return True if a text ends in mere white space or in an endless repetition."""
    if len(text) - len(text.rstrip()) > BLANKS:
        return True
    if len(text) < LAST_CHARS:
        return False
    last = text[-LAST_CHARS:].encode(errors="replace")
    return len(zlib.compress(last)) < RATIO * len(last)


_ENVIRONMENT = ("OLLAMA_HOST", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")


def _import_ollama() -> Any:
    """Import Ollama's package, without the environment if that makes it fail.

    Its import makes a client from ``OLLAMA_HOST`` and the proxies, and takes 190 ms.
    """
    try:
        import ollama
    except (ImportError, ValueError):
        names = [name for name in os.environ if name.upper() in _ENVIRONMENT]
        removed = {name: os.environ.pop(name) for name in names}
        try:
            import ollama
        except ImportError as error:
            raise ServerError(f"the ollama package cannot be used: {error}") from error
        finally:
            os.environ.update(removed)
    return ollama
