"""Where the value of a name begins and ends: in code, settings, JSON, flags and URLs.

A value never holds the quote it stands in, half an escape or what closes a structure:
taking it out leaves JSON what it was, at whatever depth of escaping it stands.
"""

import re
from dataclasses import dataclass

VALUE_CHARS = 4096
"""A longer value is not a key but a document."""

_COLOUR = r"(?:\\++u001[bB]\[[\d;]{0,12}m){0,3}"
_ASSIGNS = re.compile(
    rf"(?P<closed>\\{{0,7}}[\"'`])?\]?{_COLOUR}[ \t]{{0,8}}"
    r"(?:\?[ \t]?)?(?P<sign>=>|:=|\?=|=(?![=~>])|:(?![:=/]))"
    rf"(?P<gap>[ \t]{{0,8}}){_COLOUR}"
    r"(?:(?<=[: ])&?'?[A-Za-z][\w.\[\]<>|&' ]{0,40}?[ \t]?=[ \t]{0,4}(?=[\"'`\\]))?"
)
_NAMED_APART = re.compile(
    r"\\{0,7}[\"']?,?(?:\s|\\n){0,20}\\{0,7}[\"']?value\\{0,7}[\"']?[ \t]?"
    r"(?P<sign>[:=])(?P<gap>[ \t]{0,8})"
)
_FLAG = re.compile(r"(?P<sign>[= ])(?P<gap> {0,3})")
_IS = re.compile(r"[`*]{0,3}(?P<gap>[ \t]+)(?P<sign>is):?[ \t]+(?=\S)")
_SET = re.compile(r"(?:\bset +(?:-[a-zA-Z]+ +)+|\bsetx +)$")
_SECRET_SET = re.compile(r"\bsecret set +$")
_SPACE = re.compile(r"(?P<gap> {0,3})(?P<sign> )(?=[^\s-])")
_BODY = re.compile(
    r"(?: +(?!-b\b|--body\b)-{1,2}[\w-]+(?:[= ][^\s\"'`\\-][^\s\"'`\\]*)?){0,4}"
    r" +(?:--body|-b)(?P<sign>[= ])(?P<gap> {0,3})"
)
_NETRC = re.compile(r"\b(?:machine\s+\S{1,128}|default)\s+login\s+\S{1,128}\s+$")
_BLANK = re.compile(r"(?P<gap>\s{0,4})(?P<sign>\s)(?=\S)")
_COMMANDS = (_SPACE, _BODY, _BLANK)
"""What parts a name from its value in a command, where no code stands."""
_BEFORE_CHARS = 24
_NETRC_CHARS = 300
_LISTED = re.compile(
    r"(?P<closed>\\{0,7}[\"'`])?[ \t]{0,8}(?P<sign>[:=])"
    r"(?P<gap>[ \t]{0,8})\[\s{0,8}"
    r"(?:\\{0,7}[\"']\[redacted: [a-z ]+\]\\{0,7}[\"'],\s{0,8})*(?=\\{0,7}[\"'])"
)
_XML = re.compile(r">([^<>\s\"'`\\]{4,200})(?=</)")
_OPENS = re.compile(r"[brfuBRFU]{0,2}(\\{0,7})([\"'`])")
_DEPTHS = (0, 1, 3, 7)
"""How many backslashes stand before a quote in JSON, in JSON in JSON, and so on."""
_QUOTED = {
    '"': re.compile(rf"((?:[^\"\\\n]|\\.){{0,{VALUE_CHARS}}})\""),
    "'": re.compile(rf"((?:[^'\"\\\n]|\\.){{0,{VALUE_CHARS}}})'"),
    "`": re.compile(rf"((?:[^`\"\\\n]|\\.){{0,{VALUE_CHARS}}})`"),
} | {
    "\\" * depth + '"': re.compile(
        rf"((?:[^\"\\\n]|\\{{{depth + 1},}}+\"|\\++[^\"\\\n]){{0,{VALUE_CHARS}}})"
        rf"\\{{{depth}}}\""
    )
    for depth in _DEPTHS[1:]
}
_WITHIN = re.compile(rf"[^\"'`\\\n]{{0,{VALUE_CHARS}}}")
_BARE = re.compile(rf"(?:[^\s\"'`\\;,<>|&]|&(?![\w.-]{{1,80}}=)){{1,{VALUE_CHARS}}}")
_WHOLE = re.compile(rf"[^\s\"'`\\]{{1,{VALUE_CHARS}}}")
_QUERY = re.compile(rf"[^\s\"'`\\&#;,<>|)\]}}]{{1,{VALUE_CHARS}}}")
_BLANK_END = re.compile(r"\s*\Z")
_NO_START = frozenset(",]}: \t")
"""What follows a JSON string's end is no value."""


