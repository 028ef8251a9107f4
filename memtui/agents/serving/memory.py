"""What the server needs of the memory it answers from; who starts it has it all."""

from datetime import datetime, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from memtui.memory.schedules import Plan
    from memtui.memory.tokens import Counter
    from memtui.recall.asking import Asking


class Memory(Protocol):
    """A memory that is open. Another process may be at work in it, or none."""

    @property
    def zone(self) -> tzinfo:
        """The store's time zone: all times are told in it."""

    @property
    def asking(self) -> "Asking":
        """Who answers."""

    @property
    def counter(self) -> "Counter":
        """By what tokens are counted."""

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
