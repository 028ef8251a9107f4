"""The jobs: pipeline stages with their queues, the model's jobs, and the model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
from memtui.model.jobs import Job, JobRun, ModelCondition, ModelHealth, RunResult
from memtui.model.quantities import plural
from memtui.services import jobs
from memtui.services.jobs import REASONS, JobStatus, WorkStatus, describe_counts
from memtui.text import date_format
from memtui.tui import commands
from memtui.tui.messages import ProgressReported
from memtui.tui.screens.base import CHANGE, ListDetailScreen
from memtui.tui.widgets import status_line
from memtui.tui.widgets.panes import ItemList, PaneTitle
from memtui.tui.widgets.status_line import OTHER_PROCESS

if TYPE_CHECKING:
    from memtui.pipeline.progress import ModelStatus, PipelineProgress

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

TITLES = {name: title for name, (title, *_) in STAGES.items()} | JOB_TITLES
"""The titles of all rows, by their names."""


@dataclass(slots=True)
class StageActivity:
    """The reports of a stage since the screen was opened."""

    worked_at: datetime | None = None
    error: str = ""
    is_busy: bool = False


class JobList(ItemList[str]):
    """Moves through stages and jobs."""

    BINDINGS: ClassVar[list[BindingType]] = commands.bindings(
        open="Go to the details of this job or stage."
    )
    HELP_TITLE = "In the list of jobs"

    def __init__(self) -> None:
        super().__init__(id="work")
        for name in TITLES:
            if name == Job.SEGMENTS:
                self.add_option(None)
            self.items[name] = name
            self.add_option(Option(_draw_row(name), id=name))
        self.highlighted = 0

    @property
    def current(self) -> str:
        return super().current or next(iter(STAGES))

    def show(self, states: Mapping[str, Content]) -> None:
        for name, state in states.items():
            row = _draw_row(name, state)
            if str(row) != str(self.get_option(name).prompt):
                self.replace_option_prompt(name, row)


def _draw_row(name: str, state: Content | str = "") -> Content:
    return Content.assemble(f"{TITLES[name]:<17}", state)


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
            f" {REASONS[run.reason]}: {describe_counts(run)}"
        )
        lines.append(Content.styled(line, "$error" if is_bad else ""))
        if run.error:
            lines.append(Content(f"  Error: {run.error}"))
    return lines


# The model


def describe_model(
    model: "ModelStatus | None", reason: str, work: WorkStatus | None, now: datetime
) -> Content:
    """Describe the state of the model, what to do about it, and what it does now.

    Args:
        model: The state of the model; None where another process works.
        reason: Why no model is used at all; "" if one is.
        work: The state of the jobs, with the model that another process has found.
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
    record = work.model if work else None
    if record is None:
        return Content("No model has been looked for yet.")
    health = ModelHealth(record.condition, record.message)
    text = Content("✓ A model is available.")
    if not health.is_ready:
        text = _describe_health(health, 0)
    checked = f" (checked {date_format.age(record.checked_at, now)})"
    return text + Content.styled(checked, "$context")


