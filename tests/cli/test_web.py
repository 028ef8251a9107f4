"""``memtui web``: the app in a browser, for the user who started it."""

import asyncio
import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from socket import create_connection, create_server

import aiohttp
import pytest
from yarl import URL

from memtui.cli import servers, web_server
from memtui.cli.main import main
from memtui.paths import in_home
from memtui.pipeline.worker import WorkerLock
from tests.browser import CHROMIUM, open_page
from tests.web_server import (
    PATIENCE_S,
    WebServer,
    fill_store,
    is_running,
    run_web_server,
    wait_until,
)

ELSEWHERE = "another memtui is running"
FIRST_WORDS = "sessions"
"""Among the words that the contents begin with."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("web") / "a home"
    fill_store(home)
    return home


@pytest.fixture(scope="module")
def server(home: Path) -> Iterator[WebServer]:
    with run_web_server(home) as server:
        yield server


async def status(server: WebServer, path: str = "/", **sent: str) -> int:
    """How a request is answered that holds the key and these headers."""
    async with (
        aiohttp.ClientSession() as session,
        session.get(
            server.url + path,
            headers={"Cookie": cookie(server), **sent},
            allow_redirects=False,
        ) as answer,
    ):
        return answer.status


def cookie(server: WebServer) -> str:
    """What a browser sends that opened the address."""
    return f"memtui-{server.origin.rpartition(':')[2]}={server.key}"


async def wait_for_text(tab: aiohttp.ClientWebSocketResponse, words: str) -> None:
    """Wait until a tab was told to draw these words."""
    drawn = b""
    async with asyncio.timeout(PATIENCE_S):
        while words.encode() not in drawn:
            drawn += await tab.receive_bytes()


async def test_printed_address_opens_a_page_without_other_hosts(
    server: WebServer,
) -> None:
    jar = aiohttp.CookieJar(unsafe=True)
    async with (
        aiohttp.ClientSession(cookie_jar=jar) as session,
        session.get(server.address) as answer,
    ):
        page = await answer.text()
        assert answer.status == 200
        assert "key" not in answer.url.query
        assert "http://" not in page
        assert "https://" not in page
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
        (kept,) = jar
        assert (kept["httponly"], kept["samesite"]) == (True, "Strict")
        assert kept["path"] == f"{server.url.removeprefix(server.origin)}/"
    assert await status(server, "/static/js/textual.js") == 200


@pytest.mark.parametrize("path", ["/", "/ws", "/static/js/textual.js", "/download/1"])
async def test_nothing_is_served_without_the_key(server: WebServer, path: str) -> None:
    assert await status(server, path, Cookie="") == 403
    name = cookie(server).partition("=")[0]
    assert await status(server, path, Cookie=f"{name}=guessed") == 403
    assert await status(server, path, Cookie=f"{name}=\udcff\udcfe") == 403
    assert await status(server, "/?key=guessed") == 403


async def test_cookie_is_bound_to_the_secret_folder(
    server: WebServer,
) -> None:
    jar = aiohttp.CookieJar(unsafe=True)
    async with aiohttp.ClientSession(cookie_jar=jar) as session:
        await session.get(server.address)
    assert jar.filter_cookies(URL(f"{server.url}/ws"))
    # Browsers do not tell ports apart when they send cookies.
    for path in ("/", "/ws", "/static/js/textual.js"):
        assert not jar.filter_cookies(URL(server.origin + path))


async def test_nothing_is_served_outside_the_secret_folder(server: WebServer) -> None:
    async with (
        aiohttp.ClientSession(headers={"Cookie": cookie(server)}) as session,
        session.get(f"{server.origin}/ws") as answer,
    ):
        assert answer.status == 404


@pytest.mark.parametrize(
    "sent",
    [
        {"Host": "rebound.example"},
        {"Host": "rebound.example:8421"},
        {"Host": "localhost"},
        {"Origin": "http://elsewhere.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
async def test_requests_from_other_sites_are_refused(
    server: WebServer, sent: dict[str, str]
) -> None:
    assert await status(server, **sent) == 403
    assert await status(server) == 200


@pytest.mark.parametrize("origin", ["http://elsewhere.example", "null", ""])
async def test_sockets_from_other_sites_are_refused(
    server: WebServer, origin: str
) -> None:
    headers = {"Cookie": cookie(server)} | ({"Origin": origin} if origin else {})
    async with aiohttp.ClientSession() as session:
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await session.ws_connect(f"{server.url}/ws", headers=headers)
    assert refused.value.status == 403
    assert server.child_processes() == set()


@pytest.mark.full
async def test_each_tab_is_a_process_that_ends_with_it(home: Path) -> None:
    with run_web_server(home) as server:
        async with aiohttp.ClientSession() as session:
            socket = f"{server.url}/ws?width=120"
            headers = {"Origin": server.origin, "Cookie": cookie(server)}
            async with session.ws_connect(socket, headers=headers) as tab:
                await wait_for_text(tab, FIRST_WORDS)
                (first,) = server.child_processes()
                another = await session.ws_connect(socket, headers=headers)
                await wait_for_text(another, ELSEWHERE)
                (second,) = server.child_processes() - {first}
            wait_until(lambda: server.child_processes() == {second})
            server.process.send_signal(signal.SIGINT)
            assert (await another.receive()).type is not aiohttp.WSMsgType.TEXT
            await another.close()
        assert server.process.wait(PATIENCE_S) == 0
        assert not is_running(second)


MALFORMED = (
    "", "{", "[]", "null", "{}", '"stdin"', "[" * 100_000, "[[]]", '["stdin"]',
    '["stdin", 1]', r'["stdin", "\ud800"]', '["resize"]', '["resize", []]',
    '["resize", {"width": "wide", "height": null}]', '["resize", {"width": 1e400}]',
    '["resize", {"width": NaN, "height": Infinity}]', '["ping", [1]]', '["unknown"]',
    '["resize", {"width": 1' + "0" * 4000 + ', "height": -1}]', '["focus", 1, 2]',
)  # fmt: skip


async def test_malformed_frames_are_ignored(home: Path) -> None:
    with run_web_server(home) as server:
        async with aiohttp.ClientSession() as session:
            headers = {"Origin": server.origin, "Cookie": cookie(server)}
            async with session.ws_connect(f"{server.url}/ws", headers=headers) as tab:
                await wait_for_text(tab, FIRST_WORDS)
                for frame in MALFORMED:
                    await tab.send_str(frame)
                await tab.send_bytes(b"\xff")
                await tab.send_str('["resize", {"width": 100, "height": 30}]')
                await tab.send_str('["ping", "7"]')
                async with asyncio.timeout(PATIENCE_S):
                    while (answer := await tab.receive()).data != '["pong", "7"]':
                        assert answer.type is aiohttp.WSMsgType.BINARY, answer
                await tab.send_str('["stdin", "?"]')
                await wait_for_text(tab, "quit")
        server.process.send_signal(signal.SIGINT)
        printed, _ = server.process.communicate(timeout=PATIENCE_S)
    assert "Traceback" not in printed


@pytest.mark.full
def test_request_that_is_no_http_is_refused_quietly(home: Path) -> None:
    lengths = "Content-Length: 4\r\nTransfer-Encoding: chunked"
    with run_web_server(home) as server:
        port = URL(server.url).port
        for request in (f"POST / HTTP/1.1\r\n{lengths}\r\n\r\n", "\x16\x03\r\n\r\n"):
            with create_connection(("127.0.0.1", port or 0)) as sent:
                sent.settimeout(PATIENCE_S)
                sent.sendall(request.encode())
                assert sent.recv(1000).startswith(b"HTTP/1.0 400 ")
        server.process.send_signal(signal.SIGINT)
        printed, _ = server.process.communicate(timeout=PATIENCE_S)
    assert "Traceback" not in printed


async def test_processes_end_with_a_killed_server(home: Path) -> None:
    with run_web_server(home) as server:
        async with aiohttp.ClientSession() as session:
            headers = {"Origin": server.origin, "Cookie": cookie(server)}
            async with session.ws_connect(f"{server.url}/ws", headers=headers) as tab:
                await tab.receive()
                (process,) = server.child_processes()
                server.process.kill()
        wait_until(lambda: not is_running(process))
    claim = WorkerLock(in_home(home).worker_lock)
    assert claim.acquire()
    claim.release()


@pytest.mark.parametrize(
    ("asked", "drawn"),
    [
        ((120, 40), (120, 40)),
        ((0, -3), (8, 4)),
        ((10**9, 10**400), (1000, 500)),
    ],
)
def test_size_of_a_tab_is_bounded(
    asked: tuple[int, int], drawn: tuple[int, int]
) -> None:
    assert web_server.bounded_size(*asked) == drawn


def test_server_listens_on_this_machine_only() -> None:
    with servers.listen(0) as listener:
        assert listener.getsockname()[0] == "127.0.0.1"


def test_a_port_in_use_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    with closing(create_server(("127.0.0.1", 0))) as taken:
        port = str(taken.getsockname()[1])
        assert main(["web", "--port", port]) == 1
    assert f"port {port}: Address already in use" in capsys.readouterr().err


def test_missing_package_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memtui.cli.servers.find_spec", lambda name: None)
    assert main(["web"]) == 1
    assert "pip install 'memtui[web]'" in capsys.readouterr().err


@pytest.mark.skipif(CHROMIUM is None, reason="this machine has no Chromium")
async def test_a_browser_shows_the_app_and_takes_keys(
    home: Path, tmp_path: Path
) -> None:
    with run_web_server(home) as server:
        async with open_page(tmp_path, server.address) as tab:
            await tab.wait_until("document.body.classList.contains('-first-byte')")
            await tab.wait_for_text(FIRST_WORDS)
            await tab.wait_until("location.search === ''")
            await tab.press("?")
            await tab.wait_for_text("quit")
            await tab.press("", "Escape")
            await tab.press("q")
            await tab.wait_until("document.body.innerText.includes('memtui has ended')")
        wait_until(lambda: not server.child_processes())
