"""Redact secrets in text before it is stored.

Each secret is replaced by a mark (``[redacted: aws key]``); everything else stays byte
for byte. It redacts strings in the format of a key, values that a name, header or URL
marks as a password or token, private key blocks, and text in ``<private>`` tags. An
unclosed tag extends to the end of the text if it starts a line; within a line it is
ignored. Redacting again changes nothing.
"""

import base64
import json
import re
from bisect import bisect_right
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache

from memtui.model.events import Event
from memtui.redaction import names as secret_context
from memtui.redaction import shapes as secret_patterns
from memtui.redaction import values as secret_values
from memtui.redaction.values import SecretSpan

RULES_VERSION = 11
"""Raised when the rules change, so that text redacted by older ones is found."""

MIN_CHARS = 8
"""A shorter text contains no secret."""

NAME_CHARS = 64
"""Texts up to this length are cached."""

PRIVATE, CUT_KEY, ENCODED = "private", "cut key", "encoded secret"

ENCODED_START_CHARS = 16
"""The number of characters that are decoded first: nearly all runs are no text."""

_ENCODED_START = re.compile(
    r"(?:[I-Za-f][A-HQ-Xg-nw-z0-3][ABEFIJMNQRUVYZcdghklopstwx014589][\w-]){4}"
    r"|(?:[2-7][0-9a-fA-F]){8}",
    re.ASCII,
)
"""The form of ASCII text in base64 or hex; nearly all names have another."""

_BASE64 = re.compile(r"[\w+/-]{26,8192}={0,2}", re.ASCII)
_HEX = re.compile("(?:[0-9a-fA-F]{2})+")

_TAG = re.compile(
    r"(?:<|\\++u003c|&lt;)\s{0,3}(\\*/)?\s{0,3}private(?:\s[^<>\n]{0,200}?)?\s{0,3}/?"
    r"(?:>|\\++u003e|&gt;)",
    re.IGNORECASE,
)

_LINE_STARTS = re.compile(r"(?:[\n\r]|\\[nr]|(?:[:,\[{]\s?|^)\\*\")(?:[ \t]|\\+t)*$")
"""Matches before the start of a line, or of a JSON string that was cut."""

_ESCAPED = re.compile(r"\\u00(?!22|5[cC])[2-7][0-9a-fA-F]")
_INVISIBLE_CHAR = re.compile("[\u00ad\u180e\u200b-\u200f\u2060-\u2064\ufeff]")
"""Characters that are not shown, such as the zero-width space."""
_INVISIBLE = re.compile(
    rf"{_INVISIBLE_CHAR.pattern}|\\++u(?:00ad|180e|200[b-f]|206[0-4]|feff)",
    re.IGNORECASE,
)
"""The same, or their escape sequences; takes five times as long."""
_INVISIBLE_ESCAPES = (b"u200", b"u206", b"u00ad", b"u180e", b"ufeff")
"""The text contains one of these if it contains such a sequence."""

_STRINGS = re.compile(r'"((?:[^"\\]|\\.)*)"')

_RUN_TABLE = bytes(
    ord("x") if re.match(r"[\w.-]", chr(code), re.ASCII) else ord(" ")
    for code in range(256)
)
"""Translates bytes of names to "x" and others to spaces, so that ``_RUN`` finds runs of
a key's length."""
_RUN = b"x" * secret_patterns.MIN_KEY_CHARS

_NOT_KEY_START = re.compile(
    r"(?:(?<=%)(?:25)*[0-9A-F]{2}|(?<=[\[;])\d{0,3}m|(?<=\\)(?:[nrtbfv]|u00..))?[-_.]*"
)
"""The end of an escape sequence (``%3D``, ``\\x1b[31m``, ``\\n``) or punctuation, which
belongs to a run of name characters but not to a key in it."""

_ESCAPE_STARTS = frozenset("%[;\\")


@dataclass(frozen=True, slots=True)
class RedactedText:
    """A text without its secrets."""

    text: str
    """With a mark for each secret."""
    kinds: tuple[str, ...]
    """The kind of each secret, in order."""


