"""The app in a browser: a page, and a process of the app for each tab that shows it.

A process begins with its tab's connection and ends with it. If it is not gone some time
after it was told to end, it is killed: SQLite and the outbox stand that at any moment.
"""

import asyncio
import math
import socket
from contextlib import suppress
from pathlib import Path
from string import Template

from aiohttp import WSCloseCode, web
from textual_serve.app_service import AppService
from textual_serve.server import Server, to_int

from memtui.shell.web_guard import Guard

PATIENCE_S = 5.0
"""How long a process may take to end, in seconds."""

HEARTBEAT_S = 15.0
"""How often a tab is asked whether it is still there, in seconds."""

SIZES = range(6, 61)
"""How large letters may be, in pixels, as ``?fontsize=`` asks for."""

USUAL = 16
WIDTH, HEIGHT = 80, 24
"""What is drawn for where a browser does not say."""

WIDTHS, HEIGHTS = (8, 1000), (4, 500)
"""The least and the most that is drawn for, whatever a browser says, in cells."""

_PAGE, _SCRIPT = (Path(__file__).with_name(f"web.{kind}") for kind in ("html", "js"))


class WebServer(Server):
    """Serves one command to one browser."""

    def __init__(self, command: str, guard: Guard) -> None:
        """Remember the command that each tab runs, and who may come in."""
        super().__init__(command, title="memtui", public_url=guard.origin)
        self._guard = guard
        self._tabs: set[web.WebSocketResponse] = set()

    def listen(self, listener: socket.socket) -> None:
        """Serve until ctrl+c, or until told to end."""
        web.run_app(
            self._make_app(),
            sock=listener,
            print=None,
            access_log=None,
            shutdown_timeout=PATIENCE_S,
        )

    async def _make_app(self) -> web.Application:
        app = await super()._make_app()
        app.router.add_get("/web.js", _script)
        app.middlewares.append(self._guard.middleware)
        app.on_response_prepare.append(self._guard.close_doors)
        return app

    async def on_startup(self, app: web.Application) -> None:
        """Print the address to open."""
        print(f"memtui is at {self._guard.address}")
        print("Whoever has this address can read it all. ctrl+c ends it.", flush=True)

    async def on_shutdown(self, app: web.Application) -> None:
        """Close every tab's connection, which ends its process."""
        for tab in set(self._tabs):
            await tab.close(code=WSCloseCode.GOING_AWAY)

    async def handle_index(self, request: web.Request) -> web.Response:
        """Show the page that draws the app."""
        if "key" in request.query:
            return self._guard.welcome()
        size = to_int(request.query.get("fontsize", ""), USUAL)
        text = Template(_PAGE.read_text("utf-8")).substitute(
            socket=f"ws://{self._guard.host}/ws",
            size=size if size in SIZES else USUAL,
        )
        return web.Response(text=text, content_type="text/html")

    async def handle_websocket(self, request: web.Request) -> web.WebSocketResponse:
        """Run a process for as long as a tab is there."""
        tab = web.WebSocketResponse(heartbeat=HEARTBEAT_S)
        await tab.prepare(request)

        async def close() -> None:
            await tab.close()

        service = Tab(
            self.command,
            write_bytes=tab.send_bytes,
            write_str=tab.send_str,
            close=close,
            download_manager=self.download_manager,
        )
        self._tabs.add(tab)
        try:
            asked = request.query
            await service.start(
                to_int(asked.get("width", ""), WIDTH),
                to_int(asked.get("height", ""), HEIGHT),
            )
            await self._process_messages(tab, service)
        finally:
            self._tabs.discard(tab)
            await asyncio.shield(_end(service))
        return tab


class Tab(AppService):
    """The process of a tab, which draws for no size that nobody can have."""

    async def start(self, width: int, height: int) -> None:
        """Start it at the nearest size that can be."""
        await super().start(*sized(width, height))

    async def set_terminal_size(self, width: int, height: int) -> None:
        """Tell it the nearest size that can be."""
        await super().set_terminal_size(*sized(width, height))


def sized(width: object, height: object) -> tuple[int, int]:
    """The nearest size that is drawn for; the usual for what is no number."""
    return _within(width, WIDTHS, WIDTH), _within(height, HEIGHTS, HEIGHT)


def _within(cells: object, bounds: tuple[int, int], usual: int) -> int:
    if not isinstance(cells, int | float) or math.isnan(cells):
        return usual
    return int(min(max(cells, bounds[0]), bounds[1]))


async def _script(_: web.Request) -> web.FileResponse:
    return web.FileResponse(_SCRIPT)


async def _end(service: AppService) -> None:
    """Tell a process to end, and see to it that it does."""
    process = service._process
    with suppress(TimeoutError, ConnectionError):
        await asyncio.wait_for(service.stop(), PATIENCE_S)
    if process is not None and process.returncode is None:
        try:
            await asyncio.wait_for(process.wait(), PATIENCE_S)
        except TimeoutError:
            process.kill()
