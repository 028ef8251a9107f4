"""Find secrets by the text beside them: names, headers, URLs, commands, key blocks.

Each rule is tried where a fixed byte string occurs in the lower-cased text: searching
for a few strings takes a tenth of the time of one pattern for all.
"""

import base64
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from memtui.text.secret_values import (
    FOLDERS,
    KEY,
    PASSWORD,
    SECRET,
    TOKEN,
    has_sign,
    has_sign_and_number,
    has_uuid,
    is_basic_login,
    is_chosen,
    is_code,
    is_evident,
    is_generated,
    is_human,
    is_mixed_password,
    is_noise,
    is_placeholder,
    is_random,
    is_secret,
    is_template,
    is_unlike_code,
    kind_of_name,
)

SecretSpan = tuple[int, int, str]
"""Start, end and kind of a secret; kind "" for text already checked."""

Rule = Callable[[str, int], Iterator[SecretSpan]]
"""Finds secrets at a position in a text."""

NAME_CHARS = 80
"""A longer run of letters is not a name."""

VALUE_CHARS = 4096
"""A longer value is not a key but a document."""

LONG_CHARS = 256
"""Unquoted values longer than this are skipped when searching for names."""

NAME_PARTS = (
    b"pass", b"pw", b"secret", b"token", b"key", b"cred", b"auth",
)  # fmt: skip
"""The name of a secret contains one of these."""

NAME_WORDS = (
    b"kennwort", b"psk", b"mdp", b"senha", b"wachtwoord", b"contrasena", b"heslo",
    b"clave", b"chave", b"chiave", b"jeton", b"geheimnis", b"segreto", b"segredo",
)  # fmt: skip
"""Other names of secrets, or parts of them."""

_FREQUENT_PARTS = (b"token", b"key", b"auth")

_BEFORE_CHARS = 24
_QUOTE = r"\\{0,7}[\"'`]"
"""A quote, escaped at any depth of JSON."""

_OPENS = r"(?:\\(?:\\{2}(?:\\{4})?)?[\"']|'|\"(?![,\]}:\s]))?"
"""A quote that may open a value; one that closes a JSON string may not."""


_WORD_TABLE = bytes(
    code if chr(code) in "abcdefghijklmnopqrstuvwxyz?" else 32 for code in range(256)
)
"""Translates bytes that are no letters to spaces; "?" is a letter beyond ASCII."""


def words_of(lowered: bytes) -> frozenset[bytes]:
    """Return the words of letters; those after ``\\n`` have its letter."""
    return frozenset(lowered.translate(_WORD_TABLE).split())


class _Names:
    """Words to look for in a text."""

    def __init__(self, names: Iterable[bytes]) -> None:
        # A word after "\\n" begins with the letter.
        self._names = {lead + name: name for name in names for lead in (b"", b"n")}
        self._words = frozenset(self._names)

    def among(self, words: frozenset[bytes]) -> list[bytes]:
        """Return those among the words of a text."""
        return sorted({self._names[word] for word in words & self._words})


def find_secrets(
    text: str,
    lowered: bytes,
    name_chars: bytes,
    words: frozenset[bytes],
    places: list[int],
) -> Iterator[SecretSpan]:
    """Find secrets by their context.

    Args:
        text: The text.
        lowered: The text as lower-case ASCII, one byte a character.
        name_chars: The same with spaces for all characters that names do not contain.
        words: Its words of letters.
        places: Gets the places of names of secrets.
    """
    checked_ends: set[int] = set()
    for sign, rules in _RULES.items():
        if sign in lowered:
            if sign in NAME_PARTS:
                yield from _find_named(
                    sign, text, lowered, name_chars, checked_ends, places
                )
            for anchor, rule in rules:
                if anchor in lowered:
                    yield from _apply_rule(anchor, rule, text, lowered)
    for word in _NAME_WORDS.among(words):
        yield from _find_named(word, text, lowered, name_chars, checked_ends, places)
    for word in _WORDS.among(words):
        for anchor, rule in _WORD_RULES[word]:
            yield from _apply_rule(anchor, rule, text, lowered)
    if not _FOREIGN_RUNS.isdisjoint(words):
        for name in _OTHER_SCRIPTS:
            at = text.find(name)
            while at >= 0:
                yield from _foreign_name(text, at)
                at = text.find(name, at + len(name))


def _apply_rule(
    anchor: bytes, rule: Rule, text: str, lowered: bytes
) -> Iterator[SecretSpan]:
    """Apply a rule at each occurrence of its byte string.

    Rules yield a span of kind "" for text that contains no secret and is to be skipped.
    """
    at = lowered.find(anchor)
    while at >= 0:
        past = at + len(anchor)
        for span in rule(text, at):
            past = max(past, span[1])
            if span[2]:
                yield span
        at = lowered.find(anchor, past)


def _find_named(
    part: bytes,
    text: str,
    lowered: bytes,
    name_chars: bytes,
    checked_ends: set[int],
    places: list[int],
) -> Iterator[SecretSpan]:
    at = lowered.find(part)
    is_place = part not in _FREQUENT_PARTS
    while at >= 0:
        if is_place:
            places.append(at)
        end = name_chars.find(b" ", at, at + NAME_CHARS)
        if end < 0:
            end = min(len(text), at + NAME_CHARS)
        if end not in checked_ends:
            checked_ends.add(end)
            start = name_chars.rfind(b" ", max(0, at - NAME_CHARS), at) + 1
            for span in _check_name(text, start or max(0, at - NAME_CHARS), end):
                end = max(end, span[1])
                if span[2]:
                    yield span
        at = lowered.find(part, end)


# The value of a name.

_COLOUR = r"(?:\\++u001[bB]\[[\d;]{0,12}m){0,3}"

_ASSIGNS = re.compile(
    rf"(?P<closed>\\{{0,7}}[\"'`])?\]?(?:\*\*|__)?{_COLOUR}[ \t]{{0,8}}"
    r"(?:\?[ \t]?)?(?P<sign>=>|:=|\?=|=(?!>|[=~](?![^\s=~]{7}))|:(?![:=/])"
    r")(?:\*\*)?"
    rf"(?P<gap>[ \t]{{0,8}}){_COLOUR}(?:(?<= )!\w{{1,20}} )?"
    r"(?:(?<=[: ])&?'?[A-Za-z][\w.\[\]<>|&' ]{0,40}?[ \t]?=[ \t]{0,4}(?=[\"'`\\]))?"
)

_NESTED = re.compile(
    r"(?P<closed>\\{0,7}[\"'])(?P<sign>:)(?P<gap>[ \t]?)(?:\s|\\+n){0,20}\{(?:\s|"
    r"\\+n){0,20}"
    r"\\{0,7}[\"'](?:value|default|plaintext|secret|secure)\\{0,7}[\"']\s?:\s{0,8}",
    re.IGNORECASE,
)
"""The separator before a value in an object: ``"password": {"value": …}``."""

_BLOCK = re.compile(
    r"(?P<closed>\\{0,7}[\"'])?(?P<sign>:)(?P<gap>[ \t])[|>][+-]?[ \t]*"
    r"(?:\n|\\+n)[ \t]{1,40}(?=\S)"
)
"""The separator before a value on the next line in YAML."""

# The value of a name in another field: "name": "TOKEN", "value": "secret"; the next
# line may begin with a number or a file's name.
_VALUE_FIELD = re.compile(
    r"\\{0,7}[\"']?,?[ \t{]{0,4}(?:\\+[rn]|\s){0,20}"
    r"(?:[^\n\"'=|]{0,60}[^\n\"'=|\w])??\\{0,7}[\"']?(?:value|default)"
    r"\\{0,7}[\"']?[ \t]?(?P<sign>[:=])(?P<gap>[ \t]{0,8})"
)

