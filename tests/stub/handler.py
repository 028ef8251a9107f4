"""The stub's endpoints."""

import json
import select
import socket
import struct
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.stub import wire
from tests.stub.faults import JSON, Fault
from tests.stub.models import Model
from tests.stub.personas import Prompt
from tests.stub.server import PATIENCE_S, ReceivedRequest, Stub, get_stub

AT = "2026-08-01T12:00:01.123456789Z"
PIECE = 12
"""The characters of each line of a stream."""

WORD = 6
"""The characters of a word, including the space after it."""

OVERHEAD = 12
"""The tokens of the chat template around a prompt."""

LONGEST_STALL_S = PATIENCE_S


class ConnectionEnded(Exception):
    """The connection was ended by a fault, or by the client."""


class ReplyEnded(Exception):
    """The reply was ended early; the connection stays open, as with Go."""


class Handler(BaseHTTPRequestHandler):
    """Answers one request at a time."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    @property
    def stub(self) -> Stub:
        return get_stub(self.server)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""

    def do_HEAD(self) -> None:
        self._route()

    def do_GET(self) -> None:
        self._route()

    def do_POST(self) -> None:
        self._route()

    def _route(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        body = json.loads(raw) if raw else {}
        asked = ReceivedRequest(
            self.command, self.path, headers, body, self.client_address[0]
        )
        self.stub.record(asked)
        fault = self.stub.next_fault(self.path)
        try:
            if fault.after is not None and fault.after < 0:
                self._end(fault, asked)
            if fault.body is not None:
                self._send(fault.status, fault.body, fault)
                return
            with suppress(ReplyEnded):
                self._answer(asked, fault)
        except (ConnectionEnded, ConnectionError):
            self.close_connection = True
        finally:
            asked.is_ended.set()

    def _answer(self, asked: ReceivedRequest, fault: Fault) -> None:
        stub = self.stub
        match self.path:
            case "/":
                self._send(200, b"Ollama is running", Fault(content_type="text/plain"))
            case "/api/version":
                self._send_json({"version": stub.version})
            case "/api/tags":
                self._send_json({"models": [model.tag() for model in stub.models]})
            case "/api/ps":
                running = [m for m in stub.models if m.name in stub.memory.loaded]
                self._send_json({"models": [stub.memory.running(m) for m in running]})
            case "/api/show" | "/api/chat":
                self._answer_for_model(asked, fault)
            case _:
                self._send(404, b"404 page not found", Fault(content_type="text/plain"))

    def _answer_for_model(self, asked: ReceivedRequest, fault: Fault) -> None:
        body = asked.body
        name = str(body.get("model") or body.get("name") or "")
        model = self.stub.model(name)
        if model is None:
            self._refuse(404, f"model '{name}' not found")
        elif self.path == "/api/show":
            self._send_json(model.details_answer())
        else:
            self._chat(model, asked, fault)

    def _chat(self, model: Model, asked: ReceivedRequest, fault: Fault) -> None:
        body = asked.body
        if "completion" not in model.capabilities:
            self._refuse(400, f'"{model.name}" does not support chat')
            return
        if body.get("think") and "thinking" not in model.capabilities:
            self._refuse(400, f'"{model.name}" does not support thinking')
            return
        asked.window = self._loaded(model, body)
        text = "\n".join(str(message["content"]) for message in body["messages"])
        asked.tokens = wire.tokens(text, model.token_bytes) + OVERHEAD
        read = asked.tokens
        if read > asked.window:
            if body.get("truncate") is False:
                self._refuse_length(asked)
                return
            read = asked.window // 2 + 2
            text = wire.last_tokens(text, read - OVERHEAD, model.token_bytes)
        said, thought = _written(model, body, text)
        if fault.text is not None:
            said = fault.text
        self._stream(
            list(_lines(model, body, said, thought, read, fault)), asked, fault
        )

    def _loaded(self, model: Model, body: dict[str, Any]) -> int:
        """Load a model unless it runs with these options; return its window."""
        memory = self.stub.memory
        before = len(memory.loads)
        window = memory.load(model, body.get("options") or {})
        if len(memory.loads) > before:
            self.stub.delay(self.stub.pace.load_s)
        return window

    def _refuse_length(self, asked: ReceivedRequest) -> None:
        inner = {
            "code": 400,
            "message": f"request ({asked.tokens} tokens) exceeds the available context"
            f" size ({asked.window} tokens), try increasing it",
            "type": "exceed_context_size_error",
            "n_prompt_tokens": asked.tokens,
            "n_ctx": asked.window,
        }
        self._refuse(400, json.dumps({"error": inner}))

    def _refuse(self, status: int, error: str) -> None:
        self._send(status, wire.dump_json({"error": error}), Fault())

    def _send_json(self, value: object) -> None:
        self._send(200, wire.dump_json(value), Fault())

    def _send(self, status: int, body: bytes, fault: Fault) -> None:
        self.send_response(status)
        if fault.location:
            self.send_header("location", fault.location)
        self.send_header("content-type", fault.content_type)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
        self.wfile.flush()

    def _stream(self, lines: list[bytes], asked: ReceivedRequest, fault: Fault) -> None:
        if asked.body.get("stream") is False:
            self._send(200, lines[-1], Fault(content_type=JSON))
            return
        self.send_response(200)
        self.send_header("content-type", "application/x-ndjson")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        self.stub.delay(self.stub.pace.token_s * asked.tokens)
        line_s = self.stub.pace.word_s * PIECE / WORD
        left = fault.at_byte if fault.at_byte is not None else -1
        for number, line in enumerate(lines):
            if fault.after == number:
                self._end(fault, asked)
            if 0 <= left < len(line):
                self._chunk(line[:left])
                self._end(fault, asked)
            left -= len(line)
            self.stub.delay(line_s)
            self._chunk(line)
        if fault.after is not None and fault.after >= len(lines):
            self._end(fault, asked)
        self.wfile.write(b"0\r\n\r\n")
        self.wfile.flush()

    def _chunk(self, piece: bytes) -> None:
        if piece:
            self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            self.wfile.flush()

    def _end(self, fault: Fault, asked: ReceivedRequest) -> None:
        """End the reply as the fault says."""
        self._chunk(fault.last_bytes)
        if fault.ending == "stall":
            self.wfile.flush()
            asked.is_stalled.set()
            self._wait_for_client(asked)
        elif fault.ending == "reset":
            gone = struct.pack("ii", 1, 0)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, gone)
            self.connection.close()
        elif fault.after is None or fault.after >= 0:
            self.wfile.write(b"0\r\n\r\n")
            self.wfile.flush()
            raise ReplyEnded
        raise ConnectionEnded

    def _wait_for_client(self, asked: ReceivedRequest) -> None:
        """Wait until the client disconnects."""
        for _ in range(round(LONGEST_STALL_S / 0.005)):
            if self.stub.stopping.is_set():
                return
            if select.select([self.connection], [], [], 0.005)[0]:
                asked.is_abandoned.set()
                return


def _written(model: Model, body: dict[str, Any], text: str) -> tuple[str, str]:
    """Return the model's text and its thinking."""
    thinks = "thinking" in model.capabilities and body.get("think", True) is not False
    return model.persona(Prompt(text)), "Let me think. " * 3 if thinks else ""


