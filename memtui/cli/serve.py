"""``serve``: ``POST /api/v0/retrieve_memory`` for programs on this machine alone.

It listens on 127.0.0.1, answers only who names this machine as its host (a page in a
browser that was led here does not), takes JSON of a bounded size, and says nothing
that would let a page of another origin read the answer.
"""

import json
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, HTTPServer, ThreadingHTTPServer
from typing import Any

from memtui.agents import memories, replies, retrieval
from memtui.agents.replies import Problem
from memtui.errors import MemtuiError
from memtui.text.fencing import line as neutral
from memtui.text.tokens import ESTIMATED
from memtui.workspace import Workspace

HOST = "127.0.0.1"


PATH = "/api/v0/retrieve_memory"


MOST_BYTES = 64 * 1024
"""The longest request, in bytes."""


BOUNDS = {
    "limit": (1, retrieval.MOST),
    "detail_limit": (0, retrieval.MOST),
    "max_tokens": (replies.LEAST, replies.MOST),
}
"""What can be asked for beside a question: the least and the most of each."""


PATIENCE_S = 10.0
"""How long a request may take to arrive, in seconds."""


_USAGE = 'send {"query": "…", "limit": 5, "detail_limit": 2, "max_tokens": 500}'


class Kept:
    """A memory that is opened by the first question that finds one; none is made."""

    def __init__(
        self, opened: Callable[[], Workspace], is_there: Callable[[], bool]
    ) -> None:
        """Remember how it is opened, and how it is known to be there."""
        self._opened, self._is_there = opened, is_there
        self._house: Workspace | None = None
        self._opening = threading.Lock()

    def house(self) -> Workspace | None:
        """The memory; None while there is none."""
        with self._opening:
            if self._house is None and self._is_there():
                self._house = self._opened()
            return self._house

    def close(self) -> None:
        """Close what was opened."""
        if self._house is not None:
            self._house.stop()


def serve(
    opened: Callable[[], Workspace], is_there: Callable[[], bool], port: int
) -> int:
    """Answer until ctrl+c.

    Args:
        opened: Opens the memory.
        is_there: Whether there is one: a question makes none.
        port: On which port.
    """
    kept = Kept(opened, is_there)
    server = made(kept, port)
    at = f"http://{HOST}:{server.server_port}{PATH}"
    print(f"memtui answers POST {at}; stop it with ctrl+c", file=sys.stderr, flush=True)
    try:
        server.serve_forever()
    finally:
        server.server_close()
        kept.close()
    return 0


def made(kept: Kept, port: int) -> HTTPServer:
    """The server; port 0 takes any that is free.

    Raises:
        MemtuiError: The port is taken.
    """

    class Handler(_Handler):
        asked = kept

    try:
        return _Server((HOST, port), Handler)
    except (OSError, OverflowError) as error:
        raise MemtuiError(f"port {port} cannot be used: {error}; try --port") from error


class _Server(ThreadingHTTPServer):
    """Who goes away amid a question or an answer is no error of ours."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say what went wrong, unless nobody is there any more."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    """Answers one client, on a thread of its own: a slow one keeps nobody waiting."""

    asked: Kept
    timeout = PATIENCE_S
    server_version, sys_version = "memtui", ""

    def do_POST(self) -> None:
        """Answer a question."""
        if not self._is_for_us():
            return
        try:
            given = self._given()
            text = self._answer(given)
        except ValueError as error:
            problem = Problem(replies.USAGE, str(error), _USAGE)
            self._fail(HTTPStatus.BAD_REQUEST, problem)
        except MemtuiError as error:
            self._fail(HTTPStatus.INTERNAL_SERVER_ERROR, replies.problem(error))
        else:
            self._send(HTTPStatus.OK, text, "text/markdown; charset=utf-8")

    def send_error(
        self, code: int, message: str | None = None, explain: str | None = None
    ) -> None:
        """Say what cannot be read as a request we answer, and what to send."""
        status = HTTPStatus(code)
        if status is HTTPStatus.NOT_IMPLEMENTED:
            status, message = HTTPStatus.METHOD_NOT_ALLOWED, "only POST is answered"
        says = neutral(message or status.phrase)
        self.close_connection = True
        self._fail(status, Problem(replies.USAGE, says, _USAGE))

    def _is_for_us(self) -> bool:
        # A page elsewhere can send here, by a name that leads here: not by this one.
        host = self.headers.get("Host", "").rpartition(":")[0] or self.headers.get(
            "Host"
        )
        kind = self.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        if host not in (HOST, "localhost") or self.headers.get("Origin"):
            self._fail(
                HTTPStatus.FORBIDDEN, Problem("forbidden", "not from this machine")
            )
        elif self.path != PATH:
            problem = Problem("not_found", "there is nothing here", f"POST {PATH}")
            self._fail(HTTPStatus.NOT_FOUND, problem)
        elif kind != "application/json":
            problem = Problem(replies.USAGE, "the body is not application/json", _USAGE)
            self._fail(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, problem)
        else:
            return True
        return False

    def _given(self) -> dict[str, Any]:
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal():
            raise ValueError("Content-Length is missing")
        if int(length) > MOST_BYTES:
            self.close_connection = True
            raise ValueError(f"the body is longer than {MOST_BYTES:,} bytes")
        body = self._body(int(length))
        try:
            given = json.loads(body)
        except (ValueError, RecursionError):
            raise ValueError("the body is not JSON") from None
        if not isinstance(given, dict) or not isinstance(given.get("query"), str):
            raise ValueError("query is missing, or no text")
        if strange := [name for name in given if name not in ("query", *BOUNDS)]:
            raise ValueError(f"there is no {neutral(strange[0])[:40]!r} here")
        return given

    def _body(self, length: int) -> bytes:
        with suppress(TimeoutError):
            body = self.rfile.read(length)
            if len(body) == length:
                return body
        self.close_connection = True
        raise ValueError(f"the body broke off before its {length:,} bytes were there")

    def _answer(self, given: dict[str, Any]) -> str:
        limit = _number(given, "limit")
        details = _number(given, "detail_limit")
        most = _number(given, "max_tokens")
        house = self.asked.house()
        if house is None:
            return replies.text(replies.none_kept(), 0, None, "")
        reply = house.asking.retrieve_memory(
            given["query"],
            limit=limit or memories.LIMIT,
            detail_limit=details,
        )
        return replies.fitted(reply, most or replies.DEFAULT, house.counter).text

    def _fail(self, status: HTTPStatus, problem: Problem) -> None:
        told = replies.wrapped(None, tokens=0, ms=0, failing=problem)
        told["meta"]["tokens"] = replies.cost(replies.dumped(told), ESTIMATED)
        self._send(status, replies.dumped(told), "application/json")

    def _send(self, status: HTTPStatus, text: str, kind: str) -> None:
        body = text.encode("utf-8", "replace")
        self.send_response(status)
        if status is HTTPStatus.METHOD_NOT_ALLOWED:
            self.send_header("Allow", "POST")
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: a question is nobody else's matter."""


def _number(given: dict[str, Any], name: str) -> int | None:
    value, (least, most) = given.get(name), BOUNDS[name]
    if value is None:
        return None
    is_number = isinstance(value, int) and not isinstance(value, bool)
    if not is_number or not least <= value <= most:
        raise ValueError(f"{name} is a whole number from {least:,} to {most:,}")
    return int(value)
