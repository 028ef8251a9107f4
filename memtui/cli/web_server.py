"""The web server of ``memtui web``, only for the browser of the user who started it.

Every page that is open in that browser and every person on this machine could send
requests. So a request must name our address as its host (a page whose name is made to
point here names its own), must come from our own page if it comes from one, and must
carry the key that was printed when the server was started.

A browser sends the cookies of one port of this machine to all its ports. So the cookie
with the key is bound to a folder that other servers cannot know.
"""

import asyncio
import json
import logging
import secrets
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from string import Template

from aiohttp import WSCloseCode, WSMsgType, web
from textual_serve.app_service import AppService
from textual_serve.server import Server, to_int

KEY_BYTES = 24

FOLDER_BYTES = 12

COOKIE_S = 30 * 24 * 3600
"""The time for which a browser keeps the key; each start has a key of its own."""

DEFAULT_PORT = 80
"""The port that a browser leaves out of a host's name."""

NO_KEY = "Open the address that memtui web printed."
ELSEWHERE = (
    "Requests from other sites are refused: open the address that memtui web printed."
)
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Guard:
    """Refuses requests from elsewhere, and those without the key."""

    def __init__(self, host: str, port: int) -> None:
        """Create a new key for our address."""
        self.host = host if port == DEFAULT_PORT else f"{host}:{port}"
        self.origin = f"http://{self.host}"
        self.key = secrets.token_urlsafe(KEY_BYTES)
        self.folder = f"/{secrets.token_urlsafe(FOLDER_BYTES)}"
        self._cookie = f"memtui-{port}"

    @property
    def address(self) -> str:
        """The address to open in the browser, with the key."""
        return f"{self.origin}{self.folder}/?key={self.key}"

    def refusal(self, request: web.Request) -> str:
        """Return why a request is refused; "" if it is not."""
        headers = request.headers
        origin = headers.get("Origin")
        if headers.get("Host", "").lower() != self.host:
            return ELSEWHERE
        if origin is not None and origin != self.origin:
            return ELSEWHERE
        if headers.get("Upgrade") and origin is None:
            return ELSEWHERE
        if headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin"):
            return ELSEWHERE
        given = self._given_key(request).encode(errors="replace")
        if not secrets.compare_digest(given, self.key.encode()):
            return NO_KEY
        return ""

    def _given_key(self, request: web.Request) -> str:
        if request.path == f"{self.folder}/" and "key" in request.query:
            return request.query["key"]
        return request.cookies.get(self._cookie, "")

    def store_key(self) -> web.Response:
        """Store the key in the browser, and open the address without it."""
        response = web.Response(status=303, headers={"Location": f"{self.folder}/"})
        response.set_cookie(
            self._cookie,
            self.key,
            max_age=COOKIE_S,
            path=f"{self.folder}/",
            httponly=True,
            samesite="Strict",
        )
        return response

    @web.middleware
    async def middleware(
        self, request: web.Request, handler: Handler
    ) -> web.StreamResponse:
        if why := self.refusal(request):
            raise web.HTTPForbidden(text=f"{why}\n")
        return await handler(request)

    async def add_headers(self, _: web.Request, response: web.StreamResponse) -> None:
        """Forbid to show the page in another one, cache it, or load from elsewhere."""
        response.headers.update(
            {
                "Content-Security-Policy": (
                    "default-src 'none'; script-src 'self'; img-src 'self' data: blob:;"
                    " style-src 'self' 'unsafe-inline'; font-src 'self' data:;"
                    f" connect-src 'self' ws://{self.host}; base-uri 'none';"
                    " form-action 'none'; frame-ancestors 'none'"
                ),
                "X-Frame-Options": "DENY",
                "X-Content-Type-Options": "nosniff",
                "Cross-Origin-Resource-Policy": "same-origin",
                "Cross-Origin-Opener-Policy": "same-origin",
                "Referrer-Policy": "no-referrer",
                "Cache-Control": "no-store",
            }
        )


END_TIMEOUT_S = 5.0
"""The time within which a process must end."""

HEARTBEAT_S = 15.0
"""The interval between tests of a tab's connection."""

WIDTH, HEIGHT = 80, 24
"""The size of the screen where a browser gives none, in cells."""

