"""Find the values that are assigned to names of secrets.

Settings files, shells, JSON, YAML and code write them as ``NAME=value``,
``"name": "value"``, ``name = "value"``, ``--name value``, ``getenv("NAME", "value")``.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memtui.redaction.names import (
    KEY,
    SECRET,
    TOKEN,
    Place,
    Span,
    is_noise,
    is_phrase,
    is_secret,
    kind_of_name,
)
from memtui.redaction.shapes import is_typed_key

NAME_PARTS = (
    b"pass", b"pwd", b"_pw", b"psk", b"secret", b"token", b"key", b"cred", b"auth",
    b"_salt", b"_pat", b"mnemonic", b"phrase",
)  # fmt: skip
"""The name of a secret contains one of these, in small letters."""

MAX_NAME_CHARS = 80
"""A longer run of letters is not a name."""

MAX_VALUE_CHARS = 4096
"""A longer value is not a key but a document."""

LONG_VALUE_CHARS = 256
"""In a longer value that is no secret, no names are looked for."""

MAX_BEFORE_CHARS = 40
"""This much of the text before a name is read."""

QUOTE = r"\\{0,7}[\"'`]"
"""A quote, escaped at any depth of JSON."""

# What is between a name and its value. In the order of trying:
# NAME=value, "name": "value", name: str = "value", os.environ["NAME"] = "value"
_ASSIGNS = re.compile(
    rf"(?P<closed>{QUOTE})?\]?(?: \[\w{{0,16}}\])?\*{{0,2}}[ \t]{{0,20}}\??"
    r"(?P<sign>=>|:=|\?=|[=!]={1,2}|=|:(?![:/=]))\*{0,2}[ \t]{0,8}"
    r"(?:(?:(?<=: )|(?<=:))&?'?[A-Za-z][\w.\[\]<>|&' ]{0,40}?[ \t]?=[ \t]{0,4}"
    rf"(?={QUOTE}))?"
)
# const apiKey string = "value"
_TYPED = re.compile(rf" [A-Za-z][\w.\[\]]{{0,20}} (?P<sign>=) ?(?={QUOTE})")
# --name value
_FLAG = re.compile(r"(?P<sign>[ ]) {0,3}(?=\S)")
# name: TOKEN, value: the-token; the lines may be numbered
_LINE_NUMBER = r"\d{1,6}(?:→|\\++(?:u2192|t)|\t|:)"
_VALUE_FIELD = re.compile(
    rf"(?:{QUOTE})?(?:\\+[rn]|[\s,:{{+>|-]|{_LINE_NUMBER}){{0,30}}"
    rf"(?:{QUOTE})?(?:value|default)"
    rf"(?P<closed>{QUOTE})?[ \t]?(?P<sign>[:=])[ \t]{{0,8}}"
)
# <password>value</password>
_ELEMENT = re.compile(r"(?P<sign>>)(?=[^<>\s\"'`\\]{4,200}<\\?/)")
# set_password("value"), getenv("NAME", "value"), process.env.NAME || "value"
_ARGUMENT = re.compile(
    rf"(?P<closed>{QUOTE})?(?:{QUOTE}|[\])]){{0,3}}\s{{0,3}}"
    rf"(?P<sign>,|\(|\|\||\?\?|\?:|\bor\b)\s{{0,16}}(?={QUOTE})"
)
# the password is value
_IS = re.compile(r"[`*]{0,2} (?P<sign>is):? (?=\S)")
_SEPARATORS = (_VALUE_FIELD, _ASSIGNS, _TYPED, _ELEMENT, _ARGUMENT, _IS)

_BEFORE_SPACE = re.compile(
    r"(?:(?:\b(?:ENV|ARG|setx)|#define|\bset(?: -\w+)*|\bconfigure set"
    r"|\bsecret set) +|\bconfig set [\w./:@-]{0,80}"
    # .netrc: machine github.com login ada password …, maybe on several lines
    r"|(?:^|\n|\\n|\.\w+ |default )\s*login \S{1,128}(?:\s|\\n){1,9})$"
)
"""Matches what is before a name that a space separates from its value."""
_WORD_BEFORE = re.compile(r"\b([A-Za-z]+) $")
"""Matches the first word of a name such as "API key"."""
_CALL_BEFORE = re.compile(
    r"(?:env|get|set|default|define|header|fill|type|put|append|add)\w*\(\s?\\*[\"'`]\W?$",
    re.IGNORECASE,
)
"""Matches the start of a call that pairs a name with a value: ``getenv("``."""
_ACCESS = re.compile(r"auth|api|access", re.IGNORECASE)
_SPACE = re.compile(r"(?P<sign> )(?: *(?:--body|-b)[ =])? *(?=\S)")

_OPENING_QUOTE = re.compile(r"[brfuBRFUNL@]{0,2}(\\{0,7})([\"'`])")
_DEPTHS = (0, 1, 3, 7)
"""Backslashes before a quote in JSON, in JSON within JSON, and so on."""
_QUOTED = {
    quote: re.compile(
        rf"((?:[^{quote}\"\\\n]|\\.){{0,{MAX_VALUE_CHARS}}})(?:{quote}|\Z)"
    )
    for quote in "'`"
} | {
    # A JSON string does not go on in the next line; there the text was cut off.
    "\\" * depth + '"': re.compile(
        rf"((?:[^\"\\\n]|\\{{{depth + 1},}}+\"|\\++[^\"\\\n]){{0,{MAX_VALUE_CHARS}}})"
        rf"(?:\\{{{depth}}}\"|\Z|(?=\n))"
    )
    for depth in _DEPTHS
}
_NO_START = frozenset(",]}: \t")
"""A quote before one of these ends a JSON string; it does not open a value."""

_LINE_START = re.compile(r"(?:^|[\s+>-]|\\+[nrt]|\\*\":\s?\\*\"|\d→)$")
"""Matches what is before a setting, but not one in a string of code."""
# Values of several words up to the end of a line, for passphrases
_WORDS = re.compile(
    r"[a-z]{3,10}(?: (?:[a-z]{3,10}|\d{1,4})){3,9}(?=\s*(?:[\r\n\\\"'#]|$))"
)
# Values up to whitespace or a quote, for keys with signs
_SIGNS = re.compile(r"[^\s\"'`\\]{20,256}(?=[\s\"'`\\]|$)")
_BARE = re.compile(
    r"(?:[^\s\"'`\\;<>&,|]|[<>|](?=[^\s\"'`\\])"
    rf"|[&,](?!\s|$|[\"'\\]|[\w. -]{{1,40}}[=:])){{1,{MAX_VALUE_CHARS}}}"
)
"""A value without quotes, up to the next setting: ``a;b=``, ``a&b=``, ``a, b``."""
_LINE_END = re.compile(
    r"[;,]?[ \t]*(?:[\r\n]|\\+[rn]|\\*[\"']|$|#|&|;|&&)|[ \t]+[a-z_]{2,20}=[^\s=]"
)
_CLOSING = re.compile(r"[,;)}\].]+$")


@dataclass(frozen=True, slots=True)
class _Value:
    """The value of a name."""

    text: str
    start: int
    place: Place


def find_assigned(text: str, lowered: bytes, name_chars: bytes) -> Iterator[Span]:
    """Find the secrets that names mark.

    Args:
        text: The text.
        lowered: The text as lower-case ASCII, one byte a character.
        name_chars: The same with spaces for all characters that names do not contain.
    """
    checked_ends: set[int] = set()
    for part in NAME_PARTS:
        at = lowered.find(part)
        while at >= 0:
            end = name_chars.find(b" ", at, at + MAX_NAME_CHARS)
            if end < 0:
                end = min(len(text), at + MAX_NAME_CHARS)
            if end not in checked_ends:
                checked_ends.add(end)
                low = max(0, at - MAX_NAME_CHARS)
                start = name_chars.rfind(b" ", low, at) + 1 or low
                if span := _find_value(text, start, end):
                    end = max(end, span[1])
                    if span[2]:
                        yield span
            at = lowered.find(part, end)


def _find_value(text: str, start: int, end: int) -> Span | None:
    """Return the secret assigned to the name at a span.

    A span of kind "" is a long value without a secret, which is not read again.
    """
    if text[start - 1 : start] == "\\" and text[start] in "nrt":
        start += 1
    name = text[start:end].rstrip(".-")
    end = start + len(name)
    before = text[max(0, start - MAX_BEFORE_CHARS) : start]
    kind = _kind_of(name, before)
    if not kind or before.endswith(("/", "%")):
        return None
    value = _value_of(text, start, end, before)
    if value is None or value.text.lower() == name.lower():
        return None
    # An access token may be a UUID; the token of a session or a page is an id.
    is_setting = name.isupper() and "_" in name
    is_access = kind == TOKEN and (is_setting or _ACCESS.search(name))
    past = value.start + len(value.text)
    kinds = {KEY if is_access else kind}
    if kind == KEY and "secret" in name.lower():
        kinds.add(SECRET)  # SECRET_KEY may be words, as secrets are.
    is_typed = value.place is Place.LINE and is_typed_key(value.text)
    if is_typed or any(is_secret(k, value.text, value.place) for k in kinds):
        return value.start, past, kind
    return (value.start, past, "") if len(value.text) > LONG_VALUE_CHARS else None


def _kind_of(name: str, before: str) -> str:
    """Return the kind that a name denotes; "API key" has a word before."""
    if name.isalpha() and not name.isupper() and (word := _WORD_BEFORE.search(before)):
        name = f"{word[1]} {name}"
    return kind_of_name(name)


def _value_of(text: str, start: int, end: int, before: str) -> _Value | None:
    if text[start] == "-" and (separator := _FLAG.match(text, end)):
        return _read_value(text, start, end, separator)
    if text[end : end + 1] == " " and _BEFORE_SPACE.search(before):
        separator = _SPACE.match(text, end)
        return _read_value(text, start, end, separator) if separator else None
    for pattern in _SEPARATORS:
        if separator := pattern.match(text, end):
            return _read_value(text, start, end, separator)
    return None


def _read_value(
    text: str, start: int, end: int, separator: re.Match[str]
) -> _Value | None:
    """Read the value after the separator of the name at a span."""
    sign, at = separator["sign"], separator.end()
    if opened := _OPENING_QUOTE.match(text, at):
        is_list = sign == "," and not _CALL_BEFORE.search(
            text, max(0, start - MAX_BEFORE_CHARS), start
        )
        is_doubtful = is_list or sign in ("(", "is")
        value = _read_quoted(text, opened)
        place = Place.CODE if is_doubtful else Place.QUOTED
        return _Value(value, opened.end(), place) if value else None
    is_compared = sign in ("==", "===", "!=", "!==")
    is_json = separator.groupdict().get("closed") and separator.re is _ASSIGNS
    if is_compared or is_json:
        return None
    is_line = _is_line(text, start, end, separator)
    if is_line and (signs := _SIGNS.match(text, at)) and is_noise(signs[0]):
        return _Value(signs[0], at, Place.LINE)
    if (words := _WORDS.match(text, at)) and is_phrase(words[0]):
        return _Value(words[0], at, Place.LINE if is_line else Place.CODE)
    bare = _BARE.match(text, at)
    if not bare or bare[0].endswith("..."):
        return None
    if separator.re is _ELEMENT:
        return _Value(bare[0].partition("<")[0], at, Place.QUOTED)
    value = bare[0] if _is_balanced(bare[0]) else _CLOSING.sub("", bare[0])
    if is_line:
        return _Value(value, at, Place.LINE)
    is_setting = _is_setting(text, start, end, separator, at + len(value))
    return _Value(value, at, Place.SETTING if is_setting else Place.CODE)


def _is_line(text: str, start: int, end: int, separator: re.Match[str]) -> bool:
    """Return whether a name is a setting as ``NAME=``."""
    is_setting = text[start:end].isupper() and separator["sign"] == "="
    is_tight = separator.end() == end + len("=")
    before = text[max(0, start - MAX_BEFORE_CHARS) : start]
    return is_setting and is_tight and bool(_LINE_START.search(before))


def _is_balanced(value: str) -> bool:
    """Return whether the brackets of a value belong to it: ``a(b)``, but not ``a)``."""
    return value[-1] not in ",;." and all(
        value.count(closing) <= value.count(opening)
        for opening, closing in ("()", "[]", "{}")
    )


def _is_setting(
    text: str, start: int, end: int, separator: re.Match[str], past: int
) -> bool:
    """Return whether an unquoted value can be no expression."""
    name = text[start:end]
    if separator.re is _IS:
        return False
    is_query = start > 0 and text[start - 1] in "?&"
    if separator.re in (_SPACE, _VALUE_FIELD) or is_query or name[0] == "-":
        return True
    is_tight = separator.end() == end + len("=")
    if separator["sign"] == "=" and is_tight and name.isupper():
        return True
    is_line = is_tight if separator["sign"] == "=" else name.lower() != "pass"
    return is_line and bool(_LINE_END.match(text, past))


def _read_quoted(text: str, opened: re.Match[str]) -> str:
    """Return the text after an opening quote; "" if no quote closes it."""
    escape, quote = opened[1], opened[2]
    shape = _QUOTED.get(escape + quote)
    closed = shape.match(text, opened.end()) if shape else None
    if not closed or (not escape and closed[1][:1] in _NO_START):
        return ""
    return closed[1]
