"""A headless Chromium, controlled through its DevTools protocol."""

import asyncio
import base64
import itertools
import json
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))),
    None,
)
"""The path of the browser; None if there is none."""

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--remote-debugging-port=0", "--window-size=1200,800",
)  # fmt: skip


PATIENCE_S = 30.0
"""Far more than everything takes that is done in one page."""

BINARY = 2
"""The opcode of websocket frames whose payload is reported as base64."""


class Page:
    """A tab of the browser."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket, self._numbers = socket, itertools.count(1)
        self._drawn = b""

    async def send_command(self, method: str, **given: Any) -> dict[str, Any]:
        """Send a command and return its result; handle events that arrive meanwhile."""
        number = next(self._numbers)
        await self._socket.send_json({"id": number, "method": method, "params": given})
        while True:
            answer = await self._receive()
            if answer.get("id") == number:
                assert "error" not in answer, answer
                return dict(answer["result"])

    async def _receive(self) -> dict[str, Any]:
        message: dict[str, Any] = json.loads((await self._socket.receive()).data)
        if message.get("method") == "Network.webSocketFrameReceived":
            frame = message["params"]["response"]
            if frame["opcode"] == BINARY:
                self._drawn += base64.b64decode(frame["payloadData"])
        return message

    async def open(self, address: str) -> None:
        """Open an address and wait until the page is loaded."""
        await self.send_command("Page.navigate", url=address)
        while (await self._receive()).get("method") != "Page.loadEventFired":
            pass

    async def wait_for_text(self, words: str) -> None:
        """Wait until the page receives these words from the app; then start afresh."""
        while words.encode() not in self._drawn:
            await self._receive()
        self._drawn = b""

    async def wait_until(self, expression: str) -> None:
        """Wait until a JavaScript expression is true in the page."""
        hoped = (
            "new Promise(done => { const look = () => (" + expression + ")"
            " ? done(true) : requestAnimationFrame(look); look() })"
        )
        result = await self.send_command(
            "Runtime.evaluate", expression=hoped, awaitPromise=True, returnByValue=True
        )
        assert result["result"].get("value") is True, result

    async def press(self, text: str, key: str = "") -> None:
        """Press a key; ``key`` names one that types no character."""
        of = {"key": key or text, "windowsVirtualKeyCode": 13 if key == "Enter" else 0}
        await self.send_command(
            "Input.dispatchKeyEvent", type="keyDown", text=text, **of
        )
        await self.send_command("Input.dispatchKeyEvent", type="keyUp", **of)


@asynccontextmanager
async def open_page(folder: Path, address: str) -> AsyncIterator[Page]:
    """Open an address in a browser of its own, and close it at the end."""
    process = await asyncio.create_subprocess_exec(
        str(CHROMIUM),
        *FLAGS,
        f"--user-data-dir={folder}",
        "about:blank",
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stderr is not None
        port = ""
        while not port:
            line = (await process.stderr.readline()).decode()
            assert line, "the browser did not start"
            if "DevTools listening on" in line:
                port = line.rpartition(":")[2].partition("/")[0]
        async with aiohttp.ClientSession() as session:
            async with session.get(f"http://127.0.0.1:{port}/json/list") as answer:
                tabs = await answer.json()
            (url,) = (t["webSocketDebuggerUrl"] for t in tabs if t["type"] == "page")
            async with session.ws_connect(url, max_msg_size=0) as socket:
                page = Page(socket)
                await page.send_command("Network.enable")
                await page.send_command("Page.enable")
                async with asyncio.timeout(PATIENCE_S):
                    await page.open(address)
                    yield page
    finally:
        process.terminate()
        await process.communicate()
