"""The stages and the model's jobs, a line each."""

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
    from memtui.services.jobs import Status
    from memtui.services.status import Work


STAGES = {
    "ingest": ("Hooks", "takes what agents' hooks have left", "file"),
    "tail": ("Transcripts", "reads agents' transcripts on as they grow", ""),
    "segment": ("Segments", "cuts sessions into segments", "event"),
    "summarize": ("Summaries", "sums segments up at once, without a model", "segment"),
    "rollup": ("Roll-ups", "sums up days, weeks, months and years", "node"),
    "index": ("Teleport", "makes summaries findable by their words", "node"),
    "messages": ("Messages", "makes what was said findable by its words", "event"),
}
"""Each stage in its order: its name, what it does, and what waits for it."""


JOB_TITLES = {
    Job.SEGMENTS: "Model: segments",
    Job.DAY: "Model: days",
    Job.WEEK: "Model: weeks",
    Job.MONTH: "Model: months",
    Job.YEAR: "Model: years",
}


REASONS = {
    RunReason.SCHEDULE: "on schedule",
    RunReason.REQUESTED: "asked for",
    RunReason.MISSED: "made up for",
    RunReason.SEGMENTS_DONE: "after the segments",
    RunReason.WAITING: "segments waited",
}


ELSEWHERE = "in another memtui"
"""What is said of a stage that works for another memtui, if it works at all."""


TOLD_THERE = "Another memtui does it now; what it is at is seen there."


NAME_CELLS = 17


@dataclass(slots=True)
class StageActivity:
    """What was heard of a stage since the screen was opened."""

    done: int = 0
    worked_at: datetime | None = None
    error: str = ""
    is_busy: bool = False


@dataclass(frozen=True, slots=True)
class JobListState:
    """All that words are made of: what was read, and what was heard."""

    work: "Work | None" = None
    activity: dict[str, StageActivity] = field(default_factory=dict)
    missing_model: str = ""
    """What jobs lack for want of a model, in a sentence; "" if they lack none."""
    is_ours: bool = True
    """Whether this memtui works, so that a stage of which nothing is heard rests."""

    def job_status(self, job: Job) -> "Status | None":
        """How a job stands."""
        some = self.work.jobs if self.work else ()
        return next((one for one in some if one.job is job), None)


def job_row(name: str, told: JobListState, zone: tzinfo) -> Content:
    """A line of the list: what it is, what it does, and what waits."""
    title, does = _stage(name, told) if name in STAGES else _job(Job(name), told, zone)
    return Content(f"{title:<{NAME_CELLS}}") + does


def _stage(name: str, told: JobListState) -> tuple[str, Content]:
    title, _, of = STAGES[name]
    seen, queued = told.activity.get(name, StageActivity()), _queued(name, told)
    if seen.error:
        return title, Content.styled(f"✗ {seen.error}", "$error")
    waits = f"{format.quantity(queued, of)} queued" if queued else ""
    if seen.is_busy:
        return title, Content(f"● at work{f' · {waits}' if waits else ''}")
    if waits:
        return title, Content(waits)
    at_rest = "idle" if told.is_ours else ELSEWHERE
    return title, Content.styled(at_rest, "$context")


def _queued(name: str, told: JobListState) -> int:
    return told.work.queues.get(name, 0) if told.work else 0


def _job(job: Job, told: JobListState, zone: tzinfo) -> tuple[str, Content]:
    one = told.job_status(job)
    if one is None or told.work is None:
        return JOB_TITLES[job], Content("")
    parts = [_state(one, told, zone)]
    if waiting := told.work.waiting.get(job):
        parts.append(f"{format.number(waiting)} wait")
    said = Content(" · ".join(parts))
    if one.last is not None and one.last.result is RunResult.FAILED:
        said += " · " + Content.styled("✗ failed", "$error")
    return JOB_TITLES[job], said


def _state(one: "Status", told: JobListState, zone: tzinfo) -> str:
    if one.is_running:
        return "● runs, then paused" if one.is_paused else "● runs"
    if one.asked_at:
        return "asked for"
    if one.is_paused:
        return "paused"
    if told.missing_model:
        return "no model"
    if one.is_overdue:
        return "overdue"
    if one.next_at:
        return f"next {date_format.moment(one.next_at, zone)}"
    return one.schedule


def describe_row(name: str, told: JobListState, zone: tzinfo, now: datetime) -> Content:
    """All there is to say of a stage or a job."""
    if name in STAGES:
        return _about_stage(name, told, now)
    return _about_job(Job(name), told, zone, now)


