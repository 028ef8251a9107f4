"""What the screen of the work behind hears."""

from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from memtui.recall.works import Work


class WorkSeen(Message):
    """What waits and how the jobs stand has been read."""

    def __init__(self, work: "Work") -> None:
        super().__init__()
        self.work = work


class JobSteered(Message):
    """A job was paused, resumed or asked for."""

    def __init__(self, said: str) -> None:
        super().__init__()
        self.said = said
