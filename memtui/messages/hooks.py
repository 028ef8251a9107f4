"""What the screen of hooks hears of agents' settings."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from memtui.agents.changes import Change
    from memtui.agents.installations import Installation


class HooksFound(Message):
    """It is known how it stands with the hooks of each agent."""

    def __init__(self, installations: "Sequence[Installation]") -> None:
        super().__init__()
        self.installations = installations


class ChangePlanned(Message):
    """It is known what would become of an agent's settings."""

    def __init__(self, change: "Change") -> None:
        super().__init__()
        self.change = change


class ChangeWritten(Message):
    """An agent's settings have been changed; how it stands now."""

    def __init__(self, agent: str, installations: "Sequence[Installation]") -> None:
        super().__init__()
        self.agent, self.installations = agent, installations
