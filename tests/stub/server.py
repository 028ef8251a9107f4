"""A server that speaks as Ollama does, on loopback, and records what it is asked.

It really counts tokens, really cuts what is too long, and really goes wrong when it is
told to: its models, how they write, and what goes wrong are in the modules beside.
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
class Received:
    """One request."""

    method: str
    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    peer: str
    tokens: int = 0
    """How long its prompt was, in the stub's tokens."""
    window: int = 0
    """The window it was read in."""
    holds: threading.Event = field(default_factory=threading.Event)
    """Set when the reply waits, as it was told to."""
    dropped: threading.Event = field(default_factory=threading.Event)
    """Set when the client has gone while the reply waited."""
    ended: threading.Event = field(default_factory=threading.Event)


@dataclass(frozen=True, slots=True)
class Pace:
    """How long the server takes for what it does, in seconds; at once by itself."""

    load_s: float = 0.0
    token_s: float = 0.0
    """For each token that it reads."""
    word_s: float = 0.0
    """For each word that it writes."""


PATIENCE_S = 60.0
"""How long a request is waited for: a busy machine takes long to start a process."""


class Stub:
    """The server: its models, its script and its memory of what it was asked."""

    def __init__(self, *models: Model, version: str = VERSION) -> None:
        self.version = version
        self.models = list(models)
        self.memory = Memory()
        self.received: list[Received] = []
        self.arrived = threading.Condition()
        self.pace = Pace()
        self.truncates = False
        """Whether ``truncate: false`` is unknown to it."""
        self._script: dict[str, deque[Fault]] = {}
        self._always: dict[str, Fault] = {}
        self.stopping = threading.Event()
        self._server: ThreadingHTTPServer | None = None
        self._port = 0

    def script(self, *faults: Fault, path: str = "/api/chat") -> None:
        """What happens to the next requests of a path, one each."""
        self._script.setdefault(path, deque()).extend(faults)

    def always(self, fault: Fault, path: str = "/api/chat") -> None:
        """What happens to each request of a path that no script is left for."""
        self._always[path] = fault

    def forget(self, path: str = "/api/chat") -> None:
        """Leave nothing of what was to happen to requests of a path."""
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
        """The model of a name, ``:latest`` understood."""
        names = (name, f"{name}:latest")
        return next((one for one in self.models if one.name in names), None)

    def chats(self) -> list[Received]:
        """The requests for a reply, in their order."""
        return self.of("/api/chat")

    def of(self, path: str) -> list[Received]:
        with self.arrived:
            return [one for one in self.received if one.path == path]

    def record(self, received: Received) -> None:
        with self.arrived:
            self.received.append(received)
            self.arrived.notify_all()

    def wait_for(self, count: int, path: str = "/api/chat") -> Received:
        """The request of this number, once it is there."""
        with self.arrived:
            found = self.arrived.wait_for(
                lambda: len([r for r in self.received if r.path == path]) >= count,
                PATIENCE_S,
            )
            assert found, f"no {count} requests for {path}"
            return [one for one in self.received if one.path == path][count - 1]

    def start(self, port: int = 0) -> None:
        """Answer, at this port or at any; at the same one as before if it was left."""
        from tests.stub.handler import Handler

        server = _Server(("127.0.0.1", port or self._port), Handler)
        server.stub = self
        self._server, self._port = server, server.server_address[1]
        threading.Thread(
            target=server.serve_forever, args=(0.01,), name="stub", daemon=True
        ).start()

    def take(self, seconds: float) -> None:
        """Be busy for a while; less long if it is stopped."""
        if seconds:
            self.stopping.wait(seconds)

    def stop(self) -> None:
        """Close the port for good and let go of all that waits."""
        self.stopping.set()
        self.leave()

    def leave(self) -> None:
        """Close the port: whoever comes now finds nobody."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64
    stub: Stub

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that leaves is no error of ours."""


@contextmanager
def serving(*models: Model, version: str = VERSION) -> Iterator[Stub]:
    """A running stub; with one ordinary model if none is named."""
    stub = Stub(*(models or (Model(),)), version=version)
    stub.start()
    try:
        yield stub
    finally:
        stub.stop()


def stub_of(server: object) -> Stub:
    """The stub behind a handler's server."""
    return cast(_Server, server).stub
