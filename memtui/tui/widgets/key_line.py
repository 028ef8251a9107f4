"""The line of keys at the bottom: whole entries alone, as many as there is room for."""

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from textual import events
from textual.binding import ActiveBinding, Binding
from textual.widgets import Footer
from textual.widgets._footer import FooterKey

from memtui.tui import commands

GAP = 2
"""The room between two entries, in cells."""


class KeyLine(Footer):
    """Leaves out what matters least where it is narrow; some keys always stay.

    What a screen would refuse just now it names as ``refused``: the key says why, and
    is not offered.
    """

    def __init__(self, *also: str) -> None:
        """Make the line.

        Args:
            also: Commands of the app that are shown here, besides what always is.
        """
        super().__init__(show_command_palette=False, compact=True)
        self._also = also

    def compose(self) -> Iterator[FooterKey]:
        """The entries that fit, in the order of the keys."""
        if not self._bindings_ready:
            return
        refused = getattr(self.screen, "refused", ())
        wanted = {
            one.binding.action: one
            for one in self.screen.active_bindings.values()
            if one.binding.show or one.binding.id in self._also
            if one.binding.action not in refused
        }
        some = [*wanted.values()]
        sizes = [(_rank(one.binding), self._cells(one.binding)) for one in some]
        for at in fitting(sizes, self.size.width):
            yield self._entry(some[at])

    def _cells(self, binding: Binding) -> int:
        return cell_len(f"{self.app.get_key_display(binding)} {binding.description}")

    def _entry(self, one: ActiveBinding) -> FooterKey:
        binding = one.binding
        return FooterKey(
            binding.key,
            self.app.get_key_display(binding),
            binding.description,
            binding.action,
            disabled=not one.enabled,
            tooltip=one.tooltip,
        ).data_bind(compact=Footer.compact)

    def on_resize(self, event: events.Resize) -> None:
        """Choose anew what fits."""
        self.call_after_refresh(self.recompose)


def _rank(binding: Binding) -> int:
    return commands.named(binding.id).rank if binding.id else 0


def fitting(sizes: Sequence[tuple[int, int]], room: int) -> Sequence[int]:
    """Which entries fit, in their order: the highest rank goes first.

    Args:
        sizes: The rank and the cells of each; of one rank, the last goes first.
        room: How many cells there are.
    """
    kept = [*range(len(sizes))]
    while sum(sizes[at][1] + GAP for at in kept) - GAP > room:
        least = max(kept, key=lambda at: (sizes[at][0], at))
        if not sizes[least][0]:
            break
        kept.remove(least)
    return kept
