"""Streams: a reply read from its bytes, line by line, until it is done.

Lines end at a line feed alone: a model may well write U+0085 or U+2028. Only a line
that says ``done`` ends a reply, and only for the reason ``stop`` is it whole.
"""

import json
import zlib
from dataclasses import dataclass, field
from typing import Any

from memtui.llm import faults
from memtui.llm.faults import BadReply, CutOff, Refused, ServerFault

LINE_BYTES = 1_000_000
"""A longer line is not one of a reply."""


BLANKS = 64
"""More white space than this at the end is a model that has lost its way."""


LAST_CHARS, RATIO = 600, 0.12
"""How many of the last characters are looked at for repetition, and how far they can
be compressed when they only repeat."""


EVERY_CHARS = 100
"""After how many new characters that is done again."""


@dataclass(frozen=True, slots=True)
class Written:
    """A reply and what the server measured."""

    text: str
    is_whole: bool = True
    """Whether the model came to its end, and not to the limit of tokens."""
    prompt_tokens: int = 0
    reply_tokens: int = 0
    load_ms: int = 0
    prompt_ms: int = 0
    reply_ms: int = 0


@dataclass(slots=True)
class Stream:
    """What has come of one reply."""

    tokens: int = 0
    """How many pieces have come, thoughts counted: about one a token."""
    written: Written | None = None
    """The reply, once it is done."""
    _rest: bytes = b""
    _text: list[str] = field(default_factory=list)
    _length: int = 0
    _looked: int = 0

    def feed(self, raw: bytes) -> None:
        """Read the next bytes.

        Raises:
            Fault: The server tells of an error, the bytes cannot be read, or the
                reply goes on without an end.
        """
        *lines, self._rest = (self._rest + raw).split(b"\n")
        if len(self._rest) > LINE_BYTES:
            raise ServerFault("the server's reply has no lines")
        for line in lines:
            if line.strip() and self.written is None:
                self._take(line)

    def end(self) -> Written:
        """Read what is left when no more bytes come.

        Raises:
            CutOff: The reply is not done.
            Fault: As for ``feed``.
        """
        if self.written is None and self._rest.strip():
            try:
                record = json.loads(self._rest)
            except (ValueError, RecursionError):
                record = None
            if isinstance(record, dict):
                self._take(self._rest)
        if self.written is None:
            raise CutOff("the reply ended before it was done")
        return self.written

    def _take(self, line: bytes) -> None:
        record = read(line)
        message = record.get("message")
        said = message if isinstance(message, dict) else {}
        text = said.get("content")
        if isinstance(text, str) and text:
            self._text.append(text)
            self._length += len(text)
        if text or said.get("thinking"):
            self.tokens += 1
        if record.get("done") is True:
            self.written = _done(record, "".join(self._text))
        elif self._length - self._looked >= EVERY_CHARS:
            self._looked = self._length
            if is_endless("".join(self._text)):
                raise BadReply("the reply goes on without an end")


def read(raw: bytes) -> dict[str, Any]:
    """One JSON object of the server.

    Raises:
        ServerFault: It is none.
        Refused: It says that another machine wrote it.
        Fault: It tells of an error.
    """
    try:
        record = json.loads(raw.decode())
    except (ValueError, RecursionError) as error:
        raise ServerFault("the server's answer cannot be read") from error
    if not isinstance(record, dict):
        raise ServerFault("the server's answer is not an object")
    if record.get("error"):
        raise faults.of_error(record["error"])
    if record.get("remote_host"):
        raise Refused("the model does not run on this machine")
    return record


def is_endless(text: str) -> bool:
    """Whether a text has come to be white space, or the same again and again."""
    if len(text) - len(text.rstrip()) > BLANKS:
        return True
    if len(text) < LAST_CHARS:
        return False
    last = text[-LAST_CHARS:].encode(errors="replace")
    return len(zlib.compress(last)) < RATIO * len(last)


def _done(record: dict[str, Any], text: str) -> Written:
    reason = record.get("done_reason")
    if reason not in ("stop", "length"):
        raise ServerFault(f"the reply ended for another reason: {reason!r}"[:200])
    return Written(
        text,
        is_whole=reason == "stop",
        prompt_tokens=_count(record, "prompt_eval_count"),
        reply_tokens=_count(record, "eval_count"),
        load_ms=_count(record, "load_duration") // 1_000_000,
        prompt_ms=_count(record, "prompt_eval_duration") // 1_000_000,
        reply_ms=_count(record, "eval_duration") // 1_000_000,
    )


def _count(record: dict[str, Any], name: str) -> int:
    """A figure; what is zero is not told."""
    value = record.get(name)
    return value if isinstance(value, int) and value > 0 else 0
