"""The HTTP server: ``POST /api/v0/TOOL`` with a tool's arguments as JSON.

It serves only this machine, and only callers that send the key: as a bearer token or
as ``?key=``. It answers only requests that name this machine as their host and come
from no web page, takes JSON of a bounded size, and lets no page read the answer.
"""

import io
import json
import secrets
import socket
import sys
import threading
import time
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, HTTPServer, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from memtui.errors import MemtuiError
from memtui.text.fencing import neutralize_line
from memtui.text.tokens import ESTIMATING_COUNTER
from memtui.tools.envelope import USAGE, ErrorInfo, make_envelope, write_envelope
from memtui.tools.table import Tool, ToolRunner, available_tools

HOST = "127.0.0.1"
PREFIX = "/api/v0/"
MAX_BODY_BYTES = 64 * 1024
MAX_LENGTH_DIGITS = 20

TIMEOUT_S = 10.0
"""The time within which a whole request must arrive, and a whole answer be read."""

MAX_THREADS = 64

_USAGE = f'POST {PREFIX}retrieve_memory {{"query": "…"}} as application/json'


def create(
    runner: ToolRunner, port: int, key: str, *, with_writing: bool = False
) -> HTTPServer:
    """Create the server; port 0 takes any that is free."""
    try:
        return _Server(port, runner, key, available_tools(with_writing=with_writing))
    except (OSError, OverflowError) as error:
        raise MemtuiError(f"port {port} cannot be used: {error}; try --port") from error


def create_key() -> str:
    return secrets.token_urlsafe(24)


class _RequestError(Exception):
    """A request that is not answered."""

    def __init__(self, status: HTTPStatus, message: str) -> None:
        super().__init__(message)
        self.status = status


_CODES = {
    HTTPStatus.UNAUTHORIZED: "forbidden",
    HTTPStatus.FORBIDDEN: "forbidden",
    HTTPStatus.NOT_FOUND: "not_found",
}
"""The code of an error by its status; of all others it is that of usage."""


class _Server(ThreadingHTTPServer):
    """A server with a limited number of threads; further connections wait."""

    def __init__(
        self, port: int, runner: ToolRunner, key: str, tools: dict[str, Tool]
    ) -> None:
        super().__init__((HOST, port), _Handler)
        self.runner, self.key, self.tools = runner, key, tools
        self._free_threads = threading.BoundedSemaphore(MAX_THREADS)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer a request on its own thread, or refuse it if none becomes free."""
        if self._free_threads.acquire(timeout=TIMEOUT_S):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free_threads.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print an error unless the client has closed the connection."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _RequestReader(io.RawIOBase):
    """Reads a request, all of which must arrive before a deadline."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._deadline_s = time.monotonic() + TIMEOUT_S

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        left_s = self._deadline_s - time.monotonic()
        if left_s <= 0:
            raise TimeoutError
        self._connection.settimeout(left_s)
        return self._connection.recv_into(buffer)


class _Handler(BaseHTTPRequestHandler):
    """Handles one request on its own thread."""

    server: _Server
    server_version, sys_version = "memtui", ""

    def setup(self) -> None:
        """Limit the time for the request as a whole, not for each part of it."""
        super().setup()
        self.rfile = io.BufferedReader(_RequestReader(self.connection))

    def do_POST(self) -> None:
        try:
            tool = self._tool()
            arguments = self._arguments()
        except _RequestError as error:
            code = _CODES.get(error.status, USAGE)
            self._fail(error.status, ErrorInfo(code, str(error), _USAGE))
            return
        answer = self.server.runner.call(tool, arguments)
        if answer.error is None:
            self._send(HTTPStatus.OK, answer.text, "text/markdown; charset=utf-8")
        elif answer.error.code == USAGE:
            self._fail(HTTPStatus.BAD_REQUEST, answer.error)
        else:
            self._fail(HTTPStatus.INTERNAL_SERVER_ERROR, answer.error)

    def send_error(
        self, code: int, message: str | None = None, explain: str | None = None
    ) -> None:
        """Answer a request that is not valid HTTP, or not POST."""
        status = HTTPStatus(code)
        if status is HTTPStatus.NOT_IMPLEMENTED:
            status, message = HTTPStatus.METHOD_NOT_ALLOWED, "only POST is answered"
        self.close_connection = True
        text = neutralize_line(message or status.phrase)
        self._fail(status, ErrorInfo(USAGE, text, _USAGE))

    def _tool(self) -> Tool:
        """Return the tool that is called, if the caller is allowed to."""
        headers = self.headers
        host = headers.get("Host", "")
        name = host.rpartition(":")[0] or host
        # A page elsewhere can send requests here, by a name that leads here.
        if name not in (HOST, "localhost") or headers.get("Origin"):
            raise _RequestError(HTTPStatus.FORBIDDEN, "not from this machine")
        try:
            url = urlsplit(self.path)
        except ValueError:
            text = "the address is not valid"
            raise _RequestError(HTTPStatus.BAD_REQUEST, text) from None
        scheme, _, token = headers.get("Authorization", "").strip().partition(" ")
        bearer = token.strip() if scheme.lower() == "bearer" else ""
        given = bearer or parse_qs(url.query).get("key", [""])[0]
        raw = given.encode("utf-8", "replace")
        if not secrets.compare_digest(raw, self.server.key.encode()):
            text = "the key is missing or wrong; memtui serve prints it"
            raise _RequestError(HTTPStatus.UNAUTHORIZED, text)
        tool = self.server.tools.get(url.path.removeprefix(PREFIX))
        if tool is None or not url.path.startswith(PREFIX):
            raise _RequestError(HTTPStatus.NOT_FOUND, "there is nothing here")
        kind = headers.get("Content-Type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            text = "the body is not application/json"
            raise _RequestError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, text)
        return tool

    def _arguments(self) -> dict[str, Any]:
        length, body, text = self.headers.get("Content-Length", ""), b"", ""
        if not length.isdecimal():
            text = "Content-Length is missing"
        elif len(length) > MAX_LENGTH_DIGITS or int(length) > MAX_BODY_BYTES:
            text = f"the body is longer than {MAX_BODY_BYTES:,} bytes"
        else:
            with suppress(TimeoutError):
                body = self.rfile.read(int(length))
            if len(body) != int(length):
                text = f"the body broke off before its {int(length):,} bytes were there"
        arguments = None
        if not text:
            with suppress(ValueError, RecursionError):
                arguments = json.loads(body)
        if not isinstance(arguments, dict):
            self.close_connection = True
            text = text or "the body is not a JSON object"
            raise _RequestError(HTTPStatus.BAD_REQUEST, text)
        return arguments

    def _fail(self, status: HTTPStatus, error: ErrorInfo) -> None:
        text = write_envelope(make_envelope(None, error=error), ESTIMATING_COUNTER)
        self._send(status, text, "application/json")

    def _send(self, status: HTTPStatus, text: str, kind: str) -> None:
        body = text.encode("utf-8", "replace")
        self.connection.settimeout(TIMEOUT_S)
        self.send_response(status)
        if status is HTTPStatus.METHOD_NOT_ALLOWED:
            self.send_header("Allow", "POST")
        if status is HTTPStatus.UNAUTHORIZED:
            self.send_header("WWW-Authenticate", "Bearer")
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: requests hold questions and the key."""
