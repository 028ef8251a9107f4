"""``memtui serve``: access control and answers."""

import contextlib
import http.client
import json
import socket
import socketserver
import struct
import threading
import time
from collections.abc import Iterator

import pytest

from memtui.text import fencing
from memtui.tools import http_server
from memtui.tools.table import TOOLS, ToolRunner
from memtui.workspace import Workspace
from tests.cli_runner import json_data

KEY = "the-key"
PATH = f"{http_server.PREFIX}retrieve_memory"
HEADERS = {"Content-Type": "application/json", "Authorization": f"Bearer {KEY}"}


@pytest.fixture
def port(full_workspace: Workspace) -> Iterator[int]:
    """A port at which the workspace is asked."""
    server = http_server.create(ToolRunner(lambda: full_workspace), 0, KEY)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server.server_port
    server.shutdown()
    thread.join()
    server.server_close()


def post(port: int, body: str, path: str = PATH, **headers: str) -> tuple[int, str]:
    sent = HEADERS | {name.replace("_", "-"): text for name, text in headers.items()}
    client = http.client.HTTPConnection("127.0.0.1", port)
    client.request("POST", path, body.encode(), sent)
    reply = client.getresponse()
    text = reply.read().decode()
    assert reply.getheader("Access-Control-Allow-Origin") is None
    client.close()
    return reply.status, text


def test_memories_are_served_to_this_machine_only(port: int) -> None:
    question = json.dumps({"query": "token refresh", "limit": 2, "max_tokens": 300})
    status, text = post(port, question)
    assert status == 200
    assert fencing.NOTICE in text
    assert "## Memory 1 [rank: 1, score: " in text
    assert "## Memory 3" not in text
    for wrong in ({"Host": "evil.example"}, {"Origin": "https://evil.example"}):
        status, text = post(port, question, **wrong)
        assert status == 403
        assert json_data(text) is None
    assert post(port, question, Content_Type="text/plain")[0] == 415
    strange = '{"query": "a", "colour": 1}'
    for body in ("", "[]", "{", '{"query": 1}', strange):
        status, text = post(port, body)
        assert status == 400
        assert json.loads(text)["error"]["code"] == "usage"
    for name, wrong_number in (("limit", 0), ("limit", 1000), ("max_tokens", 10)):
        status, text = post(port, json.dumps({"query": "a", name: wrong_number}))
        error = json.loads(text)["error"]
        assert (status, error["code"]) == (400, "usage")
        assert error["message"].startswith(f"{name} must be a whole number from ")
    assert post(port, '{"query": "?"}')[0] == 200
    long = json.dumps({"query": "x" * http_server.MAX_BODY_BYTES})
    assert post(port, long)[0] == 400


def test_the_key_is_needed_in_either_form(port: int) -> None:
    question = '{"query": "token"}'
    for wrong in ("", "Bearer", "Bearer other", "Basic the-key"):
        status, text = post(port, question, Authorization=wrong)
        assert status == 401
        assert "memtui serve prints it" in text
    assert post(port, question, f"{PATH}?key=other", Authorization="")[0] == 401
    assert post(port, question, f"{PATH}?key={KEY}", Authorization="")[0] == 200
    for scheme in ("bearer", "BEARER", " Bearer "):
        assert post(port, question, Authorization=f"{scheme} {KEY}")[0] == 200
    keys = {http_server.create_key() for _ in range(3)}
    assert len(keys) == 3 and min(map(len, keys)) >= 32


def test_every_tool_that_reads_is_served_and_no_other(port: int) -> None:
    arguments = {"node_id": "toc:day:2024-01-18"}
    path = f"{http_server.PREFIX}get_node"
    status, text = post(port, json.dumps(arguments), path)
    assert status == 200
    assert "Thursday, January 18, 2024" in text
    for tool in TOOLS:
        status, text = post(port, "{}", f"{http_server.PREFIX}{tool.name}")
        assert (status == 404) is tool.is_writing, text
    assert post(port, "{}", "/api/v0/nosuch")[0] == 404
    assert post(port, "{}", "/get_toc_root")[0] == 404