_CALL = re.compile(r"(?P<gap>)(?P<sign>\()\s{0,4}(?=\\{0,7}[\"'`])")
_ARGUMENT = re.compile(r"\\{0,7}[\"'](?P<gap>)(?P<sign>,)\s{0,4}(?=\\{0,7}[\"'`])")
_DEFINE = re.compile(r"\bdefine\(\s?[\"']$")
_CELL = re.compile(r"[`*]{0,3}[ \t]{0,40}(?P<sign>[|│┃║])(?P<gap>[ \t]{0,40})(?=\S)")
_BEFORE_CELL = re.compile(r"[|│┃║][ \t]{0,8}[`*]{0,3}(?:\w{1,16} ){0,2}$")
_SQL = re.compile(r"(?P<gap>[ \t]{1,3})(?P<sign>)(?=\\{0,7}['\"])")
_BEFORE_SQL = re.compile(r"\b(?:with|login|role|user|encrypted)\b[^\n]{0,60}$", re.I)
_FLAG = re.compile(r"(?P<sign>[= ])(?P<gap> {0,3})")
# The words between a name and its value in prose: "for the vault is", "was set to".
_IS = re.compile(
    r"(?:'s)?[`*]{0,3}"
    r"(?P<gap>(?:[ \t]+(?!key|token|pass|secret)(?:\w{1,2}['’])?(?:[^\W_]|"
    r"\\+u00\w\w){1,14}(?:['’]s)?,?)"
    r"{0,7}?)"
    r"(?P<sign>[ \t]+(?:is|was|are|be|to|as|from(?:[ \t]+\S{1,64}[ \t]+to)?"
    r"|ist|lautet|sind|es|est|è|é|voor|это|jest|är)"
    r"(?: now| still| set to| changed to| reset to)?:?"
    r"|'s|\?|[ \t]+\((?:[\w ]{1,30}\):)?|[ \t]*(?:[-=]{1,2}>|[→–—:=]))"
    r"(?:[ \t]+|:?(?:\s|\\++n){1,12}|(?<=\())(?=\S)"
)
_NEXT = re.compile(
    r"(?P<gap>(?: (?!key|token|pass|secret)[a-z]{1,12}){0,4}?)("
    r"?P<sign>[ \t]{1,8})(?=[^\s|-])"
    r"(?![a-z]{1,14}[\s,.;:])"
)
_LINE_START = re.compile(r"(?:^|\n|\\+n)[ \t]*$")
_LINE_REST = re.compile(
    r"[ \t]+[\"']?(?=\S*\d)(?=\S*[a-zA-Z])[^\s\"'\\]{6,128}[\"']?;?[ \t]*(?:$|"
    r"\r?\n|\\+[rn])"
)
"""Match around the name of a setting that a line sets with spaces."""
_LOGIN_PAIR = re.compile(
    r"s?(?: are| is)?:?(?P<gap>)(?P<sign> )[`\"']?[^\s:/\"'`\\]{1,64}[`\"']?"
    r"(?: ?/ ?|:)(?=\S)"
)
_AFTER_LOGIN = re.compile(
    r"\b(?:user(?:name)?|login|account|as|benutzer)[ :=]{1,3}"
    r"[`\"']?[^\s`\"']{1,40}[`\"']?,? (?:(?:and|with|using|the|und|mit) ){0,3}$",
    re.IGNORECASE,
)
"""Matches before the word "password" in "user ada password"."""
_PAIR_NAMES = (
    "credential", "credentials", "creds", "zugangsdaten", "identifiants", "credenziali",
    "credenciales", "credenciais", "inloggegevens", "anmeldedaten",
)  # fmt: skip
_SET = re.compile(
    r"(?:\bset +(?:-[a-zA-Z]+ +)+|\bsetx +|\b(?:ENV|ARG) +"
    r"|\b(?:config|configure)(?: +(?:set|add|--?\w+))* +[\w.:/@-]{0,60})$"
)
_SPACE = re.compile(r"(?P<gap> {0,3})(?P<sign> )(?=[^\s-])")

# gh secret set TOKEN --body secret
_BODY_FLAG = re.compile(
    r"(?: +(?!-b\b|--body\b)-{1,2}[\w-]+(?:[= ][^\s\"'`\\-][^\s\"'`\\]*)?){0,4}"
    r" +(?:--body|-b)(?P<sign>[= ])(?P<gap> {0,3})"
)

_NETRC = re.compile(r"\b(?:machine\s+\S{1,128}|default)\s+login\s+\S{1,128}\s+$")
_BLANK = re.compile(r"(?P<gap>\s{0,4})(?P<sign>\s)(?=\S)")

_COMMANDS = (_SPACE, _BODY_FLAG, _BLANK)
"""Separators between name and value in commands, where no code is expected."""

_LIST_ITEM = re.compile(
    r"(?P<closed>\\{0,7}[\"'`])?[ \t]{0,8}(?P<sign>[:=])"
    r"(?P<gap>[ \t]{0,8})\[\s{0,8}"
    r"(?:\\{0,7}[\"']\[redacted: [a-z ]+\]\\{0,7}[\"'],\s{0,8})*(?=\\{0,7}[\"'])"
)

_XML = re.compile(
    r"(?:\\{0,7}[\"'])?(?: [^<>]{0,200})?>([^<>\s\"'`\\]{4,200})(?=<\\?/)"
)
_AFTER_TAG = re.compile(r"<\w[^<>\n]{0,20}>(?:[A-Za-z]\w* )?$|>$")
_IN_TAG = re.compile(r"<[^<>\n]{0,60}$")
_ELEMENT = re.compile(
    r"[:*]?(?:<\\?/[\w:]{1,20}>(?:\s|\\+n){0,20}){1,3}(?:<[a-zA-Z][^<>]{0,80}>("
    r"?:\s|\\+n){0,20}){1,3}"
    r"([^<>\s\"'`\\]{4,200})(?=<\\?/)"
)
"""The value in the element after that of its name, as in a table."""
_TYPOGRAPHIC = re.compile(
    r"[„“”«‹‚‘「『《][ \u00a0\u202f]?([^\s„“”«»‹›\"]{4,128})"
    r"[ \u00a0\u202f]?[“”»›‘’」』》«]"
)
_VALUE_OPENS = re.compile(r"[brfuBRFUN]{0,2}(\\{0,7})([\"'`])")

_DEPTHS = (0, 1, 3, 7)
"""Backslashes before a quote in JSON, in JSON within JSON, and so on."""

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

_PROSE = ("is", "(", ",", "|", "", " ", "next", "[", "pair", "==")
"""Separators after which only a value that looks generated is a secret."""

_FIELD = (
    r"[ ]?(?:[A-Za-z][a-z]{2,}+(?:[ _.-]?[A-Z]?[a-z]++){0,6}+(?:ID)?\d?|[A-Z_]{3,30})"
    r"[=:(]"
)
_NO_FIELD = rf"(?!&[a-z_]{{1,30}}=)[;&,|](?!{_FIELD})(?=\S)"
"""A sign that does not begin the next field."""

_DENSE = re.compile(
    rf"(?:[^\s\"'`\\;,&|]|{_NO_FIELD}|'(?![\s,;:)\]}}.+\"]|$)){{1,256}}"
)
_DENSE_QUOTES = re.compile(
    rf"(?:[^\s\"'`\\;,&|]|{_NO_FIELD}|[\"'`](?![\s,;:)\]}}.+]|$)"
    r"|\\(?![nrtu\"'\\])){1,256}"
)
"""An unquoted password with signs; the second may contain any quote."""

_JSON_START = re.compile(r"\s{0,64}[\[{\"]")
_SINGLE = re.compile(rf"([^'\n]{{0,{VALUE_CHARS}}})'")
_CELL_VALUE = re.compile(r"[^\s`]{1,4096}")
MAX_CELLS = 4
"""The number of cells of a row that are read for a secret."""
_TIGHT_CELL_VALUE = re.compile(r"[^\s`|]{1,4096}(?=\|)")

_OPENING = {")": "(", "]": "[", "}": "{"}

_NEXT_SETTING = re.compile(r";(?=[A-Za-z][\w ]{0,40}=)")
_BARE_VALUE = re.compile(
    rf"(?:[^\s\"'`\\;,<>|&]|&(?![\w.-]{{1,80}}=)){{1,{VALUE_CHARS}}}"
)

_WHOLE = re.compile(rf"[^\s\"'`\\]{{1,{VALUE_CHARS}}}")
_QUERY = re.compile(rf"[^\s\"'`\\&#;,<>|)\]}}]{{1,{VALUE_CHARS}}}")
_BLANK_LINE = re.compile(r"[ \t]*(?:\n|\\+n)")
_BLANK_END = re.compile(r"\s*\Z")

_NO_START = frozenset(",]}: \t")
"""A JSON string's end is followed by one of these; it does not open a value."""


@dataclass(frozen=True, slots=True)
class NamedValue:
    """The value of a name, and how it is written."""

    text: str
    start: int
    is_quoted: bool
    """True if it cannot be code."""
    sign: str
    is_tight: bool
    """True if there is no space between the sign and the value."""

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def value_of_name(text: str, start: int, end: int) -> NamedValue | None:
    """Return the value assigned to the name at a span; None if there is none."""
    before = text[max(0, start - _BEFORE_CHARS) : start]
    is_pair = before.endswith("/") or text[start:end].lower() in _PAIR_NAMES
    if is_pair and (pair := _LOGIN_PAIR.match(text, end)):
        return _read_value(text, start, end, pair, is_key=False)
    found = (
        _LIST_ITEM.match(text, end)
        or _BLOCK.match(text, end)
        or _NESTED.match(text, end)
    )
    if found := found or _ASSIGNS.match(text, end):
        is_key = bool(found["closed"]) and found["closed"][-1] != "`"
        value = _read_value(text, start, end, found, is_key=is_key)
        if value or is_key or not _BLANK_LINE.match(text, found.end()):
            return value
    if _IN_TAG.search(text, max(0, start - NAME_CHARS), start) and (
        tagged := _XML.match(text, end)
    ):
        return NamedValue(tagged[1], tagged.start(1), True, ">", True)
    if _AFTER_TAG.search(before) and (tagged := _ELEMENT.match(text, end)):
        return NamedValue(tagged[1], tagged.start(1), False, "|", True)
    is_cell = bool(_BEFORE_CELL.search(before))
    if is_cell and (cell := _CELL.match(text, end)):
        return _read_value(text, start, end, cell, is_key=False)
    found = (
        (_FLAG.match(text, end) if text[start] == "-" else None)
        or _match_spaced(text, start, end, before)
        or _CALL.match(text, end)
        or _VALUE_FIELD.match(text, end)
        or (_ARGUMENT.match(text, end) if before.endswith(("'", '"')) else None)
        or _IS.match(text, end)
        or _NEXT.match(text, end)
    )
    return _read_value(text, start, end, found, is_key=False) if found else None


def _match_spaced(text: str, start: int, end: int, before: str) -> re.Match[str] | None:
    """Match the separator where a command separates name and value by spaces."""
    if not text[end : end + 1].isspace():
        return None
    if _SET.search(text, max(0, start - NAME_CHARS), start):
        return _SPACE.match(text, end)
    if before.rstrip(" ").endswith("secret set"):
        return _BODY_FLAG.match(text, end)
    if text[start:end].lower() == "password":
        is_netrc = _NETRC.search(text, max(0, start - 300), start)
        return (_BLANK if is_netrc else _SQL).match(text, end)
    return None


