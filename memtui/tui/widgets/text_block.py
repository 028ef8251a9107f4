"""Text that is laid out for the width it gets.

``Content`` made from stored text is, like rich's ``Text``, never read as markup; unlike
it, it can name the colors of the theme.
"""

from collections.abc import Sequence

from textual.content import Content, Span
from textual.css.styles import RulesMap
from textual.strip import Strip
from textual.style import Style
from textual.visual import RenderOptions, Visual

GAP = 2  # The smallest space between two parts of a line, in cells.

MIN_WIDTH = 12
"""The narrowest paragraph; below it the text at the right end is left out."""

_DIM_SELECTED = "$footer-foreground"
"""The dim color on the brighter background of the cursor."""


def spread(left: Content, right: Content, width: int) -> Content:
    """Return two parts at both ends of a line; the left one is cut if necessary."""
    if not right:
        return left.truncate(max(0, width), ellipsis=True)
    left = left.truncate(max(0, width - right.cell_length - GAP), ellipsis=True)
    return left + " " * (width - left.cell_length - right.cell_length) + right


def mark_selected(row: Content) -> Content:
    """Make what is dim in a row readable under the cursor."""
    spans = [
        Span(span.start, span.end, _DIM_SELECTED) if span.style == "$context" else span
        for span in row.spans
    ]
    return Content(row.plain, spans)


class TextBlock(Visual):
    """The base of visuals whose lines depend on the width, which they fill."""

    _cached: tuple[int, Content] | None = None

    def lay_out(self, width: int) -> Content:
        if self._cached is None or self._cached[0] != width:
            self._cached = width, self.compose_lines(width)
        return self._cached[1]

    def compose_lines(self, width: int) -> Content:
        """Compose the lines for a width in cells; the result is cached."""
        raise NotImplementedError

    def render_strips(
        self, width: int, height: int | None, style: Style, options: RenderOptions
    ) -> list[Strip]:
        return self.lay_out(width).render_strips(width, height, style, options)

    def get_optimal_width(self, rules: RulesMap, container_width: int) -> int:
        return container_width

    def get_height(self, rules: RulesMap, width: int) -> int:
        return self.lay_out(width).get_height(rules, width)


class Paragraph(TextBlock):
    """A paragraph with a hanging indent, after a mark and beside a right-hand text."""

    def __init__(
        self,
        mark: Content,
        paragraph: Content,
        end: Content | None = None,
        under: Sequence[Content] = (),
    ) -> None:
        """Create a paragraph.

        Args:
            mark: Text before the first line.
            paragraph: The text itself.
            end: Text at the right end of the first line, if there is room.
            under: Further paragraphs, indented, over the whole width.
        """
        self.mark, self.paragraph, self.end = mark, paragraph, end or Content("")
        self.under = under

    def compose_lines(self, width: int) -> Content:
        indent = self.mark.cell_length
        reserved = self.end.cell_length + GAP if self.end else 0
        if width - indent - reserved < MIN_WIDTH:
            reserved = 0
        room = max(1, width - indent - reserved)
        first, *others = self.paragraph.wrap(room)
        lines = [self.mark + first]
        if reserved:
            padding = " " * (room - first.cell_length + GAP)
            lines = [self.mark + first + padding + self.end]
        lines += [Content(" " * indent) + line for line in others]
        for paragraph in self.under:
            wrapped = paragraph.wrap(max(1, width - indent - GAP))
            lines += [Content(" " * (indent + GAP)) + line for line in wrapped]
        return Content("\n").join(lines)


class Stack(TextBlock):
    """Texts and blocks below each other, each from the start of a line."""

    def __init__(self, *parts: Content | TextBlock) -> None:
        self.parts = parts

    def compose_lines(self, width: int) -> Content:
        return Content("\n").join(
            part.lay_out(width) if isinstance(part, TextBlock) else part
            for part in self.parts
        )
