"""The list of stages and jobs, and the description of one of them.

A stage works whenever something is queued for it, without a model; a job writes better
summaries with a model, on a schedule.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType
from textual.content import Content
from textual.widgets.option_list import Option

from memtui.model.jobs import Job, JobRun, RunReason, RunResult
from memtui.text import date_format
from memtui.tui import commands, format
from memtui.tui.widgets.item_list import ItemList

if TYPE_CHECKING:
    from memtui.services.jobs import JobStatus, WorkStatus

STAGES = {
    "ingest": ("Hooks", "Reads the events that hooks have left", "file"),
    "tail": ("Transcripts", "Reads the agents' transcripts as they grow", ""),
    "segment": ("Segments", "Cuts sessions into segments", "event"),
    "summarize": ("Summaries", "Extracts summaries of segments, no model", "segment"),
    "rollup": ("Roll-ups", "Summarizes days, weeks, months and years", "node"),
    "index": ("Summary index", "Makes summaries searchable", "node"),
    "messages": ("Message index", "Makes messages searchable", "event"),
}
"""The title of each stage, what it does, and the unit of its queue."""

JOB_TITLES = {
    Job.SEGMENTS: "Model: segments",
    Job.DAY: "Model: days",
    Job.WEEK: "Model: weeks",
    Job.MONTH: "Model: months",
    Job.YEAR: "Model: years",
}

ROWS = (*STAGES, *Job)

REASONS = {
    RunReason.SCHEDULE: "on schedule",
    RunReason.REQUESTED: "requested",
    RunReason.MISSED: "missed before",
    RunReason.SEGMENTS_DONE: "after the segments",
    RunReason.WAITING: "segments pending",
}

ELSEWHERE = "in another memtui"
"""The state of an idle stage if another process does the work."""

DONE_ELSEWHERE = "Another memtui does this now and shows its progress."
TITLE_CELLS = 17


@dataclass(slots=True)
class StageActivity:
    """The reports of a stage since the screen was opened."""

    done: int = 0
    worked_at: datetime | None = None
    error: str = ""
    is_busy: bool = False


@dataclass(frozen=True, slots=True)
class JobListState:
    """All that the list shows."""

    work: "WorkStatus | None" = None
    """Queues and jobs as they were read last."""
    activity: dict[str, StageActivity] = field(default_factory=dict)
    missing_model: str = ""
    """Why jobs have no model, "" if they have one."""
    is_ours: bool = True
    """False if another process does the work."""

    def job_status(self, job: Job) -> "JobStatus | None":
        """Return the status of a job, None while it is unknown."""
        jobs = self.work.jobs if self.work else ()
        return next((one for one in jobs if one.job is job), None)


class JobList(ItemList, inherit_bindings=False):
    """Moves through stages and jobs."""

    BINDINGS: ClassVar[list[BindingType]] = commands.bindings(
        "first", "last", "cursor_up", "cursor_down", "page_up", "page_down",
        open="Go to the details of this job or stage.",
    )  # fmt: skip
    HELP_TITLE = "In the list of jobs"

    def __init__(self, zone: tzinfo) -> None:
        super().__init__(id="work", markup=False)
        self._zone = zone
        for name in ROWS:
            if name == Job.SEGMENTS:
                self.add_option(None)
            row = _draw_row(name, JobListState(), zone)
            self.add_option(Option(row, id=name))
        self.highlighted = 0

    @property
    def current(self) -> str:
        return str(ROWS[self.highlighted or 0])

    def show(self, state: JobListState) -> None:
        """Show the state of all stages and jobs; the cursor stays where it is."""
        for name in ROWS:
            row = _draw_row(name, state, self._zone)
            if str(row) != str(self.get_option(name).prompt):
                self.replace_option_prompt(name, row)


def _draw_row(name: str, state: JobListState, zone: tzinfo) -> Content:
    if name in STAGES:
        title, text = STAGES[name][0], _stage_state(name, state)
    else:
        title, text = JOB_TITLES[Job(name)], _job_state(Job(name), state, zone)
    return Content(f"{title:<{TITLE_CELLS}}") + text


def _stage_state(name: str, state: JobListState) -> Content:
    unit = STAGES[name][2]
    activity, queued = state.activity.get(name, StageActivity()), _queued(name, state)
    if activity.error:
        return Content.styled(f"✗ {activity.error}", "$error")
    queue = f"{format.quantity(queued, unit)} queued" if queued else ""
    if activity.is_busy:
        return Content(f"● working{f' · {queue}' if queue else ''}")
    if queue:
        return Content(queue)
    return Content.styled("idle" if state.is_ours else ELSEWHERE, "$context")


def _queued(name: str, state: JobListState) -> int:
    return state.work.queues.get(name, 0) if state.work else 0


def _job_state(job: Job, state: JobListState, zone: tzinfo) -> Content:
    status = state.job_status(job)
    if status is None or state.work is None:
        return Content("")
    parts = [_schedule_state(status, state, zone)]
    if pending := state.work.requests.get(job):
        parts.append(f"{format.number(pending)} pending")
    text = Content(" · ".join(parts))
    if status.last is not None and status.last.result is RunResult.FAILED:
        text += " · " + Content.styled("✗ failed", "$error")
    return text


def _schedule_state(status: "JobStatus", state: JobListState, zone: tzinfo) -> str:
    if status.is_running:
        return "● running, then paused" if status.is_paused else "● running"
    if status.requested_at:
        return "requested"
    if status.is_paused:
        return "paused"
    if state.missing_model:
        return "no model"
    if status.is_overdue:
        return "overdue"
    if status.next_at:
        return f"next {date_format.moment(status.next_at, zone)}"
    return status.schedule


# Descriptions


def describe_row(
    name: str, state: JobListState, zone: tzinfo, now: datetime
) -> Content:
    if name in STAGES:
        return _describe_stage(name, state, now)
    return _describe_job(Job(name), state, zone, now)


def _describe_stage(name: str, state: JobListState, now: datetime) -> Content:
    title, task, unit = STAGES[name]
    activity, queued = state.activity.get(name, StageActivity()), _queued(name, state)
    lines = [Content.styled(title, "bold"), Content(f"{task}.")]
    if unit:
        queue = format.quantity(queued, unit) if queued else "Nothing"
        lines.append(Content(f"{queue} queued."))
    if not state.is_ours:
        lines.append(Content(DONE_ELSEWHERE))
    if activity.worked_at:
        age = date_format.age(activity.worked_at, now)
        lines.append(Content(f"Last active {age}."))
    failing = state.work.failing if state.work else 0
    if name in ("summarize", "rollup") and failing:
        text = f"✗ {format.number(failing)} failed and will be retried."
        lines.append(Content.styled(text, "$error"))
    if activity.error:
        lines.append(Content.styled(f"✗ {activity.error}", "$error"))
        lines.append(Content("memtui will retry."))
    return Content("\n").join(lines)


def _describe_job(
    job: Job, state: JobListState, zone: tzinfo, now: datetime
) -> Content:
    status, work = state.job_status(job), state.work
    if status is None or work is None:
        return Content("")
    pending = work.requests.get(job, 0)
    queue = f"{format.quantity(pending, 'node')} pending" if pending else "Idle"
    next_run = "" if state.missing_model else _next_run(status, zone)
    cron = f" ({status.cron})" if status.cron else ""
    lines = [
        Content.styled(JOB_TITLES[job], "bold"),
        Content(f"Schedule: {status.schedule}{cron}."),
        Content(f"{queue}{next_run}."),
    ]
    if state.missing_model:
        lines.append(Content(state.missing_model))
    if status.is_paused:
        lines.append(Content("Paused (space: resume, x: run once)."))
    if status.requested_at:
        lines.append(Content(f"Requested {date_format.age(status.requested_at, now)}."))
    lines.append(Content(""))
    lines += _describe_runs(work.runs.get(job, ()), zone, now)
    return Content("\n").join(lines)


def _next_run(status: "JobStatus", zone: tzinfo) -> str:
    if status.is_overdue:
        return " · overdue: runs as soon as memtui works"
    if status.next_at is None:
        return ""
    return f" · next run {date_format.moment(status.next_at, zone)}"


def _describe_runs(
    runs: Sequence[JobRun], zone: tzinfo, now: datetime
) -> list[Content]:
    if not runs:
        return [Content.styled("No runs yet.", "$context")]
    lines = [Content.styled("Runs, the latest first:", "$context")]
    for run in runs:
        result = run.result.value if run.result else "running"
        is_bad = run.result in (RunResult.FAILED, RunResult.INTERRUPTED)
        started = date_format.moment(run.started_at, zone)
        duration = date_format.duration((run.ended_at or now) - run.started_at)
        line = (
            f"{'✗' if is_bad else ' '} {started}  {result}, {duration},"
            f" {REASONS[run.reason]}: {_counts(run)}"
        )
        lines.append(Content.styled(line, "$error" if is_bad else ""))
        if run.error:
            lines.append(Content(f"  Error: {run.error}"))
    return lines


def _counts(run: JobRun) -> str:
    counts = (
        (run.rejected, "rejected"),
        (run.failed, "failed"),
        (run.waiting, "pending"),
    )
    parts = [f"{format.number(run.created)} created"]
    parts += [f"{format.number(count)} {what}" for count, what in counts if count]
    return ", ".join(parts)
