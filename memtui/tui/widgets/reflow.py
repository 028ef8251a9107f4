"""Text that is laid out anew at any width, and takes all there is."""

from collections.abc import Sequence

from textual.content import Content
from textual.css.styles import RulesMap
from textual.strip import Strip
from textual.style import Style
from textual.visual import RenderOptions, Visual


class Reflowing(Visual):
    """What is drawn is the lines that ``lay_out`` gives."""

    def lay_out(self, width: int) -> Content:
        """The lines at a width, in cells."""
        raise NotImplementedError

    def render_strips(
        self, width: int, height: int | None, style: Style, options: RenderOptions
    ) -> list[Strip]:
        """Draw the lines."""
        return self.lay_out(width).render_strips(width, height, style, options)

    def get_optimal_width(self, rules: RulesMap, container_width: int) -> int:
        """All there is: text takes the width it is given."""
        return container_width

    def get_height(self, rules: RulesMap, width: int) -> int:
        """How many lines there are at a width."""
        return self.lay_out(width).get_height(rules, width)


GAP_CELLS = 2
"""The least space between the paragraph and what stands at its right end."""


LEAST_CELLS = 12
"""The narrowest paragraph; where there is less room the right end is left out."""


class Hanging(Reflowing):
    """Lays a paragraph out under itself, clear of its mark and of its right end.

    ``Content`` made from outside text is, like rich's ``Text``, never read as markup;
    unlike it, it can name the theme's colours.
    """

    def __init__(
        self,
        mark: Content,
        paragraph: Content,
        end: Content | None = None,
        under: Sequence[Content] = (),
    ) -> None:
        """Put the parts together.

        Args:
            mark: What stands before the first line.
            paragraph: The text.
            end: What stands at the right end of the first line.
            under: Further paragraphs, which take the whole width and are indented.
        """
        self.mark, self.paragraph, self.end = mark, paragraph, end or Content("")
        self.under = under
        self._laid: tuple[int, Content] | None = None

    def lay_out(self, width: int) -> Content:
        """The lines at a width, in cells."""
        if self._laid is not None and self._laid[0] == width:
            return self._laid[1]
        indent = self.mark.cell_length
        taken = self.end.cell_length + GAP_CELLS if self.end else 0
        if width - indent - taken < LEAST_CELLS:
            taken = 0
        room = max(1, width - indent - taken)
        first, *rest = self.paragraph.wrap(room)
        lines = [self.mark + first]
        if taken:
            pad = room - first.cell_length + GAP_CELLS
            lines = [self.mark + first + " " * pad + self.end]
        lines += [Content(" " * indent) + line for line in rest]
        for further in self.under:
            wrapped = further.wrap(max(1, width - indent - GAP_CELLS))
            lines += [Content(" " * (indent + GAP_CELLS)) + line for line in wrapped]
        laid = Content("\n").join(lines)
        self._laid = width, laid
        return laid
