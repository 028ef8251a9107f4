"""The work behind, looked at: what waits for each stage, and how the jobs stand."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from memtui.memory.events import to_ms
from memtui.memory.jobs import Job, Run
from memtui.memory.schedules import Plan
from memtui.recall import jobs
from memtui.recall.jobs import Status
from memtui.sources.spool import Spool
from memtui.store import database, dirty, facts, outbox, segments, wanted
from memtui.store.facts import Found

RUNS = 50
"""How many runs of a job are looked at."""


@dataclass(frozen=True, slots=True)
class Work:
    """All of it, as it stands at one moment."""

    queues: Mapping[str, int]
    """How much waits for each stage; a stage that cannot tell is left out."""
    failing: int
    """How many summaries and roll-ups failed, and wait for another try."""
    jobs: Sequence[Status]
    waiting: Mapping[Job, int]
    """How many nodes want a version by each job."""
    runs: Mapping[Job, Sequence[Run]]
    """The runs of each job, the latest first."""
    found: Found | None
    """How the memtui that works last found its model; None if none has looked yet."""


def look(spool: Path, plan: Plan, now: datetime, *, is_worked: bool | None) -> Work:
    """Look at it.

    Args:
        spool: Where hooks leave their files.
        plan: When the jobs are due.
        now: The time.
        is_worked: Whether any process works this store; None if that is not known.
    """
    now_ms = to_ms(now)
    with database.connected():
        queues = {
            "ingest": len(Spool(spool).names()),
            "segment": outbox.length(outbox.UPDATE_TOC),
            "summarize": segments.count_waiting(),
            "rollup": dirty.count(),
            "index": outbox.length(outbox.INDEX_NODE),
            "messages": outbox.added_lately(0)[1],
        }
        failing = segments.count_failing(now_ms) + dirty.count_failing(now_ms)
        found = facts.model()
        waiting = {job: wanted.count(job.level) for job in Job}
    runs = {job: jobs.history(job, limit=RUNS, is_worked=is_worked) for job in Job}
    statuses = jobs.statuses(plan, now, is_worked=is_worked)
    return Work(queues, failing, statuses, waiting, runs, found)
