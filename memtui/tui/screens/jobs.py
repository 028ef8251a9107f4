"""The jobs: pipeline stages with their queues, the model's jobs, and the model."""

from collections.abc import Collection
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.widgets import OptionList, Static

from memtui.model.jobs import Job
from memtui.tui import commands, format
from memtui.tui.messages import ProgressReported
from memtui.tui.screens.base import AGAIN, ListDetailScreen
from memtui.tui.widgets import job_list
from memtui.tui.widgets.job_list import JobList, JobListState, StageActivity
from memtui.tui.widgets.pane_title import PaneTitle
from memtui.tui.widgets.status_line import OTHER_PROCESS

if TYPE_CHECKING:
    from memtui.pipeline.progress import ModelStatus
    from memtui.services.jobs import WorkStatus
    from memtui.workspace import JobsController

STAGES_RUN_ALONE = "A stage runs by itself whenever something is queued for it."
DEMO_HAS_NO_MODEL = "The demo uses no model."


class JobsScreen(ListDetailScreen[None]):
    """Shows live progress; the model's jobs can be paused and run here."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *commands.bindings(
            "pause_job",
            "run_now",
            in_footer=True,
            back="Go back to the list, or leave it.",
        ),
        *commands.bindings("next_pane", "previous_pane"),
    ]

    DETAIL_TITLE = "Status"

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

    @property
    def _jobs(self) -> "JobsController":
        return self.workspace.jobs

    @property
    def _list(self) -> JobList:
        return self.query_one(JobList)

    def on_mount(self) -> None:
        self._list.focus()
        self.reload()
        self.set_interval(1.0, self._update_clock)

    def reload(self) -> None:
        self.load(self._jobs.read_work, self._show, "jobs")

    def _show(self, work: "WorkStatus") -> None:
        self._state = replace(self._state, work=work)
        self._update()

    @property
    def _no_model(self) -> str:
        """Why no model is used; empty if one is."""
        is_demo = self.workspace.is_demo
        return DEMO_HAS_NO_MODEL if is_demo else self._jobs.why_no_model

    @property
    def _is_ours(self) -> bool:
        """Whether this process runs the pipeline, and not another memtui."""
        return self._last is None or self._last.progress.is_active

    @property
    def _model(self) -> "ModelStatus | None":
        return self._last.progress.model if self._last and self._is_ours else None

    def _update(self) -> None:
        lack = job_list.explain_missing_model(
            self._model, self._no_model, self._state.work
        )
        self._state = replace(self._state, missing_model=lack, is_ours=self._is_ours)
        self._list.show(self._state)
        self._update_model()
        self._describe()

    @on(OptionList.OptionHighlighted)
    def _describe(self) -> None:
        name = self._list.current
        details = job_list.describe_row(name, self._state, self.zone, self.now())
        self.show_details("Status", details)

    def _update_model(self) -> None:
        content = job_list.describe_model(
            self._model, self._no_model, self._state.work, self.now()
        )
        self.query_one("#model", Static).update(content)

    def _update_clock(self) -> None:
        if self._last is not None and self._last.progress.model.node_id:
            self._update_model()

    def show_error(self, error: BaseException, group: str) -> None:
        if group == "change":
            super().show_error(error, group)
        else:
            text = Content.styled(f"✗ {format.error_text(error)}", "$error")
            self.show_details("Status", text + f"\n{AGAIN}")
            self.retry_reload()

    @on(ProgressReported)
    def follow_progress(self, message: ProgressReported) -> None:
        was_ours, self._last = self._is_ours, message
        progress = message.progress
        if self._is_ours != was_ours:
            self.refresh_bindings()
        for seen in self._state.activity.values():
            seen.is_busy = False
        if progress.stage in job_list.STAGES:
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
        if name in job_list.STAGES:
            problem = STAGES_RUN_ALONE
        elif self._no_model:
            problem = self._no_model
        elif not self._is_ours:
            shell = f"memtui jobs {command} {name}"
            problem = (
                f"{OTHER_PROCESS.capitalize()}. Do it there, or in a shell: {shell}"
            )
        if problem:
            self.notify(problem, markup=False)
        return None if problem else Job(name)

    def action_pause_job(self) -> None:
        """Pause the selected job, or resume it if it is paused."""
        name = self._list.current
        one = self._state.job_status(Job(name)) if name not in job_list.STAGES else None
        is_paused = one is not None and one.is_paused
        job = self._selected_job("resume" if is_paused else "pause")
        if job is None:
            return
        if is_paused:
            change, text = self._jobs.resume, f"{job_list.JOB_TITLES[job]}: resumed."
        else:
            change = self._jobs.pause
            text = (
                f"{job_list.JOB_TITLES[job]}: paused. A running call is finished first."
            )
        self.run_thread(partial(change, job), lambda _: self._confirm(text), "change")

    def action_run_now(self) -> None:
        if job := self._selected_job("run"):
            confirm = partial(self._confirm_run, job)
            self.run_thread(partial(self._jobs.request_run, job), confirm, "change")

    def _confirm_run(self, job: Job, promise: str) -> None:
        when = (
            "It will run once a model is available."
            if self._state.missing_model
            else promise
        )
        self._confirm(f"{job_list.JOB_TITLES[job]}: requested. {when}")

    def _confirm(self, text: str) -> None:
        self.notify(text, markup=False)
        self.reload()
