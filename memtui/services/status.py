"""How the memory is: how much is kept, what waits, what went wrong."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from memtui.capture.spool import Spool
from memtui.model.events import to_ms
from memtui.model.jobs import Job, JobRun
from memtui.model.schedule import Schedules
from memtui.services import jobs as services_jobs
from memtui.services.jobs import JobStatus
from memtui.store import database, meta, outbox, rewrite_queue, rollup_queue, statistics
from memtui.store import grips as store_grips
from memtui.store import nodes as store_nodes
from memtui.store import problems as store_problems
from memtui.store import segments as store_segments
from memtui.store.meta import ModelRecord
from memtui.store.problems import Problem, ProblemKind


@dataclass(frozen=True, slots=True)
class Stats:
    """How much is kept and how much waits."""

    sessions: int
    events: int
    messages: int
    subagent_events: int
    segments: int
    nodes: int
    bullets: int
    supported: int
    grips: int
    pending: int
    """Rows in the outbox and nodes not yet rolled up: work that waits."""
    skipped: int
    """Records that could not be taken."""
    first_at: datetime | None
    last_at: datetime | None
    agents: tuple[tuple[str, int], ...]
    """Each agent with its number of messages."""
    projects: tuple[tuple[str, int], ...]


def read_stats() -> Stats:
    """Count what is kept."""
    with database.connection():
        events, helpers = statistics.count_events()
        nodes, bullets, supported = store_nodes.count()
        agents = statistics.count_messages_by("agent")
        span = statistics.time_span()
        return Stats(
            sessions=statistics.count_sessions(),
            events=events,
            messages=sum(number for _, number in agents),
            subagent_events=helpers,
            segments=store_segments.count(),
            nodes=nodes,
            bullets=bullets,
            supported=supported,
            grips=store_grips.count(),
            pending=outbox.count()
            + store_segments.count_pending()
            + rollup_queue.count(),
            skipped=store_problems.count_damaged(),
            first_at=span[0] if span else None,
            last_at=span[1] if span else None,
            agents=tuple(agents),
            projects=tuple(statistics.count_messages_by("project")),
        )


def is_empty() -> bool:
    """Whether nothing at all is kept yet."""
    with database.connection():
        return statistics.is_empty()


def latest_problems(*, limit: int = 200) -> list[Problem]:
    """Damaged records, by where they came from and why, the latest first."""
    with database.connection():
        return store_problems.list_latest(limit, kind=ProblemKind.DAMAGED)


def list_skipped() -> list[tuple[str, ProblemKind, int]]:
    """All that was not taken: (reason, its kind, how many), most first."""
    with database.connection():
        return store_problems.count_by_reason()


RUNS = 50
"""How many runs of a job are looked at."""


@dataclass(frozen=True, slots=True)
class WorkStatus:
    """All of it, as it stands at one moment."""

    queues: Mapping[str, int]
    """How much waits for each stage; a stage that cannot tell is left out."""
    failing: int
    """How many summaries and roll-ups failed, and wait for another try."""
    jobs: Sequence[JobStatus]
    requests: Mapping[Job, int]
    """How many nodes want a version by each job."""
    runs: Mapping[Job, Sequence[JobRun]]
    """The runs of each job, the latest first."""
    model: ModelRecord | None
    """How the memtui that works last found its model; None if none has looked yet."""


def read_work(
    spool: Path, plan: Schedules, now: datetime, *, has_worker: bool | None
) -> WorkStatus:
    """Look at it.

    Args:
        spool: Where hooks leave their files.
        plan: When the jobs are due.
        now: The time.
        has_worker: Whether any process works this store; None if that is not known.
    """
    now_ms = to_ms(now)
    with database.connection():
        queues = {
            "ingest": len(Spool(spool).names()),
            "segment": outbox.count(outbox.UPDATE_TOC),
            "summarize": store_segments.count_pending(),
            "rollup": rollup_queue.count(),
            "index": outbox.count(outbox.INDEX_NODE),
            "messages": outbox.list_latest_events(0)[1],
        }
        failing = store_segments.count_failing(now_ms) + rollup_queue.count_failing(
            now_ms
        )
        found = meta.model_record()
        waiting = {job: rewrite_queue.count(job.level) for job in Job}
    runs = {
        job: services_jobs.history(job, limit=RUNS, has_worker=has_worker)
        for job in Job
    }
    statuses = services_jobs.statuses(plan, now, has_worker=has_worker)
    return WorkStatus(queues, failing, statuses, waiting, runs, found)