WIDTHS, HEIGHTS = (8, 1000), (4, 500)
"""The bounds of the size, in cells."""

_PAGE, _SCRIPT = (Path(__file__).with_name(f"web.{kind}") for kind in ("html", "js"))


class WebServer(Server):
    """Serves one command to one browser."""

    def __init__(self, command: str, guard: Guard) -> None:
        """Create a server; each tab runs the command."""
        super().__init__(command, title="memtui", public_url=guard.origin)
        self._guard = guard
        self._tabs: set[web.WebSocketResponse] = set()

    def listen(self, listener: socket.socket) -> None:
        """Serve until ctrl+c, or until the process is asked to end."""
        # A request that is no HTTP is answered; its traceback helps nobody.
        logging.getLogger("aiohttp.server").setLevel(logging.CRITICAL)
        web.run_app(
            self._make_app(),
            sock=listener,
            print=None,
            access_log=None,
            shutdown_timeout=END_TIMEOUT_S,
        )

    async def _make_app(self) -> web.Application:
        folder = await super()._make_app()
        folder.router.add_get("/web.js", _script)
        app = web.Application()
        app.add_subapp(self._guard.folder, folder)
        app.middlewares.append(self._guard.middleware)
        app.on_response_prepare.append(self._guard.add_headers)
        return app

    async def on_startup(self, app: web.Application) -> None:
        print(f"memtui is at {self._guard.address}")
        print(
            "Anybody with this address can read everything. ctrl+c ends it.", flush=True
        )

    async def on_shutdown(self, app: web.Application) -> None:
        """Close every tab's connection, which ends its process."""
        for tab in set(self._tabs):
            await tab.close(code=WSCloseCode.GOING_AWAY)

    async def handle_index(self, request: web.Request) -> web.Response:
        if "key" in request.query:
            return self._guard.store_key()
        text = Template(_PAGE.read_text("utf-8")).substitute(
            socket=f"ws://{self._guard.host}{self._guard.folder}/ws",
        )
        return web.Response(text=text, content_type="text/html")

    async def handle_websocket(self, request: web.Request) -> web.WebSocketResponse:
        """Run a process for as long as a tab is open."""
        tab = web.WebSocketResponse(heartbeat=HEARTBEAT_S)
        await tab.prepare(request)

        async def close() -> None:
            await tab.close()

        service = AppService(
            self.command,
            write_bytes=tab.send_bytes,
            write_str=tab.send_str,
            close=close,
            download_manager=self.download_manager,
        )
        self._tabs.add(tab)
        try:
            asked = request.query
            width = to_int(asked.get("width", ""), WIDTH)
            height = to_int(asked.get("height", ""), HEIGHT)
            await service.start(*bounded_size(width, height))
            async for message in tab:
                if message.type is WSMsgType.TEXT:
                    await _handle_frame(message.data, tab, service)
        finally:
            self._tabs.discard(tab)
            await asyncio.shield(_end(service))
        return tab


async def _handle_frame(
    text: str, tab: web.WebSocketResponse, service: AppService
) -> None:
    """Pass a frame of the page on to the process; ignore invalid ones."""
    try:
        frame = json.loads(text)
    except (ValueError, RecursionError):
        return
    match frame:
        case ["stdin", str(typed)]:
            await service.send_bytes(typed.encode(errors="replace"))
        case ["resize", {"width": int(width), "height": int(height)}]:
            await service.set_terminal_size(*bounded_size(width, height))
        case ["ping", str(sent)]:
            await tab.send_json(["pong", sent])
        case ["blur"]:
            await service.blur()
        case ["focus"]:
            await service.focus()


def bounded_size(width: int, height: int) -> tuple[int, int]:
    return (
        min(max(width, WIDTHS[0]), WIDTHS[1]),
        min(max(height, HEIGHTS[0]), HEIGHTS[1]),
    )


async def _script(_: web.Request) -> web.FileResponse:
    return web.FileResponse(_SCRIPT)


async def _end(service: AppService) -> None:
    process = service._process
    with suppress(TimeoutError, ConnectionError):
        await asyncio.wait_for(service.stop(), END_TIMEOUT_S)
    if process is not None and process.returncode is None:
        try:
            await asyncio.wait_for(process.wait(), END_TIMEOUT_S)
        except TimeoutError:
            process.kill()
