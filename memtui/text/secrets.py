"""Secrets are taken out of what people and programs said before it is kept.

A mark stands where each was (``[redacted: aws key]``); all else stays byte for byte.
What is taken out is what has the shape of a key, what a name, header or URL says is a
password or token, private key blocks, and what people put in ``<private>`` tags. A tag
never closed lasts to the end of its text if it starts a line; within a line it is only
spoken of. Redacting again changes nothing.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

from memtui.model.events import Event
from memtui.text import secret_context, secret_patterns
from memtui.text.secret_patterns import SecretSpan

RULES_VERSION = 2
"""Raised when the rules change, so that what was kept by older ones can be told."""

LEAST_CHARS = 8
"""A shorter text holds no secret."""

NAME_CHARS = 64
"""A text of at most this length is looked at once only, as long as it is remembered."""

PASSES = 4
"""How often what is left is looked at again; the second time finds nothing, nearly."""

PRIVATE, CUT = "private", "cut key"

_TAG = re.compile(
    r"(?:<|\\++u003c)\s{0,3}(/?)\s{0,3}private(?:\s[^<>\n]{0,200}?)?\s{0,3}"
    r"(?:>|\\++u003e)",
    re.IGNORECASE,
)

_TAG_LEAD = 12
"""A tag begins at most so many characters before its name."""

_LINE_STARTS = re.compile(r"(?:[\n\r]|\\[nr]|(?:[:,\[{]\s?|^)\\*\")(?:[ \t]|\\+t)*$")
"""What ends before a line that begins, or before a string of JSON that was cut."""

_CUT_CHARS = 300
_LEAST_CUT = 14
_ESCAPED = re.compile(r"\\u00([2-7][0-9a-fA-F])")
_STRINGS = re.compile(r'"((?:[^"\\]|\\.)*)"')

_IN_NAMES = bytes(
    code if chr(code).isascii() and (chr(code).isalnum() or chr(code) in "_-.") else 32
    for code in range(256)
)

_SIGNS = bytes(32 if byte == 32 else ord("x") for byte in _IN_NAMES)
_RUN = b"x" * secret_patterns.LEAST_CHARS

_LEAD = re.compile(
    r"(?:(?<=%)[0-9A-F]{2}|(?<=[\[;])\d{0,3}m|(?<=\\)(?:[nrtbfv]|u00..))?[-_.]*"
)

_BEFORE_LEADS = frozenset("%[;\\")


@dataclass(frozen=True, slots=True)
class RedactedText:
    """A text without its secrets."""

    text: str
    """With a mark for every secret."""
    kinds: tuple[str, ...]
    """The kind of each, in their order."""


def redaction_mark(kind: str) -> str:
    """What stands where a secret was."""
    return f"[redacted: {kind}]"


def redact(text: str) -> RedactedText:
    """Take the secrets out of a text; JSON stays JSON."""
    return _redact(text, is_torn=False)


def redact_fragment(text: str) -> RedactedText:
    """Take the secrets out of what may be a part of a text.

    Every private tag that is not closed lasts to its end: the closing one may have been
    torn off. Letters written as escapes are read, and stay so if no secret is in them.
    """
    redacted = _redact(text, is_torn=True)
    if "\\u00" not in text:
        return redacted
    read = _redact(_ESCAPED.sub(_letter, text), is_torn=True)
    return read if len(read.kinds) > len(redacted.kinds) else redacted


def _letter(escaped: re.Match[str]) -> str:
    letter = chr(int(escaped[1], 16))
    return escaped[0] if letter in '"\\' else letter


def _redact(text: str, *, is_torn: bool) -> RedactedText:
    kinds: list[str] = []
    if len(text) < LEAST_CHARS:
        return RedactedText(text, ())
    for _ in range(PASSES):
        plain = text.encode("ascii", "replace")
        low = plain.lower()
        spans = _private(text, is_torn=is_torn) if _is_tagged(low) else []
        if not spans:
            signs = plain.translate(_SIGNS)
            spans = [
                *_keys(text, signs),
                *secret_context.find_secrets(text, low, signs),
                *(_cut(text, signs) if _may_be_cut(text, low) else ()),
            ]
        if not spans:
            break
        text, removed = _without(text, spans)
        kinds += removed
    return RedactedText(text, tuple(kinds))


def redact_json(value: object) -> tuple[object, tuple[str, ...]]:
    """Take the secrets out of every string of a JSON value, keys included.

    What stands under the name of a secret (``{"password": "…"}``) goes by its name.
    """
    kinds: list[str] = []
    return _strings(value, "", kinds), tuple(kinds)


@lru_cache(maxsize=16_384)
def redact_cached(text: str) -> RedactedText:
    """The same as ``redact``: what readers remember of files comes by every time."""
    return redact(text)


def _strings(value: object, kind: str, kinds: list[str]) -> object:
    if isinstance(value, str):
        is_short = len(value) <= NAME_CHARS
        redacted = redact_cached(value) if is_short else redact(value)
        is_told = not redacted.kinds and bool(kind)
        if is_told and secret_context.is_secret(kind, value, is_quoted=True):
            redacted = RedactedText(redaction_mark(kind), (kind,))
        kinds += redacted.kinds
        return redacted.text
    if isinstance(value, dict):
        return {
            _strings(name, "", kinds): _strings(held, _named(name, value), kinds)
            for name, held in value.items()
        }
    if isinstance(value, list | tuple):
        return [_strings(held, kind, kinds) for held in value]
    return value


def _named(name: object, beside: dict[object, object]) -> str:
    """The kind of secret a field holds, by its own name or the one told beside it."""
    if name == "value" and isinstance(beside.get("name"), str):
        name = beside["name"]
    return secret_context.kind_of_name(name) if isinstance(name, str) else ""


def _keys(text: str, signs: bytes) -> Iterable[SecretSpan]:
    """What has the shape of a key, at the start of a run of letters and digits."""
    find, starts = signs.find, secret_patterns.KINDS_BY_PREFIX
    start = find(_RUN)
    if start < 0:
        return
    while start >= 0:
        end = find(b" ", start)
        end = end if end >= 0 else len(text)
        if (
            text[start : start + 2] in starts
            or text[start] in "-_."
            or text[start - 1] in _BEFORE_LEADS
        ):
            yield from _keys_of_run(text, start, end)
        start = find(_RUN, end)
    for inner in secret_patterns.inner_key_starts(text):
        end = find(b" ", inner)
        yield from _keys_of_run(text, inner, end if end >= 0 else len(text))


def _may_be_cut(text: str, low: bytes) -> bool:
    return not text.isascii() or b"u2026" in low


def _cut(text: str, signs: bytes) -> Iterable[SecretSpan]:
    """The keys whose end was cut off with a line's."""
    for sign in ("…", "\\u2026"):
        at = text.find(sign)
        while at >= 0:
            end = at - (text[at - 1] == "\\") if at else 0
            start = signs.rfind(b" ", max(0, end - _CUT_CHARS), end) + 1
            if end - start >= _LEAST_CUT and secret_patterns.is_cut_key(
                text, start, end
            ):
                yield start, end, CUT
            at = text.find(sign, at + 1)


