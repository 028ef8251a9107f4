"""The line at the top: which part of the memory is shown, and what the workers do."""

import time
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING

from textual.content import Content
from textual.reactive import reactive
from textual.timer import Timer
from textual.widget import Widget

from memtui.errors import NO_ROOM
from memtui.model.scope import ALL, Scope
from memtui.text import date_format
from memtui.tui import format
from memtui.tui.widgets import model_status
from memtui.tui.workers import Debouncer

if TYPE_CHECKING:
    from memtui.pipeline.progress import Progress


DOING = {
    "ingest": "reading new events",
    "tail": "reading transcripts",
    "segment": "cutting segments",
    "summarize": "summarising",
    "rollup": "rolling up",
    "index": "indexing",
    "messages": "indexing messages",
    "improve": "asking the model",
    "import": "importing",
}
"""What each stage does, as the reader would say it."""


GAP = 3
"""The least room between the name and the work, in cells."""


NARROWED_CELLS = 30
"""How much of what is shown alone is said even where there is little room."""


OTHER_PROCESS = "another memtui is at work here"
"""What is said where this one reads, and does what a person asks, but works nothing."""


IDLE, UNREAD = "idle", "✗ the memory cannot be read"


IMPORT_ELSEWHERE = f"{OTHER_PROCESS.capitalize()}: import there."


SEPARATOR = " · "


def state(progress: "Progress", room: int = 80) -> Content:
    """What the workers and the model do, in a few words; red for what is wrong alone.

    Args:
        progress: What was reported.
        room: How many cells there are; of the model less is said where they are few.
    """
    stages, is_idle = _stages(progress)
    work, faults = ([] if is_idle else [stages]), []
    if progress.problems:
        words = f"{format.number(progress.problems)} not taken: press Q"
        faults = [Content.styled(words, "$error")]
    others = _joined([*work, *faults]).cell_length
    left = room - (others + len(SEPARATOR) if others else 0)
    said = _of_model(progress, left)
    if not said:
        return _joined([stages, *faults])
    style = "$error" if said.startswith("✗") else ""
    return _joined([*work, Content.styled(said, style), *faults])


def _joined(parts: Sequence[Content]) -> Content:
    return Content(SEPARATOR).join(parts)


def _stages(progress: "Progress") -> tuple[Content, bool]:
    """What the stages do, and whether that is nothing."""
    doing = DOING.get(progress.stage, "working")
    if progress.is_gone:
        return Content.styled(f"✗ {progress.error}", "$error"), False
    if not progress.is_ours:
        return Content(OTHER_PROCESS), False
    if fault := _fault(progress):
        return Content.styled(f"✗ {fault}", "$error"), False
    if progress.stage == "import" and progress.done < progress.total:
        of = f"{format.number(progress.done)} of {format.number(progress.total)}"
        return Content(f"● {doing} {of}"), False
    if progress.queued:
        queued = f"{format.number(progress.queued)} queued"
        return Content(f"● {doing}{SEPARATOR}{queued}"), False
    return Content(IDLE), True


def _fault(progress: "Progress") -> str:
    """Which stage could not do what; first of this one, then of those that fail still.

    Of a full disk no stage is named: all want room.
    """
    own = ((progress.stage, progress.error),) if progress.error else ()
    for stage, error in (*own, *progress.failing):
        if error.startswith(NO_ROOM):
            return NO_ROOM
        return f"{DOING.get(stage, 'working')}: {error}"
    return ""


def _kind(progress: "Progress") -> Hashable:
    """What the line says but for its numbers."""
    stage = "" if _stages(progress)[1] else progress.stage
    has_problems = bool(progress.problems)
    forms = model_status.forms(progress.model)
    word = forms[-1] if forms else ""
    return progress.is_ours, _fault(progress), stage, word, has_problems


def _of_model(progress: "Progress", room: int) -> str:
    """What the model does, while it is ours and nothing is wrong with the stages."""
    is_told = progress.is_ours and not _fault(progress)
    return model_status.fitting(progress.model, room) if is_told else ""


