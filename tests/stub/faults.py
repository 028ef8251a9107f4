"""Faults of the stub: how the reply to one request can go wrong."""

import json
from dataclasses import dataclass

JSON = "application/json; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Fault:
    """The difference between one reply and a good one."""

    status: int = 200
    body: bytes | None = None
    """The body that is sent instead of a reply."""
    content_type: str = JSON
    location: str = ""
    after: int | None = None
    """The line of the stream before which it happens; negative: before the headers."""
    at_byte: int | None = None
    """The byte of the stream before which it happens."""
    ending: str = ""
    """``eof``, ``reset`` or ``stall``."""
    last_bytes: bytes = b""
    """The bytes that are sent just before the ending."""
    cut_text: int | None = None
    """The number of bytes after which the model's text is cut because of its length."""
    text: str | None = None
    """The model's text, instead of its persona's."""
    remote_host: str = ""
    done_reason: str = ""


GOOD = Fault()


def refused(status: int, error: object) -> Fault:
    """Return an error as JSON."""
    return Fault(status, json.dumps({"error": error}).encode())


def html_page(status: int, html: str) -> Fault:
    """Return the reply of a proxy."""
    return Fault(status, html.encode(), "text/html")


def redirect(location: str) -> Fault:
    return Fault(307, b"", location=location)


def stalled(after: int) -> Fault:
    return Fault(after=after, ending="stall")


def reset(after: int) -> Fault:
    return Fault(after=after, ending="reset")


def ended(after: int) -> Fault:
    """The stream ends without ``done``."""
    return Fault(after=after, ending="eof")


def cut(at_byte: int) -> Fault:
    """The stream ends before this byte."""
    return Fault(at_byte=at_byte, ending="eof")


def broken_off(error: str, after: int) -> Fault:
    """An error in the middle of a stream."""
    said = json.dumps({"error": error}).encode() + b"\n"
    return Fault(after=after, ending="eof", last_bytes=said)


def garbled(after: int) -> Fault:
    """Bytes that are not UTF-8."""
    said = b'{"message":{"content":"\xff\xfe"}}\n'
    return Fault(after=after, ending="eof", last_bytes=said)


def shortened(at_byte: int) -> Fault:
    """The model reached ``num_predict`` after so many bytes of its text."""
    return Fault(cut_text=at_byte)


def saying(text: str) -> Fault:
    return Fault(text=text)


def too_long(prompt: int, window: int) -> Fault:
    """Return the error of the model's runner, as JSON inside the error's text."""
    return refused(
        400,
        json.dumps(
            {
                "error": {
                    "code": 400,
                    "message": f"request ({prompt} tokens) exceeds the available"
                    f" context size ({window} tokens), try increasing it",
                    "type": "exceed_context_size_error",
                    "n_prompt_tokens": prompt,
                    "n_ctx": window,
                }
            }
        ),
    )


BUSY = refused(503, "server busy, please try again.  maximum pending requests exceeded")
MISSING = refused(404, "model 'qwen3:4b' not found")
CRASHED = refused(
    500,
    "model runner has unexpectedly stopped, this may be due to resource limitations or"
    " an internal error, check ollama server logs for details",
)
NO_MEMORY = refused(
    500, "model requires more system memory (5.6 GiB) than is available (3.1 GiB)"
)
NO_THINKING = refused(400, '"qwen3:4b" does not support thinking')
BAD_FORMAT = refused(500, "failed to load model vocabulary required for format")
PROXY = html_page(502, "<html><body><h1>502 Bad Gateway</h1></body></html>")
FORBIDDEN = Fault(403, b"")
NOT_DONE = Fault(body=b'{"model":"qwen3:4b","done":false}\n')
