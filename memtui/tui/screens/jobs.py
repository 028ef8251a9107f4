"""The jobs: pipeline stages with their queues, the model's jobs, and the model."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from memtui.model import calendar
from memtui.model.calendar import TocLevel
from memtui.model.jobs import Job, JobRun, RunResult
from memtui.model.model_state import ModelCondition, ModelHealth
from memtui.model.quantities import plural
from memtui.services import jobs
from memtui.services.jobs import REASONS
from memtui.services.status import advise_on_model
from memtui.text import date_format
from memtui.tui import commands
from memtui.tui.messages import ProgressReported
from memtui.tui.screens.base import CHANGE, ListDetailScreen
from memtui.tui.widgets import status_line
from memtui.tui.widgets.item_list import ItemList
from memtui.tui.widgets.panes import PaneTitle
from memtui.tui.widgets.status_line import OTHER_PROCESS

if TYPE_CHECKING:
    from memtui.pipeline.progress import ModelStatus
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


@dataclass(slots=True)
class StageActivity:
    """The reports of a stage since the screen was opened."""

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
        found = self.work.jobs if self.work else ()
        return next((one for one in found if one.job is job), None)

    def stage(self, name: str) -> tuple[StageActivity, int]:
        """Return the activity of a stage and the length of its queue."""
        queued = self.work.queues.get(name, 0) if self.work else 0
        return self.activity.get(name, StageActivity()), queued


class JobList(ItemList[str]):
    """Moves through stages and jobs."""

    BINDINGS: ClassVar[list[BindingType]] = commands.bindings(
        open="Go to the details of this job or stage."
    )
    HELP_TITLE = "In the list of jobs"

    def __init__(self, zone: tzinfo) -> None:
        super().__init__(id="work")
        self._zone = zone
        for name in (*STAGES, *map(str, Job)):
            if name == Job.SEGMENTS:
                self.add_option(None)
            self.items[name] = name
            self.add_option(Option(_draw_row(name, JobListState(), zone), id=name))
        self.highlighted = 0

    @property
    def current(self) -> str:
        return super().current or next(iter(STAGES))

    def show(self, state: JobListState) -> None:
        """Show the state of all stages and jobs; the cursor stays where it is."""
        for name in self.items:
            row = _draw_row(name, state, self._zone)
            if str(row) != str(self.get_option(name).prompt):
                self.replace_option_prompt(name, row)


def _draw_row(name: str, state: JobListState, zone: tzinfo) -> Content:
    if name in STAGES:
        title, text = STAGES[name][0], _stage_state(name, state)
    else:
        title, text = JOB_TITLES[Job(name)], _job_state(Job(name), state, zone)
    return Content(f"{title:<17}") + text


def _stage_state(name: str, state: JobListState) -> Content:
    activity, queued = state.stage(name)
    if activity.error:
        return Content.styled(f"✗ {activity.error}", "$error")
    queue = f"{plural(queued, STAGES[name][2])} queued" if queued else ""
    if activity.is_busy:
        return Content(f"● working{f' · {queue}' if queue else ''}")
    if queue:
        return Content(queue)
    return Content.styled("idle" if state.is_ours else "in another memtui", "$context")


def _job_state(job: Job, state: JobListState, zone: tzinfo) -> Content:
    status = state.job_status(job)
    if status is None or state.work is None:
        return Content("")
    if status.is_running:
        text = "● running, then paused" if status.is_paused else "● running"
    elif status.requested_at:
        text = "requested"
    elif status.is_paused:
        text = "paused"
    elif state.missing_model:
        text = "no model"
    elif status.is_overdue:
        text = "overdue"
    elif status.next_at:
        text = f"next {date_format.moment(status.next_at, zone)}"
    else:
        text = status.schedule
    if pending := state.work.requests.get(job):
        text += f" · {pending:,} pending"
    has_failed = status.last is not None and status.last.result is RunResult.FAILED
    return Content.assemble(text, *((" · ", ("✗ failed", "$error")) * has_failed))


# Descriptions of stages and jobs


def describe_row(
    name: str, state: JobListState, zone: tzinfo, now: datetime
) -> Content:
    if name in STAGES:
        return _describe_stage(name, state, now)
    return _describe_job(Job(name), state, zone, now)


def _describe_stage(name: str, state: JobListState, now: datetime) -> Content:
    title, task, unit = STAGES[name]
    activity, queued = state.stage(name)
    lines = [Content.styled(title, "bold"), Content(f"{task}.")]
    if unit:
        queue = plural(queued, unit) if queued else "Nothing"
        lines.append(Content(f"{queue} queued."))
    if not state.is_ours:
        text = "Another memtui does this now and shows its progress."
        lines.append(Content(text))
    if activity.worked_at:
        age = date_format.age(activity.worked_at, now)
        lines.append(Content(f"Last active {age}."))
    failing = state.work.failing if state.work else 0
    if name in ("summarize", "rollup") and failing:
        text = f"✗ {failing:,} failed and will be retried."
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
    queue = f"{plural(pending, 'node')} pending" if pending else "Idle"
    if status.is_overdue and not state.missing_model:
        queue += " · overdue: runs as soon as memtui works"
    elif status.next_at and not state.missing_model:
        queue += f" · next run {date_format.moment(status.next_at, zone)}"
    cron = f" ({status.cron})" if status.cron else ""
    lines = [
        Content.styled(JOB_TITLES[job], "bold"),
        Content(f"Schedule: {status.schedule}{cron}."),
        Content(f"{queue}."),
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
        counts = f"{run.created:,} created"
        for count, name in (
            (run.rejected, "rejected"),
            (run.failed, "failed"),
            (run.waiting, "pending"),
        ):
            counts += f", {count:,} {name}" if count else ""
        line = (
            f"{'✗' if is_bad else ' '} {started}  {result}, {duration},"
            f" {REASONS[run.reason]}: {counts}"
        )
        lines.append(Content.styled(line, "$error" if is_bad else ""))
        if run.error:
            lines.append(Content(f"  Error: {run.error}"))
    return lines


# The model


def explain_missing_model(
    model: "ModelStatus | None", reason: str, work: "WorkStatus | None"
) -> str:
    """Return why a job has no model, in a sentence; "" if it has one.

    Args:
        model: The state of the model; None where another process works.
        reason: Why no model is used at all; "" if one is.
        work: The state of the jobs, with the model that another process has found.
    """
    if reason:
        return "No model is used (see above): summaries are extracts."
    health = (model.health if model else None) or (work.model if work else None)
    if health is None:
        return ""
    if health.condition in (ModelCondition.READY, ModelCondition.RESTING):
        return ""
    return (
        "This waits until a model is available (see above). Until then, summaries are"
        " extracts."
    )


def describe_model(
    model: "ModelStatus | None", reason: str, work: "WorkStatus | None", now: datetime
) -> Content:
    """Describe the state of the model, what to do about it, and what it does now.

    The arguments are those of `explain_missing_model`.
    """
    if reason:
        return Content(reason)
    if model is not None and model.health is not None:
        if model.node_id:
            return _describe_call(model, now)
        text = _describe_health(model.health, model.held_segments)
        missing = (ModelCondition.OFFLINE, ModelCondition.MODEL_MISSING)
        if model.health.condition in missing:
            hint = "\n  memtui will check again; x on a job checks now."
            text += Content.styled(hint, "$context")
        return text
    found = work.model if work else None
    if found is None:
        return Content("No model has been looked for yet.")
    health = ModelHealth(found.condition, found.message)
    text = Content("✓ A model is available.")
    if not health.is_ready:
        text = _describe_health(health, 0)
    checked = f" (checked {date_format.age(found.checked_at, now)})"
    return text + Content.styled(checked, "$context")


def _describe_health(health: ModelHealth, paused: int) -> Content:
    if health.is_ready:
        name = health.model or "The model"
        state = f"{plural(paused, 'segment')} paused" if paused else "idle"
        return Content(f"✓ {name} is available, {state}.")
    message = health.message or f"the model is {health.condition}"
    message = message[:1].upper() + message[1:].rstrip(".")
    if health.condition is ModelCondition.RESTING:
        return Content(f"{message}.")
    return Content.styled(f"✗ {message}: {advise_on_model(health)}", "$error")


def _describe_call(model: "ModelStatus", now: datetime) -> Content:
    """Describe a call in two lines: its progress, then its node."""
    period = calendar.period(model.node_id)
    name = calendar.title(model.node_id)
    if period.level is TocLevel.SEGMENT:
        name = f"a segment of {date_format.day(period.first)}"
    elif period.level is TocLevel.DAY:
        name = date_format.day(period.first)
    if model.started_at is not None:
        name += f" · for {date_format.duration(now - model.started_at)}"
    progress, _ = status_line.describe_model(model)
    return Content(f"● {progress or 'The model works'}\n  {name}")


STAGES_RUN_ALONE = "A stage runs by itself whenever something is queued for it."


class JobsScreen(ListDetailScreen[None]):
    """Shows live progress; the model's jobs can be paused and run here."""

    BINDINGS: ClassVar[list[BindingType]] = commands.bindings(
        "pause_job", "run_now", in_footer=True, back="Go back to the list, or leave it."
    )

    DETAIL_TITLE = "Status"

    _list = getters.query_one(JobList)

    def __init__(self) -> None:
        super().__init__()
        self._state = JobListState()
        self._last: ProgressReported | None = None

    def compose_head(self) -> ComposeResult:
        yield PaneTitle("Model")
        yield Static(id="model", markup=False)

    def compose_list(self) -> ComposeResult:
        yield PaneTitle("Jobs")
        yield JobList(self.zone)

    def on_mount(self) -> None:
        self.set_interval(1.0, self._update_clock)

    def reload(self) -> None:
        workspace = self.workspace

        def read() -> "WorkStatus":
            return jobs.read_work(
                workspace.paths.spool,
                workspace.schedules,
                self.now(),
                has_worker=workspace.has_worker,
            )

        self.load(read, self._show, "jobs")

    def _show(self, work: "WorkStatus") -> None:
        self._state = replace(self._state, work=work)
        self._update()

    @property
    def _is_ours(self) -> bool:
        """True if this process runs the pipeline, and not another memtui."""
        return self._last is None or self._last.progress.is_active

    @property
    def _model(self) -> "ModelStatus | None":
        return self._last.progress.model if self._last and self._is_ours else None

    def _update(self) -> None:
        lack = explain_missing_model(
            self._model, self.workspace.why_no_model, self._state.work
        )
        self._state = replace(self._state, missing_model=lack, is_ours=self._is_ours)
        self._list.show(self._state)
        self._update_model()
        self._describe()

    @on(OptionList.OptionHighlighted)
    def _describe(self) -> None:
        name = self._list.current
        details = describe_row(name, self._state, self.zone, self.now())
        self.show_details("Status", details)

    def _update_model(self) -> None:
        content = describe_model(
            self._model, self.workspace.why_no_model, self._state.work, self.now()
        )
        self.query_one("#model", Static).update(content)

    def _update_clock(self) -> None:
        if self._last is not None and self._last.progress.model.node_id:
            self._update_model()

    @on(ProgressReported)
    def follow_progress(self, message: ProgressReported) -> None:
        was_ours, self._last = self._is_ours, message
        progress = message.progress
        if self._is_ours != was_ours:
            self.refresh_bindings()
        for seen in self._state.activity.values():
            seen.is_busy = False
        if progress.stage in STAGES:
            seen = self._state.activity.setdefault(progress.stage, StageActivity())
            seen.error, seen.is_busy = progress.error, not progress.error
            seen.worked_at = self.now()
        self._update()
        self.request_reload()

    # Changing jobs

    @property
    def refused(self) -> Collection[str]:
        """Jobs are changed where the pipeline runs."""
        return () if self._is_ours else ("pause_job", "run_now")

    def _selected_job(self, command: str) -> Job | None:
        """Return the selected job; notify and return None if it cannot be changed."""
        name, problem = self._list.current, ""
        if name in STAGES:
            problem = STAGES_RUN_ALONE
        elif self.workspace.why_no_model:
            problem = self.workspace.why_no_model
        elif not self._is_ours:
            shell = f"memtui jobs {command} {name}"
            problem = (
                f"{OTHER_PROCESS.capitalize()}. Do it there, or in a shell: {shell}"
            )
        if problem:
            self.notify(problem)
        return None if problem else Job(name)

    def action_pause_job(self) -> None:
        name = self._list.current
        one = self._state.job_status(Job(name)) if name not in STAGES else None
        is_paused = one is not None and one.is_paused
        job = self._selected_job("resume" if is_paused else "pause")
        if job is None:
            return
        if is_paused:
            change, text = jobs.resume, f"{JOB_TITLES[job]}: resumed."
        else:
            change = jobs.pause
            text = f"{JOB_TITLES[job]}: paused. A running call is finished first."
        self.execute(partial(change, [job]), lambda _: self._confirm(text), CHANGE)

    def action_run_now(self) -> None:
        if job := self._selected_job("run"):
            self.execute(
                partial(self._request_run, job), partial(self._confirm_run, job), CHANGE
            )

    def _request_run(self, job: Job) -> str:
        jobs.request_run([job], self.now())
        return self.workspace.describe_when_due()

    def _confirm_run(self, job: Job, promise: str) -> None:
        when = (
            "It will run once a model is available."
            if self._state.missing_model
            else promise
        )
        self._confirm(f"{JOB_TITLES[job]}: requested. {when}")

    def _confirm(self, text: str) -> None:
        self.notify(text)
        self.reload()
