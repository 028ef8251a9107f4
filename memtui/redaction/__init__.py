"""Redact secrets in text before it is stored.

Each secret is replaced by a mark (``[redacted: aws key]``); everything else stays byte
for byte. Secrets are strings in the format of a provider's key (``shapes``), values
that a name marks as a password or token (``assignments``, ``names``), what headers,
URLs and commands contain (``commands``), and text in ``<private>`` tags (``private``).
Redacting again changes nothing.

    >>> redact("DB_PASSWORD=k9#Lm2qz").text
    'DB_PASSWORD=[redacted: password]'
"""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

from memtui.model.events import Event
from memtui.redaction import names, shapes
from memtui.redaction.assignments import find_assigned
from memtui.redaction.commands import find_in_commands
from memtui.redaction.names import Span
from memtui.redaction.private import find_private

RULES_VERSION = 15
"""Raised when the rules change, so that text redacted by older ones is found."""

MIN_CHARS = 8
"""A shorter text contains no secret."""

MAX_CACHED_CHARS = 64
"""Strings in JSON up to this length are cached."""

MAX_PASSES = 4
"""A text is read again until nothing is found; the second pass rarely finds more."""

ID_DIGITS = 8
"""These distinguish ids; too few to find a secret by."""

_ID_NAME = re.compile(
    r"(?:session|conversation|thread|own)_?id|parent|(?:forked|copied)_from",
    re.IGNORECASE,
)
"""The names of fields with the id of a session, in payloads and saved positions."""

_ESCAPED_LETTER = re.compile(r"\\u00(?!22|5[cC])[2-7][0-9a-fA-F]")
"""Matches an escape sequence of JSON, except those of the quote and the backslash."""


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

    An unclosed private tag always extends to its end. Letters written as escape
    sequences are decoded, and stay decoded only if they reveal a secret.
    """
    redacted = _redact(text, is_fragment=True)
    if "\\u00" not in text:
        return redacted
    plain = _ESCAPED_LETTER.sub(lambda escape: chr(int(escape[0][2:], 16)), text)
    decoded = _redact(plain, is_fragment=True)
    return decoded if len(decoded.kinds) > len(redacted.kinds) else redacted


def redact_id(name: str) -> str:
    """Return an id without its secrets, with a digest for each text that had some.

    Records are linked by ids: equal ids stay equal, and different ones different.
    """
    redacted = redact_cached(name)
    if not redacted.kinds:
        return name
    digest = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()
    return f"{redacted.text} {digest[:ID_DIGITS]}"


@lru_cache(maxsize=16_384)
def redact_cached(text: str) -> RedactedText:
    """Return the same as ``redact``, cached: format readers repeat short strings."""
    return redact(text)


def redact_json(value: object) -> tuple[object, tuple[str, ...]]:
    """Redact every string of a JSON value, including keys.

    The value of a field named like a secret (``{"password": "…"}``) is redacted by its
    name.
    """
    kinds: list[str] = []
    return _redact_value(value, "", kinds), tuple(kinds)


def redact_event(event: Event) -> tuple[Event, tuple[str, ...]]:
    """Return an event without its secrets, and the kind of each.

    An event without secrets is returned unchanged. A changed one has no token count.
    """
    text = redact(event.text)
    metadata, metadata_kinds = redact_json(event.metadata)
    kinds = text.kinds + metadata_kinds
    if not kinds or not isinstance(metadata, dict):
        return event, ()
    changed = replace(
        event, text=text.text, metadata=metadata, tokens=0, token_counter=""
    )
    return changed, kinds


def _redact(text: str, *, is_fragment: bool) -> RedactedText:
    if len(text) < MIN_CHARS:
        return RedactedText(text, ())
    kinds: list[str] = []
    for _ in range(MAX_PASSES):
        lowered = text.encode("ascii", "replace").lower()
        spans = find_private(text, lowered, is_fragment=is_fragment)
        spans = spans or _find_secrets(text, lowered)
        if not spans:
            break
        text, replaced_kinds = _replace_spans(text, spans)
        kinds += replaced_kinds
    return RedactedText(text, tuple(kinds))


def _find_secrets(text: str, lowered: bytes) -> list[Span]:
    name_chars = shapes.mark_names(lowered)
    return [
        *shapes.find_keys(text, name_chars),
        *shapes.find_key_blocks(text, lowered),
        *find_assigned(text, lowered, name_chars),
        *find_in_commands(text, lowered, name_chars),
    ]


_UNSPECIFIC_KINDS = frozenset((
    names.PASSWORD, names.SECRET, names.KEY, names.TOKEN, names.BASIC, "bearer token",
    "cookie", "signature", shapes.CUT_KEY,
))  # fmt: skip
"""Kinds that say less than the format of a key."""


def _replace_spans(text: str, spans: Iterable[Span]) -> tuple[str, list[str]]:
    """Return the text with marks for the spans, and the kinds of these.

    Overlapping spans are merged under the more specific kind.
    """
    merged: list[Span] = []
    for start, end, kind in sorted(spans, key=lambda span: span[:2]):
        if merged and start < merged[-1][1]:
            first, last, merged_kind = merged[-1]
            kind = merged_kind if kind in _UNSPECIFIC_KINDS else kind
            merged[-1] = (first, max(last, end), kind)
        else:
            merged.append((start, end, kind))
    parts: list[str] = []
    copied = 0
    for start, end, kind in merged:
        parts += text[copied:start], redaction_mark(kind)
        copied = end
    return "".join([*parts, text[copied:]]), [kind for *_, kind in merged]


def _redact_value(value: object, kind: str, kinds: list[str]) -> object:
    """Redact a JSON value of a field that holds a kind of secret, or "" for none."""
    if isinstance(value, str):
        is_short = len(value) <= MAX_CACHED_CHARS
        redacted = redact_cached(value) if is_short else redact(value)
        if kind and not redacted.kinds and names.is_field_secret(kind, value):
            redacted = RedactedText(redaction_mark(kind), (kind,))
        kinds += redacted.kinds
        return redacted.text
    if isinstance(value, dict):
        return {
            _redact_value(name, "", kinds): _redact_field(name, item, value, kinds)
            for name, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [_redact_value(item, kind, kinds) for item in value]
    return value


def _redact_field(
    name: object, item: object, fields: dict[object, object], kinds: list[str]
) -> object:
    redacted = _redact_value(item, _kind_of_field(name, fields), kinds)
    if isinstance(name, str) and isinstance(item, str) and _ID_NAME.fullmatch(name):
        return redact_id(item) if redacted != item else item
    return redacted


def _kind_of_field(name: object, fields: dict[object, object]) -> str:
    """Return the kind of secret a field holds, by its name or the "name" beside it."""
    if name == "value" and isinstance(fields.get("name"), str):
        name = fields["name"]
    return names.kind_of_name(name) if isinstance(name, str) else ""