def redaction_mark(kind: str) -> str:
    return f"[redacted: {kind}]"


def redact(text: str) -> RedactedText:
    """Redact the secrets in a text; JSON stays valid."""
    return _redact(text, is_fragment=False)


def redact_fragment(text: str) -> RedactedText:
    """Redact the secrets in a text that may be only a part.

    An unclosed private tag always extends to the end, since the closing one may have
    been cut off. Escaped letters are decoded, and stay decoded only if they reveal a
    secret.
    """
    redacted = _redact(text, is_fragment=True)
    if "\\u00" not in text:
        return redacted
    plain = _ESCAPED.sub(lambda letter: chr(int(letter[0][2:], 16)), text)
    read = _redact(plain, is_fragment=True)
    return read if len(read.kinds) > len(redacted.kinds) else redacted


def _redact(text: str, *, is_fragment: bool) -> RedactedText:
    kinds: list[str] = []
    if len(text) < MIN_CHARS:
        return RedactedText(text, ())
    for _ in range(4):  # The second pass rarely finds anything.
        lowered = text.encode("ascii", "replace").lower()
        spans = _find_private(text, lowered, is_fragment=is_fragment) or _find(
            text, lowered
        )
        if not spans:
            break
        text, removed = _replace_spans(text, spans)
        kinds += removed
    return RedactedText(text, tuple(kinds))


def _find(text: str, lowered: bytes, depth: int = 0) -> list[SecretSpan]:
    name_chars = lowered.translate(_RUN_TABLE)
    words = secret_context.words_of(lowered, is_ascii=text.isascii())
    places: list[int] = []
    return [
        *_find_keys(text, name_chars),
        *secret_context.find_secrets(text, lowered, name_chars, words, places),
        *_find_cut_keys(text, lowered, name_chars),
        *_find_split_keys(text, lowered),
        *_find_encoded(text, lowered, depth),
    ] or list(secret_context.find_nearby(text, lowered, words, places))


_ENCODED_SIGN = re.compile(r"%(?:25)*(?:3[ad]|2[26f])", re.IGNORECASE)
_ENCODED_RUN = re.compile(r"[^\s\"'`<>\\]{1,4096}")
_ENCODED_CHAR = re.compile("%([0-9a-fA-F]{2})")
MAX_DEPTH = 3
"""Text is decoded up to this many times."""


def _find_encoded(text: str, lowered: bytes, depth: int) -> Iterable[SecretSpan]:
    """Find secrets in percent-encoded text."""
    if depth == MAX_DEPTH or b"%" not in lowered:
        return
    past = 0
    for sign in _ENCODED_SIGN.finditer(text):
        if sign.start() < past:
            continue
        start = max(past, _run_start(text, sign.start()))
        run = _ENCODED_RUN.match(text, start)
        if not run:
            continue
        past = run.end()
        parts: list[str] = []
        places: list[int] = []
        at = start
        for char in _ENCODED_CHAR.finditer(text, start, past):
            parts += text[at : char.start()], chr(int(char[1], 16))
            places += range(at, char.start() + 1)
            at = char.end()
        plain = "".join([*parts, text[at:past]])
        places += range(at, past + 1)
        lowered_run = plain.encode("ascii", "replace").lower()
        for first, last, kind in _find(plain, lowered_run, depth + 1):
            yield places[first], places[last], kind


_SPACES = re.compile(r"[\s\"'`<>\\]")


def _run_start(text: str, at: int) -> int:
    low = max(0, at - 1024)
    return max((found.end() for found in _SPACES.finditer(text, low, at)), default=low)


def redact_json(value: object) -> tuple[object, tuple[str, ...]]:
    """Redact every string of a JSON value, including keys.

    The value of a field named like a secret (``{"password": "…"}``) is redacted by its
    name.
    """
    kinds: list[str] = []
    return _redact_value(value, "", kinds), tuple(kinds)


