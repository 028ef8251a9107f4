"""The work behind: the stages and their queues, the model's jobs, and the model itself.

Jobs are steered here where this memtui works the store; what is noted is done by the
workers between two pieces of work.
"""

from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import datetime, tzinfo
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Protocol

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Vertical
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.worker import Worker, WorkerState

from memtui.model.jobs import Job
from memtui.tui import commands, format
from memtui.tui.messages import JobSteered, WorkReported, WorkSeen
from memtui.tui.screens.base import AGAIN, Choosing
from memtui.tui.widgets import job_list, model_status
from memtui.tui.widgets.detail_pane import Reader
from memtui.tui.widgets.job_list import JobList, Seen, Told
from memtui.tui.widgets.key_line import KeyLine
from memtui.tui.widgets.pane_title import PaneTitle
from memtui.tui.widgets.status_line import ELSEWHERE, StatusLine

if TYPE_CHECKING:
    from memtui.pipeline.progress import Model, Progress
    from memtui.services.status import Work


BY_ITSELF = "A stage works by itself whenever something waits for it."


OF_DEMO = "The demo asks no model."


SEEN_FINISHED = "What is being written is finished first."


class JobsControllerProtocol(Protocol):
    """What the screen needs: ``memtui.house.workdesk.Desk``."""

    @property
    def note(self) -> str:
        """Why no model is ever asked; "" if one is."""

    def look(self) -> "Work":
        """What waits for each stage, and how the jobs stand."""

    def pause(self, job: Job) -> None:
        """Let a job rest until it is resumed."""

    def resume(self, job: Job) -> None:
        """Let a job run again."""

    def ask(self, job: Job) -> str:
        """Ask for a run now; who does it and when, or why nobody does."""


