"""What the server needs of the memory it answers from; who starts it has it all."""

from datetime import datetime, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from memtui.memory.schedules import Plan
    from memtui.recall.search import Search
    from memtui.recall.talk import Talk
    from memtui.recall.teleport import Teleport


class Memory(Protocol):
    """A memory that is open. Another process may be at work in it, or none."""

    @property
    def zone(self) -> tzinfo:
        """The store's time zone: all times are told in it."""

    @property
    def teleport(self) -> "Teleport":
        """Who answers from summaries."""

    @property
    def search(self) -> "Search":
        """Who answers from everything there is."""

    @property
    def talk(self) -> "Talk":
        """Who answers from what was said in sessions."""

    @property
    def plan(self) -> "Plan":
        """When the model's jobs are due."""

    @property
    def spool(self) -> Path:
        """Where events are left that are to be kept."""

    def now(self) -> datetime:
        """The time."""

    def is_worked(self) -> bool | None:
        """Whether any process works the store; None if that is not known."""

    def promise(self) -> str:
        """Who will do what is asked of a model, and when."""