class StatusLine(Widget):
    """Name at the left and what is shown, work at the right."""

    scope: reactive[Scope | None] = reactive(None)
    """What part of the memory is shown; None where that is no matter."""

    can_read = reactive(True)
    """Whether the screen could read what it shows."""

    work = reactive(Content("starting"))
    """What the workers do."""

    def __init__(self, *, is_demo: bool) -> None:
        super().__init__()
        self._is_demo = is_demo
        self._calm = Debouncer["Progress"](_kind, time.monotonic)
        self._later: Timer | None = None

    def show(self, progress: "Progress") -> None:
        """Show what a worker has reported; beside a model, what lasts of it."""
        at_once = progress.model.health is None
        self._show(self._calm.put(progress, at_once=at_once))

    def watch_scope(self, scope: Scope | None) -> None:
        """Leave the work the room that is left."""
        self._write()

    def watch_is_read(self) -> None:
        """Do not call idle what does not work."""
        self._write()

    def on_resize(self) -> None:
        """Say as much as there is room for."""
        self._write()

    def _look_again(self) -> None:
        self._show(self._calm.again())

    def _show(self, wait_s: float) -> None:
        """Write what is to be shown, and look again where that is not the latest."""
        if self._later is not None:
            self._later.stop()
        self._later = self.set_timer(wait_s, self._look_again) if wait_s else None
        self._write()

    def _write(self) -> None:
        if self._calm.shown is not None:
            work = state(self._calm.shown, self._room or 80)
            is_told = self.can_read or work.plain != IDLE
            self.work = work if is_told else Content.styled(UNREAD, "$error")

    @property
    def _lead(self) -> Content:
        name = Content.styled("memtui", "bold $accent")
        if self._is_demo:
            name += Content.styled("   demo: a made-up memory", "$context")
        if self.scope and self.scope.is_narrow:
            told = Content.styled(format.scope_text(self.scope), "bold $evidence")
            most = max(NARROWED_CELLS, self.size.width // 2)
            name += Content(" " * GAP) + told.truncate(most, ellipsis=True)
        return name

    @property
    def _room(self) -> int:
        """How many cells there are for the work."""
        return max(0, self.size.width - self._lead.cell_length - GAP)

    def render(self) -> Content:
        """Both ends of the line."""
        name = self._lead
        told = Content.styled(format.scope_text(ALL), "$context")
        everything = Content(" " * GAP) + told
        taken = self.work.first_line.cell_length + everything.cell_length
        is_all = self.scope is not None and not self.scope.is_narrow
        if is_all and taken <= self._room:
            name += everything
        room = max(0, self.size.width - name.cell_length - GAP)
        work = self.work.first_line.truncate(room, ellipsis=True)
        gap = self.size.width - name.cell_length - work.cell_length
        return name + " " * max(0, gap) + work.stylize_before("$context")


KEPT = 3
"""How many failures are remembered."""


RETRIES_ITSELF = (
    "memtui tries again by itself; nothing is lost. More of it stands in memtui.log."
)


THEN = "it has worked since"


@dataclass(frozen=True, slots=True)
class Failure:
    """What one stage could not do."""

    stage: str
    error: str
    since: datetime
    until: datetime | None = None
    """When work went on; None while it does not."""


class FailureLog:
    """The last of them, as the reports tell."""

    def __init__(self) -> None:
        self.known: tuple[Failure, ...] = ()

    def record(self, progress: "Progress", now: datetime) -> None:
        """Take a report; of a stage that fails, whatever it says, there is one."""
        failing = dict(progress.failing)
        if progress.error:
            failing.setdefault(progress.stage, progress.error)
        self.known = tuple(_now(one, progress, failing, now) for one in self.known)
        are_on = {one.stage for one in self.known if one.until is None}
        new = [Failure(*told, now) for told in failing.items() if told[0] not in are_on]
        over = [one for one in self.known if one.until is not None]
        on = [one for one in self.known if one.until is None] + new
        least = max(0, KEPT - len(on))
        self.known = (*over[max(0, len(over) - least) :], *on)

    def describe(self, zone: tzinfo) -> Content:
        """The newest first; stages that fail alike are told of together."""
        alike: dict[tuple[str, bool], list[Failure]] = {}
        for one in reversed(self.known):
            # Of a full disk each store tells with its own name.
            error = NO_ROOM if one.error.startswith(NO_ROOM) else one.error
            alike.setdefault((error, one.until is None), []).append(one)
        return Content("\n").join(_told(some, zone) for some in alike.values())


def _now(
    one: Failure, progress: "Progress", failing: dict[str, str], now: datetime
) -> Failure:
    """What is known of a failure after a report; only an import tells of imports."""
    if one.until is not None:
        return one
    if error := failing.get(one.stage):
        return replace(one, error=error)
    is_over = one.stage != "import" or progress.stage == "import"
    return replace(one, until=now) if is_over else one


def _told(some: Sequence[Failure], zone: tzinfo) -> Content:
    pass

    stages = dict.fromkeys(DOING.get(one.stage, "working") for one in some)
    doing = ", ".join(stages)
    since = date_format.clock(min(one.since for one in some), zone)
    error, ends = some[0].error, [one.until for one in some if one.until is not None]
    if not ends:
        what = f"✗ Failing since {since}, {doing}: {error}."
        return Content.assemble((what, "$error"), f" {RETRIES_ITSELF}")
    until = date_format.clock(max(ends), zone)
    said = f"  Failed at {since}, {doing}: {error}; {THEN}, from {until} on."
    return Content.styled(said, "$context")
