"""The line of keys at the bottom of a screen."""

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from textual import events
from textual.binding import ActiveBinding, Binding
from textual.widgets import Footer
from textual.widgets._footer import FooterKey

from memtui.tui import commands

GAP = 2
"""The space between two keys, in cells."""


class KeyLine(Footer):
    """A footer that shows whole keys only, the most important ones where it is narrow.

    A screen lists the actions it would refuse at the moment in its ``refused``: their
    keys explain why when pressed, and are not shown here.
    """

    def __init__(self, *also: str) -> None:
        """Create the line.

        Args:
            also: Commands of the app to show besides those of the screen.
        """
        super().__init__(show_command_palette=False, compact=True)
        self._also = also

    def compose(self) -> Iterator[FooterKey]:
        """Yield the keys that fit, in the order of the commands."""
        if not self._bindings_ready:
            return
        refused = getattr(self.screen, "refused", ())
        by_action = {
            active.binding.action: active
            for active in self.screen.active_bindings.values()
            if active.binding.show or active.binding.id in self._also
            if active.binding.action not in refused
        }
        keys = [*by_action.values()]
        sizes = [(_rank(key.binding), self._width(key.binding)) for key in keys]
        for index in fit_keys(sizes, self.size.width):
            yield self._key(keys[index])

    def _width(self, binding: Binding) -> int:
        return cell_len(f"{self.app.get_key_display(binding)} {binding.description}")

    def _key(self, active: ActiveBinding) -> FooterKey:
        binding = active.binding
        return FooterKey(
            binding.key,
            self.app.get_key_display(binding),
            binding.description,
            binding.action,
            disabled=not active.enabled,
            tooltip=active.tooltip,
        ).data_bind(compact=Footer.compact)

    def on_resize(self, event: events.Resize) -> None:
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
