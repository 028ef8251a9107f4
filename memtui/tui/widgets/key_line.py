"""The line of keys at the bottom of a screen."""

from collections.abc import Sequence
from typing import NamedTuple

from textual import events
from textual.binding import Binding
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from memtui.tui import commands

GAP = 2
"""The space between two keys, in cells."""


class KeyHint(NamedTuple):
    """A key and what it does."""

    binding: Binding
    key_display: str

    @property
    def text(self) -> Content:
        return Content.assemble(
            (self.key_display, "bold $footer-key-foreground"),
            (f" {self.binding.description}", "$footer-description-foreground"),
        )


class KeyLine(Widget):
    """Shows whole keys only, the most important ones where it is narrow.

    A screen lists the actions it would refuse at the moment in its ``refused``: their
    keys explain why when pressed, and are not shown here.
    """

    hints: reactive[tuple[KeyHint, ...]] = reactive(())
    """The keys that fit, in the order of the commands."""

    def __init__(self, *also: str) -> None:
        """Create the line.

        Args:
            also: Commands of the app to show besides those of the screen.
        """
        super().__init__()
        self._also = also

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, lambda _: self._update())

    def on_resize(self) -> None:
        self._update()

    def _update(self) -> None:
        refused = getattr(self.screen, "refused", ())
        by_action = {
            active.binding.action: KeyHint(
                active.binding, self.app.get_key_display(active.binding)
            )
            for active in self.screen.active_bindings.values()
            if active.binding.show or active.binding.id in self._also
            if active.binding.action not in refused
        }
        keys = [*by_action.values()]
        sizes = [(_rank(key.binding), key.text.cell_length) for key in keys]
        self.hints = tuple(keys[index] for index in fit_keys(sizes, self.size.width))

    def render(self) -> Content:
        return Content(" " * GAP).join(hint.text for hint in self.hints)

    def on_click(self, event: events.Click) -> None:
        """Press the key under the mouse."""
        end = 0
        for hint in self.hints:
            end += hint.text.cell_length + GAP
            if event.get_content_offset_capture(self).x < end:
                self.app.simulate_key(hint.binding.key)
                break


def _rank(binding: Binding) -> int:
    """Return the rank of a command; of the keys of a dialog, enter and escape stay."""
    if binding.id:
        return commands.get_command(binding.id).rank
    return 0 if binding.key in ("enter", "escape") else 1


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
