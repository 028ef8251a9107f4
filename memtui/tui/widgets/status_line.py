"""The line at the top: the scope, and what memtui does in the background; failures.

A growing number is padded to its largest width, so that the line does not jump.
"""

from typing import TYPE_CHECKING

from textual.content import Content
from textual.reactive import reactive
from textual.timer import Timer
from textual.widget import Widget

from memtui.errors import DISK_FULL
from memtui.model.filters import ALL, Scope
from memtui.model.jobs import ModelCondition, ModelHealth, ModelPhase
from memtui.model.quantities import plural
from memtui.services.status import activity_name
from memtui.tui import format

if TYPE_CHECKING:
    from memtui.pipeline.progress import ModelStatus, PipelineProgress

GAP = 3  # The smallest space between the two ends of the line, in cells.
MIN_SCOPE = 30  # The cells of the scope that are shown even where there is little room.

INTERVAL_S = 0.5
"""The least time between two updates beside a model, so that the text can be read."""

MAX_NAME = 20

OTHER_PROCESS = "another memtui is running"
"""Shown where another process does the background work of this store."""

IMPORT_ELSEWHERE = f"{OTHER_PROCESS.capitalize()}: import there."
SEPARATOR = " · "


class StatusLine(Widget):
    """Name and scope at the left, background work at the right."""

    scope: reactive[Scope | None] = reactive(None)
    """The scope of the screen; None where it does not apply."""

    can_read = reactive(True)
    """False if the screen could not read what it shows."""

    def __init__(self, scope: Scope | None, *, is_demo: bool) -> None:
        super().__init__()
        self.set_reactive(StatusLine.scope, scope)
        self._is_demo = is_demo
        self._latest: PipelineProgress | None = None
        self._reported: PipelineProgress | None = None
        self._timer: Timer | None = None

    def show(self, progress: "PipelineProgress") -> None:
        """Show a report; beside a model, only the last one of each interval."""
        self._latest = progress
        if self._timer is None or progress.model.health is None:
            self._show_latest()

    def _show_latest(self) -> None:
        self._reported = self._latest
        if self._timer is None:
            self._timer = self.set_timer(INTERVAL_S, self._end_interval)
        self.refresh()

    def _end_interval(self) -> None:
        self._timer = None
        if self._reported is not self._latest:
            self._show_latest()

    @property
    def work(self) -> Content:
        """The text on background work."""
        if self._reported is None:
            return Content("starting")
        work = describe_work(self._reported)
        if not self.can_read and work.plain == "idle":
            return Content.styled("✗ the store cannot be read", "$error")
        return work

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

    def render(self) -> Content:
        name, work, width = self._lead, self.work.first_line, self.size.width
        if self.scope is not None and not self.scope.is_narrow:
            scope_text = Content.styled(format.scope_text(ALL), "$context")
            everything = Content(" " * GAP) + scope_text
            needed = name.cell_length + everything.cell_length + GAP + work.cell_length
            if needed <= width:
                name += everything
        work = work.truncate(max(0, width - name.cell_length - GAP), ellipsis=True)
        gap = width - name.cell_length - work.cell_length
        return name + " " * max(0, gap) + work.stylize_before("$context")


def describe_work(progress: "PipelineProgress") -> Content:
    """Describe what stages and model do; red only for errors."""
    parts = [_describe_stages(progress)]
    if progress.skipped:
        text = f"{plural(progress.skipped, 'line')} skipped (Q)"
        parts.append(Content.styled(text, "$context"))
    if progress.is_active and not _describe_failure(progress):
        model = describe_model(progress.model)
        style = "$error" if model.startswith("✗") else ""
        parts.append(Content.styled(model, style))
        if not parts[0] and not model:
            parts.insert(0, Content("idle"))
    return Content(SEPARATOR).join(part for part in parts if part)


def _describe_stages(progress: "PipelineProgress") -> Content:
    """Describe what the stages do; empty while they are idle."""
    activity = activity_name(progress.stage)
    if progress.is_store_gone:
        return Content.styled(f"✗ {progress.error}", "$error")
    if not progress.is_active:
        return Content(OTHER_PROCESS)
    if failure := _describe_failure(progress):
        return Content.styled(f"✗ {failure}", "$error")
    if progress.stage == "import" and progress.done < progress.total:
        done = f"{progress.done:,} of {progress.total:,}"
        return Content(f"● {activity} {done}")
    if progress.queued:
        queued = f"{progress.queued:,} queued"
        return Content(f"● {activity}{SEPARATOR}{queued}")
    return Content("")


def _describe_failure(progress: "PipelineProgress") -> str:
    """Describe the failure of this stage, or else of the first one that fails."""
    own = ((progress.stage, progress.error),) if progress.error else ()
    for stage, error in (*own, *progress.failing):
        # A full disk affects all stages.
        is_full = error.startswith(DISK_FULL)
        return DISK_FULL if is_full else f"{activity_name(stage)}: {error}"
    return ""


# The model


def describe_model(model: "ModelStatus") -> str:
    """Describe what a model does; empty while it is idle."""
    health, doing = model.health, model.progress
    if health is None or doing is None:
        held = model.held_segments
        is_resting = health and health.condition is ModelCondition.RESTING
        if health and model.is_missing and not (is_resting and held):
            return _describe_unavailable(model, health)
        return f"paused{_left(held)}" if held else ""
    progress = str(doing.phase)
    if doing.phase is ModelPhase.WRITING and doing.limit:
        limit = f"{doing.limit:,}"
        progress += f" {doing.written:>{len(limit)},} of {limit}"
    part = f"part {doing.part} of {doing.parts}, " if doing.parts > 1 else ""
    left = _left(model.pending) if model.pending > 1 else ""
    return f"{_short_name(health.model)}: {part}{progress}{left}"


def _describe_unavailable(model: "ModelStatus", health: ModelHealth) -> str:
    if health.condition is ModelCondition.RESTING:
        until = f" until {model.paused_until:%H:%M}" if model.paused_until else ""
        return f"{_short_name(health.model)}: resting{until}{_left(model.pending)}"
    # Without a model configured, the lack of one is no error.
    mark = "✗ " if model.is_requested else ""
    if health.condition is ModelCondition.OFFLINE:
        advice = "start it, or install it from ollama.com"
        return f"{mark}Ollama does not answer: {advice}"
    if health.condition is ModelCondition.MODEL_MISSING:
        return f"{mark}{health.message}: {health.remedy}"
    reason = health.message or "the model does not work"
    return f"{mark}{reason}: memtui doctor"


def _left(count: int) -> str:
    return f" · {count:,} to go" if count else ""


def _short_name(model: str) -> str:
    return format.shorten(model.rpartition("/")[2] or "model", MAX_NAME)


# Failures, shown above the list of skipped input

RETRIES_ITSELF = "memtui retries by itself; nothing is lost. Details are in memtui.log."


def describe_failures(progress: "PipelineProgress") -> Content:
    """Describe the stages that fail; those with one error are merged."""
    failing = dict(progress.failing)
    if progress.error:
        failing[progress.stage] = progress.error
    stages: dict[str, list[str]] = {}
    for stage, error in failing.items():
        # Every store reports a full disk with its own path.
        error = DISK_FULL if error.startswith(DISK_FULL) else error
        stages.setdefault(error, []).append(activity_name(stage))
    lines = [
        Content.assemble((f"✗ {', '.join(names)}: {error}.", "$error"))
        for error, names in stages.items()
    ]
    return Content("\n").join([*lines, Content(RETRIES_ITSELF)] if lines else [])
