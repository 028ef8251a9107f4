"""The wire: every line a client sends is heard, or refused in words.

The SDK drops what it cannot read, and whoever asked waits for good. Half a character,
as clients leave that cut a text, is such a thing: it is mended here.
"""

import json
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
            first = item.errors()[0]
            is_json = first["type"] != "json_invalid"
            if not is_json and (mended := _mended(first["input"])):
                return mended
            if is_json or first["input"].strip():
                await self._writing.send(_refusal(is_json=is_json))

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


def _refusal(*, is_json: bool) -> SessionMessage:
    code = types.INVALID_REQUEST if is_json else types.PARSE_ERROR
    says = "this is no request of JSON-RPC" if is_json else "this is no JSON"
    error = types.ErrorData(code=code, message=says)
    return SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=None, error=error))
