"""``memtui serve``: who is answered, and what."""

import http.client
import json
import threading
from collections.abc import Iterator

import pytest

from memtui.house import House
from memtui.memory import fencing
from memtui.shell import http_serving
from tests.commanding import data_of

JSON = {"Content-Type": "application/json"}


@pytest.fixture
def port(full_house: House) -> Iterator[int]:
    """A port at which the house is asked."""
    server = http_serving.made(full_house, 0)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server.server_port
    server.shutdown()
    thread.join()
    server.server_close()


def post(port: int, body: str, **headers: str) -> tuple[int, str]:
    told = JSON | {name.replace("_", "-"): said for name, said in headers.items()}
    asking = http.client.HTTPConnection("127.0.0.1", port)
    asking.request("POST", http_serving.PATH, body.encode(), told)
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
    for body in ("", "[]", "{", '{"query": 1}', '{"query": "a", "limit": -1}'):
        status, told = post(port, body)
        assert status == 400
        assert json.loads(told)["error"]["code"] == "usage"
    assert post(port, '{"query": ""}')[0] == 200
    long = json.dumps({"query": "x" * http_serving.MOST_BYTES})
    assert post(port, long)[0] == 400
