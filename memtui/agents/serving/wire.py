"""The wire: every line a client sends is heard, or refused in words.

The SDK drops what it cannot read, and whoever asked waits for good. Half a character,
as clients leave that cut a text, is such a thing: it is mended here.
"""

import json
from collections.abc import Iterable
from types import TracebackType
from typing import Any

import anyio
import mcp_types as types
from mcp.shared.message import SessionMessage
from pydantic import ValidationError


class Heard:
    """What comes in, as the SDK's own stream gives it, with nothing left unanswered."""

    def __init__(self, reading: Any, writing: Any) -> None:
        """Remember the SDK's streams."""
        self._reading, self._writing = reading, writing

    @property
    def last_context(self) -> Any:
        """The context of whoever sent the last message."""
        return self._reading.last_context

    async def receive(self) -> SessionMessage | Exception:
        """The next message that can be read."""
        while True:
            item: SessionMessage | Exception = await self._reading.receive()
            if not isinstance(item, ValidationError):
                return item
            wrong = [(one["type"], one["input"]) for one in item.errors()]
            kind, line = wrong[0]
            if kind != "json_invalid":
                ids = [told.get("id") for _, told in wrong if isinstance(told, dict)]
                await self._writing.send(_refusal(ids, types.INVALID_REQUEST))
            elif mended := _mended(line):
                return mended
            elif line.strip():
                await self._writing.send(_refusal((), types.PARSE_ERROR))

    async def aclose(self) -> None:
        """Hear nothing more."""
        await self._reading.aclose()

    def __aiter__(self) -> "Heard":
        """All messages, one after the other."""
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        """The next one."""
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> "Heard":
        """Hear until left."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Hear nothing more."""
        await self.aclose()


def _mended(line: str) -> SessionMessage | None:
    """A message in which half a character stood; None where something else is wrong."""
    try:
        told = json.dumps(json.loads(line), ensure_ascii=False)
        raw = told.encode("utf-8", "replace")
        return SessionMessage(types.jsonrpc_message_adapter.validate_json(raw))
    except (ValueError, RecursionError):
        return None


_SAYS = {
    types.INVALID_REQUEST: "this is no request of JSON-RPC",
    types.PARSE_ERROR: "this is no JSON",
}


def _refusal(ids: Iterable[object], code: int) -> SessionMessage:
    """What is said of a message that cannot be read.

    Args:
        ids: What it may be called.
        code: Why it cannot.
    """
    ids = (one for one in ids if not isinstance(one, bool))
    known = (one for one in ids if isinstance(one, int | str))
    error = types.ErrorData(code=code, message=_SAYS[code])
    refused = types.JSONRPCError(jsonrpc="2.0", id=next(known, None), error=error)
    return SessionMessage(refused)
