"""Steering the model's jobs: what is noted here is done by the memtui that works."""

from collections.abc import Sequence
from datetime import datetime

from memtui.memory.events import to_ms
from memtui.memory.jobs import Job
from memtui.store import database, jobs


def pause(chosen: Sequence[Job]) -> None:
    """Let jobs rest, also over restarts, until they are resumed.

    They run then only when they are asked for; what was asked before is dropped.
    """
    with database.writing():
        jobs.set_paused(chosen, True)


def resume(chosen: Sequence[Job]) -> None:
    """Let jobs run again; a time that they missed is made up for once."""
    with database.writing():
        jobs.set_paused(chosen, False)


def ask(chosen: Sequence[Job], now: datetime) -> None:
    """Ask for a run now, or as soon as a memtui works."""
    with database.writing():
        for job in chosen:
            jobs.ask(job, to_ms(now))