def _read_value(
    text: str, start: int, end: int, found: re.Match[str], *, is_key: bool
) -> NamedValue | None:
    sign, at = found["sign"], found.end()
    if found.re in (_IS, _NEXT):
        is_login = _AFTER_LOGIN.search(text, max(0, start - NAME_CHARS), start) or (
            _LINE_START.search(text, max(0, start - _BEFORE_CHARS), start)
            and _LINE_REST.match(text, end)
        )
        sign = "is" if found.re is _IS or is_login else "next"
    elif found.re is _LOGIN_PAIR:
        sign = "pair"
    elif found.re is _ARGUMENT and _DEFINE.search(text, max(0, start - 20), start):
        sign = "="
    elif found.re is _LIST_ITEM and text[end - 1] not in "sS":
        sign = "["
    lead = text[end : found.start("sign")]
    is_tight = not found["gap"] and lead == lead.strip(" \t")
    if opened := _VALUE_OPENS.match(text, at):
        is_json = is_key and found["closed"] == f'{opened[1]}"'
        return _read_quoted(text, opened, sign, is_tight=is_tight, is_json=is_json)
    if is_key:
        return None
    if marked := _TYPOGRAPHIC.match(text, at):
        sign = "is" if sign == "next" else sign
        return NamedValue(marked[1], marked.start(1), True, sign, is_tight)
    if found.re is _CELL:
        cell = (_CELL_VALUE if found["gap"] else _TIGHT_CELL_VALUE).match(text, at)
        return NamedValue(cell[0], at, False, "|", True) if cell else None
    before = text[start - 1 : start]
    name = text[start:end]
    is_setting = found.re in _COMMANDS or (
        is_tight and sign == "=" and name.isupper() and before not in ("(", ",")
    )
    if before and before in "?&":
        shape = _QUERY
    else:
        shape = _WHOLE if is_setting else _BARE_VALUE
    dense = None
    if shape in (_WHOLE, _BARE_VALUE):
        dense = (_DENSE if _JSON_START.match(text) else _DENSE_QUOTES).match(text, at)
    bare = shape.match(text, at)
    value = bare[0] if bare else ""
    if dense and len(dense[0]) >= len(value.rstrip(",;)}].")) and is_noise(dense[0]):
        value = _without_closing(dense[0])
    elif shape is _BARE_VALUE:
        value = value.rstrip(",;)}].")
    else:
        value = _NEXT_SETTING.split(value, maxsplit=1)[0].rstrip(";)")
    is_compared = sign == "=" and value[:1] in ("=", "~")
    if not value or (is_compared and len(value) > LONG_CHARS):
        return None
    sign = "==" if is_compared else sign
    is_quoted = is_setting or shape is _QUERY
    return NamedValue(value, at, is_quoted, sign, is_tight)


def _without_closing(value: str) -> str:
    """Return a value without the brackets and punctuation of the text around it."""
    value = value.rstrip(",;.")
    while value and _OPENING.get(value[-1], value) not in value:
        value = value[:-1].rstrip(",;.")
    return value


def _read_quoted(
    text: str, opened: re.Match[str], sign: str, *, is_tight: bool, is_json: bool
) -> NamedValue | None:
    escape, quote = opened[1], opened[2]
    at = opened.end()
    is_doubtful = not escape and not is_json and text[at : at + 1] in _NO_START
    if len(escape) not in _DEPTHS:
        return None
    shape = _QUOTED.get(escape + quote)
    closed = shape.match(text, at) if shape else None
    if (
        not closed
        and opened[0].endswith("'")
        and not escape
        and not _JSON_START.match(text)
    ):
        closed = _SINGLE.match(text, at)
    if closed:
        value = closed[1]
    else:
        within = _WITHIN.match(text, at)
        value = within[0] if within else ""
        end = at + len(value)
        # JSON strings do not span lines: the text was cut off there.
        is_cut_in_json = is_json and text[end : end + 1] == "\n"
        is_cut = is_cut_in_json or _BLANK_END.match(text, end)
        if not is_cut and not text.startswith(escape + quote, end):
            return None
    if is_doubtful and (_JSON_START.match(text) or not is_noise(value)):
        return None
    return NamedValue(value, at, True, sign, is_tight)


def _check_name(text: str, start: int, end: int) -> Iterator[SecretSpan]:
    """Find the secret after a name; a span of kind "" is to be skipped."""
    if text[start - 1 : start] == "\\" and text[start] in "nrt":
        start += 1
    name = text[start:end].rstrip(".-")
    end = start + len(name)
    if name[-13:].lower() == "authorization":
        yield from _header(text, end)
        return
    kind, word = kind_of_name(name), name.lower()
    before = text[max(0, start - _BEFORE_CHARS) : start]
    if word == "key" and (lead := _LEAD_WORD.search(before)):
        kind = kind_of_name(f"{lead[1]} {name}")
    elif word == "pass" and (
        (name.isupper() and text[end : end + 1] == " ")
        or before.endswith("/")
        or _PASS_OPTION.search(before)
    ):
        kind = PASSWORD
    if name in FOLDERS:
        kind = "" if _LONG.match(text, end) else PASSWORD
    elif word in ("key", "auth") and before.endswith(("?", "&")):
        kind = TOKEN
    elif not kind and word == "key" and _PROSE_KEY.match(text, end):
        kind = KEY
    if not kind:
        return
    if before.endswith(" ") and (lead := _USED_BEFORE.search(before)):
        yield from _used_as(text, start - len(before) + lead.start())
    if text[end : end + 1] in _CSV_SIGNS or before[-1:] in _CSV_SIGNS:
        yield from _csv(text, start)
    yield from _check_value(text, start, end, kind)


def _check_value(text: str, start: int, end: int, kind: str) -> Iterator[SecretSpan]:
    """Find the secret of a kind that the name at a span has."""
    name = text[start:end]
    word, is_folder = name.lower(), name in FOLDERS
    value = value_of_name(text, start, end)
    if not value or value.text.lower() in word.replace("_", ""):
        return
    is_long = len(value.text) > LONG_CHARS and not value.is_quoted
    if value.text.startswith(text[start : value.start]) or (
        is_folder and (is_long or "/" in value.text or not is_chosen(value.text))
    ):
        # A folder, or "NAME=NAME=…".
        if is_long:
            yield value.start, value.end, ""
        return
    is_sql = (value.sign == "(" and name == "PASSWORD") or (
        value.sign == ""
        and (name.isupper() or _BEFORE_SQL.search(text, max(0, start - 80), start))
    )
    # A token of authorization may be a UUID, that of a session is an id.
    is_key = kind == TOKEN and ("auth" in word or (name.isupper() and "_" in name))
    judged = SECRET if is_key else kind
    after = text[value.end : value.end + 1]
    if (
        (is_sql and is_secret(judged, value.text, is_quoted=True))
        or _is_secret_value(judged, value, after)
        or (word == "pass" and is_mixed_password(value.text))
        or (name == "pass" and is_human(value.text))
        or _is_passphrase(name, kind, value)
    ):
        yield value.start, value.end, kind
        while joined := _JOINED.match(text, value.end):
            value = NamedValue(joined[1], joined.start(1), True, "+", True)
            yield value.start, value.end, kind
    elif value.sign == "|":
        for _ in range(MAX_CELLS):
            cell = _CELL.match(text, value.end)
            value = cell and _read_value(text, start, end, cell, is_key=False)
            if not value:
                return
            if _is_secret_value(judged, value, ""):
                yield value.start, value.end, kind
                return
    elif is_long:
        yield value.start, value.end, ""


_PROSE_KEY = re.compile(
    r" (?:for|to|of) (?:[a-z]{1,12} ){0,3}?(?:\w+ )?(?:is|was)"
    r":? `?[A-Za-z0-9_-]{24,}`?(?![\w-])",
    re.I,
)
_LONG = re.compile(rf"[^\s\"'`]{{{LONG_CHARS}}}")
_LEAD_WORD = re.compile(r"\b([A-Za-z]+) $")
_PASS_OPTION = re.compile(r"-pass(?:in|out|word)?[ =]?\\{0,7}[\"']?$")

_JOINED = re.compile(
    r"\\{0,7}[\"'][ \t]{0,20}(?:[+.][ \t]{0,20}|(?=\\?\n|\\+n))(?:(?:\\?\n|\\+n)"
    r"[^\n\"'A-Za-z]{0,40})?"
    r"\\{0,7}[\"']([A-Za-z0-9+/=_-]{4,256})(?=\\{0,7}[\"'])"
)
"""The rest of a string that is joined from several."""


def _is_secret_value(kind: str, value: NamedValue, after: str) -> bool:
    """Return whether the value of a name is a secret; ``after`` is what follows it."""
    secret = value.text
    if value.sign in _PROSE and not (value.sign == " " and value.is_quoted):
        secret = secret.rstrip(",;:.)")
        is_password = kind == PASSWORD or value.sign == "pair"
        is_doubtful = value.sign in ("next", "==") or (
            kind == SECRET and value.sign == "|"
        )
        if is_doubtful and not (is_random(secret) or is_noise(secret)):
            if not is_password or value.sign != "next":
                return False
            is_beside = value.is_tight and is_human(secret)
            return is_beside or is_mixed_password(secret) or has_sign_and_number(secret)
        if kind in (KEY, SECRET) and has_uuid(secret):
            return True
        return (is_chosen if is_password else is_generated)(secret)
    if is_secret(kind, secret, is_quoted=value.is_quoted):
        return True
    if is_noise(secret) and is_generated(secret):
        return True
    if kind != PASSWORD:
        return has_sign(secret) and is_generated(secret)
    if is_code(secret) or not is_secret(kind, secret, is_quoted=True):
        return False
    if is_random(secret):
        return True
    if value.sign == "=" and not value.is_tight:
        return not secret.isalnum() and is_generated(secret)
    has_digit = any(map(str.isdigit, secret)) and any(map(str.isalpha, secret))
    return has_digit and after not in (",", ")", ".", "(", "[")


