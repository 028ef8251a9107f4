"""The line of keys at the bottom of a screen."""

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Static

from memtui.tui import commands

GAP = 2
"""The space between two keys, in cells."""


class KeyHint(Static):
    """A key and what it does; a click presses it."""

    def __init__(self, binding: Binding, key_display: str, tooltip: str) -> None:
        self.binding, self.key_display = binding, key_display
        text = Content.assemble(
            (key_display, "bold $footer-key-foreground"),
            (f" {binding.description}", "$footer-description-foreground"),
        )
        super().__init__(text)
        self.cells = text.cell_length
        self.tooltip = tooltip

    def on_click(self) -> None:
        self.app.simulate_key(self.binding.key)


class KeyLine(Horizontal):
    """Shows whole keys only, the most important ones where it is narrow.

    A screen lists the actions it would refuse at the moment in its ``refused``: their
    keys explain why when pressed, and are not shown here.
    """

    def __init__(self, *also: str) -> None:
        """Create the line.

        Args:
            also: Commands of the app to show besides those of the screen.
        """
        super().__init__()
        self._also = also

    def compose(self) -> ComposeResult:
        """Yield the keys that fit, in the order of the commands."""
        refused = getattr(self.screen, "refused", ())
        by_action = {
            active.binding.action: KeyHint(
                active.binding,
                self.app.get_key_display(active.binding),
                active.tooltip,
            )
            for active in self.screen.active_bindings.values()
            if active.binding.show or active.binding.id in self._also
            if active.binding.action not in refused
        }
        keys = [*by_action.values()]
        sizes = [(_rank(key.binding), key.cells) for key in keys]
        for index in fit_keys(sizes, self.size.width):
            yield keys[index]

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, lambda _: self._update())

    def on_resize(self) -> None:
        self._update()

    def _update(self) -> None:
        if self.app.app_focus:
            self.call_after_refresh(self.recompose)


def _rank(binding: Binding) -> int:
    return commands.get_command(binding.id).rank if binding.id else 0


def fit_keys(sizes: Sequence[tuple[int, int]], width: int) -> Sequence[int]:
    """Return the indexes of the keys that fit, in their order.

    Args:
        sizes: Rank and width of each key. The highest rank is dropped first, the last
            key of it before the others; rank 0 is never dropped.
        width: The available cells.
    """
    shown = [*range(len(sizes))]
    while sum(sizes[index][1] + GAP for index in shown) - GAP > width:
        least = max(shown, key=lambda index: (sizes[index][0], index))
        if not sizes[least][0]:
            break
        shown.remove(least)
    return shown
