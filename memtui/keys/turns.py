"""Keys in their turn: each waits until the one before it has done what it does.

What opens a place to type in takes a moment. Keys typed meanwhile belong to that place,
not to the screen that was there when they were pressed.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

from textual.app import App
from textual.events import Key
from textual.message_pump import MessagePump

PATIENCE_S = 0.5
"""How long a key is waited for, in seconds: one that hangs keeps no other away."""


class Turns:
    """The keys that were pressed while another one was at work."""

    def __init__(self, app: App[Any], give: Callable[[Key], Awaitable[None]]) -> None:
        """Take what gives a key to who has the focus."""
        self._app, self._give = app, give
        self._ahead: deque[Key] = deque()
        self._number = 0
        self._limit: asyncio.TimerHandle | None = None

    async def take(self, key: Key) -> None:
        """Give a key, now or when it is its turn."""
        if self._limit is not None:
            self._ahead.append(key)
        else:
            await self._begin(key)

    async def _begin(self, key: Key) -> None:
        self._number += 1
        number, app = self._number, self._app
        loop = asyncio.get_running_loop()
        self._limit = loop.call_later(PATIENCE_S, app.call_later, self._end, number)
        given_to: MessagePump = app.focused or app.screen
        await self._give(key)
        self._follow(given_to, number)

    def _follow(self, pump: MessagePump | None, number: int) -> None:
        """Go behind the key, on its way from who has the focus out to the app."""
        if pump is not None and pump is not self._app:
            pump.call_later(self._follow, pump._parent, number)
        else:
            self._app.call_later(self._settle, number)

    def _settle(self, number: int) -> None:
        """Wait for the screen that it opened, and for where that has its focus."""
        self._app.screen.call_later(self._app.call_later, self._end, number)

    async def _end(self, number: int) -> None:
        if number != self._number or self._limit is None:
            return  # It has been waited for long enough before.
        self._limit.cancel()
        self._limit = None
        if self._ahead:
            await self._begin(self._ahead.popleft())