@dataclass(frozen=True, slots=True)
class Value:
    """A name's value, and what is known of how it stands there."""

    text: str
    start: int
    is_quoted: bool
    """Whether it cannot be code."""
    sign: str
    is_tight: bool
    """Whether nothing stands between the sign and the value."""
    after: str
    """The character that follows, "" at the end."""

    @property
    def end(self) -> int:
        """Where it ends."""
        return self.start + len(self.text)


def of_name(text: str, start: int, end: int) -> Value | None:
    """The value given to the name that stands between two places; None for none."""
    if text[end - 1] in "sS" and (found := _LISTED.match(text, end)):
        return _value(text, start, end, found, is_key=bool(found["closed"]))
    found = _ASSIGNS.match(text, end)
    if found:
        return _value(text, start, end, found, is_key=bool(found["closed"]))
    if text.startswith("-", start) and (found := _FLAG.match(text, end)):
        return _value(text, start, end, found, is_key=False)
    if text[start - 1 : start] == "<" and (tagged := _XML.match(text, end)):
        return Value(tagged[1], tagged.start(1), True, ">", True, "<")
    if text[end : end + 1] in (" ", "\n", "\t") and (
        found := _spaced(text, start, end)
    ):
        return _value(text, start, end, found, is_key=False)
    found = _NAMED_APART.match(text, end) or _IS.match(text, end)
    return _value(text, start, end, found, is_key=False) if found else None


def _spaced(text: str, start: int, end: int) -> re.Match[str] | None:
    """What stands between a name and its value where commands part them by blanks."""
    before = text[max(0, start - _BEFORE_CHARS) : start]
    if "set" in before:
        if _SECRET_SET.search(before):
            return _BODY.match(text, end)
        return _SPACE.match(text, end) if _SET.search(before) else None
    if text[start:end] == "password" and before[-1:].isspace():
        before = text[max(0, start - _NETRC_CHARS) : start]
        return _BLANK.match(text, end) if _NETRC.search(before) else None
    return None


def _value(
    text: str, start: int, end: int, found: re.Match[str], *, is_key: bool
) -> Value | None:
    sign, at = found["sign"], found.end()
    is_tight = (
        not found["gap"]
        and text[end : found.start("sign")].strip(" \t")
        == (text[end : found.start("sign")])
    )
    opened = _OPENS.match(text, at)
    if opened:
        is_json = is_key and found["closed"][-1] == '"'
        return _quoted(text, opened, sign, is_tight=is_tight, is_json=is_json)
    if is_key:
        return None
    before = text[start - 1 : start]
    name = text[start:end]
    is_setting = found.re in _COMMANDS or (
        is_tight and sign == "=" and name.isupper() and before not in ("(", ",")
    )
    shape = _QUERY if before and before in "?&" else _WHOLE if is_setting else _BARE
    bare = shape.match(text, at)
    if not bare:
        return None
    value = bare[0].rstrip(",;)}].") if shape is _BARE else bare[0].rstrip(";)")
    after = text[at + len(value) : at + len(value) + 1]
    return Value(value, at, is_setting or shape is _QUERY, sign, is_tight, after)


def _quoted(
    text: str, opened: re.Match[str], sign: str, *, is_tight: bool, is_json: bool
) -> Value | None:
    escape, quote = opened[1], opened[2]
    at = opened.end()
    if not escape and text[at : at + 1] in _NO_START:
        return None
    if len(escape) not in _DEPTHS:
        return None
    shape = _QUOTED.get(escape + quote)
    closed = shape.match(text, at) if shape else None
    if closed:
        value = closed[1]
    else:
        within = _WITHIN.match(text, at)
        value = within[0] if within else ""
        end = at + len(value)
        # No string of JSON goes on in another line: it was torn there.
        is_torn = is_json and text[end : end + 1] == "\n"
        is_cut = is_torn or _BLANK_END.match(text, end)
        if not is_cut and not text.startswith(escape + quote, end):
            return None
    after = text[at + len(value) : at + len(value) + 1]
    return Value(value, at, True, sign, is_tight, after)
