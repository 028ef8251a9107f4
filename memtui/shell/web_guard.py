"""Who may ask the web server: the browser of whoever started it, and nobody else.

Every page that is open in that browser could send requests to this machine, and every
person on this machine could too. So a request must name our address as its host (a page
whose name is made to point here names its own), must come from our own page if it comes
from one, and must hold the key that was printed where the server was started.
"""

import secrets
from collections.abc import Awaitable, Callable

from aiohttp import web

KEY_BYTES = 24
"""How long the key is, in bytes."""

KEPT_S = 30 * 24 * 3600
"""How long a browser keeps the key, in seconds; each start has a key of its own."""

UNSAID_PORT = 80
"""The port that a browser leaves out of a host's name."""

NO_KEY = "This is somebody's memtui. Open the address that memtui web printed."
ELSEWHERE = "memtui answers no other site: open it at the address it printed."

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Guard:
    """Lets the pages of one address in, with the key of one start."""

    def __init__(self, host: str, port: int) -> None:
        """Make a new key.

        Args:
            host: The address we listen at; an IPv6 one stands in brackets.
            port: The port.
        """
        self.host = host if port == UNSAID_PORT else f"{host}:{port}"
        self.origin = f"http://{self.host}"
        self.key = secrets.token_urlsafe(KEY_BYTES)
        self._cookie = f"memtui-{port}"

    @property
    def address(self) -> str:
        """What is opened in the browser."""
        return f"{self.origin}/?key={self.key}"

    def why_not(self, request: web.Request) -> str:
        """Why a request is not answered; "" if it is."""
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
        given = self._given(request).encode(errors="replace")
        if not secrets.compare_digest(given, self.key.encode()):
            return NO_KEY
        return ""

    def _given(self, request: web.Request) -> str:
        if request.path == "/" and "key" in request.query:
            return request.query["key"]
        return request.cookies.get(self._cookie, "")

    def welcome(self) -> web.Response:
        """Give the browser the key to keep, and show the address without it."""
        found = web.Response(status=303, headers={"Location": "/"})
        found.set_cookie(
            self._cookie,
            self.key,
            max_age=KEPT_S,
            path="/",
            httponly=True,
            samesite="Strict",
        )
        return found

    @web.middleware
    async def middleware(
        self, request: web.Request, handler: Handler
    ) -> web.StreamResponse:
        """Answer what may be answered."""
        if why := self.why_not(request):
            raise web.HTTPForbidden(text=f"{why}\n")
        return await handler(request)

    async def close_doors(self, _: web.Request, response: web.StreamResponse) -> None:
        """Let no browser show it in another page, keep it, or load from elsewhere."""
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