def test_tools_that_write_are_served_where_that_is_allowed(
    full_workspace: Workspace,
) -> None:
    runner = ToolRunner(lambda: full_workspace)
    server = http_server.create(runner, 0, KEY, with_writing=True)
    thread = threading.Thread(target=server.handle_request)
    thread.start()
    status, text = post(server.server_port, "{}", "/api/v0/new_session")
    thread.join()
    server.server_close()
    assert status == 200
    assert "session: mcp:" in text


def test_other_methods_are_refused_in_the_envelope(port: int) -> None:
    for method in ("GET", "PUT", "DELETE", "OPTIONS", "HEAD"):
        client = http.client.HTTPConnection("127.0.0.1", port)
        client.request(method, PATH)
        reply = client.getresponse()
        assert (reply.status, reply.getheader("Allow")) == (405, "POST")
        text = reply.read().decode()
        assert method == "HEAD" or json_data(text) is None
        client.close()


@pytest.mark.parametrize("address", ["http://[", "http://[::1/api"])
def test_invalid_address_is_refused(
    port: int, address: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with socket.create_connection(("127.0.0.1", port)) as client:
        head = f"POST {address} HTTP/1.1\r\nHost: localhost\r\n"
        client.sendall(f"{head}\r\n".encode())
        reply = client.makefile("rb").readline()
    assert reply.split()[1] == b"400"
    assert capfd.readouterr().err == ""


def test_slow_client_does_not_block_others(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port)) as slow:
        slow.sendall(b"POST / HTTP/1.1\r\n")
        began_s = time.monotonic()
        assert post(port, '{"query": "token"}')[0] == 200
        assert time.monotonic() - began_s < http_server.TIMEOUT_S / 2


def test_closed_connection_is_not_printed_and_a_short_body_is_refused(
    port: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = threading.Semaphore(0)
    closing = socketserver.TCPServer.shutdown_request

    def closed(server: socketserver.TCPServer, request: socket.socket) -> None:
        closing(server, request)
        ended.release()

    monkeypatch.setattr(socketserver.TCPServer, "shutdown_request", closed)
    head = f"POST {PATH}?key={KEY} HTTP/1.1\r\nHost: localhost\r\n"
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
        text = b"".join(iter(lambda: broken.recv(4096), b"")).decode()
    assert text.startswith("HTTP/1.0 400 ")
    assert "the body broke off before its 40 bytes were there" in text


@pytest.mark.parametrize(
    ("length", "reason"),
    [("9" * 5000, "the body is longer than"), ("-1", "Content-Length is missing")],
)
def test_impossible_content_length_is_refused(
    port: int, length: str, reason: str
) -> None:
    head = f"POST {PATH}?key={KEY} HTTP/1.1\r\nHost: localhost\r\n"
    head += f"Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.sendall(head.encode())
        text = b"".join(iter(lambda: client.recv(4096), b"")).decode()
    assert text.startswith("HTTP/1.0 400 ")
    assert reason in text


def test_whole_request_has_a_time_limit(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_server, "TIMEOUT_S", 1.0)
    with socket.create_connection(("127.0.0.1", port)) as slow:
        slow.settimeout(20)
        slow.sendall(b"POST / HTTP/1.1\r\n")
        began_s = time.monotonic()
        # A line now and then is not enough to keep a thread.
        with contextlib.suppress(OSError):
            while time.monotonic() < began_s + 10:
                slow.sendall(b"X-More: 1\r\n")
                time.sleep(0.1)
        assert time.monotonic() - began_s < 5


def test_number_of_threads_is_limited(
    full_workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_server, "MAX_THREADS", 2)
    server = http_server.create(ToolRunner(lambda: full_workspace), 0, KEY)
    thread = threading.Thread(target=server.serve_forever)
    before = threading.active_count()
    thread.start()
    port = server.server_port
    idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(6)]
    time.sleep(0.5)
    assert threading.active_count() <= before + 1 + 2
    for connection in idle:
        connection.close()
    assert post(port, '{"query": "token"}')[0] == 200
    server.shutdown()
    thread.join()
    server.server_close()
