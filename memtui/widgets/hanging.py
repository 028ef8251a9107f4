"""A paragraph with a mark before it and a word at its right end, at any width."""

from collections.abc import Sequence

from textual.content import Content

from memtui.widgets.reflowing import Reflowing

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
