"""Find secrets by the text beside them, above all by names.

Each rule is tried where a fixed byte string occurs in the lower-cased text: searching
for a few strings takes a tenth of the time of one pattern for all.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from memtui.redaction.rules import (
    CSV_SIGNS,
    RULES_BY_SIGN,
    RULES_BY_WORD,
    find_header,
    find_in_csv,
    has_no_template,
)
from memtui.redaction.values import (
    FOLDERS,
    KEY,
    PASSWORD,
    SECRET,
    TOKEN,
    Rule,
    SecretSpan,
    has_sign,
    has_uuid,
    is_chosen,
    is_code,
    is_evident,
    is_generated,
    is_human,
    is_mixed_password,
    is_noise,
    is_phrase,
    is_random,
    is_secret,
    is_spaced_phrase,
    is_strong,
    is_unlike_code,
    is_word_list,
    kind_of_name,
)

NAME_CHARS = 80
"""A longer run of letters is not a name."""

LONG_NAME_CHARS = 40
"""Passwords are not searched for near a longer name."""

VALUE_CHARS = 4096
"""A longer value is not a key but a document."""

LONG_CHARS = 256
"""Unquoted values longer than this are skipped when searching for names."""

NAME_PARTS = (
    b"pass", b"pw", b"secret", b"token", b"key", b"cred", b"auth",
)  # fmt: skip
"""The name of a secret contains one of these."""

NAME_WORDS = (
    b"kennwort", b"psk", b"mdp", b"senha", b"senhas", b"wachtwoord", b"contrasena",
    b"heslo", b"adgangskode", b"passord", b"salasana", b"schluessel", b"sleutel",
    b"clave", b"chave", b"chiave", b"jeton", b"geheimnis", b"segreto", b"segredo",
    b"salt", b"pepper", b"pat",
)  # fmt: skip
"""Other names of secrets, or parts of them."""

_FREQUENT_PARTS = (b"token", b"key", b"auth", b"pat", b"salt")

_BEFORE_CHARS = 24

_WORD_TABLE = bytes(
    code if chr(code) in "abcdefghijklmnopqrstuvwxyz?" else 32 for code in range(256)
)
"""Translates bytes that are no letters to spaces; "?" is a letter beyond ASCII."""
_ASCII_TABLE = _WORD_TABLE.replace(b"?", b" ")
"""The same for texts that contain no such letter."""


def words_of(lowered: bytes, *, is_ascii: bool) -> frozenset[bytes]:
    """Return the words of letters that a rule looks for; see ``_LEADS`` for the signs
    before them."""
    table = _ASCII_TABLE if is_ascii else _WORD_TABLE
    return _ALL_WORDS.intersection(lowered.translate(table).split())


_LEADS = (b"n", b"r", b"t", b"?", b"")
"""What a word may begin with: the letter of an escape sequence such as ``\\n``, or a
sign beyond ASCII, such as the arrow after the number of a line."""


class _Names:
    """Words to look for in a text."""

    def __init__(self, names: Iterable[bytes]) -> None:
        names = list(names)
        self._names = {lead + name: name for lead in _LEADS for name in names}
        self.words = frozenset(self._names)

    def among(self, words: frozenset[bytes]) -> list[bytes]:
        """Return those among the words of a text."""
        return sorted({self._names[word] for word in words & self.words})


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
    for sign, rules in _RULES_BY_SIGN.items():
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
        for anchor, rule in _RULES_BY_WORD[word]:
            if anchor in lowered:
                yield from _apply_rule(anchor, rule, text, lowered)
    is_beyond_ascii = not text.isascii() and b"??" in lowered
    if is_beyond_ascii and _OTHER_SCRIPT.search(text):
        for name, rule in _RULES_BY_SCRIPT.items():
            at = text.find(name)
            while at >= 0:
                yield from rule(text, at)
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
        end = name_chars.find(b" ", at, at + NAME_CHARS)
        if end < 0:
            end = min(len(text), at + NAME_CHARS)
        if end not in checked_ends:
            checked_ends.add(end)
            start = name_chars.rfind(b" ", max(0, at - NAME_CHARS), at) + 1
            if is_place and end - start <= LONG_NAME_CHARS:
                places.append(at)
            for span in _check_name(text, start or max(0, at - NAME_CHARS), end):
                end = max(end, span[1])
                if span[2]:
                    yield span
        at = lowered.find(part, end)


# The value of a name.

_COLOUR = r"(?:\\++u001[bB]\[[\d;]{0,12}m){0,3}"

_ASSIGNS = re.compile(
    rf"(?:\[\w{{0,16}}\])?(?P<closed>\\{{0,7}}[\"'`])?\]?"
    rf"(?:\*\*|__)?{_COLOUR}[ \t]{{0,8}}"
    r"(?:(?<= )[\[(][\w ,.*-]{0,30}[\])][ \t]?)?"
    r"(?:\?[ \t]?)?(?P<sign>=>|:=|\?=|=(?!>|[=~](?![^\s=~]{7}))|:(?![:=/])"
    r")(?:\*\*)?"
    rf"(?P<gap>[ \t]{{0,8}}){_COLOUR}(?:(?<= )!{{1,2}}[\w-]{{1,20}} )?"
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

# The default of a setting: os.getenv("DB_PASS") or "secret".
_FALLBACK = re.compile(
    r"(?:\\{0,7}[\"'`])?\)?(?P<gap>)[ \t]+(?P<sign>\?\?|\|\||\?:|or|(?<=\) ):)"
    r"\s{1,4}(?=\\{0,7}[\"'`])"
)
# A comparison: password === "secret".
_COMPARED = re.compile(
    r"(?P<gap>[ \t]{0,2})(?P<sign>[=!]={1,2})[ \t]{0,2}(?=b?\\{0,7}[\"'])"
)
_CALL = re.compile(r"(?P<gap>)(?P<sign>\()\s{0,4}(?=\\{0,7}[\"'`])")
# The next string of a call or command: fill('[name="password"]', 'secret').
_ARGUMENT = re.compile(
    r"(?:\\{0,7}[\"'\])]){1,4}(?P<gap>)(?P<sign>,|\.\w{1,20}\(|[ \t](?=\S))"
    r"\s{0,4}(?:\"(?=\\\"))?(?=\\{0,7}[\"'`])"
)
# The next line, or the content of a field of a form.
_NEXT_LINE = re.compile(
    r"(?:(?: [a-z]{1,14}){0,7}:|(?:[\"'}`]|\\\"){0,4})(?P<gap>)(?P<sign>)[ \t]*"
    r"(?:(?:\r?\n|(?:\\+r)?\\+n)[ \t]*){1,2}(?:: )?"
    r"(?!\d{1,6}→)"
    r"(?=[^\s\"'`\\]{8,}[ \t]*(?:\s*$|\r?\n|\\+[rn]|\\*[\"']))"
)
# What a function returns: def get_token(): return "secret".
_RETURNS = re.compile(
    r"\([^()\n]{0,80}\)[^()\n]{0,40}?[:{][^()]{0,160}?\breturn"
    r"(?P<gap> {1,4})(?P<sign>)(?=b?\\{0,7}[\"'])"
)
# The result of an expression in a console: os.environ["TOKEN"], then 'secret'.
_RESULT = re.compile(
    r"(?:\\{0,7}[\"'])?[\])]{0,2}(?P<gap>)(?P<sign>)[ \t]*(?:(?:\\+r)?\\+n|\r?\n)"
    r"(?:Out ?\[\d{1,4}\]: |=> )?(?=\\{0,7}[\"'])"
)
_BEFORE_NAME = ("'", '"', "=", ":", "#")
# The next argument after a constant: put(Context.SECURITY_CREDENTIALS, "secret").
_NEXT_ARGUMENT = re.compile(r"(?P<gap>)(?P<sign>,)\s{0,4}(?=\\{0,7}[\"'])")
_CELL = re.compile(r"[`*]{0,3}[ \t]{0,40}(?P<sign>[|│┃║])(?P<gap>[ \t]{0,40})(?=\S)")
_BEFORE_CELL = re.compile(r"[|│┃║][ \t]{0,8}[`*]{0,3}(?:\w{1,16} ){0,2}$")
_SQL = re.compile(r"(?P<gap>[ \t]{1,3})(?P<sign>)(?=\\{0,7}['\"])")
_BEFORE_SQL = re.compile(r"\b(?:with|login|role|user|encrypted)\b[^\n]{0,60}$", re.I)
_FLAG = re.compile(r"(?P<sign>[= ])(?P<gap> {0,3})")
# The words between a name and its value in prose: "for the vault is", "was set to".
_IS = re.compile(
    r"(?:'s)?[`*]{0,3}(?: \([^()\n]{1,40}\)|, (?:by the way|btw|fyi|for reference),?)?"
    r"(?P<gap>(?:[ \t]+(?!(?:key|token|pass|secret)\w*+(?!: ))(?:\w{1,2}['’])?"
    r"(?:(?:[^\W\d]|[@.](?=[^\W\d])|\\+u00\w\w){1,30}+\d{0,2}|\d{1,3}(?:\.\d{1,3}){0,3})"
    r"(?:['’]s)?,?)"
    r"{0,7}?)"
    r"(?P<sign>[ \t]+(?:is|was|are|be|to|as|from(?:(?:[ \t]+\S{1,64}){1,3}[ \t]+to)?"
    r"|ist|lautet|sind|es|est|este|è|é|voor|это|je|jest|hei(?:ß|\\+u00df)t|c'est|är"
    r"|\\+u00e4r|\\+u00e[89]|er|là|adalah|είναι|היא"
    r"|(?<=salasana )on|(?:auf|para|naar|na|till|til|на)(?=[ \t]+\S*\d))"
    r"(?: now| still| both| set to| changed to| reset to| jetzt| nun| ahora"
    r"| maintenant)?:?"
    r"|'s|, (?:it's|it is|c'est)(?: now| maintenant)?|, (?:type|enter|use)|\?(?:(?:\s"
    r"|\\+n){1,3}(?:\w{1,16}:"
    r"|[Ii]t(?:'s| is)|>))?|[ \t]+\((?:[\w ]{1,30}\):)?|[ \t]*(?:[-=]{1,2}>|[→–—:=]))"
    r"(?:[ \t]+|:?(?:\s|\\++n){1,12}|(?<=\())(?=\S)"
)
_NEXT = re.compile(
    r"(?P<gap>(?: (?!key|token|pass|secret)(?:[a-zа-яё]{1,12}|API)){0,4}?)"
    r"(?P<sign>[ \t]{1,8})(?=[^\s|-])"
    r"(?![a-z]{1,14}(?:[\s,;:]|\.(?:\s|$)))"
)
_LOGIN_PAIR = re.compile(
    r"s?(?: (?:for|to) (?:the |my |our )?[\w-]{1,24})?(?: are| is)?:?(?P<gap>)"
    r"(?P<sign> )[`\"']?[^\s:/\"'`\\]{1,64}[`\"']?"
    r"(?: ?/ ?|:| and | und | et | y )(?=\S)"
)
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
    r"(?:\\{0,7}[\"'])?(?: [^<>]{0,200})?>(?:\s{0,20}<[A-Z]\w{0,20}>)?"
    r"([^<>\s\"'`\\]{4,200})(?=<\\?/)"
)
_AFTER_TAG = re.compile(r"<\w[^<>\n]{0,20}>(?:[A-Za-z]\w* )?$|>$")
_IN_TAG = re.compile(r"<[^<>\n]{0,60}$")
_ELEMENT = re.compile(
    r"[:*]?(?:<\\?/[\w:]{1,20}>(?:\s|\\+n){0,20}){1,3}"
    r"(?:<[a-zA-Z][^<>]{0,80}>(?:\s|\\+n){0,20}){1,3}"
    r"([^<>\s\"'`\\]{4,200})(?=<\\?/)"
)
"""The value in the element after that of its name, as in a table."""
_TYPOGRAPHIC = re.compile(
    r"[„“”«‹‚‘「『《][ \u00a0\u202f]?([^\s„“”«»‹›\"]{4,128})"
    r"[ \u00a0\u202f]?[“”»›‘’」』》«]"
)
_VALUE_OPENS = re.compile(r"[brfuBRFUNL@]{0,2}(\\{0,7})([\"'`])")

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
_SINGLE = re.compile(rf"((?:[^'\\\n]|\\.){{0,{VALUE_CHARS}}})'")
_CELL_VALUE = re.compile(r"[^\s`]{1,4096}")
MAX_CELLS = 4
"""The number of cells of a row that are read for a secret."""
_TIGHT_CELL_VALUE = re.compile(r"[^\s`|]{1,4096}(?=\|)")

_OPENING = {")": "(", "]": "[", "}": "{"}

_NEXT_SETTING = re.compile(r";(?=[A-Za-z][\w ]{0,40}=)")
_BARE_VALUE = re.compile(
    rf"(?:[^\s\"'`\\;,<>|&]|&(?![\w.-]{{1,80}}=)){{1,{VALUE_CHARS}}}"
)

_FLAG_VALUE = re.compile(rf"[^\s\"'`\\;<>|&]{{1,{VALUE_CHARS}}}")
_WHOLE = re.compile(rf"[^\s\"'`\\]{{1,{VALUE_CHARS}}}")
_QUERY = re.compile(rf"[^\s\"'`\\&#;,<>|)\]}}]{{1,{VALUE_CHARS}}}")
_BLANK_LINE = re.compile(r"[ \t]*(?:\n|\\+n)")
_SETTING = re.compile(r"\s{0,64}[A-Z_][A-Z0-9_]{0,64}=")
"""The next line of a file of settings, after one without a value."""
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
        blank = _BLANK_LINE.match(text, found.end())
        if value or is_key or not blank or _SETTING.match(text, blank.end()):
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
        or _COMPARED.match(text, end)
        or _CALL.match(text, end)
        or _RETURNS.match(text, end)
        or _FALLBACK.match(text, end)
        or _VALUE_FIELD.match(text, end)
        or (_ARGUMENT.match(text, end) if before[-1:] in _BEFORE_NAME else None)
        or (_NEXT_ARGUMENT.match(text, end) if text[end - 1].isupper() else None)
        or _NEXT_LINE.match(text, end)
        or _RESULT.match(text, end)
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
        sign = "is" if found.re is _IS else "next"
    elif found.re is _LOGIN_PAIR:
        sign = "pair"
    elif found.re is _LIST_ITEM and text[end - 1] not in "sS":
        sign = "["
    elif found.re in (_NEXT_LINE, _RESULT):
        sign = "next"
    elif found.re in (_ARGUMENT, _COMPARED, _RETURNS):
        sign = ","
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
    elif found.re is _FLAG:
        shape = _FLAG_VALUE
    else:
        shape = _WHOLE if is_setting else _BARE_VALUE
    dense = None
    if shape is not _QUERY:
        dense = (_DENSE if _JSON_START.match(text) else _DENSE_QUOTES).match(text, at)
    bare = shape.match(text, at)
    value = bare[0] if bare else ""
    if dense and len(dense[0]) >= len(value.rstrip(",;)}].")) and is_noise(dense[0]):
        value = _without_closing(dense[0])
    elif shape in (_BARE_VALUE, _FLAG_VALUE):
        value = value.rstrip(",;)}].")
    else:
        value = _NEXT_SETTING.split(value, maxsplit=1)[0].rstrip(";)")
    if value[:1] == ")" and before == "(":
        return None
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
    is_bytes = opened[0].endswith("'") and not (escape or _JSON_START.match(text))
    shape = _SINGLE if is_bytes else _QUOTED.get(escape + quote)
    closed = shape.match(text, at) if shape else None
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
        yield from find_header(text, end)
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
    elif not kind and word == "key" and _OWN_KEY.search(before):
        kind = KEY if _HEX_KEY.match(text, end) else ""
    elif not kind and word == "key" and not _PUBLIC_KEY.search(before):
        is_long = _LONG_VALUE.match(text, end)
        outer = is_long and _OUTER.findall(text, max(0, start - 200), start)
        is_inner = outer and kind_of_name(f"{outer[-1]} key")
        kind = KEY if is_inner or _PROSE_KEY.match(text, end) else ""
    if not kind:
        return
    if before.endswith(" ") and (lead := _USED_BEFORE.search(before)):
        yield from _used_as(text, start - len(before) + lead.start())
    if text[end : end + 1] in CSV_SIGNS or before[-1:] in CSV_SIGNS:
        yield from find_in_csv(text, start)
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
    is_key = kind == TOKEN and (
        (name.isupper() and "_" in name) or bool(_ACCESS.search(word))
    )
    judged = SECRET if is_key else kind
    if word in _FOREIGN_PASSWORDS and value.sign in ("is", "next"):
        judged = PASSWORD
    after = text[value.end : value.end + 1]
    if (
        (is_sql and is_secret(judged, value.text, is_quoted=True))
        or _is_secret_value(judged, value, after)
        or (word == "pass" and is_mixed_password(value.text))
        or (name == "pass" and is_human(value.text))
        or _is_passphrase(name, kind, value)
    ):
        is_cell = value.sign in ("next", "|")
        if is_cell and _HASHES.search(text, max(0, start - 1000), start):
            return
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


_HASHES = re.compile(r"(?:NAME|Name|KEY|Key)[ \t|│]{1,60}(?i:digest|hash|checksum)\b")
"""Matches the heading of a table that shows only hashes of secrets."""
_FOREIGN_PASSWORDS = ("clave", "chave", "chiave", "parola")
_ACCESS = re.compile(
    "auth|api|server|deploy|personal|private|bot|codecov|railway|snyk|postmark|heroku"
    "|hubspot|vault|nuget|npm|docker|git|sentry|slack|cloud"
)
"""Matches names of tokens that are no id, even if they have the form of one."""
_PROSE_KEY = re.compile(
    r"(?: is:?|:) `?(?=[a-f]*\d)(?:[0-9a-f]{32,128}|[0-9a-f]{8}(?:-[0-9a-f]{4})"
    r"{3}-[0-9a-f]{12})"
    r"(?![\w:.-])"
    r"|(?: is)?:? `?(?=[A-Za-z_-]*\d)(?=[^A-Z\s]*[A-Z])(?=[^a-z\s]*[a-z])"
    r"[\w-]{24,}(?![\w:.-])"
    r"| (?:for|to|of) (?:\w{1,12} ){1,4}?(?:is|was):? `?[A-Za-z0-9_-]{24,}(?![\w-])"
)
_LONG_VALUE = re.compile(
    r"\W{1,20}(?=[a-z0-9+/_-]*[A-Z]|[0-9a-f]{32})[A-Za-z0-9+/_-]{16}"
)
_OUTER = re.compile(
    r"(\w{2,40})(?:\\*[\"'])?[ \t]?"
    r"(?:[:=][ \t]?\{|:[ \t]*(?:\n|\\+n)|[\])>][ \t]*(?:\n|\\+n))"
)
"""Matches the name of an object, section or element."""
_PUBLIC_KEY = re.compile(
    r"(?:public|primary|foreign|cache|partition|sort|hash|commit|object|index|the same"
    r"|row|idempotency|lookup|dedup\w*|query) $",
    re.IGNORECASE,
)
_OWN_KEY = re.compile(r"\b(?:my|our|your|this|the new|for) (?:[A-Z]\w* )?$")
_HEX_KEY = re.compile(r"(?: is)?:? [`\"']?(?=[a-z-]*\d)[\w+/-]{32,128}=?(?![\w:.])")
_LONG = re.compile(rf"[^\s\"'`]{{{LONG_CHARS}}}")
_LEAD_WORD = re.compile(r"\b([A-Za-z]+) $")
_PASS_OPTION = re.compile(r"-pass(?:in|out|word)?[ =]?\\{0,7}[\"']?$")

_JOINED = re.compile(
    r"\\{0,7}[\"'][ \t]{0,20}(?:[+.][ \t]{0,20}|(?=\\?\n|\\+n))(?:(?:\\?\n|\\+n)"
    r"[^\n\"'A-Za-z]{0,40})?"
    r"\\{0,7}[\"']([A-Za-z0-9+/=_-]{4,256})(?=\\{0,7}[\"'])"
)
"""The rest of a string that is joined from several."""


_AFTER_PHRASE = ("", ".", ",", ";", "\n", ")")


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
            if value.sign != "next" or not (is_password or value.is_quoted):
                is_mixed = has_sign(secret) or is_strong(secret)
                return value.sign == "next" and is_mixed and is_human(secret)
            if is_password and after in _AFTER_PHRASE and is_phrase(secret):
                return True
            is_beside = (is_password and value.is_tight) or has_sign(secret)
            return (is_beside and is_human(secret)) or is_mixed_password(secret)
        if (kind in (KEY, SECRET) or value.sign == "is") and has_uuid(secret):
            return True
        if is_password:
            is_told = value.sign == "is" and value.is_tight
            return is_chosen(secret) or (is_told and is_phrase(secret))
        return is_generated(secret)
    if is_secret(kind, secret, is_quoted=value.is_quoted):
        return True
    if is_noise(secret) and is_generated(secret):
        return True
    if kind != PASSWORD:
        return has_sign(secret) and is_generated(secret)
    if is_word_list(secret):
        return value.is_tight or value.sign == ":"
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
    is_named = value.is_quoted and name.lower().endswith("passphrase")
    return (is_named and is_spaced_phrase(value.text)) or (
        kind == PASSWORD
        and (name.isupper() or name.startswith("--"))
        and value.is_quoted
        and value.is_tight
        and value.sign == "="
        and " " in value.text.strip()
        and has_no_template(value.text)
    )


_USED_AS = re.compile(
    r"(?: (?:as|is|(for|into|in|to|under))|,?(?: [-–—])? that(?:'s| is)) (?:(?:the|a|my"
    r"|your|our|their|its|his|her|new) )?"
    r"(?:(?!pub|prim)[\w-]{1,16} ){0,3}?"
    r"(?:\w{1,30}_)?(?:pass(?:word|wd|phrase|code)?|secret|token|key|pin)s?(?![\w-])",
    re.IGNORECASE,
)
_USED_BEFORE = re.compile(
    r"(?: (?:as|is|for|into|in|to|under)|,?(?: [-–—])? that(?:'s| is))"
    r" (?:[\w-]{1,16} ){0,3}$",
    re.IGNORECASE,
)
_USE = re.compile(
    r"(?:^|[^\w-])(?:use|using|try|take|enter|type|and|with|set|add|put|store|save"
    r"|paste) (?:\w{1,6} )?$",
    re.IGNORECASE,
)
_USED = re.compile(r"(?<![^\s„“«(])[`\"']?([^\s`\"'\\“”«»]{8,128})\\{0,7}[`\"'”»]?$")


def _used_as(text: str, at: int) -> Iterator[SecretSpan]:
    """Find the password in "use X as the password" and "X is the password"."""
    if not (verb := _USED_AS.match(text, at)):
        return
    used = _USED.search(text, max(0, at - LONG_CHARS), at)
    if not used:
        return
    is_quoted = used.start(1) > used.start() or bool(
        _USE.search(text, max(0, used.start() - 16), used.start())
    )
    if verb[1]:
        is_used = is_evident(used[1]) or (is_quoted and is_random(used[1]))
    else:
        is_used = (is_chosen if is_quoted else is_evident)(used[1])
    if is_used:
        yield *used.span(1), PASSWORD


# Passwords that are recognized by their characters, in a line with a word for one.

NEAR_BEFORE, NEAR_AFTER = 90, 110

_CANDIDATE = re.compile(
    r"(?<![^\s\"'`„“«‹(])(?![\"'`])(?=[^\s\d]{0,32}+\d)"
    r"(?=[^\s!#$%&*<>?@^{|}~\[\]();]{0,32}+[!#$%&*<>?@^{|}~\[\]();])\S{10}"
)
_MIXED_WORD = re.compile(
    r"(?<![^\s\"'`„“«‹(])(?<![:=\\][\"'])(?<![:=] [\"'])"
    r"(?=[A-Za-z]{0,32}\d)(?=[A-Z0-9]{0,32}[a-z])[A-Za-z0-9]{10,40}"
    r"(?![^\s\"'`”»›).,;:!?])"
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
    """Find passwords that their characters tell near words for passwords."""
    named = frozenset(places)
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
        for mixed in _MIXED_WORD.finditer(text, start, end):
            is_whole = mixed.end() < end or end == len(text)
            if at in named and is_whole and is_evident(mixed[0]):
                yield *mixed.span(), PASSWORD
                past = max(past, mixed.end())
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


_FOREIGN_NAMES = {
    PASSWORD: (
        "mot de passe", "contraseña", "palavra-passe", "hasło", "hasła", "hasłem",
        "lösenord", "lösenordet", "şifre", "şifresi", "şifreniz", "şifrem", "parolası",
        "jelszó", "jelszava", "mật khẩu", "κωδικός", "heslem", "hesla", "adgangskoden",
        "passordet", "wachtwoorden", "salasanan", "lozinka", "lozinke", "lozinku",
        "kata sandi", "parola", "parolă", "slaptažodis", "parool", "geslo",
        "пароль", "пароля", "паролем", "парола", "密码", "密碼", "パスワード",
        "비밀번호", "비번", "암호", "סיסמה", "הסיסמה",
        "كلمة المرور", "كلمة السر", "पासवर्ड", "รหัสผ่าน",
        "wlan-schlüssel", "netzwerkschlüssel", "sicherheitsschlüssel",
        "zugangsdaten", "anmeldedaten", "inloggegevens", "identifiants", "credenziali",
        "credenciales", "credenciais",
    ),
    KEY: (
        "schlüssel", "clé", "ключ", "токен", "секрет", "密钥", "密鑰", "令牌",
        "apiキー", "アクセスキー", "シークレット", "シークレットキー", "トークン",
        "토큰", "시크릿", "비밀키", "api키", "api 키",
    ),
}  # fmt: skip
"""Names of secrets that ``kind_of_name`` does not read."""


def _foreign_name(kind: str, name: str) -> Rule:
    """Make a rule for the secret after a name of another language."""
    shape = re.compile(
        "".join(c if c.isascii() else rf"(?:{c}|\\++u{ord(c):04x})" for c in name)
        + ("[a-z]{0,3}" if name[-1].isascii() else ""),
        re.IGNORECASE,
    )

    def rule(text: str, at: int) -> Iterator[SecretSpan]:
        if not (found := shape.match(text, at)):
            return
        if marked := _PARTICLE.match(text, found.end()):
            if is_chosen(marked[1]):
                yield *marked.span(1), kind
        else:
            yield from _check_value(text, at, found.end(), kind)

    return rule


_PARTICLE = re.compile(
    r"(?:[是为為はがを는은을：「『]|改成了?|改为|改為|设为|設為)"
    r"{1,3}[:： 「『]{0,3}([!#-&(-\[\]-~]{6,128})"
)

_RULES_BY_SIGN = dict.fromkeys(NAME_PARTS, ()) | RULES_BY_SIGN
_RULES_BY_WORD = dict(RULES_BY_WORD)
_OTHER_SCRIPT = re.compile("[\u0370-\u1fff\u3040-\ud7ff]{2}")
_RULES_BY_SCRIPT: dict[str, Rule] = {}
"""Rules for names in other than Latin letters."""
for _kind, _names in _FOREIGN_NAMES.items():
    for _name in _names:
        _rule, _anchor = _foreign_name(_kind, _name), _name.encode("ascii", "replace")
        if not _anchor.strip(b"?"):
            _spellings = _name, _name.capitalize(), _name.upper()
            _RULES_BY_SCRIPT |= dict.fromkeys(_spellings, _rule)
            continue
        # A letter beyond ASCII may be an escape sequence.
        for _form in {_anchor, _anchor.split(b"?")[0] + b"\\"}:
            _word = re.split(rb"[^a-z?]", _form)[0]
            _known = [place for place, _ in _RULES_BY_WORD.get(_word, ())]
            _is_escaped = _form != _anchor
            if not _word or (_is_escaped and (" " in _name or _form in _known)):
                continue
            _places = *_RULES_BY_WORD.get(_word, ()), (_form, _rule)
            _RULES_BY_WORD[_word] = _places

_WORDS = _Names(_RULES_BY_WORD)
_NAME_WORDS = _Names(NAME_WORDS)
_NEAR = _Names(_NEAR_WORDS)
_ALL_WORDS = _WORDS.words | _NAME_WORDS.words | _NEAR.words
