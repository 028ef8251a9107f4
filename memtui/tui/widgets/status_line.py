"""The line at the top: the scope, and what memtui does in the background."""

import time
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

from textual.content import Content
from textual.reactive import reactive
from textual.timer import Timer
from textual.widget import Widget

from memtui.errors import DISK_FULL
from memtui.model.scope import ALL, Scope
from memtui.tui import format
from memtui.tui.widgets import model_status
from memtui.tui.workers import Debouncer

if TYPE_CHECKING:
    from memtui.pipeline.progress import PipelineProgress

ACTIVITIES = {
    "ingest": "reading new events",
    "tail": "reading transcripts",
    "segment": "segmenting",
    "summarize": "summarizing",
    "rollup": "rolling up",
    "index": "indexing",
    "messages": "indexing messages",
    "improve": "asking the model",
    "import": "importing",
}
GAP = 3
"""The smallest space between the two ends of the line, in cells."""

MIN_SCOPE = 30
"""The cells of the scope that are shown even where there is little room."""

OTHER_PROCESS = "another memtui is at work here"
"""Shown where another process does the background work of this store."""

IDLE, UNREADABLE = "idle", "✗ the store cannot be read"
IMPORT_ELSEWHERE = f"{OTHER_PROCESS.capitalize()}: import there."
SEPARATOR = " · "


class StatusLine(Widget):
    """Name and scope at the left, background work at the right."""

    scope: reactive[Scope | None] = reactive(None)
    """The scope of the screen; None where it does not apply."""

    can_read = reactive(True)
    """False if the screen could not read what it shows."""

    work = reactive(Content("starting"))

    def __init__(self, *, is_demo: bool) -> None:
        super().__init__()
        self._is_demo = is_demo
        self._shown: Debouncer[PipelineProgress] = Debouncer(_kind, time.monotonic)
        self._later: Timer | None = None

    def show(self, progress: "PipelineProgress") -> None:
        """Show a report; beside a model, only states that last a moment."""
        is_urgent = progress.model.health is None
        self._update_after(self._shown.put(progress, at_once=is_urgent))

    def _update_after(self, wait_s: float) -> None:
        """Update the text, and again later if it does not show the latest report."""
        if self._later is not None:
            self._later.stop()
        self._later = self.set_timer(wait_s, self._show_latest) if wait_s else None
        self._update_work()

    def _show_latest(self) -> None:
        self._update_after(self._shown.again())

    def watch_scope(self, scope: Scope | None) -> None:
        """Fit the text into the room beside the scope."""
        self._update_work()

    def watch_can_read(self) -> None:
        """Show that the store cannot be read instead of "idle"."""
        self._update_work()

    def on_resize(self) -> None:
        self._update_work()

    def _update_work(self) -> None:
        if self._shown.shown is not None:
            work = describe_work(self._shown.shown, self._room or 80)
            is_hidden = not self.can_read and work.plain == IDLE
            self.work = Content.styled(UNREADABLE, "$error") if is_hidden else work

    @property
    def _lead(self) -> Content:
        name = Content.styled("memtui", "bold $accent")
        if self._is_demo:
            name += Content.styled("   demo with sample data", "$context")
        if self.scope and self.scope.is_narrow:
            scope = Content.styled(format.scope_text(self.scope), "bold $evidence")
            most = max(MIN_SCOPE, self.size.width // 2)
            name += Content(" " * GAP) + scope.truncate(most, ellipsis=True)
        return name

    @property
    def _room(self) -> int:
        return max(0, self.size.width - self._lead.cell_length - GAP)

    def render(self) -> Content:
        """Draw both ends of the line; "all projects" only where there is room."""
        name = self._lead
        all_text = Content.styled(format.scope_text(ALL), "$context")
        everything = Content(" " * GAP) + all_text
        needed = self.work.first_line.cell_length + everything.cell_length
        is_all = self.scope is not None and not self.scope.is_narrow
        if is_all and needed <= self._room:
            name += everything
        room = max(0, self.size.width - name.cell_length - GAP)
        work = self.work.first_line.truncate(room, ellipsis=True)
        gap = self.size.width - name.cell_length - work.cell_length
        return name + " " * max(0, gap) + work.stylize_before("$context")


def activity_name(stage: str) -> str:
    return ACTIVITIES.get(stage, "working")


def describe_work(progress: "PipelineProgress", width: int = 80) -> Content:
    """Describe what stages and model do; red only for errors.

    Args:
        progress: The latest report.
        width: The cells available; with few of them the model gets a short text.
    """
    stages, is_idle = _describe_stages(progress)
    work, skipped = ([] if is_idle else [stages]), []
    if progress.skipped:
        text = f"{format.quantity(progress.skipped, 'line')} skipped (Q)"
        skipped = [Content.styled(text, "$context")]
    others = _join([*work, *skipped]).cell_length
    room = width - (others + len(SEPARATOR) if others else 0)
    model = _describe_model(progress, room)
    if not model:
        return _join([stages, *skipped])
    style = "$error" if model.startswith("✗") else ""
    return _join([*work, Content.styled(model, style), *skipped])


def _join(parts: Sequence[Content]) -> Content:
    return Content(SEPARATOR).join(parts)


def _describe_stages(progress: "PipelineProgress") -> tuple[Content, bool]:
    """Describe what the stages do; also return whether they are idle."""
    activity = activity_name(progress.stage)
    if progress.is_store_gone:
        return Content.styled(f"✗ {progress.error}", "$error"), False
    if not progress.is_active:
        return Content(OTHER_PROCESS), False
    if failure := _describe_failure(progress):
        return Content.styled(f"✗ {failure}", "$error"), False
    if progress.stage == "import" and progress.done < progress.total:
        done = f"{format.number(progress.done)} of {format.number(progress.total)}"
        return Content(f"● {activity} {done}"), False
    if progress.queued:
        queued = f"{format.number(progress.queued)} queued"
        return Content(f"● {activity}{SEPARATOR}{queued}"), False
    return Content(IDLE), True


def _describe_failure(progress: "PipelineProgress") -> str:
    """Describe the failure of this stage, or else of the first one that fails."""
    own = ((progress.stage, progress.error),) if progress.error else ()
    for stage, error in (*own, *progress.failing):
        # A full disk affects all stages.
        is_full = error.startswith(DISK_FULL)
        return DISK_FULL if is_full else f"{activity_name(stage)}: {error}"
    return ""


def _describe_model(progress: "PipelineProgress", room: int) -> str:
    """Describe what the model does, unless another process or a failure matters."""
    is_shown = progress.is_active and not _describe_failure(progress)
    return model_status.fit_activity(progress.model, room) if is_shown else ""


def _kind(progress: "PipelineProgress") -> Hashable:
    """Return what the line says without its numbers."""
    stage = "" if _describe_stages(progress)[1] else progress.stage
    has_problems = bool(progress.skipped)
    texts = model_status.describe_activity(progress.model)
    model = texts[-1] if texts else ""
    return progress.is_active, _describe_failure(progress), stage, model, has_problems
