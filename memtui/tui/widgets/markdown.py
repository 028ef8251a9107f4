"""Markdown, as it is written but in colors, or drawn as lines of a width.

The lines of a text stay lines: messages are not paragraphs of a book. Drawing removes
or replaces nothing but the signs of Markdown, so that marks stay on their characters.
"""

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache

from textual.content import Content, Span

TAB = 4  # The distance of tab stops, in cells.
MAX_HIGHLIGHTED = 20_000  # The longest code block that is highlighted, in characters.

FENCE = re.compile(r" *(```+|~~~+)\s*([\w+#.-]*)")
"""A line that opens or closes a code block."""

_HEADING = re.compile(r"(#{1,6}) +(?=\S)")
_RULE = re.compile(r" {0,3}([-*_])(?: *\1){2,} *")
_LEAD = re.compile(r" *((?:> ?)*) *(?:([-*+]|\d{1,9}[.)]) +(?=\S))?")
"""What a line begins with: the signs of quotations, and that of an item of a list."""

_SIGN = re.compile(r"[`*_~\[]")
_CODE_OR_ADDRESS = re.compile(
    r"``(?:[^`\n]|`(?!`))+``|`[^`\n]+`|(?<=\]\()[^()\s]+(?=\))|https?://\S+"
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

_ROW_END = re.compile(r"`[^`]*`|\\\||(\|)")
"""The end of a cell, in group 1, or what may contain such a sign."""

_DELIMITERS = re.compile(r"\|? *:?-+:? *(?:\| *:?-+:? *)*\|?")
"""The line below the headings of a table."""

MIN_CELL = 6  # The narrowest column of a table whose cells are wrapped.
COLUMN_GAP = " │ "
MINOR_HEADING = 3  # The first level of headings that have no color.
CODE_MARGIN = 1  # The space on both sides of code, in cells.

CODE_STYLES: dict[tuple[str, ...], str] = {
    ("Comment",): "italic $context",
    ("Keyword",): "$accent",
    ("Literal", "Number"): "$evidence",
    ("Literal", "String"): "$success",
    ("Name", "Function"): "bold",
    ("Name", "Class"): "bold",
    ("Name", "Tag"): "$accent",
    ("Generic", "Deleted"): "$error",
    ("Generic", "Inserted"): "$success",
    ("Generic", "Heading"): "bold",
}
"""The styles of code, by the kinds of Pygments; all others are plain."""

Edit = tuple[int, int, str]
"""Signs of Markdown in a line, and what is drawn in place of them."""


# As it is written


def style(text: str) -> Content:
    """Style code, headings and emphasis; every character but tabs stays as it is."""
    lines: list[Content] = []
    for is_code, language, block in _split_code(text.expandtabs(TAB)):
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
    if heading := _HEADING.match(line):
        return content.stylize("bold").stylize("$context", 0, heading.end(1))
    spans, edits = _read_inline(line)
    # The signs are part of the text and stay, but dim.
    signs = [Span(start, end, "not bold $context") for start, end, _ in edits]
    return content.add_spans([*spans, *signs])


def _read_inline(line: str) -> tuple[list[Span], list[Edit]]:
    """Return the styles within a line, and its signs."""
    if _SIGN.search(line) is None:
        return [], []
    matches = [match.span() for match in _CODE_OR_ADDRESS.finditer(line)]
    spans = [
        Span(first, last, "$accent") for first, last in matches if line[first] == "`"
    ]
    edits: list[Edit] = []
    for first, last in matches:
        if line[first] == "`":
            size = 2 if line.startswith("``", first) else 1
            edits += [(first, first + size, ""), (last - size, last, "")]
    for pattern, name, size in _EMPHASIS:
        for match in pattern.finditer(line):
            start, end = match.span()
            if _is_inside(start, matches) or _is_inside(end, matches):
                continue  # Two arguments in code: `**one` and `**other`.
            spans.append(Span(start, end, name))
            edits += [(start, start + size, ""), (end - size, end, "")]
    for match in _LINK.finditer(line):
        start, end = match.span()
        if not _is_inside(start, matches):
            spans.append(Span(match.start(1) + 1, end, "$context"))
            edits += [(start, start + 1, ""), (*match.span(1), " (")]
    return spans, sorted(edits)


def _is_inside(position: int, spans: Sequence[tuple[int, int]]) -> bool:
    """Return whether a position is within one of some spans, which are in order."""
    place = bisect_left(spans, (position, 0)) - 1
    return place >= 0 and position < spans[place][1]


def _style_code(code: str, language: str) -> Content:
    is_known = language and len(code) <= MAX_HIGHLIGHTED
    return _highlight(code, language.lower()) if is_known else Content(code)


@lru_cache(maxsize=256)
def _highlight(code: str, language: str) -> Content:
    from textual.highlight import HighlightTheme, highlight  # Pygments takes 10 ms

    class CodeTheme(HighlightTheme):
        STYLES = CODE_STYLES

    # The highlighter takes carriage returns and form feeds for ends of lines.
    if code.splitlines() != code.split("\n"):
        return Content(code)
    return highlight(code, language=language, theme=CodeTheme)


# Drawn


def lay_out(
    text: Content, width: int, marks: Collection[str] = ()
) -> list[Content] | None:
    """Draw a text that was styled, as lines of at most a width in cells.

    Args:
        marks: The styles of spans that must stay visible. None is returned if one of
            them has nothing but signs of Markdown.
    """
    lines, drawing = text.split("\n", allow_blank=True), _Drawing(width, marks)
    at = indent = 0
    for is_code, _, block in _split_code(text.plain):
        part = lines[at : at + len(block)]
        at += len(block)
        if is_code:
            drawing.draw_code(part, indent)
            continue
        drawing.draw_text(part)
        indent = len(block[-1]) - len(block[-1].lstrip()) if block else 0
    return None if drawing.hides_mark else drawing.lines


class _Drawing:
    def __init__(self, width: int, marks: Collection[str]) -> None:
        self.lines: list[Content] = []
        self.hides_mark = False
        self._width, self._marks = max(2, width), marks

    def draw_code(self, lines: Sequence[Content], indent: int) -> None:
        """Draw a block of code whose fence is indented."""
        margin = Content(" " * CODE_MARGIN)
        indent = min(indent, self._width // 2)
        width = self._width - indent
        for line in lines:
            start = min(indent, len(line.plain) - len(line.plain.lstrip(" ")))
            for row in line[start:].wrap(max(2, width - 2 * CODE_MARGIN)):
                row = margin + row
                row = row.pad_right(max(0, width - row.cell_length))
                self.lines.append(" " * indent + row.stylize_before("on $panel"))

    def draw_text(self, lines: Sequence[Content]) -> None:
        at = 0
        while at < len(lines):
            end = _find_table_end(lines, at)
            if not self._draw_table(lines[at:end]):
                end = max(end, at + 1)
                for line in lines[at:end]:
                    self._draw_line(line)
            at = end

    def _draw_line(self, line: Content) -> None:
        text = line.plain
        if fence := FENCE.match(text):
            self._check(line, [(0, fence.end(1), "")])
            if info := text[fence.end(1) :].lstrip():
                self.draw_code([line[-len(info) :]], fence.start(1))
            return
        if _RULE.fullmatch(text):
            self._check(line, [(0, len(text), "")])
            self.lines.append(Content.styled("─" * self._width, "$rule"))
            return
        edits, by = _read_inline(text)[1], 0
        if heading := _HEADING.match(text):
            edits.insert(0, (0, heading.end(), ""))
            if len(heading[1]) < MINOR_HEADING:
                line = line.stylize_before("$accent")
        elif lead := _LEAD.match(text):
            by = lead.end()
            edits = [edit for edit in edits if edit[0] >= by]
            if lead[2] and not lead[2][0].isdigit():
                edits.insert(0, (*lead.span(2), "•"))
            if lead[1]:
                edits.insert(0, (*lead.span(1), "│ " * lead[1].count(">")))
        self._check(line, edits)
        before = _replace(line[:by], [edit for edit in edits if edit[0] < by])
        body = [(a - by, b - by, new) for a, b, new in edits if a >= by]
        self._hang(before, _replace(line[by:], body))

    def _hang(self, lead: Content, text: Content) -> None:
        """Draw a text below itself, after what its line begins with."""
        room = self._width - lead.cell_length
        if room < self._width // 2:
            self.lines += (lead + text).wrap(self._width)
            return
        below = Content.styled(re.sub("[^│]", " ", lead.plain), "$context")
        for number, row in enumerate(text.wrap(room) or [Content("")]):
            self.lines.append((below if number else lead) + row)

    def _check(self, line: Content, edits: Sequence[Edit]) -> None:
        """Note if a mark has nothing but signs that are replaced."""
        for start, end, style in line.spans:
            if style in self._marks:
                hidden = sum(max(0, min(end, b) - max(start, a)) for a, b, _ in edits)
                self.hides_mark |= hidden >= end - start

    # Tables

    def _draw_table(self, lines: Sequence[Content]) -> bool:
        """Draw a table; False if there is none, or if it is too wide."""
        if not lines:
            return False
        head, delimiters, *body = lines
        rows = [self._split_row(line) for line in (head, *body)]
        columns = max(map(len, rows))
        widths = [
            max(row[at].cell_length if at < len(row) else 0 for row in rows)
            for at in range(columns)
        ]
        room = self._width - len(COLUMN_GAP) * (columns - 1)
        if columns * MIN_CELL > room and sum(widths) > room:
            return False
        self._check(delimiters, [(0, len(delimiters.plain), "")])
        widths = _fit_columns(widths, room)
        ends = [cell.plain.endswith(":") for cell in self._split_row(delimiters)]
        gap = Content.styled(COLUMN_GAP, "$rule")
        for number, row in enumerate(rows):
            cells = [cell.wrap(max(2, widths[at])) for at, cell in enumerate(row)]
            cells += [[]] * (columns - len(cells))
            for part in range(max(1, *map(len, cells))):
                fields = []
                for at, cell in enumerate(cells):
                    field = cell[part] if part < len(cell) else Content("")
                    free = max(0, widths[at] - field.cell_length)
                    is_right = at < len(ends) and ends[at]
                    field = field.pad_left(free) if is_right else field.pad_right(free)
                    fields.append(field if number else field.stylize_before("bold"))
                self.lines.append(gap.join(fields))
            if not number:
                rule = "─┼─".join("─" * width for width in widths)
                self.lines.append(Content.styled(rule, "$rule"))
        return True

    def _split_row(self, line: Content) -> list[Content]:
        text = line.plain
        ends = [match.start(1) for match in _ROW_END.finditer(text) if match[1]]
        self._check(line, [(end, end + 1, "") for end in ends])
        cells = []
        for start, end in zip([-1, *ends], [*ends, len(text)], strict=True):
            cell = text[start + 1 : end]
            start += 1 + len(cell) - len(cell.lstrip())
            own = line[start : start + len(cell.strip())]
            edits = _read_inline(own.plain)[1]
            self._check(own, edits)
            cells.append(_replace(own, edits))
        # The signs at both ends of the line belong to no cell.
        cells = cells[1:] if text.lstrip().startswith("|") else cells
        return cells[:-1] if text.rstrip().endswith("|") and cells[1:] else cells


def _replace(line: Content, edits: Sequence[Edit]) -> Content:
    if not edits:
        return line
    parts = line.divide([edge for start, end, _ in edits for edge in (start, end)])
    for number, (_, _, new) in enumerate(edits):
        parts[2 * number + 1] = Content.styled(new, "$context")
    return Content("").join(parts)


def _find_table_end(lines: Sequence[Content], start: int) -> int:
    """Return where the table ends that starts at a line; the line if none does."""
    below = lines[start + 1].plain if start + 1 < len(lines) else ""
    if "|" not in lines[start].plain or "-" not in below or "|" not in below:
        return start
    if not _DELIMITERS.fullmatch(below.strip()):
        return start
    end = start + 2
    while end < len(lines) and "|" in lines[end].plain:
        end += 1
    return end


def _fit_columns(widths: Sequence[int], room: int) -> list[int]:
    """Narrow the widest columns until all have room."""
    fitted = [0] * len(widths)
    order = sorted(range(len(widths)), key=lambda at: widths[at])
    for done, at in enumerate(order):
        fitted[at] = min(widths[at], room // (len(widths) - done))
        room -= fitted[at]
    return fitted