def _describe_health(health: ModelHealth, paused: int) -> Content:
    if health.is_ready:
        name = health.model or "The model"
        state = f"{plural(paused, 'segment')} paused" if paused else "idle"
        return Content(f"✓ {name} is available, {state}.")
    summary = health.summary.rstrip(".")
    summary = f"{summary[:1].upper()}{summary[1:]}."
    if health.condition is ModelCondition.RESTING:
        return Content(summary)
    return Content.styled(f"✗ {summary}", "$error")


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
    progress = status_line.describe_model(model)
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
        self._work: WorkStatus | None = None
        self._last: PipelineProgress | None = None
        self._activity = {name: StageActivity() for name in STAGES}

    def compose_head(self) -> ComposeResult:
        yield PaneTitle("Model")
        yield Static(id="model", markup=False)

    def compose_list(self) -> ComposeResult:
        yield PaneTitle("Jobs")
        yield JobList()

    def on_mount(self) -> None:
        self.set_interval(1.0, self._update_clock)

    def reload(self) -> None:
        workspace = self.workspace

        def read() -> WorkStatus:
            return jobs.read_work(
                workspace.paths.spool,
                workspace.schedules,
                self.now(),
                has_worker=workspace.has_worker,
            )

        self.load(read, self._show, "jobs")

    def _show(self, work: WorkStatus) -> None:
        self._work = work
        self._update()

    @property
    def _is_ours(self) -> bool:
        """True if this process runs the pipeline, and not another memtui."""
        return self._last is None or self._last.is_active

    @property
    def _model(self) -> "ModelStatus | None":
        return self._last.model if self._last and self._is_ours else None

    def _update(self) -> None:
        states = {name: self._stage_state(name) for name in STAGES}
        if self._work is not None:
            for status in self._work.jobs:
                states[status.job] = self._job_state(self._work, status)
        self._list.show(states)
        self._update_model()
        self._describe()

    @on(OptionList.OptionHighlighted)
    def _describe(self) -> None:
        name, details = self._list.current, Content("")
        if name in STAGES:
            details = self._describe_stage(name)
        elif self._work is not None and (status := self._find_job(name)):
            details = self._describe_job(self._work, status)
        self.show_details("Status", details)

    def _find_job(self, name: str) -> JobStatus | None:
        statuses = self._work.jobs if self._work else ()
        return next((status for status in statuses if status.job == name), None)

    def _update_model(self) -> None:
        content = describe_model(
            self._model, self.workspace.why_no_model, self._work, self.now()
        )
        self.query_one("#model", Static).update(content)

    def _update_clock(self) -> None:
        if self._last is not None and self._last.model.node_id:
            self._update_model()

    def show_progress(self, message: ProgressReported) -> None:
        progress = message.progress
        self._last = progress
        for activity in self._activity.values():
            activity.is_busy = False
        if stage_activity := self._activity.get(progress.stage):
            stage_activity.error = progress.error
            stage_activity.is_busy = not progress.error
            stage_activity.worked_at = self.now()
        self._update()
        self.request_reload()

    # Stages

    def _queued(self, name: str) -> int:
        return self._work.queues.get(name, 0) if self._work else 0

    def _stage_state(self, name: str) -> Content:
        activity, queued = self._activity[name], self._queued(name)
        if activity.error:
            return Content.styled(f"✗ {activity.error}", "$error")
        queue = f"{plural(queued, STAGES[name][2])} queued" if queued else ""
        if activity.is_busy:
            return Content(f"● working{f' · {queue}' if queue else ''}")
        idle = "idle" if self._is_ours else "in another memtui"
        return Content(queue) if queue else Content.styled(idle, "$context")

    def _describe_stage(self, name: str) -> Content:
        title, task, unit = STAGES[name]
        activity, queued = self._activity[name], self._queued(name)
        lines = [Content.styled(title, "bold"), Content(f"{task}.")]
        if unit:
            queue = plural(queued, unit) if queued else "Nothing"
            lines.append(Content(f"{queue} queued."))
        if not self._is_ours:
            text = "Another memtui does this now and shows its progress."
            lines.append(Content(text))
        if activity.worked_at:
            age = date_format.age(activity.worked_at, self.now())
            lines.append(Content(f"Last active {age}."))
        failing = self._work.failing if self._work else 0
        if name in ("summarize", "rollup") and failing:
            text = f"✗ {failing:,} failed and will be retried."
            lines.append(Content.styled(text, "$error"))
        if activity.error:
            lines.append(Content.styled(f"✗ {activity.error}", "$error"))
            lines.append(Content("memtui will retry."))
        return Content("\n").join(lines)

    # Jobs

    def _explain_missing_model(self) -> str:
        """Return why jobs have no model, in a sentence; "" if they have one."""
        if self.workspace.why_no_model:
            return "No model is used (see above): summaries are extracts."
        health = self._model.health if self._model else None
        health_or_record = health or (self._work.model if self._work else None)
        usable = (ModelCondition.READY, ModelCondition.RESTING)
        if health_or_record is None or health_or_record.condition in usable:
            return ""
        return (
            "This waits until a model is available (see above). Until then, summaries"
            " are extracts."
        )

    def _job_state(self, work: WorkStatus, status: JobStatus) -> Content:
        if status.is_running:
            text = "● running, then paused" if status.is_paused else "● running"
        elif status.requested_at:
            text = "requested"
        elif status.is_paused:
            text = "paused"
        elif self._explain_missing_model():
            text = "no model"
        elif status.is_overdue:
            text = "overdue"
        elif status.next_at:
            text = f"next {date_format.moment(status.next_at, self.zone)}"
        else:
            text = status.schedule
        if pending := work.requests.get(status.job):
            text += f" · {pending:,} pending"
        has_failed = status.last and status.last.result is RunResult.FAILED
        failure = " · ", ("✗ failed", "$error")
        return Content.assemble(text, *(failure if has_failed else ()))

    def _describe_job(self, work: WorkStatus, status: JobStatus) -> Content:
        pending = work.requests.get(status.job, 0)
        lack = self._explain_missing_model()
        queue = f"{plural(pending, 'node')} pending" if pending else "Idle"
        if status.is_overdue and not lack:
            queue += " · overdue: runs as soon as memtui runs"
        elif status.next_at and not lack:
            queue += f" · next run {date_format.moment(status.next_at, self.zone)}"
        cron = f" ({status.cron})" if status.cron else ""
        lines = [f"Schedule: {status.schedule}{cron}.", f"{queue}."]
        if lack:
            lines.append(lack)
        if status.is_paused:
            lines.append("Paused (space: resume, x: run once).")
        if status.requested_at:
            age = date_format.age(status.requested_at, self.now())
            lines.append(f"Requested {age}.")
        title = Content.styled(JOB_TITLES[status.job], "bold")
        runs = _describe_runs(work.runs.get(status.job, ()), self.zone, self.now())
        return Content("\n").join([title, *map(Content, lines), Content(""), *runs])

    # Changing jobs

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
        status = self._find_job(self._list.current)
        is_paused = status is not None and status.is_paused
        job = self._selected_job("resume" if is_paused else "pause")
        if job is None:
            return
        change, text = jobs.pause, "paused. A running call is finished first."
        if is_paused:
            change, text = jobs.resume, "resumed."
        done = f"{JOB_TITLES[job]}: {text}"
        self.execute(partial(change, [job]), lambda _: self._confirm(done), CHANGE)

    def action_run_now(self) -> None:
        if job := self._selected_job("run"):
            self.execute(
                partial(self._request_run, job), partial(self._confirm_run, job), CHANGE
            )

    def _request_run(self, job: Job) -> str:
        jobs.request_run([job], self.now())
        return self.workspace.describe_when_due()

    def _confirm_run(self, job: Job, promise: str) -> None:
        when = promise
        if self._explain_missing_model():
            when = "It will run once a model is available."
        self._confirm(f"{JOB_TITLES[job]}: requested. {when}")

    def _confirm(self, text: str) -> None:
        self.notify(text)
        self.reload()