def _is_passphrase(name: str, kind: str, value: NamedValue) -> bool:
    """Return whether a value is a password of several words, as in a setting."""
    return (
        kind == PASSWORD
        and (name.isupper() or name.startswith("--"))
        and value.is_quoted
        and value.is_tight
        and value.sign == "="
        and " " in value.text.strip()
        and _no_template(value.text)
    )


# Headers, cookies, URLs and commands.

_HEADER = re.compile(
    rf"(?:{_QUOTE})?\]?[ \t]{{0,4}}[:=,][ \t]{{0,4}}[bf]?(?:{_QUOTE})?"
    r"(?:(Bearer|Basic|Token|ApiKey|Digest|Bot|Key|Negotiate|GenieKey)[ ]{1,4})?"
    r"([A-Za-z0-9._~+/][A-Za-z0-9._~+/=:-]{5,})",
    re.IGNORECASE,
)

_COOKIE_NAME = re.compile(
    rf"cookie(?:{_QUOTE})?[ \t]{{0,4}}[:= ][ \t]{{0,4}}(?:{_QUOTE})?", re.IGNORECASE
)
_COOKIES = re.compile(r"(?:[\w.-]{1,80}=[^;\s\"'`\\]{0,4096};?[ ]?){1,60}")
_COOKIE = re.compile(r"([\w.-]{1,80})=([^;\s\"'`\\]{8,})")

_SESSION = re.compile(
    r"sess|sid$|token|auth|jwt|csrf|xsrf|login|remember|ident", re.IGNORECASE
)

_LOGIN = re.compile(r"([^\s/@:\"'`\\<>?#(){}]{0,128}):([^\s/@\"'`\\<>]{1,256})@")
_LONE_LOGIN = re.compile(r"([A-Za-z0-9_.~-]{16,256})@")

_WEBHOOK = re.compile(
    r"://(?:hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)"
    r"|(?:\w+\.)?discord(?:app)?\.com/api/(?:v\d+/)?webhooks"
    r"|[\w.-]+\.webhook\.office\.com/webhookb2)/([A-Za-z0-9_@/-]{20,})"
)

_CURL_COOKIE = re.compile(rf"curl\b[^\n|;]{{0,400}}? (?:-b|--cookie)[ =]?{_OPENS}")

_PORTS = re.compile(r"\d+(?::\d+)*$")
_OPENED = re.compile(_OPENS)
_QUOTED_VALUE = re.compile(r"([^\"'`\\\n]{2,255})(?=\\{0,7}[\"'`])")
_WORD = re.compile(r"[^\s\"'`\\|;&<>,\]}][^\s\"'`\\|;&<>]{1,255}")


def _header(text: str, at: int) -> Iterator[SecretSpan]:
    header = _HEADER.match(text, at)
    if not header or is_placeholder(header[2]):
        return
    scheme, value = (header[1] or "").lower(), header[2]
    if scheme == "basic":
        if is_basic_login(value):
            yield *header.span(2), "basic auth"
    elif is_random(value) or (scheme and any(map(str.isdigit, value))):
        yield (
            *header.span(2),
            f"{scheme or 'authorization'} token".replace("token token", "token"),
        )


def _cookie(text: str, at: int) -> Iterator[SecretSpan]:
    lead = _COOKIE_NAME.match(text, at) or _CURL_COOKIE.match(text, at)
    line = _COOKIES.match(text, lead.end()) if lead else None
    if not line:
        return
    yield *line.span(), ""
    for cookie in _COOKIE.finditer(text, *line.span()):
        name, value = cookie[1], cookie[2]
        if is_placeholder(value) or is_code(value):
            continue
        if is_random(value) or (_SESSION.search(name) and any(map(str.isdigit, value))):
            yield *cookie.span(2), "cookie"


def _url(text: str, at: int) -> Iterator[SecretSpan]:
    if login := _LOGIN.match(text, at + 3):
        # A host and port before an @ is no login.
        is_host = login[1] == "localhost" or "." in login[1]
        is_port = is_host and re.fullmatch(r"\d{2,5}", login[2])
        if not (is_port or login[2] == "password" or is_template(login[2])):
            yield *login.span(2), PASSWORD
    elif lone := _LONE_LOGIN.match(text, at + 3):
        if is_random(lone[1]):
            yield *lone.span(1), "token"
    elif (found := _WEBHOOK.match(text, at)) and not is_placeholder(found[1]):
        last = found[1].rstrip("/").rpartition("/")[2]
        if len(last) >= 16 and len(set(last)) >= 8:
            yield *found.span(1), "webhook"


def _command_value(text: str, at: int, opened: str = "") -> Iterator[SecretSpan]:
    """Find the password that a command has as an argument.

    Args:
        opened: The quote before it, if that was read.
    """
    if not opened and (found := _OPENED.match(text, at)):
        opened, at = found[0], found.end()
    value = (_QUOTED_VALUE if opened else _WORD).match(text, at)
    if not value or is_template(value[0]) or _PORTS.match(value[0]):
        return
    if opened or not value[0].startswith("-") or is_generated(value[0]):
        yield *value.span(), PASSWORD


def _command(pattern: str) -> Rule:
    """Make a rule of a pattern for all of a command before the password; its group is
    the quote before it, if that was read."""
    compiled = re.compile(pattern.replace(" *", r"(?: [^|;&\n]{0,200}?)??"))

    def rule(text: str, at: int) -> Iterator[SecretSpan]:
        if found := compiled.match(text, at):
            opened = found[1] if compiled.groups else ""
            yield from _command_value(text, found.end(), opened)

    return rule


_CURL = (
    rf"curl\b[^\n|;]{{0,400}}? (?:-u|--user)[ =]?({_OPENS})"
    r"[^\s:\"'`\\$,\]}]{1,128}:"
)
_SMB = rf"smb[a-z]+ * (?:-U|--user)[ =]?({_OPENS})[^\s%\"'`\\$]{{1,128}}%"
_FLAGS = r"(?: -[A-Za-z]{1,6}(?: \d{1,3})?){1,4}"
_HTPASSWD = (
    r"htpasswd(?=(?: -\w+| \d+){0,4}? -\w*b)"
    rf"(?:(?=(?: -\w+| \d+){{0,4}}? -\w*n){_FLAGS}|{_FLAGS} [^\s|;&<>-]{{1,255}})"
    r" [^\s|;&<>]{1,255} "
)

_IDENTIFIED = re.compile(
    r"identified (?:with \w{1,40} )?(?:by|as) (?:password )?"
    r"\\{0,7}['\"]([^'\"\\\n]{4,256})(?=\\{0,7}['\"])",
    re.IGNORECASE,
)
_IDENTIFIED_BY = r"identified by ([^\s\"'\\;]{6,128})"
_BEFORE_IDENTIFIED = re.compile(r"(?:['\"`%)]|\b(?:user|role|to)\b[^\n]{1,80}) $", re.I)


def _identified(text: str, at: int) -> Iterator[SecretSpan]:
    """Find the password of a user in SQL; prose has "identified by", too."""
    clause = _IDENTIFIED.match(text, at)
    if not clause or is_template(clause[1]) or is_placeholder(clause[1]):
        return
    is_sql = clause[0][:10].isupper() or any(map(str.isdigit, clause[1]))
    if is_sql or _BEFORE_IDENTIFIED.search(text, max(0, at - 100), at):
        yield *clause.span(1), PASSWORD


_LITERAL = re.compile(
    rf"(?<=[(,\[ ])(?:[\w.:]{{1,24}}\(|\[\]byte\(|[brufN@&*])?({_QUOTE})"
    r"([^\"'\\\n]{1,256})(?=\\{0,7}[\"'`])"
)
_CALL_START = re.compile(r"[\w.:]{0,40}\(|[\w.:]{0,20}=[({]| [\w, ]{0,40}(?=[\"'])")
CALL_CHARS = 400
"""Only this much of a call is searched for passwords."""


def _literals(text: str, at: int) -> Iterator[re.Match[str]]:
    call = _CALL_START.match(text, at)
    if call:
        line = text.find("\n", at, at + CALL_CHARS)
        end = line if line >= 0 else at + CALL_CHARS
        yield from _LITERAL.finditer(text, call.end() - 1, end)


def _login_call(text: str, at: int) -> Iterator[SecretSpan]:
    """Find the password among the arguments of a call that logs in; the first is a
    name."""
    for number, literal in enumerate(_literals(text, at)):
        value = literal[2]
        is_second = number or text[literal.start() - 1] != "("
        is_place = re.search("[:/]", value) and not is_noise(value)
        if is_second and is_generated(value) and not is_place:
            yield *literal.span(2), PASSWORD


def _key_call(text: str, at: int) -> Iterator[SecretSpan]:
    """Find the key among the arguments of a call that signs or encrypts."""
    for literal in _literals(text, at):
        value = literal[2]
        if (is_random(value) or is_noise(value)) and not is_placeholder(value):
            yield *literal.span(2), KEY


def _user_password(text: str, at: int) -> Iterator[SecretSpan]:
    """Find the password in an option ``--user=ada:password`` of any command."""
    option = _USER_OPTION.match(text, at)
    if option and is_chosen(option[2]):
        yield *option.span(2), PASSWORD


_USER_OPTION = re.compile(
    r"(?: -u| -a| --?user(?:name)?| --auth| --creds?|stats auth)[ =]"
    rf"({_OPENS})[\w.@-]{{1,64}}[:,%/]([^\s\"'`\\|&;]{{6,128}})"
)


