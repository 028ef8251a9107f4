"""Find secrets in the columns of tables, CSV files and SQL."""

import re
from collections.abc import Iterator

from memtui.text.secret_values import SecretSpan, is_chosen, kind_of_name

LONG_CHARS = 256
"""The heading of a table is not longer."""

_RULE_ROW = re.compile(r"[ \t]*[|+]?[ \t]*:?-[|:+ \t-]*")
_HEADING = re.compile(r"(?:(?<=\\)n)?([^\n\\\"]{1,512})(?:\r?\n|\\++n)$")
_ROW = re.compile(r"(?:\r?\n|\\++n)([^\n\\|]{0,2000}\|[^\n\\]{0,2000})")
_COLUMN = re.compile(r"[^|]+")
MAX_ROWS = 200


def find_in_table(text: str, at: int) -> Iterator[SecretSpan]:
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
CSV_SIGNS = frozenset(",;\t")
_CSV_NAME = r"[\"']?[\w .-]{1,40}[\"']?"
_CSV_HEADING = re.compile(
    rf"{_CSV_NAME}([,;\t]|\\t){_CSV_NAME}(?:\1{_CSV_NAME}){{0,30}}(?=\r?\n|\\+[rn])"
)
_CSV_ROW = re.compile(r"(?:\r?\n|\\+n)([^\n\\]{1,2000}(?:\\t[^\n\\]{0,2000}){0,30})")


def find_in_csv(text: str, at: int) -> Iterator[SecretSpan]:
    """Find the secrets in the columns that the first row of a CSV file names."""
    low = max(0, at - LONG_CHARS)
    starts = (found.end() for found in _CSV_START.finditer(text, low, at))
    start = max(starts, default=low)
    heading = _CSV_HEADING.match(text, start)
    if not heading or heading.end() <= at:
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
    r"insert into [^\s(]{1,128} ?\(([^()\n]{1,512})\)\s{1,8}values\s{0,8}\("
    r"((?:[^()\n]|\([^()\n]*\)){1,2048})\)",
    re.IGNORECASE,
)
_SQL_VALUE = re.compile(r"\s*(?:\w*\(?\\{0,7}'([^'\\]*)\\{0,7}'\)?|[^,']+)(?:,|$)")


def find_inserted(text: str, at: int) -> Iterator[SecretSpan]:
    """Find the secrets that SQL inserts into columns named so."""
    if not (insert := _INSERT.match(text, at)):
        return
    names = insert[1].split(",")
    values = _SQL_VALUE.finditer(text, *insert.span(2))
    for name, value in zip(names, values, strict=False):
        kind = kind_of_name(name.strip(' `"[]\\'))
        if kind and value[1] and is_chosen(value[1]):
            yield *value.span(1), kind
