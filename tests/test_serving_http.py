"""``memtui serve``: who is answered, and what."""

import http.client
import json
import socket
import socketserver
import struct
import threading
import time
from collections.abc import Iterator

import pytest

from memtui.cli import serve
from memtui.text import fencing
from memtui.workspace import Workspace
from tests.commanding import data_of

JSON = {"Content-Type": "application/json"}


@pytest.fixture
def port(full_house: Workspace) -> Iterator[int]:
    """A port at which the house is asked."""
    server = serve.made(serve.Kept(lambda: full_house, lambda: True), 0)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server.server_port
    server.shutdown()
    thread.join()
    server.server_close()


def post(port: int, body: str, **headers: str) -> tuple[int, str]:
    told = JSON | {name.replace("_", "-"): said for name, said in headers.items()}
    asking = http.client.HTTPConnection("127.0.0.1", port)
    asking.request("POST", serve.PATH, body.encode(), told)
    reply = asking.getresponse()
    said = reply.read().decode()
    assert reply.getheader("Access-Control-Allow-Origin") is None
    asking.close()
    return reply.status, said


def test_memories_are_told_to_this_machine_alone(port: int) -> None:
    question = json.dumps({"query": "token refresh", "limit": 2, "max_tokens": 300})
    status, told = post(port, question)
    assert status == 200
    assert fencing.NOTICE in told
    assert "## Memory 1 [rank: 1, score: " in told
    assert "## Memory 3" not in told
    for wrong in ({"Host": "evil.example"}, {"Origin": "https://evil.example"}):
        status, told = post(port, question, **wrong)
        assert status == 403
        assert data_of(told) is None
    assert post(port, question, Content_Type="text/plain")[0] == 415
    strange = '{"query": "a", "colour": 1}'
    for body in ("", "[]", "{", '{"query": 1}', strange):
        status, told = post(port, body)
        assert status == 400
        assert json.loads(told)["error"]["code"] == "usage"
    for name, wrong_number in (("limit", 0), ("limit", 1000), ("max_tokens", 10)):
        status, told = post(port, json.dumps({"query": "a", name: wrong_number}))
        error = json.loads(told)["error"]
        assert (status, error["code"]) == (400, "usage")
        assert error["message"].startswith(f"{name} is a whole number from ")
    assert post(port, '{"query": ""}')[0] == 200
    long = json.dumps({"query": "x" * serve.MOST_BYTES})
    assert post(port, long)[0] == 400


def test_what_is_no_question_is_answered_in_the_envelope(port: int) -> None:
    for method in ("GET", "PUT", "DELETE", "OPTIONS", "HEAD"):
        asking = http.client.HTTPConnection("127.0.0.1", port)
        asking.request(method, serve.PATH)
        reply = asking.getresponse()
        assert (reply.status, reply.getheader("Allow")) == (405, "POST")
        said = reply.read().decode()
        assert method == "HEAD" or data_of(said) is None
        asking.close()


def test_who_is_slow_keeps_nobody_waiting(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port)) as slow:
        slow.sendall(b"POST / HTTP/1.1\r\n")
        began_s = time.monotonic()
        assert post(port, '{"query": "token"}')[0] == 200
        assert time.monotonic() - began_s < serve.PATIENCE_S / 2


def test_who_goes_away_is_no_error_and_a_broken_off_body_is_told(
    port: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = threading.Semaphore(0)
    closing = socketserver.TCPServer.shutdown_request

    def closed(server: socketserver.TCPServer, request: socket.socket) -> None:
        closing(server, request)
        ended.release()

    monkeypatch.setattr(socketserver.TCPServer, "shutdown_request", closed)
    head = f"POST {serve.PATH} HTTP/1.1\r\nHost: localhost\r\n"
    head += "Content-Type: application/json\r\nContent-Length: 40\r\n\r\n"
    with socket.create_connection(("127.0.0.1", port)) as gone:
        gone.sendall(head.encode() + b'{"query": ')
        # Reset: what is read or written there is an error from now on.
        gone.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    assert ended.acquire(timeout=60)
    assert capsys.readouterr().err == ""
    with socket.create_connection(("127.0.0.1", port)) as broken:
        broken.sendall(head.encode() + b'{"query": ')
        broken.shutdown(socket.SHUT_WR)
        told = b"".join(iter(lambda: broken.recv(4096), b"")).decode()
    assert told.startswith("HTTP/1.0 400 ")
    assert "the body broke off before its 40 bytes were there" in told