_LOGIN_COLON = r"login: [\w.@-]{1,64} ?/ ?([^\s\"'`\\]{6,128})"
_LOGIN_WITH = (
    r"in (?:with|as) (?:user )?[`\"']?[^\s/:`\"']{1,64}[`\"']?(?: / |/|:| with )"
    r"(?:(?:the |password )*)[`\"']?([^\s`\"'\\]{7,127}[^\s`\"'\\,;.)])"
)

_USED_AS = re.compile(
    r" (?:as|is) (?:(?:the|a|my|your|our|their|its|his|her|new) )?(?:(?!pub|prim)"
    r"[\w-]{1,16} ){0,3}?"
    r"(?:pass(?:word|wd|phrase|code)?|secret|token|key|pin)s?(?![\w-])",
    re.IGNORECASE,
)
_USED_BEFORE = re.compile(r" (?:as|is) (?:[\w-]{1,16} ){0,3}$", re.IGNORECASE)
_USED = re.compile(r"(?<![^\s„“«(])[`\"']?([^\s`\"'\\“”«»]{8,128})\\{0,7}[`\"'”»]?$")


def _used_as(text: str, at: int) -> Iterator[SecretSpan]:
    """Find the password in "use X as the password" and "X is the password"."""
    if not _USED_AS.match(text, at):
        return
    used = _USED.search(text, max(0, at - LONG_CHARS), at)
    if not used:
        return
    is_quoted = used.start(1) > used.start()
    if (is_chosen if is_quoted else is_evident)(used[1]):
        yield *used.span(1), PASSWORD


# Passwords that are told by their signs, in the same line as a word for a password.

NEAR_BEFORE, NEAR_AFTER = 90, 110

_CANDIDATE = re.compile(
    r"(?<![^\s\"'`„“«‹(])(?![\"'`])(?=[^\s\d]{0,32}+\d)"
    r"(?=[^\s!#$%&*<>?@^{|}~\[\]();]{0,32}+[!#$%&*<>?@^{|}~\[\]();])\S{10}"
)
_LOGIN_BEFORE = re.compile(r"(?:-[a-zA-Z]|/[a-z]{1,12}:|[\w.@-]{1,40}[:/=%])(?=\S{8})")


_NEAR_WORDS = (
    b"login", b"auth", b"zugangsdaten",
    b"connect", b"dbi", b"jdbc", b"basic", b"sasl",
    b"newinstance", b"getconnection", b"pdo",
    b"mysqli", b"wachtwoord", b"senha", b"signin",
    b"contrase", b"contrase?a", b"clave", b"identifiants",
    b"p", b"kennwort", 
    b"bearer",
)  # fmt: skip
"""Words beside which passwords stand, and options of commands."""


def find_nearby(
    text: str, lowered: bytes, words: frozenset[bytes], places: list[int]
) -> Iterator[SecretSpan]:
    """Find generated passwords with signs near words for passwords and names of
    secrets."""
    for word in _NEAR.among(words):
        places += _find_all(lowered, b" -p" if word == b"p" else word)
    places.sort()
    shape = _DENSE if _JSON_START.match(text) else _DENSE_QUOTES
    past = 0
    for at in places:
        if at + NEAR_AFTER // 2 < past:
            continue
        start = max(text.rfind("\n", past, at) + 1, at - NEAR_BEFORE, past)
        end = min(at + NEAR_AFTER, len(text))
        past = end
        for found in _CANDIDATE.finditer(text, start, end):
            first = found.start()
            if not (dense := shape.match(text, first)):
                continue
            value = _without_closing(dense[0])
            lead = _LOGIN_BEFORE.match(value)
            if lead and is_unlike_code(value[lead.end() :]):
                first, value = first + lead.end(), value[lead.end() :]
            if is_unlike_code(value):
                yield first, first + len(value), PASSWORD
                past = max(past, first + len(value))


def _find_all(lowered: bytes, word: bytes) -> Iterator[int]:
    at = lowered.find(word)
    while at >= 0:
        yield at
        at = lowered.find(word, at + len(word))


# Markdown tables with a column of secrets.

_RULE_ROW = re.compile(r"[ \t]*[|+]?[ \t]*:?-[|:+ \t-]*")
_HEADING = re.compile(r"(?:(?<=\\)n)?([^\n\\\"]{1,512})(?:\r?\n|\\++n)$")
_ROW = re.compile(r"(?:\r?\n|\\++n)([^\n\\|]{0,2000}\|[^\n\\]{0,2000})")
_COLUMN = re.compile(r"[^|]+")
MAX_ROWS = 200


def _table(text: str, at: int) -> Iterator[SecretSpan]:
    """Find the secrets in the columns that a heading names, from the row of dashes."""
    start = max(text.rfind(sign, max(0, at - LONG_CHARS), at) for sign in "\nn") + 1
    row = _RULE_ROW.match(text, start)
    if not row or row.end() <= at:
        return
    heading = _HEADING.search(text, max(0, start - LONG_CHARS), start)
    names = _COLUMN.findall(heading[1]) if heading else []
    kinds = [kind_of_name(name.strip(" \t*`_")) for name in names]
    end = row.end()
    for _ in range(MAX_ROWS if any(kinds) else 0):
        row = _ROW.match(text, end)
        if not row:
            break
        end = row.end()
        cells = _COLUMN.finditer(text, row.start(1), end)
        for kind, cell in zip(kinds, cells, strict=False):
            value = cell[0].strip(" \t*`")
            if kind and " " not in value and is_chosen(value):
                first = cell.start() + cell[0].index(value)
                yield first, first + len(value), kind
    yield at, end, ""


_CSV_START = re.compile(r"\n|\\+n|[\"'](?=\w+[,;\t]\w)")
MAX_CSV_ROWS = 20
_CSV_SIGNS = frozenset(",;\t")
_CSV_NAME = r"[\"']?[\w .-]{1,40}[\"']?"
_CSV_HEADING = re.compile(
    rf"{_CSV_NAME}(?:([,;\t]|\\t){_CSV_NAME})(?:\1{_CSV_NAME}){{0,30}}(?=\r?\n|\\+[rn])"
)
_CSV_ROW = re.compile(r"(?:\r?\n|\\+n)([^\n\\]{1,2000}(?:\\t[^\n\\]{0,2000}){0,30})")


def _csv(text: str, at: int) -> Iterator[SecretSpan]:
    """Find the secrets in the columns that the first row of a CSV file names."""
    low = max(0, at - LONG_CHARS)
    starts = (found.end() for found in _CSV_START.finditer(text, low, at))
    start = max(starts, default=low)
    heading = _CSV_HEADING.match(text, start)
    if not heading or heading.end() <= at or heading[1] is None:
        return
    sign, end = heading[1], heading.end()
    kinds = [kind_of_name(name.strip(" \"'")) for name in heading[0].split(sign)]
    for _ in range(MAX_CSV_ROWS if any(kinds) else 0):
        row = _CSV_ROW.match(text, end)
        if not row:
            break
        end, first = row.end(), row.start(1)
        for kind, cell in zip(kinds, row[1].split(sign), strict=False):
            value = cell.strip(" \"'")
            if kind and is_chosen(value):
                place = first + cell.index(value)
                yield place, place + len(value), kind
            first += len(cell) + len(sign)


_INSERT = re.compile(
    r"insert into [^\s(]{1,128} ?\(([^()\n]{1,512})\)\s{1,8}values\s{0,8}\(([^()"
    r"\n]{1,2048})\)",
    re.IGNORECASE,
)
_SQL_VALUE = re.compile(r"\s*(?:N?\\{0,7}'([^'\\]*)\\{0,7}'|[^,']+)(?:,|$)")


def _insert(text: str, at: int) -> Iterator[SecretSpan]:
    """Find the secrets that SQL inserts into columns named so."""
    if not (insert := _INSERT.match(text, at)):
        return
    names = insert[1].split(",")
    values = _SQL_VALUE.finditer(text, *insert.span(2))
    for name, value in zip(names, values, strict=False):
        kind = kind_of_name(name.strip(' `"[]\\'))
        if kind and value[1] and is_chosen(value[1]):
            yield *value.span(1), kind


# Private keys and seed phrases.

KEY_BLOCK_CHARS = 32_768
"""Only this much of a key block is searched for its end."""

_FOREIGN_PASSWORD = re.compile(
    r"mot de passe|contrase(?:ñ|n|\\+u00f1)a|senhas?|palavra-passe|wachtwoord|"
    r"zugangsdaten"
    r"|anmeldedaten|inloggegevens|identifiants|credenziali|credencia(?:le|i)s|пароль"
    r"|has(?:ł|\\+u0142)o|heslo|l(?:ö|\\+u00f6)senord|adgangskode|passord|salasana"
    r"|(?:ş|\\+u015f)ifre|密码|密碼|パスワード|비밀번호",
    re.IGNORECASE,
)
_PARTICLE = re.compile(
    r"(?:密[码碼钥鑰]|パスワード|비밀번호)[是为為はが는은:： ]{1,3}([!-~]{6,128})"
)
_FOREIGN_KEY = re.compile(
    r"(?:(?:api|geheim|zugriffs)[ -]?)?schl(?:ü|ue|\\+u00fc)ssel"
    r"|(?:cl(?:é|e|\\+u00e9)|clave|chiave|chave)s?(?: (?:(?:secr|segr)\S{1,10}a|"
    r"secr\S{1,10}te"
    r"|priv\S{1,8}|d['’]\w{3,5}|(?:de )?api|de acceso))?|geheimnis|jeton|segreto|"
    r"segredo"
    r"|secreto|api-sleutel|ключ|токен|секрет|密钥|密鑰",
    re.IGNORECASE,
)


