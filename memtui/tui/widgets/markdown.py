"""Markdown, as it is written but in colors, or drawn as lines of a width.

The lines of a text stay lines: messages are no paragraphs of a book. No letter or digit
is removed, only signs are, so that marks stay on their characters.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice, pairwise, zip_longest

from textual.content import Content, Span

TAB = 4  # The distance of tab stops, in cells.
MAX_HIGHLIGHTED = 20_000  # The longest code block that is highlighted, in characters.
MIN_CELL = 6  # The narrowest column of a table whose cells are wrapped.
COLUMN_GAP = " │ "
SIGN = "not bold $context"  # The style of signs, by which they are found.

FENCE = re.compile(r" *(```+|~~~+)\s*([\w+#.-]*)")
"""A line that opens or closes a code block."""

_HEADING = re.compile(r"#{1,6} +(?=\S)")
_RULE = re.compile(r" {0,3}([-*_])(?: *\1){2,} *")
_LEAD = re.compile(r"( *)((?:> ?)*)( *)(?:([-*+] +|\d{1,9}[.)] +)(?=\S))?")
"""The beginning of a line: the signs of quotations, and that of an item of a list."""

_SIGN = re.compile(r"[`*_~\[]")
_CODE_OR_ADDRESS = re.compile(
    r"(``)(?:[^`\n]|`(?!`))+``|(`)[^`\n]+`|(?<=\]\()[^()\s]+(?=\))|https?://\S+"
)
_LINK = re.compile(r"\[[^\[\]\n]+(\]\()[^()\s]+\)")
_BEFORE, _AFTER = r"""(?<![^\s("'\[])""", r"""(?![^\s)\].,;:!?"'])"""

_EMPHASIS = (
    (re.compile(r"\*\*(?=\S)[^*\n]+(?<=\S)\*\*"), "bold", 2),
    (re.compile(rf"{_BEFORE}\*(?=[^\s*])[^*\n]+(?<=[^\s*])\*{_AFTER}"), "italic", 1),
    (re.compile(rf"{_BEFORE}_(?=[^\s_])[^_\n]+(?<=[^\s_])_{_AFTER}"), "italic", 1),
    (re.compile(r"~~(?=\S)[^~\n]+(?<=\S)~~"), "strike", 2),
)
"""Emphasized text, its style, and the length of the sign on each side of it."""

_CELL_END = re.compile(r"`[^`]*`|\\\||(\|)")
"""The end of a cell of a table, in group 1, or what may contain such a sign."""

_DELIMITERS = re.compile(r"\|? *:?-+:? *(?:\| *:?-+:? *)*\|?")
"""The line below the headings of a table."""

# As it is written


def style(text: str) -> Content:
    """Style code, headings and emphasis; every character stays as it is."""
    lines: list[Content] = []
    for is_code, language, block in _split_code(text):
        if is_code and block:
            lines.append(_style_code("\n".join(block), language))
        elif not is_code:
            lines += map(_style_line, block)
    return Content("\n").join(lines)


def list_code(text: str) -> list[str]:
    """Return the blocks of code of a text."""
    return [
        "\n".join(lines) for is_code, _, lines in _split_code(text) if is_code and lines
    ]


def _split_code(text: str) -> Iterator[tuple[bool, str, list[str]]]:
    """Yield the blocks of code and the text around them, its fences included.

    Each is given as whether it is code, its language, and its lines.
    """
    lines: list[str] = []
    fence = language = ""
    for line in text.split("\n"):
        match = FENCE.match(line)
        if not fence and match:
            yield False, "", [*lines, line]
            fence, language, lines = match[1], match[2], []
        elif fence and match and match[1].startswith(fence) and not match[2]:
            yield True, language, lines
            fence, lines = "", [line]
        else:
            lines.append(line)
    yield bool(fence), language, lines


def _style_line(line: str) -> Content:
    content = Content(line)
    if FENCE.match(line):
        return content.stylize("$context")
    spans, signs, literal = [], [], []
    if heading := _HEADING.match(line):
        spans.append(Span(0, len(line), "bold $accent"))
        signs.append((0, heading.end()))
    elif _SIGN.search(line) is None:
        return content
    for match in _CODE_OR_ADDRESS.finditer(line):
        (start, end), size = match.span(), len(match[1] or match[2] or "")
        literal.append((start, end))
        if size:
            spans.append(Span(start, end, "$accent"))
            signs += [(start, start + size), (end - size, end)]
    for pattern, name, size in _EMPHASIS:
        for match in pattern.finditer(line):
            start, end = match.span()
            if _is_inside(start, literal) or _is_inside(end, literal):
                continue  # Two arguments in code: `**one` and `**other`.
            spans.append(Span(start, end, name))
            signs += [(start, start + size), (end - size, end)]
    for match in _LINK.finditer(line):
        if not _is_inside(match.start(), literal):
            spans.append(Span(match.end(1) - 1, match.end(), "$context"))
            signs += [(match.start(), match.start() + 1), match.span(1)]
    # The signs are part of the text and stay, but dim.
    return content.add_spans([*spans, *(Span(*sign, SIGN) for sign in sorted(signs))])


def _is_inside(position: int, spans: Sequence[tuple[int, int]]) -> bool:
    """Return whether a position is within one of some spans, which are in order."""
    place = bisect_left(spans, (position, 0)) - 1
    return place >= 0 and position < spans[place][1]


def _style_code(code: str, language: str) -> Content:
    is_known = language and len(code) <= MAX_HIGHLIGHTED
    return _highlight(code, language.lower()) if is_known else Content(code)


@lru_cache(maxsize=256)
def _highlight(code: str, language: str) -> Content:
    from textual.highlight import highlight  # Pygments takes 10 ms

    # The highlighter takes carriage returns and form feeds for ends of lines.
    if code.splitlines() != code.split("\n"):
        return Content(code)
    return highlight(code, language=language)


# Drawn


def lay_out(text: Content, width: int) -> Iterator[Content]:
    """Yield a text that was styled as lines of at most a width in cells."""
    width, indent = max(2, width), 0
    lines = iter(text.split("\n", allow_blank=True))
    for is_code, _, block in _split_code(text.plain):
        part = [*islice(lines, len(block))]
        if is_code:
            yield from _draw_code(part, width, indent)
        elif block:
            yield from _draw_text(part, width)
            indent = len(block[-1]) - len(block[-1].lstrip())


def _draw_code(lines: Sequence[Content], width: int, indent: int) -> Iterator[Content]:
    """Draw a block of code whose fence is indented."""
    indent = min(indent, width // 2)
    for line in lines:
        own = min(indent, len(line.plain) - len(line.plain.lstrip(" ")))
        for row in line[own:].wrap(max(2, width - indent - 2)):
            row = row.pad_left(1).pad_right(width - indent - 1 - row.cell_length)
            yield row.stylize_before("on $panel").pad_left(indent)


def _draw_text(lines: Sequence[Content], width: int) -> Iterator[Content]:
    table: list[Content] = []
    for line, below in pairwise([*lines, Content("")]):
        is_row = "|" in line.plain
        if table and not is_row:
            yield from _draw_table(table, width)
            table = []
        if is_row and (
            table or ("|" in below.plain and _DELIMITERS.fullmatch(below.plain.strip()))
        ):
            table.append(line)
        else:
            yield from _draw_line(line, width)
    if table:
        yield from _draw_table(table, width)


def _draw_line(line: Content, width: int) -> Iterator[Content]:
    text = line.plain
    if fence := FENCE.match(text):
        if info := text[fence.end(1) :].lstrip():
            yield from _draw_code([line[-len(info) :]], width, fence.start(1))
        return
    if _RULE.fullmatch(text):
        yield Content.styled("─" * width, "$rule")
        return
    lead = _LEAD.match(text)
    assert lead is not None
    bars = f"{lead[1]}{'│ ' * lead[2].count('>')}{lead[3]}"
    below = head = Content.styled(bars, "$context")
    if item := lead[4]:
        is_number = item[0].isdigit()
        sign = line[lead.start(4) : lead.end()] if is_number else Content("• ")
        head, below = head + sign, head.pad_right(len(sign.plain))
    body = _remove_signs(line[lead.end() :])
    if head.cell_length > width // 2:
        yield from (head + body).wrap(width)
        return
    for number, row in enumerate(body.wrap(width - head.cell_length)):
        yield (below if number else head) + row


def _remove_signs(line: Content) -> Content:
    signs = sorted((start, end) for start, end, style in line.spans if style == SIGN)
    parts = line.divide([edge for sign in signs for edge in sign])
    for at in range(1, len(parts), 2):
        # The address of a link stands in parentheses behind its text.
        parts[at] = Content(" (" if parts[at].plain == "](" else "")
    return Content("").join(parts)


def _draw_table(lines: Sequence[Content], width: int) -> Iterator[Content]:
    """Draw a table, or leave it as it is if it has no room."""
    rows = [_split_row(line) for line in lines]
    columns = max(map(len, rows))
    room = width - len(COLUMN_GAP) * (columns - 1)
    if room < columns * MIN_CELL:
        for line in lines:
            yield from line.wrap(width)
        return
    widths = [0] * columns
    for row in (rows[0], *rows[2:]):
        for at, cell in enumerate(row):
            widths[at] = max(widths[at], cell.cell_length)
    for done, at in enumerate(sorted(range(columns), key=widths.__getitem__)):
        # The narrow ones leave their room to the others.
        widths[at] = min(widths[at], room // (columns - done))
        room -= widths[at]
    is_right = [cell.plain.endswith(":") for cell in rows[1]] + [False] * columns
    gap = Content.styled(COLUMN_GAP, "$rule")
    for number, row in enumerate(rows):
        if number == 1:
            rule = "─┼─".join("─" * column for column in widths)
            yield Content.styled(rule, "$rule")
            continue
        cells = [cell.wrap(max(2, widths[at])) for at, cell in enumerate(row)]
        for parts in zip_longest(*cells, fillvalue=Content("")):
            fields = []
            for at, part in enumerate(parts):
                free = max(0, widths[at] - part.cell_length)
                field = part.pad_left(free) if is_right[at] else part.pad_right(free)
                fields.append(field if number else field.stylize_before("bold"))
            yield gap.join(fields)


def _split_row(line: Content) -> list[Content]:
    """Return the cells of a row; the signs at its ends belong to no cell."""
    ends = [match.start(1) for match in _CELL_END.finditer(line.plain) if match[1]]
    cells = line.divide([edge for end in ends for edge in (end, end + 1)])[::2]
    for end in (0, -1):
        if len(cells) > 1 and not cells[end].plain.strip():
            cells.pop(end)
    starts = (len(cell.plain) - len(cell.plain.lstrip()) for cell in cells)
    return [
        _remove_signs(cell[start:].rstrip())
        for cell, start in zip(cells, starts, strict=True)
    ]
