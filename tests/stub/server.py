"""A stub of Ollama's server, on loopback, that records all requests.

It counts tokens, cuts prompts that are too long, and fails where a test says so. Its
models, their personas and the faults are in the other modules of this package.
"""

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import ThreadingHTTPServer
from typing import Any, cast

from tests.stub.faults import GOOD, Fault
from tests.stub.models import Memory, Model

VERSION = "0.33.0"


@dataclass(slots=True)
class ReceivedRequest:
    """One request."""

    method: str
    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    peer: str
    tokens: int = 0
    """The length of its prompt in tokens of the stub."""
    window: int = 0
    """The model's window."""
    is_stalled: threading.Event = field(default_factory=threading.Event)
    """Set when the reply stalls, as the fault says."""
    is_abandoned: threading.Event = field(default_factory=threading.Event)
    """Set when the client disconnects during a stall."""
    is_ended: threading.Event = field(default_factory=threading.Event)


@dataclass(frozen=True, slots=True)
class Pace:
    """The times that the server takes, in seconds; none by default."""

    load_s: float = 0.0
    token_s: float = 0.0
    """For each token of the prompt."""
    word_s: float = 0.0
    """For each word of the reply."""


PATIENCE_S = 60.0
"""The longest wait for a request: a busy machine is slow to start a process."""


class Stub:
    """The server, with its models, its script of faults and the requests received."""

    def __init__(self, *models: Model, version: str = VERSION) -> None:
        self.version = version
        self.models = list(models)
        self.memory = Memory()
        self.received: list[ReceivedRequest] = []
        self.arrived = threading.Condition()
        self.pace = Pace()
        self._script: dict[str, deque[Fault]] = {}
        self._always: dict[str, Fault] = {}
        self.stopping = threading.Event()
        self._server: ThreadingHTTPServer | None = None
        self._port = 0

    def script(self, *faults: Fault, path: str = "/api/chat") -> None:
        """Set the faults of the next requests of a path, one each."""
        self._script.setdefault(path, deque()).extend(faults)

    def always(self, fault: Fault, path: str = "/api/chat") -> None:
        """Set the fault of all further requests of a path."""
        self._always[path] = fault

    def clear_script(self, path: str = "/api/chat") -> None:
        """Remove all faults of a path."""
        self._script.pop(path, None)
        self._always.pop(path, None)

    def next_fault(self, path: str) -> Fault:
        waiting = self._script.get(path)
        return waiting.popleft() if waiting else self._always.get(path, GOOD)

    @property
    def url(self) -> str:
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def model(self, name: str) -> Model | None:
        """Return a model by its name, with or without ``:latest``."""
        names = (name, f"{name}:latest")
        return next((model for model in self.models if model.name in names), None)

    def chats(self) -> list[ReceivedRequest]:
        """Return the requests for a reply, in order."""
        return self.requests_for("/api/chat")

    def requests_for(self, path: str) -> list[ReceivedRequest]:
        with self.arrived:
            return [request for request in self.received if request.path == path]

    def record(self, received: ReceivedRequest) -> None:
        with self.arrived:
            self.received.append(received)
            self.arrived.notify_all()

    def wait_for(self, count: int, path: str = "/api/chat") -> ReceivedRequest:
        """Wait for the request with this number, from 1, and return it."""
        with self.arrived:
            has_arrived = self.arrived.wait_for(
                lambda: len([r for r in self.received if r.path == path]) >= count,
                PATIENCE_S,
            )
            assert has_arrived, f"no {count} requests for {path}"
            return [request for request in self.received if request.path == path][
                count - 1
            ]

    def start(self, port: int = 0) -> None:
        """Listen at this port, or any; after ``close``, at the same one as before."""
        from tests.stub.handler import Handler

        server = _Server(("127.0.0.1", port or self._port), Handler)
        server.stub = self
        self._server, self._port = server, server.server_address[1]
        threading.Thread(
            target=server.serve_forever, args=(0.01,), name="stub", daemon=True
        ).start()

    def delay(self, seconds: float) -> None:
        """Wait for a while, or until the server is stopped."""
        if seconds:
            self.stopping.wait(seconds)

    def stop(self) -> None:
        """Close the port for good and end all stalls."""
        self.stopping.set()
        self.close()

    def close(self) -> None:
        """Close the port; ``start`` opens it again."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64
    stub: Stub

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that disconnect."""


@contextmanager
def run_stub(*models: Model, version: str = VERSION) -> Iterator[Stub]:
    """Run a stub; with one ordinary model if none is given."""
    stub = Stub(*(models or (Model(),)), version=version)
    stub.start()
    try:
        yield stub
    finally:
        stub.stop()


def get_stub(server: object) -> Stub:
    """Return the stub of a handler's server."""
    return cast(_Server, server).stub