class JobsScreen(Choosing[None]):
    """Shows the work behind as it goes on."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *commands.bindings(
            "pause_job",
            "run_now",
            in_footer=True,
            back="Go back to the list, or leave it.",
        ),
        *commands.bindings("next_pane", "previous_pane"),
    ]

    def __init__(
        self,
        desk: JobsControllerProtocol,
        zone: tzinfo,
        now: Callable[[], datetime],
        *,
        is_demo: bool = False,
    ) -> None:
        """Make the screen.

        Args:
            desk: Whom to ask; it may take a while.
            zone: The store's time zone.
            now: The time, aware.
            is_demo: Whether this is the made-up memory, for which no model is asked.
        """
        super().__init__()
        self._desk, self._zone, self._now = desk, zone, now
        self._is_demo = is_demo
        self._told = Told()
        self._last: Progress | None = None

    def compose(self) -> ComposeResult:
        """The model, the list, and beside or below it all there is of the chosen."""
        yield StatusLine(is_demo=self._is_demo)
        yield PaneTitle("Model")
        yield Static(id="model", markup=False)
        with Container(id="jobs"):
            with Vertical(id="listed"):
                yield PaneTitle("Work")
                yield JobList(self._zone)
            with Vertical(id="chosen"):
                yield PaneTitle("How it stands")
                with Reader():
                    yield Static(id="job", markup=False)
        yield KeyLine()

    @property
    def _list(self) -> JobList:
        return self.query_one(JobList)

    def on_mount(self) -> None:
        """Look at all of it, and let the clock of a call go on."""
        self._list.focus()
        self.read_anew()
        self.set_interval(1.0, self._tick)

    # Looking

    def read_anew(self) -> None:
        """Read what waits, and how the jobs stand."""
        self.ask(self._load, "look")

    def _load(self) -> None:
        self.tell(WorkSeen(self._desk.look()))

    @on(WorkSeen)
    def show(self, message: WorkSeen) -> None:
        """Show what was read."""
        self._told = replace(self._told, work=message.work)
        self._write()

    @property
    def _note(self) -> str:
        return OF_DEMO if self._is_demo else self._desk.note

    @property
    def _model(self) -> "Model | None":
        return self._last.model if self._last and self._last.is_ours else None

    def _write(self) -> None:
        lack = model_status.lack(self._model, self._note, self._told.work)
        is_ours = self._last is None or self._last.is_ours
        self._told = replace(self._told, lack=lack, is_ours=is_ours)
        self._list.show(self._told)
        self._say_model()
        self.point()

    @on(OptionList.OptionHighlighted)
    def point(self) -> None:
        """Say all there is to say of what the cursor is on."""
        name = self._list.pointed_at
        said = job_list.about(name, self._told, self._zone, self._now())
        self.query_one("#job", Static).update(said)

    def _say_model(self) -> None:
        asked = self._model, self._note, self._told.work
        words = model_status.told(*asked, self._now())
        self.query_one("#model", Static).update(words)

    def _tick(self) -> None:
        if self._last is not None and self._last.model.node_id:
            self._say_model()

    @on(Worker.StateChanged)
    def say_why(self, event: Worker.StateChanged) -> None:
        """Say why it could not be looked at, or not be steered."""
        if event.state is not WorkerState.ERROR:
            return
        why = f"✗ {format.why(event.worker.error)}"
        if event.worker.group == "steer":
            self.notify(why, severity="error", markup=False)
        else:
            told = Content.styled(why, "$error") + f"\n{AGAIN}"
            self.query_one("#job", Static).update(told)
            self.look_soon()

    # What changes by itself

    @on(WorkReported)
    def follow_work(self, message: WorkReported) -> None:
        """Say at once what is reported, and look again at what waits."""
        before, self._last = self.refused, message.progress
        progress = message.progress
        if self.refused != before:
            self.refresh_bindings()
        self.query_one(StatusLine).say(progress)
        for seen in self._told.seen.values():
            seen.is_busy = False
        if progress.stage in job_list.STAGES:
            seen = self._told.seen.setdefault(progress.stage, Seen())
            seen.error, seen.is_busy = progress.error, not progress.error
            seen.done, seen.at = seen.done + progress.done, self._now()
        self._write()
        self.look_again()

    # Steering

    @property
    def refused(self) -> Collection[str]:
        """Where another works, jobs are steered there."""
        is_ours = self._last is None or self._last.is_ours
        return () if is_ours else ("pause_job", "run_now")

    def _chosen(self, does: str) -> Job | None:
        """The job the cursor is on, if it can be steered here; if not, say why."""
        name, why = self._list.pointed_at, ""
        if name in job_list.STAGES:
            why = BY_ITSELF
        elif self._note:
            why = self._note
        elif self._last is not None and not self._last.is_ours:
            command = f"memtui jobs {does} {name}"
            why = f"{ELSEWHERE.capitalize()}. Do it there, or in a shell: {command}"
        if why:
            self.notify(why, markup=False)
        return None if why else Job(name)

    def action_pause_job(self) -> None:
        """Let the job rest, or resume it."""
        name = self._list.pointed_at
        one = self._told.status(Job(name)) if name not in job_list.STAGES else None
        is_paused = one is not None and one.is_paused
        if job := self._chosen("resume" if is_paused else "pause"):
            self.do(partial(self._pause, job, is_paused=is_paused), "steer")

    def _pause(self, job: Job, *, is_paused: bool) -> None:
        if is_paused:
            self._desk.resume(job)
            said = f"{job_list.JOBS[job]}: resumed."
        else:
            self._desk.pause(job)
            said = f"{job_list.JOBS[job]}: paused. {SEEN_FINISHED}"
        self.post_message(JobSteered(said))

    def action_run_now(self) -> None:
        """Ask for a run of the job."""
        if job := self._chosen("run"):
            self.do(partial(self._run_now, job), "steer")

    def _run_now(self, job: Job) -> None:
        promise = self._desk.ask(job)
        then = "It is run once a model can be asked." if self._told.lack else promise
        self.post_message(JobSteered(f"{job_list.JOBS[job]}: asked for. {then}"))

    @on(JobSteered)
    def say_steered(self, message: JobSteered) -> None:
        """Say what was noted, and look again."""
        self.notify(message.said, markup=False)
        self.read_anew()