_FOREIGN_ANCHORS = {
    b"mot": b"mot de passe", b"contrase": b"contrase", b"contrase?a": b"contrase",
    b"contrasena": b"contrase", b"palavra": b"palavra-passe", b"cl": b"cl\\",
    b"schl": b"schl", b"has?o": b"has?o", b"?ifre": b"?ifre",
    b"l?senord": b"l?senord", b"sleutel": b"api-sleutel",
} | {
    word: word
    for word in (
        b"senha", b"senhas", b"wachtwoord", b"zugangsdaten", b"anmeldedaten",
        b"inloggegevens", b"identifiants", b"heslo", b"adgangskode", b"passord",
        b"salasana", b"schl?ssel", b"schluessel", b"geheimschl?ssel",
        b"zugriffsschl?ssel", b"zugangsschl?ssel", b"cl?", b"cl?s", b"clave", b"claves",
        b"chiave", b"chave", b"geheimnis", b"jeton", b"segreto", b"segredo", b"secreto",
    )
}  # fmt: skip
"""Byte strings at which passwords and keys are named, by a word of the text."""
_FOREIGN_RUNS = frozenset(b"?" * chars for chars in range(2, 40))
"""Words of letters beyond ASCII, see ``_WORD_TABLE``."""

_OTHER_SCRIPTS = (
    "пароль", "Пароль", "ключ", "Ключ", "токен", "Токен", "секрет", "密码", "密碼",
    "密钥", "密鑰", "パスワード", "비밀번호",
)  # fmt: skip


def _foreign_name(text: str, at: int) -> Iterator[SecretSpan]:
    """Find the secret after a word for a password or key in another language."""
    for kind, pattern in ((PASSWORD, _FOREIGN_PASSWORD), (KEY, _FOREIGN_KEY)):
        if found := _PARTICLE.match(text, at):
            if kind == PASSWORD and is_generated(found[1]):
                yield *found.span(1), kind
        elif name := pattern.match(text, at):
            yield from _check_value(text, at, name.end(), kind)


