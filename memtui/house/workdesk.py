"""The desk of the work behind: who looks at it, and who steers the model's jobs."""

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from memtui.curate import jobs as steered
from memtui.house import promises
from memtui.memory.jobs import Job
from memtui.recall import works

if TYPE_CHECKING:
    from memtui.memory.schedules import Plan
    from memtui.paths import Paths
    from memtui.recall.works import Work
    from memtui.settings import Settings


class Desk:
    """Reads and writes what is noted of the jobs; who works reads it there."""

    def __init__(
        self,
        paths: "Paths",
        settings: "Settings",
        plan: "Callable[[], Plan]",
        clock: Callable[[], datetime],
    ) -> None:
        """Remember where to look.

        Args:
            paths: The places of the store.
            settings: They say whether a model is asked at all.
            plan: Tells when the jobs are due.
            clock: The time, aware.
        """
        self._paths, self._settings = paths, settings
        self._plan, self._clock = plan, clock

    @property
    def note(self) -> str:
        """Why no model is ever asked; "" if one is."""
        return promises.no_model(self._settings)

    def look(self) -> "Work":
        """What waits for each stage, and how the jobs stand."""
        is_worked = promises.is_worked(self._paths)
        spool, plan = self._paths.spool, self._plan()
        return works.look(spool, plan, self._clock(), is_worked=is_worked)

    def pause(self, job: Job) -> None:
        """Let a job rest until it is resumed."""
        steered.pause([job])

    def resume(self, job: Job) -> None:
        """Let a job run again."""
        steered.resume([job])

    def ask(self, job: Job) -> str:
        """Ask for a run now; who does it and when, or why nobody does."""
        steered.ask([job], self._clock())
        return promises.told(self._settings, promises.is_worked(self._paths))
