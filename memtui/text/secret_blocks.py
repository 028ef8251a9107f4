"""Find private keys and seed phrases."""

import re
from collections.abc import Iterator

from memtui.text.secret_values import FUNCTION_WORDS, SecretSpan

KEY_BLOCK_CHARS = 32_768
"""Only this much of a key block is searched for its end."""

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


def find_key_block(text: str, at: int) -> Iterator[SecretSpan]:
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


def find_key_end(text: str, at: int) -> Iterator[SecretSpan]:
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
_SEED_NAME = re.compile(
    r"(?:seed|mnemonic|wallet|phrase|(?<=(?:12|24) )word)s?(?![A-Za-z])", re.IGNORECASE
)
SEED_REACH, SEED_CHARS = 40, 400
"""A seed phrase begins within this many characters of its name, and is this long."""
MIN_SEED_WORDS, MIN_DISTINCT_WORDS = 10, 7


def find_seed(text: str, at: int) -> Iterator[SecretSpan]:
    name = _SEED_NAME.match(text, at)
    if not name:
        return
    for run in _SEED_WORDS.finditer(text, name.end(), name.end() + SEED_CHARS):
        if run.start() > name.end() + SEED_REACH:
            return
        words = re.findall("[a-z]+", run[0])
        if len(words) < MIN_SEED_WORDS:
            continue
        if len(set(words)) >= MIN_DISTINCT_WORDS and not FUNCTION_WORDS.search(run[0]):
            yield run.start(), run.start() + len(run[0].rstrip()), "seed phrase"
        else:
            yield run.start(), run.end(), ""
