"""Text that is laid out anew at any width, and takes all there is."""

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