_PRIVATE_KEY = re.compile(r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_KEY_END = re.compile(r"-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_KEY_BODY = re.compile(r"(?:[^\"'`{}<\\]|\\++(?:[nrt]|u[0-9a-f]{4}))*")

_LINE_LEAD = (
    r"(?:[ \t]*(?:[\w./-]{1,80}:)?\d{1,6}(?:[→\t:|]|\\++(?:t|u2192)))?[ \t>+|-]{0,12}"
)
"""The prefix of a line in the output of tools: its number, its file, the sign of a
change."""

_QUOTE_JOINT = r"(?:\\++n)?\\*[\"'][ \t]*[+.,&\\]?[ \t]*"
"""The end of a string that the next one is joined to."""

_KEY_LINES = re.compile(
    rf"(?:(?:(?:{_QUOTE_JOINT})?[ \t]*(?:\r?\n|\\++[nr]))+(?:{_LINE_LEAD}){{1,2}}"
    r"(?:\\*[\"'])?"
    r"(?:(?:Proc-Type|DEK-Info|Version|Comment|Charset)[^\n\\\"']{0,100}"
    r"|[A-Za-z0-9+/]{1,256}={0,2}(?![^\s\\\"'`…])))+"
)

_KEY_END_LINE = re.compile(
    rf"(?:(?:{_QUOTE_JOINT})?[ \t]*(?:\r?\n|\\++[nr]))+(?:{_LINE_LEAD}){{1,2}}"
    r"(?:\\*[\"'])?-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"
)

_LINE_END = re.compile(r"(?:\r?\n|\\++[nr])+")
_KEY_LINE = re.compile(rf"(?:{_LINE_LEAD}){{1,2}}[A-Za-z0-9+/]{{16,256}}={{0,2}}[ \t]*")

_KEY_IN_A_LINE = re.compile(
    r"(?:[ \t]+(?:Proc-Type|DEK-Info): \S{1,60})*"
    r"(?:(?:\s|\\++[nrt])*(?:\d{1,6}[→\t:| ][ \t]*)?[+>|-]?[ \t]{0,4}"
    r"[A-Za-z0-9+/]{24,}+={0,2})+"
    r"(?:[ \t]+(?:\d{1,6} )?[A-Za-z0-9+/]{1,23}={0,2}(?=…|\s*(?:$|-----|[\"'`\\])))?"
)
"""A key whose lines were joined, or that was cut; words of prose are shorter."""

_KEY_TEXT = re.compile(r"[A-Za-z0-9+/]{16}")


def _key_block(text: str, at: int) -> Iterator[SecretSpan]:
    begin = _PRIVATE_KEY.match(text, at)
    if not begin:
        return
    limit = text.find("-----BEGIN", begin.end(), at + KEY_BLOCK_CHARS)
    limit = limit if limit >= 0 else at + KEY_BLOCK_CHARS
    closing = text.find("-----END", begin.end(), limit)
    if closing >= 0 and (end := _KEY_END.match(text, closing)):
        body = _KEY_BODY.fullmatch(text, begin.end(), closing)
        if body and _KEY_TEXT.search(body[0]):
            yield at, end.end(), "private key"
            return
    lines = _KEY_LINES.match(text, begin.end(), limit)
    if not lines or not _KEY_TEXT.search(lines[0]):
        lines = _KEY_IN_A_LINE.match(text, begin.end(), limit)
    if lines:
        ended = _KEY_END_LINE.match(text, lines.end())
        yield at, (ended or lines).end(), "private key"


def _key_end(text: str, at: int) -> Iterator[SecretSpan]:
    """Find the lines of a key that was cut off at its start."""
    end = _KEY_END.match(text, at)
    if not end:
        return
    start = max(0, at - KEY_BLOCK_CHARS, text.rfind("-----", 0, at) + 1)
    ends = list(_LINE_END.finditer(text, start, at))
    first = at
    for number in reversed(range(len(ends))):
        line_start = ends[number - 1].end() if number else start
        quote = text.rfind('"', line_start, ends[number].start())
        line_start = quote + 1 if quote >= 0 else line_start
        if not _KEY_LINE.fullmatch(text, line_start, ends[number].start()):
            break
        first = line_start
        if quote >= 0:
            break
    if first < at:
        yield first, end.end(), "private key"


_SEED_WORDS = re.compile(
    r"(?:(?:\d{1,2}[.:)] ?)?[a-z]{3,8}(?![A-Za-z])(?:,? |\\n|\n)?+){1,26}+"
)
_NO_SEED = re.compile(
    r"\b(?:the|and|for|with|from|your|you|are|not|was|were|has|have|had|but|its|"
    r"our|these"
    r"|those|words|which|into|been|his|her|she|him|them|than|when|where|who|how)\b"
)
_SEED_NAME = re.compile(
    r"(?:seed|mnemonic|wallet|phrase|(?<=(?:12|24) )word)s?(?![A-Za-z])", re.IGNORECASE
)
SEED_REACH, SEED_CHARS = 40, 400
"""A seed phrase begins within this many characters of its name, and is this long."""
MIN_SEED_WORDS, MIN_DISTINCT_WORDS = 10, 7


def _seed(text: str, at: int) -> Iterator[SecretSpan]:
    name = _SEED_NAME.match(text, at)
    if not name:
        return
    for run in _SEED_WORDS.finditer(text, name.end(), name.end() + SEED_CHARS):
        if run.start() > name.end() + SEED_REACH:
            return
        words = re.findall("[a-z]+", run[0])
        if len(words) < MIN_SEED_WORDS:
            continue
        if len(set(words)) >= MIN_DISTINCT_WORDS and not _NO_SEED.search(run[0]):
            yield run.start(), run.start() + len(run[0].rstrip()), "seed phrase"
        else:
            yield run.start(), run.end(), ""


def _no_template(value: str) -> bool:
    return not is_template(value) and not is_placeholder(value)


def _no_word(value: str) -> bool:
    return _no_template(value) and not value.isalpha()


def _is_random(value: str) -> bool:
    return is_random(value) and not is_placeholder(value)


def _pattern(
    kind: str, pattern: str, is_value: Callable[[str], bool] = _no_template
) -> Rule:
    """Make a rule of a pattern whose last group is the secret."""
    compiled = re.compile(pattern, re.IGNORECASE)

    def rule(text: str, at: int) -> Iterator[SecretSpan]:
        found = compiled.match(text, at)
        if found and is_value(found[found.lastindex or 0]):
            yield *found.span(found.lastindex or 0), kind

    return rule


_BEARER = r"bearer[ \t]{1,4}([A-Za-z0-9._~+/=-]{16,})"
_SIGNED = r"=([A-Za-z0-9%+/_-]{20,2048}={0,2})"
_PGPASS = (
    r"(?<=[\w.*-]):(?:543\d|\*):[\w*.-]{1,64}:[\w*.@-]{1,64}"
    r":([^\s\"'\\:][^\s\"'\\]{3,255}+)(?=\s|$|\\+[rn]|\\*\")"
)
_NET_PASSWORD = r"(?![*/%])([^\s\"'\\]{4,128})"
_NET_USE = (
    rf"net use (?:[^\n|&\s]{{1,40}} +)?\\\S{{1,128}} +{_NET_PASSWORD} +/user:"
    rf"|net use [^\n|&]{{0,200}}?/user:[^\s\"']{{1,100}} +{_NET_PASSWORD}"
)
_ECHO = (
    rf"(?:echo|printf) +(?:-n +)?(?:{_QUOTE})?"
    r"(?:[\w.-]{1,64}:(?=[^\n]{1,128}chpasswd))?"
    rf"([^\n\"'|]{{3,127}}?[^\s\"'|\\])(?:{_QUOTE})? *\| *"
    r"(?:(?:sudo +)?chpasswd|[^|\n;]{1,160}?(?:-stdin|--with-token)(?!\w)|"
    r"sudo -S|kinit\b|openssl|gpg\b)"
)
_REQUIREPASS = r"requirepass[ \t]+[\"']?([^\s\"'\\]{4,256})"
_SECURE_STRING = rf"-securestring +(?:-\w+ +){{0,3}}{_QUOTE}([^\"'`\\\n]{{2,255}})"
_JOINT = r"(?:[ \t]*(?:\r?\n|\\++[nr])[ \t>+|-]{0,4}|[ \t]+)"
_KEY_PART = r"[A-Za-z0-9+/]{16,}={0,2}"
_PUTTY = rf"private-lines: \d{{1,4}}{_JOINT}({_KEY_PART}(?:{_JOINT}{_KEY_PART})*)"
_HASH = (
    r"(?<=[\w.@-]:)\$(?:apr1|1|5|6|7|y|gy|2[abxy])\$[./A-Z0-9$=,]{16,128}"
    r"(?=[\s:\"'\\]|$)|\$(?:2[abxy]\$\d\d\$[./A-Z0-9]{53}"
    r"|argon2(?:id|i|d)\$[\w=,$+/.-]{40,256}"
    r"|[56]\$(?:rounds=\d+\$)?[./A-Z0-9]{1,16}\$[./A-Z0-9]{43,86})(?![./A-Z0-9])"
)
_TERRAFORM = r"(?<=[A-Za-z0-9]{14})\.atlasv1\.[A-Za-z0-9_-]{60,70}"
_OPENSHIFT = r"sha256~[\w-]{43}(?![A-Za-z0-9])"

_ECHOED = tuple((name, _pattern(PASSWORD, _ECHO)) for name in (b"echo ", b"printf "))


def _has_nul(value: str) -> bool:
    """Return whether a value is the base64 of a name and password for SASL."""
    try:
        login = base64.b64decode(value + "=" * (-len(value) % 4))
    except ValueError:
        return False
    return login.count(b"\0") == 2


def _has_both(value: str) -> bool:
    """Return whether a value contains letters and digits."""
    return (
        any(map(str.isdigit, value))
        and any(map(str.isalpha, value))
        and _no_template(value)
        and not is_placeholder(value)
    )


_ARGUMENT_VALUE = r"[\"']?([^\s\"'`\\|;&<>]{6,128})"
_ROUTER = (
    r"(?:secret|password|key(?:-string)?|md5|community) [05789] ([^\s\"'\\]{6,128})"
)
_NAMED_LOGIN = rf"(?:auth|user|login) [\w.@-]{{1,64}} {_ARGUMENT_VALUE}(?=\s|$|\\)"
_COMMUNITY = r"community ([^\s\"'\\]{6,64}) (?:ro|rw)\b"
_ISAKMP = r"isakmp key (?:\d )?([^\s\"'\\]{6,128}) (?:address|hostname)"
_NET_USER = rf"net user [\w.-]{{1,64}} {_ARGUMENT_VALUE}(?= |$|\n|\\)"
_RABBIT = rf"(?:_user|change_password) [\w.-]{{1,64}} {_ARGUMENT_VALUE}"
_HTTP_BASIC = rf"http-basic\.[\w.-]{{1,64}} [\w.@-]{{1,64}} {_ARGUMENT_VALUE}"
_KUBEADM = r"token[ =]([a-z0-9]{6}\.[a-z0-9]{16})(?!\w)"
_SASL = r"plain(?:\\{0,7}[\"']>| )([A-Za-z0-9+/]{12,256}={0,2})"
_SASL_LINE = (
    r"334 ugfzc3dvcmq6?(?:\r?\n|\\+[rn]|\s)+(?:[cs<>]+:? ?)?("
    r"[A-Za-z0-9+/]{6,256}={0,2})"
)
_IMAP = rf"(?<=\d )login [^\s]{{1,128}} {_ARGUMENT_VALUE}"
_SERVICE = (
    rf"(?:(?<![^\n>:] )(?<![\w.-])auth|identify|oper) (?:[\w.-]{{1,64}} )"
    rf"?{_ARGUMENT_VALUE}"
)
_PSK = rf"(?:psk|eap|xauth|ntlm)[ \t]+{_QUOTE}([^\"'\\\n]{{6,128}})"
_CHAP = (
    rf"secrets?\b[^\"\\*]{{0,80}}?{_QUOTE}?[\w.@-]{{1,64}}{_QUOTE}?[ \t]+"
    rf"\S{{1,64}}[ \t]+{_ARGUMENT_VALUE}(?={_QUOTE}?[ \t]+\*)"
)
_RELAY = r":(?:25|465|587)[ \t]+[^\s:]{1,128}:([^\s\"'\\]{6,128})"
_ACL = r">([^\s\"'\\]{6,128})(?= [~+&])"
_TOTP = r"oathtool[^\n|;]{0,80}? [\"']?([a-z2-7]{16,64}|[0-9a-f]{20,128})(?![\w.])"
_BASE32 = (
    r"(?:key|secret|code)(?: is)?[: ]{1,3}((?:[a-z2-7]{4}[ -]){3,15}[a-z2-7]{4})(?!\w)"
)
_JWK = rf"(?:d|k|p|q|dp|dq|qi){_QUOTE}:\s?{_QUOTE}([A-Za-z0-9_-]{{20,1024}})(?=\\*\")"
_WIF = r"privkey\S{0,20}\W{1,4}([5KLc9][1-9A-HJ-NP-Za-km-z]{50,51})(?!\w)"
_APP_ID = r"(?<=[?&])appid=([0-9a-f]{32})(?!\w)"
_SESSION_COOKIE = (
    r"(?:sess(?:ion)?(?:_?id)?|\.sid)=(?:s%3A)?([A-Za-z0-9%._~+/-]{20,2048})"
)
_SENT = rf"send(?:line)?[ (]+(?:--? )?{_QUOTE}([^\"'\\\n]{{6,128}})"
_EXPECTED = re.compile(
    r"(?:password|passwort|passphrase)[^\n]{0,40}(?:\n|\\+n)[^\n]{0,20}$", re.I
)


def _sent(text: str, at: int) -> Iterator[SecretSpan]:
    """Find what a script sends when it is asked for a password."""
    if _EXPECTED.search(text, max(0, at - NAME_CHARS), at):
        yield from _SENT_RULE(text, at)


_SENT_RULE = _pattern(PASSWORD, _SENT, _has_both)
_JWK_RULE = _pattern(KEY, _JWK, _is_random)
JWK_CHARS = 4096


def _jwk(text: str, at: int) -> Iterator[SecretSpan]:
    """Find the private parts of a JSON Web Key."""
    for found in _JWK_PART.finditer(text, max(0, at - 200), at + JWK_CHARS):
        yield from _JWK_RULE(text, found.end())
    yield at, min(len(text), at + JWK_CHARS), ""


_JWK_PART = re.compile(r"(?<=[{, \n])\\*\"(?=(?:d|k|p|q|dp|dq|qi)\\*\")")

_CALLS = (
    b"connect", b"login", b"newinstance",
    b"getconnection", b"pdo", b"mysqli", b"signin",
    b"dbconnect", b"opensession", b"dbi",
)  # fmt: skip
_KEY_CALLS = (
    b"hmac", b"aes", b"createhmac", b"hash_hmac",
    b"jwt", b"fernet", b"secretkeyspec", b"sign",
    b"cipher", b"createcipheriv", b"hmacsha", b"hmacshakeyfor",
)  # fmt: skip

_WORD_RULES: dict[bytes, tuple[tuple[bytes, Rule], ...]] = {
    b"bearer": ((b"bearer ", _pattern("bearer token", _BEARER, _is_random)),),
    b"identified": (
        (b"identified ", _identified),
        (b"identified by ", _pattern(PASSWORD, _IDENTIFIED_BY, is_mixed_password)),
    ),
    b"insert": ((b"insert into ", _insert),),
    b"net": (
        (b"net use ", _pattern(PASSWORD, _NET_USE)),
        (b"net user ", _pattern(PASSWORD, _NET_USER, _has_both)),
    ),
    b"securestring": ((b"-securestring ", _pattern(PASSWORD, _SECURE_STRING)),),
    **dict.fromkeys(
        (b"log", b"logged", b"sign", b"signed"),
        tuple(
            (anchor, _pattern(PASSWORD, _LOGIN_WITH, is_chosen))
            for anchor in (b"in with ", b"in as ")
        ),
    ),
    **{
        word: ((word, _seed),)
        for word in (b"seed", b"mnemonic", b"wallet", b"words", b"phrase")
    },
    **{
        word: ((word, _command(pattern)),)
        for word, pattern in (
            (b"mysql", r"mysql[a-z-]* * -p"),
            (b"mysqldump", r"mysqldump * -p"),
            (b"mysqladmin", r"mysqladmin * -p"),
            (b"mysqlimport", r"mysqlimport * -p"),
            (b"mysqlsh", r"mysqlsh * -p"),
            (b"mariadb", r"mariadb[a-z-]* * -p"),
            (b"mongo", r"mongo * -p "),
            (b"mongosh", r"mongosh * -p "),
            (b"mongodump", r"mongodump * -p "),
            (b"mongorestore", r"mongorestore * -p "),
            (b"sshpass", r"sshpass * -p ?"),
            (b"unrar", r"unrar [a-z]+ * -h?p"),
            (b"rar", r"rar [a-z]+ * -h?p"),
            (b"zip", r"zip * -\w{0,4}P ?"),
            (b"unzip", r"unzip * -\w{0,4}P ?"),
            (b"sqlcmd", r"sqlcmd * -P ?"),
            (b"mosquitto", r"mosquitto_[a-z]+ * -P "),
            (b"openssl", r"openssl enc * -k "),
            (b"htpasswd", _HTPASSWD),
            (b"ipmitool", r"ipmitool * -P "),
            (b"cqlsh", r"cqlsh * -p "),
            (b"winrm", r"winrm * -p "),
            (b"xfreerdp", r"xfreerdp * /p:"),
            (b"rdesktop", r"rdesktop * -p "),
            (b"vncdo", r"vncdo * -p "),
            (b"security", r"security (?:add|unlock|import|set)[a-z-]* * -[wpP] "),
            *(
                (word, r"ldap[a-z]+ * -w ")
                for word in (
                    b"ldapsearch",
                    b"ldapadd",
                    b"ldapmodify",
                    b"ldapwhoami",
                    b"ldapdelete",
                    b"ldappasswd",
                )
            ),
            *(
                (word, _SMB)
                for word in (b"smbclient", b"smbget", b"smbmap", b"smbcacls")
            ),
        )
    },
    b"login": (
        (b" login ", _command(r" login * -p ")),
        (b"login: ", _pattern(PASSWORD, _LOGIN_COLON, is_chosen)),
        (b"login(", _login_call),
        (b"login ", _pattern(PASSWORD, _IMAP, is_chosen)),
        (b"in with ", _pattern(PASSWORD, _LOGIN_WITH, is_chosen)),
    ),
    b"redis": ((b"redis-cli", _command(r"redis-cli * (?:-a|--pass)[ =]")),),
    b"curl": ((b"curl", _cookie), (b"curl", _command(_CURL))),
    b"http": (
        (
            b"http",
            _command(rf"https? (?:-\w+ )*(?:-a|--auth)[ =]({_OPENS})[\w.@-]{{1,64}}:"),
        ),
    ),
    b"echo": _ECHOED,
    b"printf": _ECHOED,
    b"cookie": ((b"cookie", _cookie),),
    b"sess": ((b"sess=", _pattern("cookie", _SESSION_COOKIE, _is_random)),),
    b"session": ((b"session", _pattern("cookie", _SESSION_COOKIE, _is_random)),),
    b"sid": ((b".sid=", _pattern("cookie", _SESSION_COOKIE, _is_random)),),
    b"sessionid": ((b"sessionid=", _pattern("cookie", _SESSION_COOKIE, _is_random)),),
    b"sig": ((b"sig=", _pattern("signature", rf"(?<=[?&;])sig{_SIGNED}", _is_random)),),
    b"signature": (
        (b"signature=", _pattern("signature", rf"signature{_SIGNED}", _is_random)),
    ),
    b"requirepass": ((b"requirepass ", _pattern(PASSWORD, _REQUIREPASS, _no_word)),),
    b"z": ((b"7z", _command(r"7z[a-z]? [a-z]+ * -p")),),
    b"private": (
        (b"-----begin", _key_block),
        (b"-----end", _key_end),
        (b"private-lines:", _pattern("private key", _PUTTY, bool)),
    ),
    b"secret": ((b"secret ", _pattern(PASSWORD, _ROUTER, _has_both)),),
    b"secrets": ((b"secret", _pattern(PASSWORD, _CHAP, is_chosen)),),
    b"password": ((b"password ", _pattern(PASSWORD, _ROUTER, _has_both)),),
    **dict.fromkeys(
        (b"tacacs", b"radius", b"server"),
        ((b"key ", _pattern(PASSWORD, _ROUTER, _has_both)),),
    ),
    **dict.fromkeys(
        (b"qr", b"totp", b"otp", b"fa", b"mfa", b"authenticator"),
        tuple(
            (name, _pattern(KEY, _BASE32, _has_both))
            for name in (b"key", b"secret", b"code")
        ),
    ),
    b"community": ((b"community ", _pattern(PASSWORD, _COMMUNITY, _has_both)),),
    b"isakmp": ((b"isakmp ", _pattern(PASSWORD, _ISAKMP, _has_both)),),
    b"user": (
        (b" --user", _user_password),
        (b"_user ", _pattern(PASSWORD, _RABBIT, is_chosen)),
        (b"on >", _pattern(PASSWORD, rf"on {_ACL}", _has_both)),
    ),
    b"username": ((b" --username", _user_password),),
    b"u": ((b" -u ", _user_password),),
    b"stats": ((b"stats auth", _user_password),),
    b"basic": ((b"http-basic.", _pattern(PASSWORD, _HTTP_BASIC, _has_both)),),
    b"kubeadm": ((b"token", _pattern(TOKEN, _KUBEADM, _has_both)),),
    b"plain": ((b"plain", _pattern(PASSWORD, _SASL, _has_nul)),),
    b"ugfzc": ((b"334 ugfzc", _pattern(PASSWORD, _SASL_LINE, bool)),),
    b"auth": ((b"auth ", _pattern(PASSWORD, _SERVICE, is_chosen)),),
    b"identify": ((b"identify ", _pattern(PASSWORD, _SERVICE, is_chosen)),),
    b"oper": ((b"oper ", _pattern(PASSWORD, _SERVICE, is_chosen)),),
    b"psk": ((b"psk", _pattern(PASSWORD, _PSK, is_chosen)),),
    b"eap": ((b"eap", _pattern(PASSWORD, _PSK, is_chosen)),),
    b"xauth": ((b"xauth", _pattern(PASSWORD, _PSK, is_chosen)),),
    **{
        word: ((word + b" ", _pattern(PASSWORD, pattern, is_chosen)),)
        for word, pattern in (
            (b"cf", rf"cf {_NAMED_LOGIN}"),
            (b"vault", rf"vault login {_ARGUMENT_VALUE}"),
            (b"doctl", rf"doctl auth init -t {_ARGUMENT_VALUE}"),
            (b"bw", rf"bw unlock {_ARGUMENT_VALUE}"),
            (b"masterauth", rf"masterauth {_ARGUMENT_VALUE}"),
            (b"sqlplus", r"sqlplus (?:-\w+ )?[\w.]{1,64}/([^\s@\"']{4,128})"),
        )
    },
    b"ftp": ((b"ftp> user", _pattern(PASSWORD, rf"ftp> {_NAMED_LOGIN}", is_chosen)),),
    b"wpa": (
        (
            b"wpa_passphrase ",
            _pattern(
                PASSWORD, rf"wpa_passphrase \S{{1,64}} {_ARGUMENT_VALUE}", is_chosen
            ),
        ),
    ),
    **dict.fromkeys(
        (b"snmpwalk", b"snmpget", b"snmpset"),
        tuple(
            (option, _pattern(PASSWORD, rf" -[axc] {_ARGUMENT_VALUE}", is_chosen))
            for option in (b" -a ", b" -x ", b" -c ")
        ),
    ),
    b"kinit": _ECHOED,
    b"schtasks": ((b"schtasks", _command(r"schtasks * /rp ")),),
    b"wiederherstellungsphrase": ((b"phrase", _seed),),
    b"seedphrase": ((b"phrase", _seed),),
    b"atlasv": ((b".atlasv1.", _pattern("terraform token", _TERRAFORM, bool)),),
    **dict.fromkeys(
        (b"sasl", b"smtp", b"postfix", b"relay", b"relayhost"),
        (
            (b":587", _pattern(PASSWORD, _RELAY, is_chosen)),
            (b":465", _pattern(PASSWORD, _RELAY, is_chosen)),
        ),
    ),
    b"oathtool": ((b"oathtool", _pattern(KEY, _TOTP, _no_template)),),
    b"kty": ((b"kty", _jwk),),
    b"importprivkey": ((b"privkey", _pattern("private key", _WIF, bool)),),
    b"privkey": ((b"privkey", _pattern("private key", _WIF, bool)),),
    b"appid": ((b"appid=", _pattern(KEY, _APP_ID, bool)),),
    b"send": ((b"send", _sent),),
    b"sendline": ((b"send", _sent),),
}
for _word, _anchor in _FOREIGN_ANCHORS.items():
    _WORD_RULES[_word] = (*_WORD_RULES.get(_word, ()), (_anchor, _foreign_name))
for _word in _CALLS:
    _WORD_RULES[_word] = (*_WORD_RULES.get(_word, ()), (_word, _login_call))
for _word in _KEY_CALLS:
    _WORD_RULES[_word] = (*_WORD_RULES.get(_word, ()), (_word, _key_call))

_WORDS = _Names(_WORD_RULES)
_NAME_WORDS = _Names(NAME_WORDS)
_NEAR = _Names(_NEAR_WORDS)

_RULES: dict[bytes, tuple[tuple[bytes, Rule], ...]] = {
    **dict.fromkeys(NAME_PARTS, ()),
    b"cred": ((b"credential", _login_call),),
    b"pw": ((b"pw_set(", _login_call),),
    b"auth": ((b"auth", _login_call),),
    b"|": ((b"-|", _table), (b"- |", _table), (b"-+-", _table)),
    b":": (
        (b":543", _pattern(PASSWORD, _PGPASS, _no_word)),
        (b":*:", _pattern(PASSWORD, _PGPASS)),
    ),
    b"$": ((b"$", _pattern("password hash", _HASH, bool)),),
    b"://": ((b"://", _url),),
    b"~": ((b"sha256~", _pattern("openshift token", _OPENSHIFT, bool)),),
}
"""By a byte string that the text contains then, others at which a rule is tried."""