def _keys_of_run(text: str, at: int, end: int) -> Iterable[SecretSpan]:
    while end - at >= secret_patterns.LEAST_CHARS:
        if lead := _LEAD.match(text, at):
            at = lead.end()
        key = secret_patterns.match_key(text, at)
        if key is None:
            return
        yield at, *key
        at = key[0]


def _is_tagged(low: bytes) -> bool:
    at = low.find(b"private")
    while at >= 0:
        lead = low[max(0, at - _TAG_LEAD) : at]
        if b"<" in lead or b"u003c" in lead:
            return True
        at = low.find(b"private", at + 1)
    return False


def _private(text: str, *, is_torn: bool) -> list[SecretSpan]:
    """What people asked not to keep; within its string where the text is JSON."""
    if text.lstrip()[:1] in ("{", "[", '"') and _is_json(text):
        strings = [found.span(1) for found in _STRINGS.finditer(text)]
    else:
        strings = [(0, len(text))]
    return [
        span
        for start, end in strings
        for span in _tagged(text, start, end, is_torn=is_torn)
    ]


def _tagged(text: str, start: int, end: int, *, is_torn: bool) -> Iterable[SecretSpan]:
    opened: list[re.Match[str]] = []
    for tag in _TAG.finditer(text, start, end):
        if not tag[1]:
            opened.append(tag)
        elif opened:
            yield opened.pop().start(), tag.end(), PRIVATE
    for tag in opened:
        if is_torn or _starts_line(text, start, tag):
            yield tag.start(), end, PRIVATE
            return


def _starts_line(text: str, start: int, tag: re.Match[str]) -> bool:
    """Whether only blanks stand before a tag in its line."""
    before = text[max(start, tag.start() - NAME_CHARS) : tag.start()].rstrip(" \t")
    if not before:
        return tag.start() - start < NAME_CHARS
    is_spoken_of = text[tag.end() : tag.end() + 1] in ("`", '"', "'", "\\")
    return bool(_LINE_STARTS.search(before)) and not (
        before[-1] == '"' and is_spoken_of
    )


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _without(text: str, spans: Iterable[SecretSpan]) -> tuple[str, list[str]]:
    """The text with marks for the spans; of those that overlap, the first is named."""
    parts: list[str] = []
    kinds: list[str] = []
    kept = 0
    for start, end, kind in _apart(spans):
        parts += text[kept:start], redaction_mark(kind)
        kinds.append(kind)
        kept = end
    return "".join([*parts, text[kept:]]), kinds


def _apart(spans: Iterable[SecretSpan]) -> list[SecretSpan]:
    """The spans in their order, those that overlap made one, named by its shape."""
    apart: list[SecretSpan] = []
    for start, end, kind in sorted(spans, key=lambda span: span[:2]):
        if apart and start < apart[-1][1]:
            first, last, named = apart[-1]
            kind = named if kind in _BY_NAME else kind
            apart[-1] = (first, max(last, end), kind)
        else:
            apart.append((start, end, kind))
    return apart


_BY_NAME = frozenset(
    (
        secret_context.PASSWORD,
        secret_context.SECRET,
        secret_context.KEY,
        secret_context.TOKEN,
        "bearer token",
        "authorization token",
        "cookie",
        "signature",
        "basic auth",
        CUT,
    )
)
"""Kinds that say less than a key's own shape does."""


def redact_event(event: Event) -> tuple[Event, tuple[str, ...]]:
    """An event without its secrets, itself if it has none, and the kind of each.

    What its metadata says goes by the names there too. One that had some is to be
    counted anew.
    """
    text = redact(event.text)
    metadata, found = redact_json(event.metadata)
    kinds = text.kinds + found
    if not kinds or not isinstance(metadata, dict):
        return event, ()
    changed = replace(
        event, text=text.text, metadata=metadata, tokens=0, token_counter=""
    )
    return changed, kinds