@lru_cache(maxsize=16_384)
def redact_cached(text: str) -> RedactedText:
    """Return the same as ``redact``, cached: format readers repeat short strings."""
    return redact(text)


def _redact_value(value: object, kind: str, kinds: list[str]) -> object:
    if isinstance(value, str):
        is_short = len(value) <= NAME_CHARS
        redacted = redact_cached(value) if is_short else redact(value)
        is_named = not redacted.kinds and bool(kind)
        if is_named and secret_values.is_secret(kind, value, is_quoted=True):
            redacted = RedactedText(redaction_mark(kind), (kind,))
        kinds += redacted.kinds
        return redacted.text
    if isinstance(value, dict):
        return {
            _redact_value(name, "", kinds): _redact_value(
                item, _kind_of_field(name, value), kinds
            )
            for name, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [_redact_value(item, kind, kinds) for item in value]
    return value


def _kind_of_field(name: object, beside: dict[object, object]) -> str:
    """Return the kind of secret a field holds, by its name or the "name" field beside
    it."""
    if name == "value" and isinstance(beside.get("name"), str):
        name = beside["name"]
    return secret_values.kind_of_name(name) if isinstance(name, str) else ""


def _find_keys(text: str, name_chars: bytes) -> Iterable[SecretSpan]:
    """Find strings in the format of a key at the start of runs of letters and
    digits."""
    find, starts = name_chars.find, secret_patterns.KINDS_BY_START
    has_inner_key = secret_patterns.INNER.search
    has_slack_key = "xox" in text
    start = find(_RUN)
    if start < 0:
        return
    while start >= 0:
        end = find(b" ", start)
        end = end if end >= 0 else len(text)
        if (
            text[start : start + 2] in starts
            or text[start] in "-_."
            or text[start - 1] in _ESCAPE_STARTS
        ):
            yield from _keys_of_run(text, start, end)
        if end - start >= ENCODED_START_CHARS and _ENCODED_START.match(text, start):
            whole = _BASE64.match(text, start)
            if whole and _is_encoded_secret(whole[0]):
                yield *whole.span(), ENCODED
        # Of the keys within a run, only those of Slack may lack capitals.
        is_possible = has_slack_key or not text[start:end].islower()
        if is_possible and has_inner_key(text, start + 1, end):
            yield from secret_patterns.inner_keys(text, start, end)
        start = find(_RUN, end)


def _is_encoded_secret(run: str) -> bool:
    """Return whether a run of name characters is the base64 or hex form of a text with
    a secret."""
    is_hex = _HEX.fullmatch(run)
    run = run.rstrip("=").replace("+", "-").replace("/", "_")
    padded = run if is_hex else run + "=" * (-len(run) % 4)
    try:
        for part in (run[:ENCODED_START_CHARS], padded):
            found = bytes.fromhex(part) if is_hex else base64.urlsafe_b64decode(part)
            if not " ".join(found.decode("ascii").split()).isprintable():
                return False
    except ValueError:
        return False
    return bool(redact(found.decode("ascii")).kinds)


def _find_cut_keys(
    text: str, lowered: bytes, name_chars: bytes
) -> Iterable[SecretSpan]:
    """Find keys that were cut off, by the ellipsis that follows."""
    if "…" not in text and b"u2026" not in lowered:
        return
    for ellipsis in re.finditer(r"…|\\++u2026", text):
        end = ellipsis.start()
        start = name_chars.rfind(b" ", max(0, end - 300), end) + 1
        if end - start >= 14 and secret_patterns.is_cut_key(text, start, end):
            yield start, end, CUT_KEY


def _find_split_keys(text: str, lowered: bytes) -> Iterable[SecretSpan]:
    """Find keys with invisible characters within."""
    is_plain = text.isascii() or not _INVISIBLE_CHAR.search(text)
    if is_plain and b"\\u" not in lowered:
        return
    if is_plain and not any(escape in lowered for escape in _INVISIBLE_ESCAPES):
        return
    starts, origins, end = [0], [0], 0
    parts = []
    for invisible in _INVISIBLE.finditer(text):
        parts.append(text[end : invisible.start()])
        end = invisible.end()
        starts.append(starts[-1] + len(parts[-1]))
        origins.append(end)
    if not parts:
        return
    joined = "".join([*parts, text[end:]])
    name_chars = joined.encode("ascii", "replace").translate(_RUN_TABLE)
    for start, stop, kind in _find_keys(joined, name_chars):
        first, last = (bisect_right(starts, at) - 1 for at in (start, stop - 1))
        if first < last:
            yield (
                origins[first] + start - starts[first],
                origins[last] + stop - starts[last],
                kind,
            )


def _keys_of_run(text: str, at: int, end: int) -> Iterable[SecretSpan]:
    while end - at >= secret_patterns.MIN_KEY_CHARS:
        if lead := _NOT_KEY_START.match(text, at):
            at = lead.end()
        key = secret_patterns.match_key(text, at)
        if key is None:
            return
        yield at, *key
        at = key[0]


def _find_private(text: str, lowered: bytes, *, is_fragment: bool) -> list[SecretSpan]:
    """Find the text in private tags; in JSON, within each string."""
    if b"private" not in lowered or not _TAG.search(text):
        return []
    strings = [(0, len(text))]
    if text.lstrip()[:1] in ("{", "[", '"'):
        with suppress(ValueError, RecursionError):
            json.loads(text)
            strings = [found.span(1) for found in _STRINGS.finditer(text)]
    return [
        span
        for start, end in strings
        for span in _find_tags(text, start, end, is_fragment=is_fragment)
    ]


def _find_tags(
    text: str, start: int, end: int, *, is_fragment: bool
) -> Iterable[SecretSpan]:
    opened: list[re.Match[str]] = []
    for tag in _TAG.finditer(text, start, end):
        if not tag[1]:
            opened.append(tag)
        elif opened:
            yield opened.pop().start(), tag.end(), PRIVATE
    for tag in opened:
        if is_fragment or _starts_line(text, start, tag):
            yield tag.start(), end, PRIVATE
            return


def _starts_line(text: str, start: int, tag: re.Match[str]) -> bool:
    """Return whether only whitespace precedes a tag in its line."""
    before = text[max(start, tag.start() - NAME_CHARS) : tag.start()].rstrip(" \t")
    if not before:
        return tag.start() - start < NAME_CHARS
    is_mention = text[tag.end() : tag.end() + 1] in ("`", '"', "'", "\\")
    return bool(_LINE_STARTS.search(before)) and not (before[-1] == '"' and is_mention)


def _replace_spans(text: str, spans: Iterable[SecretSpan]) -> tuple[str, list[str]]:
    """Return the text with marks for the spans, and the kinds of these.

    Overlapping spans are merged under the more specific kind.
    """
    apart: list[SecretSpan] = []
    for start, end, kind in sorted(spans, key=lambda span: span[:2]):
        if apart and start < apart[-1][1]:
            first, last, named = apart[-1]
            kind = named if kind in _BY_NAME else kind
            apart[-1] = (first, max(last, end), kind)
        else:
            apart.append((start, end, kind))
    parts: list[str] = []
    copied = 0
    for start, end, kind in apart:
        parts += text[copied:start], redaction_mark(kind)
        copied = end
    return "".join([*parts, text[copied:]]), [kind for *_, kind in apart]


_BY_NAME = frozenset((
    secret_values.PASSWORD, secret_values.SECRET, secret_values.KEY,
    secret_values.TOKEN, secret_values.BASIC, "bearer token", "authorization token",
    "cookie", "signature", CUT_KEY, ENCODED,
))  # fmt: skip
"""Kinds that are less specific than the format of a key."""


def redact_event(event: Event) -> tuple[Event, tuple[str, ...]]:
    """Return an event without its secrets, and the kind of each.

    An event without secrets is returned unchanged. A changed one has no token count.
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
