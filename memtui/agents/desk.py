"""What a screen may ask of hooks: how it stands, what would change, to change it."""

from collections.abc import Callable, Sequence

from memtui.agents import changes, installations, known
from memtui.agents.changes import Change
from memtui.agents.installations import Installation
from memtui.agents.machine import Machine


class Desk:
    """Looks, plans and writes on one machine."""

    def __init__(self, machine: Machine) -> None:
        """Remember the machine."""
        self._machine = machine

    def look(self) -> Sequence[Installation]:
        """How it stands with each agent; runs the commands that are installed."""
        return installations.installed(self._machine)

    def plan(self, agent: str, *, is_removal: bool) -> Change:
        """What would become of an agent's settings.

        Raises:
            HooksError: They are none that can be changed.
        """
        make: Callable[[known.Agent, Machine], Change]
        make = changes.uninstall if is_removal else changes.install
        return make(known.named(agent), self._machine)

    def write(self, change: Change) -> None:
        """Write a change that was planned.

        Raises:
            HooksError: The settings are others by now, or cannot be written.
        """
        changes.write(change, self._machine)