def _lines(
    model: Model, body: dict[str, Any], said: str, thought: str, read: int, fault: Fault
) -> Iterator[bytes]:
    """Yield the lines of a stream, the last one with the statistics."""
    most = int((body.get("options") or {}).get("num_predict", -1))
    reason = "stop"
    if fault.cut_text is not None:
        said = said.encode()[: fault.cut_text].decode(errors="ignore")
        reason = "length"
    elif 0 <= most < wire.tokens(thought + said):
        left = max(0, 4 * most - len(thought.encode()))
        said = said.encode()[:left].decode(errors="ignore")
        reason = "length"
    about = {"model": model.name, "created_at": AT}
    if host := fault.remote_host or model.remote_host:
        about |= {"remote_model": model.name, "remote_host": host}
    for name, text in (("thinking", thought), ("content", said)):
        for at in range(0, len(text), PIECE):
            message = {"role": "assistant", "content": "", name: text[at : at + PIECE]}
            yield wire.line({**about, "message": message, "done": False})
    figures = {
        "total_duration": 5_000_000_000,
        "load_duration": 1_000_000,
        "prompt_eval_count": read,
        "prompt_eval_duration": 2_000_000_000,
        "eval_count": wire.tokens(thought + said),
        "eval_duration": 3_000_000_000 if said else 0,
    }
    last = {"role": "assistant", "content": ""}
    done = {"done": True, "done_reason": fault.done_reason or reason}
    yield wire.line({**about, "message": last, **done, **wire.without_zeros(figures)})