def _about_stage(name: str, told: JobListState, now: datetime) -> Content:
    title, does, of = STAGES[name]
    seen, queued = told.activity.get(name, StageActivity()), _queued(name, told)
    lines = [Content.styled(title, "bold"), Content(f"It {does}.")]
    if of:
        waits = f"{format.quantity(queued, of)} {'waits' if queued == 1 else 'wait'}."
        lines.append(Content(waits if queued else "Nothing waits for it."))
    if not told.is_ours:
        lines.append(Content(TOLD_THERE))
    if seen.worked_at:
        lines.append(Content(f"It last worked {date_format.age(seen.worked_at, now)}."))
    if name in ("summarize", "rollup") and told.work and told.work.failing:
        failing = f"✗ {told.work.failing:,} failed, and wait for another try."
        lines.append(Content.styled(failing, "$error"))
    if seen.error:
        lines.append(Content.styled(f"✗ {seen.error}", "$error"))
        lines.append(Content("It is tried again by itself."))
    return Content("\n").join(lines)


def _about_job(job: Job, told: JobListState, zone: tzinfo, now: datetime) -> Content:
    one, work = told.job_status(job), told.work
    if one is None or work is None:
        return Content("")
    lines = [
        Content.styled(JOB_TITLES[job], "bold"),
        Content(f"Its times: {one.schedule}{f' ({one.cron})' if one.cron else ''}."),
        Content(
            f"{_waiting(job, work)}{'' if told.missing_model else _next(one, zone)}."
        ),
        *([Content(told.missing_model)] if told.missing_model else ()),
    ]
    if one.is_paused:
        lines.append(Content("Paused: space resumes it, x runs it this once."))
    if one.asked_at:
        lines.append(Content(f"Asked for {date_format.age(one.asked_at, now)}."))
    lines.append(Content(""))
    lines += _history(work.runs.get(job, ()), zone, now)
    return Content("\n").join(lines)


def _waiting(job: Job, work: "Work") -> str:
    count = work.waiting.get(job, 0)
    return f"{format.quantity(count, 'node')} waiting" if count else "Nothing waits"


def _next(one: "Status", zone: tzinfo) -> str:
    if one.is_overdue:
        return " · its time has passed: it is next once a memtui works"
    return f" · next {date_format.moment(one.next_at, zone)}" if one.next_at else ""


def _history(runs: Sequence[JobRun], zone: tzinfo, now: datetime) -> list[Content]:
    if not runs:
        return [Content.styled("It has not run yet.", "$context")]
    lines = [Content.styled("Its runs, the latest first:", "$context")]
    for run in runs:
        result = run.result.value if run.result else "runs still"
        is_bad = run.result in (RunResult.FAILED, RunResult.INTERRUPTED)
        until = run.ended_at or now
        began = date_format.moment(run.started_at, zone)
        lasted = date_format.duration(until - run.started_at)
        line = (
            f"{'✗' if is_bad else ' '} {began}  {result}, {lasted},"
            f" {REASONS[run.reason]}: {_counts(run)}"
        )
        lines.append(Content.styled(line, "$error" if is_bad else ""))
        if run.error:
            lines.append(Content(f"  Why: {run.error}"))
    return lines


def _counts(run: JobRun) -> str:
    said = [f"{run.created:,} made"]
    said += [f"{run.rejected:,} rejected"] if run.rejected else []
    said += [f"{run.failed:,} failed"] if run.failed else []
    said += [f"{run.waiting:,} left"] if run.waiting else []
    return ", ".join(said)


NAMES = (*STAGES, *Job)
"""What is listed, in this order."""


class JobList(ItemList, inherit_bindings=False):
    """Moves through them."""

    BINDINGS: ClassVar[list[BindingType]] = commands.bindings(
        "first", "last", "cursor_up", "cursor_down", "page_up", "page_down",
        open="Go to all there is to say of this job or stage.",
    )  # fmt: skip
    HELP_TITLE = "In the list of the work"

    def __init__(self, zone: tzinfo) -> None:
        super().__init__(id="work", markup=False)
        self._zone = zone
        for name in NAMES:
            if name == Job.SEGMENTS:
                self.add_option(None)
            self.add_option(Option(job_row(name, JobListState(), zone), id=name))
        self.highlighted = 0

    @property
    def current(self) -> str:
        """The name of the stage or the job the cursor is on."""
        return str(NAMES[self.highlighted or 0])

    def show(self, told: JobListState) -> None:
        """Show how all of them stand; the cursor stays where it is."""
        for name in NAMES:
            row = job_row(name, told, self._zone)
            if str(row) != str(self.get_option(name).prompt):
                self.replace_option_prompt(name, row)

    def action_open(self) -> None:
        """Go to all there is of it."""
        self.action_select()
